"""Encoding of columns inside a fold: missing values filled, levels turned into indicators.

Both are learned from the training rows of the fold only, so that no information of test rows enters training. A model
from a file predicts with this module without loading scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ColumnError, ConfigError, NotConverged
from oblique_cli.estimators.missing_values import medians
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.labels import OTHER
from oblique_cli.ground.nodes import Indicator
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.ground.registry import close_matches

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class ColumnEncoder:
    """Encoding of the columns for a model: first `quantitative` ones, then `qualitative` ones or their indicators.

    medians, usual  values for empty cells, None if nothing is filled
    levels          codes that have an indicator, for each qualitative column (NaN among them, if cells may stay empty);
                    None if codes stay unchanged. A code without an indicator becomes a row of zeros"""

    n_columns: int
    quantitative: NDArray[np.int64]
    medians: Array | None
    qualitative: NDArray[np.int64]
    usual: Array | None
    levels: tuple[Array, ...] | None

    @classmethod
    def learned(
        cls, X: Array, qualitative: Sequence[int], *, fill: bool, indicators: bool, weights: Array | None = None
    ) -> ColumnEncoder:
        """Return the encoder learned from rows X (n, p): NaN for an empty cell, codes in the qualitative columns.

        fill        whether empty cells are filled: by the median, the most frequent code, or 0 if all are empty
        indicators  whether the codes in X get indicators, NaN among them if cells may stay empty
        weights     (n,) of the rows, positive; None for equal weights"""
        words = np.array(sorted(qualitative), dtype=np.int64)
        numbers = np.setdiff1d(np.arange(X.shape[1], dtype=np.int64), words)
        usual = np.array([_most_frequent(X[:, j], weights) for j in words]) if fill else None
        codes = _filled(X[:, words], usual)
        return cls(
            X.shape[1],
            numbers,
            medians(X[:, numbers], weights) if fill else None,
            words,
            usual,
            tuple(np.unique(column) for column in codes.T) if indicators else None,
        )

    @classmethod
    def of(
        cls, dataset: Dataset, X: Array, *, fill: bool, indicators: bool, weights: Array | None = None
    ) -> ColumnEncoder:
        """Return the encoder of a data set's rows X (n, p), as `learned`, without an indicator for rare levels."""
        encoder = cls.learned(X, dataset.qualitative, fill=fill, indicators=indicators, weights=weights)
        if encoder.levels is None:
            return encoder
        known = [dataset.levels.get(j, ()) for j in encoder.qualitative.tolist()]
        others = [len(names) - 1 if names[-1:] == (OTHER,) else -1 for names in known]
        return replace(encoder, levels=tuple(c[c != k] for c, k in zip(encoder.levels, others, strict=True)))

    @property
    def n_encoded(self) -> int:
        """Number of encoded columns."""
        return len(self.sources)

    @property
    def sources(self) -> NDArray[np.int64]:
        """Source column of each encoded column, (n_encoded,)."""
        if self.levels is None:
            return np.concatenate([self.quantitative, self.qualitative])
        return np.concatenate([self.quantitative, np.repeat(self.qualitative, [len(codes) for codes in self.levels])])

    @property
    def filled(self) -> set[int]:
        """Positions of the columns whose missing cells are filled or have an indicator."""
        columns = set() if self.medians is None else set(self.quantitative.tolist())
        if self.usual is not None or self.levels is not None:
            columns |= set(self.qualitative.tolist())
        return columns

    def names(
        self, names: Sequence[str], levels: Mapping[int, Sequence[str]]
    ) -> tuple[list[str], dict[int, Sequence[str]]]:
        """Return names of the encoded columns (an `Indicator` "color=red", "color=" for an empty cell), and the levels
        of columns of codes. names, levels : of the columns before encoding"""
        out = [names[j] for j in self.quantitative]
        held: dict[int, Sequence[str]] = {}
        for k, j in enumerate(self.qualitative.tolist()):
            if self.levels is None:
                held[len(out)] = levels.get(j, ())
                out.append(names[j])
            else:
                known = levels.get(j, ())
                for code in self.levels[k].tolist():
                    level = "" if code != code else known[int(code)] if 0 <= code < len(known) else f"{code:g}"
                    out.append(Indicator(names[j], level))
        return out, held

    def transform(self, X: Array) -> Array:
        """Return the encoded columns. X : (n, n_columns), NaN for an empty cell; returns (n, m)."""
        if X.ndim != 2 or X.shape[1] != self.n_columns:
            raise ConfigError(f"X must have {self.n_columns} columns. Got shape {X.shape}.")
        if not len(self.qualitative) and (self.medians is None or not np.isnan(X).any()):
            return np.array(X, dtype=np.float64, order="C")
        out = np.empty((len(X), self.n_encoded))
        k = len(self.quantitative)
        out[:, :k] = _filled(X[:, self.quantitative], self.medians)
        codes = _filled(X[:, self.qualitative], self.usual)
        if self.levels is None:
            out[:, k:] = codes
            return out
        for column, levels in zip(codes.T, self.levels, strict=True):
            same = column[:, None] == levels
            if np.isnan(levels).any():
                same |= np.isnan(column)[:, None] & np.isnan(levels)
            out[:, k : k + len(levels)] = same
            k += len(levels)
        return out


def _filled(values: Array, fill: Array | None) -> Array:
    return values if fill is None else np.where(np.isnan(values), fill, values)


def _most_frequent(codes: Array, weights: Array | None) -> float:
    """Return the code of largest weight, the lowest of equals; 0 if all are NaN."""
    there = ~np.isnan(codes)
    known, which = np.unique(codes[there], return_inverse=True)
    often = np.bincount(which, None if weights is None else weights[there])
    return float(known[often.argmax()]) if len(known) else 0.0


