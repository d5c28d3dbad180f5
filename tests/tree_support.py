"""Trees read back from their plain data (`Tree.to_dict`), by the forms of model files, and rows to grow trees on."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from contracts import NATIVE_NAMES

from oblique_cli.data import catalogue
from oblique_cli.data.dataset import Dataset
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.models.codecs import Arrays, Scope
from oblique_cli.models.kinds.hyperplanes import EQUATION_TREE, EQUATIONS, TREE
from oblique_cli.tree.splitting import PROPOSERS
from oblique_cli.tree.structure import SCHEMA, Tree, TreeBuilder


def tree_of(document: Mapping[str, Any]) -> Tree:
    """Return the tree of a document that may say more; DataError if it has none."""
    assert document.get("schema", SCHEMA) == SCHEMA
    params = {name: document[name] for name in TREE.fields if name in document}
    if "levels" not in params and "level_scores" not in params:
        n, p = len(params.get("left") or ()), len((params.get("coef_") or [[]])[0])
        params |= {"levels": [0] * p, "level_scores": [[]] * n}
    params.setdefault("missing_left", None)
    scope = Scope("not a tree", Arrays(), reading=True)
    if "equations" not in document:
        return TREE.value(params, scope)
    expected = {name: document["equations"].get(name) for name in EQUATIONS}
    return EQUATION_TREE.value({"splits": params, **expected}, scope)


def one_split(coef: Any, threshold: float, left: Any = (4, 0), right: Any = (1, 3)) -> Tree:
    """A tree of one hyperplane, with the counts of its leaves."""
    builder = TreeBuilder(len(coef), len(left))
    total = np.array(left, dtype=float) + np.array(right)
    root, *leaves = (builder.add(np.array(counts, dtype=float), int(sum(counts))) for counts in (total, left, right))
    builder.split(root, np.array(coef, dtype=float), threshold, 0.5, *leaves)
    return builder.finish()


def small_set(seed: int) -> tuple[np.ndarray, np.ndarray, int, np.ndarray | None]:
    """Rows, codes, number of classes and weights: continuous, of few values, or some columns rounded."""
    rng = np.random.default_rng([9, seed])
    n, p, n_classes = int(rng.integers(2, 80)), int(rng.integers(1, 6)), int(rng.integers(2, 5))
    X = rng.normal(size=(n, p))
    if seed % 3 == 1:
        X = rng.integers(0, 4, size=(n, p)).astype(float)
    elif seed % 3 == 2:
        X[:, ::2] = np.round(X[:, ::2])
    weights = [None, rng.integers(1, 4, n).astype(float), rng.uniform(1.0, 3.0, n)][rng.integers(3)]
    return X, rng.integers(0, n_classes, n), n_classes, weights


# Real sets with qualitative features, and what is done with their missing cells
MIXED = {"australian_credit": "error", "credit_approval": "drop", "hepatitis": "drop", "tae": "error", "car": "error"}
MIXED_NAMES = [name for name in NATIVE_NAMES if not PROPOSERS[name].quantitative]


@cache
def mixed_set(name: str) -> tuple[Dataset, list[int]]:
    """A real set with its levels as codes, and the number of levels of each column."""
    data = catalogue.load(DatasetSpec(name, missing=MIXED[name], encoding="crimcoord"), offline=True)
    return data, [len(data.levels.get(j, ())) for j in range(data.p)]


def small_mixed_set(seed: int) -> tuple[np.ndarray, np.ndarray, int, list[int]]:
    """Two quantitative and two qualitative columns, some of whose cells hold no level."""
    rng = np.random.default_rng([21, seed])
    n, n_classes = int(rng.integers(5, 90)), int(rng.integers(2, 5))
    levels = [0, int(rng.integers(1, 6)), 0, int(rng.integers(2, 9))]
    X = np.column_stack([np.round(rng.normal(size=n), 2) if k == 0 else rng.integers(0, k, n) for k in levels])
    X[rng.random(n) < 0.1, 1] = np.nan
    X[rng.random(n) < 0.1, 3] = rng.choice([-1.0, 0.5, 99.0])
    return X, rng.integers(0, n_classes, n), n_classes, levels
