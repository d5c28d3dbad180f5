"""One pass where others repeat: the whole pruning sequence of a tree, 36 values of epsilon from one tree, and a tree
pruned on kept rows in place of ten folds."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.inputs import grow, letter, tree_of
from benchmarks.measuring import Ratio, Report, Sample, alternate, main
from oblique_cli import data
from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.default_pruning import BY_CV, BY_HOLDOUT
from oblique_cli.estimators.encoding import fold_encoder
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.tree.pruning import TIE, cost_complexity_path
from oblique_cli.tree.structure import Tree

Ints = NDArray[np.integer]

SETS = ("letter", "magic", "adult", "shuttle")  # of `kept_rows`
FEWER = (3000, 6000, 10_000)  # rows to train on
DIVISIONS = 3
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
        times, result = alternate(
            {"one pass": partial(cost_complexity_path, tree), "naive": partial(naive_path, tree)}, repeat
        )
        path, (alphas, sizes) = result["one pass"], result["naive"]
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
        times, result = alternate(
            {"one": partial(one_tree, name), "refits": partial(refits, name)}, repeat, once=("refits",)
        )
        for ours, theirs, what in zip(result["one"], result["refits"], ("labels", "leaves"), strict=True):
            np.testing.assert_array_equal(ours, theirs, err_msg=f"{name}: {what}")
        ratios[title] = Ratio.of(times["refits"], times["one"])
        rows.append(
            {
                "algorithm": title,
                "one tree, median s": times["one"].median,
                "36 trees, s": times["refits"].median,
                "36 trees / one": ratios[title].median,
                "leaves": f"{result['one'][1][0]} to {result['one'][1][-1]}",
            }
        )
    report.table(
        f"36 values of epsilon, {len(X_train):,} rows to train on and {len(X_test):,} to predict: the same labels", rows
    )
    for title, ratio in ratios.items():
        report.claim(f"36 fits / one fit, {title} with 36 values of epsilon on Letter", "> 1", ratio)


def matrix(name: str, quick: bool) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """A data set as numbers: words as 0/1, gaps filled with medians; of a quick run every twentieth row."""
    policy = DatasetSpec(name, missing="impute", encoding="onehot")
    dataset = data.load(policy)
    encoder = fold_encoder(dataset, policy, dataset.X)
    X = dataset.X if encoder is None else encoder.transform(dataset.X)
    return (X[::20], dataset.y[::20]) if quick else (X, dataset.y)


def held_out(
    algorithm: str, rule: Mapping[str, Any], X: NDArray[np.float64], y: NDArray[Any], rows: int | None = None
) -> tuple[float, float, Sample]:
    """Percent right on a third of the rows, leaves, and CPU seconds of trees fitted to the others, or to so many of
    them; means over DIVISIONS."""
    right, leaves, times = [], [], Sample()
    for division in range(DIVISIONS):
        order = np.random.default_rng(division).permutation(len(y))
        train, test = np.split(order, [2 * len(y) // 3])
        train = train[:rows]
        model = make(algorithm, random_state=division, **rule)
        taken, _ = alternate({"fit": partial(model.fit, X[train], y[train])}, 1)
        times.values += taken["fit"].values
        right.append(100 * float(np.mean(model.predict(X[test]) == y[test])))
        leaves.append(model.n_leaves_)
    return float(np.mean(right)), float(np.mean(leaves)), times


def kept_rows(report: Report) -> None:
    """What `oblique tree` and `fit` prune large tables by, beside what they prune small ones by."""
    rows, lost, ratio = [], [], Ratio(0.0, 0.0)
    for name in SETS[:1] if report.quick else SETS:
        X, y = matrix(name, report.quick)
        seconds: dict[tuple[str, str], Sample] = {}
        for algorithm, rule in (("hhcart_d", BY_CV), ("hhcart_d", BY_HOLDOUT), ("hhcart_a", BY_HOLDOUT)):
            right, leaves, times = held_out(algorithm, rule, X, y)
            seconds[algorithm, rule["pruning"]] = times
            rows.append(
                {
                    "data": name,
                    "algorithm": algorithm,
                    "pruning": rule["pruning"],
                    "% right": f"{right:.2f}",
                    "leaves": round(leaves),
                    "mean CPU s": float(np.mean(times.values)),
                }
            )
        if name == SETS[0]:
            ratio = Ratio.of(seconds["hhcart_d", BY_CV["pruning"]], seconds["hhcart_d", BY_HOLDOUT["pruning"]])
        for few in () if report.quick else FEWER:
            if few <= 2 * len(y) // 3:
                by_folds, by_tenth = (held_out("hhcart_d", rule, X, y, few)[0] for rule in (BY_CV, BY_HOLDOUT))
                lost.append({"data": name, "rows": few, "points lost": f"{by_folds - by_tenth:.1f}"})
    report.table(
        "Pruned by cross-validation, and on a tenth of the rows that is kept from growth; one standard error", rows
    )
    if lost:
        report.table("What the kept tenth loses on fewer rows, HHCART(D)", lost)
    report.claim("ten folds / a kept tenth, a fit of HHCART(D) to two thirds of Letter", "> 1", ratio)


def run(report: Report, repeat: int) -> None:
    """Both paths, and the rows that a rule of pruning takes."""
    weakest_links(report, repeat)
    epsilon_path(report, repeat)
    kept_rows(report)


if __name__ == "__main__":
    sys.exit(main({"pruning": run}, __doc__ or ""))
