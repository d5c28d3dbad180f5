"""Rows of a fit: columns in the form of trees, rows for growth and pruning, their folds, and random numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight, _check_y

from oblique_cli.errors import ConfigError, cut_list
from oblique_cli.estimators.categorical import as_frame, coded, learned, qualitative_columns
from oblique_cli.estimators.checked_rows import checked, refuse_negative
from oblique_cli.estimators.missing_values import AUTO, IMPUTE, LEARN, REFUSE, has_gaps, refuse_missing
from oblique_cli.estimators.monotonic import NAME as ORDER
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array, Rows
from oblique_cli.ground.magnitudes import comparable, product
from oblique_cli.ground.row_groups import Groups, parts_of, share_of
from oblique_cli.tree.pruning import LabeledRows
from oblique_cli.tree.splitting import Proposer
from oblique_cli.tree.structure import Tree


class Training(LabeledRows):
    """Rows for growth or pruning."""

    @classmethod
    def of(cls, X: Array, codes: NDArray[Any], weights: Array | None, groups: Groups | None) -> Training:
        """Return rows with their groups. Groups are not a field, which would change how plugins unpack rows."""
        made = cls(X, codes, weights)
        made.__dict__["groups"] = groups
        return made

    @property
    def groups(self) -> Groups | None:
        """Codes of groups of dependent rows, (n,); None for independent rows."""
        return self.__dict__.get("groups")

    @property
    def unit(self) -> float:
        """Smallest weight."""
        return 1.0 if self.weights is None else float(self.weights.min())

    def part(self, rows: Rows) -> Training:
        """Return some of the rows, by ascending row numbers."""
        if len(rows) == len(self.X):
            return self
        weights = None if self.weights is None else self.weights[rows]
        return Training.of(self.X[rows], self.codes[rows], weights, None if self.groups is None else self.groups[rows])

    def folds(self, number: int, seed: int) -> Iterator[tuple[Training, Training]]:
        """Yield the training rows and the test rows of each fold."""
        for grow_on, test_on in shuffled_folds(len(self.X), number, seed, self.groups):
            yield self.part(grow_on), self.part(test_on)


class Draws(NamedTuple):
    """Random numbers of a fit.

    rng : for pruning rows and folds; numbers : of trees, those of folds after the tree's"""

    seed: int
    rng: np.random.Generator
    numbers: Iterator[int]

    @classmethod
    def of(cls, seed: int) -> Draws:
        """Return the draws of a fit with this seed."""
        return cls(seed, np.random.default_rng(seed), itertools.count())

    def tree_seed(self, proposer: Proposer) -> int:
        """Return the seed of the next tree."""
        number = next(self.numbers)
        return int(self.rng.integers(2**63)) if proposer.draws_tree_seed else seeds.integer(self.seed, "tree", number)

    def folds(self, rows: Training, number: int, purpose: str) -> Iterator[tuple[Training, Training, Draws]]:
        """Yield the training and test rows of each fold (leave-one-out if rows are few), and the draws of its fits."""
        divided = rows.folds(min(number, len(rows.X)), seeds.integer(self.seed, f"{purpose} folds"))
        for i, (part, left_out) in enumerate(divided):
            yield part, left_out, Draws.of(seeds.integer(self.seed, f"{purpose} fold", i))


def weights_of(rows: Array, labels: NDArray[Any], sample_weight: Any, class_weight: Any, owner: str) -> Array | None:
    """Return checked weights of rows (n, p), those of their classes included; None if there are none."""
    weights = None if sample_weight is None else _check_sample_weight(sample_weight, rows, dtype=np.float64)
    if weights is not None:
        refuse_negative(weights)
    if class_weight is None:
        return None if weights is None else comparable(weights, f"sample_weight of {owner}")
    try:
        of_class = compute_sample_weight(class_weight, labels)
    except ValueError as error:
        classes = np.unique(labels).tolist()
        unknown = next((label for label in class_weight if label not in classes), None)
        raise ConfigError(
            f"class_weight of {owner} does not fit y: {unknown!r} is not in y, whose classes are "
            f"{cut_list([repr(label) for label in classes])}."
        ) from error
    if weights is None:
        return comparable(of_class, f"class_weight of {owner}")
    return product(weights, of_class, f"sample_weight times class_weight of {owner}")


def divided(
    n: int, useful: Rows, pruning_rows: ArrayLike | None, fraction: float, groups: Groups | None, rng: Any
) -> tuple[Rows, Rows]:
    """Return the row numbers for growth and for pruning, out of the `useful` ones among n.
    pruning_rows : the latter, None to draw a `fraction`; ConfigError if none are left for growth"""
    if pruning_rows is not None:
        prune_on = np.asarray(pruning_rows)
        whole = prune_on.ndim == 1 and (prune_on.dtype.kind in "iu" or len(prune_on) == 0)
        if not whole or (len(prune_on) and not 0 <= prune_on.min() <= prune_on.max() < n):
            raise ConfigError(f"pruning_rows must be row numbers from 0 to {n - 1}. Got {pruning_rows!r}.")
        prune_on = prune_on.astype(np.intp)
    elif len(useful) < 2:
        prune_on = useful[:0]
    elif groups is not None:
        prune_on = useful[share_of(groups[useful], fraction, rng)]
    else:
        size = min(max(round(fraction * len(useful)), 1), len(useful) - 1)
        prune_on = rng.choice(useful, size=size, replace=False)
    prunes = np.isin(useful, prune_on)
    if prunes.all():
        raise ConfigError("pruning_rows must leave rows to grow the tree on. They cover all rows.")
    return useful[~prunes], useful[prunes]


