"""A heuristic, a criterion, a metric and an estimator. Importing this module registers them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from oblique_cli.api import (
    CLASSIFICATION,
    CLASSIFIER,
    LABELS,
    MEAN,
    Candidates,
    Integer,
    Node,
    Numbers,
    Proposer,
    algorithm,
    check,
    criterion,
    heuristic,
    metric,
    model_kind,
)


@heuristic("differences")
class Differences(Proposer):
    """The axes, and differences of two features."""

    title = "differences"
    source = "an example (2026)"

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield the axes, then a direction for every pair."""
        yield Candidates.axes()
        axes = np.eye(node.X.shape[1])
        pairs = [axes[i] - axes[j] for i in range(len(axes)) for j in range(i)]
        if pairs:
            yield Candidates.directions(np.array(pairs) / np.sqrt(2.0))


@criterion("worst_side")
def worst_side(left: Any, right: Any) -> Any:
    """Two sides of which even the less pure one is pure: what that purity gains over the node's own."""

    def purity(side: Any) -> Any:
        return side.max(axis=1) / side.sum(axis=1)

    return np.minimum(purity(left), purity(right)) - purity(left + right)


@metric(
    "worst_recall",
    title="worst recall",
    unit="%",
    larger_is_better=True,
    task=CLASSIFICATION,
    needs=LABELS,
    aggregate=MEAN,
    decimals=1,
)
def worst_recall(y: Any, predicted: Any) -> float:
    """Recall of the class that is found worst."""
    return 100.0 * min(float((predicted[y == code] == code).mean()) for code in np.unique(y))


@algorithm("nearest_mean", title="nearest mean", source="an example (2026)")
@model_kind("nearest_mean", state={**CLASSIFIER, "means_": Numbers("float64", ("C", "p"))})
class NearestMeanClassifier(ClassifierMixin, BaseEstimator):
    """The class whose mean is nearest, by the distance of order `order`."""

    constraints: ClassVar[dict[str, Any]] = {"order": Integer(1)}

    def __init__(self, order: int = 2) -> None:
        self.order = order

    def fit(self, X: Any, y: Any) -> NearestMeanClassifier:
        """Keep the mean of each class."""
        check(self.get_params(deep=False), self.constraints, type(self).__name__)
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.means_ = np.array([X[codes == code].mean(axis=0) for code in range(len(self.classes_))])
        return self

    def predict(self, X: Any) -> Any:
        """Return classes."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        distances = np.linalg.norm(X[:, None] - self.means_, ord=self.order, axis=2)
        return self.classes_.take(distances.argmin(axis=1))
