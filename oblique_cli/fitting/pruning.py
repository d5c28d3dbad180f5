"""Pruning that nobody has to ask for, of trees on the user's own data: by cross-validation, the rule of one standard
error."""

from __future__ import annotations

from dataclasses import replace

from oblique_cli.estimators.algorithms import ALGORITHMS, TOP_DOWN
from oblique_cli.nouns import AlgorithmSpec
from oblique_cli.tree.pruning import PRUNINGS, TRAINING_ROWS

PRUNED = {"pruning": "cv", "standard_errors": 1.0}
LIMIT = "max_misrate"  # the parameter that cuts a tree, where an algorithm has no other


def pruned_spec(spec: AlgorithmSpec) -> AlgorithmSpec:
    """Return the algorithm pruned by cross-validation with the rule of one standard error, if it can be.

    Pruning that is said, and a grid for what pruning decides, stay as they are.
    """
    limit = ALGORITHMS[spec.name].path_parameter or LIMIT
    if ALGORITHMS[spec.name].family is not TOP_DOWN or "pruning" in spec.params or limit in spec.grid:
        return spec
    return replace(spec, params={**PRUNED, **spec.params})


def how_pruned(spec: AlgorithmSpec) -> str:
    """Return how the trees are pruned, as in `pruned_spec`; "" for any other way."""
    if spec.params.get("pruning") != PRUNED["pruning"]:
        return ""
    errors = float(spec.params.get("standard_errors", 0.0))
    return f"pruned by cross-validation (smallest tree within {errors:g} SE of the best)"


def divides_rows(spec: AlgorithmSpec) -> bool:
    """Whether pruning holds rows out of the training rows, so that an estimate has to repeat it."""
    rule = spec.params.get("pruning")
    return isinstance(rule, str) and PRUNINGS[rule].rows == TRAINING_ROWS
