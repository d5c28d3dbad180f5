"""Conformal prediction sets and intervals for any scikit-learn estimator, as in `oblique fit --coverage`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from oblique_cli.errors import ConfigError, quoted
from oblique_cli.estimators import conformal_limits as limits
from oblique_cli.estimators.categorical import as_frame, is_frame
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.row_groups import Groups, checked_groups, parts_of, share_of
from oblique_cli.parameters import Declared, parameter

HELD_OUT = 0.25  # share of the rows that "split" holds out for the limits


class _Conformal(Declared, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Common base: parameters, fits, held-out rows, limits."""

    estimator: Any = parameter(default=None, help="Unfitted: a classifier with `predict_proba`, or a regressor.")
    coverage: float = parameter(default=0.9, help="Share of new rows whose truth is to be inside.")
    guarantee: str | None = parameter(default=None)
    calibration: str = parameter(
        default=limits.CROSS,
        help='"cross": limits by `folds` folds, with the estimator fitted to all rows. "split": limits by a quarter of '
        "the rows, which the estimator does not see.",
    )
    folds: int = parameter(default=10, help='Folds of "cross".')
    random_state: int | None = parameter(default=None, help="Draws the divisions of the rows.")

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of `fit`'s parameters other than X and y: groups, and those requested by the estimator."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def _fitted(self, X: Array, y: NDArray[Any], truth: NDArray[Any], groups: ArrayLike | None) -> None:
        """Fit the estimator and set the guarantee. truth : (n,) codes of the labels y, or the numbers y"""
        name = limits.checked(self.guarantee or "", self.coverage, isinstance(self, RegressorMixin))
        if self.calibration not in (limits.CROSS, limits.SPLIT):
            raise ConfigError(f"calibration must be 'cross' or 'split'. Got {quoted(self.calibration)}.")
        together = checked_groups(groups, len(y), type(self).__name__)
        # The estimator gets groups by its request under metadata routing, else if its `fit` takes any.
        if together is not None and get_config()["enable_metadata_routing"]:
            passed_on = "groups" in process_routing(self, "fit", groups=groups).estimator.fit
        else:
            passed_on = together is not None and has_fit_parameter(self.estimator, "groups")

        def fitted(rows: NDArray[np.intp]) -> Any:
            options = {"groups": np.asarray(groups)[rows]} if passed_on else {}
            return clone(self.estimator).fit(_safe_indexing(X, rows), y[rows], **options)

        parts = list(self._divided(X, y, truth, together))
        whole = self.calibration == limits.CROSS
        train = np.arange(len(X)) if whole else parts[0][0]
        self.estimator_ = fitted(train)
        self.n_features_in_ = X.shape[1]
        spreads = self._spreads(name, self.estimator_, _safe_indexing(X, train), y[train])
        held = []
        for learned, tested in parts:
            seen, new = _safe_indexing(X, learned), _safe_indexing(X, tested)
            other = fitted(learned) if whole else self.estimator_
            of_part = self._spreads(name, other, seen, y[learned]) if whole else spreads
            leaves = self._leaves(name, other, new)
            spread = None if of_part is None else limits.spread_at(of_part, leaves)
            whose = None if together is None else together[tested]
            held.append(limits.Held(self._answers(other, new), truth[tested], leaves, spread, whose))
        rows = np.concatenate([tested for _, tested in parts])
        self.guarantee_ = limits.guarantee_of(
            name,
            self.coverage,
            self.calibration,
            limits.Held.joined(held, self._leaves(name, self.estimator_, _safe_indexing(X, rows))),
            spreads,
            [str(label) for label in getattr(self, "classes_", ())],
        )

    def _divided(self, X: Array, y: NDArray[Any], truth: NDArray[Any], groups: Groups | None) -> Any:
        """Return rows to fit and rows for the limits, of every division."""
        classes = isinstance(self, ClassifierMixin)
        if groups is not None:
            rng = check_random_state(self.random_state)
            strata = truth if classes else None
            split = self.calibration == limits.SPLIT
            parts = [share_of(groups, HELD_OUT, rng, strata)] if split else parts_of(groups, self.folds, rng, strata)
            return [(np.setdiff1d(np.arange(len(y)), part), part) for part in parts]
        if self.calibration == limits.SPLIT:
            splitter = (StratifiedShuffleSplit if classes else ShuffleSplit)(
                1, test_size=HELD_OUT, random_state=self.random_state
            )
        else:
            splitter = (StratifiedKFold if classes else KFold)(self.folds, shuffle=True, random_state=self.random_state)
        return splitter.split(X, y)

    def _spreads(self, name: str, estimator: Any, X: Array, y: NDArray[Any]) -> Any:
        if isinstance(self, ClassifierMixin) or name == limits.ABSOLUTE:
            return None
        return limits.spreads_of(name, self.coverage, y - estimator.predict(X), self._leaves(name, estimator, X))

    def _leaves(self, name: str, estimator: Any, X: Array) -> Any:
        if name not in limits.LEAFWISE:
            return None
        leaves = np.asarray(estimator.apply(X)) if hasattr(estimator, "apply") else np.zeros((1, 2))
        if leaves.ndim > 1:
            raise ConfigError(f"guarantee {quoted(name)} goes by the leaf of a row, and needs one tree with `apply`.")
        return leaves

    def _answers_and_leaves(self, X: ArrayLike) -> tuple[Array, Any]:
        check_is_fitted(self)
        rows = _whole(X)
        return self._answers(self.estimator_, rows), self._leaves(self.guarantee_.name, self.estimator_, rows)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the predictions of the estimator, (n,)."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(X))


