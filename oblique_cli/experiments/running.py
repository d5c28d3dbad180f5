"""From jobs to rows: parameters are chosen, an estimator is fitted, predicts and is counted; and whole experiments.

`run_job` and `tune_job` are pure: no files, no printing, no globals, equal results wherever and in whatever order they
run. `run` does the rest: it finds what is missing before it starts a worker, stores each fold as it finishes, and is
the only one to touch the store.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import signal
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from sklearn.utils.validation import has_fit_parameter

from oblique_cli import plugins, schemes
from oblique_cli.data import catalogue
from oblique_cli.errors import (
    EXIT_FAILED_FOLDS,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_TERMINATED,
    ConfigError,
    PluginError,
    StoreError,
)
from oblique_cli.estimators.algorithms import ALGORITHMS, Algorithm, is_outside, task_of
from oblique_cli.estimators.encoding import ColumnEncoder, fold_encoder, own_labels, prepared
from oblique_cli.estimators.outside import known
from oblique_cli.evaluation import metrics as metrics_of
from oblique_cli.evaluation.metrics import LABELS, METRICS, READ, SHOWN, Metric, Scored, Undefined
from oblique_cli.experiments import environment as environments
from oblique_cli.experiments import jobs as jobs_of
from oblique_cli.experiments.dispatching import Call, Crew, Signals
from oblique_cli.experiments.progress import Progress
from oblique_cli.experiments.store import Store
from oblique_cli.experiments.stored_predictions import Labels, Predictions, pack, pack_labels
from oblique_cli.foreign import plugin_fault
from oblique_cli.ground import seeds
from oblique_cli.ground.nouns import (
    NO_INFORMATION_ERROR,
    AlgorithmSpec,
    DatasetSpec,
    Experiment,
    Fold,
    Job,
    Row,
    Tuning,
    TuningPair,
)
from oblique_cli.schemes import SCHEMES

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class Case:
    """One algorithm on one data set: what all its jobs share.

    metrics       what rows hold besides what every row has
    keep          as in `Experiment`
    tune_metric   what chooses parameters; None for accuracy, or the squared error of regression

    Metrics are here themselves, not by name: a worker process has not imported the files that others come from.
    """

    dataset: Dataset
    policy: DatasetSpec
    spec: AlgorithmSpec
    algorithm: Algorithm
    metrics: tuple[Metric, ...] = ()
    tune_metric: Metric | None = None
    keep: str = "predictions"

    def __reduce__(self) -> tuple[Any, ...]:
        # A heuristic or a metric of a plugin has a name in a process only once the plugin is imported there.
        return _sent, (plugins.imported(), *(getattr(self, field.name) for field in fields(self)))

    @classmethod
    def of(cls, experiment: Experiment, dataset: Dataset, policy: DatasetSpec, spec: AlgorithmSpec) -> Case:
        """Return the case of an algorithm and a data set of `experiment`."""
        metrics = tuple(METRICS[name] for name in metrics_of.to_measure(experiment.metrics))
        tune_metric = METRICS[experiment.cv.tune_metric] if experiment.cv.tune_metric else None
        return cls(dataset, policy, spec, jobs_of.algorithm_of(spec, ALGORITHMS), metrics, tune_metric, experiment.keep)

    @property
    def lets_go(self) -> bool:
        """Whether a fit lets go of the interpreter: its work is compiled, or done by another process."""
        return self.algorithm.compiled or bool(self.spec.limits)


def _sent(_: plugins.Imported, *values: Any) -> Case:
    return Case(*values)


# ---- one job ---------------------------------------------------------------------------------------------------------


def run_job(job: Job, case: Case, fold: Fold, chosen: Mapping[str, Any] | None = None) -> Row:
    """Return the row of `job`: `case` fitted on the training rows of `fold`, tested on its test rows.

    chosen   parameters that were chosen for all folds; without it, a grid is searched over `fold.tuning` first

    An exception becomes a row with status "failed" and its first line as message.
    """
    started = time.perf_counter()
    try:
        inner: list[dict[str, Any]] = []
        if chosen is None:
            chosen, inner = tune(case, fold.tuning, job.seed) if case.spec.grid else ({}, [])
        tuned = time.perf_counter()
        estimator, encoder = fit_on(case, fold.train, fold.pruning, job.seed, chosen, case.spec.limits)
        fitted = time.perf_counter()
        X, y = columns_of(case, encoder, fold.test), case.dataset.y[fold.test]
        predicted = estimator.predict(X)
        done = time.perf_counter()
        names = case.dataset.classes
        n_clusters = getattr(estimator, "n_clusters_", None)
        extra = getattr(estimator, "extra_measures", None)
        measures = {} if extra is None else {name: float(value) for name, value in extra(X, y).items()}
        scored = _scored(case, estimator, X, y, predicted)
        measures |= _measures(case, scored)
        if case.dataset.task == "regression":
            n_correct, per_class = 0, {}
        else:
            right = predicted == y
            n_correct = int(right.sum())
            correct, rows = np.bincount(y[right], minlength=len(names)), np.bincount(y, minlength=len(names))
            per_class = {n: [c, r] for n, c, r in zip(names, correct.tolist(), rows.tolist(), strict=True)}
            if fold.apparent:
                measures[NO_INFORMATION_ERROR] = no_information_error(y, predicted, len(names))
        return Row.of(
            job,
            n_correct=n_correct,
            n_test=len(y),
            n_leaves=_leaves(estimator),
            n_nodes=int(getattr(estimator, "n_nodes_", 0)),
            depth=int(getattr(estimator, "depth_", 0)),
            tune_seconds=tuned - started,
            fit_seconds=fitted - tuned + getattr(estimator, "seconds_saved_", 0.0),
            predict_seconds=done - fitted,
            chosen=dict(chosen),
            per_class=per_class,
            inner=inner,
            clusters={} if n_clusters is None else {n: int(n_clusters.get(code, 0)) for code, n in enumerate(names)},
            measures=measures,
            packed=_packed(case, fold, scored),
        )
    except Exception as error:  # any exception belongs to this fold alone and is shown with it
        return failed(job, error)


def _scored(case: Case, estimator: Any, X: np.ndarray, y: np.ndarray, predicted: np.ndarray) -> Scored:
    n_classes = 0 if case.dataset.task == "regression" else len(case.dataset.classes)
    shares = functools.cache(lambda: metrics_of.probabilities(estimator, X, n_classes))
    return Scored(y, predicted, n_classes, shares, estimator, X)


def _measures(case: Case, scored: Scored) -> dict[str, Any]:
    """The metrics that a row holds by name. ValueError if predicted numbers are not finite."""
    if case.dataset.task == "regression" and not np.isfinite(scored.predicted).all():
        raise ValueError("the predictions are not finite")
    always = [name for name in (*SHOWN[case.dataset.task], *READ) if METRICS[name].measured]
    return metrics_of.measure(always, scored, case.metrics)


def _packed(case: Case, fold: Fold, scored: Scored) -> bytes:
    """The predictions of a fold, stored with its row."""
    shares = None
    if case.keep == "probabilities" and case.dataset.task == "classification":
        with contextlib.suppress(Undefined):
            shares = scored.probabilities()
    return pack(Predictions(fold.test, np.asarray(scored.predicted), shares))


def no_information_error(y: np.ndarray, predicted: np.ndarray, n_classes: int) -> float:
    """Return the share of wrong pairs if every label met every prediction (Efron and Tibshirani 1997, eq. 28)."""
    codes = np.arange(n_classes)[:, None]
    return float(1 - ((y == codes).mean(axis=1) * (predicted == codes).mean(axis=1)).sum())


def failed(job: Job, error: Exception | str) -> Row:
    """Return the row of a job that gave no result."""
    return Row(job.key, job.dataset, job.algorithm, job.repeat, job.fold, status="failed", message=first_line(error))


def tune_job(job: Job, case: Case, pairs: Iterable[TuningPair]) -> Tuning:
    """Return the parameters of `case` chosen once for all folds (two-stage, stage 1), or why that failed."""
    started = time.perf_counter()
    try:
        chosen, inner = tune(case, pairs, job.seed)
        seconds = time.perf_counter() - started
        return Tuning(job.key, job.dataset, job.algorithm, "ok", chosen=chosen, inner=inner, seconds=seconds)
    except Exception as error:
        return failed_tuning(job, error)


def failed_tuning(job: Job, error: Exception | str) -> Tuning:
    """Return the outcome of a tuning job that chose nothing."""
    return Tuning(job.key, job.dataset, job.algorithm, "failed", message=first_line(error))


def tune(case: Case, pairs: Iterable[TuningPair], seed: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Search the grid of `case` by cross-validation over `pairs`; return the choice and the table it was made from.

    The rule (Wickramarachchi 2015, section 5.2): the highest accuracy, pooled over the validation rows; among equals
    the smallest mean number of leaves. The thesis stops there. A further tie goes to the largest value of the
    algorithm's path parameter (of a limit, that is the simpler trees), then to the last candidate, in the order of
    parameters by name and values as given. All comparisons are of whole numbers. For regression the least squared error
    over the validation rows takes the place of the accuracy, and `case.tune_metric`, made of the pairs as of the folds
    of a repetition, that of either. ConfigError if it is undefined on the validation rows of a pair.

    A path parameter costs one fit a training set: the tree for a larger limit is the tree for the smallest one, cut,
    and the clusters of a bottom-up tree serve every cost. A metric that needs more than labels gets a fit of every
    value.

    Stochasticity: pair i is fitted with the seed named (seed, "tuning", i), for every candidate.
    """
    tried = _Tried.of(case)
    for i, pair in enumerate(pairs):
        tried.add(pair, seeds.integer(seed, "tuning", i))
    if not tried.sizes:
        raise ConfigError(
            f"{case.spec.id} has a grid, and there are no tuning pairs to choose by; use a scheme that tunes."
        )
    return tried.best(), tried.table()


