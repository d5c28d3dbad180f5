"""Results in one SQLite file, which nothing else reads or writes.

A run is an experiment's name with its latest configuration. It may grow by repetitions, data sets and algorithms. With
fewer repetitions than before, the others stay stored and no table shows them.

Each finished fold is one row and one transaction: a kill loses at most the folds in hand. Which folds are done is read
from the rows alone. Of two processes that run the same experiment, the row that is stored first stays. A run that is
started over gets a new token, and a process with the old one can neither store nor read a row of it.

Every record carries a digest of all its columns, and every read checks it, so a changed bit is an error that names the
fold. `repair` drops such rows and they are run again.

Write-ahead logging with synchronous = NORMAL: a killed process loses nothing that was committed, a power cut perhaps
the last folds, and never the file. A commit costs about a tenth of a full sync. A read-only file is read as it is.
"""

from oblique_cli.experiments.store._database import Damage
from oblique_cli.experiments.store._runs import Run, Session, differences, first_of
from oblique_cli.experiments.store._salvage import Salvaged, is_sound, salvage
from oblique_cli.experiments.store._schema import SCHEMA_VERSION
from oblique_cli.experiments.store._store import Store

__all__ = ["SCHEMA_VERSION", "Damage", "Run", "Salvaged", "Session", "Store"]
__all__ += ["differences", "first_of", "is_sound", "salvage"]
