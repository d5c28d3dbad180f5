"""A forest beyond memory: each tree is the one that memory grows from the rows and features that it drew."""

import numpy as np
import pytest
from scale_support import stop_fit, table

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.forest.bagged import proposers_of
from oblique_cli.estimators.forest.drawn_trees import state_of
from oblique_cli.ground import seeds
from oblique_cli.scale import fit_from_disk
from oblique_cli.scale.disk_tables import Division, array_table, store
from oblique_cli.scale.forest_from_disk import NOT_DRAWN, Drawn, grows_before
from oblique_cli.scale.store import TARGET_BYTES
from oblique_cli.tree.growing import grow_top_down
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import Tree

pytestmark = pytest.mark.usefixtures("large_from_40_rows")
ALL = {"max_features": None}


def by_hand(forest, X, y, weights, proposer, number, max_samples, many, max_depth):
    """Tree `number` as memory grows it, over the features of the table."""
    seed = forest.forest_.seed
    n, p = X.shape
    drawn = np.asarray(_core.Forest(p, 3, seed, number).draws(n, 1, forest.bootstrap is not False, max_samples))[0]
    there = np.flatnonzero(drawn)
    features = np.sort(seeds.generator(seed, "features of a tree", number).choice(p, many, replace=False))
    some = np.ascontiguousarray(X[there][:, features])
    held = drawn[there] * weights[there]
    stopping = Stopping(1.0, 0.0, max_depth)
    tree = grow_top_down(some, y[there].astype(np.int32), 3, proposer, weights=held, stopping=stopping)
    coef = np.zeros((tree.n_nodes, p))
    coef[:, features] = tree.coef_
    return Tree(tree.left, tree.right, coef, tree.thresholds, tree.counts, tree.gains, tree.n_rows)


@pytest.mark.parametrize(
    ("algorithm", "params", "weighted"),
    [
        ("hhgdt_forest", {}, False),
        ("bagged_forest", {"max_features_per_tree": 0.5, "max_samples": 0.5}, False),
        ("bagged_forest", {"proposer": "hhcart_d", "bootstrap": False, "max_samples": 300}, True),
    ],
)
def test_each_tree_is_the_one_that_memory_grows_from_what_it_drew(algorithm, params, weighted):
    X, y = table(1, n=500, p=4)
    weights = np.random.default_rng(1).integers(1, 4, len(X)).astype(float) if weighted else np.ones(len(X))
    fit = fit_from_disk.fit(
        array_table(X, y, weights if weighted else None),
        algorithm,
        {**ALL, "n_estimators": 3, "max_depth": 5, **params},
        memory=1 << 21,
    )
    forest = fit.estimator
    assert fit.levels and len(forest.forest_) == 3
    max_samples = {None: 500, 0.5: 250, 300: 300}[forest.max_samples]
    many = 4 if forest.max_features_per_tree is None else 2
    for number, state in enumerate(forest.forest_.state()):
        made = proposers_of(forest.proposer)
        wanted = by_hand(forest, X, y, weights, made[number % len(made)], number, max_samples, many, 5)
        wanted = state_of(wanted, fit.X)
        differing = [name for name in wanted if not np.array_equal(np.asarray(state[name]), np.asarray(wanted[name]))]
        assert differing == []
    assert np.mean(forest.predict(X) == y) > 0.75


