"""CART regression as a reference: scikit-learn's regression tree (slow to load) with this package's interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.categorical import as_frame
from oblique_cli.estimators.checked_rows import refuse_negative, refuse_times
from oblique_cli.estimators.monotonic import NAME as ORDER
from oblique_cli.estimators.monotonic import signs_by_column
from oblique_cli.estimators.regression.tree_regressor import ShownRegression, left_out
from oblique_cli.ground.constraints import (
    LEAST_ROWS,
    Choice,
    Constraint,
    CountOrShare,
    Either,
    Integer,
    Optional,
    Real,
    SignsOfColumns,
)
from oblique_cli.ground.magnitudes import comparable, refuse_extreme
from oblique_cli.ground.row_groups import Groups, checked_groups
from oblique_cli.tree.payloads import Equations
from oblique_cli.tree.pruning import chosen_alpha
from oblique_cli.tree.structure import Tree

CV = "cv"
FOLDS = 10


class CARTRegressor(DecisionTreeRegressor, ShownRegression):
    """scikit-learn's regression tree, constants in its leaves, with the attributes that experiments read.

    It takes all parameters of `sklearn.tree.DecisionTreeRegressor`; configurations have these. If y has k columns, one
    tree predicts all of them. Its cuts lower the sum of squares over all outputs in their given units, so scale outputs
    of different units first. `monotonic_cst` is for one output.

    Parameters
    ----------
    min_samples_leaf : int or float, default 1
        Least rows of a child; below 1 a share of the rows.
    min_samples_split : int or float, default 2
        A node with fewer rows is a leaf; a float is a share of the rows.
    max_depth : int or None, default None
        Longest path from the root to a leaf; None for no limit.
    max_leaf_nodes : int or None, default None
        Most leaves, those of largest gain first; None for no limit.
    ccp_alpha : float or "cv", default 0
        Complexity at which the tree is cut back, in units of the mean squared error; "cv" for that of the smallest tree
        within one standard error of the least squared error of 10 folds (Breiman et al. 1984, section 8.5).
    monotonic_cst : 1, -1 or 0 for each column, or None, default None
        1 if the prediction never falls as the column grows, -1 if it never rises."""

    ccp_alpha: Any
    random_state: Any
    needs_pruning_rows: ClassVar[bool] = False
    constraints: ClassVar[Mapping[str, Constraint]] = {
        "min_samples_leaf": LEAST_ROWS,
        "min_samples_split": CountOrShare(2),
        "max_depth": Optional(Integer(1)),
        "max_leaf_nodes": Optional(Integer(2)),
        "ccp_alpha": Either(Choice((CV,)), Real(0.0)),
        "monotonic_cst": Optional(SignsOfColumns()),
    }

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True, groups: ArrayLike | None = None
    ) -> Self:
        """Grow the tree, as scikit-learn does.

        X : (n, p) numbers; y : (n,) or (n, k) numbers; sample_weight : (n,) or None
        groups : (n,) group of each row: cross-validation keeps groups together. None for independent rows"""
        X = as_frame(X)
        refuse_times(X, type(self).__name__)
        if check_input:
            sample_weight = self._checked_ends(X, sample_weight)
        together = None if groups is None else checked_groups(groups, np.shape(X)[0], type(self).__name__)
        given_weight = sample_weight
        if isinstance(sample_weight, np.ndarray) and sample_weight.ndim == 1:
            check_consistent_length(X, y, sample_weight)
            counted = sample_weight > 0
            # Without weights if those of positive rows are equal: scikit-learn's sums would round them.
            if counted.any() and not np.ptp(sample_weight[counted]) > 0:
                X, y = (X, y) if counted.all() else (X[counted], np.asarray(y)[counted])
                sample_weight = None
        if together is not None and np.shape(X)[0] < len(together):
            together = together[given_weight > 0]
        order: Any = self.get_params(deep=False)["monotonic_cst"]
        if order is not None and np.ndim(y) > 1 and (columns := np.shape(y)[1]) > 1:
            raise ConfigError(
                f"{ORDER} of {type(self).__name__} is for one output, and y has {columns} columns; set {ORDER} to "
                "None, or fit a tree to each column."
            )
        if isinstance(order, Mapping):
            names = list(getattr(X, "columns", ()))
            self.monotonic_cst = signs_by_column(order, names, np.shape(X)[1], type(self).__name__).tolist()
        alpha: Any = self.ccp_alpha
        try:
            if isinstance(alpha, str) and alpha == CV:
                self.ccp_alpha = self._chosen_alpha(X, y, sample_weight, together)
            super().fit(X, y, sample_weight=sample_weight, check_input=check_input)
            if not hasattr(X, "toarray"):  # sparse rows, which explanations do not take
                self._keep_spreads(np.asarray(X, dtype=np.float64))
        finally:
            self.monotonic_cst, self.ccp_alpha = order, alpha
        return self

    def _chosen_alpha(self, X: Any, y: Any, weights: Any, groups: Groups | None) -> float:
        rows, numbers = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if weights is not None:
            counted = np.asarray(weights) > 0
            rows, numbers, weights = rows[counted], numbers[counted], np.asarray(weights)[counted]
            groups = None if groups is None else groups[counted]
        seed = int(check_random_state(self.random_state).randint(2**31))
        params = {**self.get_params(deep=False), "ccp_alpha": 0.0, "random_state": seed}

        def grown(some: NDArray[np.intp]) -> Any:
            tree = DecisionTreeRegressor(**params)
            return tree.fit(rows[some], numbers[some], None if weights is None else weights[some]).tree_

        whole = grown(np.arange(len(rows)))
        parts = left_out(len(rows), FOLDS, seed, "folds of a CART", groups) if len(rows) > 1 else []
        single = rows.astype(np.float32).astype(np.float64)  # scikit-learn's trees read single precision

        def tree_of(some: NDArray[np.intp]) -> Tree:
            return tree_of_cart(grown(some))

        alpha = chosen_alpha(tree_of_cart(whole), single, numbers, parts, tree_of, 1.0, groups)
        # Ours is a share of the variance. Both sums differ in their last digits.
        return float(max(alpha, 0.0) * whole.impurity[0] * (1 + 1e-9))

    def predict(self, X: ArrayLike, check_input: bool = True) -> NDArray[np.float64]:
        """Return the predictions for rows X (n, p): (n,), for k outputs (n, k).

        Numbers beyond single precision are clipped to its range: every threshold of the tree lies inside it."""
        most = float(np.finfo(np.float32).max)
        rows: Any = X if hasattr(X, "clip") else np.asarray(X)  # a data frame keeps its names
        if check_input and np.asarray(rows).dtype.kind == "f":
            sizes = np.abs(np.asarray(rows))
            if (sizes > most).any() and not np.isinf(sizes).any():
                X = rows.clip(-most, most)
        return np.asarray(super().predict(X, check_input))

    def _checked_ends(self, X: Any, sample_weight: Any) -> Any:
        """Return weights of ordinary size; refuse X beyond the single precision of scikit-learn's trees."""
        owner = type(self).__name__
        try:
            rows = np.asarray(X)
            if rows.dtype.kind == "c":
                return sample_weight
            rows = rows.astype(np.float64)
            weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        except (TypeError, ValueError):
            return sample_weight  # scikit-learn raises the error
        if rows.ndim == 2 and len(rows) and np.isfinite(rows).all():
            single = np.finfo(np.float32)
            refuse_extreme(rows, owner, float(single.tiny), float(single.max))
        if weights is None or weights.ndim != 1 or not np.isfinite(weights).all():
            return sample_weight
        refuse_negative(weights)
        return comparable(weights, f"sample_weight of {owner}")

    @property
    def model_tree(self) -> Tree:
        """Return the tree in the form of the other regression trees, without the sides of missing values."""
        check_is_fitted(self)
        return tree_of_cart(self.tree_)

    @property
    def n_leaves_(self) -> int:  # type: ignore[override]
        """Number of leaves."""
        return int(self.get_n_leaves())

    @property
    def n_nodes_(self) -> int:  # type: ignore[override]
        """Number of nodes, leaves included."""
        return int(self.tree_.node_count)

    @property
    def depth_(self) -> int:  # type: ignore[override]
        """Longest path from the root."""
        return int(self.get_depth())


def tree_of_cart(tree: Any) -> Tree:
    """Return a scikit-learn tree as ours, with a constant at every node; thresholds are in single precision."""
    left, inner = tree.children_left, tree.children_left >= 0
    axes = np.zeros((tree.node_count, tree.n_features))
    axes[inner, tree.feature[inner]] = 1.0
    # A threshold is infinite if missing values are split off; rounding can make an impurity negative. The impurity is
    # the mean over the outputs.
    rss = np.maximum(tree.impurity, 0.0) * tree.weighted_n_node_samples * tree.n_outputs
    values = tree.value[:, 0, 0] if tree.n_outputs == 1 else tree.value[:, :, 0]
    models = Equations(np.zeros((*values.shape, tree.n_features)), values, rss)
    return Tree(
        left,
        tree.children_right,
        axes,
        np.where(inner, np.minimum(tree.threshold, np.finfo(float).max), 0.0),
        tree.n_node_samples[:, None],
        models.decreases(left, tree.children_right),
        tree.n_node_samples,
        payload=models,
    )
