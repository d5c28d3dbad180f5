"""A forest grown the slow way: plain recursion over NumPy, every formula as printed in Zhang & Suganthan (2014)."""

from itertools import combinations, count
from typing import Any

import numpy as np
from scipy.linalg import eigh

from oblique_cli.ground import geometry

MASK = 2**64 - 1
STEP = 0x9E3779B97F4A7C15


def mixed(z: int) -> int:
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


class Stream:
    """SplitMix64, keyed as core/common/random.hpp keys it."""

    def __init__(self, seed: int, path: int, number: int) -> None:
        state = mixed(seed + STEP & MASK)
        state = mixed(state + path * STEP & MASK)
        self.state = mixed(state + number * STEP & MASK)

    def next(self) -> int:
        self.state = self.state + STEP & MASK
        return mixed(self.state)

    def below(self, n: int) -> int:
        return int((self.next() >> 11) * 2.0**-53 * n)


def bootstrap(stream: Stream, n: int) -> np.ndarray:
    return np.bincount([stream.below(n) for _ in range(n)], minlength=n)


def groups(stream: Stream, p: int, size: int) -> list[list[int]]:
    order = list(range(p))
    for j in range(p - 1):
        other = j + stream.below(p - j)
        order[j], order[other] = order[other], order[j]
    results = [order[first : first + size] for first in range(0, p, size)]
    others = p - len(results[-1])
    for drawn in count():
        if len(results[-1]) == min(size, p):
            return results
        other = drawn + stream.below(others - drawn)
        order[drawn], order[other] = order[other], order[drawn]
        results[-1].append(order[drawn])
    raise AssertionError


def rotation(seed: int, X: np.ndarray, size: int, scaling: str = "range") -> np.ndarray:
    """Rows are the rotated features as combinations of the original ones."""
    scale = {"range": np.ptp(X, axis=0), "deviation": X.std(axis=0), "none": np.ones(X.shape[1])}[scaling]
    X = X / scale
    rows = []
    for g, group in enumerate(groups(Stream(seed, 0, 2), X.shape[1], min(size, X.shape[1]))):
        draws = bootstrap(Stream(seed, 0, 3 + g), len(X))
        covariance = np.cov(X[:, group], rowvar=False, fweights=draws, ddof=0).reshape(len(group), -1)
        values, vectors = np.linalg.eigh(covariance)
        for c in np.argsort(-values):
            if values[c] > 1e-10 * values.max():
                row = np.zeros(X.shape[1])
                v = vectors[:, c]
                row[group] = -v if v[np.flatnonzero(np.abs(v) > 1e-9)[0]] > 0 else v
                rows.append(row / scale)
    return np.array(rows).reshape(-1, X.shape[1])


