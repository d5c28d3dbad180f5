"""What a run would do: folds by data set and algorithm, and the time they may take."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

from oblique_cli.cli._common import Runner, columns, database
from oblique_cli.experiments import jobs as jobs_of
from oblique_cli.experiments.progress import duration
from oblique_cli.experiments.running import count_workers, load_datasets
from oblique_cli.experiments.store import Store
from oblique_cli.nouns import Experiment, Job, Row

Cell = tuple[str, str]


def plan(experiment: Experiment, runner: Runner) -> str:
    """Return the plan of `experiment` as text. Nothing is run, and nothing is written.

    The time is estimated from stored folds of the same data set and algorithm, spread over the workers.
    raises what the run itself would raise about its data, its folds or a changed configuration
    """
    datasets = load_datasets(experiment, runner.data_dir, runner.offline)
    jobs = jobs_of.expand(experiment, datasets)
    left, rows = jobs, list[Row]()
    path = database(runner.results)
    if path.is_file() and not runner.fresh:
        with Store(path, must_exist=True) as store:
            store.check(experiment.name, jobs_of.content(experiment, datasets))
            left, asked = store.pending(experiment.name, jobs), {job.key for job in jobs}
            rows = [row for row in store.rows(experiment.name) if row.key in asked]

    folds, pending = _by_cell(jobs), _by_cell(left)
    seconds: dict[Cell, list[float]] = defaultdict(list)
    failed: dict[Cell, int] = defaultdict(int)
    for row in rows:
        cell = (row.dataset, row.algorithm)
        if row.status == "ok":
            seconds[cell].append(row.tune_seconds + row.fit_seconds + row.predict_seconds)
        else:
            failed[cell] += 1
    lines = [("data set", "algorithm", "folds", "stored", "failed", "left", "a fold takes")]
    for cell, total in folds.items():
        takes = f"{fmean(seconds[cell]):.2g} s" if seconds[cell] else "-"
        n_left = pending[cell]
        lines.append((*cell, str(total), str(total - n_left), str(failed[cell]), str(n_left), takes))
    return f"{experiment.name}: {len(left)} of {len(jobs)} folds to run{_estimate(pending, seconds, runner)}\n" + (
        columns(lines, right=range(2, 7), header=True) + "\n"
    )


def _by_cell(jobs: list[Job]) -> dict[Cell, int]:
    counts: dict[Cell, int] = defaultdict(int)
    for job in jobs:
        counts[job.dataset, job.algorithm] += 1
    return counts


def _estimate(pending: dict[Cell, int], seconds: dict[Cell, list[float]], runner: Runner) -> str:
    known = {cell: n * fmean(seconds[cell]) for cell, n in pending.items() if seconds[cell]}
    unknown = [cell for cell, n in pending.items() if n and cell not in known]
    if not any(pending.values()):
        return ""
    if not known:
        return ", and no stored fold to tell the time from"
    workers = count_workers(runner.jobs)
    about = "at least" if unknown else "about"
    return f", {about} {duration(sum(known.values()) / workers)} with {workers} worker{'' if workers == 1 else 's'}"
