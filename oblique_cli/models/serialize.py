"""Conversion of fitted estimators to plain data (class, parameters and attributes) and back.

Parameters are values, lists, dictionaries, and parts with separate parameters.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

import oblique_cli
from oblique_cli.errors import ConfigError, DataError, quoted
from oblique_cli.ground.constraints import violation
from oblique_cli.ground.later import FORMER
from oblique_cli.models.codecs import Arrays, Scope, fields_of, resolved
from oblique_cli.models.kinds import KINDS, kind_of
from oblique_cli.models.predicting import Predictor
from oblique_cli.parameters import CALLBACKS


class EstimatorPredictor(Predictor):
    """Predictions by the estimator itself."""

    def __init__(self, estimator: Any) -> None:
        super().__init__({}, {})
        self.estimator = estimator

    def predict(self, X: Any) -> NDArray[Any]:
        return self._answer("predict", "gives no predictions", X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return self._answer("predict_proba", "gives no class probabilities", X)

    def apply(self, X: Any) -> NDArray[Any]:
        return self._answer("apply", "has no leaves", X)

    def _answer(self, method: str, fault: str, X: Any) -> NDArray[Any]:
        if not hasattr(self.estimator, method):
            raise ConfigError(f"{type(self.estimator).__name__} {fault}.")
        return np.asarray(getattr(self.estimator, method)(X))


@dataclass(frozen=True, eq=False)
class Fitted:
    """The parts of a fitted estimator."""

    kind: str  # name in `KINDS`
    cls: str  # name of the estimator's class
    parameters: Mapping[str, Any]  # of its constructor, plain
    state: Mapping[str, Any]  # its fitted attributes

    @classmethod
    def of(cls, estimator: Any) -> Fitted:
        """Split a fitted estimator into parts. ConfigError if it is not fitted, or has no form in model files.

        Generators are no parameters of a fitted model: a generator as random_state becomes None.
        """
        owner = type(estimator).__name__
        kind = kind_of(type(estimator))
        if kind is None:
            raise ConfigError(
                f"cannot save {owner}: model files have no form for it; register a kind for it in "
                "oblique_cli/models/kinds/."
            )
        params = estimator.get_params(deep=False)
        plain = plain_parameters(params, Scope(f"cannot save {owner}: parameter", Arrays(), reading=False))
        definition = KINDS[kind]
        # Facts of a model file have the spread of its rows.
        made = {*vars(type(estimator)(**params)), CALLBACKS, "_spreads"}
        state = {name: value for name, value in vars(estimator).items() if name not in made}
        for name in state:
            if name not in definition.state and name not in definition.left_out:
                raise ConfigError(
                    f"cannot save {owner}: model files have no form for its attribute {quoted(name)}; state it in the "
                    f"kind {kind!r} of oblique_cli/models/kinds/."
                )
        for name in definition.state:
            if name not in state and not definition.may_lack(name):
                raise ConfigError(f"cannot save {owner}: it is not fitted (there is no {name}).")
        fitted_state = {name: state[name] for name in definition.state if name in state}
        fitted = cls(kind, owner, plain, fitted_state)
        fitted.__dict__["estimator"] = estimator
        return fitted

    @cached_property
    def estimator(self) -> Any:
        """The fitted estimator."""
        cls = _class_named(self.cls)
        if cls is None or kind_of(cls) != self.kind:
            raise DataError(
                f"the model is of class {quoted(self.cls)}, which is no estimator of the kind {quoted(self.kind)}."
            )
        params = parameters_of(self.parameters, Scope("parameters", Arrays(), reading=True))
        for name, value in params.items():
            constraint = None if hasattr(value, "get_params") else cls.constraints.get(name)
            if constraint and (message := violation(name, value, constraint, self.cls)):
                raise DataError(f"parameters of the model: {message}")
        try:
            declared = inspect.signature(cls).parameters
            for name, value in params.items():  # JSON has lists only
                if isinstance(value, list) and name in declared and isinstance(declared[name].default, tuple):
                    params[name] = tuple(value)
            estimator = cls(**params)
        except TypeError as error:
            raise DataError(f"the model has parameters that {self.cls} does not take ({error}).") from None
        definition = KINDS[self.kind]
        vars(estimator).update(copy.deepcopy(dict(definition.left_out)))
        vars(estimator).update(self.state)
        return estimator

    @cached_property
    def predictor(self) -> Predictor:
        """The predictor, without scikit-learn if the kind does not need it."""
        name = KINDS[self.kind].predictor
        if not name:
            return EstimatorPredictor(self.estimator)
        predictor: Predictor = resolved(name)(self.parameters, self.state)
        return predictor

    def plain(self, arrays: Arrays) -> dict[str, Any]:
        """Return plain data for a file."""
        scope = Scope(f"cannot save {self.cls}: state", arrays, reading=False)
        forms = KINDS[self.kind].state
        return {
            "kind": self.kind,
            "estimator": self.cls,
            "parameters": dict(self.parameters),
            "state": {name: forms[name].plain(value, scope.at(name)) for name, value in self.state.items()},
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], arrays: Arrays) -> Fitted:
        """Return the inverse of `plain`; DataError, with the position, for invalid data."""
        name = plain["kind"]
        if name not in KINDS:
            raise DataError(f"kind is {quoted(name)}, and this version knows {', '.join(KINDS)}")
        definition = KINDS[name]
        scope = Scope("state", arrays, reading=True)
        state = fields_of(plain["state"], definition.state, scope, definition.may_lack)
        parameters = plain["parameters"]
        if not isinstance(parameters, dict):
            raise DataError(f"parameters must be an object. Got {quoted(parameters)}")
        try:
            if definition.check:
                definition.check(parameters, state)
        except (ValueError, TypeError, AttributeError) as error:
            raise DataError(f"state: {error}") from None
        return cls(name, plain["estimator"], parameters, state)


def _class_named(name: str) -> Any:
    """Return the class of a public name or a former one, or of an algorithm from a user's file."""
    name = FORMER.get(name, name)
    if oblique_cli.place_of(name):
        return getattr(oblique_cli, name)
    from oblique_cli.estimators.algorithms import ALGORITHMS

    return next((a.estimator for a in ALGORITHMS.values() if a.estimator.__name__ == name), None)


