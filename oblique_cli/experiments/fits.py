"""Fit of one algorithm on one data set: choosing parameters, fitting, predicting, counting.

`run_job` and `tune_job` are pure: no files, no printing, no globals, and results that do not depend on place or order.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from oblique_cli import plugins
from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import ConfigError, PluginError
from oblique_cli.estimators.algorithms import ALGORITHMS, Algorithm, is_outside
from oblique_cli.estimators.encoding import ColumnEncoder, fold_encoder, own_labels, prepared
from oblique_cli.evaluation import metrics as metrics_of
from oblique_cli.evaluation.metrics import LABELS, METRICS, READ, SHOWN, Metric, Scored, Undefined
from oblique_cli.experiments import jobs as jobs_of
from oblique_cli.experiments.stored_predictions import Predictions, pack
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


@dataclass(frozen=True, eq=False)
class Case:
    """One algorithm on one data set, shared by all its jobs. metrics : additional metrics stored in rows

    tune_metric : metric that chooses parameters; None for accuracy, or the squared error of regression
    Metrics are objects, not names: a worker process has not imported the files that define them."""

    dataset: Dataset
    policy: DatasetSpec
    spec: AlgorithmSpec
    algorithm: Algorithm
    metrics: tuple[Metric, ...] = ()
    tune_metric: Metric | None = None
    keep: str = "predictions"

    def __reduce__(self) -> tuple[Any, ...]:
        # In a worker process, heuristics and metrics of a plugin have a name only after the plugin is imported.
        return _sent, (plugins.imported(), *(getattr(self, field.name) for field in fields(self)))

    @classmethod
    def of(cls, experiment: Experiment, dataset: Dataset, policy: DatasetSpec, spec: AlgorithmSpec) -> Case:
        """Return the case of an algorithm, with its parameters there, and a data set of `experiment`."""
        spec = spec.on(policy.name)
        metrics = tuple(METRICS[name] for name in metrics_of.to_measure(experiment.metrics))
        tune_metric = METRICS[experiment.cv.tune_metric] if experiment.cv.tune_metric else None
        return cls(dataset, policy, spec, jobs_of.algorithm_of(spec, ALGORITHMS), metrics, tune_metric, experiment.keep)

    @classmethod
    def all_of(cls, experiment: Experiment, datasets: Sequence[Dataset]) -> dict[tuple[str, str], Case]:
        """Return the cases of `experiment` by data set and algorithm. datasets : in its order"""
        return {
            (dataset.name, spec.id): cls.of(experiment, dataset, policy, spec)
            for policy, dataset in zip(experiment.datasets, datasets, strict=True)
            for spec in experiment.algorithms
        }

    @property
    def lets_go(self) -> bool:
        """Return whether a fit releases the interpreter lock: its work is compiled, or done by another process."""
        return self.algorithm.compiled or bool(self.spec.limits)

    @functools.cached_property
    def is_regression(self) -> bool:
        return self.dataset.task == "regression"


def _sent(_: plugins.Imported, *values: Any) -> Case:
    return Case(*values)


# ---- one job ---------------------------------------------------------------------------------------------------------


def run_job(
    job: Job, case: Case, fold: Fold, chosen: Mapping[str, Any] | None = None, shared: dict[bytes, Any] | None = None
) -> Row:
    """Return the row of `job`: `case` fitted on the training rows of `fold`, tested on its test rows.

    chosen : parameters chosen for all folds; without it, a grid is searched. An exception becomes a "failed" row.
    shared : as in `fit_on`"""
    started = time.perf_counter()
    try:
        inner: list[dict[str, Any]] = []
        if chosen is None:
            chosen, inner = tune(case, fold.tuning, job.seed, shared) if case.spec.grid else ({}, [])
        tuned = time.perf_counter()
        estimator, encoder = fit_on(case, fold.train, fold.pruning, job.seed, chosen, case.spec.limits, shared)
        fitted = time.perf_counter()
        X, y = columns_of(case, encoder, fold.test), case.dataset.y[fold.test]
        predicted = estimator.predict(X)
        done = time.perf_counter()
        names = case.dataset.classes
        n_clusters = getattr(estimator, "n_clusters_", None)
        extra = getattr(estimator, "extra_measures", None)
        measures = {} if extra is None else {name: float(value) for name, value in extra(X, y).items()}
        scored = _scored(case, estimator, X, y, predicted)
        if case.is_regression and not np.isfinite(scored.predicted).all():
            raise ValueError("the predictions are not finite")
        always = [name for name in (*SHOWN[case.dataset.task], *READ) if METRICS[name].measured]
        measures |= metrics_of.measure(always, scored, case.metrics)
        n_correct, per_class = 0, {}
        if not case.is_regression:
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
    except Exception as error:  # the exception belongs to this fold alone and is shown with it
        return failed(job, error)


def _scored(case: Case, estimator: Any, X: np.ndarray, y: np.ndarray, predicted: np.ndarray) -> Scored:
    n_classes = 0 if case.is_regression else len(case.dataset.classes)
    shares = functools.cache(lambda: metrics_of.probabilities(estimator, X, n_classes))
    return Scored(y, predicted, n_classes, shares, estimator, X)


def _packed(case: Case, fold: Fold, scored: Scored) -> bytes:
    """Return the predictions of a fold, packed for its row."""
    shares = None
    if case.keep == "probabilities" and not case.is_regression:
        with contextlib.suppress(Undefined):
            shares = scored.probabilities()
    return pack(Predictions(fold.test, np.asarray(scored.predicted), shares))


def no_information_error(y: np.ndarray, predicted: np.ndarray, n_classes: int) -> float:
    """Return the error of all pairs of a label and a prediction (Efron and Tibshirani 1997, eq. 28)."""
    codes = np.arange(n_classes)[:, None]
    return float(1 - ((y == codes).mean(axis=1) * (predicted == codes).mean(axis=1)).sum())


def failed(job: Job, error: Exception | str) -> Row:
    """Return the row of a failed job."""
    return Row(job.key, job.dataset, job.algorithm, job.repeat, job.fold, status="failed", message=first_line(error))


def tune_job(job: Job, case: Case, pairs: Iterable[TuningPair]) -> Tuning:
    """Return the parameters of `case` chosen once for all folds (two-stage, stage 1), or the error message."""
    started = time.perf_counter()
    try:
        chosen, inner = tune(case, pairs, job.seed)
        seconds = time.perf_counter() - started
        return Tuning(job.key, job.dataset, job.algorithm, "ok", chosen=chosen, inner=inner, seconds=seconds)
    except Exception as error:
        return failed_tuning(job, error)


def failed_tuning(job: Job, error: Exception | str) -> Tuning:
    """Return the outcome of a failed tuning job."""
    return Tuning(job.key, job.dataset, job.algorithm, "failed", message=first_line(error))


def first_line(error: Exception | str) -> str:
    """Return an error for storage: one line, with the plugin whose code raised it."""
    if isinstance(error, str | PluginError):
        return str(error)
    if who := plugin_fault(error):
        return who
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# ---- choosing parameters ---------------------------------------------------------------------------------------------


def tune(
    case: Case, pairs: Iterable[TuningPair], seed: int, shared: dict[bytes, Any] | None = None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Search the grid of `case` by cross-validation over `pairs`; return the choice and the table of candidates.

    The rule (Wickramarachchi 2015, section 5.2): the highest accuracy, pooled over the validation rows; among equals
    the smallest mean number of leaves. The thesis stops there. A further tie goes to the largest value of the
    algorithm's path parameter (of a limit, that is the simpler tree), then to the last candidate, in the order of
    parameters by name and values as listed. All comparisons are of integers. Regression uses the smallest squared error
    over the validation rows instead of accuracy. `case.tune_metric`, computed over the pairs as over the folds of a
    repetition, replaces either. ConfigError if it is undefined on the validation rows of a pair.

    Stochasticity: pair i is fitted with the seed named (seed, "tuning", i), for every candidate."""
    path, path_values, fits = _fits(case)
    shared = {} if shared is None else shared
    sizes: list[int] = []
    for i, pair in enumerate(pairs):
        y = case.dataset.y[pair.valid]
        sizes.append(len(y))
        pair_seed = seeds.integer(seed, "tuning", i)
        for params, candidates in fits:
            estimator, encoder = fit_on(case, pair.train, pair.pruning, pair_seed, params, case.spec.limits, shared)
            X = columns_of(case, encoder, pair.valid)
            if path_values:
                predictions, leaves = estimator.predict_path(X, path_values), estimator.n_leaves_path(path_values)
            else:
                predictions, leaves = estimator.predict(X)[:, None], [_leaves(estimator)]
            for candidate, predicted, n_leaves in zip(candidates, predictions.T, leaves, strict=True):
                if case.is_regression:
                    candidate.n_correct -= float(((predicted - y) ** 2).sum())
                else:
                    candidate.n_correct += int((predicted == y).sum())
                candidate.n_leaves += int(n_leaves)
                if case.tune_metric:
                    scored = _scored(case, estimator, X, y, predicted)
                    candidate.scores.append(_tuning_score(case.tune_metric, scored))
    if not sizes:
        raise ConfigError(
            f"{case.spec.id} has a grid, and there are no tuning pairs to choose by; use a scheme that tunes."
        )
    tried = [candidate for _, candidates in fits for candidate in candidates]
    merits = [candidate.n_correct for candidate in tried]
    if (metric := case.tune_metric) is not None:
        sign = 1 if metric.larger_is_better else -1
        merits = [sign * metric.combined(candidate.scores, sizes) for candidate in tried]
    ties = [candidate.params[path] if path in case.spec.grid else 0 for candidate in tried]
    best = max(range(len(tried)), key=lambda c: (merits[c], -tried[c].n_leaves, ties[c], c))
    return tried[best].params, [candidate.line(case, sizes) for candidate in tried]


