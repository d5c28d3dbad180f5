"""One draw of a printed cell: cross-validation of new points, of a part of the rows, or of other folds and starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from oblique_cli import schemes
from oblique_cli.data.dataset import Dataset
from oblique_cli.data.synthetic import SYNTHETIC, balanced
from oblique_cli.experiments.fits import Case, run_job, tune
from oblique_cli.ground import seeds
from oblique_cli.ground.nouns import Fold, Job, Row
from oblique_cli.papers.reproduction.framework.runs import Score, measuring

SHARE = 0.99  # of the training rows of Shuttle, whose printed numbers are of one tree
CLUSTERS = "avg_clusters_per_class"


@dataclass(frozen=True)
class Drawing:
    """What one draw of a cell needs, ready to be sent to a process."""

    kind: str
    case: Case
    cv: Any
    chosen: Mapping[str, float] | None
    rows: Dataset | None = None  # what Magic is drawn from


@measuring
def draw_step(job: Job, drawing: Drawing) -> dict[str, float]:
    """Return the measures of one draw, by printed metric: over one cross-validation, or all of them for "folds"."""
    with threadpool_limits(1):
        case, cv, chosen = drawing.case, drawing.cv, drawing.chosen
        if drawing.kind == "points":
            case = replace(case, dataset=points(drawing, job.seed))
        repeats = cv.repeats if drawing.kind == "folds" else 1
        rows: list[Row] = []
        for repeat in range(repeats):
            folds = list(schemes.repetition(case.dataset, cv, job.seed, repeat))
            if drawing.kind == "rows":
                folds = [part_of(fold, job.seed) for fold in folds]
            if chosen is None and case.spec.grid:
                chosen = tune(case, folds[0].tuning, job.seed)[0]
            rows += [run_job(replace(job, repeat=repeat, fold=fold.index), case, fold, chosen or {}) for fold in folds]
    failed = [row.message for row in rows if row.status != "ok"]
    if failed:
        raise RuntimeError(failed[0])
    measures = spread_of(rows)
    if case.dataset.task == "regression":  # whose printed SDs are over folds
        measures["n_leaves sd"] = stdev(row.n_leaves for row in rows)
    for i, name in enumerate(rows[0].clusters or {}, 1):
        measures[f"{CLUSTERS}; class_index={i}"] = fmean(row.clusters[name] for row in rows)
    return measures


def points(drawing: Drawing, seed: int) -> Dataset:
    """Return the data set with points of another draw."""
    data = drawing.case.dataset
    if drawing.rows is not None:
        some = balanced(drawing.rows.y, seed=seed)
        return replace(data, X=drawing.rows.X[some], y=drawing.rows.y[some])
    X, y = SYNTHETIC[data.name](seeds.generator(seed, "synthetic", data.name))
    if data.task == "regression":
        return replace(data, X=np.ascontiguousarray(X, dtype=np.float64), y=y)
    codes = np.unique(y, return_inverse=True)[1].astype(np.int32)
    return replace(data, X=np.ascontiguousarray(X, dtype=np.float64), y=codes)


def part_of(fold: Fold, seed: int) -> Fold:
    """Return the fold with SHARE of its training rows, drawn at random."""
    order = seeds.generator(seed, "draws", "rows").permutation(len(fold.train))
    return replace(fold, train=np.sort(fold.train[order[: round(SHARE * len(order))]]))


# Accuracy, leaves and depth of some folds: the sum of the first over the sum of the second.
RATIOS: Mapping[str, tuple[Score, Score]] = {
    "accuracy_percent": (lambda row: 100.0 * row.n_correct, lambda row: row.n_test),
    "n_leaves": (lambda row: row.n_leaves, lambda row: 1.0),
    "depth": (lambda row: row.depth, lambda row: 1.0),
}
ENDS = ("least", "largest", "least repetition", "largest repetition")


def spread_of(rows: Iterable[Row]) -> dict[str, float]:
    """Return accuracy, leaves and depth of good rows; with several repetitions also "NAME sd", over their means, and
    by "NAME least" and so on, as in ENDS, between which values folds and repetitions lie."""
    repeats: dict[int, list[Row]] = {}
    for row in rows:
        repeats.setdefault(row.repeat, []).append(row)
    spread: dict[str, float] = {}
    for name, (top, bottom) in RATIOS.items():
        folds = [top(row) / bottom(row) for each in repeats.values() for row in each]
        means = [sum(map(top, each)) / sum(map(bottom, each)) for each in repeats.values()]
        spread[name] = fmean(means)
        if len(means) > 1:
            ends = (min(folds), max(folds), min(means), max(means))
            spread |= {f"{name} sd": stdev(means)} | {f"{name} {end}": x for end, x in zip(ENDS, ends, strict=True)}
    return spread
