"""Tables of the results file. `digest` is that of a record's other columns.

runs            a name and its token; a restarted run gets a new token
sessions        one line per start of a run: its configuration, command, process and environment. The latest
                intact session describes the run
leases          time of the last write of the process of a session, and of its end
environments    environments of results (`experiments.environment`), under their digests
rows            one finished fold; `predictions` is the digest of its record there, '' if it has none
tunings         one choice of parameters that folds share
predictions     test rows, predicted codes and optional probabilities of a fold, packed
labels          the true labels of a data set, packed, under the digest of the data
"""

from __future__ import annotations

APPLICATION_ID = 0x0B11_0E01  # marks a results file, independent of its name
SCHEMA_VERSION = 3

_STATUS = "CHECK (status IN ('ok', 'failed'))"

TABLES = {
    "runs": """CREATE TABLE runs (
        name TEXT PRIMARY KEY, token TEXT NOT NULL, created TEXT NOT NULL, digest TEXT NOT NULL)""",
    "sessions": """CREATE TABLE sessions (
        id INTEGER PRIMARY KEY, run TEXT NOT NULL, started TEXT NOT NULL, content TEXT NOT NULL,
        total INTEGER NOT NULL, argv TEXT NOT NULL, environment TEXT NOT NULL, presentation TEXT NOT NULL,
        workers INTEGER NOT NULL, process TEXT NOT NULL, digest TEXT NOT NULL)""",
    "leases": "CREATE TABLE leases (session INTEGER PRIMARY KEY, beat TEXT NOT NULL, ended TEXT NOT NULL)",
    "environments": "CREATE TABLE environments (id TEXT PRIMARY KEY, facts TEXT NOT NULL)",
    "rows": f"""CREATE TABLE rows (
        run TEXT NOT NULL, key TEXT NOT NULL,
        dataset TEXT NOT NULL, algorithm TEXT NOT NULL, repeat INTEGER NOT NULL, fold INTEGER NOT NULL,
        status TEXT NOT NULL {_STATUS}, message TEXT NOT NULL,
        n_correct INTEGER NOT NULL CHECK (n_correct BETWEEN 0 AND n_test), n_test INTEGER NOT NULL,
        n_leaves INTEGER NOT NULL, n_nodes INTEGER NOT NULL, depth INTEGER NOT NULL,
        tune_seconds REAL NOT NULL, fit_seconds REAL NOT NULL, predict_seconds REAL NOT NULL,
        chosen TEXT NOT NULL, per_class TEXT NOT NULL, inner TEXT NOT NULL, clusters TEXT NOT NULL,
        measures TEXT NOT NULL, environment TEXT NOT NULL, predictions TEXT NOT NULL, digest TEXT NOT NULL,
        PRIMARY KEY (run, key), UNIQUE (run, dataset, algorithm, repeat, fold))""",
    "tunings": f"""CREATE TABLE tunings (
        run TEXT NOT NULL, key TEXT NOT NULL, dataset TEXT NOT NULL, algorithm TEXT NOT NULL,
        status TEXT NOT NULL {_STATUS}, message TEXT NOT NULL, chosen TEXT NOT NULL, inner TEXT NOT NULL,
        seconds REAL NOT NULL, environment TEXT NOT NULL, digest TEXT NOT NULL,
        PRIMARY KEY (run, key), UNIQUE (run, dataset, algorithm))""",
    "predictions": """CREATE TABLE predictions (
        run TEXT NOT NULL, key TEXT NOT NULL, packed BLOB NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (run, key))""",
    "labels": "CREATE TABLE labels (data TEXT PRIMARY KEY, packed BLOB NOT NULL, digest TEXT NOT NULL)",
}
LAYOUT = (  # statements that make a new file
    *TABLES.values(),
    "CREATE INDEX rows_by_key ON rows (key)",
    "CREATE INDEX sessions_by_run ON sessions (run)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)
# Tables with records of a run -> column with the name of the run.
OF_A_RUN = {**dict.fromkeys(("sessions", "rows", "tunings", "predictions"), "run"), "runs": "name"}
