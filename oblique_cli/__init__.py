"""Oblique decision trees: run, compare and trust HHCART, HHGDT, GDT and their relatives.

>>> from oblique_cli import HHGDTClassifier, make
>>> HHGDTClassifier(epsilon=0.1)  # doctest: +SKIP
>>> make("hhgdt", epsilon=0.1)  # the same, by the name that configurations use  # doctest: +SKIP
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036  (a checkout; an installer refuses before)
    _message = f"oblique needs Python 3.11 or newer. This is {sys.version.split()[0]}."
    if sys.argv[:1] == ["-m"]:  # what Python's -m has there while it looks for the module
        sys.exit(f"error: {_message}")
    raise ImportError(_message)

from typing import TYPE_CHECKING, Any

from oblique_cli.ground import extensions

if TYPE_CHECKING:
    from oblique_cli.estimators.algorithms import ALGORITHMS, make
    from oblique_cli.estimators.conformal import ConformalClassifier, ConformalRegressor
    from oblique_cli.estimators.forest.bagged import BaggedForestClassifier
    from oblique_cli.estimators.forest.boosting import ObliqueBoostingClassifier
    from oblique_cli.estimators.forest.boosting_regression import ObliqueBoostingRegressor
    from oblique_cli.estimators.forest.heterogeneous import HeterogeneousForestClassifier
    from oblique_cli.estimators.forest.hhcart import HHCARTForestClassifier
    from oblique_cli.estimators.forest.logistic_forest import LogisticForestClassifier
    from oblique_cli.estimators.forest.mpsvm import MPSVMForestClassifier
    from oblique_cli.estimators.forest.refined import TAOForestClassifier
    from oblique_cli.estimators.forest.refined_numbers import TAOForestRegressor
    from oblique_cli.estimators.forest.regression import ObliqueForestRegressor
    from oblique_cli.estimators.machines import ProximalSVMClassifier, SupportVectorClassifier
    from oblique_cli.estimators.oblique.bottom_up import BottomUpTreeClassifier, BUTIFSVMClassifier, HHBUTClassifier
    from oblique_cli.estimators.oblique.classifiers import (
        AxisParallelClassifier,
        ClineClassifier,
        FDTClassifier,
        GainRatioClassifier,
        GDTClassifier,
        HHCARTClassifier,
        HHCARTDClassifier,
        HHCRVClassifier,
        HHGDTClassifier,
        LogisticSplitClassifier,
        OC1APClassifier,
        OC1Classifier,
        OC1LCClassifier,
        QUESTClassifier,
        SADTClassifier,
        SVMSplitClassifier,
        UnionClassifier,
    )
    from oblique_cli.estimators.oblique.groups import Growth, Leaves, Refinement
    from oblique_cli.estimators.oblique.logistic import LogisticModelTreeClassifier
    from oblique_cli.estimators.oblique.refined import RefinedTreeClassifier
    from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
    from oblique_cli.estimators.regression.cart import CARTRegressor
    from oblique_cli.estimators.regression.linear_leaves import M5StyleRegressor, RETISRegressor, TPRTIRegressor
    from oblique_cli.estimators.regression.linear_tree import LinearModelTreeRegressor
    from oblique_cli.estimators.regression.oblique_regressor import ObliqueTreeRegressor
    from oblique_cli.estimators.regression.pilot import PILOTRegressor
    from oblique_cli.models.explaining.explanation import explain
    from oblique_cli.models.explaining.shapley import shap_values
    from oblique_cli.models.exporting import export
    from oblique_cli.models.model import Model, load, save
    from oblique_cli.models.verifying.verification import verify
    from oblique_cli.papers.discrete.c45 import C45
    from oblique_cli.papers.discrete.c45_classifiers import C45BaggingClassifier, C45Classifier, C45ForestClassifier
    from oblique_cli.papers.discrete.discretizing import Discretizer
    from oblique_cli.papers.discrete.fourier_classifiers import (
        AggregatedFourierTreeClassifier,
        OrthogonalTreesClassifier,
        ReconstructedFourierTreeClassifier,
    )
    from oblique_cli.papers.hierarchy.editing_classifiers import (
        HCEditClassifier,
        MultiEditClassifier,
        SupervisedClusteringEditClassifier,
        WilsonClassifier,
    )
    from oblique_cli.papers.hierarchy.neighbors import NearestNeighborsClassifier
    from oblique_cli.papers.hierarchy.taxonomy_estimators import AvalancheClustering, SupervisedTaxonomy
    from oblique_cli.papers.pathfinder.classifier import PathfinderClassifier
    from oblique_cli.report.model_card import model_card
    from oblique_cli.tree.structure import Tree

__version__ = "0.1.0"

# Where the public names are: there is a class for each algorithm. The class of a heuristic that is added as a file in
# proposers/ is found without a line here.
_PLACES = {
    "ALGORITHMS": "oblique_cli.estimators.algorithms",
    "make": "oblique_cli.estimators.algorithms",
    "Model": "oblique_cli.models.model",
    "load": "oblique_cli.models.model",
    "save": "oblique_cli.models.model",
    "export": "oblique_cli.models.exporting",
    "explain": "oblique_cli.models.explaining.explanation",
    "shap_values": "oblique_cli.models.explaining.shapley",
    "verify": "oblique_cli.models.verifying.verification",
    "model_card": "oblique_cli.report.model_card",
    "Growth": "oblique_cli.estimators.oblique.groups",
    "Leaves": "oblique_cli.estimators.oblique.groups",
    "Refinement": "oblique_cli.estimators.oblique.groups",
    "BaggedForestClassifier": "oblique_cli.estimators.forest.bagged",
    "ObliqueBoostingClassifier": "oblique_cli.estimators.forest.boosting",
    "HeterogeneousForestClassifier": "oblique_cli.estimators.forest.heterogeneous",
    "HHCARTForestClassifier": "oblique_cli.estimators.forest.hhcart",
    "MPSVMForestClassifier": "oblique_cli.estimators.forest.mpsvm",
    "LogisticForestClassifier": "oblique_cli.estimators.forest.logistic_forest",
    "ConformalClassifier": "oblique_cli.estimators.conformal",
    "ConformalRegressor": "oblique_cli.estimators.conformal",
    "TAOForestClassifier": "oblique_cli.estimators.forest.refined",
    "TAOForestRegressor": "oblique_cli.estimators.forest.refined_numbers",
    "ProximalSVMClassifier": "oblique_cli.estimators.machines",
    "SupportVectorClassifier": "oblique_cli.estimators.machines",
    "CARTRegressor": "oblique_cli.estimators.regression.cart",
    "ObliqueBoostingRegressor": "oblique_cli.estimators.forest.boosting_regression",
    "ObliqueForestRegressor": "oblique_cli.estimators.forest.regression",
    "LinearModelTreeRegressor": "oblique_cli.estimators.regression.linear_tree",
    "ObliqueTreeRegressor": "oblique_cli.estimators.regression.oblique_regressor",
    "PILOTRegressor": "oblique_cli.estimators.regression.pilot",
    "M5StyleRegressor": "oblique_cli.estimators.regression.linear_leaves",
    "RETISRegressor": "oblique_cli.estimators.regression.linear_leaves",
    "TPRTIRegressor": "oblique_cli.estimators.regression.linear_leaves",
    "BUTIFSVMClassifier": "oblique_cli.estimators.oblique.bottom_up",
    "BottomUpTreeClassifier": "oblique_cli.estimators.oblique.bottom_up",
    "HHBUTClassifier": "oblique_cli.estimators.oblique.bottom_up",
    "AxisParallelClassifier": "oblique_cli.estimators.oblique.classifiers",
    "ClineClassifier": "oblique_cli.estimators.oblique.classifiers",
    "FDTClassifier": "oblique_cli.estimators.oblique.classifiers",
    "GDTClassifier": "oblique_cli.estimators.oblique.classifiers",
    "GainRatioClassifier": "oblique_cli.estimators.oblique.classifiers",
    "HHCARTClassifier": "oblique_cli.estimators.oblique.classifiers",
    "HHCARTDClassifier": "oblique_cli.estimators.oblique.classifiers",
    "HHCRVClassifier": "oblique_cli.estimators.oblique.classifiers",
    "HHGDTClassifier": "oblique_cli.estimators.oblique.classifiers",
    "LogisticSplitClassifier": "oblique_cli.estimators.oblique.classifiers",
    "OC1APClassifier": "oblique_cli.estimators.oblique.classifiers",
    "OC1Classifier": "oblique_cli.estimators.oblique.classifiers",
    "OC1LCClassifier": "oblique_cli.estimators.oblique.classifiers",
    "QUESTClassifier": "oblique_cli.estimators.oblique.classifiers",
    "SADTClassifier": "oblique_cli.estimators.oblique.classifiers",
    "LogisticModelTreeClassifier": "oblique_cli.estimators.oblique.logistic",
    "RefinedTreeClassifier": "oblique_cli.estimators.oblique.refined",
    "SVMSplitClassifier": "oblique_cli.estimators.oblique.classifiers",
    "UnionClassifier": "oblique_cli.estimators.oblique.classifiers",
    "ObliqueTreeClassifier": "oblique_cli.estimators.oblique.top_down",
    "Tree": "oblique_cli.tree.structure",
    **extensions.NAMES,
}
__all__ = [  # noqa: RUF022  (in groups, as above)
    "ALGORITHMS",
    "make",
    "Model",
    "load",
    "save",
    "export",
    "explain",
    "shap_values",
    "verify",
    "model_card",
    "C45",
    "C45BaggingClassifier",
    "C45Classifier",
    "C45ForestClassifier",
    "Discretizer",
    "AggregatedFourierTreeClassifier",
    "OrthogonalTreesClassifier",
    "ReconstructedFourierTreeClassifier",
    "BaggedForestClassifier",
    "ObliqueBoostingClassifier",
    "HeterogeneousForestClassifier",
    "HHCARTForestClassifier",
    "MPSVMForestClassifier",
    "LogisticForestClassifier",
    "TAOForestClassifier",
    "ConformalClassifier",
    "ConformalRegressor",
    "HCEditClassifier",
    "MultiEditClassifier",
    "SupervisedClusteringEditClassifier",
    "WilsonClassifier",
    "NearestNeighborsClassifier",
    "AvalancheClustering",
    "SupervisedTaxonomy",
    "ProximalSVMClassifier",
    "SupportVectorClassifier",
    "CARTRegressor",
    "ObliqueBoostingRegressor",
    "ObliqueForestRegressor",
    "TAOForestRegressor",
    "LinearModelTreeRegressor",
    "ObliqueTreeRegressor",
    "PILOTRegressor",
    "M5StyleRegressor",
    "RETISRegressor",
    "TPRTIRegressor",
    "BUTIFSVMClassifier",
    "BottomUpTreeClassifier",
    "HHBUTClassifier",
    "AxisParallelClassifier",
    "ClineClassifier",
    "FDTClassifier",
    "GDTClassifier",
    "GainRatioClassifier",
    "HHCARTClassifier",
    "HHCARTDClassifier",
    "HHCRVClassifier",
    "HHGDTClassifier",
    "LogisticSplitClassifier",
    "OC1APClassifier",
    "OC1Classifier",
    "OC1LCClassifier",
    "QUESTClassifier",
    "SADTClassifier",
    "LogisticModelTreeClassifier",
    "RefinedTreeClassifier",
    "SVMSplitClassifier",
    "UnionClassifier",
    "ObliqueTreeClassifier",
    "PathfinderClassifier",
    "Tree",
    "Growth",
    "Leaves",
    "Refinement",
]


def place_of(name: str) -> str | None:
    """Return the module that a public name of the list above is in, None for a name that the list does not have."""
    return _PLACES.get(name)


def __getattr__(name: str) -> Any:
    # Public names load on first use: the command line must start without numerical libraries.
    from importlib import import_module

    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    if name.endswith(("Classifier", "Regressor")):  # made from the table of algorithms, or of a file that a user added
        named = import_module("oblique_cli.estimators.named")
        for algorithm in named.ALGORITHMS:
            if named.class_of(algorithm).__name__ == name:
                return named.class_of(algorithm)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    loaded = sys.modules.get("oblique_cli.estimators.named")
    further = [loaded.class_of(name).__name__ for name in loaded.ALGORITHMS] if loaded else []
    return sorted({*globals(), *__all__, *further})
