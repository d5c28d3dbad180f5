"""Registries by name: proposers, algorithms, cross-validation schemes, metrics."""

from __future__ import annotations

import difflib
import inspect
import re
import threading
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, ValuesView
from importlib import import_module
from typing import Any, TypeVar

from oblique_cli.errors import ConfigError, UnknownName
from oblique_cli.foreign import caller, error_text

T = TypeVar("T")


def close_matches(name: str, names: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the nearest of `names`, or the empty string."""
    listed = list(names)
    near = [other for other in listed if other.startswith(f"{name.lower()}_")][:2]
    near = near or difflib.get_close_matches(name.lower(), listed, n=2, cutoff=0.55)
    return f" Did you mean {' or '.join(repr(n) for n in near)}?" if near else ""


def source_of(thing: Any) -> str:
    """Return the file that defines a class or function; for any other object, the file that is registering it."""
    try:
        return inspect.getsourcefile(thing if isinstance(thing, type) else inspect.unwrap(thing)) or caller()
    except Exception:  # built in, typed at a prompt, an object, or an object that raises when inspected
        return caller()


def misfit(function: Any, *arguments: str) -> str | None:
    """Return the reason why a function cannot take `arguments` by position, as text that follows its name, or None."""
    expected = f"must take ({', '.join(arguments)})"
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # no function, or a C function without a signature
        return f"{expected}, and does not say what it takes"
    try:
        signature.bind(*arguments)
    except TypeError:
        return f"{expected}, and takes {signature.replace(return_annotation=signature.empty)}"
    return None


def has_docstring(thing: Any) -> bool:
    """Return whether a class or function has its own docstring, not that of a base class."""
    text = vars(thing).get("__doc__") if isinstance(thing, type) else getattr(thing, "__doc__", None)
    return isinstance(text, str) and bool(text.strip()) and (isinstance(thing, type) or hasattr(thing, "__name__"))


def fault_of_function(function: Any, *arguments: str, says: str = "") -> str | None:
    """Return the fault of a function called with `arguments` by position, as text that follows its name, or None.

    says : purpose of its docstring, "" if it needs none"""
    if isinstance(function, type) or not callable(function):
        kind = "a class" if isinstance(function, type) else repr(function)
        return f"must be a function of ({', '.join(arguments)}), and is {kind}"
    if says and not has_docstring(function):
        return f"has no docstring, whose first line {says}"
    return misfit(function, *arguments)


def fault_of_type(thing: Any, wanted: type[Any], how: str) -> str | None:
    """Return the fault of an object that is not a `wanted`, as text that follows its name, or None. how : the remedy"""
    if isinstance(thing, wanted):
        return None
    kind = f"the class {thing.__name__}" if isinstance(thing, type) else f"of type {type(thing).__name__}"
    article = "an" if wanted.__name__[0] in "AEIOU" else "a"
    return f"must be {article} {wanted.__name__}, and is {kind}; {how}"


def fault_of_texts(thing: Any, *names: str) -> str | None:
    """Return the fault of attributes that must be non-empty texts, as text that follows the object's name, or None."""
    for name in names:
        value = getattr(thing, name, None)
        if not isinstance(value, str):
            return f"has {name} {value!r}, which must be a text" if value is not None else f"has no {name}"
        if not value.strip():
            return f"has no {name}"
    return None


class Registry(Mapping[str, T]):
    """Mapping that refuses duplicates and suggests close matches for an unknown name.

    fault   returns the fault of an object as text that follows "file: kind 'name' ", or None: an object that violates
            the convention of its kind is refused when it is registered, not when it is used"""

    def __init__(self, kind: str, listed_by: str = "", fault: Callable[[T], str | None] | None = None) -> None:
        self.kind = kind
        self.listed_by = listed_by
        self.fault = fault
        self._things: dict[str, T] = {}
        self.former: dict[str, str] = {}  # former names -> current names
        self._doors: tuple[str, ...] = ()
        self._opening = False
        self._lock = threading.RLock()

    def wait_for(self, modules: Iterable[str]) -> None:
        """Import modules that register further objects on demand: one when its name is needed, all for a list."""
        self._doors += tuple(modules)

    def _open(self, modules: Iterable[str]) -> None:
        with self._lock:  # other threads wait until all modules are imported
            if not self._opening:  # a module that is being imported gets the objects registered so far
                self._opening = True
                try:
                    for module in modules:
                        import_module(module)
                finally:
                    self._opening = False

    def find(self, name: str) -> T | None:
        """Return the object of a name that is registered, or that a waiting module of this name registers."""
        if name not in self._things:
            self._open(module for module in self._doors if module.rpartition(".")[2] == name)
        return self._things.get(name)

    def _all(self) -> dict[str, T]:
        """Return all objects by name, in the order of the modules."""
        if self._doors and not self._opening:
            with self._lock:
                self._open(self._doors)
                order = {module: i for i, module in enumerate(self._doors)}
                things = sorted(
                    self._things.items(), key=lambda item: order.get(getattr(item[1], "__module__", ""), -1)
                )
                self._things, self._doors = dict(things), ()
        return self._things

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that registers an object under `name`; ConfigError, with the file, if the name is in use
        or cannot be typed, or if the object has a fault."""

        def keep(thing: T) -> T:
            if not isinstance(name, str) or not re.fullmatch(r"[\w.+-]+", name):
                needed = "needs a name of letters, digits, '_', '.', '+' and '-', without blanks"
                raise ConfigError(f"{source_of(thing)}: {self.kind} {name!r} {needed}.")
            # A waiting module that is imported directly registers before the others, which may need its object.
            waits = getattr(thing, "__module__", None) in self._doors
            if name in (self._things if waits else self):
                taken = f"registered twice (first in {source_of(self[name])})"
                raise ConfigError(f"{source_of(thing)}: {self.kind} {name!r} is {taken}.")
            try:
                fault = self.fault(thing) if self.fault else None
            except Exception as error:  # an object that raises when inspected is faulty
                fault = f"is broken ({error_text(error)})"
            if fault:
                raise ConfigError(f"{source_of(thing)}: {self.kind} {name!r} {fault}.")
            self._things[name] = thing
            return thing

        return keep

    def current(self, name: str) -> str:
        """Return the current name for a former name, which works but is not listed."""
        return self.former.get(name, name)

    def __getitem__(self, name: str) -> T:
        if (thing := self.get(name)) is None:
            hint = close_matches(str(name), self._all()) or f" Known: {', '.join(sorted(self._all()))}."
            listed = f" ({self.listed_by})" if self.listed_by else ""
            raise UnknownName(f"unknown {self.kind} {name!r}.{hint}{listed}")
        return thing  # type: ignore[no-any-return]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the object or `default`; Mapping.get expects KeyError, and __getitem__ raises UnknownName."""
        if name in self._things:
            return self._things[name]
        name = self.current(name)
        thing = self.find(name)
        return self._all().get(name, default) if thing is None else thing

    def __contains__(self, name: object) -> bool:
        # Mapping.__contains__ expects KeyError, and __getitem__ raises UnknownName.
        return (
            name in self._things
            or (isinstance(name, str) and self.find(name) is not None)
            or name in self._all()
            or name in self.former
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def values(self) -> ValuesView[T]:
        """Return all objects; Mapping.values would look each of them up."""
        return self._all().values()

    def items(self) -> ItemsView[str, T]:
        """Return all names and objects; Mapping.items would look each of them up."""
        return self._all().items()