@dataclass(frozen=True, eq=False)
class _Tried:
    """The candidates of a grid, and the results of their fits to training rows on the validation rows of each pair.

    path        the path parameter, and path_values those of its values that one fit serves; "" and () without
    fitted      what is fitted on each training set: the other parameters
    n_correct, n_leaves   (fitted, path values); minus squared errors for regression
    scores      of a metric, by the number of the candidate; sizes : validation rows of each pair
    """

    case: Case
    path: str
    path_values: Sequence[Any]
    fitted: Sequence[Mapping[str, Any]]
    n_correct: np.ndarray
    n_leaves: np.ndarray
    scores: dict[int, list[Fraction]] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, case: Case) -> _Tried:
        grid, metric = case.spec.grid, case.tune_metric
        # The tree of a larger limit is no part of a refined one, and its leaves have no models.
        whole = all(case.spec.params.get(name, "none") == "none" for name in ("refine", "leaf_models"))
        path = case.algorithm.path_parameter or "" if whole else ""
        path_values = grid.get(path, ()) if metric is None or metric.needs == LABELS else ()
        names = sorted(name for name in grid if not (path_values and name == path))
        fitted = [dict(zip(names, v, strict=True)) for v in itertools.product(*(grid[n] for n in names))]
        shape, regression = (len(fitted), max(1, len(path_values))), case.dataset.task == "regression"
        n_correct = np.zeros(shape, dtype=np.float64 if regression else np.int64)
        return cls(case, path, path_values, fitted, n_correct, np.zeros(shape, dtype=np.int64))

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """All parameters, those of the path last."""
        values = self.path_values or (None,)
        return [{**f, **({self.path: v} if self.path_values else {})} for f in self.fitted for v in values]

    def add(self, pair: TuningPair, seed: int) -> None:
        """Fit on the training rows of a pair, and count on its validation rows."""
        case = self.case
        y = case.dataset.y[pair.valid]
        self.sizes.append(len(y))
        for j, params in enumerate(self.fitted):
            if self.path_values:
                params = {**params, self.path: min(self.path_values)}
            estimator, encoder = fit_on(case, pair.train, pair.pruning, seed, params, case.spec.limits)
            X = columns_of(case, encoder, pair.valid)
            if self.path_values:
                predictions = estimator.predict_path(X, self.path_values)
                self.n_correct[j] += (predictions == y[:, None]).sum(axis=0)
                self.n_leaves[j] += estimator.n_leaves_path(self.path_values)
            else:
                predictions = estimator.predict(X)[:, None]
                regression = case.dataset.task == "regression"
                errors = -((predictions - y[:, None]) ** 2).sum() if regression else int((predictions[:, 0] == y).sum())
                self.n_correct[j, 0] += errors
                self.n_leaves[j, 0] += _leaves(estimator)
            if case.tune_metric:
                for k, predicted in enumerate(predictions.T):
                    score = _tuning_score(case.tune_metric, _scored(case, estimator, X, y, predicted))
                    self.scores.setdefault(j * self.n_correct.shape[1] + k, []).append(score)

    def merits(self) -> list[Any]:
        """The value of each candidate that decides the choice, larger is better."""
        metric = self.case.tune_metric
        if not metric:
            return self.n_correct.ravel().tolist()
        sign = 1 if metric.larger_is_better else -1
        return [sign * metric.combined(self.scores[c], self.sizes) for c in range(self.n_correct.size)]

    def best(self) -> dict[str, Any]:
        """The candidate that the rule of `tune` chooses."""
        candidates, merits, leaves = self.candidates, self.merits(), self.n_leaves.ravel().tolist()
        ties = [params[self.path] if self.path in self.case.spec.grid else 0 for params in candidates]
        return candidates[max(range(len(candidates)), key=lambda c: (merits[c], -leaves[c], ties[c], c))]

    def table(self) -> list[dict[str, Any]]:
        """What is stored of each candidate."""
        metric, regression = self.case.tune_metric, self.case.dataset.task == "regression"
        sign = 1 if metric is None or metric.larger_is_better else -1
        counted = (self.n_correct.ravel().tolist(), self.merits(), self.n_leaves.ravel().tolist())
        return [
            {
                "params": params,
                **({"squared_error": -c} if regression else {"n_correct": c}),
                **({"score": float(sign * score)} if metric else {}),
                "n_rows": sum(self.sizes),
                "n_leaves": size,
                "n_trees": len(self.sizes),
            }
            for params, c, score, size in zip(self.candidates, *counted, strict=True)
        ]


