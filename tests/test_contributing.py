"""CONTRIBUTING's table of what to touch, the pinned tools, the CI matrix and the hooks agree with what is there."""

import ast
import re
import tomllib
from collections.abc import Iterable

import pytest
import yaml

from oblique_cli import __version__
from oblique_cli.cli import COMMANDS
from oblique_cli.ground.resources import PACKAGE

ROOT = PACKAGE.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TARGETS = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
# What stands for a name of one's own in a path of the table.
PLACEHOLDER = re.compile(r"NAME|FAMILY")


def rows() -> dict[str, tuple[list[str], str]]:
    """What to add -> the paths to touch, and the test that does so."""
    table = TEXT.partition("| to add | touch these files | executed by |\n")[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[1:]]
    return {what: (re.findall(r"`([^`]+)`", files), test.strip("`")) for what, files, test in cells}


ROWS = rows()


@pytest.mark.parametrize("what", ROWS)
def test_files_to_touch_exist_or_have_others_of_their_kind(what):
    files, _ = ROWS[what]
    assert files
    for file in files:
        if PLACEHOLDER.search(file):
            assert sorted(ROOT.glob(PLACEHOLDER.sub("*", file))), f"no file is of the kind {file}"
        else:
            assert (ROOT / file).is_file(), file


@pytest.mark.parametrize("what", ROWS)
def test_a_row_is_executed_by_its_test(what):
    _, test = ROWS[what]
    assert (ROOT / test).is_file(), f"{what}: there is no {test}"
    text = (ROOT / test).read_text(encoding="utf-8")
    functions = [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    assert any(name.startswith("test_") for name in functions), f"{test} holds no test"


def test_every_test_of_an_extension_has_its_row():
    tests = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / "extensions").glob("test_*.py")}
    assert tests - {test for _, test in ROWS.values()} == set()


def test_commands_of_the_page_are_targets():
    named = set(re.findall(r"\bmake ([a-z]+)", TEXT)) - {"add"}
    assert named and named <= set(TARGETS)


def test_the_version_is_said_once_more_in_the_changelog():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert released[0] == "Unreleased" and released[1].split()[0] == __version__ == PROJECT["version"]


def test_the_compiler_style_is_that_of_the_pinned_tool():
    pinned = next(line for line in PROJECT["optional-dependencies"]["lint"] if line.startswith("clang-format"))
    major = pinned.removeprefix("clang-format==").partition(".")[0]
    style = (ROOT / ".clang-format").read_text(encoding="utf-8")
    assert re.search(rf"^#.*clang-format\D*{major}\b", style, re.MULTILINE)


def test_the_matrix_has_every_python_and_both_compilers():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    prefix = "Programming Language :: Python :: 3."
    supported = [f"3.{text.removeprefix(prefix)}" for text in PROJECT["classifiers"] if text.startswith(prefix)]
    assert PROJECT["requires-python"] == f">={supported[0]}"
    for job in jobs.values():
        assert job["strategy"]["matrix"]["python"] == supported
        made = [step["run"] for step in job["steps"] if "run" in step]
        assert made and all(line.removeprefix("make ") in TARGETS for line in made)
    assert jobs["test"]["strategy"]["matrix"]["compiler"] == ["gcc", "clang"]


def test_hooks_call_what_lint_installs():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert [repository["repo"] for repository in hooks] == ["local"]
    tools = {re.split(r"\W", hook["entry"].removeprefix(".venv/bin/"))[0] for hook in hooks[0]["hooks"]}
    pinned = {line.partition("==")[0] for line in PROJECT["optional-dependencies"]["lint"]}
    assert tools == {name.partition("-")[0] for name in pinned}


def test_dependencies_have_their_line_in_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Dependencies")[2].partition("\n## ")[0]
    extras = PROJECT["optional-dependencies"].values()
    needed = {
        re.split(r"[<>=\[ ]", line)[0] for line in [*PROJECT["dependencies"], *(x for extra in extras for x in extra)]
    }
    first_cells = " ".join(line.split("|")[1] for line in readme.splitlines() if line.startswith("|"))
    assert {name for name in needed - {"oblique-trees"} if name not in first_cells} == set()


def not_called(text: str, commands: Iterable[str]) -> list[str]:
    """The commands that a text of `.ci/run` does not run."""
    return [name for name in commands if not re.search(rf"^ *(oblique|models) {name}\b", text, re.MULTILINE)]


def test_continuous_integration_calls_every_command():
    assert not_called((ROOT / ".ci" / "run").read_text(encoding="utf-8"), COMMANDS) == []
