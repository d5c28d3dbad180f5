"""What holds for every estimator of the papers: scikit-learn's checks, refused parameters, and a configuration."""

import pytest
from contracts import forbidden
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from oblique_cli import config
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.papers.discrete import c45_classifiers as c45
from oblique_cli.papers.discrete import fourier_classifiers as fourier
from oblique_cli.papers.hierarchy import editing_classifiers as editing
from oblique_cli.papers.hierarchy.neighbors import NearestNeighborsClassifier
from oblique_cli.papers.hierarchy.taxonomy_estimators import AvalancheClustering, SupervisedTaxonomy
from oblique_cli.papers.pathfinder.classifier import PathfinderClassifier

ESTIMATORS = [
    c45.C45Classifier(missing="impute"),
    c45.C45BaggingClassifier(n_estimators=4),
    c45.C45ForestClassifier(n_estimators=4),
    fourier.ReconstructedFourierTreeClassifier(n_estimators=4, missing="impute"),
    fourier.AggregatedFourierTreeClassifier(n_estimators=4),
    fourier.OrthogonalTreesClassifier(n_estimators=4, missing="impute"),
    AvalancheClustering(),
    SupervisedTaxonomy(),
    NearestNeighborsClassifier(3, weights="distance"),
    editing.WilsonClassifier("distance", n_neighbors=3),
    editing.MultiEditClassifier(),
    editing.SupervisedClusteringEditClassifier(restarts=1),
    editing.HCEditClassifier("upgma", beta=0.8),
    PathfinderClassifier(),
]
NAMES = [
    name for name, algorithm in ALGORITHMS.items() if algorithm.estimator.__module__.startswith("oblique_cli.papers.")
]


@pytest.mark.sample(4)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_estimators_pass_scikit_learns_checks(estimator):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    assert len(results) > 40
    assert {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"} == {}
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= {"check_array_api_input"}


@pytest.mark.parametrize("model", ESTIMATORS, ids=repr)
def test_a_parameter_out_of_range_is_refused_by_name(model):
    for name, constraint in type(model).constraints.items():
        for value in forbidden(constraint):
            with pytest.raises(ConfigError, match=f"^{name} of {type(model).__name__} must be .*[.] Got "):
                clone(model).set_params(**{name: value}).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("name", NAMES)
def test_the_bundled_configuration_names_the_algorithm(name):
    assert name in [spec.name for spec in config.load(name).algorithms]
