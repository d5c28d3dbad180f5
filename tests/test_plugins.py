"""What is added from outside: an installed package with entry points, and files that a configuration imports."""

import os
from pathlib import Path

import pytest
from cli_support import Ended, environment, forked, python

from oblique_cli.ground.resources import PACKAGE

MODULE = '''"""A heuristic, a scheme, a metric, a data set and an algorithm."""

from typing import Any, ClassVar

import numpy as np
from sklearn.naive_bayes import GaussianNB

from oblique_cli.data.plugin_datasets import FURTHER
from oblique_cli.estimators.algorithms import ALGORITHMS, MACHINE, Algorithm
from oblique_cli.evaluation.metrics import CLASSIFICATION, LABELS, MEAN, metric
from oblique_cli.schemes._cross_validation import CrossValidation
from oblique_cli.schemes import scheme
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Proposer


@PROPOSERS.register("diagonals")
class Diagonals(Proposer):
    """Differences of two features."""

    title = "diagonals"
    source = "an example (2026)"

    def propose(self, node):
        p = node.X.shape[1]
        normals = [np.eye(p)[i] - np.eye(p)[j] for i in range(p) for j in range(i)]
        yield Candidates.axes()
        yield Candidates.directions(np.array(normals) / 2**0.5)


@scheme("halves")
class Halves(CrossValidation):
    """Two folds, whatever is asked for."""

    fixed: ClassVar[dict[str, Any]] = {"folds": 2, "stratified": False}


@metric(
    "misses", title="misses", unit="rows", larger_is_better=False, task=CLASSIFICATION, needs=LABELS, aggregate=MEAN,
    decimals=1,
)
def misses(y, predicted, weights=None):
    """Test rows of the wrong class."""
    return float((y != predicted).sum())


class Bayes(GaussianNB):
    """Normal distributions."""

    constraints: ClassVar = {}
    needs_pruning_rows: ClassVar[bool] = False


ALGORITHMS.register("bayes")(Algorithm("bayes", "Bayes", "textbooks", MACHINE, None, False, Bayes))


@FURTHER.register("stripes")
def stripes():
    X = np.random.default_rng(0).uniform(size=(80, 2))
    return X, np.where(X[:, 0] > X[:, 1], "over", "under")
'''
CONFIG = """version: 1
datasets: [stripes, iris]
algorithms: [diagonals, bayes, axis_parallel]
metrics: [accuracy, misses]
cv: {scheme: halves, repeats: 2}
"""


def variables_of(paths: tuple[Path, ...], more: dict[str, str]) -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join(map(str, (*paths, PACKAGE.parent))), "NO_COLOR": "1", **more}


def run(folder: Path, *arguments: str, paths: tuple[Path, ...] = (), **variables: str) -> Ended:
    """The command, forked from a process in which no plugin was looked for yet."""
    env = variables_of(paths, variables)
    # Python begins with the folder in which it is started, by its whole name.
    first = f"sys.path[:1] = {[str(folder), *map(str, paths)]}; os.environ.update({env}); importlib.invalidate_caches()"
    return forked(folder, *arguments, first=first)


def started(folder: Path, *arguments: str, paths: tuple[Path, ...] = (), **variables: str) -> Ended:
    """The command, by a Python that imports the package after the variables are set."""
    return python(
        folder, "-m", "oblique_cli", *arguments, env={**environment(folder), **variables_of(paths, variables)}
    )


