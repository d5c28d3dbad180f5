"""The plugin in examples/plugin is installed, by pip where it can build one, and then used by every command."""

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from cli_support import Ended, python

from oblique_cli.ground.resources import PACKAGE

pytestmark = pytest.mark.long  # an installation by pip

PLUGIN = PACKAGE.parent / "examples" / "plugin"
CONFIG = """version: 1
dataset: iris
algorithms: [{name: differences, criterion: worst_side}, {name: nearest_mean, order: {grid: [1, 2]}}]
metrics: [accuracy, worst_recall]
cv: {scheme: nested, folds: 2, repeats: 1, tune: {folds: 2}}
"""


def can_build() -> bool:
    """Whether setuptools is there and builds wheels by itself, as it does from 70.1 on."""
    try:
        return tuple(map(int, version("setuptools").split(".")[:2])) >= (70, 1)
    except PackageNotFoundError:
        return False


def laid_out(source: Path, site: Path) -> None:
    """Put the plugin where pip would, with the metadata that pip leaves."""
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    info = site / f"oblique_example-{project['version']}.dist-info"
    info.mkdir(parents=True)
    shutil.copy(source / "oblique_example.py", site)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    ((group, points),) = project["entry-points"].items()
    lines = [f"[{group}]", *(f"{name} = {module}" for name, module in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A function that runs Python where the plugin is installed, in a folder of its own; no network is used."""
    folder = tmp_path_factory.mktemp("plugin")
    source, site = folder / "source", folder / "site"
    shutil.copytree(PLUGIN, source)
    (folder / "my.yaml").write_text(CONFIG)
    if can_build():
        pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
        words = [sys.executable, *pip, "--target", str(site), str(source)]
        done = subprocess.run(words, capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0, done.stderr
    else:
        laid_out(source, site)
    shutil.copytree(source / "tests", folder / "tests")
    paths = os.pathsep.join(map(str, (site, PACKAGE.parent)))

    def run(*words: str, **more: str) -> Ended:
        return python(folder, "-m", *words, env={**os.environ, "PYTHONPATH": paths, "NO_COLOR": "1", **more})

    run.folder = folder  # type: ignore[attr-defined]
    return run


def test_lists_and_the_doctor_know_it(installed):
    assert "example (oblique-example 1.0)" in installed("oblique_cli", "doctor").out
    listed = installed("oblique_cli", "list", "algorithms").out
    assert "differences" in listed and "nearest_mean" in listed
    assert "worst_recall" in installed("oblique_cli", "list", "metrics").out
    assert installed("oblique_cli", "list", "criteria").out.split()[-1] == "worst_side"


def test_a_configuration_runs_it(installed):
    done = installed("oblique_cli", "run", "my.yaml", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert "nearest mean" in done.out and "worst recall" in done.out


def test_fit_keeps_its_model_and_predict_uses_it(installed):
    words = ("fit", "iris", "--algorithm", "nearest_mean", "--metric", "worst_recall", "-o", "model.json")
    done = installed("oblique_cli", *words)
    assert done.code == 0 and "worst" in done.out, done.err
    code = "import sys; from oblique_cli import data, load, plugins; plugins.load(); iris = data.load('iris'); "
    (Path(installed.folder) / "used.py").write_text(
        code + "model = load('model.json'); print((model.estimator.predict(iris.X) == iris.y).mean())"
    )
    used = installed("used")
    assert used.code == 0 and 0.85 < float(used.out) < 1.0, used.err


FURTHER = """
import numpy as np
from oblique_cli.api import FOLDS, Fold, Scheme, exporter, plot, pruning_rows, scheme

@scheme("by_threes")
class ByThrees(Scheme):
    \"\"\"Three folds.\"\"\"

    keys = {"folds": FOLDS}
    fixed = {"folds": 3}

    def places(self, dataset, cv):
        return [(repeat, k) for repeat in range(cv.repeats) for k in range(cv.folds)]

    def draw(self, dataset, cv, seed, repeat):
        fold = np.random.default_rng([seed, repeat]).permutation(np.arange(dataset.n) % cv.folds)
        for k in range(cv.folds):
            train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            yield Fold(repeat, k, train, test, pruning_rows(dataset, cv, train, seed, "pruning", repeat, k))

@exporter("own_language", "A language", ".own")
def own_language(source):
    \"\"\"Nothing.\"\"\"
    return ""

@plot("own_plot")
def own_plot(material, request):
    \"\"\"Nothing.\"\"\"
"""


@pytest.fixture(scope="module")
def extended(installed):
    """The plugin with a scheme, a format and a plot more."""
    (module,) = Path(installed.folder, "site").glob("oblique_example.py")
    before = module.read_text()
    module.write_text(before + FURTHER)
    yield installed
    module.write_text(before)


def test_compare_takes_its_scheme_of_a_fixed_number_of_folds(extended):
    words = ("--dataset", "iris", "--algorithm", "axis_parallel,differences", "--cv", "by_threes", "--repeats", "2")
    done = extended("oblique_cli", "compare", *words, "--quiet")
    assert (done.code, done.err) == (0, "") and "2 x by_threes" in done.out
    refused = extended("oblique_cli", "compare", *words, "--quiet", "--folds", "5")
    assert refused.code == 2 and "cv.folds contradicts scheme by_threes; leave it out." in refused.err


@pytest.mark.parametrize(
    ("words", "result"),
    [
        ("compare --cv by_", "by_threes"),
        ("compare --algorithm axis_parallel,diff", "axis_parallel,differences"),
        ("table --metric worst_", "worst_recall"),
        ("export model.json --format own", "own_language"),
    ],
)
def test_the_shell_completes_its_names(extended, words, result):
    typed = f"oblique {words}"
    options = {"_OBLIQUE_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    done = extended("oblique_cli", **options)
    assert done.out.split() == [f"plain,{result}"], done.err


def test_a_plugin_that_cannot_be_imported_completes_nothing_and_says_nothing(extended):
    module = Path(extended.folder, "site", "oblique_example.py")
    before = module.read_text()
    module.write_text("raise ZeroDivisionError\n")
    try:
        options = {"_OBLIQUE_COMPLETE": "bash_complete", "COMP_WORDS": "oblique compare --cv two", "COMP_CWORD": "3"}
        done = extended("oblique_cli", **options)
        assert (done.out.split(), done.err) == (["plain,two_stage"], "")
    finally:
        module.write_text(before)


def test_fit_splits_by_its_criterion(installed):
    words = ("--algorithm", "hhcart_a", "--set", "criterion=worst_side", "-o", "split.json")
    done = installed("oblique_cli", "fit", "iris", *words)
    assert done.code == 0, done.err


BROKEN = """import pathlib
from oblique_cli.api import criterion

@criterion("broken")
def broken(left, right):
    \"\"\"Fails at work.\"\"\"
    if len(left) > 10:
        raise ZeroDivisionError("on purpose")
    return left[:, 0] * right[:, 0]
"""


@pytest.mark.parametrize("algorithm", ["hhcart_a", "axis_parallel"])
def test_an_exception_out_of_a_criterion_is_one_sentence_with_its_plugin(installed, algorithm):
    folder = Path(installed.folder)
    (folder / "broken.py").write_text(BROKEN)
    (folder / "broken.yaml").write_text(
        f"version: 1\nimport: [broken.py]\ndataset: iris\nalgorithm: {{name: {algorithm}, criterion: broken}}\n"
        "cv: {scheme: ordinary, folds: 3}\n"
    )
    done = installed("oblique_cli", "run", "broken.yaml", "--quiet", "--allow-code", "--fresh")
    assert "broken.py failed in broken, broken.py:8 (ZeroDivisionError: on purpose)" in done.err
    assert "Traceback" not in done.err


def test_its_own_tests_pass(installed):
    done = installed("pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert done.code == 0, done.out
