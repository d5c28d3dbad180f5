"""The environment of a result: code, libraries, linear algebra, processor.

A job's key covers configuration, data, seed and fold. The environment is stored with each row; a digest of the code is
its version, so no number has to be raised by hand. A table names the environments of its rows if there are several, and
a row is taken over from another run only if key and environment are the same.
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

# Versions that can change a result; those of joblib and threadpoolctl are recorded with a session all the same.
LIBRARIES = ("oblique-trees", "numpy", "scipy", "scikit-learn")
BESIDE = ("joblib", "threadpoolctl")

# What sits around a result and never inside one. A room that is not named here counts, so a new one is never forgotten.
LOOKS = frozenset(
    {"__main__", "cli", "config", "drawing", "errors", "evaluation", "experiments", "report"}
    | {"papers/published", "papers/reproduction"}
)
COMMAND = "_command"  # how files of commands outside cli/ end
INSIDE = ("evaluation/metrics.py", "experiments/fits.py", "experiments/jobs.py", "experiments/running.py")


def environment(things: Iterable[Any] = (), libraries: Iterable[str] = ()) -> dict[str, Any]:
    """Return the versions and the machine that results depend on, as plain data.

    things : what a run uses, named with digests if from outside files; libraries : packages of other estimators
    """
    from threadpoolctl import threadpool_info

    with contextlib.suppress(ImportError):  # it loads the linear algebra to be recorded
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
    """Return the versions of those packages that are installed."""
    version_of = {}
    for name in names:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            version_of[name] = importlib.metadata.version(name)
    return version_of


def deciding(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of `environment` that can change a result, in a fixed form; {} for one without such a part."""
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
    """Return sixteen letters for what `deciding` returns."""
    return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()[:16]


def facts(deciding: Mapping[str, Any]) -> dict[str, str]:
    """Return the same as names and short values, for people: {"numpy": "2.4.6", "code": "1a2b3c4d", ...}."""
    packages = deciding.get("packages", {})
    facts_ = {"oblique" if name == "oblique-trees" else name: version for name, version in packages.items()}
    facts_["code"] = str(deciding.get("code", "not recorded"))[:12]
    facts_ |= {f"BLAS {i}" if i else "BLAS": name for i, name in enumerate(deciding.get("blas", ()))}
    if "machine" in deciding:
        facts_["processor"] = deciding["machine"]
    return facts_ | {Path(name).name: value[:12] for name, value in deciding.get("outside", {}).items()}


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return what differs between two environments, such as "numpy 2.4.6 and 2.5.0"."""
    first_facts, second_facts = facts(first), facts(second)
    return [
        f"{name} {first_facts.get(name, 'not recorded')} and {second_facts.get(name, 'not recorded')}"
        for name in dict.fromkeys((*first_facts, *second_facts))
        if first_facts.get(name) != second_facts.get(name)
    ]


@functools.cache
def code() -> str:
    """Return a digest of every file of the package that decides results, the compiled core included."""
    hasher = hashlib.sha256()
    for path in deciding_files():
        hasher.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0")
        hasher.update(hashlib.sha256(path.read_bytes()).digest())
    core = importlib.util.find_spec("oblique_cli._core")
    if core is not None and core.origin is not None:
        hasher.update(Path(core.origin).read_bytes())
    return hasher.hexdigest()[:24]


def deciding_files() -> list[Path]:
    """Return the Python files of the package that decide results, in a fixed order."""
    paths = []
    for path in sorted(PACKAGE.rglob("*.py")):
        inner = path.relative_to(PACKAGE)
        around = {inner.parts[0].removesuffix(".py"), "/".join(inner.parts[:2])}
        is_around = bool(around & LOOKS) or inner.stem.endswith(COMMAND)
        if inner.as_posix() in INSIDE or not is_around:
            paths.append(path)
    return paths


def outside(things: Iterable[Any]) -> dict[str, str]:
    """Return the files outside the package that define `things`, with the digests of their content."""
    from oblique_cli.ground.registry import source_of

    digest_of = {}
    for thing in things:
        path = Path(source_of(thing))
        if path.is_file() and PACKAGE not in path.resolve().parents:
            digest_of[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return dict(sorted(digest_of.items()))
