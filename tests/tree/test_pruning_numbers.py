"""Pruning of regression trees: nested members, errors by brute force, and noise that leaves no tree."""

import numpy as np
import pytest

import oblique_cli.proposers  # noqa: F401  (registers them)
from oblique_cli.tree import pruning
from oblique_cli.tree.pruning import chosen_alpha, cost_complexity_path, fixed_alpha, squared_errors
from oblique_cli.tree.residual_signs import Settings, grow
from oblique_cli.tree.splitting import PROPOSERS


def grown(X, y, linear=False):
    return grow(X, y, PROPOSERS["hhcart_d"](), Settings(5, linear=linear))


def cross_validated(X, y, parts, linear):
    whole = grown(X, y, linear)
    alpha = chosen_alpha(whole, X, y, parts, lambda rows: grown(X[rows], y[rows], linear), 1.0)
    return fixed_alpha(whole, alpha)


@pytest.fixture(params=[False, True], ids=["constant", "linear"])
def case(request):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(160, 3))
    y = np.where(X[:, 0] > X[:, 1], 3.0, 0.0) + 0.5 * rng.normal(size=160)
    return X, y, grown(X, y, request.param), request.param


def test_members_are_nested_and_the_last_is_the_root(case):
    _, _, tree, _ = case
    path = cost_complexity_path(tree)
    assert path.n_leaves[0] == tree.n_leaves and path.n_leaves[-1] == 1
    assert (np.diff(path.n_leaves) < 0).all() and (np.diff(path.alphas) > 0).all()
    for alpha, leaves in zip(path.alphas, path.n_leaves, strict=True):
        member = tree.collapse(path.node_alpha <= alpha)
        assert member.n_leaves == leaves
        retained = np.isin(member.equations.rss, tree.equations.rss)
        assert retained.all()  # every node keeps its own model


def test_errors_of_members_are_those_of_the_cut_trees(case):
    X, y, tree, _ = case
    path = cost_complexity_path(tree)
    errors = squared_errors(tree, path, path.alphas, X, y)
    for k, alpha in enumerate(path.alphas):
        member = tree.collapse(path.node_alpha <= alpha)
        np.testing.assert_allclose(errors[:, k], (member.predicted(X) - y) ** 2, rtol=1e-12)


def test_cross_validation_finds_the_planted_size_and_noise_leaves_a_root(case):
    X, y, tree, linear = case
    rng = np.random.default_rng(0)
    parts = np.array_split(rng.permutation(len(y)), 10)
    result = cross_validated(X, y, parts, linear)
    assert 2 <= result.n_leaves <= 6 < tree.n_leaves
    assert cross_validated(X, rng.normal(size=len(y)), parts, linear).n_leaves == 1


@pytest.mark.parametrize(("spread", "member"), [(1.0, 2), (0.0, 1)])
def test_of_members_with_one_mean_the_smallest_tells_the_standard_error(case, monkeypatch, spread, member):
    X, y, tree, _ = case
    path = cost_complexity_path(tree)
    rows = np.arange(4)

    def errors(part, path, alphas, X, y):
        # Two members with the mean 1, of which the smaller one says 0 or 2; the next one is worse by 0.4.
        values = np.full((len(y), len(alphas)), 9.0)
        values[:, 0], values[:, 1], values[:, 2] = 1.0, 1.0 + spread * (-1.0) ** np.arange(len(y)), 1.4
        return values

    monkeypatch.setattr(pruning, "squared_errors", errors)
    chosen = chosen_alpha(tree, X[:4], y[:4], [rows[:2], rows[2:]], lambda rows: tree, 1.0)
    assert chosen == path.alphas[member]
