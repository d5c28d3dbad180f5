"""The nearest-neighbor rule over training rows, optionally after editing (`editing`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from oblique_cli.errors import DataError
from oblique_cli.estimators.checked_rows import checked
from oblique_cli.estimators.fitted import LogProbabilities
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Choice, Constraint, Integer
from oblique_cli.ground.row_groups import Groups, checked_groups
from oblique_cli.papers.hierarchy.dissimilarities import METRICS, between, from_square, spread_of
from oblique_cli.papers.hierarchy.editors import WEIGHTS, nearest, votes, winners
from oblique_cli.papers.hierarchy.taxonomy_estimators import PRECOMPUTED, DistanceEstimator
from oblique_cli.parameters import parameter

Ints = NDArray[np.int64]

BLOCK = 1000  # rows to predict at once, to bound memory


class NearestNeighborsClassifier(LogProbabilities, ClassifierMixin, DistanceEstimator, kw_only=True):
    """The k-nearest-neighbor rule over all training rows, or those that an editor retains (Amalaman 2015, chapter 6).

    Of rows at equal distances the first counts as nearer; of classes with equal votes that of the nearest row wins.

    Attributes
    ----------
    kept_ : (k,) training rows that stayed, rising
    compression_ : float
        Share of the training rows that were removed, in percent.
    classes_ : (C,) class labels
    n_features_in_ : int
    n_leaves_, n_nodes_ : int
        Rows kept, the size of the model; `depth_` is 0. The tables of experiments call the size leaves.
    """

    # The data set of a configuration holds rows, so it cannot use "precomputed".
    words: ClassVar[Mapping[str, Constraint]] = {"metric": Choice(METRICS)}
    needs_pruning_rows: ClassVar[bool] = False

    n_neighbors: int = parameter(
        default=1, allowed=Integer(1), kw_only=False, help="k of classification; all rows if fewer are kept."
    )
    weights: str = parameter(default="uniform", allowed=Choice(WEIGHTS), help="One vote a neighbor, or 1 / (1 + d).")
    metric: str = parameter(
        default="euclidean",
        help='As in `AvalancheClustering`. For "precomputed", X is (n, n) in fit and (m, n) in predict, distances to '
        "all training rows.",
    )

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Store the rows that the editor keeps. X : (n, p), or (n, n) for metric "precomputed"; y : (n,) labels.

        groups : (n,) values that are equal for rows that belong together: cross-validation inside the fit keeps these
            together. None for independent rows
        """
        self._check_parameters()
        rows, labels = checked(self, X, y, dtype=np.float64, ensure_min_samples=1)
        together = checked_groups(groups, len(rows), type(self).__name__)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self._codes = codes.astype(np.int64)
        if self.metric == PRECOMPUTED:
            from_square(rows)  # raises DataError for an invalid matrix
        else:
            self._shift, self._scale = spread_of(rows, self.scaling, self.metric)
            self._rows = (rows - self._shift) / self._scale
        self._keep(self._edit(rows, together))
        return self

    def _edit(self, X: Array, groups: Groups | None) -> NDArray[np.bool_]:
        """Return the mask of the retained training rows; X and group codes as passed to `fit`."""
        return np.ones(len(X), dtype=bool)

    def _keep(self, mask: NDArray[np.bool_]) -> None:
        self.kept_ = np.flatnonzero(mask)
        self.compression_ = 100.0 * (1.0 - len(self.kept_) / len(mask))
        self.n_leaves_ = self.n_nodes_ = len(self.kept_)
        self.depth_ = 0

    def _seed(self) -> int:
        return int(check_random_state(getattr(self, "random_state", None)).randint(2**31))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the label of each row, (m,). X : (m, p), or (m, n) distances to all training rows."""
        rows = self._columns(X)
        return self.classes_.take(self._predict(rows, self.kept_)[0])

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return each class's share of the votes, (m, C), columns in the order of classes_."""
        rows = self._columns(X)
        ballots = self._predict(rows, self.kept_)[1]
        shares: Array = ballots / ballots.sum(axis=1, keepdims=True)
        return shares

    def extra_measures(self, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
        """Return the compression rate in percent, beside the accuracy of an experiment."""
        return {"compression": self.compression_}

    def _columns(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        rows = np.asarray(checked(self, X, dtype=np.float64, reset=False))
        if self.metric != PRECOMPUTED:
            most = np.finfo(np.float64).max
            with np.errstate(over="ignore"):  # an overflow gives the largest number
                return np.clip((rows - self._shift) / self._scale, -most, most)
        if (rows < 0).any():
            raise DataError(f"dissimilarities must be 0 or more. Got {rows.min():g}.")
        return rows

    def _predict(self, X: Array, rows: Ints) -> tuple[Ints, Array]:
        """Return code and votes of scaled rows (or of distances to all training rows), by the training rows `rows`."""
        codes, answers, ballots = self._codes[rows], [], []
        for start in range(0, len(X), BLOCK):
            block = X[start : start + BLOCK]
            distances = block[:, rows] if self.metric == PRECOMPUTED else between(block, self._rows[rows], self.metric)
            columns = nearest(distances, self.n_neighbors)
            ballots.append(votes(distances, columns, codes, len(self.classes_), self.weights))
            answers.append(winners(ballots[-1], columns, codes))
        return np.concatenate(answers), np.concatenate(ballots)
