"""Bias and variance of the algorithms of a stored run, from the predictions of repeated cross-validation.

Each repetition tests every row with a classifier trained without it, so R repetitions give R votes per row.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np

from oblique_cli import schemes
from oblique_cli.errors import ConfigError
from oblique_cli.evaluation import significance_tests
from oblique_cli.evaluation.significance_tests import BiasVariance
from oblique_cli.evaluation.tables import MISSING, Sheet, TextGrid, method_titles, task_of_experiment
from oblique_cli.experiments.rescoring import stored
from oblique_cli.experiments.store import Run, Store
from oblique_cli.ground.nouns import Row


@dataclass(frozen=True)
class Decomposition:
    """One algorithm on one data set; `estimate` is None if a fold is missing, and `message` has the reason."""

    dataset: str
    algorithm: str
    label: str
    estimate: BiasVariance | None
    message: str = ""


def _sheet(title: str, repeats: int, lines: Sequence[Decomposition]) -> Sheet:
    """Return error, squared bias and variance in percent, with average ranks over the complete data sets."""
    rows = tuple((line.dataset, line.label, *_cells(line.estimate)) for line in lines)
    missing = [f"{line.dataset}, {line.label}: {line.message}" for line in lines if line.estimate is None]
    return Sheet(
        title=f"{title}: bias and variance",
        grids=(TextGrid(("data set", "algorithm", "error", "bias^2", "variance"), rows, left=2), *_ranks(lines)),
        notes=(
            f"In percent of the rows, over {repeats} repetitions (Kohavi and Wolpert 1996): error = bias^2 + variance, "
            "with the noise in bias^2. With R repetitions, (R - 1)/R of the variance is seen on average; the rest "
            "counts as bias^2.",
            *missing,
        ),
        records=tuple(
            {
                "dataset": line.dataset,
                "algorithm": line.algorithm,
                "repeats": repeats,
                "bias": line.estimate.bias if line.estimate else None,
                "variance": line.estimate.variance if line.estimate else None,
                "message": line.message,
            }
            for line in lines
        ),
        facts={},
    )


def _ranks(lines: Sequence[Decomposition]) -> list[TextGrid]:
    by_dataset: dict[str, list[Decomposition]] = {}
    for line in lines:
        by_dataset.setdefault(line.dataset, []).append(line)
    whole = [estimates for members in by_dataset.values() if all(estimates := [line.estimate for line in members])]
    labels = [line.label for line in next(iter(by_dataset.values()))]
    if len(whole) < 2 or len(labels) < 2:
        return []
    # Rounded, so that equal shares summed in different orders are ties.
    values = np.round([[(v.bias, v.variance) for v in estimates if v] for estimates in whole], 12)
    ranks, tests = [], []
    for name, scores in (("bias^2", -values[:, :, 0]), ("variance", -values[:, :, 1])):
        ranks.append(significance_tests.average_ranks(scores))
        test = significance_tests.friedman(list(ranks[-1]), len(whole), significance_tests.share_of_ties(scores))
        tests.append(f"{name} F {test.f:.2f}, p {test.p:.3f}")
    critical = significance_tests.critical_difference(len(labels), len(whole))
    rows = tuple((label, *(f"{r:.2f}" for r in each)) for label, *each in zip(labels, *ranks, strict=True))
    caption = (
        f"average ranks over {len(whole)} data sets, 1 the smallest: Iman-Davenport {', '.join(tests)}; "
        f"critical difference {critical:.2f} (Nemenyi, 0.05)"
    )
    return [TextGrid(("algorithm", "rank of bias^2", "rank of variance"), rows, left=1, caption=caption)]


def decompose(store: Store, run: Run, algorithms: Container[str] | None = None) -> Sheet:
    """Return the decomposition of each algorithm on each data set of a stored run. algorithms : ids, None for all

    Raise ConfigError for a run of numbers, of fewer than two different repetitions, or of a scheme that does not test
    every row once per repetition; StoreError for damaged predictions.
    """
    experiment = run.experiment
    cv, who = experiment.cv, f"bias-variance: run {run.name!r}"
    scheme = schemes.SCHEMES[cv.scheme]
    if not (scheme.tests_every_row_once and scheme.redraws):
        alike = ", by a tree of other rows each time" if scheme.tests_every_row_once else ""
        raise ConfigError(
            f"{who} is by scheme {cv.scheme}, which does not test every row once a repetition{alike}: use "
            f"{schemes.named(lambda other: other.tests_every_row_once and other.redraws)}."
        )
    if task_of_experiment(experiment) == "regression":
        raise ConfigError(f"{who} predicts numbers, and the decomposition is of misclassification rates.")
    rows: dict[tuple[str, str], list[Row]] = {}
    for row in store.rows(run.name):
        rows.setdefault((row.dataset, row.algorithm), []).append(row)
    titles = method_titles(spec.name for spec in experiment.algorithms)
    lines = []
    for dataset in (spec.name for spec in experiment.datasets):
        places = schemes.expected_places(experiment, dataset)
        if len({repeat for repeat, _ in places}) < 2:
            raise ConfigError(f"{who} has one repetition of {dataset}, and variance needs two or more.")
        for spec in experiment.algorithms:
            if algorithms is not None and spec.id not in algorithms:
                continue
            label = titles.get(spec.name, spec.name) if spec.id == spec.name else spec.id
            good = [row for row in rows.get((dataset, spec.id), ()) if row.status == "ok"]
            estimate, message = None, f"{len(good)} of {len(places)} folds are stored"
            if len(good) == len(places):
                estimate, message = _estimate(store, run, good), ""
            lines.append(Decomposition(dataset, spec.id, label, estimate, message))
    return _sheet(experiment.title or experiment.name, cv.repeats, lines)


def _estimate(store: Store, run: Run, rows: Sequence[Row]) -> BiasVariance:
    """Return the decomposition of one algorithm on one data set. rows : those of all folds"""
    votes = np.zeros((0, 0), dtype=np.int64)
    for _, predictions, labels in stored(store, run, rows):
        votes = votes if votes.size else np.zeros((len(labels.y), len(labels.classes)), dtype=np.int64)
        votes[predictions.rows, predictions.predicted] += 1
    return significance_tests.kohavi_wolpert(votes, labels.y)


def _cells(estimate: BiasVariance | None) -> tuple[str, ...]:
    if estimate is None:
        return (MISSING,) * 3
    return tuple(
        f"{100 * value:.2f}" for value in (estimate.bias + estimate.variance, estimate.bias, estimate.variance)
    )
