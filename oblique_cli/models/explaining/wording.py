"""An explanation as text, and as plain data for JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oblique_cli.ground.strict_yaml import printable
from oblique_cli.models.explaining.explanation import ColumnChange, Contribution, Explanation, Step, cell_text
from oblique_cli.models.explaining.games import PROBABILITY, SCORE, VALUE
from oblique_cli.models.explaining.nearest import MARGINS
from oblique_cli.models.explaining.shapley import ShapleyValues, mean_sizes
from oblique_cli.models.procedure import Procedure

SHOWN = 5  # classes whose probabilities are shown


def text_of(explanation: Explanation, procedure: Procedure, title: str, terms: int = 5) -> str:
    """Return the explanation as text. title : name of the row; terms : contributions to show per split"""
    if explanation.predicted is None:
        return f"{title}: no prediction, since {printable(explanation.missing)} is missing and nothing fills it.\n"
    prediction = (
        f"{explanation.predicted:.6g}" if isinstance(explanation.predicted, float) else printable(explanation.predicted)
    )
    lines = [f"{title}: {printable(procedure.target) if procedure.is_regression else 'class'} {prediction}", ""]
    lines += _path(explanation, terms)
    rows = f"{explanation.n_rows} training row{'' if explanation.n_rows == 1 else 's'}"
    if procedure.is_regression:
        total = prediction if explanation.cut is None else f"{prediction}, the bound nearest to {explanation.cut:.6g}"
        lines.append(
            f"leaf {explanation.node}, {rows}: {total} = {explanation.intercept:.4g}{_sum(explanation.equation)}"
        )
        return "\n".join(lines) + "\n"
    counts = ", ".join(f"{printable(label)}: {count:.10g}" for label, count in explanation.counts.items() if count)
    lines += [f"leaf {explanation.node}, {rows}: {counts}", "", *_odds(explanation, terms)]
    return "\n".join([*lines, *_change(explanation)]) + "\n"


def _odds(explanation: Explanation, terms: int) -> list[str]:
    """Return lines on the prediction of the leaf's model and its contributions; none without a model."""
    if not explanation.shares:
        return []
    likely = sorted(explanation.shares.items(), key=lambda pair: -pair[1])
    shares = ", ".join(f"{printable(label)} {share:.4g}" for label, share in likely[:SHOWN])
    more = f" and {len(likely) - SHOWN} more" if len(likely) > SHOWN else ""
    lines = [f"The model of the leaf gives the probabilities {shares}{more}."]
    if not explanation.against:
        return [*lines, ""]
    lines += [
        f"Log odds of {printable(str(explanation.predicted))} against {printable(explanation.against)}: "
        f"{explanation.log_odds:.4g}, which is",
        "",
    ]
    shown = [(explanation.intercept, "to begin with")]
    shown += [(part.amount or 0.0, _cell(part)) for part in explanation.equation[:terms]]
    if rest := explanation.equation[terms:]:
        shown.append((sum(part.amount or 0.0 for part in rest), f"{len(rest)} smaller"))
    width = max(len(cell) for _, cell in shown)
    return [*lines, *(f"  {cell:<{width}}  {amount:+.3g}" for amount, cell in shown), ""]


def _path(explanation: Explanation, terms: int) -> list[str]:
    if not explanation.steps:
        return ["The tree is a single leaf.", ""]
    lines = [
        "The way down the tree as `oblique tree` shows it. A distance from a hyperplane is in standard deviations and",
        'negative on the side of "if"; it is the sum of what it is at the training means and what the columns add:',
        "",
    ]
    for step in explanation.steps:
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
        return printable(step.says)
    if step.total is None:
        return "since a number of the split is missing"
    if step.distance is None or step.mean is None:
        return f"{step.total:.4g} {'<=' if step.goes == 'left' else '>'} {step.threshold:.4g}, by levels alone"
    return f"distance {_signed(step.distance, step):+.3g} (at the means {_signed(step.mean, step):+.3g})"


def _signed(amount: float, step: Step) -> float:
    """Return an amount with the sign that matches the displayed tree."""
    return -amount if step.exchanged else amount


def _change(explanation: Explanation) -> list[str]:
    fixed = f" Held fixed: {', '.join(map(printable, explanation.held))}." if explanation.held else ""
    change, least = explanation.change, explanation.at_least
    if change is None:
        if least is None or least == math.inf:
            return [f"No change of the other columns leads to another class.{fixed}"]
        return [
            f"No change of the other columns to another class was found; none is nearer than {least:.4g} standard "
            f"deviations.{fixed}"
        ]
    nearest = explanation.is_nearest
    lines = [
        f"The nearest change{'' if nearest else ' that was found,'} to class {printable(change.predicted)}, "
        f"{change.distance:.4g} standard deviations away{'' if nearest else f' (none is nearer than {least:.4g})'}:",
        "",
    ]
    cells = [(printable(column.column), f"{column.before:.6g}", _enough(column)) for column in change.columns]
    width, first, second = (max(map(len, texts)) for texts in zip(*cells, strict=True)) if cells else (0, 0, 0)
    for column, (name, before, after) in zip(change.columns, cells, strict=True):
        note = "  (whole numbers in training)" if column.whole else ""
        lines.append(f"  {name:<{width}}  {before:>{first}} -> {after:>{second}}  {column.deviations:+.3g} SD{note}")
    return [*lines, "", f"The changed row is predicted {printable(change.predicted)} (leaf {change.node}).{fixed}"]


