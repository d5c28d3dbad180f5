"""Oblique decision trees: run, compare and trust HHCART, HHGDT, GDT and their relatives.

>>> from oblique_cli import ObliqueTreeClassifier, make
>>> make("hhgdt", epsilon=0.1)  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oblique_cli.estimators.algorithms import ALGORITHMS, make
    from oblique_cli.estimators.discrete.c45 import C45BaggingClassifier, C45Classifier, C45ForestClassifier
    from oblique_cli.estimators.discrete.orthogonal import (
        AggregatedFourierTreeClassifier,
        OrthogonalTreesClassifier,
        ReconstructedFourierTreeClassifier,
    )
    from oblique_cli.estimators.forest.hhcart import HHCARTForestClassifier
    from oblique_cli.estimators.forest.mpsvm import MPSVMForestClassifier
    from oblique_cli.estimators.hierarchy.editing import HCEditClassifier
    from oblique_cli.estimators.hierarchy.taxonomy import AvalancheClustering, SupervisedTaxonomy
    from oblique_cli.estimators.model_tree.regressors import M5StyleRegressor, RETISRegressor, TPRTIRegressor
    from oblique_cli.estimators.oblique.bottom_up import BottomUpTreeClassifier
    from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
    from oblique_cli.estimators.pathfinder.classifier import PathfinderClassifier
    from oblique_cli.tree.structure import Tree

__version__ = "0.1.0"
__all__ = [
    "ALGORITHMS",
    "AggregatedFourierTreeClassifier",
    "AvalancheClustering",
    "BottomUpTreeClassifier",
    "C45BaggingClassifier",
    "C45Classifier",
    "C45ForestClassifier",
    "HCEditClassifier",
    "HHCARTForestClassifier",
    "M5StyleRegressor",
    "MPSVMForestClassifier",
    "ObliqueTreeClassifier",
    "OrthogonalTreesClassifier",
    "PathfinderClassifier",
    "RETISRegressor",
    "ReconstructedFourierTreeClassifier",
    "SupervisedTaxonomy",
    "TPRTIRegressor",
    "Tree",
    "make",
]

_PLACES = {
    "ALGORITHMS": "oblique_cli.estimators.algorithms",
    "AggregatedFourierTreeClassifier": "oblique_cli.estimators.discrete.orthogonal",
    "AvalancheClustering": "oblique_cli.estimators.hierarchy.taxonomy",
    "HCEditClassifier": "oblique_cli.estimators.hierarchy.editing",
    "SupervisedTaxonomy": "oblique_cli.estimators.hierarchy.taxonomy",
    "BottomUpTreeClassifier": "oblique_cli.estimators.oblique.bottom_up",
    "C45BaggingClassifier": "oblique_cli.estimators.discrete.c45",
    "C45Classifier": "oblique_cli.estimators.discrete.c45",
    "C45ForestClassifier": "oblique_cli.estimators.discrete.c45",
    "HHCARTForestClassifier": "oblique_cli.estimators.forest.hhcart",
    "MPSVMForestClassifier": "oblique_cli.estimators.forest.mpsvm",
    "M5StyleRegressor": "oblique_cli.estimators.model_tree.regressors",
    "ObliqueTreeClassifier": "oblique_cli.estimators.oblique.top_down",
    "OrthogonalTreesClassifier": "oblique_cli.estimators.discrete.orthogonal",
    "PathfinderClassifier": "oblique_cli.estimators.pathfinder.classifier",
    "RETISRegressor": "oblique_cli.estimators.model_tree.regressors",
    "ReconstructedFourierTreeClassifier": "oblique_cli.estimators.discrete.orthogonal",
    "TPRTIRegressor": "oblique_cli.estimators.model_tree.regressors",
    "make": "oblique_cli.estimators.algorithms",
    "Tree": "oblique_cli.tree.structure",
}


def __getattr__(name: str) -> Any:
    # Public names load on first use: the command line must start without numerical libraries.
    if name in _PLACES:
        from importlib import import_module

        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
