"""Metrics: one function each, registered with its properties for tables, tests and tuning.

A metric from outside the package is one file with a function under `@metric(...)`; importing the file is enough for
`oblique list metrics`, `metrics:` of a configuration, `--metric` of the commands and `cv.tune.metric`.

Undefined values. A metric without a value on the test rows of a fold, such as an AUC of a single class, raises
`Undefined` with the reason. The row stores the reason in place of the number, a repetition with such a fold has no
value, and tables show a dash and a note. No metric returns NaN.
"""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ConfigError, DataError, PluginError, quoted
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.later import Later
from oblique_cli.ground.nodes import depths_of
from oblique_cli.ground.nouns import CVSpec, Row
from oblique_cli.ground.registry import Registry, close_matches, fault_of_type, misfit, source_of
from oblique_cli.schemes import SCHEMES
from oblique_cli.tree.structure import Tree, of_classes

sk: Any = Later("sklearn.metrics")

Codes = NDArray[np.integer[Any]]
Matrix = tuple[tuple[Fraction, ...], ...]

CLASSIFICATION, REGRESSION, ANY_TASK = "classification", "regression", "any"
LABELS, PROBABILITIES, MODEL, ROW = "labels", "probabilities", "model", "row"
POOLED, MEAN, SUM = "pooled", "mean", "sum"

# Arguments of the functions of each kind. `weights` is optional.
ARGUMENTS = {
    LABELS: ("y", "predicted", "weights"),
    PROBABILITIES: ("y", "probabilities", "weights"),
    MODEL: ("model", "X"),
    ROW: ("row",),
}

UNDEFINED = "undefined: "  # start of the text that a row stores in place of a number


class Undefined(ValueError):
    """A metric has no value on these rows; the message has the reason."""


class NotMeasured(ConfigError):
    """Error: the metric was not computed when the stored fold was run."""


