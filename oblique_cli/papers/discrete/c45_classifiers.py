"""The scikit-learn faces of C4.5-style trees over discrete features: one tree, bagging, random forest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from oblique_cli.estimators.aliases import Aliases
from oblique_cli.ground.constraints import Constraint, Integer, Optional
from oblique_cli.papers.discrete.c45 import C45
from oblique_cli.papers.discrete.coded_classifier import (
    BAG,
    MISSING,
    OF_TREE,
    BaggedTreesClassifier,
    DiscreteClassifier,
    SeveralDiscreteTrees,
    SingleDiscreteTree,
)
from oblique_cli.papers.discrete.discretizing import Discretizer
from oblique_cli.papers.discrete.domain import Array, Ints
from oblique_cli.papers.discrete.extraction import spectrum_of
from oblique_cli.papers.discrete.spectrum import Spectrum

TREE: Mapping[str, Constraint] = {
    name: C45.constraints[name]
    for name in ("criterion", "min_samples_leaf", "max_depth", "pruning", "confidence", "subtree_raising")
}
COLUMNS: Mapping[str, Constraint] = {
    "discretization": Discretizer.constraints["method"],
    "n_bins": Discretizer.constraints["n_bins"],
    "max_levels": Discretizer.constraints["max_levels"],
    **MISSING,
}


class _FlatParameters(DiscreteClassifier):
    """The parameters of tree and columns are parameters of the classifier."""

    discretization: str
    n_bins: int
    max_levels: int

    def _learner(self) -> C45:
        return C45(**{name: getattr(self, name) for name in TREE})

    def _discretizer(self) -> Discretizer:
        return Discretizer(self.discretization, self.n_bins, self.max_levels)


class C45Classifier(_FlatParameters, SingleDiscreteTree):
    """A C4.5-style tree: gain ratio, a branch for every value, pessimistic pruning (Quinlan 1993).

    Parameters
    ----------
    criterion : {"gain_ratio", "gain"}, default "gain_ratio"
        Information gain over the entropy of the branches' sizes, or information gain alone.
    min_samples_leaf : float, default 2
        Least number of rows of at least two branches of a test (C4.5's m).
    max_depth : int or None, default None
        Longest path from the root to a leaf; None for no limit.
    pruning : {"pessimistic", "none"}, default "pessimistic"
        "pessimistic" replaces a subtree where the upper limit of a leaf's error rate is no worse.
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

    aliases: ClassVar[Aliases] = OF_TREE
    constraints: ClassVar[Mapping[str, Constraint]] = {**TREE, **COLUMNS}

    def __init__(
        self,
        criterion: str = "gain_ratio",
        min_samples_leaf: float = 2.0,
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
        self.min_samples_leaf = min_samples_leaf
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
        self.tree_ = self._learner().grow(codes, classes, len(self.classes_), self.domain_)
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


class C45BaggingClassifier(_FlatParameters, SeveralDiscreteTrees, BaggedTreesClassifier):
    """Bagged C4.5-style trees: each grown on rows drawn with replacement, all voting (Breiman 1996).

    Parameters
    ----------
    n_estimators : int, default 40
        Number of trees.
    bag_fraction : float in (0, 1], default 1
        Rows drawn for each tree, as a share of the training rows.
    criterion, min_samples_leaf, max_depth, pruning, confidence, subtree_raising, discretization, n_bins, max_levels,
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

    Notes
    -----
    Stochasticity. One integer is drawn from `random_state`; tree i draws from the stream named ("tree", i).
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {**BAG, **TREE, **COLUMNS}

    def __init__(
        self,
        n_estimators: int = 40,
        bag_fraction: float = 1.0,
        criterion: str = "gain_ratio",
        min_samples_leaf: float = 2.0,
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
        self.n_estimators = n_estimators
        self.bag_fraction = bag_fraction
        self.criterion = criterion
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.pruning = pruning
        self.confidence = confidence
        self.subtree_raising = subtree_raising
        self.discretization = discretization
        self.n_bins = n_bins
        self.max_levels = max_levels
        self.missing = missing
        self.random_state = random_state


class C45ForestClassifier(C45BaggingClassifier):
    """A random forest of multiway trees: no pruning, features drawn at every node (Breiman 2001).

    Parameters
    ----------
    n_estimators : int, default 40
        Number of trees.
    max_features : int or None, default None
        Features drawn at a node; None for half of them, rounded up, which is what Kargupta et al. (2006) use. Where
        none of those drawn can split, the next ones are drawn.
    bag_fraction, criterion, min_samples_leaf, max_depth, discretization, n_bins, max_levels, missing, random_state
        As in `C45BaggingClassifier`, but for criterion "gain" and min_samples_leaf 1.

    Attributes
    ----------
    As in `C45BaggingClassifier`.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        **BAG,
        "max_features": Optional(Integer(1)),
        **{name: TREE[name] for name in ("criterion", "min_samples_leaf", "max_depth")},
        **COLUMNS,
    }

    def __init__(
        self,
        n_estimators: int = 40,
        max_features: int | None = None,
        bag_fraction: float = 1.0,
        criterion: str = "gain",
        min_samples_leaf: float = 1.0,
        max_depth: int | None = None,
        discretization: str = "mdl",
        n_bins: int = 4,
        max_levels: int = 10,
        missing: str = "error",
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.bag_fraction = bag_fraction
        self.criterion = criterion
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.discretization = discretization
        self.n_bins = n_bins
        self.max_levels = max_levels
        self.missing = missing
        self.random_state = random_state

    def _learner(self) -> C45:
        size = self.max_features or (self.n_features_in_ + 1) // 2
        return C45(self.criterion, self.min_samples_leaf, self.max_depth, pruning="none", max_features=size)