def _fits(case: Case) -> tuple[str, Sequence[Any], list[tuple[dict[str, Any], list[_Candidate]]]]:
    """Return the path parameter, its values, and the fits per training set with the candidates that each serves.

    The tree of a larger limit is the tree of the smallest limit, cut; the clusters of a bottom-up tree do not depend
    on the cost: one fit serves a path. A metric that needs more than labels needs a fit per value."""
    grid, metric = case.spec.grid, case.tune_metric
    # In a refined tree this does not hold, and the leaves of a cut tree have no models.
    whole = all(case.spec.params.get(name, "none") == "none" for name in ("refine", "leaf_models"))
    path = case.algorithm.path_parameter or "" if whole else ""
    path_values = grid.get(path, ()) if metric is None or metric.needs == LABELS else ()
    names = sorted(name for name in grid if not (path_values and name == path))
    fits: list[tuple[dict[str, Any], list[_Candidate]]] = []
    for values in itertools.product(*(grid[name] for name in names)):
        params = dict(zip(names, values, strict=True))
        if path_values:
            candidates = [_Candidate({**params, path: value}) for value in path_values]
            fits.append(({**params, path: min(path_values)}, candidates))
        else:
            fits.append((params, [_Candidate(params)]))
    return path, path_values, fits


@dataclass
class _Candidate:
    """Parameters of a grid with their results on the validation rows. n_correct : minus squared error of regression"""

    params: dict[str, Any]
    n_correct: Any = 0
    n_leaves: int = 0
    scores: list[Fraction] = field(default_factory=list)

    def line(self, case: Case, sizes: Sequence[int]) -> dict[str, Any]:
        """Return the stored form of the candidate."""
        return {
            "params": self.params,
            **({"squared_error": -self.n_correct} if case.is_regression else {"n_correct": self.n_correct}),
            **({"score": float(case.tune_metric.combined(self.scores, sizes))} if case.tune_metric else {}),
            "n_rows": sum(sizes),
            "n_leaves": self.n_leaves,
            "n_trees": len(sizes),
        }


