"""Registration of the papers' estimators as algorithms: trees over discrete features, PATHFINDER, nearest neighbors."""

from __future__ import annotations

from typing import Any

from oblique_cli.estimators.algorithms import ALGORITHMS, ModelFamily, ready

DISCRETE_TREE = ModelFamily("trees over discrete features", makes_tree=True, symbolic=True)
DISCRETE_ENSEMBLE = ModelFamily("ensembles of trees over discrete features", symbolic=True)
REGIONS = ModelFamily("trees of regions", makes_tree=True)
NEIGHBORS = ModelFamily("nearest neighbors")
_KARGUPTA = "Kargupta, Park & Dutta (2006)"
_C45, _FOURIER = (f"{__package__}.discrete.{module}:" for module in ("c45_classifiers", "fourier_classifiers"))
_ODT, _PATHFINDER = f"{_FOURIER}OrthogonalTreesClassifier", f"{__package__}.pathfinder.classifier:PathfinderClassifier"
_PLAIN = f"{__package__}.hierarchy.neighbors:NearestNeighborsClassifier"
_EDITED, _CHAPTER_6 = f"{__package__}.hierarchy.editing_classifiers:", "; Amalaman (2015), chapter 6"
_WILSON, _HC_EDIT = f"{_EDITED}WilsonClassifier", f"{_EDITED}HCEditClassifier"
_EICK, _AMALAMAN = f"Eick, Zeidat & Vilalta (2004){_CHAPTER_6}", f"Amalaman & Eick (2015){_CHAPTER_6}"
# Family, name, title, source, class (imported on first use), further arguments of `ready`.
_LINES: tuple[tuple[ModelFamily, str, str, str, str, dict[str, Any]], ...] = (
    (DISCRETE_TREE, "c45", "C4.5", "Quinlan (1993), discrete features", f"{_C45}C45Classifier", {}),
    (DISCRETE_TREE, "aft", "AFT", f"{_KARGUPTA}, sections 4.3 and 5", f"{_FOURIER}AggregatedFourierTreeClassifier", {}),
    (DISCRETE_ENSEMBLE, "c45_bagging", "C4.5 bagging", "Breiman (1996); Quinlan (1993)",
     f"{_C45}C45BaggingClassifier", {}),
    (DISCRETE_ENSEMBLE, "c45_forest", "C4.5 forest", "Breiman (2001), multiway trees",
     f"{_C45}C45ForestClassifier", {}),
    (DISCRETE_ENSEMBLE, "rft", "RFT", f"{_KARGUPTA}, sections 4 and 5",
     f"{_FOURIER}ReconstructedFourierTreeClassifier", {}),
    (DISCRETE_ENSEMBLE, "odt", "ODT", f"{_KARGUPTA}, section 6", _ODT, {"weights": "uniform"}),
    (DISCRETE_ENSEMBLE, "odt_lr", "ODT-LR", f"{_KARGUPTA}, sections 6 and 7", _ODT, {"weights": "least_squares"}),
    (REGIONS, "pathfinder", "PATHFINDER", "Amalaman (2015), chapter 3", _PATHFINDER, {"compiled": True}),
    (NEIGHBORS, "knn", "k-NN", f"Cover & Hart (1967){_CHAPTER_6}", _PLAIN, {"weights": "uniform"}),
    (NEIGHBORS, "knn_weighted", "weighted k-NN", f"Dudani (1976){_CHAPTER_6}", _PLAIN, {"weights": "distance"}),
    (NEIGHBORS, "wilson", "Wilson", f"Wilson (1972){_CHAPTER_6}", _WILSON, {"voting": "uniform"}),
    (NEIGHBORS, "wilson_prob", "WilsonProb", f"Vazquez, Sanchez & Pla (2005){_CHAPTER_6}", _WILSON,
     {"voting": "distance"}),
    (NEIGHBORS, "multi_edit", "Multi-edit", f"Devijver & Kittler (1980){_CHAPTER_6}",
     f"{_EDITED}MultiEditClassifier", {}),
    (NEIGHBORS, "supervised_clustering_edit", "supervised clustering editing", _EICK,
     f"{_EDITED}SupervisedClusteringEditClassifier", {}),
    (NEIGHBORS, "hc_edit_staxac", "HC-edit-STAXAC", _AMALAMAN, _HC_EDIT, {"path": "beta", "tree": "staxac"}),
    (NEIGHBORS, "hc_edit_upgma", "HC-edit-UPGMA", _AMALAMAN, _HC_EDIT, {"path": "beta", "tree": "upgma"}),
)  # fmt: skip
for _family, _name, _title, _source, _class, _further in _LINES:
    ALGORITHMS.register(_name)(ready(_family, _name, _title, _source, _class, **_further))
