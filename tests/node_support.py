"""A node from plain lists, and what a heuristic proposes at it."""

from typing import Any

import numpy as np

import oblique_cli.proposers  # noqa: F401  (registers the proposers)
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Node, Proposer, Split, best_split

# Rows at which a discriminant has little to go by. (X, y)
DEGENERATE: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "more features than rows": (np.random.default_rng(1).normal(size=(8, 20)), np.arange(8) % 3),
    "constant columns": (np.column_stack([np.full(12, 0.1), np.arange(12.0), np.zeros(12)]), np.arange(12) // 6),
    "one row a class": (np.array([[0.0, 1.0], [2.0, 0.0], [5.0, 5.0]]), np.arange(3)),
    "two rows": (np.array([[0.0, 1.0], [2.0, 4.0]]), np.arange(2)),
    "duplicated columns": (np.repeat(np.random.default_rng(2).normal(size=(20, 1)), 3, axis=1), np.arange(20) % 2),
    "a class without variance": (np.vstack([np.ones((5, 2)), [[3.0, 1.0], [4.0, 2.0], [5.0, 9.0]]]), np.arange(8) // 5),
    "tiny and huge units": (np.random.default_rng(3).normal(size=(20, 2)) * [1e-200, 1e200], np.arange(20) % 2),
    "a large offset": (np.random.default_rng(4).normal(size=(20, 2)) + 1e9, np.arange(20) % 2),
}


class RandomStarts(Proposer):
    """Random directions of a number that is drawn too, each from a stream of its own, none at some nodes."""

    def propose(self, node: Node) -> Any:
        if len(node.X) % 5 == 0:
            yield Candidates.axes()
            return
        for start in range(int(node.rng("starts").integers(1, 4))):
            d = node.rng("start", start).normal(size=node.X.shape[1])
            yield Candidates.directions((d / np.linalg.norm(d))[None])


def node_of(X: Any, y: Any, weights: Any = None, criterion: str = "gini", seed: int = 0, path: int = 1) -> Node:
    """A node whose problem has the classes of y."""
    y = np.asarray(y, dtype=np.int32)
    w = None if weights is None else np.asarray(weights, dtype=float)
    return Node(np.ascontiguousarray(X, dtype=float), y, w, int(y.max()) + 1, 0, criterion, seed=seed, path=path)


def proposals(name: str, node: Node, **parameters: Any) -> list[tuple[Any, ...]]:
    """The groups of directions that the named heuristic proposes."""
    return [group.spec for group in PROPOSERS[name](**parameters).propose(node)]


def proposed_plane(name: str, node: Node, **options: Any) -> tuple[np.ndarray, float]:
    """Normal and offset of the only plane proposed."""
    ((kind, normals, offsets),) = proposals(name, node, **options)
    assert kind == "directions" and len(normals) == 1
    return normals[0], float(offsets[0])


def split_of(name: str, node: Node, **parameters: Any) -> Split | None:
    """The split that the named heuristic gives."""
    return best_split(node, PROPOSERS[name](**parameters))


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """Of the angle between two lines, 0 to 1."""
    return float(abs(a @ b) / np.linalg.norm(a) / np.linalg.norm(b))
