"""Split heuristics, one per file. Every module here without a leading underscore registers its heuristic when used.

To add a heuristic: a file here with a `Proposer` subclass under `@PROPOSERS.register("name")`. It is then an algorithm
of the command line, a tunable estimator and a row in every contract test. `axis_parallel.py` is the shortest example.
Random numbers come from `node.rng()` only, never from a generator that outlives a node: see `sadt.py`."""

import pkgutil

from oblique_cli.tree.splitting import PROPOSERS

PROPOSERS.wait_for(f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__) if module.name[0] != "_")
