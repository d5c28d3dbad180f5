"""Classes of other libraries that a configuration may name without further ado.

Everything here is said without importing a library, so that a configuration can be checked without running anything.
"""

from __future__ import annotations

import csv
import difflib
import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from oblique_cli.ground.constraints import Choice, Constraint, Text
from oblique_cli.ground.resources import PACKAGE

# What `prepare` of a configuration may be: how columns are scaled, as learned from the training rows.
# "squares" puts the squares of standardized columns beside them, standardized too, where a column has over two values.
PREPARATIONS = ("standardize", "minmax", "robust", "squares")

_CLASS = r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+"
CLASS: Constraint = Text(_CLASS, "a class with its module, as in sklearn.ensemble.RandomForestClassifier")
PREPARE: Constraint = Choice(PREPARATIONS)


@dataclass(frozen=True)
class Library:
    """A library whose classes are known.

    install   what pip calls it
    closed    parameters that a configuration may not set -> why
    """

    install: str
    closed: Mapping[str, str]


_OURS = "the runner sets it"
LIBRARIES: Mapping[str, Library] = {
    "sklearn": Library("scikit-learn", {}),
    "lightgbm": Library("lightgbm", {}),
    "xgboost": Library("xgboost", {"callbacks": "it takes Python objects"}),
    "ydf": Library(
        "ydf",
        {
            **dict.fromkeys(("label", "task", "features", "data_spec", "label_classes", "include_all_columns"), _OURS),
            **dict.fromkeys(("weights", "ranking_group", "uplift_treatment"), "a data set has no such column"),
            **dict.fromkeys(("tuner", "feature_selector", "extra_training_config"), "it takes Python objects"),
            "working_dir": "models are not written to disk",
        },
    ),
    "treeple": Library("treeple", {}),
    "stree": Library("stree", {}),
    "obliquetree": Library("obliquetree", {}),
    "interpret": Library("interpret-core", {}),
    "aeon": Library("aeon", {}),
    "imodels": Library("imodels", {}),
    "catboost": Library(
        "catboost",
        {
            **dict.fromkeys(("train_dir", "snapshot_file", "save_snapshot", "name"), "models are not written to disk"),
            "allow_writing_files": _OURS,
            "callback": "it takes Python objects",
        },
    ),
    "pycontree": Library("pycontree", {}),
    "pystreed": Library("pystreed", {}),
    "pytabkit": Library("pytabkit", {"tmp_folder": "models are not written to disk"}),
    # Not of Python: weka_classifier.py runs it by java.
    "weka": Library("weka", {}),
}

_CLASSIFIERS = """
sklearn.calibration CalibratedClassifierCV
sklearn.discriminant_analysis LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis
sklearn.dummy DummyClassifier
sklearn.ensemble AdaBoostClassifier BaggingClassifier ExtraTreesClassifier GradientBoostingClassifier
sklearn.ensemble HistGradientBoostingClassifier RandomForestClassifier
sklearn.gaussian_process GaussianProcessClassifier
sklearn.linear_model LogisticRegression LogisticRegressionCV PassiveAggressiveClassifier Perceptron RidgeClassifier
sklearn.linear_model RidgeClassifierCV SGDClassifier
sklearn.model_selection GridSearchCV
sklearn.multiclass OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier
sklearn.naive_bayes BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB
sklearn.neighbors KNeighborsClassifier NearestCentroid RadiusNeighborsClassifier
sklearn.neural_network MLPClassifier
sklearn.svm LinearSVC NuSVC SVC
sklearn.tree DecisionTreeClassifier ExtraTreeClassifier
lightgbm LGBMClassifier
xgboost XGBClassifier XGBRFClassifier
ydf CartLearner GradientBoostedTreesLearner RandomForestLearner
treeple ExtraObliqueRandomForestClassifier HonestForestClassifier ObliqueRandomForestClassifier
treeple PatchObliqueRandomForestClassifier
treeple.tree ExtraObliqueDecisionTreeClassifier HonestTreeClassifier ObliqueDecisionTreeClassifier
treeple.tree PatchObliqueDecisionTreeClassifier
stree Stree
obliquetree Classifier
interpret.glassbox ClassificationTree ExplainableBoostingClassifier
aeon.classification.sklearn ContinuousIntervalTree RotationForestClassifier
imodels FIGSClassifier GreedyTreeClassifier HSTreeClassifier TaoTreeClassifier
catboost CatBoostClassifier
pycontree ConTree
pystreed STreeDClassifier
pytabkit RealMLP_TD_Classifier TabM_D_Classifier
weka.classifiers.functions Logistic
weka.classifiers.trees LMT
"""

