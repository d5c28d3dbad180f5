"""Slow and obviously right: the algorithms of Amalaman (2015), chapters 4 to 6, as their pseudo-code says."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np


def random_matrix(rng: np.random.Generator, n: int, kind: str) -> np.ndarray:
    """A square matrix of dissimilarities: whole numbers with many ties, distances of points, or arbitrary ones."""
    if kind == "integers":
        upper = np.triu(rng.integers(1, 6, size=(n, n)), 1).astype(float)
    elif kind == "points":
        points = rng.normal(size=(n, 2))
        upper = np.triu(np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1)), 1)
    else:
        upper = np.triu(rng.exponential(size=(n, n)), 1)
    return upper + upper.T


KINDS = ("integers", "points", "arbitrary")


def between(D: np.ndarray, left: set[int], right: set[int]) -> float:
    """H1 of equation (3), term by term."""
    return sum(D[x, y] for x in left for y in right)


def avalanche_split(D: np.ndarray, members: set[int]) -> tuple[set[int], set[int], list[tuple[int, float, bool]]]:
    """Algorithm 1 of chapter 4, the objective from its definition at every step, the failing move undone."""
    largest = max(sum(D[x, y] for y in members) for x in members)
    slack = 1e-9 * largest
    last = min(x for x in members if sum(D[x, y] for y in members) >= largest - slack)
    left, right = members - {last}, {last}
    moves = [(last, between(D, left, right), True)]
    while len(left) > 1:
        last = min(left, key=lambda x: (D[last, x], x))
        now, then = between(D, left, right), between(D, left - {last}, right | {last})
        retained = then - now > slack
        moves.append((last, then, retained))
        if not retained:
            break
        left, right = left - {last}, right | {last}
    return left, right, moves


def avalanche_splits(D: np.ndarray) -> dict[frozenset[int], tuple[frozenset[int], frozenset[int], list]]:
    """Every node of the tree, as its members, with its two sides and the moves that made them."""
    out, open_ = {}, [set(range(len(D)))]
    while open_:
        members = open_.pop()
        if len(members) > 1:
            left, right, moves = avalanche_split(D, members)
            out[frozenset(members)] = (frozenset(left), frozenset(right), moves)
            open_ += [left, right]
    return out


def average(D: np.ndarray, a: frozenset[int], b: frozenset[int]) -> Fraction:
    """The exact mean distance of two clusters."""
    return sum((Fraction(D[x, y]) for x in a for y in b), Fraction(0)) / (len(a) * len(b))


def purity_of_clustering(clusters: set[frozenset[int]], codes: np.ndarray) -> Fraction:
    """Share of the objects that are in the majority class of their cluster."""
    right = sum(int(np.bincount(codes[sorted(c)]).max()) for c in clusters)
    return Fraction(right, len(codes))


def nearest_pairs(D: np.ndarray, clusters: set[frozenset[int]]) -> set[frozenset[frozenset[int]]]:
    """Pairs of clusters of which one is the nearest of the other (step 2 of algorithm 1, chapter 5)."""
    return {frozenset((c, min(clusters - {c}, key=lambda o: (average(D, c, o), min(o))))) for c in clusters}


def staxac_merges(
    D: np.ndarray, codes: np.ndarray, first: set[frozenset[frozenset[int]]] | None = None, renew: bool = False
) -> tuple[list[frozenset[frozenset[int]]], int]:
    """Algorithm 1 of chapter 5: the pairs merged, in order, and how often a graph was made."""
    clusters = {frozenset([i]) for i in range(len(D))}
    merges, rounds = [], 0
    while len(clusters) > 1:
        candidates = first if first is not None and rounds == 0 else nearest_pairs(D, clusters)
        rounds += 1
        while candidates:
            ranked = []
            for pair in candidates:
                a, b = sorted(pair, key=min)
                after = clusters - {a, b} | {a | b}
                ranked.append((-purity_of_clustering(after, codes), average(D, a, b), min(a), min(b), pair))
            best = min(ranked, key=lambda r: r[:4])[4]
            a, b = best
            merges.append(best)
            clusters = clusters - {a, b} | {a | b}
            renamed = {frozenset(a | b if c in (a, b) else c for c in pair) for pair in candidates}
            candidates = {pair for pair in renamed if len(pair) == 2} if not renew else set()
    return merges, rounds


def gabriel_pairs(D: np.ndarray) -> set[tuple[int, int]]:
    """Pairs whose ball holds no third object."""
    n = len(D)
    return {
        (i, j)
        for i, j in combinations(range(n), 2)
        if not any(D[i, k] ** 2 + D[j, k] ** 2 < D[i, j] ** 2 for k in range(n) if k not in (i, j))
    }


def neighbor_joining_pairs(D: np.ndarray) -> list[frozenset[int]]:
    """Members of the clusters that Saitou and Nei's rule forms, in order, by dictionaries of exact fractions."""
    members = {i: frozenset([i]) for i in range(len(D))}
    d = {(i, j): Fraction(D[i, j]) for i in members for j in members}
    formed = []
    while len(members) > 1:
        m = len(members)
        r = {i: sum(d[i, k] for k in members) for i in members}
        _, i, j = min(((m - 2) * d[i, j] - r[i] - r[j], i, j) for i, j in combinations(sorted(members), 2))
        for k in members:
            if k not in (i, j):
                d[i, k] = d[k, i] = (d[i, k] + d[j, k] - d[i, j]) / 2
        members[i] = members[i] | members.pop(j)
        formed.append(members[i])
    return formed


class Node:
    """A node as the pseudo-code of chapters 5 and 6 has it."""

    def __init__(self, members: list[int], left: Node | None = None, right: Node | None = None) -> None:
        self.members, self.left, self.right = members, left, right

    def purity(self, codes: np.ndarray) -> float:
        return np.bincount(codes[self.members]).max() / len(self.members)


def nodes_of(tree) -> Node:
    """A Hierarchy as nodes; returns the root."""
    made = [Node([i]) for i in range(tree.n)]
    for a, b in tree.children:
        made.append(Node(made[a].members + made[b].members, made[a], made[b]))
    return made[-1]


def all_nodes(root: Node) -> list[Node]:
    result, open_ = [], [root]
    while open_:
        node = open_.pop()
        result.append(node)
        open_ += [child for child in (node.left, node.right) if child]
    return result


def extract_clustering(node: Node | None, codes: np.ndarray, theta: float) -> list[list[int]]:
    """Algorithm 2 of chapter 5."""
    if node is None:
        return []
    if node.purity(codes) >= theta:
        return [node.members]
    return extract_clustering(node.left, codes, theta) + extract_clustering(node.right, codes, theta)


def threshold_set(root: Node, codes: np.ndarray) -> set[float]:
    """Algorithm 3 of chapter 5, on nodes rather than on values, as definition 2 asks."""
    intermediate = [node for node in all_nodes(root) if node.left]
    removed = set()
    for node in intermediate:
        for below in all_nodes(node)[1:]:
            if node.purity(codes) > below.purity(codes):
                removed.add(id(below))
    return {1.0} | {node.purity(codes) for node in intermediate if id(node) not in removed}


def complexity(sizes: list[int], n_classes: int) -> Fraction:
    """Algorithm 5 of chapter 5 with the brackets of its text."""
    queue, n = sorted(sizes, reverse=True), sum(sizes)
    penalty = processed = 0
    for k, size in enumerate(queue, 1):
        processed += size
        if k >= n_classes:
            penalty += n - processed
    return Fraction(penalty, n * (len(sizes) - n_classes + 1))
