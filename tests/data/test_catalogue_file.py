"""Every fault of the catalogue is a DataError with file, line and key, and stops who asks for its set only."""

import copy
import os
import re
from pathlib import Path

import pytest
import yaml
from data_support import MARBLES_CSV, no_user_folders, sha, toy_facts, toys, use_catalogue
from hypothesis import given, settings
from hypothesis import strategies as st

from oblique_cli import cli
from oblique_cli.data import catalogue, catalogue_file, files
from oblique_cli.data.entries import Entry
from oblique_cli.data.synthetic import SYNTHETIC
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.ground.resources import folder

__all__ = ["no_user_folders", "toys"]

PATH = folder("datasets") / "catalogue.yaml"
TEXT = PATH.read_text(encoding="utf-8")
REAL = yaml.safe_load(TEXT)

GONE = "GONE"


def changed(name: str, key: str, value: object) -> dict:
    """The toy entry `name` with `value` at a dotted key, or without that key."""
    facts = copy.deepcopy(toy_facts()[name])
    place = facts
    *above, last = key.split(".")
    for step in above:
        place = place[int(step) if step.isdigit() else step]
    if value == GONE:
        del place[last]
    else:
        place[last] = value
    return facts


def line_of(path, key: str) -> int:
    """The line, from 1, on which a key of the second entry of a file written by PyYAML stands first."""
    lines = path.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("broken:"))
    return next(i for i, line in enumerate(lines[start:], start + 1) if line.lstrip(" -").startswith(f"{key}:"))


@pytest.mark.parametrize(
    ("name", "key", "value", "at", "says"),
    [
        *yaml.safe_load((Path(__file__).parent / "catalogue_faults.yaml").read_text(encoding="utf-8")),
        ("marbles", "files", {"train": toy_facts()["marbles"]["files"]["all"]}, "files", "files @ must be 'all' alone"),
    ],
)
def test_a_fault_is_a_sentence_with_file_line_and_key(name, key, value, at, says, toys, monkeypatch):
    facts = {"quartz": toy_facts()["quartz"] | {"aliases": ["agate"]}, "broken": changed(name, key, value)}
    use_catalogue(monkeypatch, toys, facts)
    path = toys / "catalogue.yaml"
    with pytest.raises(DataError) as caught:
        catalogue.load("broken")
    message = str(caught.value)
    first, *_ = message.splitlines()
    line = line_of(path, at) if at else int(re.match(rf"{re.escape(str(path))}:(\d+): ", first)[1])
    says = says.replace("@", "of %").replace("%", "data set 'broken'")
    assert first.startswith(f"{path}:{line}: {says}"), message
    assert first.endswith((".", "?"))
    if at is None:  # an item of a list has no key; the line is that of the item
        assert path.read_text().splitlines()[line - 1].lstrip().startswith("- ")
    with pytest.raises(DataError, match=re.escape(message)):
        catalogue.entry("Broken")
    assert catalogue.verify("broken") == catalogue.Check("broken", "bad", message)
    assert catalogue.names() == ["quartz", "broken"] and catalogue.entry_alone("broken") is None


def test_the_smallest_entry_there_is(toys, monkeypatch):
    least = ("title", "task", "numeric", "classes", "availability", "files", "source", "licence")
    use_catalogue(monkeypatch, toys, {"marbles": {key: toy_facts()["marbles"][key] for key in least}})
    assert catalogue.verify("marbles").status == "ok"
    assert catalogue.resolve("Marbles") == "marbles"
    with pytest.raises(ConfigError, match=r"^unknown data set 'marble'\. Did you mean 'marbles'\?"):
        catalogue.resolve("marble")


def test_the_entry_that_the_guide_shows_is_a_whole_one(toys, monkeypatch):
    guide = (PATH.parent / "SOURCES.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```yaml\n(.*?)```", guide, re.S)
    text = "a,b,class\n" + "1,2,flat\n" * 60 + "3,4,round\n" * 40
    (toys / "pebbles.csv").write_text(text)
    written(toys, monkeypatch, re.sub(r"\.\.\.what .*?\.\.\.", sha(text), block))
    assert catalogue.load("pebbles").n == 100


def written(toys, monkeypatch, text: str | bytes):
    use_catalogue(monkeypatch, toys, {})
    path = toys / "catalogue.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


GOOD = yaml.safe_dump({"marbles": toy_facts()["marbles"]}, sort_keys=False)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "the catalogue must be a mapping of names of data sets to their entries. Got nothing."),
        ("- marbles\n", 1, "the catalogue must be a mapping of names of data sets to their entries. Got a list."),
        (GOOD + "x: [1, 2\n", None, "not valid YAML: "),
        (GOOD.encode() + b"x: {title: caf\xe9}\n", None, "the file is not UTF-8 text (byte 0xe9): save it as UTF-8."),
        (GOOD + GOOD, None, "duplicate key 'marbles' (first at line 1)."),
        ("#" * (1 << 19), 0, "the file is larger than 256 kB, the most that is read; set OBLIQUE_MAX_CONFIG_BYTES"),
    ],
)
def test_what_is_no_catalogue_stops_every_set_with_one_sentence(text, line, says, toys, monkeypatch):
    path = written(toys, monkeypatch, text)
    with pytest.raises(DataError) as caught:
        catalogue.entries()
    message = str(caught.value)
    assert "\n" not in message and says in message
    if line is None:
        assert re.match(rf"{re.escape(str(path))}:(\d+): ", message) and int(message.split(":")[1]) > GOOD.count("\n")
    else:
        assert message.startswith(f"{path}:{line}: {says}" if line else f"{path}: {says}")


