"""Chapter 3 of Amalaman's dissertation: PATHFINDER and its reject option, Tables 3.6 and 3.7."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean, stdev

from oblique_cli import config
from oblique_cli.evaluation import published
from oblique_cli.evaluation.published import Published
from oblique_cli.ground.nouns import Row
from oblique_cli.papers.pathfinder.regions import IMPURE, OUTSIDE
from oblique_cli.papers.reproduction.framework import runs
from oblique_cli.papers.reproduction.framework.choice_of_reading import chosen, gap, numbers_of, side_of
from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.runs import Number, Score, fold_score
from oblique_cli.papers.reproduction.framework.studies import STUDIES, ExtraTable, StudyRequest, StudyResult, study

SOURCE = "amalaman2015"
TABLES = (f"{SOURCE}:3.6", f"{SOURCE}:3.7")
METHODS = {"pathfinder": "PATHFINDER", "axis_parallel": "Simple CART"}

CONFIGURATION = "reproduce/pathfinder"  # with the grid sizes of Table 3.4


def grid_sizes() -> dict[str, int]:
    """Return the cells along an axis by data set, as in Table 3.4."""
    experiment = config.load(CONFIGURATION)
    (algorithm,) = (spec for spec in experiment.algorithms if spec.name == "pathfinder")
    return {spec.name: int(algorithm.on(spec.name).params["grid_size"]) for spec in experiment.datasets}


def _accuracy(row: Row) -> float:
    return 100 * row.n_correct / row.n_test


SCORES: Mapping[str, Score] = {
    # That of section 3.4.3, where a rejected row counts as correct.
    "accuracy_percent": lambda row: row.measures.get("published_accuracy_percent", _accuracy(row)),
    "reject_percent": lambda row: row.measures.get("reject_percent", 0.0),
    "n_leaves": lambda row: row.n_leaves,
}


# Rows without a class, by the words of section 3.3.3 and by figure 3.4. The configuration has the last reading.
READINGS: Mapping[str, tuple[str, ...]] = {OUTSIDE: (f"algorithms.0.rejected={OUTSIDE}",), IMPURE: ()}
BEST = "best of 22 (Cline paper)"
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

Rows = Mapping[tuple[str, str], list[Row]]


@STUDIES.register("pathfinder")
@study("PATHFINDER with its reject option (Amalaman 2015, chapter 3)", *TABLES)
def pathfinder(request: StudyRequest) -> StudyResult:
    """Run every data set with its grid size of Table 3.4, by both readings of rows without a class. Our axis-parallel
    tree stands for Weka's Simple CART, whose settings are not given."""

    def by(reading: str, *overrides: str, **part: Collection[str]) -> runs.Outcome:
        return runs.outcome(request, CONFIGURATION, *READINGS[reading], *overrides, **part)

    trees = ("pathfinder",)
    outcomes = {IMPURE: by(IMPURE)}
    low: dict[str, runs.Outcome] = {}
    if request.is_whole:
        outcomes = {OUTSIDE: by(OUTSIDE, algorithms=trees), **outcomes}
        low = {name: by(name, *LOWER_RUN, datasets=REAL, algorithms=trees) for name in outcomes}
    both = runs.rows_by_method([outcomes[IMPURE]], METHODS)
    rows: dict[str, Rows] = {name: {**both, **runs.rows_by_method([run], METHODS)} for name, run in outcomes.items()}
    lower = {name: runs.rows_by_method([run], METHODS) for name, run in low.items()}
    cells_by = {name: _cells(request, mine) for name, mine in rows.items()}
    cells, tables = cells_by[IMPURE], [rejections(rows)]
    if request.is_whole:
        claims_by = {name: claims(mine, rows[name], lower[name]) for name, mine in cells_by.items()}
        table = "by_reject", "Section 3.4.3 by which rows leaves reject; {} is taken"
        cells, by_reject = chosen(request, IMPURE, table, cells_by, claims_by, lambda cell: cell.method == "PATHFINDER")
        tables += [by_reject, by_purity(rows, lower)]
    return runs.result_of([*outcomes.values(), *low.values()], cells, tables)


def _cells(request: StudyRequest, rows: Rows) -> Sequence[Cell]:
    def ours(number: Published, dataset: str) -> Number | None:
        score = fold_score(rows.get((dataset, number.method), ()), SCORES[number.metric])
        return score.number() if score else None

    not_run = {BEST: "the best of 22 programmes in another paper"}
    return [cell for table in TABLES for cell in runs.cells(request, table, ours, not_run)]


def claims(cells: Iterable[Cell], rows: Rows, lower: Rows) -> dict[str, bool | None]:
    """Return the claims of section 3.4.3 and whether ours meet them. lower : rows with purity thresholds of 80 %"""
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
        score = SCORES[f"{of}_percent"]
        pairs = [(_mean(rows, name, score), _mean(lower, name, score)) for name in REAL]
        falls = [high - low for high, low in pairs if high is not None and low is not None]
        side = side_of((fmean(falls), stdev(falls) / len(falls) ** 0.5), (0.0, 0.0)) if len(falls) > 1 else 0
        out[f"{of} rate falls with {LOWER}, over real sets"] = None if side == 0 else side > 0
    return out


def _mean(rows: Rows, name: str, score: Score) -> float | None:
    scored = fold_score(rows.get((name, "PATHFINDER"), ()), score)
    return None if scored is None else scored.mean


def rejections(rows: Mapping[str, Rows]) -> ExtraTable:
    """Return costs and gains of the reject option: accuracy as printed, among accepted rows, and of all rows."""
    scores: tuple[Score, ...] = (
        SCORES["reject_percent"],
        SCORES["accuracy_percent"],
        lambda row: row.measures["accepted_accuracy_percent"],
        _accuracy,
        SCORES["n_leaves"],
    )
    lines = []
    for reading, scores_by in rows.items():
        for name in (*ARTIFICIAL, *REAL):
            means = [_mean(scores_by, name, score) for score in scores]
            if means[0] is not None:
                lines.append((reading, name, *(f"{mean:.1f}" for mean in means)))
    columns = ("rejected %", "accuracy as printed %", "accuracy of accepted %", "of all rows %", "leaves")
    caption = "Rejected rows count as right in the dissertation; beside that, accepted rows alone and all rows by class"
    return ExtraTable("rejections", caption, ("rejected are rows", "data set", *columns), tuple(lines), left=2)


def by_purity(rows: Mapping[str, Rows], lower: Mapping[str, Rows]) -> ExtraTable:
    """Return accuracy as printed and rejected rows, means over the real sets, by reading and purity thresholds."""
    lines = []
    for purity, each in (("100", rows), ("80", lower)):
        for reading, scores_by in each.items():
            scores = (SCORES["accuracy_percent"], SCORES["reject_percent"])
            means = [[_mean(scores_by, name, score) or 0.0 for name in REAL] for score in scores]
            lines.append((reading, purity, *(f"{fmean(values):.1f}" for values in means)))
    header = ("rejected are rows", "purity %", "accuracy as printed %", "rejected %")
    return ExtraTable("by_purity", "Means over the real sets by purity thresholds", header, tuple(lines), left=1)
