"""`oblique list`: what a configuration may name."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from typing import Any

import click

from oblique_cli.cli._common import columns, json_option, terminal_width


def _algorithms() -> list[dict[str, Any]]:
    from oblique_cli.estimators.algorithms import ALGORITHMS

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
            "summary": _summary(rule),
        }
        for name, rule in PRUNINGS.items()
    ]


def _metrics() -> list[dict[str, Any]]:
    from oblique_cli.evaluation.metrics import CLASSIFICATION, LABELS, METRICS, OF_DATA, POOLED

    listed = [
        {
            "name": name,
            "task": metric.task,
            "unit": metric.unit,
            "better": "larger" if metric.larger_is_better else "smaller",
            "needs": metric.needs,
            "folds": metric.aggregate,
            "summary": metric.summary,
        }
        for name, metric in METRICS.items()
    ]
    of_data = [
        {
            "name": f"{name}:{family.argument}",
            "task": CLASSIFICATION,
            "unit": family.unit,
            "better": "larger" if family.larger_is_better else "smaller",
            "needs": LABELS,
            "folds": POOLED,
            "summary": family.summary,
        }
        for name, family in OF_DATA.items()
    ]
    return listed + of_data


def _summary(thing: Any) -> str:
    """The first line of the docstring of a class or function."""
    return (thing.__doc__ or "").strip().partition("\n")[0]


def _published() -> list[dict[str, Any]]:
    from oblique_cli.evaluation.published import tables

    # Only tables whose numbers can stand beside ours; the others hold single folds and classes.
    comparable = [table for table in tables().values() if table.level == "repetitions"]
    return [{"name": table.reference, "caption": table.caption} for table in comparable]


def _configs() -> list[dict[str, Any]]:
    from oblique_cli.config import composing
    from oblique_cli.ground import resources

    folder = resources.folder("configs")
    return [{"name": name, "file": str(folder / f"{name}.yaml")} for name in composing.bundled()]


KINDS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "algorithms": _algorithms,
    "schemes": _schemes,
    "criteria": _criteria,
    "prunings": _prunings,
    "metrics": _metrics,
    "published": _published,
    "configs": _configs,
}


@click.command("list")
@click.argument("kind", type=click.Choice(list(KINDS)), metavar="|".join(KINDS))
@json_option
def list_(kind: str, as_json: bool) -> None:
    """List what a configuration may name, or the bundled configurations.

    Algorithms are listed with their parameters. Data sets are listed by oblique data list.

    Example: oblique list algorithms
    """
    entries = KINDS[kind]()
    if as_json:
        click.echo(json.dumps(entries, indent=2))
    elif kind == "algorithms":
        click.echo("\n\n".join(_described(entries)))
    else:
        click.echo(columns([[str(value) for value in thing.values()] for thing in entries]))


def _described(algorithms: list[dict[str, Any]]) -> list[str]:
    """Return a block of text for each algorithm, and one for the parameters that all algorithms of a family share."""
    blocks = []
    for growth in dict.fromkeys(algorithm["growth"] for algorithm in algorithms):
        kin = [algorithm for algorithm in algorithms if algorithm["growth"] == growth]
        first = kin[0]["parameters"]
        shared = [key for key in first if len(kin) > 1 and all(a["parameters"].get(key) == first[key] for a in kin)]
        for algorithm in kin:
            unshared = {key: value for key, value in algorithm["parameters"].items() if key not in shared}
            heading = f"{algorithm['name']}   {algorithm['title']}: {algorithm['source']}; {algorithm['class']}"
            blocks.append("\n".join([_filled(heading), _parameters(unshared)]))
        if shared:
            common = _parameters({key: first[key] for key in shared})
            blocks.append("\n".join([f"parameters of all {growth}", common]))
    return blocks


def _filled(heading: str) -> str:
    width = terminal_width()
    return heading if width is None else textwrap.fill(heading, width, subsequent_indent="  ")


def _parameters(parameters: dict[str, dict[str, Any]]) -> str:
    cells = [
        (
            "",
            f"{key} ({value['also']})" if "also" in value else key,
            "none" if value["default"] is None else str(value["default"]),
            value["allowed"],
        )
        for key, value in parameters.items()
    ]
    return columns([("", "parameter", "default", "allowed"), *cells])
