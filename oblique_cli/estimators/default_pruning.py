"""Default pruning of trees on user data by the one-standard-error rule: by cross-validation, or for large tables on
held-out rows (docs/measured.md has the comparison)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from oblique_cli.estimators.algorithms import ALGORITHMS, TOP_DOWN
from oblique_cli.estimators.oblique.heuristics import LIMIT
from oblique_cli.ground.nouns import AlgorithmSpec
from oblique_cli.tree.pruning import KEPT_ROWS, PRUNINGS, TRAINING_ROWS

BY_CV: Mapping[str, Any] = {"pruning": "cv", "standard_errors": 1.0}
BY_HOLDOUT: Mapping[str, Any] = {"pruning": "cost_complexity", "standard_errors": 1.0}
CART = "cart_regression"
CART_BY_CV: Mapping[str, Any] = {"ccp_alpha": "cv"}
CART_LIMITS = ("ccp_alpha", "max_leaf_nodes", "max_depth")  # a user who sets one of these has limited the tree
# A tenth of this many rows gives an error rate with a standard error of at most 1.1 points. On four data sets of 13,000
# to 29,000 training rows the accuracy was within 0.22 points of that by cross-validation, which grows eleven trees
# instead of one; on 3,000 to 10,000 rows it was 0.2 to 2.1 points lower.
MANY_ROWS = 20_000
FRACTION = 0.1  # default share of held-out rows of the estimators


def pruned_spec(spec: AlgorithmSpec, rows: int = 0, grouped: bool = False) -> AlgorithmSpec:
    """Return the algorithm pruned by the one-standard-error rule, unless its parameters or grid set the pruning.
    rows : of the table; from MANY_ROWS on a held-out tenth is used, below it cross-validation
    grouped : whether rows have groups. The standard error between a few dozen groups is wide and would prune many
        trees to their root, so the tree of least error is taken (0 standard errors)."""
    if spec.name == CART:
        is_cut = any(name in spec.params or name in spec.grid for name in CART_LIMITS)
        return spec if is_cut else replace(spec, params={**spec.params, **CART_BY_CV})
    limit = ALGORITHMS[spec.name].path_parameter or LIMIT
    if ALGORITHMS[spec.name].family is not TOP_DOWN or "pruning" in spec.params or limit in spec.grid:
        return spec
    of_cv = PRUNINGS["cv"].constraints.keys() - PRUNINGS["cost_complexity"].constraints.keys()
    by_cv = rows < MANY_ROWS or of_cv & {*spec.params, *spec.grid}
    usual = {**(BY_CV if by_cv else BY_HOLDOUT), **({"standard_errors": 0.0} if grouped else {})}
    return replace(spec, params={**usual, **spec.params})


def how_pruned(spec: AlgorithmSpec) -> str:
    """Return the pruning method of `pruned_spec` for an algorithm; "" for any other pruning."""
    by, errors = "by cross-validation", float(spec.params.get("standard_errors", 0.0))
    rule = spec.params.get("pruning")
    if spec.name == CART and CART_BY_CV.items() <= spec.params.items():
        errors = 1.0
    elif rule == BY_HOLDOUT["pruning"]:
        by = f"on {100 * float(spec.params.get('pruning_fraction', FRACTION)):g} % of the rows, kept from growth"
    elif rule != BY_CV["pruning"]:
        return ""
    return f"pruned {by} (smallest tree {f'within {errors:g} SE of the best' if errors else 'of the least error'})"


def whole_tree(spec: AlgorithmSpec) -> str:
    """Return the setting for unpruned trees, in the form of --set."""
    return "ccp_alpha=0" if spec.name == CART else "pruning=none"


def pruning_of(spec: AlgorithmSpec) -> str:
    """Return the pruning of an algorithm's trees as text; "" for an algorithm without a choice of pruning."""
    if how := how_pruned(spec):
        return how
    if spec.name not in ALGORITHMS:
        return ""
    algorithm = ALGORITHMS[spec.name]
    for name, none in (("pruning", "none"), ("ccp_alpha", 0.0)):
        if name not in algorithm.parameters or (name == "ccp_alpha" and spec.name != CART):
            continue
        if name in spec.grid:
            return f"pruned as its grid of {name} says"
        value = spec.params.get(name, algorithm.defaults[name])
        if value is True:
            return "pruned by the rule of the algorithm"
        if value not in (none, False):
            return f"pruned by {name} {value}"
        stops = ["max_depth", "max_leaf_nodes", algorithm.path_parameter or LIMIT, "epsilon", LIMIT, "min_parent"]
        stops += ["min_samples_split", "min_impurity_decrease"]
        limit = next((key for key in stops if key in spec.params or key in spec.grid), "")
        return f"not pruned; {limit} stops it" if limit else "not pruned: it grows until it fits the training rows"
    return ""


def divides_rows(spec: AlgorithmSpec) -> bool:
    """Return whether pruning holds out training rows, so that an error estimate has to repeat it."""
    if spec.name == CART:
        return CART_BY_CV.items() <= spec.params.items()
    rule = spec.params.get("pruning")
    return isinstance(rule, str) and PRUNINGS[rule].rows in (TRAINING_ROWS, KEPT_ROWS)
