"""Parameters of nested estimators, such as `tree__max_depth`, also if the nested estimator is left at its default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from oblique_cli.errors import ConfigError


class WithParts(BaseEstimator):
    """Estimator with nested objects as parameters, such as `tree__max_depth`, also if `tree` is None.

    parts : parameter -> function that makes the object from a plain value, None if there is none"""

    parts: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with `deep` those of nested objects as well, as part__name."""
        params = super().get_params(deep=deep)
        if deep:
            for name, made_of in self.parts.items():
                part = made_of(params[name])
                part_params = {} if part is None else part.get_params()
                params |= {f"{name}__{key}": value for key, value in part_params.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of nested objects as part__name; ValueError for an unknown name or a plain part."""
        for name, made_of in self.parts.items():
            if any(key.startswith(f"{name}__") for key in params):
                part = made_of(params.get(name, getattr(self, name)))
                if part is not None:
                    params[name] = part
        current = self.get_params(deep=False)
        for key in params:
            name, inside, parameter = key.partition("__")
            if inside and name in current and not hasattr(value := params.get(name, current[name]), "set_params"):
                owner, advice = type(self).__name__, f"set {name} to an object that has the parameter"
                if parameter in current:
                    advice = f"{parameter} is a parameter of {owner} itself"
                raise ConfigError(f"{key} of {owner} cannot be set while {name} is {value!r}; {advice}.")
        # scikit-learn sets a nested object before its parameters.
        super().set_params(**params)
        return self
