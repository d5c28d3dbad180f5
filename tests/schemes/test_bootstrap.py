"""The .632 bootstrap: samples, the estimate against its formulas, and what refuses it."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runner_support import FAKES, PruningTree, experiment, toy

from oblique_cli.data import catalogue
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.evaluation.tables import summarize
from oblique_cli.experiments.fits import Case, no_information_error, run_job
from oblique_cli.ground.nouns import AlgorithmSpec, CVSpec, DatasetSpec, Job, Row
from oblique_cli.schemes import SCHEMES, check, folds, places


@given(st.integers(3, 40), st.booleans(), st.integers(0, 99))
def test_a_sample_is_as_large_as_the_data_and_tested_on_what_it_lacks(n, stratified, seed):
    dataset = toy(n)
    drawn = folds(dataset, CVSpec("bootstrap", repeats=3, stratified=stratified), seed)
    assert [(f.repeat, f.index) for f in drawn] == [(0, 0), (0, 1), (1, 0), (2, 0)]
    for fold in drawn:
        if fold.apparent:
            assert np.array_equal(fold.train, np.arange(n)) and np.array_equal(fold.test, np.arange(n))
            continue
        assert len(fold.train) == n and np.array_equal(fold.test, np.setdiff1d(np.arange(n), fold.train))
        if stratified:
            assert np.array_equal(np.bincount(dataset.y[fold.train]), np.bincount(dataset.y))


def test_samples_hold_about_632_of_1000_rows():
    drawn = folds(toy(1000), CVSpec("bootstrap", repeats=20), seed=1)
    shares = [len(np.unique(f.train)) / 1000 for f in drawn if not f.apparent]
    assert np.mean(shares) == pytest.approx(1 - np.exp(-1), abs=0.01)


@pytest.mark.parametrize(
    ("dataset", "changes", "says"),
    [
        (toy(12, task="regression", y=np.arange(12.0), classes=()), {}, "the .632 estimate is one of"),
        (toy(classes=(1, 1)), {}, "which leaves 1 to train on"),
        (toy(classes=(1, 1, 1)), {"stratified": True}, "has one row a class, so a stratified bootstrap sample lacks"),
    ],
)
def test_data_that_cannot_be_drawn_from_are_refused(dataset, changes, says):
    with pytest.raises(ConfigError, match=says):
        check(dataset, CVSpec("bootstrap", **changes))


# ---- the estimate ----------------------------------------------------------------------------------------------------


def row(repeat, n_correct, n_test, fold=0, **measures):
    return Row("", "toy", "a", repeat, fold, "ok", n_correct=n_correct, n_test=n_test, measures=measures)


def estimates(plus, apparent_error, oob, gamma):
    whole = row(0, round(100 * (1 - apparent_error)), 100, 1, no_information_error=gamma)
    cv = CVSpec("bootstrap", options={"plus": plus})
    samples = [[row(r, round(100 * (1 - e)), 100)] for r, e in enumerate(oob)]
    return [1 - float(v) / 100 for v in SCHEMES["bootstrap"].accuracies(cv, samples, [whole])]


def plus_by_the_article(apparent_error, oob, gamma):
    """Efron and Tibshirani (1997), eqs. 29, 31 and 32 as they are printed."""
    e632 = 0.368 * apparent_error + 0.632 * oob
    capped = min(oob, gamma)
    overfitting = (capped - apparent_error) / (gamma - apparent_error) if capped > apparent_error else 0.0
    more = (capped - apparent_error) * 0.368 * 0.632 * overfitting / (1 - 0.368 * overfitting)
    return 0.368 * apparent_error + 0.632 * capped + more if oob > gamma else e632 + more


@pytest.mark.parametrize(
    ("apparent_error", "oob", "gamma"),
    [
        (0.0, (0.5, 0.5), 0.5),  # pure overfitting: .632+ says 1/2, .632 says .316
        (0.1, (0.2, 0.3, 0.25), 0.6),
        (0.0, (0.6, 0.7), 0.5),  # worse than no information: cut off
        (0.3, (0.2, 0.3), 0.5),  # no overfitting: as .632
    ],
)
def test_both_estimates_are_those_of_the_articles(apparent_error, oob, gamma):
    result = estimates(False, apparent_error, oob, gamma)
    assert result == pytest.approx([0.368 * apparent_error + 0.632 * e for e in oob])
    plus = estimates(True, apparent_error, oob, gamma)
    assert np.mean(plus) == pytest.approx(plus_by_the_article(apparent_error, np.mean(oob), gamma))
    assert len(plus) == len(oob)


def test_gamma_is_the_error_of_labels_and_predictions_that_never_met():
    y, predicted = np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1])
    assert no_information_error(y, predicted, 2) == pytest.approx(np.mean(y[:, None] != predicted))


CFG = """
version: 1
dataset: wine
algorithms: [{name: axis_parallel, pruning: none}, hhcart_d]
cv: {scheme: bootstrap, repeats: 5}
"""


def by_hand(name, repeats, seed):
    """The .632 accuracy of an unpruned axis-parallel tree, from the folds alone."""
    data = catalogue.load(name)
    made = ALGORITHMS["axis_parallel"].make
    whole = float((made(pruning="none").fit(data.X, data.y).predict(data.X) == data.y).mean())
    out = []
    for fold in folds(data, CVSpec("bootstrap", repeats=repeats), seed):
        if not fold.apparent:
            tree = made(pruning="none").fit(data.X[fold.train], data.y[fold.train])
            out.append(float((tree.predict(data.X[fold.test]) == data.y[fold.test]).mean()))
    values = [100 * (0.368 * whole + 0.632 * item) for item in out]
    return np.mean(values), np.std(values, ddof=1)


def test_a_run_reports_the_estimate_by_its_name_and_grows_and_tests_that_pair_folds_refuse_it(call):
    (call.folder / "x.yaml").write_text(CFG)
    assert call("validate", "x.yaml").out == "x.yaml: ok (1 data set x 2 algorithms x 6 folds)\n"
    ended = call("run", "x.yaml", "-j", "1", "--format", "json")
    assert ended.code == 0, ended.err
    first = json.loads(ended.out)["rows"][0]
    mean, sd = by_hand("wine", 5, 1)
    assert (first["accuracy_mean"], first["accuracy_sd"]) == (pytest.approx(mean), pytest.approx(sd))
    assert first["accuracy_estimate"] == ".632" == json.loads(ended.out)["accuracy"]
    assert (first["folds_expected"], first["repeats"]) == (6, 5)
    text = call("table", "x").out
    assert "accuracy (.632)" in text and "5 bootstrap samples (.632): accuracy in % is 0.368 x that of a tree" in text
    assert "no information" not in text and "Efron 1983" in text
    assert "Efron" not in call("table", "x", "--metric", "leaves").out
    ended = call("significance", "x")
    assert ended.code == 2 and ended.err == (
        "error: significance: x was run by scheme bootstrap, whose accuracy is of its own kind (.632), no share of "
        "test rows that folds could be paired by; use a cross-validation, such as scheme ordinary.\n"
    )
    ended = call("bias-variance", "x.yaml")
    assert ended.code == 2 and "scheme bootstrap does not test every row once a repetition" in ended.err
    plus = call("run", "x.yaml", "-j", "1", "--set", "cv.plus=true", "--set", "name=plus")
    assert "accuracy (.632+)" in plus.out and "5 bootstrap samples (.632+): accuracy in % as for .632, with" in plus.out
    grown = call("run", "x.yaml", "-j", "1", "--set", "cv.repeats=7", "--format", "json")
    assert "resumed: 12 done" in grown.err
    assert json.loads(grown.out)["rows"][0]["accuracy_mean"] == pytest.approx(by_hand("wine", 7, 1)[0])


def test_without_the_tree_of_all_rows_there_is_no_estimate():
    exp = experiment("axis_parallel", scheme="bootstrap", repeats=3)
    rows = [
        Row(str(place), "toy", "axis_parallel", *place, "ok", n_correct=5, n_test=10, n_leaves=3)
        for place in places(exp.cv)
    ]
    whole = rows.pop(1)
    (line,) = summarize(rows, exp).lines
    assert line.accuracy.mean is None and line.mark == "‡3/4"
    (line,) = summarize([*rows, whole], exp).lines
    assert line.accuracy.mean == 50 and line.repeats == 3 and line.leaves.mean == 3


def test_all_copies_of_a_pruning_row_leave_growth():
    dataset = toy(30)
    case = Case(dataset, DatasetSpec("toy"), AlgorithmSpec("pruning", "pruning"), FAKES["pruning"])
    PruningTree.seen.clear()
    for fold in folds(dataset, CVSpec("bootstrap", repeats=5, pruning_fraction=0.3), 1):
        assert run_job(Job("", "toy", "pruning", 0, 0, 1), case, fold).status == "ok"
        X, pruning = PruningTree.seen[-1]
        grown = np.setdiff1d(np.arange(len(X)), pruning)
        assert set(X[pruning, 0]) == set(fold.pruning) and set(X[grown, 0]).isdisjoint(fold.pruning)
    assert isinstance(SCHEMES["bootstrap"].accuracies(CVSpec(), [[row(0, 1, 3)]], [row(0, 1, 1)])[0], Fraction)