@dataclass(frozen=True, eq=False)
class Scored:
    """Results of a fitted model on the test rows X of a fold. y, predicted : (n,) class codes, or numbers"""

    y: NDArray[Any]
    predicted: NDArray[Any]
    n_classes: int
    probabilities: Callable[[], Array]
    model: Any
    X: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Metric:
    """Metric under its name.

    title               heading of table columns
    unit                "%", "s", "nats", ...; "" for a plain number
    larger_is_better    the direction
    task                CLASSIFICATION, REGRESSION or ANY_TASK
    needs               LABELS: function(y, predicted, weights); PROBABILITIES: function(y, probabilities, weights);
                        MODEL: function(model, X); ROW: function(row), of the fields of a stored row
    aggregate           combination of the folds of a repetition: POOLED, the mean over their test rows; MEAN, over
                        the folds; SUM, of matrices of counts
    function            the metric itself; the first line of its docstring is its summary
    from_row            reads the value from a stored row without `measures`; None for a metric computed on request
    ratio               whether values are compared by their ratio (sizes, errors, times), not by their difference
    decimals            of a table cell; None for four significant digits
    published           its name in published tables, "" for the same name
    matrix              whether the value is a matrix of counts, which only tables support
    """

    name: str
    function: Callable[..., Any]
    title: str | None = None
    unit: str | None = None
    larger_is_better: bool | None = None
    task: str | None = None
    needs: str | None = None
    aggregate: str | None = None
    from_row: Callable[[Row], Any] | None = None
    ratio: bool = False
    decimals: int | None = None
    published: str = ""
    matrix: bool = False

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """Return the function, so that the registry can determine the file that defines a metric."""
        return self.function

    @property
    def summary(self) -> str:
        """Return the first line of the docstring."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]

    @property
    def point(self) -> float:
        """Return a hundredth of the scale in the metric's unit."""
        return 1.0 if self.unit == "%" else 0.01

    @property
    def measured(self) -> bool:
        """Return whether a fold computes the value when it runs, and stores it in `Row.measures`."""
        return self.needs != ROW and self.from_row is None

    def suits(self, task: str) -> bool:
        """Return whether the metric applies to a task."""
        return self.task in (task, ANY_TASK)

    def evaluate(self, scored: Scored) -> Any:
        """Return the value on the test rows of a fold, a float or lists of counts; raise Undefined if it has none."""
        if self.needs == MODEL:
            returned = self.function(scored.model, scored.X)
        else:
            returned = self.function(scored.y, scored.predicted if self.needs == LABELS else scored.probabilities())
        if self.matrix:
            counts = np.asarray(returned)
            if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or counts.dtype.kind not in "biuf":
                raise self._wrong("a square matrix of counts", returned)
            missing = scored.n_classes - len(counts)  # the last classes, if the fold has no rows of them
            return np.pad(counts, (0, missing)).tolist()
        try:
            value = float(returned)
        except (TypeError, ValueError):
            raise self._wrong("a number", returned) from None
        if not isfinite(value):
            raise Undefined(f"it came out as {value}")
        return value

    def _wrong(self, expected: str, result: Any) -> PluginError:
        """Return the exception to raise for a metric function that returned an invalid value."""
        return PluginError(f"{source_of(self)}: metric {self.name!r} must return {expected}. Got {quoted(result)}.")

    def of(self, row: Row) -> Any:
        """Return the value of a stored fold, a Fraction or a `Matrix`; raise Undefined or NotMeasured without one."""
        if self.needs == ROW or self.from_row is not None:
            stored = (self.from_row or self.function)(row)
        elif self.name in row.measures:
            stored = row.measures[self.name]
        else:
            raise NotMeasured(f"metric {self.name} is computed when a fold runs, and this one was run without it")
        if isinstance(stored, str):
            raise Undefined(stored.removeprefix(UNDEFINED))
        if self.matrix:
            return tuple(tuple(map(Fraction, counts)) for counts in stored)
        return stored if isinstance(stored, Fraction) else Fraction(stored)

    def combined(self, values: Sequence[Any], rows: Sequence[int]) -> Any:
        """Return the combined value of the folds' values. rows : test rows of each fold"""
        if self.aggregate == POOLED:
            return weighted_sum(values, rows) / sum(rows)
        if self.aggregate == MEAN:
            return weighted_sum(values, [1] * len(values)) / len(values)
        return tuple(tuple(map(sum, zip(*counts, strict=True))) for counts in zip(*values, strict=True))

    def of_repetition(self, rows: Sequence[Row]) -> Any:
        """Return the value of a repetition from the rows of all its folds. Raise Undefined if any fold raises it."""
        return self.combined([self.of(row) for row in rows], [row.n_test for row in rows])


def weighted_sum(values: Iterable[Fraction | float], weights: Iterable[int]) -> Fraction:
    """Return the exact sum of `values` times `weights`; numerators of equal denominators are added as integers."""
    sums: dict[int, int] = {}
    for value, weight in zip(values, weights, strict=True):
        numerator, denominator = value.as_integer_ratio()
        sums[denominator] = sums.get(denominator, 0) + weight * numerator
    return sum((Fraction(numerator, denominator) for denominator, numerator in sums.items()), Fraction(0))


# Fields that a metric needs, each with an example of its value
REQUIRED = {
    "title": "'recall'", "unit": "'%'", "larger_is_better": "True", "task": "CLASSIFICATION", "needs": "LABELS",
    "aggregate": "MEAN",
}  # fmt: skip