def _tuning_score(metric: Metric, scored: Scored) -> Fraction:
    """The value of a metric on the validation rows of a pair.

    A share of rows is made exact again, so that equal scores are equal and leaves decide between them.
    """
    try:
        return Fraction(metric.evaluate(scored)).limit_denominator(10**9)
    except Undefined as reason:
        raise ConfigError(f"metric {metric.name} cannot choose parameters: {reason}") from reason


def predictions(case: Case, fold: Fold, seed: int, chosen: Mapping[str, Any] | None = None) -> np.ndarray:
    """Return the class codes that `run_job` counts, for the test rows of `fold`; `chosen` as in `run_job`."""
    if chosen is None:
        chosen = tune(case, fold.tuning, seed)[0] if case.spec.grid else {}
    estimator, encoder = fit_on(case, fold.train, fold.pruning, seed, chosen)
    return np.asarray(estimator.predict(columns_of(case, encoder, fold.test)))


def fitted(case: Case, fold: Fold, seed: int, chosen: Mapping[str, Any]) -> tuple[Any, Any, np.ndarray]:
    """Return the estimator that `run_job` tests, its encoder (or None), and its training rows as it saw them."""
    estimator, encoder = fit_on(case, fold.train, fold.pruning, seed, chosen)
    return estimator, encoder, columns_of(case, encoder, fold.train)


