"""Trees over discrete features in the table of algorithms."""

from __future__ import annotations

from oblique_cli.estimators.algorithms import ALGORITHMS, ModelFamily, ready
from oblique_cli.papers.discrete.c45_classifiers import C45BaggingClassifier, C45Classifier, C45ForestClassifier
from oblique_cli.papers.discrete.fourier_classifiers import (
    AggregatedFourierTreeClassifier,
    OrthogonalTreesClassifier,
    ReconstructedFourierTreeClassifier,
)

DISCRETE_TREE = ModelFamily("trees over discrete features", makes_tree=True)
DISCRETE_ENSEMBLE = ModelFamily("ensembles of trees over discrete features")
_KARGUPTA = "Kargupta, Park & Dutta (2006)"
for _algorithm in (
    ready(DISCRETE_TREE, "c45", "C4.5", "Quinlan (1993), discrete features", C45Classifier),
    ready(
        DISCRETE_TREE,
        "aft",
        "AFT",
        f"{_KARGUPTA}, sections 4.3 and 5",
        AggregatedFourierTreeClassifier,
    ),
    ready(
        DISCRETE_ENSEMBLE,
        "c45_bagging",
        "C4.5 bagging",
        "Breiman (1996); Quinlan (1993)",
        C45BaggingClassifier,
    ),
    ready(DISCRETE_ENSEMBLE, "c45_forest", "C4.5 forest", "Breiman (2001), multiway trees", C45ForestClassifier),
    ready(
        DISCRETE_ENSEMBLE,
        "rft",
        "RFT",
        f"{_KARGUPTA}, sections 4 and 5",
        ReconstructedFourierTreeClassifier,
    ),
    ready(
        DISCRETE_ENSEMBLE,
        "odt",
        "ODT",
        f"{_KARGUPTA}, section 6",
        OrthogonalTreesClassifier,
        weights="uniform",
    ),
    ready(
        DISCRETE_ENSEMBLE,
        "odt_lr",
        "ODT-LR",
        f"{_KARGUPTA}, sections 6 and 7",
        OrthogonalTreesClassifier,
        weights="least_squares",
    ),
):
    ALGORITHMS.register(_algorithm.name)(_algorithm)
