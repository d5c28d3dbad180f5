"""What holds for every estimator: scikit-learn's checks, what is refused, defaults, seeds and threads, weights of 0."""

import json
import re
from typing import Any

import jsonschema
import numpy as np
import pytest
from contracts import DRAWING_PRUNINGS, PRUNING_NAMES, forbidden, real_set
from robustness_support import NAMES, REGRESSION, WEIGHTED, estimator, rows, small_parameters
from sklearn.base import is_regressor
from sklearn.utils.estimator_checks import check_estimator

from oblique_cli import HHGDTClassifier, ObliqueTreeClassifier, TAOClassifier
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.estimators.oblique.bottom_up import BottomUpTreeClassifier
from oblique_cli.estimators.oblique.heuristics import HeuristicTreeClassifier
from oblique_cli.estimators.regression.cart import CARTRegressor

# Estimators of the papers have tests of their own.
OUTSIDE_PAPERS = [name for name in NAMES if ALGORITHMS[name].estimator.__module__.startswith("oblique_cli.estimators.")]
CLASSES = sorted(
    {ALGORITHMS[name].estimator for name in OUTSIDE_PAPERS} - {CARTRegressor}, key=lambda cls: cls.__name__
)
CLASSES += [ObliqueTreeClassifier, BottomUpTreeClassifier]  # the parameters of CART are checked by scikit-learn
TREES = [cls for cls in CLASSES if issubclass(cls, ObliqueTreeClassifier) and cls is not ObliqueTreeClassifier]
THREADED = [name for name in OUTSIDE_PAPERS if "n_jobs" in make(name).get_params()]

# Options that take another way through a fit than the defaults.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *(("hhgdt", {"pruning": pruning}) for pruning in PRUNING_NAMES if pruning != "none"),
    *(("hhcart_a", {"missing": missing}) for missing in ("error", "impute", "learn")),
    ("hhgdt", {"engine": "reference"}),
    ("hhgdt", {"leaf_models": "logistic", "leaf_penalty": 1.0, "max_depth": 2}),
    ("hhgdt", {"probabilities": "laplace", "probability_strength": "cv", "max_depth": 3}),
    ("hhbut", {"components": "mccv", "component_folds": 2}),
    ("hhbut", {"merging": "overlap"}),
    ("butif_svm", {"hybrid": True}),
    ("hhbut", {"hybrid": True, "hybrid_heuristic": "hhgdt", "hybrid_overlap": 0.3, "max_features": 2}),
    ("gepsvm", {"kernel": "gaussian"}),
    ("hhgdt_forest", {"probabilities": "shrinkage", "probability_strength": "oob"}),
    ("tao_forest", {"bootstrap": False, "penalty": 0.05}),
    ("oblique_forest_regression", {"leaves": "linear"}),
    ("oblique_boosting_regression", {"loss": "quantile"}),
    ("hhcart_regression", {"pruning": "none"}),
    ("hhcart_model_tree", {"pruning": "none"}),
]
QUICKLY = ("hhcart_a", "bagged_forest", "tprti_a", "cart_regression", "oblique_boosting")
QUICK_VARIANTS = ({"pruning": "cv"}, {"missing": "learn"}, {"merging": "overlap"}, {"leaves": "linear"})
# Classes of heuristics differ by what they propose alone, algorithms of one class by values of parameters.
OF_CLASSES = {
    ALGORITHMS[name].estimator: name
    for name in reversed(OUTSIDE_PAPERS)
    if not issubclass(ALGORITHMS[name].estimator, HeuristicTreeClassifier)
}
CHECKED = [
    *(
        pytest.param(name, {}, marks=[] if name in QUICKLY else pytest.mark.long)
        for name in ("hhcart_a", "gdt", "oc1", "sadt", "union", *OF_CLASSES.values())
    ),
    *(pytest.param(*case, marks=[] if case[1] in QUICK_VARIANTS else pytest.mark.long) for case in VARIANTS),
]
# Rows that are drawn at random, or divided into folds, are others once a row is repeated instead of weighted. Ensembles
# draw rows; these algorithms and variants divide them.
REPEATS = "check_sample_weight_equivalence_on_dense_data"
DIVIDING = ("hhcart_regression", "linear_tree", "lmt", "logistic_tree", "tao", "tao_regression")
DIVIDING_VARIANTS = [
    params for _, params in VARIANTS if params.get("pruning") in DRAWING_PRUNINGS or "probability_strength" in params
]


