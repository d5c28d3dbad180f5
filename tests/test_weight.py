"""The counts of `tools.weight` on a repository of two files."""

import subprocess

import pytest

from tools import weight

CODE = """\
def f(found, a):
    own, b = a, found
    for one in b:
        self.kept_ = one
    asked(own)


def g(a, b, c, d, e, f, g, h, i, *, j, k):
    founder = 1
"""


@pytest.fixture
def repository(tmp_path, monkeypatch):
    (tmp_path / "code").mkdir()
    (tmp_path / "code/a.py").write_text(CODE)
    (tmp_path / "code/page.md").write_text("# Two words\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "code"], cwd=tmp_path, check=True)
    (tmp_path / "code/untracked.py").write_text("one = 1\n")
    monkeypatch.setattr(weight, "ROOT", tmp_path)


@pytest.mark.usefixtures("repository")
def test_lines_words_names_and_large_functions_are_counted():
    assert (weight.lines("code"), weight.words("code")) == (9, 3)
    names = [place.removeprefix("code/a.py:") for place in weight.vague_names("code")]
    assert sorted(names) == ["1: found", "2: own", "3: one", "4: kept_"]
    assert weight.large_functions("code") == ["code/a.py:8: g"]
