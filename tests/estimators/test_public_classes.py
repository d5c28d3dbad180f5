"""What a scikit-learn user expects of every public estimator: names, parameters, attributes, sentences."""

import ast
import inspect
import io
import itertools
import json
import pickle
import re
import subprocess
import sys
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from contracts import PROPOSER_NAMES, real_set
from matplotlib.figure import Figure
from scipy.sparse import csr_matrix, issparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV

import oblique_cli
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS, make, task_of
from oblique_cli.estimators.oblique.heuristics import CLASSIFIERS, classifier_of
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.ground.constraints import Real
from oblique_cli.models.file_format import digest
from oblique_cli.papers.discrete.c45 import Growth
from oblique_cli.proposers.hhcart import HHCART
from oblique_cli.tree.pruning import PRUNINGS
from oblique_cli.tree.splitting import PROPOSERS
from tools import stubs

# Fast enough for every contract, and no less itself.
QUICK = {
    "n_estimators": 4,
    "restarts": 2,
    "jumps": 1,
    "patience": 50,
    "inner_folds": 2,
    "pruning_folds": 2,
    "max_components": 2,
    "component_folds": 2,
    "n_penalties": 4,
    "folds": 2,
}
# Models that are close to constants, so that the tree has more than one leaf.
QUICK_FIT = {"LogisticTreeClassifier": {"leaf_penalty": 1e4, "doubling_price": 0}}
CLASSES = sorted({algorithm.estimator for algorithm in ALGORITHMS.values()}, key=lambda cls: cls.__name__)
CLASSES += [ObliqueTreeClassifier, oblique_cli.BottomUpTreeClassifier]
TREES = [cls for cls in CLASSES if hasattr(cls, "get_n_leaves")]
BY_CLASS = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
BY_TREE = pytest.mark.parametrize("cls", TREES, ids=lambda cls: cls.__name__)


def quick(cls: type, **params):
    model = cls(**params)
    declared = model.get_params(deep=False)
    model.set_params(
        **{name: value for name, value in QUICK.items() if name in declared}, **QUICK_FIT.get(cls.__name__, {})
    )
    return model.set_params(random_state=0) if "random_state" in declared else model


def example(model):
    """Rows and targets for a classifier or a regressor."""
    data = real_set("iris")
    return data.X, (
        np.abs(data.X[:, 0] - 5.8) - data.X[:, 2] if is_regressor(model) else np.array(data.classes)[data.y]
    )


@cache
def fitted(cls: type, **params):
    """A fitted estimator, which no test changes."""
    model = quick(cls, **params)
    return model.fit(*example(model))


# ---- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_algorithm_has_a_public_class_and_make_gives_an_instance_of_it(name):
    cls = ALGORITHMS[name].estimator
    assert type(make(name)) is cls
    assert getattr(oblique_cli, cls.__name__) is cls
    assert cls.__name__ in dir(oblique_cli) and cls.__name__ in oblique_cli.__all__
    assert is_regressor(cls()) == (task_of(name) == "regression") and is_classifier(cls()) != is_regressor(cls())


def test_names_are_those_of_the_papers_and_those_that_the_front_does_not_list_are_found(monkeypatch):
    wanted = "HHCART HHCARTD HHCRV HHGDT GDT OC1 OC1LC OC1AP AxisParallel QUEST SADT FDT Cline HHBUT BUTIFSVM C45"
    for name in wanted.split():
        assert inspect.isclass(getattr(oblique_cli, f"{name}Classifier"))
    assert repr(oblique_cli.HHGDTClassifier(epsilon=0.1)) == "HHGDTClassifier(epsilon=0.1)"
    monkeypatch.delitem(oblique_cli._PLACES, "FDTClassifier")
    assert oblique_cli.FDTClassifier is classifier_of("fdt") and "FDTClassifier" in dir(oblique_cli)
    with pytest.raises(AttributeError, match="has no attribute 'NoSuchClassifier'"):
        _ = oblique_cli.NoSuchClassifier


def test_dir_lists_the_classes_and_loads_nothing_numerical():
    code = "import sys, oblique_cli; print('HHCARTClassifier' in dir(oblique_cli), 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


