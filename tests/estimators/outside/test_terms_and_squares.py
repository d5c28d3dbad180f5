"""What a model of another library has to read, squares of columns, and WEKA as a program."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.outside import weka_classifier
from oblique_cli.estimators.outside.building import load_class, squares
from oblique_cli.estimators.outside.remote import OutsideEstimator
from oblique_cli.estimators.outside.sizes import Sizes, nested, sizes_of, together
from oblique_cli.evaluation.metrics import METRICS, Undefined, n_terms

X, Y = load_iris(return_X_y=True)
FILES = Path(__file__).parents[2] / "files"

LMT = (FILES / "weka_lmt.txt").read_text(encoding="utf-8")
LOGISTIC = (FILES / "weka_logistic.txt").read_text(encoding="utf-8")


def fitted(path, params=None, prepare="", X=X, Y=Y):
    return OutsideEstimator(path, params or {}, prepare, {}, False, 1).fit(X, Y)


def test_terms_of_a_model_of_another_library_are_its_nodes_or_coefficients():
    assert n_terms(fitted("sklearn.tree.DecisionTreeClassifier", {"max_leaf_nodes": 3})) == 5
    forest = fitted("sklearn.ensemble.RandomForestClassifier", {"n_estimators": 4})
    assert n_terms(forest) == forest.n_nodes_ > 4
    tree = {"a": [{"leaf": 1}, {"a": [{"leaf": 2}, {"leaf": 3}], "w": 4}], "w": 2}
    result = nested(tree, lambda node: node.get("a", ()), lambda node: node["w"])
    assert result == Sizes(leaves=3, nodes=5, depth=2, terms=3 + 6)
    assert together([result, result]) == Sizes(6, 10, 2, 18)
    # Of two classes it has one set of coefficients, of three it has three.
    assert n_terms(fitted("sklearn.linear_model.LogisticRegression", {"max_iter": 500})) == 1 + 3 * 4
    two = Y < 2
    assert n_terms(fitted("sklearn.linear_model.LogisticRegression", X=X[two], Y=Y[two])) == 1 + 4
    from sklearn.svm import SVC

    alone = SVC(C=10.0, gamma=0.1).fit(StandardScaler().fit_transform(X), Y)
    grid = {"estimator": {"class": "sklearn.svm.SVC"}, "param_grid": {"C": [10.0], "gamma": [0.1]}, "cv": 3}
    assert n_terms(fitted("sklearn.model_selection.GridSearchCV", grid, "standardize")) == alone.support_vectors_.size
    model = fitted("sklearn.neighbors.KNeighborsClassifier")
    with pytest.raises(Undefined, match="does not say how many terms"):
        METRICS["n_terms"].function(model, X)


def test_seconds_of_processors_are_known_of_models_with_a_process_of_their_own():
    model = fitted("sklearn.ensemble.RandomForestClassifier", {"n_estimators": 30})
    assert METRICS["cpu"].function(model, X) == model.cpu_seconds_ > 0.0
    with pytest.raises(Undefined, match="give limits"):
        METRICS["cpu"].function(object(), X)


def test_squares_stand_beside_the_columns_in_standard_deviations():
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(3.0, 2.0, 60), rng.integers(0, 2, 60), np.full(60, 7.0)])
    transformer = squares(table)
    result = transformer.fit_transform(table)
    z = (table[:, 0] - table[:, 0].mean()) / table[:, 0].std()
    assert result.shape == (60, 4)  # a column of two values, or of one, has no square
    np.testing.assert_allclose(result[:, 0], z)
    np.testing.assert_allclose(result[:, 3], (z**2 - (z**2).mean()) / (z**2).std())
    np.testing.assert_allclose(transformer.transform(table[:5]), result[:5])
    assert squares(table[:, 1:]).fit_transform(table[:, 1:]).shape == (60, 2)


def test_weka_reads_rows_and_says_sizes_in_forms_of_its_own(tmp_path):
    assert weka_classifier.sizes_of_text(LMT, 2) == Sizes(3, 5, 2, 5 + 3)  # of two classes one set of coefficients
    assert weka_classifier.sizes_of_text(LMT, 3).terms == 5 + 6
    assert weka_classifier.sizes_of_text(LOGISTIC, 3) == Sizes(0, 0, 0, 1 + 3)
    assert weka_classifier.sizes_of_text("J48 pruned tree", 2) == Sizes(0, 0, 0, 0)
    path = tmp_path / "rows.arff"
    table = np.array([[1.5, 2.0], [np.nan, 0.0]])
    weka_classifier.write_arff(path, table, np.array([1, 0]), 2, {1: 3})
    assert path.read_text() == (
        "@relation rows\n@attribute f0 numeric\n@attribute f1 {l0,l1,l2}\n@attribute class {c0,c1}\n@data\n"
        "1.5,l2,c1\n?,l0,c0\n"
    )


def test_without_weka_the_class_says_what_to_install_and_labels_are_those_that_weka_predicts(monkeypatch):
    monkeypatch.setenv("WEKA_JAR", "/nowhere/weka.jar")
    monkeypatch.setattr(weka_classifier.shutil, "which", lambda name: "/usr/bin/java")
    with pytest.raises(ConfigError, match=r"^class weka\.classifiers\.trees\.LMT: there is no /nowhere/weka\.jar"):
        load_class("weka.classifiers.trees.LMT")
    monkeypatch.setattr(weka_classifier.shutil, "which", lambda name: None)
    with pytest.raises(ConfigError, match="there is no java"):
        load_class("weka.classifiers.trees.LMT")
    # A program in the place of java, which prints what WEKA prints, in its forms for right and for wrong rows.
    lines = "\n".join(
        f"    {i + 1}        1:c0       {k + 1}:c{k}  {'+' if k else ' '}  0.9" for i, k in enumerate((0, 2, 1))
    )
    predicted = {
        "-t": LMT,
        "-T": f"\n=== Predictions on test data ===\n\n inst#  actual predicted error prediction ()\n{lines}\n",
    }

    def java(command, **options):
        verb = next(word for word in command if word in predicted)
        if verb == "-t":
            Path(command[command.index("-d") + 1]).write_bytes(b"model")
        return subprocess.CompletedProcess(command, 0, predicted[verb], "")

    monkeypatch.setattr(weka_classifier, "archive", lambda: ("weka.jar", ""))
    monkeypatch.setattr(weka_classifier.subprocess, "run", java)
    model = load_class("weka.classifiers.trees.LMT")().fit(X[:6], np.array([0, 1, 2, 0, 1, 2]))
    np.testing.assert_array_equal(model.predict(X[:3]), [0, 2, 1])
    assert sizes_of(model).leaves == 3
    with pytest.raises(RuntimeError, match="WEKA predicted 3 of 4 rows"):
        model.predict(X[:4])


@pytest.mark.skipif(bool(weka_classifier.archive()[1]), reason=weka_classifier.archive()[1] or "WEKA is there")
def test_weka_itself_learns_iris():
    model = fitted("weka.classifiers.trees.LMT", X=X[::2], Y=Y[::2])
    assert (model.predict(X[1::2]) == Y[1::2]).mean() > 0.9 and n_terms(model) > 3
    assert not hasattr(model, "predict_proba")
