"""Parameters of a part, such as `proposer__tau`, also where the part is given by name or left at its default."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.aliases import current_names
from oblique_cli.ground.registry import close_matches
from oblique_cli.parameters import Declared


class WithParts(BaseEstimator):
    """An estimator with parameters that hold objects with parameters of their own.

    `parts` tells for each such parameter which new object a plain value stands for, None if it stands for none: a
    registered name for a proposer, None for a default. `get_params(deep=True)` lists the parameters of that object, and
    setting one of them puts the object in the place of the plain value. So ``proposer__tau`` can be searched by
    GridSearchCV whether `proposer` is "hhcart_a" or HHCART().
    """

    parts: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with `deep` those of parts as well, as part__name."""
        params = super().get_params(deep=deep)
        if deep:
            for name, made_of in self.parts.items():
                part = made_of(params[name])
                part_params = {} if part is None else part.get_params()
                params |= {f"{name}__{key}": value for key, value in part_params.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of parts as part__name; ValueError for one that does not exist, or in a plain value."""
        for name, made_of in self.parts.items():
            if any(key.startswith(f"{name}__") for key in params):
                part = made_of(params.get(name, getattr(self, name)))
                if part is not None:
                    params[name] = part
        current = self.get_params(deep=False)
        for key in params:
            name, inside, parameter = key.partition("__")
            if inside and name in current and not hasattr(value := params.get(name, current[name]), "set_params"):
                self._refuse_plain(name, value, parameter)
        # scikit-learn sets a part before it sets the parameters of that part.
        super().set_params(**params)
        return self

    def _refuse_plain(self, part: str, value: Any, parameter: str) -> None:
        """Raise the ConfigError for a parameter of a part that is a plain value, without parameters of its own."""
        owner = type(self).__name__
        advice = (
            f"{parameter} is a parameter of {owner} itself"
            if parameter in self.get_params(deep=False)
            else f"set {part} to an object that has the parameter"
        )
        raise ConfigError(f"{part}__{parameter} of {owner} cannot be set while {part} is {value!r}; {advice}.")


class Grouped(WithParts):
    """An estimator whose parameters can be given in groups as well, each an object or a mapping.

    `groups` tells for each parameter that may hold a group the class whose parameters are the estimator's flat names.
    Where it is None the flat names hold. `ungrouped` brings an estimator to its flat names, which is what `fit` works
    on; a parameter that is given both ways, with two values, is a ConfigError. ``growth__max_depth`` is the flat
    `max_depth` where `growth` is None, and an entry of the mapping or an attribute of the object where there is one.
    """

    groups: ClassVar[Mapping[str, type[Declared]]] = {}

    def ungrouped(self) -> Self:
        """Return the estimator itself if no parameter is in a group, else an equal estimator with flat names only."""
        params = self.get_params(deep=False)
        changed = self._ungrouped_parameters(params)
        return type(self)(**{**params, **changed}) if changed else self

    def _ungrouped_parameters(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters that change when groups are flattened. params : all parameters"""
        changed: dict[str, Any] = {}
        for part, kind in self.groups.items():
            value = params.get(part)
            if value is None:
                continue
            owner = f"{part} of {type(self).__name__}"
            if type(value) is kind:
                settings = value.get_params(deep=False)  # type: ignore[attr-defined]
            elif isinstance(value, Mapping):
                settings = current_names(value, kind.aliases, owner)
                refuse_unknown(settings, kind.parameters, owner)
            else:
                raise ConfigError(
                    f"{owner} must be a {kind.__name__}, a mapping of its parameters, or None. Got {value!r}."
                )
            flat = {self._flat_name(name): setting for name, setting in settings.items()}
            self._refuse_twice(part, flat, params)
            changed |= {part: None, **flat}
        return changed

    def _refuse_twice(self, part: str, flat: Mapping[str, Any], params: Mapping[str, Any]) -> None:
        defaults = type(self)().get_params(deep=False)
        for name, value in flat.items():
            if params[name] not in (defaults[name], value):
                raise ConfigError(
                    f"{name} of {type(self).__name__} is {params[name]!r}, and {value!r} in {part}; give it once."
                )

    def _flat_name(self, name: str) -> str:
        """What a parameter of a group is called here."""
        return name

    def _group_of(self, part: str, value: Any) -> Iterable[str]:
        """The parameters that a plain value of a part has here, or a mapping."""
        plain = value is None or isinstance(value, Mapping)
        return self.groups[part].parameters if part in self.groups and plain else ()

    def group_names(self) -> dict[str, dict[str, str]]:
        """Return the flat name of every parameter of every group, by the names of both, older ones too."""
        params = self.get_params(deep=False)
        return {
            part: {name: self._flat_name(name) for name in kind.parameters}
            | {other.name: other.name for other in kind.aliases.values()}
            for part, kind in self.groups.items()
            if part in params
        }

    def _learned_by(self, other: Self) -> Self:
        """Take over what another estimator has learned."""
        names = self.get_params(deep=False).keys()
        for name in vars(self).keys() - names - vars(other).keys():
            delattr(self, name)
        vars(self).update({name: value for name, value in vars(other).items() if name not in names})
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with `deep` those of parts and groups as well, as part__name."""
        params = super().get_params(deep=deep)
        if deep:
            current = super().get_params(deep=False)
            for part, value in current.items():
                settings = value if isinstance(value, Mapping) else {}
                for name in self._group_of(part, value):
                    flat = self._flat_name(name)
                    if name in settings or flat in current:
                        params[f"{part}__{name}"] = settings.get(name, current.get(flat))
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of parts and groups as part__name; ValueError for one that does not exist."""
        current = super().get_params(deep=False)
        for key in list(params):
            part, inside, name = key.partition("__")
            value = params.get(part, current.get(part))
            if not inside or name not in self._group_of(part, value):
                continue
            setting = params.pop(key)
            if isinstance(value, Mapping):
                params[part] = {**value, name: setting}
            elif self._flat_name(name) in current:
                params[self._flat_name(name)] = setting
            else:
                params[part] = {"name": value, name: setting}
        super().set_params(**params)
        return self


def refuse_unknown(names: Iterable[str], known: Iterable[str], owner: str) -> None:
    """Raise ConfigError for the first unknown name, with similar known names."""
    for name in names:
        if name not in known:
            raise ConfigError(f"{owner} has no parameter {name!r}.{close_matches(str(name), known)}")
