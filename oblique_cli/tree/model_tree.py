"""A regression tree with a linear model at every node, as frozen arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import DataError
from oblique_cli.ground.nodes import Indicator, depths_of, nested_rules, parents_of

Array = NDArray[np.float64]
Ints = NDArray[np.int32]

SCHEMA = "oblique-model-tree/1"
# Types of the arrays that are not float64.
KINDS: Mapping[str, Any] = {"left": np.int32, "right": np.int32, "feature": np.int32, "n_rows": np.int64}


@dataclass(frozen=True, eq=False)
class ModelTree:
    """A binary tree of cuts in single features with y = coef @ x + intercept in its leaves. All arrays are read-only.

    left, right : (n_nodes,) int32   children, -1 at leaves; the root is 0 and a child is larger than its parent
    feature     : (n_nodes,) int32   feature of the cut, -1 at leaves
    thresholds  : (n_nodes,)         a row goes left iff x[feature] <= threshold
    coef        : (n_nodes, p)       linear model of the training rows of every node
    intercept   : (n_nodes,)
    n_rows      : (n_nodes,) int64   training rows at the node
    rss         : (n_nodes,)         residual sum of squares of the node's model
    """

    left: Ints
    right: Ints
    feature: Ints
    thresholds: Array
    coef: Array
    intercept: Array
    n_rows: NDArray[np.int64]
    rss: Array

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):
            getattr(self, name).flags.writeable = False

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.left)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return (self.n_nodes + 1) // 2

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """(n_nodes,) whether a node is a leaf."""
        return self.left < 0

    @cached_property
    def parents(self) -> NDArray[np.int64]:
        """(n_nodes,) parent of every node, -1 for the root."""
        return parents_of(self.left, self.right)

    @cached_property
    def depth(self) -> int:
        """Longest path from the root, 0 for a single leaf."""
        return int(depths_of(self.left, self.right).max())

    def apply(self, X: Array) -> Ints:
        """Return the leaf of each row. X : (n, p); returns (n,)."""
        at = np.zeros(len(X), dtype=np.int32)
        for _ in range(self.depth):
            inner = np.flatnonzero(~self.is_leaf[at])
            nodes = at[inner]
            goes_left = X[inner, self.feature[nodes]] <= self.thresholds[nodes]
            at[inner] = np.where(goes_left, self.left[nodes], self.right[nodes])
        return at

    def predict(self, X: Array) -> Array:
        """Return the value of each row's leaf model. X : (n, p); returns (n,)."""
        leaves = self.apply(X)
        values: Array = np.einsum("ij,ij->i", X, self.coef[leaves]) + self.intercept[leaves]
        return values

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain data for JSON; `from_dict` gives back a tree with the same predictions."""
        return {"schema": SCHEMA} | {field.name: getattr(self, field.name).tolist() for field in fields(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ModelTree:
        """Rebuild a tree from `to_dict`; DataError if the data is not a tree of this schema."""
        if data.get("schema") != SCHEMA:
            raise DataError(f"a model tree must have schema {SCHEMA!r}. Got {data.get('schema')!r}.")
        try:
            arrays = {f.name: np.array(data[f.name], dtype=KINDS.get(f.name, np.float64)) for f in fields(cls)}
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"not a model tree: {error}") from error
        n = len(arrays["left"])
        coef = arrays["coef"]
        if n == 0 or coef.ndim != 2 or any(len(a) != n for a in arrays.values()):
            raise DataError("not a model tree: its arrays must all have one entry per node")
        if not all(np.isfinite(values).all() for values in arrays.values()):
            raise DataError("not a model tree: it has values that are not finite")
        inner = np.flatnonzero(arrays["left"] >= 0)
        children = np.concatenate([arrays["left"][inner], arrays["right"][inner]])
        later = (arrays["left"][inner] > inner).all() and (arrays["right"][inner] > inner).all()
        if not later or sorted(children.tolist()) != list(range(1, n)):
            raise DataError("not a model tree: node numbers must form a tree with children after their parents")
        if ((arrays["feature"][inner] < 0) | (arrays["feature"][inner] >= coef.shape[1])).any():
            raise DataError("not a model tree: it splits on features that it does not have")
        return cls(**arrays)

    def __repr__(self) -> str:
        return f"ModelTree({self.n_leaves} leaves, depth {self.depth}, {self.coef.shape[1]} features)"


class ModelTreeBuilder:
    """Appends nodes, parents before children; `finish` freezes them."""

    def __init__(self) -> None:
        self._nodes: list[dict[str, Any]] = []

    def add(self, coef: Array, intercept: float, n_rows: int, rss: float) -> int:
        """Append a leaf and return its number."""
        node = {"left": -1, "right": -1, "feature": -1, "thresholds": 0.0}
        self._nodes.append({**node, "coef": coef, "intercept": intercept, "n_rows": n_rows, "rss": rss})
        return len(self._nodes) - 1

    def split(self, node: int, feature: int, threshold: float, left: int, right: int) -> None:
        """Make `node` internal."""
        self._nodes[node] |= {"feature": feature, "thresholds": threshold, "left": left, "right": right}

    def finish(self) -> ModelTree:
        """Return the tree."""
        names = [field.name for field in fields(ModelTree)]
        return ModelTree(
            **{name: np.array([n[name] for n in self._nodes], dtype=KINDS.get(name, np.float64)) for name in names}
        )


def export_text(tree: ModelTree, feature_names: Sequence[str], target: str = "y", precision: int = 3) -> str:
    """Return the rules of a model tree as nested "if" and "else", with the equation of every leaf.

    feature_names : one for each column; precision : significant digits; 17 give numbers to the bit

        if x1 <= 50:
            y = 0 + 1 x1  (45 rows, RMSE 0)
        else:
            y = 100 - 1 x1  (180 rows, RMSE 0)
    """
    said = node_texts(tree, feature_names, target, precision)
    return nested_rules(tree.left, tree.right, said.__getitem__, said.__getitem__)


def node_texts(
    tree: ModelTree, feature_names: Sequence[str], target: str = "y", precision: int = 3, most: int | None = None
) -> list[str]:
    """Return what each node says: when a row goes left, or the equation of a leaf. most : as in `equation`"""
    leaves = leaf_texts(tree, feature_names, target, precision, most)
    names = _printable(feature_names)

    def condition(node: int) -> str:
        name, threshold = names[tree.feature[node]], tree.thresholds[node]
        if isinstance(name, Indicator) and 0.0 <= threshold < 1.0:
            return name.holds(False)
        return f"{name} <= {threshold:.{precision}g}"

    return [leaves[node] if tree.is_leaf[node] else condition(node) for node in range(tree.n_nodes)]


def leaf_texts(
    tree: Any, feature_names: Sequence[str], target: str = "y", precision: int = 3, most: int | None = None
) -> list[str]:
    """Return what each node says as a leaf: its equation, its rows and its error.

    tree : of any kind with `coef`, `intercept`, `n_rows` and `rss` of every node; most : as in `equation`
    """
    names = _printable(feature_names)

    def leaf(node: int) -> str:
        rmse = np.sqrt(tree.rss[node] / tree.n_rows[node])
        rows = f"{tree.n_rows[node]} row{'' if tree.n_rows[node] == 1 else 's'}"
        return f"{target} = {equation(tree, node, names, precision, most)}  ({rows}, RMSE {rmse:.{precision}g})"

    return [leaf(node) for node in range(len(tree.rss))]


def _printable(names: Sequence[str]) -> list[str]:
    def printable(name: str) -> str:
        return "".join(char if char.isprintable() else " " for char in name)

    return [name.each(printable) if isinstance(name, Indicator) else printable(name) for name in names]


def equation(tree: Any, node: int, feature_names: Sequence[str], precision: int = 3, most: int | None = None) -> str:
    """Return the linear model of a node, such as "100 - 1.5 x1 + 0.2 x3"; features of coefficient 0 are left out.

    most : terms that are written, those of the largest coefficients; the others are counted
    """
    text = f"{tree.intercept[node]:.{precision}g}"
    used = np.flatnonzero(tree.coef[node]).tolist()
    kept = used if most is None else sorted(sorted(used, key=lambda j: -abs(tree.coef[node, j]))[:most])
    for j in kept:
        sign, name = "-" if tree.coef[node, j] < 0 else "+", feature_names[j]
        said = f"({name.holds()})" if isinstance(name, Indicator) else name
        text += f" {sign} {abs(tree.coef[node, j]):.{precision}g} {said}"
    rest = len(used) - len(kept)
    return text + (f" and {rest} more term{'' if rest == 1 else 's'}" if rest else "")
