"""Shared parts of classifiers of discrete features: coding of columns, outputs of classes, bags of trees."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from oblique_cli.drawing.diagram import Sketch
from oblique_cli.drawing.view import TreeView
from oblique_cli.estimators.checked_rows import checked
from oblique_cli.estimators.fitted import LogProbabilities, SeveralTrees, SingleTree, TrainingRows, TreeKind, visits
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Choice, Constraint, Integer, Real, check
from oblique_cli.ground.nodes import spread_decreases
from oblique_cli.papers.discrete.c45 import C45, Rows
from oblique_cli.papers.discrete.discrete_tree import DiscreteTree, describe, indicators, node_texts
from oblique_cli.papers.discrete.discretizing import Discretizer, coded
from oblique_cli.papers.discrete.domain import Domain, Ints
from oblique_cli.papers.discrete.extraction import spectrum_of
from oblique_cli.papers.discrete.spectrum import Spectrum, combination
from oblique_cli.papers.discrete.tcfs import TIE, ClassShares
from oblique_cli.parameters import Declared, parameter


class Rest(Declared):
    """Parameters of all classifiers of discrete features."""

    missing: str = parameter(
        default="error",
        allowed=Choice(("error", "impute")),
        help='"impute" lets a missing value (NaN) take the column\'s most frequent code among the rows of `fit`.',
    )
    random_state: Any = parameter(default=None, help="What is drawn: see the notes.")


class Bag(Declared):
    """Number of trees."""

    n_estimators: int = parameter(default=40, allowed=Integer(1), also="n_trees", help="Number of trees.")


class Samples(Declared):
    """Sample of rows for each of several trees."""

    bag_fraction: float = parameter(
        default=1.0,
        allowed=Real(0.0, 1.0, open_low=True),
        help="Rows drawn for each tree, as a share of the training rows.",
    )


class DiscreteClassifier(LogProbabilities, TreeKind, ClassifierMixin, BaseEstimator):
    """Base of classifiers of discrete features: `fit` codes the columns and converts classes to outputs.

    Two classes have one output, the indicator of the second, as in Kargupta et al. (2006); more have one output each.
    """

    constraints: ClassVar[Mapping[str, Constraint]]
    needs_pruning_rows: ClassVar[bool] = False

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
        rows, labels = checked(self, X, y, dtype=np.float64, ensure_all_finite=self._finite, ensure_min_samples=1)
        check_classification_targets(labels)
        self.classes_, classes = np.unique(labels, return_inverse=True)
        self.columns_ = self._discretizer().learn(rows, classes, len(self.classes_))
        self.domain_ = Domain([column.cardinality for column in self.columns_])
        seed = int(check_random_state(self.random_state).randint(2**31))
        self._grow(coded(rows, self.columns_), classes, seed)
        return self

    @abstractmethod
    def _learner(self) -> C45:
        """Return the learner of trees; ConfigError for invalid parameters."""

    @abstractmethod
    def _discretizer(self) -> Discretizer:
        """Return the discretizer of columns; ConfigError for invalid parameters."""

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
        """Return the meaning of each value of each feature, as text behind the name of the feature."""
        check_is_fitted(self)
        return [column.names() for column in self.columns_]

    @property
    def _finite(self) -> bool | str:
        return "allow-nan" if self.missing == "impute" else True

    def _codes(self, X: ArrayLike) -> Ints:
        check_is_fitted(self)
        rows = checked(self, X, dtype=np.float64, ensure_all_finite=self._finite, reset=False)
        return coded(rows, self.columns_)

    def _class_codes(self, y: ArrayLike) -> Ints:
        """Return codes of labels, -1 for labels that no training row has, (n,)."""
        labels = np.asarray(y)
        codes = np.minimum(np.searchsorted(self.classes_, labels), len(self.classes_) - 1)
        return np.where(self.classes_[codes] == labels, codes, -1)

    def _indicator(self, tree: DiscreteTree) -> Array:
        """Return the outputs of a tree at its nodes: the indicators of labels, (n_nodes, K)."""
        return indicators(tree, len(self.classes_))

    def _weights_and_means(self, tree: DiscreteTree) -> tuple[Array, Array]:
        """Return the weights of the nodes of a tree, (n_nodes,), and their mean outputs, (n_nodes, k)."""
        weights = tree.values.sum(axis=1)
        return weights, tree.values / np.where(weights > 0, weights, 1.0)[:, None]

    def _decreases_of(self, tree: DiscreteTree) -> Array:
        """Return the decrease of Gini impurity by the splits on each feature, (p,), relative to the root's weight."""
        weights, means = self._weights_and_means(tree)
        gains = spread_decreases(tree.parents, weights / weights[0], means)
        inner = np.flatnonzero(~tree.is_leaf)
        decreases = np.bincount(tree.feature[inner], weights=gains[inner], minlength=self.n_features_in_)
        return decreases.astype(np.float64)

    def _text_of(self, tree: DiscreteTree, features: Sequence[str], classes: Sequence[str], precision: int) -> str:
        return describe(tree, features, self.value_names(), classes, precision)

    def _view_of(
        self,
        tree: DiscreteTree,
        features: Sequence[str],
        classes: Sequence[str],
        precision: int,
        title: str,
        rows: TrainingRows,
    ) -> TreeView:
        texts, ways = node_texts(tree, features, self.value_names(), classes, precision)
        shades = np.where(tree.is_leaf, tree.labels, -1).tolist()
        rules: list[dict[str, Any]] = []
        for node in range(tree.n_nodes):
            if tree.is_leaf[node]:
                rules.append({})
                continue
            column = self.columns_[int(tree.feature[node])]
            codes = {"levels": column.levels.tolist(), "cuts": column.cuts.tolist(), "usual": column.usual}
            rules.append({"k": int(tree.feature[node]), **codes})
        counts = None
        if rows is not None:
            leaves = tree.apply(coded(np.asarray(rows[0], dtype=np.float64), self.columns_))
            counts = visits(leaves, tree.parents, rows[1], len(classes))
            texts = [classes[tree.labels[node]] if tree.is_leaf[node] else text for node, text in enumerate(texts)]
        sketch = Sketch(tree.parents, texts, ways, shades, rules)
        return sketch.view(title, classes, counts, None if counts is None else counts.sum(axis=1).astype(np.int64))

    def _sizes(self, trees: Sequence[DiscreteTree]) -> None:
        """Set the sizes for tables: nodes and leaves of all trees, depth of the deepest."""
        self.n_nodes_ = sum(tree.n_nodes for tree in trees)
        self.n_leaves_ = sum(tree.n_leaves for tree in trees)
        self.depth_ = max(tree.depth for tree in trees)


