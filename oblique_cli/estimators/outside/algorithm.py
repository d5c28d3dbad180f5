"""Class of another library as an algorithm."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from oblique_cli.estimators.algorithms import Algorithm, ModelFamily, is_outside
from oblique_cli.estimators.outside.known import CLASSES, nested_class, refused, task_of_class
from oblique_cli.estimators.outside.process import START, own_process
from oblique_cli.estimators.outside.remote import OutsideEstimator
from oblique_cli.ground.constraints import Constraint
from oblique_cli.ground.nouns import AlgorithmSpec

CLASSIFIERS = ModelFamily("estimators of other libraries")
REGRESSORS = ModelFamily("regressors of other libraries", task="regression")


@dataclass(frozen=True)
class OutsideAlgorithm(Algorithm):
    """Class by its dotted path, fitted in a separate process, for which threads can wait."""

    prepare: str = ""
    limits: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: AlgorithmSpec) -> OutsideAlgorithm:
        """Return the algorithm of a configuration entry."""
        path = spec.name
        family = REGRESSORS if task_of_class(path) == "regression" else CLASSIFIERS
        title = path.rpartition(".")[2]
        made_by, prepare, limits = OutsideEstimator, spec.prepare, spec.limits
        return cls(path, title, path, family, None, True, made_by, prepare=prepare, limits=limits)

    @property
    def parameters(self) -> dict[str, Constraint]:
        """Empty: parameters are unknown before the library is imported."""
        return {}

    def make(self, random_state: Any = None, **params: Any) -> Any:
        """Return an unfitted estimator. Errors in its parameters are raised by `check`, or by its fit."""
        return self._estimator(random_state, params)

    def check(self, params: Mapping[str, Any]) -> None:
        """Import the class in a separate process, and check `params` against its signature; ConfigError for a fault."""
        _check(self.name, json.dumps(params, sort_keys=True))

    def _estimator(self, random_state: Any, params: Mapping[str, Any]) -> Any:
        regression = self.family.task == "regression"
        return OutsideEstimator(self.name, params, self.prepare, self.limits, regression, random_state)


@functools.cache
def _check(path: str, params: str) -> None:
    own_process().ask("check", START, path=path, params=json.loads(params))


def is_foreign(spec: AlgorithmSpec) -> bool:
    """Return whether an algorithm, or one of its parameters, is a class that needs the user's permission."""
    if not is_outside(spec.name):
        return False
    grid = [(name, value) for name, values in spec.grid.items() for value in values]
    return _needs_code(spec.name, spec.params, [*spec.params.items(), *grid])


def _needs_code(path: str, params: Mapping[str, Any], entries: Iterable[tuple[str, Any]]) -> bool:
    if path not in CLASSES:
        return True
    for name, value in entries:
        if refused(path, params, name, value):
            return True
        inner = value.get("params") or {} if (nested := nested_class(value)) else {}
        if nested and _needs_code(nested, inner, inner.items()):
            return True
    return False
