"""The scikit-learn face of every top-down tree."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length, check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _check_y, check_is_fitted

import oblique_cli.proposers  # noqa: F401  (registers the proposers)
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.categorical import coded, learned, qualitative_columns
from oblique_cli.estimators.checked_rows import checked, classes_and_codes, refuse_negative
from oblique_cli.estimators.missing_values import (
    AUTO,
    IMPUTE,
    LEARN,
    REFUSE,
    has_gaps,
    medians,
    refuse_missing,
)
from oblique_cli.estimators.monotonic import NAME as ORDER
from oblique_cli.estimators.monotonic import signs_of, warn_of_flat
from oblique_cli.estimators.n_jobs import threads_of
from oblique_cli.estimators.oblique.groups import (
    NO_MODELS,
    NO_REFINEMENT,
    Columns,
    Growth,
    Leaves,
    Pruning,
    Refinement,
    Running,
)
from oblique_cli.estimators.tree_predictor import TreePredictor
from oblique_cli.ground import seeds
from oblique_cli.ground.constraints import Choice, check
from oblique_cli.ground.magnitudes import comparable, product, refuse_apart, refuse_wide
from oblique_cli.ground.row_groups import Groups, checked_groups, parts_of, share_of
from oblique_cli.parameters import parameter
from oblique_cli.tree.growing import best_first, grow_top_down
from oblique_cli.tree.leaf_models import PENALTIES, best_penalty, fitted_models
from oblique_cli.tree.monotone import Signs, within_order
from oblique_cli.tree.probabilities import COUNTS, best_strength, with_probabilities
from oblique_cli.tree.pruning import (
    KEPT_ROWS,
    NO_ROWS,
    PRUNINGS,
    TRAINING_ROWS,
    CrossValidation,
    LabeledRows,
    PruningRule,
    RuleParameters,
    pruned,
    reserve,
)
from oblique_cli.tree.refining import (
    REFINEMENTS,
    Fold,
    PlaneSpace,
    Refined,
    penalties_of,
    random_tree,
    refined,
)
from oblique_cli.tree.size_path import SizePath
from oblique_cli.tree.splitting import EQUAL, PROPOSERS, Finish, Proposer
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import Tree

Array = NDArray[np.float64]
RowNumbers = NDArray[np.intp]

INNER_FOLDS = 5  # of the cross-validation that chooses a strength of `probabilities` or a penalty of `leaf_models`


class ObliqueTreeClassifier(Growth, Pruning, Leaves, Columns, Running, TreePredictor, BaseEstimator, kw_only=True):
    """A classification tree whose splits are hyperplanes, grown top-down by a split heuristic.

    Attributes
    ----------
    tree_ : Tree
        Frozen arrays; ``tree_.coef_`` (n_nodes, p) and ``tree_.intercept_`` (n_nodes,) are the hyperplanes,
        ``tree_.level_scores`` the scores of levels.
    probability_strength_ : float, where `probabilities` is not "counts"
        The strength, as given or chosen.
    leaf_penalty_ : float, with leaf_models "logistic"
        The penalty, as given or chosen.
    missing_ : "error", "impute" or "learn", what becomes of NaN: `missing`, or what "auto" came to
    fill_values_ : (p,) array, with missing "impute"
        What takes the place of NaN in each quantitative column; 0 for one without any value, and for qualitative ones.
    path_ : SizePath, with path=True
        Rows of alpha, n_leaves, n_terms, accuracy and standard_error, from the tree as grown to its root alone, and
        ``chosen``, the number of the one that `pruning` took; ``at(k)`` is the tree of each.
    refinement_ : Refined, with refine "tao"
        The start, the path of penalties and the objective after every update of a node (docs/pruning.md).
    levels_ : dict
        Position of each qualitative column -> its levels, in the order of their codes in ``tree_``.
    classes_ : (C,) class labels
    n_features_in_ : int
    n_leaves_, n_nodes_, depth_ : int

    Notes
    -----
    Stochasticity. One integer is drawn from `random_state`. It seeds the generator that draws the pruning rows (if they
    are not given) and the folds of "cv", and it names the seed of each tree (that of "oc1" is the generator's next
    number). Most heuristics draw nothing. One that does, such as "sadt", has a stream at every node, named after the
    tree's seed and the turns from the root, so that what a node draws does not depend on which other nodes are split.
    """

    proposer: str | Proposer = parameter(
        default="hhcart_a",
        kw_only=False,
        help='The heuristic: a registered name ("axis_parallel", "hhcart_a", "hhcart_d", "hhcrv", "gdt", "hhgdt", ...) '
        "or an instance. Of each heuristic there is a class with all parameters flat, such as `HHCARTClassifier`.",
    )
    refine: str = parameter(
        default="none",
        allowed=Choice(REFINEMENTS),
        help='"tao" refines the grown and pruned tree by tree alternating optimization, at the penalty that 5-fold '
        "cross-validation of the training rows chooses (docs/pruning.md). `RefinedTreeClassifier` has its parameters.",
    )

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of an object in a parameter as proposer__tau; ValueError for an unknown one."""
        values = {**self.get_params(deep=False), **params}
        for key in params:
            part, inside, name = key.partition("__")
            if inside and not hasattr(values.get(part), "set_params"):
                owner = type(self).__name__
                cure = f"set {name}" if name in values else f"set {part} to an object that has the parameter {name}"
                raise ConfigError(f"{key} of {owner} cannot be set; {cure}.")
        super().set_params(**params)
        return self

    @property
    def needs_pruning_rows(self) -> bool:
        """Whether `fit` holds out rows to prune on."""
        rule = self.pruning if isinstance(self.pruning, PruningRule) else PRUNINGS.get(self.pruning)
        return rule is not None and rule.rows == KEPT_ROWS

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        pruning_rows: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> ObliqueTreeClassifier:
        """Grow and prune the tree.

        X : (n, p) finite numbers (and NaN as `missing` says), anything in qualitative columns; y : (n,) labels
        sample_weight : (n,) non-negative, rows of weight 0 are left out; ConfigError if two others differ by more than
            a factor of 2e60
        pruning_rows : row numbers to keep from growth and prune on; ValueError if none are left to grow on
        groups : (n,) values that are equal for rows that belong together, such as those of one patient: whatever
            divides the rows inside this fit keeps them together. None for independent rows
        """
        proposer = self._checked_proposer()
        rows, labels = self._training_rows(X, y, proposer)
        self._refuse_levels(proposer)
        refuse_wide(rows, type(self).__name__)
        if proposer.combines:
            refuse_apart(rows, type(self).__name__, list(self.levels_))
        growing, held_out, draws = self._divided(rows, labels, sample_weight, pruning_rows, groups)
        if (signs := self._signs()) is not None:
            self._refuse_beside_order()
        seen = _Seen([], []) if self.path else None
        tree, refinement = self._grown(growing, held_out, proposer, draws, seen)
        if refinement is not None:
            self.refinement_ = refinement
        if seen is not None:
            self.path_ = self._path_of(seen, tree, growing, proposer, draws)
        tree = self._finished(
            tree, growing, draws, lambda part, part_draws: self._grown(part, held_out, proposer, part_draws)[0]
        )
        self._keep(tree, growing.X)
        warn_of_flat(self, signs, tree.used_features, growing.X, growing.codes)
        return self

    def _path_of(self, seen: _Seen, pruned: Tree, growing: _Training, proposer: Proposer, draws: _Draws) -> SizePath:
        """Return the path of sizes of the grown tree. pruned : the tree after pruning; growing : its rows"""
        folds = seen.folds
        if not folds and len(growing.X) > 1:
            number = min(self.pruning_folds, len(growing.X))
            path_draws = _Draws.of(seeds.integer(draws.seed, "path folds"))
            folds = list(self._folds(growing, number, proposer, path_draws))
        return SizePath.of(seen.grown[0], pruned, folds)

    def at(self, number: int) -> ObliqueTreeClassifier:
        """Return the fitted classifier whose tree is a member of `path_`, counted from 0; ConfigError without it."""
        check_is_fitted(self)
        if not hasattr(self, "path_"):
            raise ConfigError(f"at of {type(self).__name__} needs path=True in fit.")
        tree, classifier = self.path_.tree(number), copy(self)
        if self.probabilities != COUNTS:
            tree = self._with_probabilities(tree)
        classifier.path_ = self.path_.taking(number)
        classifier._take(tree)
        return classifier

    def _grown(
        self,
        growing: _Training,
        held_out: _Training,
        proposer: Proposer,
        draws: _Draws,
        seen: _Seen | None = None,
    ) -> tuple[Tree, Refined | None]:
        """A grown, pruned and refined tree, and its refinement. held_out : rows to prune on; seen : collects trees"""
        if self.refine == NO_REFINEMENT:
            return self._pruned(growing, held_out, proposer, draws, seen), None
        refinement = self._refined([_Start(self, proposer, held_out)], growing, draws, Refinement())
        return refinement.tree, refinement

    def _signs(self) -> Signs | None:
        """The order that trees are to keep."""
        return signs_of(self, self.levels_, len(self.classes_))

    def _refuse_beside_order(self) -> None:
        """Raise ConfigError for parameters under which predictions would not be monotonic."""
        plain = {"refine": NO_REFINEMENT, "leaf_models": NO_MODELS, "polish": False, "max_terms": None}
        for name, value in {**plain, "split_cost": 0.0}.items():
            if (current := getattr(self, name)) != value:
                raise ConfigError(
                    f"{ORDER} of {type(self).__name__} is not kept with {name} {current!r}; set {name} to {value!r}."
                )
        if self._gaps == LEARN:
            raise ConfigError(
                f"{ORDER} of {type(self).__name__} is not kept where missing values learn a side of their own; set "
                "missing to 'impute'."
            )

    def _with_probabilities(self, tree: Tree) -> Tree:
        """Return the tree with probabilities by `probabilities`, at the chosen strength."""
        smoothed, signs = with_probabilities(tree, self.probabilities, self.probability_strength_), self._signs()
        return smoothed if signs is None else within_order(smoothed, signs)

    def _refuse_levels(self, proposer: Proposer) -> None:
        if self.levels_ and proposer.is_quantitative():
            raise ConfigError(
                f"{type(proposer).__name__} takes quantitative features only. Column {min(self.levels_)} is "
                "qualitative; set encoding to onehot or ordinal."
            )
        if self.levels_ and self.polish:
            raise ConfigError(
                f"polish of {type(self).__name__} takes quantitative features only. Column {min(self.levels_)} is "
                "qualitative; set encoding to onehot or ordinal, or polish to false."
            )

    def _divided(
        self,
        rows: Array,
        labels: NDArray[Any],
        sample_weight: ArrayLike | None,
        pruning_rows: ArrayLike | None,
        groups: ArrayLike | None,
    ) -> tuple[_Training, _Training, _Draws]:
        """The rows to grow on, those kept from growth, and what the fit draws; learns classes and fill values."""
        check_classification_targets(labels)
        self.classes_, codes = classes_and_codes(labels)
        weights = self._weights(rows, labels, sample_weight)
        draws = _Draws.of(int(check_random_state(self.random_state).randint(2**31)))

        together = checked_groups(groups, len(rows), type(self).__name__)
        grow_on, prune_on = self._divide(len(rows), weights, pruning_rows, together, draws.rng)
        if self._gaps == IMPUTE:
            self.fill_values_ = medians(rows[grow_on], None if weights is None else weights[grow_on])
            self.fill_values_[list(self.levels_)] = 0.0
            rows = self._filled(rows)
        training = _Training.of(rows, codes, weights, together)
        return training.part(grow_on), training.part(prune_on), draws

    def _refined(
        self,
        starts: Sequence[_Start],
        rows: _Training,
        draws: _Draws,
        how: Refinement,
    ) -> Refined:
        """Return the best of several starts, refined at the best penalty, see `tree.refining`. rows : to grow on"""
        penalty = how.penalty
        for start in starts:
            if start.estimator is not None and start.estimator.monotonic_cst is not None:
                raise ConfigError(
                    f"{ORDER} of {type(start.estimator).__name__} is not kept by refinement; leave it out, or take the "
                    "tree as it is grown."
                )

        def space_of(part: _Training) -> PlaneSpace:
            return PlaneSpace(part.X, part.codes, len(self.classes_), part.weights, self._level_counts())

        def grown_on(part: _Training, space: PlaneSpace, part_draws: _Draws) -> list[Callable[[], Tree]]:
            return [partial(start.tree, part, space, part_draws, self._gaps == LEARN) for start in starts]

        def parts() -> Iterator[Fold]:
            number = min(how.folds, len(rows.X))
            seed = seeds.integer(draws.seed, "refinement folds")
            for i, (grow_on, test_on) in enumerate(shuffled_folds(len(rows.X), number, seed, rows.groups)):
                part = rows.part(grow_on)
                space = space_of(part)
                fold_draws = _Draws.of(seeds.integer(draws.seed, "refinement fold", i))
                yield Fold(space, rows.part(test_on), grown_on(part, space, fold_draws))

        space = space_of(rows)
        if len(rows.X) < 2:  # nothing to divide, and nothing to choose
            penalty, starts = 0.0 if penalty is None else penalty, starts[:1]
        trees = grown_on(rows, space, draws)
        penalties = penalties_of(space, how.n_penalties) if penalty is None else np.array([penalty])
        own_limits = None if isinstance(self, Refinement) else self
        settings = how.settings(threads_of(self), own_limits)
        return refined(space, trees, parts(), penalties, how.standard_errors, settings)

    def predict_path(self, X: ArrayLike, values: ArrayLike) -> NDArray[Any]:
        """Return what a tree grown with each value of max_misrate would predict, from this one tree.

        X : (n, p); values : (m,) each at least the max_misrate of this fit; returns (n, m) labels. The split at a node
        does not depend on the limit, so a larger limit only cuts the tree earlier. Needs pruning="none".
        """
        limits, order = self._limits(values)
        rows = self._rows(X)
        labels = self.classes_.take(self.tree_.labels[self.tree_.apply_limits(rows, limits, self._rates(self.tree_))])
        out = np.empty_like(labels)
        out[:, order] = labels
        return out

    def n_leaves_path(self, values: ArrayLike) -> NDArray[np.int64]:
        """Return the number of leaves for each value of `predict_path`, (m,)."""
        limits, order = self._limits(values)
        out = np.empty(len(limits), dtype=np.int64)
        out[order] = self.tree_.leaves_of_limits(limits, self._rates(self.tree_))
        return out

    def _rates(self, tree: Tree) -> Array:
        """What `max_misrate` limits, of every node."""
        of_node = self.misrate_of == "node"
        return tree.misclassification_rates if of_node else tree.misclassification_rates_of_parents

    def _limits(self, values: ArrayLike) -> tuple[Array, NDArray[np.intp]]:
        check_is_fitted(self)
        limits = np.asarray(values, dtype=np.float64)
        if limits.ndim != 1 or len(limits) == 0 or not np.isfinite(limits).all():
            raise ConfigError(f"values of a path must be a list of numbers. Got {values!r}.")
        for name, value in (("refine", NO_REFINEMENT), ("leaf_models", NO_MODELS), ("max_leaf_nodes", None)):
            if getattr(self, name) != value:
                raise ConfigError(f"a path over max_misrate needs {name} {value!r}. Got {getattr(self, name)!r}.")
        if not self._rule().as_grown:
            raise ConfigError(f"a path over max_misrate needs pruning 'none'. Got {self.pruning!r}.")
        if limits.min() < self.max_misrate:
            raise ConfigError(
                f"the tree was grown with max_misrate {self.max_misrate:g} and knows no smaller value. "
                f"Got {limits.min():g}; fit with the smallest value of the path."
            )
        order = np.argsort(limits, kind="stable")
        return np.ascontiguousarray(limits[order]), order

    def _training_rows(
        self, X: ArrayLike, y: ArrayLike, proposer: Proposer | None = None
    ) -> tuple[Array, NDArray[Any]]:
        """Checked rows, levels as codes, and labels; learns the levels."""
        owner = type(self).__name__
        columns = qualitative_columns(X, self.qualitative, owner)
        self.levels_: dict[int, tuple[Any, ...]] = {}
        for learned_before in ("fill_values_", "path_", "refinement_", "probability_strength_", "leaf_penalty_"):
            self.__dict__.pop(learned_before, None)  # other parameters may not learn them again
        self._gaps = self._gaps_of(X, columns)
        if not columns:
            # Native growth reads single precision, which is exact in double, without a copy.
            native = proposer is not None and proposer.native_family() is not None and self._takes_single()
            dtypes = (np.float64, np.float32) if native and self._rule().rows == NO_ROWS else np.float64
            rows, labels = checked(
                self, X, y, dtype=dtypes, order="C", ensure_min_samples=1, ensure_all_finite="allow-nan"
            )
            self._check_missing(rows, self._gaps)
            return rows, labels
        checked(self, X, skip_check_array=True)  # number and names of the columns
        self.levels_ = learned(X, columns, self.max_levels, owner)
        rows = self._coded(X, self._gaps)
        labels = _check_y(y, estimator=self)
        check_consistent_length(rows, labels)
        return rows, labels

    def _takes_single(self) -> bool:
        """Whether nothing but native growth reads the training rows."""
        plain = self.refine == NO_REFINEMENT and self.probabilities == COUNTS and self.leaf_models == NO_MODELS
        return plain and self.engine != "reference" and self._gaps == REFUSE

    def _gaps_of(self, X: ArrayLike, qualitative: tuple[int, ...]) -> str:
        """What becomes of NaN in this fit: `missing`, or what "auto" comes to for rows X (n, p)."""
        if self.missing != AUTO:
            return self.missing
        return LEARN if self.monotonic_cst is None and has_gaps(X, qualitative) else REFUSE

    @property
    def missing_(self) -> str:
        """What becomes of NaN in rows to predict, by what was learned."""
        if hasattr(self, "fill_values_"):
            return IMPUTE
        return REFUSE if self.tree_.missing_left is None else LEARN

    def _rows(self, X: ArrayLike) -> Array:
        """Checked rows to predict, levels as codes."""
        gaps = self.missing_
        if self.levels_:
            checked(self, X, skip_check_array=True, reset=False)
            return self._filled(self._coded(X, gaps))
        rows = self._numbers(X, "allow-nan")
        self._check_missing(rows, gaps)
        return self._filled(rows)

    def _rows_and_leaves(self, X: ArrayLike) -> tuple[Array, NDArray[np.int32]]:
        check_is_fitted(self)
        if not self.levels_ and self.missing_ == REFUSE:
            rows = self._numbers(X, False)
            leaves = self.tree_.apply_finite(rows, threads_of(self))
            if leaves is not None:
                return rows, leaves  # and X has been read once
        return super()._rows_and_leaves(X)

    def _numbers(self, X: ArrayLike, finite: Any) -> Array:
        """Rows without levels. Single precision is exact in double: such rows are not copied."""
        rows: Array = checked(self, X, dtype=(np.float64, np.float32), order="C", reset=False, ensure_all_finite=finite)
        return rows

    def _coded(self, X: ArrayLike, gaps: str) -> Array:
        rows = coded(X, self.levels_)
        check_array(
            rows[:, self._quantitative(rows)],
            ensure_min_features=0,
            ensure_all_finite="allow-nan",
            estimator=self,
            input_name="X",
        )
        self._check_missing(rows, gaps)
        return rows

    def _quantitative(self, rows: Array) -> list[int]:
        return [j for j in range(rows.shape[1]) if j not in self.levels_]

    def _check_missing(self, rows: Array, gaps: str) -> None:
        if gaps == REFUSE:
            refuse_missing(rows, self._quantitative(rows), self, "set missing to 'learn' or 'impute', or fill them")

    def _filled(self, rows: Array) -> Array:
        """Rows with medians in place of NaN, if the fit learned these; codes of levels are never NaN."""
        return np.where(np.isnan(rows), self.fill_values_, rows) if hasattr(self, "fill_values_") else rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing in (IMPUTE, LEARN)
        return tags

    def _weights(self, rows: Array, labels: NDArray[Any], sample_weight: ArrayLike | None) -> Array | None:
        """Checked weights of rows, those of their classes included; None if there are none."""
        owner = type(self).__name__
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, rows, dtype=np.float64)
        if weights is not None:
            refuse_negative(weights)
        if self.class_weight is None:
            return None if weights is None else comparable(weights, f"sample_weight of {owner}")
        try:
            of_class = compute_sample_weight(self.class_weight, labels)
        except ValueError as error:  # it names classes that y does not have
            raise ConfigError(f"class_weight of {owner} does not fit y: {error}.") from error
        if weights is None:
            return comparable(of_class, f"class_weight of {owner}")
        return product(weights, of_class, f"sample_weight times class_weight of {owner}")

    def _level_counts(self) -> Sequence[int] | None:
        if not self.levels_:
            return None
        return [len(self.levels_.get(j, ())) for j in range(self.n_features_in_)]

    def _checked_proposer(self) -> Proposer:
        owner = type(self).__name__
        # A default holds what is declared of it.
        params = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if value is not getattr(type(self), name, None) or value is None
        }
        if isinstance(self.pruning, PruningRule):
            del params["pruning"]
            check(self.pruning.get_params(deep=False), self.pruning.constraints, type(self.pruning).__name__)
        check(params, self.constraints, owner)
        for name, plain in (("refine", NO_REFINEMENT), ("leaf_models", NO_MODELS)):
            if self.path and getattr(self, name) != plain:
                raise ConfigError(f"path of {owner} needs {name} {plain!r}. Got {getattr(self, name)!r}.")
        proposer = PROPOSERS[self.proposer]() if isinstance(self.proposer, str) else self.proposer
        if not isinstance(proposer, Proposer):
            raise ConfigError(f"proposer of {owner} must be a registered name or a Proposer. Got {proposer!r}.")
        check(proposer.get_params(deep=False), proposer.constraints, type(proposer).__name__)
        if self.engine == "native" and proposer.native_family() is None:
            raise ConfigError(no_native(type(proposer).__name__))
        return proposer

    def _divide(
        self,
        n: int,
        weights: Array | None,
        pruning_rows: ArrayLike | None,
        groups: Groups | None,
        rng: np.random.Generator,
    ) -> tuple[RowNumbers, RowNumbers]:
        """Row numbers to grow on and to prune on, those of weight 0 left out."""
        useful = np.arange(n) if weights is None else np.flatnonzero(weights > 0)
        if len(useful) == 0:
            culprit = "sample_weight" if self.class_weight is None else "sample_weight times class_weight"
            raise ConfigError(f"{culprit} must have a positive entry. All are 0.")
        if not self.needs_pruning_rows:
            return useful, useful[:0]
        if pruning_rows is not None:
            prune_on = np.asarray(pruning_rows)
            whole = prune_on.ndim == 1 and (prune_on.dtype.kind in "iu" or len(prune_on) == 0)
            if not whole or (len(prune_on) and not 0 <= prune_on.min() <= prune_on.max() < n):
                raise ConfigError(f"pruning_rows must be row numbers from 0 to {n - 1}. Got {pruning_rows!r}.")
            prune_on = prune_on.astype(np.intp)
        elif len(useful) < 2:
            prune_on = useful[:0]
        elif groups is not None:
            prune_on = useful[share_of(groups[useful], self.pruning_fraction, rng)]
        else:
            size = min(max(round(self.pruning_fraction * len(useful)), 1), len(useful) - 1)
            prune_on = rng.choice(useful, size=size, replace=False)
        is_kept = np.zeros(n, dtype=bool)
        is_kept[prune_on] = True
        grow_on = useful[~is_kept[useful]]
        if len(grow_on) == 0:
            raise ConfigError("pruning_rows must leave rows to grow the tree on. They cover all rows.")
        return grow_on, useful[is_kept[useful]]

    def _grow(self, training: _Training, proposer: Proposer, draws: _Draws) -> Tree:
        of_node = self.misrate_of == "node"
        limits = Stopping(self.min_parent, self.max_misrate, self.max_depth, self.max_leaf_nodes)
        tree = grow_top_down(
            training.X,
            training.codes,
            len(self.classes_),
            proposer,
            weights=training.weights,
            criterion=self.criterion,
            stopping=limits if of_node else replace(limits, max_misrate=0.0, max_leaf_nodes=None),
            min_leaf=max(self.min_samples_leaf, self.min_weight_fraction_leaf * training.total / training.unit),
            ties=self.ties,
            engine=self.engine,
            seed=draws.tree_seed(proposer),
            levels=self._level_counts(),
            missing=self._gaps == LEARN,
            finish=Finish(self.polish, self.split_cost, self.max_terms),
            n_threads=threads_of(self),
            signs=self._signs(),
        )
        # Splits do not depend on the limits, so the tree may as well be cut afterwards.
        return tree if of_node else self._cut(tree)

    def _cut(self, tree: Tree) -> Tree:
        """A tree grown without `max_misrate` and `max_leaf_nodes` as it would be with them."""
        tree = tree.collapse(self._rates(tree) <= self.max_misrate)
        if self.max_leaf_nodes is None:
            return tree
        return best_first(tree, self.max_leaf_nodes, 0.0 if self.ties == "strict" else EQUAL)

    def _rule(self) -> PruningRule:
        """The rule that `pruning` is or names, with the parameters that the estimator has for it."""
        if isinstance(self.pruning, PruningRule):
            for name in RuleParameters.parameters:
                if getattr(self, name) != self.parameters[name].default:
                    raise ConfigError(
                        f"{name}={getattr(self, name)!r} has no effect beside pruning={self.pruning!r}, an instance "
                        "that has its own parameters; give the value to the instance, or name the rule instead."
                    )
            return self.pruning
        rule = PRUNINGS[str(self.pruning)]
        return rule(**{name: getattr(self, name) for name in rule.constraints if name in RuleParameters.parameters})

    def _folds(
        self, rows: _Training, number: int, proposer: Proposer, draws: _Draws
    ) -> Iterator[tuple[Tree, LabeledRows]]:
        """Trees of all folds but one each, and the rows of that one."""
        seed = int(draws.rng.integers(2**31))
        for grow_on, left_out in shuffled_folds(len(rows.X), number, seed, rows.groups):
            yield self._grow(rows.part(grow_on), proposer, draws), rows.part(left_out)

    def _pruned(
        self, growing: _Training, held_out: _Training, proposer: Proposer, draws: _Draws, seen: _Seen | None = None
    ) -> Tree:
        """Return a tree grown on `growing` and pruned. held_out : rows to prune on; seen : collects the trees"""
        tree, rule = self._grow(growing, proposer, draws), self._rule()
        if seen is not None:
            seen.grown.append(tree)

        def folds(number: int) -> Iterator[tuple[Tree, LabeledRows]]:
            for fold in self._folds(growing, number, proposer, draws):
                if seen is not None:
                    seen.folds.append(fold)
                yield fold

        if rule.rows == TRAINING_ROWS:
            return pruned(rule, tree, CrossValidation(growing, folds))
        if rule.rows == KEPT_ROWS:
            return pruned(rule, tree, held_out) if len(held_out.X) else tree
        return pruned(rule, tree, None)

    def _finished(
        self, tree: Tree, growing: _Training, draws: _Draws, grow: Callable[[_Training, _Draws], Tree]
    ) -> Tree:
        """Return the tree with the probabilities and leaf models of the parameters.

        growing : the rows of the tree; grow : returns a tree of other rows
        """

        def folds() -> Iterator[tuple[Tree, _Training, _Training]]:
            own_seed = seeds.integer(draws.seed, "probability folds")
            divided = shuffled_folds(n, min(INNER_FOLDS, n), own_seed, growing.groups)
            for i, (grow_on, left_out) in enumerate(divided):
                part, fold_draws = growing.part(grow_on), _Draws.of(seeds.integer(draws.seed, "probability fold", i))
                yield grow(part, fold_draws), part, growing.part(left_out)

        n = len(growing.X)
        if self.probabilities != COUNTS:
            strength = self.probability_strength
            if isinstance(strength, str):
                parts = ((part, *left_out) for part, _, left_out in folds())
                strength = 1.0 if n < 2 else best_strength(self.probabilities, parts)
            self.probability_strength_ = float(strength)
            tree = self._with_probabilities(tree)
        if self.leaf_models == NO_MODELS:
            return tree
        penalty = self.leaf_penalty
        if isinstance(penalty, str):
            smoothed = (
                (with_probabilities(part, self.probabilities, getattr(self, "probability_strength_", 1.0)), on, out)
                for part, on, out in folds()
            )
            penalty = PENALTIES[0] if n < 2 else best_penalty(smoothed)
        self.leaf_penalty_ = float(penalty)
        return tree.with_leaf_models(fitted_models(tree, *growing, self.leaf_penalty_))


