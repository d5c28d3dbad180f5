"""Shared parts of classifiers of discrete features: coding of columns, outputs of classes, bags of trees."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, check_array, check_consistent_length, check_is_fitted

from oblique_cli.drawing.diagram import Sketch
from oblique_cli.drawing.view import TreeView
from oblique_cli.estimators.categorical import MOST_LEVELS, as_frame, learned, qualitative_columns
from oblique_cli.estimators.categorical import coded as codes_of_levels
from oblique_cli.estimators.checked_rows import checked
from oblique_cli.estimators.fitted import LogProbabilities, SeveralTrees, SingleTree, TrainingRows, TreeKind, visits
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Choice, Constraint, Integer, Real, check
from oblique_cli.ground.nodes import spread_decreases
from oblique_cli.papers.discrete.c45 import C45, Growth, Rows
from oblique_cli.papers.discrete.discrete_tree import DiscreteTree, counted_labels, describe, indicators, node_texts
from oblique_cli.papers.discrete.discretizing import Bins, Discretizer, coded
from oblique_cli.papers.discrete.domain import Domain, Ints
from oblique_cli.papers.discrete.extraction import spectrum_of
from oblique_cli.papers.discrete.spectrum import Spectrum, combination
from oblique_cli.papers.discrete.tcfs import TIE, ClassShares
from oblique_cli.parameters import Declared, parameter


class Rest(Declared):
    """Parameters of all classifiers of discrete features."""

    missing: str = parameter(
        default="error",
        allowed=Choice(("error", "impute", "shares")),
        help='"error" refuses a missing number (NaN). "impute" lets it take the column\'s most frequent code among the '
        'rows of `fit`. "shares" sends its row down all branches of a split on its column, as C4.5 does: in C4.5 trees '
        "by the weight of the training rows there, in trees from Fourier spectra by equal shares, the mean over the "
        'column\'s codes. A missing or new level of a qualitative column is treated so by "error" as well, and as the '
        'most frequent level by "impute".',
    )
    random_state: Any = parameter(default=None, help="What is drawn: see the notes.")
    qualitative: Any = parameter(
        default="auto",
        help='Columns whose values are levels, each with a branch of its own. "auto" takes the columns of a DataFrame '
        "that hold objects, categories, strings or booleans; arrays have none. A list names columns or counts them "
        "from 0.",
    )


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
    qualitative: Any
    levels_: Mapping[int, tuple[Any, ...]] = MappingProxyType({})  # position of a qualitative column -> its levels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Any:
        """Learn codes and trees.

        X : (n, p) numbers, NaN for a missing value if `missing` allows it, anything in qualitative columns
        y : (n,) labels
        """
        owner, X = type(self).__name__, as_frame(X)
        check(self.get_params(deep=False), self.constraints, owner)
        discretizer, columns = self._discretizer(), qualitative_columns(X, self.qualitative, owner)
        self.__dict__.pop("levels_", None)
        if columns:
            checked(self, X, skip_check_array=True)  # number and names of the columns
            self.levels_ = learned(X, columns, max(discretizer.max_levels, MOST_LEVELS), owner)
            rows, labels = self._with_levels(X), _check_y(y, estimator=self)
            check_consistent_length(rows, labels)
        else:
            rows, labels = checked(self, X, y, dtype=np.float64, ensure_all_finite=self._finite, ensure_min_samples=1)
        check_classification_targets(labels)
        self.classes_, classes = np.unique(labels, return_inverse=True)
        counts = {j: len(levels) for j, levels in self.levels_.items()}
        self.columns_ = discretizer.learn(rows, classes, len(self.classes_), counts)
        self.domain_ = Domain([column.cardinality for column in self.columns_])
        seed = int(check_random_state(self.random_state).randint(2**31))
        self._grow(coded(rows, self.columns_, self._spread), classes, seed)
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
        words = {j: [f"= {level}" for level in levels] for j, levels in self._level_names().items()}
        return [words.get(j) or column.names() for j, column in enumerate(self.columns_)]

    @property
    def _finite(self) -> bool | str:
        return True if self.missing == "error" else "allow-nan"

    @property
    def _spread(self) -> Container[int]:
        """Columns whose unknown values send a row down all branches."""
        return {"error": self.levels_, "impute": (), "shares": range(len(self.columns_))}[self.missing]

    def _with_levels(self, X: Any) -> Array:
        """Return rows as numbers, (n, p): positions of levels, NaN for an unknown one."""
        rows, words = codes_of_levels(X, self.levels_), list(self.levels_)
        numbers = np.delete(rows, words, axis=1)
        check_array(numbers, ensure_min_features=0, ensure_all_finite=self._finite, estimator=self, input_name="X")
        rows[:, words] = np.where(rows[:, words] < 0, np.nan, rows[:, words])
        return rows

    def _codes(self, X: ArrayLike, spread: bool = True) -> Ints:
        """Return codes of rows, (n, p). spread : whether unknown values of columns in `_spread` have code -1"""
        return coded(self.tree_rows(X), self.columns_, self._spread if spread else ())

    def tree_rows(self, X: ArrayLike) -> Array:
        """Return checked rows as numbers, (n, p): positions of levels, NaN for an unknown one. X : (n, p)"""
        check_is_fitted(self)
        if not self.levels_:
            return np.asarray(checked(self, X, dtype=np.float64, ensure_all_finite=self._finite, reset=False))
        X = as_frame(X)
        checked(self, X, skip_check_array=True, reset=False)
        return self._with_levels(X)

    def _means(self, tree: DiscreteTree, values: Array, codes: Ints) -> tuple[Array, NDArray[np.bool_]]:
        """Return the values of rows at their leaves, the mean for rows that go down several branches, and which do.

        values : (n_nodes, K); codes : (n, p), -1 for unknown; returns (n, K) and (n,)"""
        return tree.means(codes, values, tree.branch_shares(self._weights_and_means(tree)[0]))

    def _labels(self, tree: DiscreteTree, codes: Ints) -> Ints:
        """Return the class codes that a tree predicts for rows, (n,). codes : (n, p), -1 for unknown"""
        return counted_labels(tree, codes)

    def _class_codes(self, y: ArrayLike) -> Ints:
        """Return codes of labels, -1 for labels that no training row has, (n,)."""
        labels = np.asarray(y)
        codes = np.minimum(np.searchsorted(self.classes_, labels), len(self.classes_) - 1)
        return np.where(self.classes_[codes] == labels, codes, -1)

    def _indicator(self, tree: DiscreteTree) -> Array:
        """Return the outputs of a tree at its nodes: the indicators of labels, (n_nodes, K)."""
        return indicators(tree.labels, len(self.classes_))

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
            leaves = tree.apply(self._codes(rows[0], spread=False))
            counts = visits(leaves, tree.parents, rows[1], len(classes))
            texts = [classes[tree.labels[node]] if tree.is_leaf[node] else text for node, text in enumerate(texts)]
        sketch = Sketch(tree.parents, texts, ways, shades, rules)
        return sketch.view(title, classes, counts, None if counts is None else counts.sum(axis=1).astype(np.int64))

    def _sizes(self, trees: Sequence[DiscreteTree]) -> None:
        """Set the sizes for tables: nodes and leaves of all trees, depth of the deepest."""
        self.n_nodes_ = sum(tree.n_nodes for tree in trees)
        self.n_leaves_ = sum(tree.n_leaves for tree in trees)
        self.depth_ = max(tree.depth for tree in trees)


class _Discretization(Declared):
    """Parameter of discretization, with its name in a classifier."""

    discretization: str = Discretizer.parameters["method"]  # type: ignore[assignment]


class C45Parameters(Growth, _Discretization, Bins, Rest, DiscreteClassifier):
    """Parameters of the trees and of the coding of columns."""

    def _learner(self) -> C45:
        return C45(**{name: getattr(self, name) for name in Growth.parameters})

    def _discretizer(self) -> Discretizer:
        return Discretizer(method=self.discretization, n_bins=self.n_bins, max_levels=self.max_levels)


class SingleDiscreteTree(SingleTree, DiscreteClassifier):
    """Base of classifiers with one tree."""

    tree_: DiscreteTree

    def apply(self, X: ArrayLike) -> Ints:
        """Return the leaf of each row as a node number of tree_, with the most frequent code for an unknown value.

        X : (n, p); returns (n,)"""
        codes = self._codes(X, spread=False)
        return self.tree_.apply(codes)

    def _decreases(self) -> Array:
        return self._decreases_of(self.tree_)[None]


class SeveralDiscreteTrees(SeveralTrees, DiscreteClassifier):
    """Base of classifiers with several trees."""

    trees_: list[DiscreteTree]

    def apply(self, X: ArrayLike) -> Ints:
        """Return the leaf of each row in each tree as a node number of trees_, (n, len(trees_)), with the most frequent
        code for an unknown value. X : (n, p)"""
        codes = self._codes(X, spread=False)
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
            votes[unseen, counted_labels(trees[-1], codes[unseen])] += 1
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
        total = np.zeros((len(codes), 1 if len(self.classes_) <= 2 else len(self.classes_)))
        for tree in self.trees_:
            total += indicators(self._labels(tree, codes), len(self.classes_))
        return total / len(self.trees_)

    def spectrum(self, max_order: int | None = None) -> Spectrum:
        """Return the Fourier spectrum of the ensemble, the mean of those of its trees (section 4.3)."""
        check_is_fitted(self)
        spectra = [spectrum_of(tree, self._indicator(tree), max_order=max_order) for tree in self.trees_]
        return combination(spectra, np.full(len(spectra), 1.0 / len(spectra)))

    def extra_measures(self, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
        """Return measures for tables beside accuracy; the given rows are not used."""
        return {} if np.isnan(self.oob_error_) else {"oob_error": self.oob_error_}
