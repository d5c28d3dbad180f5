"""`Model`: a fitted estimator with all that is needed to use it on new rows, and its files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.data.own.columns import FRAME, Columns
from oblique_cli.errors import ConfigError, DataError, quoted
from oblique_cli.estimators.conformal_limits import Guarantee
from oblique_cli.estimators.encoding import ColumnEncoder
from oblique_cli.ground.arrays import Array
from oblique_cli.models import file_format
from oblique_cli.models.codecs import NAME, TEXT, Arrays, Codec, Many, Maybe, Scalar, Scope
from oblique_cli.models.forms import ENCODER, FACTS
from oblique_cli.models.predicting import Predictor
from oblique_cli.models.serialize import EstimatorPredictor, Fitted


@dataclass(frozen=True)
class Threshold:
    """For a model of two classes: `label` is predicted if its probability is at least `share`, else the other class."""

    label: str
    share: float


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted estimator, and the meaning of its numbers.

    fitted         the parts of the estimator; `estimator` is the whole
    algorithm      its registered name, "" for parameters or a class that no name stands for
    task           "classification" or "regression"
    classes        labels as text, in the order of class codes; () for regression
    feature_names  of the columns of X, as `predict` takes them
    encoder        encoding of X before the estimator, None if X is not encoded
    columns        how a table of the user's own becomes X (`data.own.columns.Columns`), None for a model of arrays
    facts          plain data on the training: rows, seed, versions, estimates, digest of the data, ...
    threshold      decides between two classes; None for the largest share
    guarantee      makes sets of classes or intervals of predictions; None without
    """

    fitted: Fitted
    algorithm: str = ""
    task: str = "classification"
    classes: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    encoder: ColumnEncoder | None = None
    columns: Any = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    threshold: Threshold | None = None
    guarantee: Guarantee | None = None

    @classmethod
    def of(
        cls,
        estimator: Any,
        *,
        algorithm: str = "",
        classes: tuple[str, ...] | None = None,
        feature_names: tuple[str, ...] | None = None,
        encoder: ColumnEncoder | None = None,
        columns: Any = None,
        facts: Mapping[str, Any] | None = None,
        threshold: Threshold | None = None,
    ) -> Model:
        """Return the model of a fitted estimator.

        classes        labels for the class codes that the estimator was fitted on; without them its classes are labels
        feature_names  of the columns before `encoder`; without them those of the fit, else x1, x2, ...
        encoder        encoding of X before the estimator, None if X is not encoded
        A forest that was fitted to a data frame with words or gaps has its encoding beside it, as a model of a table.
        ConfigError for an estimator that is not fitted, or that model files have no form for
        """
        framed = getattr(estimator, "encoding_", None)
        if framed is not None:
            estimator, encoder = estimator.of_numbers(), framed.encoder
            feature_names = framed.names if feature_names is None else feature_names
        fitted = Fitted.of(estimator)
        regression = "classes_" not in fitted.state
        p = fitted.state["n_features_in_"] if encoder is None else encoder.n_columns
        if feature_names is None:
            known = fitted.state.get("feature_names_in_") if encoder is None else None
            feature_names = tuple(f"x{j + 1}" for j in range(p)) if known is None else tuple(map(str, known))
        if len(feature_names) != p:
            raise ConfigError(f"feature_names must be {p} names. Got {len(feature_names)}.")
        if classes is None:
            classes = () if regression else tuple(str(label) for label in fitted.state["classes_"].tolist())
        task = "regression" if regression else "classification"
        if framed is not None:
            columns = Columns.of_frame(feature_names, framed.levels, task, classes)
        names, model_facts = (tuple(classes), tuple(feature_names)), dict(facts or {})
        model = cls(fitted, algorithm, task, *names, encoder, columns, model_facts, threshold)
        model._check()
        return model

    @property
    def estimator(self) -> Any:
        """The fitted estimator; a model from a file makes it on first use."""
        return self.fitted.estimator

    @property
    def n_outputs(self) -> int:
        """Number of columns that a regression predicts at once, 1 for classes."""
        tree, values = self.fitted.state.get("tree_"), self.fitted.state.get("leaf_values_")
        if self.task == "classification":
            return 1
        if values is not None:
            return 1 if values.ndim == 2 else int(values.shape[1])
        equations: Any = getattr(tree, "equations", tree)
        return int(getattr(equations, "n_outputs", 1))

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Parameters of the estimator, plain."""
        return self.fitted.parameters

    @property
    def has_codes(self) -> bool:
        """Whether the estimator was fitted on class codes, which stand for `classes`."""
        of_table = self.columns is not None and self.columns.format != FRAME
        return of_table and self.task == "classification"

    def columns_seen(self) -> tuple[list[str], dict[int, list[str]]]:
        """Return names of the columns that the estimator sees, and of the levels of those that hold codes.

        An indicator is called "color=red". Levels are in the order of the codes of the estimator's tree.
        """
        levels: Mapping[int, Sequence[str]] = {} if self.columns is None else self.columns.levels
        names = list(self.feature_names)
        if self.encoder is not None:
            names, levels = self.encoder.names(names, levels)
        level_codes = self.fitted.state.get("levels_") or {}
        return names, {j: [_level(code, levels.get(j)) for code in codes] for j, codes in level_codes.items()}

    @property
    def takes_missing(self) -> bool:
        """Whether NaN may reach the estimator: it fills NaN itself, or has learned where rows with NaN go."""
        sides = getattr(self.fitted.state.get("tree_"), "missing_left", None)
        return sides is not None or self.parameters.get("missing") in ("impute", "shares")

    @property
    def may_be_empty(self) -> set[int]:
        """Columns of X in which the cells of any row may be NaN."""
        if self.takes_missing:
            return set(range(len(self.feature_names)))
        # To a tree that scores levels itself, an empty cell is no level at all.
        return set(self.fitted.state.get("levels_", ())) if self.encoder is None else self.encoder.filled

    def predict(self, X: Any) -> NDArray[Any]:
        """Return labels, or numbers in regression, (n,); of k outputs (n, k).

        X : (n, p) float64, columns as in `feature_names`: numbers, NaN for an empty cell, codes for levels. A model of
        a table returns labels as text, a model of arrays the labels of its fit. X may be a data frame with texts: a
        model that encodes its columns finds them by name, and any other model passes the frame to its estimator.
        """
        if self.threshold is not None:
            place = self.classes.index(self.threshold.label)
            is_label = self.predict_proba(X)[:, place] >= self.threshold.share
            return np.array(self.classes, dtype=object)[np.where(is_label, place, 1 - place)]
        rows = self.encoded(X)
        predicted = self._predictor(rows).predict(rows)
        return np.asarray(np.array(self.classes, dtype=object).take(predicted)) if self.has_codes else predicted

    def predict_proba(self, X: Any) -> Array:
        """Return class shares, (n, C), columns in the order of `classes`. ConfigError for a model that gives none."""
        if self.task == "regression":
            raise ConfigError("this model predicts numbers, so it has no class probabilities.")
        rows = self.encoded(X)
        shares = self._predictor(rows).predict_proba(rows)
        known = self.fitted.state["classes_"]
        if not self.has_codes or len(known) == len(self.classes):
            return shares
        whole = np.zeros((len(shares), len(self.classes)))
        whole[:, known] = shares
        return whole

    def apply(self, X: Any) -> NDArray[Any]:
        """Return the leaf of each row as a node number, (n,), or (n, number of trees). ConfigError without leaves."""
        rows = self.encoded(X)
        return self._predictor(rows).apply(rows)

    def predict_quantiles(self, X: Any, q: Any) -> Array:
        """Return quantiles of the target in the rows' leaves, (n, k), without a coverage guarantee for new rows.

        q : (k,) rising shares. ConfigError for a model that is no regression tree, or kept no residuals of its leaves
        """
        tree: Any = self.fitted.state.get("tree_")
        if self.task != "regression" or not hasattr(tree, "equations"):
            raise ConfigError(
                "quantiles are said by trees of numbers of this package alone, such as hhcart_regression."
            )
        from oblique_cli.tree.leaf_quantiles import quantiles_of

        rows = self.fitted.predictor.checked(np.asarray(self.encoded(X), dtype=np.float64))
        return quantiles_of(tree, self.fitted.state.get("leaf_residuals_"), rows, q)

    def sets(self, X: Any) -> NDArray[np.bool_]:
        """Return which classes are in the sets of rows, (n, C). ConfigError for a model without a guarantee of sets."""
        guarantee = self._guarantee("classification", "sets")
        return guarantee.sets(self.predict_proba(X), self.apply(X) if guarantee.leaves else None)

    def intervals(self, X: Any) -> Array:
        """Return the ends of the intervals of rows, (n, 2). ConfigError for a model without a guarantee of them."""
        guarantee = self._guarantee("regression", "intervals")
        return guarantee.intervals(self.predict(X), self.apply(X) if guarantee.leaves else None)

    def _guarantee(self, task: str, what: str) -> Guarantee:
        if self.task != task:
            other = "intervals" if what == "sets" else "sets"
            raise ConfigError(f"this model has no {what}: it is for {self.task}, which has {other}.")
        if self.guarantee is None:
            raise ConfigError(f"this model has no {what}: fit it with a coverage, as by oblique fit --coverage 0.9.")
        return self.guarantee

    def _predictor(self, X: Any) -> Predictor:
        # Only scikit-learn knows what to do with lists and data frames.
        plain = isinstance(X, np.ndarray) and X.dtype.kind == "f"
        return self.fitted.predictor if plain else EstimatorPredictor(self.estimator)

    def encoded(self, X: Any) -> Any:
        """Return rows as the estimator takes them. X : as `predict` takes it"""
        return X if self.encoder is None else self.encoder.transform(np.asarray(self.cells(X), dtype=np.float64))

    def cells(self, X: Any) -> Any:
        """Return a data frame as the cells of a table, (n, p): NaN where one is empty, codes of levels.

        Any other X is returned unchanged, as is a data frame if the model has no table.
        ConfigError for a column that is not there, or a word where the model takes numbers
        """
        from oblique_cli.estimators.categorical import as_frame, cells_of, is_frame

        X = as_frame(X)
        if self.columns is None or not is_frame(X):
            return X
        if all(isinstance(name, str) for name in X.columns):
            if lost := [name for name in self.feature_names if name not in X.columns]:
                raise ConfigError(f"the data frame has no column {quoted(lost[0])}, which the model was fitted to.")
            X = X[list(self.feature_names)]
        return cells_of(X, self.columns.levels, "the model")

    def _check(self) -> None:
        """Raise ConfigError if sizes contradict each other."""
        state = self.fitted.state
        if self.columns is not None:
            of_table = self.columns.feature_names, self.columns.classes, self.columns.task
            if of_table != (self.feature_names, self.classes, self.task):
                raise ConfigError("columns do not have the features, classes and task of the model.")
        width = self.encoder.n_encoded if self.encoder else len(self.feature_names)
        if width != state["n_features_in_"]:
            raise ConfigError(f"the estimator takes {state['n_features_in_']} columns, and there are {width}.")
        if self.encoder and self.encoder.n_columns != len(self.feature_names):
            raise ConfigError(f"the encoder takes {self.encoder.n_columns} columns, not {len(self.feature_names)}.")
        if self.columns is not None:
            self._check_levels()
        if self.threshold is not None:
            two = self.has_codes and len(self.classes) == 2
            if not (two and self.threshold.label in self.classes and 0 < self.threshold.share < 1):
                raise ConfigError("the threshold must be a share between 0 and 1 of one of two classes of a table.")
        if ("classes_" in state) != (self.task == "classification"):
            raise ConfigError(f"the estimator is not for {self.task}.")
        if self.task == "regression":
            return
        known = state["classes_"]
        if self.has_codes:
            if known.dtype.kind not in "iu" or known.min() < 0 or known.max() >= len(self.classes):
                raise ConfigError(f"the estimator's classes are no codes of the {len(self.classes)} labels.")
        elif len(known) != len(self.classes):
            raise ConfigError(f"the estimator has {len(known)} classes, and there are {len(self.classes)} labels.")

    def _check_levels(self) -> None:
        """Raise ConfigError if the levels of encoder or estimator contradict the levels of the table."""
        levels, encoder = self.columns.levels, self.encoder
        scored = dict(self.fitted.state.get("levels_") or {}) if encoder is None else {}
        if encoder is not None and encoder.levels is not None:
            scored = dict(zip(encoder.qualitative.tolist(), map(np.ndarray.tolist, encoder.levels), strict=True))
        for j, codes in scored.items():
            known = len(levels.get(j, ()))
            if not all(type(c) in (int, float) and (c != c or (c == int(c) and 0 <= c < known)) for c in codes):
                raise ConfigError(
                    f"column {quoted(self.feature_names[j])} has {known} levels, and the model knows others."
                )


def _level(code: Any, names: Sequence[str] | None) -> str:
    """Return the name of a level that the estimator knows by its code in a table, or the level itself."""
    known = names is not None and isinstance(code, float | int) and 0 <= code < len(names)
    return names[int(code)] if names is not None and known else str(code)


TOP = ("kind", "estimator", "algorithm", "task", "classes", "feature_names", "encoder", "columns", "parameters",
       "state", "facts")  # fmt: skip
THRESHOLD, GUARANTEE = "threshold", "guarantee"  # keys of models with a threshold or guarantee only


FORMS: Mapping[str, Codec] = {
    **dict.fromkeys(("kind", "estimator", "algorithm"), NAME),
    "task": Scalar("'classification' or 'regression'", lambda value: value in ("classification", "regression")),
    **dict.fromkeys(("classes", "feature_names"), Many(TEXT, kind=tuple)),
    "encoder": Maybe(ENCODER),
    "facts": FACTS,
}
CHECKED_ROWS = 1000  # rows of the `rows` of `save` that are predicted again


def save(model: Any, path: str | os.PathLike[str], rows: Array | None = None) -> list[Path]:
    """Write a `Model`, or a fitted estimator, as JSON; return the files written.

    A second file, `path` with ".npz" behind it, is written where arrays are large. Both belong together.
    The content is read back before it is written. With training `rows` (as `Model.predict` takes them), the file must
    also predict some of them as the estimator does. Otherwise nothing is written, and the file at `path` stays.
    ConfigError for an estimator that is not fitted, has no form in model files, or does not come back from its file as
    it was; DataError if a file cannot be written
    """
    model = as_model(model)
    arrays = Arrays()
    plain = model.fitted.plain(arrays)
    document = {
        "algorithm": model.algorithm,
        "kind": plain["kind"],
        "estimator": plain["estimator"],
        "task": model.task,
        "classes": list(model.classes),
        "feature_names": list(model.feature_names),
        "columns": None if model.columns is None else model.columns.to_plain(),
        "encoder": Maybe(ENCODER).plain(model.encoder, Scope("encoder", arrays, reading=False)),
        "facts": plain_facts(model.facts, "facts"),
        "parameters": plain["parameters"],
        "state": plain["state"],
    }
    # A version that does not know these keys refuses them.
    if model.threshold is not None:
        document[THRESHOLD] = {"class": model.threshold.label, "share": model.threshold.share}
    if model.guarantee is not None:
        document[GUARANTEE] = model.guarantee.plain()
    file_bytes = file_format.contents(Path(path), document, arrays)
    try:
        _hold(model, _read(Path(path), file_bytes), rows)
    except (DataError, ConfigError) as error:
        raise ConfigError(
            f"cannot save {model.fitted.cls}: the file would not give the model back, so none is written ({error})."
        ) from None
    return file_format.write(file_bytes)


def _hold(model: Model, again: Model, rows: Array | None) -> None:
    """Raise DataError if a model read back from its file predicts rows differently from its estimator."""
    _ = again.estimator
    if rows is None or not len(rows):
        return
    some = rows[:: max(1, len(rows) // CHECKED_ROWS)]
    expected = np.asarray(model.estimator.predict(model.encoded(some)))
    restored = again.fitted.predictor.predict(again.encoded(some))
    if not np.array_equal(expected, restored, equal_nan=expected.dtype.kind == "f"):
        wrong = int((expected != restored).sum())
        raise DataError(f"it says something else of {wrong} of {len(some)} training rows")


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model. DataError, one sentence with file and place, for a file that is missing, damaged or no model."""
    return _read(Path(path))


