"""Model kind of PATHFINDER: trees of regions, whose leaves may reject a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from oblique_cli.models.codecs import FLAG, Many, Maybe, Numbers, Record, Whole
from oblique_cli.models.kinds._kind import CLASSIFIER, KINDS, SIZES, Kind, check_binary

CLUSTERS = Record(
    "oblique_cli.papers.pathfinder.grid_clusters:GridClusters",
    {
        "x": Whole(0, "p"),
        "y": Whole(0, "p"),
        "pivot": Whole(0, "C"),
        "other": Whole(0, "C"),
        "corners": Numbers("float64", ("rectangles", 4)),
        "cluster": Numbers("int32", ("rectangles",), 0, "rectangles"),
        "centers": Numbers("float64", ("rectangles", 2)),
        "points": Numbers("float64", ("points", 2)),
        "owner": Numbers("int32", ("points",), 0, "rectangles"),
    },
)
NODE = Record(
    "oblique_cli.papers.pathfinder.regions:RegionNode",
    {
        "counts": Numbers("int32", ("C",), 0),
        "left": Whole(-1),
        "right": Whole(-1),
        "split": Maybe(CLUSTERS),
        "accepts": Maybe(CLUSTERS),
        "rejects": FLAG,
    },
)


def _check(fields: Mapping[str, Any]) -> None:
    nodes = fields["nodes"]
    check_binary(np.array([node.left for node in nodes]), np.array([node.right for node in nodes]))
    if any((node.split is None) != (node.left < 0) for node in nodes):
        raise ValueError("a node must have a split if it has children, and only then")


TREE = Record(
    "oblique_cli.papers.pathfinder.regions:RegionTree", {"nodes": Many(NODE, least=1, kind=tuple)}, check=_check
)

KINDS.register("region_tree")(
    Kind(
        classes=("PathfinderClassifier",),
        state={
            **CLASSIFIER,
            "_low": Numbers("float64", ("p",)),
            "_half_width": Numbers("float64", ("p",)),
            "grid_size_": Whole(2),
            "tree_": TREE,
            "reject_": Numbers("bool", ("training rows",)),
            **SIZES,
        },
    )
)
