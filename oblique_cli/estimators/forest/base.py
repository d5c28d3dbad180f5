"""Common base of forests: drawing, voting, out-of-bag scores, importances, and their trees as arrays."""

from __future__ import annotations

import copy
import numbers
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.fitted import LogProbabilities, SeveralTrees
from oblique_cli.estimators.forest.leaves import (
    OUT_OF_BAG,
    Leaves,
    best_prior,
    best_strength,
    branches_of,
    out_of_bag_shares,
    prior_of,
    vote_shares,
    votes_of,
)
from oblique_cli.estimators.framed import TakesFrames
from oblique_cli.estimators.monotonic import NAME as ORDER
from oblique_cli.estimators.monotonic import signs_of, warn_of_flat
from oblique_cli.estimators.n_jobs import LARGEST, N_JOBS, on_workers, threads_of, workers
from oblique_cli.estimators.watched import Watched
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import (
    LEAST_ROWS,
    Boolean,
    Choice,
    Either,
    FeatureCount,
    Integer,
    Optional,
    Real,
    check,
    rows_of,
)
from oblique_cli.ground.magnitudes import RATIO
from oblique_cli.ground.nodes import parents_of
from oblique_cli.parameters import Alias, parameter
from oblique_cli.tree.monotone import Signs
from oblique_cli.tree.payloads import SHARES, Equations
from oblique_cli.tree.probabilities import AUTO, COUNTS, DIRICHLET, RULES, VOTES, strength_of, with_probabilities
from oblique_cli.tree.structure import Tree

VOTINGS = ("majority", "mean")
MOST_TREES = 1_000_000
PARTS_A_WORKER = 4  # tasks per worker of a distributed forest: a slow worker delays a quarter of its share
FAINT = 2.0**-300  # a weight next to 1 that is lost in a sum and has a normal cube


def moderate(weights: Array) -> Array:
    """Return positive weights whose squares and products of a few are normal numbers: scaled, unless they already are
    so, by the power of 2 that takes the largest to [1, 2), and at least FAINT."""
    if weights.min() >= FAINT and weights.max() <= 1.0 / FAINT:
        return weights
    scaled = np.ldexp(weights, 1 - int(np.frexp(weights.max())[1]))
    return np.maximum(scaled, FAINT)


def more_than_there_are(estimator: Any, owner: str, n_features: int | None) -> str | None:
    """Return the error message if the number of features to draw is larger than n_features, or None."""
    for name in ("max_features", "max_features_per_tree"):
        drawn: Any = getattr(estimator, name, None)
        if n_features is not None and isinstance(drawn, numbers.Integral) and int(drawn) > n_features:
            return f"{name} of {owner} must be at most the number of features, {n_features}. Got {drawn}."
    return None


def without_rows_out(owner: str, oob_score: bool, parameter: str | None) -> str | None:
    """Return the error message for parameters that need out-of-bag rows, or None. parameter : that is "oob", if any"""
    if oob_score:
        return f"oob_score of {owner} needs bootstrap samples. Set bootstrap to True."
    if parameter is not None:
        return (
            f"{parameter} {OUT_OF_BAG!r} of {owner} needs rows that trees do not see. Give a number, or set bootstrap "
            "to True."
        )
    return None


def core_options(max_depth: int | None, bootstrap: bool, max_samples: int, **further: Any) -> dict[str, Any]:
    """Return the options of the core for trees of a forest, defaults unless `further` has them."""
    return {
        "minleaf": 1.0,
        "max_depth": -1 if max_depth is None else max_depth,
        "bootstrap": bootstrap,
        "max_samples": max_samples,
        "tree_features": 0,
        "node_bootstrap": False,
        "group_size": 0,
        "scaling": "none",
    } | further


