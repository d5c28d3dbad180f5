"""Fitted tree as frozen arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core
from oblique_cli.ground.arrays import Array, Ints
from oblique_cli.ground.nodes import depths_of, parents_of, paths, spread_decreases
from oblique_cli.tree.payloads import SHARES, Classes, Equations, LeafModels, Payload

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SCHEMA = "oblique-tree/1"

EVERYTHING = float(np.finfo(np.float64).max)  # threshold of a cut with every value on its left
UNDEFINED = -2  # scikit-learn's feature and threshold of a leaf
DTYPES = {
    **dict.fromkeys(("coef_", "thresholds", "counts", "gains", "level_scores"), np.float64),
    **{"left": np.int32, "right": np.int32, "n_rows": np.int64},
}


@dataclass(eq=False, repr=False)
class Tree:
    """A binary tree of hyperplanes, over features and scores of levels. All arrays are read-only.

    left, right : (n_nodes,) int32    children, -1 at leaves; the root is 0 and a child is larger than its parent
    coef_       : (n_nodes, p)        normal of each split, unit length; zeros at leaves
    intercept_  : (n_nodes,)          a row goes left iff coef_ @ x + intercept_ <= 0, decided as coef_ @ x <= threshold
    thresholds  : (n_nodes,)          -intercept_
    counts      : (n_nodes, C)        weight of each class among the training rows of the node; one class in regression
    gains       : (n_nodes,)          score of the split by the criterion, 0 at leaves
    n_rows      : (n_nodes,) int64    training rows at the node
    levels      : p counts            levels of each feature; 0 for a quantitative one
    level_scores: (n_nodes, S)        number that stands for a level in coef_ @ x at that node (CRIMCOORD, thesis 3.7),
                                      0 for levels its training rows did not show; S levels, see `level_columns`
    missing_left: (n_nodes,) bool     whether a row that is NaN in a feature of non-zero coefficient goes left, False at
                                      leaves; None in a tree that takes no missing values
    payload     : Payload             what a leaf answers: class shares, a number, or a linear model of either
    criterion   : str                 what `impurity` measures in classification, "gini" or "entropy"; not in files

    `children_left`, `feature`, `threshold`, `value` and the other names of scikit-learn's trees are here as well.

    A qualitative feature j of x holds codes 0 to levels[j] - 1. Any other value, including NaN, is an unseen level with
    score 0. NaN in a feature that a hyperplane does not use changes nothing there."""

    left: Ints
    right: Ints
    coef: InitVar[Array]
    thresholds: Array
    counts: Array
    gains: Array
    n_rows: NDArray[Any]
    levels: Sequence[int] = ()
    level_scores: Array = field(default_factory=lambda: np.empty((0, 0)))
    missing_left: NDArray[np.bool_] | None = None
    payload: Payload = SHARES
    criterion: str = "gini"

    def __post_init__(self, coef: Array) -> None:
        self.coef_ = coef
        if not np.size(self.level_scores):
            self.level_scores = np.zeros((len(coef), 0))
        for name, dtype in DTYPES.items():
            array = np.ascontiguousarray(getattr(self, name), dtype=dtype)
            array.flags.writeable = False
            setattr(self, name, array)
        self.levels = tuple(map(int, self.levels)) or (0,) * self.coef_.shape[1]
        if self.missing_left is not None:
            self.missing_left = np.array(self.missing_left, dtype=np.bool_)
            self.missing_left.flags.writeable = False

    def changed(self, **parts: Any) -> Tree:
        """Return the tree with some parts replaced, by the names of the constructor."""
        return replace(self, **({"coef": self.coef_} | parts))

    @property
    def is_regression(self) -> bool:
        """Whether leaves predict numbers."""
        return isinstance(self.payload, Equations)

    @property
    def equations(self) -> Equations:
        """Models of the nodes of a regression tree."""
        assert isinstance(self.payload, Equations)
        return self.payload

    @property
    def probabilities(self) -> Array | None:
        """Probabilities of the classes, (n_nodes, C), if they are not the shares of the counts, else None."""
        return self.payload.probabilities if isinstance(self.payload, Classes) else None

    @property
    def prior(self) -> float | None:
        """Weight of equal shares in the shares of a node, None without."""
        return self.payload.prior if isinstance(self.payload, Classes) else None

    @property
    def leaf_models(self) -> LeafModels | None:
        """Linear models of the classes in the leaves, None without."""
        return self.payload.leaf_models if isinstance(self.payload, Classes) else None

    @property
    def intercept_(self) -> Array:
        """Offsets b of the hyperplanes coef_ @ x + b = 0, (n_nodes,)."""
        return -self.thresholds

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.left)

    @property
    def n_features(self) -> int:
        """Number of features p."""
        return int(self.coef_.shape[1])

    @property
    def n_leaves(self) -> int:
        """Number of leaves: the tree size of the papers."""
        return (self.n_nodes + 1) // 2

    @property
    def used_features(self) -> NDArray[np.bool_]:
        """Features that can change a prediction, (p,), by a hyperplane or by an equation of a leaf."""
        used = (self.coef_ != 0.0).any(axis=0)
        if self.is_regression:
            used |= (self.equations.coef[self.is_leaf].reshape(-1, self.n_features) != 0.0).any(axis=0)
            if (models := self.equations.leaf_models) is not None:
                terms = models.at(np.flatnonzero(self.is_leaf)).terms
                used[[j for term in terms for j in (term.feature, term.other) if j >= 0]] = True
        return np.asarray(used)

    @property
    def n_terms(self) -> int:
        """Size for a reader: sum of leaves, coefficients of hyperplanes and coefficients of models in leaves."""
        in_leaves = self.payload.n_terms(np.flatnonzero(self.is_leaf))
        return self.n_leaves + int(np.count_nonzero(self.coef_)) + in_leaves

    @cached_property
    def level_columns(self) -> dict[int, slice]:
        """Qualitative feature -> columns of level_scores that hold its levels, in the order of their codes."""
        ends = np.cumsum(self.levels)
        return {j: slice(int(ends[j]) - count, int(ends[j])) for j, count in enumerate(self.levels) if count}

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """(n_nodes,) whether a node is a leaf."""
        return self.left < 0

    @cached_property
    def depths(self) -> NDArray[np.int64]:
        """(n_nodes,) distance from the root."""
        return depths_of(self.left, self.right)

    @cached_property
    def parents(self) -> NDArray[np.int64]:
        """(n_nodes,) parent of every node, -1 for the root."""
        return parents_of(self.left, self.right)

    @property
    def depth(self) -> int:
        """Longest path from the root, 0 for a single leaf."""
        return int(self.depths.max())

    @cached_property
    def labels(self) -> Ints:
        """Class code of each node as a leaf, (n_nodes,): the most frequent, the lowest code on a tie (thesis 1.5)."""
        return np.asarray(np.argmax(self.counts, axis=1).astype(np.int32))

    @property
    def shares(self) -> Array:
        """Probability of each class at every node, (n_nodes, C): `probabilities`, or shares of its counts and `prior`.

        NaN at a leaf of a merged tree that no training row reaches, unless there are `probabilities` or a `prior`."""
        return self.shares_at(np.arange(self.n_nodes))

    def shares_at(self, nodes: NDArray[Any]) -> Array:
        """Return the probabilities of the classes at some nodes. nodes : (m,); returns (m, C)"""
        if self.probabilities is not None:
            return self.probabilities.take(nodes, axis=0)
        counts = self.counts[nodes]
        if self.prior:
            counts += self.prior / counts.shape[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            shares: Array = counts / counts.sum(axis=1, keepdims=True)
        return shares

    def predicted(self, X: NDArray[Any], n_threads: int = 1, leaves: Ints | None = None) -> NDArray[Any]:
        """Return the prediction for each row, (n,): class codes, or numbers; for k outputs (n, k).

        X : (n, p), float32 or float64 without conversion
        leaves : (n,) of the rows, if known"""
        return self.payload.answers(self, X, self.apply(X, n_threads) if leaves is None else leaves)

    def predicted_shares(self, X: NDArray[Any], n_threads: int = 1, leaves: Ints | None = None) -> Array:
        """Return the probability of each class for each row, (n, C), from the arguments of `predicted`."""
        leaves = self.apply(X, n_threads) if leaves is None else leaves
        if self.leaf_models is None:
            return self.shares_at(leaves)
        return self.leaf_models.shares(X.astype(np.float64, copy=False), leaves)

    @cached_property
    def errors(self) -> Array:
        """(n_nodes,) training weight outside a node's majority class."""
        return np.asarray(self.counts.sum(axis=1) - self.counts.max(axis=1))

    @cached_property
    def misclassification_rates(self) -> Array:
        """(n_nodes,) 1 - max_k p_k, computed as one division so that 3 of 10 is 0.3 to the bit."""
        return np.asarray(self.errors / self.counts.sum(axis=1))

    @cached_property
    def misclassification_rates_of_parents(self) -> Array:
        """Misclassified weight of a node as a share of its parent's weight, (n_nodes,); infinite for the root."""
        rates = np.full(self.n_nodes, np.inf)
        split = np.flatnonzero(~self.is_leaf)
        weights = self.counts.sum(axis=1)
        for children in (self.left, self.right):
            rates[children[split]] = self.errors[children[split]] / weights[split]
        return rates

    @cached_property
    def walker(self) -> _core.Walker:
        """Compiled traversal; it rejects arrays whose node numbers do not form a tree."""
        levels = np.array(self.levels, dtype=np.int32) if any(self.levels) else None
        scores = None if levels is None else self.level_scores
        return _core.Walker(self.left, self.right, self.coef_, self.thresholds, levels, scores, self.missing_left)

    def apply(self, X: NDArray[Any], n_threads: int = 1) -> Ints:
        """Return the leaf of each row, (n,) int32. X : (n, p), float32 or float64 without conversion"""
        return np.asarray(self.walker.apply(_as_walked(X), n_threads))

    def apply_finite(self, X: NDArray[Any], n_threads: int = 1) -> Ints | None:
        """Return the leaf of each row, or None if a value is missing or infinite, found in a single pass over X."""
        leaves = self.walker.apply(_as_walked(X), n_threads, only_finite=True)
        return None if leaves is None else np.asarray(leaves)

    def apply_limits(self, X: Array, limits: Array, rates: Array) -> Ints:
        """Return the node at which each row stops if all nodes of rate <= limit were leaves.

        X : (n, p); limits : (m,) ascending; rates : (n_nodes,); returns (n, m) node ids. The split at a node does not
        depend on the limit, so this tree contains the tree of every limit."""
        X = np.ascontiguousarray(X, dtype=np.float64)
        return np.asarray(self.walker.apply_limits(X, rates, np.ascontiguousarray(limits)))

    def leaves_of_limits(self, limits: Array, rates: Array) -> NDArray[np.int64]:
        """Return the number of leaves for each limit of `apply_limits`, (m,)."""
        return np.asarray(self.walker.leaves_of_limits(rates, np.ascontiguousarray(limits)))

    @property
    def children_left(self) -> Ints:
        """Left child of each node, -1 at leaves, (n_nodes,)."""
        return self.left

    @property
    def children_right(self) -> Ints:
        """Right child of each node, -1 at leaves, (n_nodes,)."""
        return self.right

    @property
    def node_count(self) -> int:
        """Number of nodes, leaves included."""
        return self.n_nodes

    @property
    def max_depth(self) -> int:
        """Longest path from the root, 0 for a single leaf."""
        return self.depth

    @cached_property
    def feature(self) -> NDArray[np.int64]:
        """Feature of each axis-parallel split, (n_nodes,): x[feature] <= threshold goes left. -2 elsewhere: at leaves,
        at planes of several features, at scores of levels, and where a negative coefficient exchanges the sides."""
        alone = (np.count_nonzero(self.coef_, axis=1) == 1) & (self.coef_.max(axis=1) == 1.0)
        feature = np.where(alone, self.coef_.argmax(axis=1), UNDEFINED)
        feature[np.isin(feature, list(self.level_columns))] = UNDEFINED
        return feature

    @cached_property
    def threshold(self) -> Array:
        """Threshold of each split, -2 at leaves, (n_nodes,)."""
        return np.where(self.is_leaf, float(UNDEFINED), self.thresholds)

    @property
    def n_node_samples(self) -> NDArray[Any]:
        """Training rows at each node, (n_nodes,)."""
        return self.n_rows

    @property
    def weighted_n_node_samples(self) -> Array:
        """Weight of the training rows at each node, in units of the smallest weight, (n_nodes,)."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.equations.n_outputs if self.is_regression else 1

    @property
    def n_classes(self) -> NDArray[np.int64]:
        """Number of classes of each output, 1 in regression, (n_outputs,)."""
        return np.full(self.n_outputs, 1 if self.is_regression else self.counts.shape[1])

    @cached_property
    def value(self) -> Array:
        """Class shares, or the number of a constant, of each node, (n_nodes, n_outputs, C); NaN for a linear model."""
        if not self.is_regression:
            return self.shares[:, None, :]
        equations = self.equations
        return np.where(equations.linear, np.nan, equations.intercept).reshape(self.n_nodes, -1, 1)

    @cached_property
    def impurity(self) -> Array:
        """Impurity of each node's training rows, (n_nodes,): Gini's or entropy by `criterion`, in regression the mean
        squared error of the node's model over its outputs."""
        weights = self.weighted_n_node_samples
        if self.is_regression:
            return np.asarray(self.equations.rss / weights / self.n_outputs)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = self.counts / weights[:, None]
        if self.criterion == "entropy":
            return np.asarray(-(shares * np.log2(np.where(shares > 0.0, shares, 1.0))).sum(axis=1))
        return np.asarray(1.0 - (shares**2).sum(axis=1))

    def predict(self, X: NDArray[Any]) -> Array:
        """Return `value` of the leaf of each row: class shares (n, C), or numbers (n, n_outputs, 1). X : (n, p)"""
        values = self.value[self.apply(X)]
        return values if self.is_regression else values[:, 0]

    def decision_path(self, X: NDArray[Any]) -> csr_matrix:
        """Return the nodes of each row's path, (n, n_nodes) of 0 and 1, sparse. X : (n, p)"""
        return paths(self.apply(X), self.parents)

    def compute_feature_importances(self, normalize: bool = True, ranges: Array | float = 1.0) -> Array:
        """Return the decrease of Gini impurity by feature, (p,), in regression that of the residual sum.

        A node's decrease, weighted by its rows as in Breiman et al. (1984), is divided among its features by
        |coefficient| times range. normalize : whether they add up to 1
        ranges : (p,) of the training rows, in any common unit; of a qualitative feature that of its scores at the node.
        The estimator's `feature_importances_` has those of the fit"""
        spans_of_all = np.broadcast_to(np.asarray(ranges, dtype=np.float64), self.n_features)
        totals = self.counts.sum(axis=1)
        gains = self.gains
        if not self.is_regression:
            gains = spread_decreases(self.parents, totals / totals[0], self.counts / totals[:, None])
        out = np.zeros(self.n_features)
        for node in np.flatnonzero(gains > 0):
            reach = np.abs(self.coef_[node])
            spans = spans_of_all.copy()
            for j, columns in self.level_columns.items():
                spans[j] = np.ptp(self.level_scores[node, columns]) / 2
            largest = float(spans[reach > 0].max())
            # A cut that separates missing values may use only features that are constant in the training rows.
            moved = reach * (spans / largest) if largest > 0 else reach
            out += gains[node] * moved / moved.sum()
        return out / out.sum() if normalize and out.any() else out

    def with_missing_to_the_heavier(self) -> Tree:
        """Return the tree with missing values sent to the heavier child, the left one on a tie."""
        weights = self.counts.sum(axis=1)
        return self.changed(missing_left=~self.is_leaf & (weights[self.left] >= weights[self.right]))

    def with_probabilities(self, probabilities: Array) -> Tree:
        """Return the tree with these probabilities of the classes at every node, (n_nodes, C)."""
        return self.changed(payload=Classes(probabilities))

    def with_prior(self, prior: float) -> Tree:
        """Return the tree with this weight of equal shares in the shares of each node."""
        return self.changed(payload=Classes(prior=prior))

    def with_leaf_models(self, models: LeafModels) -> Tree:
        """Return the tree with linear models in its leaves."""
        return self.changed(payload=Classes(self.probabilities, models))

    def collapse(self, leaves: NDArray[np.bool_]) -> Tree:
        """Return the tree with every marked node as a leaf, without models in leaves. leaves : (n_nodes,) bool."""
        order, left, right = numbered(self.left, self.right, leaves)
        inner = left >= 0
        return self.changed(
            left=left,
            right=right,
            coef=np.where(inner[:, None], self.coef_[order], 0.0),
            thresholds=np.where(inner, self.thresholds[order], 0.0),
            counts=self.counts[order],
            gains=np.where(inner, self.gains[order], 0.0),
            n_rows=self.n_rows[order],
            level_scores=np.where(inner[:, None], self.level_scores[order], 0.0),
            missing_left=None if self.missing_left is None else inner & self.missing_left[order],
            payload=self.payload.at(order),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain data for JSON."""
        fields = ("left", "right", "coef_", "thresholds", "counts", "gains", "n_rows")
        data = {"schema": SCHEMA} | {name: getattr(self, name).tolist() for name in fields}
        if any(self.levels):
            data |= {"levels": list(self.levels), "level_scores": self.level_scores.tolist()}
        if self.missing_left is not None:
            data["missing_left"] = self.missing_left.tolist()
        payload = self.payload.plain()
        return data | ({"equations": payload} if self.is_regression else payload)

    def __getstate__(self) -> dict[str, Any]:
        # The compiled traversal is rebuilt on demand and cannot be pickled.
        return {key: value for key, value in self.__dict__.items() if key != "walker"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for key, value in state.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            self.__dict__[key] = value

    def __repr__(self) -> str:
        return f"Tree({self.n_leaves} leaves, depth {self.depth}, {self.n_features} features)"


def _as_walked(X: NDArray[Any]) -> NDArray[Any]:
    """Return rows in the traversal's types: float32 unchanged, all else as float64."""
    return np.ascontiguousarray(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)


def of_classes(tree: Any) -> TypeGuard[Tree]:
    """Return whether an object is a tree of hyperplanes with classes in its leaves."""
    return isinstance(tree, Tree) and not tree.is_regression


def lacking(X: Array, coef: Array) -> NDArray[np.bool_]:
    """Return which rows lack a value used by a hyperplane. X : (n, p); coef : (p,); returns (n,)."""
    return np.asarray(np.isnan(X[:, coef != 0.0]).any(axis=1))


def check_probabilities(probabilities: Array | None, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless `probabilities` is None or an array of probabilities. shape : (n_nodes, C)"""
    if probabilities is None:
        return
    if probabilities.shape != shape:
        raise ValueError(f"probabilities must have shape {shape}. Got {probabilities.shape}")
    if not ((probabilities >= 0.0).all() and (np.abs(probabilities.sum(axis=1) - 1.0) < 1e-9).all()):
        raise ValueError("probabilities must not be negative and must add up to 1 at every node")


def numbered(
    left: NDArray[Any], right: NDArray[Any], leaves: NDArray[np.bool_] | None = None, root: int = 0
) -> tuple[list[int], Ints, Ints]:
    """Return the nodes below `root` in the order of a fitted tree: pairs of children as their parents are visited, left
    first; and the children of each node as positions in this order.
    leaves : (n_nodes,) nodes that become leaves"""
    order, stack = [root], [root]
    stays = left < 0 if leaves is None else (left < 0) | leaves
    while stack:
        node = stack.pop()
        if not stays[node]:
            order += (int(left[node]), int(right[node]))
            stack += (int(right[node]), int(left[node]))
    place = np.full(len(left) + 1, -1, dtype=np.int32)
    place[order] = np.arange(len(order))
    ends = stays[order]
    return order, np.where(ends, -1, place[left[order]]), np.where(ends, -1, place[right[order]])


class TreeBuilder:
    """Builder that appends nodes in any order; `finish` numbers children after parents and freezes the arrays."""

    def __init__(
        self, n_features: int, n_classes: int, levels: Sequence[int] | None = None, takes_missing: bool = False
    ) -> None:
        self.n_features = n_features
        self.n_classes = n_classes
        self.levels = (0,) * n_features if levels is None else tuple(levels)
        self.takes_missing = takes_missing
        self._leaf: dict[str, Any] = {
            "coef": np.zeros(n_features),
            "thresholds": 0.0,
            "gains": 0.0,
            "missing_left": False,
        }
        self._leaf |= {"level_scores": np.zeros(sum(self.levels)), "missing_left": False, "children": (-1, -1)}
        self._nodes: list[dict[str, Any]] = []

    def add(self, counts: Array, n_rows: int) -> int:
        """Append a leaf with the given class weights and return its id."""
        self._nodes.append(self._leaf | {"counts": counts, "n_rows": n_rows})
        return len(self._nodes) - 1

    def split(
        self,
        node: int,
        coef: Array,
        threshold: float,
        gain: float,
        left: int,
        right: int,
        level_scores: Array | None = None,
        missing_left: bool = False,
    ) -> None:
        """Make `node` internal with this hyperplane and these children; level_scores as in Tree, 0 without them."""
        plane = {"coef": coef, "thresholds": threshold, "gains": gain, "missing_left": missing_left}
        self._nodes[node] |= plane | {"children": (left, right)}
        if level_scores is not None:
            self._nodes[node]["level_scores"] = level_scores

    def finish(self, root: int = 0, payload: Payload = SHARES) -> Tree:
        """Return the tree below `root`, numbered as in `numbered`. payload : of the nodes in appended order"""
        children = np.array([node["children"] for node in self._nodes])
        order, left, right = numbered(children[:, 0], children[:, 1], root=root)
        names = ("coef", "thresholds", "counts", "gains", "n_rows", "level_scores", "missing_left")
        arrays: dict[str, Any] = {name: np.array([self._nodes[i][name] for i in order]) for name in names}
        missing_left = arrays.pop("missing_left")
        arrays |= {"missing_left": missing_left} if self.takes_missing else {}
        return Tree(left, right, levels=self.levels, payload=payload.at(order), **arrays)
