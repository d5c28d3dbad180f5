"""Parts of an experiment: the objects of a validated configuration file.

All are frozen. `Experiment` is the user's request; `Fold`, `Job` and `Row` are derived from it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """Options for reading a file; an option that is not set is derived from the file.

    header       "first" if the first row has the names of the columns, "none" if there are none
    skip         lines above the header; skip_end : lines below the table that are not empty; 0 turns detection off
    comment      sign at the beginning of lines that are no rows, "none" for no sign
    decimal      "point" or "comma"; thousands is a key of `own_numbers.NAMED_SIGNS`
    missing_marks  marks of missing values beside the usual ones (`own_numbers.MARKS`), or instead of them (only_marks)
    """

    delimiter: str = ""
    charset: str = ""
    header: str = ""
    skip: int | None = None
    skip_end: int | None = None
    comment: str = ""
    decimal: str = ""
    thousands: str = ""
    missing_marks: tuple[str, ...] = ()
    only_marks: bool = False


NO_OPTIONS = TextOptions()


@dataclass(frozen=True, kw_only=True)
class TableOptions(TextOptions):
    """Options for reading a table with its target. For a user's file, an option at its default is derived from it.

    target       column to predict
    missing      "error", "drop", "impute" or "keep" (for algorithms that accept missing values), as in `from_table`
    encoding     of qualitative columns: "error", "onehot", "ordinal" or "crimcoord"
    qualitative  columns of levels, whatever their cells look like
    task         "classification" or "regression"; "" to guess
    drop, keep   columns to leave out, and columns to retain although they look useless; "*" keeps all
    features     the only columns to use; () for all useful ones
    dates        "leave_out", "days", or the form of the dates (one of `own_dates.DATES`), which means days"""

    target: str | None = None
    missing: str = "error"
    encoding: str = "error"
    qualitative: tuple[str, ...] = ()
    task: str = ""
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    dates: str = "leave_out"


@dataclass(frozen=True)
class DatasetSpec(TableOptions):
    """Data set of an experiment, with the options for reading it.

    Either `name` is a name of the catalogue or of a plugin, or `source` is the origin of the data set, or `csv` is a
    path and `target` its class column (then `name` is the label in tables, by default the file's stem)."""

    name: str
    csv: str | None = None
    source: str = ""  # "openml:31" or "sklearn:iris" for a data set from there

    def reading(self) -> dict[str, Any]:
        """Return the options for reading a user's file that differ from their defaults, as plain data."""
        usual = {field.name: field.default for field in fields(self) if field.name in READING and field.name != "csv"}
        changed = {name: getattr(self, name) for name, value in usual.items() if getattr(self, name) != value}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in changed.items()}


# Fields of a `DatasetSpec` that affect reading only: results depend on the digest of the data, not on them.
READING = {"csv", *(field.name for field in fields(TableOptions))} - {"target", "missing", "encoding", "qualitative"}


# Fields of an `Experiment` that affect no result.
PRESENTED = ("title", "published", "metrics", "data_dir", "keep")


