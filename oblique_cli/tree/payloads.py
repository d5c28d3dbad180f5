"""Payload of a tree: what its nodes predict (class shares or linear models of classes, numbers or linear models).

A tree is hyperplanes and one payload. Growth, pruning, refinement, descriptions, files and drawings use the payload for
the parts that differ: its predictions, the cost of its nodes as leaves, and its part for the nodes of a smaller tree.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array, Ints
from oblique_cli.ground.geometry import level_codes

if TYPE_CHECKING:
    from oblique_cli.tree.least_squares import Linear
    from oblique_cli.tree.structure import Tree


# Kinds of terms in a leaf's model.
VALUE, SQUARE, PRODUCT, HINGE, LEVEL = "value", "square", "product", "hinge", "level"
ABOVE, BELOW = -1, -2  # sides of a hinge: max(0, x - knot) and max(0, knot - x)
FARTHEST = 1e100  # cap of a feature in standard deviations, so that a score stays finite
FARTHEST_SQUARED = 3.0  # cap of factors, in standard deviations: the square of an outlier would dominate the score


class Frozen:
    """Read-only arrays: all fields other than None, tuples and single numbers."""

    def __post_init__(self) -> None:
        for name, values in vars(self).items():
            if values is not None and not isinstance(values, Frozen | tuple | float):
                array = np.array(values, dtype=np.float64)
                array.flags.writeable = False
                object.__setattr__(self, name, array)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Copies of arrays are writable.
        vars(self).update(state)
        self.__post_init__()

    def plain(self) -> dict[str, Any]:
        """Return the arrays and numbers that are not None as plain data for JSON."""
        parts = {name: v for name, v in vars(self).items() if v is not None and not isinstance(v, tuple)}
        return {
            name: v.plain() if isinstance(v, Frozen) else v if isinstance(v, float) else v.tolist()
            for name, v in parts.items()
        }


class Payload(Frozen, ABC):
    """Predictions of all nodes of one tree."""

    @abstractmethod
    def answers(self, tree: Tree, X: NDArray[Any], leaves: NDArray[Any]) -> NDArray[Any]:
        """Return predictions for rows X (n, p) at nodes (n,): class codes or numbers, (n,), for k outputs (n, k)."""

    @abstractmethod
    def losses(self, answers: NDArray[Any], targets: NDArray[Any]) -> NDArray[Any]:
        """Return the loss of each prediction, (n,): whether it is wrong, or its squared error over all outputs."""

    @abstractmethod
    def costs(self, tree: Tree) -> Array:
        """Return R(t), the cost of every node as a leaf, (n_nodes,), for the weakest-link sequence."""

    @abstractmethod
    def at(self, nodes: Sequence[int]) -> Payload:
        """Return the payload of some nodes, in this order."""

    @abstractmethod
    def n_terms(self, nodes: NDArray[Any]) -> int:
        """Return how many coefficients a description shows for the models of some nodes, intercepts not counted."""


class Term(NamedTuple):
    """Term of a coefficient of a leaf's model.
    kind : VALUE, a feature in standard deviations; SQUARE, its square (`squares`); PRODUCT, that of two features, or of
    a feature with itself, each limited by `near`; HINGE, its excess over a knot (`paired`); LEVEL, 1 in rows of a
    level; feature : its position; level : its code, -1 for the other kinds; other : position of the second factor of a
    PRODUCT, side of a HINGE, else -1; knot : of a HINGE, in the feature's units"""

    kind: str
    feature: int
    level: int = -1
    other: int = -1
    knot: float = 0.0


