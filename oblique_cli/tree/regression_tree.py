"""A regression tree of hyperplanes with a model at every node, as frozen arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import DataError
from oblique_cli.tree.structure import Tree

Array = NDArray[np.float64]

SCHEMA = "oblique-regression-tree/1"


@dataclass(frozen=True, eq=False)
class RegressionTree:
    """Hyperplanes, and y = coef @ x + intercept in their leaves. All arrays are read-only.

    splits    : the hyperplanes, a tree of one class: `counts` (n_nodes, 1) are the training rows of the nodes
    coef      : (n_nodes, p)   linear model of the training rows of every node, zeros for a constant
    intercept : (n_nodes,)
    rss       : (n_nodes,)     residual sum of squares of the node's model
    """

    splits: Tree
    coef: Array
    intercept: Array
    rss: Array

    def __post_init__(self) -> None:
        for values in (self.coef, self.intercept, self.rss):
            values.flags.writeable = False

    @property
    def left(self) -> NDArray[np.int32]:
        """(n_nodes,) left child of every node, -1 at leaves."""
        return self.splits.left

    @property
    def right(self) -> NDArray[np.int32]:
        """(n_nodes,) right child of every node, -1 at leaves."""
        return self.splits.right

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """(n_nodes,) whether a node is a leaf."""
        return self.splits.is_leaf

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return self.splits.n_nodes

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self.splits.n_leaves

    @property
    def depth(self) -> int:
        """Longest path from the root, 0 for a single leaf."""
        return self.splits.depth

    @property
    def parents(self) -> NDArray[np.int64]:
        """(n_nodes,) parent of every node, -1 for the root."""
        return self.splits.parents

    @property
    def n_rows(self) -> NDArray[np.int64]:
        """(n_nodes,) training rows of every node."""
        return self.splits.n_rows

    def apply(self, X: Array) -> NDArray[np.int32]:
        """Return the leaf of each row. X : (n, p); returns (n,)."""
        return self.splits.apply(X)

    def at(self, nodes: NDArray[Any], X: Array) -> Array:
        """Return what the models of `nodes` (n,) say of rows X (n, p)."""
        values: Array = np.einsum("ij,ij->i", X, self.coef[nodes]) + self.intercept[nodes]
        return values

    def predict(self, X: Array) -> Array:
        """Return the value of each row's leaf model. X : (n, p); returns (n,)."""
        return self.at(self.apply(X), X)

    def collapse(self, leaves: NDArray[np.bool_]) -> RegressionTree:
        """Return the tree in which every marked node is a leaf. leaves : (n_nodes,) bool."""
        kept = self._places(leaves)
        return RegressionTree(
            self.splits.collapse(leaves), self.coef[kept].copy(), self.intercept[kept].copy(), self.rss[kept].copy()
        )

    def _places(self, leaves: NDArray[np.bool_]) -> list[int]:
        """Nodes that `collapse` keeps, in the order in which it numbers them."""
        order, stack = [0], [0]
        while stack:
            node = stack.pop()
            if self.left[node] < 0 or leaves[node]:
                continue
            children = [int(self.left[node]), int(self.right[node])]
            order += children
            stack += reversed(children)
        return order

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain data for JSON; `from_dict` gives back a tree with the same predictions."""
        models = {name: getattr(self, name).tolist() for name in ("coef", "intercept", "rss")}
        return {"schema": SCHEMA, "splits": self.splits.to_dict(), **models}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RegressionTree:
        """Rebuild a tree from `to_dict`; DataError if the data is not a tree of this schema."""
        if data.get("schema") != SCHEMA:
            raise DataError(f"a regression tree must have schema {SCHEMA!r}. Got {data.get('schema')!r}.")
        try:
            splits = Tree.from_dict(data["splits"])
            coef, intercept, rss = (np.array(data[name], dtype=np.float64) for name in ("coef", "intercept", "rss"))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"not a regression tree: {error}") from error
        shapes = (coef.shape, intercept.shape, rss.shape)
        if shapes != (splits.coef_.shape, (splits.n_nodes,), (splits.n_nodes,)) or splits.counts.shape[1] != 1:
            raise DataError("not a regression tree: its models must have one entry per node")
        if not all(np.isfinite(values).all() for values in (coef, intercept, rss)):
            raise DataError("not a regression tree: it has values that are not finite")
        return cls(splits, coef, intercept, rss)

    def __repr__(self) -> str:
        return f"RegressionTree({self.n_leaves} leaves, depth {self.depth}, {self.splits.n_features} features)"
