"""`oblique validate`, called in process."""

import json

import pytest
from cli_support import invoke

from oblique_cli.cli.validate import validate
from oblique_cli.config import composing, json_schema
from oblique_cli.data import catalogue

GOOD = "version: 1\ndataset: iris\nalgorithm: axis_parallel\ncv: {folds: 3, repeats: 2}\n"
BAD = GOOD.replace("folds", "fold")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.yaml").write_text(GOOD)
    (tmp_path / "bad.yaml").write_text(BAD)
    return lambda *arguments: invoke(validate, arguments)


def test_good_configurations_are_ok_with_their_size_and_a_bad_one_does_not_hide_them(run):
    result = run("good.yaml")
    assert (result.exit_code, result.output) == (0, "good.yaml: ok (1 data set x 1 algorithm x 6 folds)\n")
    assert run("bupa_hhgdt").output == "bupa_hhgdt: ok (1 data set x 1 algorithm x 100 folds)\n"
    assert run("good.yaml", "--set", "cv.scheme=monte_carlo").output.endswith("x 2 folds)\n")
    result = run("nowhere", "bad.yaml", "good.yaml")
    assert result.exit_code == 2
    assert result.stdout.startswith("good.yaml: ok")
    assert "no configuration 'nowhere'" in result.stderr
    assert "bad.yaml:4:6" in result.stderr
    result = invoke(validate, ["--schema"])
    assert result.exit_code == 0 and json.loads(result.output) == json.loads(json.dumps(json_schema.schema()))


@pytest.mark.long
def test_without_arguments_every_bundled_configuration_is_checked(run, monkeypatch):
    some = composing.bundled()[::6]
    monkeypatch.setattr(composing, "bundled", lambda: some)
    result = run()
    assert result.exit_code == 0
    assert [line.partition(":")[0] for line in result.output.splitlines()] == some


@pytest.fixture
def cache(call):
    """The user's cache, which is empty."""
    place = call.folder / "no cache" / "oblique"
    place.mkdir(parents=True)
    return place


def config(call, datasets, algorithm="raf"):
    text = f"version: 1\ndatasets: [{datasets}]\nalgorithm: {algorithm}\ncv: {{folds: 2, repeats: 1}}\n"
    (call.folder / "mine.yaml").write_text(text)


def test_files_that_are_absent_damaged_or_unreadable_are_told_apart_and_stay_where_they_are(call, cache):
    config(call, "banknote, seeds, bank_marketing")
    for name in ("banknote", "seeds", "bank_marketing"):
        assert catalogue.verify(name).status == "absent"
    assert call("validate", "mine.yaml").code == 0
    damaged = cache / "banknote.csv"
    damaged.write_text("a,class\n1,A\n")
    config(call, "banknote")
    ended = call("validate", "mine.yaml")
    assert (ended.code, ended.out, ended.err.count("\n")) == (4, "", 1)
    assert ended.err.startswith(f"mine.yaml: data set 'banknote': sha256 of {damaged} differs from the catalogue")
    assert [path.name for path in cache.iterdir()] == ["banknote.csv"]
    (call.folder / "bytes.csv").write_bytes(b"a,class\n1,\xff\n")
    config(call, "{csv: bytes.csv, target: class, charset: utf-8}")
    ended = call("validate", "mine.yaml")
    assert (ended.code, ended.out) == (4, "")
    assert "bytes.csv: line 1 or one soon after it is not utf-8 text" in ended.err


@pytest.mark.parametrize("datasets", ["{name: tic_tac_toe, encoding: error}", "iris, tic_tac_toe"])
def test_a_qualitative_set_without_encoding_ends_as_run_does(call, datasets):
    config(call, datasets)
    ran = call("run", "mine.yaml", "--quiet", "-j", "1")
    ended = call("validate", "mine.yaml")
    assert (ended.code, ran.code, ended.out) == (4, 4, "")
    assert ended.err.startswith("mine.yaml: data set 'tic_tac_toe'")
    assert "encoding" in ended.err and "encoding" in ran.err
