"""Plugins: packages that declare a plugin, and Python files that a configuration imports.

A plugin is a module that registers its parts on import by the decorators of `oblique_cli.api`. A package declares it
under the entry points "oblique_trees.plugins". Installed packages are trusted, as Python itself trusts them; a file is
imported only with the user's permission. `foreign.plugin_fault` names the plugin of an exception.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oblique_cli.errors import ConfigError
from oblique_cli.foreign import error_text, register_owner

GROUP = "oblique_trees.plugins"
ENVIRONMENT = "OBLIQUE_PLUGINS"  # "0" disables installed plugins


_FILES: dict[str, None] = {}  # imported files, in order


@dataclass(frozen=True)
class Imported:
    """Record of imports in this process; unpickled in another process, it imports the same modules first.

    So objects that are unpickled next may refer to what these modules register.
    """

    installed: bool
    files: tuple[str, ...]

    def __reduce__(self) -> tuple[Callable[..., Imported], tuple[Any, ...]]:
        return _import_again, (self.installed, self.files)


def imported() -> Imported:
    """Return the record of this process' imports."""
    return Imported(bool(load.cache_info().currsize and load()), tuple(_FILES))


def _import_again(installed: bool, files: tuple[str, ...]) -> Imported:
    if installed:
        load()
    for path in files:
        import_file(Path(path))
    return Imported(installed, files)


@functools.cache
def load() -> tuple[str, ...]:
    """Import the plugins of all installed packages, once a process; return "name (package version)" of each.

    ConfigError names the package whose plugin cannot be imported.
    """
    if os.environ.get(ENVIRONMENT) == "0":
        return ()
    names = []
    for point in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda entry: entry.name):
        package = f"{point.dist.name} {point.dist.version}" if point.dist else "unknown package"
        register_owner(_home(point.module), f"plugin {point.name!r} of {package}")
        try:
            point.load()
            _take_up()
        except (Exception, SystemExit) as error:
            raise ConfigError(
                f"plugin {point.name!r} of {package} cannot be imported ({error_text(error)}): mend or remove the "
                f"package, or set {ENVIRONMENT}=0"
            ) from error
        names.append(f"{point.name} ({package})")
    return tuple(names)


def import_file(path: Path) -> str:
    """Import a Python file and return its SHA-256; ConfigError if the import fails.

    Its folder becomes the last place for imports, so that worker processes find the module under the same name, and no
    file of the folder replaces a module of Python or of a package.
    """
    content = digest(path)
    name = path.stem
    if path.suffix != ".py" or not name.isidentifier():
        raise ConfigError(f"{path.name} cannot be imported: its name must be that of a module, as in my_heuristics.py.")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    importlib.invalidate_caches()
    loaded = sys.modules.get(name)
    home = getattr(loaded, "__file__", None) if loaded else getattr(importlib.util.find_spec(name), "origin", None)
    if Path(home or "").resolve() != path:
        raise ConfigError(f"{path.name} cannot be imported: there is another module {name!r} already; rename it.")
    if loaded:
        return content
    register_owner(name, path.name)
    try:
        importlib.import_module(name)
        _take_up()
    except ConfigError as error:
        if path.name in str(error):  # the fault of a registered object, whose message begins with the file
            raise
        raise ConfigError(f"{path.name} cannot be imported ({str(error).removesuffix('.')}).") from error
    except (Exception, SystemExit) as error:
        raise ConfigError(f"{path.name} cannot be imported ({error_text(error)}).") from error
    _FILES[str(path)] = None
    return content


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigError(f"{path.name} cannot be read ({error.strerror}).") from None


def _home(module: str) -> str:
    """Return the outermost package of a plugin that other packages do not share: the first with an __init__ file."""
    first, *rest = module.split(".")
    for part in rest:
        spec = importlib.util.find_spec(first)
        if spec is None or spec.origin is not None:  # only a namespace package, which may be shared, has no file
            break
        first = f"{first}.{part}"
    return first


def _take_up() -> None:
    """Update the table of algorithms with newly registered heuristics."""
    from oblique_cli.estimators import algorithms

    algorithms.take_up_proposers()
