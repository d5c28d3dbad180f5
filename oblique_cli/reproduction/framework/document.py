"""The parts of the documentation that are made from the results of the studies, so that both cannot drift apart."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from oblique_cli import published
from oblique_cli.errors import ConfigError
from oblique_cli.reproduction.framework.cells import AGREES, DEVIATES, Cell, agreement
from oblique_cli.reproduction.framework.reporting import UNEXPLAINED, grid_rows, read_cells, reasons
from oblique_cli.reproduction.framework.studies import STUDIES

# The text between these marks is generated; NAME is a key of `blocks`.
BLOCK = re.compile(r"(<!-- begin (?P<name>[\w-]+) -->\n).*?(<!-- end (?P=name) -->)", re.DOTALL)
DOCUMENTS = ("docs/reproduction.md", "docs/forests.md", "docs/field.md", "README.md")
FIELD_PARTS = ("confirmation", "development")
# Blocks that show a table as a study left it, and the file it is in.
COPIED = {
    "sensitivity": "sensitivity_agreement",
    "stage-1": "sensitivity_stage_1",
    "mpsvm-ranks": "mpsvm_ranks",
    "mpsvm-tests": "mpsvm_tests",
    "mpsvm-verdicts": "mpsvm_verdicts",
    "mpsvm-signs": "mpsvm_signs",
    "mpsvm-costs": "mpsvm_costs",
    "mpsvm-minleaf": "mpsvm_minleaf",
    "mpsvm-mtry": "mpsvm_mtry",
    "mpsvm-readings": "mpsvm_readings",
    "mpsvm-bias-variance-raf": "mpsvm_bias_variance_raf",
    "mpsvm-bias-variance-rrof": "mpsvm_bias_variance_rrof",
    **{f"field-{part}-{what}": f"field_{part}_{what}" for part in FIELD_PARTS for what in ("means", "ranks", "tao")},
    "field-accuracies": "field_accuracies",
}
NOT_YET = "Not run with the full profile yet."


def blocks(results: Path) -> dict[str, str]:
    """Return the text of every block by name, from the full profiles in the folder `results`.

    ConfigError if the folder has none, so that a wrong folder does not empty the documents.

    agreement       how many cells agree, in one sentence
    summary         the same by table and metric, and what each study took
    deviations-X    the cells of study X that deviate, with their reasons
    the others are COPIED, such as sensitivity (readings and agreement) and stage-1 (Table 5.2 under other draws of the
    cross-validation that chooses epsilon)
    """
    studies = [name for name, study in STUDIES.items() if study.tables]
    found = {name: cells for name in studies if (cells := _cells(results, name))}
    if not found:
        raise ConfigError(f"{results} has no results of a full profile: run oblique reproduce first, or see --results.")
    out = {"agreement": _agreement(found), "summary": _summary(results, found)}
    out |= {name: _copied(results / "reproduction" / f"{file}.csv") for name, file in COPIED.items()}
    for name in studies:
        out[f"deviations-{name}"] = _deviations(found[name]) if name in found else NOT_YET + "\n"
    return out


def filled(text: str, made: Mapping[str, str]) -> str:
    """Return `text` with every block made anew; ConfigError for a block that nothing makes."""

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in made:
            raise ConfigError(f"there is no block {name!r} to make; there are {', '.join(made)}.")
        return f"{match[1]}\n{made[name]}\n{match[3]}"

    return BLOCK.sub(block, text)


def _cells(results: Path, study: str) -> tuple[Cell, ...]:
    path = results / "reproduction" / f"{study}.csv"
    return read_cells(path) if path.is_file() else ()


def _agreement(found: Mapping[str, tuple[Cell, ...]]) -> str:
    every = [cell for cells in found.values() for cell in cells]
    compared = [cell for cell in every if cell.verdict in (AGREES, DEVIATES)]
    agree = sum(cell.verdict == AGREES for cell in compared)
    explained = sum(cell.verdict == DEVIATES and cell.key in reasons() for cell in compared)
    return (
        f"{agree} of {len(compared)} cells agree; of the others {explained} have a measured reason and "
        f"{len(compared) - agree - explained} are {UNEXPLAINED}. {len(every) - len(compared)} cells are not run.\n"
    )


def _summary(results: Path, found: Mapping[str, tuple[Cell, ...]]) -> str:
    every = [cell for cells in found.values() for cell in cells]
    lines = [_agreement(found)]
    rows = [
        (table.partition(":")[0], table.partition(":")[2], metric, f"{each.agree} of {each.compared}")
        for (table, metric), each in agreement(every).items()
        if each.compared
    ]
    lines += _table(("source", "table", "metric", "agree"), rows)
    header = ("command", "seed", "date", "trees", "their work", "last call", "memory")
    lines += ["", *_table(header, _runs(results, found))]
    return "\n".join(lines) + "\n"


def _runs(results: Path, found: Mapping[str, object]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for study in found:
        path = results / "reproduction" / f"{study}_run.csv"
        if not path.is_file():
            continue
        with open(path, encoding="utf-8", newline="") as handle:
            run = next(csv.DictReader(handle))
        rows.append(
            (
                f"`oblique reproduce {study}`",
                run["seed"],
                run["date"],
                run["trees"],
                f"{float(run['work_seconds']):.0f} s",
                f"{run['trees_now']} trees in {float(run['seconds_now']):.0f} s",
                f"{run['peak_megabytes']} MB",
            )
        )
    return rows


def _deviations(cells: tuple[Cell, ...]) -> str:
    deviating = [cell for cell in cells if cell.verdict == DEVIATES]
    if not deviating:
        return "Every cell agrees.\n"
    lines: list[str] = []
    for reference in dict.fromkeys(cell.table for cell in deviating):
        header, rows = grid_rows([cell for cell in deviating if cell.table == reference])
        lines += [f"Table {reference.partition(':')[2]}: {published.find(reference).caption}", ""]
        lines += [*_table(header, [tuple(text.removeprefix(f"{DEVIATES}: ") for text in row) for row in rows]), ""]
    return "\n".join(lines)


def _copied(path: Path) -> str:
    """Return a CSV file as a table."""
    if not path.is_file():
        return NOT_YET + "\n"
    with open(path, encoding="utf-8", newline="") as handle:
        header, *rows = csv.reader(handle)
    return "\n".join(_table(tuple(header), [tuple(row) for row in rows])) + "\n"


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the lines of a Markdown table."""
    escaped = [tuple(cell.replace("|", r"\|") for cell in row) for row in (header, ("---",) * len(header), *rows)]
    return [f"| {' | '.join(row)} |" for row in escaped]
