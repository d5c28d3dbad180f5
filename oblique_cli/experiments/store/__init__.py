"""Results in one SQLite file; only this package reads or writes it.

A run is an experiment's name with its latest configuration. It may grow by repetitions, data sets and algorithms. If
the number of repetitions decreases, the rows of the others stay stored and no table shows them.

Each finished fold is one row and one transaction: a kill loses at most the running folds. Only the rows determine
which folds are done. If two processes run the same experiment, the row that is stored first stays. A restarted run
gets a new token, and a process with the old token can neither store nor read a row of it.

Every record has a digest of all its columns, and every read checks it, so a changed bit is an error that names the
fold. `repair` drops such rows, and the next run repeats them.

Write-ahead logging with synchronous = NORMAL: a killed process loses no committed data; a power failure may lose
the last folds, never the file. A commit costs about a tenth of a full sync. A read-only file is only read.
"""

from oblique_cli.experiments.store._database import Damage
from oblique_cli.experiments.store._runs import Run, Session, differences
from oblique_cli.experiments.store._salvage import is_sound, salvage
from oblique_cli.experiments.store._schema import SCHEMA_VERSION
from oblique_cli.experiments.store._store import Store

__all__ = ["SCHEMA_VERSION", "Damage", "Run", "Session", "Store", "differences", "is_sound", "salvage"]
