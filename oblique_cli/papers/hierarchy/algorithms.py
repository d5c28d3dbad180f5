"""Nearest neighbors, edited and not, in the table of algorithms."""

from __future__ import annotations

from typing import Any

from oblique_cli.estimators.algorithms import ALGORITHMS, Algorithm, ModelFamily, ready

_PLACE = __package__  # classes are imported when an algorithm makes one
NEIGHBORS = ModelFamily("nearest neighbors")


def _neighbors(name: str, title: str, source: str, estimator: str, **options: Any) -> Algorithm:
    return ready(NEIGHBORS, name, title, f"{source}; Amalaman (2015), chapter 6", estimator, **options)


for _algorithm in (
    _neighbors(
        "knn", "k-NN", "Cover & Hart (1967)", f"{_PLACE}.neighbors:NearestNeighborsClassifier", weights="uniform"
    ),
    _neighbors(
        "knn_weighted",
        "weighted k-NN",
        "Dudani (1976)",
        f"{_PLACE}.neighbors:NearestNeighborsClassifier",
        weights="distance",
    ),
    _neighbors("wilson", "Wilson", "Wilson (1972)", f"{_PLACE}.editing_classifiers:WilsonClassifier", voting="uniform"),
    _neighbors(
        "wilson_prob",
        "WilsonProb",
        "Vazquez, Sanchez & Pla (2005)",
        f"{_PLACE}.editing_classifiers:WilsonClassifier",
        voting="distance",
    ),
    _neighbors(
        "multi_edit", "Multi-edit", "Devijver & Kittler (1980)", f"{_PLACE}.editing_classifiers:MultiEditClassifier"
    ),
    _neighbors(
        "supervised_clustering_edit",
        "supervised clustering editing",
        "Eick, Zeidat & Vilalta (2004)",
        f"{_PLACE}.editing_classifiers:SupervisedClusteringEditClassifier",
    ),
    _neighbors(
        "hc_edit_staxac",
        "HC-edit-STAXAC",
        "Amalaman & Eick (2015)",
        f"{_PLACE}.editing_classifiers:HCEditClassifier",
        path="beta",
        tree="staxac",
    ),
    _neighbors(
        "hc_edit_upgma",
        "HC-edit-UPGMA",
        "Amalaman & Eick (2015)",
        f"{_PLACE}.editing_classifiers:HCEditClassifier",
        path="beta",
        tree="upgma",
    ),
):
    ALGORITHMS.register(_algorithm.name)(_algorithm)
