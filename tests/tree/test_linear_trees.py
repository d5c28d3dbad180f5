"""Linear model trees: ridges against an augmented least-squares problem, cuts against every cut refitted, the choice
against errors counted by hand."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oblique_cli.tree.linear_trees import (
    BENDS,
    CUTS,
    GROWN_AT,
    MEANS,
    Limits,
    ModelRows,
    NodeModels,
    chosen_tree,
    grown,
)
from oblique_cli.tree.sparse import arrivals


def augmented(A, y, start, penalty):
    """What a node adds to the model it goes on from: least squares with a row of sqrt(penalty) for each coefficient."""
    rows = np.vstack([A, np.sqrt(penalty) * np.eye(A.shape[1])])
    return np.linalg.lstsq(rows, np.concatenate([y - A @ start, np.zeros(A.shape[1])]), rcond=None)[0]


def bent(n, seed, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.abs(X[:, 0]) + X[:, 1] + 0.05 * rng.normal(size=n)


@pytest.mark.parametrize("cuts", CUTS)
def test_every_model_is_the_ridge_that_goes_on_from_its_parent(cuts):
    X, y = bent(120, 0)
    rows, penalties = ModelRows(X, y), (30.0, 0.3)
    tree = grown(rows, cuts, Limits(max_leaves=6))
    models = NodeModels(tree, rows, penalties)
    assert tree.n_leaves == 6
    for place, penalty in enumerate(penalties):
        predicted = models.pruned(place, "none")[0].equations
        local = np.zeros((tree.n_nodes, 4))
        for node, here in enumerate(arrivals(tree, X)):
            start = local[tree.parents[node]] if node else np.zeros(4)
            local[node] = start + augmented(rows.columns[here], rows.target[here], start, penalty)
            expected = (rows.columns[here] @ local[node]) * y.std() + y.mean()
            np.testing.assert_allclose(X[here] @ predicted.coef[node] + predicted.intercept[node], expected, atol=1e-9)
            assert predicted.rss[node] == pytest.approx(((y[here] - expected) ** 2).sum(), rel=1e-9)
            if node:  # a node never fits its rows worse than the model it goes on from
                before = (rows.columns[here] @ start) * y.std() + y.mean()
                assert predicted.rss[node] <= ((y[here] - before) ** 2).sum() * (1 + 1e-12)


def left_over(x, target, cut, lines):
    """The residual sum of a mean, or a line, on either side of a cut, refitted."""
    total = 0.0
    for side in (x <= cut, x > cut):
        columns = [np.ones(side.sum()), x[side]] if lines else [np.ones(side.sum())]
        A = np.column_stack(columns)
        total += float(((target[side] - A @ np.linalg.lstsq(A, target[side], rcond=None)[0]) ** 2).sum())
    return total


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(CUTS), st.integers(2, 12))
def test_the_cut_of_the_root_is_the_best_of_all_cuts_along_features_and_its_model(seed, cuts, least):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3))
    X[:, 2] = np.round(X[:, 2])
    y = np.maximum(X @ rng.normal(size=3), 0.0) + 0.2 * rng.normal(size=30)
    rows = ModelRows(X, y)
    tree = grown(rows, cuts, Limits(least, 1, None))
    model = augmented(rows.columns, rows.target, np.zeros(4), GROWN_AT)
    target = rows.target if cuts == MEANS else rows.target - rows.columns @ model
    directions = [*np.eye(3), *([] if cuts == MEANS else [model[:-1]])]
    sums = []
    for direction in directions:
        x = rows.Z @ direction
        values = np.unique(x)
        for low, high in pairwise(values):
            if high - low > 1e-9 and least <= (x <= low).sum() <= 30 - least:
                middle = 0.5 * (low + high)
                sums.append(left_over(x, target, middle, False))
                if cuts == BENDS:
                    sums.append(left_over(x, target, middle, True))
    total = float(((target - target.mean()) ** 2).sum())
    if tree.n_leaves == 1:
        assert not sums or min(sums) >= total * (1 - 1e-9)
    else:
        assert tree.gains[0] == pytest.approx(total - min(sums), rel=1e-6, abs=1e-9)
        assert min(tree.n_rows[[tree.left[0], tree.right[0]]]) >= least


def test_a_curve_of_one_weighted_sum_is_cut_along_that_sum():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4))
    w = np.array([1.0, -2.0, 0.5, 1.5])
    y = np.maximum(X @ w, 0.0)
    tree = grown(ModelRows(X, y), BENDS, Limits(max_leaves=2))
    cosine = tree.coef_[0] @ w / np.linalg.norm(tree.coef_[0]) / np.linalg.norm(w)
    assert tree.n_leaves == 2 and cosine > 0.99
    assert abs(tree.thresholds[0] / np.linalg.norm(tree.coef_[0])) < 0.1
    assert np.count_nonzero(grown(ModelRows(X, y), MEANS, Limits(max_leaves=2)).coef_[0]) == 1


def test_projections_apart_by_rounding_are_not_cut_between():
    X = np.array([(a, b) for a in range(12) for b in range(12)], dtype=float) / 3.0
    sums = np.rint(3.0 * X.sum(axis=1))
    tree = grown(ModelRows(X, np.maximum(sums - 9.0, 0.0)), BENDS, Limits(max_leaves=2))
    assert np.count_nonzero(tree.coef_[0]) == 2  # along the sum of both, which the model has by symmetry
    goes_left = tree.apply(X) == tree.left[0]
    assert not set(sums[goes_left]) & set(sums[~goes_left])


def test_the_choice_is_that_of_least_error_on_the_rows_left_out():
    price = 0.05
    X, y = bent(150, 1)
    parts = [np.arange(i, 150, 3) for i in range(3)]
    limits, penalties = Limits(max_leaves=8), (30.0, 1.0)
    result = chosen_tree(X, y, CUTS, penalties, limits, parts, truncate="all", doubling_price=price)
    losses = {}
    for cuts in CUTS:
        for place, penalty in enumerate(penalties):
            path = NodeModels(grown(ModelRows(X, y), cuts, limits), ModelRows(X, y), penalties).pruned(place, "all")[1]
            for member, alpha in enumerate(path.between):
                wrong = 0.0
                for out in parts:
                    retained = np.setdiff1d(np.arange(150), out)
                    rows = ModelRows(X[retained], y[retained])
                    tree, local = NodeModels(grown(rows, cuts, limits), rows, penalties).pruned(place, "all")
                    wrong += ((tree.collapse(local.node_alpha <= alpha).predicted(X[out]) - y[out]) ** 2).sum()
                leaves = int(path.n_leaves[member])
                losses[cuts, penalty, member] = wrong / 150 * (1.0 + price * np.log2(leaves))
    assert len(losses) == len(result.candidates)
    for candidate in result.candidates:
        assert candidate.loss(price) == pytest.approx(
            losses[candidate.cuts, candidate.penalty, candidate.member], rel=1e-9
        )
    assert result.chosen.loss(price) == pytest.approx(min(losses.values()), rel=1e-9)
    assert result.tree.n_leaves == result.chosen.leaves > 1
    assert f"in cross-validation of {len(losses)} trees" in result.summary()


def test_products_and_hinges_are_terms_of_the_ridge_that_explain_what_features_do_not():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 3)) * [1.0, 10.0, 0.1]
    y = X[:, 0] * X[:, 1] + X[:, 0] ** 2 + 40.0 * np.maximum(X[:, 2] - 0.05, 0.0)
    parts = [np.arange(i, 300, 3) for i in range(3)]
    how = {"truncate": "none", "doubling_price": 0.01}
    errors = {}
    for products, hinges in ((False, False), (True, False), (True, True)):
        kinds = {"products": products, "hinges": hinges}
        result = chosen_tree(X, y, (BENDS,), (1.0,), Limits(max_leaves=1), parts, **how, **kinds)
        errors[products, hinges] = result.chosen.error
    assert 1.2 * errors[True, True] < errors[True, False] < 0.5 * errors[False, False]
    models, rows = result.tree.equations.leaf_models, ModelRows(X, y, True, True)
    assert {(0, 0), (0, 1), (2, -1)} <= set(map(tuple, models.pairs.tolist()))
    assert result.chosen.terms == 1.0 + len(models.pairs) / 3 and result.tree.used_features.all()
    # The columns by hand: products of deviations of at most 3, hinges in deviations; then standardized.
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    columns = [
        np.clip(z[:, i], -3, 3) * np.clip(z[:, j], -3, 3)
        if j >= 0
        else np.maximum((X[:, i] - knot) * (1 if j == -1 else -1) / X[:, i].std(), 0.0)
        for (i, j), knot in zip(models.pairs.tolist(), models.knots.tolist(), strict=True)
    ]
    A = np.column_stack([z, *((c - c.mean()) / c.std() for c in columns), np.ones(300)])
    np.testing.assert_allclose(rows.columns, A, atol=1e-9)
    model = augmented(A, (y - y.mean()) / y.std(), np.zeros(A.shape[1]), 1.0)
    np.testing.assert_allclose(result.tree.predicted(X), A @ model * y.std() + y.mean(), rtol=1e-7, atol=1e-7)
