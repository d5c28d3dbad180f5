"""Modules and public names that load on first use, because loading them is slow."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

# Former names of classes; they work until version 0.2.0, and in model files and pickles for good.
FORMER = {
    "RefinedTreeClassifier": "TAOClassifier",
    "LogisticModelTreeClassifier": "LogisticTreeClassifier",
    "LinearModelTreeRegressor": "LinearTreeRegressor",
    "ProximalSVMClassifier": "GEPSVMClassifier",
}


class Later(ModuleType):
    """A module that is imported on first use of an attribute: ``distance = Later("scipy.spatial.distance")``.

    If `sys.modules` contains this object, the imported module replaces it there."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def names_in_stub(file: str) -> dict[str, str]:
    """Return the names that the stub beside a module exports (`from MODULE import NAME as NAME`, one in a statement),
    each with its module. file : `__file__` of the module"""
    text = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    return {name: module for module, name in re.findall(r"^from (\S+) import (?:\(\s*)?(\w+) as \2\b", text, re.M)}
