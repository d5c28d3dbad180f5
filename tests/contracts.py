"""Lists that feed parametrised tests: proposers, criteria, prunings, real sets, values that break a constraint."""

from functools import cache
from typing import Any

import numpy as np

import oblique_cli._core as _core
import oblique_cli.proposers  # noqa: F401  (registers the proposers)
from oblique_cli.data import catalogue
from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.ground.constraints import Boolean, Choice, ClassWeight, Constraint, Either, Integer, Optional, Real
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.tree.criteria import CRITERIA
from oblique_cli.tree.growing import grow_top_down
from oblique_cli.tree.pruning import KEPT_ROWS, NO_ROWS, PRUNINGS
from oblique_cli.tree.splitting import PROPOSERS, Node, Proposer
from oblique_cli.tree.structure import Tree

PROPOSER_NAMES = sorted(PROPOSERS)
ALGORITHM_NAMES = [name for name in sorted(ALGORITHMS) if name in PROPOSERS]  # those grown top-down
NATIVE_NAMES = [name for name in PROPOSER_NAMES if PROPOSERS[name].native is not None]
HHCART_NAMES = ["hhcart_a", "hhcart_d"]
GEOMETRIC_NAMES = ["gdt", "hhgdt"]
CRITERION_NAMES = list(CRITERIA)
PRUNING_NAMES = list(PRUNINGS)
# Those that draw rows at random, and those among them that keep rows from growth.
DRAWING_PRUNINGS = [name for name, rule in PRUNINGS.items() if rule.rows != NO_ROWS]
KEEPING_PRUNINGS = [name for name, rule in PRUNINGS.items() if rule.rows == KEPT_ROWS]

# The options that every family of the compiled core takes, for `_core.grow`; those of a proposer go on top.
GROWTH_OPTIONS: dict[str, Any] = {
    "criterion": "gini",
    "min_parent": 2.0,
    "epsilon": 0.0,
    "max_depth": -1,
    "max_leaf_nodes": -1,
    "min_leaf": 1.0,
    "strict_ties": False,
    "exhaustive": False,
    "seed": 0,
    "polish": False,
    "max_terms": -1,
    "split_cost": 0.0,
}

# Searches at random that end sooner than by default: what is claimed of them holds for any length.
QUICK: dict[str, dict[str, Any]] = {
    **{name: {"restarts": 2, "jumps": 1} for name in PROPOSER_NAMES if "restarts" in PROPOSERS[name]().get_params()},
    "sadt": {"patience": 50},
}

REAL_SETS = ["bupa", "balance_scale", "wine", "iris", "statlog_heart", "glass"]


def draws(name: str) -> bool:
    """Whether a heuristic draws random numbers, which a node without a seed has none of."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    try:
        list(PROPOSERS[name]().propose(Node(X, np.arange(60, dtype=np.int32) % 3, None, 3, 0, "gini")))
    except ConfigError:
        return True
    return False


STOCHASTIC = {name for name in PROPOSER_NAMES if draws(name)}  # compare only fits of one seed


def proposer(name: str, **parameters: Any) -> Proposer:
    """The named heuristic, quick."""
    return PROPOSERS[name](**{**QUICK.get(name, {}), **parameters})


@cache
def real_set(name: str) -> Dataset:
    """A bundled data set."""
    return catalogue.load(DatasetSpec(name), offline=True)


def grow(name: str, X: np.ndarray, y: np.ndarray, n_classes: int | None = None, **options: Any) -> Tree:
    """A tree of the named proposer, quick; options as in grow_top_down, those of the proposer under `proposer`."""
    parameters = options.pop("proposer", {})
    n_classes = n_classes or int(y.max()) + 1
    X = np.ascontiguousarray(X, dtype=np.float64)
    return grow_top_down(X, y.astype(np.int32), n_classes, proposer(name, **parameters), **options)


def rows_at_nodes(tree: Tree, X: np.ndarray) -> list[np.ndarray]:
    """Row numbers at every node, by sending each through the tree's own hyperplanes."""
    rows = [np.arange(len(X))] + [np.arange(0)] * (tree.n_nodes - 1)
    for node in np.flatnonzero(~tree.is_leaf):
        goes_left = np.asarray(_core.project(X[rows[node]], tree.coef_[node])) <= tree.thresholds[node]
        rows[tree.left[node]], rows[tree.right[node]] = rows[node][goes_left], rows[node][~goes_left]
    return rows


def assert_same_tree(a: Tree, b: Tree, coef: float = 0.0, threshold: float = 0.0) -> None:
    """Equal structure and counts; hyperplanes equal within the given absolute deviations, to the bit by default."""
    np.testing.assert_array_equal(a.left, b.left)
    np.testing.assert_array_equal(a.right, b.right)
    np.testing.assert_array_equal(a.n_rows, b.n_rows)
    np.testing.assert_allclose(a.counts, b.counts, rtol=1e-12 if coef else 0.0, atol=0.0)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=0.0, atol=coef)
    np.testing.assert_allclose(a.thresholds, b.thresholds, rtol=0.0, atol=threshold)
    np.testing.assert_allclose(a.gains, b.gains, rtol=1e-9 if coef else 0.0, atol=1e-12 if coef else 0.0)


def engines_agree(
    name: str,
    X: np.ndarray,
    y: np.ndarray,
    *arguments: Any,
    coef: float = 1e-7,
    threshold: float = 1e-6,
    **options: Any,
) -> Tree:
    """The tree of the native engine, once that of the reference is the same; options as in `grow`."""
    native, reference = (grow(name, X, y, *arguments, engine=engine, **options) for engine in ("native", "reference"))
    assert_same_tree(native, reference, coef, threshold)
    np.testing.assert_allclose(native.level_scores, reference.level_scores, atol=1e-7)
    assert native.levels == reference.levels
    return native


def forbidden(constraint: Constraint) -> list[Any]:
    """Values that a constraint must refuse."""
    if isinstance(constraint, Optional):
        return [value for value in forbidden(constraint.inner) if value is not None]
    if isinstance(constraint, Choice):
        return ["no_such_word", 3, None]
    if isinstance(constraint.first if isinstance(constraint, Either) else constraint, Boolean):
        return ["yes", 1, None]
    if isinstance(constraint, ClassWeight):
        return ["no_such_word", 3, {}, {"a": -1.0}, {"a": "much"}]
    out: list[Any] = ["1", None, True, float("nan"), float("inf")]
    if isinstance(constraint, Integer):
        out.append(2.5)
        if constraint.low is not None:
            out.append(constraint.low - 1)
        if constraint.high is not None:
            out.append(constraint.high + 1)
    if isinstance(constraint, Real):
        if np.isfinite(constraint.low):
            out.append(constraint.low if constraint.open_low else constraint.low - 0.5)
        if np.isfinite(constraint.high):
            out.append(constraint.high if constraint.open_high else constraint.high + 0.5)
    return out