def fit_on(
    case: Case,
    train: np.ndarray,
    pruning: np.ndarray,
    seed: int,
    params: Mapping[str, Any],
    limits: Mapping[str, float] | None = None,
) -> tuple[Any, Any]:
    """Return the estimator of `case` fitted on the rows `train`, and the encoder fitted with it (or None).

    limits : as in `AlgorithmSpec`; with any, the estimator is fitted in a process of its own
    """
    X = case.dataset.X[train]
    encoder = fold_encoder(case.dataset, case.policy, X)
    X = X if encoder is None else encoder.transform(X)
    estimator = case.algorithm.make(random_state=seed, **{**case.spec.params, **params})
    estimator = prepared(estimator, case.dataset, case.policy)
    # Positions of the pruning rows among the training rows, with all copies of a row drawn twice.
    arguments = {"pruning_rows": np.flatnonzero(np.isin(train, pruning))} if needs_pruning_rows(estimator) else {}
    if arguments and case.dataset.groups is not None and len(np.unique(case.dataset.groups[train])) < 2:
        raise ConfigError(
            f"one group of column {case.dataset.group_column!r} is left to train on, and {case.spec.id} keeps whole "
            "groups to prune on: use a column with more groups, or pruning: none."
        )
    arguments |= fit_arguments(case, estimator, train)
    if limits and not is_outside(case.spec.name):
        from oblique_cli.estimators.outside.remote import LimitedEstimator

        estimator = LimitedEstimator(estimator, limits, plugins.imported())
    with own_labels(case.dataset, encoder):
        estimator.fit(X, case.dataset.y[train], **arguments)
    return estimator, encoder


