"""Sparse tables of equal rows of different classes, at the number of features from which a node works in the span of
its rows: in a process of its own, so that one that dies is a failure with a name."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import python
from robustness_support import NAMES, REGRESSION, SOAK, WEIGHTED, learned

from oblique_cli.estimators.algorithms import ALGORITHMS

KINDS = ["all 0", "all the same", "one cell", "one row", "one cell a row", "subnormal cell", "two rows many times"]
# (rows, features): below, at and above where rows are few beside features (is_wide in geometry.py).
FEW = 6
SIZES = [(FEW, 100), (FEW, 101), (FEW, 130), (99, 101), (100, 101)]
# What is native, and so can take the process with it; a soak attacks all of them by all that is here.
CORE = NAMES if SOAK else [name for name in NAMES if ALGORITHMS[name].family.growth in ("top-down trees", "forests")]
LEARNS = [name for name in CORE if "missing" in ALGORITHMS[name].parameters]


def table(kind: str, n: int, p: int) -> np.ndarray:
    """Rows of which most, or all, are the same."""
    X = np.full((n, p), 3.0) if kind == "all the same" else np.zeros((n, p))
    if kind == "one cell":
        X[0, 0] = 1.0
    elif kind == "one row":
        X[0] = np.arange(p)
    elif kind == "one cell a row":
        X[np.arange(n), np.arange(n)] = 1.0
    elif kind == "subnormal cell":
        X[0, 0] = 5e-324
    elif kind == "two rows many times":
        X[: n // 2, :3] = 1.0
    return X


def fits(kind: str, n: int, p: int) -> Iterator[tuple[str, str, np.ndarray, dict[str, Any]]]:
    """Yield (algorithm, what is special, rows, what the fit is told).

    Every pair of an algorithm, a kind and a size is in a third of all three; a soak has them whole.
    """
    X = table(kind, n, p)
    turn = KINDS.index(kind) + SIZES.index((n, p))

    def by_turns(names: list[str]) -> list[str]:
        return names if SOAK else names[turn % 3 :: 3]

    for name in by_turns(CORE if n > FEW else NAMES):
        yield name, "", X, {}
    for name in by_turns(WEIGHTED) if n == FEW else []:
        yield name, "with weights of 0", X, {"sample_weight": np.sign(np.arange(n) % 3.0)}
    lacking = np.where(np.eye(n, p, 1) > 0, np.nan, X)
    for name in LEARNS if p == 130 else []:
        yield name, "with missing cells", lacking, {"parameters": {"missing": "learn"}}


def attack(kind: str) -> None:
    """Fit every algorithm on a kind of table, and say before each fit which one it is."""
    for n, p in SIZES:
        for name, special, X, told in fits(kind, n, p):
            print(name, f"on {n} x {p}", special, flush=True)
            y = np.arange(n) % 2
            learned(name, X, y.astype(float) if name in REGRESSION else y, **told)


def outcome(code: str) -> tuple[str, str]:
    """Run code in a process of its own; return how it ended ("0", or the name of a signal) and its last lines."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(Path(__file__).parent)])}
    quiet = "import warnings; warnings.simplefilter('ignore')"
    done = python(Path.cwd(), "-c", code, first=quiet, env=environment)
    ended = str(done.code) if done.code >= 0 else signal.Signals(-done.code).name
    return ended, (done.out[-200:] + done.err[-2000:]).strip()


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_equal_rows_of_different_classes_kill_nothing(kind):
    ended, lines = outcome(f"import test_equal_rows; test_equal_rows.attack({kind!r})")
    assert ended == "0", lines


def test_the_detector_can_fire():
    ended, lines = outcome("import os; print('gdt on 4 x 130', flush=True); os.kill(os.getpid(), 8)")
    assert (ended, lines) == ("SIGFPE", "gdt on 4 x 130")