@pytest.mark.parametrize(("name", "params"), CHECKED)
def test_scikit_learns_checks_pass(name, params):
    sizes = {"n_estimators": 40} if name.startswith("oblique_boosting") else {}  # too few learn too little
    model = make(name, **{**small_parameters(name), **sizes, **params})
    results = check_estimator(model, on_fail=None, on_skip=None)
    assert len(results) > 40
    messages = {result["check_name"]: str(result["exception"]) for result in results if result["status"] == "failed"}
    resampled = "n_estimators" in model.get_params() or params in DIVIDING_VARIANTS or (not params and name in DIVIDING)
    # The second check sets `min_weight_fraction_leaf` wherever a class has it; that of tao belongs to its base.
    allowed = {REPEATS: resampled, "check_class_weight_classifiers": name == "tao"}
    assert messages.keys() <= {check for check, is_allowed in allowed.items() if is_allowed}, messages
    passed = {result["check_name"] for result in results if result["status"] == "passed"}
    assert {result["check_name"] for result in results if result["status"] == "skipped"} <= {"check_array_api_input"}
    assert ("check_regressor_multioutput" in passed) == model.__sklearn_tags__().target_tags.multi_output


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_value_that_a_constraint_forbids_is_refused_by_its_name(cls):
    X, y = real_set("iris").X[::5], real_set("iris").y[::5].astype(float if is_regressor(cls()) else int)
    # A heuristic's class adds few to those of all trees.
    common = ObliqueTreeClassifier.constraints if cls in TREES else {}
    for name in cls.constraints.keys() - common.keys():
        for value in forbidden(cls.constraints[name]):
            with pytest.raises(ConfigError) as caught:
                cls(**{name: value}).fit(X, y)
            expected = f"{name} of {cls.__name__} must be {cls.constraints[name].describe()}. Got "
            assert str(caught.value).startswith(expected) and "\n" not in str(caught.value)


# What no constraint of one parameter says, as far as the command line cannot give it (tests/cli/messages.txt has the
# others): algorithm, parameters, the parameter that the message opens with, and a word of the remedy or reason.
REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("rof", {"max_features": 2}, "max_features", "must be None"),
    ("raf", {"n_jobs": 0}, "n_jobs", "must not be 0"),
    ("logistic_tree", {"models": "logit_boost", "refine": "tao"}, "refine", "'ridge'"),
    ("logistic_tree", {"models": "logit_boost", "max_terms": 3}, "max_terms", "'ridge'"),
    ("logistic_tree", {"base": TAOClassifier()}, "base", "ObliqueTreeClassifier"),
    ("tao", {"base": HHGDTClassifier(pruning="reduced_error")}, "base", "'cv'"),
    *(
        ("tao", {"base": HHGDTClassifier(**{name: value})}, f"{name}=", f"set {name}")
        for name, value in (("probabilities", "laplace"), ("class_weight", "balanced"))
    ),
    ("tprti_a", {"discrete": [5]}, "discrete", "columns from 0 to"),
]


@pytest.mark.parametrize(("name", "params", "parameter", "words"), REFUSED)
def test_parameters_that_do_not_go_together_are_refused_in_a_sentence(name, params, parameter, words):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)), np.arange(40) % 2
    with pytest.raises(ConfigError) as caught:
        ALGORITHMS[name].estimator(**{**getattr(ALGORITHMS[name], "fixed", {}), **params}).fit(
            X, y.astype(float) if name in REGRESSION else y
        )
    message = str(caught.value)
    assert message.startswith(parameter) and words in message and "\n" not in message, message


