"""Sizes of fitted models of other libraries, by one reader for each library."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from oblique_cli.ground.registry import Registry, fault_of_function


class Sizes(NamedTuple):
    """Leaves and nodes of all trees of a model, and the longest path, zeros for a model that is no tree; and terms.

    terms : size for a reader, as `evaluation.metrics.n_terms` counts it: leaves and coefficients of planes; for a
        linear model its coefficients and 1, as for a tree of one leaf; for a support vector machine the numbers in its
        support vectors; 0 if unknown"""

    leaves: int
    nodes: int
    depth: int
    terms: int = 0


NONE = Sizes(0, 0, 0, 0)

# First name of the module of a class -> reader of its fitted estimators.
SIZES: Registry[Callable[[Any], Sizes]] = Registry(
    "reader of sizes", fault=lambda function: fault_of_function(function, "estimator")
)


def reader_of_sizes(library: str) -> Callable[[Callable[[Any], Sizes]], Callable[[Any], Sizes]]:
    """Decorator that registers a function of a fitted estimator. library : first name of the module of its class"""
    return SIZES.register(library)


def sizes_of(estimator: Any) -> Sizes:
    """Return the sizes of a fitted estimator, by its library's reader, or else from usual attributes of trees."""
    for base in type(estimator).__mro__:
        library = base.__module__.partition(".")[0]
        if library in SIZES:
            return SIZES[library](estimator)
    return usual(estimator)


def usual(estimator: Any) -> Sizes:
    """Return the sizes of a tree from the names of our attributes, or by scikit-learn's methods."""
    if hasattr(estimator, "n_leaves_"):
        sizes = (getattr(estimator, name, 0) for name in ("n_leaves_", "n_nodes_", "depth_", "n_terms_"))
        leaves, nodes, depth, terms = map(int, sizes)
        return Sizes(leaves, nodes, depth, terms or max(leaves, nodes))
    if hasattr(estimator, "get_n_leaves") and hasattr(estimator, "get_depth"):
        leaves, tree = int(estimator.get_n_leaves()), getattr(estimator, "tree_", None)
        nodes = int(getattr(tree, "node_count", 0) or 2 * leaves - 1)
        return Sizes(leaves, nodes, int(estimator.get_depth()), nodes)
    return NONE


def together(sizes: Iterable[Sizes]) -> Sizes:
    """Return the sizes of an ensemble: sums of leaves, nodes and terms, and the largest depth."""
    leaves, nodes, depths, terms = zip(NONE, *sizes, strict=True)
    return Sizes(sum(leaves), sum(nodes), max(depths), sum(terms))


def nested(
    root: Any, children: Callable[[Any], Iterable[Any]], coefficients: Callable[[Any], int] = lambda node: 1
) -> Sizes:
    """Return the sizes of a tree from its root. children : of a node; coefficients : of the plane of an inner node"""
    leaves = nodes = deepest = terms = 0
    left = [(root, 0)]
    while left:
        node, depth = left.pop()
        below = list(children(node))
        nodes += 1
        leaves += not below
        terms += coefficients(node) if below else 1
        deepest = max(deepest, depth)
        left += [(child, depth + 1) for child in below]
    return Sizes(leaves, nodes, deepest, terms)


@SIZES.register("sklearn")
@SIZES.register("treeple")
@SIZES.register("aeon")
def _sklearn(estimator: Any) -> Sizes:
    """Return the sizes of a tree, an ensemble, or trees inside an estimator (bagging, boosting, calibration)."""
    predictors = getattr(estimator, "_predictors", None)
    if predictors is not None:  # histogram boosting: a list of trees, one per class, for every iteration
        trees = [tree for step in predictors for tree in step]
        return together(Sizes(t.get_n_leaf_nodes(), len(t.nodes), t.get_max_depth(), len(t.nodes)) for t in trees)
    if hasattr(estimator, "get_n_leaves"):
        return usual(estimator)
    parts = getattr(estimator, "estimators_", None)
    if parts is not None:
        return together(map(sizes_of, np.asarray(parts, dtype=object).ravel()))
    inner = getattr(estimator, "best_estimator_", getattr(estimator, "estimator_", None))
    if inner is not None:
        return sizes_of(inner)
    if getattr(estimator, "support_vectors_", None) is not None:
        return Sizes(0, 0, 0, int(np.size(estimator.support_vectors_)))
    if getattr(estimator, "coef_", None) is not None:
        return Sizes(0, 0, 0, 1 + int(np.count_nonzero(estimator.coef_)))
    return NONE


