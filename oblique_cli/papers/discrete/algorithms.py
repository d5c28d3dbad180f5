"""Registration of trees over discrete features as algorithms."""

from __future__ import annotations

from typing import Any

from oblique_cli.estimators.algorithms import ALGORITHMS, ModelFamily, ready

DISCRETE_TREE = ModelFamily("trees over discrete features", makes_tree=True)
DISCRETE_ENSEMBLE = ModelFamily("ensembles of trees over discrete features")
_KARGUPTA = "Kargupta, Park & Dutta (2006)"
_C45, _FOURIER = (f"{__package__}.{module}:" for module in ("c45_classifiers", "fourier_classifiers"))
_ODT = f"{_FOURIER}OrthogonalTrees"
# Family, name, title, source, class (imported on first use), fixed parameters.
_LINES: tuple[tuple[ModelFamily, str, str, str, str, dict[str, Any]], ...] = (
    (DISCRETE_TREE, "c45", "C4.5", "Quinlan (1993), discrete features", f"{_C45}C45", {}),
    (DISCRETE_TREE, "aft", "AFT", f"{_KARGUPTA}, sections 4.3 and 5", f"{_FOURIER}AggregatedFourierTree", {}),
    (DISCRETE_ENSEMBLE, "c45_bagging", "C4.5 bagging", "Breiman (1996); Quinlan (1993)", f"{_C45}C45Bagging", {}),
    (DISCRETE_ENSEMBLE, "c45_forest", "C4.5 forest", "Breiman (2001), multiway trees", f"{_C45}C45Forest", {}),
    (DISCRETE_ENSEMBLE, "rft", "RFT", f"{_KARGUPTA}, sections 4 and 5", f"{_FOURIER}ReconstructedFourierTree", {}),
    (DISCRETE_ENSEMBLE, "odt", "ODT", f"{_KARGUPTA}, section 6", _ODT, {"weights": "uniform"}),
    (DISCRETE_ENSEMBLE, "odt_lr", "ODT-LR", f"{_KARGUPTA}, sections 6 and 7", _ODT, {"weights": "least_squares"}),
)
for _family, _name, _title, _source, _class, _fixed in _LINES:
    ALGORITHMS.register(_name)(ready(_family, _name, _title, _source, f"{_class}Classifier", **_fixed))