def _enough(change: ColumnChange) -> str:
    """Return the new number with enough digits that the printed row lies on the same side as the row itself."""
    room = 0.1 * MARGINS[0] * abs((change.to - change.before) / change.deviations)
    texts = (f"{change.to:.{digits}g}" for digits in range(6, 17))
    return next((text for text in texts if abs(float(text) - change.to) <= room), repr(change.to))


def _sum(parts: Sequence[Contribution]) -> str:
    return "".join(f" {'-' if (p.amount or 0.0) < 0 else '+'} {abs(p.amount or 0.0):.4g} ({_cell(p)})" for p in parts)


def _cell(part: Contribution) -> str:
    return f"{printable(part.column)} {printable(cell_text(part.value))}"


@dataclass(frozen=True)
class Shared:
    """Shapley values to print: of the rows of a table, with `against` as the name of the background."""

    values: ShapleyValues
    output: str
    against: str
    predicted: str = ""
    cells: tuple[float | str | None, ...] = ()  # cells of a single row in the user's units, by column


UNITS = {
    PROBABILITY: "probability",
    SCORE: "score (log odds against the mean of the classes)",
    VALUE: "predicted number",
}


def shapley_text(shared: Shared, terms: int) -> str:
    """Return the Shapley values of one row as text, the largest first."""
    shapley, of_class = shared.values, ""
    values, base = shapley.values[0], shapley.base_values[0]
    if shapley.output_names is not None:
        k, of_class = shapley.output_names.index(shared.predicted), f" of {printable(shared.predicted)}"
        values, base = values[:, k], base[k]
    lines = [
        f"Exact Shapley values of the {UNITS[shared.output]}{of_class} against {shared.against}:",
        f"from their mean {base:.4g} to {base + values.sum():.4g} by",
        "",
    ]
    order = np.argsort(-np.abs(values), kind="stable")
    names = shapley.feature_names
    shown = [(values[j], _cell(Contribution(names[j], shared.cells[j], None))) for j in order[:terms]]
    if len(rest := order[terms:]):
        shown.append((float(values[rest].sum()), f"{len(rest)} smaller"))
    return "\n".join([*lines, *(f"  {value:+.3g}  {cell}" for value, cell in shown)]) + "\n"


def importance_text(shared: Shared, title: str) -> str:
    """Return the global importance of columns as text, the largest first. title : name of the rows"""
    sizes = mean_sizes(shared.values.values)
    over = "" if shared.output == VALUE else ", mean over the classes"
    lines = [f"Mean |Shapley value| of {title} against {shared.against} ({UNITS[shared.output]}{over}):", ""]
    order = np.argsort(-sizes, kind="stable")
    return (
        "\n".join([*lines, *(f"  {sizes[j]:.4g}  {printable(shared.values.feature_names[j])}" for j in order)]) + "\n"
    )


def shapley_plain(shared: Shared) -> dict[str, Any]:
    """Return Shapley values as plain data, by column per class or number; the mean sizes of several rows."""
    shapley, outputs = shared.values, shared.values.output_names

    def by_column(values: Any) -> dict[str, float]:
        return dict(zip(shapley.feature_names, values.tolist(), strict=True))

    plain: dict[str, Any] = {"output": shared.output, "background": shared.against}
    if not shared.cells:
        return plain | {"importance": by_column(mean_sizes(shapley.values))}
    base, values = shapley.base_values[0].tolist(), shapley.values[0]
    if outputs is None:
        return plain | {"base": base, "values": by_column(values)}
    by_output = {name: by_column(values[:, k]) for k, name in enumerate(outputs)}
    return plain | {"base": dict(zip(outputs, base, strict=True)), "values": by_output}


def plain_of(explanation: Explanation, procedure: Procedure) -> dict[str, Any]:
    """Return the explanation as plain data, every number to the bit."""
    change = explanation.change
    plain: dict[str, Any] = {
        "predicted": explanation.predicted,
        "missing": explanation.missing or None,
        "steps": [
            {key: getattr(step, key) for key in ("node", "goes", "exchanged", "total", "threshold", "distance")}
            | {"at_means": step.mean, "contributions": list(map(vars, step.contributions))}
            for step in explanation.steps
        ],
        "leaf": None
        if explanation.predicted is None
        else {"node": explanation.node, "rows": explanation.n_rows, "counts": explanation.counts},
        "held": list(explanation.held),
    }
    if procedure.is_regression:
        plain["equation"] = {"intercept": explanation.intercept, "terms": list(map(vars, explanation.equation))}
        if explanation.bounds is not None:
            plain["equation"]["bounds"] = list(explanation.bounds)
        return plain
    if explanation.shares:
        plain["probabilities"] = explanation.shares
        plain["log_odds"] = explanation.against and {
            "against": explanation.against,
            "total": explanation.log_odds,
            "intercept": explanation.intercept,
            "contributions": list(map(vars, explanation.equation)),
        }
        known = explanation.at_least is not None and math.isfinite(explanation.at_least)
        plain["at_least"] = explanation.at_least if known else None
    plain["change"] = change and {
        "distance": change.distance,
        "predicted": change.predicted,
        "leaf": change.node,
        "columns": [
            {"from" if key == "before" else key: value for key, value in vars(column).items()}
            for column in change.columns
        ],
    }
    return plain
