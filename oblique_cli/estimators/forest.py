"""The scikit-learn faces of forests: the ensembles of Zhang & Suganthan (2014) and forests of HHCART trees."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.inspection import permutation_importance
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

import oblique_cli._core as _core
from oblique_cli.constraints import Boolean, Choice, Constraint, Integer, Optional, Real, check
from oblique_cli.errors import ConfigError
from oblique_cli.tree.structure import Tree

Array = NDArray[np.float64]

BASES = ("raf", "rof", "rrof")
REGULARIZATIONS = ("tikhonov", "axis", "null", "none")
SCALINGS = ("range", "deviation", "none")
VOTINGS = ("majority", "mean")
MOST_TREES = 1_000_000
LARGEST = 2**31 - 1  # of the numbers that the core counts with
FAINT = 2.0**-300  # a weight next to 1 that leaves no trace in a sum and has a normal cube

SHARED: Mapping[str, Constraint] = {
    "n_trees": Integer(1, MOST_TREES),
    "mtry": Optional(Integer(1)),
    "minleaf": Integer(1),
    "max_depth": Optional(Integer(1, LARGEST)),
    "bootstrap": Optional(Boolean()),
    "voting": Choice(VOTINGS),
    "oob_score": Boolean(),
    "warm_start": Boolean(),
    "n_jobs": Optional(Integer(-LARGEST, LARGEST)),
}
MPSVM_OPTIONS: Mapping[str, Constraint] = {
    "delta": Real(0.0, open_low=True),
    "group_size": Integer(1),
    "scaling": Choice(SCALINGS),
}
HHCART_OPTIONS: Mapping[str, Constraint] = {
    "reflections": Integer(1, LARGEST),
    "eigenvectors": Choice(("dominant", "all")),
    "tau": Real(0.0, 2.0),
}


def moderate(weights: Array) -> Array:
    """Return positive weights as they are if squares and products of a few are normal numbers, else brought there.

    They are then multiplied by the power of 2 that takes the largest to [1, 2), and what is below FAINT becomes FAINT.
    """
    if weights.min() >= FAINT and weights.max() <= 1.0 / FAINT:
        return weights
    scaled = np.ldexp(weights, 1 - int(np.frexp(weights.max())[1]))
    return np.maximum(scaled, FAINT)


class _ForestClassifier(ClassifierMixin, BaseEstimator, ABC):
    """What forests share: drawing, voting, out-of-bag scores and importances. Subclasses name the splits."""

    constraints: ClassVar[Mapping[str, Constraint]] = SHARED
    needs_pruning_rows: ClassVar[bool] = False

    n_trees: int
    mtry: int | None
    minleaf: int
    max_depth: int | None
    bootstrap: bool | None
    voting: str
    oob_score: bool
    warm_start: bool
    n_jobs: int | None
    random_state: Any
    classes_: NDArray[Any]
    n_features_in_: int

    @abstractmethod
    def _options(self, p: int) -> dict[str, Any]:
        """Return the options of the core, those that all forests share left out, for rows of p features."""

    @property
    def _draws_rows(self) -> bool:
        """Whether every tree has a bootstrap sample of its own."""
        return self.bootstrap is not False

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> _ForestClassifier:
        """Grow the trees.

        X : (n, p) finite numbers; y : (n,) labels; sample_weight : (n,) not negative, or None. Rows of weight 0 are as
        if they were not there; the others are drawn alike, and count by their weight (see `moderate` for weights
        below 1e-90 or above 1e90).
        raises ConfigError for a parameter out of range, or that does not fit p
        """
        check(self.get_params(deep=False), self.constraints, type(self).__name__)
        again = self.warm_start and hasattr(self, "forest_")
        rows, labels = validate_data(
            self, X, y, dtype=np.float64, order="C", ensure_min_samples=1, reset=not again
        )
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
        if again and not np.array_equal(classes, self.classes_):
            raise ConfigError("warm_start needs the classes of the first fit. Set warm_start to False to start over.")
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, rows, dtype=np.float64)
            if (weights < 0).any():
                raise ConfigError(f"sample_weight must not be negative. Got {weights.min():g}; remove such rows.")
            useful = weights > 0
            if not useful.any():
                raise ConfigError("sample_weight must have a positive entry. All are 0.")
            rows, codes, weights = np.ascontiguousarray(rows[useful]), codes[useful], moderate(weights[useful])
        options = self._all_options(rows.shape[1])
        if not again:
            self.classes_ = classes
            seed = int(check_random_state(self.random_state).randint(2**31))
            self.forest_ = _core.Forest(rows.shape[1], len(classes), seed)
        more = self.n_trees - len(self.forest_)
        if more < 0:
            raise ConfigError(
                f"n_trees of {type(self).__name__} must be at least the {len(self.forest_)} trees that warm_start "
                f"keeps. Got {self.n_trees}."
            )
        self.forest_.grow(rows, codes.astype(np.int32), weights, options, more, self._threads())
        if self.oob_score:
            self._score_out_of_bag(rows, codes)
        return self

    def clash(self, owner: str, n_features: int | None = None) -> str | None:
        """Return the sentence for parameters that do not go together, or not with n_features features, or None."""
        if n_features is not None and self.mtry is not None and self.mtry > n_features:
            return f"mtry of {owner} must be at most the number of features, {n_features}. Got {self.mtry}."
        if self.oob_score and not self._draws_rows:
            return f"oob_score of {owner} needs bootstrap samples. Set bootstrap to True."
        return None

    def _all_options(self, p: int) -> dict[str, Any]:
        owner = type(self).__name__
        if message := self.clash(owner, p):
            raise ConfigError(message)
        if self.n_jobs == 0:
            raise ConfigError(f"n_jobs of {owner} must not be 0. Set it to None for one thread or -1 for all.")
        return {
            "mtry": round(p**0.5) if self.mtry is None else self.mtry,
            "minleaf": float(self.minleaf),
            "max_depth": -1 if self.max_depth is None else self.max_depth,
            "bootstrap": self._draws_rows,
            "group_size": 0,
            "scaling": "none",
        } | self._options(p)

    def _threads(self) -> int:
        if self.n_jobs is None:
            return 1
        return self.n_jobs if self.n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + self.n_jobs)

    def _score_out_of_bag(self, X: Array, codes: NDArray[Any]) -> None:
        votes = np.asarray(self.forest_.out_of_bag_votes(X, self.voting == "mean", self._threads()))
        seen = votes.sum(axis=1) > 0
        if not seen.any():
            raise ConfigError("oob_score needs a row that some tree did not draw. Set n_trees higher.")
        self.oob_votes_ = votes
        self.oob_score_ = float((votes.argmax(axis=1) == codes)[seen].mean())

    def _votes(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return np.asarray(self.forest_.votes(rows, self.voting == "mean", self._threads()))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class with most votes, the first of classes_ on a tie. X : (n, p); returns (n,)."""
        votes = self._votes(X)
        return self.classes_.take(votes.argmax(axis=1))

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the share of the votes of each class, (n, C), columns in the order of classes_."""
        return self._votes(X) / len(self.forest_)

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the leaf of each row in each tree as a node number of `tree`, (n, n_trees)."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return np.asarray(self.forest_.apply(rows, self._threads()))

    def extra_measures(self, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
        """Return the nodes of a tree and its depth on average, and the accuracy of a single tree on average."""
        codes = np.searchsorted(self.classes_, np.asarray(y))
        known = self.classes_.take(np.minimum(codes, len(self.classes_) - 1)) == np.asarray(y)
        shares = self._votes(X) / len(self.forest_)
        right = np.where(known, np.take_along_axis(shares, np.where(known, codes, 0)[:, None], axis=1)[:, 0], 0.0)
        return {
            "nodes_per_tree": float(np.mean(self.forest_.n_nodes())),
            "depth_per_tree": float(np.mean(self.forest_.depths())),
            "tree_accuracy": float(right.mean()),
        }

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the reduction of Gini impurity, (p,), of sum 1, or all 0 if no tree has a split.

        An oblique split is credited to its features by the size of their coefficients times their ranges in the
        training rows. Shares are averaged over the trees that have splits.
        """
        check_is_fitted(self)
        gains = np.asarray(self.forest_.importances())
        totals = gains.sum(axis=1, keepdims=True)
        shares = gains[totals[:, 0] > 0] / totals[totals[:, 0] > 0]
        return shares.mean(axis=0) if len(shares) else np.zeros(gains.shape[1])

    def permutation_importances(self, X: ArrayLike, y: ArrayLike, n_repeats: int = 5, random_state: int = 0) -> Array:
        """Return how much accuracy on rows X falls when a feature is shuffled, (p,), the mean of `n_repeats`."""
        check_is_fitted(self)
        found = permutation_importance(self, X, y, n_repeats=n_repeats, random_state=random_state)
        return np.asarray(found.importances_mean)

    def tree(self, number: int) -> Tree:
        """Return one tree with its hyperplanes in the original features; row counts are of rows drawn.

        Rotated trees are walked in their own features: on a row within rounding of a hyperplane the two may differ.
        """
        check_is_fitted(self)
        return _as_tree(self.forest_.state()[number], self.n_features_in_, len(self.classes_))

    @property
    def n_nodes_(self) -> int:
        """Nodes of all trees."""
        return int(np.sum(self.forest_.n_nodes()))

    @property
    def n_leaves_(self) -> int:
        """Leaves of all trees."""
        return (self.n_nodes_ + len(self.forest_)) // 2

    @property
    def depth_(self) -> int:
        """Depth of the deepest tree."""
        return int(np.max(self.forest_.depths()))


