"""The tables of the field's comparison from stored runs, as `oblique reproduce` writes them; nothing is run.

Runs of classification with two folds make those of the study field, with five folds those of field_10x5, with
parameters chosen inside the training rows those of field_tuned; runs of regression make those of field_regression.
Several of these may be named together.

oblique run configs/field.yaml --set cv.repeats=1       # a part of the full profile, for a machine with less time
python tools/field.py field field_more --results results     # then oblique reproduce report fills docs/field.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from oblique_cli import config
from oblique_cli.errors import ObliqueError
from oblique_cli.evaluation.tables import summarize, task_of_experiment
from oblique_cli.experiments.store import Store
from oblique_cli.ground.nouns import Experiment
from oblique_cli.papers.reproduction.framework.runs import DATABASE, Outcome
from oblique_cli.papers.reproduction.framework.studies import Cost, StudyRequest, StudyResult
from oblique_cli.papers.reproduction.framework.study_report import StudyReport
from oblique_cli.papers.reproduction.studies.field import (
    Comparison,
    Field,
    FieldRegression,
    FieldTenByFive,
    FieldTuned,
    field_tables,
)
from oblique_cli.schemes import SCHEMES


def stored(store: Store, name: str, without: Sequence[str] = (), repeats: int | None = None) -> Outcome:
    """Return a stored run as a study takes it, with the metrics of the study: a run may have been rescored for more.

    without : ids of algorithms that are left out; repeats : so many repetitions, the first ones, None for all
    """
    experiment = store.run(name).experiment
    if repeats is not None:
        experiment = replace(experiment, cv=replace(experiment.cv, repeats=repeats))
    kept = tuple(spec for spec in experiment.algorithms if spec.id not in without)
    experiment = replace(experiment, algorithms=kept, metrics=config.load(study_of(experiment).runs[0]).metrics)
    stored_rows = (row for row in store.rows(name) if row.algorithm not in without)
    rows = tuple(row for row in stored_rows if repeats is None or row.repeat < repeats)
    done = [row for row in rows if row.status == "ok"]
    seconds = sum(row.tune_seconds + row.fit_seconds + row.predict_seconds for row in done)
    cost = Cost(stored_trees=len(done), stored_seconds=seconds)
    return Outcome(experiment, rows, (), summarize(rows, experiment), cost, 0)


def study_of(experiment: Experiment) -> type[Comparison]:
    """Return the study whose tables a run belongs to."""
    if task_of_experiment(experiment) == "regression":
        return FieldRegression
    if SCHEMES[experiment.cv.scheme].tunes:
        return FieldTuned
    return FieldTenByFive if experiment.cv.folds == 5 else Field


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the tables beside those of the other studies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", help="names of stored runs, as oblique status lists them")
    parser.add_argument("--results", default="results", help="folder of stored runs")
    parser.add_argument("--output", default="results", help="folder in which the tables go below reproduction/")
    parser.add_argument("--without", action="append", default=[], metavar="ID", help="a method that is left out")
    parser.add_argument(
        "--repeats", type=int, metavar="N", help="the first N repetitions, of runs that are not at their end"
    )
    given = parser.parse_args(arguments)
    try:
        with Store(f"{given.results}/{DATABASE}", must_exist=True) as store:
            runs = [stored(store, name, given.without, given.repeats) for name in dict.fromkeys(given.runs)]
        for study in dict.fromkeys(study_of(run.experiment) for run in runs):
            own = [run for run in runs if study_of(run.experiment) is study]
            cost = sum((run.cost for run in own), Cost())
            request = StudyRequest("full", own[0].experiment.seed, 1, given.output, None, {}, print)
            report = StudyReport(study(), StudyResult((), field_tables(own), cost), request)
            folder = report.save().parent
            print(f"{study.name}: {len(report.result.tables)} tables in {folder}")
    except ObliqueError as error:
        sys.exit(f"field: {error}")


if __name__ == "__main__":
    main()