@pytest.fixture
def installed(tmp_path):
    """A folder with an installed package: a module and the metadata that pip leaves."""
    place = tmp_path / "site"
    info = place / "stripes_plugin-1.5.dist-info"
    info.mkdir(parents=True)
    (place / "stripes_plugin.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stripes-plugin\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text("[oblique_trees.plugins]\nstripes = stripes_plugin\n")
    return place


def lines_of(table: str) -> list[list[str]]:
    return [line.split() for line in table.splitlines() if line.startswith(("stripes", "iris "))]


def test_plugins_can_be_left_out(tmp_path, installed):
    (tmp_path / "my.yaml").write_text(CONFIG)
    ended = started(tmp_path, "validate", "my.yaml", paths=(installed,), OBLIQUE_PLUGINS="0")
    assert ended.code == 2 and "'diagonals' is not known" in ended.err


def test_a_plugin_that_cannot_be_imported_is_named(tmp_path, installed):
    (installed / "stripes_plugin.py").write_text("import no_such_thing\n")
    ended = run(tmp_path, "list", "metrics", paths=(installed,))
    assert ended.code == 2 and ended.err.startswith(
        "error: plugin 'stripes' of stripes-plugin 1.5 cannot be imported (ModuleNotFoundError: No module named "
        "'no_such_thing'): mend or remove the package, or set OBLIQUE_PLUGINS=0"
    )
    (installed / "stripes_plugin.py").write_text(MODULE.replace('"diagonals"', '"hhcart_a"'))
    ended = run(tmp_path, "list", "metrics", paths=(installed,))
    assert ended.code == 2 and "registered twice" in ended.err and ended.err.count("\n") == 1


FIXED = 'fixed: ClassVar[dict[str, Any]] = {"folds": 2, "stratified": False}'
BY_NAIVE_BAYES = "    constraints: ClassVar = {}\n"
RUN = ("run", "my.yaml", "--quiet")
FAILURES = [
    ("return float((y != predicted).sum())", "return 1 / 0", "misses", ("fit", "iris", "--metric", "misses")),
    ("yield Candidates.axes()", "1 / 0", "Diagonals.propose", ("tree", "iris", "--algorithm", "diagonals")),
    (BY_NAIVE_BAYES, f"{BY_NAIVE_BAYES}\n    def fit(self, X, y):\n        1 / 0\n", "Bayes.fit", RUN),
    (FIXED, f"{FIXED}\n\n    def draw(self, dataset, cv, seed, repeat):\n        1 / 0\n", "Halves.draw", RUN),
    ("    X = np.random", "    1 / 0\n    X = np.random", "stripes", RUN),
]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("old", "new", "place", "words"), FAILURES, ids=[failure[2] for failure in FAILURES])
def test_an_exception_out_of_a_plugin_names_the_plugin(tmp_path, installed, old, new, place, words):
    assert old in MODULE
    (installed / "stripes_plugin.py").write_text(MODULE.replace(old, new))
    (tmp_path / "my.yaml").write_text(CONFIG)
    ended = run(tmp_path, *words, paths=(installed,))
    who = f"plugin 'stripes' of stripes-plugin 1.5 failed in {place}, stripes_plugin.py:"
    assert ended.code in (2, 3, 4) and who in ended.err + ended.out, (ended.code, ended.err, ended.out)
    assert "(ZeroDivisionError: division by zero)" in ended.err + ended.out
    assert "Traceback" not in ended.err and "bug in oblique" not in ended.err


def test_the_traceback_is_there_for_whoever_asks(tmp_path, installed):
    (installed / "stripes_plugin.py").write_text(MODULE.replace("return float((y != predicted).sum())", "return 1 / 0"))
    words = ("fit", "iris", "--metric", "misses", "--algorithm", "axis_parallel")
    ended = run(tmp_path, *words, paths=(installed,))
    assert ended.code == 2 and ended.err.count("\n") == 1 and "OBLIQUE_TRACEBACK=1 shows how" in ended.err
    ended = run(tmp_path, *words, paths=(installed,), OBLIQUE_TRACEBACK="1")
    assert ended.code == 2 and "Traceback" in ended.err and 'stripes_plugin.py", line' in ended.err


def test_a_plugin_that_ends_the_process_is_named(tmp_path, installed):
    (installed / "stripes_plugin.py").write_text("raise SystemExit(9)")
    ended = run(tmp_path, "list", "metrics", paths=(installed,))
    assert ended.code == 2 and "plugin 'stripes' of stripes-plugin 1.5 cannot be imported (SystemExit: 9)" in ended.err


# ---- files -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def imports(tmp_path):
    """A folder with a configuration that imports a file beside it."""
    (tmp_path / "my_things.py").write_text(MODULE)
    (tmp_path / "my.yaml").write_text(CONFIG + "import: [my_things.py]\n")
    return tmp_path


@pytest.mark.long
def test_a_file_is_imported_where_that_is_allowed(imports):
    refused = run(imports, "run", "my.yaml")
    assert refused.code == 2 and refused.out == ""
    first = "my.yaml:6:1 import runs the code of 'my_things.py'; run with --allow-code if you trust it.\n"
    assert refused.err.startswith(first) and "'diagonals'" not in refused.err, "what it registers is not known yet"
    ended = run(imports, "run", "my.yaml", "--allow-code", "--quiet", "-j", "2")
    assert (ended.code, ended.err) == (0, "")
    assert len(lines_of(ended.out)) == 6


@pytest.mark.long
def test_the_table_of_a_stored_run_needs_no_code(imports):
    config = CONFIG.replace(", misses", "").replace("halves", "ordinary, folds: 2")
    (imports / "my.yaml").write_text(config + "import: [my_things.py]\n")
    ended = run(imports, "run", "my.yaml", "--allow-code", "--quiet")
    assert ended.code == 0
    table = run(imports, "table", "my")
    assert (table.code, table.err) == (0, "")
    # The code knows the title of its algorithm.
    assert [line[2:] for line in lines_of(table.out)] == [line[2:] for line in lines_of(ended.out)]


