"""Gradient boosting with oblique trees."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.forest.bagged import Heuristics, RowCount, families, family_features
from oblique_cli.estimators.forest.base import (
    MOST_TREES,
    CoreForest,
    CoreTrees,
    ForestClassifier,
    core_options,
    moderate,
    more_than_there_are,
)
from oblique_cli.estimators.forest.leaves import scores_of, shares_of
from oblique_cli.estimators.n_jobs import LARGEST, N_JOBS, threads_of
from oblique_cli.estimators.watched import Watched
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Either, FeatureCount, Integer, Optional, Real, Text, check
from oblique_cli.ground.row_groups import Groups, share_of
from oblique_cli.parameters import as_in, parameter
from oblique_cli.tree.splitting import Proposer

AUTO = "auto"
MOST_ROUNDS, PATIENCE, FIXED_ROUNDS = 1000, 20, 100  # of n_estimators "auto", the last without validation rows
FEW_ROWS, DRAWS, SHARE = 3000, 5, 0.2  # tables of fewer rows draw validation rows DRAWS times, SHARE of the rows each

# Rows (n, p), their codes or numbers (n,), and their weights (n,) or None; heuristics of the core with their options.
Part = tuple[Array, NDArray[Any], Array | None]
Families = list[tuple[str, dict[str, Any]]]


class ObliqueBoosting(Watched, CoreTrees, kw_only=True):
    """Common base of boosting for classification and regression: parameters, rows, and the fit of its trees."""

    proposer: str | Proposer | Sequence[str | Proposer] = parameter(
        default="hhcart_a",
        allowed=Heuristics(),
        kw_only=False,
        help="The heuristic, as in `BaggedForestClassifier`; several take turns.",
    )
    n_estimators: int | str = parameter(
        default=AUTO,
        allowed=Either(Integer(1, MOST_TREES), Text(AUTO, f"'{AUTO}'")),
        also="n_trees",
        help=f'Most rounds, one tree each. "auto" grows on part of the rows until the loss of the others has not '
        f"fallen for {PATIENCE} rounds, at most {MOST_ROUNDS}, then up to the round of the lowest loss on all rows.",
    )
    learning_rate: float = parameter(
        default=0.1, allowed=Real(0.0, 1.0, open_low=True), help="Share of a Newton step that a leaf takes."
    )
    max_depth: int | None = replace(as_in(ForestClassifier, "max_depth"), default=4)
    l2_regularization: float = parameter(
        default=1.0, allowed=Real(0.0), help="Added to the curvature of a leaf, by which the gradient is divided."
    )
    min_child_weight: float = parameter(
        default=0.1, allowed=Real(0.0), help="Least sum of gradients |g| of a child, times the sample weights."
    )
    max_samples: int | float | None = parameter(
        default=0.5,
        allowed=Optional(RowCount()),
        help="Rows drawn for a tree, without replacement: a number, a share, or all (None).",
    )
    max_features: int | float | str | None = parameter(
        default=0.5,
        allowed=Optional(FeatureCount()),
        help="Features drawn at each node: a number, a share, a rule, or all (None). A share or a rule draws two of "
        "several at least: a plane of one feature is along its axis.",
    )
    max_features_per_tree: int | float | str | None = parameter(
        default=None, allowed=Optional(FeatureCount()), help="Features drawn once for each tree."
    )
    max_bins: int | None = parameter(
        default=256,
        allowed=Optional(Integer(2, 256)),
        help="Most bins of a direction. Cuts are searched between bins, along axes and planes that small trees of the "
        "heuristic find every other round; None has the heuristic search every node of every tree exactly.",
    )
    max_plane_features: int | None = parameter(
        default=8, allowed=Optional(Integer(2, LARGEST)), help="Most features of a plane; None for `max_features`."
    )
    n_iter_no_change: int | None = parameter(
        default=None,
        allowed=Optional(Integer(1, LARGEST)),
        help="Rounds without a lower loss on the validation rows after which to stop; the trees up to the lowest are "
        'kept, and not grown again on all rows. None stops only with n_estimators "auto".',
    )
    validation_fraction: float = parameter(
        default=0.1,
        allowed=Real(0.0, 1.0, open_low=True, open_high=True),
        help="Share of the training rows of each class that are validation rows.",
    )
    tol: float = parameter(
        default=1e-4,
        allowed=Real(0.0),
        help="Least decrease of the validation loss that counts with `n_iter_no_change`.",
    )
    n_jobs: int | None = parameter(
        default=None,
        allowed=N_JOBS,
        help="Threads of predictions; None is 1, -1 all processors. Trees follow one another and grow on one.",
    )
    random_state: Any = parameter(default=None)

    @abstractmethod
    def _boosted(
        self, forest: Any, grow: Part, held: Part, options: dict[str, Any], grown_by: Families, how: dict[str, Any]
    ) -> dict[str, Any]:
        """Fill a forest of the core. grow, held : rows for growth, and validation rows; how : options of boosting"""

    def _fit(
        self, rows: Array, answers: NDArray[Any], weights: Array | None, n_classes: int, groups: Groups | None
    ) -> Self:
        """Grow the trees. answers : (n,) codes of n_classes classes, or numbers (n_classes 1); groups : of the rows"""
        p = rows.shape[1]
        if message := self.clash(type(self).__name__, p):
            raise ConfigError(message)
        threads_of(self)
        seed = int(check_random_state(self.random_state).randint(2**31))
        codes = answers if n_classes > 1 else np.zeros(len(rows), dtype=np.int32)
        self.__dict__.pop("validation_loss_", None)  # of the previous fit
        part = (rows, answers, weights)
        self._options(*rows.shape)  # raises ConfigError before rounds are chosen
        held_out = np.zeros(len(rows), dtype=np.bool_)
        rounds = MOST_ROUNDS if isinstance(self.n_estimators, str) else self.n_estimators
        if self.n_iter_no_change is not None:
            rng = seeds.generator(seed, "validation")
            held_out = self._validation_rows(codes, groups, rng, self.validation_fraction)
            if not held_out.any() or held_out.all():
                raise ConfigError(
                    f"validation_fraction of {type(self).__name__} must leave rows on both sides. Got "
                    f"{self.validation_fraction:g} of {len(codes)} rows; set n_iter_no_change to None to use all rows."
                )
        elif isinstance(self.n_estimators, str):
            rounds = self._best_rounds(part, codes, groups, n_classes, seed)
        forest, boost = self._growth(part, held_out, n_classes, seed, self._boosting(rounds))
        outcome = self._watched(rounds, lambda: int(forest.finished), boost)
        self.forest_ = forest
        self.baseline_, self.leaf_values_ = outcome["baseline"], outcome["leaf_values"]
        self.training_loss_ = outcome["training_loss"]
        if self.n_iter_no_change is not None:
            self.validation_loss_ = outcome["validation_loss"]
        self.n_estimators_ = len(self.forest_)
        return self

    def _growth(
        self,
        part: Part,
        held_out: NDArray[np.bool_],
        n_classes: int,
        seed: int,
        how: dict[str, Any],
        most: int = LARGEST,
    ) -> tuple[Any, Callable[[], dict[str, Any]]]:
        """Return an empty forest of the core, and a function that fills it and returns its losses.

        held_out : (n,) mask of validation rows; how : options of boosting; most : limit of the rows of a tree"""
        grow, held = (_part(part, chosen) for chosen in (~held_out, held_out))
        n, p = grow[0].shape
        options, grown_by = self._options(n, p, most), self._families()
        forest = _core.Forest(p, n_classes, seed)
        return forest, lambda: self._boosted(forest, grow, held, options, grown_by, how)

    def _best_rounds(self, part: Part, codes: NDArray[Any], groups: Groups | None, n_classes: int, seed: int) -> int:
        """Return the rounds of the lowest validation loss, averaged over draws of validation rows. Any decrease of the
        loss counts."""
        if groups is not None and len(np.unique(groups)) < 2:
            return FIXED_ROUNDS
        few, how = len(codes) < FEW_ROWS, self._boosting(MOST_ROUNDS) | {"tolerance": 0.0}
        best = []
        for draw in range(DRAWS if few else 1):
            share = SHARE if few else self.validation_fraction
            held_out = self._validation_rows(codes, groups, seeds.generator(seed, "validation", draw), share)
            if held_out.any() and not held_out.all():
                forest, boost = self._growth(part, held_out, n_classes, seed, how, int((~held_out).sum()))
                boost()
                best.append(len(forest))
        return max(1, round(sum(best) / len(best))) if best else FIXED_ROUNDS

    def _options(self, n: int, p: int, most: int = LARGEST) -> dict[str, Any]:
        """Return the core's options of trees of n rows and p features. most : limit of a number as `max_samples`"""
        wanted = self.max_samples
        wanted = min(wanted, most) if isinstance(wanted, int | np.integer) else wanted
        drawn = RowCount.of(wanted, n, type(self).__name__)
        return core_options(self.max_depth, False, drawn, **family_features(self, p))

    def _families(self) -> Families:
        """Return the heuristics of the small trees, in turn; ConfigError for one without a family in the core."""
        return families(self.proposer, "gini", 1.0)

    def _boosting(self, rounds: int) -> dict[str, Any]:
        return {
            "n_trees": rounds,
            "learning_rate": float(self.learning_rate),
            "l2": float(self.l2_regularization),
            "min_weight": float(self.min_child_weight),
            "patience": self.n_iter_no_change or PATIENCE,  # without effect if there are no validation rows
            "tolerance": float(self.tol),
            "max_bins": self.max_bins or 0,
            "most_terms": self.max_plane_features or LARGEST,
        }

    def clash(self, owner: str, n_features: int | None = None) -> str | None:
        """Return the error message for parameters incompatible with each other or with n_features features, or None."""
        return more_than_there_are(self, owner, n_features)

    def _validation_rows(
        self, codes: NDArray[Any], groups: Groups | None, rng: np.random.Generator, share: float
    ) -> NDArray[np.bool_]:
        """Return the mask of validation rows: a share of each class, or whole groups."""
        held_out = np.zeros(len(codes), dtype=np.bool_)
        if groups is not None:
            held_out[share_of(groups, share, rng, codes)] = True
            return held_out
        for code in range(int(codes.max()) + 1):
            of_class = np.flatnonzero(codes == code)
            held_out[rng.permutation(of_class)[: round(share * len(of_class))]] = True
        return held_out

    def _scores(self, X: ArrayLike) -> Array:
        rows = self._rows(X)
        return scores_of(self.forest_, rows, self.leaf_values_, self.baseline_, threads_of(self))

    def extra_measures(self, X: ArrayLike, y: ArrayLike) -> dict[str, float]:
        """Return the mean number of nodes of a tree, the mean depth, and the number of trees."""
        return super().extra_measures(X, y) | {"trees": float(len(self.forest_))}


