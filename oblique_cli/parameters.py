"""Declared parameters: a class field states name, type, default, allowed values and meaning in one line.

The constructor is generated from these fields, as for a dataclass. The same fields define the checks of values, the
keys of configurations, their JSON schema and the tables of the documentation.
"""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, make_dataclass, replace
from typing import Any, ClassVar, dataclass_transform

from oblique_cli.ground.constraints import Constraint

UNSET: Any = type("Unset", (), {"__repr__": lambda self: "unset"})()  # the declaration of a base class is used
SECTION = "Parameters\n----------\n"
MOST_LINES = 80  # of a docstring with the whole text of each parameter
POINTER = "`parameters[name].help` of the class is the whole text of a parameter; docs/algorithms/ has tables."
# Not a parameter: scikit-learn's `set_callbacks` sets it to watch fits; it is no part of a model.
CALLBACKS = "_skl_callbacks"


@dataclass(frozen=True)
class Alias:
    """Alternative name of a parameter in papers and stored results.

    values : value under that name -> value under the estimator's name, if they differ
    """

    name: str
    values: Mapping[Any, Any] = field(default_factory=dict)

    def current(self, value: Any) -> Any:
        """Return the value under the estimator's name for a value under this name."""
        return self.values[value] if self._is_special(value, self.values) else value

    def former(self, value: Any) -> Any:
        """Return the value under this name for a value under the estimator's name; ValueError if there is none."""
        back = {new: old for old, new in self.values.items()}
        if self._is_special(value, back):
            return back[value]
        if self._is_special(value, self.values):
            raise ValueError(value)
        return value

    @staticmethod
    def _is_special(value: Any, table: Mapping[Any, Any]) -> bool:
        return (value is None or isinstance(value, str)) and value in table


@dataclass(frozen=True, eq=False)
class Parameter:
    """Declared parameter.

    allowed : None if the class checks it itself; also : its alternative name; annotation : as text
    """

    default: Any
    allowed: Constraint | None = None
    help: str = ""
    also: Alias | None = None
    annotation: str = "Any"
    kw_only: bool = False

    def heading(self, name: str) -> str:
        """Return the heading line of the parameter in a docstring."""
        kind = self.allowed.describe() if self.allowed else self.annotation
        return f"{name} : {kind}, default {self.default!r}"


def parameter(
    *,
    default: Any = UNSET,
    allowed: Constraint | None = UNSET,
    help: str = UNSET,
    also: str | Alias | None = UNSET,
    kw_only: bool = UNSET,
) -> Any:
    """Declare a parameter, as in ``tau: float = parameter(default=0.0, allowed=Real(0.0, 2.0), help="...")``.

    also : its name in papers and stored results
    kw_only : whether it is a keyword-only argument, if that differs from the class

    Omitted arguments are those of the parameter of the same name in a base class.
    """
    other = Alias(also) if isinstance(also, str) else also
    return Parameter(default, allowed, help, other, UNSET, kw_only)


def as_in(owner: type[Any], name: str) -> Any:
    """Return the same parameter as another class has."""
    return owner.parameters[name]


