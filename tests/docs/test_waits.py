"""The stored waiting times have the verdicts of their numbers, and a later run replaces an earlier one."""

import operator

import pytest

from tools.waits import retained, stored


def test_every_verdict_follows_from_its_number():
    signs = {"<": operator.lt, "<=": operator.le}
    for record in stored():
        if record["target"] is None:
            assert record["verdict"] == "reported"
            continue
        sign, limit = record["target"].split()
        assert record["verdict"] == ("met" if signs[sign](record["median"], float(limit)) else "not met")


def test_a_later_run_takes_the_place_of_an_earlier_one():
    def run(median: float | None, quick: bool = False) -> dict:
        claim = {"claim": "a / b", "target": "<= 1", "unit": "x", "median": median, "least": median, "verdict": "met"}
        benchmark = {"name": "waits", "quick": quick, "tables": {}, "claims": [claim]}
        return {"machine": {"processor": "p", "load": 1.0}, "benchmarks": [benchmark]}

    once = retained([], run(0.5))
    assert [item["median"] for item in retained(once, run(0.7))] == [0.7]
    assert retained(once, run(None)) == once
    with pytest.raises(ValueError, match="--quick"):
        retained([], run(0.5, quick=True))