@pytest.mark.parametrize("name", PROPOSER_NAMES)
def test_the_class_of_a_heuristic_is_an_ordinary_class(name):
    cls, algorithm = classifier_of(name), ALGORITHMS[name]
    assert issubclass(cls, ObliqueTreeClassifier) and cls.__qualname__ == cls.__name__
    assert getattr(sys.modules[cls.__module__], cls.__name__) is cls
    signature = inspect.signature(cls)
    assert set(signature.parameters) - {"qualitative", "n_jobs", "random_state"} == set(algorithm.parameters)
    assert all(p.kind is p.KEYWORD_ONLY for p in signature.parameters.values())
    documented = re.findall(r"^(\w+) : .*, default", inspect.getdoc(cls), flags=re.M)
    assert documented == list(signature.parameters)
    with pytest.raises(TypeError, match=rf"^{cls.__name__}.__init__\(\) got an unexpected keyword argument 'tua'"):
        cls(tua=1)
    with pytest.raises(TypeError, match=r"takes 1 positional argument but 2 were given"):
        cls(0.1)


def test_a_docstring_has_at_most_80_lines():
    classes = [getattr(oblique_cli, name) for name in oblique_cli.__all__]
    classes += [algorithm.estimator for algorithm in ALGORITHMS.values()]
    lines = {cls.__name__: len(inspect.getdoc(cls).splitlines()) for cls in classes if isinstance(cls, type)}
    assert {name: count for name, count in lines.items() if count > 80} == {}
    short = inspect.getdoc(oblique_cli.HHCARTClassifier)
    assert "\nmin_parent : a number in [0, inf), default 2. A node is split only if it weighs more than this\n" in short


@pytest.fixture
def registered():
    """Registers a heuristic as a file does, for one test."""
    names, classes = set(PROPOSERS), set(CLASSIFIERS)
    yield lambda proposer: PROPOSERS.register("other")(proposer)
    for things, before in ((PROPOSERS._things, names), (CLASSIFIERS, classes)):
        for name in things.keys() - before:
            del things[name]


def with_parameter(name):
    """Members of a heuristic of one parameter, which is 1."""
    members = {}
    exec(f"def __init__(self, {name}=1):\n    self.{name} = {name}", members)
    return {"__init__": members["__init__"], "constraints": {name: Real()}, "native": None}


OF_A_FILE = {"__doc__": "One line.", "__module__": HHCART.__module__}
TWICE = r"has a parameter '{0}', which the tree has as well; rename it"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"__name__": "HHGDT"}, r"has a classifier called HHGDTClassifier, as that of \S+hhgdt\.py is; rename the"),
        ({"classifier": "C45Classifier"}, r"called C45Classifier, as the one in oblique_cli\.papers\.discrete\.c45"),
        *((with_parameter(name), TWICE.format(name)) for name in ("ties", "random_state", "fit")),
        ({"limit_name": "epsilon"} | with_parameter("max_misrate"), TWICE.format("max_misrate")),
        ({"limit_name": "epsilon"} | with_parameter("epsilon"), TWICE.format("epsilon")),
        ({"limit_name": "criterion"}, "has limit_name 'criterion', which is another parameter"),
        ({"limit_name": "an epsilon"}, "has limit_name 'an epsilon', which is no name of a parameter"),
        ({"tree_defaults": {"critrion": "gini"}}, "has 'critrion' in tree_defaults, which is no parameter of the"),
        ({"tree_defaults": {"min_parent": -1}}, r"a default that the tree does not take: min_parent of tree_defaults"),
    ],
)
def test_a_heuristic_that_clashes_is_refused_in_one_sentence_with_its_file(registered, changes, message):
    classifier_of("hhgdt")
    changes = dict(changes)
    registered(type(changes.pop("__name__", "Other"), (HHCART,), OF_A_FILE | changes))
    with pytest.raises(ConfigError, match=rf"^(\S+|<input>): proposer 'other' .*{message}[^.]*\.(py is; [^.]*\.)?"):
        classifier_of("other")
    assert not any(cls.heuristic is PROPOSERS["other"] for cls in CLASSIFIERS.values())


