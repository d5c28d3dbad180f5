"""Common base of ensembles of regression trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from oblique_cli.estimators.checked_rows import checked_numbers, some_positive
from oblique_cli.estimators.fitted import Names
from oblique_cli.estimators.forest.base import CoreTrees, as_tree, relative
from oblique_cli.estimators.forest.leaves import Leaves, branches_of
from oblique_cli.estimators.regression.tree_regressor import ShownNumbers, names_of_outputs
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Constraint, check
from oblique_cli.tree.payloads import Equations
from oblique_cli.tree.structure import Tree

CONSTANT, LINEAR = "constant", "linear"  # leaves


class NumberTrees(ShownNumbers, RegressorMixin, CoreTrees):
    """Ensemble of regression trees of the core whose leaves have a number or an equation.

    leaf_values_ : (leaves of all trees, 1), or (leaves of all trees, p + 3): coefficients, intercept, least and largest
    value. With k outputs it has an axis for them in the middle"""

    constraints: ClassVar[Mapping[str, Constraint]]
    leaf_values_: Array

    def _training_rows(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, several: bool = False
    ) -> tuple[Array, Array, Array | None]:
        """Return checked rows of positive weight, numbers, weights in units of the smallest; delete earlier results."""
        check(self.get_params(deep=False), self.constraints, type(self).__name__)
        rows, targets = self._training(X, y, sample_weight, checked_numbers, several=several)
        for learned in ("forest_", "oob_prediction_", "oob_score_", "l2_regularization_"):
            self.__dict__.pop(learned, None)
        if sample_weight is None:
            return rows, targets, None
        weights, useful = some_positive(sample_weight, rows)
        return np.ascontiguousarray(rows[useful]), targets[useful], relative(weights[useful])

    @property
    def n_outputs_(self) -> int:
        """Number of outputs k."""
        check_is_fitted(self)
        return 1 if self.leaf_values_.ndim == 2 else int(self.leaf_values_.shape[1])

    def _class_names(self, class_names: Names) -> list[str]:
        return self._as_many(names_of_outputs(self.n_outputs_, class_names), self.n_outputs_, "class_names")

    def _as_tree(self, state: Mapping[str, Any], number: int) -> Tree:
        """Return the tree with an equation at every node, without bounds: that of an inner node is the mean by rows."""
        p, left = self._n_seen, np.asarray(state["left"])
        sizes = (self.forest_.n_nodes()[:number] + 1) // 2
        values = self.leaf_values_[int(sizes.sum()) :]
        weights = Leaves([state], 1).counts.reshape(-1, *[1] * (values.ndim - 1))
        models = np.zeros((len(left), *values.shape[1:-1], p + 1))
        of_leaves = left < 0
        equations = values[~left[of_leaves]]
        models[of_leaves, ..., p] = equations[..., 0 if equations.shape[-1] == 1 else p]
        models[of_leaves, ..., :p] = 0.0 if equations.shape[-1] == 1 else equations[..., :p]
        branches = branches_of(left)
        for node in np.flatnonzero(~of_leaves)[::-1]:
            children = [branches.left[node], branches.right[node]]
            models[node] = (weights[children] * models[children]).sum(axis=0) / weights[children].sum()
        return as_tree(state, p, 1, Equations(models[..., :p], models[..., p], np.zeros(len(left))))
