"""Growth of regression trees by the split heuristics of classification.

A heuristic needs classes. At a node these are the signs of the residuals of the node's model: rows above it, and rows
on or below it. If the model is a constant, these are the rows above and below the mean; if it is linear, a bend of the
target appears as signs that change along some direction (Chaudhuri, Huang, Loh & Yao 1994; Loh 2002). The heuristic
proposes directions; the cut along them with the least error of both children's models is taken.

With several outputs, each row's residuals are projected on the first principal component of the node's residuals, the
direction of most error. The error of a cut is the sum over the outputs in their given units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.ground.arrays import Array, Rows
from oblique_cli.tree.growing import Division, best_first, grow_by, tree_of
from oblique_cli.tree.least_squares import EQUAL, Linear
from oblique_cli.tree.monotone import Signs
from oblique_cli.tree.monotone_models import Cut, Held, best_in_order, best_of_models, fit_in_order, planes_in_order
from oblique_cli.tree.payloads import Equations
from oblique_cli.tree.splitting import Node, Proposer
from oblique_cli.tree.structure import Tree, TreeBuilder

PERFECT = 1e-24  # a node below this share of the root's sum of squares is fitted exactly
MOST_NATIVE_ROWS = 2**24  # of native growth
AT_ONCE = 256  # number of directions searched in one call, to avoid p x p arrays
ZERO_COMPONENT = 1e-9  # a smaller component of a unit vector is zero: its sign may be rounding


@dataclass(frozen=True)
class Settings:
    """Stopping rules, and the models of leaves.
    min_leaf : least rows of a child; max_depth : None for no limit; linear : linear models in the leaves, else
    constants; max_leaf_nodes : as in `growing.grow_by`; signs : (p,) monotonic constraints of features
    (monotone_models.py), None without"""

    min_leaf: int = 5
    max_depth: int | None = None
    linear: bool = False
    max_leaf_nodes: int | None = None
    signs: Signs | None = None


def model_of(X: Array, y: Array, settings: Settings) -> Linear:
    """Return the model of a node's rows X (n, p), y (n,) or (n, k)."""
    if settings.linear:
        return fit_in_order(X, y, settings.signs)
    mean = y.mean(axis=0)
    return Linear(np.zeros((*y.shape[1:], X.shape[1])), mean, float(((y - mean) ** 2).sum()), 1)


def above(residuals: Array) -> NDArray[np.int32]:
    """Return the classes of a node's rows, (n,): 1 above its model.
    residuals : (n,) or, of k outputs, (n, k), which are projected on their first principal component: the eigenvector
    of the largest eigenvalue of the sum of r r', with its first non-zero component positive"""
    if residuals.ndim > 1:
        axis = np.linalg.eigh(residuals.T @ residuals)[1][:, -1]
        axis = axis * np.sign(axis[np.abs(axis) > ZERO_COMPONENT][0])
        # A row's sum does not depend on the other rows, unlike that of a matrix product.
        residuals = np.einsum("nk,k->n", residuals, axis)
    return (residuals > 0.0).astype(np.int32)


def grow(X: Array, y: Array, proposer: Proposer, settings: Settings, seed: int = 0) -> Tree:
    """Return the tree grown on rows X (n, p), y (n,) or (n, k), n >= 1, in an order that depends on their content only.
    The core grows trees of constant leaves for one output without constraints, if it has the heuristic.
    seed : of the random numbers of nodes"""
    family = proposer.native_family()
    constant = y.ndim == 1 and not settings.linear and settings.signs is None
    if family is not None and constant and len(y) < MOST_NATIVE_ROWS:
        return _grown_natively(X, y, proposer, family, settings, seed)
    noise, fit = PERFECT * float(((y - y.mean(axis=0)) ** 2).sum()), partial(model_of, settings=settings)

    def divide(rows: Rows, depth: int, path: int, state: Held) -> Division | None:
        model = state.model
        if len(rows) < 2 * settings.min_leaf or model.rss <= noise or depth == settings.max_depth:
            return None
        A, b = np.ascontiguousarray(X[rows]), y[rows]
        signs = above(b - model.predict(A))
        if signs.min() == signs.max():
            return None
        node = Node(A, signs, None, 2, depth, "gini", seed=seed, path=path)
        in_order = settings.signs is not None
        cut = cut_in_order(node, b, state, proposer, settings) if in_order else best_cut(node, b, proposer, settings)
        if cut is None or cut.error >= model.rss:
            return None
        goes_left = np.asarray(_core.project(A, cut.coef)) <= cut.threshold
        below = state.divided(fit, A, b, cut.coef, goes_left, settings.signs)
        if below is None:
            return None
        gain = model.rss - cut.error
        return Division(cut.coef, cut.threshold, gain, goes_left, child_states=below, worth=gain)

    builder = TreeBuilder(X.shape[1], 1)
    root = Held(fit(X, y), shares_slope=settings.signs is not None and not settings.linear)
    held = grow_by(builder, len(y), divide, root_state=root, most_leaves=settings.max_leaf_nodes, slack=EQUAL)
    return builder.finish(payload=Equations.of([state.model for state in held]))