class CoreTrees(TakesFrames, SeveralTrees, BaseEstimator):
    """Ensemble whose trees are stored as a forest of the core, whatever its growth and its leaves."""

    needs_pruning_rows: ClassVar[bool] = False

    n_jobs: int | None
    forest_: Any
    n_features_in_: int

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "forest_")

    def extra_measures(self, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
        """Return the mean number of nodes of a tree and the mean depth."""
        return {
            "nodes_per_tree": float(np.mean(self.forest_.n_nodes())),
            "depth_per_tree": float(np.mean(self.forest_.depths())),
        }

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the leaf of each row in each tree as a node number of `tree`, (n, n_estimators)."""
        rows = self._rows(X)
        return np.asarray(self.forest_.apply(rows, threads_of(self)))

    def _decreases(self) -> Array:
        return np.asarray(self.forest_.importances())

    def _parents(self) -> list[NDArray[np.int64]]:
        children = (np.asarray(state["left"]) for state in self.forest_.state())
        return [parents_of(np.maximum(left, -1), np.where(left >= 0, left + 1, -1)) for left in children]

    def tree(self, number: int) -> Tree:
        """Return one tree with its hyperplanes in the original features; row counts are of rows drawn.

        For a data frame with words or missing values these are the columns of `encoding_`, which has their names.
        Rotated trees predict in their rotated features: for a row within rounding of a plane the two may differ."""
        check_is_fitted(self)
        return self._as_tree(self.forest_.state()[number], number)

    def trees(self) -> list[Tree]:
        """Return all trees, in the form of `tree`."""
        check_is_fitted(self)
        return [self._as_tree(state, number) for number, state in enumerate(self.forest_.state())]

    @abstractmethod
    def _as_tree(self, state: Mapping[str, Any], number: int) -> Tree:
        """Return the tree `number` from its arrays in `state`."""

    @property
    def n_nodes_(self) -> int:  # type: ignore[override]
        """Number of nodes of all trees."""
        return int(np.sum(self.forest_.n_nodes()))

    @property
    def n_leaves_(self) -> int:  # type: ignore[override]
        """Number of leaves of all trees."""
        return (self.n_nodes_ + len(self.forest_)) // 2

    @property
    def depth_(self) -> int:  # type: ignore[override]
        """Depth of the deepest tree."""
        return int(np.max(self.forest_.depths()))


class CoreForest(LogProbabilities, ClassifierMixin, CoreTrees):
    """Ensemble of classification trees."""

    classes_: NDArray[Any]
    probability_strength_: float  # for forests with `probabilities` other than "counts"
    leaf_probabilities_: Array  # for rules of leaves
    _drawing: tuple[bool, Any] | None  # bootstrap and max_samples of the first fit

    def _as_tree(self, state: Mapping[str, Any], number: int) -> Tree:
        return as_tree(state, self._n_seen, len(self.classes_))


def relative(weights: Array) -> Array:
    """Return positive weights in units of the smallest, but at least the largest divided by RATIO."""
    scaled = moderate(weights)
    scaled = np.maximum(scaled, scaled.max() / RATIO)  # lighter rows would be lost in every sum
    return np.asarray(scaled / scaled.min())


class ForestClassifier(Watched, CoreForest, kw_only=True):
    """Base of forest classifiers: drawing, voting, out-of-bag scores and importances. Subclasses define splits."""

    n_estimators: int = parameter(default=50, allowed=Integer(1, MOST_TREES), also="n_trees", help="Number of trees.")
    max_features: int | float | str | None = parameter(
        default="auto",
        allowed=Optional(FeatureCount()),
        also=Alias("mtry", {None: "auto"}),
        help="Features drawn at each node, `mtry` in the paper: a number, a share, or all (None), as in scikit-learn. "
        '"auto" is what the paper takes, the square root of p rounded to the nearest, and all with base "rof", '
        'which takes "auto" and None only. "sqrt" is rounded down.',
    )
    min_samples_leaf: float = parameter(
        default=1,
        allowed=LEAST_ROWS,
        also="minleaf",
        help="An impure node of this many rows or fewer is a leaf; rows drawn twice count twice. A value below 1 is a "
        "share of the rows drawn for a tree, rounded up. The limit is the "
        "paper's `minleaf`: unlike scikit-learn's it does not forbid a larger node to have a smaller child.",
    )
    max_depth: int | None = parameter(
        default=None,
        allowed=Optional(Integer(1, LARGEST)),
        help="Longest path from the root to a leaf; None for no limit.",
    )
    bootstrap: bool | None = parameter(
        default=None, allowed=Optional(Boolean()), help="Whether trees are grown on bootstrap samples. None is True."
    )
    voting: str = parameter(
        default="majority",
        allowed=Choice(VOTINGS),
        help="Whether a tree votes for one class or gives each class its share of the leaf.",
    )
    probabilities: str = parameter(
        default=DIRICHLET,
        allowed=Choice(RULES),
        help='"counts": the shares of the votes (`voting`). "dirichlet" shrinks these towards equal shares; the '
        "predicted class stays that of most votes. By the others, as in `ObliqueTreeClassifier`, the probabilities of "
        "the leaves are averaged, whatever `voting` is, and the class of the largest mean is predicted "
        "(docs/guarantees.md).",
    )
    probability_strength: float | str = parameter(
        default=AUTO,
        allowed=Either(Real(0.0), Choice((AUTO, OUT_OF_BAG))),
        help='Strength of that smoothing: votes of all classes together that "dirichlet" adds, for leaves in units of '
        'the least sample weight. "auto" is 0.5 for "dirichlet" and 1 for the others; "oob" takes the strength of the '
        "least out-of-bag log loss.",
    )
    oob_score: bool = parameter(
        default=False, allowed=Boolean(), help="Whether to score each row by the trees that did not draw it."
    )
    warm_start: bool = parameter(
        default=False,
        allowed=Boolean(),
        help="Whether `fit` keeps the trees it has and adds those up to `n_estimators`.",
    )
    n_jobs: int | None = parameter(
        default=None,
        allowed=N_JOBS,
        help="Threads; None is 1, -1 all processors. The forest is the same for any number.",
    )
    random_state: Any = parameter(default=None)

    monotonic_cst: Any = None  # for forests with this parameter
    _measured = staticmethod(moderate)  # positive weights -> weights in the core's form

    @abstractmethod
    def _options(self, p: int) -> dict[str, Any]:
        """Return the core's options for rows of p features, without those of all forests."""

    @property
    def _draws_rows(self) -> bool:
        """Return whether every tree has its own bootstrap sample."""
        return self.bootstrap is not False

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        X : (n, p) finite numbers, or a data frame that may have words and missing values (encoded by `encoding_`);
        y : (n,) labels; sample_weight : (n,) not negative, or None. Rows of weight 0 are ignored; the
        others are drawn with equal probability, and count by their weight (`moderate` for weights < 1e-90 or > 1e90).
        raises ConfigError for a parameter out of range, or that does not fit p"""
        check(self.get_params(deep=False), self.constraints, type(self).__name__)
        again = self.warm_start and hasattr(self, "forest_")
        classes, rows, codes, weights, _ = self._class_rows(X, y, sample_weight, self._measured, again=again)
        if again and not np.array_equal(classes, self.classes_):
            raise ConfigError("warm_start needs the classes of the first fit. Set warm_start to False to start over.")
        drawing = self._draws_rows, getattr(self, "max_samples", None)
        if again and drawing != (self._drawing or drawing):  # a model from a file has no record of the drawing
            raise ConfigError(
                f"bootstrap and max_samples of {type(self).__name__} must stay as they were in the first fit: the rows "
                "that a kept tree drew are found again from these. Set warm_start to False to start over."
            )
        if message := self.clash(type(self).__name__, rows.shape[1]):
            raise ConfigError(message)
        threads_of(self)  # raises for 0
        self._families()  # raises for heuristics without a family in the core, before the fit starts
        drawn = self._rows_drawn(len(rows))
        features, least = FeatureCount.of(self.max_features, rows.shape[1]), rows_of(self.min_samples_leaf, drawn)
        options = (
            core_options(self.max_depth, self._draws_rows, drawn)
            | {"mtry": features, "minleaf": least}
            | self._options(rows.shape[1])
        )
        if not again:
            self.__dict__.pop("forest_", None)  # a failed fit leaves no forest, rather than that of other rows
            self.classes_, self._drawing = classes, drawing
            seed = int(check_random_state(self.random_state).randint(2**31))
        forest = self.forest_ if again else _core.Forest(rows.shape[1], len(classes), seed)
        more = self.n_estimators - len(forest)
        if more < 0:
            raise ConfigError(
                f"n_estimators of {type(self).__name__} must be at least the {len(forest)} trees that warm_start "
                f"keeps. Got {self.n_estimators}."
            )
        table, draw = Table(rows, codes, weights), (options["bootstrap"], options["max_samples"])
        self._add_trees(forest, table, options, more)
        self.forest_ = forest
        for learned_before in ("probability_strength_", "leaf_probabilities_", "oob_score_", "oob_votes_"):
            self.__dict__.pop(learned_before, None)
        if self.probabilities != COUNTS:
            self._learn_probabilities(table, draw)
        if self.oob_score:
            self._score_out_of_bag(rows, codes, draw)
        if (signs := self._signs()) is not None:
            used = np.asarray((self._by_column(self._decreases()) > 0.0).any(axis=0))
            if self.encoding_ is not None:  # one number for each column of X
                rows = rows[:, np.unique(self.encoding_.encoder.sources, return_index=True)[1]]
            warn_of_flat(self, signs, used, rows, codes)
        return self

    def _signs(self) -> Signs | None:
        """Return the monotonic constraints of the columns of X; ConfigError with parameters that break them."""
        signs = signs_of(self, self._levels, len(self.classes_))
        if signs is not None and self._smooths_leaves:
            raise ConfigError(
                f"{ORDER} of {type(self).__name__} is not kept with probabilities {self.probabilities!r}; set "
                f"probabilities to {DIRICHLET!r} or {COUNTS!r}."
            )
        return signs

    def _add_trees(self, forest: Any, table: Table, options: dict[str, Any], more: int) -> None:
        """Grow further trees of a forest: in this process, or on the workers of `joblib.parallel_config`."""
        crew = workers()
        if not crew or more < 2:
            self._grow(forest, table, options, more, threads_of(self))
            return
        seed, first = int(forest.seed), len(forest)
        plain = copy.copy(self)
        plain.__dict__.pop("forest_", None)
        plain.verbose = 0
        number = min(more, PARTS_A_WORKER * crew)
        ends = [first + more * i // number for i in range(number + 1)]
        calls = [(plain, table, options, seed, start, end - start) for start, end in pairwise(ends)]
        forest.restore([*forest.state(), *chain.from_iterable(on_workers(crew, grown_part, calls))])

    def _grow(self, forest: Any, table: Table, options: dict[str, Any], more: int, threads: int) -> None:
        """Grow further trees of a forest, or of a part of a forest, in this process."""
        before, signs = len(forest), self._seen(self._signs())
        grown_by = self._families(self._rows_drawn(len(table.rows)))

        def grow() -> None:
            forest.grow(table.rows, table.codes, table.weights, options, more, threads, grown_by, signs=signs)

        self._watched(more, lambda: int(forest.finished) - before, grow)

    def _families(self, drawn: int = 1) -> list[tuple[str, dict[str, Any]]]:
        """Return the families of the core that split the trees, in turn, with options. drawn : rows drawn for a tree"""
        return []

    def _rows_drawn(self, n: int) -> int:
        return n

    def _leaves_rows_out(self) -> bool:
        """Return whether a tree is grown without some of the rows."""
        return self._draws_rows

    def clash(self, owner: str, n_features: int | None = None) -> str | None:
        """Return the error message for parameters incompatible with each other or with n_features features, or None."""
        if message := more_than_there_are(self, owner, n_features):
            return message
        if self._leaves_rows_out():
            return None
        chooses = self.probabilities != COUNTS and self.probability_strength == OUT_OF_BAG
        return without_rows_out(owner, self.oob_score, "probability_strength" if chooses else None)

    @property
    def _smooths_leaves(self) -> bool:
        return self.probabilities not in (COUNTS, DIRICHLET)

    def _learn_probabilities(self, table: Table, draw: tuple[bool, int]) -> None:
        strength = strength_of(self.probabilities, self.probability_strength, VOTES)
        if not self._smooths_leaves:
            if strength == OUT_OF_BAG:
                strength = best_prior(self._votes_out_of_bag(table.rows, draw), table.codes, table.weights)
            self.probability_strength_ = float(strength)
            return
        leaves = Leaves(self.forest_.state(), len(self.classes_))
        unit = 1.0 if table.weights is None else float(table.weights.min())
        if strength == OUT_OF_BAG:
            out_of_bag = self._out_of_bag(leaves, table.rows, draw)
            strength = best_strength(leaves, self.probabilities, unit, *out_of_bag, table.codes, table.weights)
        self.probability_strength_ = float(strength) * unit
        self.leaf_probabilities_ = leaves.shares(self.probabilities, self.probability_strength_)

    def _out_of_bag(
        self, leaves: Leaves, X: Array, draw: tuple[bool, int]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the leaf of each row in each tree among all leaves, and whether the tree did not draw the row."""
        # Draws depend on tree number and seed only, so a forest without trees reproduces the draws of this forest.
        drawn = _core.Forest(self._n_seen, len(self.classes_), self.forest_.seed).draws(
            len(X), len(self.forest_), *draw
        )
        numbers = leaves.numbers(np.asarray(self.forest_.apply(X, threads_of(self))))
        return numbers, np.ascontiguousarray((np.asarray(drawn) == 0).T)

    def _votes_out_of_bag(self, X: Array, draw: tuple[bool, int]) -> Array:
        return np.asarray(self.forest_.out_of_bag_votes(X, self.voting == "mean", threads_of(self), *draw))

    def _score_out_of_bag(self, X: Array, codes: NDArray[Any], draw: tuple[bool, int]) -> None:
        if not self._smooths_leaves:
            votes = self._votes_out_of_bag(X, draw)
        else:
            leaves = Leaves(self.forest_.state(), len(self.classes_))
            votes = out_of_bag_shares(self.leaf_probabilities_, *self._out_of_bag(leaves, X, draw))
        seen = votes.sum(axis=1) > 0
        if not seen.any():
            raise ConfigError("oob_score needs a row that some tree did not draw. Set n_estimators higher.")
        self.oob_votes_ = votes
        self.oob_score_ = float((votes.argmax(axis=1) == codes)[seen].mean())

    @property
    def oob_decision_function_(self) -> Array:
        """Shares of the out-of-bag votes of each training row, (n, C); NaN for a row that every tree drew."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.oob_votes_ / self.oob_votes_.sum(axis=1, keepdims=True))

    def _votes(self, X: ArrayLike) -> Array:
        """Return the votes of the trees for each class, (n, C), or the sums of their leaves' probabilities."""
        rows = self._rows(X)
        return votes_of(self.forest_, rows, self.voting, getattr(self, "leaf_probabilities_", None), threads_of(self))

    def _as_tree(self, state: Mapping[str, Any], number: int) -> Tree:
        tree = super()._as_tree(state, number)
        # Parameters may have been set again since the fit, but the fit decides.
        if not hasattr(self, "leaf_probabilities_"):
            return tree
        return with_probabilities(tree, self.probabilities, self.probability_strength_)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class with most votes, the first of classes_ on a tie. X : (n, p); returns (n,)."""
        votes = self._votes(X)
        return np.asarray(self.classes_.take(votes.argmax(axis=1)))

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the share of the votes of each class, smoothed by `probabilities`, or the mean of those of the leaves.

        X : (n, p); returns (n, C), columns in the order of classes_"""
        return vote_shares(self._votes(X), len(self.forest_), prior_of(vars(self)))

    def extra_measures(self, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
        """Return the mean number of nodes of a tree, the mean depth, and the mean accuracy of a single tree."""
        codes = np.searchsorted(self.classes_, np.asarray(y))
        known = self.classes_.take(np.minimum(codes, len(self.classes_) - 1)) == np.asarray(y)
        rows = self._rows(X)
        shares = vote_shares(votes_of(self.forest_, rows, self.voting, None, threads_of(self)), len(self.forest_))
        right = np.where(known, np.take_along_axis(shares, np.where(known, codes, 0)[:, None], axis=1)[:, 0], 0.0)
        return super().extra_measures(X, y) | {"tree_accuracy": float(right.mean())}


@dataclass(frozen=True)
class Table:
    """Rows for a task. joblib keeps bare arrays on one worker, which may stop; a Table travels with each task."""

    rows: Array
    codes: NDArray[np.int32]
    weights: Array | None


def grown_part(
    estimator: ForestClassifier, table: Table, options: dict[str, Any], seed: int, first: int, more: int
) -> list[dict[str, Any]]:
    """Grow trees from number `first` on; runs on a worker. The trees do not depend on where it runs."""
    part = _core.Forest(table.rows.shape[1], len(estimator.classes_), seed, first)
    estimator._grow(part, replace(table, rows=np.ascontiguousarray(table.rows)), options, more, 1)
    state: list[dict[str, Any]] = part.state()
    return state


def as_tree(state: Mapping[str, Any], p: int, n_classes: int, equations: Equations | None = None) -> Tree:
    """Return one tree of `Forest.state()` as a Tree over the p original features. equations : of trees of numbers"""
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
    term = np.asarray(state["term"])[inner]
    oblique = term >= 0
    splits[inner[~oblique], ~term[~oblique]] = 1.0
    of_terms = (-1, max(int(state["width"]), 1))
    features, coefs = np.asarray(state["feature"]).reshape(of_terms), np.asarray(state["coef"]).reshape(of_terms)
    splits[inner[oblique, None], features[term[oblique]]] = coefs[term[oblique]]
    counts = Leaves([state], n_classes).counts
    total = counts.sum(axis=1)
    gini = 1.0 - (counts**2).sum(axis=1) / total**2
    gains = np.zeros(n)
    children = np.stack([left[inner], left[inner] + 1])
    gains[inner] = gini[inner] - (total[children] * gini[children]).sum(axis=0) / total[inner]
    branches = branches_of(left)
    return Tree(
        branches.left.astype(np.int32),
        branches.right.astype(np.int32),
        splits @ rotation,
        np.asarray(state["threshold"]),
        counts,
        gains,
        np.rint(np.minimum(total, 2.0**62)).astype(np.int64),  # weights may exceed the range of integers
        payload=SHARES if equations is None else equations,
    )
