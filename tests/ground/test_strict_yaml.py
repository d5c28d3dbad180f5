"""The YAML reader: what words mean, where values stand, and what is refused."""

import json
import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from oblique_cli.errors import ConfigError
from oblique_cli.ground.strict_yaml import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_SHOWN,
    MAX_STORED,
    Place,
    Problems,
    YamlSource,
    parse,
    plain_scalar,
    read,
    wrap,
)

# Texts, the place of the fault in each, and the beginning of the sentence
REFUSED = yaml.safe_load((Path(__file__).parent / "refused.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def refuse(tmp_path, monkeypatch):
    """Return a function: the message that the bytes or text of a file `a.yaml` are refused with."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.yaml"

    def message(content):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        problems = Problems()
        with pytest.raises(ConfigError) as caught:
            parse(read(path, "a.yaml", problems), problems)
            problems.check()
        return str(caught.value)

    return message


def plain(text):
    return parse(YamlSource("text", text), Problems()).plain()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 1e-3),
        ("1E5", 1e5),
        (".5", 0.5),
        ("5.", 5.0),
        ("-0.5e+2", -50.0),
        ("12", 12),
        ("+12", 12),
        ("012", 12),
        ("0x1F", 31),
        ("0o17", 15),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", 2.0**63),
        ("9" * 5000, math.inf),
        ("0" * 5000, 0.0),
        ("0x" + "F" * 5000, math.inf),
        ("1e400", math.inf),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        *[(word, word) for word in ("no", "yes", "on", "off", "y", "N", "12:30", "1_000", "0b1", "2001-01-01")],
        *[(word, word) for word in ("1e", "e5", ".", "-", "+", "=", "none", "True1", "-0x1F", "infinity", "nan")],
    ],
)
def test_words_mean_what_the_core_schema_of_yaml_1_2_says(text, value):
    assert plain_scalar(text) == value
    assert type(plain_scalar(text)) is type(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_reads_back_as_printed(number):
    assert plain_scalar(repr(number)) == number


@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co"))))
def test_every_quoted_text_reads_back(text):
    assert plain(json.dumps(text, ensure_ascii=False)) == text


def test_quoted_words_json_and_empty_texts_are_read():
    assert plain("""["1e-3", 'true', "", 'null']""") == ["1e-3", "true", "", "null"]
    data = {"a": [1, 2.5, None, True, {"b": "c"}], "d": {}}
    assert plain(json.dumps(data, indent=1)) == data
    assert plain('{"<<": 1}') == {"<<": 1}
    assert plain("") is None
    assert plain("# only a comment\n") is None
    assert math.isnan(plain_scalar(".NaN"))


def test_values_know_their_place_and_that_of_their_key():
    tree = parse(YamlSource("t", "first: 1\nouter:\n  inner: [10, twenty]\n"), Problems())
    inner = tree.data["outer"].data["inner"]
    assert (inner.key.line, inner.key.column, inner.key.width) == (3, 3, 5)
    second = inner.data[1].place
    assert (second.line, second.column, second.width) == (3, 15, 6)


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\u2028"])
def test_lines_are_counted_with_every_kind_of_line_break(line_break, refuse):
    message = refuse(line_break.join(["a: 1", "b: 2", "b: 3"]))
    assert message.startswith("a.yaml:3:1 duplicate key 'b' (first at line 2).\n    3 | b: 3\n        ^\n1 error.")


def test_a_byte_order_mark_is_skipped_and_a_missing_file_and_a_folder_are_no_files(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1")
    assert parse(read(path, "a.yaml", Problems()), Problems()).plain() == {"a": 1}
    for path in (tmp_path, tmp_path / "none.yaml"):
        with pytest.raises(ConfigError, match=r"^here: no such file.\n1 error.$"):
            read(path, "here", Problems())


@pytest.mark.parametrize(
    ("content", "place", "says"),
    [*REFUSED, (b"a: 1\nb: caf\xe9", "2:7", "the file is not UTF-8 text (byte 0xe9): save it as UTF-8.")],
)
def test_what_is_refused_is_named_with_its_place(content, place, says, refuse):
    message = refuse(content)
    assert message.startswith(f"a.yaml:{place} {says}"), message
    assert message.endswith("\n1 error.")


@pytest.mark.parametrize("text", ["a: 1\na: 2", "a: &x 1", "[", 'a: "\\UFFFFFFFF"', "a: b: c", "a: \ud800", "\t"])
def test_the_quick_way_refuses_with_the_same_words(text):
    messages = []
    for quick in (False, True):
        problems = Problems()
        with pytest.raises(ConfigError) as caught:
            parse(YamlSource("text", text), problems, quick=quick)
            problems.check()
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_nesting_is_allowed_to_a_limit_and_bombs_are_refused(refuse):
    assert plain("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    deeper = MAX_DEPTH + 1
    assert f"nested deeper than {MAX_DEPTH} levels" in refuse("[" * deeper + "]" * deeper)
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 10)]
    assert "anchor '&a0' is not allowed" in refuse("\n".join(lines))


@pytest.mark.parametrize("bomb", ["[" * 200_000, "? " * 100_000])
def test_hopeless_nesting_is_refused(bomb, refuse):
    assert f"nested deeper than {MAX_DEPTH} levels" in refuse(bomb)


@pytest.mark.long
def test_the_largest_file_is_read_and_a_larger_one_is_not(refuse, tmp_path):
    text = "a: [" + "0.123, " * ((MAX_BYTES - 10) // 7) + "]"
    assert len(plain(text)["a"]) > 30_000
    assert refuse("#" * (MAX_BYTES + 1)).startswith(
        "a.yaml: the file is larger than 256 kB, the most that is read; set OBLIQUE_MAX_CONFIG_BYTES"
    )


def test_reading_goes_on_after_a_key_that_cannot_be_used(refuse):
    message = refuse("a: 1\na: 2\n3: 4\nb: &x 5")
    assert [line for line in message.splitlines() if line.startswith("a.yaml")] == [
        "a.yaml:2:1 duplicate key 'a' (first at line 1).",
        "a.yaml:3:1 a key must be a text. Got 3; put it in quotes if it is meant.",
        "a.yaml:4:4 anchor '&x' is not allowed; repeat the value.",
    ]
    assert message.endswith("3 errors.")


def test_problems_are_shown_by_line_with_a_marker_under_the_text(tmp_path):
    source = YamlSource("x.yaml", "first: 1\nsecond:\tlong\n", tmp_path / "x.yaml")
    problems = Problems()
    problems.add(Place(source, 2, 9, 4), "later.")
    problems.add(Place(source, 1, 1, 99), "sooner.")
    assert str(problems.error()).splitlines() == [
        "x.yaml:1:1 sooner.",
        "    1 | first: 1",
        "        ^^^^^^^^",
        "x.yaml:2:9 later.",
        "    2 | second: long",
        "                ^^^^",
        "2 errors.",
    ]


def test_of_a_very_long_line_only_the_part_in_question_is_shown_without_control_characters(tmp_path):
    line = "x" * 5000 + "HERE" + "y" * 5000
    shown = Place(YamlSource("x.yaml", line, tmp_path), 1, 5001, 4).show("this.").splitlines()
    assert max(map(len, shown)) < 140
    start = shown[2].index("^")
    assert shown[1][start : start + 4] == "HERE"
    assert shown[2].strip() == "^^^^"
    text = Place(YamlSource("x\x1b[31m.yaml", "a: \x1b[2J\u202eevil", tmp_path), 1, 1).show("bad.")
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_problems_are_counted_and_only_the_first_ones_are_shown(tmp_path):
    problems = Problems()
    source = YamlSource("x.yaml", "", tmp_path)
    for line in range(1, 201):
        problems.add(Place(source, line), "again.")
    message = str(problems.error())
    assert message.count("again.") == MAX_SHOWN
    assert message.endswith(f"200 errors (the first {MAX_SHOWN} are shown).")
    problems = Problems()
    source = YamlSource("a.yaml", "")
    for line in range(2 * MAX_STORED):
        problems.add(Place(source, line=line), "no number.")
    assert len(problems.by_place()) == MAX_STORED
    assert str(problems.error()).endswith(f"{2 * MAX_STORED} errors (the first {MAX_SHOWN} are shown).")


def test_plain_data_can_be_wrapped_and_places_have_labels(tmp_path):
    place = Place(YamlSource("data", ""))
    data = {"a": [1, {"b": None}], "c": "d"}
    assert wrap(data, place).plain() == data
    assert wrap((1, 2), place).plain() == [1, 2]
    assert place.show("wrong.") == "data: wrong." and place.label == "data"
    assert Place(YamlSource("x.yaml", "a", tmp_path), 7, 2).label == "x.yaml:7"
    assert Place(YamlSource("x.yaml", "", tmp_path), 0).label == "x.yaml"
