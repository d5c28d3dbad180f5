"""scikit-learn estimator of top-down trees."""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

import oblique_cli.proposers  # noqa: F401  (registers the proposers)
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.checked_rows import classes_and_codes
from oblique_cli.estimators.fitted import TreePredictor
from oblique_cli.estimators.missing_values import IMPUTE, LEARN, REFUSE, medians
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
from oblique_cli.estimators.oblique.training import CodedRows, Draws, Training, divided, weights_of
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Choice, FeatureCount, check, rows_of
from oblique_cli.ground.magnitudes import refuse_apart, refuse_wide
from oblique_cli.ground.row_groups import checked_groups
from oblique_cli.parameters import parameter
from oblique_cli.tree.growing import best_first, grow_top_down
from oblique_cli.tree.leaf_models import PENALTIES, best_penalty, fitted_models
from oblique_cli.tree.monotone import Signs, within_order
from oblique_cli.tree.probabilities import COUNTS, CV, DIRICHLET, best_strength, strength_of, with_probabilities
from oblique_cli.tree.pruning import (
    KEPT_ROWS,
    NO_ROWS,
    PRUNINGS,
    TRAINING_ROWS,
    CrossValidation,
    LabeledRows,
    PruningRule,
    RuleParameters,
    cost_complexity_path,
    pruned,
    reserve,
)
from oblique_cli.tree.refining import REFINEMENTS, Fold, PlaneSpace, Refined, penalties_of, random_tree, refined
from oblique_cli.tree.splitting import EQUAL, PROPOSERS, Finish, Proposer
from oblique_cli.tree.stopping import Stopping
from oblique_cli.tree.structure import Tree

INNER_FOLDS = 5  # of the cross-validation that chooses a strength of `probabilities` or a penalty of `leaf_models`


