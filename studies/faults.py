"""Planted faults: whether the verdict on a table would notice a mistake.

Each fault is what a wrong program, or a slip in handling its results, would do to the cells of a table. Most need no
run: they are done to the stored cells. A fault in growing or pruning is run, on small sets and few repetitions, and the
verdict without it is that of the same sets and repetitions.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from oblique_cli.evaluation.significance_tests import average_ranks
from oblique_cli.ground import seeds
from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.runs import Outcome, cells, of_outcomes, outcome, result_of
from oblique_cli.papers.reproduction.framework.studies import ExtraTable, StudyRequest, StudyResult, study
from oblique_cli.papers.reproduction.framework.study_report import read_cells
from studies import script
from studies.power import TableVerdict, table_verdicts

THESIS = "wickramarachchi2015"
FOREST = "zhang2014"
SLOW = "letter"
REPEATS = 3
# The algorithms of Table 3.1 without OC1, which takes twenty times as long: their places in its configuration.
PLACES = {"hhcart_a": 0, "hhcart_d": 1, "oc1_lc": 3, "oc1_ap": 4}

Plant = Callable[[tuple[Cell, ...], Path], tuple[Cell, ...]]


@dataclass(frozen=True)
class Planted:
    """A fault in the stored cells of a table.

    study   whose results have the table
    plant   takes the table's cells and the folder of results, and returns the cells as the fault would leave them
    """

    name: str
    study: str
    table: str
    plant: Plant


@dataclass(frozen=True)
class Grown:
    """A fault in how the trees of Table 3.1 are grown or pruned.

    set_    what the fault sets, of every algorithm
    slow    whether it is shown on Letter alone, whose cells have the least spread, and not on the other sets
    """

    name: str
    set_: str
    slow: bool = False


def swapped(first: str, second: str) -> Plant:
    """Give two methods each other's results."""
    names = {first: second, second: first}

    def plant(cells: tuple[Cell, ...], results: Path) -> tuple[Cell, ...]:
        ours = {cell.key: cell for cell in cells}
        taken = [ours.get((c.table, c.dataset, names.get(c.method, c.method), c.metric, c.qualifier)) for c in cells]
        return tuple(_with(cell, other) for cell, other in zip(cells, taken, strict=True) if other is not None)

    return plant


def next_set(cells: tuple[Cell, ...], results: Path) -> tuple[Cell, ...]:
    """Give every data set the results of the next one."""
    names = list(dict.fromkeys(cell.dataset for cell in cells))
    after = dict(zip(names, (*names[1:], names[0]), strict=True))
    ours = {cell.key: cell for cell in cells}
    taken = [ours.get((c.table, after[c.dataset], c.method, c.metric, c.qualifier)) for c in cells]
    return tuple(_with(cell, other) for cell, other in zip(cells, taken, strict=True) if other is not None)


def other_classes(cells: tuple[Cell, ...], results: Path) -> tuple[Cell, ...]:
    """Read the classes of every data set in reverse order."""
    by_set: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if cell.metric == "class_accuracy_percent":
            by_set.setdefault((cell.dataset, cell.qualifier.rpartition("sampling=")[2]), []).append(cell)
    return tuple(
        _with(cell, other)
        for members in by_set.values()
        for cell, other in zip(members, reversed(members), strict=True)
    )


def nodes_for_leaves(cells: tuple[Cell, ...], results: Path) -> tuple[Cell, ...]:
    """Count all nodes of a binary tree in place of its leaves."""
    return tuple(replace(c, ours=2 * (c.ours or 0.0) - 1) if c.metric == "n_leaves" else c for c in cells)


def best_repetition(cells: tuple[Cell, ...], results: Path) -> tuple[Cell, ...]:
    """Report about the best of ten repetitions, the mean and 1.54 SDs, in place of their mean."""
    return tuple(
        replace(c, ours=(c.ours or 0.0) + 1.54 * (c.ours_sd or 0.0)) if c.metric == "accuracy_percent" else c
        for c in cells
    )


def triple_spread(cells: tuple[Cell, ...], results: Path) -> tuple[Cell, ...]:
    """Take SDs that are three times too large, such as those over folds for those over repetitions."""
    return tuple(replace(cell, ours_sd=3 * (cell.ours_sd or 0.0)) for cell in cells)


