"""`oblique list`: the names that a configuration may contain."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import columns, terminal_width, write_json
from oblique_cli.errors import ConfigError
from oblique_cli.ground.registry import close_matches
from oblique_cli.ground.resources import PACKAGE

# Name, title and kind of each algorithm (`make generated` writes it), so that no library is imported to list them. The
# first line lists the files of heuristics: a new file is an algorithm that the list lacks.
STORED = Path(__file__).with_name("algorithms.tsv")


def files_of_heuristics() -> str:
    """Return the names of the files of heuristics."""
    return "\t".join(sorted(path.name for path in (PACKAGE / "proposers").glob("[!_]*.py")))


def stored_algorithms() -> list[dict[str, str]] | None:
    """Return the algorithms of the stored list; None if a plugin may have added some, or a file of a heuristic has."""
    files, *lines = STORED.read_text(encoding="utf-8").splitlines()
    if f"{PACKAGE.name}.estimators.algorithms" in sys.modules or files != files_of_heuristics():
        return None
    return [dict(zip(("name", "title", "growth"), line.split("\t"), strict=True)) for line in lines]


def algorithms(parameters: bool = True) -> list[dict[str, Any]]:
    """Return the algorithms. parameters : with class and parameters, for which all their modules are imported"""
    if not parameters and (stored := stored_algorithms()) is not None:
        return stored
    from oblique_cli.cli._fitting import load_scikit_learn

    load_scikit_learn()
    from oblique_cli.estimators.algorithms import ALGORITHMS

    if not parameters:
        return [{"name": name, "title": made.title, "growth": made.family.growth} for name, made in ALGORITHMS.items()]
    return [
        {
            "name": name,
            "title": algorithm.title,
            "source": algorithm.source,
            "class": algorithm.estimator.__name__,
            "growth": algorithm.family.growth,
            "parameters": {
                key: {
                    "default": algorithm.defaults[key],
                    "allowed": constraint.describe(),
                    **({"meaning": words} if (words := algorithm.meaning(key)) else {}),
                    **({"also": algorithm.aliases[key].name} if key in algorithm.aliases else {}),
                }
                for key, constraint in algorithm.parameters.items()
            },
        }
        for name, algorithm in ALGORITHMS.items()
    ]


def _schemes() -> list[dict[str, Any]]:
    from oblique_cli.schemes import SCHEMES

    return [{"name": name, "summary": scheme.summary} for name, scheme in SCHEMES.items()]


def _criteria() -> list[dict[str, Any]]:
    from oblique_cli.tree.criteria import CRITERIA

    return [{"name": name} for name in CRITERIA]


def _prunings() -> list[dict[str, Any]]:
    from oblique_cli.tree.pruning import PRUNINGS

    return [
        {
            "name": name,
            "rows": rule.rows,
            "parameters": " ".join(rule.constraints),
            "summary": (rule.__doc__ or "").strip().partition("\n")[0],
        }
        for name, rule in PRUNINGS.items()
    ]


def _metrics() -> list[dict[str, Any]]:
    from oblique_cli.evaluation.metrics import CLASSIFICATION, LABELS, METRICS, OF_DATA, POOLED

    listed: list[tuple[str, Any, Any]] = [
        (name, metric, (metric.task, metric.needs, metric.aggregate)) for name, metric in METRICS.items()
    ]
    of_data = (CLASSIFICATION, LABELS, POOLED)
    listed += [(f"{name}:{family.argument}", family, of_data) for name, family in OF_DATA.items()]
    return [
        {
            "name": name,
            "task": task,
            "unit": metric.unit,
            "better": "larger" if metric.larger_is_better else "smaller",
            "needs": needs,
            "folds": folds,
            "summary": metric.summary,
        }
        for name, metric, (task, needs, folds) in listed
    ]


def _published() -> list[dict[str, Any]]:
    from oblique_cli.evaluation.published import tables

    # Only tables comparable with ours; the others contain single folds and classes.
    comparable = [table for table in tables().values() if table.has_means]
    return [{"name": table.reference, "caption": table.caption} for table in comparable]


def _configs() -> list[dict[str, Any]]:
    from oblique_cli.config import composing
    from oblique_cli.ground import resources

    folder = resources.folder("configs")
    return [{"name": name, "file": str(folder / f"{name}.yaml")} for name in composing.bundled()]


KINDS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "algorithms": algorithms,
    "schemes": _schemes,
    "criteria": _criteria,
    "prunings": _prunings,
    "metrics": _metrics,
    "published": _published,
    "configs": _configs,
}


@declare.command("list")
def list_(
    kind: str = declare.argument(type=click.Choice(list(KINDS)), metavar="|".join(KINDS)),
    names: tuple[str, ...] = declare.argument(metavar="[NAME]...", nargs=-1),
    as_json: bool = declare.AS_JSON,
) -> None:
    """List the names for configurations, or the bundled configurations.

    With NAMES, lists only these; an algorithm with its parameters, their defaults and allowed values. oblique data list
    has the data sets.

    \b
    Example: oblique list algorithms
             oblique list algorithms hhgdt
    """
    is_short = kind == "algorithms" and not (names or as_json)
    entries = algorithms(parameters=False) if is_short else KINDS[kind]()
    if names:
        by_name = {entry["name"]: entry for entry in entries}
        for name in names:
            if name not in by_name:
                raise ConfigError(f"oblique list {kind} has no {name!r}.{close_matches(name, by_name)}")
        entries = [by_name[name] for name in names]
    if as_json:
        write_json(entries)
    elif kind == "algorithms" and names:
        click.echo("\n\n".join(map(_described, entries)))
    else:
        click.echo(columns([list(map(str, entry.values())) for entry in entries]))


def _described(algorithm: dict[str, Any]) -> str:
    """Return the heading of an algorithm and the table of its parameters."""
    heading = f"{algorithm['name']}   {algorithm['title']}: {algorithm['source']}; {algorithm['class']}"
    if (width := terminal_width()) is not None:
        heading = textwrap.fill(heading, width, subsequent_indent="  ")
    cells = [
        (
            "",
            f"{key} ({value['also']})" if "also" in value else key,
            "none" if value["default"] is None else str(value["default"]),
            value["allowed"],
        )
        for key, value in algorithm["parameters"].items()
    ]
    return f"{heading}\n{columns([('', 'parameter', 'default', 'allowed'), *cells])}"
