"""The redrawn figures of the papers. Importing this package registers the figures of all its modules."""

import pkgutil
from importlib import import_module

for _module in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
