"""A benchmark is one module."""

import pytest

pytestmark = pytest.mark.long

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


def test_a_benchmark_is_a_module(checkout):
    checkout.write("benchmarks/sorting.py", BENCHMARK)
    ended = checkout.python("-m", "benchmarks", "sorting", "--quick", "--repeat", "2")
    assert ended.code == 0, ended.err
    assert "claim: sorting once / twice; no target" in ended.out
