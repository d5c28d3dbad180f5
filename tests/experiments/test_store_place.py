"""A results file that is removed or replaced while a process is using it."""

import os
import shutil

import pytest
from cli_support import SMALL, forked
from store_support import CONTENT, filled, row

from oblique_cli.errors import StoreError
from oblique_cli.experiments.store import Store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results" / "oblique.sqlite"


def removed(path):
    path.unlink()


def removed_with_its_folder(path):
    shutil.rmtree(path.parent)


def replaced(path):
    filled(path.with_name("other"), 3)
    os.replace(path.with_name("other"), path)


@pytest.mark.parametrize("what", [removed, removed_with_its_folder, replaced])
def test_it_is_noticed_when_a_fold_is_stored_and_nothing_is_lost(path, what):
    with Store(path) as store:
        store.begin("one", CONTENT, 20)
        store.append("one", row(0))
        what(path)
        with pytest.raises(StoreError) as caught:
            store.append("one", row(1))
        how = "replaced by another file" if what is replaced else "removed"
        assert str(caught.value).startswith(f"{path} was {how} while this process was using it; what it held")
        assert ("oblique merge RUN takes folds from there" in str(caught.value)) == (what is replaced)
        for again in (lambda: store.rows("one"), lambda: store.append("one", row(2))):
            with pytest.raises(StoreError, match="while this process was using it"):
                again()
    (retained,) = path.parent.glob("*.kept*")
    assert str(retained) in str(caught.value)
    with Store(retained, must_exist=True) as store:
        assert [record.key for record in store.rows("one")] == ["k0", "k1"] and store.damage("one") == []


def test_a_reader_is_told_too_and_where_nothing_can_be_saved_that_is_said(path, monkeypatch):
    filled(path)
    with Store(path, must_exist=True) as store:
        removed(path)
        with pytest.raises(StoreError, match="was removed while this process was using it"):
            store.rows("one")
    with Store(path) as store:
        store.begin("one", CONTENT, 20)
        removed(path)
        monkeypatch.setattr("oblique_cli.experiments.store._database.free_name", lambda *_: path / "no" / "such")
        path.write_text("a file where a folder would be needed")
        with pytest.raises(StoreError, match=r"what it held is lost, because .* cannot be written"):
            store.append("one", row(0))


REMOVING = """
import shutil
from oblique_cli.experiments.store import Store
append, stored = Store.append, []

def removing(store, run, row):
    append(store, run, row)
    stored.append(row)
    if len(stored) == 5:
        shutil.rmtree("results")

Store.append = removing
"""


@pytest.mark.long
def test_a_run_whose_results_are_removed_ends_with_code_5_and_goes_on_from_what_was_kept(tmp_path):
    (tmp_path / "small.yaml").write_text(SMALL)
    command = ("run", "small.yaml", "-j", "1", "--format", "csv", "--quiet")
    whole = forked(tmp_path, *command, "--results", "whole")
    ended = forked(tmp_path, *command, first=REMOVING)
    assert (ended.code, ended.out) == (5, "") and whole.code == 0
    assert ended.err.count("error: ") == 1 and ended.err.count("\n") == 1
    assert "results/oblique.sqlite was removed while this process was using it; what it held" in ended.err
    results = tmp_path / "results"
    (results / "oblique.sqlite.kept").rename(results / "oblique.sqlite")
    with Store(results / "oblique.sqlite") as store:
        assert len(store.rows("small")) == 6
    assert forked(tmp_path, *command).out == whole.out
