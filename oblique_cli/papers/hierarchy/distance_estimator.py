"""What estimators share that work on rows and a metric, or on a matrix of distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from oblique_cli.ground.constraints import Choice, check
from oblique_cli.papers.hierarchy.dissimilarities import METRICS, SCALINGS, Condensed, from_square, pairwise
from oblique_cli.parameters import Declared, parameter

Array = NDArray[np.float64]

PRECOMPUTED = "precomputed"


class DistanceEstimator(Declared, BaseEstimator, kw_only=True):
    """What estimators share that work on rows and a metric, or on a matrix of distances."""

    metric: str = parameter(
        default="euclidean",
        allowed=Choice((*METRICS, PRECOMPUTED)),
        help='Distance between rows, or "precomputed" if X is a square matrix of dissimilarities.',
    )
    scaling: str = parameter(
        default="zscore",
        allowed=Choice(SCALINGS),
        help="Columns are brought to mean 0 and variance 1 of the training rows first.",
    )

    def _check_parameters(self) -> None:
        check(self.get_params(deep=False), self.constraints, type(self).__name__)

    def _condensed(self, X: Array, dtype: str) -> Condensed:
        """The condensed distances between training rows; X is the square matrix for metric "precomputed"."""
        if self.metric == PRECOMPUTED:
            return from_square(X, dtype)
        return pairwise(X, self.metric, self.scaling, dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == PRECOMPUTED
        return tags