@dataclass(frozen=True)
class AlgorithmSpec:
    """Algorithm with its parameters; `grid` holds the candidate values of parameters that cross-validation chooses.

    `id` labels the algorithm in tables and keys; it is the name unless the configuration sets another.

    limits    "memory" in bytes and "time" in seconds of one model, which then is fitted in a separate process. Limits
              never change a completed model, so they are not part of the key of a result
    prepare   scaling of columns, fitted on the training rows; "" for none. Only for an algorithm of another library,
              which is a class with its module
    per_dataset   data set -> {"params": ..., "grid": ...}, which replace those of the algorithm there"""

    name: str
    id: str
    params: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    prepare: str = ""
    limits: Mapping[str, float] = field(default_factory=dict, compare=False)
    per_dataset: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)

    def on(self, dataset: str) -> AlgorithmSpec:
        """Return the algorithm with the parameters of one data set."""
        if dataset not in self.per_dataset:
            return replace(self, per_dataset={}) if self.per_dataset else self
        there = self.per_dataset[dataset]
        params = {key: value for key, value in self.params.items() if key not in there["grid"]}
        grid = {key: values for key, values in self.grid.items() if key not in there["params"]}
        return replace(self, params={**params, **there["params"]}, grid={**grid, **there["grid"]}, per_dataset={})

    def plain(self) -> dict[str, Any]:
        """Return the fields that affect a result, as plain data; those newer than stored results only if set."""
        plain = asdict(self)
        del plain["limits"]
        for key in ("prepare", "per_dataset"):
            if not plain[key]:
                del plain[key]
        return plain

    def candidates(self) -> Iterator[dict[str, Any]]:
        """Yield the parameters of every combination of the grid."""
        for values in itertools.product(*self.grid.values()):
            yield {**self.params, **dict(zip(self.grid, values, strict=True))}


@dataclass(frozen=True)
class CVSpec:
    """How rows are divided. `scheme` is a name in `schemes.SCHEMES`.

    folds, repeats      v and R of "R x v-fold"; a fixed split ignores folds and grows `repeats` trees
    tune_folds          v of the CV that chooses parameters (stage 1 of two_stage, inner CV of nested)
    stratified          whether test folds, tuning folds and pruning rows keep class shares
    test_fraction       share of test rows in a Monte Carlo split
    pruning_fraction    share of each training set kept for pruning (used by algorithms that prune on their own rows)
    tune_metric         the metric that chooses parameters; "" for accuracy, or the squared error of regression
    options             further keys that the scheme has of its own (`Scheme.keys`), those that are given"""

    scheme: str = "ordinary"
    folds: int = 10
    repeats: int = 10
    tune_folds: int = 10
    stratified: bool = False
    test_fraction: float = 0.5
    pruning_fraction: float = 0.1
    tune_metric: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def plain(self) -> dict[str, Any]:
        """Return plain data, with options among the other keys; fields newer than stored results only if set."""
        plain = asdict(self)
        options = plain.pop("options")
        if not self.tune_metric:
            del plain["tune_metric"]
        return {**plain, **options}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> CVSpec:
        """Return the inverse of `plain`."""
        field_names = {name.name for name in fields(cls)} - {"options"}
        options = {key: value for key, value in plain.items() if key not in field_names}
        return cls(**{key: value for key, value in plain.items() if key in field_names}, options=options)


