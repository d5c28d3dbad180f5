"""What the runner adds to a fold: jobs, keys, checks of the folds, dispatch, packed predictions, a row on the disk."""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.measuring import Report, Sample, alternate, main
from oblique_cli import config, schemes
from oblique_cli.estimators.algorithms import make
from oblique_cli.experiments.running import load_datasets
from oblique_cli.experiments.running import run as run_experiment
from oblique_cli.experiments.store import Store
from oblique_cli.ground.nouns import Experiment


def experiment(repeats: int) -> Experiment:
    """Ten-fold cross-validation of an axis-parallel tree on Iris, the quickest fold there is."""
    plain = {"version": 1, "dataset": "iris", "algorithm": "axis_parallel", "cv": {"folds": 10, "repeats": repeats}}
    return config.from_mapping(plain, "runner", (), where="benchmarks/runner.py")


def bare(asked: Experiment) -> int:
    """Return how many rows are right over all folds: draw, fit, predict, count, and nothing else."""
    (dataset,) = load_datasets(asked, None, True)
    right = 0
    for repeat in range(asked.cv.repeats):
        for fold in schemes.SCHEMES[asked.cv.scheme].draw(dataset, asked.cv, asked.seed, repeat):
            tree = make("axis_parallel", random_state=0).fit(dataset.X[fold.train], dataset.y[fold.train])
            right += int((tree.predict(dataset.X[fold.test]) == dataset.y[fold.test]).sum())
    return right


def whole(asked: Experiment) -> int:
    """Return the same, from the rows that the runner has stored."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "oblique.sqlite")) as store:
        run_experiment(asked, store, n_jobs=1)
        return sum(row.n_correct for row in store.rows(asked.name))


def run(report: Report, repeat: int) -> None:
    """The runner beside a bare loop over the same folds, which must count the same rows."""
    asked = experiment(2 if report.quick else 50)
    folds = 10 * asked.cv.repeats
    bare(asked)  # whatever is loaded on first use
    times, right = alternate({"bare loop": partial(bare, asked), "runner": partial(whole, asked)}, repeat)
    assert right["bare loop"] == right["runner"]
    report.table(
        f"{folds} folds",
        [{"contestant": name, "ms a fold": 1000 * sample.median / folds} for name, sample in times.items()],
    )
    pairs = zip(times["runner"].values, times["bare loop"].values, strict=True)
    overhead = Sample([1000 * (one - other) / folds for one, other in pairs])
    report.claim("what the runner adds to a fold", "< 2", overhead, "ms")


if __name__ == "__main__":
    sys.exit(main({"runner": run}, __doc__ or ""))
