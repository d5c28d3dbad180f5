"""How rows are divided into training, pruning, tuning and test rows: one scheme a file.

Every module beside this one without a leading underscore registers its own when used. To add a scheme: a file here with
a `Scheme` subclass under `@scheme("name")`, its `places` and its `draw`. It is then a value of `cv.scheme`, listed,
checked by `oblique validate` and in the schema for editors. `monte_carlo.py` is the shortest example.

Every draw comes from a stream named after what it serves (`oblique_cli.ground.seeds`): the data set, the purpose, the
repetition, the fold. No name of an algorithm or of a scheme is among them, so all algorithms of an experiment see the
same folds, and a nested and a two-stage run with one seed test on the same partitions, as Wickramarachchi (2015),
section 5.2, asks.

Stochasticity, per data set: ("folds", r) divides the rows for repetition r; ("pruning", r, k) draws the pruning rows of
its fold k; ("tuning", r, k) cuts the inner folds of a training set, and ("tuning",) those of stage 1 of a two-stage
run; each tuning pair i has pruning rows from ("tuning pruning", ..., i).
"""

import pkgutil

from oblique_cli.schemes._folds import check, expected_places, folds, places, repetition
from oblique_cli.schemes._scheme import NESTED, SCHEMES, SHARED, Scheme, is_stratified, named, scheme

__all__ = [
    "NESTED",
    "SCHEMES",
    "SHARED",
    "Scheme",
    "check",
    "expected_places",
    "folds",
    "is_stratified",
    "named",
    "places",
    "repetition",
    "scheme",
]

SCHEMES.wait_for(
    (f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__) if module.name[0] != "_"),
    empty="no scheme is registered: put a subclass of Scheme under @scheme, or begin the name of the file with an "
    "underscore",
)