@dataclass(frozen=True)
class Experiment:
    """Validated configuration.

    name        file stem, or the `name` key
    published   tables to show beside ours, such as "wickramarachchi2015:5.2"
    metrics     names of the metrics to show, () for the default ones
    data_dir    folder of data files that are not bundled
    code        Python files that the configuration imports -> their SHA-256
    fold_counts data set -> folds of each repetition, for a scheme whose folds depend on the data, once these are read
    keep        stored predictions of every fold: "predictions", the class of each test row (or the number), or
                "probabilities" as well"""

    name: str
    seed: int
    datasets: tuple[DatasetSpec, ...]
    algorithms: tuple[AlgorithmSpec, ...]
    cv: CVSpec
    published: tuple[str, ...] = ()
    title: str = ""
    data_dir: str | None = None
    metrics: tuple[str, ...] = ()
    fold_counts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    keep: str = "predictions"
    code: Mapping[str, str] = field(default_factory=dict)

    def content(self) -> dict[str, Any]:
        """Everything that can change a result, as plain data in a fixed order.

        Presentation (title, published tables, metrics), location and reading of the data, and stored predictions are
        excluded; the digest of the data is the key."""
        plain = asdict(self)
        for key in ("title", "published", "name", "data_dir", "metrics", "fold_counts", "keep", "code"):
            del plain[key]
        plain["cv"] = self.cv.plain()
        plain["algorithms"] = [algorithm.plain() for algorithm in self.algorithms]
        if self.code:
            plain["code"] = sorted(self.code.values())  # independent of the location of the files
        for dataset in plain["datasets"]:
            for key in READING:
                del dataset[key]
            if not dataset["source"]:  # newer than stored results
                del dataset["source"]
        content: dict[str, Any] = json.loads(json.dumps(plain, sort_keys=True))
        return content

    def presentation(self) -> dict[str, Any]:
        """Return the fields that do not change results, as plain data. `from_content` restores the experiment from
        these and `content`."""
        plain: dict[str, Any] = {"title": self.title, "published": list(self.published)}
        # Standard input cannot be read twice.
        file_specs = [spec for spec in self.datasets if spec.csv not in (None, "-")]
        files = {spec.name: str(Path(str(spec.csv)).resolve()) for spec in file_specs}
        reading = {spec.name: options for spec in file_specs if (options := spec.reading())}
        besides = {"metrics": list(self.metrics), "files": files, "reading": reading, "data_dir": self.data_dir}
        besides["limits"] = {spec.id: dict(spec.limits) for spec in self.algorithms if spec.limits}
        plain |= {key: value for key, value in besides.items() if value}
        return plain if self.keep == "predictions" else {**plain, "keep": self.keep}

    @classmethod
    def from_content(cls, name: str, content: Mapping[str, Any], presentation: Mapping[str, Any]) -> Experiment:
        """Return the experiment with this `content` and `presentation`; other keys of both are ignored."""
        files, readings, limits = (presentation.get(key, {}) for key in ("files", "reading", "limits"))

        def tuples(plain: Mapping[str, Any]) -> dict[str, Any]:
            return {key: tuple(value) if isinstance(value, list) else value for key, value in plain.items()}

        names = [plain["name"] for plain in content["datasets"]]
        return cls(
            name=name,
            seed=content["seed"],
            datasets=tuple(
                DatasetSpec(**tuples({**plain, "csv": files.get(key), **readings.get(key, {})}))
                for key, plain in zip(names, content["datasets"], strict=True)
            ),
            algorithms=tuple(
                AlgorithmSpec(
                    **{
                        **plain,
                        "grid": tuples(plain["grid"]),
                        "per_dataset": {
                            key: {"params": there["params"], "grid": tuples(there["grid"])}
                            for key, there in plain.get("per_dataset", {}).items()
                        },
                    },
                    limits=limits.get(plain["id"], {}),
                )
                for plain in content["algorithms"]
            ),
            cv=CVSpec.from_plain(content["cv"]),
            fold_counts=tuples(presentation.get("fold_counts", {})),
            code={digest: digest for digest in content.get("code", ())},  # locations of the files are not stored
            **tuples({key: presentation[key] for key in PRESENTED if key in presentation}),
        )

    def digest(self) -> str:
        """SHA-256 of `content`, in hexadecimal."""
        return hashlib.sha256(json.dumps(self.content(), sort_keys=True).encode()).hexdigest()


def _no_rows() -> np.ndarray:
    import numpy as np

    return np.empty(0, dtype=np.intp)


class TuningPair(NamedTuple):
    """Row ids of one division that may choose parameters: fit on `train`, compare on `valid`."""

    train: np.ndarray
    valid: np.ndarray
    pruning: np.ndarray


@dataclass(frozen=True, eq=False)
class Fold:
    """Row ids of one train/test division, each array sorted.

    train, test   disjoint, but for an `apparent` fold; a scheme that draws with replacement has rows in `train` again
    pruning       the part of `train` that an algorithm which prunes on an independent set must not grow on; without
                  rows here, `pruning_fraction` of `train` is drawn
    tuning        pairs that may choose parameters, () if the scheme has none. Nested: inside `train`. Two-stage: the
                  same pairs for every fold, over all rows, so they overlap `test`
    tuning_id     not empty for folds that share their tuning pairs, so that tuning runs once for all of them
    apparent      tested on its own training rows, for the resubstitution error (Wickramarachchi 2015, eq. 1.9.1)"""

    repeat: int
    index: int
    train: np.ndarray
    test: np.ndarray
    pruning: np.ndarray = field(default_factory=_no_rows)
    tuning: Iterable[TuningPair] = ()
    tuning_id: str = ""
    apparent: bool = False