@pytest.mark.long
def test_the_table_of_a_run_with_a_scheme_of_a_plugin_needs_the_plugin(tmp_path, installed):
    (tmp_path / "my.yaml").write_text(CONFIG)
    ended = run(tmp_path, "run", "my.yaml", "--quiet", paths=(installed,))
    assert run(tmp_path, "table", "my", paths=(installed,)).out == ended.out
    without = run(tmp_path, "table", "my")
    assert without.code == 2 and "halves" in without.err and without.err.count("\n") == 1


def test_validate_imports_nothing_unless_it_is_told_to(imports):
    (imports / "my_things.py").write_text(MODULE + "\nopen('was_here', 'w').close()\n")
    ended = run(imports, "validate", "my.yaml")
    assert ended.code == 0 and not (imports / "was_here").exists()
    assert ended.out == "my.yaml: ok as far as known without my_things.py (--allow-code runs it and checks the rest)\n"
    ended = run(imports, "validate", "my.yaml", "--allow-code")
    assert ended.out == "my.yaml: ok (2 data sets x 3 algorithms x 4 folds)\n" and (imports / "was_here").exists()


NAMES = """
from oblique_cli.api import PruningRule, criterion, pruning_rule


@criterion("farthest")
def farthest(left, right):
    \"\"\"Distance of the class shares.\"\"\"
    return np.abs(left / left.sum(axis=1)[:, None] - right / right.sum(axis=1)[:, None]).sum(axis=1)


@pruning_rule("as_grown")
class AsGrown(PruningRule):
    \"\"\"No pruning.\"\"\"

    rows = "none"

    def prune(self, tree, rows):
        return tree
"""
NAMED = """version: 1
dataset: iris
algorithms:
  - {name: axis_parallel, criterion: farthest, pruning: as_grown}
  - {name: hhcart_a, criterion: {grid: [gini, farthest]}}
cv: {scheme: nested, folds: 2, repeats: 1, tune: {folds: 2}}
import: [my_things.py]
"""


def test_values_that_a_file_registers_are_checked_when_the_file_is_imported(imports):
    (imports / "my_things.py").write_text(MODULE + NAMES)
    (imports / "my.yaml").write_text(NAMED)
    assert run(imports, "validate", "my.yaml").code == 0
    refused = run(imports, "run", "my.yaml")
    assert refused.code == 2 and "--allow-code" in refused.err and refused.err.endswith("1 error.\n")
    assert run(imports, "validate", "my.yaml", "--allow-code").code == 0
    (imports / "my.yaml").write_text(NAMED.replace("criterion: farthest", "criterion: nearest"))
    wrong = run(imports, "validate", "my.yaml", "--allow-code")
    assert wrong.code == 2 and "my.yaml:4:" in wrong.err
    (imports / "my.yaml").write_text(NAMED.replace("import: [my_things.py]", ""))
    assert run(imports, "validate", "my.yaml").err.endswith("3 errors.\n")


@pytest.mark.long
def test_another_content_of_the_file_is_another_experiment(imports):
    assert run(imports, "run", "my.yaml", "--allow-code", "--quiet").code == 0
    again = run(imports, "run", "my.yaml", "--allow-code")
    assert "24 folds, resumed: 24 done" in again.err
    (imports / "my_things.py").write_text(MODULE + "\n# another\n")
    changed = run(imports, "run", "my.yaml", "--allow-code")
    assert changed.code != 0 and "--fresh" in changed.err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("no_such.py", None, "there is no file 'no_such.py'."),
        ("broken.py", "def (", "broken.py cannot be imported (SyntaxError: "),
        ("fails.py", "1 / 0", "fails.py cannot be imported (ZeroDivisionError: division by zero)."),
        ("code/json.py", "", "json.py cannot be imported: there is another module 'json' already; rename it."),
        ("my-things.py", "", "my-things.py cannot be imported: its name must be that of a module"),
        ("../out.py", "", "'../out.py' lies outside the project folder"),
    ],
)
def test_a_file_that_cannot_be_imported_is_one_sentence(tmp_path, name, content, message):
    folder = tmp_path / "project"
    folder.mkdir()
    if content is not None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    (folder / "my.yaml").write_text(f"version: 1\ndataset: iris\nalgorithm: knn\nimport: ['{name}']\n")
    ended = run(folder, "run", "my.yaml", "--allow-code")
    assert ended.code == 2 and message in ended.err and "Traceback" not in ended.err


def test_the_help_does_not_load_plugins(tmp_path, installed):
    (installed / "stripes_plugin.py").write_text("raise SystemExit(9)")
    assert started(tmp_path, "--help", paths=(installed,)).code == 0
