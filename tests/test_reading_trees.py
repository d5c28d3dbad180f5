"""The page on reading trees: its examples run, and its pictures are there and small."""

from __future__ import annotations

import re
import shlex

from cli_support import call

from oblique_cli.ground.resources import PACKAGE

__all__ = ["call"]

PAGE = (PACKAGE.parent / "docs" / "reading_trees.md").read_text(encoding="utf-8")


def block(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1]


def test_the_commands_of_the_page_run(call):
    for line in block("sh").splitlines():
        ended = call(*shlex.split(line)[1:])
        assert (ended.code, ended.err) == (0, ""), line


def test_the_python_of_the_page_runs():
    names = {}
    exec(compile(block("python"), "reading_trees.md", "exec"), names)
    assert names["picture"].startswith("<?xml") and names["figure"].axes


def test_lines_of_output_on_the_page_are_what_is_printed(call):
    command = ("tree", "bupa", "--algorithm", "hhgdt", "--set", "epsilon=0.3")
    shown = call(*command, "--sparse", "--tolerance", "0.02").out + call(*command).out
    for text in re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL):
        assert text.strip() in shown


def test_pictures_are_small():
    folder = PACKAGE.parent / "docs" / "images"
    pictures = {path.name: path.stat().st_size for path in folder.iterdir()}
    assert set(re.findall(r"\(images/([\w.]+)\)", PAGE)) == {name for name in pictures if name.startswith("tree_")}
    assert max(pictures.values()) < 200_000
