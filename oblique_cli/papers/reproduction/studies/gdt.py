"""The geometric decision tree paper (Manwani & Sastry 2012): Tables II and III, and the claims of its section IV."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import fmean, stdev

from oblique_cli.evaluation.published import Published
from oblique_cli.papers.reproduction.framework.choice_of_reading import of_claims, table_of
from oblique_cli.papers.reproduction.framework.printed_cells import AGREES, Cell
from oblique_cli.papers.reproduction.framework.runs import Number, Outcome, cells, lines_of, of_lines, outcome, total
from oblique_cli.papers.reproduction.framework.studies import STUDIES, ExtraTable, Study, StudyRequest, StudyResult
from oblique_cli.papers.reproduction.studies.gdt_claims import Numbers, claims

PAPER = "manwani2012"
MACHINES = ("gdt_svm_gaussian", "gdt_svm_linear", "gdt_gepsvm_linear", "gdt_gepsvm_gaussian")
# Our names of the methods that the paper calls otherwise.
OURS = {"CART-LC": "OC1-LC"}
NOT_RUN = {"time_s": "times of another language and machine are no target"}


@STUDIES.register("gdt")
class GeometricTree(Study):
    """Tables II and III. The synthetic sets and the rows of Magic are draws of our own."""

    name = "gdt"
    title = "GDT against OC1, CART-LC, SVM and GEPSVM (Manwani & Sastry 2012)"
    tables = (f"{PAPER}:II", f"{PAPER}:III")

    def run(self, request: StudyRequest) -> StudyResult:
        """Run the trees of Table II and the machines of Table III, and GDT by both readings of its limit.

        The words say that epsilon limits what a node gets wrong as a share of its own rows; the printed sizes follow if
        it is a share of the parent's. A part of the sets has too few claims to choose by and keeps what the
        configuration says.
        """
        trees = outcome(request, "reproduce/gdt_trees")
        words = outcome(request, "reproduce/gdt_trees", f"algorithms.0.misrate_of={READINGS[0]}", algorithms=("gdt",))
        machines = [outcome(request, f"reproduce/{name}") for name in MACHINES]
        runs = {READINGS[0]: (trees, words), READINGS[1]: (trees,)}
        cells_by = {
            reading: (
                *cells(request, self.tables[0], of_trees(each), NOT_RUN),
                *cells(request, self.tables[1], of_lines(lines_of([*each, *machines])), NOT_RUN),
            )
            for reading, each in runs.items()
        }
        by_units = {
            reading: outcome(request, f"reproduce/{GEPSVM}", *overrides, algorithms=("gepsvm",))
            for reading, overrides in UNITS.items()
        }
        cost, code = total([trees, words, *machines, *by_units.values()])
        whole = request.profile == "full" and not request.only
        taken = chosen(cells_by) if whole else READINGS[1]
        tables = (by_reading(cells_by, taken), by_gepsvm(request, by_units))
        return StudyResult(cells_by[taken], tuple(table for table in tables if table.rows), cost, code)


# Readings of linear GEPSVM, whose features may have any units and whose matrices may be made regular. The last one is
# the configuration's: the units of the support vector machine, and next to nothing added, as the paper adds nothing.
GEPSVM = "gdt_gepsvm_linear"
UNITS = {
    "variance 1, 0.0001 added": ("algorithms.0.standardize=true", "algorithms.0.regularization=0.0001"),
    "variance 1, nothing added": ("algorithms.0.standardize=true",),
    "own units, 0.0001 added": ("algorithms.0.regularization=0.0001",),
    "own units, nothing added": (),
}


def by_gepsvm(request: StudyRequest, runs: Mapping[str, Outcome | None]) -> ExtraTable:
    """Return how far linear GEPSVM is from Table III by each reading, on every second set and on the others."""
    rows = []
    for reading, run in runs.items():
        if run is None:
            continue
        mine = [
            cell
            for cell in cells(request, f"{PAPER}:III", of_lines(lines_of([run])), NOT_RUN)
            if cell.method == "GEPSVM" and cell.metric == "accuracy_percent" and cell.difference is not None
        ]
        for cell in mine:
            rows.append((reading, cell.dataset, f"{cell.ours:.2f}", f"{cell.published:.2f}", cell.verdict))
        for title, half in zip(("half of the sets", "the others"), (mine[::2], mine[1::2]), strict=True):
            if half:
                away = fmean(abs(cell.difference or 0.0) for cell in half)
                agree = sum(cell.verdict == AGREES for cell in half)
                rows.append((reading, title, f"{away:.2f} away", "", f"{agree} of {len(half)} agree"))
    caption = "Accuracy of linear GEPSVM, Table III, by units of features and what is added to its matrices"
    return ExtraTable("gepsvm", caption, ("reading", "data set", "ours", "published", "verdict"), tuple(rows), left=2)


# What the errors of a node are a share of: its own rows, as the words have it, or the parent's.
READINGS = ("node", "parent")


def numbers_of(cells: Iterable[Cell]) -> Numbers:
    """Return our numbers as claims read them."""
    return {(c.dataset, c.method, c.metric): (c.ours, c.ours_sd or 0.0) for c in cells if c.ours is not None}


def chosen(cells: Mapping[str, Iterable[Cell]]) -> str:
    """Return the reading that meets more of the claims of section IV. cells : of both tables, by reading"""
    return of_claims({reading: [holds for _, holds in claims(numbers_of(mine))] for reading, mine in cells.items()})


def by_reading(cells: Mapping[str, tuple[Cell, ...]], taken: str) -> ExtraTable:
    """Return every claim of section IV and every cell of GDT by both readings, and how many claims each meets."""
    claims_by = {reading: dict(claims(numbers_of(mine))) for reading, mine in cells.items()}
    caption = f"Section IV by what the errors of a node are a share of; the {taken}'s rows are taken"
    return table_of("by_misrate", caption, cells, claims_by, lambda cell: cell.method == "GDT")


class of_trees:
    """Finds accuracy, leaves, and the depth averaged over the trees of a repetition."""

    def __init__(self, runs: Iterable[Outcome | None]) -> None:
        """Of two runs with lines of the same method, take those of the later one."""
        runs = list(runs)
        self._of_lines = of_lines(lines_of(runs))
        self._depths = {key: number for run in runs for key, number in _depths(run).items()}

    def __call__(self, number: Published, dataset: str) -> Number | None:
        number = replace(number, method=OURS.get(number.method, number.method))
        if number.metric == "depth":
            return self._depths.get((dataset, number.method))
        return self._of_lines(number, dataset)


def _depths(run: Outcome | None) -> Mapping[tuple[str, str], Number]:
    """Return mean and SD over repetitions of the mean depth of a repetition's trees."""
    if run is None:
        return {}
    depth_of: dict[tuple[str, str], Number] = {}
    for (dataset, title), line in run.lines().items():
        depths: dict[int, list[int]] = {}
        for row in run.rows:
            if (row.dataset, row.algorithm, row.status) == (dataset, line.algorithm, "ok"):
                depths.setdefault(row.repeat, []).append(row.depth)
        means = [fmean(each) for each in depths.values() if len(each) == run.experiment.cv.folds]
        if means:
            depth_of[dataset, title] = (fmean(means), stdev(means) if len(means) > 1 else None, "")
    return depth_of
