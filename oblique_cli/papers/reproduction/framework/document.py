"""The parts of the documentation that are made from the results of the studies, so that both cannot drift apart."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from oblique_cli.errors import ConfigError
from oblique_cli.papers.reproduction.framework.markdown import table_lines
from oblique_cli.papers.reproduction.framework.printed_cells import AGREES, DEVIATES, Cell, agreement
from oblique_cli.papers.reproduction.framework.studies import STUDIES
from oblique_cli.papers.reproduction.framework.study_report import (
    EXPLAINING,
    UNEXPLAINED,
    classes,
    read_cells,
    reasons,
)

# The text between these marks is generated; NAME is a key of `blocks`.
BLOCK = re.compile(r"(<!-- begin (?P<name>[\w-]+) -->\n).*?(<!-- end (?P=name) -->)", re.DOTALL)
DOCUMENTS = (
    "docs/reproduction.md",
    "docs/choosing.md",
    "README.md",
)
# Blocks that have sentences as tools/field_folds.py made them of the folds, and the file they are in.
TEXT_FILES = {"field-front": "field/front"}
# Of the field, what docs/choosing.md recommends or somebody would compare it with; and what it says of each.
CHOICES = (
    "logistic_tree",
    "logistic_forest",
    "tao_forest",
    "svm-rbf",
    "hhgdt_forest",
    "random-forest-500",
    "xgboost-100",
    "tao",
    "hhgdt",
    "cart",
)
NOT_YET = "Not run with the full profile yet."


def blocks(results: Path) -> dict[str, str]:
    """Return the text of every block by name, from the full profiles in the folder `results`.

    ConfigError if the folder has none, so that a wrong folder does not empty the documents.

    agreement       how many cells agree, in one sentence
    summary         the same by table and metric
    power           how many measures of tables are biased or weak
    classes         how many cells that deviate have a reason of which class
    studies         how many cells of each study agree, have a reason, or are unexplained
    field-choices   what CHOICES gain and cost
    the others are in TEXT_FILES
    """
    studies = studied(results)
    out = {
        "agreement": _agreement(studies),
        "summary": _summary(studies),
        "power": _power(results / "reproduction" / "verdicts.csv"),
        "classes": _classes(studies),
        "studies": _studies(studies),
    }
    for name, file in TEXT_FILES.items():
        text = results / f"{file}.md"
        out[name] = text.read_text(encoding="utf-8") if text.is_file() else NOT_YET + "\n"
    out["field-choices"] = _copied(results / "field" / "third_means.csv", methods=CHOICES)
    return out


def studied(results: Path) -> dict[str, tuple[Cell, ...]]:
    """Return the cells of every study that has any in `results`, by its name; ConfigError if there are none."""
    studies = {name: cells for name in _with_tables() if (cells := _cells(results, name))}
    if not studies:
        raise ConfigError(f"{results} has no results of a full profile: run oblique reproduce first, or see --results.")
    return studies


def _with_tables() -> list[str]:
    """The studies of published tables by name: the order in which modules are imported may differ."""
    return sorted(name for name, study in STUDIES.items() if study.tables)


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


def _agreement(studies: Mapping[str, tuple[Cell, ...]]) -> str:
    every = [cell for cells in studies.values() for cell in cells]
    compared = [cell for cell in every if cell.verdict in (AGREES, DEVIATES)]
    agree = sum(cell.verdict == AGREES for cell in compared)
    explained = sum(cell.verdict == DEVIATES and cell.key in reasons() for cell in compared)
    return (
        f"{agree} of {len(compared)} cells agree; of the others {explained} have a measured reason and "
        f"{len(compared) - agree - explained} are {UNEXPLAINED}. {len(every) - len(compared)} cells are not run.\n"
    )


def _power(path: Path) -> str:
    """Return how many measures of tables are biased or weak, by the file that `python -m studies.power` writes."""
    if not path.is_file():
        return NOT_YET + "\n"
    with open(path, encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    counts = {word: sum(word in row["verdict"] for row in rows) for word in ("biased", "weak", "?")}
    return (
        f"Of {len(rows)} measures in {len({row['table'] for row in rows})} tables {counts['biased']} are biased, "
        f"{counts['weak']} are weak, and of {counts['?']} the power is not measured: there is no second method to "
        "confuse with.\n"
    )


def _classes(studies: Mapping[str, tuple[Cell, ...]]) -> str:
    """Return how many deviating cells there are of each class of reasons, and of those without any."""
    deviating = [cell for cells in studies.values() for cell in cells if cell.verdict == DEVIATES]
    counts = Counter(
        classes()[cell.key][0] if cell.key in classes() else "readings tried, none fits" for cell in deviating
    )
    rows = [(kind, str(count), "yes" if kind in EXPLAINING else "no") for kind, count in counts.most_common()]
    return "\n".join(table_lines(("class", "cells", "explains"), rows)) + "\n"


def _summary(studies: Mapping[str, tuple[Cell, ...]]) -> str:
    counts: dict[str, list[str]] = {}
    for (table, metric), each in agreement(cell for cells in studies.values() for cell in cells).items():
        if each.compared:
            counts.setdefault(table, []).append(f"{metric_name(metric)} {each.agree}/{each.compared}")
    rows = [(table_name(table), ", ".join(words)) for table, words in counts.items()]
    return "\n".join([_agreement(studies), *table_lines(("table", "cells that agree"), rows)]) + "\n"


def _studies(studies: Mapping[str, tuple[Cell, ...]]) -> str:
    """Return how many cells of each study agree, deviate with a measured reason, and are unexplained."""
    rows = []
    for study, cells in studies.items():
        agree = sum(cell.verdict == AGREES for cell in cells)
        deviating = [cell for cell in cells if cell.verdict == DEVIATES]
        explained = sum(cell.key in reasons() for cell in deviating)
        counts = (agree + len(deviating), agree, explained, len(deviating) - explained)
        rows.append((f"`{study}`", *map(str, counts)))
    return "\n".join(table_lines(("study", "cells", "agree", "measured reason", UNEXPLAINED), rows)) + "\n"


def _copied(path: Path, methods: Sequence[str] = ()) -> str:
    """Return a CSV file as a table; all of it, or the rows whose first cell is one of `methods`, which may have a star
    behind its name."""
    if not path.is_file():
        return NOT_YET + "\n"
    with open(path, encoding="utf-8", newline="") as handle:
        header, *rows = csv.reader(handle)
    selected = [row for row in rows if not methods or row[0].removesuffix(" *") in methods]
    return "\n".join(table_lines(tuple(header), [tuple(row) for row in selected])) + "\n"


def table_name(table: str) -> str:
    """Return a table's name with its author, such as "Amalaman 2.7"."""
    source, _, name = table.partition(":")
    return f"{source.rstrip('0123456789').capitalize()} {name}"


def metric_name(metric: str) -> str:
    """Return a metric in words, such as "class accuracy"."""
    return metric.removesuffix("_percent").removeprefix("n_").replace("_", " ")
