"""Results in one SQLite file, which nothing else reads or writes.

A run is an experiment's name with its latest configuration. It may grow by repetitions, data sets and algorithms. With
fewer repetitions than before, the others stay stored and no table shows them.

Each finished fold is one row and one transaction, so that a kill at any moment loses at most the folds in hand. Which
folds are done is read from the rows; there is no other record of progress that could disagree with them.

Several processes may use one file. If two of them run the same experiment, both work, the row that is stored first
stays, and the result is right. A run that is started over gets a new token, and a process with the old one can
neither store nor read a row of it: a table never mixes two experiments.

Every record carries a digest of all its columns, and every read checks it, so a bit that the disk or a program has
changed is an error that names the fold, never another number. `repair` drops such rows and they are run again.

Write-ahead logging with synchronous = NORMAL: the operating system has a commit before the next fold counts, so a
killed process loses nothing that was committed. Only a power cut may lose the last folds, and it never damages the
file. A commit costs about a tenth of a full sync. Where nothing can be written (a read-only mount), the file is read as
it is.

    _schema.py      tables, and the layout's number
    _database.py    the file: opening, transactions, checks, and every error of SQLite as one sentence
    _records.py     a row as columns with a digest, and back
    _runs.py        the description of a run, its sessions, and the processes that write
    _changes.py     which changed configurations a run may go on with
    _salvage.py     what can be read of a damaged file, in a new one
    _store.py       `Store`
"""

from oblique_cli.experiments.store._changes import differences
from oblique_cli.experiments.store._database import Damage
from oblique_cli.experiments.store._runs import Run, Session
from oblique_cli.experiments.store._salvage import Salvaged, is_sound, salvage
from oblique_cli.experiments.store._schema import SCHEMA_VERSION
from oblique_cli.experiments.store._store import Store

__all__ = ["SCHEMA_VERSION", "Damage", "Run", "Salvaged", "Session", "Store", "differences", "is_sound", "salvage"]