@SIZES.register("lightgbm")
def _lightgbm(estimator: Any) -> Sizes:
    def children(node: Mapping[str, Any]) -> list[Any]:
        return [node[side] for side in ("left_child", "right_child") if side in node]

    trees = estimator.booster_.dump_model()["tree_info"]
    return together(nested(tree["tree_structure"], children) for tree in trees)


@SIZES.register("xgboost")
def _xgboost(estimator: Any) -> Sizes:
    trees = estimator.get_booster().get_dump(dump_format="json")
    return together(nested(json.loads(tree), lambda node: node.get("children", ())) for tree in trees)


@SIZES.register("stree")
def _stree(estimator: Any) -> Sizes:
    nodes, leaves = estimator.nodes_leaves()
    planes = (int(nodes) - int(leaves)) * int(estimator.n_features_in_)  # one-vs-rest planes are dense
    return Sizes(int(leaves), int(nodes), int(estimator.depth_) - 1, int(leaves) + planes)  # its root has depth 1


@SIZES.register("obliquetree")
def _obliquetree(estimator: Any) -> Sizes:
    from obliquetree.utils import export_tree

    def children(node: Mapping[str, Any]) -> list[Any]:
        return [node[side] for side in ("left", "right") if isinstance(node.get(side), Mapping)]

    def coefficients(node: Mapping[str, Any]) -> int:
        return len(node["weights"]) if node.get("is_oblique") else 1

    return nested(export_tree(estimator)["tree"], children, coefficients)


@SIZES.register("interpret")
def _interpret(estimator: Any) -> Sizes:
    """Return the sizes of scikit-learn trees inside; for additive models, a number in each bin of a term."""
    if hasattr(estimator, "term_scores_"):
        return Sizes(0, 0, 0, 1 + sum(int(np.count_nonzero(scores)) for scores in estimator.term_scores_))
    parts = vars(estimator).values()
    return together(sizes_of(part) for part in parts if type(part).__module__.startswith("sklearn.tree"))


@SIZES.register("imodels")
def _imodels(estimator: Any) -> Sizes:
    """Return the sizes of the summed trees, of the inner scikit-learn tree, or of the model itself."""
    sums = getattr(estimator, "trees_", None)
    if sums is not None:
        return together(
            nested(root, lambda node: [side for side in (node.left, node.right) if side is not None]) for root in sums
        )
    inner = getattr(estimator, "estimator_", None) or getattr(estimator, "model", None)
    return usual(estimator if inner is None else inner)


@SIZES.register("catboost")
def _catboost(estimator: Any) -> Sizes:
    """Return the sizes of trees with one split per level: a split counts once, a leaf has a number for each class."""
    leaves = [int(count) for count in estimator.get_tree_leaf_counts()]
    depths = [count.bit_length() - 1 for count in leaves]
    terms = len(estimator.get_leaf_values()) + sum(depths)
    return Sizes(sum(leaves), sum(2 * count - 1 for count in leaves), max(depths, default=0), terms)


@SIZES.register("pycontree")
def _pycontree(estimator: Any) -> Sizes:
    def children(node: Any) -> list[Any]:
        return [] if node.is_leaf_node() else [node.get_left(), node.get_right()]

    return nested(estimator.tree_, children)