def _grown_natively(X: Array, y: Array, proposer: Proposer, family: str, settings: Settings, seed: int) -> Tree:
    options = Node(X[:0], np.empty(0, np.int32), None, 2, 0, "gini").search_options(seed) | proposer.native_options()
    depth = -1 if settings.max_depth is None else settings.max_depth
    arrays = _core.number_tree(X, y, family, options, settings.min_leaf, depth, PERFECT)
    payload = Equations(np.zeros_like(arrays["weights"]), arrays["means"], arrays["squares"])
    tree = tree_of(arrays, payload=payload)
    most = settings.max_leaf_nodes
    return tree if most is None else best_first(tree, tree.gains, most, EQUAL)


def best_cut(node: Node, y: Array, proposer: Proposer, settings: Settings) -> Cut | None:
    """Return the cut of least error, the first of equals in the order of the proposals, or None.
    node : rows with the signs of their residuals as classes; y : (n,) or (n, k) their targets"""
    # The residual sum of a linear model is the same in every rotated space.
    margin = EQUAL * float(((y - y.mean(axis=0)) ** 2).sum())
    directions = _directions(node, proposer)
    return best_of_models(node.X, y, directions, settings.min_leaf, margin, constant=not settings.linear)


def cut_in_order(node: Node, y: Array, held: Held, proposer: Proposer, settings: Settings) -> Cut | None:
    """Return the cut of least error with both sides in order, as `best_cut` does; along the axes if no cut along a
    proposal is allowed; or None.
    held : state of the node"""
    signs = settings.signs
    assert signs is not None
    margin = EQUAL * float(((y - y.mean()) ** 2).sum())
    for groups in (_directions(node, proposer), [(np.eye(node.X.shape[1]), None)]):
        planes = [plane for group in groups for plane in planes_in_order(node.X, *group, signs)]
        shared = planes if held.shares_slope else [plane for plane in planes if plane[2] != 0]
        separate = [
            (np.ascontiguousarray(normal[None]), None if threshold is None else np.array([threshold]))
            for normal, threshold, way in planes
            if way == 0 and not held.shares_slope
        ]
        rest = held.rest(node.X, y)
        candidates = [
            best_in_order(node.X, rest, shared, held.bounds, settings.min_leaf, margin),
            best_of_models(node.X, y, separate, settings.min_leaf, margin) if separate else None,
        ]
        if cuts := [cut for cut in candidates if cut is not None]:
            return min(cuts, key=lambda cut: cut.error)
    return None


def _directions(node: Node, proposer: Proposer) -> Iterator[tuple[Array, Array | None]]:
    """Yield the directions of a heuristic in groups: unit normals (k, p), and thresholds (k,) if it gives any."""
    p = node.X.shape[1]
    for group in proposer.propose(node):
        kind, *rest = group.spec
        if kind == "directions":
            directions, thresholds = rest
            yield np.ascontiguousarray(directions), None if thresholds is None else np.ascontiguousarray(thresholds)
            continue
        for first in range(0, p, AT_ONCE):
            axes = np.eye(min(AT_ONCE, p - first), p, first)
            if kind == "axes":
                yield axes, None
            else:
                (u,) = rest
                yield (-2.0 * u[first : first + AT_ONCE])[:, None] * u + axes, None
