"""Results to stake a paper on: two writers, damage, other versions, and a place where nothing can be written."""

import os
import shutil
import traceback
from pathlib import Path

import pytest
from runner_support import FAKES, experiment, toy
from store_support import CONTENT, filled, row, sql

from oblique_cli import data
from oblique_cli.errors import ConfigError, StoreError
from oblique_cli.experiments import environment as environments
from oblique_cli.experiments import fits
from oblique_cli.experiments.environment import PACKAGE, code, deciding, deciding_files, environment
from oblique_cli.experiments.running import run
from oblique_cli.experiments.store import Store
from oblique_cli.ground.nouns import Job, Tuning


@pytest.fixture
def path(tmp_path):
    return tmp_path / "oblique.sqlite"


def message_of(function, *args, **kwargs) -> str:
    with pytest.raises(StoreError) as caught:
        function(*args, **kwargs)
    assert caught.value.exit_code == 5
    return str(caught.value)


# ---- who may write ---------------------------------------------------------------------------------------------------


def test_a_run_that_is_started_over_belongs_to_whoever_did_so(path):
    with Store(path) as first, Store(path) as second:
        first.begin("one", CONTENT, 20)
        first.append("one", row(0))
        second.begin("one", CONTENT, 20, fresh=True)
        expected = "run 'one' was started over by another process, whose results"
        assert message_of(first.append, "one", row(1)).startswith(expected)
        assert message_of(first.add_tuning, "one", Tuning("t", "bupa", "gdt", "ok")).startswith(expected)
        assert message_of(first.rows, "one").startswith(expected), "or its table would show the other one's folds"
        assert message_of(first.pending, "one", []).startswith(expected)
        second.append("one", row(2))
        assert [record.key for record in second.rows("one")] == ["k2"]
        first.begin("one", CONTENT, 20)
        first.append("one", row(3))
        assert [record.key for record in second.rows("one")] == ["k2", "k3"], "two may work on one run"


def test_a_handle_that_did_not_begin_a_run_cannot_store_its_rows(path):
    with Store(path) as first, Store(path) as second:
        first.begin("one", CONTENT, 20)
        assert message_of(second.append, "one", row(0)) == (
            "run 'one' was not begun by this process, which cannot store anything of it."
        )


def test_a_lease_says_who_writes_and_when_the_process_is_done_or_dead(path):
    with Store(path) as store:
        store.begin("one", CONTENT, 20, workers=3, argv=["oblique"])
        store.append("one", row(0))
        (writer,) = store.run("one").writers
        assert (writer.process["pid"], writer.alive, store.run("one").workers) == (os.getpid(), True, 3)
        store.end("one")
        assert store.run("one").writers == ()
    child = os.fork()
    if child == 0:
        with Store(path) as store:
            store.begin("one", CONTENT, 20)
            os._exit(0)  # as a kill would end it: nothing is said
    os.waitpid(child, 0)
    with Store(path) as store:
        (writer,) = store.run("one").writers
        assert (writer.process["pid"], writer.alive) == (child, False)


# ---- damage ----------------------------------------------------------------------------------------------------------


def test_a_row_whose_numbers_contradict_each_other_is_damage_even_under_a_right_digest(path):
    with Store(path) as store:
        store.begin("one", CONTENT, 1)
        store.append("one", row(0, n_correct=21))
        assert "bupa/gdt r0 f0 of run 'one' is not what was stored" in message_of(store.rows, "one")


def test_a_row_at_the_place_of_another_job_is_refused_if_the_description_is_lost(path):
    filled(path)
    jobs = [Job(key, "bupa", "gdt", 0, fold, seed=0) for fold, key in enumerate(("k0", "of other settings", "k2"))]
    with Store(path) as store:
        store.refuse_others("one", jobs)
        sql(path, "DELETE FROM sessions")
        store.refuse_others("one", jobs[:1])
        with pytest.raises(ConfigError, match="run 'one' has 1 stored folds of other settings, whose description is"):
            store.refuse_others("one", jobs)


