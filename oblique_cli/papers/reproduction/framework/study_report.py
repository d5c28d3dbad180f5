"""Report of a study: its cells as tables and as a CSV file, its cost, and cells that no longer agree."""

from __future__ import annotations

import csv
import resource
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cache
from math import hypot
from pathlib import Path
from typing import Any

from oblique_cli.data import files
from oblique_cli.data.csv_text import csv_text
from oblique_cli.errors import DataError, StoreError
from oblique_cli.evaluation import published
from oblique_cli.evaluation.sheets import MISSING, Sheet, TextGrid, render
from oblique_cli.papers.reproduction.framework import printed_cells
from oblique_cli.papers.reproduction.framework.printed_cells import AGREES, DEVIATES, NOT_RUN, Cell
from oblique_cli.papers.reproduction.framework.studies import ExtraTable, Study, StudyRequest, StudyResult

REASONS = Path(__file__).with_name("reasons.csv")
TRIED = Path(__file__).with_name("tried.csv")
UNEXPLAINED = "unexplained"
WIDE = f"{AGREES} only because its SD is large"
FIELDS = tuple(field.name for field in fields(Cell))
COLUMNS = (*FIELDS, "difference", "verdict", "reason")


# Classes of reasons. The first three explain a cell; the others name the readings tried for an unexplained cell.
CAUSE, SPREAD, CONTRADICTED = "measured cause", "spread of draws", "print contradicts itself"
EXPLAINING = (CAUSE, SPREAD, CONTRADICTED)
CLASSES = (*EXPLAINING, "reading per set", "too few draws", "not measured")


def _by_key(path: Path) -> dict[tuple[str, ...], dict[str, str]]:
    """Return the rows of a table about cells, by `Cell.key`."""
    with open(path, encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    return {tuple(row[name] for name in ("table", "dataset", "method", "metric", "qualifier")): row for row in rows}


@cache
def classes() -> dict[tuple[str, ...], tuple[str, str]]:
    """Return the class of every reason and its words with their measurement, by `Cell.key`."""
    return {key: (row["class"], f"{row['reason']} ({row['measurement']})") for key, row in _by_key(REASONS).items()}


@cache
def tried() -> dict[tuple[str, ...], str]:
    """Return the readings that were tried on cells without a reason, with their numbers, by `Cell.key`."""
    readings = {key: row["tried"] for key, row in _by_key(TRIED).items()}
    return readings | {key: f"{kind}: {text}" for key, (kind, text) in classes().items() if kind not in EXPLAINING}


@cache
def reasons() -> dict[tuple[str, ...], str]:
    """Return the reasons that explain cells that deviate, by `Cell.key`. Callers must not change the dictionary."""
    return {key: text for key, (kind, text) in classes().items() if kind in EXPLAINING}


@dataclass(frozen=True)
class StudyReport:
    """A study's result for display and storage. baseline : cells of the committed quick profile, or ()"""

    study: Study
    result: StudyResult
    request: StudyRequest
    baseline: tuple[Cell, ...] = ()

    @property
    def unexplained(self) -> list[Cell]:
        """Cells that deviate without a measured reason."""
        return [cell for cell in self.result.cells if cell.verdict == DEVIATES and cell.key not in reasons()]

    @property
    def is_quick(self) -> bool:
        """Whether the cells are those of the quick profile: reasons are of the full one, with all repetitions."""
        return self.request.profile == "quick"

    @property
    def regressions(self) -> list[str]:
        """A message for each cell that agreed in the baseline and no longer does, by more than its noise."""
        return regressions(self.baseline, self.result.cells, complete=not self.request.only)

    def render(self, format: str) -> str:
        """Return the report in a format of `oblique run`."""
        return render(self, format)

    def save(self) -> Path:
        """Write cells, tables and cost; return the file of the cells. StoreError if the folder cannot be created."""
        folder = Path(self.request.results) / "reproduction"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"the folder {folder} cannot be made ({error.strerror}); free its place.") from error
        part = "" if self.request.profile == "full" else f"_{self.request.profile}"
        stem = f"{self.study.name}{part}{'_only' if self.request.only else ''}"
        run = self._run()
        texts = {f"_{table.name}": csv_text([table.header, *table.rows]) for table in self.result.tables}
        texts["_run"] = csv_text([tuple(run), tuple(run.values())])
        if self.result.cells:
            texts[""] = write_cells(self.result.cells)
        for name, text in texts.items():
            files.write(folder / f"{stem}{name}.csv", text.encode())
        return folder / f"{stem}.csv"

    def _run(self) -> dict[str, Any]:
        cost = self.result.cost
        return {
            "study": self.study.name,
            "profile": self.request.profile,
            "seed": self.request.seed,
            "date": datetime.now(UTC).date().isoformat(),
            "trees": cost.stored_trees,
            "work_seconds": round(cost.stored_seconds, 1),
            "trees_now": cost.trees,
            "seconds_now": round(cost.seconds, 1),
            "peak_megabytes": round(peak_megabytes()),
        }

    def sheet(self) -> Sheet:
        """Return the sheet that `render` prints."""
        cells = self.result.cells
        grids = []
        for reference in dict.fromkeys(cell.table for cell in cells):
            header, rows = grid_rows([cell for cell in cells if cell.table == reference], self.is_quick)
            grids.append(TextGrid(header, rows, left=3, caption=f"{reference}: {published.find(reference).caption}"))
        for table in self.result.tables:
            grids.append(TextGrid(table.header, table.rows, left=table.left, caption=table.caption))
        counts = tuple(
            (*key, str(c.agree), str(c.compared), str(c.not_run)) for key, c in printed_cells.agreement(cells).items()
        )
        if counts:
            header = ("table", "metric", "agree", "of", "not run")
            grids.append(TextGrid(header, counts, left=2, caption="How many cells agree"))
        return Sheet(
            title=f"{self.study.title}, {self.request.profile} profile",
            grids=tuple(grids),
            notes=tuple(self._notes()),
            records=tuple(_record(cell, self.is_quick) for cell in cells) or _records_of(self.result.tables),
            facts={"study": self.study.name, "run": self._run()},
        )

    def _notes(self) -> list[str]:
        cost = self.result.cost
        notes = []
        if self.result.cells:
            count = len(self.result.cells)
            notes.append(f"Verdict: {printed_cells.RULE}.")
            few = " in two repetitions of small data sets" if self.is_quick else " without a measured reason"
            notes.append(f"{len(self.unexplained)} cells deviate{few}; {count} cells in all.")
        if self.baseline:
            notes.append(
                f"Baseline: {sum(cell.verdict == AGREES for cell in self.baseline)} cells agreed; "
                f"{len(self.regressions) or 'none'} of them stopped agreeing by more than their noise."
            )
        rate = f", {cost.trees / cost.seconds:.1f} trees a second" if cost.trees and cost.seconds else ""
        notes.append(
            f"Seed {self.request.seed}; {cost.trees} trees grown now in {cost.seconds:.1f} s{rate}; all "
            f"{cost.stored_trees} trees took {cost.stored_seconds:.1f} s of work; peak memory "
            f"{peak_megabytes():.0f} MB."
        )
        return notes


