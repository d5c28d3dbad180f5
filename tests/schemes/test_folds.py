"""Folds: what a scheme draws, from which stream, what it refuses, and runs of leave-one-out and of learning curves."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runner_support import toy
from sklearn.model_selection import LeaveOneOut, cross_val_score

from oblique_cli import data
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.ground.nouns import CVSpec
from oblique_cli.schemes import SCHEMES, check, folds, is_stratified, places


@pytest.fixture(scope="module")
def bupa():
    return data.load("bupa")


def all_parts(fold):
    """Every array of row ids in `fold`."""
    return [fold.train, fold.test, fold.pruning, *(part for pair in fold.tuning for part in pair)]


class_sizes = st.lists(st.integers(8, 40), min_size=1, max_size=4).map(tuple)
cut_settings = st.builds(
    CVSpec,
    scheme=st.sampled_from(["ordinary", "stratified", "nested", "two_stage"]),
    folds=st.integers(2, 4),
    repeats=st.just(2),
    tune_folds=st.integers(2, 3),
    stratified=st.booleans(),
    pruning_fraction=st.floats(0.01, 0.5),
)


@given(class_sizes, cut_settings, st.integers(0, 2**32))
def test_test_folds_are_disjoint_cover_and_differ_in_size_by_at_most_one(sizes, cv, seed):
    dataset = toy(classes=sizes)
    drawn = folds(dataset, cv, seed)
    assert [(f.repeat, f.index) for f in drawn] == places(cv)
    for repeat in range(cv.repeats):
        tests = [f.test for f in drawn if f.repeat == repeat]
        assert np.array_equal(np.sort(np.concatenate(tests)), np.arange(dataset.n))
        assert np.ptp([len(t) for t in tests]) <= 1
    for fold in drawn:
        assert np.array_equal(np.sort(np.concatenate([fold.train, fold.test])), np.arange(dataset.n))
        assert all(np.array_equal(part, np.unique(part)) for part in all_parts(fold))


@given(class_sizes, cut_settings, st.integers(0, 2**32))
def test_stratified_test_and_tuning_folds_hold_each_class_equally_within_one(sizes, cv, seed):
    cv = replace(cv, stratified=True)
    dataset = toy(classes=sizes)
    drawn = folds(dataset, cv, seed)
    for repeat in range(cv.repeats):
        counts = [np.bincount(dataset.y[f.test], minlength=len(sizes)) for f in drawn if f.repeat == repeat]
        assert np.ptp(counts, axis=0).max() <= 1
    for fold in drawn:
        counts = [np.bincount(dataset.y[pair.valid], minlength=len(sizes)) for pair in fold.tuning]
        assert not counts or np.ptp(counts, axis=0).max() <= 1


@given(class_sizes, cut_settings, st.integers(0, 2**32))
def test_pruning_rows_are_the_asked_share_of_the_training_rows(sizes, cv, seed):
    dataset = toy(classes=sizes)
    for fold in folds(dataset, cv, seed):
        for train, pruning in [(fold.train, fold.pruning), *((pair.train, pair.pruning) for pair in fold.tuning)]:
            assert np.isin(pruning, train).all()
            assert len(pruning) == max(1, round(cv.pruning_fraction * len(train))) < len(train)
            if is_stratified(cv):
                quotas = np.bincount(dataset.y[train], minlength=len(sizes)) * len(pruning) / len(train)
                assert np.abs(np.bincount(dataset.y[pruning], minlength=len(sizes)) - quotas).max() < 1


def test_nested_tuning_rows_lie_inside_train(bupa):
    for fold in folds(bupa, CVSpec("nested", repeats=2), seed=1):
        assert fold.tuning_id == ""
        pairs = list(fold.tuning)
        assert len(pairs) == 10
        for pair in pairs:
            assert np.array_equal(np.union1d(pair.train, pair.valid), fold.train)
            assert len(np.intersect1d(pair.train, pair.valid)) == 0
            assert len(np.intersect1d(pair.train, fold.test)) == len(np.intersect1d(pair.valid, fold.test)) == 0
        assert np.array_equal(np.sort(np.concatenate([pair.valid for pair in pairs])), fold.train)


def test_two_stage_tuning_rows_are_the_same_for_all_folds_and_overlap_test(bupa):
    drawn = folds(bupa, CVSpec("two_stage", repeats=2), seed=1)
    assert {fold.tuning_id for fold in drawn} == {"all rows"}
    first = list(drawn[0].tuning)
    for fold in drawn:
        for pair, same in zip(fold.tuning, first, strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(pair, same, strict=True))
        # The optimism of the two-stage procedure: each test row has helped to choose the parameters.
        assert np.isin(fold.test, np.concatenate([pair.valid for pair in first])).all()


def test_two_stage_evaluates_on_partitions_other_than_the_one_that_tuned(bupa):
    drawn = folds(bupa, CVSpec("two_stage", repeats=2), seed=1)
    tuned = {pair.valid.tobytes() for pair in drawn[0].tuning}
    assert tuned.isdisjoint(fold.test.tobytes() for fold in drawn)


def test_nested_and_two_stage_test_on_the_same_partitions(bupa):
    # Thesis, section 5.2.2: the same partitions serve the two-stage and the nested run.
    nested, two_stage = (folds(bupa, CVSpec(scheme, repeats=2), seed=1) for scheme in ("nested", "two_stage"))
    for a, b in zip(nested, two_stage, strict=True):
        assert np.array_equal(a.test, b.test) and np.array_equal(a.pruning, b.pruning)


def test_every_repetition_fold_and_data_set_has_a_draw_of_its_own(bupa):
    drawn = folds(bupa, CVSpec("nested", folds=5, repeats=3), seed=1)
    arrays = [part.tobytes() for fold in drawn for part in (fold.test, fold.pruning, next(iter(fold.tuning)).valid)]
    assert len(set(arrays)) == len(arrays)
    for other in (folds(bupa, CVSpec(folds=5), seed=2), folds(replace(bupa, name="liver"), CVSpec(folds=5), seed=1)):
        assert not np.array_equal(other[0].test, drawn[0].test)


def test_draws_are_the_ones_on_record(bupa):
    """Guards published results: a change here changes every table."""
    nested = folds(bupa, CVSpec("nested"), seed=20260101)[0]
    stratified = folds(bupa, CVSpec("stratified"), seed=20260101)[0]
    assert nested.test[:6].tolist() == [6, 8, 12, 34, 38, 43]
    assert nested.pruning[:6].tolist() == [3, 10, 33, 60, 65, 83]
    assert next(iter(nested.tuning)).valid[:6].tolist() == [4, 14, 26, 50, 60, 62]
    assert stratified.test[:6].tolist() == [11, 39, 42, 49, 50, 56]
    assert stratified.pruning[:6].tolist() == [3, 13, 14, 24, 35, 61]


@pytest.mark.parametrize("stratified", [False, True])
def test_monte_carlo_draws_random_divisions_of_the_asked_size(bupa, stratified):
    drawn = folds(bupa, CVSpec("monte_carlo", repeats=20, test_fraction=0.3, stratified=stratified), seed=1)
    assert [(f.repeat, f.index) for f in drawn] == [(r, 0) for r in range(20)]
    for fold in drawn:
        assert len(fold.test) == round(0.3 * 345)
        assert np.array_equal(np.union1d(fold.train, fold.test), np.arange(345))
        assert len(fold.train) + len(fold.test) == 345
    shares = [np.mean(bupa.y[fold.test] == 0) for fold in drawn]
    assert (np.ptp(shares) < 1.5 / 103) == stratified
    # Each row is tested about 6 times in 20: by chance, not by turns.
    times = np.bincount(np.concatenate([fold.test for fold in drawn]), minlength=345)
    assert times.min() < 6 < times.max()


def test_split_keeps_the_data_sets_own_rows_and_draws_pruning_rows_for_each_tree():
    spect = data.load("spect")
    drawn = folds(spect, CVSpec("split", repeats=10), seed=1)
    assert len(drawn) == 10
    for fold in drawn:
        assert np.array_equal(fold.train, np.arange(80)) and np.array_equal(fold.test, np.arange(80, 267))
        assert len(fold.pruning) == 8
    assert len({fold.pruning.tobytes() for fold in drawn}) == 10


def test_every_scheme_says_in_one_line_what_it_does():
    assert all(20 < len(scheme.summary) <= 120 for scheme in SCHEMES.values())


@pytest.mark.parametrize(
    ("sizes", "cv", "has", "remedy"),
    [
        ((20, 7), CVSpec("stratified"), "class 'b' has 7 rows", "folds: 7 or scheme: ordinary"),
        ((20, 7), CVSpec("two_stage", folds=5, stratified=True), "'b' has 7 rows", "tune: {folds: 7} or stratified: f"),
        ((40, 10), CVSpec("nested", stratified=True), "'b' has 9 rows in training", "tune: {folds: 9} or stratified:"),
        ((4, 3), CVSpec(), "7 rows", "folds: 7"),
        ((5, 5), CVSpec(folds=1), "folds: 1", "at least 2 folds"),
        ((5, 5), CVSpec("split"), "without a train/test split", "another scheme"),
        ((3, 3), CVSpec("monte_carlo", test_fraction=0.01), "6 for training and 0 for the test", "test_fraction"),
        ((1, 1), CVSpec(folds=2), "leaves 1 to train on", "more rows"),
        ((2, 2), CVSpec("monte_carlo", test_fraction=0.75), "leaves 1 to train on", "more rows"),
    ],
)
def test_folds_that_cannot_be_drawn_are_refused_with_a_way_out(sizes, cv, has, remedy):
    with pytest.raises(ConfigError, match=rf"{re.escape(has)}.*: use .*{re.escape(remedy)}"):
        folds(toy(classes=sizes), cv, seed=1)


def test_a_class_without_rows_is_not_the_smallest():
    dataset = replace(toy(classes=(12, 12)), classes=("a", "b", "gone"))
    check(dataset, CVSpec("stratified"))


@pytest.mark.parametrize("scheme", ["ordinary", "stratified", "nested", "two_stage", "monte_carlo"])
def test_the_share_that_corrects_a_test_is_that_of_the_rows_of_every_fold(scheme):
    cv, rows = CVSpec(scheme, folds=4, repeats=2, test_fraction=0.25), toy(80)
    for fold in folds(rows, cv, 0):
        assert len(fold.test) / (rows.n - len(fold.test)) == SCHEMES[scheme].test_over_train(cv)


# Learning curves: training sets that lie inside each other, tested on the rows of ordinary cross-validation


def test_training_sets_are_halved_and_lie_inside_each_other():
    cv = CVSpec("learning", folds=4, repeats=2, options={"steps": 3})
    drawn = folds(toy(48), cv, seed=5)
    assert [(f.repeat, f.index) for f in drawn] == places(cv) == [(r, k) for r in (0, 1) for k in range(12)]
    for first in range(0, len(drawn), 3):
        small, half, whole = drawn[first : first + 3]
        assert [len(f.train) for f in (small, half, whole)] == [9, 18, 36]
        assert set(small.train) < set(half.train) < set(whole.train)
        assert np.array_equal(small.test, whole.test) and np.array_equal(half.test, whole.test)
        assert np.array_equal(np.union1d(whole.train, whole.test), np.arange(48))


def test_the_whole_training_sets_are_those_of_ordinary_cross_validation():
    rows = toy(30)
    drawn = folds(rows, CVSpec("learning", folds=5, repeats=2, options={"steps": 2}), seed=3)[1::2]
    usual = folds(rows, CVSpec("ordinary", folds=5, repeats=2), seed=3)
    assert len(drawn) == len(usual) == 10
    for a, b in zip(drawn, usual, strict=True):
        assert np.array_equal(a.train, b.train) and np.array_equal(a.test, b.test)


def test_too_many_steps_are_refused_with_the_number_that_fits():
    with pytest.raises(ConfigError, match=r"has 9 training rows, halved 3 times they are 1, and 2 .*: use steps: 3"):
        check(toy(12), CVSpec("learning", folds=4))
    with pytest.raises(ConfigError, match="use more rows"):
        check(toy(4), CVSpec("learning", folds=2, options={"steps": 5}))


def test_its_mean_over_sizes_is_not_compared_as_an_accuracy(call):
    cv = "cv: {scheme: learning, folds: 3, repeats: 2}\n"
    (call.folder / "x.yaml").write_text("version: 1\ndataset: iris\nalgorithms: [axis_parallel, hhcart_d]\n" + cv)
    ended = call("run", "x.yaml", "--format", "json")
    assert ended.code == 0, ended.err
    assert {line["accuracy_estimate"] for line in json.loads(ended.out)["rows"]} == {"mean over training sizes"}
    refused = call("significance", "x")
    assert refused.code == 2 and "use a cross-validation, such as scheme ordinary" in refused.err
    assert SCHEMES["learning"].pooling in call("table", "x").out.replace("\n", " ")


# Leave-one-out: as many folds as rows

LEAVE_ONE_OUT = (
    "version: 1\ndatasets: [iris, wine]\nalgorithm: {name: axis_parallel, pruning: none}\ncv: {scheme: leave_one_out}\n"
)


def test_every_row_is_a_test_set_and_repetitions_differ_in_pruning_rows():
    drawn = folds(toy(12), CVSpec("leave_one_out", repeats=2), seed=1)
    assert [(f.repeat, f.index) for f in drawn] == [(r, k) for r in (0, 1) for k in range(12)]
    assert [f.test.tolist() for f in drawn] == [[k] for k in range(12)] * 2
    assert all(np.array_equal(np.union1d(f.train, f.test), np.arange(12)) for f in drawn)
    assert any(not np.array_equal(a.pruning, b.pruning) for a, b in zip(drawn[:12], drawn[12:], strict=True))


def test_its_places_need_the_data():
    with pytest.raises(ConfigError, match="scheme leave_one_out has folds that depend on the data"):
        places(CVSpec("leave_one_out"))


def test_regression_and_too_few_rows_are_refused():
    with pytest.raises(ConfigError, match="a test set of one row has no RMSE or R2 of its own: use scheme ordinary"):
        check(toy(12, task="regression", y=np.arange(12.0), classes=()), CVSpec("leave_one_out"))
    with pytest.raises(ConfigError, match="which leaves 1 to train on"):
        check(toy(classes=(1, 1)), CVSpec("leave_one_out"))


def test_a_run_is_what_scikit_learn_finds_and_its_table_comes_back_without_data(call):
    (call.folder / "x.yaml").write_text(LEAVE_ONE_OUT)
    assert call("validate", "x.yaml").out == "x.yaml: ok (2 data sets x 1 algorithm x 150 to 178 folds)\n"
    ended = call("run", "x.yaml", "-j", "2", "--format", "json")
    assert ended.code == 0, ended.err
    assert "328 of 328 folds" in ended.err
    for name in ("iris", "wine"):
        dataset = data.load(name)
        tree = ALGORITHMS["axis_parallel"].make(pruning="none")
        expected = 100 * cross_val_score(tree, dataset.X, dataset.y, cv=LeaveOneOut()).mean()
        (results,) = [line for line in json.loads(ended.out)["rows"] if line["dataset"] == name]
        assert results["accuracy_mean"] == pytest.approx(expected) and results["accuracy_sd"] is None
        assert results["folds_expected"] == dataset.n
    assert call("table", "x", "--format", "json").out == ended.out
    text = call("table", "x").out
    assert "1 x leave-one-out CV: accuracy in % over all rows, each tested once" in text


def test_a_t_test_is_refused_in_a_sentence_and_so_is_bias_variance(call):
    (call.folder / "x.yaml").write_text(
        LEAVE_ONE_OUT.replace("[iris, wine]", "[iris]")
        .replace("algorithm: ", "algorithms: [")
        .replace("none}", "none}, hhcart_d]")
    )
    assert call("run", "x.yaml", "-j", "2", "--quiet", "--set", "cv.repeats=2").code == 0
    ended = call("significance", "x")
    assert ended.code == 0 and "iris: training and test sets are fixed; repetitions are no resampling" in ended.out
    ended = call("bias-variance", "x.yaml", "--set", "cv.repeats=2")
    sentence = "does not test every row once a repetition, by a tree of other rows each time"
    assert ended.code == 2 and sentence in ended.err
