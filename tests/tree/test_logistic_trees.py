"""Logistic model trees: the tree of a run of refinement recounted, columns of models, steps of LogitBoost."""

import numpy as np
import pytest
from contracts import grow, real_set

import oblique_cli._core as _core
from oblique_cli import LogisticTreeClassifier
from oblique_cli.tree.leaf_models import PAIRS, SQUARES, TERMS, ModelColumns
from oblique_cli.tree.logistic_trees import How, ModelRows, NodeModels, refined_path
from oblique_cli.tree.payloads import ABOVE, BELOW
from oblique_cli.tree.refining import PlaneSpace, Settings, penalties_of
from oblique_cli.tree.stopping import Stopping

GLASS = real_set("glass")


def objective_of(tree, rows, space, how, penalty):
    """What refinement lowers, from the returned tree alone: log loss, ridges of the leaves, price of the planes."""
    shares = tree.predicted_shares(rows.X)
    loss = -rows.weights @ np.log(shares[np.arange(len(shares)), rows.codes])
    alone = NodeModels(tree.collapse(np.ones(tree.n_nodes, dtype=bool)), rows, how, 1e-10)
    ours, root = tree.leaf_models, alone.with_models().leaf_models
    of_levels, mean, deviation = rows.seen.indicators
    more = 0.0
    for leaf in np.flatnonzero(tree.is_leaf):
        added = [ours.coef[leaf] - root.coef[0]]
        for name in ("curve", "pair_coef"):
            if getattr(ours, name) is not None:
                added.append(getattr(ours, name)[leaf] - getattr(root, name)[0])
        b = ours.intercept[leaf] - root.intercept[0]
        if ours.level_coef is not None:
            raw = (ours.level_coef[leaf] - root.level_coef[0])[:, of_levels]
            added.append(raw * deviation)
            b = b + raw @ mean
        more += 0.5 * how.penalty * (sum((part**2).sum() for part in added) + b @ b)
    prices = np.abs(space.begin(tree)["w"][~tree.is_leaf]).sum()
    return (loss + more) / rows.total + penalty * prices


@pytest.mark.parametrize("case", ["plain", "weights", "levels", "missing", "one leaf"])
@pytest.mark.parametrize("terms", TERMS)
def test_the_returned_tree_is_the_one_whose_objective_was_lowered(case, terms):
    X, y, levels, weights = GLASS.X.copy(), GLASS.y.astype(np.int32), None, None
    rng = np.random.default_rng(0)
    if case == "weights":
        weights = rng.choice([0.5, 1.0, 3.0], len(y))
    if case == "levels":
        X = np.column_stack([X, rng.integers(0, 3, len(y)) * (y < 3), y % 2])
        levels = (0,) * 9 + (3, 2)
    if case == "missing":
        X[rng.random(X.shape) < 0.05] = np.nan
    depth = 0 if case == "one leaf" else 4
    start = grow("axis_parallel", np.nan_to_num(X[:, :9]), y, 6, weights=weights, stopping=Stopping(max_depth=depth))
    if case == "missing":
        start = start.with_missing_to_the_heavier()
    if case == "levels":
        coef = np.column_stack([start.coef_, np.zeros((start.n_nodes, 2))])
        start = start.changed(coef=coef, levels=levels, level_scores=np.zeros((start.n_nodes, 5)))
    rows, space = ModelRows(X, y, 6, weights, levels), PlaneSpace(X, y, 6, weights, levels)
    how = How(3.0, terms=terms)
    path = refined_path(start, rows, space, how, penalties_of(space, 4), Settings())
    assert (path.trees[0].n_leaves > 3) == (case != "one leaf")
    for tree, run in zip(path.trees, path.runs, strict=True):
        assert (np.diff(run.objective) <= 1e-12).all()
        assert run.objective[-1] == pytest.approx(objective_of(tree, rows, space, how, run.penalty), abs=1e-9)
        if case == "levels":
            assert tree.leaf_models.level_coef.any()


def test_an_estimator_keeps_the_models_of_the_run():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = np.where(X[:, 0] > 0, X[:, 1] + X[:, 2] > 0, X[:, 1] - X[:, 2] > 0).astype(np.int32)
    how = {"refine": "tao", "max_terms": None, "leaf_penalty": 1.0, "random_state": 0}
    model = LogisticTreeClassifier("hhgdt", **how).fit(X, y)
    result, rows, space = model.refinement_, ModelRows(X, y, 2), PlaneSpace(X, y, 2)
    assert result.chosen.member == -1 and result.tree is model.tree_
    expected = objective_of(model.tree_, rows, space, result.chosen.how, result.run.penalty)
    assert result.run.objective[-1] == pytest.approx(expected, abs=1e-9)


