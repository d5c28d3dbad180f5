"""PILOT: the core against refits, trees against a slow reference and the authors' program, closed forms, bounds."""

import csv
from itertools import pairwise

import numpy as np
import pytest
from checkout_support import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.model_selection import KFold

import oblique_cli._core as _core
from oblique_cli import PILOTRegressor
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import make
from oblique_cli.models import Model, load, save
from oblique_cli.models.explaining.explanation import explain
from oblique_cli.models.explaining.shapley import shapley_values
from oblique_cli.models.explaining.wording import text_of
from oblique_cli.models.procedure import procedure_of
from oblique_cli.models.verifying.verification import verify
from oblique_cli.tree.least_squares import ZERO
from oblique_cli.tree.pilot_models import DEGREES, EQUAL, MODELS


def fitted(columns, y):
    """Residuals of least squares on columns and a constant: NumPy's."""
    design = np.column_stack([np.ones(len(y)), *columns])
    return y - design @ np.linalg.lstsq(design, y, rcond=None)[0]


def left_over(model, x, y, cut):
    """The residuals of one model of one feature, refitted."""
    left = x <= cut
    if model == "lin":
        return fitted([x], y)
    if model == "blin":
        return fitted([x, np.maximum(x - cut, 0.0)], y)
    columns = [left.astype(float)] if model == "pcon" else [left.astype(float), x * left, x * ~left]
    return fitted(columns, y)


def cuts_of(x, least, model, distinct):
    """Every cut of a feature that a model may have, rising."""
    values = np.unique(x)
    results = []
    for low, high in pairwise(values):
        sides = x[x <= low], x[x >= high]
        enough = all(len(side) >= least for side in sides)
        slopes = model == "pcon" or all(len(np.unique(side)) >= distinct for side in sides)
        results += [low + 0.5 * (high - low)] if enough and slopes else []
    return results


def best_by_refits(X, y, least, distinct):
    """Every feature, model and cut refitted: (feature, model) -> its least rss and the cut."""
    results = {}
    for j, x in enumerate(X.T):
        for model in MODELS:
            if model == "lin":
                cuts = [np.inf] if len(np.unique(x)) >= max(distinct, 2) else []
            else:
                cuts = cuts_of(x, least, model, distinct)
            each = [(float((left_over(model, x, y, cut) ** 2).sum()), cut) for cut in cuts]
            results[j, model] = min(each, default=(np.inf, np.nan))
    return results


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.booleans(), st.integers(1, 6), st.integers(2, 4))
def test_the_core_finds_what_refitting_every_model_at_every_cut_finds(seed, n, coarse, least, distinct):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), rng.normal(size=n)
    X[:, 1] = np.round(X[:, 1] * 2) if coarse else X[:, 1] * 1e-3 + 5.0
    X[:, 2] = 1.0 if coarse else X[:, 2]
    orders = np.ascontiguousarray(np.argsort(X, axis=0, kind="stable").T.astype(np.int64))
    rss, cuts = _core.pilot_models(X, y, orders, least, distinct, ZERO)
    for (j, model), (expected, cut) in best_by_refits(X, y, least, distinct).items():
        k = MODELS.index(model)
        assert rss[j, k] == pytest.approx(expected, rel=1e-7, abs=1e-9)
        if model != "lin" and np.isfinite(expected):  # the same cut, or one that is as good
            again = float((left_over(model, X[:, j], y, cuts[j, k - 1]) ** 2).sum())
            assert again == pytest.approx(expected, rel=1e-7, abs=1e-9) and (cut == cuts[j, k - 1] or again > 0.0)


def test_the_core_sees_the_rows_of_the_node_alone_and_refuses_others():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30.0)
    some = np.arange(0, 30, 3)
    orders = np.ascontiguousarray(some[np.argsort(X[some], axis=0)].T.astype(np.int64))
    alone = np.ascontiguousarray(np.argsort(X[some], axis=0).T.astype(np.int64))
    for item, again in zip(
        _core.pilot_models(X, y, orders, 2, 2, ZERO),
        _core.pilot_models(np.ascontiguousarray(X[some]), y[some], alone, 2, 2, ZERO),
        strict=True,
    ):
        np.testing.assert_array_equal(item, again)
    with pytest.raises(ValueError, match="orders must hold rows of X"):
        _core.pilot_models(X, y, orders + 28, 2, 2, ZERO)
    with pytest.raises(ValueError, match="a row for each column"):
        _core.pilot_models(X, y, orders[:1], 2, 2, ZERO)