_REGRESSORS = """
sklearn.dummy DummyRegressor
sklearn.ensemble AdaBoostRegressor BaggingRegressor ExtraTreesRegressor GradientBoostingRegressor
sklearn.ensemble HistGradientBoostingRegressor RandomForestRegressor
sklearn.gaussian_process GaussianProcessRegressor
sklearn.kernel_ridge KernelRidge
sklearn.linear_model ARDRegression BayesianRidge ElasticNet ElasticNetCV HuberRegressor Lars LarsCV Lasso LassoCV
sklearn.linear_model LassoLars LassoLarsCV LassoLarsIC LinearRegression OrthogonalMatchingPursuit
sklearn.linear_model PassiveAggressiveRegressor PoissonRegressor QuantileRegressor RANSACRegressor Ridge RidgeCV
sklearn.linear_model SGDRegressor TheilSenRegressor TweedieRegressor
sklearn.neighbors KNeighborsRegressor RadiusNeighborsRegressor
sklearn.neural_network MLPRegressor
sklearn.svm LinearSVR NuSVR SVR
sklearn.tree DecisionTreeRegressor ExtraTreeRegressor
lightgbm LGBMRegressor
xgboost XGBRegressor XGBRFRegressor
treeple ExtraObliqueRandomForestRegressor ObliqueRandomForestRegressor PatchObliqueRandomForestRegressor
treeple.tree ExtraObliqueDecisionTreeRegressor ObliqueDecisionTreeRegressor PatchObliqueDecisionTreeRegressor
obliquetree Regressor
interpret.glassbox ExplainableBoostingRegressor RegressionTree
aeon.regression.sklearn RotationForestRegressor
imodels FIGSRegressor GreedyTreeRegressor HSTreeRegressor TaoTreeRegressor
"""


def _listed(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        module, _, names = line.partition(" ")
        yield from (f"{module}.{name}" for name in names.split())


CLASSES: Mapping[str, str] = dict.fromkeys(_listed(_CLASSIFIERS), "classification") | dict.fromkeys(
    _listed(_REGRESSORS), "regression"
)


def library_of(path: str) -> str:
    """Return the first name of a class with its module."""
    return path.partition(".")[0]


def packages_of(names: Iterable[str]) -> list[str]:
    """Return what pip calls the known libraries of these classes; names of other algorithms are passed over."""
    libraries = [library_of(name) for name in names if "." in name]
    return [LIBRARIES[library].install for library in dict.fromkeys(libraries) if library in LIBRARIES]


def task_of_class(path: str) -> str:
    """Return what a class predicts: as listed above, else "regression" if its name says so."""
    return CLASSES.get(path, "regression" if path.endswith("Regressor") else "classification")


def near(path: str) -> str:
    """Return the sentence that names the nearest known classes, by their own name or with their module."""
    own = path.rpartition(".")[2].lower()
    by_name: dict[str, list[str]] = {}
    for known in CLASSES:
        by_name.setdefault(known.rpartition(".")[2].lower(), []).append(known)
    names = [full for name in difflib.get_close_matches(own, by_name, n=3, cutoff=0.75) for full in by_name[name]]
    # A class of the same library is meant more often than one of a similar name elsewhere.
    names = [full for full in names if library_of(full) == library_of(path)] or names
    if names:
        return f" Did you mean {' or '.join(names[:2])}?"
    if same := [full for full in CLASSES if library_of(full) == library_of(path)]:
        return f" Known of {library_of(path)}: {', '.join(same[:6])}{', ...' if len(same) > 6 else ''}."
    return ""


def closed(path: str, name: str) -> str:
    """Return why a configuration may not set a parameter of a known class, "" if it may."""
    library = LIBRARIES.get(library_of(path))
    if library is None:
        return ""
    if library_of(path) == "lightgbm" and any(word in name for word in ("file", "machine", "snapshot")):
        return "a configuration names no files to a library"
    return library.closed.get(name, "")


# Written by tools/signatures.py.
SIGNATURES = PACKAGE / "estimators" / "outside" / "signatures.csv"


@dataclass(frozen=True)
class Signature:
    """The parameters of a known class in a version of its library. further : whether it takes others as well"""

    version: str
    further: bool
    parameters: tuple[str, ...]


@functools.cache
def signatures() -> Mapping[str, Signature]:
    """Return class with its module -> its parameters, as far as the table of them goes."""
    if not SIGNATURES.is_file():
        return {}
    with SIGNATURES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        row["class"]: Signature(row["version"], bool(row["further"]), tuple(row["parameters"].split())) for row in rows
    }


def no_parameter(path: str, name: str, known: Iterable[str], further: bool, likeness: float = 0.9) -> str:
    """Return the sentence that a class has no such parameter; "" if it takes others than those known, and none is near.

    further : whether it does; likeness : how near, from 0 to 1
    """
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=3, cutoff=likeness if further else 0.5)
    if further and not close:
        return ""
    hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else f" It has: {', '.join(known)}."
    return f"{path} has no parameter {name!r}.{hint}"


def misspelt(path: str, name: str, importable: bool) -> str:
    """Return what is wrong with the name of a parameter of a known class, without importing it; "" for nothing.

    Where another release of the library is installed than that of the table, a name that is like no other one may be
    new or gone, and passes; one that is like another is doubted only if nobody can ask the class itself (importable).
    """
    one = signatures().get(path)
    if one is None or name in one.parameters:
        return ""
    library = LIBRARIES[library_of(path)].install
    try:
        installed = metadata.version(library)
    except metadata.PackageNotFoundError:
        installed = "none"
    if _release(installed) == _release(one.version):
        return no_parameter(path, name, one.parameters, one.further)
    doubt = "" if importable else no_parameter(path, name, one.parameters, True, 0.9 if one.further else 0.8)
    if not doubt:
        return ""
    return f"{doubt} That is so in {library} {one.version}, here is {installed}: oblique validate --import asks it."


def _release(version: str) -> list[str]:
    return version.split(".")[:2]


def nested_class(value: Any) -> str | None:
    """Return the class of a parameter that is an estimator itself: {class: ..., params: ...}; None for any other."""
    return value["class"] if isinstance(value, Mapping) and isinstance(value.get("class"), str) else None