@dataclass(frozen=True, eq=False)
class LeafModels(Frozen):
    """Scores of classes as linear functions of features, squares, products, hinges and levels, one set for each leaf.

    center, scale : (p,)             of each feature; a missing value counts as its center
    coef          : (n_nodes, C, p)  of the standardized features, 0 at inner nodes and for qualitative features
    intercept     : (n_nodes, C)     logarithms of the leaf's probabilities included
    curve         : (n_nodes, C, p)  of the squares (`squares`), or None where there are none
    level_coef    : (n_nodes, C, S)  of the levels of qualitative features, in the columns that `Tree.level_columns`
                                     has; a level never seen adds nothing. None where there are none
    levels        : p counts         those of the tree, 0 for a quantitative feature; with level_coef only
    pairs         : (P, 2)           positions of the two features of each product, the smaller first, or of the feature
                                     of a hinge and its side, ABOVE or BELOW; None without
    pair_coef     : (n_nodes, C, P)  of these products of `near` values and hinges, or None where there are none
    knots         : (P,)             of the hinges, in the features' units, 0 for products; None without hinges"""

    center: Array
    scale: Array
    coef: Array
    intercept: Array
    curve: Array | None = None
    level_coef: Array | None = None
    levels: tuple[int, ...] | None = None
    pairs: NDArray[np.int64] | None = None
    pair_coef: Array | None = None
    knots: Array | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pairs is not None:
            pairs = self.pairs.astype(np.int64)
            pairs.flags.writeable = False
            object.__setattr__(self, "pairs", pairs)

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """Terms with a coefficient in some leaf: values, squares, products and hinges, then levels, each by feature."""
        terms = [Term(VALUE, int(j)) for j in np.flatnonzero(self.coef.any(axis=(0, 1)))]
        if self.curve is not None:
            terms += [Term(SQUARE, int(j)) for j in np.flatnonzero(self.curve.any(axis=(0, 1)))]
        if self.pair_coef is not None:
            used = np.asarray(self.pair_coef.any(axis=(0, 1)))
            terms += [each for each, there in zip(self._pair_terms, used, strict=True) if there]
        if self.level_coef is not None:
            used = np.asarray(self.level_coef.any(axis=(0, 1)))
            terms += [each for each, there in zip(self._level_terms, used, strict=True) if there]
        return tuple(terms)

    def weights(self, leaf: int) -> Array:
        """Return the coefficients of a leaf in the order of `terms`, (C, len(terms))."""
        at = {each: place for of_kind in (self._level_terms, self._pair_terms) for place, each in enumerate(of_kind)}
        sources = {VALUE: self.coef, SQUARE: self.curve, LEVEL: self.level_coef}
        weights = np.zeros((self.intercept.shape[1], len(self.terms)))
        for i, term in enumerate(self.terms):
            source = sources.get(term.kind, self.pair_coef)
            assert source is not None
            weights[:, i] = source[leaf, :, at.get(term, term.feature)]
        return weights

    @property
    def _pair_terms(self) -> list[Term]:
        pairs = [] if self.pairs is None else self.pairs.tolist()
        knots = [0.0] * len(pairs) if self.knots is None else self.knots.tolist()
        return [Term(PRODUCT if j >= 0 else HINGE, i, other=j, knot=k) for (i, j), k in zip(pairs, knots, strict=True)]

    @property
    def _level_terms(self) -> list[Term]:
        counts = self.levels or ()
        return [Term(LEVEL, j, level) for j, count in enumerate(counts) for level in range(count)]

    def scores(self, X: Array, leaves: NDArray[Any]) -> Array:
        """Return f_k for rows (n, p) in leaves (n,), as (n, C)."""
        z = standardized(X, self.center, self.scale)
        scores: Array = self.intercept[leaves]
        for leaf in np.unique(leaves):
            rows = leaves == leaf
            # A row's sum does not depend on the other rows of the call, unlike that of a matrix product.
            scores[rows] += np.einsum("np,cp->nc", z[rows], self.coef[leaf])
            if self.curve is not None:
                scores[rows] += np.einsum("np,cp->nc", squares(z[rows]), self.curve[leaf])
            if self.pairs is not None and self.pair_coef is not None:
                columns = paired(X[rows], self.center, self.scale, self.pairs, self.knots)
                scores[rows] += np.einsum("np,cp->nc", columns, self.pair_coef[leaf])
        if self.level_coef is not None:
            begin = 0
            for j, count in enumerate(self.levels or ()):
                codes = level_codes(X[:, j], count)
                seen = codes >= 0
                scores[seen] += self.level_coef[leaves[seen], :, begin + codes[seen]]
                begin += count
        return scores

    def only_score(self, X: Array, leaves: NDArray[Any]) -> Array:
        """Return the scores (n,) of models of values, products and hinges with one score; arguments as in `scores`."""
        assert self.pairs is not None and self.pair_coef is not None
        values = np.einsum("np,np->n", standardized(X, self.center, self.scale), self.coef[leaves, 0])
        columns = paired(X, self.center, self.scale, self.pairs, self.knots)
        values += np.einsum("np,np->n", columns, self.pair_coef[leaves, 0])
        return np.asarray(values + self.intercept[leaves, 0])

    def shares(self, X: Array, leaves: NDArray[Any]) -> Array:
        """Return probabilities of the classes, (n, C); arguments as in `scores`."""
        return softmax(self.scores(X, leaves))

    def at(self, nodes: Sequence[int] | NDArray[np.intp]) -> LeafModels:
        """Return the models of some nodes, in this order."""
        arrays = {name: getattr(self, name) for name in ("coef", "intercept", "curve", "level_coef", "pair_coef")}
        parts: dict[str, Any] = {name: None if of is None else of[nodes] for name, of in arrays.items()}
        return replace(self, **parts)

    @property
    def n_coefficients(self) -> int:
        """Number of coefficients other than 0, intercepts not counted."""
        arrays = (self.coef, self.curve, self.pair_coef, self.level_coef)
        return sum(int(np.count_nonzero(array)) for array in arrays if array is not None)

    def n_terms(self, leaf: int) -> int:
        """Return how many coefficients a description shows for a leaf; for two classes those of the difference."""
        weights = self.weights(leaf)
        return int(np.count_nonzero(weights[1] - weights[0] if len(weights) == 2 else weights))

    def check(self, sizes: tuple[int, ...]) -> None:
        """Raise ValueError unless these are models for a tree with these numbers of nodes, classes and features."""
        n_nodes, n_classes, n_features = sizes
        shapes = {
            "center": (n_features,),
            "scale": (n_features,),
            "coef": (n_nodes, n_classes, n_features),
            "intercept": (n_nodes, n_classes),
            "curve": (n_nodes, n_classes, n_features),
            "level_coef": (n_nodes, n_classes, sum(self.levels or ())),
            "pairs": (len(self._pair_terms), 2),
            "pair_coef": (n_nodes, n_classes, len(self._pair_terms)),
            "knots": (len(self._pair_terms),),
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array is not None and (array.shape != shape or not np.isfinite(array).all()):
                raise ValueError(f"{name} of leaf_models must hold finite numbers of shape {shape}. Got {array.shape}")
        named = self.pairs is None or (self.pairs[:, 0] >= 0).all()
        if not named or (self.knots is None and any(term.kind == HINGE for term in self._pair_terms)):
            raise ValueError("pairs of leaf_models must name a feature first, and hinges among them need knots")
        if not (self.scale > 0.0).all():
            raise ValueError("scale of leaf_models must be positive")


@dataclass(frozen=True, eq=False)
class Classes(Payload):
    """Class shares of every node, or linear models of the classes in the leaves.
    probabilities : (n_nodes, C) if they are not the shares of the counts (tree/probabilities.py), else None;
    leaf_models : as of tree/leaf_models.py, None without; prior : weight of equal shares that is added to the counts of
    each node for the shares, None without"""

    probabilities: Array | None = None
    leaf_models: LeafModels | None = None
    prior: float | None = None

    def answers(self, tree: Tree, X: NDArray[Any], leaves: NDArray[Any]) -> NDArray[Any]:
        """Return class codes: the labels of the nodes, or the classes of highest score by their models."""
        if self.leaf_models is None:
            return np.asarray(tree.labels[leaves])
        scores = self.leaf_models.scores(X.astype(np.float64, copy=False), leaves)
        return np.asarray(scores.argmax(axis=1).astype(np.int32))

    def losses(self, answers: NDArray[Any], targets: NDArray[Any]) -> NDArray[Any]:
        """Return whether predictions are wrong."""
        return np.asarray(answers != targets)

    def costs(self, tree: Tree) -> Array:
        """Return the misclassified share of the training weight."""
        return np.asarray(tree.errors / tree.counts[0].sum())

    def at(self, nodes: Sequence[int]) -> Classes:
        """Return the shares of some nodes; models are of leaves, so further leaves have none."""
        return Classes(None if self.probabilities is None else self.probabilities[nodes], prior=self.prior)

    def n_terms(self, nodes: NDArray[Any]) -> int:
        """Return the number of coefficients of the scores; two classes have one score, their difference."""
        return 0 if self.leaf_models is None else sum(self.leaf_models.n_terms(int(node)) for node in nodes)


@dataclass(frozen=True, eq=False)
class Equations(Payload):
    """Equations y = coef @ x + intercept of all nodes: a linear model of the training rows, or a number.

    coef : (n_nodes, p), zeros for a number; intercept : (n_nodes,); rss : (n_nodes,) residual sum of squares of the
    equations without bounds; bounds : (n_nodes, 2) least and largest prediction (truncation.py), None without;
    leaf_models : the models of all nodes with products and hinges, whose only score is y, in place of coef and
    intercept, which are 0; None without. With k outputs coef is (n_nodes, k, p), intercept (n_nodes, k), bounds
    (n_nodes, k, 2), and rss the sum over outputs"""

    coef: Array
    intercept: Array
    rss: Array
    bounds: Array | None = None
    leaf_models: LeafModels | None = None

    @property
    def linear(self) -> NDArray[np.bool_]:
        """Whether each node, and output, has a model with a coefficient, (n_nodes,) or (n_nodes, k)."""
        models = self.leaf_models
        if models is None or models.pair_coef is None:
            return np.asarray(self.coef.any(axis=-1))
        return np.asarray(np.concatenate([models.coef, models.pair_coef], axis=2)[:, 0].any(axis=1))

    @classmethod
    def of(cls, models: Sequence[Linear]) -> Equations:
        """Return the equations of all nodes from their models."""
        names = ("coef", "intercept", "rss")
        coef, intercept, rss = (np.array([getattr(model, name) for model in models]) for name in names)
        return cls(coef, intercept, rss)

    @property
    def n_outputs(self) -> int:
        """Number of outputs k."""
        return 1 if self.intercept.ndim == 1 else int(self.intercept.shape[1])

    def of_output(self, k: int) -> Equations:
        """Return the equations of one of several outputs; their residual sums remain those of all outputs."""
        bounds = None if self.bounds is None else self.bounds[:, k]
        return Equations(self.coef[:, k], self.intercept[:, k], self.rss, bounds)

    def answers(self, tree: Tree, X: NDArray[Any], leaves: NDArray[Any]) -> NDArray[Any]:
        """Return the predicted numbers."""
        values: Array = self.intercept[leaves]
        if self.leaf_models is not None:
            values = self.leaf_models.only_score(X.astype(np.float64, copy=False), leaves)
        elif values.ndim == 1 or self.coef.any():  # avoid an array of n k p zeros
            values = np.einsum("ij,i...j->i...", X, self.coef[leaves]) + values
        return values if self.bounds is None else np.clip(values, *np.moveaxis(self.bounds[leaves], -1, 0))

    def losses(self, answers: NDArray[Any], targets: NDArray[Any]) -> NDArray[Any]:
        """Return squared errors."""
        squared = np.asarray((answers - targets) ** 2)
        return squared if squared.ndim == 1 else np.asarray(squared.sum(axis=1))

    def costs(self, tree: Tree) -> Array:
        """Return the residual sums as shares of the root's."""
        total = float(self.rss[0])
        # Up to rounding, a model of more parameters never has more error.
        return np.asarray(np.maximum(self.rss, 0.0) / (total if total > 0.0 else np.inf))

    def decreases(self, left: Ints, right: Ints) -> Array:
        """Return by how much the split of each node lowers the residual sum, 0 at leaves. left, right : (n_nodes,)"""
        falls = self.rss - self.rss[left] - self.rss[right]
        return np.asarray(np.where(left < 0, 0.0, np.maximum(falls, 0.0)))

    def at(self, nodes: Sequence[int]) -> Equations:
        """Return the equations of some nodes."""
        bounds = None if self.bounds is None else self.bounds[nodes]
        models = None if self.leaf_models is None else self.leaf_models.at(nodes)
        return Equations(self.coef[nodes], self.intercept[nodes], self.rss[nodes], bounds, models)

    def bounds_of(self, node: int) -> tuple[float, float] | None:
        """Return least and largest prediction of a node's equation of one output (`of_output`), None without bounds."""
        if self.bounds is None or not self.linear[node].any():
            return None
        low, high = self.bounds[node].tolist()
        return low, high

    def n_terms(self, nodes: NDArray[Any]) -> int:
        """Return the number of coefficients of the equations."""
        if self.leaf_models is not None:
            return self.leaf_models.at(nodes).n_coefficients
        return int(np.count_nonzero(self.coef[nodes]))


SHARES = Classes()  # shares of the counts


def softmax(scores: Array) -> Array:
    """Return exp(scores) divided by their sum over the last axis."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def standardized(X: Array, center: Array, scale: Array) -> Array:
    """Return rows (n, p) in standard deviations from the center, 0 for missing values."""
    with np.errstate(over="ignore"):
        z: Array = np.clip(np.nan_to_num((X - center) / scale, nan=0.0), -FARTHEST, FARTHEST)
    return z


def near(z: Array) -> Array:
    """Return standardized features, limited to FARTHEST_SQUARED."""
    return np.asarray(np.clip(z, -FARTHEST_SQUARED, FARTHEST_SQUARED))


def squares(z: Array) -> Array:
    """Return (z^2 - 1) / sqrt(2) of standardized features, with z limited by `near`: for a normal feature it has mean 0
    and standard deviation 1."""
    bounded = near(z)
    return np.asarray((bounded * bounded - 1.0) * np.sqrt(0.5))


def paired(X: Array, center: Array, scale: Array, pairs: NDArray[np.int64], knots: Array | None) -> Array:
    """Return the products and hinges of features (n, p), (n, P). pairs, knots : as of `LeafModels`

    A product is that of two standardized features, each limited by `near`. A hinge is max(0, (x - knot) / scale), or
    max(0, (knot - x) / scale) for the side BELOW, 0 for a missing value."""
    first, second = pairs[:, 0], pairs[:, 1]
    z = near(standardized(X[:, first], center[first], scale[first]))
    if (bent := second < 0).any() and knots is not None:
        j = first[bent]
        signs = np.where(second[bent] == BELOW, -1.0, 1.0)
        z[:, bent] = np.maximum(standardized(X[:, j], knots[bent], signs * scale[j]), 0.0)
    z[:, ~bent] *= near(standardized(X[:, second[~bent]], center[second[~bent]], scale[second[~bent]]))
    return z
