"""Studies as declarations: configurations, layouts of tables, and readings that claims of the text choose among."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from oblique_cli import config
from oblique_cli.papers.reproduction.framework import runs
from oblique_cli.papers.reproduction.framework.choice_of_reading import HOLDS, Claims, met, of_claims
from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.runs import Ours, Outcome
from oblique_cli.papers.reproduction.framework.studies import STUDIES, ExtraTable, Study, StudyRequest, StudyResult

QUICK, FULL, WHOLE = "quick", "full", "whole"  # least request that runs a part; WHOLE is FULL without `--only`


@dataclass(frozen=True)
class Part:
    """A configuration of a study, or a part of it.

    configuration   its name below configs/reproduce
    changes         overrides, such as "cv.repeats=2"
    reading         the reading under which its lines replace those of earlier parts; "" for every reading
    least           QUICK, FULL or WHOLE
    datasets, algorithms    names or ids to keep, None for all
    """

    configuration: str
    changes: tuple[str, ...] = ()
    reading: str = ""
    least: str = QUICK
    datasets: tuple[str, ...] | None = None
    algorithms: tuple[str, ...] | None = None

    def run(self, request: StudyRequest) -> Outcome:
        """Run or resume the part."""
        name = f"reproduce/{self.configuration}"
        return runs.outcome(request, name, *self.changes, datasets=self.datasets, algorithms=self.algorithms)


@dataclass(frozen=True)
class Runs:
    """The runs of a study for a request, by group and part, under one reading."""

    request: StudyRequest
    done: Mapping[str, Mapping[Part, Outcome]]
    reading: str = ""

    def of(self, *groups: str) -> list[Outcome]:
        """Return the runs of some groups in the order of the parts; [] if the request leaves them out."""
        parts = [item for group in groups for item in self.done[group].items()]
        return [run for part, run in parts if part.reading in ("", self.reading)]


# Returns our number for each number of a published table.
Layout = Callable[[Runs], Ours]


def lines(*groups: str) -> Layout:
    """Return the layout of a table of accuracies and leaves, each from a line of the runs of some groups."""
    return lambda done: runs.of_outcomes(*done.of(*groups))


@dataclass(frozen=True)
class Choice:
    """Readings of a paper, of which the one that meets most claims of the text is taken.

    readings        that of the words first, that of the configurations last; a part of the sets takes the last
    name, caption   of the table of claims and cells, {} for the reading that is taken
    claims          returns the claims on the cells by one reading, and whether they hold
    wanted          whether the table shows a cell
    """

    readings: tuple[str, ...]
    name: str
    caption: str
    claims: Callable[[Sequence[Cell], Runs], Claims]
    wanted: Callable[[Cell], bool]

    def taken(self, by_reading: Mapping[str, Runs], cells: Mapping[str, Sequence[Cell]]) -> tuple[str, ExtraTable]:
        """Return the reading that is taken, and a table of every claim and every wanted cell by each reading."""
        claims = {reading: self.claims(cells[reading], done) for reading, done in by_reading.items()}
        is_whole = next(iter(by_reading.values())).request.is_whole  # a part of the sets has too few claims
        taken = of_claims({r: [*each.values()] for r, each in claims.items()}) if is_whole else self.readings[-1]
        first = claims[self.readings[0]]
        rows = [("claim", text, "", *(HOLDS[each[text]] for each in claims.values())) for text in first]
        rows += [
            (each[0].table, each[0].dataset, each[0].metric, *(f"{cell.ours:.2f} ({cell.verdict})" for cell in each))
            for each in zip(*cells.values(), strict=True)
            if self.wanted(each[0]) and all(cell.ours is not None for cell in each)
        ]
        rows.append(("claims met", str(len(first)), "", *(str(met(each.values())) for each in claims.values())))
        header = ("table", "data set", "metric", *cells)
        return taken, ExtraTable(self.name, self.caption.format(taken), header, tuple(rows), left=3)


@dataclass(frozen=True)
class Declaration:
    """The configurations and tables of a study.

    parts       by the name of the group to which layouts refer; a text is a whole configuration
    tables      layout by reference, such as "wickramarachchi2015:3.1"
    not_run     as in `runs.cells`
    extras      tables beside the cells
    """

    parts: Mapping[str, tuple[str | Part, ...]]
    tables: Mapping[str, Layout]
    not_run: Mapping[str, str] = field(default_factory=dict)
    choice: Choice | None = None
    extras: Callable[[Runs], Iterable[ExtraTable]] = lambda done: ()

    def groups(self) -> dict[str, list[Part]]:
        """Return the parts of each group."""
        each = self.parts.items()
        return {group: [part if isinstance(part, Part) else Part(part) for part in parts] for group, parts in each}

    def run(self, request: StudyRequest) -> StudyResult:
        """Run or resume the parts, and return every cell by the reading that is taken."""
        wanted = {QUICK: True, FULL: request.profile == "full", WHOLE: request.is_whole}
        done = {
            group: {part: part.run(request) for part in parts if wanted[part.least]}
            for group, parts in self.groups().items()
        }
        all_runs = Runs(request, done)
        readings = {part.reading for parts in done.values() for part in parts} - {""}
        taken, tables = "", []
        cells = {"": self.cells(all_runs)}
        if self.choice and readings:
            by_reading = {reading: replace(all_runs, reading=reading) for reading in self.choice.readings}
            cells = {reading: self.cells(each) for reading, each in by_reading.items()}
            taken, table = self.choice.taken(by_reading, cells)
            tables.append(table)
        outcomes = [run for parts in done.values() for run in parts.values()]
        return runs.result_of(outcomes, cells[taken], [*tables, *self.extras(all_runs)])

    def of_run(self, table: str, run: Outcome) -> Ours:
        """Return the function of our numbers of a table from one stored run, which stands for all configurations."""
        request = StudyRequest("full", run.experiment.seed, 1, "", None, {}, lambda line: None)
        done = {group: {Part(run.experiment.name): run} for group in self.parts}
        return self.tables[table](Runs(request, done))

    def cells(self, done: Runs) -> Sequence[Cell]:
        """Return the cells of all tables."""
        each = self.tables.items()
        return [cell for table, of in each for cell in runs.cells(done.request, table, of(done), self.not_run)]


def declare(name: str, title: str, declaration: Declaration) -> None:
    """Register the study of a declaration; `--only` accepts the ids of its configurations."""

    def ids() -> list[str]:
        names = dict.fromkeys(part.configuration for parts in declaration.groups().values() for part in parts)
        return [spec.id for each in names for spec in config.load(f"reproduce/{each}").algorithms]

    tables = tuple(declaration.tables)
    STUDIES.register(name)(Study(name, title, declaration.run, tables, ids=ids, of_run=declaration.of_run))
