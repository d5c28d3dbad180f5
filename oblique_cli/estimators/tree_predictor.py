"""What all estimators of one hyperplane tree share: everything that needs nothing but the tree."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from oblique_cli.estimators.fitted import LogProbabilities, SingleTree, TrainingRows
from oblique_cli.estimators.n_jobs import threads_of
from oblique_cli.tree.importances import gini_decreases_by_feature, ranges_of
from oblique_cli.tree.structure import Tree

if TYPE_CHECKING:
    from oblique_cli.drawing.view import TreeView

Array = NDArray[np.float64]


class TreePredictor(LogProbabilities, SingleTree, ClassifierMixin):
    """A classifier that predicts by its `tree_`; a subclass says how rows are checked, by `_rows`."""

    classes_: NDArray[Any]
    tree_: Tree
    levels_: Mapping[int, Sequence[Any]] = MappingProxyType({})  # of models without qualitative columns

    @abstractmethod
    def _rows(self, X: ArrayLike) -> Array:
        """Return checked rows as the tree takes them, (n, p)."""

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the majority label of each row's leaf, or that of its linear model. X : (n, p); returns (n,)."""
        rows, leaves = self._rows_and_leaves(X)
        labels: NDArray[Any] = self.classes_.take(self.tree_.predicted(rows, leaves=leaves))
        return labels

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the class shares of each row's leaf, by weight where the fit was weighted, or its `probabilities`.

        X : (n, p); returns (n, C), columns in the order of classes_
        """
        rows, leaves = self._rows_and_leaves(X)
        return self.tree_.predicted_shares(rows, leaves=leaves)

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the leaf of each row as a node number of tree_. X : (n, p); returns (n,)."""
        return self._rows_and_leaves(X)[1]

    def _rows_and_leaves(self, X: ArrayLike) -> tuple[Array, NDArray[np.int32]]:
        """Return rows as `tree_rows` does, (n, p), and their leaves, (n,)."""
        rows = self.tree_rows(X)
        return rows, self.tree_.apply(rows, threads_of(self))

    def tree_rows(self, X: ArrayLike) -> Array:
        """Return rows as `tree_` takes them: levels as its own codes, missing values filled if they are. X : (n, p)"""
        check_is_fitted(self)
        return self._rows(X)

    def _keep(self, tree: Tree, X: Array) -> None:
        """Make `tree` the fitted one. X : (n, p) rows that it was grown on"""
        self._take(tree)
        self._ranges = ranges_of(X)

    def _take(self, tree: Tree) -> None:
        """Make `tree` the fitted one, of the same rows as before."""
        self.tree_ = tree
        self.n_leaves_ = tree.n_leaves
        self.n_nodes_ = tree.n_nodes
        self.depth_ = tree.depth

    def _decreases(self) -> Array:
        return gini_decreases_by_feature(self.tree_, self._ranges)[None]

    def _text_of(self, tree: Tree, features: Sequence[str], classes: Sequence[str], precision: int) -> str:
        from oblique_cli.tree.describe import export_text

        return export_text(tree, features, classes, precision, self._level_names())

    def _view_of(
        self,
        tree: Tree,
        features: Sequence[str],
        classes: Sequence[str],
        precision: int,
        title: str,
        rows: TrainingRows,
    ) -> TreeView:
        from oblique_cli.drawing.view import view_of

        levels = self._level_names()
        rows = None if rows is None else (self.tree_rows(rows[0]), rows[1])
        return view_of(tree, features, classes, title=title, precision=precision, level_names=levels, rows=rows)

    def _level_names(self) -> dict[int, list[str]]:
        """What the levels of qualitative columns are called, by the position of the column."""
        return {j: [str(level) for level in levels] for j, levels in getattr(self, "levels_", {}).items()}
