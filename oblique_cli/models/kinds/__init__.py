"""Kinds of fitted estimators and the forms of their attributes, one family a file; importing registers all of
them, and those behind doors wait until they are asked for."""

import pkgutil
from importlib import import_module

from oblique_cli.ground import doors
from oblique_cli.models.kinds._kind import KINDS, Kind, kind_of

__all__ = ["KINDS", "Kind", "kind_of"]

for _module in pkgutil.iter_modules(__path__):
    if not _module.name.startswith("_"):
        import_module(f"{__name__}.{_module.name}")

KINDS.wait_for(doors.MODEL_KINDS)
