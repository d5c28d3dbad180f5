"""Predictors that need only the core and NumPy and return the estimators' results to the bit.

Importing scikit-learn takes longer than predicting a million rows.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ConfigError
from oblique_cli.ground.arrays import Array


class Predictor(ABC):
    """Predictor of rows (n, p), which have NaN only if the model allows it.

    parameters : of the estimator; state : its fitted attributes
    """

    def __init__(self, parameters: Mapping[str, Any], state: Mapping[str, Any]) -> None:
        self.parameters = parameters
        self.state = state

    @abstractmethod
    def predict(self, X: Array) -> NDArray[Any]:
        """Return labels, or numbers in regression, (n,); of k outputs (n, k)."""

    def predict_proba(self, X: Array) -> Array:
        """Return class shares, (n, C)."""
        raise ConfigError("this model gives no class probabilities")

    @abstractmethod
    def apply(self, X: Array) -> NDArray[Any]:
        """Return leaves, (n,), or (n, number of trees)."""

    def checked(self, X: Array, allow_nan: bool = False) -> Array:
        """Return rows in C order; ConfigError for a wrong number of columns or unsupported values."""
        p = self.state["n_features_in_"]
        if X.ndim != 2 or X.shape[1] != p:
            raise ConfigError(f"X must have {p} columns, those that the model was fitted on. Got shape {X.shape}.")
        rows = np.ascontiguousarray(X, dtype=np.float64)
        # One pass: the sum is not finite if any value is not; an overflow of finite values is rare.
        with np.errstate(all="ignore"):
            suspicious = not np.isfinite(rows.sum())
        if suspicious:
            self._refuse(rows, allow_nan)
        return rows

    def _refuse(self, rows: Array, allow_nan: bool) -> None:
        for bad, what in ((np.isinf(rows), "an infinite value"), (np.isnan(rows), "a missing value (NaN)")):
            if bad.any() and not (allow_nan and what.startswith("a missing")):
                i, j = (int(k) for k in np.argwhere(bad)[0])
                raise ConfigError(f"row {i + 1}, column {j + 1} of X is {what}, which this model does not take.")


class HyperplanePredictor(Predictor):
    """One tree of hyperplanes, for classification or regression."""

    @cached_property
    def shares(self) -> Array:
        """Probability of each class at every node, (n_nodes, C)."""
        return np.asarray(self.state["tree_"].shares)

    @cached_property
    def labels(self) -> NDArray[Any]:
        """Label of every node, (n_nodes,)."""
        return np.asarray(self.state["classes_"].take(self.state["tree_"].labels))

    def predict(self, X: Array) -> NDArray[Any]:
        tree = self.state["tree_"]
        if not tree.is_regression and tree.leaf_models is None:
            return np.asarray(self.labels.take(self.apply(X)))
        predicted = np.asarray(tree.predicted(self._rows(X)))
        return predicted if tree.is_regression else np.asarray(self.state["classes_"].take(predicted))

    def predict_proba(self, X: Array) -> Array:
        tree = self.state["tree_"]
        if tree.is_regression:
            return super().predict_proba(X)
        if tree.leaf_models is not None:
            return np.asarray(tree.predicted_shares(self._rows(X)))
        return np.asarray(self.shares.take(self.apply(X), axis=0))

    def apply(self, X: Array) -> NDArray[Any]:
        return np.asarray(self.state["tree_"].apply(self._rows(X)))

    def _rows(self, X: Array) -> Array:
        levels, fill = self.state.get("levels_") or {}, self.state.get("fill_values_")
        takes_missing = fill is not None or self.state["tree_"].missing_left is not None
        if not levels:
            rows = self.checked(X, takes_missing)
        else:
            from oblique_cli.estimators.categorical import coded

            rows = coded(X, levels)
            plain = [j for j in range(rows.shape[1]) if j not in levels]
            if (not takes_missing and np.isnan(rows[:, plain]).any()) or np.isinf(rows[:, plain]).any():
                self._refuse(rows, takes_missing)
        return rows if fill is None else np.where(np.isnan(rows), fill, rows)


class ForestPredictor(Predictor):
    """A forest of the core."""

    def predict(self, X: Array) -> NDArray[Any]:
        return np.asarray(self.state["classes_"].take(self._votes(X).argmax(axis=1)))

    def predict_proba(self, X: Array) -> Array:
        from oblique_cli.estimators.forest.leaves import prior_of, vote_shares

        return vote_shares(self._votes(X), len(self.state["forest_"]), prior_of(self.state))

    def apply(self, X: Array) -> NDArray[Any]:
        return np.asarray(self.state["forest_"].apply(self.checked(X), self._threads))

    def _votes(self, X: Array) -> Array:
        from oblique_cli.estimators.forest.leaves import votes_of

        voting, leaf_probabilities = str(self.parameters.get("voting")), self.state.get("leaf_probabilities_")
        return votes_of(self.state["forest_"], self.checked(X), voting, leaf_probabilities, self._threads)

    def _scores(self, X: Array) -> Array:
        """Return the sums of the leaves' values of a boosted forest, (n, K)."""
        from oblique_cli.estimators.forest.leaves import scores_of

        forest, values, baseline = (self.state[name] for name in ("forest_", "leaf_values_", "baseline_"))
        return scores_of(forest, self.checked(X), values, baseline, self._threads)

    @property
    def _threads(self) -> int:
        # n_jobs of the fit describes the machine of the fit; predictions are the same for any number of threads.
        return os.cpu_count() or 1


class LikeliestClassPredictor(ForestPredictor):
    """Trees that predict the class with the largest probability."""

    def predict(self, X: Array) -> NDArray[Any]:
        return np.asarray(self.state["classes_"].take(self.predict_proba(X).argmax(axis=1)))


class BoostedPredictor(LikeliestClassPredictor):
    """Boosted trees of the core."""

    def predict_proba(self, X: Array) -> Array:
        from oblique_cli.estimators.forest.leaves import shares_of

        return shares_of(self._scores(X), len(self.state["classes_"]))


class LogisticForestPredictor(LikeliestClassPredictor):
    """Trees with models in their leaves, whose probabilities are averaged."""

    def predict_proba(self, X: Array) -> Array:
        from oblique_cli.estimators.forest.leaves import mean_shares

        return mean_shares(self.state["trees_"], self.checked(X))

    def apply(self, X: Array) -> NDArray[Any]:
        rows = self.checked(X)
        return np.column_stack([tree.apply(rows) for tree in self.state["trees_"]]).astype(np.int64)


class NumberForestPredictor(ForestPredictor):
    """A forest of the core with numbers or equations in its leaves."""

    def predict(self, X: Array) -> NDArray[Any]:
        from oblique_cli.estimators.forest.leaves import means_of_trees

        return means_of_trees(self.state["forest_"], self.checked(X), self.state["leaf_values_"], self._threads)

    def predict_proba(self, X: Array) -> Array:
        return Predictor.predict_proba(self, X)


class BoostedNumbersPredictor(NumberForestPredictor):
    """Boosted trees of the core with numbers in their leaves."""

    def predict(self, X: Array) -> NDArray[Any]:
        return self._scores(X)[:, 0]