@pytest.mark.parametrize("name", NAMES)
def test_defaults_are_complete_allowed_and_those_of_the_estimator(name):
    algorithm = ALGORITHMS[name]
    assert algorithm.name == name and re.fullmatch(r"[a-z][a-z0-9_]*", name)
    assert re.search(r"\((19|20)\d\d\)", algorithm.source)
    assert [known.title for known in ALGORITHMS.values()].count(algorithm.title) == 1
    assert list(algorithm.defaults) == list(algorithm.parameters)
    for parameter, constraint in algorithm.parameters.items():
        value = algorithm.defaults[parameter]
        assert constraint.holds(value), parameter
        assert jsonschema.Draft202012Validator(constraint.schema()).is_valid(json.loads(json.dumps(value))), parameter
    plain, spelled_out = make(name, random_state=0), make(name, random_state=0, **algorithm.defaults)
    assert repr(plain) == repr(spelled_out)
    assert plain.get_params().keys() == spelled_out.get_params().keys()


def answers(model: Any, X: Any) -> list[Any]:
    """Labels or numbers, probabilities and leaves of rows."""
    return [getattr(model, method)(X) for method in ("predict", "predict_proba", "apply") if hasattr(model, method)]


@pytest.mark.sample(16)
@pytest.mark.parametrize("name", OUTSIDE_PAPERS)
def test_a_seed_decides_whatever_the_number_of_threads(name):
    X, y = rows(name, 60, 4)
    models = []
    for threads in (1, 3):
        model = estimator(name)
        if "random_state" in model.get_params():
            model.set_params(random_state=np.random.RandomState(4))
        models.append(model.set_params(**({"n_jobs": threads} if name in THREADED else {})).fit(X, y))
    for a, b in zip(*(answers(model, X) for model in models), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.sample(16)
@pytest.mark.parametrize("name", [name for name in OUTSIDE_PAPERS if name in WEIGHTED])
def test_rows_of_weight_0_are_as_good_as_removed(name):
    X, y = rows(name, 60, 3)
    weights = np.random.default_rng(0).integers(0, 3, 60).astype(float)
    there = weights > 0
    zeros = estimator(name).fit(X, y, sample_weight=weights)
    removed = estimator(name).fit(X[there], y[there], sample_weight=weights[there])
    for a, b in zip(answers(zeros, X), answers(removed, X), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", [name for name in OUTSIDE_PAPERS if name in WEIGHTED and name not in REGRESSION])
def test_a_class_without_weight_is_known_and_never_predicted(name):
    for classes in ([0, 1], [0, 1, 2]):
        X, y = rows(name, 60, 3, n_classes=len(classes))
        model = estimator(name)
        if "probabilities" in model.get_params():  # the default adds a share to every class
            model.set_params(probabilities="counts")
        model.fit(X, y, sample_weight=(y != 1).astype(float))
        assert model.classes_.tolist() == classes and {*model.predict(X)} == {*classes} - {1}
        if hasattr(model, "predict_proba"):
            shares = model.predict_proba(X)
            # The models of these are penalized or boosted by steps, so that no share of theirs is 0.
            smoothed = name in ("lmt", "logistic_forest", "logistic_tree")
            assert np.isfinite(shares).all() and shares[:, 1].max() <= (0.5 if smoothed else 1e-9)


# Options that a fit learns something by, which the next fit without them does not.
LEARNING: list[tuple[str, dict[str, Any]]] = [
    ("hhgdt", {"refine": "tao", "max_depth": 2, "probabilities": "laplace", "missing": "impute"}),
    ("hhgdt", {"leaf_models": "logistic", "leaf_penalty": 1.0, "max_depth": 2}),
    ("hhgdt", {"path": True, "pruning": "cv"}),
    ("hhgdt_forest", {"oob_score": True, "probabilities": "shrinkage"}),
    ("oblique_boosting", {"n_iter_no_change": 2}),
    ("oblique_forest_regression", {"oob_score": True}),
    ("hhcart_model_tree", {"leaf_residuals": True}),
    ("hhbut", {"merging": "overlap"}),
]


@pytest.mark.parametrize(("name", "params"), LEARNING)
def test_a_further_fit_forgets_what_it_does_not_learn(name, params):
    X, y = rows(name, 60, 4)
    plain = estimator(name).fit(X, y)
    model = estimator(name).set_params(**params).fit(X, y)
    assert vars(model).keys() != vars(plain).keys()
    model.set_params(**{key: plain.get_params()[key] for key in params}).fit(X, y)
    assert vars(model).keys() == vars(plain).keys()
