"""Text output of `oblique fit` beside the tree: the data, the comparison, the estimate."""

from __future__ import annotations

import textwrap
from collections.abc import Container, Iterator, Mapping, Sequence
from math import floor, log10
from typing import TYPE_CHECKING

import numpy as np

from oblique_cli.drawing.charts import Axis, Curve, Panel, curves
from oblique_cli.errors import DataError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.estimators.default_pruning import divides_rows, how_pruned, whole_tree
from oblique_cli.fitting.budget import Budget
from oblique_cli.fitting.choosing import Candidate, Choice
from oblique_cli.fitting.estimating import Estimate
from oblique_cli.fitting.fitting import Outcome, rare_classes
from oblique_cli.fitting.goals import AUTO, Goal
from oblique_cli.fitting.tree_sizes import AT_A_COMPLEXITY
from oblique_cli.models.explaining.importance import Importances

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from oblique_cli.data.dataset import Dataset


def before(outcome: Outcome, dataset: Dataset) -> str:
    """Return lines on the data and the comparison, which begin with #; warnings come first."""
    lines = [line for warning in outcome.warnings for line in textwrap.wrap(warning, WIDTH)]
    if not dataset.notes:
        lines.append(f"{dataset.name}: {dataset.n} rows, {dataset.p} features.")
    lines += [dataset.note] * bool(dataset.note) + [note[:1].upper() + note[1:] for note in dataset.notes]
    if outcome.choice is not None:
        lines += ["", *comparison(outcome.choice, outcome.goal, outcome.budget, dataset.n)]
    lines += path_lines(outcome)
    return "".join(f"# {line}".rstrip() + "\n" for line in [*lines, ""])


WIDTH = 110
FEW = 50  # number of rows below which estimates are very imprecise


def title(outcome: Outcome, dataset: Dataset) -> str:
    """Return the name of the model."""
    return f"{ALGORITHMS[outcome.model.algorithm].title} on {dataset.name}"


def remarks(outcome: Outcome, dataset: Dataset, card: bool = False) -> tuple[str, ...]:
    """Return sentences on the estimate, on pruning and on parameters. card : omit those that the model card contains"""
    estimate, facts = outcome.estimate, outcome.model.facts
    inside = "choices included" if outcome.choice or outcome.case.spec.grid else "pruning included"
    whole = divides_rows(outcome.case.spec) or outcome.choice or outcome.case.spec.grid
    by = f"{estimate.by}{f', {inside}' if whole else ''}"
    if estimate.tested < estimate.folds:
        left = "the clock" if outcome.budget.cut else "the budget"
        by += f", of which {left} left {estimate.rows} rows"
    new_rows = facts.get("on_new_rows", {})
    sentences = [] if card else [f"On new rows: {headline(outcome, dataset)} ({by}).", baseline(dataset)]
    new_rows = {} if card else new_rows
    if new_rows and dataset.classes:
        sentences += list(matrix_lines(new_rows["confusion"], new_rows["recalls"], dataset.classes))
        if "roc_auc" in new_rows and outcome.goal.metric.name != "roc_auc":
            sentences.append(f"Area under the ROC curve: {new_rows['roc_auc']:.3f}.")
    if "r2" in new_rows and "mae" in new_rows:
        sentences.append(f"R2 {new_rows['r2']:.3f}, mean absolute error {new_rows['mae']:.4g}.")
    if (threshold := outcome.model.threshold) is not None:
        how = "chosen by cross-validation" if outcome.goal.threshold == AUTO else "as asked"
        sentences.append(f"It says {threshold.label!r} from a share of {threshold.share:.3g} of it on ({how}).")
    if (guarantee := outcome.model.guarantee) is not None and not card:
        sentences.append(guarantee.sentence(len(dataset.classes)))
    if dataset.n < FEW and not card:
        sentences.append(f"{dataset.n} rows are few: other rows could give quite another tree and another estimate.")
    if how := how_pruned(outcome.case.spec):
        if AT_A_COMPLEXITY.items() <= outcome.model.parameters.items():
            how = how.replace("of the best", f"of the best by {outcome.goal.pruning.metric.title}")
        sentences.append(f"{how[0].upper()}{how[1:]}; --set {whole_tree(outcome.case.spec)} leaves it whole.")
    if outcome.model.parameters.get("class_weight") is not None:
        sentences.append("Counts at the nodes are weights of rows, as class_weight makes them.")
    if outcome.chosen:
        values = ", ".join(f"{name} {value}" for name, value in outcome.chosen.items())
        folds = outcome.estimate.folds or "held-out and"
        sentences.append(f"Chosen by {folds}-fold cross-validation: {values}.")
    if (counted := Importances.from_plain(facts.get("importances"))) is not None and not card:
        sentences.append(counted.sentence())
    if outcome.budget.cut:
        sentences.append(
            f"The clock cut the work short, at {outcome.budget.cut}: another run may give another model; --time gives "
            "it longer."
        )
    if outcome.choice is not None and outcome.goal.readable:
        sentences.append(price_to_read(outcome))
    elif outcome.tree is not None:
        sentences.append(price(outcome))
    return tuple(sentences)


