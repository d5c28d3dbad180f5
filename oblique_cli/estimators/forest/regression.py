"""Bagged forests of oblique regression trees."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.forest.bagged import BaggedForestClassifier, Heuristics, RowCount, families, family_features
from oblique_cli.estimators.forest.base import ForestClassifier, core_options, more_than_there_are, without_rows_out
from oblique_cli.estimators.forest.leaves import OUT_OF_BAG, RIDGES, Leaves, equations_of, means_of, means_of_trees
from oblique_cli.estimators.forest.number_trees import CONSTANT, LINEAR, NumberTrees
from oblique_cli.estimators.n_jobs import threads_of
from oblique_cli.estimators.watched import Watched
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import LEAST_ROWS, Choice, Either, Integer, Optional, Real, Text, rows_of
from oblique_cli.parameters import as_in, parameter
from oblique_cli.tree.splitting import Proposer

LEAST = {CONSTANT: 5, LINEAR: 10}  # least weight of a leaf; 5 is the value of Breiman (2001) for regression


class Grown(NamedTuple):
    """Trees of the core, rows (n, p), targets (n,) or (n, k), weights (n,), and draws of rows by trees, (trees, n)."""

    forest: Any
    rows: Array
    targets: Array
    weights: Array | None
    draws: NDArray[np.uint32]


class ObliqueForestRegressor(Watched, NumberTrees, kw_only=True):
    """A bag of oblique trees that predict numbers, with means or linear models in their leaves.

    Each tree is grown on a bootstrap sample, by least-squares cuts along axes and along planes of this tree. The planes
    come from four small trees of a heuristic for classes on up to 256 of the tree's rows. Each separates the rows above
    the target of some row from those below it, weighted by their distance to it (the two classes of Loh 2002). The
    prediction is the mean of the trees' (Breiman 2001). A linear leaf has a ridge regression on its rows, with
    predictions limited to the range of their targets.

    If y has k columns, each tree predicts all of them: a leaf has k numbers. A cut lowers the sum of squares over all
    outputs in their given units, so scale outputs of different units first. Each small tree uses a principal component
    of the outputs of the tree's rows, drawn by its variance, and separates the rows above some number along it from the
    others.

    Attributes
    ----------
    forest_ : the compiled trees; `tree(i)` gives one as arrays, without the limits of linear leaves
    leaf_values_ : (leaves of all trees, 1) means, or (leaves of all trees, p + 3) coefficients, intercept and limits;
        of k outputs (leaves of all trees, k, 1) or (leaves of all trees, k, p + 3)
    l2_regularization_ : float, of linear leaves
    oob_prediction_ : (n,) mean of the trees that did not draw a row, NaN where all did, of k outputs (n, k)
    oob_score_ : float, R2 of these, the mean over the outputs
    n_features_in_, n_outputs_ : int
    encoding_ : encoding of a data frame with texts or missing cells, None if columns are not encoded
    feature_importances_ : (p,)
    n_nodes_, n_leaves_ : int, of all trees; depth_ : int, of the deepest

    Notes
    -----
    Stochasticity. One integer is drawn from `random_state`; it seeds the streams of rows, features and heuristics of
    each tree. Sample weights are measured in units of the smallest positive one, and so is `min_samples_leaf`. Rows are
    drawn with equal probability and enter with their weight."""

    refines: ClassVar[bool] = False  # whether grown trees are refined

    leaves: str = parameter(
        default=CONSTANT,
        allowed=Choice((CONSTANT, LINEAR)),
        help="Model of a leaf: the mean of its rows, or a ridge regression. Cuts are the same.",
    )
    proposer: str | Proposer = parameter(
        default="hhcart_a",
        allowed=Heuristics(),
        kw_only=False,
        help="The heuristic, as in `BaggedForestClassifier`; several take turns.",
    )
    l2_regularization: float | str = parameter(
        default=OUT_OF_BAG,
        allowed=Either(Real(0.0), Text(OUT_OF_BAG, f"'{OUT_OF_BAG}'")),
        help="Penalty of linear leaves on the squares of the coefficients of features in standard deviations, in rows "
        f'of least weight. "oob" takes that of {", ".join(f"{ridge:g}" for ridge in RIDGES)} with the least squared '
        "error on rows by the trees that did not draw them.",
    )
    n_estimators: int = as_in(ForestClassifier, "n_estimators")
    max_samples: int | float | None = as_in(BaggedForestClassifier, "max_samples")
    max_features: int | float | str | None = as_in(BaggedForestClassifier, "max_features")
    max_features_per_tree: int | float | str | None = as_in(BaggedForestClassifier, "max_features_per_tree")
    min_samples_leaf: float | None = parameter(
        default=None,
        allowed=Optional(LEAST_ROWS),
        help="Least weight of a child, rows drawn twice counting twice; None for 5, of linear leaves 10. A value below "
        "1 is a share of the rows drawn for a tree, rounded up.",
    )
    max_depth: int | None = as_in(ForestClassifier, "max_depth")
    max_bins: int = parameter(
        default=256,
        allowed=Integer(2, 256),
        help="Largest number of bins along a direction; cuts are searched between bins.",
    )
    bootstrap: bool | None = as_in(ForestClassifier, "bootstrap")
    oob_score: bool = as_in(ForestClassifier, "oob_score")
    n_jobs: int | None = as_in(ForestClassifier, "n_jobs")
    random_state: Any = as_in(ForestClassifier, "random_state")

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        X : (n, p), or a data frame that may have words and missing values (encoded by `encoding_`), and y : (n,) or
            (n, k) numbers; the largest of a column is 0 or from 2**-300 to 2**300, that of y 0 or from 1e-140 to 1e140,
            DataError otherwise; sample_weight : (n,) not negative, or None. Rows of weight 0 are ignored.
        raises ConfigError for a parameter out of range, or that does not fit p"""
        rows, targets, weights = self._training_rows(X, y, sample_weight, several=True)
        (n, p), owner = rows.shape, type(self).__name__
        if message := self.clash(owner, p):
            raise ConfigError(message)
        drawn, bootstrap = RowCount.of(self.max_samples, n, owner), self.bootstrap is not False
        options = core_options(self.max_depth, bootstrap, drawn, **family_features(self, p))
        seed = int(check_random_state(self.random_state).randint(2**31))
        grown_by = families(self.proposer, "gini", 1.0)
        least = rows_of(self.min_samples_leaf or LEAST[self.leaves], drawn)
        forest = _core.Forest(p, 1, seed)
        centered = targets - np.average(targets, axis=0, weights=weights)
        by_output = np.ascontiguousarray(np.atleast_2d(centered.T))
        trees, threads = self.n_estimators, threads_of(self)
        refined: list[dict[str, Any]] = []

        def grow() -> None:
            forest.grow_numbers(rows, by_output, weights, options, trees, threads, grown_by, self.max_bins, least)
            draws = _core.Forest(p, 1, seed).draws(n, trees, bootstrap, drawn)
            grown = Grown(forest, rows, targets, weights, np.asarray(draws))
            self._improve(grown, refined)
            self._learn_leaves(grown)

        self._watched(trees, lambda: len(refined) if self.refines else int(forest.finished), grow)
        self.forest_ = forest
        return self

    def clash(self, owner: str, n_features: int | None = None) -> str | None:
        """Return the error message for parameters incompatible with each other or with n_features features, or None."""
        if message := more_than_there_are(self, owner, n_features):
            return message
        if self.bootstrap is not False or self.max_samples is not None:
            return None
        chooses = self.leaves == LINEAR and self.l2_regularization == OUT_OF_BAG
        return without_rows_out(owner, self.oob_score, "l2_regularization" if chooses else None)

    def _improve(self, grown: Grown, refined: list[dict[str, Any]]) -> None:
        """Refine splits of grown trees before the leaf models; does nothing here. refined : list for the states"""

    def _learn_leaves(self, grown: Grown) -> None:
        """Store the models of all leaves, and their out-of-bag predictions."""
        forest, rows, targets, weights, draws = grown
        held = draws.astype(np.float64) if weights is None else draws * weights
        states = forest.state()
        numbers = Leaves(states, 1).numbers(np.asarray(forest.apply(rows, threads_of(self))))
        n_leaves = sum(len(state["label"]) for state in states)
        if self.leaves == CONSTANT:
            models = {0.0: means_of(numbers, held, targets, n_leaves)}
        else:
            ridges = RIDGES if self.l2_regularization == OUT_OF_BAG else (float(self.l2_regularization),)
            models = equations_of(numbers, held, rows, targets, n_leaves, ridges)
        unseen = np.ascontiguousarray((draws == 0).T)
        seen = unseen.any(axis=1)
        if self.oob_score and not seen.any():
            raise ConfigError("oob_score needs a row that some tree did not draw. Set n_estimators higher.")
        outside = {}
        if self.oob_score or len(models) > 1:
            outside = {ridge: _out_of_bag(values, numbers, rows, unseen) for ridge, values in models.items()}
        # Of equal errors the stronger penalty.
        best = max(models)
        if len(models) > 1 and seen.any():
            each = None if weights is None else weights[seen]
            squares = {r: ((v[seen] - targets[seen]) ** 2).reshape(int(seen.sum()), -1) for r, v in outside.items()}
            errors = {r: np.average(each_output.sum(axis=1), weights=each) for r, each_output in squares.items()}
            best = min(sorted(models, reverse=True), key=errors.__getitem__)
        self.leaf_values_ = models[best]
        if self.leaves == LINEAR:
            self.l2_regularization_ = best
        if self.oob_score:
            self.oob_prediction_ = outside[best]
            self.oob_score_ = float(r2_score(targets[seen], outside[best][seen])) if seen.sum() > 1 else float("nan")

    def predict(self, X: ArrayLike) -> Array:
        """Return the mean prediction of the trees. X : (n, p); returns (n,), for k outputs (n, k)."""
        rows = self._rows(X)
        return means_of_trees(self.forest_, rows, self.leaf_values_, threads_of(self))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _out_of_bag(values: Array, numbers: NDArray[np.int64], rows: Array, unseen: NDArray[np.bool_]) -> Array:
    """Return the mean prediction of the trees that did not draw a row, (n,), NaN if all did; for k outputs (n, k)."""
    if values.ndim > 2:
        return np.column_stack([_out_of_bag(output, numbers, rows, unseen) for output in values.swapaxes(0, 1)])
    total, p = np.zeros(len(rows)), rows.shape[1]
    for at, without in zip(numbers.T, unseen.T, strict=True):
        equations = values[at[without]]
        if equations.shape[1] > 1:
            plain = np.einsum("ij,ij->i", equations[:, :p], rows[without]) + equations[:, p]
            total[without] += np.clip(plain, equations[:, p + 1], equations[:, p + 2])
        else:
            total[without] += equations[:, 0]
    with np.errstate(invalid="ignore"):
        return np.asarray(total / unseen.sum(axis=1))
