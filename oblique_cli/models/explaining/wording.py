"""An explanation as text, and as plain data for JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oblique_cli.models.explaining.explanation import ColumnChange, Contribution, Explanation, Step
from oblique_cli.models.explaining.games import PROBABILITY, SCORE, VALUE
from oblique_cli.models.explaining.nearest import MARGINS
from oblique_cli.models.explaining.shapley import ShapleyValues, mean_sizes
from oblique_cli.models.procedure import Procedure

SHOWN = 5  # classes whose probabilities are written


def text_of(found: Explanation, procedure: Procedure, title: str, terms: int = 5) -> str:
    """Return the explanation for people. title : what the row is called; terms : contributions shown of a split"""
    if found.predicted is None:
        return f"{title}: no prediction, since {_name(found.missing)} is missing and nothing fills it.\n"
    said = f"{found.predicted:.6g}" if isinstance(found.predicted, float) else _name(found.predicted)
    lines = [f"{title}: {_name(procedure.target) if procedure.is_regression else 'class'} {said}", ""]
    lines += _path(found, terms)
    rows = f"{found.n_rows} training row{'' if found.n_rows == 1 else 's'}"
    if procedure.is_regression:
        total = said if found.cut is None else f"{said}, the bound nearest to {found.cut:.6g}"
        lines.append(f"leaf {found.node}, {rows}: {total} = {found.intercept:.4g}{_sum(found.equation)}")
        return "\n".join(lines) + "\n"
    counts = ", ".join(f"{_name(label)}: {count:.10g}" for label, count in found.counts.items() if count)
    lines += [f"leaf {found.node}, {rows}: {counts}", "", *_odds(found, terms)]
    return "\n".join([*lines, *_change(found)]) + "\n"


def _odds(found: Explanation, terms: int) -> list[str]:
    """What the model of the leaf says of the row, and why; no lines without one."""
    if not found.shares:
        return []
    likely = sorted(found.shares.items(), key=lambda pair: -pair[1])
    shares = ", ".join(f"{_name(label)} {share:.4g}" for label, share in likely[:SHOWN])
    more = f" and {len(likely) - SHOWN} more" if len(likely) > SHOWN else ""
    lines = [f"The model of the leaf gives the probabilities {shares}{more}."]
    if not found.against:
        return [*lines, ""]
    lines += [
        f"Log odds of {_name(str(found.predicted))} against {_name(found.against)}: {found.log_odds:.4g}, which is",
        "",
    ]
    shown = [(f"{found.intercept:+.3g}", "to begin with")]
    shown += [(f"{part.amount or 0.0:+.3g}", _cell(part)) for part in found.equation[:terms]]
    if rest := found.equation[terms:]:
        shown.append((f"{sum(part.amount or 0.0 for part in rest):+.3g}", f"{len(rest)} smaller"))
    width = max(len(cell) for _, cell in shown)
    return [*lines, *(f"  {cell:<{width}}  {amount}" for amount, cell in shown), ""]


def _path(found: Explanation, terms: int) -> list[str]:
    if not found.steps:
        return ["The tree is a single leaf.", ""]
    lines = [
        "The way down the tree as `oblique tree` shows it. A distance from a hyperplane is in standard deviations and",
        'negative on the side of "if"; it is the sum of what it is at the training means and what the columns add:',
        "",
    ]
    for step in found.steps:
        side = "if" if (step.goes == "left") != step.exchanged else "else"
        lines.append(f"  node {step.node}: {side}, {_where(step)}")
        shown = () if step.says else step.contributions[:terms]
        width = max((len(_cell(part)) for part in shown), default=0)
        for part in shown:
            amount = "missing" if part.amount is None else f"{_signed(part.amount, step):+.3g}"
            lines.append(f"      {_cell(part):<{width}}  {amount}")
        if not step.says and (rest := step.contributions[terms:]):
            others = _signed(sum(part.amount or 0.0 for part in rest), step)
            lines.append(f"      and {len(rest)} smaller  {others:+.3g}")
    return [*lines, ""]


def _where(step: Step) -> str:
    if step.says:
        return _name(step.says)
    if step.total is None:
        return "since a number of the split is missing"
    if step.distance is None or step.mean is None:
        return f"{step.total:.4g} {'<=' if step.goes == 'left' else '>'} {step.threshold:.4g}, by levels alone"
    return f"distance {_signed(step.distance, step):+.3g} (at the means {_signed(step.mean, step):+.3g})"


def _signed(amount: float, step: Step) -> float:
    """An amount with the sign that a reader of the tree expects."""
    return -amount if step.exchanged else amount


def _change(found: Explanation) -> list[str]:
    kept = f" Held fixed: {', '.join(map(_name, found.held))}." if found.held else ""
    change, least = found.change, found.at_least
    if change is None:
        if least is None or least == math.inf:
            return [f"No change of the other columns leads to another class.{kept}"]
        return [
            f"No change of the other columns to another class was found; none is nearer than {least:.4g} standard "
            f"deviations.{kept}"
        ]
    lines = [
        f"The nearest change to class {_name(change.predicted)}, {change.distance:.4g} standard deviations away:",
        "",
    ]
    if not found.is_nearest:
        lines[0] = (
            f"The nearest change that was found, to class {_name(change.predicted)}, {change.distance:.4g} standard "
            f"deviations away (none is nearer than {least:.4g}):"
        )
    names = [_name(one.column) for one in change.columns]
    width = max(map(len, names), default=0)
    befores = [f"{one.before:.6g}" for one in change.columns]
    afters = [_enough(one) for one in change.columns]
    first, second = (max(map(len, texts), default=0) for texts in (befores, afters))
    for one, name, before, after in zip(change.columns, names, befores, afters, strict=True):
        note = "  (whole numbers in training)" if one.whole else ""
        lines.append(f"  {name:<{width}}  {before:>{first}} -> {after:>{second}}  {one.deviations:+.3g} SD{note}")
    lines += ["", f"The changed row is predicted {_name(change.predicted)} (leaf {change.node}).{kept}"]
    return lines


def _enough(change: ColumnChange) -> str:
    """The new number with digits enough that a row with what is printed lies on the same side as the row itself."""
    room = 0.1 * MARGINS[0] * abs((change.to - change.before) / change.deviations)
    texts = (f"{change.to:.{digits}g}" for digits in range(6, 17))
    return next((text for text in texts if abs(float(text) - change.to) <= room), repr(change.to))


def _sum(parts: Sequence[Contribution]) -> str:
    return "".join(f" {'-' if (p.amount or 0.0) < 0 else '+'} {abs(p.amount or 0.0):.4g} ({_cell(p)})" for p in parts)


def _cell(part: Contribution) -> str:
    value = "missing" if part.value is None else f"{part.value:.6g}" if isinstance(part.value, float) else part.value
    return f"{_name(part.column)} {_name(value)}"


def _name(text: str) -> str:
    """A name on one line."""
    return "".join(char if char.isprintable() else " " for char in text)


@dataclass(frozen=True)
class Shared:
    """Shapley values to tell: of rows of a table, against a background that is called so.

    cells : the row as the user has it, by column, where there is one alone
    """

    values: ShapleyValues
    output: str
    against: str
    predicted: str = ""
    cells: tuple[float | str | None, ...] = ()


UNITS = {
    PROBABILITY: "probability",
    SCORE: "score (log odds against the mean of the classes)",
    VALUE: "predicted number",
}


def shapley_text(found: Shared, terms: int) -> str:
    """Return the Shapley values of one row for people, the largest first."""
    values, base, of = _of_one(found)
    lines = [
        f"Exact Shapley values of the {UNITS[found.output]}{of} against {found.against}:",
        f"from their mean {base:.4g} to {base + values.sum():.4g} by",
        "",
    ]
    order = np.argsort(-np.abs(values), kind="stable")
    names = found.values.feature_names
    shown = [(values[j], _cell(Contribution(names[j], found.cells[j], None))) for j in order[:terms]]
    if len(rest := order[terms:]):
        shown.append((float(values[rest].sum()), f"{len(rest)} smaller"))
    return "\n".join([*lines, *(f"  {value:+.3g}  {cell}" for value, cell in shown)]) + "\n"


def importance_text(found: Shared, title: str) -> str:
    """Return the global importance of columns for people, the largest first. title : what the rows are called"""
    sizes = mean_sizes(found.values.values)
    over = "" if found.output == VALUE else ", mean over the classes"
    lines = [
        f"Mean |Shapley value| of {title} against {found.against} ({UNITS[found.output]}{over}):",
        "",
    ]
    order = np.argsort(-sizes, kind="stable")
    return "\n".join([*lines, *(f"  {sizes[j]:.4g}  {_name(found.values.feature_names[j])}" for j in order)]) + "\n"


def _of_one(found: Shared) -> tuple[Any, float, str]:
    """Values of the columns for what the model says of the row, the base value, and of what they are."""
    own = found.values
    if own.output_names is None:
        return own.values[0], float(own.base_values[0]), ""
    k = own.output_names.index(found.predicted)
    return own.values[0, :, k], float(own.base_values[0, k]), f" of {_name(found.predicted)}"


def shapley_plain(found: Shared) -> dict[str, Any]:
    """Return Shapley values as plain data, by column for each class or the number; of many rows the mean sizes."""
    own = found.values
    plain: dict[str, Any] = {"output": found.output, "background": found.against}
    if not found.cells:
        plain["importance"] = dict(zip(own.feature_names, mean_sizes(own.values).tolist(), strict=True))
        return plain
    if own.output_names is None:
        plain |= {
            "base": float(own.base_values[0]),
            "values": dict(zip(own.feature_names, own.values[0].tolist(), strict=True)),
        }
        return plain
    plain["base"] = dict(zip(own.output_names, own.base_values[0].tolist(), strict=True))
    plain["values"] = {
        name: dict(zip(own.feature_names, own.values[0, :, k].tolist(), strict=True))
        for k, name in enumerate(own.output_names)
    }
    return plain


def plain_of(found: Explanation, procedure: Procedure) -> dict[str, Any]:
    """Return the explanation as plain data, every number to the bit."""
    change = found.change
    plain: dict[str, Any] = {
        "predicted": found.predicted,
        "missing": found.missing or None,
        "steps": [
            {
                "node": step.node,
                "goes": step.goes,
                "exchanged": step.exchanged,
                "total": step.total,
                "threshold": step.threshold,
                "distance": step.distance,
                "at_means": step.mean,
                "contributions": [_part(part) for part in step.contributions],
            }
            for step in found.steps
        ],
        "leaf": None if found.predicted is None else {"node": found.node, "rows": found.n_rows, "counts": found.counts},
        "held": list(found.held),
    }
    if procedure.is_regression:
        plain["equation"] = {"intercept": found.intercept, "terms": [_part(part) for part in found.equation]}
        if found.bounds is not None:
            plain["equation"]["bounds"] = list(found.bounds)
        return plain
    if found.shares:
        plain["probabilities"] = found.shares
        plain["log_odds"] = found.against and {
            "against": found.against,
            "total": found.log_odds,
            "intercept": found.intercept,
            "contributions": [_part(part) for part in found.equation],
        }
        known = found.at_least is not None and math.isfinite(found.at_least)
        plain["at_least"] = found.at_least if known else None
    plain["change"] = change and {
        "distance": change.distance,
        "predicted": change.predicted,
        "leaf": change.node,
        "columns": [
            {"column": one.column, "from": one.before, "to": one.to, "deviations": one.deviations, "whole": one.whole}
            for one in change.columns
        ],
    }
    return plain


def _part(part: Contribution) -> dict[str, Any]:
    return {"column": part.column, "value": part.value, "amount": part.amount}