def headline(outcome: Outcome, dataset: Dataset) -> str:
    """Return the estimate in words: by the goal's metric; with rare classes balanced accuracy and F1 come first."""
    estimate, new_rows = outcome.estimate, outcome.model.facts.get("on_new_rows", {})
    text = scored(estimate, outcome.goal)
    if outcome.goal.is_usual and rare_classes(dataset) and "balanced_accuracy" in new_rows:
        parts = [f"balanced accuracy {100 * new_rows['balanced_accuracy']:.1f} %, F1 macro {new_rows['f1_macro']:.3f}"]
        return f"{parts[0]}; {text}"
    if not outcome.goal.is_usual and "accuracy" in new_rows:
        text += f"; {100 * new_rows['accuracy']:.1f} % right"
    return text


def scored(estimate: Estimate, goal: Goal) -> str:
    """Return an estimate with its standard error in words."""
    if goal.metric.name == "accuracy":
        return f"{100 * estimate.score:.1f} % right, standard error {100 * estimate.error:.1f} points"
    if goal.metric.unit == "%":
        return f"{goal.metric.title} {estimate.score:.1f} %, standard error {estimate.error:.1f} points"
    return f"{goal.metric.title} {estimate.score:.4g}, standard error {estimate.error:.2g}"


def baseline(dataset: Dataset) -> str:
    """Return a sentence on the score of a constant model."""
    if dataset.task == "regression":
        return f"Always saying the mean, {dataset.y.mean():.4g}: RMSE {dataset.y.std():.4g}."
    counts = np.bincount(dataset.y)
    return f"Always saying {dataset.classes[counts.argmax()]!r}: {100 * counts.max() / dataset.n:.1f} % right."


MOST_CLASSES = 12  # with a printed matrix; for more classes, only the worst recalls are printed


def matrix_lines(
    confusion: Sequence[Sequence[int]], recalls: Mapping[str, float], classes: Sequence[str]
) -> Iterator[str]:
    """Yield the table of rows by class and prediction, with the recall of each class; for many classes the worst."""
    if len(classes) > MOST_CLASSES:
        worst = sorted(recalls.items(), key=lambda item: item[1])[:MOST_CLASSES]
        yield "Lowest recalls: " + ", ".join(f"{label} {100 * share:.0f} %" for label, share in worst) + "."
        return
    yield "New rows by class (lines) and prediction (columns), and the share of each class that is found (recall):"
    rows = [("", *classes, "recall")]
    for label, counts in zip(classes, confusion, strict=True):
        recall = f"{100 * recalls[label]:.1f} %" if label in recalls else "-"
        rows.append((label, *map(str, counts), recall))
    yield from _aligned(rows, left={0})