class ObliqueTreeClassifier(
    Growth, Pruning, Leaves, Columns, Running, CodedRows, TreePredictor, BaseEstimator, kw_only=True
):
    """A classification tree whose splits are hyperplanes, grown top-down by a split heuristic.

    Attributes
    ----------
    tree_ : Tree
        Frozen arrays; ``tree_.coef_`` (n_nodes, p) and ``tree_.intercept_`` (n_nodes,) are the hyperplanes,
        ``tree_.level_scores`` the scores of levels.
    probability_strength_ : float, where `probabilities` smooths the shares
        The strength, as given or chosen.
    leaf_penalty_ : float, with leaf_models "logistic"
        The penalty, as given or chosen.
    missing_ : "error", "impute" or "learn", the treatment of NaN: `missing`, or the choice of "auto"
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
    are not given) and the folds of "cv", and it determines the seed of each tree (that of "oc1" is the generator's next
    number). Most heuristics draw nothing. One that does, such as "sadt", has a stream at every node, named after the
    tree's seed and the turns from the root, so that its draws do not depend on which other nodes are split."""

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
        "cross-validation of the training rows chooses (docs/pruning.md). `TAOClassifier` has its parameters.",
    )

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of an object in a parameter as proposer__tau; ValueError for an unknown name."""
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
    def epsilon(self) -> float:
        """Limit of the misclassification rate; a parameter in GDT and HHGDT, `max_misrate` elsewhere."""
        return self.max_misrate

    @property
    def max_features_(self) -> int:
        """Number of features that are searched at a node."""
        return min(FeatureCount.of(self.max_features, self.n_features_in_), self.n_features_in_)

    def _in_python(self) -> str:
        """Return a parameter and its value that native growth does not support, empty if there is none."""
        in_python = {"engine": "reference", "max_features": self.max_features, "min_impurity_decrease": 0.0}
        for name, value in in_python.items():
            if value is not None and getattr(self, name) == value:
                return f"{name} {value!r}"
        return ""

    @property
    def needs_pruning_rows(self) -> bool:
        """Whether `fit` needs held-out rows for pruning."""
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

        X : (n, p) finite numbers (and NaN as `missing` allows), anything in qualitative columns; y : (n,) labels
        sample_weight : (n,) non-negative, rows of weight 0 are ignored; ConfigError if two others differ by more than
            a factor of 2e60
        pruning_rows : row numbers to hold out for pruning; ValueError if none are left for growth
        groups : (n,) group of each row, such as a patient: every division of rows inside this fit keeps groups
            together. None for independent rows"""
        proposer = self._checked_proposer()
        # Native growth reads rows in single precision without a copy.
        plain = self.refine == NO_REFINEMENT and self.probability_strength != CV and self.leaf_models == NO_MODELS
        native = not self._in_python() and proposer.native_family() is not None
        rows, labels = self._training_rows(X, y, plain and native and self._rule().rows == NO_ROWS)
        self._refuse_levels(proposer)
        refuse_wide(rows, type(self).__name__)
        if proposer.combines:
            refuse_apart(rows, type(self).__name__, list(self.levels_))
        growing, held_out, draws = self._divided(rows, labels, sample_weight, pruning_rows, groups)
        if (signs := self._signs()) is not None:
            self._refuse_beside_order()
        grown = self._grown(growing, held_out, proposer, draws)
        if grown.refinement is not None:
            self.refinement_ = grown.refinement
        if self.path:
            folds = grown.folds
            if not folds and len(growing.X) > 1:
                number = min(self.pruning_folds, len(growing.X))
                folds = list(self._folds(growing, number, proposer, Draws.of(seeds.integer(draws.seed, "path folds"))))
            from oblique_cli.tree.size_path import SizePath

            self.path_ = SizePath.of(grown.start, grown.tree, folds)

        tree = self._finished(
            grown.tree, growing, draws, lambda part, of_part: self._grown(part, held_out, proposer, of_part).tree
        )
        self._keep(tree, growing.X)
        warn_of_flat(self, signs, tree.used_features, growing.X, growing.codes)
        return self

    def cost_complexity_pruning_path(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Bunch:
        """Return the sequence of minimal cost-complexity pruning of the tree that is grown on these rows.

        Arguments are those of `fit`. ``ccp_alphas`` (m,) rises from 0 (the whole tree) to the value for the root alone;
        ``impurities`` (m,) are the misclassified shares of the weight, in place of scikit-learn's impurity: `ccp_alpha`
        is in these units. A fit with `ccp_alpha` at one of these values gives the tree of the sequence"""
        grown = clone(self).set_params(pruning="none", ccp_alpha=0.0, path=False).fit(X, y, sample_weight).tree_
        path = cost_complexity_path(grown)
        members = [0, *(k for k, alpha in enumerate(path.alphas) if alpha > 0.0)]
        trees = [path.member(grown, k) for k in members]
        errors = [float(tree.errors[tree.is_leaf].sum() / tree.counts[0].sum()) for tree in trees]
        alphas = np.maximum(path.alphas[members], 0.0)
        return Bunch(ccp_alphas=alphas, impurities=np.array(errors))

    def at(self, number: int) -> ObliqueTreeClassifier:
        """Return the classifier with member `number` of `path_`, from 0, as its tree; ConfigError without a path."""
        check_is_fitted(self)
        if not hasattr(self, "path_"):
            raise ConfigError(f"at of {type(self).__name__} needs path=True in fit.")
        tree, classifier = self.path_.tree(number), copy(self)
        if self.probabilities != COUNTS:
            tree = self._smoothed(tree)
        classifier.path_ = self.path_.taking(number)
        classifier._take(tree)
        return classifier

    def _grown(self, growing: Training, held_out: Training, proposer: Proposer, draws: Draws) -> Grown:
        """Return a grown, pruned and refined tree. held_out : rows for pruning"""
        if self.refine == NO_REFINEMENT:
            return self._pruned(growing, held_out, proposer, draws)
        refinement = self._refined([Start(self, proposer, held_out)], growing, draws, Refinement())
        return Grown(refinement.tree, refinement.tree, [], refinement)

    def _signs(self) -> Signs | None:
        return signs_of(self, self.levels_, len(self.classes_))

    def _refuse_beside_order(self) -> None:
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

    def _smoothed(self, tree: Tree) -> Tree:
        smoothed = with_probabilities(tree, self.probabilities, self.probability_strength_)
        if self.monotonic_cst is None or (signs := self._signs()) is None:
            return smoothed
        return within_order(smoothed, signs)

    def _refuse_levels(self, proposer: Proposer) -> None:
        if self.levels_ and (self.polish or proposer.is_quantitative()):
            owner, remedy = type(proposer).__name__, ""
            if not proposer.is_quantitative():
                owner, remedy = f"polish of {type(self).__name__}", ", or polish to false"
            raise ConfigError(
                f"{owner} takes quantitative features only. Column {min(self.levels_)} is qualitative; set encoding to "
                f"onehot or ordinal{remedy}."
            )

    def _divided(
        self,
        rows: Array,
        labels: NDArray[Any],
        sample_weight: ArrayLike | None,
        pruning_rows: ArrayLike | None,
        groups: ArrayLike | None,
    ) -> tuple[Training, Training, Draws]:
        """Return the rows for growth, the rows for pruning, and the draws of the fit; learn classes and fill values."""
        check_classification_targets(labels)
        owner, n = type(self).__name__, len(rows)
        self.classes_, codes = classes_and_codes(labels)
        weights = weights_of(rows, labels, sample_weight, self.class_weight, owner)
        draws = Draws.of(int(check_random_state(self.random_state).randint(2**31)))
        together = checked_groups(groups, n, owner)
        grow_on = np.arange(n) if weights is None else np.flatnonzero(weights > 0)
        if len(grow_on) == 0:
            culprit = "sample_weight" if self.class_weight is None else "sample_weight times class_weight"
            raise ConfigError(f"{culprit} must have a positive entry. All are 0.")
        prune_on = grow_on[:0]
        if self.needs_pruning_rows:
            grow_on, prune_on = divided(n, grow_on, pruning_rows, self.pruning_fraction, together, draws.rng)
        if self._gaps == IMPUTE:
            self.fill_values_ = medians(rows[grow_on], None if weights is None else weights[grow_on])
            self.fill_values_[list(self.levels_)] = 0.0
            rows = self._filled(rows)
        training = Training.of(rows, codes, weights, together)
        return training.part(grow_on), training.part(prune_on), draws

    def _refined(self, starts: Sequence[Start], rows: Training, draws: Draws, how: Refinement) -> Refined:
        """Return the best of several starts, refined at the best penalty, see `tree.refining`. rows : for growth"""
        penalty = how.penalty
        for start in starts:
            if start.estimator is not None and start.estimator.monotonic_cst is not None:
                raise ConfigError(
                    f"{ORDER} of {type(start.estimator).__name__} is not kept by refinement; leave it out, or take the "
                    "tree as it is grown."
                )

        def space_of(part: Training) -> PlaneSpace:
            return PlaneSpace(part.X, part.codes, len(self.classes_), part.weights, self._level_counts())

        def grown_on(part: Training, space: PlaneSpace, part_draws: Draws) -> list[Callable[[], Tree]]:
            return [partial(start.tree, part, space, part_draws, self._gaps == LEARN) for start in starts]

        def parts() -> Iterator[Fold]:
            for part, left_out, fold_draws in draws.folds(rows, how.folds, "refinement"):
                space = space_of(part)
                yield Fold(space, left_out, grown_on(part, space, fold_draws))

        space = space_of(rows)
        if len(rows.X) < 2:  # a single row: nothing to divide or to choose
            penalty, starts = 0.0 if penalty is None else penalty, starts[:1]
        trees = grown_on(rows, space, draws)
        penalties = penalties_of(space, how.n_penalties) if penalty is None else np.array([penalty])
        own_limits = None if isinstance(self, Refinement) else self
        settings = how.settings(threads_of(self), own_limits)
        return refined(space, trees, parts(), penalties, how.standard_errors, settings)

    def predict_path(self, X: ArrayLike, values: ArrayLike) -> NDArray[Any]:
        """Return the predictions of a tree with each value of max_misrate, from this one tree.

        X : (n, p); values : (m,) each at least the max_misrate of this fit; returns (n, m) labels. The split at a node
        does not depend on the limit, so a larger limit only stops the tree earlier. Needs pruning="none"."""
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
        if limits.min() < self.epsilon:
            raise ConfigError(
                f"the tree was grown with max_misrate {self.epsilon:g} and knows no smaller value. "
                f"Got {limits.min():g}; fit with the smallest value of the path."
            )
        order = np.argsort(limits, kind="stable")
        return np.ascontiguousarray(limits[order]), order

    def _rows_and_leaves(self, X: ArrayLike) -> tuple[Array, NDArray[np.int32]]:
        check_is_fitted(self)
        if not self.levels_ and self.missing_ == REFUSE:
            rows = self._numbers(X, False)
            leaves = self.tree_.apply_finite(rows, threads_of(self))
            if leaves is not None:
                return rows, leaves  # X was read only once
        return super()._rows_and_leaves(X)

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
        if self.engine == "native" and self._in_python():
            raise ConfigError(f"engine 'native' of {owner} does not have {self._in_python()}; set engine to 'auto'.")
        return proposer

    def _grow(self, training: Training, proposer: Proposer, draws: Draws) -> Tree:
        total = training.total / training.unit
        as_grown = self.misrate_of == "node" and not self.min_impurity_decrease
        limits = Stopping(self._parent_limit(total), self.epsilon, self.max_depth, self.max_leaf_nodes)
        tree = grow_top_down(
            training.X,
            training.codes,
            len(self.classes_),
            proposer,
            weights=training.weights,
            criterion=self.criterion,
            stopping=limits if as_grown else replace(limits, epsilon=0.0, max_leaf_nodes=None),
            min_leaf=max(rows_of(self.min_samples_leaf, total), self.min_weight_fraction_leaf * total),
            ties=self.ties,
            engine=self.engine,
            seed=draws.tree_seed(proposer),
            levels=self._level_counts(),
            missing=self._gaps == LEARN,
            finish=Finish(self.polish, self.split_cost, self.max_terms),
            n_threads=threads_of(self),
            max_features=None if self.max_features is None else self.max_features_,
            zero_gain=self.min_impurity_decrease == 0.0,
            signs=self._signs(),
        )
        if self.criterion == "entropy":
            tree = tree.changed(criterion=self.criterion)
        # Splits do not depend on the limits, so the tree may be cut afterwards.
        return tree if as_grown else self._cut(tree)

    def _parent_limit(self, total: float) -> float:
        """Return the weight above which a node may be split. total : weight of all rows, in units of the smallest"""
        if self.min_samples_split is None:
            return self.min_parent
        least = self.min_samples_split
        least = least if isinstance(least, numbers.Integral) else max(2, math.ceil(least * total))
        return float(np.nextafter(least, 0.0))

    def _cut(self, tree: Tree) -> Tree:
        """Return a tree grown without the limits of errors, leaves and decreases, cut as these require."""
        weights = tree.weighted_n_node_samples
        small = tree.gains * weights / weights[0] + np.finfo(np.float64).eps < (self.min_impurity_decrease or 0.0)
        tree = tree.collapse((self._rates(tree) <= self.epsilon) | small)
        if self.max_leaf_nodes is None:
            return tree
        worths = tree.gains * tree.counts.sum(axis=1)
        return best_first(tree, worths, self.max_leaf_nodes, 0.0 if self.ties == "strict" else EQUAL)

    def _rule(self) -> PruningRule:
        """Return the pruning rule that `pruning` is or names, with the estimator's parameters of the rule."""
        if isinstance(self.pruning, PruningRule):
            for name in RuleParameters.parameters:
                if getattr(self, name) != self.parameters[name].default:
                    raise ConfigError(
                        f"{name}={getattr(self, name)!r} has no effect beside pruning={self.pruning!r}, an instance "
                        "that has its own parameters; give the value to the instance, or name the rule instead."
                    )
            return self.pruning
        rule = PRUNINGS[str(self.pruning)]
        if rule.as_grown and self.ccp_alpha > 0.0:
            rule = PRUNINGS["ccp_alpha"]
        return rule(**{name: getattr(self, name) for name in rule.constraints if name in RuleParameters.parameters})

    def _folds(
        self, rows: Training, number: int, proposer: Proposer, draws: Draws
    ) -> Iterator[tuple[Tree, LabeledRows]]:
        """Yield the trees of the folds, each grown without one fold, and the rows of that fold."""
        for part, left_out in rows.folds(number, int(draws.rng.integers(2**31))):
            yield self._grow(part, proposer, draws), left_out

    def _pruned(self, growing: Training, held_out: Training, proposer: Proposer, draws: Draws) -> Grown:
        """Return a tree grown on `growing` and pruned. held_out : rows for pruning"""
        rule, grown_folds = self._rule(), []
        start = self._grow(growing, proposer, draws)

        def folds(number: int) -> Iterator[tuple[Tree, LabeledRows]]:
            for fold in self._folds(growing, number, proposer, draws):
                if self.path:
                    grown_folds.append(fold)
                yield fold

        rows = {TRAINING_ROWS: CrossValidation(growing, folds), KEPT_ROWS: held_out, NO_ROWS: None}[rule.rows]
        tree = start if rule.rows == KEPT_ROWS and not len(held_out.X) else pruned(rule, start, rows)
        return Grown(tree, start, grown_folds)

    def _finished(self, tree: Tree, growing: Training, draws: Draws, grow: Callable[[Training, Draws], Tree]) -> Tree:
        """Return the tree of rows `growing` with probabilities and leaf models. grow : grows a tree on other rows"""

        def folds() -> Iterator[tuple[Tree, Training, Training]]:
            for part, left_out, fold_draws in draws.folds(growing, INNER_FOLDS, "probability"):
                yield grow(part, fold_draws), part, left_out

        n, rule = len(growing.X), self.probabilities
        if rule == DIRICHLET and self.leaf_models != NO_MODELS:
            rule = COUNTS  # the models start from shares that are never 0
        if rule != COUNTS:
            strength = strength_of(rule, self.probability_strength)
            if isinstance(strength, str):
                parts = ((part, *left_out) for part, _, left_out in folds())
                strength = 1.0 if n < 2 else best_strength(rule, parts)
            self.probability_strength_ = float(strength)
            tree = self._smoothed(tree)
        if self.leaf_models == NO_MODELS:
            return tree
        penalty = self.leaf_penalty
        if isinstance(penalty, str):
            smoothed = (
                (with_probabilities(part, rule, getattr(self, "probability_strength_", 1.0)), on, out)
                for part, on, out in folds()
            )
            penalty = PENALTIES[0] if n < 2 else best_penalty(smoothed)
        self.leaf_penalty_ = float(penalty)
        return tree.with_leaf_models(fitted_models(tree, *growing, self.leaf_penalty_))


reserve(ObliqueTreeClassifier.parameters)


class Grown(NamedTuple):
    """Pruned or refined tree, the tree before pruning, and for a path trees of folds with their held-out rows."""

    tree: Tree
    start: Tree
    folds: list[tuple[Tree, LabeledRows]]
    refinement: Refined | None = None


class Start(NamedTuple):
    """Start of refinement: an estimator, with the classes and levels of the fit, its heuristic and its rows for
    pruning, or a complete random tree of a given depth."""

    estimator: ObliqueTreeClassifier | None
    proposer: Proposer | None = None
    held_out: Training | None = None
    depth: int = 0

    def tree(self, rows: Training, space: PlaneSpace, draws: Draws, missing: bool) -> Tree:
        """Return a tree grown on `rows`. missing : whether it accepts missing values"""
        if self.estimator is None or self.proposer is None:
            rng = seeds.generator(draws.seed, "random tree", self.depth)
            return random_tree(space, self.depth, rng, missing)
        held_out = rows.part(np.empty(0, dtype=np.intp)) if self.held_out is None else self.held_out
        # Random numbers of a start do not depend on the other starts.
        return self.estimator._pruned(rows, held_out, self.proposer, draws._replace(numbers=itertools.count())).tree


def no_native(owner: str) -> str:
    """Return the error message for native growth of a heuristic without a native family."""
    return f"{owner} has no native growth; set engine to 'auto' or 'reference'."
