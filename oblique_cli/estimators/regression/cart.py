"""CART regression as a reference: scikit-learn's regression tree with the face of ours.

It has a module of its own, which the table of algorithms loads when it is asked for: scikit-learn's trees take as long
to load as all that a command needs otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from oblique_cli.drawing.diagram import drawn
from oblique_cli.drawing.view import TreeView, unbroken
from oblique_cli.estimators.fitted import Names, TrainingRows
from oblique_cli.estimators.regression.linear_leaves import view_of_model_tree
from oblique_cli.estimators.rows import refuse_negative, refuse_times
from oblique_cli.ground.constraints import Constraint, Integer, Optional, Real
from oblique_cli.ground.magnitudes import comparable, refuse_extreme
from oblique_cli.tree.model_tree import ModelTree, export_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class CARTRegressor(DecisionTreeRegressor):
    """scikit-learn's regression tree, constants in its leaves, with the attributes that experiments read.

    It takes all parameters of `sklearn.tree.DecisionTreeRegressor`; configurations have these.

    Parameters
    ----------
    min_samples_leaf : int, default 1
        Least rows of a child.
    min_samples_split : int, default 2
        A node with fewer rows is a leaf.
    max_depth : int or None, default None
        Longest path from the root to a leaf; None for no limit.
    max_leaf_nodes : int or None, default None
        Most leaves, those of largest gain first; None for no limit.
    ccp_alpha : float, default 0
        Complexity at which the tree is cut back, in units of the mean squared error.
    """

    needs_pruning_rows: ClassVar[bool] = False
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "min_samples_leaf": Integer(1),
        "min_samples_split": Integer(2),
        "max_depth": Optional(Integer(1)),
        "max_leaf_nodes": Optional(Integer(2)),
        "ccp_alpha": Real(0.0),
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Grow the tree, as scikit-learn does. X : (n, p) numbers; y : (n,) numbers; sample_weight : (n,) or None."""
        refuse_times(X, type(self).__name__)
        if check_input:
            sample_weight = self._checked_ends(X, sample_weight)
        super().fit(X, y, sample_weight=sample_weight, check_input=check_input)
        return self

    def predict(self, X: ArrayLike, check_input: bool = True) -> NDArray[np.float64]:
        """Return the numbers predicted for rows X (n, p).

        Numbers beyond single precision go the way of its ends: every cut of the tree lies between these.
        """
        most = float(np.finfo(np.float32).max)
        rows: Any = X if hasattr(X, "clip") else np.asarray(X)  # a data frame keeps its names
        if check_input and np.asarray(rows).dtype.kind == "f":
            sizes = np.abs(np.asarray(rows))
            if (sizes > most).any() and not np.isinf(sizes).any():
                X = rows.clip(-most, most)
        predicted: NDArray[np.float64] = super().predict(X, check_input)
        return predicted

    def _checked_ends(self, X: Any, sample_weight: Any) -> Any:
        """Weights of ordinary size; refuses X that is not of the single precision that scikit-learn's trees keep."""
        owner = type(self).__name__
        try:
            rows = np.asarray(X)
            if rows.dtype.kind == "c":
                return sample_weight
            rows = rows.astype(np.float64)
            weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        except (TypeError, ValueError):
            return sample_weight  # scikit-learn says what is wrong with them
        if rows.ndim == 2 and len(rows) and np.isfinite(rows).all():
            single = np.finfo(np.float32)
            refuse_extreme(rows, owner, float(single.tiny), float(single.max))
        if weights is None or weights.ndim != 1 or not np.isfinite(weights).all():
            return sample_weight
        refuse_negative(weights)
        return comparable(weights, f"sample_weight of {owner}")

    @property
    def model_tree(self) -> ModelTree:
        """The tree in the form of the other regression trees, a constant at every node.

        Cuts are in single precision, and where missing values go is not in it.
        """
        check_is_fitted(self)
        tree = self.tree_
        return ModelTree(
            tree.children_left.astype(np.int32),
            tree.children_right.astype(np.int32),
            np.maximum(tree.feature, -1).astype(np.int32),
            np.minimum(tree.threshold, np.finfo(float).max),  # infinite where missing values are cut off
            np.zeros((tree.node_count, self.n_features_in_)),
            tree.value[:, 0, 0].copy(),
            tree.n_node_samples.astype(np.int64),
            np.maximum(tree.impurity, 0.0) * tree.weighted_n_node_samples,  # rounding can be below 0
        )

    def export_text(self, feature_names: Names = None, target: str = "y", precision: int = 3) -> str:
        """Return the rules of the tree. Parameters are those of the other regression trees' `export_text`."""
        return export_text(self.model_tree, self._feature_names(feature_names), target, precision)

    def plot(self, feature_names: Names = None, target: str = "y", precision: int = 3, title: str = "") -> Figure:
        """Return the tree as a matplotlib figure. Parameters are those of the other regression trees' `export_text`.

        ConfigError for more than 200 leaves, or without matplotlib.
        """
        return drawn(self.view(feature_names, target, precision, title))

    def view(
        self,
        feature_names: Names = None,
        target: str = "y",
        precision: int = 3,
        title: str = "",
        rows: TrainingRows = None,
    ) -> TreeView:
        """Return what drawings show of the tree. Parameters are those of the other regression trees' `view`."""
        features = [unbroken(name) for name in self._feature_names(feature_names)]
        return view_of_model_tree(self.model_tree, features, unbroken(target), precision, title, rows)

    def _feature_names(self, names: Names) -> list[str]:
        own = getattr(self, "feature_names_in_", [f"x{j + 1}" for j in range(self.n_features_in_)])
        return list(own if names is None else names)  # an `Indicator` stays one

    @property
    def n_leaves_(self) -> int:
        """Number of leaves."""
        return int(self.get_n_leaves())

    @property
    def n_nodes_(self) -> int:
        """Number of nodes, leaves included."""
        return int(self.tree_.node_count)

    @property
    def depth_(self) -> int:
        """Longest path from the root."""
        return int(self.get_depth())
