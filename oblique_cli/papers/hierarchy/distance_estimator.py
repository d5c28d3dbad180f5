"""What estimators share that work on rows and a metric, or on a matrix of distances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from oblique_cli.ground.constraints import Choice, Constraint, check
from oblique_cli.papers.hierarchy.dissimilarities import METRICS, SCALINGS, Condensed, from_square, pairwise

Array = NDArray[np.float64]

PRECOMPUTED = "precomputed"
DISTANCE: Mapping[str, Constraint] = {"metric": Choice((*METRICS, PRECOMPUTED)), "scaling": Choice(SCALINGS)}


class DistanceEstimator(BaseEstimator):
    """What estimators share that work on rows and a metric, or on a matrix of distances."""

    constraints: ClassVar[Mapping[str, Constraint]]
    metric: str
    scaling: str

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
