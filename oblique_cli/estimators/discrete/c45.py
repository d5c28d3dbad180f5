"""The scikit-learn faces of C4.5-style trees over discrete features: one tree, bagging, random forest."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from oblique_cli import seeds
from oblique_cli.c45 import growing as c45
from oblique_cli.c45.domain import Array, Domain, Ints
from oblique_cli.c45.structure import DiscreteTree
from oblique_cli.constraints import Choice, Constraint, Integer, Optional, Real, check
from oblique_cli.estimators.discrete.discretizing import METHODS, Discretizer, coded
from oblique_cli.fourier.extraction import spectrum_of
from oblique_cli.fourier.spectrum import Spectrum, combination
from oblique_cli.fourier.tcfs import TIE, ClassShares

COLUMNS: Mapping[str, Constraint] = {
    "discretization": Choice(METHODS),
    "n_bins": Integer(2),
    "max_levels": Integer(1),
    "missing": Choice(("error", "impute")),
}
TREE: Mapping[str, Constraint] = {
    name: c45.CONSTRAINTS[name]
    for name in ("criterion", "min_cases", "max_depth", "pruning", "confidence", "subtree_raising")
}
BAG: Mapping[str, Constraint] = {"n_trees": Integer(1), "bag_fraction": Real(0.0, 1.0, open_low=True)}


class DiscreteClassifier(ClassifierMixin, BaseEstimator, ABC):
    """What classifiers of discrete features share: columns become codes inside `fit`, classes become outputs.

    Two classes are one function, the indicator of the second, as in Kargupta et al. (2006); more are one function each.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {}
    needs_pruning_rows: ClassVar[bool] = False

    discretization: str
    n_bins: int
    max_levels: int
    missing: str
    random_state: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "impute"
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Any:
        """Learn codes and trees.

        X : (n, p) numbers, NaN for a missing value if `missing` allows it; y : (n,) labels
        """
        check(self.get_params(deep=False), self.constraints, type(self).__name__)
        rows, labels = validate_data(self, X, y, dtype=np.float64, ensure_all_finite=self._finite, ensure_min_samples=1)
        check_classification_targets(labels)
        self.classes_, classes = np.unique(labels, return_inverse=True)
        self.columns_ = Discretizer(self.discretization, self.n_bins, self.max_levels).learn(
            rows, classes, len(self.classes_)
        )
        self.domain_ = Domain([column.cardinality for column in self.columns_])
        seed = int(check_random_state(self.random_state).randint(2**31))
        self._grow(coded(rows, self.columns_), classes, seed)
        return self

    @abstractmethod
    def _grow(self, codes: Ints, classes: NDArray[np.integer], seed: int) -> None:
        """Grow the trees and set their sizes. codes : (n, p); classes : (n,) codes; seed : of every draw"""

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of the largest share, the first of equal ones. X : (n, p); returns (n,)."""
        shares = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_.take(np.argmax(shares >= shares.max(axis=1, keepdims=True) - TIE, axis=1))
        return labels

    @abstractmethod
    def predict_proba(self, X: ArrayLike) -> Array:
        """Return class shares, (n, C), columns in the order of classes_. X : (n, p)."""

    def value_names(self) -> list[list[str]]:
        """Return what each value of each feature means, as it follows the name of the feature."""
        check_is_fitted(self)
        return [column.names() for column in self.columns_]

    @property
    def _finite(self) -> bool | str:
        return "allow-nan" if self.missing == "impute" else True

    def _codes(self, X: ArrayLike) -> Ints:
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, ensure_all_finite=self._finite, reset=False)
        return coded(rows, self.columns_)

    def _class_codes(self, y: ArrayLike) -> Ints:
        """Codes of labels, -1 for those that no training row has, (n,)."""
        labels = np.asarray(y)
        codes = np.minimum(np.searchsorted(self.classes_, labels), len(self.classes_) - 1)
        return np.where(self.classes_[codes] == labels, codes, -1)

    def _indicator(self, tree: DiscreteTree) -> Array:
        """Outputs of a tree at its nodes: the indicators of labels, (n_nodes, K)."""
        if len(self.classes_) <= 2:
            return np.asarray(tree.labels == 1, dtype=np.float64)[:, None]
        return np.asarray(np.eye(len(self.classes_))[tree.labels])

    def _sizes(self, trees: Sequence[DiscreteTree]) -> None:
        """Set the sizes that tables show: nodes and leaves of all trees, depth of the deepest."""
        self.n_nodes_ = sum(tree.n_nodes for tree in trees)
        self.n_leaves_ = sum(tree.n_leaves for tree in trees)
        self.depth_ = max(tree.depth for tree in trees)

    def _c45(self, **changes: Any) -> c45.C45:
        return c45.C45(**({name: getattr(self, name) for name in TREE} | changes))


class C45Classifier(DiscreteClassifier):
    """A C4.5-style tree: gain ratio, a branch for every value, pessimistic pruning (Quinlan 1993).

    Parameters
    ----------
    criterion : {"gain_ratio", "gain"}, default "gain_ratio"
    min_cases : float, default 2
        Least number of rows of at least two branches of a test.
    max_depth : int or None, default None
    pruning : {"pessimistic", "none"}, default "pessimistic"
    confidence : float in (0, 0.5], default 0.25
        Of the upper limit that replaces an error rate; lower prunes more.
    subtree_raising : bool, default True
        Whether pruning may replace a subtree by its largest branch.
    discretization : {"mdl", "quantile", "none"}, default "mdl"
        Of columns that are not levels; cuts are learned from the rows of `fit`.
    n_bins : int, default 4
        Bins of "quantile".
    max_levels : int, default 10
        A column of at most this many different whole numbers is taken as it is, each number a level.
    missing : {"error", "impute"}, default "error"
        "impute" lets a missing value (NaN) take the column's most frequent code among the rows of `fit`.
    random_state : int, RandomState or None, default None
        Not used: a single tree draws nothing.

    Attributes
    ----------
    tree_ : DiscreteTree
    columns_ : how each column is coded; domain_ : Domain of the codes
    classes_, n_features_in_, n_leaves_, n_nodes_, depth_
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {**TREE, **COLUMNS}

    def __init__(
        self,
        criterion: str = "gain_ratio",
        min_cases: float = 2.0,
        max_depth: int | None = None,
        pruning: str = "pessimistic",
        confidence: float = 0.25,
        subtree_raising: bool = True,
        discretization: str = "mdl",
        n_bins: int = 4,
        max_levels: int = 10,
        missing: str = "error",
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.min_cases = min_cases
        self.max_depth = max_depth
        self.pruning = pruning
        self.confidence = confidence
        self.subtree_raising = subtree_raising
        self.discretization = discretization
        self.n_bins = n_bins
        self.max_levels = max_levels
        self.missing = missing
        self.random_state = random_state

    def _grow(self, codes: Ints, classes: NDArray[np.integer], seed: int) -> None:
        self.tree_ = self._c45().grow(codes, classes, len(self.classes_), self.domain_)
        self._sizes([self.tree_])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the label of each row's leaf. X : (n, p); returns (n,)."""
        codes = self._codes(X)
        return self.classes_.take(self.tree_.labels[self.tree_.apply(codes)])

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the class shares of each row's leaf; of a leaf that no training row reaches, 1 for its label."""
        codes = self._codes(X)
        counts = self.tree_.values[self.tree_.apply(codes)]
        empty = counts.sum(axis=1) == 0
        counts[empty] = np.eye(len(self.classes_))[self.tree_.labels[self.tree_.apply(codes[empty])]]
        shares: Array = counts / counts.sum(axis=1, keepdims=True)
        return shares

    def spectrum(self, max_order: int | None = None) -> Spectrum:
        """Return the Fourier spectrum of the tree."""
        check_is_fitted(self)
        return spectrum_of(self.tree_, self._indicator(self.tree_), max_order=max_order)


class C45BaggingClassifier(DiscreteClassifier):
    """Bagged C4.5-style trees: each grown on rows drawn with replacement, all voting (Breiman 1996).

    Parameters
    ----------
    n_trees : int, default 40
    bag_fraction : float in (0, 1], default 1
        Rows drawn for each tree, as a share of the training rows.
    criterion, min_cases, max_depth, pruning, confidence, subtree_raising, discretization, n_bins, max_levels,
    missing
        As in `C45Classifier`.
    random_state : int, RandomState or None, default None

    Attributes
    ----------
    trees_ : list of DiscreteTree
    oob_error_ : float
        Share of training rows that the trees which did not see them get wrong; NaN if every tree saw every row.
    columns_, domain_, classes_, n_features_in_
    n_leaves_, n_nodes_, depth_ : sums over all trees, and the deepest

    Stochasticity
    -------------
    One integer is drawn from `random_state`; tree i draws from the stream named ("tree", i).
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {**BAG, **TREE, **COLUMNS}

    def __init__(
        self,
        n_trees: int = 40,
        bag_fraction: float = 1.0,
        criterion: str = "gain_ratio",
        min_cases: float = 2.0,
        max_depth: int | None = None,
        pruning: str = "pessimistic",
        confidence: float = 0.25,
        subtree_raising: bool = True,
        discretization: str = "mdl",
        n_bins: int = 4,
        max_levels: int = 10,
        missing: str = "error",
        random_state: Any = None,
    ) -> None:
        self.n_trees = n_trees
        self.bag_fraction = bag_fraction
        self.criterion = criterion
        self.min_cases = min_cases
        self.max_depth = max_depth
        self.pruning = pruning
        self.confidence = confidence
        self.subtree_raising = subtree_raising
        self.discretization = discretization
        self.n_bins = n_bins
        self.max_levels = max_levels
        self.missing = missing
        self.random_state = random_state

    def _grow(self, codes: Ints, classes: NDArray[np.integer], seed: int) -> None:
        self.trees_ = self._bag(codes, classes, seed)
        self._sizes(self.trees_)

    def _bag(self, codes: Ints, classes: NDArray[np.integer], seed: int) -> list[DiscreteTree]:
        """Grow the trees and find the out-of-bag error."""
        n = len(codes)
        size = max(1, round(self.bag_fraction * n))
        rows = c45.Rows.of(codes, classes, len(self.classes_), self.domain_)
        votes = np.zeros((n, len(self.classes_)))
        trees = []
        for i in range(self.n_trees):
            rng = seeds.generator(seed, "tree", i)
            weights = np.bincount(rng.integers(n, size=size), minlength=n).astype(np.float64)
            trees.append(self._learner().grow_on(rows.weighted(weights), rng))
            unseen = np.flatnonzero(weights == 0)
            votes[unseen, trees[-1].labels[trees[-1].apply(codes[unseen])]] += 1
        judged = votes.any(axis=1)
        wrong = np.argmax(votes[judged], axis=1) != classes[judged]
        self.oob_error_ = float(wrong.mean()) if judged.any() else float("nan")
        return trees

    def _learner(self) -> c45.C45:
        return self._c45()

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return class shares of the outputs, (n, C), columns in the order of classes_. X : (n, p)."""
        codes = self._codes(X)
        return ClassShares(len(self.classes_))(self._scores(codes))

    def _scores(self, codes: Ints) -> Array:
        """The outputs, (n, K): the mean of what the trees say."""
        return vote(self.trees_, [self._indicator(tree) for tree in self.trees_], codes)

    def spectrum(self, max_order: int | None = None) -> Spectrum:
        """Return the Fourier spectrum of the ensemble, the mean of those of its trees (section 4.3)."""
        check_is_fitted(self)
        found = [spectrum_of(tree, self._indicator(tree), max_order=max_order) for tree in self.trees_]
        return combination(found, np.full(len(found), 1.0 / len(found)))

    def extra_measures(self, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
        """Return what tables may show beside accuracy; the rows given are not looked at."""
        return {} if np.isnan(self.oob_error_) else {"oob_error": self.oob_error_}


class C45ForestClassifier(C45BaggingClassifier):
    """A random forest of multiway trees: no pruning, features drawn at every node (Breiman 2001).

    Parameters
    ----------
    n_trees : int, default 40
    max_features : int or None, default None
        Features drawn at a node; None for half of them, rounded up, which is what Kargupta et al. (2006) use. Where
        none of those drawn can split, the next ones are drawn.
    bag_fraction, criterion, min_cases, max_depth, discretization, n_bins, max_levels, missing, random_state
        As in `C45BaggingClassifier`, but for criterion "gain" and min_cases 1.

    Attributes
    ----------
    As in `C45BaggingClassifier`.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        **BAG,
        "max_features": Optional(Integer(1)),
        **{name: TREE[name] for name in ("criterion", "min_cases", "max_depth")},
        **COLUMNS,
    }

    def __init__(
        self,
        n_trees: int = 40,
        max_features: int | None = None,
        bag_fraction: float = 1.0,
        criterion: str = "gain",
        min_cases: float = 1.0,
        max_depth: int | None = None,
        discretization: str = "mdl",
        n_bins: int = 4,
        max_levels: int = 10,
        missing: str = "error",
        random_state: Any = None,
    ) -> None:
        self.n_trees = n_trees
        self.max_features = max_features
        self.bag_fraction = bag_fraction
        self.criterion = criterion
        self.min_cases = min_cases
        self.max_depth = max_depth
        self.discretization = discretization
        self.n_bins = n_bins
        self.max_levels = max_levels
        self.missing = missing
        self.random_state = random_state

    def _learner(self) -> c45.C45:
        size = self.max_features or (self.n_features_in_ + 1) // 2
        return c45.C45(self.criterion, self.min_cases, self.max_depth, pruning="none", max_features=size)


def vote(trees: Sequence[DiscreteTree], outputs: Sequence[Array], codes: Ints) -> Array:
    """Return the mean of the trees' outputs at each row, (n, K). outputs : for each tree, (n_nodes, K)."""
    total = np.zeros((len(codes), outputs[0].shape[1]))
    for tree, values in zip(trees, outputs, strict=True):
        total += values[tree.apply(codes)]
    return total / len(trees)