def test_neither_memory_nor_threads_nor_chunks_change_a_bit(monkeypatch):
    X, y = table(2, n=3000)
    params = {**ALL, "n_estimators": 2, "max_depth": 4, "proposer": "hhcart_d"}
    whole = fit_from_disk.fit(array_table(X, y), "bagged_forest", params).estimator.forest_.state()
    monkeypatch.setattr("oblique_cli.scale.store.TARGET_BYTES", TARGET_BYTES // 1000)
    small = fit_from_disk.fit(array_table(X, y), "bagged_forest", params, memory=1 << 21, threads=2)
    for first, other in zip(whole, small.estimator.forest_.state(), strict=True):
        assert all(
            np.array_equal(np.asarray(first[name]), np.asarray(other[name])) for name in first if name != "importance"
        )


def test_the_test_is_of_rows_that_no_tree_has_seen():
    X, y = table(3, n=600)
    fitted = fit_from_disk.fit(
        array_table(X, y), "hhgdt_forest", {**ALL, "n_estimators": 5}, division=Division(0.1, 0.2, 1)
    )
    retained = Division(0.0, 0.2, 1).drawn()(600) == 2
    assert fitted.tested == retained.sum() > 80
    assert fitted.right == (fitted.estimator.predict(X[retained]) == y[retained]).sum()
    assert all(tree.counts[0].sum() == (~retained).sum() for tree in fitted.estimator.trees())


PARAMS = {**ALL, "n_estimators": 3, "max_depth": 4}


def test_a_forest_that_was_stopped_goes_on_from_its_last_whole_level(tmp_path, monkeypatch):
    monkeypatch.setattr("oblique_cli.scale.growing.Plan.in_memory_rows", lambda self, store, workers=1: (40, 40))
    X, y = table(2, n=400)
    stop_fit(tmp_path, X, y, "hhgdt_forest", PARAMS, 8, memory=1 << 21)
    folder = tmp_path / "oblique-rows"
    assert (folder / "tree_000000.npz").exists() and list(folder.glob("state_*.npz"))
    again = fit_from_disk.fit(array_table(X, y), "hhgdt_forest", PARAMS, scratch=tmp_path, memory=1 << 21)
    whole = fit_from_disk.fit(array_table(X, y), "hhgdt_forest", PARAMS, memory=1 << 21)
    assert len(again.levels) < len(whole.levels)
    for first, other in zip(again.estimator.forest_.state(), whole.estimator.forest_.state(), strict=True):
        assert all(np.array_equal(np.asarray(first[name]), np.asarray(other[name])) for name in first)
    assert list(tmp_path.iterdir()) == []


def test_trees_of_another_fit_and_damaged_ones_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr("oblique_cli.scale.growing.Plan.in_memory_rows", lambda self, store, workers=1: (40, 40))
    X, y = table(2, n=400)
    stop_fit(tmp_path, X, y, "hhgdt_forest", PARAMS, 8, memory=1 << 21)
    with pytest.raises(DataError, match="is of a fit with other parameters"):
        fit_from_disk.fit(array_table(X, y), "hhgdt_forest", {**PARAMS, "max_depth": 3}, scratch=tmp_path)
    retained = tmp_path / "oblique-rows" / "tree_000000.npz"
    retained.write_bytes(retained.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"tree_000000\.npz: not a tree of a fit .*remove it to grow it anew"):
        fit_from_disk.fit(array_table(X, y), "hhgdt_forest", PARAMS, scratch=tmp_path)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({**ALL, "proposer": "hhbut"}, "proposer 'hhbut' needs all rows in memory, to find clusters"),
        ({**ALL, "monotonic_cst": [1, 0, 0]}, "monotonic_cst .* needs all rows in memory"),
    ],
)
def test_what_needs_all_rows_is_refused(params, message):
    X, y = table(1)
    with pytest.raises(ConfigError, match=message):
        fit_from_disk.fit(array_table(X, y), "bagged_forest" if "proposer" in params else "hhgdt_forest", params)


def test_a_heuristic_that_climbs_workers_elsewhere_and_no_rows_are_refused():
    X, y = table(1)
    with pytest.raises(ConfigError, match="needs all rows of a node at once"):
        fit_from_disk.fit(array_table(X, y), "bagged_forest", {**ALL, "proposer": "oc1"})
    with pytest.raises(ConfigError, match="grows by threads of one process: no --scheduler"):
        fit_from_disk.fit(array_table(X, y), "hhgdt_forest", ALL, asker=lambda rows: None)
    with pytest.raises(ConfigError, match="there must be rows to grow a tree on"):
        fit_from_disk.fit(array_table(X, y), "hhgdt_forest", ALL, division=Division(test=1.0))


def test_a_tree_sees_the_rows_and_features_that_it_drew(tmp_path):
    X, y = table(4, n=200)
    rows = store(array_table(X, y), tmp_path, Division(0.0, 0.3, 1))
    first = grows_before(rows)
    times = np.random.default_rng(0).integers(0, 3, int(first[-1]))
    seen = Drawn(rows, first, times, np.array([0, 2])).read(0)
    growing = rows.read(0).parts == 0
    assert seen.columns.shape == (2, 200) and seen.weights[growing].tolist() == times.tolist()
    assert ((seen.parts == NOT_DRAWN) == (growing & (seen.weights == 0))).all()