def needs_pruning_rows(estimator: Any) -> bool:
    """Whether an estimator takes rows to prune on; one that does not say so takes none."""
    return bool(getattr(estimator, "needs_pruning_rows", False))


def fit_arguments(case: Case, estimator: Any, rows: np.ndarray | slice = slice(None)) -> dict[str, np.ndarray]:
    """Return the weights and the groups of some rows as `fit` takes them, {} if rows have neither.

    Groups are for an estimator that divides rows inside its fit. ConfigError for an algorithm that takes no weights
    """
    arguments: dict[str, np.ndarray] = {}
    if case.dataset.groups is not None and has_fit_parameter(estimator, "groups"):
        arguments["groups"] = np.ascontiguousarray(case.dataset.groups[rows])
    if case.dataset.weights is None:
        return arguments
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ConfigError(f"{case.spec.name} takes no weights of rows; leave out --weights, or take a tree.")
    return {**arguments, "sample_weight": np.ascontiguousarray(case.dataset.weights[rows])}


def _leaves(estimator: Any) -> int:
    """Leaves of a fitted tree, 0 for a model that is no tree."""
    return int(getattr(estimator, "n_leaves_", 0))


def columns_of(case: Case, encoder: ColumnEncoder | None, rows: np.ndarray) -> np.ndarray:
    """Return rows as the estimator of `fit_on` takes them."""
    X = case.dataset.X[rows]
    return X if encoder is None else encoder.transform(X)


def first_line(error: Exception | str) -> str:
    """Return an error as a stored fold keeps it: one line, and the plugin whose code it came out of."""
    if isinstance(error, str):
        return error
    if isinstance(error, PluginError):
        return str(error)
    if who := plugin_fault(error):
        return who
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# ---- many jobs -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunSummary:
    """How a run ended.

    total      folds of the experiment
    done       good rows now in the store; `resumed` of them were there before
    failures   the rows that failed, this time
    stopped    the signal that stopped the run, 0 if nothing did
    seconds    from start to end
    fold_counts    as in `Experiment`
    """

    name: str
    total: int
    done: int
    resumed: int
    failures: tuple[Row, ...]
    stopped: int
    seconds: float
    fold_counts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """What the command line ends with."""
        if self.stopped:
            return EXIT_TERMINATED if self.stopped == signal.SIGTERM else EXIT_INTERRUPTED
        return EXIT_FAILED_FOLDS if self.failures else EXIT_OK


@dataclass(frozen=True)
class RunOptions:
    """The options of `run`.

    n_jobs     processors to use, "auto" for all
    fresh      delete the run's results first
    adopt      take over folds that another run in the store has done: equal keys and environments are equal results
    data_dir, offline   where data sets come from, see `catalogue.load`
    strict_environment  ConfigError if folds are stored that another environment has made: other versions, another
               processor. Without it, the table says so
    scheduler  address of a Dask scheduler, whose workers are used in place of n_jobs processors
    """

    n_jobs: int | str = "auto"
    fresh: bool = False
    adopt: bool = False
    data_dir: str | None = None
    offline: bool = False
    strict_environment: bool = False
    scheduler: str | None = None