reserve(ObliqueTreeClassifier.parameters)


class _Draws(NamedTuple):
    """What a fit draws.

    seed     of the fit
    rng      draws the pruning rows and divisions into folds
    numbers  of trees: 0 for the tree itself, then those of folds in the order in which they are grown
    """

    seed: int
    rng: np.random.Generator
    numbers: Iterator[int]

    @classmethod
    def of(cls, seed: int) -> _Draws:
        return cls(seed, np.random.default_rng(seed), itertools.count())

    def tree_seed(self, proposer: Proposer) -> int:
        """The seed of the next tree."""
        number = next(self.numbers)
        return int(self.rng.integers(2**63)) if proposer.draws_tree_seed else seeds.integer(self.seed, "tree", number)


class _Seen(NamedTuple):
    """Trees on the way to a pruned one. grown : the one as grown; folds : of a rule that divides the rows"""

    grown: list[Tree]
    folds: list[tuple[Tree, LabeledRows]]


class _Training(LabeledRows):
    """Rows to grow or prune on."""

    @classmethod
    def of(cls, X: Array, codes: NDArray[Any], weights: Array | None, groups: Groups | None) -> _Training:
        """Rows with their groups, which are no field: a field would change how plugins unpack rows."""
        made = cls(X, codes, weights)
        made.__dict__["groups"] = groups
        return made

    @property
    def groups(self) -> Groups | None:
        """Codes of groups of rows that belong together, (n,); None for independent rows."""
        return self.__dict__.get("groups")

    @property
    def unit(self) -> float:
        """The smallest weight."""
        return 1.0 if self.weights is None else float(self.weights.min())

    def part(self, rows: RowNumbers) -> _Training:
        """Some of the rows, given in rising order."""
        if len(rows) == len(self.X):
            return self
        weights = None if self.weights is None else self.weights[rows]
        return _Training.of(self.X[rows], self.codes[rows], weights, None if self.groups is None else self.groups[rows])