def test_products_whose_effect_is_missing_are_screened_and_become_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 9)) * np.arange(1, 10)
    y = (X[:, 1] * X[:, 4] - 0.5 * X[:, 2] * X[:, 7] > 0).astype(np.int32)
    rows = ModelRows(X, y, 2)
    columns, linear = rows.columns(PAIRS), rows.columns(SQUARES)
    pairs = rows.seen.pairs.tolist()
    assert [1, 4] in pairs and [2, 7] in pairs and len(pairs) == len({tuple(pair) for pair in pairs}) <= 36
    assert all(i < j for i, j in pairs) and pairs == sorted(pairs)
    np.testing.assert_array_equal(columns[:, :18], linear)
    z = np.clip((X - X.mean(axis=0)) / X.std(axis=0), -3.0, 3.0)
    np.testing.assert_allclose(columns[:, 18:], np.column_stack([z[:, i] * z[:, j] for i, j in pairs]), atol=1e-9)
    # The same products of rows in another order, and of no other rows.
    order = rng.permutation(400)
    again = ModelRows(X[order], y[order], 2)
    assert again.columns(PAIRS).shape == columns.shape and again.seen.pairs.tolist() == pairs
    assert rows.columns(PAIRS, X[:3]).tobytes() == np.ascontiguousarray(columns[:3]).tobytes()


def test_hinges_are_screened_with_knots_among_the_values():
    X = np.random.default_rng(1).normal(size=(600, 4)) * 10.0 + 50.0
    y = (np.maximum(0, X[:, 0] - 55.0) + np.maximum(0, 45.0 - X[:, 1]) > 5.0).astype(np.int32)
    rows = ModelRows(X, y, 2, products=False, hinges=True)
    columns, pairs, knots = rows.columns(PAIRS), rows.seen.pairs.tolist(), rows.seen.knots
    assert [0, ABOVE] in pairs and [1, BELOW] in pairs and len(pairs) <= 12
    for k, (j, side) in enumerate(pairs):
        values = np.maximum((X[:, j] - knots[k]) * (-1.0 if side == BELOW else 1.0), 0.0)
        assert knots[k] in X[:, j]
        np.testing.assert_allclose(columns[:, 8 + k], (values - values.mean()) / values.std(), atol=1e-9)


def test_columns_are_features_squares_and_indicators_of_levels():
    X = np.array([[1.0, 0.0, 2.0, 1.0], [2.0, 1.0, 0.0, 1.0], [4.0, 1.0, 0.0, 1.0], [9.0, 0.0, 1.0, 1.0]])
    v = np.array([1.0, 2.0, 1.0, 1.0])
    seen = ModelColumns((0, 2, 4, 2), X, v)
    result = seen.of(X, SQUARES)
    # The second level of two, three levels of four that are there; not the only level of the last feature.
    assert result.shape == (4, 1 + 1 + 1 + 3)
    indicators = np.column_stack([X[:, 1] == 1, X[:, 2] == 0, X[:, 2] == 1, X[:, 2] == 2])
    mean = v @ indicators / 5.0
    np.testing.assert_allclose(result[:, 2:], (indicators - mean) / np.sqrt(mean * (1 - mean)))
    scores = np.random.default_rng(0).normal(size=(1, 3, 7))
    retained = seen.as_leaf_models(scores, SQUARES)
    np.testing.assert_allclose(retained.scores(X, np.zeros(4, int)), result @ scores[0, :, :-1].T + scores[0, :, -1])
    assert not retained.level_coef[0, :, [0, 5, 6, 7]].any()


@pytest.mark.parametrize("p", [0, 1])
def test_boosting_steps_without_a_feature_that_varies_are_of_the_intercept(p):
    y = np.repeat([0, 1, 2], [10, 30, 60]).astype(np.int32)
    leaf, parent = np.zeros(100, np.int32), np.array([-1], np.int32)
    first, last = (_core.node_models(np.zeros((100, p)), y, np.ones(100), 3, leaf, parent, None, n) for n in (0, 60))
    scores = np.asarray(last)[0, :, -1]
    assert not np.asarray(first).any()
    np.testing.assert_allclose(np.exp(scores) / np.exp(scores).sum(), [0.1, 0.3, 0.6], atol=1e-3)