def test_an_absent_catalogue_is_named_and_a_broken_one_does_not_stop_a_set_requested_by_its_name(toys, monkeypatch):
    written(toys, monkeypatch, GOOD + "agate: {}\nagate: {}\n")
    assert catalogue.load(DatasetSpec("marbles", missing="drop")).n == 2
    path = written(toys, monkeypatch, "")
    path.unlink()
    with pytest.raises(DataError, match=f"^{re.escape(str(path))}: no such file.$"):
        catalogue.names()


def test_a_fault_that_only_the_files_show_names_the_key_too(toys, monkeypatch):
    def message(facts: dict) -> str:
        use_catalogue(monkeypatch, toys, {"marbles": facts})
        (toys / "marbles.csv").write_text(MARBLES_CSV)
        with pytest.raises(DataError) as caught:
            catalogue.load(DatasetSpec("marbles", missing="drop", encoding="ordinal"))
        seen = catalogue.verify("marbles")
        assert seen.status in ("bad", "absent") and str(toys / "catalogue.yaml") in seen.message
        return str(caught.value)

    path = toys / "catalogue.yaml"
    for key, value, at, says in [
        ("files.all.name", "marble.csv", "files.all", "marble.csv is missing"),
        ("numeric", 3, "numeric", "catalogue says 3 rows and 3 features, the files have 3 and 2"),
        ("classes", {"a": 2, "b": 1}, "classes", "catalogue says classes {'a': 2, 'b': 1}, the files have {'a': 1, "),
    ]:
        text = message(changed("marbles", key, value))
        assert says in text and f"({at}: {path}:{line_of_first(path, at)})" in text
    sentence = message(changed("marbles", "task", "regression") | {"classes": {}})
    assert "the last column of marbles.csv must be 'target', the target of regression" in sentence
    columns = changed("marbles", "numeric", 1) | {"categorical": 1, "categorical_columns": ["gg"]}
    text = message(columns)
    assert text == (
        f"data set 'marbles': the files have no feature 'gg' (categorical_columns: {path}:"
        f"{line_of_first(path, 'categorical_columns')}). Did you mean 'g'?"
    )


def line_of_first(path, key: str) -> int:
    last = key.split(".")[-1]
    return next(i for i, line in enumerate(path.read_text().splitlines(), 1) if line.strip().startswith(f"{last}:"))


def test_a_generated_set_that_nothing_draws_is_told(toys, monkeypatch):
    drawn = {key: value for key, value in REAL["two_bands"].items() if key != "files"}
    use_catalogue(monkeypatch, toys, {"two_band": drawn, "two_bands": copy.deepcopy(drawn)})
    assert "two_band" not in SYNTHETIC
    assert catalogue.load("two_bands").n == 120
    with pytest.raises(DataError, match=r"nothing draws a set of this name \(availability: .*:\d+\)\. Did you mean"):
        catalogue.load("two_band")
    assert catalogue.verify("two_band").status == "bad"


def test_a_fetched_set_of_two_files_without_a_recipe_says_which_files_are_wanted(toys, monkeypatch, tmp_path):
    parts = {"train": ("rock_a.csv", "q,class\n1,x\n2,y\n"), "test": ("rock_b.csv", "q,class\n3,x\n")}
    facts = toy_facts()["quartz"] | {"n": 3, "classes": {"x": 2, "y": 1}}
    facts["files"] = {
        part: {"name": name, "rows": text.count("\n") - 1, "sha256": sha(text)} for part, (name, text) in parts.items()
    }
    use_catalogue(monkeypatch, toys, {"rock": facts})
    with pytest.raises(DataError, match=r"was never in the UCI archive; put rock_a\.csv and rock_b\.csv into a folder"):
        catalogue.load("rock", data_dir=tmp_path)
    (tmp_path / "rock_a.csv").write_text(parts["train"][1])
    with pytest.raises(DataError, match=r"put rock_a\.csv and rock_b\.csv into a folder"):
        catalogue.load("rock", data_dir=tmp_path)
    (tmp_path / "rock_b.csv").write_text(parts["test"][1])
    assert [part.tolist() for part in catalogue.load("rock", data_dir=tmp_path).split] == [[0, 1], [2]]


# ---- whatever is done to the real entries ----------------------------------------------------------------------------

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**20),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["all", "class", "fetched", "generated", "regression", "../x.csv", "iris.csv", "0" * 64, "-"]),
    st.lists(st.text(max_size=4) | st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=6), st.integers(0, 200) | st.text(max_size=4), max_size=3),
)


