"""CART regression as a reference: scikit-learn's regression tree with the face of ours.

It has a module of its own, which the table of algorithms loads when it is asked for: scikit-learn's trees take as long
to load as all that a command needs otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.tree import DecisionTreeRegressor
from sklearn.tree import export_text as tree_text
from sklearn.utils.validation import check_is_fitted

from oblique_cli.constraints import Constraint, Integer, Optional, Real
from oblique_cli.drawing.diagram import Sketch, drawn, yes_or_no
from oblique_cli.estimators.fitted import Names
from oblique_cli.estimators.rows import refuse_negative, refuse_times
from oblique_cli.magnitudes import comparable, refuse_extreme
from oblique_cli.nodes import parents_of

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

    def export_text(self, feature_names: Names = None, target: str = "y", precision: int = 3) -> str:
        """Return the rules of the tree as scikit-learn writes them.

        feature_names : (p,) names, or None; target : not shown; precision : digits behind the point
        """
        check_is_fitted(self)
        names = None if feature_names is None else list(feature_names)
        text: str = tree_text(self, feature_names=names, decimals=precision, max_depth=int(self.get_depth()) + 1)
        return text

    def plot(self, feature_names: Names = None, target: str = "y", precision: int = 3, title: str = "") -> Figure:
        """Return the tree as a matplotlib figure. Parameters are those of the other regression trees' `export_text`.

        ConfigError for more than 200 leaves, or without matplotlib.
        """
        check_is_fitted(self)
        own = getattr(self, "feature_names_in_", [f"x{j + 1}" for j in range(self.n_features_in_)])
        names = own if feature_names is None else feature_names
        tree = self.tree_
        left, right = tree.children_left, tree.children_right
        texts = [
            f"{target} = {tree.value[node].item():.{precision}g}"
            if left[node] < 0
            else f"{names[tree.feature[node]]} <= {tree.threshold[node]:.{precision}g}"
            for node in range(len(left))
        ]
        sketch = Sketch(parents_of(left, right), texts, yes_or_no(left), [-1] * len(left))
        return drawn(sketch.view(title, n_rows=tree.n_node_samples.astype(np.int64)))

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
