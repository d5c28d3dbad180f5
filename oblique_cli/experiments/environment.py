"""Environment of a result: code, libraries, linear algebra, processor.

A job's key covers configuration, data, seed and fold. The environment is stored with each row; its version of the code
is a digest, so there is no number to increase by hand. A table lists the environments of its rows if there are several,
and a row is copied from another run only if key and environment are equal.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import os
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import oblique_cli

PACKAGE = Path(oblique_cli.__file__).resolve().parent

# Versions that can change a result; a session also records those of joblib and threadpoolctl.
LIBRARIES = ("oblique-trees", "numpy", "scipy", "scikit-learn")
BESIDE = ("joblib", "threadpoolctl")

# Modules that cannot change a result. Modules that are not listed count, so a new module is never missed.
LOOKS = frozenset(
    {"__main__", "cli", "config", "drawing", "errors", "evaluation", "experiments", "report"}
    | {"papers/published", "papers/reproduction"}
)
COMMAND = "_command"  # end of the names of command files outside cli/
INSIDE = ("evaluation/metrics.py", "experiments/fits.py", "experiments/jobs.py", "experiments/running.py")


def environment(things: Iterable[Any] = (), libraries: Iterable[str] = ()) -> dict[str, Any]:
    """Return the versions and the machine that results depend on, as plain data.

    things : objects that a run uses, with digests if outside files define them; libraries : packages of estimators"""
    from threadpoolctl import threadpool_info

    with contextlib.suppress(ImportError):  # its import loads the linear algebra to be recorded
        importlib.import_module("oblique_cli._core")

    blas = [
        {key: library.get(key) for key in ("internal_api", "version", "architecture")}
        for library in threadpool_info()
        if library["user_api"] == "blas"
    ]
    return {
        "python": platform.python_version(),
        "packages": versions((*LIBRARIES, *BESIDE)),
        "blas": blas,
        "processors": os.cpu_count(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "code": code(),
        "outside": {**outside(things), **versions(sorted(set(libraries) - set(LIBRARIES)))},
    }


def versions(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of the installed packages among `names`."""
    version_of = {}
    for name in names:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            version_of[name] = importlib.metadata.version(name)
    return version_of


def deciding(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of `environment` that can change a result, in a fixed form; {} if it has none."""
    packages = environment.get("packages", {})
    blas = {
        " ".join(str(library[key]) for key in ("internal_api", "version", "architecture") if library.get(key))
        for library in environment.get("blas", ())
    }
    fields = {
        "packages": {name: packages[name] for name in LIBRARIES if name in packages},
        "blas": sorted(blas),
        **{key: environment[key] for key in ("machine", "code", "outside") if environment.get(key)},
    }
    return {key: value for key, value in fields.items() if value}


def digest(deciding: Mapping[str, Any]) -> str:
    """Return a digest of sixteen letters for the result of `deciding`."""
    return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()[:16]


def facts(deciding: Mapping[str, Any]) -> dict[str, str]:
    """Return the same as names and short values for display: {"numpy": "2.4.6", "code": "1a2b3c4d", ...}."""
    packages = deciding.get("packages", {})
    facts_ = {"oblique" if name == "oblique-trees" else name: version for name, version in packages.items()}
    facts_["code"] = str(deciding.get("code", "not recorded"))[:12]
    facts_ |= {f"BLAS {i}" if i else "BLAS": name for i, name in enumerate(deciding.get("blas", ()))}
    if "machine" in deciding:
        facts_["processor"] = deciding["machine"]
    return facts_ | {Path(name).name: value[:12] for name, value in deciding.get("outside", {}).items()}


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return the differences of two environments, such as "numpy 2.4.6 and 2.5.0"."""
    first_facts, second_facts = facts(first), facts(second)
    return [
        f"{name} {first_facts.get(name, 'not recorded')} and {second_facts.get(name, 'not recorded')}"
        for name in dict.fromkeys((*first_facts, *second_facts))
        if first_facts.get(name) != second_facts.get(name)
    ]


@functools.cache
def code() -> str:
    """Return a digest of every file of the package that can change results, including the compiled core."""
    hasher = hashlib.sha256()
    for path in deciding_files():
        hasher.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0")
        hasher.update(hashlib.sha256(path.read_bytes()).digest())
    core = importlib.util.find_spec("oblique_cli._core")
    if core is not None and core.origin is not None:
        hasher.update(Path(core.origin).read_bytes())
    return hasher.hexdigest()[:24]


def deciding_files() -> list[Path]:
    """Return the Python files of the package that can change results, in a fixed order."""
    paths = []
    for path in sorted(PACKAGE.rglob("*.py")):
        inner = path.relative_to(PACKAGE)
        around = {inner.parts[0].removesuffix(".py"), "/".join(inner.parts[:2])}
        is_around = bool(around & LOOKS) or inner.stem.endswith(COMMAND)
        if inner.as_posix() in INSIDE or not is_around:
            paths.append(path)
    return paths


def outside(things: Iterable[Any]) -> dict[str, str]:
    """Return the files outside the package that define `things`, with digests of their content."""
    from oblique_cli.ground.registry import source_of

    digest_of = {}
    for thing in things:
        path = Path(source_of(thing))
        if path.is_file() and PACKAGE not in path.resolve().parents:
            digest_of[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return dict(sorted(digest_of.items()))
