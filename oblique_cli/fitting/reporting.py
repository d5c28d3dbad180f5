"""What `oblique fit` says beside the tree: the data, the comparison, the estimate."""

from __future__ import annotations

import textwrap
from math import floor, log10
from typing import TYPE_CHECKING

import numpy as np

from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.fitting.choosing import Choice
from oblique_cli.fitting.estimating import Estimate
from oblique_cli.fitting.fitting import Outcome
from oblique_cli.fitting.pruning import divides_rows, how_pruned

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset


def before(outcome: Outcome, dataset: Dataset) -> str:
    """Return what is said of the data and of the comparison, as lines that begin with #."""
    lines = [*_of_data(dataset), *(note[:1].upper() + note[1:] for note in dataset.notes)]
    if outcome.choice is not None:
        lines += ["", *comparison(outcome.choice, dataset.task)]
    return "".join(f"# {line}".rstrip() + "\n" for line in [*lines, ""])


FEW = 50  # rows below which estimates are hardly worth their digits


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
    whole = divides_rows(outcome.case.spec) or outcome.choice or outcome.case.spec.grid
    nested = "nested " if estimate.nested else ""
    by = f"{nested}{estimate.folds}-fold cross-validation{f', {inside}' if whole else ''}"
    said = [f"On new rows: {scored(estimate, dataset.task)} ({by}).", baseline(dataset)]
    if dataset.n < FEW:
        said.append(f"{dataset.n} rows are few: other rows could give quite another tree and another estimate.")
    if how := how_pruned(outcome.case.spec):
        said.append(f"{how[0].upper()}{how[1:]}; --set pruning=none leaves it whole.")
    if outcome.chosen:
        values = ", ".join(f"{name} {value}" for name, value in outcome.chosen.items())
        said.append(f"Chosen by {estimate.folds}-fold cross-validation: {values}.")
    return tuple(said)


def scored(estimate: Estimate, task: str) -> str:
    """Return an estimate with its standard error in words."""
    if task == "regression":
        return f"RMSE {estimate.score:.4g}, standard error {estimate.error:.2g}"
    return f"{100 * estimate.score:.1f} % right, standard error {100 * estimate.error:.1f} points"


def baseline(dataset: Dataset) -> str:
    """Return what a model that looks at no column would do, in a sentence."""
    if dataset.task == "regression":
        return f"Always saying the mean, {dataset.y.mean():.4g}: RMSE {dataset.y.std():.4g}."
    counts = np.bincount(dataset.y)
    return f"Always saying {dataset.classes[counts.argmax()]!r}: {100 * counts.max() / dataset.n:.1f} % right."


def comparison(choice: Choice, task: str) -> list[str]:
    """Return the table of `auto` as lines, and what was chosen by which rule."""
    measure = "RMSE" if task == "regression" else "% right"
    rows: list[tuple[str, ...]] = [("algorithm", measure, "std. error", "leaves", "coefficients", "")]
    errors = [c.estimate.error for c in choice.candidates if c.estimate and c.estimate.error > 0]
    # Two digits of the smallest error of the table; no two numbers of a column with their points apart.
    places = max(0, 1 - floor(log10(min(errors)))) if task == "regression" and errors else 1
    for c in choice.candidates:
        if c.estimate is None:
            rows.append((c.algorithm, "-", "-", "-", "-", c.failure))
            continue
        scale = 1.0 if task == "regression" else 100.0
        shown = [f"{scale * value:.{places}f}" for value in (c.estimate.score, c.estimate.error)]
        mark = "chosen" if c.algorithm == choice.chosen else "as good" if c.estimate.loss <= choice.limit else ""
        rows.append((c.algorithm, *shown, str(c.size.leaves), str(c.size.coefficients), mark))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    table = [
        "  ".join([f"{row[0]:<{widths[0]}}", *(f"{row[i]:>{widths[i]}}" for i in (1, 2, 3, 4)), row[5]]).rstrip()
        for row in rows
    ]
    rule = (
        "Chosen: fewest leaves, then fewest coefficients, of all with an error within one standard error of the least. "
        "The figures of the table flatter what is chosen from it; the nested estimate below does not."
    )
    return [*table, *textwrap.wrap(rule, 110)]
