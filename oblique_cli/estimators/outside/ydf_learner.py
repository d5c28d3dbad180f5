"""YDF's learners with the methods of a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from oblique_cli.estimators.outside.sizes import Sizes, nested, together

LABEL = "label"


class YdfClassifier:
    """A learner of YDF, such as ydf.RandomForestLearner, on arrays of numbers with labels 0 to k - 1."""

    def __init__(self, learner: Any, params: Mapping[str, Any]) -> None:
        self.learner = learner
        self.params = dict(params)

    def fit(self, X: np.ndarray, y: np.ndarray) -> YdfClassifier:
        """Train on rows (n, p) and labels (n,)."""
        import ydf

        ydf.verbose(0)
        columns = self._columns(X)
        features = [(name, ydf.Semantic.NUMERICAL) for name in columns]
        ours = {"label": LABEL, "task": ydf.Task.CLASSIFICATION, "features": features}
        self.learner_ = self.learner(**{**self.params, **ours})
        self.model_ = self.learner_.train({**columns, LABEL: y.astype(str)})
        self.labels_ = np.array([int(label) for label in self.model_.label_classes()])
        self.n_leaves_, self.n_nodes_, self.depth_, self.n_terms_ = _sizes(self.model_)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the shares (n, k) of the labels 0 to k - 1."""
        predicted = np.asarray(self.model_.predict(self._columns(X)), dtype=np.float64)
        if predicted.ndim == 1:  # for two labels YDF returns the share of the second, and it orders labels by frequency
            predicted = np.column_stack([1 - predicted, predicted])
        shares = np.zeros((len(X), int(self.labels_.max()) + 1))
        shares[:, self.labels_] = predicted
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the label of the largest share, the first of equals, (n,)."""
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    @staticmethod
    def _columns(X: np.ndarray) -> dict[str, np.ndarray]:
        return {f"x{j}": np.ascontiguousarray(column, dtype=np.float32) for j, column in enumerate(X.T)}


def _sizes(model: Any) -> Sizes:
    def children(node: Any) -> list[Any]:
        return [node.pos_child, node.neg_child] if hasattr(node, "pos_child") else []

    def coefficients(node: Any) -> int:
        return len(getattr(node.condition, "weights", ())) or 1  # a condition on one feature has none

    return together(nested(tree.root, children, coefficients) for tree in model.iter_trees())
