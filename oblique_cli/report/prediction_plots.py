"""Plots of stored predictions, and of class regions over a plane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from oblique_cli.data import catalogue
from oblique_cli.drawing import charts
from oblique_cli.drawing.charts import Curve, Panel
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import task_of
from oblique_cli.evaluation.holdout_report import BINS, reliability
from oblique_cli.experiments.fits import Case, fitted
from oblique_cli.experiments.rescoring import stored
from oblique_cli.ground.nouns import Fold
from oblique_cli.ground.registry import close_matches
from oblique_cli.ground.seeds import integer
from oblique_cli.report.material import Material, Method
from oblique_cli.report.plot_kinds import (
    KINDS,
    MOST_PANELS,
    Plot,
    Request,
    classes_only,
    left_out,
    methods_on,
    nothing,
    protocol,
)

GRID = 300  # points per side, of decision regions


@KINDS.register("calibration")
def calibration(material: Material, request: Request) -> Plot:
    """Draw a reliability diagram: how often predictions of a given probability are correct."""
    classes_only(material, "calibration")
    panels = []
    for dataset in material.datasets[:MOST_PANELS]:
        lines = []
        for method in methods_on(material, dataset):
            confident, right = [], []
            for row, predictions, labels in stored(material.store, method.shown.run, method.tested(dataset)):
                if predictions.probabilities is None:
                    raise ConfigError(
                        f"run {method.shown.run.name!r} keeps no probabilities of {method.label} on {dataset} "
                        f"(repetition {row.repeat}, fold {row.fold}); run it with --keep-probabilities."
                    )
                confident.append(predictions.probabilities.max(axis=1))
                right.append(predictions.predicted == labels.y[predictions.rows])
            if confident:
                bins = reliability(np.concatenate(confident), np.concatenate(right))
                label, flat = f"{method.label} (ECE {bins.error:.3f})", [0.0] * len(bins.rows)
                curve = Curve(label, bins.confidence.tolist(), bins.right.tolist(), flat, method.code)
                lines.append((curve, bins.rows.tolist()))
        if lines:
            panels.append(Panel(dataset, lines))
    if not panels:
        raise nothing("predictions")
    figure = charts.calibration(panels, request.width)
    caption = (
        f"Reliability of the predicted class's probability on test rows, {BINS} bins of equal width, "
        f"{protocol(material)}; points are as large as the share of rows in their bin. ECE is the expected "
        f"calibration error, the mean distance from the diagonal.{left_out(material)}"
    )
    plain = [Panel(panel.title, [curve for curve, _ in panel.things]) for panel in panels]
    return Plot(figure, caption, charts.numbers(plain, "share right", "probability"))


@KINDS.register("confusion")
def confusion(material: Material, request: Request) -> Plot:
    """Draw the confusion matrix: predicted against true classes."""
    classes_only(material, "a confusion matrix")
    dataset = _only_dataset(material, "a confusion matrix is")
    classes, counts_of = confusions(material, dataset)
    if not counts_of:
        raise nothing("predictions")
    panels = [Panel(f"{dataset}, {method.label}", [counts]) for method, counts in counts_of]
    figure = charts.confusion(panels, classes, request.width)
    caption = (
        f"Test rows of each class by the class predicted, mean over repetitions, {protocol(material)}; shades are "
        "shares of a row."
    )
    return Plot(figure, caption)


def confusions(material: Material, dataset: str) -> tuple[tuple[str, ...], list[tuple[Method, np.ndarray]]]:
    """Return the classes of a data set, and for each method its (C, C) matrix of counts, mean over repetitions."""
    classes: tuple[str, ...] = ()
    out = []
    for method in methods_on(material, dataset):
        repetitions = method.repetitions(dataset)
        rows = [row for rows in repetitions for row in rows] or method.tested(dataset)
        total: np.ndarray | None = None
        for _, predictions, labels in stored(material.store, method.shown.run, rows):
            classes = labels.classes
            total = np.zeros((len(classes), len(classes))) if total is None else total
            np.add.at(total, (labels.y[predictions.rows], predictions.predicted), 1)
        if total is not None:
            out.append((method, total / max(len(repetitions), 1)))
    return classes, out


@KINDS.register("regions")
def regions(material: Material, request: Request) -> Plot:
    """Draw the class that each algorithm predicts over the plane of two features."""
    classes_only(material, "regions")
    dataset = _only_dataset(material, "regions are")
    panels = []
    data = columns = None
    for method in methods_on(material, dataset):
        policy = material.policy(method, dataset)
        data = catalogue.load(policy, request.data_dir, request.offline, task_of(method.spec.name))
        if data.digest != method.shown.data.get(dataset):
            raise ConfigError(f"the data of {dataset!r} have changed since run {method.shown.run.name!r} was made.")
        columns = _two(data, request.features)
        X = np.ascontiguousarray(data.X[:, columns])
        if np.isnan(X).any():
            raise ConfigError(f"regions need values, and {dataset!r} has missing ones in the features shown.")
        chosen = Counter(tuple(sorted(row.chosen.items())) for row in method.rows(dataset)).most_common(1)
        two = tuple(data.feature_names[k] for k in columns)
        flat = replace(data, X=X, feature_names=two, qualitative=(), levels={}, split=None)
        case = Case.of(method.shown.experiment, flat, policy, method.spec)
        rows = np.arange(flat.n)
        seed = integer(method.shown.experiment.seed, dataset, "regions")
        everything = Fold(0, 0, rows, rows[:0], rows[:: max(2, round(1 / method.shown.experiment.cv.pruning_fraction))])
        estimator, encoder, _ = fitted(case, everything, seed, dict(chosen[0][0]) if chosen else {})
        low, high = X.min(axis=0), X.max(axis=0)
        margin = np.where(high > low, 0.05 * (high - low), 0.5)
        rectangle = np.array([low - margin, high + margin])
        across, up = np.meshgrid(*(np.linspace(rectangle[0, k], rectangle[1, k], GRID) for k in (0, 1)))
        plane = np.column_stack([across.ravel(), up.ravel()])
        plane = plane if encoder is None else np.ascontiguousarray(encoder.transform(plane), dtype=np.float64)
        codes = np.asarray(estimator.predict(plane)).reshape(GRID, GRID)
        panels.append(Panel(method.label, [codes, X, data.y]))
    if data is None or columns is None:
        raise nothing("regions")
    names = [data.feature_names[k] for k in columns]
    figure = charts.regions(panels, rectangle, names, data.classes, request.width)
    note = "" if len(data.feature_names) == 2 else " The models were fitted to these two features alone."
    over = f"{names[0]} and {names[1]}"
    caption = f"Classes of {dataset} that each model, fitted to all {data.n} rows, predicts over {over}.{note}"
    return Plot(figure, caption)


def _only_dataset(material: Material, subject: str) -> str:
    if len(material.datasets) > 1:
        raise ConfigError(f"{subject} of one data set; choose one by --dataset: {', '.join(material.datasets)}.")
    return material.datasets[0]


def _two(data: Any, requested: Sequence[str]) -> list[int]:
    names = list(data.feature_names)
    if not requested:
        if len(names) == 2:
            return [0, 1]
        raise ConfigError(
            f"regions need two features, and {data.name!r} has {len(names)}; choose by --features A,B from "
            f"{', '.join(names[:8])}{', ...' if len(names) > 8 else ''}."
        )
    if len(requested) != 2 or requested[0] == requested[1]:
        raise ConfigError(f"--features takes two different names, A,B. Got {','.join(requested)!r}.")
    for name in requested:
        if name not in names:
            hint = close_matches(name, names) or f" It has {', '.join(names[:8])}."
            raise ConfigError(f"data set {data.name!r} has no feature {name!r}.{hint}")
    columns = [names.index(name) for name in requested]
    for k in columns:
        if k in data.qualitative:
            raise ConfigError(f"feature {names[k]!r} of {data.name!r} is qualitative; regions need two numbers.")
    return columns