def _worse_by(goal: Goal, tree: Candidate, best: Candidate) -> str:
    """Return the difference in score of a tree to another model on the same rows."""
    assert tree.estimate is not None and best.estimate is not None
    lost = abs(best.estimate.score - tree.estimate.score)
    if goal.metric.name == "accuracy":
        return f"{100 * lost:.1f} points of accuracy"
    return (
        f"{lost:.1f} points of {goal.metric.title}" if goal.metric.unit == "%" else f"{goal.metric.title} by {lost:.3g}"
    )


def price(outcome: Outcome) -> str:
    """Return a sentence on the loss of accuracy by the tree beside a model."""
    choice = outcome.choice
    assert choice is not None and outcome.tree is not None and choice.best_tree is not None
    tree = choice.best_tree
    best = next(c for c in choice.candidates if c.algorithm == choice.chosen)
    return (
        f"A tree that can be read, {tree.algorithm} of {outcome.tree.facts['leaves']} leaves and "
        f"{outcome.tree.facts['n_terms']} terms, is kept beside it; on the same rows it is worse by "
        f"{_worse_by(outcome.goal, tree, best)}."
    )


def price_to_read(outcome: Outcome) -> str:
    """Return a sentence on the loss of accuracy by a readable tree, relative to the best compared model."""
    choice = outcome.choice
    assert choice is not None
    tree = next(c for c in choice.candidates if c.algorithm == choice.chosen)
    best = min((c for c in choice.last if c.estimate), key=lambda c: c.estimate.loss if c.estimate else 0.0)
    if tree.shown.leaves < 2 or not tree.is_tree:
        return "--readable: no tree that was compared has a split."
    assert tree.estimate is not None
    which = "smallest" if tree.estimate.loss <= choice.limit else "best"
    within = (
        "within one standard error of the best model" if which == "smallest" else "though none is as good as the best"
    )
    if best is tree:
        return f"--readable: {tree.algorithm} is the {which} tree with a split {within}, and no model is more accurate."
    return (
        f"--readable: {tree.algorithm} is the {which} tree with a split {within}; on the same rows it is worse than "
        f"{best.algorithm}, the most accurate, by {_worse_by(outcome.goal, tree, best)}."
    )


def path_lines(outcome: Outcome) -> list[str]:
    """Return the table of the path of sizes: trees that no smaller tree matches, and the fitted tree."""
    if not outcome.path:
        return []
    shown = sorted((step for step in outcome.path if step.best or step.chosen), key=lambda step: step.terms)
    rows: list[tuple[str, ...]] = [("terms", "leaves", "a split", _heading(outcome.goal), "std. error", "alpha", "")]
    for step in shown:
        figures = _number(step.score, outcome.goal), _number(step.error, outcome.goal)
        limit = "any" if step.max_terms is None else f"<= {step.max_terms}"
        rows.append((str(step.terms), str(step.leaves), limit, *figures, f"{step.alpha:.6g}", "fitted" * step.chosen))
    note = (
        f"Of {len(outcome.path)} trees of {outcome.path[0].algorithm}, pruned by their complexity, those that no "
        "smaller one matches, in 5 folds of all rows; the score of the best is optimistic. A tree is fitted by --set "
        "pruning=ccp_alpha, --set ccp_alpha=ALPHA and, where its splits have a limit, --set max_terms."
    )
    return ["", *textwrap.wrap(note, WIDTH), *_aligned(rows, left={6})]


