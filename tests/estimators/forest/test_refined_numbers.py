"""Trees of numbers refined as a whole in the core: the objective written out, and what no single cut improves."""

from typing import Any

import numpy as np
import pytest

from oblique_cli import ObliqueForestRegressor, TAOForestRegressor
from oblique_cli.estimators.forest.refined_numbers import falls_of
from oblique_cli.tree.refining import PlaneSpace, Settings

KEPT: dict[str, Any] = {"n_estimators": 3, "random_state": 0, "bootstrap": False, "max_samples": None}


def rows_of(seed: int, n: int = 120, p: int = 3, k: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.stack([np.sign(X[:, 0] + (j + 1) * X[:, 1]) + 0.4 * rng.normal(size=n) for j in range(k)], axis=1)
    y -= y.mean(axis=0)
    return X, y / np.sqrt((y**2).sum(axis=1).mean())


def grown(X: Any, y: Any, depth: int = 3) -> Any:
    return ObliqueForestRegressor("axis_parallel", max_depth=depth, **KEPT).fit(X, y[:, 0]).tree(0)


def error_of(space: PlaneSpace, planes: Any, node: int = 0) -> float:
    """E without the price of planes: rows are sent one by one, and leaves answer what their models say."""
    total = 0.0
    for z, y, weight in zip(space.Z, space.numbers, space.weights, strict=True):
        at = node
        while planes["left"][at] >= 0:
            at = int(planes["left"][at] if planes["w"][at] @ z + planes["b"][at] <= 0.0 else planes["right"][at])
        total += weight * float(((y - planes["models"][at]) ** 2).sum())
    return total / space.total


def price_of(planes: Any) -> float:
    inner = planes["left"] >= 0
    return float(np.abs(planes["w"][inner]).sum())


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_never_rises_and_is_the_error_and_price_of_the_tree(k: int, weighted: bool):
    X, y = rows_of(1, k=k)
    weights = np.random.default_rng(0).integers(1, 4, len(X)).astype(float) if weighted else None
    space = PlaneSpace(X, np.zeros(len(X), np.int32), 1, weights, numbers=y)
    planes, run = space.step(space.begin(grown(X, y)), 0.01, Settings())
    assert run.converged and (np.diff(run.objective[1:]) <= 1e-12).all()
    assert run.objective[-1] == pytest.approx(error_of(space, planes) + 0.01 * price_of(planes))
    # Leaves hold the means of their rows.
    tree = space.tree(planes, as_it_is=True)
    leaves = tree.apply(X)
    held = np.ones(len(X)) if weights is None else weights
    means = [np.average(y[leaves == leaf], axis=0, weights=held[leaves == leaf]) for leaf in leaves]
    assert (held[:, None] * (y - means) ** 2).sum() / held.sum() == pytest.approx(error_of(space, planes))


@pytest.mark.parametrize("seed", range(2))
def test_no_other_cut_of_a_feature_at_any_node_lowers_the_objective(seed: int):
    X, y = rows_of(seed, n=60)
    penalty = 0.02
    space = PlaneSpace(X, np.zeros(len(X), np.int32), 1, numbers=y)
    planes, _ = space.step(space.begin(grown(X, y)), penalty, Settings(max_sweeps=100))
    least = error_of(space, planes) + penalty * price_of(planes)
    assert (planes["left"] >= 0).any()
    for node in np.flatnonzero(planes["left"] >= 0):
        for j in range(X.shape[1]):
            values = np.sort(space.Z[:, j])
            for cut in values[:-1] + 0.5 * np.diff(values):
                for sign in (1.0, -1.0):
                    other = {name: array.copy() for name, array in planes.items()}
                    other["w"][node] = sign * np.eye(X.shape[1])[j]
                    other["b"][node] = -sign * cut
                    # A row cares from a thousandth of a variance on, and what does not care may be anywhere.
                    slack = 1e-3 * len(X) / space.total
                    assert error_of(space, other) + penalty * price_of(other) >= least - slack


def _leaf(model: Any, X: Any, number: int) -> Any:
    """Places of the rows' leaves of one tree among the leaves of all trees."""
    sizes = [(n + 1) // 2 for n in model.forest_.n_nodes()]
    left = np.asarray(model.forest_.state()[number]["left"])
    return sum(sizes[:number]) + ~left[model.apply(X)[:, number]]


def test_importances_are_falls_of_the_sum_of_squares():
    X, y = rows_of(6, n=100)
    model = TAOForestRegressor(max_depth=2, penalty=0.001, **KEPT).fit(X, 5.0 * y[:, 0])
    for number in range(3):
        tree, leaf = model.tree(number), _leaf(model, X, number)
        explained = ((model.leaf_values_[leaf, 0] / 5.0 - y[:, 0].mean()) ** 2).sum()
        falls = falls_of(tree, X, y, np.ones(100))
        assert falls.sum() == pytest.approx(explained, rel=1e-6)
        assert np.asarray(model.forest_.importances())[number].sum() == pytest.approx(explained, rel=1e-6)


def test_a_constant_target_keeps_its_trees_and_linear_leaves_are_of_the_refined_tree():
    X, y = rows_of(7, n=80)
    assert (TAOForestRegressor(n_estimators=2).fit(X, np.full(80, 3.0)).predict(X) == 3.0).all()
    linear = TAOForestRegressor(leaves="linear", n_estimators=4, random_state=0, oob_score=True).fit(X, y[:, 0])
    assert linear.leaf_values_.shape == (linear.n_leaves_, 6) and linear.oob_score_ > 0.5


def test_several_outputs_are_refined_at_once_and_equal_ones_as_one():
    X, y = rows_of(8, n=120, k=2)
    how = {"proposer": "axis_parallel", "max_depth": 3, **KEPT}
    plain, refined = (make(**how).fit(X, y) for make in (ObliqueForestRegressor, TAOForestRegressor))
    assert refined.predict(X).shape == (120, 2)
    assert ((refined.predict(X) - y) ** 2).sum() < ((plain.predict(X) - y) ** 2).sum()
    one = TAOForestRegressor(**how).fit(X, y[:, 0])
    twice = TAOForestRegressor(**how).fit(X, np.stack([y[:, 0]] * 2, axis=1))
    np.testing.assert_allclose(twice.predict(X), one.predict(X)[:, None] * np.ones(2))
