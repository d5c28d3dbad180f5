"""Text description of a fitted tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from oblique_cli.ground.nodes import BLANK, Indicator, nested_rules
from oblique_cli.tree.payloads import Equations
from oblique_cli.tree.scorecards import scores_of
from oblique_cli.tree.structure import EVERYTHING, Tree


def export_text(
    tree: Tree,
    feature_names: Sequence[str],
    answers: Sequence[str],
    precision: int = 3,
    level_names: Mapping[int, Sequence[str]] | None = None,
) -> str:
    """Return the rules of a tree as nested "if" and "else", every coefficient shown.

    feature_names : one for each column
    answers       : a name for each class code, or for each output of a regression tree
    precision     : significant digits of coefficients and thresholds; 17 give them to the bit
    level_names   : qualitative feature -> a name for each level code; the codes themselves without it

    A leaf with a model of the classes shows their scores; for two classes the log odds of the second against the first.
    A leaf of a regression tree shows its equation: "y = 100 - 1 x1 (180 rows, RMSE 0)". One split, with four training
    rows of class a on its left, one of a and three of b on its right:

        if 0.6 height - 0.8 width <= 1.5:
            a  (a: 4)
        else:
            b  (a: 1, b: 3)"""
    features, classes = [_one_line(name) for name in feature_names], [_one_line(name) for name in answers]
    levels = {j: [_one_line(name) for name in names] for j, names in (level_names or {}).items()}

    def leaf(node: int) -> str:
        counts = [f"{name}: {n:.10g}" for name, n in zip(classes, tree.counts[node], strict=True) if n]
        return f"{answer(node)}  ({', '.join(counts)})"

    def answer(node: int) -> str:
        if tree.leaf_models is None:
            return str(classes[tree.labels[node]])
        scores = scores_of(
            tree.leaf_models, node, features, classes, first=len(classes) - 1, raw=True, precision=precision,
            level_names=levels
        )  # fmt: skip
        return "; ".join(f"{score.name}: {score.formula}" for score in scores).replace(BLANK, " ")

    says = leaf_texts(tree, features, answers, precision).__getitem__ if tree.is_regression else leaf
    return nested_rules(tree.left, tree.right, lambda node: condition(tree, node, features, precision, levels), says)


def leaf_texts(
    tree: Tree, feature_names: Sequence[str], targets: Sequence[str], precision: int = 3, most: int | None = None
) -> list[str]:
    """Return the text of each node of a regression tree as a leaf: equations, number of rows and RMSE.
    targets : names of the outputs; most : as in `equation`"""
    names, models, k = [_one_line(name) for name in feature_names], tree.equations, tree.equations.n_outputs
    each = [(name, models if k == 1 else models.of_output(i)) for i, name in enumerate(targets)]

    def leaf(node: int) -> str:
        rmse = np.sqrt(models.rss[node] / (k * tree.n_rows[node]))
        rows = f"{tree.n_rows[node]} row{'' if tree.n_rows[node] == 1 else 's'}"
        formula = "; ".join(f"{name} = {equation(output, node, names, precision, most)}" for name, output in each)
        return f"{formula}  ({rows}, RMSE {rmse:.{precision}g})"

    return [leaf(node) for node in range(tree.n_nodes)]


def equation(
    models: Equations, node: int, feature_names: Sequence[str], precision: int = 3, most: int | None = None
) -> str:
    """Return the linear model of a node, such as "100 - 1.5 x1 + 0.2 x3", with its bounds ("within 80 to 120").
    models : of one output; most : number of terms to write, largest coefficients first; the others are counted"""
    if models.leaf_models is not None:
        how: dict[str, Any] = {"raw": True, "precision": precision, "most": most}
        text = scores_of(models.leaf_models, node, feature_names, [""], **how)[0].formula.replace(BLANK, " ")
        return _bounded(text, models, node, precision)
    coef = models.coef[node]
    text = f"{models.intercept[node]:.{precision}g}"
    used = np.flatnonzero(coef).tolist()
    shown = used if most is None else sorted(sorted(used, key=lambda j: -abs(coef[j]))[:most])
    for j in shown:
        sign, name = "-" if coef[j] < 0 else "+", feature_names[j]
        factor = f"({name.holds()})" if isinstance(name, Indicator) else name
        text += f" {sign} {abs(coef[j]):.{precision}g} {factor}"
    rest = len(used) - len(shown)
    text += f" and {rest} more term{'' if rest == 1 else 's'}" if rest else ""
    return _bounded(text, models, node, precision)


def _bounded(text: str, models: Equations, node: int, precision: int) -> str:
    bounds = models.bounds_of(node)
    return text if bounds is None else text + f", within {bounds[0]:.{precision}g} to {bounds[1]:.{precision}g}"


def condition(
    tree: Tree,
    node: int,
    feature_names: Sequence[str],
    precision: int = 3,
    level_names: Mapping[int, Sequence[str]] | None = None,
) -> str:
    """Return the condition under which a row goes left at a node: "0.53 mcv - 0.21 sgpt <= 3.1", "mcv >= 90", "0.6 age
    - 0.8 job <= 1.5 with job = 0.71 clerk, -0.71 smith" (unlisted levels count 0), "job in {clerk}", each with "or
    missing" if rows without a value go left."""
    coef, threshold = tree.coef_[node], float(tree.thresholds[node])
    used = [int(j) for j in np.flatnonzero(coef)]
    scored = {j: _scores(tree, node, j, level_names or {}) for j in used if j in tree.level_columns}
    if len(used) == 1 and scored:
        (j,) = used
        inside = [name for name, score in scored[j] if coef[j] * score <= threshold]
        others = ", or any level without a score here" if threshold >= 0.0 else ""
        return f"{feature_names[j]} in {{{', '.join(inside)}}}{others}"
    missing = ""
    if tree.missing_left is not None and tree.missing_left[node] and len(used) > len(scored):
        missing = ", or missing" if len(used) - len(scored) == 1 else ", or any of these missing"
    if len(used) == 1:
        (j,) = used
        if threshold == EVERYTHING and tree.missing_left is not None:
            return f"{feature_names[j]} is not missing{missing}"
        name, at = feature_names[j], threshold / coef[j] + 0.0
        if isinstance(name, Indicator) and (0.0 <= at < 1.0 if coef[j] > 0 else 0.0 < at <= 1.0):
            return name.holds(bool(coef[j] < 0)) + missing
        return f"{name} {'>=' if coef[j] < 0 else '<='} {at:.{precision}g}{missing}"
    terms = "".join(f" {'-' if coef[j] < 0 else '+'} {abs(coef[j]):.{precision}g} {feature_names[j]}" for j in used)
    # The first term has no space after its sign, and no plus.
    terms = terms.removeprefix(" + ") if terms.startswith(" +") else "-" + terms.removeprefix(" - ")
    scores = [
        f" with {feature_names[j]} = " + ", ".join(f"{score:.{precision}g} {name}" for name, score in scored[j])
        for j in scored
    ]
    return f"{terms} <= {threshold:.{precision}g}{''.join(scores)}{missing}"


def _scores(tree: Tree, node: int, feature: int, level_names: Mapping[int, Sequence[str]]) -> list[tuple[str, float]]:
    """Return name and score of each level of a feature that has a score at the node."""
    scores = tree.level_scores[node, tree.level_columns[feature]]
    names = level_names.get(feature) or [str(code) for code in range(len(scores))]
    return [(name, float(score)) for name, score in zip(names, scores, strict=True) if score]


def _one_line(name: str) -> str:
    """Return a name without line ends and control characters, which a CSV header may contain; keep an `Indicator`."""
    if isinstance(name, Indicator):
        return name.each(_one_line)
    return "".join(char if char.isprintable() else " " for char in name)