def _whole(X: Any) -> Any:
    """Return rows for the estimator: a data frame keeps its texts and names."""
    X = as_frame(X)
    return X if is_frame(X) else np.asarray(X)


class ConformalClassifier(ClassifierMixin, _Conformal):  # type: ignore[misc, unused-ignore]
    """A classifier with sets of classes that contain the true class for a given share of new rows.

    Attributes
    ----------
    estimator_ : the fitted estimator
    classes_ : (C,) labels
    guarantee_ : `Guarantee`, with the limits"""

    guarantee: str | None = parameter(default=None, help='"lac", "aps", "class" or "leaf"; None is "lac".')

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> ConformalClassifier:
        """Fit the estimator and compute the limits. X : (n, p); y : (n,) labels. ConfigError for too few rows.

        groups : (n,) group of each row; divisions keep groups together; an estimator that takes groups gets them"""
        labels = np.asarray(y)
        self.classes_ = np.unique(labels)
        self._fitted(_whole(X), labels, np.searchsorted(self.classes_, labels), groups)
        return self

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the class probabilities of the estimator, (n, C)."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))

    def predict_set(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Return which classes are in the set of each row, (n, C), in the order of `classes_`."""
        return self.guarantee_.sets(*self._answers_and_leaves(X))

    def _answers(self, estimator: Any, X: Array) -> Array:
        shares = np.zeros((len(X), len(self.classes_)))
        shares[:, np.searchsorted(self.classes_, estimator.classes_)] = estimator.predict_proba(X)
        return shares


class ConformalRegressor(RegressorMixin, _Conformal):  # type: ignore[misc, unused-ignore]
    """A regressor with intervals that contain the true number for a given share of new rows.

    Attributes
    ----------
    estimator_ : the fitted estimator
    guarantee_ : `Guarantee`, with the limits"""

    guarantee: str | None = parameter(
        default=None,
        help='"absolute", "normalized" or "quantile"; None is "absolute". The last two go by the leaf of a row and '
        "need one tree.",
    )

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> ConformalRegressor:
        """Fit the estimator and compute the limits. X : (n, p); y : (n,) numbers. ConfigError for too few rows.

        groups : as of `ConformalClassifier`"""
        targets = np.asarray(y, np.float64)
        if targets.ndim > 1 and targets.shape[1] > 1:
            raise ConfigError(
                f"y of {type(self).__name__} must be one output. Got {targets.shape[1]} columns; fit one to each."
            )
        self._fitted(_whole(X), targets, targets, groups)
        return self

    def predict_interval(self, X: ArrayLike) -> Array:
        """Return the ends of the interval of each row, (n, 2)."""
        return self.guarantee_.intervals(*self._answers_and_leaves(X))

    def _answers(self, estimator: Any, X: Array) -> Array:
        return np.asarray(estimator.predict(X), np.float64)
