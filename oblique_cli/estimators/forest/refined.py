"""Forest of trees that are each refined by tree alternating optimization."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.estimators.forest.bagged import BaggedForestClassifier, Heuristics, families, proposers_of
from oblique_cli.estimators.forest.base import ForestClassifier, Table, relative
from oblique_cli.estimators.forest.drawn_trees import add_trees
from oblique_cli.estimators.oblique.groups import Refinement
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Integer, Optional, Real
from oblique_cli.ground.magnitudes import refuse_extreme
from oblique_cli.parameters import as_in, parameter
from oblique_cli.tree.growing import grow_top_down
from oblique_cli.tree.refining import PlaneSpace, Settings
from oblique_cli.tree.splitting import Proposer
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import Tree


class TAOForestClassifier(ForestClassifier, kw_only=True):
    """A bag of refined trees: each is grown on a bootstrap sample and then optimized as a whole.

    A tree is grown unpruned by a heuristic, and its hyperplanes are improved one after another by tree alternating
    optimization (Carreira-Perpinan & Tavallali 2018; forests of such trees in Carreira-Perpinan & Zharmagambetov 2020)
    on the rows that the tree drew.

    Attributes
    ----------
    As in `MPSVMForestClassifier`; the rows of a tree come from the same streams as in other forests."""

    max_features = None
    min_samples_leaf = 1
    _measured = staticmethod(relative)

    proposer: Any = parameter(
        default="hhgdt",
        allowed=Heuristics(),
        kw_only=False,
        help="The heuristic that grows the trees, as in `BaggedForestClassifier`; several take turns.",
    )
    penalty: float | None = parameter(
        default=None,
        allowed=Optional(Real(0.0)),
        kw_only=False,
        help="Penalty on |w|_1 as a share of the training weight, equal for all trees. None is 1 / n, the weight of "
        "one row among n of equal weight: a cut that a single row justifies is noise. Nothing is cross-validated.",
    )
    surrogate: str = as_in(Refinement, "surrogate")
    max_sweeps: int = parameter(default=5, allowed=Integer(1), help="Most passes over all nodes of a tree.")
    max_depth: int | None = parameter(
        default=None, help="Longest path from the root to a leaf before trees are refined; None for no limit."
    )
    voting: str = as_in(BaggedForestClassifier, "voting")

    def _options(self, p: int) -> dict[str, Any]:
        return {}

    def _families(self, drawn: int = 1) -> list[tuple[str, dict[str, Any]]]:
        return families(self.proposer, "gini", 1.0)

    def _grow(self, forest: Any, table: Table, options: dict[str, Any], more: int, threads: int) -> None:
        refuse_extreme(table.rows, type(self).__name__)
        made = proposers_of(self.proposer)

        def refined(rows: Array, codes: NDArray[np.int32], held: Array, number: int) -> Tree:
            return self._refined(
                rows, codes, held, made[number % len(made)], seeds.integer(forest.seed, "tree", number)
            )

        add_trees(self, forest, table, options, more, threads, refined)

    def _refined(self, X: Array, codes: NDArray[np.int32], weights: Array, proposer: Proposer, seed: int) -> Tree:
        """Return the refined tree of the rows it drew, with weights in units of the smallest."""
        start = grow_top_down(
            X,
            codes,
            len(self.classes_),
            proposer,
            weights=weights / weights.min(),
            criterion="gini",
            stopping=Stopping(1.0, 0.0, self.max_depth),
            seed=seed,
        )
        return refined_start(self, start, PlaneSpace(X, codes, len(self.classes_), weights))


def refined_start(forest: Any, start: Tree, space: PlaneSpace, **options: Any) -> Tree:
    """Return a tree of the rows of `space`, refined by the parameters of a forest. options : of `space.tree`"""
    if start.n_leaves == 1:
        return start
    penalty = 1.0 / len(space.Z) if forest.penalty is None else float(forest.penalty)
    planes, _ = space.step(space.begin(start), penalty, Settings(forest.surrogate, forest.max_sweeps))
    return space.tree(planes, **options)
