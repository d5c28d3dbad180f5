"""Data sets of scikit-learn, of OpenML (from a local server) and of plugins."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from data_support import no_user_folders, site
from sklearn import datasets

from oblique_cli.data import local_sources, openml
from oblique_cli.data.catalogue import load, remark
from oblique_cli.data.plugin_datasets import FURTHER, Handed, of_arrays
from oblique_cli.data.text_table import Table
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground.nouns import DatasetSpec

__all__ = ["no_user_folders", "site"]

ARFF = (Path(__file__).parents[1] / "files" / "credits.arff").read_text(encoding="utf-8")


def described(site, content: str = ARFF, **changes) -> None:
    about = {
        "id": "31",
        "name": "credits",
        "version": "2",
        "format": "ARFF",
        "url": f"{site.url}/data/v1/download/31/credits.arff",
        "md5_checksum": hashlib.md5(content.encode()).hexdigest(),
        "default_target_attribute": "class",
        "row_id_attribute": "id",
    } | changes
    site.content = {
        "/api/v1/json/data/31": json.dumps({"data_set_description": about}).encode(),
        "/data/v1/download/31/credits.arff": content.encode(),
    }


@pytest.fixture
def server(site, no_user_folders, monkeypatch):
    """The local server in the place of OpenML, with one set."""
    monkeypatch.setenv(openml.ENVIRONMENT, site.url)
    described(site)
    return site


def spec(**changes) -> DatasetSpec:
    return DatasetSpec(
        **{"name": "openml-31", "source": "openml:31", "missing": "keep", "encoding": "onehot"} | changes
    )


def test_a_set_is_fetched_once_and_read_as_its_file_declares(server, no_user_folders):
    d = load(spec())
    assert (d.n, d.p, d.classes, d.task) == (4, 3, ("bad", "good"), "classification")
    assert d.feature_names == ("checking status", "duration", "code"), "the row numbers are left out"
    assert d.levels == {0: ("no account", "none", "rich"), 2: ("1", "2", "3")}, "levels although they look like numbers"
    assert np.isnan(d.X[2, 0]) and np.isnan(d.X[3, 1])
    count = len(server.log)
    assert load(spec()).digest == d.digest and len(server.log) == count == 2, "the second load asks nobody"
    record = json.loads((no_user_folders / "openml" / "31.json").read_text())
    assert record["sha256"] == hashlib.sha256(ARFF.encode()).hexdigest()
    assert remark(spec()) == f"OpenML 31, credits version 2, sha256 {record['sha256'][:12]}..."
    assert sorted(path.name for path in (no_user_folders / "openml").glob("[!.]*.*")) == ["31.arff", "31.json"]


def test_offline_is_one_sentence_and_what_was_fetched_works(server, no_user_folders):
    with pytest.raises(DataError) as caught:
        load(spec(), offline=True)
    place = no_user_folders / "openml"
    assert str(caught.value) == (
        f"OpenML 31 is not in {place}, and offline nothing is fetched; run once without --offline"
    )
    assert server.log == []
    assert not local_sources.is_there(spec())
    load(spec())
    assert local_sources.is_there(spec()) and load(spec(), offline=True).n == 4


def test_a_damaged_file_is_moved_aside_and_fetched_again(server, no_user_folders):
    load(spec())
    path = openml.path_of(31)
    path.write_text(ARFF.replace("12", "13"))
    with pytest.raises(DataError, match=r"offline nothing is fetched; the damaged 31\.arff was moved aside"):
        load(spec(), offline=True)
    assert load(spec()).X[0, 1] == 12
    assert path.with_name("31.arff.bad").exists()


def test_a_file_that_is_not_the_described_one_or_changed_since_is_refused(server):
    described(server, md5_checksum="0" * 32)
    with pytest.raises(DataError, match=r"credits\.arff is not the file that OpenML describes \(md5 differs from 0000"):
        load(spec())
    assert not openml.path_of(31).exists()
    described(server)
    load(spec())
    openml.path_of(31).unlink()
    described(server, ARFF.replace("24", "25"))
    with pytest.raises(DataError, match=r"OpenML sends another file than it did before \(sha256 \w{8}\.\.\. inst"):
        load(spec())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "/api/v1/json/data/31 could not be fetched (it does not exist)"),
        ({"/api/v1/json/data/31": b"<html>"}, "/api/v1/json/data/31 is no description of a data set"),
        (
            {"/api/v1/json/data/31": b'{"data_set_description": {"url": "file:///etc/passwd"}}'},
            "/api/v1/json/data/31 is no description of a data set",
        ),
    ],
)
def test_what_openml_does_not_have_is_one_sentence(server, content, message):
    server.content = content
    with pytest.raises(DataError) as caught:
        load(spec())
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_form_that_cannot_be_read_and_a_server_that_is_not_there(server, monkeypatch):
    described(server, format="Parquet")
    with pytest.raises(DataError, match="OpenML 31 is kept as Parquet, and only ARFF can be read"):
        load(spec())
    monkeypatch.setenv(openml.ENVIRONMENT, "http://127.0.0.1:9")
    with pytest.raises(DataError, match=r"could not be fetched \(Connection refused; the same command tries again\)"):
        load(spec())
    monkeypatch.setenv(openml.ENVIRONMENT, "ftp://x")
    with pytest.raises(ConfigError, match="OBLIQUE_OPENML_URL must be a http or https address"):
        load(spec())


def test_another_target_and_none(server):
    d = load(spec(target="id", missing="drop"), task="regression")
    assert (d.task, d.feature_names[-1], d.y.tolist()) == ("regression", "class", [1, 2])
    assert load(spec(target="id"), task="classification").classes == ("1", "2", "3", "4")
    described(server, default_target_attribute=None)
    openml.path_of(31).with_suffix(".json").unlink()
    with pytest.raises(DataError, match=r"OpenML 31 names no single column to predict; set target to one .*: id, "):
        load(spec())
    with pytest.raises(DataError, match="OpenML 31 has no column 'colour'; set target to one"):
        load(spec(target="colour"))


@pytest.mark.parametrize("name", local_sources.SKLEARN)
def test_a_set_of_scikit_learn_has_its_numbers(name):
    d = load(DatasetSpec(name, source=f"sklearn:{name}"))
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    np.testing.assert_array_equal(d.X, X)
    if name == "diabetes":
        np.testing.assert_array_equal(d.y, y)
        assert d.task == "regression"
    else:
        names = [str(name) for name in getattr(datasets, f"load_{name}")().target_names]
        assert [d.classes[code] for code in d.y] == [names[code] for code in y]


def test_a_plugin_hands_over_arrays_of_fitting_shapes_or_a_table(monkeypatch):
    monkeypatch.setattr(FURTHER, "_things", {})
    FURTHER.register("stones")(lambda: (np.array([[1.0, np.nan], [2.0, 0.1], [3.0, 5.0]]), ["a", "b", "a"]))
    d = load(DatasetSpec("stones", missing="keep"))
    assert d.classes == ("a", "b") and d.X[1, 1] == 0.1 and np.isnan(d.X[0, 1])
    table = Table("stones", ("color", "y"), (("red", "blue"), ("1.5", "2.5")), (1, 2))
    FURTHER.register("pebbles")(lambda: Handed(table, "y", ("color",), "regression"))
    d = load(DatasetSpec("pebbles", encoding="onehot"))
    assert d.task == "regression" and d.levels == {0: ("blue", "red")}
    FURTHER.register("sand")(lambda: 1 / 0)
    with pytest.raises(DataError, match=r"data set 'sand': its plugin failed \(ZeroDivisionError"):
        load(DatasetSpec("sand"))
    with pytest.raises(DataError, match=r"X must be of shape \(n, p\) .* Got \(2, 1\) and 3 labels"):
        of_arrays("mine", [[1], [2]], ["a", "b", "a"])