def _tuning_score(metric: Metric, scored: Scored) -> Fraction:
    """Return the exact value of a metric on the validation rows of a pair: leaves decide between equal scores."""
    try:
        return Fraction(metric.evaluate(scored)).limit_denominator(10**9)
    except Undefined as reason:
        raise ConfigError(f"metric {metric.name} cannot choose parameters: {reason}") from reason


# ---- fits ------------------------------------------------------------------------------------------------------------


def predictions(case: Case, fold: Fold, seed: int, chosen: Mapping[str, Any] | None = None) -> np.ndarray:
    """Return the class codes that `run_job` counts, for the test rows of `fold`; `chosen` as in `run_job`."""
    if chosen is None:
        chosen = tune(case, fold.tuning, seed)[0] if case.spec.grid else {}
    estimator, encoder = fit_on(case, fold.train, fold.pruning, seed, chosen)
    return np.asarray(estimator.predict(columns_of(case, encoder, fold.test)))


def fitted(case: Case, fold: Fold, seed: int, chosen: Mapping[str, Any]) -> tuple[Any, Any, np.ndarray]:
    """Return the estimator that `run_job` tests, its encoder (or None), and its training rows as it received them."""
    estimator, encoder = fit_on(case, fold.train, fold.pruning, seed, chosen)
    return estimator, encoder, columns_of(case, encoder, fold.train)


