"""An estimator of this package within limits; the model itself is in a process of its own."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from oblique_cli.estimators.outside.process import Remote

# What is asked of fitted models so often that it comes with the fit, and the methods that take rows.
ATTRIBUTES = ("classes_", "n_leaves_", "n_nodes_", "depth_", "n_clusters_", "seconds_saved_")
METHODS = ("predict_proba", "predict_path", "extra_measures")


class OwnModel:
    """What is sent to the other process: an estimator of this package, and what the parent needs to know of it."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: np.ndarray, y: np.ndarray, **rows: Any) -> None:
        """Fit the estimator."""
        self.estimator.fit(X, y, **rows)

    def facts(self) -> dict[str, Any]:
        """Return attributes, and the names of the methods that there are."""
        there = {name: getattr(self.estimator, name) for name in ATTRIBUTES if hasattr(self.estimator, name)}
        return {"attributes": there, "methods": [name for name in METHODS if hasattr(self.estimator, name)]}

    def predict(self, X: np.ndarray) -> Any:
        """Return predictions."""
        return self.estimator.predict(X)

    def predict_proba(self, X: np.ndarray) -> Any:
        """Return class shares."""
        return self.estimator.predict_proba(X)

    def predict_path(self, X: np.ndarray, values: Any) -> Any:
        """Return predictions for each value of the path parameter."""
        return self.estimator.predict_path(X, values)

    def extra_measures(self, X: np.ndarray, y: np.ndarray) -> Any:
        """Return what the estimator says of itself on test rows."""
        return self.estimator.extra_measures(X, y)


class LimitedEstimator:
    """An estimator of this package whose fit and predictions happen in another process, within limits.

    The fitted estimator comes here, as a copy, when something else is asked of it; that is not limited.

    Parameters
    ----------
    estimator : unfitted
    limits : "memory" in bytes and "time" in seconds of one model, each if it is limited
    imports : what the other process is to import first, by being unpickled there
    """

    def __init__(self, estimator: Any, limits: Mapping[str, Any], imports: Any = None) -> None:
        self.unfitted = estimator
        self.limits = dict(limits)
        self.imports = imports

    @property
    def display_name(self) -> str:
        """The name of the estimator, for messages."""
        return getattr(self.unfitted, "display_name", type(self.unfitted).__name__)

    def fit(self, X: np.ndarray, y: np.ndarray, **rows: Any) -> LimitedEstimator:
        """Fit to rows (n, p) and class codes or numbers (n,). rows : as the estimator's own `fit` takes them"""
        started = time.perf_counter()
        self._remote = Remote(self.limits)
        self._remote.begin("hold", _imports=self.imports, model=OwnModel(self.unfitted))
        seconds, self.cpu_seconds_, facts = self._remote.fit(X, y, **rows)
        self._methods = facts["methods"]
        attributes = facts["attributes"]
        attributes["seconds_saved_"] = attributes.get("seconds_saved_", 0.0) + seconds - (time.perf_counter() - started)
        self.__dict__ |= attributes
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return class codes or numbers (n,)."""
        return np.asarray(self._remote.call("predict", X))

    @functools.cached_property
    def whole(self) -> Any:
        """A copy of the fitted estimator."""
        return self._remote.whole().estimator

    def __getattr__(self, name: str) -> Any:
        state = self.__dict__
        if name in state.get("_methods", ()):
            return functools.partial(self._remote.call, name)
        # What came with the fit would be there if there was any.
        if "_remote" in state and name not in (*ATTRIBUTES, *METHODS) and not name.startswith("__"):
            return getattr(self.whole, name)
        raise AttributeError(f"{self.display_name} has no attribute {name!r}")
