"""Nearest neighbors, edited and not, in the table of algorithms."""

from __future__ import annotations

from typing import Any

from oblique_cli.estimators.algorithms import ALGORITHMS, Algorithm, ModelFamily, ready
from oblique_cli.papers.hierarchy.editing_classifiers import (
    HCEditClassifier,
    MultiEditClassifier,
    SupervisedClusteringEditClassifier,
    WilsonClassifier,
)
from oblique_cli.papers.hierarchy.neighbors import NearestNeighborsClassifier

NEIGHBORS = ModelFamily("nearest neighbors")


def _neighbors(name: str, title: str, source: str, estimator: type[Any], **options: Any) -> Algorithm:
    return ready(NEIGHBORS, name, title, f"{source}; Amalaman (2015), chapter 6", estimator, **options)


for _algorithm in (
    _neighbors("knn", "k-NN", "Cover & Hart (1967)", NearestNeighborsClassifier, weights="uniform"),
    _neighbors("knn_weighted", "weighted k-NN", "Dudani (1976)", NearestNeighborsClassifier, weights="distance"),
    _neighbors("wilson", "Wilson", "Wilson (1972)", WilsonClassifier, voting="uniform"),
    _neighbors("wilson_prob", "WilsonProb", "Vazquez, Sanchez & Pla (2005)", WilsonClassifier, voting="distance"),
    _neighbors("multi_edit", "Multi-edit", "Devijver & Kittler (1980)", MultiEditClassifier),
    _neighbors(
        "supervised_clustering_edit",
        "supervised clustering editing",
        "Eick, Zeidat & Vilalta (2004)",
        SupervisedClusteringEditClassifier,
    ),
    _neighbors(
        "hc_edit_staxac",
        "HC-edit-STAXAC",
        "Amalaman & Eick (2015)",
        HCEditClassifier,
        path="beta",
        tree="staxac",
    ),
    _neighbors("hc_edit_upgma", "HC-edit-UPGMA", "Amalaman & Eick (2015)", HCEditClassifier, path="beta", tree="upgma"),
):
    ALGORITHMS.register(_algorithm.name)(_algorithm)