def run(
    experiment: Experiment,
    store: Store,
    *,
    progress: Progress | None = None,
    argv: Sequence[str] = (),
    shard: Shard | None = None,
    only: Callable[[Job], bool] | None = None,
    **options: Any,
) -> RunSummary:
    """Run or resume `experiment`: every fold without a good row in `store`, failed ones included.

    shard      run the folds of one part only
    only       run those folds only that it holds for
    options    fields of `RunOptions`

    The first Ctrl-C or SIGTERM starts no more jobs, lets those in hand finish and stores them; the second leaves at
    once. Either way the summary names the signal, and the same call goes on from there. StoreError if another process
    starts the run over meanwhile.
    """
    started = time.perf_counter()
    how = RunOptions(**options)
    workers = count_workers(how.n_jobs)
    progress = progress or Progress(quiet=True)
    datasets = load_datasets(experiment, how.data_dir, how.offline)
    jobs = jobs_of.expand(experiment, datasets)
    content = jobs_of.content(experiment, datasets)
    fold_counts = _fold_counts(experiment, datasets)
    libraries = known.packages_of(spec.name for spec in experiment.algorithms)
    here = environments.environment(_used(experiment), libraries)
    if how.strict_environment and not how.fresh:
        _refuse_other_environments(store, experiment.name, here)
    store.begin(
        experiment.name,
        content,
        len(jobs),
        argv=argv,
        environment=here,
        presentation=experiment.presentation()
        | ({"fold_counts": fold_counts} if fold_counts else {})
        | ({"data_dir": str(Path(how.data_dir).resolve())} if how.data_dir else {}),
        workers=workers,
        fresh=how.fresh,
    )
    try:
        _prepare(experiment, store, datasets, jobs, how.adopt, progress)
        if shard is not None:
            jobs = shard.of(jobs)
        missing = store.pending(experiment.name, jobs)
        resumed = len(jobs) - len(missing)
        pending = missing if only is None else [job for job in missing if only(job)]
        _say(experiment.name, store, progress)
        with Signals(progress) as signals, _connected(how.scheduler) as cluster:
            done, failures = _run_pending(
                experiment, store, datasets, pending, len(jobs), resumed, workers, signals, cluster, progress
            )
    finally:
        with contextlib.suppress(StoreError):  # what went wrong before is what matters
            store.end(experiment.name)
    return RunSummary(
        experiment.name,
        total=len(jobs),
        done=done,
        resumed=resumed,
        failures=failures,
        stopped=signals.received,
        seconds=time.perf_counter() - started,
        fold_counts=fold_counts,
    )


def _prepare(
    experiment: Experiment,
    store: Store,
    datasets: Sequence[Dataset],
    jobs: Sequence[Job],
    adopt: bool,
    progress: Progress,
) -> None:
    """Show the notes of every data set, and make the rows of the store agree with the jobs of the run."""
    for dataset in datasets:
        for note in dataset.notes:
            progress.remark(f"{dataset.name}: {note}")
    store.displace(experiment.name, jobs)
    store.add_labels({d.digest: pack_labels(Labels(d.classes, d.y)) for d in datasets})
    if adopt:
        tunings = [jobs_of.shared_tuning(experiment, data, spec) for data in datasets for spec in experiment.algorithms]
        store.adopt(experiment.name, [job.key for job in jobs], [tuning.key for tuning in tunings])


def _run_pending(
    experiment: Experiment,
    store: Store,
    datasets: Sequence[Dataset],
    pending: Sequence[Job],
    total: int,
    done: int,
    workers: int,
    signals: Signals,
    cluster: Any,
    progress: Progress,
) -> tuple[int, tuple[Row, ...]]:
    """Run folds and store each as it is finished; return how many of `total` are done now, and the failures in order.

    done : before it begins
    """
    cases = {
        (dataset.name, spec.id): Case.of(experiment, dataset, policy, spec)
        for policy, dataset in zip(experiment.datasets, datasets, strict=True)
        for spec in experiment.algorithms
    }
    failures: list[Row] = []
    crew = Crew(workers, all(case.lets_go for case in cases.values()), signals, cluster)
    try:
        for row in _results(experiment, cases, pending, store, crew, progress, total, done):
            store.append(experiment.name, row)
            if row.status == "ok":
                done += 1
            else:
                failures.append(row)
            progress.step(f"{row.dataset}/{row.algorithm} r{row.repeat} f{row.fold}", row.message)
    except KeyboardInterrupt:
        if not signals.received:
            raise
    finally:
        progress.end()
    return done, tuple(sorted(failures, key=lambda row: (row.dataset, row.algorithm, row.repeat, row.fold)))


