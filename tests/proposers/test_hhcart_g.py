"""HHCART(G): its two vectors, and the stored trees of the R package hhcartr beside it."""

import csv
from collections import defaultdict

import numpy as np
import pytest
from checkout_support import ROOT
from contracts import real_set
from node_support import node_of, proposals

from oblique_cli.ground.geometry import householder_vector
from oblique_cli.tree.splitting import PROPOSERS, best_split, impurity

PAGE = (ROOT / "docs/algorithms/hhcart_g.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("weighted", [False, True])
def test_the_vectors_are_of_the_largest_class_and_of_all_other_rows(weighted):
    data = real_set("glass")
    weights = np.arange(data.n) % 3 + 1.0 if weighted else None
    spaces = proposals("hhcart_g", node_of(data.X, data.y, weights))
    largest = data.y == np.bincount(data.y, weights).argmax()
    assert len(spaces) == 2
    for group, (kind, u) in zip((largest, ~largest), spaces, strict=True):
        covariance = np.cov(data.X[group].T, aweights=None if weights is None else weights[group])
        v = np.linalg.eigh(covariance)[1][:, -1]
        v *= -np.sign(v[np.flatnonzero(np.abs(v) > 1e-12)[0]])
        assert kind == "reflection"
        np.testing.assert_allclose(u, householder_vector(v), atol=1e-9)


@pytest.mark.parametrize(("rows", "count"), [([[0, 1], [2, 5], [9, 9]], 1), ([[0, 0], [0, 0], [9, 9]], 0)])
def test_a_group_without_two_distinct_rows_has_no_vector(rows, count):
    kinds = [kind for kind, *_ in proposals("hhcart_g", node_of(rows, [0, 0, 1]))]
    assert kinds == (["reflection"] * count or ["axes"])


def excess_of_cut(Z, in_largest, axis, threshold):
    """How far the score of a cut is above the least one by the package's formula, and the gap of values around the cut.
    Z : (n, p) reflected rows; the score takes the shares of the largest class among all rows of the node"""
    n, least = len(Z), np.inf
    L = np.arange(1, n) / n
    for j, column in enumerate(Z.T):
        order = np.argsort(-column, kind="stable")
        z, high = column[order], np.cumsum(in_largest[order])[:-1] / n
        low = in_largest.mean() - high
        scores = 2 * L * (1 - high) * high + 2 * (1 - L) * (1 - low) * low
        if not np.allclose(z, z[0], rtol=1.5e-8, atol=0.0):
            least = min(least, scores.min())
        if j == axis:
            there = np.abs((z[:-1] + z[1:]) / 2 - threshold) < 1e-9 * max(1.0, abs(threshold))
            at_cut, gap = scores[there].min(initial=np.inf), (z[:-1] - z[1:])[there].min(initial=np.inf)
    return at_cut - least, gap


def counts_of(name, nodes):
    """Counts of nodes: all, those of our normals, of least score, between equal values, of our rows, of higher Gini."""
    data, counts = real_set(name), np.zeros(6, dtype=int)
    rows = {"1": np.arange(data.n)}
    for stored_node in nodes:
        path, axis, threshold = stored_node["node"], int(stored_node["axis"]) - 1, float(stored_node["threshold"])
        normal = np.array(stored_node["normal"].split(), dtype=float)
        here = rows[path]
        X, y = data.X[here], data.y[here]
        assert len(here) == int(stored_node["rows"])
        node = node_of(X, y)
        mirrors = [np.eye(len(normal)) - 2 * np.outer(u, u) for _, u in proposals("hhcart_g", node, reflections="both")]
        mirror = min(mirrors, key=lambda H: np.abs(H[axis] - normal).max())
        excess, gap = excess_of_cut(X @ mirror, y == np.bincount(y).argmax(), axis, threshold)
        left = X @ normal <= threshold
        split = best_split(node, PROPOSERS["hhcart_g"]())
        ours = X @ split.coef <= split.threshold
        gini = [
            sum(part.sum() * impurity(np.bincount(y[part]).astype(float), "gini") for part in (side, ~side))
            for side in (left, ours)
        ]
        counts += [
            1,
            np.abs(mirror[axis] - normal).max() < 1e-8,
            excess < 1e-12,
            gap < 1e-9,
            (left == ours).all() or (left != ours).all(),
            gini[1] < gini[0] - 1e-9,
        ]
        rows |= {path + "0": here[left], path + "1": here[~left]}
    return counts


def test_the_nodes_of_the_package_are_recounted():
    nodes = defaultdict(list)
    with open(ROOT / "results/tables/hhcartr.csv", encoding="utf-8", newline="") as stream:
        for node in csv.DictReader(stream):
            nodes[node["dataset"]].append(node)
    every, normals, best, between, same, lower = sum(counts_of(name, of_set) for name, of_set in nodes.items())
    assert every == normals == best
    text = " ".join(PAGE.split())
    phrases = f"{every} nodes", f"in {between} the cut", f"In {same} nodes", f"in {lower} it"
    assert [phrase for phrase in phrases if phrase not in text] == []
