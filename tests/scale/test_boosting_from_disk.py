"""Boosting beyond memory: on all rows at once it is that of memory, to the bit; several draws are followed by hand."""

import re

import numpy as np
import pytest
from scale_support import stop_fit, table

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.algorithms import make
from oblique_cli.ground import seeds
from oblique_cli.scale import boosting_from_disk, fit_from_disk
from oblique_cli.scale.disk_tables import Division, array_table

PARAMS = {"n_estimators": 25, "max_depth": 3}


def same(first, other) -> list[str]:
    """Arrays in which two boosted models differ."""
    results = [
        f"tree {i} {name}"
        for i, (a, b) in enumerate(zip(first.forest_.state(), other.forest_.state(), strict=True))
        for name in a
        if not np.array_equal(np.asarray(a[name]), np.asarray(b[name]))
    ]
    names = ("leaf_values_", "baseline_", "training_loss_")
    return results + [name for name in names if not np.array_equal(getattr(first, name), getattr(other, name))]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_where_memory_holds_all_rows_it_is_boosting_in_memory_to_the_bit(n_classes, weighted):
    X, y = table(1, n=900, n_classes=n_classes)
    weights = np.random.default_rng(2).integers(1, 4, len(X)).astype(float) if weighted else None
    fitted = fit_from_disk.fit(array_table(X, y, weights), "oblique_boosting", PARAMS, division=Division(seed=7))
    memory = make("oblique_boosting", random_state=7, **PARAMS).fit(X, y, weights)
    assert same(fitted.estimator, memory) == [] and len(fitted.levels) == 1
    np.testing.assert_array_equal(fitted.estimator.predict_proba(X), memory.predict_proba(X))


@pytest.fixture
def few_rows(monkeypatch):
    """Draws of 400 rows, whatever memory says."""
    monkeypatch.setattr(boosting_from_disk, "rows_in", lambda memory, p, n_classes: 400)
    monkeypatch.setattr(boosting_from_disk, "LEAST_ROWS", 100)


def test_trees_of_a_draw_go_on_from_what_those_before_say_of_it(few_rows, monkeypatch):
    draws = []
    drawn = boosting_from_disk._drawn

    def remembered(*arguments):
        draws.append(drawn(*arguments))
        return draws[-1]

    monkeypatch.setattr(boosting_from_disk, "_drawn", remembered)
    X, y = table(3, n=2000)
    fit = fit_from_disk.fit(array_table(X, y), "oblique_boosting", PARAMS)
    boosted = fit.estimator
    assert [part.trees for part in fit.levels] == [10, 20, 25] and len(draws) == 3
    assert re.fullmatch(r"20 trees: 400 rows drawn, log loss [0-9.]+ on them, [0-9.]+ s", str(fit.levels[1]))
    rows = {tuple(row) for row in X}
    for draw, codes, weights in draws:
        assert len(draw) == len({tuple(row) for row in draw}) == 400 and {tuple(row) for row in draw} <= rows
        assert weights is None and set(codes) <= {0, 1, 2}
    assert len({tuple(row) for local, *_ in draws for row in local}) > 800  # others every time
    # The loss of a draw after its last tree, from the model alone.
    state, values = boosted.forest_.state(), boosted.leaf_values_
    for (draw, codes, _), end in zip(draws, (10, 20, 25), strict=True):
        forest = _core.Forest(3, 3, 0)
        forest.restore(state[:end])
        leaves = int(((np.asarray(forest.n_nodes()) + 1) // 2).sum())
        scores = np.asarray(forest.sums(draw, np.ascontiguousarray(values[:leaves]), 1)) + boosted.baseline_
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        loss = -np.log(shares[np.arange(len(codes)), codes]).mean()
        assert boosted.training_loss_[end - 1] == pytest.approx(loss, rel=1e-9)
    assert boosted.training_loss_[9] < boosted.training_loss_[0]


def test_it_is_about_as_right_as_memory(few_rows):
    X, y = table(4, n=4000)
    fitted = fit_from_disk.fit(
        array_table(X, y), "oblique_boosting", {"n_estimators": 60}, division=Division(test=0.25, seed=1)
    )
    retained = seeds.generator(1, "rows kept from growth").random(4000) < 0.25
    memory = make("oblique_boosting", n_estimators=60, random_state=1).fit(X[~retained], y[~retained])
    assert fitted.tested == retained.sum() > 900
    assert fitted.right == (fitted.estimator.predict(X[retained]) == y[retained]).sum()
    assert fitted.right / fitted.tested > memory.score(X[retained], y[retained]) - 0.03


def test_threads_change_no_bit(few_rows):
    X, y = table(5, n=1500)
    single = fit_from_disk.fit(array_table(X, y), "oblique_boosting", PARAMS)
    two = fit_from_disk.fit(array_table(X, y), "oblique_boosting", PARAMS, threads=2)
    assert same(single.estimator, two.estimator) == []


def test_boosting_that_was_stopped_goes_on_from_the_trees_it_has(few_rows, tmp_path, monkeypatch):
    X, y = table(6, n=1500)
    stop_fit(tmp_path, X, y, "oblique_boosting", PARAMS)
    assert len(list((tmp_path / "oblique-rows").glob("tree_*.npz"))) == 10
    drawn, draws = boosting_from_disk._drawn, []
    monkeypatch.setattr(boosting_from_disk, "_drawn", lambda *arguments: draws.append(1) or drawn(*arguments))
    again = fit_from_disk.fit(array_table(X, y), "oblique_boosting", PARAMS, scratch=tmp_path)
    assert len(draws) == 2 and list(tmp_path.iterdir()) == []
    whole = fit_from_disk.fit(array_table(X, y), "oblique_boosting", PARAMS)
    assert same(again.estimator, whole.estimator) == []


def test_trees_of_another_fit_and_of_other_rows_are_told(few_rows, tmp_path, monkeypatch):
    X, y = table(6, n=1500)
    stop_fit(tmp_path, X, y, "oblique_boosting", PARAMS)
    with pytest.raises(DataError, match="is of a fit with other parameters"):
        fit_from_disk.fit(array_table(X, y), "oblique_boosting", {**PARAMS, "max_depth": 2}, scratch=tmp_path)
    params = {**PARAMS, "max_samples": 100}  # of any draw
    stop_fit(tmp_path / "other", X, y, "oblique_boosting", params)
    monkeypatch.setattr(boosting_from_disk, "rows_in", lambda memory, p, n_classes: 500)
    with pytest.raises(DataError, match="is of a fit with other parameters"):
        fit_from_disk.fit(array_table(X, y), "oblique_boosting", params, scratch=tmp_path / "other")


def test_too_little_memory_and_scores_of_other_rows_are_refused(monkeypatch):
    X, y = table(1, n=1200)
    with pytest.raises(ConfigError, match=r"has to hold 1000 rows of 3 features at a time, and memory is for \d+"):
        fit_from_disk.fit(array_table(X, y), "oblique_boosting", memory=1 << 17)
    forest = _core.Forest(2, 3, 0)
    X, y = np.zeros((4, 2)), np.arange(4, dtype=np.int32) % 3
    boosting = make("oblique_boosting")
    arguments = (
        X,
        y,
        None,
        np.empty((0, 2)),
        np.empty(0, np.int32),
        None,
        boosting._options(4, 2),
        boosting._families(),
    )
    with pytest.raises(ValueError, match="start must have a row for each of X"):
        forest.boost(*arguments, boosting._boosting(100), np.zeros((3, 3)))
