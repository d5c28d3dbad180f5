"""What the README says of agreement is what the tables in results/ hold."""

import csv
import math

import pytest

from oblique_cli.experiments.reproduction import document
from oblique_cli.resources import PACKAGE

ROOT = PACKAGE.parent


def agreement(name, metric):
    """How many cells with a published number differ from it by at most 2 sqrt(sd^2 + sd^2), and how many there are."""
    agrees = []
    for row in csv.DictReader((ROOT / "results" / f"{name}.csv").read_text().splitlines()):
        if row[f"{metric}_published_mean"]:
            spread = math.hypot(float(row[f"{metric}_sd"] or 0), float(row[f"{metric}_published_sd"] or 0))
            agrees.append(abs(float(row[f"{metric}_difference"])) <= 2 * spread + 1e-9)
    return sum(agrees), len(agrees)


def test_the_counts_of_agreement_are_those_of_the_tables():
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert agreement("chapter3", "accuracy") == agreement("chapter3", "leaves") == (28, 28)
    assert "all 28 accuracies and all 28 tree sizes of Table 3.1 agree" in readme
    assert (agreement("chapter5_nested", "accuracy"), agreement("chapter5_nested", "leaves")) == ((24, 24), (22, 24))
    assert "all 24 accuracies and 22 of 24 sizes under nested cross-validation" in readme
    assert agreement("chapter5_two_stage", "accuracy") == (24, 24)
    assert agreement("chapter5_two_stage", "leaves") == (13, 24)
    assert "all 24 accuracies but only 13 of 24 sizes of Table 5.2" in readme


def test_every_algorithm_and_every_command_is_in_the_readme():
    from oblique_cli.cli import COMMANDS
    from oblique_cli.estimators.algorithms import ALGORITHMS

    readme = (ROOT / "README.md").read_text()
    assert [name for name in ALGORITHMS if f"`{name}`" not in readme] == []
    assert [name for name in COMMANDS if f"`oblique {name}" not in readme] == []


@pytest.mark.parametrize("name", document.DOCUMENTS)
def test_tables_of_reproductions_are_those_of_the_results(name):
    text = (ROOT / name).read_text()
    assert document.filled(text, document.blocks(ROOT / "results")) == text, "run: oblique reproduce report"
    assert "<!-- begin summary -->" in text