def of(study: Study, result: StudyResult, request: StudyRequest) -> StudyReport:
    """Return the report of a result, beside the committed baseline if the profile is quick and there is one."""
    path = Path(request.results) / f"baseline_quick_{study.name}.csv"
    baseline = read_cells(path) if request.profile == "quick" and path.is_file() else ()
    return StudyReport(study, result, request, baseline)


def regressions(baseline: Iterable[Cell], cells: Iterable[Cell], *, complete: bool) -> list[str]:
    """Return a sentence for each cell that agreed in `baseline` and deviates now, having moved by more than the noise
    of our two numbers, and, if the run is `complete`, for each that is missing now."""
    now = {cell.key: cell for cell in cells}
    sentences = []
    for before in baseline:
        if before.verdict != AGREES or before.ours is None:
            continue
        where = f"table {before.table}: {before.metric} of {before.method} on {before.dataset}"
        where += f" ({before.qualifier})" if before.qualifier else ""
        cell = now.get(before.key)
        if cell is None or cell.ours is None:
            if complete:
                sentences.append(f"{where} agreed in the baseline and has no number now.")
            continue
        noise = 2 * hypot(cell.ours_sd or 0.0, before.ours_sd or 0.0)
        if cell.verdict == DEVIATES and abs(cell.ours - before.ours) > noise + printed_cells.TOLERANCE:
            sentences.append(
                f"{where} agreed in the baseline with {before.ours:.2f} and deviates now with {cell.ours:.2f} "
                f"(published {cell.published:.2f}), a move beyond its noise of {noise:.2f}."
            )
    return sentences


# ---- files -----------------------------------------------------------------------------------------------------------


def _records_of(tables: Sequence[ExtraTable]) -> tuple[dict[str, Any], ...]:
    """Return the rows of several tables under the columns of all of them, each with the name of its table."""
    columns = dict.fromkeys(("table", *(name for table in tables for name in table.header)), "")
    return tuple(
        {**columns, "table": table.name, **dict(zip(table.header, row, strict=True))}
        for table in tables
        for row in table.rows
    )


