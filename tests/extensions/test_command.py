"""A command is one module and a line in the table of commands; its help ends with an example, which `.ci/run` runs."""

import re
import shutil

import pytest
from checkout_support import ROOT
from test_contributing import not_called

pytestmark = pytest.mark.long

COMMAND = '''
import click


@click.command()
@click.argument("name")
def rows(name: str) -> None:
    """Count the rows of the data set NAME.

    Example: oblique rows iris
    """
    from oblique_cli import data

    click.echo(data.load(name).n)
'''


def add(checkout):
    checkout.write("oblique_cli/cli/rows.py", COMMAND)
    checkout.insert(
        "oblique_cli/cli/__init__.py",
        '    "What there is": {',
        '        "rows": ("rows.rows", "Count the rows of a data set."),',
    )


def test_a_command_is_a_module_and_a_line(checkout):
    add(checkout)
    assert "rows " in checkout.oblique("--help").out
    ended = checkout.oblique("rows", "iris")
    assert (ended.code, ended.out, ended.err) == (0, "150\n", "")
    ended = checkout.oblique("rows", "irris")
    assert ended.code == 2 and ended.err.startswith("error: ") and "Did you mean 'iris'" in ended.err


def test_the_example_of_its_help_is_a_line_of_its_docstring_and_runs(checkout):
    add(checkout)
    (example,) = re.findall(r"^ *Example: oblique (.*)$", checkout.oblique("rows", "--help").out, re.MULTILINE)
    assert checkout.oblique(*example.split()).out == "150\n"


def test_continuous_integration_runs_it_by_a_line_of_its_own(checkout):
    (checkout.folder / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", checkout.folder / ".ci")
    run = checkout.folder / ".ci" / "run"
    assert not_called(run.read_text(), ["rows"]) == ["rows"]
    checkout.insert(".ci/run", "oblique doctor", "oblique rows iris")
    assert not_called(run.read_text(), ["rows"]) == []
    add(checkout)
    (line,) = re.findall(r"^oblique (rows .*)$", run.read_text(), re.MULTILINE)
    assert checkout.oblique(*line.split()).out == "150\n"
