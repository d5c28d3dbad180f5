"""Versions of required packages, read from metadata without imports."""

from __future__ import annotations

import csv
import functools
import platform
import re
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

PACKAGE = "oblique-trees"
DECIDING = ("click", "numpy", "scipy", "scikit-learn")  # packages that an error message lists
TABLE = Path(__file__).with_name("tested_versions.csv")

_REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(?:\[(?P<extras>[\w,-]+)\])?\s*(?P<bound>[^;]*?)\s*(?:;.*extra == ['\"](?P<extra>[\w-]+).*)?"
)


class Requirement(NamedTuple):
    """Requirement of the package.

    extras  extras of `name` that are required with it
    bound   such as ">=1.26", "" for any version
    extra   extra of oblique-trees that requires it, "" if the package itself does"""

    name: str
    extras: tuple[str, ...]
    bound: str
    extra: str

    @property
    def least(self) -> str:
        """Lowest allowed version, "" without a bound."""
        match = re.search(r">=\s*([\w.]+)", self.bound)
        return match[1] if match else ""


def requirements() -> tuple[Requirement, ...]:
    """Return the requirements of the installed package; none in a checkout without metadata."""
    try:
        lines = metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return ()
    matches = [match for line in lines if (match := _REQUIREMENT.fullmatch(line))]
    return tuple(
        Requirement(m["name"], tuple((m["extras"] or "").split(",")), m["bound"], m["extra"] or "") for m in matches
    )


def installed(name: str) -> str:
    """Return the version of a package, "" if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version without trailing zeros, for comparisons."""
    start = re.match(r"\d+(?:\.\d+)*", version)
    parts = [int(part) for part in start[0].split(".")] if start else []
    while parts[-1:] == [0]:
        del parts[-1]
    return tuple(parts)


def fits(requirement: Requirement) -> bool:
    """Return whether a package is installed in a version that the requirement allows."""
    version = installed(requirement.name)
    return bool(version) and numbers(version) >= numbers(requirement.least)


def fault() -> str:
    """Return a sentence on the first required package that is missing or too old, "" if there is none."""
    for requirement in requirements():
        if not requirement.extra and not fits(requirement):
            version = installed(requirement.name)
            state = f"{version} is installed" if version else "it is not installed"
            return (
                f"oblique needs {requirement.name} {requirement.least} or newer, and {state}: "
                f"pip install '{requirement.name}{requirement.bound}'."
            )
    return ""


def described() -> str:
    """Return the versions of Python and of the main packages, for an error message."""
    packages = (f"{name} {installed(name) or 'missing'}" for name in DECIDING)
    return ", ".join((f"Python {platform.python_version()}", *packages))


@functools.cache
def tested() -> tuple[dict[str, str], ...]:
    """Return the environments in which the tests passed: versions by package, and the numbers of tests."""
    with open(TABLE, encoding="utf-8", newline="") as stream:
        return tuple(csv.DictReader(stream))


def untested() -> list[str]:
    """Return sentences on Python and on packages outside the range of tested versions."""
    sentences = []
    for name in tested()[0] if tested() else ():
        if name in ("versions", "passed", "failed", "skipped"):
            continue
        version = platform.python_version() if name == "python" else installed(name)
        known = sorted((row[name] for row in tested()), key=numbers)
        digits = 2 if name == "python" else None  # the tests ran with one patch release of each Python
        low, high = numbers(known[0])[:digits], numbers(known[-1])[:digits]
        if version and not low <= numbers(version)[:digits] <= high:
            sentences.append(f"{name} {version} is outside the tested versions, {known[0]} to {known[-1]}")
    return sentences
