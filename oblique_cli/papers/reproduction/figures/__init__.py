"""The figures of the papers, drawn again. Importing this package registers the figures of every module beside it."""

import pkgutil
from importlib import import_module

for _module in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
