"""Plots of stored predictions, and of class regions over a plane."""

from __future__ import annotations

import numpy as np

from oblique_cli.drawing import charts
from oblique_cli.drawing.charts import Curve, Panel
from oblique_cli.errors import ConfigError
from oblique_cli.evaluation.holdout_report import BINS, reliability
from oblique_cli.experiments.rescoring import stored
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


@KINDS.register("calibration")
def calibration(material: Material, request: Request) -> Plot:
    """Draw reliability: how often a prediction of a given probability is right."""
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
    return Plot(figure, caption)


@KINDS.register("confusion")
def confusion(material: Material, request: Request) -> Plot:
    """Draw which class was taken for which."""
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


def _only_dataset(material: Material, subject: str) -> str:
    if len(material.datasets) > 1:
        raise ConfigError(f"{subject} of one data set; choose one by --dataset: {', '.join(material.datasets)}.")
    return material.datasets[0]