def test_damage_to_the_description_of_a_table_is_one_line(path):
    filled(path)
    sql(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    content = path.read_bytes()
    assert b"chosen TEXT" in content
    path.write_bytes(content.replace(b"chosen TEXT", b"`hosen TEXT"))
    message = message_of(Store, path, must_exist=True)
    assert "is damaged (malformed database schema (" in message and "\n" not in message


# ---- environments ----------------------------------------------------------------------------------------------------


@pytest.fixture
def fakes(monkeypatch):
    monkeypatch.setattr(fits, "ALGORITHMS", FAKES)
    monkeypatch.setattr(data.catalogue, "load", lambda spec, **options: toy(name=spec.name))


def other_versions(monkeypatch, **versions):
    real = environments.environment

    def pretended(things=(), libraries=()):
        result = real(things, libraries)
        return {**result, "packages": {**result["packages"], **versions}}

    monkeypatch.setattr(environments, "environment", pretended)


@pytest.mark.usefixtures("fakes")
def test_a_run_that_goes_on_under_other_versions_says_so(path, monkeypatch):
    with Store(path) as store:
        run(experiment("stump", repeats=1), store, n_jobs=1)
        assert store.remarks("test") == []
        other_versions(monkeypatch, numpy="9.9.9")
        run(experiment("stump", repeats=2), store, n_jobs=1)
        numpy = environment()["packages"]["numpy"]
        assert store.remarks("test") == [
            f"The folds were made by 2 environments: 3 with numpy {numpy}; 3 with numpy 9.9.9."
        ]
        assert {len(item) for item in [store.environments("test")]} == {2}
        with pytest.raises(ConfigError) as caught:
            run(experiment("stump", repeats=3), store, n_jobs=1, strict_environment=True)
        assert f"has folds that another environment has made (numpy {numpy} and 9.9.9): use --fresh" in str(
            caught.value
        )
        run(experiment("stump", repeats=3), store, n_jobs=1, strict_environment=True, fresh=True)
        assert store.remarks("test") == []


@pytest.mark.usefixtures("fakes")
def test_folds_of_another_environment_are_not_taken_over_from_another_run(path, monkeypatch):
    with Store(path) as store:
        run(experiment("stump", name="one"), store, n_jobs=1)
        assert run(experiment("stump", name="two"), store, n_jobs=1, adopt=True).resumed == 6
        assert store.packed("two", store.rows("two")[0]) == store.packed("one", store.rows("one")[0]) != b""
        other_versions(monkeypatch, scipy="9.9.9")
        assert run(experiment("stump", name="three"), store, n_jobs=1, adopt=True).resumed == 0


def test_remarks_are_of_one_view_while_another_environment_stores_folds(path, monkeypatch):
    with Store(path) as reader, Store(path) as writer:
        writer.begin("one", CONTENT, 20, environment={"packages": {"numpy": "1.0"}})
        writer.append("one", row(0))
        writer.begin("one", CONTENT, 20, environment={"packages": {"numpy": "2.0"}})
        of_the_file = type(reader._db).execute

        def storing(number, words):
            """Reading as it is while another process stores a fold as soon as `words` are asked for."""

            def execute(db, statement, values=()):
                result = of_the_file(db, statement, values)
                if db is reader._db and words in statement:
                    result = iter(result.fetchall()) if words == "FROM environments" else result
                    writer.append("one", row(number))
                return result

            return execute

        monkeypatch.setattr(type(reader._db), "execute", storing(1, "ORDER BY dataset"))
        assert reader.remarks("one") == []
        monkeypatch.undo()
        writer.begin("one", CONTENT, 20, environment={"packages": {"numpy": "3.0"}})
        monkeypatch.setattr(type(reader._db), "execute", storing(2, "FROM environments"))
        assert reader.remarks("one")[0].startswith("The folds were made by 2 environments: 1 with numpy 1.0")
        monkeypatch.undo()
        assert reader.remarks("one")[0].startswith("The folds were made by 3 environments: 1 with numpy 1.0")


def test_the_digest_of_the_code_covers_what_decides_a_result_and_no_more():
    names = {path.relative_to(PACKAGE).as_posix() for path in deciding_files()}
    assert {"proposers/hhcart.py", "tree/growing.py", "schemes/_folds.py", "data/dataset.py"} <= names
    assert {"ground/seeds.py", "papers/discrete/c45.py"} <= names
    assert {"evaluation/metrics.py", "experiments/running.py", "estimators/algorithms.py", "ground/nouns.py"} <= names
    rooms_around = ("cli/", "config/", "drawing/", "papers/published/", "papers/reproduction/", "report/")
    assert not {name for name in names if name.startswith(rooms_around) or name.endswith("_command.py")}
    assert "experiments/store/_store.py" not in names and "evaluation/tables.py" not in names


def test_the_digest_of_the_code_changes_with_the_code_and_with_the_core(tmp_path, monkeypatch):
    copy = tmp_path / "oblique_cli"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("core", "__pycache__"))
    monkeypatch.setattr(environments, "PACKAGE", copy)
    code.cache_clear()
    try:
        before = code()
        with open(copy / "cli" / "run.py", "a") as file:
            file.write("# nothing\n")
        code.cache_clear()
        assert code() == before
        with open(copy / "tree" / "growing.py", "a") as file:
            file.write("\nMORE = 1\n")
        code.cache_clear()
        assert code() != before
    finally:
        code.cache_clear()


def test_processors_joblib_and_the_python_are_recorded_and_decide_nothing():
    result = environment()
    assert {"python", "processors", "platform"} <= result.keys() and "joblib" in result["packages"]
    assert deciding(result) == deciding({**result, "python": "4", "processors": 99, "platform": "other"})
    assert deciding(result) != deciding({**result, "machine": "other"})
    assert deciding(result) != deciding({**result, "blas": [{"internal_api": "mkl", "version": "1"}]})


# ---- places where nothing can be written -----------------------------------------------------------------------------


def as_nobody(function) -> int:
    """Run a function in a child process that owns nothing; return its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.getuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            code = function()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def closed(folder: Path) -> None:
    for path in (folder, *folder.iterdir()):
        path.chmod(0o555)
    for parent in folder.parents:
        if parent.stat().st_uid == os.getuid() and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)


@pytest.mark.parametrize("logged", [False, True])
def test_a_file_is_read_where_nothing_can_be_written(tmp_path, logged):
    folder = tmp_path / "results"
    path = filled(folder / "oblique.sqlite")
    if logged:  # as a killed process leaves it: the last folds are in the log
        with Store(path) as store:
            store.begin("one", CONTENT, 21)
            store.append("one", row(3, fold=99, key="k99"))
            for file in list(folder.iterdir()):
                shutil.copyfile(file, folder / f"copy-{file.name}")
        for file in list(folder.glob("copy-*")):
            if not file.name.endswith("-shm"):
                file.replace(folder / file.name.removeprefix("copy-"))
            else:
                file.unlink()
    closed(folder)

    def read() -> int:
        with Store(path, must_exist=True) as store:
            assert store.read_only and len(store.rows("one")) == 20 + logged
            assert store.run("one").total == 20 + logged
            try:
                store.begin("one", CONTENT, 20)
            except StoreError as error:
                assert "cannot be written: copy it, or give another folder with --results." in str(error)
                return 7
        return 1

    try:
        assert as_nobody(read) == 7
    finally:
        folder.chmod(0o755)