def reference(X, y, at, depth=0, min_fit=10, least=5, max_depth=12, distinct=5):
    """Predictions at rows `at` of the tree that the paper describes, each model refitted: the slow oracle."""
    sums = np.zeros(len(at))
    while len(y) >= min_fit and depth < max_depth and np.ptp(y) > 1e-9:
        m, total = len(y), float(((y - y.mean()) ** 2).sum())
        best, chosen = m * np.log(1.0) + DEGREES[0] * np.log(m), None
        tried = best_by_refits(X, y, least, distinct)
        for v, model in zip(DEGREES[1:], MODELS, strict=True):
            for j in range(X.shape[1]):
                rss, cut = tried[j, model]
                score = m * np.log(max(rss / total, EQUAL)) + v * np.log(m) if np.isfinite(rss) else np.inf
                if score < best - 1e-9 * m:
                    best, chosen = score, (model, j, cut)
        if chosen is None:
            return sums + y.mean()
        model, j, cut = chosen
        x, new = X[:, j], at[:, j]
        if model == "lin":
            slope, start = np.polyfit(x, y, 1)
            y, sums = y - slope * x - start, sums + slope * new + start
            continue
        if model == "blin":
            design = np.column_stack([np.ones(m), x, np.maximum(x - cut, 0.0)])
            a, b, d = np.linalg.lstsq(design, y, rcond=None)[0]
            y, sums = y - design @ [a, b, d], sums + a + b * new + d * np.maximum(new - cut, 0.0)
        else:
            y = y.copy()
            for side, new_side in ((x <= cut, new <= cut), (x > cut, new > cut)):
                line = np.polyfit(x[side], y[side], 1 if model == "plin" else 0)
                y[side] -= np.polyval(line, x[side])
                sums[new_side] += np.polyval(line, new[new_side])
        for side, new_side in ((x <= cut, new <= cut), (x > cut, new > cut)):
            sums[new_side] += reference(X[side], y[side], at[new_side], depth + 1, min_fit, least, max_depth, distinct)
        return sums
    return sums + (y.mean() if depth == 0 and (len(y) < min_fit or max_depth == 0 or np.ptp(y) <= 1e-9) else 0.0)


