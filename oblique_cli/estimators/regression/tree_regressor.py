"""What all regression trees of this package share as estimators: checked rows in an order of their own, prediction,
equations and drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from oblique_cli.drawing.diagram import drawn
from oblique_cli.drawing.view import TreeView, unbroken
from oblique_cli.errors import DataError
from oblique_cli.estimators.fitted import Names, SingleTree, TrainingRows
from oblique_cli.estimators.rows import checked
from oblique_cli.ground.magnitudes import refuse_extreme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from oblique_cli.tree.model_tree import ModelTree
    from oblique_cli.tree.regression_tree import RegressionTree

Array = NDArray[np.float64]

LARGEST = 1e140  # sums of squares of larger targets overflow, and those of numbers all below its inverse vanish


class TreeRegressor(SingleTree, RegressorMixin, BaseEstimator):
    """A regression tree with a model in every leaf; its `tree_` predicts and applies."""

    tree_: ModelTree | RegressionTree

    def _training_rows(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """Checked rows and targets, in an order that depends on their content alone. DataError for extreme numbers."""
        rows, targets = checked(
            self, X, y, dtype=np.float64, order="C", y_numeric=True, multi_output=False, ensure_min_samples=1
        )
        targets = np.asarray(targets, dtype=np.float64)
        owner = type(self).__name__
        refuse_extreme(rows, owner)
        if (size := np.abs(targets).max()) > LARGEST or 0.0 < size < 1.0 / LARGEST:
            raise DataError(
                f"the largest number in y of {owner} must be from {1.0 / LARGEST:g} to {LARGEST:g} in size, or 0. Got "
                f"{size:g}; divide y by a unit."
            )
        # Sums depend on the order of rows, and no tree should.
        order = np.lexsort((*rows.T[::-1], targets))
        return np.ascontiguousarray(rows[order]), targets[order]

    def predict(self, X: ArrayLike) -> Array:
        """Return the value of the model in each row's leaf. X : (n, p); returns (n,)."""
        check_is_fitted(self)
        return self.tree_.predict(checked(self, X, dtype=np.float64, order="C", reset=False))

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the leaf of each row as a node number of tree_. X : (n, p); returns (n,)."""
        check_is_fitted(self)
        return self.tree_.apply(checked(self, X, dtype=np.float64, order="C", reset=False))

    def export_text(  # type: ignore[override]
        self, feature_names: Names = None, target: str = "y", precision: int = 3
    ) -> str:
        """Return the rules of the tree with the model of every leaf.

        feature_names : (p,) names; without them those of the columns in `fit`, else x1, x2, ...
        target : name of what is predicted; precision : significant digits
        """
        check_is_fitted(self)
        return self._text_of(self.tree_, self._feature_names(feature_names), [target], precision)

    def plot(  # type: ignore[override]
        self, feature_names: Names = None, target: str = "y", precision: int = 3, title: str = ""
    ) -> Figure:
        """Return the tree as a matplotlib figure, the model of a leaf in it. Parameters are those of `export_text`.

        ConfigError for more than 200 leaves, or without matplotlib.
        """
        return drawn(self.view(feature_names, target, precision, title))

    def view(  # type: ignore[override]
        self,
        feature_names: Names = None,
        target: str = "y",
        precision: int = 3,
        title: str = "",
        rows: TrainingRows = None,
    ) -> TreeView:
        """Return what drawings show of the tree. rows : the training rows (n, p) and their numbers (n,), or None

        Other parameters are those of `plot`.
        """
        check_is_fitted(self)
        features = [unbroken(name) for name in self._feature_names(feature_names)]
        return self._view_of(self.tree_, features, [unbroken(target)], precision, title, rows)
