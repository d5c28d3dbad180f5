"""Registration of trees over discrete features as algorithms."""

from __future__ import annotations

from typing import Any

from oblique_cli.estimators.algorithms import ALGORITHMS, ModelFamily, ready

DISCRETE_TREE = ModelFamily("trees over discrete features", makes_tree=True)
DISCRETE_ENSEMBLE = ModelFamily("ensembles of trees over discrete features")
_KARGUPTA = "Kargupta, Park & Dutta (2006)"
_C45, _FOURIER = (f"{__package__}.{module}:" for module in ("c45_classifiers", "fourier_classifiers"))
_BAGGING, _FOREST = f"{_C45}C45BaggingClassifier", f"{_C45}C45ForestClassifier"
_AFT, _RFT = f"{_FOURIER}AggregatedFourierTreeClassifier", f"{_FOURIER}ReconstructedFourierTreeClassifier"
_ODT = f"{_FOURIER}OrthogonalTreesClassifier"
# Family, name, title, source, class (imported on first use), fixed parameters.
_LINES: tuple[tuple[ModelFamily, str, str, str, str, dict[str, Any]], ...] = (
    (DISCRETE_TREE, "c45", "C4.5", "Quinlan (1993), discrete features", f"{_C45}C45Classifier", {}),
    (DISCRETE_TREE, "aft", "AFT", f"{_KARGUPTA}, sections 4.3 and 5", _AFT, {}),
    (DISCRETE_ENSEMBLE, "c45_bagging", "C4.5 bagging", "Breiman (1996); Quinlan (1993)", _BAGGING, {}),
    (DISCRETE_ENSEMBLE, "c45_forest", "C4.5 forest", "Breiman (2001), multiway trees", _FOREST, {}),
    (DISCRETE_ENSEMBLE, "rft", "RFT", f"{_KARGUPTA}, sections 4 and 5", _RFT, {}),
    (DISCRETE_ENSEMBLE, "odt", "ODT", f"{_KARGUPTA}, section 6", _ODT, {"weights": "uniform"}),
    (DISCRETE_ENSEMBLE, "odt_lr", "ODT-LR", f"{_KARGUPTA}, sections 6 and 7", _ODT, {"weights": "least_squares"}),
)
for _family, _name, _title, _source, _class, _fixed in _LINES:
    ALGORITHMS.register(_name)(ready(_family, _name, _title, _source, _class, **_fixed))
