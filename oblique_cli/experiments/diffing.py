"""Comparison of two stored runs: differing folds and differing cells of their tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from oblique_cli import schemes
from oblique_cli.errors import ConfigError, cut_list
from oblique_cli.evaluation.metrics import METRICS, TESTED, NotMeasured, Undefined, chosen
from oblique_cli.evaluation.paired import StoredRun, partition
from oblique_cli.evaluation.sheets import Sheet, TextGrid
from oblique_cli.evaluation.significance_tests import corrected_resampled_t, holm
from oblique_cli.evaluation.tables import Line, ResultTable, shown, task_of_experiment, title_of
from oblique_cli.experiments.environment import differences as environment_differences
from oblique_cli.experiments.store import Run, Store
from oblique_cli.experiments.store import differences as content_differences
from oblique_cli.experiments.stored_predictions import unpack
from oblique_cli.experiments.tidy import METRIC_OF
from oblique_cli.ground.nouns import Row

SHOWN_FOLDS = 20  # differing folds in the text; JSON has all

Place = tuple[str, str, int, int]


@dataclass(frozen=True)
class Side:
    """Stored run with its rows and its table."""

    store: Store
    run: Run
    rows: Mapping[Place, Row]
    table: ResultTable

    @classmethod
    def of(cls, store: Store, run: Run, rows: Sequence[Row], table: ResultTable) -> Side:
        return cls(store, run, {(row.dataset, row.algorithm, row.repeat, row.fold): row for row in rows}, table)

    def stored(self) -> StoredRun:
        """Return the run in the form that tests of significance need."""
        return StoredRun(self.run.experiment, tuple(self.rows.values()), self.run.content["data"])


@dataclass(frozen=True)
class CellDifference:
    """Metric of an algorithm on a data set in both runs. folds, shared : differing folds, folds in both runs

    p : of the corrected resampled t test after Holm's correction over the cells; None if the runs' folds differ"""

    first: Line
    second: Line
    metric: str
    folds: int
    shared: int
    p: float | None
    alpha: float

    @property
    def difference(self) -> float | None:
        first, second = (line.value(self.metric).mean for line in (self.first, self.second))
        return None if first is None or second is None else second - first

    @property
    def verdict(self) -> str:
        if self.difference is None:
            return "not complete"
        if self.difference == 0:
            return "equal" if self.folds == 0 else "equal mean"
        if self.folds == 0 and self.shared:  # one run has more folds
            return "equal on shared folds"
        if self.p is None:
            return "differs"
        return "significant" if self.p < self.alpha else "not significant"

    def row(self) -> tuple[str, ...]:
        lines = (self.first, self.second)
        return (
            self.first.dataset,
            self.first.algorithm,
            title_of(self.metric),
            *(shown(self.metric, line.value(self.metric), line.mark) for line in lines),
            "-" if self.difference is None else f"{self.difference:+.4g}",
            "-" if self.p is None else f"{self.p:.3f}",
            self.verdict,
            f"{self.folds} of {self.shared}",
        )

    def record(self) -> dict[str, Any]:
        return {
            "dataset": self.first.dataset,
            "algorithm": self.first.algorithm,
            "metric": self.metric,
            "first_mean": self.first.value(self.metric).mean,
            "second_mean": self.second.value(self.metric).mean,
            "difference": self.difference,
            "p": self.p,
            "verdict": self.verdict,
            "folds_differing": self.folds,
            "folds_shared": self.shared,
        }


def diff(first: Side, second: Side, metrics: Sequence[str] = (), alpha: float = 0.05) -> Sheet:
    """Return the differences of two runs in means and folds, by `metrics` (default: accuracy or RMSE, and leaves).

    Raise ConfigError if the runs share no data set and algorithm, or have different tasks."""
    before, after = first.run.experiment, second.run.experiment
    task = task_of_experiment(before)
    if task != task_of_experiment(after):
        raise ConfigError(
            f"{before.name} is for {task}, {after.name} is for {task_of_experiment(after)}; nothing compares."
        )
    names = chosen(metrics or TESTED[task], task, "diff")
    kinds = [schemes.SCHEMES[cv.scheme].estimate_of(cv) or "a share of right test rows" for cv in (before.cv, after.cv)]
    if "accuracy" in names and kinds[0] != kinds[1]:
        raise ConfigError(
            f"the accuracy of {before.name} is {kinds[0]} and that of {after.name} {kinds[1]}; compare other metrics "
            "(--metric leaves), or runs of one scheme."
        )
    lines = [{(line.dataset, line.algorithm): line for line in side.table.lines} for side in (first, second)]
    both = [cell for cell in lines[0] if cell in lines[1]]
    if not both:
        raise ConfigError(f"runs {before.name!r} and {after.name!r} have no data set and algorithm in common.")
    differing = {
        place: ", ".join(what)
        for place, row in first.rows.items()
        if place[:2] in both
        and (other := second.rows.get(place))
        and (what := list(_row_differences(first, second, row, other)))
    }
    cells: list[CellDifference] = []
    for name in names:
        made = []
        for cell in both:
            shared = [place for place in first.rows if place[:2] == cell and place in second.rows]
            count = sum(place[:2] == cell for place in differing)
            p = _p(first, second, cell, name)
            made.append(CellDifference(lines[0][cell], lines[1][cell], name, count, len(shared), p, alpha))
        corrected = iter(holm([cell.p for cell in made if cell.p is not None]))
        cells += [cell if cell.p is None else replace(cell, p=next(corrected)) for cell in made]
    cells.sort(key=lambda cell: both.index((cell.first.dataset, cell.first.algorithm)))
    same_name = before.name == after.name
    titles = (f"{before.name} (first)", f"{after.name} (second)") if same_name else (before.name, after.name)
    header = ("data set", "algorithm", "metric", *titles, "difference", "p", "verdict", "folds that differ")
    grids = [TextGrid(header, tuple(cell.row() for cell in cells), left=3)]
    folds = [("{}/{} r{} f{}".format(*place), what) for place, what in differing.items()]
    if folds:
        more = f" (the first {SHOWN_FOLDS})" if len(folds) > SHOWN_FOLDS else ""
        caption = f"{len(folds)} folds differ{more}"
        grids.append(TextGrid(("fold", "what differs"), tuple(folds[:SHOWN_FOLDS]), 2, caption))
    return Sheet(
        title=f"{titles[0]} and {titles[1]}",
        grids=tuple(grids),
        notes=tuple(_notes(first, second, lines, cells, alpha)),
        records=tuple(cell.record() for cell in cells),
        facts={"folds": [{"fold": fold, "what": what} for fold, what in folds]},
    )


def _row_differences(first: Side, second: Side, row: Row, other: Row) -> Iterator[str]:
    if row.status != other.status:
        yield f"{row.status} -> {other.status}"
        return
    if row.status != "ok":
        return
    for name in ("n_test", "n_correct", "n_leaves", "n_nodes", "depth"):
        if getattr(row, name) != getattr(other, name):
            yield f"{METRIC_OF.get(name, name)} {getattr(row, name)} -> {getattr(other, name)}"
    for group in ("chosen", "measures"):
        a, b = getattr(row, group), getattr(other, group)
        yield from (f"{name} {a[name]} -> {b[name]}" for name in a if name in b and a[name] != b[name])
    packed = [side.store.packed(side.run.name, r) for side, r in ((first, row), (second, other))]
    if all(packed) and packed[0] != packed[1]:
        mine, theirs = map(unpack, packed)
        if mine.rows.tolist() != theirs.rows.tolist():
            yield "other test rows"
        elif n := int((mine.predicted != theirs.predicted).sum()):
            yield f"{n} of {row.n_test} test rows predicted otherwise"


def _p(first: Side, second: Side, cell: tuple[str, str], name: str) -> float | None:
    """Return the p value of one metric of one cell, None if no test applies."""
    experiment = first.run.experiment
    share = schemes.SCHEMES[experiment.cv.scheme].test_over_train(experiment.cv)
    if share is None or partition(first.stored(), cell[0]) != partition(second.stored(), cell[0]):
        return None
    places = [place for place in first.rows if place[:2] == cell]
    rows = [(first.rows[place], second.rows.get(place)) for place in places]
    pairs = [(a, b) for a, b in rows if b is not None and a.status == b.status == "ok"]
    if len(pairs) < 2:
        return None
    try:
        differences = [float(METRICS[name].of(b) - METRICS[name].of(a)) for a, b in pairs]
    except (NotMeasured, Undefined):
        return None
    return corrected_resampled_t(differences, share).p


def _notes(
    first: Side,
    second: Side,
    lines: Sequence[Mapping[tuple[str, str], Line]],
    cells: Sequence[CellDifference],
    alpha: float,
) -> Iterator[str]:
    before, after = first.run, second.run
    if changes := list(content_differences(before.content, after.content)):
        yield f"Configurations differ: {cut_list(changes, 6)}."
    for here, there, name in ((lines[0], lines[1], before.name), (lines[1], lines[0], after.name)):
        if alone := [f"{dataset}/{algorithm}" for dataset, algorithm in here if (dataset, algorithm) not in there]:
            yield f"In {name} alone: {cut_list(alone, 6)}."
    made, made_there = (list(side.store.environments(side.run.name).values()) for side in (first, second))
    if len(made) == len(made_there) == 1 and (what := environment_differences(made[0], made_there[0])):
        yield f"Environments differ: {', '.join(what)}."
    if any(cell.p is not None for cell in cells):
        yield (
            "Significant: corrected resampled t test on the differences of the folds, Holm's correction over the cells "
            f"of a metric, p < {alpha:g}."
        )
