"""`make test` runs as many cases of a function as its marker `sample` names, and the others are long."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(("chosen", "count"), [("not long", 2), ("long", 62)])
def test_a_sample_and_the_long_cases_are_all_cases(chosen, count):
    function = "tests/robustness/test_flipped_columns.py::test_run_and_repair_make_good_what_a_flipped_bit_has_damaged"
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", "-m", chosen, function]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines()[0] == f"tests/robustness/test_flipped_columns.py: {count}"
