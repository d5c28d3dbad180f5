"""Forest of regression trees that are each refined by tree alternating optimization."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.estimators.forest.base import as_tree
from oblique_cli.estimators.forest.drawn_trees import state_of
from oblique_cli.estimators.forest.refined import TAOForestClassifier, refined_start
from oblique_cli.estimators.forest.regression import Grown, ObliqueForestRegressor
from oblique_cli.estimators.n_jobs import threads_of
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Optional, Real
from oblique_cli.ground.magnitudes import refuse_extreme
from oblique_cli.parameters import as_in, parameter
from oblique_cli.tree.refining import PlaneSpace
from oblique_cli.tree.structure import Tree


class TAOForestRegressor(ObliqueForestRegressor, kw_only=True):
    """A bag of refined trees of numbers: each is grown on a bootstrap sample and then optimized as a whole.

    Trees are grown as those of `ObliqueForestRegressor`. Then their hyperplanes are improved one after another by tree
    alternating optimization on the rows that the tree drew, as in Zharmagambetov and Carreira-Perpinan (2020): of each
    row the two branches of a node have a squared error each, whose difference is how much the row cares where it goes,
    and a plane is taken if it lowers the error of the tree and the price of its planes. Leaves are means meanwhile;
    with linear leaves the ridge regressions are fitted to the rows of the refined tree.

    Attributes
    ----------
    As in `ObliqueForestRegressor`."""

    refines = True
    max_features_per_tree = None  # refined planes may use all features

    penalty: float | None = parameter(
        default=None,
        allowed=Optional(Real(0.0)),
        help="Penalty on |w|_1 of refined trees, as a share of the sum of squares about the mean, equal for all trees. "
        "None is 1 / n, the share of one row that is a standard deviation off: a cut that a single row justifies is "
        "noise. Nothing is cross-validated.",
    )
    surrogate: str = as_in(TAOForestClassifier, "surrogate")
    max_sweeps: int = as_in(TAOForestClassifier, "max_sweeps")

    def _improve(self, grown: Grown, refined: list[dict[str, Any]]) -> None:
        forest, rows, targets, weights, draws = grown
        refuse_extreme(rows, type(self).__name__)
        numbers = targets.reshape(len(rows), -1) - np.average(targets, axis=0, weights=weights)
        spread = float(np.sqrt(np.average((numbers**2).sum(axis=1), weights=weights)))
        states = forest.state()
        if not spread > 0.0:
            refined.extend(states)
            return
        numbers /= spread

        def better(i: int) -> dict[str, Any]:
            there = np.flatnonzero(draws[i])
            held = draws[i][there].astype(np.float64)
            if weights is not None:
                held *= weights[there]
            start = as_tree(states[i], rows.shape[1], 1)
            drawn = np.ascontiguousarray(rows[there])
            space = PlaneSpace(drawn, np.zeros(len(there), dtype=np.int32), 1, held, numbers=numbers[there])
            tree = refined_start(self, start, space, as_it_is=True)
            return states[i] if tree is start else state_of(tree, rows, falls_of(tree, drawn, numbers[there], held))

        with ThreadPoolExecutor(threads_of(self)) as pool:
            refined.extend(pool.map(better, range(len(states))))
        forest.restore(refined)


def falls_of(tree: Tree, X: Array, numbers: Array, held: Array) -> NDArray[np.float64]:
    """Return the fall of the weighted sum of squares of numbers (n, k) by each split, (n_nodes,). held : weights"""
    weight, sums = np.zeros(tree.n_nodes), np.zeros((tree.n_nodes, numbers.shape[1]))
    leaves = tree.apply(X)
    np.add.at(weight, leaves, held)
    np.add.at(sums, leaves, held[:, None] * numbers)
    for node in range(tree.n_nodes - 1, 0, -1):
        weight[tree.parents[node]] += weight[node]
        sums[tree.parents[node]] += sums[node]
    explained = (sums**2).sum(axis=1) / weight
    return np.where(tree.is_leaf, 0.0, np.maximum(explained[tree.left] + explained[tree.right] - explained, 0.0))
