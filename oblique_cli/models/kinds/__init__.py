"""Kinds of fitted estimators and the forms of their attributes, one family per file. The import registers all of them,
except those of `ground/extensions.py`, which are loaded on first use."""

import pkgutil
from importlib import import_module

from oblique_cli.ground import extensions
from oblique_cli.models.kinds._kind import KINDS, Kind, kind_of

__all__ = ["KINDS", "Kind", "kind_of"]

for _module in pkgutil.iter_modules(__path__):
    if not _module.name.startswith("_"):
        import_module(f"{__name__}.{_module.name}")

KINDS.wait_for(extensions.MODEL_KINDS)