class MPSVMForestClassifier(_ForestClassifier):
    """RaF, RoF, RRoF and their MPSVM variants (Zhang & Suganthan 2014).

    At a node of an MPSVM tree the classes are grouped into two hyper-classes by the Bhattacharyya distance, each of two
    clustering hyperplanes lies close to one of them and far from the other, and the rows are split by the better of the
    planes' two bisectors. Where all rows fall on one side of both, the best axis-parallel split is taken. Trees are
    grown until their leaves are pure.

    Parameters
    ----------
    base : {"raf", "rof", "rrof"}, default "raf"
        Random forest: bootstrap samples, `mtry` features at each node. Rotation forest: each tree sees all rows, all
        features at each node, in features rotated by principal components of groups. Random rotation forest: `mtry` of
        the rotated features at each node.
    regularization : {"tikhonov", "axis", "null", "none"}, default "tikhonov"
        What is done where the rows of a hyper-class do not span the features drawn: "tikhonov" adds `delta` to the
        diagonal of its moments (equation 11); "axis" grows axis-parallel splits from there down; "null" uses the null
        space, as the geometric decision tree does. "none" is the ensemble without MPSVM, of axis-parallel splits only.
    n_trees : int, default 50
    mtry : int or None, default None
        Features drawn at each node. None is round(sqrt(p)); "rof" takes None only, for all.
    minleaf : int, default 1
        An impure node of this many rows or fewer is not split; rows drawn twice count twice.
    max_depth : int or None, default None
    delta : float, default 0.01
        In the units of the features, as in the paper. Covariances of classes are mended by it too.
    group_size : int, default 3
        Features of a group that is rotated; of more than p, one group of all.
    scaling : {"range", "deviation", "none"}, default "range"
        What features are divided by before the principal components of a group are sought, over all training rows.
        With "none" the components follow the features of the largest units. The rotated features, and with them
        `delta`, are in these units.
    bootstrap : bool or None, default None
        Whether trees are grown on bootstrap samples. None is True for "raf", False for the others.
    voting : {"majority", "mean"}, default "majority"
        Whether a tree votes for one class or gives each class its share of the leaf.
    oob_score : bool, default False
        Whether to score each row by the trees that did not draw it.
    warm_start : bool, default False
        Whether `fit` keeps the trees it has and adds those up to `n_trees`.
    n_jobs : int or None, default None
        Threads; None is 1, -1 all processors. The forest is the same for any number.
    random_state : int, RandomState or None, default None

    Attributes
    ----------
    forest_ : the compiled trees; `tree(i)` gives one as arrays
    classes_ : (C,) class labels
    n_features_in_ : int
    feature_importances_ : (p,)
    oob_score_ : float, accuracy over the rows that some tree did not draw; with `oob_score`
    oob_votes_ : (n, C) votes of the trees that did not draw a row, all 0 for one that all have drawn; with `oob_score`
    n_nodes_, n_leaves_ : int, of all trees; depth_ : int, of the deepest

    Stochasticity
    -------------
    One integer is drawn from `random_state`. Everything else is drawn from streams named after it, the number of the
    tree, and what is drawn: the bootstrap sample, the groups, the sample of each group, the features of each node.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        "base": Choice(BASES),
        "regularization": Choice(REGULARIZATIONS),
        **SHARED,
        **MPSVM_OPTIONS,
    }

    def __init__(
        self,
        base: str = "raf",
        regularization: str = "tikhonov",
        *,
        n_trees: int = 50,
        mtry: int | None = None,
        minleaf: int = 1,
        max_depth: int | None = None,
        delta: float = 0.01,
        group_size: int = 3,
        scaling: str = "range",
        bootstrap: bool | None = None,
        voting: str = "majority",
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.base = base
        self.regularization = regularization
        self.n_trees = n_trees
        self.mtry = mtry
        self.minleaf = minleaf
        self.max_depth = max_depth
        self.delta = delta
        self.group_size = group_size
        self.scaling = scaling
        self.bootstrap = bootstrap
        self.voting = voting
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def _draws_rows(self) -> bool:
        return self.base == "raf" if self.bootstrap is None else self.bootstrap

    def _options(self, p: int) -> dict[str, Any]:
        if self.base == "rof" and self.mtry is not None:
            raise ConfigError(
                f"mtry of {type(self).__name__} must be None with base 'rof', which searches all features. "
                f"Got {self.mtry}; base 'rrof' draws features."
            )
        options: dict[str, Any] = {
            "group_size": 0 if self.base == "raf" else min(self.group_size, p),
            "scaling": self.scaling,
        }
        if self.base == "rof":
            options["mtry"] = 0
        if self.regularization == "none":
            return options | {"split": "axis"}
        return options | {"split": "mpsvm", "regularization": self.regularization, "delta": float(self.delta)}


class HHCARTForestClassifier(_ForestClassifier):
    """A random forest of HHCART trees, which Wickramarachchi (2015) leaves to future work.

    At each node `mtry` features are drawn, and `reflections` eigenvectors among those of the covariances that the
    classes of the node have in these features. Each is reflected to the first axis, and the best Gini cut along the
    axes of the reflected features splits the node (section 3.5 of the thesis). Trees are grown until leaves are pure.

    Parameters
    ----------
    reflections : int, default 1
        Eigenvectors drawn at a node.
    eigenvectors : {"dominant", "all"}, default "dominant"
        What they are drawn from: the first of each class, as in HHCART(D), or all, as in HHCART(A).
    tau : float, default 0.05
        An eigenvector closer than this to an axis is left alone: the original axes are searched instead.
    n_trees, mtry, minleaf, max_depth, voting, oob_score, warm_start, n_jobs, random_state
        As in `MPSVMForestClassifier`.
    bootstrap : bool or None, default None
        Whether trees are grown on bootstrap samples. None is True.

    Attributes
    ----------
    As in `MPSVMForestClassifier`, and drawn from streams named in the same way.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {**HHCART_OPTIONS, **SHARED}

    def __init__(
        self,
        reflections: int = 1,
        eigenvectors: str = "dominant",
        tau: float = 0.05,
        *,
        n_trees: int = 50,
        mtry: int | None = None,
        minleaf: int = 1,
        max_depth: int | None = None,
        bootstrap: bool | None = None,
        voting: str = "majority",
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.reflections = reflections
        self.eigenvectors = eigenvectors
        self.tau = tau
        self.n_trees = n_trees
        self.mtry = mtry
        self.minleaf = minleaf
        self.max_depth = max_depth
        self.bootstrap = bootstrap
        self.voting = voting
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _options(self, p: int) -> dict[str, Any]:
        return {
            "split": "hhcart",
            "reflections": self.reflections,
            "dominant_only": self.eigenvectors == "dominant",
            "tau": float(self.tau),
        }


def _as_tree(state: Mapping[str, Any], p: int, n_classes: int) -> Tree:
    """Return one tree of `Forest.state()` as a Tree over the p original features."""
    left = np.asarray(state["left"])
    inner = np.flatnonzero(left >= 0)
    n = len(left)
    rotation = np.eye(p)
    starts = np.asarray(state["rotation_start"])
    if len(starts):
        rotation = np.zeros((len(starts) - 1, p))
        rotated = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        np.add.at(rotation, (rotated, state["rotation_feature"]), state["rotation_coef"])
    splits = np.zeros((n, len(rotation)))
    width = state["width"]
    for node in inner:
        term = int(state["term"][node])
        if term < 0:
            splits[node, ~term] = 1.0
        else:
            terms = slice(term * width, (term + 1) * width)
            splits[node, state["feature"][terms]] = state["coef"][terms]
    counts = np.zeros((n, n_classes))
    leaves = np.flatnonzero(left < 0)
    first = np.asarray(state["leaf_start"])
    for node in leaves:
        held = slice(first[~left[node]], first[~left[node] + 1])
        counts[node, state["leaf_class"][held]] = state["leaf_weight"][held]
    for node in inner[::-1]:  # children stand behind their parents
        counts[node] = counts[left[node]] + counts[left[node] + 1]
    total = counts.sum(axis=1)
    gini = 1.0 - (counts**2).sum(axis=1) / total**2
    gains = np.zeros(n)
    children = np.stack([left[inner], left[inner] + 1])
    gains[inner] = gini[inner] - (total[children] * gini[children]).sum(axis=0) / total[inner]
    return Tree(
        np.where(left >= 0, left, -1).astype(np.int32),
        np.where(left >= 0, left + 1, -1).astype(np.int32),
        splits @ rotation,
        np.asarray(state["threshold"]),
        counts,
        gains,
        np.rint(total).astype(np.int64),
    )
