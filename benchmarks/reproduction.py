"""What chapters 3, 5 and 6 of the thesis take: one fold of every method on every set, times their number.

`oblique reproduce` runs each fold once, whichever table asks for it first. Choosing parameters is timed on the first
training set of its cross-validation. Data sets that are not at hand are named and left out: OBLIQUE_DATA is the folder
of those that may not be bundled.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from benchmarks.measuring import Report, Sample, main
from oblique_cli import config, schemes
from oblique_cli.errors import DataError
from oblique_cli.experiments import jobs as jobs_of
from oblique_cli.experiments.running import Case, load_datasets, run_job, tune
from oblique_cli.ground.nouns import Experiment, Fold

STUDIES = {
    "chapter3": (
        *("chapter3", "chapter3_shuttle", "chapter3_stratified", "chapter3_shuttle_stratified"),
        *("chapter3_mixed", "chapter3_income"),
    ),
    "chapter5": ("chapter5_two_stage", "chapter5_shuttle", "chapter5_nested", "chapter5_hhcrv"),
    "chapter6": ("chapter6_bic", "chapter6_cv"),
}
SMALL = ("wine", "haberman")


def run(report: Report, repeat: int) -> None:
    """CPU time of the studies by configuration, and wall time on two free processors if both are always busy."""
    done: set[str] = set()
    rows, total, missing = [], 0.0, set()
    for study, names in STUDIES.items():
        for name in names:
            trees, seconds = 0, Counter[str]()
            for experiment, dataset in _parts(name, SMALL if report.quick else None, missing):
                jobs = [job for job in jobs_of.expand(experiment, [dataset]) if job.key not in done]
                done |= {job.key for job in jobs}
                trees += len(jobs)
                seconds.update(_measured(experiment, dataset, Counter(job.algorithm for job in jobs)))
            if trees:
                total += sum(seconds.values())
                (longest, most), *_ = seconds.most_common(1)
                rows.append(
                    {"study": study, "configuration": name, "trees": trees, "CPU s": sum(seconds.values())}
                    | {"longest": longest, "its CPU s": most}
                )
    left_out = f"; without {', '.join(sorted(missing))}, which are not at hand" if missing else ""
    report.table(f"Full profiles{left_out}", rows)
    wall = "not all data sets are at hand" if missing else Sample([total / 2 / 60])
    report.claim("chapters 3, 5 and 6 on two processors, both always busy", "< 15", wall, "minutes")


def _parts(name: str, only: tuple[str, ...] | None, missing: set[str]) -> Iterator[tuple[Experiment, Any]]:
    """The experiment of each data set of a configuration, and the data set."""
    whole = config.load(f"reproduce/{name}")
    for spec in whole.datasets:
        if only is not None and spec.name not in only:
            continue
        experiment = replace(whole, datasets=(spec,))
        try:
            (dataset,) = load_datasets(experiment, os.environ.get("OBLIQUE_DATA"), True)
        except DataError:
            missing.add(spec.name)
            continue
        yield experiment, dataset


def _measured(experiment: Experiment, dataset: Any, folds: Counter[str]) -> dict[str, float]:
    """Seconds of all folds of a data set, by method; methods of a fold share what they do in a run."""
    fold = next(iter(schemes.repetition(dataset, experiment.cv, experiment.seed, 0)))
    jobs = {job.algorithm: job for job in jobs_of.expand(experiment, [dataset]) if (job.repeat, job.fold) == (0, 0)}
    shared = schemes.SCHEMES[experiment.cv.scheme].tuning == schemes.SHARED
    cases = {spec.id: Case.of(experiment, dataset, experiment.datasets[0], spec) for spec in experiment.algorithms}
    chosen: dict[str, dict[str, Any]] = {}
    seconds: dict[str, float] = dict.fromkeys(folds, 0.0)
    for key, count in folds.items():
        chosen[key] = {}
        if cases[key].spec.grid:
            pairs = sum(1 for _ in fold.tuning)
            (chosen[key], _), taken = _timed(lambda key=key: tune(cases[key], islice(fold.tuning, 1), jobs[key].seed))
            seconds[key] += pairs * taken * (1 if shared else count)
    for key, count in folds.items():
        row, taken = _timed(lambda key=key: run_job(jobs[key], cases[key], _untuned(fold), chosen[key]))
        assert row.status == "ok", row.message
        seconds[key] += count * taken
    return {f"{key} on {dataset.name}": value for key, value in seconds.items()}


def _untuned(fold: Fold) -> Fold:
    return replace(fold, tuning=())


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and its CPU seconds."""
    start = time.process_time()
    found = call()
    return found, time.process_time() - start


if __name__ == "__main__":
    sys.exit(main({"reproduction": run}, __doc__ or ""))
