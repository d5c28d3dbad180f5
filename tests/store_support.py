"""Rows, runs and results files for tests of the store."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from oblique_cli.experiments.environment import environment
from oblique_cli.experiments.store import Store
from oblique_cli.ground.nouns import Row, Tuning

CONTENT = {"seed": 1, "cv": {"scheme": "ordinary", "repeats": 2}, "datasets": [], "algorithms": []}


def row(i: int, **changes: object) -> Row:
    values = dict(n_correct=20, n_test=35, n_leaves=7, n_nodes=13, depth=4, fit_seconds=0.2, packed=b"some bytes")
    per_class = {"a": [10, 15], "b": [10, 20]}
    made = Row(f"k{i}", "bupa", "gdt", i // 10, i % 10, "ok", per_class=per_class, **values)
    return replace(made, **changes)


def write_rows(path: Path, run: str, start: int, n: int) -> None:
    """What a process of a test does. It stands here because a new process can import it from here by its name."""
    with Store(path) as store:
        store.begin(run, CONTENT, 2 * n)
        for i in range(start, start + n):
            store.append(run, row(i, repeat=0, fold=i))


def filled(path: Path, n: int = 20) -> Path:
    with Store(path) as store:
        store.begin("one", CONTENT, n, environment=environment())
        for i in range(n):
            store.append("one", row(i))
        store.add_tuning("one", Tuning("t", "bupa", "gdt", "ok", chosen={"tau": 1}))
    return path


def sql(path: Path, statement: str, *values: object) -> list[tuple[Any, ...]]:
    """Change or read a results file without the store."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA ignore_check_constraints = 1")
        return db.execute(statement, values).fetchall()


def n_stored(folder: Path, where: str = "1") -> int:
    """The number of folds that a run in `folder` has stored so far."""
    try:
        with closing(sqlite3.connect(f"file:{folder}/results/oblique.sqlite?mode=ro", uri=True)) as db:
            return int(db.execute(f"SELECT count(*) FROM rows WHERE {where}").fetchone()[0])
    except sqlite3.OperationalError:  # not there yet, or just being made
        return 0