def fit_on(
    case: Case,
    train: np.ndarray | slice,
    pruning: np.ndarray | None,
    seed: int,
    params: Mapping[str, Any],
    limits: Mapping[str, float] | None = None,
    shared: dict[bytes, Any] | None = None,
) -> tuple[Any, Any]:
    """Return the estimator of `case` fitted on the rows `train`, and its encoder (or None).

    pruning : training rows to prune on; None to let the estimator draw them
    limits : as in `AlgorithmSpec`; with any limit, the estimator is fitted in a separate process
    shared : results that fits of one fold may reuse (`BottomUpTreeClassifier.fit`)"""
    X = case.dataset.X[train]
    encoder = fold_encoder(case.dataset, case.policy, X)
    X = X if encoder is None else encoder.transform(X)
    estimator = case.algorithm.make(random_state=seed, **{**case.spec.params, **params})
    estimator = prepared(estimator, case.dataset, case.policy)
    arguments: dict[str, Any] = {**fit_arguments(case, estimator, train)}
    if shared is not None and not limits and has_fit_parameter(estimator, "shared"):
        arguments["shared"] = shared
    if pruning is not None and getattr(estimator, "needs_pruning_rows", False):
        if case.dataset.groups is not None and len(np.unique(case.dataset.groups[train])) < 2:
            raise ConfigError(
                f"one group of column {case.dataset.group_column!r} is left to train on, and {case.spec.id} keeps "
                "whole groups to prune on: use a column with more groups, or pruning: none."
            )
        # Positions of the pruning rows among the training rows, including all copies of a bootstrap row.
        arguments["pruning_rows"] = np.flatnonzero(np.isin(np.arange(case.dataset.n)[train], pruning))
    if limits and not is_outside(case.spec.name):
        from oblique_cli.estimators.outside.remote import LimitedEstimator

        estimator = LimitedEstimator(estimator, limits, plugins.imported())
    with own_labels(case.dataset, encoder):
        estimator.fit(X, case.dataset.y[train], **arguments)
    return estimator, encoder


def fit_arguments(case: Case, estimator: Any, rows: np.ndarray | slice = slice(None)) -> dict[str, np.ndarray]:
    """Return the weights and groups of rows for `fit`. Raise ConfigError for an algorithm without weights."""
    arguments: dict[str, np.ndarray] = {}
    if case.dataset.groups is not None and has_fit_parameter(estimator, "groups"):
        arguments["groups"] = np.ascontiguousarray(case.dataset.groups[rows])
    if case.dataset.weights is None:
        return arguments
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ConfigError(f"{case.spec.name} takes no weights of rows; leave out --weights, or take a tree.")
    return {**arguments, "sample_weight": np.ascontiguousarray(case.dataset.weights[rows])}


def _leaves(estimator: Any) -> int:
    """Return the number of leaves of a fitted tree, 0 for a model that is not a tree."""
    return int(getattr(estimator, "n_leaves_", 0))


def columns_of(case: Case, encoder: ColumnEncoder | None, rows: np.ndarray) -> np.ndarray:
    """Return rows in the form that the estimator of `fit_on` accepts."""
    X = case.dataset.X[rows]
    return X if encoder is None else encoder.transform(X)