def path_figure(outcome: Outcome) -> Figure:
    """Draw the score by terms for all trees of the path; a ring marks the fitted tree. DataError without a path."""
    if not outcome.path:
        raise DataError("none of the algorithms compared has a path of sizes to draw.")
    goal, drawn = outcome.goal, []
    scale = 100 if goal.metric.name == "accuracy" else 1
    for code, limit in enumerate(dict.fromkeys(step.max_terms for step in outcome.path)):
        steps = [step for step in reversed(outcome.path) if step.max_terms == limit]
        label = "splits of any terms" if limit is None else f"at most {limit} term{'s' * (limit > 1)}"
        terms, scores = [float(step.terms) for step in steps], [scale * step.score for step in steps]
        errors = [scale * step.error for step in steps]
        marked = {float(step.terms): 1 for step in steps if step.chosen}
        drawn.append(Curve(label, terms, scores, errors, code, marked))
    unit = "% right" if scale == 100 else str(goal.metric.title)
    panel = Panel(f"{ALGORITHMS[outcome.path[0].algorithm].title}, cut smaller", drawn)
    return curves([panel], Axis("terms of the tree", log=2), Axis(f"{unit}, 5 folds"))


def _heading(goal: Goal) -> str:
    title = str(goal.metric.title)
    return "Accuracy" if goal.metric.name == "accuracy" else title[:1].upper() + title[1:]


def _number(score: float, goal: Goal) -> str:
    if goal.metric.name == "accuracy":
        return f"{100 * score:.1f} %"
    return f"{score:.1f} %" if goal.metric.unit == "%" else f"{score:.4g}"


def _aligned(rows: Sequence[Sequence[str]], left: Container[int], indent: str = "  ") -> list[str]:
    """Return lines of cells in columns, numbers right-aligned; left : columns of text"""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = (f"{cell:<{size}}" if i in left else f"{cell:>{size}}"
                 for i, (cell, size) in enumerate(zip(row, widths, strict=True)))  # fmt: skip
        lines.append(f"{indent}{'  '.join(cells)}".rstrip())
    return lines


def comparison(choice: Choice, goal: Goal, budget: Budget, n: int) -> list[str]:
    """Return the table of `auto` as lines, and the chosen algorithm with the rule. n : rows of the data"""
    accuracy = goal.metric.name == "accuracy"
    measure = "% right" if accuracy else str(goal.metric.title)
    halved = any(c.rows not in (0, n) for c in choice.candidates)
    rows: list[tuple[str, ...]] = [("algorithm", measure, "std. error", "leaves", "terms", "rows", "")]
    errors = [c.estimate.error for c in choice.candidates if c.estimate and c.estimate.error > 0]
    # Two digits of the smallest error in the table; one number of decimals per column.
    fine = max(0, 1 - floor(log10(min(errors)))) if errors else 1
    places = 1 if accuracy or goal.metric.unit == "%" else fine
    for c in choice.candidates:
        if c.estimate is None:
            rows.append((c.algorithm, "-", "-", "-", "-", "-", c.failure))
            continue
        figures = [f"{(100 if accuracy else 1) * value:.{places}f}" for value in (c.estimate.score, c.estimate.error)]
        good = "as good" if not c.dropped and c.estimate.loss <= choice.limit else ""
        mark = (
            "chosen"
            if c.algorithm == choice.chosen
            else c.failure or (f"dropped at {c.rows:,} rows" if c.dropped else good)
        )
        rows.append((c.algorithm, *figures, str(c.shown.leaves), str(c.shown.n_terms), f"{c.rows:,}", mark))
    shown = rows if halved else [(*row[:5], row[6]) for row in rows]
    table = _aligned(shown, left={0, len(shown[0]) - 1}, indent="")
    rule = (
        f"Chosen: {'tree with a split of ' if goal.readable else ''}fewest terms of all with an error within one "
        "standard error of the least, by the middle size of the models of the folds; of a model that is written the "
        "table has its own size. Terms are leaves, coefficients of planes and coefficients of models in leaves, added "
        "up. "
        "The figures of the table flatter what is chosen from it; the nested estimate below does not."
    )
    if halved:
        rule += (
            " Algorithms were compared on few rows first, and the better half of them on more, as many as the budget "
            "pays for."
        )
    if budget.seconds is not None:
        rule += f" Budget: {budget.seconds:g} s (--time), counted by rows and columns, not by the clock."
    return [*table, *textwrap.wrap(rule, WIDTH)]
