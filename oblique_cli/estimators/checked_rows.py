"""Checks of rows from users by scikit-learn, with our error message if scikit-learn's message names no column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_sample_weight, column_or_1d, validate_data

from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.categorical import as_frame, becomes_number
from oblique_cli.estimators.missing_values import all_finite
from oblique_cli.ground.magnitudes import refuse_extreme

LARGEST = 1e140  # sums of squares of larger targets overflow, those of targets below its inverse underflow
TIMES = {"M": ("dates", "days since a first date"), "m": ("durations", "seconds")}


def refuse_negative(weights: NDArray[np.float64]) -> None:
    """Raise ConfigError for a negative weight. weights : (n,)"""
    if (weights < 0).any():
        raise ConfigError(f"sample_weight must not be negative. Got {weights.min():g}; remove such rows.")


def some_positive(sample_weight: ArrayLike, rows: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return sample weights (n,) and a mask of the positive ones; ConfigError if one is negative or none positive."""
    weights = _check_sample_weight(sample_weight, rows, dtype=np.float64)
    refuse_negative(weights)
    useful = weights > 0
    if not useful.any():
        raise ConfigError("sample_weight must have a positive entry. All are 0.")
    return weights, useful


def checked(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Return what scikit-learn's `validate_data` returns; ConfigError for dates, words or complex numbers in X."""
    if not y and _is_plain(estimator, X, **options):
        return X
    X = as_frame(X)
    refuse_times(X, type(estimator).__name__)
    try:
        with np.errstate(invalid="ignore", over="ignore"):  # scikit-learn sums all numbers to detect non-finite ones
            return validate_data(estimator, X, *y, **options)
    except ValueError as error:
        if "could not convert string to float" in str(error) and (word := _first_word(X)):
            levels = "qualitative" in estimator.get_params(deep=False)
            remedy = "name the column in qualitative" if levels else "encode them, as by OneHotEncoder of scikit-learn"
            if hasattr(estimator, "encoding_") and not hasattr(X, "columns"):
                remedy = "give the rows as a data frame, whose words are encoded"
            raise ConfigError(
                f"{word[0]} holds words such as {word[1]!r}, and {type(estimator).__name__} takes numbers; {remedy}."
            ) from error
        if str(error).startswith("Complex data not supported"):
            raise ConfigError(
                f"Complex data not supported: {type(estimator).__name__} takes real numbers. Take real and imaginary "
                "parts as two columns each."
            ) from error
        raise


def _is_plain(
    estimator: Any,
    X: Any,
    *,
    dtype: Any = None,
    reset: bool = True,
    order: str | None = None,
    ensure_all_finite: Any = True,
    **others: Any,
) -> bool:
    """Return whether rows to predict need no check: arrays of the fitted width without feature names."""
    if type(X) is not np.ndarray or X.ndim != 2 or reset or others or hasattr(estimator, "feature_names_in_"):
        return False
    wanted = dtype if isinstance(dtype, tuple) else (dtype,)
    fits = X.dtype in wanted and (order is None or X.flags.c_contiguous)
    known = len(X) > 0 and X.shape[1] == getattr(estimator, "n_features_in_", None)
    return fits and known and (ensure_all_finite is False or all_finite(X))


def checked_numbers(
    estimator: Any, X: Any, y: Any, *, several: bool = False, column_warns: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return rows (n, p) and their targets (n,), or (n, k) if `several`; DataError for extreme numbers.
    column_warns : whether to warn of y as a single column, as scikit-learn's forests do and its trees do not"""
    owner = type(estimator).__name__
    if several and hasattr(y, "toarray"):
        raise ConfigError(f"y of {owner} must be a plain array. Got a sparse one; turn it into one by y.toarray().")
    rows, targets = checked(
        estimator, X, y, dtype=np.float64, order="C", y_numeric=True, multi_output=several, ensure_min_samples=1
    )
    targets = np.ascontiguousarray(targets, dtype=np.float64)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = column_or_1d(targets, warn=column_warns)
    refuse_extreme(rows, owner)
    if (size := np.abs(targets).max()) > LARGEST or 0.0 < size < 1.0 / LARGEST:
        raise DataError(
            f"the largest number in y of {owner} must be from {1.0 / LARGEST:g} to {LARGEST:g} in size, or 0. Got "
            f"{size:g}; divide y by a unit."
        )
    return rows, targets


def classes_and_codes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the sorted classes and the code of each label (n,); NumPy's `unique` takes 33 bytes a row for this."""
    classes = np.unique(labels)
    codes = np.empty(len(labels), dtype=np.int32)
    stretch = 65_536
    for first in range(0, len(labels), stretch):
        codes[first : first + stretch] = np.searchsorted(classes, labels[first : first + stretch])
    return classes, codes


def refuse_times(X: Any, owner: str) -> None:
    """Raise ConfigError if a column of X holds dates or durations: the user must convert them to numbers."""
    columns: Any = [("X", getattr(X, "dtype", None))]
    if hasattr(X, "dtypes") and hasattr(X, "columns"):
        columns = zip((f"column {name!r}" for name in X.columns), X.dtypes, strict=True)
    for name, dtype in columns:
        if (kind := getattr(dtype, "kind", "")) in TIMES:
            what, remedy = TIMES[kind]
            raise ConfigError(
                f"{name} holds {what}, which {owner} does not take; turn it into numbers, such as {remedy}, or leave "
                "it out."
            )


def _first_word(X: Any) -> tuple[str, str] | None:
    """Return the first column that holds a text, by name, and the text."""
    named = list(getattr(X, "columns", ()))
    table = np.asarray(X, dtype=object)
    for j in range(table.shape[1] if table.ndim == 2 else 0):
        for cell in table[:, j]:
            if not becomes_number(cell):
                return (f"column {named[j]!r}" if named else f"column {j} of X"), str(cell)
    return None