def _fault(metric: Metric) -> str | None:
    """Return the error of a metric as words that follow its name, or None."""
    if fault := fault_of_type(metric, Metric, "put @metric(...) over its function"):
        return fault
    allowed_values = {
        "task": (CLASSIFICATION, REGRESSION, ANY_TASK),
        "needs": tuple(ARGUMENTS),
        "aggregate": (POOLED, MEAN, SUM),
    }
    if isinstance(metric.function, type) or not callable(metric.function):
        return "is no function"
    if absent := [key for key in REQUIRED if getattr(metric, key) is None]:
        return f"has no {', '.join(absent)}; give, for example, {', '.join(f'{key}={REQUIRED[key]}' for key in absent)}"
    for key in ("title", "unit"):
        if not isinstance(getattr(metric, key), str):
            return f"has no {key}; give {key}=, a text"
    if not isinstance(metric.larger_is_better, bool):
        return "does not say its direction; give larger_is_better=True or False"
    for key in ("ratio", "matrix"):
        if not isinstance(getattr(metric, key), bool):
            return f"has {key} {getattr(metric, key)!r}, which must be True or False"
    if metric.decimals is not None and not (type(metric.decimals) is int and metric.decimals >= 0):
        return f"has decimals {metric.decimals!r}, which must be a whole number, at least 0, or None"
    if not isinstance(metric.published, str):
        return f"has published {metric.published!r}, which must be a text"
    if metric.from_row is not None and (fault := misfit(metric.from_row, "row")):
        return f"has a from_row that {fault}"
    for key, allowed in allowed_values.items():
        if getattr(metric, key) not in allowed:
            return f"has no {key}; give {key}=, one of {', '.join(map(repr, allowed))}"
    if metric.matrix != (metric.aggregate == SUM):
        return "must have aggregate 'sum' if it is a matrix, and only then"
    if metric.matrix and metric.needs == ROW:
        return "must not need 'row' if it is a matrix, because stored rows have none"
    if not metric.summary:
        return "has no docstring; its first line says what is measured"
    expected = ARGUMENTS[str(metric.needs)]
    without_weights = tuple(name for name in expected if name != "weights")
    try:
        parameters = tuple(inspect.signature(metric.function).parameters)
    except ValueError:  # a function written in C
        return f"does not say what it takes; wrap it in a function of ({', '.join(expected)})"
    if parameters not in (expected, without_weights):
        return f"must take ({', '.join(expected)}), as it needs {metric.needs!r}. It takes ({', '.join(parameters)})"
    return misfit(metric.function, *without_weights)  # weights without a default, or a keyword-only argument


ABOUT = tuple(field.name for field in fields(Metric) if field.name not in ("name", "function"))

METRICS: Registry[Metric] = Registry("metric", "oblique list metrics", _fault)


