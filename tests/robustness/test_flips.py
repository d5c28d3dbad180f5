"""Bits flipped in stored results and in models: the right answer, or a sentence; never a wrong table."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from cli_support import Ended, Forking
from robustness_support import SOAK, many

SEED = 18
MOST_SECONDS = 5.0
MOST_BYTES = 1 << 30
# Ended by the system: a process that works for longer, or takes much more memory than this machine may have to spare.
LIMITS = f"""
import resource, signal
signal.alarm({round(4 * MOST_SECONDS)})
resource.setrlimit(resource.RLIMIT_AS, (4 * {MOST_BYTES}, 4 * {MOST_BYTES}))
"""
CONFIG = """\
version: 1
name: small
datasets: [iris, bupa]
algorithms: [axis_parallel, {name: hhgdt, epsilon: {grid: [0.1, 0.2]}}]
cv: {scheme: two_stage, folds: 2, repeats: 2, tune: {folds: 2}}
"""
READERS = {
    "table": ("table", "small", "--format", "csv"),
    "folds": ("folds", "small"),
    "predictions": ("predictions", "small"),
    "significance": ("significance", "small", "--format", "json"),
    "report": ("report", "small", "--trees", "0", "--output", "report.html"),
    "run": ("run", "small.yaml", "-j", "1", "--format", "csv", "--quiet"),
    "rescore": ("rescore", "small", "--metric", "mcc", "--format", "csv"),
    "merge": ("merge", "small", "results", "--results", "other"),
}


@pytest.fixture(scope="module")
def forking(tmp_path_factory) -> Iterator[Forking]:
    with Forking(tmp_path_factory.mktemp("forking")) as forking:
        yield forking


def judged(ended: Ended, right: str, allowed: tuple[int, ...]) -> str:
    """What became of a damaged file: "same" or "told". Anything else fails here."""
    assert ended.code != 1 and "Traceback" not in ended.err and "a bug in" not in ended.err, ended
    assert ended.seconds < MOST_SECONDS and ended.bytes < MOST_BYTES, ended
    if ended.code == 0:
        assert ended.out == right, "a wrong answer"
        return "same"
    assert ended.code in allowed, ended
    assert ended.err.count("error: ") == 1 and ended.out != right, ended
    return "told"