def verdicts(cells: Iterable[Cell]) -> str:
    """Return the deviating cells as CSV, with the readings tried on those without a reason."""
    columns = (*COLUMNS, "tried")
    rows = (
        (*_record(cell).values(), "" if cell.key in reasons() else tried().get(cell.key, ""))
        for cell in cells
        if cell.verdict == DEVIATES
    )
    return csv_text([columns, *rows])


def moved(before: Path, cells: Iterable[Cell]) -> list[str]:
    """Return a sentence for each cell whose verdict differs from the one of `before`, a table written by `verdicts`.

    Nothing if there is no such file."""
    if not before.is_file():
        return []
    deviated = {cell.key: cell for cell in read_cells(before)}
    sentences = []
    for cell in cells:
        if cell.verdict not in (AGREES, DEVIATES) or (cell.verdict == DEVIATES) == (cell.key in deviated):
            continue
        former = deviated.get(cell.key)
        was = f"deviated with {shown(former.ours, former.ours_sd)}" if former else "agreed"
        sentences.append(
            f"{', '.join(filter(None, cell.key))}: {was}, {cell.verdict} now with {shown(cell.ours, cell.ours_sd)} "
            f"(published {shown(cell.published, cell.published_sd)})"
        )
    return sentences


def write_cells(cells: Iterable[Cell]) -> str:
    """Return cells as CSV, at full precision."""
    return csv_text([COLUMNS, *(tuple(_record(cell).values()) for cell in cells)])


def read_cells(path: Path) -> tuple[Cell, ...]:
    """Return the cells of a file written by `write_cells`; DataError for any other file."""

    def value(name: str, text: str) -> Any:
        is_number = name in ("ours", "ours_sd", "published", "published_sd")
        return (float(text) if text else None) if is_number else text

    try:
        with open(path, encoding="utf-8", newline="") as handle:
            rows = list(csv.DictReader(handle))
        return tuple(Cell(**{name: value(name, row[name]) for name in FIELDS}) for row in rows)
    except (OSError, KeyError, ValueError) as error:
        raise DataError(f"{path} is no table of cells: make it again with oblique reproduce.") from error


def _record(cell: Cell, quick: bool = False) -> dict[str, Any]:
    record = {name: getattr(cell, name) for name in FIELDS}
    reason = reasons().get(cell.key, "" if quick else UNEXPLAINED) if cell.verdict == DEVIATES else ""
    return {**record, "difference": cell.difference, "verdict": cell.verdict, "reason": reason}


# ---- tables ----------------------------------------------------------------------------------------------------------


def grid_rows(cells: Iterable[Cell], quick: bool = False) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return header and rows of a table of cells: ours, published, difference, verdict. quick : as in `verdict_text`"""
    cells = list(cells)
    told_apart = any(cell.qualifier for cell in cells)
    header = ("data set", "method", "metric", *(("which",) if told_apart else ()))
    rows = []
    for cell in cells:
        named = (cell.dataset, cell.method, cell.metric, *((cell.qualifier,) if told_apart else ()))
        difference = MISSING if cell.difference is None else f"{cell.difference:+.2f}"
        ours, theirs = shown(cell.ours, cell.ours_sd), shown(cell.published, cell.published_sd)
        rows.append((*named, ours, theirs, difference, verdict_text(cell, quick=quick)))
    return (*header, "ours", "published", "difference", "verdict"), tuple(rows)


def verdict_text(cell: Cell, reason_of: Mapping[tuple[str, ...], str] | None = None, quick: bool = False) -> str:
    """Return the verdict in words, with the measured reason or `unexplained` if the cell deviates, and WIDE if its SD
    alone makes it agree. quick : of a quick profile, which is no test of the paper: nothing is `unexplained`"""
    if cell.verdict == DEVIATES:
        reason = (reasons() if reason_of is None else reason_of).get(cell.key, "" if quick else UNEXPLAINED)
        return f"{DEVIATES}: {reason}" if reason else DEVIATES
    if printed_cells.is_wide(cell):
        return WIDE
    return cell.note if cell.verdict == NOT_RUN and cell.note else cell.verdict


def shown(mean: float | None, sd: float | None) -> str:
    """Return a mean with its SD, to two decimals."""
    if mean is None:
        return MISSING
    return f"{mean:.2f}" if sd is None else f"{mean:.2f} ± {sd:.2f}"


def peak_megabytes() -> float:
    """Return the peak memory of this process or of its largest child."""
    unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes on macOS, kilobytes elsewhere
    return sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / unit
