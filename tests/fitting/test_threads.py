"""Folds that are fitted by threads: what they share is ready before the first of them begins."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest
from document_support import ROOT

from oblique_cli.estimators.n_jobs import in_turn, threads

# In a process of its own, since anything may have imported pandas here.
ASKED = """
import sys
from oblique_cli.cli import main
from oblique_cli.fitting import estimating

def answers_of(*_):
    print(hasattr(sys.modules.get("pandas"), "DataFrame"))
    raise ValueError

estimating.answers_of = answers_of
sys.argv[1:] = ["fit", "plain.csv", "--target", "weight_mg", "--algorithm", "hhcart_regression"]
main()
"""


def test_pandas_is_there_before_levels_are_encoded_by_threads():
    done = subprocess.run([sys.executable, "-c", ASKED], cwd=ROOT / "tests/files", capture_output=True, text=True)
    assert set(done.stdout.splitlines()) == {"True"}, done.stderr


def test_tasks_leave_the_filters_of_warnings_as_they_were():
    def task(number: int) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sum(range(20_000))
        return number

    before = list(warnings.filters)
    with threads(3):
        assert list(in_turn(task, [(number,) for number in range(40)])) == list(range(40))
    assert warnings.filters == before


def test_the_error_of_the_first_task_is_raised():
    def task(number: int) -> int:
        if number > 2:
            raise ValueError(number)
        return number

    with threads(2), pytest.raises(ValueError, match=r"^3$"):
        list(in_turn(task, [(number,) for number in range(8)]))
