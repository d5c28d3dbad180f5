"""What a run would do: folds by data set and algorithm, and the time they may take."""

from __future__ import annotations

from collections import Counter
from statistics import fmean

from oblique_cli.cli._common import Runner, columns, database
from oblique_cli.experiments import jobs as jobs_of
from oblique_cli.experiments.remaining_time import Cell, estimate, seconds_of
from oblique_cli.experiments.running import count_workers, load_datasets
from oblique_cli.experiments.store import Store
from oblique_cli.ground.nouns import Experiment, Job, Row


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
            left, keys = store.pending(experiment.name, jobs), {job.key for job in jobs}
            rows = [row for row in store.rows(experiment.name) if row.key in keys]

    folds, pending = _by_cell(jobs), _by_cell(left)
    seconds = seconds_of(rows)
    failed = Counter((row.dataset, row.algorithm) for row in rows if row.status != "ok")
    lines = [("data set", "algorithm", "folds", "stored", "failed", "left", "a fold takes")]
    for cell, total in folds.items():
        takes = f"{fmean(seconds[cell]):.2g} s" if cell in seconds else "-"
        n_left = pending[cell]
        lines.append((*cell, str(total), str(total - n_left), str(failed[cell]), str(n_left), takes))
    about = ""
    if left:
        about = f", {estimate(pending, rows, count_workers(runner.jobs))}"
        about = ", and no stored fold to tell the time from" if about == ", " else about
    return f"{experiment.name}: {len(left)} of {len(jobs)} folds to run{about}\n" + (
        columns(lines, right=range(2, 7), header=True) + "\n"
    )


def _by_cell(jobs: list[Job]) -> Counter[Cell]:
    return Counter((job.dataset, job.algorithm) for job in jobs)