def _results(
    experiment: Experiment,
    cases: Mapping[tuple[str, str], Case],
    pending: Sequence[Job],
    store: Store,
    crew: Crew,
    progress: Progress,
    total: int,
    done: int,
) -> Iterator[Row]:
    """Yield the rows of `pending` as they are finished, after choices of parameters that folds share."""
    tunings = _tune_shared(experiment, cases, pending, store, crew, progress)
    progress.begin(experiment.name, total, done)

    def call(job: Job, fold: Fold) -> Call:
        tuning = tunings.get((job.dataset, job.algorithm))
        if tuning is not None and tuning.status != "ok":
            return job, failed, (job, f"choosing parameters: {tuning.message}")
        chosen = () if tuning is None else (tuning.chosen,)
        return job, run_job, (job, cases[job.dataset, job.algorithm], fold, *chosen)

    def calls(left: Iterable[Job]) -> Iterator[list[Call]]:
        # What holds the interpreter, in small folds most of the time, goes on beside the compiled work of large ones.
        for together, fold in _with_folds(experiment, cases, tunings, left, in_turn=crew.shares_interpreter):
            yield [call(job, fold) for job in together]

    yield from crew.results(pending, calls, failed)


@dataclass(frozen=True)
class Shard:
    """Part `index` of `count` parts of a run, counted from 1: every `count`-th fold, with all its algorithms.

    Algorithms of a fold stay together because some share their work. Every part of a scheme that chooses parameters
    once for all folds makes these choices, which are the same in each.
    """

    index: int
    count: int

    def of(self, jobs: Sequence[Job]) -> list[Job]:
        """Return the jobs of this part."""
        places = {place: i for i, place in enumerate(dict.fromkeys((j.dataset, j.repeat, j.fold) for j in jobs))}
        return [job for job in jobs if places[job.dataset, job.repeat, job.fold] % self.count == self.index - 1]


def _used(experiment: Experiment) -> list[Any]:
    """What a run calls that may come from a file outside the package."""
    algorithms = [jobs_of.algorithm_of(spec, ALGORITHMS) for spec in experiment.algorithms]
    names = [*experiment.metrics, *([experiment.cv.tune_metric] if experiment.cv.tune_metric else [])]
    return [
        *(type(algorithm) for algorithm in algorithms),
        *(part for algorithm in algorithms for part in vars(algorithm).values() if callable(part)),
        *(METRICS[name] for name in names),
        type(SCHEMES[experiment.cv.scheme]),
    ]


def _refuse_other_environments(store: Store, run: str, here: Mapping[str, Any]) -> None:
    now = environments.deciding(here)
    for stored in store.environments(run).values():
        if stored != now:
            what = ", ".join(environments.differences(stored, now))
            raise ConfigError(
                f"run {run!r} has folds that another environment has made ({what}): use --fresh to start over, another "
                "name to keep both (--set name=...), or leave --strict-environment out."
            )


def _say(run: str, store: Store, progress: Progress) -> None:
    """Say before the first fold what a reader of the table should know."""
    if more := store.not_asked_for(run):
        progress.note(f"{run}: {more} stored folds are of repetitions beyond cv.repeats; kept, not shown")
    if others := store.made_elsewhere(run):
        progress.note(f"{run}: {others}; the table will say so, --strict-environment refuses, --fresh starts over")


@contextlib.contextmanager
def _connected(scheduler: str | None) -> Iterator[Any]:
    """Give a connection to a cluster, None if there is no address."""
    if scheduler is None:
        yield None
        return
    from oblique_cli.experiments.cluster import Cluster

    cluster = Cluster(scheduler)
    try:
        yield cluster
    finally:
        cluster.close()


def _fold_counts(experiment: Experiment, datasets: Sequence[Dataset]) -> dict[str, tuple[int, ...]]:
    """Return what tables, which see no data, must know of them: `Experiment.fold_counts`."""
    made = SCHEMES[experiment.cv.scheme]
    usual = None if made.places_from_data else schemes.places(experiment.cv)
    places_of = {dataset.name: schemes.places(experiment.cv, dataset) for dataset in datasets}
    return {
        name: tuple(np.bincount([repeat for repeat, _ in places]).tolist())
        for name, places in places_of.items()
        if places != usual
    }


def load_datasets(experiment: Experiment, data_dir: str | None, offline: bool) -> list[Dataset]:
    """Return the data sets of `experiment`. data_dir : folder of the command line, before the configuration's own."""
    place = data_dir or experiment.data_dir
    task = csv_task(experiment)
    groups = SCHEMES[experiment.cv.scheme].group_column(experiment.cv)
    return [
        catalogue.load(spec, data_dir=place, offline=offline, task=task, groups=groups) for spec in experiment.datasets
    ]


