"""The tables of the field's comparison from stored runs, as `oblique reproduce field` writes them; nothing is run.

oblique run configs/field.yaml --set cv.repeats=1       # a part of the full profile, for a machine with less time
python tools/field.py field --results results           # then oblique reproduce report fills docs/field.md
"""

from __future__ import annotations

import argparse

from oblique_cli.evaluation.tables import summarize
from oblique_cli.experiments.store import Store
from oblique_cli.reproduction.framework.reporting import StudyReport
from oblique_cli.reproduction.framework.runs import DATABASE, Outcome
from oblique_cli.reproduction.framework.studies import Cost, StudyRequest, StudyResult
from oblique_cli.reproduction.studies.field import Field, field_tables


def stored(store: Store, name: str) -> Outcome:
    """Return a stored run as a study takes it."""
    experiment = store.run(name).experiment
    rows = tuple(store.rows(name))
    done = [row for row in rows if row.status == "ok"]
    seconds = sum(row.tune_seconds + row.fit_seconds + row.predict_seconds for row in done)
    cost = Cost(stored_trees=len(done), stored_seconds=seconds)
    return Outcome(experiment, rows, (), summarize(rows, experiment), cost, 0)


def main() -> None:
    """Write the tables beside those of the other studies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", help="names of stored runs, as oblique status lists them")
    parser.add_argument("--results", default="results", help="folder of stored runs")
    parser.add_argument("--output", default="results", help="folder in which the tables go below reproduction/")
    given = parser.parse_args()
    with Store(f"{given.results}/{DATABASE}", must_exist=True) as store:
        runs = [stored(store, name) for name in given.runs]
    cost = sum((run.cost for run in runs), Cost())
    request = StudyRequest("full", runs[0].experiment.seed, 1, given.output, None, {}, print)
    report = StudyReport(Field(), StudyResult((), field_tables(runs), cost), request)
    folder = report.save().parent
    print(f"{len(report.result.tables)} tables in {folder}")


if __name__ == "__main__":
    main()
