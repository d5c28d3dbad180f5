"""Division of rows into training, pruning, tuning and test rows: one scheme per file.

Every module in this folder without a leading underscore registers its scheme when used. To add a scheme: a file here
with a `Scheme` subclass under `@scheme("name")`, its `places` and its `draw`. It is then a value of `cv.scheme`,
listed, checked by `oblique validate` and in the schema for editors. `monte_carlo.py` is the shortest example.

Every draw comes from a stream named after its purpose (`oblique_cli.ground.seeds`): data set, purpose, repetition,
fold. Stream names do not include algorithms or schemes, so all algorithms of an experiment have the same folds, and a
nested and a two-stage run with one seed test on the same partitions, as Wickramarachchi (2015), section 5.2, requires.

Streams, per data set: ("folds", r) divides the rows for repetition r; ("pruning", r, k) draws the pruning rows of its
fold k; ("tuning", r, k) cuts the inner folds of a training set, and ("tuning",) those of stage 1 of a two-stage run;
each tuning pair i has pruning rows from ("tuning pruning", ..., i).
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

SCHEMES.wait_for(f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__) if module.name[0] != "_")