def spots(thing: object, above: tuple = ()) -> list[tuple]:
    """Every place in nested mappings and lists."""
    inner = thing.items() if isinstance(thing, dict) else enumerate(thing) if isinstance(thing, list) else ()
    return [spot for key, value in inner for spot in ((*above, key), *spots(value, (*above, key)))]


@st.composite
def mutated(draw) -> dict:
    """Two real entries, the second one with one to three keys deleted, renamed or given another value."""
    good, name = draw(st.lists(st.sampled_from(SMALL), min_size=2, max_size=2, unique=True))
    entry = copy.deepcopy(REAL[name])
    for _ in range(draw(st.integers(1, 3))):
        if not spots(entry):
            break
        *above, key = draw(st.sampled_from(spots(entry)))
        place = entry
        for step in above:
            place = place[step]
        match draw(st.sampled_from(["delete", "replace", "rename"])):
            case "delete":
                del place[key]
            case "rename" if isinstance(place, dict):
                place[draw(st.text(max_size=8))] = place.pop(key)
            case _:
                place[key] = draw(VALUES)
    return {good: REAL[good], name: entry}


SMALL = ["iris", "bupa", "seeds", "dermatology", "spect", "tae", "auto_mpg", "two_bands", "house_votes", "zoo"]


@given(mutated())
@settings(max_examples=40, deadline=None)
def test_whatever_happens_to_an_entry_it_is_used_or_told(tmp_path_factory, facts):
    place = tmp_path_factory.getbasetemp() / "mutated"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        use_catalogue(patch, place, facts)
        patch.setattr(files, "folder", lambda name: PATH.parent)  # the files themselves are the real ones
        good, name = facts
        try:
            entry = catalogue.entries()[name]
        except DataError as error:
            for line in str(error).splitlines():
                assert re.match(rf"{re.escape(str(place / 'catalogue.yaml'))}:\d+: ", line)
            assert catalogue.verify(name).status == "bad"
            return
        assert catalogue.entry(good).name == good
        assert_sound(entry)
        assert catalogue.verify(name).status in ("ok", "bad", "absent")
        try:
            assert catalogue.load(DatasetSpec(name, missing="impute", encoding="ordinal"), offline=True).n == entry.n
        except DataError as error:
            assert name in str(error)


def assert_sound(entry: Entry) -> None:
    assert entry.p >= 1 and entry.n >= 1 and entry.title and entry.source and entry.licence
    assert entry.generated or entry.n == sum(file.rows for file in entry.files.values())
    assert entry.task == "regression" or sum(entry.classes.values()) == entry.n
    assert all(re.fullmatch(r"[\w.-]+\.csv(\.gz)?", file.name) for file in entry.files.values())
    assert len(entry.categorical_columns) == entry.categorical


def test_both_parsers_read_the_real_catalogue_alike(monkeypatch):
    quick = catalogue_file.load(PATH)
    assert list(quick) == list(REAL) == catalogue_file.names(PATH)
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    slow = catalogue_file.load(PATH)
    assert slow == quick
    assert [entry.places for entry in slow.values()] == [entry.places for entry in quick.values()]


# ---- commands, with a faulty entry among the real ones ---------------------------------------------------------------

CONFIG = "version: 1\ndatasets: [{}]\nalgorithm: raf\ncv: {{folds: 2, repeats: 1}}\n"


def test_commands_for_other_sets_work_and_those_that_need_the_entry_name_its_faults(
    monkeypatch, tmp_path, no_user_folders, capsys
):
    agate = {key: value for key, value in toy_facts()["marbles"].items() if key not in ("source", "licence")}
    use_catalogue(monkeypatch, tmp_path / "datasets", {})
    (tmp_path / "datasets" / "catalogue.yaml").write_text(TEXT + "\n" + yaml.safe_dump({"agate": agate}))
    monkeypatch.setattr(files, "folder", lambda name: PATH.parent)
    monkeypatch.chdir(tmp_path)
    where = f"{os.path.join('datasets', 'catalogue.yaml')}:{TEXT.count(chr(10)) + 2}: data set 'agate' lacks the key"
    faults = f"{where} 'source'.\n{where} 'licence'.\n"

    def ended(*arguments: str) -> tuple[int, str, str]:
        return (cli.call(arguments), *capsys.readouterr())

    (tmp_path / "other.yaml").write_text(CONFIG.format("iris"))
    (tmp_path / "mine.yaml").write_text(CONFIG.format("iris, agate"))
    for good in (("run", "other.yaml"), ("tree", "iris", "--algorithm", "hhcart_d"), ("validate", "other.yaml")):
        assert ended(*good)[0] == 0
    for needed in ("data list", "data show agate", "tree agate", "data fetch agate", "run mine.yaml"):
        assert ended(*needed.split())[::2] == (4, faults)
    code, out, err = ended("data", "verify", "iris", "agate")
    assert code == 4 and out == f"ok      iris\nbad     {faults}" and err.startswith("error: 1 of 2 data sets")
    code, out, err = ended("doctor")
    assert code == 4 and faults.splitlines()[0] in out
    code, _, err = ended("validate", "mine.yaml")
    assert (code, err) == (4, faults)
