"""`Store`: writing of a results file: beginning and ending runs, storing folds, repairs, merging files."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from oblique_cli.errors import ConfigError, StoreError
from oblique_cli.experiments import environment as environments
from oblique_cli.experiments.store._database import Damage
from oblique_cli.experiments.store._reader import Held, Reader, damage_of
from oblique_cli.experiments.store._records import ROWS, TUNINGS, Kind, Record, is_intact, same_answer, seal, text
from oblique_cli.experiments.store._runs import (
    PLAIN,
    SESSION,
    larger,
    refuse_other_data,
    repeats_of,
    this_process,
    timestamp,
)
from oblique_cli.experiments.store._schema import OF_A_RUN
from oblique_cli.ground.nouns import Job, Row, Tuning


class Store(Reader):
    """Results file, opened as in `Reader`, for a process that begins and stores runs."""

    # ---- a run -------------------------------------------------------------------------------------------------------

    def begin(
        self,
        run: str,
        content: Mapping[str, Any],
        total: int,
        *,
        argv: Sequence[str] = (),
        environment: Mapping[str, Any] | None = None,
        presentation: Mapping[str, Any] | None = None,
        workers: int = 1,
        fresh: bool = False,
    ) -> None:
        """Begin, resume or grow `run`, which consists of `total` jobs and is determined by `content`.

        Raise ConfigError if the stored content differs otherwise (`is_growth`). `fresh` deletes results, and takes the
        run away from any process that began it earlier."""
        with self._db.errors():
            self._check_pages()
            with self._db.transaction():
                if fresh:
                    self._delete(run)
                self.check(run, content)
                now = timestamp()
                if known := self._run(run):
                    token = known[0]
                else:
                    token = secrets.token_hex(16)
                    self._insert("runs", run, token, now)
                maker = self._add_environment(environments.deciding(environment or {}))
                facts = (environment or {}, presentation or {}, workers, this_process())
                values = (run, now, content, total, list(argv), *facts)
                session = self._add_session(dict(zip(SESSION, values, strict=True)))
            self._held[run] = Held(token, session, maker, repeats_of(content))

    def _insert(self, table: str, *values: Any) -> int:
        """Store a record with its digest; return its number."""
        record = (None, *values) if table == "sessions" else values
        marks = ", ".join("?" * (len(record) + 1))
        cursor = self._db.execute(f"INSERT INTO {table} VALUES ({marks})", (*record, seal(table, *values)))
        return int(cursor.lastrowid or 0)

    def _add_session(self, session: Mapping[str, Any], ended: str = "") -> int:
        number = self._insert("sessions", *(text(session[key]) if key in PLAIN else session[key] for key in SESSION))
        self._db.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", (number, session["started"], ended))
        return number

    def _add_environment(self, deciding: Mapping[str, Any]) -> str:
        id_ = environments.digest(deciding)
        self._restore("environments", "id", id_, text(deciding))
        return id_

    def _restore(self, table: str, key: str, *record: Any) -> None:
        """Store a complete record unless an intact one exists."""
        if not self._has_intact(table, key, record[0]):
            marks = ", ".join("?" * len(record))
            self._db.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", record)

    def end(self, run: str) -> None:
        """Mark that this process stores nothing more of `run`."""
        if (held := self._held.get(run)) is not None:
            with self._db.errors():
                self._db.execute("UPDATE leases SET ended = ? WHERE session = ?", (timestamp(), held.session))

    def delete(self, run: str) -> None:
        """Delete all records of `run`."""
        with self._db.errors(), self._db.transaction():
            self._delete(run)

    def _delete(self, run: str) -> None:
        self._db.execute("DELETE FROM leases WHERE session IN (SELECT id FROM sessions WHERE run = ?)", (run,))
        for table, column in OF_A_RUN.items():
            self._db.execute(f"DELETE FROM {table} WHERE {column} = ?", (run,))
        self._held.pop(run, None)

    @contextmanager
    def _writing(self, run: str) -> Iterator[Held]:
        """Return a context for a transaction of the process that began `run`; StoreError if another restarted it."""
        with self._db.errors(), self._db.transaction():
            if run not in self._held:
                raise StoreError(f"run {run!r} was not begun by this process, which cannot store anything of it.")
            held = self._holding(run)
            yield held
            self._db.execute("UPDATE leases SET beat = ? WHERE session = ?", (timestamp(), held.session))

    # ---- records -----------------------------------------------------------------------------------------------------

    def append(self, run: str, row: Row) -> None:
        """Store `row`; a good row is never replaced. Raise StoreError if another process has restarted the run."""
        with self._writing(run) as held:
            self._put(ROWS, run, row, held.environment, row.packed)

    def add_tuning(self, run: str, tuning: Tuning) -> None:
        """Store a choice of parameters that all folds of a data set share."""
        with self._writing(run) as held:
            self._put(TUNINGS, run, tuning, held.environment)

    def _put(self, kind: Kind, run: str, record: Record, environment: str, packed: bytes = b"") -> bool:
        """Store a record and its predictions unless there is a good one; return whether it was stored."""
        place = (run, *(getattr(record, name) for name in kind.place))
        for key, status in self._records(kind.table, kind.at_place, *place, columns="key, status"):
            if status == "ok" and (key == record.key or record.status != "ok"):
                return False
            self._drop(run, kind.table, key)
        # A key has one place, so a conflict of keys alone is damage, and the first stored record stays.
        predictions = seal("predictions", run, record.key, packed) if packed else ""
        self._insert(kind.table, run, *kind.values(record, environment, predictions))
        if packed:
            self._db.execute("DELETE FROM predictions WHERE run = ? AND key = ?", (run, record.key))
            self._insert("predictions", run, record.key, packed)
        return True

    def _drop(self, run: str, table: str, key: str) -> None:
        for name in (table, "predictions") if table == ROWS.table else (table,):
            self._db.execute(f"DELETE FROM {name} WHERE run = ? AND key = ?", (run, key))

    def refuse_others(self, run: str, jobs: Iterable[Job]) -> None:
        """Raise ConfigError if rows of a run without a description are at the places of `jobs` and of other jobs."""
        if self.is_described(run):
            return
        keys = {(job.dataset, job.algorithm, job.repeat, job.fold): job.key for job in jobs}
        with self._reading(run):
            places = self._records("rows", "run = ?", run, columns="key, dataset, algorithm, repeat, fold")
        if others := sum(keys.get(tuple(place), key) != key for key, *place in places):
            raise ConfigError(
                f"run {run!r} has {others} stored folds of other settings, whose description is lost: use --fresh to "
                "start over, or another name to keep both (--set name=...)."
            )

    def _intact(self, kind: Kind, where: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the stored records for a condition. Raise StoreError with the name of the fold if one is damaged."""
        records = self._records(kind.table, where, *values)
        for record in records:
            if not is_intact(kind.table, record):
                raise self._damaged([damage_of(record[0], kind, record[1:-1])])
        return records

    def adopt(self, run: str, jobs: Iterable[str], tunings: Iterable[str] = ()) -> None:
        """Copy to `run` the good rows and tunings with these keys from other runs with the same environment."""
        with self._writing(run) as held:
            for kind, keys in ((ROWS, jobs), (TUNINGS, tunings)):
                where = "key = ? AND status = 'ok' AND environment = ? AND run <> ?"
                for key in keys:
                    for owner, *values, digest in self._records(kind.table, where, key, held.environment, run):
                        packed = self._packed(owner, [key])[key] if kind is ROWS else b""
                        if packed is not None and is_intact(kind.table, (owner, *values, digest)):
                            self._put(kind, run, kind.record(values), held.environment, packed)
                            break

    def add_measures(self, run: str, measures: Mapping[str, Mapping[str, Any]]) -> None:
        """Add metrics to rows of `run`, by key and by name; nothing else of a row changes."""
        at = ROWS.columns.index("measures")
        with self._db.errors(), self._db.transaction():
            for key, more in measures.items():
                records = self._intact(ROWS, "run = ? AND key = ?", run, key)
                if not records:
                    raise StoreError(f"run {run!r} was started over by another process; give the same command again.")
                _, *values, _ = records[0]
                values[at] = json.dumps({**json.loads(values[at]), **more}, sort_keys=True)
                update = "UPDATE rows SET measures = ?, digest = ? WHERE run = ? AND key = ?"
                self._db.execute(update, (values[at], seal("rows", run, *values), run, key))

    def add_labels(self, labels: Mapping[str, bytes]) -> None:
        """Store the packed labels of data sets, by the digests of the data."""
        with self._db.errors(), self._db.transaction():
            for values in labels.items():
                self._restore("labels", "data", *values, seal("labels", *values))

    # ---- damage ------------------------------------------------------------------------------------------------------

    def repair(self, run: str) -> list[Damage]:
        """Delete all damaged records of `run` and return them; the same run then repeats them."""
        damage = self.damage(run)
        if damage:
            with self._db.errors(), self._db.transaction():
                # Sessions before the run, because the run stays if one session remains.
                for item in sorted(damage, key=lambda item: item.table == "runs"):
                    if item.table in (ROWS.table, TUNINGS.table):
                        self._drop(item.run, item.table, item.key)
                    elif item.table != "runs":
                        column = {"sessions": "id", "environments": "id", "labels": "data"}[item.table]
                        self._db.execute(f"DELETE FROM {item.table} WHERE {column} = ?", (item.key,))
                    else:
                        self._db.execute("DELETE FROM runs WHERE name = ?", (item.run,))
                        if self._sessions(item.run):  # else the name itself was damaged
                            self._insert("runs", item.run, secrets.token_hex(16), timestamp())
                bereft = "run = ? AND key NOT IN (SELECT key FROM rows WHERE run = ?)"
                self._db.execute(f"DELETE FROM predictions WHERE {bereft}", (run, run))
                self._db.execute("DELETE FROM leases WHERE session NOT IN (SELECT id FROM sessions)")
        return damage

    # ---- merging -----------------------------------------------------------------------------------------------------

    def take_over(self, source: Store, run: str) -> tuple[int, int]:
        """Copy `run` from another results file in one transaction; return the numbers of new and of known rows.

        Raise ConfigError unless one of the contents extends the other, or if the files differ in a fold."""
        latest, records = source.whole(run)
        content, total = latest["content"], latest["total"]
        facts = source.environments(run)
        labels = {data: packed for data in content.get("data", {}).values() if (packed := source.labels(data))}
        with self._db.errors(), self._db.transaction():
            if mine := self._sessions(run) if self._run(run) else []:
                refuse_other_data(run, self.path, mine[-1]["content"], source.path, content)
                content, total = larger(mine[-1]["content"], content), max(total, mine[-1]["total"])
            else:
                self._insert("runs", run, secrets.token_hex(16), latest["started"])
            for deciding in facts.values():
                self._add_environment(deciding)
            for data, packed in labels.items():
                self._restore("labels", "data", data, packed, seal("labels", data, packed))
            stored = [
                self._put(kind, run, record, record.environment, packed)
                for kind, record, packed in records
                if self._agrees(kind, run, record, source.path)
            ]
            session = {**latest, "content": content, "total": total, "process": {}}
            self._add_session(session, ended=latest["started"])
        rows = [is_new for is_new, (kind, *_) in zip(stored, records, strict=True) if kind is ROWS]
        return sum(rows), len(rows) - sum(rows)

    def _agrees(self, kind: Kind, run: str, record: Any, source: Path) -> bool:
        """Return True; raise ConfigError if a good stored record with the same key differs from the good `record`."""
        if record.status == "ok":
            for _, *values, _ in self._intact(kind, "run = ? AND key = ? AND status = 'ok'", run, record.key):
                if not same_answer(kind.record(values), record):
                    raise ConfigError(
                        f"{kind.name(values)} of run {run!r} differs between {self.path} and {source}, though both "
                        "were asked for the same: one of them was made by other versions or another machine; leave one "
                        "out."
                    )
        return True
