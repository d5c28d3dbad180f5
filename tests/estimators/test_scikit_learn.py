"""scikit-learn's tests of its trees, forests and boosting, run on the classes of this package.

Tables replace the classes of the installed test modules. A test of a feature that the classes do not have is skipped
with its reason, which `pytest -rs` prints. Messages of errors are in this package's words: only types are compared."""

from __future__ import annotations

import ast
import csv
import functools
import importlib
import re
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
import sklearn.ensemble
import sklearn.tree
import yaml

from oblique_cli import (
    AxisParallelClassifier,
    BaggedForestClassifier,
    CARTRegressor,
    HHCARTClassifier,
    HHCARTForestClassifier,
    HHGDTClassifier,
    ObliqueBoostingClassifier,
    ObliqueBoostingRegressor,
    ObliqueForestRegressor,
)
from oblique_cli.ground.resources import PACKAGE
from oblique_cli.parameters import parameter

ROOT = PACKAGE.parent
# Defaults that differ from scikit-learn's, which its tests rely on.
THEIR_DEFAULTS = {
    "criterion": "gini",
    "min_samples_split": 2,
    "min_impurity_decrease": 0.0,
    "missing": "learn",
    "epsilon": 0.0,
    "quantile": 0.9,
}


def _with_their_defaults(cls: type[Any]) -> type[Any]:
    """Return a subclass with scikit-learn's defaults."""
    theirs = THEIR_DEFAULTS | ({"min_samples_leaf": 1} if issubclass(cls, ObliqueForestRegressor) else {})
    changed = {name: parameter(default=value) for name, value in theirs.items() if name in cls.parameters}
    made = type(cls)(cls.__name__.removesuffix("Classifier"), (cls,), {"__module__": __name__, **changed})
    globals()[made.__name__] = made  # for pickles
    return made


AXIS_PARALLEL, HHCART, HHGDT, BAGGED, HHCART_FOREST, FOREST, BOOSTING, NUMBERS = map(
    _with_their_defaults,
    (
        AxisParallelClassifier,
        HHCARTClassifier,
        HHGDTClassifier,
        BaggedForestClassifier,
        HHCARTForestClassifier,
        ObliqueForestRegressor,
        ObliqueBoostingClassifier,
        ObliqueBoostingRegressor,
    ),
)
TABLES: dict[str, Any] = {
    "CLF_TREES": {"AxisParallel": AXIS_PARALLEL, "HHCART": HHCART, "HHGDT": HHGDT},
    "REG_TREES": {"CART": CARTRegressor},
    "SPARSE_TREES": {},
    "FOREST_CLASSIFIERS": {"Bagged": BAGGED, "HHCARTForest": HHCART_FOREST},
    "FOREST_REGRESSORS": {"ObliqueForest": FOREST},
    "FOREST_TRANSFORMERS": {},
    "CLF_CRITERIONS": ("gini", "entropy"),  # scikit-learn calls entropy log_loss as well
}
IMPORTED = {
    "DecisionTreeClassifier": AXIS_PARALLEL,
    "ExtraTreeClassifier": HHCART,
    "DecisionTreeRegressor": CARTRegressor,
    "ExtraTreeRegressor": CARTRegressor,
    "RandomForestClassifier": BAGGED,
    "ExtraTreesClassifier": HHCART_FOREST,
    "RandomForestRegressor": FOREST,
    "ExtraTreesRegressor": FOREST,
    "GradientBoostingClassifier": BOOSTING,
    "GradientBoostingRegressor": NUMBERS,
}
MODULES = {
    "trees": "sklearn.tree.tests.test_tree",
    "forests": "sklearn.ensemble.tests.test_forest",
    "boosting": "sklearn.ensemble.tests.test_gradient_boosting",
}

DOES_NOT_APPLY = yaml.safe_load(Path(__file__).with_name("scikit_learn_skips.yaml").read_text(encoding="utf-8"))
LONG = {"test_trees_prune_tree_classifier_are_subtrees", "test_trees_with_only_one_non_constant_features"}

# Parameters and attributes of scikit-learn that its tests use and these ensembles do not have.
ABSENT = {
    "forests": "criterion max_leaf_nodes min_samples_split min_weight_fraction_leaf min_impurity_decrease class_weight "
    "warm_start max_samples estimator estimators_ estimators_samples_ _set_oob_score_and_attributes len",
    "boosting": "loss init subsample alpha min_samples_split min_impurity_decrease max_leaf_nodes warm_start criterion "
    "ccp_alpha estimators_ max_features_ staged_predict staged_predict_proba",
}
NAMED = re.compile(
    r"unexpected keyword argument '(\w+)'|Invalid parameter '(\w+)'|has no attribute '(\w+)'|has no (len)"
)


def _without_absent_names(test: Any, absent: Collection[str]) -> Any:
    """Return a test that is skipped at a name which the classes do not have."""

    @functools.wraps(test)
    def tried(*arguments: Any, **named: Any) -> None:
        try:
            test(*arguments, **named)
        except (TypeError, ValueError, AttributeError, pytest.fail.Exception) as error:
            name = next(filter(None, match.groups())) if (match := NAMED.search(str(error))) else ""
            if name not in absent:
                raise
            pytest.skip(f"there is no {name}")

    return tried