def ranks_of_a_seed(cells: tuple[Cell, ...], results: Path) -> tuple[Cell, ...]:
    """Rank the forests of each data set as a draw has it, and not as their accuracies do."""
    path = results / "reproduction" / "mpsvm_accuracies.csv"
    with open(path, encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    methods = [cell.method for cell in cells if cell.metric == "average_rank"]
    rng = seeds.generator(0, "ranks of another seed")
    drawn = np.array([rng.permutation([float(row[name]) for name in methods]) for row in rows])
    ranks = dict(zip(methods, average_ranks(drawn), strict=True))
    return tuple(replace(c, ours=float(ranks[c.method])) for c in cells if c.metric == "average_rank")


def methods_of_a_seed(cells: tuple[Cell, ...], results: Path) -> tuple[Cell, ...]:
    """Give the methods of each data set each other's results, so that their ranks are those of a draw."""
    rng = seeds.generator(0, "methods of another seed")
    by_set: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        by_set.setdefault((cell.dataset, cell.metric), []).append(cell)
    return tuple(
        _with(cell, members[i])
        for members in by_set.values()
        for cell, i in zip(members, rng.permutation(len(members)), strict=True)
    )


def _with(cell: Cell, other: Cell) -> Cell:
    """Return the cell with another one's number of ours."""
    return replace(cell, ours=other.ours, ours_sd=other.ours_sd)


PLANTED: tuple[Planted, ...] = (
    Planted("OC1-AP's results under HHCART(A)'s name", "chapter3", f"{THESIS}:3.1", swapped("HHCART(A)", "OC1-AP")),
    Planted("GDT's results under HHGDT's name", "chapter5", f"{THESIS}:5.3", swapped("GDT", "HHGDT")),
    Planted("the next data set's results", "chapter3", f"{THESIS}:3.1", next_set),
    Planted("classes in reverse order", "chapter3", f"{THESIS}:3.3", other_classes),
    Planted("all nodes counted as leaves", "chapter6", f"{THESIS}:6.3", nodes_for_leaves),
    Planted("the best of ten repetitions for their mean", "chapter3", f"{THESIS}:3.1", best_repetition),
    Planted("SDs three times too large", "chapter6", f"{THESIS}:6.3", triple_spread),
    Planted("ranks of another seed, trees", "chapter3", f"{THESIS}:3.1", methods_of_a_seed),
    Planted("ranks of another seed, forests", "mpsvm", f"{FOREST}:IV-B", ranks_of_a_seed),
)
GROWN: tuple[Grown, ...] = (
    Grown("pruning by the 1-SE rule for 0-SE", "standard_errors=1"),
    Grown("minority classes for twoing", "criterion=sum_minority"),
    Grown("Gini for twoing, Letter", "criterion=gini", slow=True),
    Grown("Gini for twoing, the other sets", "criterion=gini"),
)


@dataclass(frozen=True)
class Turn:
    """The verdicts on one measure of a table without and with a fault."""

    fault: str
    before: TableVerdict
    after: TableVerdict

    @property
    def turned(self) -> bool:
        """Whether the fault turns the verdict."""
        return self.before.verdict != self.after.verdict


def turns(fault: str, before: Iterable[Cell], after: Iterable[Cell]) -> list[Turn]:
    """Return the verdicts without and with a fault, of each measure that both have."""
    clean = {(verdict.table, verdict.metric): verdict for verdict in table_verdicts(before)}
    return [
        Turn(fault, clean[verdict.table, verdict.metric], verdict)
        for verdict in table_verdicts(after)
        if (verdict.table, verdict.metric) in clean
    ]


def of_stored(results: Path) -> list[Turn]:
    """Return what the faults in stored cells do, for those whose study has results of the full profile."""
    turns_ = []
    for fault in PLANTED:
        path = results / "reproduction" / f"{fault.study}.csv"
        if path.is_file():
            members = tuple(c for c in read_cells(path) if c.table == fault.table and c.difference is not None)
            turns_ += turns(fault.name, members, fault.plant(members, results))
    return turns_


@study("Planted faults: does the verdict on a table notice them?", selects=("dataset",))
def faults(request: StudyRequest) -> StudyResult:
    """Plant the faults in stored cells, and run those that must be grown."""
    turns_ = of_stored(Path(request.results))
    outcomes: list[Outcome] = []
    for slow in (False, True):
        clean = _grown(request, (), slow)
        outcomes.append(clean)
        for fault in GROWN:
            if fault.slow == slow and clean.rows:
                faulty = _grown(request, [f"algorithms.{i}.{fault.set_}" for i in PLACES.values()], slow)
                outcomes.append(faulty)
                turns_ += turns(fault.name, _cells(request, clean), _cells(request, faulty))
    return result_of(outcomes, tables=[_table(turns_)])


def _grown(request: StudyRequest, overrides: Sequence[str], slow: bool) -> Outcome:
    """Run Table 3.1 with few repetitions, on Letter or on the other sets."""
    from oblique_cli import config

    sets = [spec.name for spec in config.load("reproduce/chapter3", []).datasets if (spec.name == SLOW) == slow]
    repeats = f"cv.repeats={REPEATS}"
    return outcome(request, "reproduce/chapter3", repeats, *overrides, datasets=sets, algorithms=PLACES)


def _cells(request: StudyRequest, run: Outcome) -> tuple[Cell, ...]:
    all_cells = cells(request, f"{THESIS}:3.1", of_outcomes(run))
    return tuple(cell for cell in all_cells if cell.difference is not None)


def _table(turns: Sequence[Turn]) -> ExtraTable:
    rows = tuple(
        (turn.fault, turn.before.table, turn.before.metric, str(turn.before.n_sets),
         *(f"{verdict.verdict} ({verdict.cells})" for verdict in (turn.before, turn.after)),
         "yes" if turn.turned else "no")
        for turn in turns
    )  # fmt: skip
    count = len({turn.fault for turn in turns if turn.turned})
    caption = f"{count} of {len({turn.fault for turn in turns})} planted faults turn a verdict"
    header = ("fault", "table", "measure", "data sets", "without it", "with it", "turned")
    return ExtraTable("verdicts", caption, header, rows, left=3)


if __name__ == "__main__":
    script(faults)
