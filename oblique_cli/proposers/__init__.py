"""Split heuristics, one a file. Importing this package registers every module beside it without a leading underscore.

To add one: a file here with a `Proposer` subclass under `@PROPOSERS.register("name")`. It is then an algorithm of the
command line, a tunable estimator and a row in every contract test. `axis_parallel.py` is the shortest example.
Random numbers come from `node.rng()` only, never from a generator that lives longer than a node: see `sadt.py`.
"""

import pkgutil
from importlib import import_module

for _module in pkgutil.iter_modules(__path__):
    if not _module.name.startswith("_"):
        import_module(f"{__name__}.{_module.name}")