@pytest.mark.parametrize("limit", ["max_misrate", "epsilon", "share"])
def test_a_heuristic_names_the_limit_of_its_tree(registered, limit):
    registered(type("Other", (HHCART,), {"limit_name": limit, **OF_A_FILE}))
    model = classifier_of("other")(**{limit: 0.25})
    assert model.max_misrate == model.epsilon == 0.25


def test_the_stub_for_editors_is_what_the_classes_are_and_needs_the_standard_library_alone(tmp_path):
    """The build writes it of the text of the declarations, before there is anything to import."""
    known = stubs.classes()
    results = {cls.name: cls for cls in ast.parse(stubs.text(known)).body if isinstance(cls, ast.ClassDef)}
    classes = [
        classifier_of(name) for name, heuristic in PROPOSERS.items() if heuristic.__module__.startswith("oblique_cli.")
    ]
    assert sorted(results) == sorted(cls.__name__ for cls in classes)
    for cls in classes:
        written = next(item for item in results[cls.__name__].body if isinstance(item, ast.FunctionDef)).args
        declared = inspect.signature(cls).parameters
        assert [argument.arg for argument in written.kwonlyargs] == list(declared) and len(written.args) == 1
        assert [ast.literal_eval(default) for default in written.kw_defaults] == [
            item.default for item in declared.values()
        ]
        assert [ast.unparse(argument.annotation) for argument in written.kwonlyargs] == [
            item.annotation for item in declared.values()
        ]
    stub = tmp_path / "classifiers.pyi"
    subprocess.run([sys.executable, "-I", "-S", stubs.__file__, stub], check=True)
    assert stub.read_text(encoding="utf-8") == stubs.text()


# ---- parameters ------------------------------------------------------------------------------------------------------


@BY_CLASS
def test_it_passes_scikit_learns_checks_of_parameters_and_is_cloned(cls):
    model = quick(cls)
    for name, value in model.get_params(deep=False).items():
        assert clone(model).set_params(**{name: value}).get_params(deep=False)[name] is value
    copied = clone(model)
    assert type(copied) is cls and repr(copied) == repr(model)
    assert set(cls().get_params(deep=False)) == set(inspect.signature(cls).parameters)
    with pytest.raises(ValueError, match="Invalid parameter 'no_such'"):
        model.set_params(no_such=1)


GRIDS = {
    "HHGDTClassifier": {"epsilon": [0.05, 0.4]},
    "HHCARTForestClassifier": {"max_features": [1, "sqrt", 0.5, None]},
    "OrthogonalTreesClassifier": {"max_depth": [1, 3]},
    "ReconstructedFourierTreeClassifier": {"n_bins": [2, 3]},
    "TAOClassifier": {"penalty": [0.01, 0.1]},
}


@pytest.mark.parametrize(("name", "grid"), GRIDS.items())
def test_grid_search_tunes_a_parameter(name, grid):
    model = quick(getattr(oblique_cli, name))
    X, y = example(model)
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    (name,) = grid
    assert search.best_params_[name] in grid[name]
    assert search.best_estimator_.get_params()[name] == search.best_params_[name]


def test_a_part_is_reached_through_its_name_and_must_be_an_object():
    model = ObliqueTreeClassifier(PROPOSERS["hhcart_d"](), random_state=1)
    assert model.get_params()["proposer__tau"] == 0.05
    model.set_params(proposer__tau=0.3)
    assert type(model.proposer) is PROPOSERS["hhcart_d"] and model.proposer.tau == 0.3
    model.set_params(proposer=PROPOSERS["hhgdt"](), proposer__sign="positive")
    assert repr(model.proposer) == "HHGDT(sign='positive')"
    with pytest.raises(ValueError, match="Invalid parameter 'epsilon' for estimator HHGDT"):
        model.set_params(proposer__epsilon=0.3)
    with pytest.raises(ConfigError, match=r"^pruning__strength of .* cannot be set; set pruning to an object that has"):
        oblique_cli.HHCARTClassifier().set_params(pruning__strength=1.0)
    rule = PRUNINGS["cost_complexity"]()
    model = oblique_cli.HHCARTClassifier().set_params(pruning=rule, pruning__standard_errors=1.0)
    assert model.pruning is rule and rule.standard_errors == 1.0