def metric(name: str, **about: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator that registers a function as the metric `name`. about : the fields of `Metric`"""

    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        if strays := sorted(about.keys() - set(ABOUT)):
            fault = f"says {strays[0]!r}, which is nothing to say of a metric; known: {', '.join(ABOUT)}"
            raise ConfigError(f"{source_of(function)}: metric {name!r} {fault}.")
        METRICS.register(name)(Metric(name, function, **about))
        return function

    return keep


# Properties that the metrics of a kind share.
_of_labels = partial(metric, unit="", larger_is_better=True, task=CLASSIFICATION, needs=LABELS, aggregate=MEAN)
_of_shares = partial(
    metric, unit="", larger_is_better=False, task=CLASSIFICATION, needs=PROBABILITIES, aggregate=POOLED
)
_of_numbers = partial(
    metric, unit="", larger_is_better=False, task=REGRESSION, needs=LABELS, aggregate=MEAN, ratio=True
)
_of_any = partial(metric, larger_is_better=False, task=ANY_TASK, aggregate=MEAN, ratio=True)
_of_rows = partial(_of_any, needs=ROW)
_of_models = partial(_of_any, needs=MODEL)

# Defaults of a run: the columns of its table, and the metrics of tests.
SHOWN = {CLASSIFICATION: ("accuracy", "leaves"), REGRESSION: ("mse", "rmse", "r2", "leaves")}
READ = ("n_terms",)  # sizes that every run measures, and shows beside the leaves
TESTED = {CLASSIFICATION: ("accuracy", "leaves"), REGRESSION: ("rmse", "leaves")}
# Metrics of a model on rows with known targets.
SCORED = {CLASSIFICATION: ("accuracy", "balanced_accuracy"), REGRESSION: ("rmse", "mae", "r2")}
REPORTED = ("accuracy", "balanced_accuracy", "f1_macro")  # of every fitted classifier on held-out rows
REPORTED_OF_TWO = (*REPORTED, "roc_auc")  # of a classifier with two classes
REPORTED_OF_NUMBERS = ("r2", "mae")


def to_measure(names: Sequence[str]) -> tuple[str, ...]:
    """Return the metrics among `names` that a run computes only on request, in the order of the registry."""
    always = {*SHOWN[CLASSIFICATION], *SHOWN[REGRESSION], *READ}
    return tuple(name for name in METRICS if name in names and METRICS[name].measured and name not in always)


def chosen(names: Sequence[str], task: str, owner: str, matrices: bool = False) -> tuple[str, ...]:
    """Return `names` without repeats. Raise ConfigError for a metric that is unknown or for another task.

    owner : beginning of the message; matrices : whether a matrix of counts is allowed
    """
    for name in names:
        metric = METRICS[name]
        if not metric.suits(task):
            raise ConfigError(f"{owner}: metric {name} is for {metric.task}, and this is {task}; leave it out.")
        if metric.matrix and not matrices:
            raise ConfigError(f"{owner}: metric {name} is a matrix of counts, which only oblique table shows.")
    return tuple(dict.fromkeys(names))


def check_scheme(names: Sequence[str], cv: CVSpec, owner: str) -> None:
    """Raise ConfigError for a metric that is meaningless on the test folds of a scheme, as with one row per fold."""
    if SCHEMES[cv.scheme].single_row_tests:
        for name in names:
            metric = METRICS[name]
            if metric.aggregate == MEAN and metric.needs in (LABELS, PROBABILITIES):
                raise ConfigError(
                    f"{owner}: metric {name} is averaged over folds, and a fold of scheme {cv.scheme} tests one row; "
                    "use accuracy, or a scheme with larger test sets."
                )


def measure(names: Sequence[str], scored: Scored, metrics: Sequence[Metric] = ()) -> dict[str, Any]:
    """Return the values of metrics by name and of further `metrics`; an undefined value is a text with the reason."""
    values: dict[str, Any] = {}
    for metric in (*(METRICS[name] for name in names), *metrics):
        try:
            values[metric.name] = metric.evaluate(scored)
        except Undefined as reason:
            values[metric.name] = f"{UNDEFINED}{reason}"
    return values


def probabilities(model: Any, X: NDArray[Any], n_classes: int) -> Array:
    """Return the class shares that a classifier predicts for rows X, (n, n_classes), each row of sum 1.

    A class without training rows gets 0. Raise Undefined if the model predicts no probabilities.
    """
    name = getattr(model, "display_name", type(model).__name__)
    if not hasattr(model, "predict_proba"):
        raise Undefined(f"{name} gives no class probabilities")
    shares = np.asarray(model.predict_proba(X), dtype=np.float64)
    totals = shares.sum(axis=1, keepdims=True)
    if not np.isfinite(shares).all() or (shares < 0).any() or (np.abs(totals - 1.0) > 1e-6).any():
        raise Undefined(f"the class probabilities of {name} do not sum to 1")
    whole = np.zeros((len(shares), n_classes))
    whole[:, np.asarray(model.classes_, dtype=np.intp)] = shares / totals
    return whole


# ---- classification, by labels ---------------------------------------------------------------------------------------


def _cells(y: Codes, predicted: Codes, weights: Array | None) -> tuple[Codes, Codes, Array]:
    """Return every pair of a true and a predicted class, with the weight of its rows.

    Sums of integers are exact in any order, and scikit-learn would warn of many classes among few rows.
    """
    n = int(max(y.max(), predicted.max())) + 1
    counts = np.bincount(np.asarray(y, dtype=np.intp) * n + predicted, weights=weights, minlength=n * n)
    first, second = np.divmod(np.arange(n * n), n)
    return first, second, counts.astype(np.float64)


def _two_classes(y: Codes, weights: Array | None = None) -> None:
    """Raise Undefined if rows of positive weight have a single class."""
    if len(np.unique(y if weights is None else y[weights > 0])) < 2:
        raise Undefined("the test rows have one class only")


def _accuracy_of_row(row: Row) -> Fraction:
    return Fraction(100 * row.n_correct, row.n_test)


@_of_labels(
    "accuracy", title="accuracy", unit="%", aggregate=POOLED, from_row=_accuracy_of_row, decimals=1,
    published="accuracy_percent",
)  # fmt: skip
def accuracy(y: Codes, predicted: Codes, weights: Array | None = None) -> float:
    """Share of the test rows that are classified correctly."""
    first, second, counts = _cells(y, predicted, weights)
    return 100.0 * float(sk.accuracy_score(first, second, sample_weight=counts))


def _balanced_accuracy_of_row(row: Row) -> Fraction:
    recalls = [Fraction(100 * right, n) for right, n in row.per_class.values() if n]
    return sum(recalls, Fraction(0)) / len(recalls)


@_of_labels("balanced_accuracy", title="balanced accuracy", unit="%", from_row=_balanced_accuracy_of_row, decimals=1)
def balanced_accuracy(y: Codes, predicted: Codes, weights: Array | None = None) -> float:
    """Mean recall of the classes among the test rows."""
    first, second, counts = _cells(y, predicted, weights)
    # balanced_accuracy_score, without its warning for predicted classes that have no rows.
    how: dict[str, Any] = {"average": "macro", "sample_weight": counts, "zero_division": 0.0}
    return 100.0 * float(sk.recall_score(first, second, labels=np.unique(first[counts > 0]), **how))


def _f1(y: Codes, predicted: Codes, weights: Array | None, average: str) -> float:
    first, second, counts = _cells(y, predicted, weights)
    labels = np.union1d(first[counts > 0], second[counts > 0])
    return float(sk.f1_score(first, second, labels=labels, average=average, sample_weight=counts, zero_division=0.0))


@_of_labels("f1_macro", title="F1 macro")
def f1_macro(y: Codes, predicted: Codes, weights: Array | None = None) -> float:
    """Mean F1 of the classes among the test rows or the predictions; a class without test rows counts 0."""
    return _f1(y, predicted, weights, "macro")


@_of_labels("f1_weighted", title="F1 weighted")
def f1_weighted(y: Codes, predicted: Codes, weights: Array | None = None) -> float:
    """Mean F1 of the classes, each weighted by its share of the test rows."""
    return _f1(y, predicted, weights, "weighted")


@_of_labels("kappa", title="kappa")
def kappa(y: Codes, predicted: Codes, weights: Array | None = None) -> float:
    """Cohen's kappa: agreement beyond chance; undefined for test rows of one class."""
    _two_classes(y, weights)
    first, second, counts = _cells(y, predicted, weights)
    return float(sk.cohen_kappa_score(first, second, sample_weight=counts))


@_of_labels("mcc", title="MCC")
def mcc(y: Codes, predicted: Codes, weights: Array | None = None) -> float:
    """Matthews correlation; 0 for predictions of one class, undefined for test rows of one class."""
    _two_classes(y, weights)
    first, second, counts = _cells(y, predicted, weights)
    return float(sk.matthews_corrcoef(first, second, sample_weight=counts))


@_of_labels("confusion", title="confusion", unit="rows", aggregate=SUM, matrix=True)
def confusion(y: Codes, predicted: Codes, weights: Array | None = None) -> Array:
    """Test rows of each class (rows of the matrix) by the class predicted (columns), summed over the folds."""
    # The cells are the matrix; confusion_matrix would warn of a single class.
    counts = _cells(y, predicted, weights)[2]
    return counts.reshape(2 * (round(len(counts) ** 0.5),))


# ---- classification, by probabilities --------------------------------------------------------------------------------

ECE_BINS = 15


@_of_shares("roc_auc", title="AUC", larger_is_better=True, aggregate=MEAN)
def roc_auc(y: Codes, probabilities: Array, weights: Array | None = None) -> float:
    """Area under the ROC curve, one class against the rest, mean over the classes among the test rows."""
    _two_classes(y, weights)
    present = np.unique(y if weights is None else y[weights > 0])
    areas = [sk.roc_auc_score(y == k, probabilities[:, k], sample_weight=weights) for k in present]
    return float(np.mean(areas))


@_of_shares("log_loss", title="log loss", unit="nats")
def log_loss(y: Codes, probabilities: Array, weights: Array | None = None) -> float:
    """Mean negative logarithm of the probability of a row's class; scikit-learn limits it to 36."""
    return float(sk.log_loss(y, probabilities, labels=np.arange(probabilities.shape[1]), sample_weight=weights))


@_of_shares("brier", title="Brier score")
def brier(y: Codes, probabilities: Array, weights: Array | None = None) -> float:
    """Mean over rows of the squared error of the probabilities, summed over classes: 0 to 2 (Brier 1950).

    For two classes it is twice scikit-learn's `brier_score_loss`, which has a multiclass form only in new versions.
    """
    truth = np.eye(probabilities.shape[1])[y]
    each = sk.mean_squared_error(truth, probabilities, sample_weight=weights, multioutput="raw_values")
    return float(np.sum(each))


@_of_shares("ece", title="ECE")
def ece(y: Codes, probabilities: Array, weights: Array | None = None) -> float:
    """Expected calibration error in 15 bins: mean difference between the largest probability and the accuracy.

    Guo et al. (2017), eq. 3: bins ((m - 1)/15, m/15] of the largest share; sum of weight times |accuracy - mean share|.
    """
    w = np.ones(len(y)) if weights is None else weights
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == y
    bins = np.clip(np.ceil(confidence * ECE_BINS).astype(np.intp) - 1, 0, ECE_BINS - 1)
    gaps = np.bincount(bins, weights=w * (right - confidence), minlength=ECE_BINS)
    return float(np.abs(gaps).sum() / w.sum())


# ---- of classes and costs that only the data know --------------------------------------------------------------------

MOST_NAMED = 10  # classes in an error message


def named(text: str, task: str, classes: Sequence[str], owner: str) -> Metric:
    """Return a metric of predictions or probabilities by its name, recall:CLASS or cost:FILE.

    Raise ConfigError for a metric that is unknown, for another task, or of a model; DataError for an invalid file.
    """
    kind, colon, rest = text.partition(":")
    if colon and kind in OF_DATA:
        if task != CLASSIFICATION:
            raise ConfigError(f"{owner}: metric {kind} is for {CLASSIFICATION}, and this is {task}; leave it out.")
        return OF_DATA[kind].make(rest, classes, owner)
    (name,) = chosen([text], task, owner)
    if METRICS[name].needs not in (LABELS, PROBABILITIES):
        raise ConfigError(f"{owner}: metric {name} is of models or runs, not of predictions; take f1_macro, say.")
    return METRICS[name]


def _recall_of(label: str, classes: Sequence[str], owner: str) -> Metric:
    if label not in classes:
        known = ", ".join(map(repr, classes[:MOST_NAMED])) + (", ..." if len(classes) > MOST_NAMED else "")
        hint = close_matches(label, classes) or f" Classes: {known}."
        raise ConfigError(f"{owner}: recall:{label} names no class of the target.{hint}")
    code = list(classes).index(label)

    def recall(y: Codes, predicted: Codes) -> float:
        """Return the share of rows of the class that are predicted correctly; Undefined without such rows."""
        of_class = np.asarray(y) == code
        if not of_class.any():
            raise Undefined(f"no test row is of class {label!r}")
        return 100.0 * float(np.mean(np.asarray(predicted)[of_class] == code))

    return Metric(f"recall:{label}", recall, f"recall of {label!r}", "%", True, CLASSIFICATION, LABELS, POOLED)


def _cost_of(file: str, classes: Sequence[str], owner: str) -> Metric:
    matrix = costs(file, classes, owner)

    def cost(y: Codes, predicted: Codes) -> float:
        """Return the mean cost of a row, by the matrix of costs."""
        return float(matrix[np.asarray(y), np.asarray(predicted)].mean())

    return Metric(f"cost:{file}", cost, "cost", "", False, CLASSIFICATION, LABELS, POOLED)


@dataclass(frozen=True)
class OfData:
    """Metrics of labels that take a class or a file as argument in their name: `make(argument, classes, owner)`."""

    make: Callable[[str, Sequence[str], str], Metric]
    argument: str
    unit: str
    larger_is_better: bool
    summary: str


OF_DATA = {
    "recall": OfData(_recall_of, "CLASS", "%", True, "Share of the rows of one class that are predicted as it."),
    "cost": OfData(_cost_of, "FILE", "", False, "Mean cost of a row, by a CSV: a line a class, a column a prediction."),
}


def costs(file: str, classes: Sequence[str], owner: str) -> Array:
    """Return the costs of predictions, (C, C), rows by true class: a CSV with a header of classes and a line per class.

    Raise DataError for a file that cannot be read, or whose classes or numbers are invalid.
    """
    where = f"{owner}: costs of {file}"
    expected = f"a heading with the {len(classes)} predicted classes behind an empty cell, then a line for each class"
    try:
        lines = list(csv.reader(Path(file).read_text("utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{where} cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    cells = [[cell.strip() for cell in line] for line in lines if any(map(str.strip, line))]
    if len(cells) != len(classes) + 1 or any(len(line) != len(classes) + 1 for line in cells):
        shape = f"{len(cells)} lines of {max(map(len, cells), default=0)} cells"
        raise DataError(f"{where} must be {expected}; there are {shape}.")
    for axis, labels in (("columns", cells[0][1:]), ("lines", [line[0] for line in cells[1:]])):
        if strays := [label for label in labels if label not in classes]:
            hint = close_matches(strays[0], classes) or f" Classes: {', '.join(map(repr, classes[:MOST_NAMED]))}."
            raise DataError(f"{where} has {axis} for {strays[0]!r}, which is no class of the target.{hint}")
        if twice := [label for label in labels if labels.count(label) > 1]:
            raise DataError(f"{where} has two {axis} for {twice[0]!r}; each class needs one.")
    matrix = np.zeros((len(classes), len(classes)))
    for line in cells[1:]:
        for label, cell in zip(cells[0][1:], line[1:], strict=True):
            try:
                value = float(cell)
            except ValueError:
                value = -1.0
            if not (isfinite(value) and value >= 0):
                raise DataError(f"{where}: {line[0]!r} taken for {label!r} costs {cell!r}; give a number from 0 up.")
            matrix[classes.index(line[0]), classes.index(label)] = value
    return matrix


# ---- regression ------------------------------------------------------------------------------------------------------


@_of_numbers("mse", title="MSE")
def mse(y: Array, predicted: Array, weights: Array | None = None) -> float:
    """Mean squared error."""
    return float(sk.mean_squared_error(y, predicted, sample_weight=weights))


@_of_numbers("rmse", title="RMSE")
def rmse(y: Array, predicted: Array, weights: Array | None = None) -> float:
    """Square root of the mean squared error."""
    return float(mse(y, predicted, weights) ** 0.5)


@_of_numbers("r2", title="R2", larger_is_better=True, ratio=False)
def r2(y: Array, predicted: Array, weights: Array | None = None) -> float:
    """1 - MSE / (variance of the test rows); for a constant target 1 without any error, else 0."""
    # r2_score divides sums, not means, and has no value for a single row.
    variance = float(np.average((y - np.average(y, weights=weights)) ** 2, weights=weights))
    error = mse(y, predicted, weights)
    return 1.0 - error / variance if variance > 0 else float(error == 0)


@_of_numbers("mae", title="MAE")
def mae(y: Array, predicted: Array, weights: Array | None = None) -> float:
    """Mean absolute error."""
    return float(sk.mean_absolute_error(y, predicted, sample_weight=weights))


# ---- size ------------------------------------------------------------------------------------------------------------


@_of_rows("leaves", title="leaves", unit="leaves", decimals=1, published="n_leaves")
def leaves(row: Row) -> int:
    """Leaves of the tree, of all trees of an ensemble; undefined for a model that is no tree."""
    return _of_trees(row, row.n_leaves)


def _of_trees(row: Row, size: int, least: int = 1) -> int:
    """Return a size of at least `least`; raise Undefined if the model has no trees or does not report its size."""
    if not row.n_leaves:
        raise Undefined("the model is no tree")
    if size < least:
        raise Undefined("the model does not say it")
    return size


@_of_rows("nodes", title="nodes", unit="nodes", decimals=1, published="n_nodes")
def nodes(row: Row) -> int:
    """Nodes of the tree, leaves included, of all trees of an ensemble; undefined for a model that is no tree."""
    return _of_trees(row, row.n_nodes)


@_of_rows("depth", title="depth", unit="splits", decimals=1)
def depth(row: Row) -> int:
    """Longest path of the tree, of the deepest of an ensemble; undefined for a model that is no tree."""
    return _of_trees(row, row.depth, 0)


def _has_trees(model: Any) -> bool:
    """Return whether a model is a forest of hyperplane trees, of the core or of Python."""
    return hasattr(model, "forest_") or (hasattr(model, "trees_") and hasattr(model, "trees"))


def _trees(model: Any) -> list[Tree]:
    """Return the hyperplane trees of a model; raise Undefined if it has none."""
    if of_classes(getattr(model, "tree_", None)):
        return [model.tree_]
    if _has_trees(model):
        return list(model.trees())
    raise Undefined(f"{getattr(model, 'display_name', type(model).__name__)} has no trees of hyperplanes")


@_of_models("mean_path", title="mean path", unit="splits", aggregate=POOLED, decimals=1)
def mean_path(model: Any, X: NDArray[Any]) -> float:
    """Splits that a test row passes on its way to a leaf, on average, and over the trees of an ensemble."""
    tree = getattr(model, "tree_", None)
    if not hasattr(model, "apply") or (tree is None and not _has_trees(model)):
        name = getattr(model, "display_name", type(model).__name__)
        raise Undefined(f"{name} does not say which leaf a row is in")
    if tree is None:
        trees = [(member.left, member.right) for member in _trees(model)]
    elif hasattr(tree, "children_left"):  # a tree of scikit-learn
        trees = [(tree.children_left, tree.children_right)]
    else:
        trees = [(tree.left, tree.right)]
    ends = np.asarray(model.apply(X)).reshape(len(X), -1)
    return float(np.mean([depths_of(*children)[ends[:, k]].mean() for k, children in enumerate(trees)]))


def n_terms(model: Any) -> int:
    """Return how many terms a person has to read in a fitted model, 0 if the model does not report the number.

    Over all trees: leaves, each once for its label or intercepts, and non-zero coefficients of hyperplanes and models.
    Leaf models of two classes count their difference. Other libraries' models have `n_terms_` (`outside.sizes`).
    """
    if (stored_terms := getattr(model, "n_terms_", None)) is not None:
        return int(stored_terms)
    tree: Any = getattr(model, "tree_", None)
    if isinstance(tree, Tree):
        return tree.n_terms
    if _has_trees(model):
        return sum(member.n_terms for member in model.trees())
    leaves = int(getattr(model, "n_leaves_", 0))
    return max(int(getattr(model, "n_nodes_", 0)), leaves) if leaves else 0


@_of_models("n_terms", title="terms", unit="terms", decimals=1)
def terms(model: Any, X: NDArray[Any]) -> float:
    """Leaves and coefficients, of hyperplanes and of models in leaves, together, of all trees of an ensemble."""
    n = n_terms(model)
    if not n:
        raise Undefined("the model does not say how many terms it has")
    return float(n)


@_of_models("non_zero", title="coefficients", unit="coefficients", decimals=1)
def non_zero(model: Any, X: NDArray[Any]) -> float:
    """Non-zero coefficients of all hyperplanes and of linear models in leaves, thresholds not counted."""
    trees = _trees(model)
    in_leaves = sum(tree.leaf_models.n_coefficients for tree in trees if tree.leaf_models is not None)
    return float(sum(np.count_nonzero(tree.coef_) for tree in trees) + in_leaves)


# ---- times -----------------------------------------------------------------------------------------------------------


@_of_rows("tune", title="tune s", unit="s")
def tune(row: Row) -> float:
    """Seconds to choose the parameters of a fold by its inner cross-validation, 0 where nothing was chosen."""
    return row.tune_seconds


@_of_rows("fit", title="fit s", unit="s")
def fit(row: Row) -> float:
    """Seconds to fit the model that is tested, without the choice of its parameters."""
    return row.fit_seconds


@_of_models("cpu", title="CPU s", unit="s")
def cpu(model: Any, X: NDArray[Any]) -> float:
    """Processor seconds of the fit, for a model that is fitted in a separate process (`limits`)."""
    seconds = getattr(model, "cpu_seconds_", None)
    if seconds is None:
        raise Undefined("the model had no process of its own; give limits")
    return float(seconds)


@_of_rows("predict", title="predict s", unit="s")
def predict(row: Row) -> float:
    """Seconds to predict the test rows."""
    return row.predict_seconds
