"""What happens to columns before a model sees them, as a few arrays: medians, usual levels, indicators.

The same as the fold encoder of `oblique_cli.estimators.encoding`, to the bit, and without scikit-learn, so that a model
from a file predicts without loading it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.data.own.columns import MAX_LEVELS
from oblique_cli.errors import ConfigError
from oblique_cli.ground.nodes import Indicator
from oblique_cli.models.codecs import Codec, Many, Maybe, Numbers, Record, Scope, Whole

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ColumnEncoder:
    """Columns as a model takes them: first the quantitative ones, then the qualitative ones or their indicators.

    n_columns     of the table
    quantitative  positions of quantitative columns; medians : what fills each, None if nothing is filled
    qualitative   positions of qualitative columns; usual : code that fills each, None if nothing is filled
    levels        for each qualitative column the codes that have an indicator (NaN among them, if cells may stay
                  empty), None if codes stay as they are. A code without an indicator becomes a row of zeros
    """

    n_columns: int
    quantitative: NDArray[np.int64]
    medians: Array | None
    qualitative: NDArray[np.int64]
    usual: Array | None
    levels: tuple[Array, ...] | None

    @classmethod
    def of(cls, encoder: Any) -> ColumnEncoder:
        """Return what a fitted `fold_encoder` does."""
        found: dict[str, dict[str, Any]] = {}
        for name, steps, columns in encoder.transformers_:
            own: dict[str, Any] = {"columns": np.asarray(columns, dtype=np.int64), "fill": None, "levels": None}
            for step in steps.named_steps.values() if hasattr(steps, "named_steps") else ():
                if hasattr(step, "statistics_"):
                    own["fill"] = np.asarray(step.statistics_, dtype=np.float64)
                if hasattr(step, "categories_"):
                    own["levels"] = tuple(np.asarray(codes, dtype=np.float64) for codes in step.categories_)
            found[name] = own
        nothing: dict[str, Any] = {"columns": np.zeros(0, np.int64), "fill": None, "levels": None}
        numbers, words = found.get("quantitative", nothing), found.get("qualitative", nothing)
        return cls(
            int(encoder.n_features_in_),
            numbers["columns"],
            numbers["fill"],
            words["columns"],
            words["fill"],
            words["levels"],
        )

    @property
    def n_encoded(self) -> int:
        """Number of columns that come out."""
        held = len(self.qualitative) if self.levels is None else sum(len(codes) for codes in self.levels)
        return len(self.quantitative) + held

    @property
    def filled(self) -> set[int]:
        """Positions of the columns in which an empty cell is filled, or has an indicator of its own."""
        found = set() if self.medians is None else set(self.quantitative.tolist())
        if self.usual is not None or self.levels is not None:
            found |= set(self.qualitative.tolist())
        return found

    def names(
        self, names: Sequence[str], levels: Mapping[int, Sequence[str]]
    ) -> tuple[list[str], dict[int, Sequence[str]]]:
        """Return names of the columns that come out, and the levels of those that hold codes.

        names, levels : of the columns that go in. An `Indicator` is called "color=red", "color=" for an empty cell.
        """
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
        """Return the columns as the model takes them. X : (n, n_columns), NaN for an empty cell; returns (n, m)."""
        if X.ndim != 2 or X.shape[1] != self.n_columns:
            raise ConfigError(f"X must have {self.n_columns} columns. Got shape {X.shape}.")
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


def _checked(fields: dict[str, Any]) -> ColumnEncoder:
    encoder = ColumnEncoder(**fields)
    both = np.sort(np.concatenate([encoder.quantitative, encoder.qualitative]))
    # Their number first: that of a damaged file is of any size.
    if len(both) != encoder.n_columns or not np.array_equal(both, np.arange(len(both))):
        raise ValueError("quantitative and qualitative must name every column once")
    for codes in encoder.levels or ():
        known = codes[~np.isnan(codes)]
        if (known != np.floor(known)).any() or (known < 0).any() or (known >= MAX_LEVELS).any():
            raise ValueError(f"levels must hold whole numbers from 0 to {MAX_LEVELS - 1}")
        if len(np.unique(codes)) < len(codes):
            raise ValueError("levels must not hold a code twice")
    return encoder


class _Codes(Numbers):
    """Level codes, of which the one for an empty cell is NaN and stands last: null in the file."""

    def plain(self, value: Any, scope: Scope) -> Any:
        return [None if code != code else float(code) for code in value.tolist()]

    def value(self, plain: Any, scope: Scope) -> Any:
        ends = isinstance(plain, list) and plain[-1:] == [None]
        known = super().value(plain[:-1] if ends else plain, scope)
        return np.append(known, np.nan) if ends else known


@dataclass(frozen=True)
class _OwnSizes(Codec):
    """A form whose sizes are nobody else's."""

    codec: Codec

    def plain(self, value: Any, scope: Scope) -> Any:
        return self.codec.plain(value, scope.inner())

    def value(self, plain: Any, scope: Scope) -> Any:
        return self.codec.value(plain, scope.inner())


ENCODER = Record(
    "oblique_cli.models.encoder:ColumnEncoder",
    {
        "n_columns": Whole(1),
        "quantitative": Numbers("int64", ("quantitative",), 0),
        "medians": Maybe(Numbers("float64", ("quantitative",))),
        "qualitative": Numbers("int64", ("qualitative",), 0),
        "usual": Maybe(Numbers("float64", ("qualitative",))),
        "levels": Maybe(Many(_OwnSizes(_Codes("float64", ("codes",))), "qualitative", kind=tuple)),
    },
    _checked,
)
