"""What the README and docs/ say is so: every line that can be run is run here, every link leads somewhere."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import xml.etree.ElementTree

import pytest
import yaml
from cli_support import call

from oblique_cli import data
from oblique_cli.cli import COMMANDS
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.reproduction.framework import document
from oblique_cli.reproduction.framework.studies import STUDIES
from oblique_cli.resources import PACKAGE

__all__ = ["call"]

ROOT = PACKAGE.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
)
BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(language: str) -> list[str]:
    """The code blocks of the README in a language."""
    return [match["text"] for match in BLOCK.finditer(README) if match["language"] == language]


def shell_lines() -> list[str]:
    """The commands of the README, without their comments."""
    return [shlex.join(shlex.split(line, comments=True)) for text in blocks("sh") for line in text.splitlines()]


MAKE_LINES = [line for line in shell_lines() if line.startswith("make ")]
OBLIQUE_LINES = [line for line in shell_lines() if line.startswith("oblique ")]
OTHER_LINES = [line for line in shell_lines() if line not in MAKE_LINES + OBLIQUE_LINES]


@pytest.fixture
def folder(call):
    """An empty folder with what the README's examples name: the checkout's example, and a my.csv and a my.yaml."""
    shutil.copytree(ROOT / "docs" / "examples", call.folder / "docs" / "examples")
    iris = data.load("iris")
    rows = [f"{','.join(map(str, x))},{iris.classes[code]}" for x, code in zip(iris.X.tolist(), iris.y, strict=True)]
    (call.folder / "my.csv").write_text("\n".join(["a,b,c,d,class", *rows, ""]))
    (call.folder / "my.yaml").write_text(blocks("yaml")[0])
    return call.folder


def test_the_readme_is_short():
    assert len(README.splitlines()) < 150


def test_make_lines_are_targets():
    makefile = (ROOT / "Makefile").read_text()
    assert MAKE_LINES[:2] == ["make run", "make test"]
    assert shell_lines()[:2] == MAKE_LINES[:2]  # they come first
    assert [line for line in MAKE_LINES if not re.search(rf"^{line.split()[1]}:", makefile, re.MULTILINE)] == []


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make on this machine")
def test_lines_without_make_are_what_make_would_do():
    command = ["make", "--dry-run", "--silent", "VENV=.venv-of-nobody", "PYTHON=python3", "run", "test"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    wanted = done.stdout.replace("--quiet --disable-pip-version-check ", "").replace(".venv-of-nobody", ".venv")
    steps = [shlex.join(shlex.split(line)) for line in wanted.splitlines() if not line.startswith("touch")]
    assert steps == OTHER_LINES


def test_oblique_lines_run_one_after_the_other(call, folder):
    ended = [(line, call(*shlex.split(line)[1:])) for line in OBLIQUE_LINES]
    assert [(line, run.err) for line, run in ended if run.code] == []
    rules, _, checked, table, tests = (run.out for _, run in ended)
    assert "petal_length" in rules and "my.yaml" in checked and "HHCART(A)" in table and "significance" in tests
    drawn = (folder / "tree.svg").read_bytes(), (ROOT / "docs" / "examples" / "iris_petals.svg").read_bytes()
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


def test_the_page_of_algorithms_runs_and_names_the_class_of_each():
    page = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
    exec(compile(re.search(r"```python\n(.*?)```", page, re.S).group(1), "algorithms.md", "exec"), {})
    for line in re.findall(r"^\| `.*$", page, re.M):
        names, classes = (set(re.findall(r"`(\w+)`", line.split(" | ")[i])) for i in (0, 2))
        assert {ALGORITHMS[name].estimator.__name__ for name in names} == classes


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = BLOCK.sub("", (ROOT / page).read_text(encoding="utf-8"))
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    assert [link for link in links if link and not ((ROOT / page).parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_files_that_are_named_are_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    roots = "oblique_cli|tests|docs|configs|datasets|benchmarks|tools"
    named = re.findall(rf"`((?:{roots})/[\w./-]+?\.\w+)`", text)
    assert [name for name in named if not (ROOT / name).exists() and "NAME" not in name] == []


def test_the_index_has_every_page():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if f"]({page})" not in index and page != "README.md"] == []


def test_every_algorithm_and_every_command_has_its_line():
    algorithms = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
    runner = (ROOT / "docs" / "runner.md").read_text(encoding="utf-8")
    assert [name for name in ALGORITHMS if f"`{name}`" not in algorithms] == []
    assert [name for name in COMMANDS if f"`oblique {name}" not in runner] == []


def test_names_of_algorithms_in_the_readme_are_algorithms():
    table = README.partition("## Algorithms")[2].partition("##")[0]
    first_cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("|")]
    names = re.findall(r"`(\w+)`", " ".join(first_cells))
    assert len(names) > 30 and [name for name in names if name not in ALGORITHMS] == []


def test_files_of_the_table_of_algorithms_are_there():
    text = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
    files = [match[1] for match in re.finditer(r"\| `([\w/.]+)` \|$", text, re.MULTILINE)]
    assert len(files) > 25 and [file for file in files if not (PACKAGE / file).exists()] == []


def test_every_study_is_in_the_list_of_reproductions():
    text = (ROOT / "docs" / "reproduction.md").read_text()
    assert [name for name in STUDIES if f"| `make reproduce-{name}` |" not in text] == ["sensitivity"]
    assert "| `oblique reproduce sensitivity` |" in text


@pytest.mark.parametrize("name", document.DOCUMENTS)
def test_tables_of_reproductions_are_those_of_the_results(name):
    text = (ROOT / name).read_text()
    assert document.filled(text, document.blocks(ROOT / "results")) == text, "run: oblique reproduce report"
    assert document.BLOCK.search(text)


def test_every_block_is_in_a_document():
    texts = "".join((ROOT / name).read_text() for name in document.DOCUMENTS)
    made = document.blocks(ROOT / "results")
    assert [name for name in made if f"<!-- begin {name} -->" not in texts] == []


def test_the_page_of_the_runner_has_a_configuration_that_is_valid(call, folder):
    text = (ROOT / "docs" / "runner.md").read_text(encoding="utf-8")
    (folder / "page.yaml").write_text(next(m["text"] for m in BLOCK.finditer(text) if m["language"] == "yaml"))
    ended = call("validate", "page.yaml")
    assert (ended.code, ended.err) == (0, "")