class Oracle:
    """One tree. `nodes` maps the path of a node to its split, or to its class weights if it is a leaf."""

    def __init__(
        self, X: np.ndarray, y: np.ndarray, seed: int, tree: int, weights: np.ndarray | None = None, **options: Any
    ) -> None:
        self.options = {"mtry": X.shape[1], "minleaf": 1, "bootstrap": True, "delta": 0.01, "rule": "none"} | options
        self.seed = Stream(seed, 0, tree).next()
        self.R = None
        if self.options.get("group_size"):
            self.R = rotation(self.seed, X, self.options["group_size"], self.options.get("scaling", "range"))
            X = X @ self.R.T
        self.X, self.y = X, y
        self.draws = bootstrap(Stream(self.seed, 0, 1), len(X)) if self.options["bootstrap"] else np.ones(len(X), int)
        self.w = self.draws * (1.0 if weights is None else weights)
        self.nodes: dict[int, Any] = {}
        self.grow(np.flatnonzero(self.draws), 1, self.options["rule"] == "none")

    def grow(self, rows: np.ndarray, path: int, axis_only: bool) -> None:
        split = None
        if len(set(self.y[rows])) > 1 and self.draws[rows].sum() > self.options["minleaf"]:
            split, axis_only = self.split(rows, path, axis_only)
        if split is None:
            self.nodes[path] = np.bincount(self.y[rows], self.w[rows], minlength=self.y.max() + 1)
            return
        features, coef, threshold, left = split
        self.nodes[path] = (features, coef, threshold)
        self.grow(rows[left], 2 * path & MASK, axis_only)
        self.grow(rows[~left], 2 * path + 1 & MASK, axis_only)

    def split(self, rows: np.ndarray, path: int, axis_only: bool) -> tuple[Any, bool]:
        order = list(range(self.X.shape[1]))
        stream = Stream(self.seed, path, 0)
        for j in range(len(order)):
            other = j + stream.below(len(order) - j)
            order[j], order[other] = order[other], order[j]
        mtry = min(self.options["mtry"], len(order))
        if not axis_only:
            planes, axis_only = self.bisectors(rows, order[:mtry])
            best = None
            for plane in planes:
                z = self.X[np.ix_(rows, order[:mtry])] @ plane[:-1]
                left = z <= -plane[-1]
                if 0 < left.sum() < len(rows):
                    value = self.value(rows, left)
                    if best is None or value > best[0] * (1 + 1e-9):
                        best = (value, plane, left)
            if best is not None:
                return (order[:mtry], best[1][:-1], -best[1][-1], best[2]), axis_only
        result = None
        for at, j in enumerate(order):
            if at >= mtry and result is not None:
                break
            x = self.X[rows, j]
            for low, high in zip(np.unique(x)[:-1], np.unique(x)[1:], strict=True):
                value = self.value(rows, x <= low)
                if result is None or value > result[0] * (1 + 1e-9):
                    result = (value, j, (low + high) / 2, x <= low)
        return (None if result is None else ([result[1]], np.ones(1), result[2], result[3])), axis_only

    def value(self, rows: np.ndarray, left: np.ndarray) -> float:
        """Minus the Gini impurity of equation 12, up to what all cuts of a node share."""
        total = 0.0
        for side in (left, ~left):
            counts = np.bincount(self.y[rows][side], self.w[rows][side])
            total += (counts**2).sum() / counts.sum()
        return total

    def bisectors(self, rows: np.ndarray, features: list[int]) -> tuple[list[np.ndarray], bool]:
        X, y, w = self.X[np.ix_(rows, features)], self.y[rows], self.w[rows]
        in_first = self.hyper_classes(X, y, w)
        sides = [(X[in_first], w[in_first]), (X[~in_first], w[~in_first])]
        singular = [self.is_singular(*side, X) for side in sides]
        rule, delta = self.options["rule"], self.options["delta"]
        if rule == "axis" and any(singular):
            return [], True
        planes: list[Any]
        if rule == "null" and any(singular):
            standard = geometry.Standard.of(X)
            G, H = (geometry.augmented_moment(*side, standard) for side in sides)
            planes = [geometry.clustering_hyperplane(*pair, standard)[0] for pair in ((G, H), (H, G))]
            if any(plane is None or not geometry.has_normal(plane, standard) for plane in planes):
                return [], False
        else:
            G, H = (self.moment(*side) for side in sides)
            G, H = (M + delta * np.eye(len(M)) * s for M, s in zip((G, H), singular, strict=True))
            # Equation 9: the eigenvectors of the smallest eigenvalues.
            planes = [eigh(G, H)[1][:, 0], eigh(H, G)[1][:, 0]]
        normalized = [geometry.normalize_plane(plane) for plane in planes]
        if any(plane is None for plane in normalized):
            return [], False
        result = geometry.angle_bisectors(normalized[0], normalized[1])
        for plane in result:
            plane[-1] -= geometry.distinct_gap(X, plane[:-1])
        return result, False

    @staticmethod
    def moment(X: np.ndarray, w: np.ndarray) -> np.ndarray:
        augmented = np.column_stack([X, np.ones(len(X))])
        return (augmented * w[:, None]).T @ augmented

    @staticmethod
    def is_singular(X: np.ndarray, w: np.ndarray, node: np.ndarray) -> bool:
        spread = np.ptp(node, axis=0)
        scaled = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)
        return np.linalg.matrix_rank(scaled, tol=1e-7) < X.shape[1]

    def hyper_classes(self, X: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Whether each row is in the first hyper-class."""
        codes = np.unique(y)
        normal = {}
        for k in codes:
            inside = y == k
            covariance = np.cov(X[inside].T, aweights=w[inside], ddof=0).reshape(X.shape[1], -1)
            if self.is_singular(X[inside], w[inside], X):
                covariance = covariance + self.options["delta"] * np.eye(len(covariance))
            normal[k] = (np.average(X[inside], axis=0, weights=w[inside]), covariance)
        distance = {}
        for a, b in combinations(codes, 2):
            (m1, S1), (m2, S2) = normal[a], normal[b]
            S = (S1 + S2) / 2
            log = np.linalg.slogdet(S)[1] - (np.linalg.slogdet(S1)[1] + np.linalg.slogdet(S2)[1]) / 2
            distance[a, b] = distance[b, a] = (m2 - m1) @ np.linalg.solve(S, m2 - m1) / 8 + log / 2
        first, second = max(combinations(codes, 2), key=lambda pair: distance[pair])
        members = [k for k in codes if k == first or (k != second and distance[k, first] <= distance[k, second])]
        return np.isin(y, members)
