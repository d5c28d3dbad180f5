"""`Reader`: checked reading of runs from a results file: descriptions, rows, shared tunings, predictions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import compress
from operator import attrgetter
from pathlib import Path
from typing import Any, Self

from oblique_cli.errors import ConfigError, StoreError, UnknownName, cut_list
from oblique_cli.experiments import environment as environments
from oblique_cli.experiments.store._database import Damage, Database
from oblique_cli.experiments.store._records import ROWS, TUNINGS, Kind, contradiction, is_intact
from oblique_cli.experiments.store._runs import PLAIN, SESSION, Run, Session, is_alive, refuse_changes, repeats_of
from oblique_cli.experiments.store._schema import OF_A_RUN
from oblique_cli.ground.nouns import Job, Row, Tuning
from oblique_cli.ground.registry import close_matches

# Names of runs without a configuration, which `runs` omits: steps of a study.
HIDDEN = "/"


@dataclass(frozen=True)
class Held:
    """State of a run begun by this object: token, session, environment and repetitions."""

    token: str
    session: int
    environment: str
    repeats: int | None


class Reader:
    """Results file at `path`, created with its folder unless `must_exist`.

    wait_seconds   timeout for another process that is writing, before StoreError

    Every method raises StoreError if the file is locked, damaged, from a newer version, or cannot be written. With
    `must_exist`, a read-only file is accepted."""

    def __init__(self, path: str | Path, *, must_exist: bool = False, wait_seconds: float = 5.0) -> None:
        self.path = Path(path)
        self._db = Database(self.path, must_exist, wait_seconds)
        self._held: dict[str, Held] = {}
        self._decoded: dict[tuple[str, str], tuple[Any, tuple[list[Any], list[Damage]]]] = {}
        self._checked = False

    @property
    def read_only(self) -> bool:
        """Return whether the file is read-only."""
        return self._db.read_only

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ---- runs --------------------------------------------------------------------------------------------------------

    def runs(self) -> list[Run]:
        """Return all runs in the order of their start."""
        with self._reading():
            return [self._described(name) for name in self._visible()]

    def run(self, name: str) -> Run:
        """Return a run. Raise UnknownName with close matches for an unknown name."""
        with self._reading():
            names = self._visible()
            if name not in names:
                # Runs of a user's file my.csv have names such as my-1b0a0320.
                longer = [run for run in names if run.startswith(f"{name}-")]
                hint = f" Did you mean {' or '.join(map(repr, longer[-5:]))}?" if longer else close_matches(name, names)
                raise UnknownName(f"there is no run {name!r} in {self.path}.{hint} (oblique status)")
            return self._described(name)

    def check(self, run: str, content: Mapping[str, Any]) -> None:
        """Raise ConfigError with the differences if `content` does not extend the stored content of `run`."""
        with self._db.errors():
            if self._run(run) and (sessions := self._sessions(run)):
                refuse_changes(run, sessions[-1]["content"], json.loads(json.dumps(content)))

    def names(self) -> list[str]:
        """Return every name of a run in any record, including damaged records."""
        tables = " UNION ".join(f"SELECT {column} FROM {table}" for table, column in OF_A_RUN.items())
        with self._reading():
            return sorted(str(name) for (name,) in self._db.execute(tables))

    def is_described(self, run: str) -> bool:
        """Return whether the configuration of a run is known."""
        with self._reading():
            return self._has_intact("runs", "name", run) and bool(self._sessions(run))

    def _visible(self) -> list[str]:
        names = [str(name) for (name,) in self._db.execute("SELECT name FROM runs ORDER BY rowid")]
        return [name for name in names if HIDDEN not in name]

    def _described(self, name: str) -> Run:
        run, sessions = self._run(name), self._sessions(name)
        if run is None or not sessions:
            raise self._damaged_run(name)
        latest = sessions[-1]
        repeats = repeats_of(latest["content"])
        rows, damage = self._divided(ROWS, name)
        counts = Counter(row.status for row in rows if repeats is None or row.repeat < repeats)
        return Run(
            name=name,
            done=counts["ok"],
            failed=counts["failed"],
            damaged=len(damage),
            created=run[1],
            writers=tuple(
                Session(session["started"], session["process"], session["beat"], is_alive(session["process"]))
                for session in sessions
                if session["process"] and not session["ended"]
            ),
            **{key: latest[key] for key in ("content", "total", "argv", "environment", "presentation", "workers")},
        )

    def _run(self, name: str) -> tuple[str, str] | None:
        """Return token and time of a run, None if there is none. Raise StoreError if its record is damaged."""
        for record in self._records("runs", "name = ?", name):
            if not is_intact("runs", record):
                raise self._damaged_run(name)
            return record[1], record[2]
        return None

    def _sessions(self, run: str) -> list[dict[str, Any]]:
        """Return the sessions of a run in order. Raise StoreError if any is damaged."""
        intact, damaged = self._divided_sessions(run)
        if damaged:
            raise self._damaged_run(run)
        return intact

    def _divided_sessions(self, run: str) -> tuple[list[dict[str, Any]], list[int]]:
        """Return the intact sessions of a run, and the numbers of the others."""
        intact, damaged = [], []
        leased, columns = "sessions LEFT JOIN leases ON session = id", "sessions.*, beat, ended"
        for *record, beat, ended in self._records(leased, "run = ? ORDER BY id", run, columns=columns):
            if not is_intact("sessions", record):
                damaged.append(record[0])
                continue
            session = dict(zip(SESSION, record[1:-1], strict=True))
            session |= {key: json.loads(session[key]) for key in PLAIN}
            intact.append({**session, "beat": beat or session["started"], "ended": ended or ""})
        return intact, damaged

    def _records(self, table: str, where: str, *values: Any, columns: str = "*") -> list[tuple[Any, ...]]:
        """Return the unchecked records of a table, with all their columns in the order of the schema."""
        return list(self._db.execute(f"SELECT {columns} FROM {table} WHERE {where}", values))

    def _has_intact(self, table: str, column: str, value: Any) -> bool:
        return any(is_intact(table, record) for record in self._records(table, f"{column} = ?", value))

    # ---- rows --------------------------------------------------------------------------------------------------------

    def pending(self, run: str, jobs: Iterable[Job]) -> list[Job]:
        """Return the `jobs` without a good result, in their order, including failed jobs."""
        with self._reading(run):
            done = {row.key for row in self._good(ROWS, run) if row.status == "ok"}
        return [job for job in jobs if job.key not in done]

    def rows(self, run: str) -> list[Row]:
        """Return the requested rows of `run` by data set, algorithm, repetition and fold.

        Raise StoreError with the names of the folds if a row is damaged."""
        with self._reading(run):
            repeats = self._repeats_requested(run)
            rows = [row for row in self._good(ROWS, run) if repeats is None or row.repeat < repeats]
        return sorted(rows, key=attrgetter(*ROWS.place))

    def not_asked_for(self, run: str) -> int:
        """Return the number of stored rows of repetitions that the run no longer includes."""
        with self._reading(run):
            query = "SELECT count(*) FROM rows WHERE run = ? AND repeat >= ?"
            return int(self._db.execute(query, (run, self._repeats_requested(run))).fetchone()[0])

    def tunings(self, run: str) -> list[Tuning]:
        """Return the shared choices of parameters of `run`, by data set and algorithm."""
        with self._reading(run):
            return sorted(self._good(TUNINGS, run), key=lambda tuning: (tuning.dataset, tuning.algorithm))

    def _repeats_requested(self, run: str) -> int | None:
        """Return the repetitions as configured by this object, if it began the run, else by the latest session."""
        if (held := self._held.get(run)) is not None:
            return held.repeats
        sessions = self._sessions(run) if self._run(run) else []
        return repeats_of(sessions[-1]["content"]) if sessions else None

    def _good(self, kind: Kind, run: str) -> list[Any]:
        """Return the records of a run. Raise StoreError with the names of the folds if one is damaged."""
        records, damage = self._divided(kind, run)
        if damage:
            raise self._damaged(damage)
        return records

    def _divided(self, kind: Kind, run: str) -> tuple[list[Any], list[Damage]]:
        """Return the intact records of a run, and the damage of the others; decoded once for one state of the file."""
        state = self._db.state()
        before, divided = self._decoded.get((kind.table, run), (None, ([], [])))
        if before != state:
            divided = self._checked_records(kind, run)
            self._decoded[kind.table, run] = state, divided
        return divided

    def _checked_records(self, kind: Kind, run: str) -> tuple[list[Any], list[Damage]]:
        stored = self._records(kind.table, "run = ?", run)
        intact = [record[0] == run and is_intact(kind.table, record) for record in stored]
        decoded = iter(kind.records([record[1:-1] for record in compress(stored, intact)]))
        records, damage, places, place_of = [], [], set(), attrgetter(*kind.place)
        for values, is_good in zip(stored, intact, strict=True):
            if is_good:
                record = next(decoded)
                place = place_of(record)
                # A damaged index can return one row twice, in place of another row.
                if place not in places and not contradiction(record):
                    places.add(place)
                    records.append(record)
                    continue
            damage.append(damage_of(run, kind, values[1:-1]))
        return records, damage

    # ---- environments ------------------------------------------------------------------------------------------------

    def environments(self, run: str) -> dict[str, dict[str, Any]]:
        """Return the environments of the rows of `run`, by the id in the rows' column `environment`."""
        with self._reading(run):
            return self._environments(run)

    def _environments(self, run: str) -> dict[str, dict[str, Any]]:
        if damage := self._damaged_environments(run):
            raise self._damaged(damage)
        query = "SELECT DISTINCT environment, facts FROM rows LEFT JOIN environments ON id = environment WHERE run = ?"
        # If the record of an environment is lost, it is unknown, but its rows are good.
        return {id_: json.loads(facts or "{}") for id_, facts in self._db.execute(query, (run,))}

    def _damaged_environments(self, run: str) -> list[Damage]:
        used = self._records("environments", "id IN (SELECT environment FROM rows WHERE run = ?)", run)
        damaged = [record[0] for record in used if not is_intact("environments", record)]
        return [Damage(run, "environments", id_, f"environment {id_}") for id_ in damaged]

    def _made_by(self, run: str) -> Counter[str]:
        """Return the number of requested rows of a run by environment, in the order of the rows."""
        requested = "run = :run AND (:repeats IS NULL OR repeat < :repeats)"
        query = f"SELECT environment FROM rows WHERE {requested} ORDER BY dataset, algorithm, repeat, fold"
        values = {"run": run, "repeats": self._repeats_requested(run)}
        return Counter(id_ for (id_,) in self._db.execute(query, values))

    def made_elsewhere(self, run: str) -> str:
        """Return a sentence on the rows of `run` from other environments than this process; "" without any."""
        mine = self._held[run].environment
        with self._reading(run):  # one transaction: another process may store a row of a further environment meanwhile
            counts = self._made_by(run)
            del counts[mine]
            if not counts:
                return ""
            facts = self._environments(run)[counts.most_common(1)[0][0]]
            ((_, here),) = self._records("environments", "id = ?", mine)
        what = ", ".join(environments.differences(facts, json.loads(here)))
        return f"{sum(counts.values())} stored folds were made by another environment ({what})"

    def remarks(self, run: str) -> list[str]:
        """Return the remarks below a table of `run`: the environments of its rows, if there are several."""
        with self._reading(run):
            counts = self._made_by(run)
            if len(counts) < 2:
                return []
            known = self._environments(run)
        several = [environments.facts(known[id_]) for id_ in counts]
        same = {name for name in several[0] if all(facts.get(name) == several[0][name] for facts in several)}
        parts = []
        for n, facts in zip(counts.values(), several, strict=True):
            what = ", ".join(f"{name} {value}" for name, value in facts.items() if name not in same)
            parts.append(f"{n} with {what or 'less that is known'}")
        return [f"The folds were made by {len(counts)} environments: {'; '.join(parts)}."]

    # ---- predictions -------------------------------------------------------------------------------------------------

    def packed(self, run: str, row: Row) -> bytes:
        """Return the packed predictions of a stored row, b"" if it has none. Raise StoreError if they are damaged."""
        return next(self.each_packed(run, [row]))

    def each_packed(self, run: str, rows: Sequence[Row]) -> Iterator[bytes]:
        """Yield what `packed` returns for each of `rows`; a hundred rows are read by one query."""
        for first in range(0, len(rows), 100):
            some = rows[first : first + 100]
            with self._reading(run):
                packed = self._packed(run, [row.key for row in some])
            for row in some:
                if (predictions := packed.get(row.key, b"")) is None:
                    raise self._damaged([damage_of(run, ROWS, ROWS.values(row, ""))])
                yield predictions

    def _packed(self, run: str, keys: Sequence[str]) -> dict[str, bytes | None]:
        """Return the predictions of rows by key, b"" for a row that has none, None if they are lost or damaged."""
        query = (
            "SELECT rows.predictions, rows.run, rows.key, packed, predictions.digest FROM rows "
            f"LEFT JOIN predictions USING (run, key) WHERE run = ? AND key IN ({', '.join('?' * len(keys))})"
        )
        packed: dict[str, bytes | None] = {}
        for expected, *stored in self._db.execute(query, (run, *keys)):
            intact = not expected or (stored[-1] == expected and is_intact("predictions", stored))
            packed[stored[1]] = bytes(stored[2] if expected else b"") if intact else None
        return packed

    def labels(self, data: str) -> bytes:
        """Return the packed labels of a data set by its digest, b"" if there are none. Raise StoreError if damaged."""
        with self._db.errors():
            for record in self._records("labels", "data = ?", data):
                if not is_intact("labels", record):
                    raise StoreError(
                        f"{self.path} is damaged: the labels of data {data[:8]}... are not what was stored. "
                        "(oblique repair)"
                    )
                return bytes(record[1])
        return b""

    # ---- damage ------------------------------------------------------------------------------------------------------

    def damage(self, run: str) -> list[Damage]:
        """Return all damaged records of `run`, including predictions."""
        with self._db.errors(), self._db.transaction("DEFERRED"):
            damage: list[Damage] = []
            sessions, damaged = self._divided_sessions(run)
            if not self._has_intact("runs", "name", run):
                damage.append(Damage(run, "runs", "", f"run {run}"))
            elif not (sessions or damaged):
                damage.append(Damage(run, "sessions", "", f"the description of {run}"))
            # Folds with predictions, but without a row that has their key or digest.
            lost = (
                "run = ? AND key NOT IN (SELECT key FROM rows WHERE run = ?) "
                "AND digest NOT IN (SELECT predictions FROM rows WHERE run = ?) ORDER BY key"
            )
            for (key,) in self._records("predictions", lost, run, run, run, columns="key"):
                damage.append(Damage(run, ROWS.table, key, "a fold of which nothing but its predictions is left"))
            damage += [Damage(run, "sessions", str(id_), f"session {id_} of {run}") for id_ in damaged]
            damage += self._damaged_environments(run)
            # Lost or damaged labels that predictions need.
            if sessions and self._records("predictions", "run = ? LIMIT 1", run, columns="1"):
                for name, data in sessions[-1]["content"].get("data", {}).items():
                    if not self._has_intact("labels", "data", data):
                        damage.append(Damage(run, "labels", data, f"the labels of {name}"))
            rows, damaged_rows = self._divided(ROWS, run)
            damage += damaged_rows
            bare = [row for row in rows if self._packed(run, [row.key])[row.key] is None]
            damage += [damage_of(run, ROWS, ROWS.values(row, "")) for row in bare]
            return damage + self._divided(TUNINGS, run)[1]

    def _damaged_run(self, run: str) -> StoreError:
        return StoreError(
            f"{self.path} is damaged: what it says of run {run!r} is not what was stored. Run oblique repair {run}."
        )

    def _damaged(self, damage: Sequence[Damage]) -> StoreError:
        run, is_are = damage[0].run, "is" if len(damage) == 1 else "are"
        return StoreError(
            f"{self.path} is damaged: {cut_list([item.name for item in damage], 3)} of run {run!r} {is_are} not what "
            f"was stored. oblique repair {run} runs just that again."
        )

    # ---- transactions ------------------------------------------------------------------------------------------------

    @contextmanager
    def _reading(self, run: str = "") -> Iterator[None]:
        """Return a context for one transaction; raise StoreError if another process has restarted `run`."""
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
        """Raise StoreError if the file is damaged; checked once, after the digests, whose error names the fold."""
        if not self._checked:
            self._db.check_pages()
            self._checked = True

    def _holding(self, run: str) -> Held:
        held = self._held[run]
        if self._records("runs", "name = ?", run, columns="token") != [(held.token,)]:
            raise StoreError(
                f"run {run!r} was started over by another process, whose results {self.path} holds now: give the same "
                "command without --fresh to go on with them."
            )
        return held

    # ---- merging -----------------------------------------------------------------------------------------------------

    def whole(self, run: str) -> tuple[dict[str, Any], list[tuple[Kind, Any, bytes]]]:
        """Return the latest session of a run, and its rows and tunings with their packed predictions.

        Raise StoreError if any of it is damaged; ConfigError if there is no such run."""
        with self._db.errors():
            if not self._records("runs", "name = ?", run, columns="1"):
                raise ConfigError(f"there is no run {run!r} in {self.path}. (oblique status)")
        if damage := self.damage(run):
            raise self._damaged(damage)
        with self._reading(run):
            rows = [(ROWS, row, self._packed(run, [row.key])[row.key] or b"") for row in self._good(ROWS, run)]
            tunings = [(TUNINGS, tuning, b"") for tuning in self._good(TUNINGS, run)]
            return self._sessions(run)[-1], [*rows, *tunings]


def damage_of(run: str, kind: Kind, values: Sequence[Any]) -> Damage:
    """Return the damage of a row or tuning with these columns."""
    return Damage(run, kind.table, values[kind.columns.index("key")], kind.name(values))
