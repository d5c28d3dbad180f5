"""The catalogue against its files: every fact is true, every name leads somewhere, no damaged byte gets through."""

import gzip
import random
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml
from data_support import DATASETS, FETCHED, MARBLES_CSV, marked, no_user_folders, sha, toy_facts, toys, use_catalogue

from oblique_cli.data import catalogue, files
from oblique_cli.data.catalogue import load
from oblique_cli.data.text_table import parse
from oblique_cli.errors import ConfigError, DataError, UnknownName
from oblique_cli.ground.nouns import DatasetSpec

__all__ = ["no_user_folders", "toys"]

QUICK = ("bupa", "spect", "auto_mpg", "house_votes", "hepatitis")  # of every kind of column, task and file
BUNDLED = [name for name, entry in catalogue.entries().items() if entry.bundled]


@cache
def in_numbers(name):
    """A set without gaps and words; the large ones take seconds to read."""
    return load(DatasetSpec(name, missing="impute", encoding="ordinal"))


@pytest.mark.parametrize(
    "name",
    [*(pytest.param(name, marks=[pytest.mark.long] * (name not in QUICK)) for name in BUNDLED), *map(marked, FETCHED)],
)
def test_every_set_is_what_the_catalogue_says(name):
    entry = catalogue.entry(name)
    assert catalogue.verify(name) == catalogue.Check(name, "ok")
    d = in_numbers(name)
    for field in ("name", "n", "p", "task", "paper_code", "note"):
        assert getattr(d, field) == getattr(entry, field), field
    assert tuple(d.feature_names[j] for j in d.qualitative) == entry.categorical_columns
    assert len(d.qualitative) == entry.categorical
    assert sum(file.rows for file in entry.files.values()) == entry.n
    if d.task == "regression":
        assert (d.classes, d.y.dtype, dict(entry.classes)) == ((), np.float64, {})
    else:
        assert dict(zip(d.classes, np.bincount(d.y).tolist(), strict=True)) == dict(entry.classes)
        assert d.classes == tuple(entry.classes)


def test_the_folder_holds_the_bundled_files_and_the_catalogue_every_entry_once():
    named = {file.name for name in BUNDLED for file in catalogue.entry(name).files.values()}
    assert {path.name for path in DATASETS.iterdir()} == named | {"catalogue.yaml", "SOURCES.md", ".gitattributes"}
    sets = "bank_marketing banknote climate_crashes dermatology kin8nm page_blocks seeds stock tecator tecator_spectra"
    assert sorted(FETCHED) == sets.split()
    keys = re.findall(r"^(\w+):$", (DATASETS / "catalogue.yaml").read_text(), re.M)
    assert keys == catalogue.names()
    for name in ("catalogue.yaml", "SOURCES.md"):
        text = (DATASETS / name).read_text()
        assert not re.search(r"https?://|pypi\.org|pythonhosted|/home/|/tmp/|/root/|/work/", text)


def test_every_entry_has_a_line_in_sources_md():
    sources = (DATASETS / "SOURCES.md").read_text()
    for name, entry in catalogue.entries().items():
        assert f"| `{name}` | {', '.join(file.name for file in entry.files.values())} | " in sources
    assert "TECATOR" in sources.upper() and "as long as this permission note is attached" in sources


@pytest.mark.parametrize(
    ("name", "n_train", "n_test"),
    [
        pytest.param("shuttle", 43500, 14500, marks=pytest.mark.long),
        pytest.param("adult", 30162, 15060, marks=pytest.mark.long),
        ("spect", 80, 187),
        ("dna", 2000, 1186),
        ("satimage", 4435, 2000),
    ],
)
def test_official_splits_become_one_set_with_row_ids(name, n_train, n_test):
    train, test = in_numbers(name).split
    assert np.array_equal(train, np.arange(n_train)) and np.array_equal(test, np.arange(n_train, n_train + n_test))


