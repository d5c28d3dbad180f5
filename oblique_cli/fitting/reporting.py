"""What `oblique fit` says beside the tree: the data, the comparison, the estimate."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.fitting.choosing import Choice
from oblique_cli.fitting.estimating import Estimate
from oblique_cli.fitting.fitting import Outcome, is_pruned

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset


def before(outcome: Outcome, dataset: Dataset) -> str:
    """Return what is said of the data and of the comparison, as lines that begin with #."""
    lines = [*_of_data(dataset), *dataset.notes]
    if outcome.choice is not None:
        lines += ["", *comparison(outcome.choice, dataset.task)]
    return "".join(f"# {line}".rstrip() + "\n" for line in [*lines, ""])


def title(outcome: Outcome, dataset: Dataset) -> str:
    """Return the name of the model."""
    return f"{ALGORITHMS[outcome.model.algorithm].title} on {dataset.name}"


def _of_data(dataset: Dataset) -> list[str]:
    note = [dataset.note] if dataset.note else []
    return note if dataset.notes else [f"{dataset.name}: {dataset.n} rows, {dataset.p} features.", *note]


def remarks(outcome: Outcome, dataset: Dataset) -> tuple[str, ...]:
    """Return sentences on the estimate, on pruning and on parameters."""
    estimate = outcome.estimate
    inside = "choices included" if outcome.choice or outcome.case.spec.grid else "pruning included"
    whole = is_pruned(outcome.case) or outcome.choice or outcome.case.spec.grid
    nested = "nested " if estimate.nested else ""
    by = f"{nested}{estimate.folds}-fold cross-validation{f', {inside}' if whole else ''}"
    said = [f"On new rows: {scored(estimate, dataset.task)} ({by})."]
    if is_pruned(outcome.case):
        said.append("Pruned by cross-validation, rule of one standard error; --set pruning=none leaves it whole.")
    if outcome.chosen:
        values = ", ".join(f"{name} {value}" for name, value in outcome.chosen.items())
        said.append(f"Chosen by {estimate.folds}-fold cross-validation: {values}.")
    return tuple(said)


def scored(estimate: Estimate, task: str) -> str:
    """Return an estimate with its standard error in words."""
    if task == "regression":
        return f"RMSE {estimate.score:.4g}, standard error {estimate.error:.2g}"
    return f"{100 * estimate.score:.1f} % right, standard error {100 * estimate.error:.1f} points"


def comparison(choice: Choice, task: str) -> list[str]:
    """Return the table of `auto` as lines, and what was chosen by which rule."""
    measure = "RMSE" if task == "regression" else "% right"
    rows: list[tuple[str, ...]] = [("algorithm", measure, "std. error", "leaves", "")]
    for c in choice.candidates:
        if c.estimate is None:
            rows.append((c.algorithm, "-", "-", "-", c.failure))
            continue
        scale = 1.0 if task == "regression" else 100.0
        shown = [f"{scale * value:.4g}" if task == "regression" else f"{scale * value:.1f}"
                 for value in (c.estimate.score, c.estimate.error)]  # fmt: skip
        mark = "chosen" if c.algorithm == choice.chosen else "as good" if c.estimate.loss <= choice.limit else ""
        rows.append((c.algorithm, *shown, str(c.leaves), mark))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    table = [
        "  ".join([f"{row[0]:<{widths[0]}}", *(f"{row[i]:>{widths[i]}}" for i in (1, 2, 3)), row[4]]).rstrip()
        for row in rows
    ]
    rule = (
        "Chosen: the smallest tree whose error is within one standard error of the least. The figures of the table are "
        "flattering to what is chosen from it; the nested estimate below is not."
    )
    return [*table, *textwrap.wrap(rule, 110)]
