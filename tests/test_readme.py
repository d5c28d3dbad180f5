"""What the README says is so: every line that can be run is run here. tests/docs does the same for all other pages."""

import re
import shlex
import shutil
import subprocess
import xml.etree.ElementTree

import pytest
import yaml
from document_support import ROOT, blocks_of, furnish

from oblique_cli.estimators.algorithms import ALGORITHMS

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The code blocks of the README in a language."""
    return [block.text for block in blocks_of("README.md") if block.language == language]


def shell_lines() -> list[str]:
    """The commands of the README, without their comments."""
    return [shlex.join(shlex.split(line, comments=True)) for text in blocks("sh") for line in text.splitlines()]


MAKE_LINES = [line for line in shell_lines() if line.startswith("make ")]
OBLIQUE_LINES = [line for line in shell_lines() if line.startswith("oblique ")]
INSTALL = "pip install ."
OTHER_LINES = [line for line in shell_lines() if line not in [*MAKE_LINES, *OBLIQUE_LINES, INSTALL]]
# The questions that most come with, in this order, each with one name.
QUESTIONS = {
    "small and readable": "tao",
    "most accurate": "logistic_tree",
    "regression": "linear_tree",
    "huge table": "hhcart_d",
    "reproduce a paper": "hhgdt",
}


@pytest.fixture
def folder(call):
    """An empty folder with what the README's examples name: the checkout's example, and a my.csv and a my.yaml."""
    furnish(call.folder)
    (call.folder / "my.yaml").write_text(blocks("yaml")[0])
    return call.folder


def test_the_readme_is_short():
    assert len(README.splitlines()) < 120


def test_the_readme_opens_with_two_sentences_and_a_picture():
    opening, picture = re.search(r"\A# oblique\n\n(.*?)\n\n!\[.+?\]\((.+?)\)\n\n", README, re.DOTALL).groups()
    assert len(re.findall(r"\.(?:\s|$)", opening)) == 2 and (ROOT / picture).is_file()


def test_make_lines_are_targets():
    makefile = (ROOT / "Makefile").read_text()
    assert MAKE_LINES[:2] == ["make run", "make test"]
    # From nothing to a tree of an own table; then what builds; all near the top.
    assert shell_lines()[0] == INSTALL and shell_lines()[1].startswith("oblique tree ")
    assert shell_lines()[2:4] == MAKE_LINES[:2]
    assert README[: README.index("make test ")].count("\n") < 25
    assert [line for line in MAKE_LINES if not re.search(rf"^{line.split()[1]}:", makefile, re.MULTILINE)] == []


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make on this machine")
def test_lines_without_make_are_what_make_would_do():
    command = ["make", "--dry-run", "--silent", "VENV=.venv-of-nobody", "PYTHON=python3", "run", "test"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    wanted = done.stdout.replace("--quiet --disable-pip-version-check ", "").replace(".venv-of-nobody", ".venv")
    steps = [shlex.join(shlex.split(line)) for line in wanted.splitlines() if not line.startswith("touch")]
    # The stub is for editors and type checkers alone, and compiled modules only save time.
    assert [step for step in steps if not step.endswith(("tools/stubs.py", "compileall -q oblique_cli"))] == OTHER_LINES


def test_oblique_lines_run_one_after_the_other(call, folder):
    ended = {line.split()[1]: call(*shlex.split(line)[1:]) for line in OBLIQUE_LINES}
    assert [(line, run.err) for line, run in ended.items() if run.code] == []
    assert list(ended) == ["tree", "fit", "predict", "explain", "export", "validate", "run", "report"]
    assert "<title>HHCART(A) on iris_petals</title>" in (folder / "tree.html").read_text()
    assert "\n# On new rows: 9" in ended["fit"].out and ended["predict"].out.count("\n") == 151
    assert "The nearest change to class " in ended["explain"].out
    assert "oblique_predict(const double *row)" in (folder / "tree.c").read_text()
    assert "my.yaml" in ended["validate"].out and "HHCART(A)" in ended["run"].out
    assert (folder / "my.html").stat().st_size > 10_000


def test_the_drawing_that_pages_show_is_what_the_command_draws(call, folder):
    shown = ROOT / "docs" / "examples" / "iris_petals.svg"
    assert call("tree", "docs/examples/iris_petals.csv", "--target", "species", "-o", "tree.svg").code == 0
    drawn = (folder / "tree.svg").read_bytes(), shown.read_bytes()
    now, committed = (sorted(re.findall(rb">([^<>]+)</text>", svg)) for svg in drawn)
    assert now == committed and any(b"petal_length" in text for text in now)
    assert xml.etree.ElementTree.fromstring(drawn[0]).tag == "{http://www.w3.org/2000/svg}svg"


def test_the_experiment_is_ten_lines_and_the_tree_five():
    assert len(blocks("yaml")[0].splitlines()) <= 10
    assert len([line for line in blocks("python")[0].splitlines() if line]) == 5
    assert yaml.safe_load(blocks("yaml")[0])["version"] == 1


def test_the_python_example_runs(folder, capsys):
    for text in blocks("python"):
        exec(compile(text, "README.md", "exec"), {})
    out = capsys.readouterr().out
    assert out.startswith("if ") and out.count("else:") == 2


def test_each_question_has_one_algorithm_and_its_page():
    table = README.partition("## Which algorithm?")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| \[`(\w+)`\]\((docs/algorithms/\w+\.md)\)", table, re.MULTILINE)
    assert {question: name for question, name, _ in rows} == QUESTIONS
    assert list(QUESTIONS) == [question for question, _, _ in rows]
    for _, name, page in rows:
        assert name in ALGORITHMS and f'<a id="{name}"></a>' in (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`\]\(", (ROOT / "docs/choosing.md").read_text(encoding="utf-8")))
    assert set(QUESTIONS.values()) < named and named <= set(ALGORITHMS)