def _read(path: Path, file_bytes: Mapping[Path, bytes] | None = None) -> Model:
    """Return the model in its files, or in the bytes to write to them."""
    document, arrays = file_format.read(path, file_bytes)
    try:
        model = _model(document, arrays)
        if arrays.unread:
            raise DataError(f"the binary file has an array {quoted(min(arrays.unread))} that nothing refers to")
        model._check()
    except (DataError, ConfigError) as error:
        raise DataError(f"{path}: {str(error).removesuffix('.')}.") from None
    return model


def _model(document: Mapping[str, Any], arrays: Arrays) -> Model:
    entries = {key: value for key, value in document.items() if key not in file_format.KEYS}
    root = Scope("the file", arrays, reading=True)
    for key in TOP:
        if key not in entries:
            root.fail(f"has no key {quoted(key)}")
    if strays := sorted(entries.keys() - {*TOP, THRESHOLD, GUARANTEE}):
        root.fail(f"has a key {quoted(strays[0])}, which it should not have")
    values = {key: form.value(entries[key], replace(root, place=key)) for key, form in FORMS.items()}
    fitted = Fitted.from_plain({**entries, **{key: values.pop(key) for key in ("kind", "estimator")}}, arrays)
    if entries["columns"] is not None:
        values["columns"] = Columns.from_plain(entries["columns"])
    if THRESHOLD in entries:
        plain = entries[THRESHOLD]
        keys_fit = isinstance(plain, dict) and plain.keys() == {"class", "share"}
        if not (keys_fit and isinstance(plain["class"], str) and isinstance(plain["share"], float)):
            raise DataError(f"threshold must be an object of a class and a share. Got {quoted(plain)}")
        values[THRESHOLD] = Threshold(plain["class"], plain["share"])
    if GUARANTEE in entries:
        values[GUARANTEE] = Guarantee.from_plain(entries[GUARANTEE], len(values["classes"]))
    return Model(fitted, **values)


def plain_facts(value: Any, place: str) -> Any:
    """Return facts as plain data, tuples as lists; ConfigError for values that JSON does not support."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and np.isfinite(value):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain_facts(item, f"{place}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_facts(item, f"{place}[{i}]") for i, item in enumerate(value)]
    raise ConfigError(f"{place} of a model must be plain data. Got {quoted(value)}.")


def as_model(model: Any) -> Model:
    """Return a `Model` as it is, and a fitted estimator as its model."""
    return model if isinstance(model, Model) else Model.of(model, algorithm=algorithm_of(model))


def algorithm_of(estimator: Any) -> str:
    """Return the registered name of an estimator, "" if it has none."""
    from oblique_cli.estimators.algorithms import ALGORITHMS

    params = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    for name, algorithm in ALGORITHMS.items():
        fixed = getattr(algorithm, "fixed", {})
        if type(estimator) is algorithm.estimator and all(params.get(k) == v for k, v in fixed.items()):
            return name
    return ""
