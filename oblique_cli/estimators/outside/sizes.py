"""How large a fitted model of another library is, one reader a library."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from oblique_cli.ground.registry import Registry, fault_of_function


class Sizes(NamedTuple):
    """Leaves and nodes of all trees of a model, and the longest path; zeros for a model that is no tree."""

    leaves: int
    nodes: int
    depth: int


NONE = Sizes(0, 0, 0)

# First name of the module of a class -> reader of its fitted estimators.
SIZES: Registry[Callable[[Any], Sizes]] = Registry(
    "reader of sizes", fault=lambda function: fault_of_function(function, "estimator")
)


def reader_of_sizes(library: str) -> Callable[[Callable[[Any], Sizes]], Callable[[Any], Sizes]]:
    """Decorator that registers a function of a fitted estimator. library : first name of the module of its class"""
    return SIZES.register(library)


def sizes_of(estimator: Any) -> Sizes:
    """Return the sizes of a fitted estimator, by the reader of its library, or else by what trees usually say."""
    for base in type(estimator).__mro__:
        library = base.__module__.partition(".")[0]
        if library in SIZES:
            return SIZES[library](estimator)
    return usual(estimator)


def usual(estimator: Any) -> Sizes:
    """What a tree says of itself in the attributes of ours, or by the methods of scikit-learn's."""
    if hasattr(estimator, "n_leaves_"):
        leaves = int(estimator.n_leaves_)
        return Sizes(leaves, int(getattr(estimator, "n_nodes_", 0)), int(getattr(estimator, "depth_", 0)))
    if hasattr(estimator, "get_n_leaves") and hasattr(estimator, "get_depth"):
        tree = getattr(estimator, "tree_", None)
        return Sizes(
            int(estimator.get_n_leaves()), int(getattr(tree, "node_count", 0) or 0), int(estimator.get_depth())
        )
    return NONE


def together(sizes: Iterable[Sizes]) -> Sizes:
    """Return the sizes of an ensemble: sums of leaves and nodes, and the deepest."""
    found = list(sizes)
    return Sizes(sum(s.leaves for s in found), sum(s.nodes for s in found), max((s.depth for s in found), default=0))


def nested(root: Any, children: Callable[[Any], Iterable[Any]]) -> Sizes:
    """Return the sizes of a tree of nodes. children : node -> those below it, none for a leaf"""
    leaves = nodes = deepest = 0
    left = [(root, 0)]
    while left:
        node, depth = left.pop()
        below = list(children(node))
        nodes += 1
        leaves += not below
        deepest = max(deepest, depth)
        left += [(child, depth + 1) for child in below]
    return Sizes(leaves, nodes, deepest)


@SIZES.register("sklearn")
@SIZES.register("treeple")
@SIZES.register("aeon")
def _sklearn(estimator: Any) -> Sizes:
    """A tree, the trees of an ensemble, or those inside another estimator (bagging, boosting, calibration)."""
    predictors = getattr(estimator, "_predictors", None)
    if predictors is not None:  # boosting by histograms: a list of trees, one a class, for every iteration
        trees = [tree for step in predictors for tree in step]
        return together(Sizes(t.get_n_leaf_nodes(), len(t.nodes), t.get_max_depth()) for t in trees)
    if hasattr(estimator, "get_n_leaves"):
        return usual(estimator)
    parts = getattr(estimator, "estimators_", None)
    if parts is None:
        inner = getattr(estimator, "estimator_", None)
        return NONE if inner is None else sizes_of(inner)
    return together(map(sizes_of, np.asarray(parts, dtype=object).ravel()))


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
    return Sizes(int(leaves), int(nodes), int(estimator.depth_) - 1)  # its root has depth 1


@SIZES.register("obliquetree")
def _obliquetree(estimator: Any) -> Sizes:
    from obliquetree.utils import export_tree

    def children(node: Mapping[str, Any]) -> list[Any]:
        return [node[side] for side in ("left", "right") if isinstance(node.get(side), Mapping)]

    return nested(export_tree(estimator)["tree"], children)


@SIZES.register("interpret")
def _interpret(estimator: Any) -> Sizes:
    """Its trees are scikit-learn's inside; the additive models are none."""
    found = vars(estimator).values()
    return together(sizes_of(part) for part in found if type(part).__module__.startswith("sklearn.tree"))


@SIZES.register("imodels")
def _imodels(estimator: Any) -> Sizes:
    """The trees that it adds up, one of scikit-learn's inside, or itself."""
    sums = getattr(estimator, "trees_", None)
    if sums is not None:
        return together(
            nested(root, lambda node: [side for side in (node.left, node.right) if side is not None]) for root in sums
        )
    inner = getattr(estimator, "estimator_", None) or getattr(estimator, "model", None)
    return usual(estimator if inner is None else inner)
