"""Registration of nearest-neighbor classifiers, with and without editing, as algorithms."""

from __future__ import annotations

from typing import Any

from oblique_cli.estimators.algorithms import ALGORITHMS, ModelFamily, ready

NEIGHBORS = ModelFamily("nearest neighbors")
_PLAIN, _EDITED = f"{__package__}.neighbors:NearestNeighborsClassifier", f"{__package__}.editing_classifiers:"
_WILSON, _HC_EDIT = f"{_EDITED}WilsonClassifier", f"{_EDITED}HCEditClassifier"
# Name, title, source, class (imported on first use), parameter of a path of models, fixed parameters.
_LINES: tuple[tuple[str, str, str, str, str | None, dict[str, Any]], ...] = (
    ("knn", "k-NN", "Cover & Hart (1967)", _PLAIN, None, {"weights": "uniform"}),
    ("knn_weighted", "weighted k-NN", "Dudani (1976)", _PLAIN, None, {"weights": "distance"}),
    ("wilson", "Wilson", "Wilson (1972)", _WILSON, None, {"voting": "uniform"}),
    ("wilson_prob", "WilsonProb", "Vazquez, Sanchez & Pla (2005)", _WILSON, None, {"voting": "distance"}),
    ("multi_edit", "Multi-edit", "Devijver & Kittler (1980)", f"{_EDITED}MultiEditClassifier", None, {}),
    (
        "supervised_clustering_edit",
        "supervised clustering editing",
        "Eick, Zeidat & Vilalta (2004)",
        f"{_EDITED}SupervisedClusteringEditClassifier",
        None,
        {},
    ),
    ("hc_edit_staxac", "HC-edit-STAXAC", "Amalaman & Eick (2015)", _HC_EDIT, "beta", {"tree": "staxac"}),
    ("hc_edit_upgma", "HC-edit-UPGMA", "Amalaman & Eick (2015)", _HC_EDIT, "beta", {"tree": "upgma"}),
)
for _name, _title, _source, _class, _path, _fixed in _LINES:
    _source = f"{_source}; Amalaman (2015), chapter 6"
    ALGORITHMS.register(_name)(ready(NEIGHBORS, _name, _title, _source, _class, path=_path, **_fixed))
