"""Trees of forests are the same without the ranks that their search along axes is made fast by."""

import numpy as np
import pytest
from covering import few

import oblique_cli._core as _core

OPTIONS = {
    "split": "axis",
    "mtry": 0,
    "minleaf": 1.0,
    "max_depth": -1,
    "bootstrap": True,
    "max_samples": 0,
    "tree_features": 0,
    "node_bootstrap": False,
    "group_size": 0,
    "scaling": "range",
}
KINDS = {
    "every feature": {},
    "some features": {"mtry": 2},
    "rotated": {"group_size": 2},
    "rows drawn again": {"node_bootstrap": True, "mtry": 2},
    "all rows": {"bootstrap": False},
}


def table(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 300))
    X = rng.normal(size=(n, 4))
    X[:, 1] = rng.integers(0, 5, n)  # few values
    X[:, 2] = np.round(X[:, 2], 1)
    X[:, 3] = -0.0 if seed % 2 else X[:, 0]  # never varies, or a copy
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(np.int32) + 2 * (X[:, 1] > 3).astype(np.int32)
    return np.ascontiguousarray(X), y.astype(np.int32), rng


def grown(X, y, weights, kind, without):
    forest = _core.Forest(4, 4, 7)
    forest.grow(X, y, weights, OPTIONS | KINDS[kind], 3, 1, [], without)
    return forest.state()


@few(
    kind=KINDS,
    without=[*([name] for name in _core.axis_tactics()), _core.axis_tactics()],
    weighted=["not", "wholly", "really"],
)
def test_a_forest_without_a_tactic_is_the_same(kind, without, weighted):
    for seed in range(12):
        X, y, rng = table(seed)
        weights = {"not": None, "wholly": rng.integers(1, 4, len(y)) * 1.0, "really": rng.uniform(1.0, 9.0, len(y))}
        usual, plain = (grown(X, y, weights[weighted], kind, some) for some in ([], without))
        for tree, other in zip(usual, plain, strict=True):
            assert tree.keys() == other.keys()
            for name in tree:
                # Reals are added up in another order, which the last digits of the credit of features tell.
                if name == "importance" and weighted == "really":
                    np.testing.assert_allclose(tree[name], other[name], rtol=1e-9, atol=1e-9)
                else:
                    np.testing.assert_array_equal(tree[name], other[name], f"seed {seed}: {name}")


def test_a_tactic_that_there_is_not_is_refused():
    X, y, _ = table(0)
    with pytest.raises(ValueError, match="no tactic 'bins'"):
        grown(X, y, None, "every feature", ["bins"])
