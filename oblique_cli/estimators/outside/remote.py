"""Estimators in a separate process: those of other libraries, and ours within limits."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from oblique_cli.estimators.outside.building import Model
from oblique_cli.estimators.outside.child import ATTRIBUTES, METHODS
from oblique_cli.estimators.outside.process import START, Crashed, OutOfTime, own_process


class Remote:
    """Model in the process of the calling thread.
    limits : "memory" in bytes, "time" in seconds, of all its requests; model : unfitted, sent outside its time limit;
    imports : unpickled before it, to import the needed modules"""

    def __init__(self, limits: Mapping[str, Any], imports: Any, model: Any) -> None:
        self._process = own_process()
        self._number = next(self._process.numbers)
        self._memory = limits.get("memory")
        self._seconds = self._left = limits.get("time")
        forget = list(self._process.forgotten)
        self._process.forgotten.clear()
        held = {"number": self._number, "forget": forget, "memory_limit": self._memory}
        self._process.ask("hold", START, self._memory, **held, _imports=imports, model=model)
        self._generation = self._process.generation

    def call(self, method: str, *arguments: Any) -> Any:
        """Return the result of a method of the fitted model."""
        self._check_alive()
        return self.spend("call", method=method, arguments=arguments)

    def whole(self) -> Any:
        """Return a copy of the fitted model; does not count as its time."""
        self._check_alive()
        return self._process.ask("whole", START, number=self._number)

    def _check_alive(self) -> None:
        if self._process.generation != self._generation:
            raise Crashed("the process that had the model died since")

    def spend(self, verb: str, **arguments: Any) -> Any:
        """Return the answer of the process to a request, and subtract its time from the remaining time."""
        started = time.monotonic()
        try:
            return self._process.ask(verb, self._left, self._memory, number=self._number, **arguments)
        except OutOfTime:
            raise OutOfTime(f"not done within the limit of {self._seconds:g} s") from None
        finally:
            if self._left is not None:
                self._left = max(0.0, self._left - (time.monotonic() - started))

    def __del__(self) -> None:
        if "_process" in self.__dict__:
            self._process.forgotten.append(self._number)


class LimitedEstimator:
    """Estimator of this package whose fit and predictions run in a separate process, within limits.

    Reading any other attribute fetches a copy of the fitted estimator, which is not limited.

    limits         "memory" in bytes and "time" in seconds of one model, each optional
    imports        objects that the other process unpickles first, to import their modules
    cpu_seconds_   of the fit, including child processes
    seconds_saved_ correction of the caller's clock for the start of the process"""

    sends_whole: ClassVar[bool] = True
    seconds_saved_: float

    def __init__(self, estimator: Any, limits: Mapping[str, Any], imports: Any = None) -> None:
        self.unfitted = estimator
        self.limits = dict(limits)
        self.imports = imports

    @property
    def display_name(self) -> str:
        """Name of the estimator, for error messages."""
        return getattr(self.unfitted, "display_name", type(self.unfitted).__name__)

    def fit(self, X: np.ndarray, y: np.ndarray, **rows: Any) -> Any:
        """Fit to rows (n, p) and class codes or numbers (n,). rows : as for the estimator's own `fit`"""
        started = time.perf_counter()
        self._remote = Remote(self.limits, self.imports, self.unfitted)
        seconds, self.cpu_seconds_, attributes, self._methods = self._remote.spend("fit", X=X, y=y, **rows)
        attributes["seconds_saved_"] = attributes.get("seconds_saved_", 0.0) + seconds - (time.perf_counter() - started)
        self.__dict__ |= attributes
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return class codes or numbers (n,)."""
        return np.asarray(self._remote.call("predict", X))

    @functools.cached_property
    def whole(self) -> Any:
        """Copy of the fitted estimator."""
        return self._remote.whole()

    def __getattr__(self, name: str) -> Any:
        state = self.__dict__
        if name in state.get("_methods", ()):
            return functools.partial(self._remote.call, name)
        # The fit has sent all `ATTRIBUTES` of the model.
        further = name not in (*ATTRIBUTES, *METHODS) and not name.startswith("__")
        if self.sends_whole and "_remote" in state and further:
            return getattr(self.whole, name)
        raise AttributeError(f"{self.display_name} has no attribute {name!r}")


class OutsideEstimator(LimitedEstimator):
    """Class of another library, with parameters; translates between class codes and the library's labels.

    prepare        scaling of columns, "" for none
    regression     whether it predicts numbers
    random_state   seed, passed under the class's name for it
    n_leaves_, n_nodes_, depth_, n_terms_ : as in `Sizes`"""

    sends_whole = False  # a copy would import its library here

    def __init__(
        self,
        path: str,
        params: Mapping[str, Any],
        prepare: str = "",
        limits: Mapping[str, Any] | None = None,
        regression: bool = False,
        random_state: int | None = None,
    ) -> None:
        super().__init__(None, limits or {})
        self.path, self.params = path, dict(params)
        self.prepare, self.regression, self.random_state = prepare, regression, random_state

    @property
    def display_name(self) -> str:
        """Name of the class, for error messages."""
        return self.path

    @property
    def class_weight(self) -> Any:
        """Class weights among the parameters."""
        return self.params.get("class_weight")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the class."""
        return dict(self.params)

    def set_params(self, **params: Any) -> OutsideEstimator:
        """Set parameters of the class."""
        self.params |= params
        return self

    def fit(self, X: np.ndarray, y: np.ndarray) -> OutsideEstimator:  # type: ignore[override]  # rows have no weights
        """Fit to rows (n, p) and class codes or numbers (n,)."""
        started = time.perf_counter()
        own_process().ask("check", START, path=self.path, params=self.params)
        checking = time.perf_counter() - started
        self.unfitted = Model(self.path, self.params, self.prepare, self.regression, self.random_state)
        super().fit(X, y)
        self.seconds_saved_ -= checking
        return self