def encoded_by(dataset: Dataset, policy: DatasetSpec) -> tuple[bool, bool]:
    """Return whether empty cells of `dataset` are filled, and whether its levels become indicators."""
    fill = policy.missing == "impute" and bool(np.isnan(dataset.X).any())
    return fill, policy.encoding == "onehot" and len(dataset.qualitative) > 0


def fold_encoder(dataset: Dataset, policy: DatasetSpec, X: Array) -> ColumnEncoder | None:
    """Return the encoder from training rows X (n, p) of `dataset`, or None if no encoding is needed.

    missing "keep"        empty cells stay NaN; with "onehot" a qualitative column has an indicator for them
    missing "impute"      the median of a quantitative column, the most frequent level of a qualitative one
    encoding "onehot"     an indicator for each level in the training rows; any other level is all 0
    encoding "ordinal"    level codes as numbers, as the data set stores them
    encoding "crimcoord"  level codes as well: the tree itself turns levels into numbers at every node"""
    fill, indicators = encoded_by(dataset, policy)
    return ColumnEncoder.of(dataset, X, fill=fill, indicators=indicators) if fill or indicators else None


def n_columns(dataset: Dataset, policy: DatasetSpec) -> int:
    """Return the number of encoded columns for all rows. A fold has at most this many."""
    encoder = fold_encoder(dataset, policy, dataset.X) if policy.encoding == "onehot" else None
    return dataset.p if encoder is None else encoder.n_encoded


def prepared(estimator: Any, dataset: Dataset, policy: DatasetSpec) -> Any:
    """Return `estimator` with facts of the data set: positions for `monotonic_cst`, codes of the labels of
    `class_weight`, and columns of levels under "crimcoord" (ConfigError for an estimator without support for them)."""
    weights = getattr(estimator, "class_weight", None)
    if isinstance(weights, Mapping):
        estimator.set_params(class_weight=coded_weights(weights, dataset))
    signs = getattr(estimator, "monotonic_cst", None)
    if isinstance(signs, Mapping):
        estimator.set_params(monotonic_cst=placed_signs(signs, dataset, policy))
    if policy.encoding != "crimcoord" or not dataset.qualitative:
        return estimator
    proposer = getattr(estimator, "proposer", None)
    refuses = getattr(proposer, "quantitative", False)
    if refuses or "qualitative" not in estimator.get_params(deep=False):
        owner = type(proposer if refuses else estimator).__name__
        raise ConfigError(
            f"{owner} does not take the levels of {dataset.name!r} as they are, which is what encoding 'crimcoord' "
            "asks for; use encoding 'onehot'."
        )
    if not any(encoded_by(dataset, policy)):
        return estimator.set_params(qualitative=sorted(dataset.qualitative))
    return estimator.set_params(qualitative=list(range(dataset.p - len(dataset.qualitative), dataset.p)))


def coded_weights(weights: Mapping[str, float], dataset: Dataset) -> dict[int, float]:
    """Return weights by class code from weights by label, 1 for other labels; ConfigError for unknown ones."""
    for label in weights:
        if label not in dataset.classes:
            hint = close_matches(label, dataset.classes) or f" Its classes: {', '.join(dataset.classes[:20])}."
            raise ConfigError(f"class_weight names {label!r}, which is no class of {dataset.name!r}.{hint}")
    return {code: float(weights.get(label, 1.0)) for code, label in enumerate(dataset.classes)}


def placed_signs(signs: Mapping[str, int], dataset: Dataset, policy: DatasetSpec) -> dict[int, int]:
    """Return the signs by encoded column; ConfigError for a name that is not a quantitative column."""
    names, qualitative = list(dataset.feature_names), set(dataset.qualitative)
    placed: dict[int, int] = {}
    for name, sign in signs.items():
        if name not in names:
            hint = close_matches(name, names) or f" Its columns: {', '.join(names[:20])}."
            raise ConfigError(f"monotonic_cst names {name!r}, which is no column of the table.{hint}")
        column = names.index(name)
        if column in qualitative:
            raise ConfigError(
                f"monotonic_cst names {name!r}, whose levels have no order; leave it out, or call it quantitative."
            )
        before = column if not any(encoded_by(dataset, policy)) else sum(j not in qualitative for j in range(column))
        placed[before] = int(sign)
    return placed


@contextmanager
def own_labels(dataset: Dataset, encoder: ColumnEncoder | None = None) -> Iterator[None]:
    """Make errors name class labels and columns. encoder : of the columns, None for those of `dataset`"""
    try:
        yield
    except NotConverged as error:
        raise NotConverged(error.reason, dataset.classes[int(error.label)]) from error
    except ColumnError as error:
        raise error.named(encoded_names(dataset, encoder)) from error


def encoded_levels(dataset: Dataset, estimator: Any) -> dict[int, tuple[str, ...]]:
    """Return the levels of the qualitative columns of a fitted estimator, in the order of the estimator's codes."""
    source = sorted(dataset.qualitative)
    columns = getattr(estimator, "levels_", {})
    return {
        column: tuple(dataset.levels[j][int(code)] for code in columns[column])
        for column, j in zip(sorted(columns), source, strict=False)
    }


def encoded_names(dataset: Dataset, encoder: ColumnEncoder | None) -> tuple[str, ...]:
    """Return a name for each column that a `fold_encoder` makes: "age", an `Indicator` "color=red"."""
    return dataset.feature_names if encoder is None else tuple(encoder.names(dataset.feature_names, dataset.levels)[0])