@dataclass_transform(field_specifiers=(parameter,), eq_default=False)
class Declared:
    """A class whose parameters are its fields made by `parameter`.

    A subclass also has the parameters of its bases, unless it has `takes` (a list of the inherited parameters to keep)
    or sets a name to a plain value. With ``kw_only=True`` parameters are keyword-only unless declared otherwise, and
    those that a class adds precede the inherited ones; else they follow, as in a dataclass.

    A class that defines `__init__` stays unchanged: it defines its `constraints` and `aliases`, too. A class
    that has `constraints` in its body keeps these.

    parameters    name -> `Parameter`
    constraints   name -> allowed values
    aliases       name -> its other name
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {}
    constraints: ClassVar[Mapping[str, Constraint]] = {}
    aliases: ClassVar[Mapping[str, Alias]] = {}

    def __init_subclass__(cls, *, kw_only: bool = False, takes: Iterable[str] | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.parameters = _written(cls)
            return
        inherited: dict[str, Parameter] = {}
        for base in cls.__bases__:
            for name, parameter in getattr(base, "parameters", {}).items():
                if (takes is None or name in takes) and isinstance(vars(cls).get(name, parameter), Parameter):
                    inherited.setdefault(name, parameter)
        declared = _declared(cls, inherited, kw_only)
        from_bases = {name: declared.get(name, parameter) for name, parameter in inherited.items()}
        added = {name: parameter for name, parameter in declared.items() if name not in from_bases}
        parameters = added | from_bases if kw_only else from_bases | added
        # Otherwise the constructor is handwritten, and this class adds no parameters.
        if declared or parameters.keys() != cls.parameters.keys() or hasattr(cls.__init__, "declared"):
            cls.parameters = parameters
            if "constraints" not in vars(cls):
                cls.constraints = {
                    name: parameter.allowed for name, parameter in parameters.items() if parameter.allowed is not None
                }
            cls.aliases = {name: parameter.also for name, parameter in parameters.items() if parameter.also is not None}
            cls.__init__ = _constructor(cls)  # type: ignore[method-assign]
        for name, parameter in declared.items():
            setattr(cls, name, parameter.default)
        cls.__doc__ = documented(vars(cls).get("__doc__"), parameters)


def _declared(cls: type[Any], inherited: Mapping[str, Parameter], kw_only: bool) -> dict[str, Parameter]:
    """Return the declared parameters of a class; parts left out come from the base class."""
    annotations = inspect.get_annotations(cls)
    declared = {}
    for name, parameter in vars(cls).items():
        if isinstance(parameter, Parameter):
            changes = {key: value for key, value in vars(parameter).items() if value is not UNSET}
            if name not in inherited and "default" not in changes:
                raise TypeError(f"parameter {name!r} of {cls.__name__} has no default")
            if name in annotations:
                kind = annotations[name]
                changes["annotation"] = kind if isinstance(kind, str) else getattr(kind, "__name__", repr(kind))
            declared[name] = replace(inherited.get(name, Parameter(None, kw_only=kw_only)), **changes)
    return declared


def _written(cls: type[Any]) -> dict[str, Parameter]:
    """Return the parameters of a handwritten constructor."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    arguments = [p for p in list(inspect.signature(cls.__init__).parameters.values())[1:] if p.kind not in kinds]
    constraints, aliases = cls.constraints, cls.aliases
    return {
        p.name: Parameter(
            p.default,
            constraints.get(p.name) if isinstance(constraints, Mapping) else None,
            also=Alias(other) if isinstance(other := aliases.get(p.name), str) else other,
            annotation=p.annotation if isinstance(p.annotation, str) else "Any",
            kw_only=p.kind is p.KEYWORD_ONLY,
        )
        for p in arguments
    }


def _constructor(cls: type[Any]) -> Any:
    """Return an `__init__` that stores its arguments, like that of a dataclass with these fields."""
    fields = [
        (name, parameter.annotation, field(default=parameter.default, kw_only=parameter.kw_only))
        for name, parameter in cls.parameters.items()
    ]
    init = vars(make_dataclass(cls.__name__, fields, eq=False, repr=False, match_args=False))["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    init.declared = True
    return init


def documented(doc: str | None, parameters: Mapping[str, Parameter]) -> str | None:
    """Return a docstring with a section of parameters before the attributes; unchanged if it has the section.

    A parameter has one line, and the section a pointer, where a docstring of all texts has more than 80 lines."""
    if (
        doc is None
        or not any(parameter.help for parameter in parameters.values())
        or SECTION in (doc := inspect.cleandoc(doc))
    ):
        return doc
    text, mark, behind = doc.partition("\nAttributes\n----------\n")
    if not mark:
        text, mark, behind = doc.partition("\nNotes\n-----\n")
    texts = [_texts(name, parameter) for name, parameter in parameters.items()]
    made = ""
    for blocks in ([whole for whole, _ in texts], [*(line for _, line in texts), "", POINTER]):
        made = "\n".join([text.rstrip(), "", SECTION.rstrip("\n"), *blocks, ""]) + mark + behind
        if made.count("\n") < MOST_LINES:
            break
    return made


@functools.cache
def _texts(name: str, parameter: Parameter) -> tuple[str, str]:
    """Return the heading of a parameter with its meaning below it, and one line of both."""
    heading, indent = parameter.heading(name), "    "
    meaning = textwrap.fill(
        parameter.help, 116, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
    first = parameter.help.partition(". ")[0].rstrip(".")
    line = textwrap.shorten(f"{heading}. {first}", 118, placeholder=" ...") if first else heading
    return f"{heading}\n{meaning}".rstrip(), heading if len(heading) > 100 else line
