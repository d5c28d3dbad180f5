"""Model kinds of nearest neighbors over training rows, some with the taxonomy of their editing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from oblique_cli.models.codecs import REAL, Maybe, Numbers, Record
from oblique_cli.models.kinds._kind import CLASSIFIER, KINDS, SIZES, Kind


def _check(fields: Mapping[str, Any]) -> None:
    children = fields["children"]
    n = len(children) + 1
    if (children >= np.arange(n, 2 * n - 1)[:, None]).any():
        raise ValueError("a join must come after what it joins")
    if not np.array_equal(np.sort(children, axis=None), np.arange(2 * n - 2)):
        raise ValueError("every node but the last must be joined exactly once")
    for name, size in (("heights", n - 1), ("lengths", 2 * n - 1)):
        if fields[name] is not None and len(fields[name]) != size:
            raise ValueError(f"{name} must have {size} entries. Got {len(fields[name])}")


HIERARCHY = Record(
    "oblique_cli.papers.hierarchy.hierarchies:Hierarchy",
    {
        "children": Numbers("int64", ("joins", 2), 0),
        "heights": Numbers("float64", ("joins",)),
        "lengths": Maybe(Numbers("float64", ("nodes",))),
    },
    check=_check,
)


def _check_counts(fields: Mapping[str, Any]) -> None:
    if len(fields["counts"]) != fields["tree"].n_nodes:
        raise ValueError(f"counts must have {fields['tree'].n_nodes} rows. Got {len(fields['counts'])}")


TAXONOMY = Record(
    "oblique_cli.papers.hierarchy.hierarchies:Taxonomy",
    {"tree": HIERARCHY, "counts": Numbers("int64", ("nodes", "C"), 0)},
    check=_check_counts,
)


def _goes_together(parameters: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    for name in ("_shift", "_scale", "_rows") if parameters.get("metric") != "precomputed" else ():
        if name not in state:
            raise ValueError(f"there are no {name}")
    if parameters.get("metric") == "precomputed" and len(state["_codes"]) != state["n_features_in_"]:
        raise ValueError("_codes must have one code for each column of distances")
    if len(state["kept_"]) == 0:
        raise ValueError("kept_ names no row")
    if "taxonomy_" in state and state["taxonomy_"].n != len(state["_codes"]):
        raise ValueError("taxonomy_ must hold every training row")


KINDS.register("neighbors")(
    Kind(
        classes=("NearestNeighborsClassifier",),
        state={
            **CLASSIFIER,
            "_codes": Numbers("int64", ("training rows",), 0, "C"),
            "_shift": Numbers("float64", ("p",)),
            "_scale": Numbers("float64", ("p",)),
            "_rows": Numbers("float64", ("training rows", "p")),
            "kept_": Numbers("int64", ("kept",), 0, "training rows"),
            "compression_": REAL,
            **SIZES,
            "taxonomy_": TAXONOMY,
            "beta_": REAL,
        },
        optional=frozenset({"_shift", "_scale", "_rows", "taxonomy_", "beta_"}),
        check=_goes_together,
    )
)
