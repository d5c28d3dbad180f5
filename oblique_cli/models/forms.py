"""Forms of the encoder and the facts of a model file.

`oblique fit` writes the facts; trees, cards, distances and costs read them. A caller of `Model.of` may add facts under
other keys with any plain data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oblique_cli.data.own.columns import MAX_LEVELS
from oblique_cli.errors import quoted
from oblique_cli.estimators.encoding import ColumnEncoder
from oblique_cli.models.codecs import FLAG, REAL, TEXT, Codec, Many, Maybe, Numbers, Record, Scope, Whole


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


@dataclass(frozen=True)
class Object(Codec):
    """An object of JSON. needed, known : forms by key; other : the form of all other entries, None for any data"""

    needed: Mapping[str, Codec] = field(default_factory=dict)
    known: Mapping[str, Codec] = field(default_factory=dict)
    other: Codec | None = None

    def value(self, plain: Any, scope: Scope) -> Any:
        if not isinstance(plain, dict):
            scope.fail(f"must be an object. Got {quoted(plain)}")
        for key in self.needed:
            if key not in plain:
                scope.fail(f"must have a key {quoted(key)}. Got {quoted(plain)}")
        forms = {**self.known, **self.needed}
        return {
            key: fact if (form := forms.get(key, self.other)) is None else form.value(fact, scope.at(key))
            for key, fact in plain.items()
        }


COUNT, NUMBERS = Whole(), Many(REAL)
SCORE: dict[str, Codec] = {"standard_error": REAL, "by": TEXT}
OF_SCORE: dict[str, Codec] = {"folds": COUNT, "rows": COUNT, "folds_tested": COUNT, "groups": TEXT}
SIZE: dict[str, Codec] = {"leaves": COUNT, "n_terms": COUNT}
QUANTILES = {key: REAL for key in ("predicted", "rows", "low", "middle", "high")}

FACTS = Object(
    known={
        **{key: TEXT for key in ("title", "data", "data_digest", "metric", "weights")},
        **{key: COUNT for key in ("rows", "depth")},
        "seed": REAL,  # of any size
        **SIZE,
        "estimate": Object(SCORE, OF_SCORE, REAL),
        "chosen": Object(),
        "notes": Many(TEXT),
        "warnings": Many(TEXT),
        "budget": Object({"seconds": Maybe(REAL)}),
        "units": Object({"center": NUMBERS, "spread": NUMBERS, "of_levels": Object(other=NUMBERS)}),
        "sparse": Object(),  # `Light.from_plain` checks it against the tree
        "whole_numbers": Many(TEXT),
        "cells": Object(
            other=Object({"missing": COUNT}, {"levels": COUNT, "least": REAL, "most": REAL, "histogram": Many(COUNT)})
        ),
        "versions": Object(other=Maybe(TEXT)),
        "class_counts": Object(other=REAL),
        "compared": Many(
            Object(
                {"algorithm": TEXT, **SIZE, "compared_on": COUNT, "dropped": FLAG, "chosen": FLAG},
                {**SCORE, **OF_SCORE, "failure": TEXT},
                REAL,
            )
        ),
        "groups": Object({"column": TEXT, "number": COUNT}),
        "held_out": Object({"rows": COUNT, "right": REAL}),
        "importances": Object(
            {"by": TEXT, "values": Object(other=REAL)}, {"output": TEXT, "rows": COUNT, "background": COUNT}
        ),
        "curves": Many(
            Object(
                {"column": TEXT, "levels": Many(TEXT), "outputs": Many(COUNT), "at": NUMBERS, "rows": COUNT},
                {"mean": Many(NUMBERS), "ends": Many(Many(NUMBERS))},
            )
        ),
        "on_new_rows": Object(
            known={
                "confusion": Many(NUMBERS),
                "recalls": Object(other=REAL),
                "calibration": Object({key: NUMBERS for key in ("confidence", "right", "rows")}, other=REAL),
                "residuals": Object(
                    {"edges": NUMBERS, "rows": NUMBERS, "by_prediction": Many(Object(QUANTILES))},
                    {"by_column": Object(other=Many(Object(other=None)))},
                ),
                "thresholds": Object({"label": TEXT, "at": NUMBERS, "true": Many(COUNT), "false": Many(COUNT)}),
            },
            other=REAL,
        ),
    }
)
