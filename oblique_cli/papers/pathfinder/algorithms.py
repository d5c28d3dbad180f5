"""Registration of PATHFINDER as an algorithm."""

from __future__ import annotations

from oblique_cli.estimators.algorithms import ALGORITHMS, ModelFamily, ready

REGIONS = ModelFamily("trees of regions", makes_tree=True)
_PATHFINDER = ready(
    REGIONS,
    "pathfinder",
    "PATHFINDER",
    "Amalaman (2015), chapter 3",
    f"{__package__}.classifier:PathfinderClassifier",
    compiled=True,
)

ALGORITHMS.register(_PATHFINDER.name)(_PATHFINDER)
