"""One pass where others repeat: the whole pruning sequence of a tree, and 36 values of epsilon from one tree."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.inputs import grow, letter, tree_of
from benchmarks.measuring import Ratio, Report, alternate, main
from oblique_cli.estimators.algorithms import make
from oblique_cli.tree.pruning import TIE, cost_complexity_path
from oblique_cli.tree.structure import Tree

Ints = NDArray[np.integer]

EPSILONS = np.round(np.linspace(0.05, 0.40, 36), 2)  # the grid of the thesis, 5.2


def naive_path(tree: Tree) -> tuple[list[float], list[int]]:
    """Alphas and leaves of the weakest-link sequence, walking the whole tree again at every step: O(nodes^2).

    Breiman et al. (1984), section 3.3, as it is written.
    """
    total = float(tree.counts[0].sum())
    errors = [float(e) / total for e in tree.errors]
    left, right = tree.left.tolist(), tree.right.tolist()
    is_leaf = [child < 0 for child in left]
    alphas, sizes = [-np.inf], [tree.n_leaves]
    while True:
        inner = []  # what is left of the tree; children have larger numbers than their parents
        stack = [0]
        while stack:
            t = stack.pop()
            if not is_leaf[t]:
                inner.append(t)
                stack += [left[t], right[t]]
        below, leaves = errors.copy(), [1] * len(left)
        for t in sorted(inner, reverse=True):
            below[t] = below[left[t]] + below[right[t]]
            leaves[t] = leaves[left[t]] + leaves[right[t]]
        sizes[-1] = leaves[0]
        if not inner:
            return alphas, sizes
        links = {t: (errors[t] - below[t]) / (leaves[t] - 1) for t in inner}
        alpha = min(links.values())
        if alpha > alphas[-1] + TIE:
            alphas.append(alpha)
            sizes.append(0)
        for t, link in links.items():
            if link <= alpha + TIE:
                is_leaf[t] = True


def weakest_links(report: Report, repeat: int) -> None:
    """The pruning sequence of trees of growing size."""
    rows = []
    ratio = Ratio(0.0, 0.0)
    for size in (200, 400) if report.quick else (1_250, 5_000, 20_000):
        X, y = letter(size)
        tree = tree_of(grow(X, y, "hhcart_a", criterion="gini"))
        _ = tree.errors, tree.walker  # kept by the tree: not part of either side
        times, found = alternate(
            {"one pass": partial(cost_complexity_path, tree), "naive": partial(naive_path, tree)},
            repeat,
        )
        path, (alphas, sizes) = found["one pass"], found["naive"]
        np.testing.assert_allclose(path.alphas, alphas, rtol=0, atol=2 * TIE)
        np.testing.assert_array_equal(path.n_leaves, sizes)
        ratio = Ratio.of(times["naive"], times["one pass"])
        rows.append(
            {
                "rows": size,
                "nodes": tree.n_nodes,
                "alphas": len(alphas) - 1,
                "one pass, median ms": 1e3 * times["one pass"].median,
                "naive, median ms": 1e3 * times["naive"].median,
                "one pass, us a node": 1e6 * times["one pass"].median / tree.n_nodes,
                "naive, us a node": 1e6 * times["naive"].median / tree.n_nodes,
                "naive / one pass": ratio.median,
            }
        )
    report.table("Weakest-link sequence of HHCART(A) trees on Letter: the same alphas and leaves", rows)
    report.claim("naive loop / one pass, pruning sequence of the Letter tree", "> 1", ratio)


def epsilon_path(report: Report, repeat: int) -> None:
    """Labels and leaves for 36 values of epsilon: one tree, or 36."""
    X, y = letter(600 if report.quick else None)
    cut = 2 * len(X) // 3
    X_train, y_train, X_test = X[:cut], y[:cut], X[cut:]

    def one_tree(name: str) -> tuple[Ints, Ints]:
        model = make(name, epsilon=float(EPSILONS[0])).fit(X_train, y_train)
        return model.predict_path(X_test, EPSILONS), model.n_leaves_path(EPSILONS)

    def refits(name: str) -> tuple[Ints, Ints]:
        models = [make(name, epsilon=float(value)).fit(X_train, y_train) for value in EPSILONS]
        return np.column_stack([m.predict(X_test) for m in models]), np.array([m.n_leaves_ for m in models])

    rows, ratios = [], {}
    for name, title in (("gdt", "GDT"), ("hhgdt", "HHGDT")):
        times, found = alternate(
            {"one": partial(one_tree, name), "refits": partial(refits, name)},
            repeat,
            once=("refits",),
        )
        for ours, theirs, what in zip(found["one"], found["refits"], ("labels", "leaves"), strict=True):
            np.testing.assert_array_equal(ours, theirs, err_msg=f"{name}: {what}")
        ratios[title] = Ratio.of(times["refits"], times["one"])
        rows.append(
            {
                "algorithm": title,
                "one tree, median s": times["one"].median,
                "36 trees, s": times["refits"].median,
                "36 trees / one": ratios[title].median,
                "leaves": f"{found['one'][1][0]} to {found['one'][1][-1]}",
            }
        )
    report.table(
        f"36 values of epsilon, {len(X_train):,} rows to train on and {len(X_test):,} to predict: the same labels", rows
    )
    for title, ratio in ratios.items():
        report.claim(f"36 fits / one fit, {title} with 36 values of epsilon on Letter", "> 1", ratio)


def run(report: Report, repeat: int) -> None:
    """Both paths."""
    weakest_links(report, repeat)
    epsilon_path(report, repeat)


if __name__ == "__main__":
    sys.exit(main({"pruning": run}, __doc__ or ""))
