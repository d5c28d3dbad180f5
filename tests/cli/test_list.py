"""`oblique list` and `oblique doctor`: what there is, and what it runs on."""

import importlib.metadata
import json
import platform
import re
import subprocess
import sys
import tomllib

import pytest

from oblique_cli import __version__
from oblique_cli.cli import doctor
from oblique_cli.config import composing
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.evaluation import published
from oblique_cli.evaluation.metrics import METRICS
from oblique_cli.experiments.store import Store
from oblique_cli.ground import versions
from oblique_cli.ground.resources import PACKAGE
from oblique_cli.schemes import SCHEMES
from oblique_cli.tree.criteria import CRITERIA
from oblique_cli.tree.pruning import PRUNINGS


def test_algorithms_are_lines_and_named_ones_have_source_and_all_parameters(call):
    ended = call("list", "algorithms")
    lines = dict(line.split(maxsplit=1) for line in ended.out.splitlines())
    assert ended.code == 0 and list(lines) == list(ALGORITHMS)
    assert all(ALGORITHMS[name].title in line for name, line in lines.items())
    blocks = call("list", "algorithms", *ALGORITHMS).out.split("\n\n")
    for block, (name, algorithm) in zip(blocks, ALGORITHMS.items(), strict=True):
        heading, _, *lines = block.splitlines()
        assert heading.split()[0] == name and algorithm.title in heading and algorithm.source in heading
        shown = {line.split()[0]: line for line in lines}
        assert shown.keys() == algorithm.parameters.keys()
        for key, line in shown.items():
            default = "none" if algorithm.defaults[key] is None else str(algorithm.defaults[key])
            assert algorithm.parameters[key].describe() in line and default in line
    assert re.search(
        r"\n  max_depth +none +a whole number, at least 0, or none\n", call("list", "algorithms", "hhgdt").out
    )


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("schemes", list(SCHEMES)),
        ("criteria", list(CRITERIA)),
        ("metrics", [*METRICS, "recall:CLASS", "cost:FILE"]),
        ("prunings", list(PRUNINGS)),
        ("published", [name for name, table in published.tables().items() if table.has_means]),
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
    results = dict(line.split(maxsplit=1) for line in ended.out.splitlines())
    assert results["oblique"] == __version__ and results["python"] == platform.python_version()
    assert "problem" not in ended.out and "numpy" in results
    facts = json.loads(call("doctor", "--format", "json").out)
    assert "bundled" in facts["data sets"] and "may be used" in facts["processors"] and facts["linear algebra"]
    assert facts["results"] == "none at results/oblique.sqlite yet"
    assert facts["other data"] == str(call.folder / "no cache" / "oblique")


ASKED = [
    "numpy>=1.26",
    'matplotlib>=3.10; extra == "figures"',
    "onnx >=1.16 ; extra == 'onnx'",
    'oblique-trees[figures,onnx]; extra == "test"',
    'mkdocstrings[python]>=0.29; extra == "docs"',
    'clang-format==14.*; extra == "lint"',
]
ALL_THERE = {"matplotlib": "3.10.0", "onnx": "1.16", "mkdocstrings": "1", "clang-format": "14.0.6"}


@pytest.mark.parametrize(
    ("changed", "lacking"),
    [
        ({}, {}),
        ({"matplotlib": None}, {"figures": "matplotlib>=3.10", "test": "matplotlib>=3.10"}),
        ({"matplotlib": "3.10.1rc1", "onnx": "1.9"}, {"onnx": "onnx>=1.16", "test": "onnx>=1.16"}),
        (
            {"matplotlib": "3", "onnx": None, "clang-format": None, "mkdocstrings": "0.29.1"},
            {"figures": "matplotlib>=3.10", "onnx": "onnx>=1.16", "test": "matplotlib>=3.10, onnx>=1.16",
             "lint": "clang-format==14.*"},
        ),
    ],
)  # fmt: skip
def test_doctor_says_what_each_extra_lacks(call, monkeypatch, changed, lacking):
    there = {**ALL_THERE, **changed}

    def version(name):
        if there.get(name) is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return there[name]

    monkeypatch.setattr(versions.metadata, "requires", lambda name: ASKED)
    monkeypatch.setattr(versions.metadata, "version", version)
    monkeypatch.setattr(doctor, "_environment", dict)
    expected = {
        key.removeprefix("extra "): value
        for key, value in json.loads(call("doctor", "--format", "json").out).items()
        if key.startswith("extra ")
    }
    assert list(expected) == ["figures", "onnx", "test", "docs", "lint"]
    assert expected == dict.fromkeys(expected, "there") | {
        extra: f"lacks {names}: pip install 'oblique-trees[{extra}]'" for extra, names in lacking.items()
    }


def test_doctor_knows_every_extra_of_the_package_and_says_where_there_is_none(call, monkeypatch):
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    output = json.loads(call("doctor", "--format", "json").out)
    assert {name for name in output if name.startswith("extra ")} == {
        f"extra {name}" for name in project["optional-dependencies"]
    }
    assert output["extra figures"] == "there"

    def requires(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(versions.metadata, "requires", requires)
    ended = call("doctor", "--format", "json")
    assert ended.code == 0
    assert json.loads(ended.out)["extras"] == "unknown: oblique-trees is not installed, its files alone are there"


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


@pytest.mark.parametrize(("module", "package"), [("yaml", "pyyaml"), ("sklearn", "scikit-learn"), ("scipy", "scipy")])
def test_a_missing_dependency_is_named(module, package, tmp_path):
    program = (
        f"import sys; sys.modules[{module!r}] = None; from oblique_cli.cli import call; sys.exit(call(sys.argv[1:]))"
    )
    sentence = f"the package {package}, which oblique needs, is not installed: pip install {package}."
    for arguments in (["doctor"], ["run", "bupa_hhgdt", "--results", str(tmp_path / "x")]):
        ended = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)
        assert ended.returncode == 2 and sentence in ended.stdout + ended.stderr, ended.stderr
        assert "a bug in oblique" not in ended.stderr
