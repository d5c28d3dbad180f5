"""Where the papers are silent: each reading that changes results, and how many cells agree under it.

A reading is one change to the configurations for all data sets at once, never for a single one. The choice among
equally accurate epsilons needs no run of its own: the curves of the tuning cross-validations are stored, and one tree a
fold, grown with the smallest epsilon and cut, answers every other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np

from oblique_cli import schemes
from oblique_cli.data import catalogue
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.evaluation import published
from oblique_cli.evaluation.published import Published
from oblique_cli.experiments.fits import Case, tune
from oblique_cli.papers.reproduction.framework.printed_cells import AGREES, DEVIATES, Cell
from oblique_cli.papers.reproduction.framework.runs import (
    Number,
    Ours,
    Outcome,
    cells,
    mean_sd,
    of_outcomes,
    outcome,
    result_of,
)
from oblique_cli.papers.reproduction.framework.studies import ExtraTable, StudyRequest, StudyResult, study
from studies import script

THESIS = "wickramarachchi2015"
PAPER = "manwani2012"
SLOW = ("letter",)  # the other twelve sets suffice to compare the readings

# Correct predictions and leaves at each value of epsilon, summed over tuning folds -> the index that is taken.
Choice = Callable[[Sequence[int], Sequence[int]], int]


@dataclass(frozen=True)
class Base:
    """A configuration below configs/reproduce that readings change, the table it answers, and the algorithms to run."""

    config: str
    table: str
    algorithms: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Reading:
    """One change to a configuration.

    overrides   as for `oblique run --set`
    seed        added to that of the request: another draw of folds and pruning rows
    """

    topic: str
    name: str
    base: Base
    overrides: tuple[str, ...] = ()
    seed: int = 0


def _both(key: str, value: str) -> tuple[str, ...]:
    """Set a parameter of the first two algorithms."""
    return tuple(f"algorithms.{i}.{key}={value}" for i in (0, 1))


def _fixed(epsilon: float, pruning: str = "none") -> tuple[str, ...]:
    """Give the first algorithm one epsilon, and prune its trees."""
    return "cv.scheme=ordinary", f"algorithms.0.epsilon={epsilon}", f"algorithms.0.pruning={pruning}"


HHCART = Base("chapter3", f"{THESIS}:3.1", ("hhcart_a", "hhcart_d"))
GDT = Base("chapter5_two_stage", f"{THESIS}:5.2")
HHCRV = Base("chapter5_hhcrv", f"{THESIS}:5.9", ("hhcrv",))
GDT_PAPER = Base("gdt_trees", f"{PAPER}:II", ("gdt",))

READINGS: tuple[Reading, ...] = (
    Reading("sign of an eigenvector", "first component negative (default)", HHCART),
    Reading("sign of an eigenvector", "first component positive", HHCART, _both("sign", "positive")),
    Reading("sign of an eigenvector", "both, at twice the cost", HHCART, _both("reflections", "both")),
    Reading("ties of splits", "within 1e-9 are one (default)", HHCART),
    Reading("ties of splits", "to the last bit", HHCART, _both("ties", "strict")),
    Reading("MinParent", "more than 2 rows (default)", HHCART),
    Reading("MinParent", "at least 2 rows", HHCART, _both("min_parent", "1")),
    Reading("pruning draw", "10 % at random (default)", HHCART),
    Reading("pruning draw", "another seed", HHCART, seed=1),
    Reading("pruning draw", "a third seed", HHCART, seed=2),
    Reading("pruning draw", "class shares kept, in folds too", HHCART, ("cv.scheme=stratified",)),
    Reading("pruning draw", "20 %", HHCART, ("cv.pruning_fraction=0.2",)),
    Reading("HHCRV, sign of a vector", "first component negative (default)", HHCRV),
    Reading("HHCRV, sign of a vector", "first component positive", HHCRV, ("algorithms.0.sign=positive",)),
    Reading("GDT, classes that score a bisector", "super-classes (default)", GDT),
    Reading("GDT, classes that score a bisector", "all", GDT, _both("bisector_classes", "all")),
    Reading("MinParent of GDT; of HHGDT", "none; more than 2 rows (default)", GDT),
    Reading("MinParent of GDT; of HHGDT", "more than 2 rows; more than 2 rows", GDT, ("algorithms.0.min_parent=2",)),
    Reading("MinParent of GDT; of HHGDT", "none; none", GDT, ("algorithms.1.min_parent=1",)),
    Reading("GDT, draw of stage 1", "this seed (default)", GDT),
    Reading("GDT, draw of stage 1", "another seed", GDT, seed=1),
    Reading("GDT, draw of stage 1", "a third seed", GDT, seed=2),
    Reading("GDT paper, epsilon", "chosen from 0.10 to 0.20 (default)", GDT_PAPER),
    Reading("GDT paper, epsilon", "0.10", GDT_PAPER, _fixed(0.10)),
    Reading("GDT paper, epsilon", "0.15", GDT_PAPER, _fixed(0.15)),
    Reading("GDT paper, epsilon", "0.20", GDT_PAPER, _fixed(0.20)),
    Reading("GDT paper, errors are a share of", "the parent's rows (default)", GDT_PAPER),
    Reading("GDT paper, errors are a share of", "the node's own rows", GDT_PAPER, ("algorithms.0.misrate_of=node",)),
    Reading("GDT paper, small nodes", "split (default)", GDT_PAPER),
    Reading("GDT paper, small nodes", "leaves at 10 rows", GDT_PAPER, ("algorithms.0.min_parent=10",)),
    Reading("GDT paper, small nodes", "leaves at 20 rows", GDT_PAPER, ("algorithms.0.min_parent=20",)),
    Reading("GDT paper, small nodes", "sides of 5 rows", GDT_PAPER, ("algorithms.0.min_samples_leaf=5",)),
    Reading("GDT paper, bisector by", "the Gini index (default)", GDT_PAPER),
    Reading("GDT paper, bisector by", "misclassification", GDT_PAPER, ("algorithms.0.criterion=sum_minority",)),
    Reading("GDT paper, classes that score a bisector", "super-classes (default)", GDT_PAPER),
    Reading("GDT paper, classes that score a bisector", "all", GDT_PAPER, ("algorithms.0.bisector_classes=all",)),
    Reading("GDT paper, pruning", "none, epsilon 0.10", GDT_PAPER, _fixed(0.10)),
    Reading("GDT paper, pruning", "10 % by 0-SE, epsilon 0.10", GDT_PAPER, _fixed(0.10, "cost_complexity")),
)


def _best(key: Callable[[int, int], tuple[int, ...]]) -> Choice:
    """Return the choice of the most correct predictions, and among equals of the largest key of (leaves, index)."""
    return lambda correct, leaves: max(range(len(correct)), key=lambda i: (correct[i], *key(leaves[i], i)))


def _middle(correct: Sequence[int], leaves: Sequence[int]) -> int:
    best = [i for i in range(len(correct)) if correct[i] == max(correct)]
    return best[(len(best) - 1) // 2]


EPSILON_TIES: Mapping[str, Choice] = {
    "simplest tree, then the largest (default)": _best(lambda leaves, i: (-leaves, i)),
    "simplest tree, then the smallest": _best(lambda leaves, i: (-leaves, -i)),
    "the largest": _best(lambda leaves, i: (i,)),
    "the smallest": _best(lambda leaves, i: (-i,)),
    "the middle one": _middle,
}

STAGE_1_DRAWS = 20
DRAW_HEADER = ("data set", "method", "metric", "published", "least", "largest", "epsilon from", "to")

SPREAD_HEADER = ("table", "draws", "of each kind", "accuracies agree", "sizes agree")

HEADER = ("topic", "reading", "table", "accuracies agree", "of accuracies", "sizes agree", "of sizes",
          "mean |diff| accuracy", "mean |diff| leaves")  # fmt: skip


@study("Readings where the papers are silent, and how many cells agree under each")
def sensitivity(request: StudyRequest) -> StudyResult:
    """Run each reading, over all data sets of its table but Letter, and count."""
    rows, ran = [], []
    draws: tuple[tuple[str, ...], ...] = ()
    counted: tuple[tuple[str, ...], ...] = ()
    for reading in READINGS:
        result = _outcome(replace(request, seed=request.seed + reading.seed), reading)
        ran.append(result)
        if result.rows:
            mine = _cells(request, reading.base.table, of_outcomes(result))
            rows.append(_counted(reading.topic, reading.name, reading.base.table, mine))
    for table, config in ((f"{THESIS}:5.2", "chapter5_two_stage"), (f"{THESIS}:5.3", "chapter5_nested")):
        run = outcome(request, f"reproduce/{config}", datasets=_without_slow(config))
        ran.append(run)
        if not run.rows:
            continue
        paths = _Paths(run, request)
        for name, choice in EPSILON_TIES.items():
            mine = _cells(request, table, paths.of_choice(choice))
            rows.append(_counted("epsilon among equals", name, table, mine))
        if config == "chapter5_two_stage":
            draws, row = paths.of_draws(request, STAGE_1_DRAWS)
            counted = (row,) if draws else ()
    agreed = ExtraTable("agreement", "Readings and agreement", HEADER, tuple(rows), left=3)
    drawn = ExtraTable("stage_1", f"Table 5.2 under {STAGE_1_DRAWS} draws of stage 1", DRAW_HEADER, draws, left=3)
    spread = ExtraTable("draws", "Cells of Table 5.2 that agree under each draw", SPREAD_HEADER, counted, left=1)
    return result_of(ran, tables=(agreed, drawn, spread))


def _without_slow(config: str) -> tuple[str, ...]:
    from oblique_cli.config.checking import load

    return tuple(spec.name for spec in load(f"reproduce/{config}").datasets if spec.name not in SLOW)


def _outcome(request: StudyRequest, reading: Reading) -> Outcome:
    return outcome(
        request,
        f"reproduce/{reading.base.config}",
        *reading.overrides,
        datasets=_without_slow(reading.base.config),
        algorithms=reading.base.algorithms,
    )


def _cells(request: StudyRequest, table: str, ours: Ours) -> list[Cell]:
    return [cell for cell in cells(request, table, ours) if cell.ours is not None]


def _counted(topic: str, name: str, table: str, cells: Iterable[Cell]) -> tuple[str, ...]:
    """Return a row of the table of readings."""
    counts: list[str] = []
    differences: list[str] = []
    for metric in ("accuracy_percent", "n_leaves"):
        mine = [cell for cell in cells if cell.metric == metric]
        verdicts = [cell.verdict for cell in mine]
        counts += [str(verdicts.count(AGREES)), str(verdicts.count(AGREES) + verdicts.count(DEVIATES))]
        gaps = [abs(cell.difference) for cell in mine if cell.difference is not None]
        differences.append(f"{fmean(gaps):.2f}" if gaps else "")
    return (topic, name, table, *counts, *differences)


class _Paths:
    """Correct predictions and leaves of every fold of a run at every epsilon of its grid, from one tree a fold."""

    def __init__(self, run: Outcome, request: StudyRequest) -> None:
        self._run = run
        experiment = run.experiment
        self._titles = {ALGORITHMS[spec.name].title: spec for spec in experiment.algorithms}
        self._shared = {(t.dataset, t.algorithm): t.inner for t in run.tunings}
        self._inner = {(row.dataset, row.algorithm, row.repeat, row.fold): row.inner for row in run.rows}
        self._values: dict[tuple[str, str], list[float]] = {}
        # data set, algorithm -> repetition, fold, test rows, correct (m,), leaves (m,)
        self._folds: dict[tuple[str, str], list[tuple[int, int, int, Any, Any]]] = {}
        self._datasets = {
            policy.name: catalogue.load(policy, data_dir=request.data_dir, offline=request.offline)
            for policy in experiment.datasets
        }
        for dataset in self._datasets.values():
            for fold in schemes.folds(dataset, experiment.cv, experiment.seed):
                for spec in experiment.algorithms:
                    values = self._values[dataset.name, spec.id] = list(spec.grid["epsilon"])
                    params = {**spec.on(dataset.name).params, "epsilon": min(values)}
                    tree = ALGORITHMS[spec.name].make(random_state=0, **params)
                    tree.fit(dataset.X[fold.train], dataset.y[fold.train])
                    right = tree.predict_path(dataset.X[fold.test], values) == dataset.y[fold.test][:, None]
                    self._folds.setdefault((dataset.name, spec.id), []).append(
                        (fold.repeat, fold.index, len(right), right.sum(axis=0), tree.n_leaves_path(values))
                    )

    def of_draws(self, request: StudyRequest, count: int) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
        """Return, for each data set and method, between which values accuracy and leaves lie under `count` draws, and a
        row of how many cells of Table 5.2 agree under each.

        A draw cuts the folds of stage 1 anew; the folds of stage 2 stay.
        """
        experiment, rows = self._run.experiment, []
        drawn: dict[tuple[str, str], list[int]] = {}
        for policy in experiment.datasets:
            dataset = self._datasets[policy.name]
            for spec in experiment.algorithms:
                algorithm = ALGORITHMS[spec.name]
                case = Case(dataset, policy, spec, algorithm)
                chosen = []
                for draw in range(count):
                    cv = replace(experiment.cv, scheme="two_stage")
                    fold = next(iter(schemes.repetition(dataset, cv, experiment.seed + draw, 0)))
                    chosen.append(tune(case, fold.tuning, 0)[0]["epsilon"])
                at = [spec.grid["epsilon"].index(epsilon) for epsilon in chosen]
                drawn[dataset.name, spec.id] = at
                folds = self._folds[dataset.name, spec.id]
                n = sum(size for _, _, size, _, _ in folds)
                curves = {
                    "accuracy_percent": 100 * sum(correct for *_, correct, _ in folds) / n,
                    "n_leaves": sum(leaves for *_, leaves in folds) / len(folds),
                }
                for metric, curve in curves.items():
                    printed = published.lookup(THESIS, "5.2", dataset.name, algorithm.title, metric)
                    levels = [float(curve[i]) for i in at]
                    ends = (f"{min(levels):.1f}", f"{max(levels):.1f}", f"{min(chosen):.2f}", f"{max(chosen):.2f}")
                    rows.append((dataset.name, algorithm.title, metric, printed.printed if printed else "", *ends))
        agree: dict[str, list[int]] = {"accuracy_percent": [], "n_leaves": []}
        of = 0

        def of_draw(draw: int) -> Ours:
            return self._of_index(lambda key, repeat, fold: drawn[key][draw])

        for draw in range(count):
            cells_of_draw = _cells(request, f"{THESIS}:5.2", of_draw(draw))
            for metric, counts in agree.items():
                mine = [cell for cell in cells_of_draw if cell.metric == metric]
                counts.append(sum(cell.verdict == AGREES for cell in mine))
                of = len(mine)
        spread = [f"{min(c)} to {max(c)}, median {sorted(c)[len(c) // 2]}" for c in agree.values()]
        return tuple(rows), (f"{THESIS}:5.2", str(count), str(of), *spread)

    def of_choice(self, choice: Choice) -> Ours:
        """Return the finder of our accuracy and leaves when `choice` takes epsilon."""

        def index(key: tuple[str, str], repeat: int, fold: int) -> int | None:
            curve = self._shared.get(key) or self._inner.get((*key, repeat, fold))
            if not curve:
                return None
            values = self._values[key]
            curve = sorted(curve, key=lambda point: values.index(point["params"]["epsilon"]))
            return choice([point["n_correct"] for point in curve], [point["n_leaves"] for point in curve])

        return self._of_index(index)

    def _of_index(self, index: Callable[[tuple[str, str], int, int], int | None]) -> Ours:
        """Return the finder of our numbers when `index` takes epsilon by (data set, id), repetition and fold."""

        def ours(number: Published, dataset: str) -> Number | None:
            spec = self._titles.get(number.method)
            if spec is None or (dataset, spec.id) not in self._folds:
                return None
            pooled: dict[int, list[float]] = {}
            for repeat, fold, n, correct, leaves in self._folds[dataset, spec.id]:
                i = index((dataset, spec.id), repeat, fold)
                if i is None:
                    return None
                value = float(correct[i]) if number.metric == "accuracy_percent" else float(leaves[i])
                sums = pooled.setdefault(repeat, [0.0, 0.0])
                sums[0] += value
                sums[1] += n / 100 if number.metric == "accuracy_percent" else 1
            means = [top / bottom for top, bottom in pooled.values()]
            return float(np.mean(means)), mean_sd(means)[1], ""

        return ours


if __name__ == "__main__":
    script(sensitivity)