@dataclass(frozen=True)
class Job:
    """One algorithm on one fold of one data set. `key` is a digest of everything that affects its result."""

    key: str
    dataset: str
    algorithm: str
    repeat: int
    fold: int
    seed: int


# Measure in the row of an `apparent` fold: the error rate of its predictions if they were independent of the labels,
# gamma of Efron and Tibshirani (1997), eq. 28.
NO_INFORMATION_ERROR = "no_information_error"


@dataclass(frozen=True)
class Row:
    """The result of a job, as it is stored.

    n_correct, n_test     accuracy is their ratio; kept apart so that a repetition can be pooled (thesis eq. 1.9.3). For
                          regression n_correct is 0
    n_leaves, n_nodes, depth   0 for a classifier that is no tree
    fit_seconds           growing the one tree that is tested, as if alone: work shared with another fit of the fold is
                          counted as well. `tune_seconds` is the time of choosing the parameters
    chosen                parameters that tuning chose, {} if there was nothing to choose
    per_class             class label -> [correct, rows] on the test rows
    inner                 one mapping for each grid value of this fold's own tuning CV: {"params", "n_correct",
                          "n_rows", "n_leaves", "n_trees"}, sums over the tuning folds; [] if there was none, or if
                          it was shared (two-stage: see `Store.tunings`). For regression "squared_error" takes the place
                          of "n_correct"; "score" is there besides if `CVSpec.tune_metric` chooses
    clusters              class label -> number of its clusters, {} for an algorithm that finds none
    measures              name -> number on the test rows: mse, rmse and r2 for regression; metrics that the experiment
                          asks for (a matrix as lists; "undefined: " and the reason where one has no value); and the
                          results of the method `extra_measures(X, y)` of the fitted estimator
    environment           id of the environment of the fit in the store; "" for a row that is not stored
    packed                its predictions (`experiments.stored_predictions`); b"" for a failed row, and for a row of the
                          store, whose predictions `Store.packed` reads

    The last two are ignored when rows are compared."""

    key: str
    dataset: str
    algorithm: str
    repeat: int
    fold: int
    status: str  # ok | failed
    message: str = ""
    n_correct: int = 0
    n_test: int = 0
    n_leaves: int = 0
    n_nodes: int = 0
    depth: int = 0
    tune_seconds: float = 0.0
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    chosen: Mapping[str, Any] = field(default_factory=dict)
    per_class: Mapping[str, list[int]] = field(default_factory=dict)
    inner: list[dict[str, Any]] = field(default_factory=list)
    clusters: Mapping[str, int] = field(default_factory=dict)
    measures: Mapping[str, Any] = field(default_factory=dict)
    environment: str = field(default="", compare=False)
    packed: bytes = field(default=b"", compare=False, repr=False)

    @classmethod
    def of(cls, job: Job, **values: Any) -> Row:
        """Return the row of a successful `job`."""
        return cls(job.key, job.dataset, job.algorithm, job.repeat, job.fold, status="ok", **values)


@dataclass(frozen=True)
class Tuning:
    """Choice of a tuning CV for all folds of one data set, as stored (two-stage, stage 1).

    chosen   parameter -> value
    inner    as in `Row`"""

    key: str
    dataset: str
    algorithm: str
    status: str  # ok | failed
    message: str = ""
    chosen: Mapping[str, Any] = field(default_factory=dict)
    inner: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    environment: str = field(default="", compare=False)
