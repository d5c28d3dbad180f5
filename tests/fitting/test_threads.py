"""Folds that are fitted by threads: what they share is ready before the first of them begins."""

import subprocess
import sys
import warnings

import pytest
from document_support import ROOT

from oblique_cli.estimators.n_jobs import in_turn, threads

# In a process of its own, since anything may have imported pandas here.
ASKED = """
import sys, threading
from oblique_cli.cli import main

class Watch:
    def find_spec(self, name, *_):
        if name == "pandas":
            print("pandas in", threading.current_thread().name)

sys.meta_path.insert(0, Watch())
words = "fit plain.csv --target weight_mg --algorithm hhcart_regression --set max_depth=1 --folds 2 --jobs 2"
sys.argv[1:] = words.split()
main()
"""


@pytest.mark.long
def test_no_thread_of_a_fold_imports_pandas():
    done = subprocess.run([sys.executable, "-c", ASKED], cwd=ROOT / "tests/files", capture_output=True, text=True)
    texts = [line for line in done.stdout.splitlines() if line.startswith("pandas in ")]
    assert (done.returncode, texts) == (0, ["pandas in MainThread"]), done.stderr


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
