"""Fitted models to save: every algorithm on a small problem, and settings that change what a fit keeps."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from robustness_support import small_parameters

import oblique_cli
from oblique_cli.estimators.algorithms import ALGORITHMS

RNG = np.random.default_rng(7)
X = np.round(RNG.normal(size=(80, 3)), 2)
Y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 0.8)
TARGET = X @ [1.0, 2.0, 3.0] + np.where(X[:, 0] > 0, 4.0, 0.0)
NEW = RNG.normal(size=(300, 3))
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
CODES = np.column_stack([X[:, :2], RNG.integers(4, size=80)])
WORDS = np.array(["low", "mid, or so", 'hïgh "quoted"'])


def fitted(name: str) -> Any:
    """Return an algorithm fitted, small."""
    algorithm = ALGORITHMS[name]
    y = TARGET if algorithm.family.task == "regression" else Y
    return algorithm.make(random_state=1, **small_parameters(name)).fit(X, y)


def made(name: str, X: Any = X, y: Any = Y, **parameters: Any) -> Callable[[], tuple[Any, Any]]:
    """Return what fits a public class, and the rows to try it on."""

    def fit() -> tuple[Any, Any]:
        rows = NEW
        if isinstance(X, pd.DataFrame):
            rows = X
        elif X is not globals()["X"]:
            rows = np.asarray(X)
        return getattr(oblique_cli, name)(**parameters).fit(X, y), rows

    return fit


FRAME = pd.DataFrame({"a 1": X[:, 0], "b": X[:, 1], "color": np.array(["red", "green", "blue"])[Y]})
NUMBERS = pd.DataFrame(X, columns=["a", "b", "c"])
DISTANCES = np.abs(X[:, :1] - X[:, 0])

CASES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "words as labels": made("HHCARTClassifier", y=WORDS[Y]),
    "objects as labels": made("HHCARTClassifier", y=WORDS[Y].astype(object)),
    "truth as labels": made("GDTClassifier", y=Y > 0),
    "floats as labels": made("FDTClassifier", y=Y * 2.0),
    "one class": made("HHCARTClassifier", y=np.zeros(80)),
    "one class, discrete": made("C45Classifier", y=np.zeros(80)),
    "one class, SVM": made("SupportVectorClassifier", y=np.zeros(80)),
    "a data frame": made("AxisParallelClassifier", NUMBERS),
    "a data frame, forest": made("MPSVMForestClassifier", NUMBERS, n_estimators=3, random_state=2),
    "a data frame of words": made("HHCARTClassifier", FRAME, WORDS[Y]),
    "codes of levels": made("HHCARTClassifier", CODES, qualitative=[2]),
    "missing learned": made("HHCARTClassifier", HOLES, missing="learn"),
    "missing filled": made("AxisParallelClassifier", HOLES, missing="impute"),
    "weights of classes": made("HHCARTClassifier", class_weight={0: 1.0, 1: 5.0, 2: 0.25}),
    "a proposer of its own": made("ObliqueTreeClassifier", proposer=oblique_cli.HHGDTClassifier().proposer),
    "pruned": made("HHCARTClassifier", pruning="cv", standard_errors=1.0, random_state=3),
    "probabilities": made(
        "HHCARTClassifier", pruning="pessimistic", probabilities="shrinkage", probability_strength="cv", random_state=3
    ),
    "logistic leaves": made(
        "HHCARTClassifier", pruning="pessimistic", leaf_models="logistic", leaf_penalty=2.0, random_state=3
    ),
    "logistic leaves, missing values": made(
        "HHCARTClassifier", HOLES, missing="learn", max_depth=2, leaf_models="logistic", leaf_penalty=2.0
    ),
    "hybrid": made("HHBUTClassifier", hybrid=True, random_state=4),
    "a forest of bottom-up trees": made(
        "BaggedForestClassifier",
        NUMBERS,
        proposer=[oblique_cli.HHBUTClassifier(max_components=2), "butif_svm"],
        n_estimators=3,
        random_state=5,
    ),
    "out of bag": made("HHCARTForestClassifier", n_estimators=9, oob_score=True, random_state=5),
    "rotated, mean votes": made(
        "MPSVMForestClassifier", base="rrof", regularization="tikhonov", voting="mean", n_estimators=4, random_state=5
    ),
    "probabilities of a forest": made(
        "HHCARTForestClassifier", n_estimators=4, probabilities="shrinkage", probability_strength="oob", random_state=5
    ),
    "complex spectra": made("OrthogonalTreesClassifier", n_estimators=4, random_state=6, energy=1.0),
    "two classes, spectra": made("AggregatedFourierTreeClassifier", y=(Y > 0), n_estimators=4, random_state=6),
    "quantiles of trees": made(
        "ReconstructedFourierTreeClassifier",
        n_estimators=3,
        min_samples_leaf=4,
        discretization="quantile",
        random_state=6,
    ),
    "missing values in codes": made("C45BaggingClassifier", HOLES, missing="impute", n_estimators=3, random_state=6),
    "regions of a size found": made("PathfinderClassifier", grid_size="auto", max_grid_size=6),
    "neighbors by distances": made("NearestNeighborsClassifier", DISTANCES, Y, metric="precomputed"),
    "neighbors without scaling": made("WilsonClassifier", scaling="none", n_neighbors=3),
    "gaussian planes": made("GEPSVMClassifier", kernel="gaussian"),
    "planes without scaling": made("GEPSVMClassifier", standardize=False),
    "one machine a class": made("SupportVectorClassifier", multiclass="one_vs_rest", y=WORDS[Y]),
    "machine without scaling": made("SupportVectorClassifier", standardize=False, kernel="linear", y=Y > 0),
    "linear leaves of some columns": made("TPRTIRegressor", y=TARGET, discrete=[0, 2], variant="B"),
    "constants of a frame": made("CARTRegressor", NUMBERS, TARGET, max_depth=3),
}