def _tests_of(short: str, module: str) -> dict[str, Any]:
    """Return the tests of an installed test module, with the classes of this package in its tables."""
    # Everything that the module imports is loaded before names are replaced.
    origin = str(importlib.import_module(module).__file__)
    with open(origin, encoding="utf-8") as file:
        program = ast.parse(file.read(), origin)
    for statement in program.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        if isinstance(target, ast.Name) and target.id in TABLES:
            statement.value = ast.parse(f"_TABLES[{target.id!r}]", mode="eval").body  # type: ignore[attr-defined]
    for call in (node for node in ast.walk(program) if isinstance(node, ast.Call)):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "parametrize":  # pytest wants lists
            call.args[1] = ast.Call(ast.Name("list", ast.Load()), [call.args[1]], [])
    names: dict[str, Any] = {"__name__": module, "__file__": origin, "_TABLES": TABLES}
    with ExitStack() as patches:
        for name, cls in IMPORTED.items():
            home = sklearn.tree if hasattr(sklearn.tree, name) else sklearn.ensemble
            patches.enter_context(mock.patch.object(home, name, cls))
        exec(compile(ast.fix_missing_locations(program), origin, "exec"), names)
    names["pytest"] = SimpleNamespace(**{**vars(pytest), "raises": lambda error, match="": pytest.raises(error)})
    absent = ABSENT.get(short, "").split()
    return {
        f"test_{short}_{name[5:]}": _without_absent_names(test, absent)
        for name, test in names.items()
        if name.startswith("test_")
    }


@pytest.fixture
def global_random_seed() -> int:
    return 42


@pytest.fixture(autouse=True)
def _applies(request: pytest.FixtureRequest) -> None:
    name, _, parameters = request.node.name.removeprefix("test_").partition("[")
    for key, reason in DOES_NOT_APPLY.items():
        names, _, contained = key.partition(" ")
        if re.fullmatch(names, name) and re.search(contained, parameters):
            pytest.skip(reason)


pytestmark = pytest.mark.filterwarnings("ignore")
for _short, _module in MODULES.items():
    globals().update(_tests_of(_short, _module))
for _name in LONG & globals().keys():
    globals()[_name] = pytest.mark.long(globals()[_name])


def test_the_page_has_the_stored_counts_which_are_those_of_the_tests(request):
    with open(ROOT / "results" / "scikit_learn.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    page = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    for row in rows:
        assert f"| {row['tests']} | {row['passed']} | {row['not_applicable']} | {row['failed']} |\n" in page
        assert row["failed"] == "0" and f"tests of scikit-learn {row['scikit_learn']} " in page
    if {row["scikit_learn"] for row in rows} != {sklearn.__version__}:
        pytest.skip(f"the counts are those of another version than {sklearn.__version__}")
    names = [item.name for item in request.node.parent.collect()]
    for row in rows:
        stored = sum(int(row[key]) for key in ("passed", "not_applicable", "failed"))
        assert sum(name.startswith(f"test_{row['tests']}_") for name in names) == stored


SCRIPT = """
import pickle
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_wine
from sklearn.inspection import permutation_importance
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.tree import DecisionTreeClassifier, export_text, plot_tree

wine = load_wine()
X_train, X_test, y_train, y_test = train_test_split(wine.data, wine.target, stratify=wine.target, random_state=0)
tree = DecisionTreeClassifier(criterion="gini", min_samples_split=4, min_samples_leaf=0.02, random_state=0)
tree.fit(X_train, y_train)
print(accuracy_score(y_test, tree.predict(X_test)), tree.get_depth(), tree.get_n_leaves(), tree.n_classes_)
path = tree.cost_complexity_pruning_path(X_train, y_train)
alphas, impurities = path.ccp_alphas[:-1], path.impurities[:-1]
search = GridSearchCV(tree, {"ccp_alpha": alphas, "max_depth": [2, 4, None]}, cv=3).fit(X_train, y_train)
best = search.best_estimator_
print(search.best_params_, cross_val_score(best, X_train, y_train).mean())
print(export_text(best, feature_names=list(wine.feature_names)))
figure, ax = plt.subplots(figsize=(8, 5))
plot_tree(best, feature_names=wine.feature_names, class_names=list(wine.target_names), filled=True, ax=ax)
ax.set_title("best tree")
figure.savefig("tree.png")
inner = best.tree_.children_left != best.tree_.children_right
for node in np.flatnonzero(inner):
    print(wine.feature_names[best.tree_.feature[node]], best.tree_.threshold[node], best.tree_.impurity[node])
print(best.decision_path(X_test).sum(), best.apply(X_test)[:3], best.feature_importances_.argmax())
calibrated = CalibratedClassifierCV(best, method="isotonic", cv=3).fit(X_train, y_train)
print(calibrated.predict_proba(X_test).shape)
print(permutation_importance(best, X_test, y_test, n_repeats=3, random_state=0).importances_mean.argmax())
copy = pickle.loads(pickle.dumps(best))
assert np.array_equal(copy.predict_proba(X_test), best.predict_proba(X_test))
assert best.score(X_test, y_test) > 0.8 and impurities[0] <= impurities[-1]
"""


@pytest.mark.parametrize("ours", [False, True])
def test_a_script_for_their_tree_runs_with_one_changed_import(ours, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    imported = "from oblique_cli import AxisParallelClassifier as DecisionTreeClassifier, export_text, plot_tree"
    theirs = "from sklearn.tree import DecisionTreeClassifier, export_text, plot_tree"
    exec(SCRIPT.replace(theirs, imported) if ours else SCRIPT, {})
    assert (tmp_path / "tree.png").stat().st_size > 0