# ---- parameters ------------------------------------------------------------------------------------------------------

# A part is an object such as a heuristic. It is written as its registry and its name in that registry.
PART, MAPPING = "part", "mapping"
PUBLIC = "public"
# Groups of parameters in older files, with the parameters that have another name now, "" for one that is gone.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "growth": {},
    "leaves": {},
    "tree": {"max_features": ""},
    "discretizer": {"method": "discretization"},
}


def plain_parameters(params: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    """Return the parameters of an estimator or a part as plain data; ConfigError for a value without a plain form."""
    return {name: _plain(value, scope.at(name)) for name, value in params.items()}


def parameters_of(plain: Any, scope: Scope) -> dict[str, Any]:
    """Return the inverse of `plain_parameters`, with parts as objects; DataError for invalid data."""
    if not isinstance(plain, dict):
        scope.fail(f"must be an object of names and values. Got {quoted(plain)}")
    values: dict[str, Any] = {}
    grouped: dict[str, Any] = {}
    for name, value in plain.items():
        is_group = isinstance(value, dict)
        if name in GROUPS and (value is None or is_group):
            is_part = is_group and value.keys() == {PART, "parameters"}
            read, entries = (parameters_of, value["parameters"]) if is_part else (_value, value)
            for key, entry in (read(entries, scope.at(name)) or {}).items():
                grouped[GROUPS[name].get(key, key)] = entry
            grouped.pop("", None)
        else:  # older files have settings of refinement in `refine`, where only a fit needs them
            values[name] = "tao" if name == "refine" and is_group else _value(value, scope.at(name))
    return values | grouped


def _plain(value: Any, scope: Scope) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item, scope.at(i)) for i, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {MAPPING: [[_plain(k, scope), _plain(v, scope.at(str(k)))] for k, v in value.items()]}
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None  # only fits draw random numbers
    if hasattr(value, "get_params"):
        registry, name = _place_of(type(value), scope)
        parameters = plain_parameters(value.get_params(deep=False), scope.at(name))
        return {PART: [registry, name], "parameters": parameters}
    scope.fail(f"is {quoted(value)}, which a model file has no form for")


def _value(plain: Any, scope: Scope) -> Any:
    if isinstance(plain, list):
        return [_value(item, scope.at(i)) for i, item in enumerate(plain)]
    if not isinstance(plain, dict):
        return plain
    if plain.keys() == {MAPPING} and isinstance(plain[MAPPING], list):
        pairs = plain[MAPPING]
        if all(isinstance(pair, list) and len(pair) == 2 and not isinstance(pair[0], list | dict) for pair in pairs):
            return {key: _value(value, scope.at(str(key))) for key, value in pairs}
    if plain.keys() == {PART, "parameters"} and isinstance(plain[PART], list) and len(plain[PART]) == 2:
        cls = _part(plain[PART][0], plain[PART][1], scope)
        parameters = parameters_of(plain["parameters"], scope.at(str(plain[PART][1])))
        try:
            return cls(**parameters)
        except (TypeError, ValueError) as error:
            scope.fail(f"cannot be made: {error}")
    scope.fail(f"must be a value, a list, a mapping or a part. Got {quoted(plain)}")


def _registries() -> dict[str, Mapping[str, Any]]:
    import oblique_cli.proposers  # noqa: F401  (registers the proposers)
    from oblique_cli.tree.pruning import PRUNINGS
    from oblique_cli.tree.splitting import PROPOSERS

    return {PROPOSERS.kind: PROPOSERS, PRUNINGS.kind: PRUNINGS}


def _place_of(cls: type[Any], scope: Scope) -> tuple[str, str]:
    """Return the registry of a class of parts, and the name of the class in it."""
    for kind, registry in _registries().items():
        for name, registered in registry.items():
            if registered is cls:
                return kind, name
    if oblique_cli.place_of(cls.__name__) == cls.__module__:
        return PUBLIC, cls.__name__
    scope.fail(f"is of class {cls.__name__}, which is registered nowhere, so that a model file cannot name it")


def _part(registry: Any, name: Any, scope: Scope) -> Any:
    if registry == PUBLIC:
        part = getattr(oblique_cli, name) if isinstance(name, str) and oblique_cli.place_of(name) else None
        if not (isinstance(part, type) and hasattr(part, "get_params")):  # a function could run any code
            scope.fail(f"names {quoted(name)}, which is no class of oblique_cli with parameters")
        return part
    known = _registries()
    if not isinstance(registry, str) or registry not in known or not isinstance(name, str):
        scope.fail(f"names a part {quoted(name)} of {quoted(registry)}, which is no list of parts")
    try:
        return known[registry][name]
    except ConfigError as error:
        raise DataError(
            f"{scope.place}: {error} If it comes from a file of your own, import that file first."
        ) from None
