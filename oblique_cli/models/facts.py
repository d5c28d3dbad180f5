"""Forms of the facts of a model file: `oblique fit` writes them; trees, cards, distances and costs read them.

A caller of `Model.of` may add facts under other keys with any plain data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from oblique_cli.errors import quoted
from oblique_cli.models.codecs import FLAG, REAL, TEXT, Codec, Many, Maybe, Scope, Whole


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
        "cells": Object(other=Object({"missing": COUNT}, {"levels": COUNT, "least": REAL, "most": REAL})),
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
        "on_new_rows": Object(
            known={
                "confusion": Many(NUMBERS),
                "recalls": Object(other=REAL),
                "calibration": Object({key: NUMBERS for key in ("confidence", "right", "rows")}, other=REAL),
                "residuals": Object({"edges": NUMBERS, "rows": NUMBERS, "by_prediction": Many(Object(QUANTILES))}),
            },
            other=REAL,
        ),
    }
)
