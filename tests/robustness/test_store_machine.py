"""The results file against a model in memory: any order of begin, append, kill, starting over, merging, repairing.

Two handles stand for two processes. A kill leaves the file as it is at that moment, log included, and everything goes
on from a copy of it. OBLIQUE_SOAK=1 makes it long.
"""

import shutil
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from robustness_support import SOAK, many
from store_support import row

from oblique_cli.errors import ConfigError, StoreError
from oblique_cli.experiments.store import Store, _store
from oblique_cli.ground.nouns import Job, Row

FOLDS = 40  # by ten a repetition
names = st.sampled_from(["one", "one", "two"])
handles = st.sampled_from([0, 1])
folds = st.sampled_from([0, 1, 10, 20, 30])  # few, so that processes meet


def content(seed: int, repeats: int) -> dict[str, object]:
    return {"seed": seed, "cv": {"repeats": repeats}, "datasets": [], "algorithms": [], "data": {}}


@dataclass
class Kept:
    """A run as it must be: a new `generation` each time it is started over."""

    generation: int
    seed: int
    repeats: int
    rows: dict[int, Row] = field(default_factory=dict)


@dataclass
class Held:
    """What a handle holds of a run."""

    generation: int
    repeats: int


class StoreMachine(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.n_copies = 0
        self.path = Path(self.folder.name, "0", "oblique.sqlite")
        self.generations = 0
        self.runs: dict[str, Kept] = {}
        self.stores = [Store(self.path), Store(self.path)]
        self.held: list[dict[str, Held]] = [{}, {}]
        self.reader = Store(self.path)  # of a process that only looks

    def teardown(self) -> None:
        for store in (*getattr(self, "stores", ()), *([self.reader] if hasattr(self, "reader") else [])):
            store.close()
        if hasattr(self, "folder"):
            self.folder.cleanup()

    # ---- what a process does

    @rule(handle=handles, name=names, seed=st.integers(0, 1), repeats=st.integers(1, 4), fresh=st.booleans())
    def begin(self, handle: int, name: str, seed: int, repeats: int, fresh: bool) -> None:
        known = self.runs.get(name)
        request = content(seed, repeats)
        if known is not None and not fresh and known.seed != seed:
            with pytest.raises(ConfigError, match="the configuration changed since run"):
                self.stores[handle].begin(name, request, FOLDS)
            return
        self.stores[handle].begin(name, request, FOLDS, fresh=fresh, argv=[name], environment={"machine": "a"})
        if known is None or fresh:
            self.generations += 1
            self.runs[name] = Kept(self.generations, seed, repeats)
        self.runs[name].repeats = repeats
        self.held[handle][name] = Held(self.runs[name].generation, repeats)

    @rule(handle=handles, name=names, work=st.lists(st.tuples(folds, st.booleans(), st.integers(1, 5)), min_size=1))
    def append(self, handle: int, name: str, work: list[tuple[int, bool, int]]) -> None:
        for i, good, leaves in work:
            new = row(i, n_leaves=leaves, packed=bytes([i, leaves]))
            if not good:
                new = Row(new.key, new.dataset, new.algorithm, new.repeat, new.fold, "failed", message="no")
            if not self.may_write(handle, name):
                with pytest.raises(StoreError, match=r"was started over by another process|was not begun by this"):
                    self.stores[handle].append(name, new)
                continue
            self.stores[handle].append(name, new)
            rows = self.runs[name].rows
            if i not in rows or rows[i].status == "failed":
                rows[i] = new

    @rule(handle=handles, name=names)
    def read(self, handle: int, name: str) -> None:
        store = self.stores[handle]
        held = self.held[handle].get(name)
        if held is not None and not self.may_write(handle, name):
            with pytest.raises(StoreError, match="was started over by another process"):
                store.rows(name)
            return
        known = self.runs.get(name)
        repeats = held.repeats if held else known.repeats if known else 0
        expected = [record for _, record in sorted(known.rows.items()) if record.repeat < repeats] if known else []
        rows = store.rows(name)
        assert rows == expected
        for item in rows:
            (right,) = [one_right for one_right in expected if one_right.key == item.key]
            assert store.packed(name, item) == right.packed
        jobs = [Job(f"k{i}", "bupa", "gdt", i // 10, i % 10, 0) for i in range(FOLDS)]
        done = {record.key for record in known.rows.values() if record.status == "ok"} if known else set()
        assert [job.key for job in store.pending(name, jobs)] == [job.key for job in jobs if job.key not in done]

    @rule(handle=handles, name=names, value=st.floats(0, 1))
    def rescore(self, handle: int, name: str, value: float) -> None:
        known = self.runs.get(name)
        if known is None:
            return
        good = {i: record for i, record in known.rows.items() if record.status == "ok"}
        self.stores[handle].add_measures(name, {entry.key: {"mcc": value} for entry in good.values()})
        for i, item in good.items():
            known.rows[i] = replace(item, measures={**item.measures, "mcc": value})

    @rule(handle=handles, source=names, name=names)
    def adopt(self, handle: int, source: str, name: str) -> None:
        if source == name or not self.may_write(handle, name) or source not in self.runs:
            return
        keys = [f"k{i}" for i in range(FOLDS)]
        self.stores[handle].adopt(name, keys)
        mine = self.runs[name].rows
        for i, record in self.runs[source].rows.items():
            if record.status == "ok" and (i not in mine or mine[i].status == "failed"):
                mine[i] = record

    @rule(handle=handles, name=names, what=st.sampled_from(["leave", "kill", "delete"]))
    def end(self, handle: int, name: str, what: str) -> None:
        if what == "delete":
            self.stores[handle].delete(name)
            self.runs.pop(name, None)
            self.held[handle].pop(name, None)
        elif what == "kill":
            self.kill()
        else:
            self.leave(handle)

    def leave(self, handle: int) -> None:
        """A process ends as it should, and another one takes its place."""
        for name in self.held[handle]:
            self.stores[handle].end(name)
        self.stores[handle].close()
        self.stores[handle] = Store(self.path)
        self.held[handle] = {}

    def kill(self) -> None:
        """All processes are killed: what is in the file and its log now is all there is."""
        self.n_copies += 1
        copy = Path(self.folder.name, str(self.n_copies), "oblique.sqlite")
        copy.parent.mkdir()
        for ending in ("", "-wal"):
            source = self.path.with_name(self.path.name + ending)
            if source.exists():
                shutil.copyfile(source, copy.with_name(copy.name + ending))
        for store in (*self.stores, self.reader):
            store.close()
        shutil.rmtree(self.path.parent)
        self.path = copy
        self.stores = [Store(self.path), Store(self.path)]
        self.held = [{}, {}]
        self.reader = Store(self.path)

    # ---- what happens to files

    @rule(handle=handles, name=names, others=st.dictionaries(folds, st.integers(1, 5)))
    def merge(self, handle: int, name: str, others: dict[int, int]) -> None:
        """A part of the run that was made elsewhere comes in, unless the two disagree about a fold."""
        known = self.runs.get(name)
        seed, repeats = (known.seed, known.repeats) if known else (0, 2)
        with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "part.sqlite")) as part:
            part.begin(name, content(seed, repeats), FOLDS, environment={"machine": "a"})
            made = {i: row(i, n_leaves=leaves, packed=bytes([i, leaves])) for i, leaves in others.items()}
            for item in made.values():
                part.append(name, item)
            mine = known.rows if known else {}
            # A run that was rescored has more metrics; that is no other answer.
            clash = any(i in mine and mine[i].status == "ok" and replace(mine[i], measures={}) != entry
                        for i, entry in made.items())  # fmt: skip
            if clash:
                with pytest.raises(ConfigError, match="differs between"):
                    self.stores[handle].take_over(part, name)
                return
            self.stores[handle].take_over(part, name)
        if known is None:
            self.generations += 1
            known = self.runs[name] = Kept(self.generations, seed, repeats)
        for i, item in made.items():
            if i not in known.rows or known.rows[i].status == "failed":
                known.rows[i] = item

    @rule(name=names, data=st.data())
    def damage_and_repair(self, name: str, data: st.DataObject) -> None:
        known = self.runs.get(name)
        if known is None or not known.rows:
            return
        i = data.draw(st.sampled_from(sorted(known.rows)))
        column = data.draw(st.sampled_from(["n_leaves", "n_test", "depth", "fit_seconds"]))
        with closing(sqlite3.connect(self.path)) as db, db:
            db.execute(f"UPDATE rows SET {column} = {column} + 1 WHERE run = ? AND key = ?", (name, f"k{i}"))
        with Store(self.path) as store:
            with pytest.raises(StoreError, match=f"bupa/gdt r{i // 10} f{i % 10} of run"):
                store.rows(name)
            assert [item.key for item in store.repair(name)] == [f"k{i}"]
        del known.rows[i]

    # ---- what holds all the time

    @invariant()
    def a_reader_sees_the_model(self) -> None:
        if not hasattr(self, "reader"):
            return
        results = {run.name: run for run in self.reader.runs()}
        assert results.keys() == self.runs.keys()
        for name, known in self.runs.items():
            shown = [record for record in known.rows.values() if record.repeat < known.repeats]
            good = sum(item.status == "ok" for item in shown)
            run = results[name]
            assert (run.done, run.failed, run.damaged) == (good, len(shown) - good, 0)
            assert run.content == content(known.seed, known.repeats)
            assert self.reader.rows(name) == sorted(shown, key=lambda item: (item.repeat, item.fold))

    def may_write(self, handle: int, name: str) -> bool:
        held, known = self.held[handle].get(name), self.runs.get(name)
        return held is not None and known is not None and held.generation == known.generation


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(
    max_examples=many(15, 1000),
    stateful_step_count=60 if SOAK else 30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.long
@pytest.mark.parametrize("fault", ["no digest", "good rows are replaced"])
def test_the_machine_finds_a_store_that_is_wrong(fault, monkeypatch):
    if fault == "no digest":
        monkeypatch.setattr(_store, "seal", lambda *values: "the same for everything")
    else:
        put = Store._put

        def put_always(self, kind, run, record, *rest):
            self._drop(run, kind.table, record.key)
            return put(self, kind, run, record, *rest)

        monkeypatch.setattr(Store, "_put", put_always)
    # The same examples every time: a control that fires by chance only would be none.
    quick = settings(
        TestStoreMachine.settings, derandomize=True, max_examples=200, phases=[Phase.generate], print_blob=False
    )
    with pytest.raises((Exception, pytest.fail.Exception)):
        run_state_machine_as_test(StoreMachine, settings=quick)
