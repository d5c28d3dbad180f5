"""Folds: what a scheme draws, from which stream, and what it refuses."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runner_support import toy

from oblique_cli import data
from oblique_cli.errors import ConfigError
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