def csv_task(experiment: Experiment) -> str:
    """Return what the algorithms of `experiment` predict on a file of the user's own."""
    tasks = {task_of(algorithm.name) for algorithm in experiment.algorithms}
    return "regression" if tasks == {"regression"} else "classification"


def _with_folds(
    experiment: Experiment,
    cases: Mapping[tuple[str, str], Case],
    tunings: Mapping[tuple[str, str], Tuning],
    jobs: Iterable[Job],
    in_turn: bool,
) -> Iterator[tuple[list[Job], Fold]]:
    """Pair jobs with their fold; jobs of a fold that have work in common come together.

    in_turn : whether data sets take turns, fold by fold, or follow one another

    One fold is held at a time, and where data sets take turns, one of each.
    """

    def work_of(job: Job) -> Hashable:
        case, tuning = cases[job.dataset, job.algorithm], tunings.get((job.dataset, job.algorithm))
        if tuning is None and case.spec.grid:
            return None  # the job chooses its parameters first, by fits of its own
        return case.algorithm.shared_work({**case.spec.params, **(tuning.chosen if tuning else {})})

    if in_turn:
        jobs = sorted(jobs, key=lambda job: (job.repeat, job.fold))
    repetitions: dict[str, tuple[int, Iterator[Fold]]] = {}
    for (name, repeat, index), group in itertools.groupby(jobs, key=lambda job: (job.dataset, job.repeat, job.fold)):
        if not in_turn and name not in repetitions:
            repetitions.clear()
        if name not in repetitions or repetitions[name][0] != repeat:
            dataset = next(case.dataset for (of, _), case in cases.items() if of == name)
            repetitions[name] = repeat, iter(schemes.repetition(dataset, experiment.cv, experiment.seed, repeat))
        fold = next(fold for fold in repetitions[name][1] if fold.index == index)
        together: dict[Hashable, list[Job]] = {}
        for job in group:
            work = work_of(job)
            together.setdefault(job.key if work is None else work, []).append(job)
        for some in together.values():
            yield some, fold


def _tune_shared(
    experiment: Experiment,
    cases: Mapping[tuple[str, str], Case],
    pending: Iterable[Job],
    store: Store,
    crew: Crew,
    progress: Progress,
) -> dict[tuple[str, str], Tuning]:
    """Return the parameters chosen once for all folds, by data set and algorithm; {} if the scheme shares none.

    Choices that are not in the store yet are made, and stored, first.
    """
    if SCHEMES[experiment.cv.scheme].tuning != schemes.SHARED:
        return {}
    needed: dict[str, Job] = {}
    pairs: dict[str, Iterable[TuningPair]] = {}
    for name in dict.fromkeys((job.dataset, job.algorithm) for job in pending):
        case = cases[name]
        if case.spec.grid:
            fold = next(iter(schemes.repetition(case.dataset, experiment.cv, experiment.seed, 0)))
            job = jobs_of.shared_tuning(experiment, case.dataset, case.spec)
            needed[job.key], pairs[job.key] = job, fold.tuning
    tunings = {t.key: t for t in store.tunings(experiment.name) if t.key in needed and t.status == "ok"}
    missing = [job for job in needed.values() if job.key not in tunings]

    def calls(left: Iterable[Job]) -> Iterator[list[Call]]:
        for job in left:
            yield [(job, tune_job, (job, cases[job.dataset, job.algorithm], pairs[job.key]))]

    if missing:
        progress.begin(f"{experiment.name}, choosing parameters", len(needed), len(tunings), unit="searches")
        for tuning in crew.results(missing, calls, failed_tuning):
            store.add_tuning(experiment.name, tuning)
            tunings[tuning.key] = tuning
            progress.step(f"{tuning.dataset}/{tuning.algorithm}", tuning.message)
        progress.end()
    return {(t.dataset, t.algorithm): t for t in tunings.values()}


def count_workers(n_jobs: int | str) -> int:
    """Return how many workers `n_jobs` asks for: a number, or "auto" for one a processor."""
    if n_jobs == "auto":
        return int(joblib.cpu_count())
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs < 1:
        raise ConfigError(f"the number of jobs must be auto or a whole number, at least 1. Got {n_jobs!r}.")
    return n_jobs
