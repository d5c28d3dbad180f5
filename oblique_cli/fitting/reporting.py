"""What `oblique fit` prints: the data, the comparison, the estimate, the tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.fitting.choosing import Choice
from oblique_cli.fitting.estimating import Estimate
from oblique_cli.fitting.fitting import Outcome, is_pruned
from oblique_cli.models.model import Model

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset


def report(outcome: Outcome, dataset: Dataset, precision: int) -> str:
    """Return the report as text; lines that are not of the tree begin with #."""
    lines = [f"# {sentence}" for sentence in (*_of_data(dataset), *dataset.notes)]
    if outcome.choice is not None:
        lines += ["#", *(f"# {line}".rstrip() for line in comparison(outcome.choice, outcome.estimate, dataset.task))]
    lines += ["#", f"# {_heading(outcome, dataset)}"]
    lines += [f"# {sentence}" for sentence in _how(outcome, dataset)]
    return "\n".join(lines) + "\n" + rules(outcome.model, precision)


def _of_data(dataset: Dataset) -> list[str]:
    note = [dataset.note] if dataset.note else []
    return note if dataset.notes else [f"{dataset.name}: {dataset.n} rows, {dataset.p} features.", *note]


def _heading(outcome: Outcome, dataset: Dataset) -> str:
    model = outcome.model
    facts, title = model.facts, ALGORITHMS[model.algorithm].title
    leaves = facts["leaves"]
    size = f": {leaves} {'leaf' if leaves == 1 else 'leaves'}, depth {facts['depth']}" if leaves else ""
    return f"{title} on {dataset.name}{size}"


def _how(outcome: Outcome, dataset: Dataset) -> list[str]:
    """Sentences on the estimate, on pruning and on parameters."""
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
    return said


def scored(estimate: Estimate, task: str) -> str:
    """Return an estimate with its standard error in words."""
    if task == "regression":
        return f"RMSE {estimate.score:.4g}, standard error {estimate.error:.2g}"
    return f"{100 * estimate.score:.1f} % right, standard error {100 * estimate.error:.1f} points"


def comparison(choice: Choice, estimate: Estimate, task: str) -> list[str]:
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
    return [*table, *_wrapped(rule)]


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 110)


def rules(model: Model, precision: int) -> str:
    """Return the tree of a model as text; a sentence for a model of several trees or none."""
    from oblique_cli.c45.structure import DiscreteTree, describe
    from oblique_cli.tree.describe import export_text

    estimator = model.estimator
    features, levels = columns_seen(model)
    target = model.columns.target if model.columns is not None else "y"
    if not ALGORITHMS[model.algorithm].family.makes_tree and model.algorithm != "cart_regression":
        return f"# {ALGORITHMS[model.algorithm].title} is not one tree, so no rules are shown.\n"
    text: str
    if model.task == "regression":
        text = estimator.export_text(features, target, precision)
    elif hasattr(estimator, "reject_"):
        text = estimator.export_text(features, list(model.classes))
    elif isinstance(estimator.tree_, DiscreteTree):
        text = describe(estimator.tree_, features, estimator.value_names(), model.classes, precision)
    else:
        text = export_text(estimator.tree_, features, model.classes, precision, levels)
    return text


def columns_seen(model: Model) -> tuple[list[str], dict[int, Sequence[Any]]]:
    """Return names of the columns that the estimator sees, and the names of the levels of those that hold codes."""
    levels = {} if model.columns is None else model.columns.levels
    names = list(model.feature_names)
    if model.encoder is not None:
        names, levels = model.encoder.names(names, levels)
    codes = model.fitted.state.get("levels_") or {}
    return names, {j: [levels[j][int(code)] if j in levels else str(code) for code in own] for j, own in codes.items()}
