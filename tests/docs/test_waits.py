"""The stored waiting times have the verdicts of their numbers, and a later run replaces an earlier one."""

import operator

import pytest

from benchmarks import waits
from tools.waits import kept, stored


def test_every_verdict_follows_from_its_number():
    signs = {"<": operator.lt, "<=": operator.le}
    for one in stored():
        if one["target"] is None:
            assert one["verdict"] == "reported"
            continue
        sign, limit = one["target"].split()
        assert one["verdict"] == ("met" if signs[sign](one["median"], float(limit)) else "not met")


def test_a_later_run_takes_the_place_of_an_earlier_one():
    def run(median: float | None, quick: bool = False) -> dict:
        claim = {"claim": "a / b", "target": "<= 1", "unit": "x", "median": median, "least": median, "verdict": "met"}
        benchmark = {"name": "waits", "quick": quick, "tables": {}, "claims": [claim]}
        return {"machine": {"processor": "p", "load": 1.0}, "benchmarks": [benchmark]}

    once = kept([], run(0.5))
    assert [one["median"] for one in kept(once, run(0.7))] == [0.7]
    assert kept(once, run(None)) == once
    with pytest.raises(ValueError, match="--quick"):
        kept([], run(0.5, quick=True))


def test_parts_are_run_alone_and_others_are_named(monkeypatch):
    ran = []
    monkeypatch.setattr(waits, "PARTS", {name: lambda *_, name=name: ran.append(name) for name in ("fit", "predict")})
    waits.run(waits.Report("waits", only=("predict",)), 1)
    waits.run(waits.Report("waits"), 1)
    assert ran == ["predict", "fit", "predict"]
    with pytest.raises(SystemExit, match="unknown part 'nothing' of waits; there are fit, predict"):
        waits.run(waits.Report("waits", only=("nothing",)), 1)
