"""Forests on data frames with words and missing values: a `ColumnEncoder` (`encoding.py`) encodes rows for the trees.

`fit` learns it from a data frame with a word or a missing value. Arrays and numeric frames are not encoded."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.categorical import as_frame, cells_of, columns_of_words, is_frame, words_of
from oblique_cli.estimators.checked_rows import checked, classes_and_codes, refuse_times, some_positive
from oblique_cli.estimators.encoding import ColumnEncoder
from oblique_cli.estimators.monotonic import NAME as ORDER
from oblique_cli.estimators.monotonic import signs_by_column
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.row_groups import Groups, checked_groups


@dataclass(frozen=True, eq=False)
class FrameEncoding:
    """Encoding of the columns of a data frame for trees. levels : position of each text column -> levels"""

    names: tuple[str, ...]
    levels: Mapping[int, tuple[str, ...]]
    encoder: ColumnEncoder

    @classmethod
    def learned(cls, X: Any, sample_weight: ArrayLike | None, owner: str) -> FrameEncoding:
        """Return the encoding learned from the rows of a data frame with positive weight."""
        weights = None
        if sample_weight is not None:
            weights, useful = some_positive(sample_weight, X)
            if not useful.all():
                X, weights = X.iloc[np.flatnonzero(useful)], weights[useful]
        levels = words_of(X, columns_of_words(X, owner), owner)
        encoder = ColumnEncoder.learned(
            cells_of(X, levels, owner), tuple(levels), fill=True, indicators=bool(levels), weights=weights
        )
        named = all(isinstance(name, str) for name in X.columns)
        names = X.columns if named else (f"x{j + 1}" for j in range(X.shape[1]))
        return cls(tuple(names), levels, encoder)

    def transform(self, X: Any, owner: str = "the encoding") -> Array:
        """Return encoded rows. X : (n, p) a data frame, or an array of its columns; returns (n, m)."""
        return self.encoder.transform(cells_of(X, self.levels, owner))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return names of encoded columns, (m,): "age", "color=red". input_features : (p,) replaces the frame's"""
        names = self.names if input_features is None else [str(name) for name in input_features]
        if len(names) != len(self.names):
            raise ConfigError(f"input_features must be {len(self.names)} names. Got {len(names)}.")
        out = np.empty(self.encoder.n_encoded, dtype=object)
        out[:] = self.encoder.names(names, self.levels)[0]
        return out

    def by_column(self, values: Array) -> Array:
        """Return values of the encoded columns, summed over each column of the frame, (..., p). values : (..., m)"""
        out = np.zeros((len(self.names), *values.shape[:-1]))
        np.add.at(out, self.encoder.sources, np.moveaxis(values, -1, 0))
        return np.moveaxis(out, 0, -1)


