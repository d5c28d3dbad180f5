"""Known classes of other libraries for configurations, listed without importing a library."""

from __future__ import annotations

import csv
import difflib
import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oblique_cli.ground.constraints import Choice, Constraint, Text
from oblique_cli.ground.strict_yaml import Problems, parse, read

# Allowed parameters by library, and the known classes, whose parameters tools/signatures.py writes.
ALLOWED = Path(__file__).with_name("allowed.yaml")
SIGNATURES = Path(__file__).with_name("signatures.csv")

# Values of `prepare` in a configuration: scaling of columns, fitted on the training rows. "squares" adds the
# standardized squares of standardized columns with more than two values.
PREPARATIONS = ("standardize", "minmax", "robust", "squares")

NUMBER = re.compile(r"-?\d+(\.\d+)?([eE]-?\d+)?")
WEIGHT = bool | int | float | None
_CLASS = r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+"
CLASS: Constraint = Text(_CLASS, "a class with its module, as in sklearn.ensemble.RandomForestClassifier")
PREPARE: Constraint = Choice(PREPARATIONS)


# First name of a known class's module -> the library's name for pip. WEKA runs in java: weka_classifier.py.
_INSTALLED_BY_NAME = (
    *("lightgbm", "xgboost", "ydf", "treeple", "stree", "obliquetree", "aeon", "imodels", "catboost", "pycontree"),
    *("pystreed", "pytabkit", "weka"),
)
LIBRARIES: Mapping[str, str] = {
    "sklearn": "scikit-learn",
    **{name: name for name in _INSTALLED_BY_NAME},
    "interpret": "interpret-core",
}


@dataclass(frozen=True)
class Signature:
    """Task of a known class, and its parameters that a configuration may set in a version of its library, "" if the
    table does not have them."""

    task: str
    version: str
    parameters: tuple[str, ...]


with SIGNATURES.open(encoding="utf-8", newline="") as _file:
    CLASSES: Mapping[str, Signature] = {
        row["class"]: Signature(row["task"], row["version"], tuple(row["parameters"].split()))
        for row in csv.DictReader(_file)
    }


def library_of(path: str) -> str:
    """Return the first name in the dotted path of a class."""
    return path.partition(".")[0]


def packages_of(names: Iterable[str]) -> list[str]:
    """Return the pip names of the known libraries of these classes; names of other algorithms are skipped."""
    libraries = [library_of(name) for name in names if "." in name]
    return [LIBRARIES[library] for library in dict.fromkeys(libraries) if library in LIBRARIES]


def task_of_class(path: str) -> str:
    """Return the task of a class: as listed above, else "regression" if its name contains it."""
    return CLASSES[path].task if path in CLASSES else "regression" if path.endswith("Regressor") else "classification"


def near(path: str) -> str:
    """Return a sentence with the known classes of the most similar names."""
    word = path.rpartition(".")[2].lower()
    by_name: dict[str, list[str]] = {}
    for known in CLASSES:
        by_name.setdefault(known.rpartition(".")[2].lower(), []).append(known)
    close = [name for name in by_name if len(word) > 2 and name.startswith(word)]
    close += difflib.get_close_matches(word, by_name, n=3, cutoff=0.75)
    names = [full for name in dict.fromkeys(close) for full in by_name[name]]
    # A typing error is more likely within a library than across libraries.
    names = [full for full in names if library_of(full) == library_of(path)] or names
    if names:
        return f" Did you mean {' or '.join(names[:2])}?"
    if same := [full for full in CLASSES if library_of(full) == library_of(path)]:
        return f" Known of {library_of(path)}: {', '.join(same[:6])}{', ...' if len(same) > 6 else ''}."
    return ""


# Usual short names, as the class is called without "Classifier".
SHORT = {
    "rf": "randomforest", "cart": "decisiontree", "gbm": "gradientboosting",
    "xgboost": "xgb", "lightgbm": "lgbm", "ebm": "explainableboosting", "lda": "lineardiscriminantanalysis",
    "qda": "quadraticdiscriminantanalysis", "naivebayes": "gaussiannb", "svm": "svc", "neuralnetwork": "mlp",
}  # fmt: skip


def class_of_word(word: str) -> str | None:
    """Return the known class for a usual name, None if there is none: "random_forest" or "rf" -> RandomForest..."""
    plain = re.sub(r"[^a-z0-9]", "", word[:80].lower())
    wanted = SHORT.get(plain, plain)
    return next((path for path in CLASSES if path.rpartition(".")[2].lower() in (wanted, f"{wanted}classifier")), None)