class ObliqueBoostingClassifier(ObliqueBoosting, CoreForest):
    """Gradient boosting of the log loss with oblique trees, one tree a round for all classes.

    In each round the weight of a row is the size of the gradient of its true class, 1 - p; a heuristic grows a small
    tree on the class labels with these weights, and each leaf takes a Newton step in the scores of all classes. For two
    classes the Gini criterion on these weights is the gain of a regression tree on gradients: the sum of G^2 / W over
    the children, where G is the sum of the gradients and W the sum of their sizes. So any heuristic for classes can be
    used, with its exact search (docs/ensembles.md).

    Attributes
    ----------
    forest_ : the compiled trees; `tree(i)` gives one as arrays
    leaf_values_ : (leaves of all trees, K) what a leaf adds to the scores; K is 1 for two classes, else their number
    baseline_ : (K,) scores before the first tree
    training_loss_, validation_loss_ : (rounds,) mean log loss after each round; the latter with `n_iter_no_change`
    classes_ : (C,) class labels
    n_features_in_ : int
    encoding_ : encoding of a data frame with texts or missing cells, None if columns are not encoded
    feature_importances_ : (p,)
    n_estimators_ : int, trees that were kept
    n_nodes_, n_leaves_ : int, of all trees; depth_ : int, of the deepest

    Notes
    -----
    Stochasticity. One integer is drawn from `random_state`; it seeds the streams of rows, features and heuristics of
    each tree, and of the validation rows."""

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Grow the trees.

        X : (n, p) finite numbers, or a data frame that may have words and missing values (encoded by `encoding_`);
        y : (n,) labels; sample_weight : (n,) not negative, or None. Rows of weight 0 are ignored.
        groups : (n,) group of each row: `n_iter_no_change` holds out whole groups. None for independent rows
        raises ConfigError for a parameter out of range, or that does not fit p"""
        check(self.get_params(deep=False), self.constraints, type(self).__name__)
        self.__dict__.pop("forest_", None)  # a failed fit leaves no forest, rather than that of other rows
        # As in forests, a class whose rows all have weight 0 is in classes_.
        self.classes_, rows, codes, weights, together = self._class_rows(X, y, sample_weight, moderate, groups)
        return self._fit(rows, codes, weights, len(self.classes_), together)

    def _boosted(
        self, forest: Any, grow: Part, held: Part, options: dict[str, Any], grown_by: Families, how: dict[str, Any]
    ) -> dict[str, Any]:
        return dict(forest.boost(*grow, *held, options, grown_by, how))

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the scores, (n, C), or for two classes those of the second, (n,). X : (n, p)"""
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return class shares, (n, C), columns in the order of classes_. X : (n, p)"""
        scores = self.decision_function(X)
        return shares_of(scores.reshape(len(scores), -1), len(self.classes_))


def _part(part: Part, chosen: NDArray[np.bool_]) -> Part:
    rows, answers, weights = part
    if chosen.all():
        return part
    return np.ascontiguousarray(rows[chosen]), answers[chosen], None if weights is None else weights[chosen]
