"""QUEST: linear discriminant analysis of two super-classes, splits and split points without a search."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from oblique_cli.ground.arrays import Array, Mask
from oblique_cli.ground.constraints import Choice, Real
from oblique_cli.ground.geometry import Standard
from oblique_cli.parameters import parameter
from oblique_cli.proposers._discriminant import SAME_MEAN, fisher, mean_of, plane, standard_scores, unit_normal, whiten
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Node, Proposer

TIE = 1e-9  # squared distances closer than this, relative to the largest, are equal


@PROPOSERS.register("quest")
class QUEST(Proposer):
    """QUEST with linear combination splits or splits on one feature, estimated priors, unit costs (thesis 2.3, 3.9.3).

    Classes are grouped into two super-classes by 2-means clustering of their means. Choices that the thesis leaves
    open: the clustering starts from the two most distant means, a class halfway between them goes to the first group,
    and distances are those of the principal components scaled to unit variance, so that nothing depends on the units of
    features. Components are those of all rows of the node, not of the pooled classes: the direction is the same if both
    have full rank, and a direction without any variance inside the classes remains available. Of the two roots of the
    quadratic equation the one nearer to the first mean is taken (it is the nearer one to the second mean too). The cut
    is halfway between the means if there is no real root, if a super-class has no variance, or if the root leaves a
    side empty. If the means of the super-classes are equal there is no direction, and the node is a leaf."""

    title = "QUEST"
    source = "Loh & Shih (1997); Wickramarachchi (2015), sections 2.3 and 3.9.3"
    tree_defaults: ClassVar[Mapping[str, Any]] = {"criterion": "gini"}
    native: ClassVar[str | None] = "quest"

    split_point: str = parameter(
        default="qda",
        allowed=Choice(("qda", "lda", "search")),
        help='"qda" cuts where the normal densities of the projected super-classes, weighted by their shares, are '
        'equal; "lda", of thesis 3.9.3, does so with one pooled variance; "search" searches the threshold over all '
        "classes.",
    )
    splits: str = parameter(
        default="linear",
        allowed=Choice(("linear", "univariate")),
        help='"linear" splits by the discriminant of all features; "univariate" by the feature of the largest F of an '
        "analysis of variance over the classes of the node, the first of equal ones (thesis 2.3).",
    )
    eigenvalue_tolerance: float = parameter(
        default=1e-10,
        allowed=Real(0.0, 1.0, open_high=True),
        help="Principal components with eigenvalues at most this times the largest are left out.",
    )

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield the discriminant direction, with its split point unless the threshold is searched."""
        linear = self.splits == "linear"
        scores, basis, standard = whiten(node, self.eigenvalue_tolerance) if linear else most_different(node)
        codes = np.unique(node.y)
        groups = two_means(np.array([mean_of(scores, node.y == code, node.weights) for code in codes]))
        first = np.isin(node.y, codes[groups == 0])
        direction = None if groups.all() else fisher(scores, first, node.weights)
        if direction is None:
            return
        normal = basis @ direction
        if self.split_point == "search":
            yield Candidates.directions(unit_normal(normal, standard)[None, :])
        else:
            yield plane(node, normal, self._cut(scores @ direction, first, node.weights), standard)

    def _cut(self, z: Array, first: Mask, weights: Array | None) -> float:
        return discriminant_cut(z, first, weights, pooled=self.split_point == "lda")

    def native_options(self) -> dict[str, Any]:
        return {
            "eigenvalue_tolerance": float(self.eigenvalue_tolerance),
            "searches_threshold": self.split_point == "search",
            "pools_variances": self.split_point == "lda",
            "univariate": self.splits == "univariate",
        }


def most_different(node: Node) -> tuple[Array, Array, Standard]:
    """Return the feature of the largest F over the classes as `whiten` returns components: scores (n, 1), basis (p, 1)
    and standard coordinates. F increases with the share of the variance that lies between classes."""
    standard = standard_scores(node)
    Z = (node.X - standard.center) / standard.scale
    weights = np.ones(len(Z)) if node.weights is None else node.weights
    between = np.zeros(Z.shape[1])
    for code in np.unique(node.y):
        rows = node.y == code
        between += (weights[rows] @ Z[rows]) ** 2 / (weights[rows].sum() * weights.sum())
    basis = np.zeros((Z.shape[1], 1))
    basis[int(np.argmax(between >= between.max() - TIE))] = 1.0
    return Z @ basis, basis, standard


def two_means(points: Array) -> np.ndarray:
    """Cluster the rows of points : (m, k) in two; return (m,) of 0 and 1, all 1 if the points are equal."""
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    tie = TIE * float(squared.max())
    if not squared.max() > SAME_MEAN**2:
        return np.ones(len(points), dtype=np.intp)
    centers = points[list(divmod(int(np.argmax(squared >= squared.max() - tie)), len(points)))]
    groups = np.full(len(points), -1)
    for _ in range(100):
        distances = ((points[:, None] - centers[None]) ** 2).sum(axis=2)
        moved = (distances[:, 0] - distances[:, 1] > tie).astype(np.intp)
        if np.array_equal(moved, groups):
            break
        groups = moved
        centers = np.array([points[groups == side].mean(axis=0) for side in (0, 1)])
    return groups


def discriminant_cut(z: Array, first: Mask, weights: Array | None, pooled: bool = False) -> float:
    """Return the point of equal weighted normal densities of two groups on a line z (n,), or the middle of their means.
    With x from the first mean, v and u the variances, g the distance of the means, q and r the shares: (u - v) x^2 + 2
    g v x + v (u log(v r^2 / (u q^2)) - g^2) = 0.
    first : (n,); pooled : whether both groups have the pooled variance"""
    w = np.ones(len(z)) if weights is None else weights
    shares, means, squares = [], [], []
    for mask in (first, ~first):
        total = float(w[mask].sum())
        mean = float(mean_of(z, mask, weights))
        shares.append(total)
        means.append(mean)
        squares.append(float(w[mask] @ (z[mask] - mean) ** 2))
    (q, r), g = shares, means[1] - means[0]
    if pooled:
        v = u = sum(squares) / max(q + r - 2.0, 1.0)
    else:
        v, u = (square / max(share - 1.0, 1.0) for square, share in zip(squares, shares, strict=True))
    middle = 0.5 * (means[0] + means[1])
    if min(u, v) <= (TIE * g) ** 2:
        return middle
    c = v * (u * math.log(v / u * (r / q) ** 2) - g * g)
    discriminant = (g * v) ** 2 - (u - v) * c
    if discriminant < 0.0:
        return middle
    # The root of smaller absolute value, in a form that is stable for equal variances too.
    cut = means[0] - c / (g * v + math.copysign(math.sqrt(discriminant), g))
    return cut if (z <= cut).any() and (z > cut).any() else middle
