"""Columns of a table in the form of trees: levels as codes, missing values refused, filled or learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import _check_y

from oblique_cli.estimators.categorical import as_frame, coded, learned, qualitative_columns
from oblique_cli.estimators.checked_rows import checked
from oblique_cli.estimators.missing_values import AUTO, IMPUTE, LEARN, REFUSE, has_gaps, refuse_missing
from oblique_cli.estimators.monotonic import NAME as ORDER
from oblique_cli.ground.arrays import Array
from oblique_cli.tree.structure import Tree


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