class _Start(NamedTuple):
    """A way to grow a tree for refinement: an estimator with its heuristic, or a complete random tree of a depth.

    The estimator has the classes and levels of the one whose fit it is part of. held_out : rows to prune on
    """

    estimator: ObliqueTreeClassifier | None
    proposer: Proposer | None = None
    held_out: _Training | None = None
    depth: int = 0

    def tree(self, rows: _Training, space: PlaneSpace, draws: _Draws, missing: bool) -> Tree:
        """Return a tree grown on `rows`. missing : whether it takes missing values"""
        if self.estimator is None or self.proposer is None:
            rng = seeds.generator(draws.seed, "random tree", self.depth)
            return random_tree(space, self.depth, rng, missing)
        held_out = rows.part(np.empty(0, dtype=np.intp)) if self.held_out is None else self.held_out
        # Node numbers of a start do not depend on the other starts.
        return self.estimator._pruned(rows, held_out, self.proposer, draws._replace(numbers=itertools.count()))


def shuffled_folds(
    n: int, folds: int, seed: int, groups: Groups | None = None
) -> Iterator[tuple[RowNumbers, RowNumbers]]:
    """Yield the rows to grow on and the rows to test on, ascending, for each fold of n shuffled rows.

    groups : (n,) of rows that stay together, of which no more folds are made than there are groups; None for
        independent rows, whose folds are those of scikit-learn's `KFold(folds, shuffle=True, random_state=seed)`. Its
        module takes longer to load than most trees take to grow.
    """
    order = np.arange(n)
    rng = check_random_state(seed)
    if groups is None:
        rng.shuffle(order)
    for test_on in np.array_split(order, folds) if groups is None else parts_of(groups, folds, rng):
        tested = np.zeros(n, dtype=np.bool_)
        tested[test_on] = True
        yield np.flatnonzero(~tested), np.flatnonzero(tested)


def no_native(owner: str) -> str:
    """Return the sentence for native growth of what has none."""
    return f"{owner} has no native growth; set engine to 'auto' or 'reference'."