@dataclass(frozen=True)
class Values:
    """Allowed values of a parameter: numbers, and the kinds of values in allowed.yaml."""

    kinds: frozenset[str]
    words: tuple[str, ...] = ()

    def hold(self, value: Any) -> bool:
        """Return whether a plain value is allowed; nested classes and their parameters are not checked."""
        if isinstance(value, str):
            if "flags" in self.kinds:
                return all(word in self.words or NUMBER.fullmatch(word) for word in value.split())
            return value in self.words
        if isinstance(value, list | tuple):
            return "lists" in self.kinds and all(map(self.hold, value))
        if isinstance(value, Mapping):
            if nested_class(value):
                return "estimators" in self.kinds
            words = all(re.fullmatch(r"\w{1,64}", str(key)) for key in value)
            return "mappings" in self.kinds and words and all(isinstance(w, WEIGHT) for w in value.values())
        return isinstance(value, WEIGHT)

    def describe(self) -> str:
        """Return the description of allowed values, for error messages."""
        kinds = {"mappings": "a mapping of words to numbers", "estimators": "{class: ..., params: ...}"}
        kinds |= {"flags": f"numbers and the options {', '.join(self.words)}"}
        forms = ["a number", *(what for kind, what in kinds.items() if kind in self.kinds)]
        if self.words and "flags" not in self.kinds:
            forms.append(f"one of {', '.join(map(repr, self.words))}")
        return " or ".join(forms)


@functools.cache
def allowed() -> Mapping[str, Mapping[str, Values]]:
    """Return library -> parameter -> allowed values."""
    problems = Problems()
    plain = parse(read(ALLOWED, ALLOWED.name, problems), problems, quick=True).plain()
    problems.check()
    by_library: dict[str, dict[str, Values]] = {}
    for library, groups in plain.items():
        kinds: dict[str, set[str]] = {}
        words = {**groups.get("words", {}), **groups.get("flags", {})}
        for kind, names in groups.items():
            for name in names if isinstance(names, Mapping) else names.split():
                kinds.setdefault(name, set()).add(kind)
        by_library[library] = {
            name: Values(frozenset(of_name), tuple(words.get(name, "").split())) for name, of_name in kinds.items()
        }
    return by_library


def parameters_of(path: str) -> Mapping[str, Values]:
    """Return the parameters of a known class that a configuration may set."""
    known = allowed().get(library_of(path), {})
    signature = CLASSES.get(path)
    return {name: known[name] for name in signature.parameters} if signature and signature.version else known


def refused(path: str, params: Mapping[str, Any], name: str, value: Any) -> str:
    """Return why a configuration may not set a parameter of a known class, "" if it may. params : all of the class"""
    known = parameters_of(path)
    if name not in known:
        close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
        return f"{path} has no parameter {name!r} that is known to open no file and to run no code.{hint}"
    if "grids" in known[name].kinds:
        grids = value if isinstance(value, list | tuple) else (value,)
        return next(filter(None, (_refused_of_grid(path, params, name, grid) for grid in grids)), "")
    if known[name].hold(value):
        return ""
    shown = repr(value) if len(repr(value)) <= 80 else f"{repr(value)[:80]}..."
    cure = f" To let cross-validation choose, write grid: {{{name}: {shown}}}." if isinstance(value, list) else ""
    return f"{name} of {path} must be {known[name].describe()}. Got {shown}.{cure}"


def _refused_of_grid(path: str, params: Mapping[str, Any], name: str, grid: Any) -> str:
    """Return why a configuration may not set a parameter to a grid of values for a nested estimator, "" if it may."""
    if not isinstance(grid, Mapping) or not all(isinstance(values, list | tuple) for values in grid.values()):
        return f"{name} of {path} must be a mapping of parameters to lists of values."
    for key, values in grid.items():
        *steps, last = ("estimator", *str(key).split("__"))
        node: Any = {"params": params}
        for step in steps:
            node = (node.get("params") or {}).get(step) if isinstance(node, Mapping) else None
        inner = nested_class(node)
        if inner is None:
            return f"{name} of {path} has the key {key!r}, which is no parameter of its estimator."
        for value in values if inner in CLASSES else ():
            if nested_class(value):
                return f"{key} in {name} of {path} must be words and numbers. Got an estimator."
            if fault := refused(inner, node.get("params") or {}, last, value):
                return fault
    return ""


def nested_class(value: Any) -> str | None:
    """Return the class of a parameter of the form {class: ..., params: ...}; None for any other value."""
    return value["class"] if isinstance(value, Mapping) and isinstance(value.get("class"), str) else None