class SingleDiscreteTree(SingleTree, DiscreteClassifier):
    """Base of classifiers with one tree."""

    tree_: DiscreteTree

    def apply(self, X: ArrayLike) -> Ints:
        """Return the leaf of each row as a node number of tree_. X : (n, p); returns (n,)."""
        codes = self._codes(X)
        return self.tree_.apply(codes)

    def _decreases(self) -> Array:
        return self._decreases_of(self.tree_)[None]


class SeveralDiscreteTrees(SeveralTrees, DiscreteClassifier):
    """Base of classifiers with several trees."""

    trees_: list[DiscreteTree]

    def apply(self, X: ArrayLike) -> Ints:
        """Return the leaf of each row in each tree as a node number of trees_, (n, len(trees_)). X : (n, p)."""
        codes = self._codes(X)
        return np.stack([tree.apply(codes) for tree in self.trees_], axis=1)

    def _decreases(self) -> Array:
        return np.stack([self._decreases_of(tree) for tree in self.trees_])

    def _parents(self) -> list[NDArray[np.int64]]:
        return [tree.parents for tree in self.trees_]

    def _tree(self, number: int) -> DiscreteTree:
        return self.trees_[number]


class BaggedTreesClassifier(DiscreteClassifier):
    """Base of classifiers of trees grown on rows drawn with replacement, with a joint prediction."""

    n_estimators: int
    bag_fraction: float

    def _grow(self, codes: Ints, classes: NDArray[np.integer], seed: int) -> None:
        self.trees_ = self._bag(codes, classes, seed)
        self._sizes(self.trees_)

    def _bag(self, codes: Ints, classes: NDArray[np.integer], seed: int) -> list[DiscreteTree]:
        """Grow the trees and compute the out-of-bag error."""
        n = len(codes)
        size = max(1, round(self.bag_fraction * n))
        rows = Rows.of(codes, classes, len(self.classes_), self.domain_)
        votes = np.zeros((n, len(self.classes_)))
        learner, trees = self._learner(), []
        for i in range(self.n_estimators):
            rng = seeds.generator(seed, "tree", i)
            weights = np.bincount(rng.integers(n, size=size), minlength=n).astype(np.float64)
            trees.append(learner.grow(rows.weighted(weights), rng))
            unseen = np.flatnonzero(weights == 0)
            votes[unseen, trees[-1].labels[trees[-1].apply(codes[unseen])]] += 1
        judged = votes.any(axis=1)
        wrong = np.argmax(votes[judged], axis=1) != classes[judged]
        self.oob_error_ = float(wrong.mean()) if judged.any() else float("nan")
        return trees

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return class shares of the outputs, (n, C), columns in the order of classes_. X : (n, p)."""
        codes = self._codes(X)
        return ClassShares(len(self.classes_))(self._scores(codes))

    def _scores(self, codes: Ints) -> Array:
        """Return the outputs, (n, K): the mean over the trees."""
        return vote(self.trees_, [self._indicator(tree) for tree in self.trees_], codes)

    def spectrum(self, max_order: int | None = None) -> Spectrum:
        """Return the Fourier spectrum of the ensemble, the mean of those of its trees (section 4.3)."""
        check_is_fitted(self)
        spectra = [spectrum_of(tree, self._indicator(tree), max_order=max_order) for tree in self.trees_]
        return combination(spectra, np.full(len(spectra), 1.0 / len(spectra)))

    def extra_measures(self, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
        """Return measures for tables beside accuracy; the given rows are not used."""
        return {} if np.isnan(self.oob_error_) else {"oob_error": self.oob_error_}


def vote(trees: Sequence[DiscreteTree], outputs: Sequence[Array], codes: Ints) -> Array:
    """Return the mean of the trees' outputs at each row, (n, K). outputs : for each tree, (n_nodes, K)."""
    total = np.zeros((len(codes), outputs[0].shape[1]))
    for tree, values in zip(trees, outputs, strict=True):
        total += values[tree.apply(codes)]
    return total / len(trees)
