"""A benchmark is one module and a line in the list of benchmarks."""

import pytest
from checkout_support import checkout

pytestmark = pytest.mark.long

__all__ = ["checkout"]

BENCHMARK = '''
"""Sorting against sorting twice."""

from functools import partial

import numpy as np

from benchmarks.measuring import Ratio, Report, alternate


def run(report: Report, repeat: int) -> None:
    values = np.random.default_rng(1).normal(size=1000 if report.quick else 1_000_000)
    times, results = alternate({"once": partial(np.sort, values), "twice": lambda: np.sort(np.sort(values))}, repeat)
    assert (results["once"] == results["twice"]).all()
    report.claim("sorting once / twice", None, Ratio.of(times["once"], times["twice"]))
'''


def test_a_benchmark_is_a_module_and_a_line(checkout):
    checkout.write("benchmarks/sorting.py", BENCHMARK)
    checkout.insert("benchmarks/__main__.py", "from benchmarks.measuring import main", "from benchmarks import sorting")
    checkout.insert("benchmarks/__main__.py", "BENCHMARKS = {", '    "sorting": sorting.run,')
    ended = checkout.python("-m", "benchmarks", "sorting", "--quick", "--repeat", "2")
    assert ended.code == 0, ended.err
    assert "claim: sorting once / twice; no target" in ended.out
