"""Cline: planes through the middle of two means, or of the two nearest rows of different classes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Choice
from oblique_cli.ground.geometry import Standard
from oblique_cli.parameters import parameter
from oblique_cli.proposers._discriminant import fisher, largest_class, mean_of, plane, unit_normal, whiten
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Node, Proposer

TIE = 1e-9  # relative difference below which two distances are equal
SAME = 1e-12  # means or rows closer than this, relative to the largest range of a feature, are equal


@PROPOSERS.register("cline")
class Cline(Proposer):
    """The two heuristics of the Cline family that thesis 2.4 describes, and the better of both.

    Choices that the thesis leaves open: distances are in the units of the features; rows that occur in both classes are
    not a pair; of equally near pairs the first in lexicographic order is used; with equal means there is no
    discriminant, so the normal is the difference of the pair. With more than two classes the thesis builds a classifier
    for each pair of classes. Here a node tries the planes of all pairs of its classes, each fitted to the rows of both,
    and the criterion over all classes chooses one plane, so that the result is one tree. scikit-learn's
    `OneVsOneClassifier` around this estimator votes over a tree for each pair."""

    title = "Cline"
    source = "Amasyali & Ersoy (2008); Wickramarachchi (2015), section 2.4"
    tree_defaults: ClassVar[Mapping[str, Any]] = {"criterion": "gini"}
    native: ClassVar[str | None] = "cline"
    member_defaults: ClassVar[Mapping[str, Any]] = {"classes": "largest"}

    rule: str = parameter(
        default="best",
        allowed=Choice(("mean", "nearest_pair", "best")),
        help='"mean" is the plane through the middle of the two means, at right angles to the line between them; '
        '"nearest_pair" goes through the middle of the two nearest rows of different classes; "best" keeps the '
        "one that the criterion prefers, the mean on a tie, as ClineMix keeps the best of its heuristics.",
    )
    normal: str = parameter(
        default="discriminant",
        allowed=Choice(("discriminant", "pair")),
        help="Normal of the nearest pair's plane. \"discriminant\" is the thesis' reading, at right angles to the line "
        'of the linear discriminant (Fisher\'s direction); "pair" is at right angles to the line between the two rows.',
    )

    classes: str = parameter(
        default="pairs",
        allowed=Choice(("pairs", "largest")),
        help='What the planes separate where a node has more than two classes: "pairs", one class from another, for '
        'all pairs (thesis 2.4: one-versus-one); "largest", the largest class from the rest.',
    )

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield the planes of one pair of classes after another, one plane per heuristic, each with its offset."""
        low, high = node.X.min(axis=0), node.X.max(axis=0)
        if not (high > low).any():
            return
        # A common unit of all features preserves right angles and distance ratios.
        unit = np.exp2(np.ceil(np.log2((high - low).max())))
        standard = Standard(0.5 * low + 0.5 * high, np.full(len(low), unit))
        codes = np.unique(node.y)
        if self.classes == "largest" or len(codes) == 2:
            yield from self._planes(node, node, standard)
            return
        for a, b in itertools.combinations(codes, 2):
            yield from self._planes(node, node.of_rows((node.y == a) | (node.y == b)), standard)

    def _planes(self, node: Node, part: Node, standard: Standard) -> Iterator[Candidates]:
        """Yield the planes between the largest class and the others of a part of a node's rows."""
        rows, first = (part.X - standard.center) / standard.scale, largest_class(part)
        if self.rule != "nearest_pair":
            a, b = mean_of(rows, first, part.weights), mean_of(rows, ~first, part.weights)
            if np.linalg.norm(b - a) > SAME:
                yield plane(node, b - a, float((b - a) @ (0.5 * a + 0.5 * b)), standard)
        if self.rule != "mean":
            pair = nearest_pair(rows[first], rows[~first])
            if pair is not None:
                normal = pair[1] - pair[0]
                if self.normal == "discriminant":
                    scores, basis, whitened = whiten(part)
                    direction = fisher(scores, first, part.weights)
                    normal = normal if direction is None else unit_normal(basis @ direction, whitened)
                yield plane(node, normal, float(normal @ (0.5 * pair[0] + 0.5 * pair[1])), standard)

    def native_options(self) -> dict[str, Any]:
        return {"rule": self.rule, "normal_of_pair": self.normal == "pair", "pairs": self.classes == "pairs"}


def nearest_pair(A: Array, B: Array) -> tuple[Array, Array] | None:
    """Return the nearest distinct rows of A : (n, p) and B : (m, p), of ranges near 1; None if all rows are equal."""
    from scipy.spatial import cKDTree

    A, B = _distinct(A), _distinct(B)
    near, _ = cKDTree(B).query(A, k=[1, 2])  # at most one row of B is equal; a missing neighbor is infinitely far
    near = np.where(near > SAME, near, np.inf).min(axis=1)
    limit = float(near.min()) * (1.0 + TIE)
    if not np.isfinite(limit):
        return None
    a = A[int(np.argmax(near <= limit))]
    distances = np.linalg.norm(B - a, axis=1)
    return a, B[int(np.argmax((distances > SAME) & (distances <= limit)))]


def _distinct(rows: Array) -> Array:
    """Return distinct rows in lexicographic order. Rows that differ by the rounding of a level's score are equal."""
    return np.asarray(rows[np.unique(np.round(rows * 2.0**40), axis=0, return_index=True)[1]])
