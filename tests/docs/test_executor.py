"""The executor of the pages notices what is wrong with a page."""

from pathlib import Path

import pytest
from document_support import Block, Reader, blocks_of, matches

PAGE = (Path(__file__).parents[1] / "files" / "page.md").read_text(encoding="utf-8")


@pytest.fixture
def reader(call):
    return Reader(call.folder, call)


def test_blocks_have_their_language_their_mark_and_their_place():
    result = blocks_of("page.md", PAGE)
    assert [(block.line, block.language, block.kind, block.value) for block in result] == [
        (3, "sh", "", ""),
        (9, "text", "output", ""),
        (18, "yaml", "file", "my/own.yaml"),
        (25, "sh", "not run", "it takes an hour"),
    ]
    assert result[0].commands == ["oblique list schemes", "oblique list criteria"]
    assert result[2].text.startswith("version: 1\ndataset")


def test_a_page_that_is_right_passes(reader):
    for block in blocks_of("page.md", PAGE):
        reader.type(block)


@pytest.mark.parametrize(
    ("language", "text", "output"),
    [
        ("sh", "oblique list schemas", "ends with 2"),
        ("sh", "oblique list schemes | false", "ends with 1"),
        ("sh", "make nothing", "no target"),
        ("python", 'assert 1 == 2, "one is not two"', "one is not two"),
        ("c", "int main;", "in c"),
        ("", "oblique list schemes", "in no language"),
    ],
)
def test_what_fails_is_noticed(reader, language, text, output):
    with pytest.raises(AssertionError, match=output):
        reader.type(Block("page.md", 1, language, text))


@pytest.mark.parametrize(
    ("kind", "language", "text", "output"),
    [
        ("not run", "sh", "oblique run bupa_hhgdt --frehs", "--frehs"),
        ("not run", "sh", "oblique rum bupa_hhgdt", "no command"),
        ("not run", "sh", "oblique data shaw iris", "shaw"),
        ("file", "yaml", "version: 1\ndatasett: iris\n", "datasett"),
        ("output", "text", "something else", "something else"),
    ],
)
def test_what_a_mark_does_not_excuse(reader, kind, language, text, output):
    with pytest.raises(AssertionError, match=output):
        reader.type(Block("page.md", 1, language, text, kind, "page.yaml"))


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a  b", "a b", True),
        ("a", "b", False),
        ("a\n...", "a\nb\nc", True),
        ("...\nc", "a\nb\nc", True),
        ("a\n...\nc", "a\nc", True),
        ("a\n...\na", "a", False),
        ("a\n...\nb\n...\nd", "a\nx\nb\ny\nd", True),
        ("a\n...\nb\n...\nd", "a\nx\ny\nd", False),
        ("took 1.5 s", "took 20.25 s", True),
        ("took 1.5 s", "took 1.5 h", False),
        ("accuracy 71.3", "accuracy 71.4", False),
    ],
)
def test_what_is_shown_is_what_is_printed(shown, printed, same):
    assert matches(shown, printed) is same
