"""An estimator of another library as the runner sees it; the model itself is in a process of its own."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from oblique_cli.estimators.outside.process import START, Remote, own_process


class OutsideEstimator:
    """A class of another library with parameters, between class codes and what the library expects.

    Parameters
    ----------
    path : class with its module
    params : its parameters
    prepare : how columns are scaled, "" for not at all
    limits : "memory" in bytes and "time" in seconds of one model, each if it is limited
    regression : whether it predicts numbers
    random_state : seed, passed on under the name that the class has for it

    Attributes
    ----------
    classes_ : codes that the training rows had
    n_leaves_, n_nodes_, depth_ : zeros for a model that is no tree
    n_terms_ : what there is to read in it, 0 for a model that does not say it
    cpu_seconds_ : of the fit, those of processes that it started included
    seconds_saved_ : what the clock of the caller is to be corrected by, so that starting the process does not count
    """

    needs_pruning_rows = False

    def __init__(
        self,
        path: str,
        params: Mapping[str, Any],
        prepare: str = "",
        limits: Mapping[str, Any] | None = None,
        regression: bool = False,
        random_state: int | None = None,
    ) -> None:
        self.path = path
        self.params = dict(params)
        self.prepare = prepare
        self.limits = dict(limits or {})
        self.regression = regression
        self.random_state = random_state

    @property
    def display_name(self) -> str:
        """The name of the class, for messages."""
        return self.path

    @property
    def class_weight(self) -> Any:
        """Weights of classes among the parameters."""
        return self.params.get("class_weight")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the class."""
        return dict(self.params)

    def set_params(self, **params: Any) -> OutsideEstimator:
        """Set parameters of the class."""
        self.params |= params
        return self

    def fit(self, X: np.ndarray, y: np.ndarray) -> OutsideEstimator:
        """Fit to rows (n, p) and class codes or numbers (n,)."""
        started = time.perf_counter()
        own_process().ask("check", START, path=self.path, params=self.params)
        self._remote = Remote(self.limits)
        self._remote.begin(
            "build",
            path=self.path,
            params=self.params,
            prepare=self.prepare,
            regression=self.regression,
            seed=self.random_state,
        )
        seconds, self.cpu_seconds_, facts = self._remote.fit(X, y)
        if not self.regression:
            self.classes_ = facts["classes"]
        self._has_shares = facts["has_shares"]
        self.n_leaves_, self.n_nodes_, self.depth_, self.n_terms_ = facts["sizes"]
        self.seconds_saved_ = seconds - (time.perf_counter() - started)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return class codes or numbers (n,)."""
        return np.asarray(self._remote.call("predict", X))

    def _shares(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self._remote.call("shares", X))

    def __getattr__(self, name: str) -> Any:
        # Whether there are probabilities is known once a model is fitted, as with scikit-learn's own estimators.
        if name == "predict_proba" and self.__dict__.get("_has_shares"):
            return self._shares
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
