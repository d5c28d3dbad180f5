"""A forest of trees with linear-logistic models in their leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from oblique_cli.estimators.fitted import LogProbabilities, SeveralTrees
from oblique_cli.estimators.forest.bagged import Heuristics, proposers_of
from oblique_cli.estimators.forest.base import relative
from oblique_cli.estimators.forest.leaves import OUT_OF_BAG, mean_shares
from oblique_cli.estimators.framed import TakesFrames
from oblique_cli.estimators.n_jobs import LARGEST, N_JOBS, threads_of
from oblique_cli.estimators.oblique.logistic import SEVERAL, ridge_paths
from oblique_cli.estimators.watched import Watched
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Boolean, Either, Integer, Optional, Real, Text, check
from oblique_cli.ground.nodes import ranges_of
from oblique_cli.parameters import parameter
from oblique_cli.tree.growing import grow_top_down
from oblique_cli.tree.logistic_forests import COMPLEXITIES, Member, Rows, choose_forest, finished, trees_that_choose
from oblique_cli.tree.splitting import Proposer
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import Tree


class LogisticForestClassifier(
    Watched, LogProbabilities, TakesFrames, SeveralTrees, ClassifierMixin, BaseEstimator, kw_only=True
):
    """A bag of logistic model trees, with one size and ridge penalty for all trees, chosen on out-of-bag rows.

    Each tree is grown on a bootstrap sample (Breiman 1996) by a heuristic, in turn, and every node gets a linear model
    of the classes that starts from the model of its parent, as in `LogisticTreeClassifier` (after Landwehr, Hall &
    Frank 2005). The pruning complexity of all trees, the ridge penalty of all models, and whether models have squares,
    are those of least loss on out-of-bag rows. The probabilities of the trees are averaged.

    Attributes
    ----------
    trees_ : list of `Tree`, models in their leaves; rows and counts are those drawn
    choice_ : ForestChoice
        The common settings of the trees, and all candidates. Model files leave it out.
    classes_ : (C,) class labels
    n_features_in_ : int
    encoding_ : encoding of a data frame with texts or missing cells, None if columns are not encoded
    feature_importances_ : (p,)
    n_nodes_, n_leaves_ : int, of all trees; depth_ : int, of the deepest

    Notes
    -----
    Stochasticity. One integer is drawn from `random_state`; it seeds the streams of rows and heuristics of a tree."""

    needs_pruning_rows: ClassVar[bool] = False

    n_estimators: int = parameter(default=50, allowed=Integer(1, 1_000_000), also="n_trees", help="Number of trees.")
    base: Any = parameter(
        default=SEVERAL,
        allowed=Heuristics(),
        help="The heuristics that grow the trees, in turn: registered names or instances, a list or one text with "
        "commas.",
    )
    min_parent: float = parameter(
        default=10, allowed=Real(1.0), help="A node of less weight is not split; a row that is drawn weighs 1."
    )
    max_depth: int | None = parameter(
        default=10, allowed=Optional(Integer(1, LARGEST)), help="Longest path from the root to a leaf; None for any."
    )
    leaf_penalty: float | str = parameter(
        default=OUT_OF_BAG,
        allowed=Either(Real(0.0, open_low=True), Text(OUT_OF_BAG, f"'{OUT_OF_BAG}'")),
        help='The ridge of models, in rows, for standardized features. "oob" chooses from 100, 30, 10, 3, 1 and 0.3.',
    )
    complexity: float | str = parameter(
        default=OUT_OF_BAG,
        allowed=Either(Real(0.0), Text(OUT_OF_BAG, f"'{OUT_OF_BAG}'")),
        help="Least decrease of the models' training errors for each further leaf, as a share of the rows; trees are "
        'pruned to it. "oob" chooses from 0, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05 and a value that leaves one leaf.',
    )
    squares: bool = parameter(
        default=True,
        allowed=Boolean(),
        help="Whether models may have a term for the square of each feature as well; out-of-bag rows choose.",
    )
    log_loss_weight: float = parameter(
        default=0.5, allowed=Real(0.0), help="Weight of the log loss beside the misclassified share in these choices."
    )
    n_jobs: int | None = parameter(
        default=None,
        allowed=N_JOBS,
        help="Threads of fits; None is 1, -1 all processors. The forest is the same for any number.",
    )
    random_state: Any = parameter(default=None)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "trees_")

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Grow the trees, choose their common settings, and prune them.

        X : (n, p) finite numbers, or a data frame that may have words and missing values (encoded by `encoding_`);
        y : (n,) labels; sample_weight : (n,) not negative, or None. Rows of weight 0 are ignored; the
        others are drawn with equal probability, and count by their weight.
        groups : (n,) group of each row: trees draw whole groups. None for independent rows
        raises ConfigError for a parameter out of range"""
        check(self.get_params(deep=False), self.constraints, type(self).__name__)
        threads = threads_of(self)
        self.__dict__.pop("trees_", None)  # a failed fit leaves no trees, rather than those of other rows
        self.classes_, training, codes, weights, together = self._class_rows(X, y, sample_weight, relative, groups)
        # Rows by the unit that is drawn: a single row, or a group.
        drawn_as = np.arange(len(training)) if together is None else np.unique(together, return_inverse=True)[1]
        seed = int(check_random_state(self.random_state).randint(2**31))
        rows = Rows(training, codes, len(self.classes_), weights)
        self._ranges = ranges_of(training)
        proposers = proposers_of(self.base)
        choosing = trees_that_choose(len(training), self.n_estimators)

        grown: list[int] = []

        def member_of(i: int) -> Member:
            member = self._grown(rows, drawn_as, proposers, seed, i)
            grown.append(i)
            return member

        def trees(pool: ThreadPoolExecutor) -> list[Tree]:
            def each(function: Callable[[int], Any], number: int) -> list[Any]:
                return list(pool.map(function, range(number)))

            first = each(member_of, choosing)
            complexities = (self.complexity,) if not isinstance(self.complexity, str) else COMPLEXITIES
            self.choice_ = choose_forest(
                first, rows, ridge_paths(self.leaf_penalty, self.squares), complexities, self.log_loss_weight, each
            )

            def tree(i: int) -> Tree:
                return finished(first[i] if i < choosing else member_of(i), rows, self.choice_)

            return each(tree, self.n_estimators)

        with ThreadPoolExecutor(threads) as pool:
            self.trees_: list[Tree] = self._watched(self.n_estimators, lambda: len(grown), lambda: trees(pool))
        return self

    def _grown(
        self, rows: Rows, drawn_as: NDArray[np.intp], proposers: Sequence[Proposer], seed: int, number: int
    ) -> Member:
        """Return a tree on its own bootstrap sample. drawn_as : (n,) number of the drawing unit of each row, from 0"""
        n = int(drawn_as.max()) + 1
        times = np.bincount(seeds.generator(seed, "rows", number).integers(n, size=n), minlength=n)[drawn_as]
        drawn = np.flatnonzero(times)
        counts = times[drawn].astype(np.float64)
        if rows.weights is not None:
            counts *= rows.weights[drawn]
        tree = grow_top_down(
            np.ascontiguousarray(rows.X[drawn]),
            rows.codes[drawn],
            rows.n_classes,
            proposers[number % len(proposers)],
            weights=counts,
            criterion="gini",
            stopping=Stopping(float(self.min_parent), 0.0, self.max_depth),
            seed=seeds.integer(seed, "tree", number),
        )
        return Member(tree, drawn, counts, np.flatnonzero(times == 0))

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the mean of the trees' class probabilities, (n, C), columns in the order of classes_. X : (n, p)"""
        rows = self._rows(X)  # raises if the estimator is not fitted
        return mean_shares(self.trees_, rows)

    def apply(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the leaf of each row in each tree as a node number of `tree`, (n, n_estimators)."""
        rows = self._rows(X)
        return np.column_stack([tree.apply(rows) for tree in self.trees_]).astype(np.int64)

    def tree(self, number: int) -> Tree:
        """Return one tree; row counts are of rows drawn.

        For a data frame with words or missing values its features are the columns of `encoding_`, with their names."""
        check_is_fitted(self)
        return self.trees_[number]

    def trees(self) -> list[Tree]:
        """Return all trees."""
        check_is_fitted(self)
        return list(self.trees_)

    @property
    def n_nodes_(self) -> int:  # type: ignore[override]
        """Number of nodes of all trees."""
        return sum(tree.n_nodes for tree in self.trees_)

    @property
    def n_leaves_(self) -> int:  # type: ignore[override]
        """Number of leaves of all trees."""
        return sum(tree.n_leaves for tree in self.trees_)

    @property
    def depth_(self) -> int:  # type: ignore[override]
        """Depth of the deepest tree."""
        return max(tree.depth for tree in self.trees_)

    def _parents(self) -> list[NDArray[np.int64]]:
        return [tree.parents for tree in self.trees_]

    def _decreases(self) -> Array:
        return np.array([tree.compute_feature_importances(False, self._ranges) for tree in self.trees_])

    def extra_measures(self, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
        """Return the mean number of nodes of a tree and the mean depth."""
        return {
            "nodes_per_tree": float(np.mean([tree.n_nodes for tree in self.trees_])),
            "depth_per_tree": float(np.mean([tree.depth for tree in self.trees_])),
        }
