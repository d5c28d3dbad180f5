"""Form of a `ColumnEncoder` in a model file."""

from __future__ import annotations

from typing import Any

import numpy as np

from oblique_cli.data.own.columns import MAX_LEVELS
from oblique_cli.estimators.encoding import ColumnEncoder
from oblique_cli.models.codecs import Many, Maybe, Numbers, Record, Scope, Whole


def _checked(fields: dict[str, Any], scope: Scope) -> ColumnEncoder:
    encoder = ColumnEncoder(**fields)
    both = np.sort(np.concatenate([encoder.quantitative, encoder.qualitative]))
    # The number of columns first: a damaged file may state any size.
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
    """Level codes; the code of an empty cell is NaN, stands last, and is null in the file."""

    def plain(self, value: Any, scope: Scope) -> Any:
        return [None if code != code else float(code) for code in value.tolist()]

    def value(self, plain: Any, scope: Scope) -> Any:
        ends = isinstance(plain, list) and plain[-1:] == [None]
        known = super().value(plain[:-1] if ends else plain, scope)
        return np.append(known, np.nan) if ends else known


ENCODER = Record(
    "oblique_cli.estimators.encoding:ColumnEncoder",
    {
        "n_columns": Whole(1),
        "quantitative": Numbers("int64", ("quantitative",), 0),
        "medians": Maybe(Numbers("float64", ("quantitative",))),
        "qualitative": Numbers("int64", ("qualitative",), 0),
        "usual": Maybe(Numbers("float64", ("qualitative",))),
        "levels": Maybe(Many(_Codes("float64", (None,)), "qualitative", kind=tuple)),
    },
    _checked,
)
