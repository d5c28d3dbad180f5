"""Trees over discrete features in the table of algorithms."""

from __future__ import annotations

from oblique_cli.estimators.algorithms import ALGORITHMS, ModelFamily, ready

DISCRETE_TREE = ModelFamily("trees over discrete features", makes_tree=True)
DISCRETE_ENSEMBLE = ModelFamily("ensembles of trees over discrete features")
_PLACE = __package__  # classes are imported when an algorithm makes one
_KARGUPTA = "Kargupta, Park & Dutta (2006)"
for _algorithm in (
    ready(DISCRETE_TREE, "c45", "C4.5", "Quinlan (1993), discrete features", f"{_PLACE}.c45_classifiers:C45Classifier"),
    ready(
        DISCRETE_TREE,
        "aft",
        "AFT",
        f"{_KARGUPTA}, sections 4.3 and 5",
        f"{_PLACE}.fourier_classifiers:AggregatedFourierTreeClassifier",
    ),
    ready(
        DISCRETE_ENSEMBLE,
        "c45_bagging",
        "C4.5 bagging",
        "Breiman (1996); Quinlan (1993)",
        f"{_PLACE}.c45_classifiers:C45BaggingClassifier",
    ),
    ready(
        DISCRETE_ENSEMBLE,
        "c45_forest",
        "C4.5 forest",
        "Breiman (2001), multiway trees",
        f"{_PLACE}.c45_classifiers:C45ForestClassifier",
    ),
    ready(
        DISCRETE_ENSEMBLE,
        "rft",
        "RFT",
        f"{_KARGUPTA}, sections 4 and 5",
        f"{_PLACE}.fourier_classifiers:ReconstructedFourierTreeClassifier",
    ),
    ready(
        DISCRETE_ENSEMBLE,
        "odt",
        "ODT",
        f"{_KARGUPTA}, section 6",
        f"{_PLACE}.fourier_classifiers:OrthogonalTreesClassifier",
        weights="uniform",
    ),
    ready(
        DISCRETE_ENSEMBLE,
        "odt_lr",
        "ODT-LR",
        f"{_KARGUPTA}, sections 6 and 7",
        f"{_PLACE}.fourier_classifiers:OrthogonalTreesClassifier",
        weights="least_squares",
    ),
):
    ALGORITHMS.register(_algorithm.name)(_algorithm)
