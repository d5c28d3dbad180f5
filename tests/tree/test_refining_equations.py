"""Refinement of regression trees: E never rises, brute force on small nodes, planted trees, degenerate rows."""

from itertools import product

import numpy as np
import pytest

import oblique_cli.proposers  # noqa: F401  (registers them)
from oblique_cli import ObliqueTreeRegressor
from oblique_cli.tree.refining_equations import Problem, Reduced, run, update
from oblique_cli.tree.residual_signs import Settings, grow
from oblique_cli.tree.splitting import PROPOSERS


def planted(n, seed, noise=0.2):
    """Four constants, of a root and two further planes that are all oblique."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 10.0, 0.1]
    Z = X / [1.0, 10.0, 0.1]
    above, over = Z[:, 0] + Z[:, 1] > 0.0, Z[:, 1] - Z[:, 2] > 0.3
    clean = np.where(above, np.where(over, 6.0, 2.0), np.where(over, 0.0, -3.0))
    return X, clean + noise * rng.normal(size=n)


def start_of(X, y, settings):
    return grow(X, y, PROPOSERS["hhcart_d"](), settings)


@pytest.mark.parametrize("linear", [False, True], ids=["constant", "linear"])
@pytest.mark.parametrize("penalty", [0.0, 1e-3, 1e-1])
def test_the_objective_never_rises(linear, penalty):
    X, y = planted(150, 1)
    settings = Settings(8, linear=linear)
    problem = Problem(X, y, settings)
    tree = start_of(X, y, settings)
    root = problem.begin(tree)
    first = problem.objective(root, penalty)
    result = run(problem, root, penalty)
    assert result.objective[0] == first and len(result.objective) > result.sweeps
    assert (np.diff(result.objective) <= 1e-12).all()
    assert result.objective[-1] < first
    # The objective by definition, of the tree that comes out.
    after = problem.end(root)
    w = after.coef_[~after.is_leaf] * X.std(axis=0)
    prices = (np.abs(w).sum(axis=1) / np.sqrt((w * w).sum(axis=1))).sum() if len(w) else 0.0
    value = ((after.predicted(X) - y) ** 2).sum() / ((y - y.mean()) ** 2).sum() + penalty * prices
    assert result.objective[-1] == pytest.approx(value, rel=1e-9)


def test_every_update_of_a_node_lowers_the_objective_by_what_it_says():
    X, y = planted(120, 2)
    settings = Settings(6)
    problem = Problem(X, y, settings)
    root = problem.begin(start_of(X, y, settings))
    for item, rows, _ in reversed(problem.reached(root)):
        if not item.is_leaf:
            before = problem.objective(root, 1e-3)
            fall = update(problem, item, rows, 1e-3)
            assert fall >= 0.0
            assert problem.objective(root, 1e-3) == pytest.approx(before - fall, abs=1e-12)


@pytest.mark.parametrize("linear", [False, True], ids=["constant", "linear"])
def test_leaves_keep_the_rows_that_growth_asks_for(linear):
    X, y = planted(150, 3)
    settings = Settings(8, linear=linear)
    problem = Problem(X, y, settings)
    root = problem.begin(start_of(X, y, settings))
    run(problem, root, 1e-3)
    tree = problem.end(root)
    assert tree.n_rows[tree.is_leaf].min() >= 8
    assert np.array_equal(np.bincount(tree.apply(X), minlength=tree.n_nodes)[tree.is_leaf], tree.n_rows[tree.is_leaf])


def test_the_best_cut_of_a_small_node_is_that_of_brute_force():
    rng = np.random.default_rng(5)
    for trial in range(30):
        X, y = np.round(rng.normal(size=(14, 2)), 1), rng.normal(size=14)
        settings = Settings(2)
        problem = Problem(X, y, settings)
        root = problem.begin(start_of(X, y, settings))
        if root.is_leaf:
            continue
        reduced = Reduced(problem, root, np.arange(14), 0.01)
        for coef in (np.array([1.0, 0.0]), np.array([0.6, 0.8])):
            result = reduced.best_along(coef)
            values = np.unique(np.round(X @ coef, 9))
            losses = []
            for cut, sign in product(0.5 * (values[1:] + values[:-1]), (1.0, -1.0)):
                left = sign * (X @ coef) <= sign * cut
                leaves = [reduced.left_leaf[left], reduced.right_leaf[~left]]
                if all((np.bincount(leaf, minlength=count) >= 2).all()
                       for leaf, count in zip(leaves, reduced.leaves, strict=True)):  # fmt: skip
                    losses.append(np.where(left, reduced.left, reduced.right).sum())
            assert (result is None) == (not losses), trial
            if result is not None:
                assert result.loss - 0.01 * reduced.problem.price(coef) == pytest.approx(min(losses), abs=1e-12)


def test_what_is_said_of_the_refinement():
    X, y = planted(120, 8)
    model = ObliqueTreeRegressor("hhcart_d", refine="tao", random_state=0).fit(X, y)
    refinement = model.refinement_
    assert refinement.tree is model.tree_ and refinement.chosen.error.shape == (1, len(refinement.penalties)) == (1, 8)
    best = int(np.argmin(refinement.chosen.error))
    assert refinement.run.penalty == pytest.approx(refinement.penalties[best])
    assert refinement.chosen.error[0, best] < refinement.chosen.unrefined[0]
    assert refinement.summary().startswith("refined at penalty ")
    assert "refinement_" not in vars(model.set_params(refine="none").fit(X, y))


def test_a_start_that_no_penalty_improves_on_stays():
    # One feature, cut where the target jumps: there is nothing to improve.
    X = np.arange(60.0)[:, None]
    y = np.where(X[:, 0] < 30, 0.0, 1.0)
    model = ObliqueTreeRegressor("axis_parallel", refine="tao", random_state=0).fit(X, y)
    refinement = model.refinement_
    assert model.n_leaves_ == 2 and refinement.tree is refinement.start and not refinement.path.runs
    assert refinement.chosen.unrefined[0] <= refinement.chosen.error.min()
    assert refinement.summary() == "not refined: cross-validation prefers the start"