def shuffled_folds(n: int, folds: int, seed: int, groups: Groups | None = None) -> Iterator[tuple[Rows, Rows]]:
    """Yield the training and test rows, ascending, of each fold of n shuffled rows, as `KFold(folds, shuffle=True,
    random_state=seed)` does; its module takes longer to load than most trees take to grow.
    groups : (n,) of dependent rows, which may give fewer folds; None for independent rows"""
    order = np.arange(n)
    rng = check_random_state(seed)
    if groups is None:
        rng.shuffle(order)
    for test_on in np.array_split(order, folds) if groups is None else parts_of(groups, folds, rng):
        tested = np.zeros(n, dtype=np.bool_)
        tested[test_on] = True
        yield np.flatnonzero(~tested), np.flatnonzero(tested)


class CodedRows:
    """Rows in the form of trees with the parameters of `Columns`. levels_ : position of a column -> its levels"""

    qualitative: Any
    missing: str
    max_levels: int
    tree_: Tree
    n_features_in_: int
    levels_: Any
    fill_values_: Array  # for a fit that fills missing values
    _gaps: str  # treatment of NaN in the rows of the fit

    def _training_rows(self, X: ArrayLike, y: ArrayLike, single: bool = False) -> tuple[Array, NDArray[Any]]:
        """Return checked rows, levels as codes, and labels; learn the levels.
        single : whether complete rows may be in single precision"""
        owner, X = type(self).__name__, as_frame(X)
        columns = qualitative_columns(X, self.qualitative, owner)
        self.levels_ = {}
        for learned_before in ("fill_values_", "path_", "refinement_", "probability_strength_", "leaf_penalty_"):
            self.__dict__.pop(learned_before, None)  # remove results of a fit with other parameters
        self._gaps = self.missing
        if self.missing == AUTO:
            learns = getattr(self, ORDER) is None and has_gaps(X, columns)
            self._gaps = LEARN if learns else REFUSE
        if not columns:
            dtype = (np.float64, np.float32) if single and self._gaps == REFUSE else np.float64
            rows, labels = checked(
                self, X, y, dtype=dtype, order="C", ensure_min_samples=1, ensure_all_finite="allow-nan"
            )
            self._check_missing(rows, self._gaps)
            return rows, labels
        checked(self, X, skip_check_array=True)  # number and names of the columns
        self.levels_ = learned(X, columns, self.max_levels, owner)
        rows = self._coded(X, self._gaps)
        labels = _check_y(y, estimator=self)
        check_consistent_length(rows, labels)
        return rows, labels

    @property
    def missing_(self) -> str:
        """Treatment of NaN in rows to predict, by the attributes of the fit."""
        if hasattr(self, "fill_values_"):
            return IMPUTE
        return REFUSE if self.tree_.missing_left is None else LEARN

    def _rows(self, X: ArrayLike) -> Array:
        """Return checked rows to predict, levels as codes."""
        gaps, X = self.missing_, as_frame(X)
        if self.levels_:
            checked(self, X, skip_check_array=True, reset=False)
            return self._filled(self._coded(X, gaps))
        rows = self._numbers(X, "allow-nan")
        self._check_missing(rows, gaps)
        return self._filled(rows)

    def _numbers(self, X: ArrayLike, finite: Any) -> Array:
        """Return rows without levels. Single precision is exact in double precision, so such rows are not copied."""
        rows: Array = checked(self, X, dtype=(np.float64, np.float32), order="C", reset=False, ensure_all_finite=finite)
        return rows

    def _coded(self, X: ArrayLike, gaps: str) -> Array:
        rows = coded(X, self.levels_)
        numbers, finite = rows[:, self._quantitative(rows)], "allow-nan"
        check_array(numbers, ensure_min_features=0, ensure_all_finite=finite, estimator=self, input_name="X")
        self._check_missing(rows, gaps)
        return rows

    def _quantitative(self, rows: Array) -> list[int]:
        return [j for j in range(rows.shape[1]) if j not in self.levels_]

    def _check_missing(self, rows: Array, gaps: str) -> None:
        if gaps == REFUSE:
            refuse_missing(rows, self._quantitative(rows), self, "set missing to 'learn' or 'impute', or fill them")

    def _filled(self, rows: Array) -> Array:
        """Return rows with NaN replaced by the medians, if the fit has them; codes of levels are never NaN."""
        return np.where(np.isnan(rows), self.fill_values_, rows) if hasattr(self, "fill_values_") else rows

    def _level_counts(self) -> list[int] | None:
        """Return the number of levels of each column, 0 for a quantitative one; None without qualitative columns."""
        return [len(self.levels_.get(j, ())) for j in range(self.n_features_in_)] if self.levels_ else None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = self.missing in (IMPUTE, LEARN)
        return tags
