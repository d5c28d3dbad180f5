"""Modules that load when something in them is asked for: loading them takes longer than what is done with them."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class Later(ModuleType):
    """Stands for the module of its name: ``distance = Later("scipy.spatial.distance")``, then as if imported.

    Also in `sys.modules`, where it gives way to the module.
    """

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)