def test_a_file_with_grouped_parameters_of_orthogonal_trees_loads(tmp_path):
    X, y = example(oblique_cli.OrthogonalTreesClassifier())
    model = make("odt", random_state=0, n_trees=3, min_cases=4, discretization="quantile", n_bins=3).fit(X, y)
    with pytest.raises(ConfigError, match=r"^confidence of OrthogonalTreesClassifier must be a number in"):
        oblique_cli.OrthogonalTreesClassifier(confidence=2).fit(X, y)
    path = tmp_path / "model.json"
    oblique_cli.save(model, path)
    document = json.loads(path.read_text())
    flat = document["parameters"]
    tree = {name: flat.pop(name) for name in Growth.parameters} | {"max_features": None}
    columns = {"method": flat.pop("discretization"), "n_bins": flat.pop("n_bins"), "max_levels": flat.pop("max_levels")}
    for name, of, group in (("tree", "C45", tree), ("discretizer", "Discretizer", columns)):
        flat[name] = {"part": ["public", of], "parameters": group}
    path.write_text(json.dumps({**document, "digest": digest(document)}))
    loaded = oblique_cli.load(path)
    assert loaded.estimator.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@BY_CLASS
def test_its_html_warns_of_nothing_and_a_pickle_predicts_the_same(cls):
    model = fitted(cls)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cls.__name__ in quick(cls)._repr_html_() and cls.__name__ in model._repr_html_()
    X, _ = example(model)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


# ---- attributes ------------------------------------------------------------------------------------------------------


@BY_TREE
def test_sizes_paths_importances_and_text_agree_with_each_other(cls):
    model = fitted(cls)
    X, _ = example(model)
    assert model.get_depth() == model.depth_ > 0 and model.get_n_leaves() == model.n_leaves_ > 1
    importances = model.feature_importances_
    assert importances.shape == (4,) and (importances >= 0).all() and importances.sum() == pytest.approx(1.0)

    result, leaves = model.decision_path(X), model.apply(X)
    path, starts = result if isinstance(result, tuple) else (result, [0, result.shape[1]])
    assert issparse(path) and set(path.data) == {1}
    leaves = leaves.reshape(len(X), -1)
    assert leaves.shape[1] == len(starts) - 1 and starts[-1] == path.shape[1] == model.n_nodes_
    longest = 0
    for tree, (first, last) in enumerate(itertools.pairwise(starts)):
        part = csr_matrix(path)[:, first:last]
        lengths = np.diff(part.indptr)
        longest = max(longest, int(lengths.max()))
        for row in (0, 70, 149):
            nodes = part.indices[part.indptr[row] : part.indptr[row + 1]]
            assert nodes[0] == 0 and nodes[-1] == leaves[row, tree] and (np.diff(nodes) > 0).all()
            if not isinstance(result, tuple) and hasattr(model.tree_, "parents"):
                np.testing.assert_array_equal(model.tree_.parents[nodes], [-1, *nodes[:-1]])
    assert longest == model.depth_ + 1
    text = model.export_text()
    assert len(text.splitlines()) >= model.get_n_leaves()
    names = ["one", "two", "three", "four"]
    assert any(name in model.export_text(names) for name in names)


@pytest.mark.parametrize("cls", TREES[::4], ids=lambda cls: cls.__name__)
def test_a_tree_is_drawn(cls):
    params = {"max_depth": 2} if "max_depth" in inspect.signature(cls).parameters else {}
    model = fitted(cls, **params)
    figure = model.plot(title="a title")
    written = io.BytesIO()
    figure.savefig(written, format="svg")
    assert b"<svg" in written.getvalue() and len(figure.axes) == 1 and len(figure.axes[0].texts) > 2
    axes = Figure().subplots(1, 2)[1]
    assert model.plot(title="a title", ax=axes) is axes and len(axes.texts) == len(figure.axes[0].texts)