class TakesFrames:
    """Mixin for frames with words and missing values in estimators of numeric trees. encoding_ : None if unused"""

    n_features_in_: int
    encoding_: FrameEncoding | None = None

    def _training(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        check: Callable[..., Any] = checked,
        *,
        again: bool = False,
        **options: Any,
    ) -> tuple[Array, NDArray[Any]]:
        """Return checked, encoded rows, (n, m), and y; learn the encoding unless it stays (`again`)."""
        owner, encoding, X = type(self).__name__, self.encoding_ if again else None, as_frame(X)
        if encoding is None and not again:
            refuse_times(X, owner)
        types: Any = getattr(X, "dtypes", ())
        may_be_encoded = is_frame(X) and all(getattr(dtype, "kind", "O") != "c" for dtype in types)
        if encoding is None and (again or not may_be_encoded):
            rows_and_y = self._as_they_are(X, y, check=check, **options, **({"reset": False} if again else {}))
        elif encoding is None and not columns_of_words(X, owner):
            try:
                rows_and_y = check(self, X, y, **options)
            except (TypeError, ValueError):
                if not np.isnan(cells_of(X, {}, owner)).any():
                    raise
                encoding = FrameEncoding.learned(X, sample_weight, owner)
        else:
            encoding = encoding or FrameEncoding.learned(X, sample_weight, owner)
        if encoding is not None:
            # The copy has the number of encoded columns.
            rows_and_y = check(copy.copy(self), self._encoded(X, encoding, reset=not again), y, **options)
        self.__dict__.pop("encoding_", None)
        if encoding is not None:
            self.encoding_ = encoding
        rows, answers = rows_and_y
        return rows, answers

    def _class_rows(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        measured: Callable[[Array], Array],
        groups: ArrayLike | None = None,
        again: bool = False,
    ) -> tuple[NDArray[Any], Array, NDArray[np.int32], Array | None, Groups | None]:
        """Return the classes, and for rows of positive weight the encoded rows, class codes, weights and groups.
        measured : positive weights -> weights in the trees' form; again : as in `_training`"""
        rows, labels = self._training(
            X, y, sample_weight, again=again, dtype=np.float64, order="C", ensure_min_samples=1
        )
        check_classification_targets(labels)
        classes, codes = classes_and_codes(labels)
        together = checked_groups(groups, len(rows), type(self).__name__)
        if sample_weight is None:
            return classes, rows, codes, None, together
        weights, useful = some_positive(sample_weight, rows)
        together = None if together is None else together[useful]
        return classes, np.ascontiguousarray(rows[useful]), codes[useful], measured(weights[useful]), together

    def _rows(self, X: ArrayLike) -> Array:
        """Return checked, encoded rows for prediction, (n, m)."""
        check_is_fitted(self)
        if self.encoding_ is None:
            return np.asarray(self._as_they_are(X, dtype=np.float64, order="C", reset=False))
        encoded = self._encoded(X, self.encoding_, reset=False)
        return np.asarray(check_array(encoded, order="C", estimator=self, input_name="X"))

    def _encoded(self, X: ArrayLike, encoding: FrameEncoding, reset: bool) -> Array:
        """Return encoded rows, (n, m), not checked. reset : whether X defines the expected columns from now on"""
        owner, X = type(self).__name__, as_frame(X)
        refuse_times(X, owner)
        if not is_frame(X):
            dtype = None if hasattr(X, "dtype") else object  # NumPy would turn numbers next to texts into texts
            X = check_array(X, dtype=dtype, ensure_all_finite=False, estimator=self, input_name="X")
        checked(self, X, skip_check_array=True, reset=reset)  # number and names of the columns
        return encoding.transform(X, owner)

    def _as_they_are(self, X: ArrayLike, *y: ArrayLike, check: Callable[..., Any] = checked, **options: Any) -> Any:
        """Return the result of `check` for rows without an encoding."""
        try:
            return check(self, X, *y, **options)
        except ValueError as error:
            if is_frame(X) and "X contains NaN" in str(error):
                gaps = X.isna().sum(axis=0).to_numpy()  # type: ignore[union-attr]
                j = int(np.flatnonzero(gaps)[0])
                values = "a missing value" if gaps[j] == 1 else f"{gaps[j]} missing values"
                name = X.columns[j]  # type: ignore[union-attr]
                raise ConfigError(
                    f"column {name!r} has {values} (NaN), and the rows of fit had none, so {type(self).__name__} has "
                    "learned nothing to put there; fill them, or fit on a data frame with gaps."
                ) from error
            raise

    @property
    def _n_seen(self) -> int:
        return self.n_features_in_ if self.encoding_ is None else self.encoding_.encoder.n_encoded

    @property
    def _levels(self) -> Mapping[int, tuple[str, ...]]:
        return {} if self.encoding_ is None else self.encoding_.levels

    def _by_column(self, values: Array) -> Array:
        """Return values of the encoded columns, (..., m), summed over each column of X, (..., p)."""
        return values if self.encoding_ is None else self.encoding_.by_column(values)

    def _seen(self, of_columns: NDArray[Any] | None) -> NDArray[Any] | None:
        """Return values of the columns of X, (p,), repeated for the encoded columns, (m,)."""
        if of_columns is None or self.encoding_ is None:
            return of_columns
        return np.ascontiguousarray(of_columns[self.encoding_.encoder.sources])

    @property
    def feature_importances_(self) -> Array:
        """Importances as in `TreeKind`, (p,); those of the indicators of a text column are summed."""
        return self._by_column(super().feature_importances_)  # type: ignore[misc]

    def _feature_names(self, feature_names: Any) -> list[str]:
        """Return names of the encoded columns. feature_names : (p,) names of the columns of X, or None"""
        names: list[str] = super()._feature_names(feature_names)  # type: ignore[misc]
        return names if self.encoding_ is None else list(self.encoding_.get_feature_names_out(names))

    def of_numbers(self) -> Self:
        """Return the fitted estimator without its encoding, for rows from `encoding_.transform`."""
        plain = copy.copy(self)
        if self.encoding_ is not None and getattr(self, ORDER, None) is not None:
            names = list(getattr(self, "feature_names_in_", ()))
            signs = self._seen(signs_by_column(getattr(self, ORDER), names, self.n_features_in_, type(self).__name__))
            setattr(plain, ORDER, {j: int(sign) for j, sign in enumerate(signs) if sign})  # type: ignore[arg-type]
        for name in ("encoding_", "feature_names_in_"):
            plain.__dict__.pop(name, None)
        plain.n_features_in_ = self._n_seen
        return plain
