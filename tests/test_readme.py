"""What the README says of agreement is what the tables in results/ hold."""

import pytest

from oblique_cli.reproduction.framework import document
from oblique_cli.reproduction.framework.studies import STUDIES
from oblique_cli.resources import PACKAGE

ROOT = PACKAGE.parent


def test_every_algorithm_and_every_command_is_in_the_readme():
    from oblique_cli.cli import COMMANDS
    from oblique_cli.estimators.algorithms import ALGORITHMS

    readme = (ROOT / "README.md").read_text()
    assert [name for name in ALGORITHMS if f"`{name}`" not in readme] == []
    assert [name for name in COMMANDS if f"`oblique {name}" not in readme] == []


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