def test_bupa_and_spect_are_those_of_their_sources():
    d = load("BUPA")
    assert d.X[0].tolist() == [85, 92, 45, 27, 31, 0] and d.feature_names[-1] == "drinks"
    assert d.classes == ("1", "2") and np.bincount(d.y).tolist() == [145, 200]
    assert "selector" in d.note and "not as a diagnosis" in d.note and "\n" not in d.note
    spect = load("spect")
    assert np.bincount(spect.y[:80]).tolist() == [40, 40] and np.bincount(spect.y[80:]).tolist() == [15, 172]
    assert load("letter").split is None
    table = parse((DATASETS / "breast_cancer_ljubljana.csv").read_bytes(), "x")
    assert table.columns[0][:2] == ("40-49", "50-59") and table.lines[-1] == 287


def test_missing_and_qualitative_cells_of_our_own_sets_need_policies_too():
    with pytest.raises(DataError, match=r"data set 'hepatitis': column \d+ \('\w+'\) has \d+ missing value"):
        load("hepatitis")
    with pytest.raises(DataError, match=r"data set 'car': column 1 \('\w+'\) is qualitative; declare encoding"):
        load("car")
    assert load(DatasetSpec("hepatitis", missing="drop")).n == 80
    votes = load(DatasetSpec("house_votes", missing="drop", encoding="ordinal"))
    complete = load(DatasetSpec("house_votes_complete", encoding="ordinal"))
    assert votes.digest == complete.digest
    gaps = load(DatasetSpec("house_votes", missing="impute", encoding="onehot"))
    assert np.isnan(gaps.X).sum() == 392 and gaps.levels[0] == ("n", "y")
    heart = load(DatasetSpec("statlog_heart", encoding="onehot", qualitative=("chest_pain",)))
    assert heart.levels == {2: ("1", "2", "3", "4")}


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ("bupa", "bupa"),
        ("BUPA", "bupa"),
        ("Bld", "bupa"),
        ("boston_housing_2class", "boston_housing_binary"),
        ("heart_statlog", "statlog_heart"),
        ("Income", "adult"),
        ("Balance Scale", "balance_scale"),
        ("seed", "seeds"),
    ],
)
def test_names_aliases_and_published_codes_lead_to_the_set(values, name):
    assert catalogue.resolve(values) == name == catalogue.entry(values).name


def test_unknown_and_ambiguous_names_are_told_and_codes_are_those_of_each_source():
    with pytest.raises(UnknownName, match=r"^unknown data set 'bupaa'\. Did you mean 'bupa'\? \(oblique data list\)$"):
        catalogue.resolve("bupaa")
    with pytest.raises(UnknownName, match=r"^data set 'votes' may be house_votes or house_votes_complete"):
        catalogue.resolve("votes")
    with pytest.raises(UnknownName, match=r"^unknown data set ''\. \(oblique data list\)$"):
        catalogue.resolve("")
    assert issubclass(UnknownName, ConfigError)
    assert catalogue.entry("balance_scale").published.get("wickramarachchi2015") == "BS"
    assert catalogue.entry("bs").published.get("manwani2012") == "Balance Scale"
    assert catalogue.entry("pima").published.get("amalaman2015") == "Pid"
    assert catalogue.entry("house_votes").published.get("kargupta2006") == "Votes"
    assert catalogue.entry("house_votes").published.get("manwani2012") is None
    assert catalogue.entry("yeast").published.get("manwani2012") is None


def test_every_random_bit_flip_in_a_bundled_file_is_detected(monkeypatch, tmp_path):
    names = ["bupa", "wine", "haberman", "hepatitis", "spect", "tae"]
    facts = yaml.safe_load((DATASETS / "catalogue.yaml").read_text())
    use_catalogue(monkeypatch, tmp_path / "copy", {name: facts[name] for name in names})
    rng = random.Random(7)
    for _ in range(40):
        name = rng.choice(names)
        file = rng.choice(list(catalogue.entry(name).files.values()))
        for other in catalogue.entry(name).files.values():
            shutil.copy(DATASETS / other.name, tmp_path / "copy" / other.name)
        path = tmp_path / "copy" / file.name
        content = bytearray(path.read_bytes())
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
        with pytest.raises(DataError, match=f"data set '{name}': sha256 of .*{file.name} differs from the catalogue"):
            load(DatasetSpec(name, missing="impute", encoding="onehot"))
        assert catalogue.verify(name).status == "bad"
        assert path.read_bytes() == content, "a bundled file is never touched"
    assert not list((tmp_path / "copy").glob("*.bad*"))


