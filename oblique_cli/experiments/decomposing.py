"""Bias and variance of an experiment's algorithms from the predictions of repeated cross-validation.

The input is a configuration, stored or not, so the folds are run again with the same partitions and seeds. Each
repetition tests every row with a classifier trained without it, so R repetitions give R votes per row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import joblib
import numpy as np

from oblique_cli import schemes
from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import ConfigError
from oblique_cli.evaluation import significance_tests
from oblique_cli.evaluation.sheets import MISSING, Sheet, TextGrid
from oblique_cli.evaluation.significance_tests import BiasVariance
from oblique_cli.experiments import jobs as jobs_of
from oblique_cli.experiments.fits import Case, first_line, predictions, tune
from oblique_cli.ground.nouns import Experiment


@dataclass(frozen=True)
class Decomposition:
    """One algorithm on one data set; `estimate` is None if a fold failed, and `message` has the reason."""

    dataset: str
    algorithm: str
    label: str
    estimate: BiasVariance | None
    message: str = ""


def _sheet(title: str, repeats: int, lines: Sequence[Decomposition]) -> Sheet:
    """Return error, squared bias and variance in percent, with average ranks over the data sets without a failure."""
    rows = tuple((line.dataset, line.label, *_cells(line.estimate)) for line in lines)
    failed = [f"{line.dataset}, {line.label}: {line.message}" for line in lines if line.estimate is None]
    return Sheet(
        title=f"{title}: bias and variance",
        grids=(TextGrid(("data set", "algorithm", "error", "bias^2", "variance"), rows, left=2), *_ranks(lines)),
        notes=(
            f"In percent of the rows, over {repeats} repetitions (Kohavi and Wolpert 1996): error = bias^2 + variance, "
            "with the noise in bias^2. With R repetitions, (R - 1)/R of the variance is seen on average; the rest "
            "counts as bias^2.",
            *failed,
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


def decompose(experiment: Experiment, datasets: Sequence[Dataset], n_jobs: int = 1) -> Sheet:
    """Run every fold and return the decomposition of each algorithm on each data set.

    Raise ConfigError for fewer than two repetitions, or a scheme that does not test every row once per repetition."""
    cv = experiment.cv
    scheme = schemes.SCHEMES[cv.scheme]
    if not (scheme.tests_every_row_once and scheme.redraws):
        alike = ", by a tree of other rows each time" if scheme.tests_every_row_once else ""
        raise ConfigError(
            f"bias-variance: scheme {cv.scheme} does not test every row once a repetition{alike}: use "
            f"{schemes.named(lambda other: other.tests_every_row_once and other.redraws)}."
        )
    if cv.repeats < 2:
        raise ConfigError(f"bias-variance: cv.repeats is {cv.repeats}, and variance needs at least 2: use more.")
    for dataset in datasets:
        if scheme.repeats(dataset, cv) < cv.repeats:
            raise ConfigError(
                f"bias-variance: {dataset.name} can be divided in one way only, so its repetitions are the same folds: "
                f"use fewer folds than {cv.folds}."
            )
        if dataset.task == "regression":
            raise ConfigError(
                f"bias-variance: {dataset.name} is for regression, and the decomposition is of misclassification "
                "rates: leave it out."
            )
    # Makes the checks of a run and uses its seeds.
    seeds = {(job.dataset, job.repeat, job.fold): job.seed for job in jobs_of.expand(experiment, datasets)}
    work = (joblib.delayed(_decompose)(experiment, case, seeds) for case in Case.all_of(experiment, datasets).values())
    lines = joblib.Parallel(n_jobs=n_jobs, prefer="threads")(work)
    return _sheet(experiment.title or experiment.name, cv.repeats, lines)


def _decompose(experiment: Experiment, case: Case, seeds: dict[tuple[str, int, int], int]) -> Decomposition:
    cv, dataset, spec = experiment.cv, case.dataset, case.spec
    label = case.algorithm.title if spec.id == spec.name else spec.id
    votes = np.zeros((dataset.n, len(dataset.classes)), dtype=np.int64)
    shared = None
    place = "choosing parameters"
    try:
        declared = schemes.places(cv, dataset)
        for repeat in range(cv.repeats):
            for fold in schemes.repetition(dataset, cv, experiment.seed, repeat, declared):
                if fold.tuning_id and spec.grid and shared is None:
                    job = jobs_of.shared_tuning(experiment, dataset, spec)
                    shared, _ = tune(case, fold.tuning, job.seed)
                place = f"repetition {repeat}, fold {fold.index}"
                seed = seeds[dataset.name, repeat, fold.index]
                votes[fold.test, predictions(case, fold, seed, shared)] += 1
    except Exception as error:  # as in a run: the exception belongs to this algorithm and data set
        return Decomposition(dataset.name, spec.id, label, None, f"{place}: {first_line(error)}")
    return Decomposition(dataset.name, spec.id, label, significance_tests.kohavi_wolpert(votes, dataset.y))


def _cells(estimate: BiasVariance | None) -> tuple[str, ...]:
    if estimate is None:
        return (MISSING,) * 3
    return tuple(
        f"{100 * value:.2f}" for value in (estimate.bias + estimate.variance, estimate.bias, estimate.variance)
    )
