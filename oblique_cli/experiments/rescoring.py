"""Computation of further metrics of stored folds from stored predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from oblique_cli.errors import ConfigError, StoreError
from oblique_cli.evaluation import metrics as metrics_of
from oblique_cli.evaluation.metrics import METRICS, MODEL, PROBABILITIES, Scored, Undefined
from oblique_cli.evaluation.tables import task_of_experiment
from oblique_cli.experiments.store import Run, Store
from oblique_cli.experiments.stored_predictions import Labels, Predictions, unpack, unpack_labels
from oblique_cli.ground.nouns import Row


def rescored(store: Store, run: Run, rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """Return `rows` with the metrics `names` added to their measures; nothing is fitted.

    Raise ConfigError for a metric that needs unstored values; StoreError if the predictions contradict the counts."""
    experiment = run.experiment
    who = f"run {run.name!r}"
    names = metrics_of.chosen(names, task_of_experiment(experiment), who, matrices=True)
    metrics_of.check_scheme(names, experiment.cv, who)
    metrics = [METRICS[name] for name in names if METRICS[name].measured]
    for metric in metrics:
        if metric.needs == MODEL:
            raise ConfigError(f"{who}: metric {metric.name} needs the fitted models, which a run does not keep.")
        if metric.needs == PROBABILITIES and experiment.keep != "probabilities":
            raise ConfigError(
                f"{who}: metric {metric.name} needs class probabilities, and the run kept the classes alone: run it "
                "again with --keep-probabilities and --fresh."
            )
    measures = {
        row.key: metrics_of.measure([metric.name for metric in metrics], scored(predictions, labels))
        for row, predictions, labels in (stored(store, run, rows) if metrics else ())
    }
    return [replace(row, measures={**row.measures, **measures.get(row.key, {})}) for row in rows]


def stored(store: Store, run: Run, rows: Sequence[Row]) -> Iterator[tuple[Row, Predictions, Labels]]:
    """Yield the good rows of `rows` with their predictions and the true labels of their data set.

    Raise ConfigError for a row without predictions, StoreError for predictions that contradict the row's counts."""
    truths: dict[str, Labels] = {}
    good = [row for row in rows if row.status == "ok"]
    for row, packed in zip(good, store.each_packed(run.name, good), strict=True):
        if row.dataset not in truths:
            known = store.labels(run.content["data"][row.dataset])
            truths[row.dataset] = unpack_labels(known) if known else Labels((), np.empty(0))
        labels = truths[row.dataset]
        if not packed or not len(labels.y):
            raise ConfigError(
                f"run {run.name!r} has no predictions of {_name(row)}, which an older version of oblique ran: run it "
                "again with --fresh."
            )
        predictions = unpack(packed)
        y = labels.y[predictions.rows]
        if len(y) != row.n_test or (labels.classes and int((y == predictions.predicted).sum()) != row.n_correct):
            raise StoreError(
                f"{store.path} is damaged: the predictions of {_name(row)} of run {run.name!r} are not those that were "
                "counted. Run it again with --fresh."
            )
        yield row, predictions, labels


def _name(row: Row) -> str:
    return f"{row.dataset}/{row.algorithm} r{row.repeat} f{row.fold}"


def scored(predictions: Predictions, labels: Labels) -> Scored:
    """Return the arguments of metrics from the stored predictions of a fold."""

    def shares() -> np.ndarray:
        if predictions.probabilities is None:
            raise Undefined("no class probabilities were kept of this fold")
        return predictions.probabilities

    y = labels.y[predictions.rows]
    return Scored(y, predictions.predicted, len(labels.classes), shares, None, np.empty((len(y), 0)))
