"""Chapter 3 of Amalaman's dissertation: PATHFINDER and its reject option, Tables 3.6 and 3.7.

Our axis-parallel tree stands for Weka's Simple CART, whose settings are not given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from statistics import fmean, stdev

from oblique_cli import config
from oblique_cli.evaluation import published
from oblique_cli.evaluation.published import Published
from oblique_cli.ground.nouns import Row
from oblique_cli.papers.pathfinder.regions import IMPURE, OUTSIDE
from oblique_cli.papers.reproduction.framework.choice_of_reading import gap, numbers_of, side_of
from oblique_cli.papers.reproduction.framework.declarations import WHOLE, Choice, Declaration, Part, Runs, declare
from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.runs import FoldScores, Number, Ours, Score, fold_scores
from oblique_cli.papers.reproduction.framework.studies import ExtraTable

SOURCE = "amalaman2015"
TABLES = (f"{SOURCE}:3.6", f"{SOURCE}:3.7")
METHODS = {"pathfinder": "PATHFINDER", "axis_parallel": "Simple CART"}
TREES = ("pathfinder",)


def grid_sizes() -> dict[str, int]:
    """Return the cells along an axis by data set, as in Table 3.4."""
    experiment = config.load("reproduce/pathfinder")
    (algorithm,) = (spec for spec in experiment.algorithms if spec.name == "pathfinder")
    return {spec.name: int(algorithm.on(spec.name).params["grid_size"]) for spec in experiment.datasets}


def _accuracy(row: Row) -> float:
    return 100 * row.n_correct / row.n_test


SCORES: Mapping[str, Score] = {
    "reject_percent": lambda row: row.measures.get("reject_percent", 0.0),
    # That of section 3.4.3, where a rejected row counts as correct.
    "accuracy_percent": lambda row: row.measures.get("published_accuracy_percent", _accuracy(row)),
    "accuracy of accepted": lambda row: row.measures.get("accepted_accuracy_percent", _accuracy(row)),
    "accuracy of all": _accuracy,
    "n_leaves": lambda row: row.n_leaves,
}


# Rows without a class, by the words of section 3.3.3 and by figure 3.4. The configuration has the last reading.
READINGS = (OUTSIDE, IMPURE)
BY_WORDS = (f"algorithms.0.rejected={OUTSIDE}",)
BEST = "best of 22 (Cline paper)"
NOT_RUN = {BEST: "the best of 22 programmes in another paper"}
# Section 3.4.3.2 on the best of 22 programs: 1 above, 0 a tie, -1 below.
BESIDE_BEST = {
    "bupa": 1,
    "boston_housing_3class": 1,
    "breast_cancer_wisconsin": 0,
    "pima_532": 0,
    "vehicle": -1,
    "image_segmentation": -1,
}
WORDS = {1: "above", 0: "on a level with", -1: "below"}
ARTIFICIAL = ("patches_4", "patches_6", "sine_2d", "circles_2d")
PERFECT = ("patches_4", "sine_2d")
REAL = (*BESIDE_BEST, "iris")
LOWER = "purities of 80 %"
LOWER_RUN = ("algorithms.0.alpha=80", "algorithms.0.theta=80", "cv.repeats=2")


def _scores(done: Runs, group: str = "trees") -> FoldScores:
    return fold_scores(done.of(group), METHODS, SCORES)


def _of_folds(done: Runs) -> Ours:
    scores = _scores(done)

    def ours(number: Published, dataset: str) -> Number | None:
        score_of = scores.get((dataset, number.method))
        return score_of[number.metric].number() if score_of else None

    return ours


def claims(cells: Iterable[Cell], scores: FoldScores, lower: FoldScores) -> dict[str, bool | None]:
    """Return the claims of section 3.4.3 and whether ours meet them. lower : scores with purity thresholds of 80 %"""
    numbers = numbers_of(cells)
    out: dict[str, bool | None] = {}
    for name in PERFECT:
        accuracy, rejected = (numbers.get((name, "PATHFINDER", f"{of}_percent")) for of in ("accuracy", "reject"))
        out[f"{name}: 100 % accuracy with no reject"] = (
            None if accuracy is None or rejected is None else accuracy[0] >= 100.0 and rejected[0] == 0.0
        )
    for name in ARTIFICIAL:
        more = gap(numbers, name, "PATHFINDER", "Simple CART", "n_leaves")
        out[f"{name}: fewer leaves than Simple CART"] = None if more is None else more < 0
    for name, side in BESIDE_BEST.items():
        best = published.lookup(SOURCE, "3.7", name, BEST, "accuracy_percent")
        ours = numbers.get((name, "PATHFINDER", "accuracy_percent"))
        assert best is not None and best.mean is not None
        mine = None if ours is None else side_of(ours, (best.mean, 0.0))
        # Within one SD of the best, above and below are within chance.
        out[f"{name}: {WORDS[side]} the best of 22 programs"] = (
            None if mine is None or (side and mine == 0) else mine == side
        )
    for of in ("reject", "accuracy"):
        pairs = [[_mean(each, name, f"{of}_percent") for each in (scores, lower)] for name in REAL]
        falls = [high - low for high, low in pairs if high is not None and low is not None]
        side = side_of((fmean(falls), stdev(falls) / len(falls) ** 0.5), (0.0, 0.0)) if len(falls) > 1 else 0
        out[f"{of} rate falls with {LOWER}, over real sets"] = None if side == 0 else side > 0
    return out


def _mean(scores: FoldScores, name: str, score: str) -> float | None:
    return scores[name, "PATHFINDER"][score].mean if (name, "PATHFINDER") in scores else None


def rejections(done: Runs) -> Iterator[ExtraTable]:
    """Yield costs and gains of the reject option: accuracy as printed, among accepted rows, and of all rows; and means
    over the real sets by purity thresholds."""
    is_whole = done.request.is_whole
    by_reading = {reading: replace(done, reading=reading) for reading in (READINGS if is_whole else READINGS[1:])}
    lines = []
    for reading, each in by_reading.items():
        scores = _scores(each)
        for name in (*ARTIFICIAL, *REAL):
            if (name, "PATHFINDER") in scores:
                lines.append((reading, name, *(f"{_mean(scores, name, score):.1f}" for score in SCORES)))
    columns = ("rejected %", "accuracy as printed %", "accuracy of accepted %", "of all rows %", "leaves")
    caption = "Rejected rows count as right in the dissertation; beside that, accepted rows alone and all rows by class"
    yield ExtraTable("rejections", caption, ("rejected are rows", "data set", *columns), tuple(lines), left=2)
    if is_whole:
        means = []
        for purity, group in (("100", "trees"), ("80", "lower")):
            for reading, each in by_reading.items():
                scores = _scores(each, group)
                of_sets = [
                    [_mean(scores, name, f"{of}_percent") or 0.0 for name in REAL] for of in ("accuracy", "reject")
                ]
                means.append((reading, purity, *(f"{fmean(values):.1f}" for values in of_sets)))
        header = ("rejected are rows", "purity %", "accuracy as printed %", "rejected %")
        yield ExtraTable("by_purity", "Means over the real sets by purity thresholds", header, tuple(means), left=1)


LOW = partial(Part, "pathfinder", least=WHOLE, datasets=REAL, algorithms=TREES)
CHOICE = Choice(
    READINGS,
    "by_reject",
    "Section 3.4.3 by which rows leaves reject; {} is taken",
    lambda cells, done: claims(cells, _scores(done), _scores(done, "lower")),
    lambda cell: cell.method == "PATHFINDER",
)
declare(
    "pathfinder",
    "PATHFINDER with its reject option (Amalaman 2015, chapter 3)",
    Declaration(
        {
            "trees": ("pathfinder", Part("pathfinder", BY_WORDS, OUTSIDE, WHOLE, None, TREES)),
            "lower": (LOW(LOWER_RUN), LOW((*BY_WORDS, *LOWER_RUN), OUTSIDE)),
        },
        dict.fromkeys(TABLES, _of_folds),
        NOT_RUN,
        CHOICE,
        rejections,
    ),
)
