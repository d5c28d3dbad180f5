"""`oblique list` and `oblique doctor`: what there is, and what it runs on."""

import json
import platform
import re

import pytest
from cli_support import call

from oblique_cli import __version__
from oblique_cli.config import composing
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.evaluation import published
from oblique_cli.evaluation.metrics import METRICS
from oblique_cli.experiments.store import Store
from oblique_cli.schemes import SCHEMES
from oblique_cli.tree.criteria import CRITERIA
from oblique_cli.tree.pruning import PRUNINGS

__all__ = ["call"]


def test_every_algorithm_is_listed_with_title_source_and_all_its_parameters(call):
    ended = call("list", "algorithms")
    every = ended.out.split("\n\n")
    start = "parameters of all "
    shared = {b.splitlines()[0].removeprefix(start): b for b in every if b.startswith(start)}
    blocks = [block for block in every if block not in shared.values()]
    assert ended.code == 0 and sorted(block.split()[0] for block in blocks) == sorted(ALGORITHMS)
    for block in blocks:
        algorithm = ALGORITHMS[block.split()[0]]
        shared_words = {line.split()[0] for line in shared.get(algorithm.family.growth, "").splitlines()[2:]}
        assert algorithm.title in block and algorithm.source in block
        own = {line.split()[0]: line for line in block.splitlines()[2:]}
        assert not own.keys() & shared_words and own.keys() | shared_words == algorithm.parameters.keys()
        for name, line in own.items():
            default = "none" if algorithm.defaults[name] is None else str(algorithm.defaults[name])
            assert algorithm.parameters[name].describe() in line and default in line
    assert re.search(r"\n  max_depth +none +a whole number, at least 0, or none\n", shared["top-down trees"])


def test_algorithms_as_json(call):
    for entry in json.loads(call("list", "algorithms", "--format", "json").out):
        algorithm = ALGORITHMS[entry["name"]]
        assert {key: value["default"] for key, value in entry["parameters"].items()} == json.loads(
            json.dumps(algorithm.defaults)
        )


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("schemes", list(SCHEMES)),
        ("criteria", list(CRITERIA)),
        ("metrics", [*METRICS, "recall:CLASS", "cost:FILE"]),
        ("prunings", list(PRUNINGS)),
        ("published", [name for name, table in published.tables().items() if table.level == "repetitions"]),
        ("configs", composing.bundled()),
    ],
)
def test_other_things_are_listed_by_name(call, kind, names):
    ended = call("list", kind)
    assert ended.code == 0 and [line.split()[0] for line in ended.out.splitlines()] == names
    assert [thing["name"] for thing in json.loads(call("list", kind, "--format", "json").out)] == names


def test_doctor_tells_versions_processors_and_places(call):
    ended = call("doctor")
    assert (ended.code, ended.err) == (0, "")
    found = dict(line.split(maxsplit=1) for line in ended.out.splitlines())
    assert found["oblique"] == __version__ and found["python"] == platform.python_version()
    assert "problem" not in ended.out and "numpy" in found
    facts = json.loads(call("doctor", "--format", "json").out)
    assert "bundled" in facts["data sets"] and "may be used" in facts["processors"] and facts["linear algebra"]
    assert facts["results"] == "none at results/oblique.sqlite yet"
    assert facts["other data"] == str(call.folder / "no cache" / "oblique")


def test_doctor_counts_runs_and_sees_damage(call):
    path = call.folder / "results" / "oblique.sqlite"
    with Store(path) as store:
        store.begin("one", {}, 1)
    assert "results/oblique.sqlite, 1 run\n" in call("doctor").out
    path.write_bytes(b"not a database, and long enough to be read as one" * 100)
    ended = call("doctor")
    assert ended.code == 5 and "problem 1" in ended.out and "is damaged" in ended.out and "numpy" in ended.out


def test_doctor_reports_a_core_that_cannot_be_loaded(call, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "oblique_cli._core", None)
    monkeypatch.delattr("oblique_cli._core")
    ended = call("doctor")
    assert ended.code == 1 and "problem 1" in ended.out
    assert "the compiled core cannot be loaded" in ended.out and "install oblique-trees again." in ended.out