def test_the_error_of_a_damaged_bundled_file_names_both_checksums_and_the_remedy(toys):
    damaged = "r,g,class\n"
    (toys / "marbles.csv").write_text(damaged)
    with pytest.raises(DataError) as caught:
        load("marbles")
    assert str(caught.value) == (
        f"data set 'marbles': sha256 of {toys / 'marbles.csv'} differs from the catalogue (expected "
        f"{sha(MARBLES_CSV)[:8]}..., found {sha(damaged)[:8]}...). Install the package again, or put a good copy there"
    )
    (toys / "marbles.csv").unlink()
    with pytest.raises(DataError, match=r"'marbles': .*marbles\.csv is missing \(files\.all: .*:\d+\)\. Install"):
        load("marbles")


QUARTZ = "q,class\n1,x\n2,y\n"


def test_an_option_comes_before_the_environment_and_that_before_the_cache(toys, no_user_folders, tmp_path, monkeypatch):
    option, environment, cache = tmp_path / "option", tmp_path / "environment", no_user_folders
    monkeypatch.setenv("OBLIQUE_DATA", str(environment))
    assert files.data_folders(option) == [option, environment, cache]
    for place in (cache, environment, option):  # the later ones come first
        place.mkdir(parents=True)
        (place / "quartz.csv").write_text(QUARTZ)
        result = files.find(catalogue.entry("quartz").files["all"], False, option)
        assert result is not None and result.path == place / "quartz.csv"
        assert result.owner == ("cache" if place == cache else "data directory")
        assert load("quartz", data_dir=str(option)).n == 2
    monkeypatch.setenv("OBLIQUE_DATA", "")
    assert files.data_folders() == [cache]
    assert files.data_folders("~/somewhere") == [Path.home() / "somewhere", cache]


def test_the_cache_is_where_the_platform_has_it(monkeypatch):
    monkeypatch.setenv("HOME", "/nonexistent/ann")
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert files.cache_folder() == Path("/elsewhere/oblique")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setattr(files.sys, "platform", "linux")
    assert files.cache_folder() == Path("/nonexistent/ann/.cache/oblique")
    monkeypatch.setattr(files.sys, "platform", "darwin")
    assert files.cache_folder() == Path("/nonexistent/ann/Library/Caches/oblique")
    monkeypatch.setattr(files.sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert files.cache_folder() == Path("/local/oblique/Cache")


def test_a_gzipped_file_may_also_be_there_unpacked(monkeypatch, tmp_path, no_user_folders):
    facts = toy_facts()["quartz"]
    packed = gzip.compress(QUARTZ.encode(), mtime=0)
    facts["files"] = {"all": {"name": "quartz.csv.gz", "rows": 2, "sha256": sha(packed)}}
    facts["files"]["all"]["unpacked_sha256"] = sha(QUARTZ)
    use_catalogue(monkeypatch, tmp_path / "ours", {"quartz": facts})
    digests = set()
    for name, content in [("quartz.csv", QUARTZ.encode()), ("quartz.csv.gz", packed)]:
        (tmp_path / name[6:]).mkdir()
        (tmp_path / name[6:] / name).write_bytes(content)
        digests.add(load("quartz", data_dir=str(tmp_path / name[6:])).digest)
    assert len(digests) == 1


def test_the_catalogue_needs_nothing_numerical_and_one_entry_is_read_without_the_others():
    script = (
        "import sys; from oblique_cli import data; data.entry('bupa'); assert 'numpy' not in sys.modules;"
        "data.load('bupa'); assert 'pandas' not in sys.modules and 'urllib.request' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=DATASETS.parent)
    alone = {name: catalogue.entry_alone(name) for name in catalogue.names()}
    assert all(entry in (None, catalogue.entries()[name]) for name, entry in alone.items())
    assert sum(entry is not None for entry in alone.values()) > 75  # aliases of few sets are words of other entries
    assert [catalogue.entry_alone(name) is None for name in ("bupa", "bup", "bupa:")] == [False, True, True]
