"""`Store`: runs, rows, shared choices of parameters, predictions."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from oblique_cli.errors import ConfigError, StoreError, UnknownName
from oblique_cli.experiments import environment as environments
from oblique_cli.experiments.store._changes import larger, refuse_changes, refuse_other_data
from oblique_cli.experiments.store._database import Damage, Database
from oblique_cli.experiments.store._records import (
    ROWS,
    TUNINGS,
    Kind,
    Record,
    contradiction,
    is_intact,
    plain,
    seal,
    text,
)
from oblique_cli.experiments.store._runs import (
    PLAIN,
    SESSION,
    Run,
    Session,
    is_alive,
    repeats_of,
    this_process,
    timestamp,
)
from oblique_cli.experiments.store._schema import OF_A_RUN
from oblique_cli.ground.nouns import Job, Row, Tuning
from oblique_cli.ground.registry import close_matches

# Names of runs that belong to no configuration, which `runs` leaves out: steps of a study.
HIDDEN = "/"


@dataclass(frozen=True)
class _Held:
    """What a handle that has begun a run holds: the token it was given, and who and what it stores as."""

    token: str
    session: int
    environment: str
    repeats: int | None


@dataclass(frozen=True)
class CheckedRecords:
    """The stored records of one kind of a run: those that are what was stored, and the others."""

    records: list[Any]
    damage: list[Damage]
    predictions: Mapping[str, str] = field(default_factory=dict)  # key -> digest of the predictions


class Store:
    """The results file at `path`, made with its folder unless `must_exist`.

    wait_seconds   how long to wait for another process that is writing, before StoreError

    Every method raises StoreError if the file is locked, damaged, from a newer version, or cannot be written. With
    `must_exist`, a file where nothing can be written is read all the same.
    """

    def __init__(self, path: str | Path, *, must_exist: bool = False, wait_seconds: float = 5.0) -> None:
        self.path = Path(path)
        self._db = Database(self.path, must_exist, wait_seconds)
        self._held: dict[str, _Held] = {}
        self._checked = False

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""
        return self._db.read_only

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

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
        """Begin, resume or grow `run`, which consists of `total` jobs and is decided by `content`.

        ConfigError, naming what differs, if the run was begun with another content that is no growth (`is_growth`);
        `fresh` deletes its results first, and from then on no process that began it earlier can store or read it.
        """
        content = plain(content)
        with self._db.errors():
            self._check_pages()
            with self._db.transaction():
                if fresh:
                    self._delete(run)
                self._refuse_changes(run, content)
                now = timestamp()
                known = self._run(run)
                token = known[0] if known else secrets.token_hex(16)
                if known is None:
                    self._insert("runs", run, token, now)
                maker = self._add_environment(environments.deciding(environment or {}))
                session = self._add_session(
                    [
                        run,
                        now,
                        text(content),
                        total,
                        text(list(argv)),
                        text(dict(environment or {})),
                        text(dict(presentation or {})),
                        workers,
                        text(this_process()),
                    ]
                )
            self._held[run] = _Held(token, session, maker, repeats_of(content))

    def _insert(self, table: str, *values: Any) -> None:
        """Store a record with its digest."""
        marks = ", ".join("?" * (len(values) + 1))
        self._db.execute(f"INSERT INTO {table} VALUES ({marks})", (*values, seal(table, *values)))

    def _add_session(self, values: Sequence[Any], ended: str = "") -> int:
        marks = ", ".join("?" * (len(values) + 1))
        cursor = self._db.execute(f"INSERT INTO sessions VALUES (NULL, {marks})", (*values, seal("sessions", *values)))
        lease = (cursor.lastrowid, values[1], ended)
        self._db.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", lease)
        return int(cursor.lastrowid or 0)

    def _add_environment(self, deciding: Mapping[str, Any]) -> str:
        id_ = environments.digest(deciding)
        self._restore("environments", "id", (id_, text(deciding)))
        return id_

    def _restore(self, table: str, key: str, record: Sequence[Any]) -> None:
        """Store a complete record unless an intact one is there."""
        known = self._db.execute(f"SELECT * FROM {table} WHERE {key} = ?", (record[0],)).fetchone()
        if known is None or not is_intact(table, known):
            marks = ", ".join("?" * len(record))
            self._db.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", record)

    def end(self, run: str) -> None:
        """Say that this process will store nothing more of `run`."""
        if (held := self._held.get(run)) is not None:
            with self._db.errors():
                self._db.execute("UPDATE leases SET ended = ? WHERE session = ?", (timestamp(), held.session))

    def check(self, run: str, content: Mapping[str, Any]) -> None:
        """Raise ConfigError, naming what differs, if `run` was begun with another content that is no growth."""
        with self._db.errors():
            self._refuse_changes(run, plain(content))

    def _refuse_changes(self, run: str, content: Mapping[str, Any]) -> None:
        described = self._sessions(run) if self._run(run) else []
        if described:
            refuse_changes(run, json.loads(described[-1]["content"]), content)

    def delete(self, run: str) -> None:
        """Delete everything about `run`."""
        with self._db.errors(), self._db.transaction():
            self._delete(run)

    def _delete(self, run: str) -> None:
        self._db.execute("DELETE FROM leases WHERE session IN (SELECT id FROM sessions WHERE run = ?)", (run,))
        for table, column in OF_A_RUN.items():
            self._db.execute(f"DELETE FROM {table} WHERE {column} = ?", (run,))
        self._held.pop(run, None)

    def runs(self) -> list[Run]:
        """Return every run, in the order they were begun."""
        with self._reading():
            return [self._described(name) for name in self._visible()]

    def run(self, name: str) -> Run:
        """Return a run. UnknownName with the close matches if there is none of that name."""
        with self._reading():
            names = self._visible()
            if name not in names:
                # Runs of a file of the user's own, my.csv, are called my-1b0a0320.
                longer = [run for run in names if run.startswith(f"{name}-")]
                hint = f" Did you mean {' or '.join(map(repr, longer[-5:]))}?" if longer else close_matches(name, names)
                raise UnknownName(f"there is no run {name!r} in {self.path}.{hint} (oblique status)")
            return self._described(name)

    def _visible(self) -> list[str]:
        names = [str(name) for (name,) in self._db.execute("SELECT name FROM runs ORDER BY rowid")]
        return [name for name in names if HIDDEN not in name]

    def _described(self, name: str) -> Run:
        known, sessions = self._run(name), self._sessions(name)
        if known is None or not sessions:
            raise self._damaged_run(name)
        latest = {key: json.loads(value) if key in PLAIN else value for key, value in sessions[-1].items()}
        repeats = repeats_of(latest["content"])
        counts: Counter[str] = Counter()
        query = f"SELECT {ROWS.sealed}, digest FROM rows WHERE run = ?"
        repeat, status = (1 + ROWS.columns.index(name) for name in ("repeat", "status"))
        for record in self._db.execute(query, (name,)):
            if not is_intact("rows", record):
                counts["damaged"] += 1
            elif repeats is None or record[repeat] < repeats:
                counts[record[status]] += 1
        return Run(
            name=name,
            content=latest["content"],
            total=latest["total"],
            done=counts["ok"],
            failed=counts["failed"],
            damaged=counts["damaged"],
            created=known[1],
            argv=latest["argv"],
            environment=latest["environment"],
            presentation=latest["presentation"],
            workers=latest["workers"],
            writers=tuple(session for session in map(self._session, sessions) if session.process and not session.ended),
        )

    def _run(self, name: str) -> tuple[str, str] | None:
        """Return token and time of a run, None if there is none. StoreError if its record is damaged."""
        query = "SELECT name, token, created, digest FROM runs WHERE name = ?"
        record = self._db.execute(query, (name,)).fetchone()
        if record is None:
            return None
        if not is_intact("runs", record):
            raise self._damaged_run(name)
        return record[1], record[2]

    def _sessions(self, run: str) -> list[dict[str, Any]]:
        """Return the sessions of a run, first to last. StoreError if any is damaged."""
        intact, damaged = self._divided_sessions(run)
        if damaged:
            raise self._damaged_run(run)
        return intact

    def _divided_sessions(self, run: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the sessions of a run that are what was stored, and the others."""
        divided: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
        query = f"SELECT id, {', '.join(SESSION)}, digest FROM sessions WHERE run = ? ORDER BY id"
        for record in self._db.execute(query, (run,)):
            divided[not is_intact("sessions", record)].append(dict(zip(("id", *SESSION), record[:-1], strict=True)))
        return divided

    def _damaged_run(self, run: str) -> StoreError:
        return StoreError(
            f"{self.path} is damaged: what it says of run {run!r} is not what was stored. Run oblique repair {run}."
        )

    def _session(self, record: Mapping[str, Any]) -> Session:
        beat, ended = self._db.execute(
            "SELECT beat, ended FROM leases WHERE session = ?", (record["id"],)
        ).fetchone() or (
            record["started"],
            "",
        )
        process = json.loads(record["process"])
        return Session(
            record["id"],
            record["started"],
            json.loads(record["argv"]),
            record["workers"],
            process,
            beat,
            ended,
            is_alive(process),
        )

    # ---- rows --------------------------------------------------------------------------------------------------------

    def pending(self, run: str, jobs: Iterable[Job]) -> list[Job]:
        """Return the `jobs` without a good result, in their order; a failed job is still to be done."""
        with self._reading(run):
            done = {row.key for row in self._good(ROWS, run) if row.status == "ok"}
        return [job for job in jobs if job.key not in done]

    def append(self, run: str, row: Row) -> None:
        """Store `row` for good; a good row is never replaced, a failed one by any later row.

        StoreError if another process has started the run over since this one began it.
        """
        predictions = seal("predictions", run, row.key, row.packed) if row.packed else ""
        with self._writing(run) as held:
            if self._put(ROWS, run, row, held.environment, predictions):
                self._put_predictions(run, row.key, row.packed)

    def _put_predictions(self, run: str, key: str, packed: bytes) -> None:
        self._db.execute("DELETE FROM predictions WHERE run = ? AND key = ?", (run, key))
        if packed:
            self._insert("predictions", run, key, packed)

    def rows(self, run: str) -> list[Row]:
        """Return the rows of `run` by data set, algorithm, repetition and fold, whatever order they finished in.

        Those of repetitions that the run does not ask for any more are left out. StoreError, naming the folds, if a row
        is not what was stored.
        """
        with self._reading(run):
            return self._rows(run)

    def _rows(self, run: str) -> list[Row]:
        repeats = self._repeats_requested(run)
        rows: list[Row] = self._good(ROWS, run)
        rows.sort(key=lambda row: (row.dataset, row.algorithm, row.repeat, row.fold))
        return [row for row in rows if repeats is None or row.repeat < repeats]

    def not_asked_for(self, run: str) -> int:
        """Return how many rows are stored of repetitions that the run does not ask for any more."""
        with self._reading(run):
            if (repeats := self._repeats_requested(run)) is None:
                return 0
            query = "SELECT count(*) FROM rows WHERE run = ? AND repeat >= ?"
            return int(self._db.execute(query, (run, repeats)).fetchone()[0])

    def _repeats_requested(self, run: str) -> int | None:
        """Repetitions in the configuration of this handle, if it began the run, else of the run's latest session."""
        if (held := self._held.get(run)) is not None:
            return held.repeats
        sessions = self._sessions(run) if self._run(run) else []
        return repeats_of(json.loads(sessions[-1]["content"])) if sessions else None

    def environments(self, run: str) -> dict[str, dict[str, Any]]:
        """Return what made the rows of `run`, by the id that rows have as `environment`."""
        with self._reading(run):
            return self._environments(run)

    def _environments(self, run: str) -> dict[str, dict[str, Any]]:
        if damage := self._damaged_environments(run):
            raise self._damaged(damage)
        query = "SELECT DISTINCT environment, facts FROM rows LEFT JOIN environments ON id = environment WHERE run = ?"
        # Of an environment whose record is lost nothing is known, and the rows are good all the same.
        return {id_: json.loads(facts or "{}") for id_, facts in self._db.execute(query, (run,))}

    def _damaged_environments(self, run: str) -> list[Damage]:
        query = "SELECT * FROM environments WHERE id IN (SELECT environment FROM rows WHERE run = ?)"
        damaged = [record for record in self._db.execute(query, (run,)) if not is_intact("environments", record)]
        return [Damage(run, "environments", id_, f"environment {id_}") for id_, _ in damaged]

    def made_elsewhere(self, run: str) -> str:
        """Return in words how many rows of `run` are from other environments than this process; "" without any."""
        held = self._held[run]
        with self._reading(run):  # one view: another process may store a row of yet another environment meanwhile
            known = self._environments(run)
            counts = Counter(row.environment for row in self._rows(run) if row.environment != held.environment)
            if not counts:
                return ""
            (facts,) = self._db.execute("SELECT facts FROM environments WHERE id = ?", (held.environment,)).fetchone()
        what = ", ".join(environments.differences(known[counts.most_common(1)[0][0]], json.loads(facts)))
        return f"{sum(counts.values())} stored folds were made by another environment ({what})"

    def remarks(self, run: str) -> list[str]:
        """Return the remarks below a table of `run`: the environments of its rows, if there are several."""
        with self._reading(run):
            query = "SELECT count(DISTINCT environment) FROM rows WHERE run = ?"
            if self._db.execute(query, (run,)).fetchone()[0] < 2:
                return []
            known = self._environments(run)
            counts = Counter(row.environment for row in self._rows(run))
        if len(counts) < 2:
            return []
        several = [environments.facts(known[id_]) for id_ in counts]
        same = {name for name in several[0] if all(facts.get(name) == several[0][name] for facts in several)}
        parts = []
        for (_, n), facts in zip(counts.items(), several, strict=True):
            what = ", ".join(f"{name} {value}" for name, value in facts.items() if name not in same)
            parts.append(f"{n} with {what or 'less that is known'}")
        return [f"The folds were made by {len(counts)} environments: {'; '.join(parts)}."]

    def displace(self, run: str, jobs: Iterable[Job]) -> int:
        """Put aside the rows that stand where one of `jobs` belongs and have another key; return how many there were.

        There are none unless a run had lost its description. They stay stored, and no table shows them.
        """
        keys = {(job.dataset, job.algorithm, job.repeat, job.fold): job.key for job in jobs}
        with self._reading(run):
            strangers = [
                row
                for row in self._good(ROWS, run)
                if keys.get((row.dataset, row.algorithm, row.repeat, row.fold), row.key) != row.key
            ]
        if strangers:
            with self._writing(run):
                for row in strangers:
                    values = dict(zip(ROWS.columns, ROWS.values(row, row.environment), strict=True))
                    self._db.execute("INSERT INTO displaced VALUES (?, ?)", (run, text(values)))
                    self._drop(run, ROWS.table, row.key)
        return len(strangers)

    def adopt(self, run: str, jobs: Iterable[str], tunings: Iterable[str] = ()) -> None:
        """Give `run` the good rows and tunings of these keys that any other run has, made by the same environment.

        Equal keys and equal environments are equal results.
        """
        with self._writing(run) as held:
            for kind, keys in ((ROWS, jobs), (TUNINGS, tunings)):
                query = (
                    f"SELECT {kind.sealed}, digest FROM {kind.table} "
                    "WHERE key = ? AND status = 'ok' AND environment = ? AND run <> ?"
                )
                for key in keys:
                    for record in self._db.execute(query, (key, held.environment, run)).fetchall():
                        if is_intact(kind.table, record):
                            has_predictions = kind is ROWS and record[-2]
                            packed = self._packed(record[0], key) if has_predictions else b""
                            self._copy(kind, run, kind.record(record[1:-1]), packed)
                            break

    def _copy(self, kind: Kind, run: str, record: Record, packed: bytes) -> bool:
        """Give `run` a record of another run, with its predictions; return whether it was stored."""
        predictions = seal("predictions", run, record.key, packed) if packed else ""
        stored = self._put(kind, run, record, record.environment, predictions)
        if stored and packed:
            self._put_predictions(run, record.key, packed)
        return stored

    def add_tuning(self, run: str, tuning: Tuning) -> None:
        """Store a choice of parameters that all folds of a data set share."""
        with self._writing(run) as held:
            self._put(TUNINGS, run, tuning, held.environment)

    def tunings(self, run: str) -> list[Tuning]:
        """Return the shared choices of parameters of `run`, by data set and algorithm."""
        with self._reading(run):
            tunings = self._good(TUNINGS, run)
        return sorted(tunings, key=lambda tuning: (tuning.dataset, tuning.algorithm))

    def add_measures(self, run: str, measures: Mapping[str, Mapping[str, Any]]) -> None:
        """Add to rows of `run`, by key, further metrics by name; nothing else of a row changes."""
        with self._db.errors(), self._db.transaction():
            query = f"SELECT {ROWS.sealed}, digest FROM rows WHERE run = ? AND key = ?"
            for key, more in measures.items():
                record = self._db.execute(query, (run, key)).fetchone()
                if record is None:
                    raise StoreError(f"run {run!r} was started over by another process; give the same command again.")
                if not is_intact("rows", record):
                    raise self._damaged([Damage(run, "rows", key, ROWS.name(record[1:-1]))])
                _, *values, _ = record
                at = ROWS.columns.index("measures")
                values[at] = json.dumps({**json.loads(values[at]), **more}, sort_keys=True)
                update = "UPDATE rows SET measures = ?, digest = ? WHERE run = ? AND key = ?"
                self._db.execute(update, (values[at], seal("rows", run, *values), run, key))

    def _put(self, kind: Kind, run: str, record: Record, environment: str, predictions: str = "") -> bool:
        """Store a record unless there is a good one; return whether it was stored."""
        place = kind.identity
        where = " AND ".join(f'"{name}" = ?' for name in place)
        query = f"SELECT key, status FROM {kind.table} WHERE run = ? AND {where}"
        at_place = self._db.execute(query, (run, *(getattr(record, name) for name in place))).fetchone()
        if at_place is not None:
            if at_place[1] == "ok" and (at_place[0] == record.key or record.status != "ok"):
                return False
            self._drop(run, kind.table, at_place[0])
        # A key has one place, so a conflict of keys alone is damage, and whatever is stored first stays.
        self._insert(kind.table, run, *kind.values(record, environment, predictions))
        # Not the cursor's own count: Python 3.11 does not know an INSERT in a Turkish locale, whose small I is another.
        return bool(self._db.execute("SELECT changes()").fetchone()[0] == 1)

    def _drop(self, run: str, table: str, key: str) -> None:
        self._db.execute(f"DELETE FROM {table} WHERE run = ? AND key = ?", (run, key))
        if table == ROWS.table:
            self._db.execute("DELETE FROM predictions WHERE run = ? AND key = ?", (run, key))

    # ---- predictions -------------------------------------------------------------------------------------------------

    def packed(self, run: str, row: Row) -> bytes:
        """Return the packed predictions of a stored row, b"" if it has none. StoreError if they are damaged."""
        with self._reading(run):
            query = "SELECT predictions FROM rows WHERE run = ? AND key = ?"
            expected = self._db.execute(query, (run, row.key)).fetchone()
            if expected is None or not expected[0]:
                return b""
            packed = self._packed(run, row.key)
        if not packed:
            raise self._damaged([Damage(run, "rows", row.key, ROWS.name(ROWS.values(row, "")))])
        return packed

    def _packed(self, run: str, key: str) -> bytes:
        """Return the predictions under a key, b"" if they are not what was stored."""
        query = "SELECT run, key, packed, digest FROM predictions WHERE run = ? AND key = ?"
        record = self._db.execute(query, (run, key)).fetchone()
        return bytes(record[2]) if record is not None and is_intact("predictions", record) else b""

    def add_labels(self, labels: Mapping[str, bytes]) -> None:
        """Store the packed labels of data sets, by the digests of the data."""
        with self._db.errors(), self._db.transaction():
            for values in labels.items():
                self._restore("labels", "data", (*values, seal("labels", *values)))

    def labels(self, data: str) -> bytes:
        """Return the packed labels of a data set by its digest, b"" if there are none. StoreError if damaged."""
        with self._db.errors():
            record = self._db.execute("SELECT data, packed, digest FROM labels WHERE data = ?", (data,)).fetchone()
        if record is not None and not is_intact("labels", record):
            raise StoreError(
                f"{self.path} is damaged: the labels of data {data[:8]}... are not what was stored. (oblique repair)"
            )
        return b"" if record is None else bytes(record[1])

    # ---- damage ------------------------------------------------------------------------------------------------------

    def damage(self, run: str) -> list[Damage]:
        """Return everything of `run` that is not what was stored, its predictions included."""
        with self._db.errors(), self._db.transaction("DEFERRED"):
            damage: list[Damage] = []
            sessions, damaged = self._divided_sessions(run)
            if not self._is_intact(run):
                damage.append(Damage(run, "runs", "", f"run {run}"))
            elif not (sessions or damaged):
                damage.append(Damage(run, "sessions", "", f"the description of {run}"))
            damage += self._bereft(run)
            damage += [Damage(run, "sessions", str(row["id"]), f"session {row['id']} of {run}") for row in damaged]
            damage += self._damaged_environments(run)
            damage += self._damaged_labels(run, sessions)
            for kind in (ROWS, TUNINGS):
                records = self._find(kind, run)
                damage += records.damage
                for key, expected in records.predictions.items():
                    packed = self._packed(run, key)
                    if not packed or seal("predictions", run, key, packed) != expected:
                        (row,) = [row for row in records.records if row.key == key]
                        damage.append(Damage(run, "rows", key, ROWS.name(ROWS.values(row, ""))))
            return damage

    def _damaged_labels(self, run: str, sessions: Sequence[Mapping[str, Any]]) -> Iterator[Damage]:
        """Yield the labels that predictions of a run need and that are lost, or not what was stored."""
        has_predictions = self._db.execute("SELECT 1 FROM predictions WHERE run = ?", (run,)).fetchone()
        content = json.loads(sessions[-1]["content"]) if sessions and has_predictions else {}
        for name, data in content.get("data", {}).items():
            known = self._db.execute("SELECT * FROM labels WHERE data = ?", (data,)).fetchone()
            if known is None or not is_intact("labels", known):
                yield Damage(run, "labels", data, f"the labels of {name}")

    def _bereft(self, run: str) -> Iterator[Damage]:
        """Yield the folds of which nothing but their predictions is left: no row has their key, or their digest."""
        query = (
            "SELECT key FROM predictions WHERE run = ? AND key NOT IN (SELECT key FROM rows WHERE run = ?) "
            "AND digest NOT IN (SELECT predictions FROM rows WHERE run = ?) ORDER BY key"
        )
        for (key,) in self._db.execute(query, (run, run, run)):
            yield Damage(run, ROWS.table, key, "a fold of which nothing but its predictions is left")

    def _is_intact(self, run: str) -> bool:
        """Whether the record of a run is there and is what was stored."""
        try:
            return self._run(run) is not None
        except StoreError:
            return False

    def is_described(self, run: str) -> bool:
        """Whether the configuration of a run is known."""
        with self._reading():
            return self._is_intact(run) and bool(self._sessions(run))

    def names(self) -> list[str]:
        """Return every name that a record of any kind gives as its run, damaged ones included."""
        tables = " UNION ".join(f"SELECT {column} FROM {table}" for table, column in OF_A_RUN.items())
        with self._reading():
            return sorted(str(name) for (name,) in self._db.execute(tables))

    def repair(self, run: str) -> list[Damage]:
        """Drop everything of `run` that is not what was stored, and return it; the same run then does it again."""
        damage = self.damage(run)
        if damage:
            with self._db.errors(), self._db.transaction():
                # Sessions before the run, which stays if one of them is left.
                for item in sorted(damage, key=lambda item: item.table == "runs"):
                    if item.table == "runs":
                        self._db.execute("DELETE FROM runs WHERE name = ?", (run,))
                        if self._sessions(run):  # else the name itself is what was damaged
                            self._insert("runs", run, secrets.token_hex(16), timestamp())
                    elif item.table == "sessions":
                        for table, column in (("sessions", "id"), ("leases", "session")):
                            self._db.execute(f"DELETE FROM {table} WHERE {column} = CAST(? AS INTEGER)", (item.key,))
                    elif item.table in ("environments", "labels"):
                        column = "id" if item.table == "environments" else "data"
                        self._db.execute(f"DELETE FROM {item.table} WHERE {column} = ?", (item.key,))
                    else:
                        self._drop(run, item.table, item.key)
                self._db.execute(
                    "DELETE FROM predictions WHERE run = ? AND key NOT IN (SELECT key FROM rows WHERE run = ?)",
                    (run, run),
                )
        return damage

    def _good(self, kind: Kind, run: str) -> list[Any]:
        """Return the records of a run. StoreError, naming folds, if one is not what was stored."""
        records = self._find(kind, run)
        if records.damage:
            raise self._damaged(records.damage)
        return records.records

    def _find(self, kind: Kind, run: str) -> CheckedRecords:
        records, damage, predictions = [], [], {}
        places = set()
        query = f"SELECT {kind.sealed}, digest FROM {kind.table} WHERE run = ?"
        for record in self._db.execute(query, (run,)):
            owner, *values, _ = record
            fault = not is_intact(kind.table, record) or owner != run
            if not fault:
                parsed = kind.record(values)
                place = tuple(getattr(parsed, name) for name in kind.identity)
                # An index that is damaged can lead to one row twice, in place of another one.
                fault = place in places or (isinstance(parsed, Row) and bool(contradiction(parsed)))
                places.add(place)
            if fault:
                key = values[kind.columns.index("key")]
                damage.append(Damage(run, kind.table, key, kind.name(values)))
                continue
            records.append(parsed)
            if kind is ROWS and values[-1]:
                predictions[parsed.key] = values[-1]
        return CheckedRecords(records, damage, predictions)

    def _damaged(self, damage: Sequence[Damage]) -> StoreError:
        names = [item.name for item in damage[:3]]
        more = f" and {len(damage) - 3} more" if len(damage) > 3 else ""
        run = damage[0].run
        is_are = "is" if len(damage) == 1 else "are"
        return StoreError(
            f"{self.path} is damaged: {', '.join(names)}{more} of run {run!r} {is_are} not what was stored. "
            f"oblique repair {run} runs just that again."
        )

    # ---- transactions ------------------------------------------------------------------------------------------------

    @contextmanager
    def _writing(self, run: str) -> Iterator[_Held]:
        """A transaction of the process that began `run`; StoreError before any write if another one started it over."""
        with self._db.errors(), self._db.transaction():
            if run not in self._held:
                raise StoreError(f"run {run!r} was not begun by this process, which cannot store anything of it.")
            held = self._holding(run)
            yield held
            self._db.execute("UPDATE leases SET beat = ? WHERE session = ?", (timestamp(), held.session))

    @contextmanager
    def _reading(self, run: str = "") -> Iterator[None]:
        """One view of the file, in which `run`, if this process began it, is still the one that it began."""
        with self._db.errors(), self._db.transaction("DEFERRED"):
            if run in self._held:
                self._holding(run)
            try:
                yield
            except UnknownName:
                self._check_pages()
                raise
            self._check_pages()

    def _check_pages(self) -> None:
        """Raise StoreError if the file's structure is damaged; checked once.

        Digests do not show records that are lost. They are checked first all the same, because their error names the
        fold.
        """
        if not self._checked:
            self._db.check_pages()
            self._checked = True

    def _holding(self, run: str) -> _Held:
        held = self._held[run]
        known = self._db.execute("SELECT token FROM runs WHERE name = ?", (run,)).fetchone()
        if known is None or known[0] != held.token:
            raise StoreError(
                f"run {run!r} was started over by another process, whose results {self.path} holds now: give the same "
                "command without --fresh to go on with them."
            )
        return held

    # ---- merging -----------------------------------------------------------------------------------------------------

    def take_over(self, source: Store, run: str) -> tuple[int, int]:
        """Give `run` what another results file has of it, in one transaction; return how many rows came and were known.

        Contents must be the same or a growth of each other. ConfigError if they differ, above all in their data, or if
        both files have a fold and disagree about it. A run that is not here yet comes whole.
        """
        theirs = source._whole(run)
        with self._db.errors(), self._db.transaction():
            mine = self._sessions(run) if self._run(run) else []
            latest = theirs.sessions[-1]
            if mine:
                refuse_other_data(run, self.path, mine[-1]["content"], source.path, latest["content"])
            else:
                self._insert("runs", run, secrets.token_hex(16), latest["started"])
            grown = larger(mine[-1]["content"], latest["content"]) if mine else latest["content"]
            total = max(latest["total"], mine[-1]["total"] if mine else 0)
            for facts in theirs.environments.values():
                self._add_environment(facts)
            for data, packed in theirs.labels.items():
                self._restore("labels", "data", (data, packed, seal("labels", data, packed)))
            new = known = 0
            for kind, records in ((ROWS, theirs.rows), (TUNINGS, theirs.tunings)):
                for values, packed in records:
                    record = kind.record(values)
                    self._refuse_other_answers(kind, run, record, source.path)
                    stored = self._copy(kind, run, record, packed)
                    if kind is ROWS:
                        new, known = new + stored, known + (not stored)
            session = {**latest, "content": grown, "total": total, "process": "{}"}
            self._add_session([session[name] for name in SESSION], ended=latest["started"])
            return new, known

    def _refuse_other_answers(self, kind: Kind, run: str, record: Any, source: Path) -> None:
        """Raise ConfigError if the stored good record differs from `record`."""
        query = f"SELECT {kind.sealed}, digest FROM {kind.table} WHERE run = ? AND key = ? AND status = 'ok'"
        stored = self._db.execute(query, (run, record.key)).fetchone()
        if stored is None or record.status != "ok":
            return
        if not is_intact(kind.table, stored):
            raise self._damaged([Damage(run, kind.table, record.key, kind.name(stored[1:-1]))])
        mine = kind.record(stored[1:-1])
        if not same_answer(mine, record):
            raise ConfigError(
                f"{kind.name(stored[1:-1])} of run {run!r} differs between {self.path} and {source}, though both were "
                "asked for the same: one of them was made by other versions or another machine; leave one out."
            )

    def _whole(self, run: str) -> _Whole:
        """Return everything of a run. StoreError if any of it is damaged; ConfigError if there is no such run."""
        if damage := self.damage(run) if self._known(run) else []:
            raise self._damaged(damage)
        facts = self.environments(run)
        with self._reading(run):
            sessions = self._sessions(run)
            values_of: dict[str, list[Any]] = {}
            for kind in (ROWS, TUNINGS):
                query = f"SELECT {kind.sealed} FROM {kind.table} WHERE run = ? ORDER BY rowid"
                values_of[kind.table] = [
                    (values, self._packed(run, values[0]) if kind is ROWS and values[-1] else b"")
                    for _, *values in self._db.execute(query, (run,)).fetchall()
                ]
        data = json.loads(sessions[-1]["content"]).get("data", {}) if sessions else {}
        labels = {digest: packed for digest in data.values() if (packed := self.labels(digest))}
        return _Whole(sessions, values_of["rows"], values_of["tunings"], facts, labels)

    def _known(self, run: str) -> bool:
        with self._db.errors():
            known = self._db.execute("SELECT 1 FROM runs WHERE name = ?", (run,)).fetchone()
        if known is None:
            raise ConfigError(f"there is no run {run!r} in {self.path}. (oblique status)")
        return True


@dataclass(frozen=True)
class _Whole:
    """A run as it is stored: sessions, records with their predictions, environments, labels."""

    sessions: list[dict[str, Any]]
    rows: list[tuple[list[Any], bytes]]
    tunings: list[tuple[list[Any], bytes]]
    environments: Mapping[str, Mapping[str, Any]]
    labels: Mapping[str, bytes]


def same_answer(a: Any, b: Any) -> bool:
    """Whether two records of one job are equal, apart from times and from metrics that only one of them has."""
    if isinstance(a, Tuning):
        return bool(replace(a, seconds=0.0) == replace(b, seconds=0.0))
    bare = [replace(row, tune_seconds=0.0, fit_seconds=0.0, predict_seconds=0.0, measures={}) for row in (a, b)]
    return bool(bare[0] == bare[1]) and all(b.measures.get(name, v) == v for name, v in a.measures.items())