def steps(seed, n=120):
    """A line, a bend, a jump and an indicator, with noise."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(-1, 1, (n, 3)), rng.integers(0, 2, n)])
    y = 3 * X[:, 0] + 4 * np.maximum(X[:, 1], 0) + 2 * (X[:, 2] > 0.2) * (1 + X[:, 2]) + 1.5 * X[:, 3]
    return X, y + rng.normal(0, 0.05, n)


@pytest.mark.parametrize("seed", range(3))
def test_a_tree_predicts_what_the_slow_reference_predicts(seed):
    X, y = steps(seed)
    model = PILOTRegressor(truncate="none").fit(X, y)
    assert model.n_leaves_ > 2
    at = steps(seed + 100, 40)[0]
    np.testing.assert_allclose(model.predict(at), reference(X, y, at), rtol=1e-7, atol=1e-8)


def test_lines_go_on_at_one_node_and_give_least_squares_of_features_that_do_not_correlate():
    X = np.array([[a, b] for a in range(-3, 4) for b in range(-3, 4)], dtype=float)
    model = PILOTRegressor().fit(X, 2 * X[:, 0] - 5 * X[:, 1] + 1)
    assert model.n_leaves_ == 1
    np.testing.assert_allclose(model.tree_.equations.coef[0], [2.0, -5.0])
    assert PILOTRegressor(max_models=1).fit(X, 2 * X[:, 0] - 5 * X[:, 1]).tree_.equations.n_terms(np.array([0])) == 1


@pytest.mark.parametrize(
    "X, y",
    [
        (np.ones((20, 2)), np.arange(20.0)),
        (np.arange(20.0)[:, None], np.full(20, 3.0)),
        (np.array([[1.0]]), np.array([2.0])),
        (np.arange(9.0)[:, None], np.arange(9.0)),
    ],
    ids=["constant features", "constant target", "one row", "fewer rows than min_fit"],
)
def test_where_there_is_nothing_to_fit_the_mean_is_said(X, y):
    model = PILOTRegressor().fit(X, y)
    assert model.n_leaves_ == 1
    np.testing.assert_allclose(model.predict(X), y.mean())


LINEAR = {
    "pilot": {},
    "retis": {"min_node_percent": 25},
    "tprti_a": {},
    "m5_style": {"min_node_percent": 25},
    "hhcart_model_tree": {"random_state": 0, "max_depth": 2, "pruning": "none"},
}


@pytest.mark.parametrize("which", ["all", "leaf"])
@pytest.mark.parametrize("name", LINEAR)
def test_bounds_hold_predictions_within_one_and_a_half_ranges(name, which, tmp_path):
    X, y = steps(5)
    free = make(name, truncate="none", **LINEAR[name]).fit(X, y)
    model = make(name, truncate=which, **LINEAR[name]).fit(X, y)
    far = np.vstack([X, 1e6 * X])
    leaves = free.apply(X)
    at = free.apply(far)
    groups = [y if which == "all" else y[leaves == leaf] for leaf in at]
    low = np.array([0.5 * (group.max() + group.min()) - 0.75 * (group.max() - group.min()) for group in groups])
    high = np.array([0.5 * (group.max() + group.min()) + 0.75 * (group.max() - group.min()) for group in groups])
    expected = np.clip(free.predict(far), low, high)
    np.testing.assert_allclose(model.predict(far), expected, rtol=1e-12, atol=1e-12)
    assert (expected != free.predict(far)).any()
    save(Model.of(model, algorithm=name), tmp_path / "m.json")
    np.testing.assert_array_equal(load(tmp_path / "m.json").predict(far), model.predict(far))
    assert "bounds" in (tmp_path / "m.json").read_text() and ", within " in model.export_text()


def test_bounds_of_single_leaves_go_neither_with_an_order_nor_with_verify():
    X, y = steps(7)
    with pytest.raises(ConfigError, match=r"monotonic_cst .* is not kept with truncate 'leaf'"):
        make("retis", truncate="leaf", monotonic_cst=[1, 0, 0, 0]).fit(X, y)
    model = make("m5_style", truncate="all", monotonic_cst=[1, 0, 0, 0]).fit(X, y)
    rows = np.tile(X[:5], (2, 1))
    rows[5:, 0] += 10.0
    low, high = np.split(model.predict(rows), 2)
    assert (high >= low).all()
    X, y = steps(9)
    with pytest.raises(ConfigError, match="leaves with bounds of their own"):
        verify(make("retis", truncate="leaf").fit(X, y), monotone={"x1": 1}, reference=X)
    rising = make("m5_style", truncate="all", monotonic_cst=[1, 0, 0, 0]).fit(X, y)
    assert verify(rising, monotone={"x1": 1}, reference=X).holds


def test_explanations_say_where_a_bound_holds_a_prediction_and_shapley_values_refuse_such_rows():
    X, y = steps(8)
    model = Model.of(make("pilot", truncate="leaf").fit(X, y), algorithm="pilot")
    far = X[:1] * 1e3
    explanation = explain(model, far[0], reference=X)
    assert explanation.predicted in explanation.bounds and explanation.cut == pytest.approx(explanation.log_odds)
    assert f"the bound nearest to {explanation.cut:.6g} = " in text_of(explanation, procedure_of(model), "row")
    within = explain(model, X[0], reference=X)
    assert within.cut is None and within.log_odds == pytest.approx(within.predicted)
    inside = np.flatnonzero([explain(model, row, reference=X).cut is None for row in X])[:40]
    values = shapley_values(model, X[inside[:3]], X[inside])
    totals = values.values.sum(axis=1) + values.base_values
    np.testing.assert_allclose(totals, model.predict(X[inside[:3]]), rtol=1e-9, atol=1e-9)
    with pytest.raises(ConfigError, match="row 0 of X is held at a bound of its leaf"):
        shapley_values(model, far, X[inside])
    with pytest.raises(ConfigError, match="row 1 of background is held at a bound"):
        shapley_values(model, X[inside[:1]], np.vstack([X[inside[:1]], far]))


with open(ROOT / "results" / "pilot_authors.csv", encoding="utf-8", newline="") as _stream:
    STORED = list(csv.DictReader(_stream))


def tables():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    noise = 0.1 * rng.normal(size=400)
    return {
        "diabetes": load_diabetes(return_X_y=True),
        "friedman1": make_friedman1(500, noise=1.0, random_state=1),
        "step": (X, 2.0 * (X[:, 0] > 0.3) + noise),
        "bent line": (X, 2.0 * np.maximum(X[:, 0], 0.0) + X[:, 1] + noise),
        "line": (X, X[:, 0] - X[:, 2] + noise),
    }


@pytest.mark.parametrize("name", tables())
def test_our_errors_are_those_that_were_compared(name):
    X, y = tables()[name]
    rows = [row for row in STORED if row["table"] == name]
    for row, (fit, test) in zip(rows, KFold(5, shuffle=True, random_state=0).split(X), strict=True):
        error = np.sqrt(((PILOTRegressor().fit(X[fit], y[fit]).predict(X[test]) - y[test]) ** 2).mean())
        assert error == pytest.approx(float(row["ours"]), rel=1e-4)


def test_the_page_says_how_near_both_are():
    same = [row for row in STORED if float(row["apart_inside"]) < 1e-12 * max(float(row["authors"]), 1.0)]
    others = {row["table"] for row in STORED} - {row["table"] for row in same}
    ratios = [float(row["ours"]) / float(row["authors"]) - 1.0 for row in STORED]
    page = " ".join((ROOT / "docs" / "algorithms" / "pilot.md").read_text(encoding="utf-8").split())
    assert f"in {len(same)} folds both predict the same" in page and others == {"friedman1", "bent line"}
    assert f"is from {-100 * min(ratios):.0f} % below theirs to {100 * max(ratios):.0f} % above it" in page
