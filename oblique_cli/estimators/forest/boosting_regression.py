"""Gradient boosting for regression with oblique trees."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from oblique_cli.estimators.forest.boosting import Families, ObliqueBoosting, Part
from oblique_cli.estimators.forest.number_trees import CONSTANT, LINEAR, NumberTrees
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Choice, Integer, Real
from oblique_cli.ground.row_groups import checked_groups
from oblique_cli.parameters import parameter

SQUARED, ABSOLUTE, QUANTILE = "squared_error", "absolute_error", "quantile"


class ObliqueBoostingRegressor(ObliqueBoosting, NumberTrees, kw_only=True):
    """Gradient boosting of numbers with oblique trees.

    In each round a tree is grown on the gradients of the loss, by least-squares cuts along axes and along planes. The
    planes come from small trees of a heuristic for classes, which separates rows of positive gradients from rows of
    negative ones, weighted by their size (the two classes of Loh 2002). A leaf steps to the mean of its residuals, or
    to their quantile (Friedman 2001, algorithms 2 and 3). With linear leaves the step is a ridge regression on the
    residuals, limited to their range.

    Attributes
    ----------
    forest_ : the compiled trees; `tree(i)` gives one as arrays
    leaf_values_ : (leaves of all trees, 1) what a leaf adds, or (leaves of all trees, p + 3) coefficients, intercept
        and limits of linear leaves
    baseline_ : (1,) the prediction before the first tree
    training_loss_, validation_loss_ : (rounds,) mean loss after each round; the latter with `n_iter_no_change`
    n_features_in_ : int
    encoding_ : encoding of a data frame with texts or missing cells, None if columns are not encoded
    feature_importances_ : (p,)
    n_estimators_ : int, trees that were kept
    n_nodes_, n_leaves_ : int, of all trees; depth_ : int, of the deepest

    Notes
    -----
    Streams as in `ObliqueBoostingClassifier`. Sample weights are measured in units of the smallest positive one."""

    loss: str = parameter(
        default=SQUARED,
        allowed=Choice((SQUARED, ABSOLUTE, QUANTILE)),
        help="Minimized loss: mean squared error, mean absolute error, or the pinball loss of a `quantile`: a target "
        "above the prediction counts the quantile times its distance, one below it (1 - quantile) times.",
    )
    quantile: float = parameter(
        default=0.5,
        allowed=Real(0.0, 1.0, open_low=True, open_high=True),
        help='With the loss "quantile": desired share of rows below the prediction.',
    )
    leaves: str = parameter(
        default=CONSTANT,
        allowed=Choice((CONSTANT, LINEAR)),
        help='What a leaf adds: a number, or for the loss "squared_error" a ridge regression on its rows.',
    )
    l2_regularization: float = parameter(
        default=1.0,
        help="What is added to the weight of a leaf before it divides the sum of its residuals, and the penalty on the "
        "squares of the coefficients of linear leaves, of features in standard deviations.",
    )
    min_child_weight: float = parameter(default=5.0, help="Least sample weight of the rows of a child.")
    max_bins: int = parameter(
        default=256, allowed=Integer(2, 256), help="Most bins of a direction, an axis or a plane of a small tree."
    )
    validation_fraction: float = parameter(default=0.1, help="Share of the training rows that are validation rows.")
    tol: float = parameter(
        default=1e-4,
        help="Least decrease that counts with `n_iter_no_change`, as a share of the loss of a constant prediction.",
    )

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Grow the trees.

        X : (n, p), or a data frame that may have words and missing values (encoded by `encoding_`), and y : (n,)
            numbers; the largest of a column is 0 or from 2**-300 to 2**300, that of y 0 or from 1e-140 to 1e140,
            DataError otherwise; sample_weight : (n,) not negative, or None. Rows of weight 0 are ignored.
        groups : (n,) group of each row: `n_iter_no_change` holds out whole groups. None for independent rows
        raises ConfigError for a parameter out of range, or that does not fit p"""
        rows, targets, weights = self._training_rows(X, y, sample_weight)
        n = len(rows) if sample_weight is None else len(np.asarray(sample_weight))
        together = checked_groups(groups, n, type(self).__name__)
        if together is not None and sample_weight is not None:
            together = together[np.asarray(sample_weight) > 0]
        return self._fit(rows, targets, weights, 1, together)

    def _boosted(
        self, forest: Any, grow: Part, held: Part, options: dict[str, Any], grown_by: Families, how: dict[str, Any]
    ) -> dict[str, Any]:
        squared = self.loss == SQUARED
        share = float(self.quantile) if self.loss == QUANTILE else 0.5
        how = how | {"tolerance": how["tolerance"] * _least(held[1] if len(held[1]) else grow[1], squared, share)}
        out = dict(forest.boost_numbers(*grow, *held, options, grown_by, how, squared, share, self.leaves == LINEAR))
        double = 2.0 if self.loss == ABSOLUTE else 1.0  # the core has half of the absolute loss
        return out | {name: double * out[name] for name in ("training_loss", "validation_loss")}

    def clash(self, owner: str, n_features: int | None = None) -> str | None:
        """Return the error message for parameters incompatible with each other or with n_features features, or None."""
        if self.leaves == LINEAR and self.loss != SQUARED:
            return f"leaves {LINEAR!r} of {owner} need the loss {SQUARED!r}. Got {self.loss!r}; set one of the two."
        return super().clash(owner, n_features)

    def predict(self, X: ArrayLike) -> Array:
        """Return the numbers predicted. X : (n, p); returns (n,)."""
        return self._scores(X)[:, 0]


def _least(targets: Array, squared: bool, share: float) -> float:
    if squared:
        return float(targets.var())
    off = targets - np.quantile(targets, share)
    return float(np.maximum(share * off, (share - 1.0) * off).mean())