def test_importances_go_by_coefficient_and_range_and_are_known_with_levels_and_gaps():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 3))
    y = (0.6 * X[:, 0] + 0.3 * X[:, 1] > 0.45).astype(int)
    model = oblique_cli.HHCARTClassifier(max_depth=1).fit(X, y)
    moved = abs(model.tree_.coef_[0]) * np.ptp(X, axis=0)
    np.testing.assert_allclose(model.feature_importances_, moved / moved.sum())
    units = np.array([1000.0, 1e-3, 1.0])
    same = oblique_cli.HHGDTClassifier().fit(X, y)
    plain, scaled = (oblique_cli.AxisParallelClassifier().fit(rows, y) for rows in (X, X * units))
    np.testing.assert_allclose(scaled.feature_importances_, plain.feature_importances_)
    assert same.feature_importances_.argmin() == 2
    X, y = np.arange(8.0).reshape(4, 2), ["a"] * 4
    alone = oblique_cli.HHCARTClassifier().fit(X, y)
    np.testing.assert_array_equal(alone.feature_importances_, [0.0, 0.0])
    assert alone.get_depth() == 0 and alone.get_n_leaves() == 1
    np.testing.assert_array_equal(alone.decision_path(X).toarray(), np.ones((4, 1)))
    frame = pd.DataFrame({"size": [5.0] * 6, "color": ["red", "red", "blue", "blue", "green", "green"]})
    model = oblique_cli.HHCARTDClassifier().fit(frame, [0, 0, 1, 1, 1, 1])
    np.testing.assert_array_equal(model.feature_importances_, [0.0, 1.0])
    assert "color in {" in model.export_text() and "red" in model.export_text()
    gaps = np.column_stack([np.where(np.arange(40) % 2, np.nan, 3.0), np.zeros(40)])
    model = oblique_cli.AxisParallelClassifier(missing="learn").fit(gaps, np.arange(40) % 2)
    np.testing.assert_array_equal(model.feature_importances_, [1.0, 0.0])


def test_names_of_columns_are_used_and_counted():
    data = real_set("iris")
    frame = pd.DataFrame(data.X, columns=["sl", "sw", "pl", "pw"])
    model = oblique_cli.AxisParallelClassifier(max_depth=1).fit(frame, data.y)
    assert re.match(r"if p[lw] <=", model.export_text()) and "setosa" in model.export_text(class_names=data.classes)
    with pytest.raises(ConfigError, match=r"^feature_names must be a list of 4 names for this AxisParallelClassifier"):
        model.export_text(["a"])
    forest = fitted(oblique_cli.MPSVMForestClassifier)
    assert forest.export_text(number=1) in forest.export_text()
    with pytest.raises(ConfigError, match=r"^number of a tree must be from 0 to 3\. Got 4\.$"):
        forest.plot(4)


# ---- input -----------------------------------------------------------------------------------------------------------


@BY_CLASS
def test_what_is_no_number_gets_a_sentence(cls):
    model = quick(cls)
    X, y = example(model)
    dates = pd.DataFrame({"size": X[:, 0], "when": pd.date_range("2020-01-01", periods=len(X))})
    with pytest.raises(ConfigError, match=rf"^column 'when' holds dates, which {cls.__name__} does not take; turn it"):
        clone(model).fit(dates, y)
    waits = dates.assign(when=dates["when"] - dates["when"][0])
    with pytest.raises(ConfigError, match=r"^column 'when' holds durations"):
        clone(model).fit(waits, y)
    with pytest.raises((ConfigError, ValueError), match=r"Complex data not supported"):
        clone(model).fit(X + 1j, y)
    with pytest.raises(ValueError, match=r"words such as 'a'|could not convert string to float"):
        clone(model).fit(np.array([["a", "b"]] * len(X)), y)
    if cls is not oblique_cli.CARTRegressor:  # which is scikit-learn's own
        with pytest.raises(TypeError, match=r"Sparse data was passed for X, but dense data is required"):
            clone(model).fit(csr_matrix(X), y)
