"""scikit-learn estimators of C4.5-style trees over discrete features: one tree, bagging, random forest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Integer, Optional
from oblique_cli.papers.discrete.c45 import C45, Rows
from oblique_cli.papers.discrete.coded_classifier import (
    Bag,
    BaggedTreesClassifier,
    C45Parameters,
    Samples,
    SeveralDiscreteTrees,
    SingleDiscreteTree,
)
from oblique_cli.papers.discrete.discrete_tree import class_shares
from oblique_cli.papers.discrete.domain import Ints
from oblique_cli.papers.discrete.extraction import spectrum_of
from oblique_cli.papers.discrete.spectrum import Spectrum
from oblique_cli.parameters import parameter


class C45Classifier(C45Parameters, SingleDiscreteTree):
    """A C4.5-style tree: gain ratio, a branch for every value, pessimistic pruning (Quinlan 1993).

    Attributes
    ----------
    tree_ : DiscreteTree
    columns_ : how each column is coded; domain_ : Domain of the codes
    classes_, n_features_in_, n_leaves_, n_nodes_, depth_
    """

    random_state: Any = parameter(default=None, help="Not used: a single tree draws nothing.")

    def _grow(self, codes: Ints, classes: NDArray[np.integer], seed: int) -> None:
        self.tree_ = self._learner().grow(Rows.of(codes, classes, len(self.classes_), self.domain_))
        self._sizes([self.tree_])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the label of each row's leaf, or of the largest mean share of its leaves. X : (n, p); returns (n,)."""
        codes = self._codes(X)
        return np.asarray(self.classes_.take(self._labels(self.tree_, codes)))

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the class shares of each row's leaf; of a leaf that no training row reaches, 1 for its label.

        X : (n, p); returns (n, C). A row that goes down several branches has the mean of their shares."""
        codes = self._codes(X)
        return self._means(self.tree_, class_shares(self.tree_), codes)[0]

    def spectrum(self, max_order: int | None = None) -> Spectrum:
        """Return the Fourier spectrum of the tree."""
        check_is_fitted(self)
        return spectrum_of(self.tree_, self._indicator(self.tree_), max_order=max_order)


class C45BaggingClassifier(Bag, Samples, C45Parameters, SeveralDiscreteTrees, BaggedTreesClassifier):
    """Bagged C4.5-style trees: each grown on rows drawn with replacement, all voting (Breiman 1996).

    Attributes
    ----------
    trees_ : list of DiscreteTree
    oob_error_ : float
        Share of training rows that the trees without them misclassify; NaN if every tree drew every row.
    columns_, domain_, classes_, n_features_in_
    n_leaves_, n_nodes_, depth_ : sums over all trees, and the deepest

    Notes
    -----
    Stochasticity. One integer is drawn from `random_state`; tree i draws from the stream named ("tree", i).
    """


class _Drawn(Bag):
    """Number of features drawn at every node."""

    max_features: int | None = parameter(
        default=None,
        allowed=Optional(Integer(1)),
        help="Features drawn at a node; None for half of them, rounded up, which is what Kargupta et al. (2006) use. "
        "Where none of those drawn can split, the next ones are drawn.",
    )


class C45ForestClassifier(_Drawn, C45BaggingClassifier):
    """A random forest of multiway trees: no pruning, features drawn at every node (Breiman 2001).

    Attributes
    ----------
    As in `C45BaggingClassifier`.
    """

    criterion: str = parameter(default="gain")
    min_samples_leaf: float = parameter(default=1.0)
    # A forest is not pruned.
    pruning = "none"
    confidence = None  # type: ignore[assignment]
    subtree_raising = None  # type: ignore[assignment]

    def _learner(self) -> C45:
        size = self.max_features or (self.n_features_in_ + 1) // 2
        return C45(self.criterion, self.min_samples_leaf, self.max_depth, pruning="none", max_features=size)
