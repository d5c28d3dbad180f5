"""`oblique run` on a configuration of configs/reproduce prints the numbers of `oblique reproduce`."""

import json
from collections import defaultdict
from pathlib import Path

import pytest
import yaml

from oblique_cli import config
from oblique_cli.config import composing
from oblique_cli.evaluation import published
from oblique_cli.evaluation.metrics import METRICS
from oblique_cli.ground.resources import folder
from oblique_cli.papers.reproduction.framework.runs import QUICK_REPEATS, is_quick
from oblique_cli.papers.reproduction.framework.studies import STUDIES, StudyRequest
from oblique_cli.papers.reproduction.framework.study_report import read_cells

# One of these data sets stands for a configuration in a quick test.
SAMPLE = ("wine", "statlog_heart", "bupa", "auto_mpg", "australian_credit")
FULL_ONLY = "reproduce/chapter6_cv"  # the quick profile leaves it out
EXPERIMENTS = {name: config.load(name) for name in composing.bundled() if name.startswith("reproduce/")}
# Tables beside which a configuration is shown, and whose settings it has
PRINTED = {
    name: [table for table in experiment.published if name in published.find(table).configurations.split()]
    for name, experiment in EXPERIMENTS.items()
}
# Sets of these configurations that need no download and have at most 800 rows
QUICK = {
    name: [s for s in EXPERIMENTS[name].datasets if is_quick(s.name)] for name, tables in PRINTED.items() if tables
}
COLUMNS = {"published_accuracy_percent": "accuracy_percent"} | {m.name: m.published or m.name for m in METRICS.values()}


def check(call, name, specs):
    """Compare the numbers of both commands on some data sets, by data set, metric and printed number."""
    datasets = json.dumps([{"name": spec.name, "missing": spec.missing, "encoding": spec.encoding} for spec in specs])
    profile, repeats = "quick", QUICK_REPEATS
    if name == FULL_ONLY:
        profile, repeats = "full", EXPERIMENTS[name].cv.repeats
    changes = ("--set", f"datasets={datasets}", "--set", f"cv.repeats={repeats}")
    ended = call("run", name, *changes, "--format", "json", "--quiet", "-j", "1")
    assert ended.code == 0, ended.err
    of_run = defaultdict(list)
    for record in json.loads(ended.out)["rows"]:
        for metric in [key.removesuffix("_published_mean") for key in record if key.endswith("_published_mean")]:
            mean, sd, *printed = (
                record[f"{metric}_{what}"] for what in ("mean", "sd", "published_mean", "published_sd")
            )
            if printed[0] is not None:
                of_run[record["dataset"], COLUMNS.get(metric, metric), *printed].append((mean, sd))
    lines = []
    only = {"dataset": [spec.name for spec in specs], "algorithm": [spec.id for spec in EXPERIMENTS[name].algorithms]}
    request = StudyRequest(profile, 20260101, 1, str(call.folder / "results"), None, only, lines.append)
    (study,) = (study for study in STUDIES.values() if PRINTED[name][0] in study.tables)
    cells = [cell for cell in study.run(request).cells if cell.table in PRINTED[name] and cell.ours is not None]
    # Folds have the same keys in both commands, so the study runs none of them again.
    assert ", 0 of them now" in next(line for line in lines if line.startswith(f"{name}: "))
    # Clusters are a column with all classes of a set; the folds at random beside the stratified ones are of another
    # configuration.
    cells = [c for c in cells if not ("clusters" in c.metric or "=SRS" in c.qualifier)]
    assert cells and {(cell.dataset, cell.metric) for cell in cells} <= {key[:2] for key in of_run}
    for cell in cells:
        numbers = of_run[cell.dataset, cell.metric, cell.published, cell.published_sd]
        assert any(number == pytest.approx((cell.ours, cell.ours_sd), abs=1e-9) for number in numbers), cell


SMALL = [name for name, specs in QUICK.items() if specs]
PAIRS = [
    pytest.param(name, spec.name, marks=[] if spec.name == first and name != FULL_ONLY else pytest.mark.long)
    for name in SMALL
    for first in [next(s for s in SAMPLE for spec in QUICK[name] if spec.name == s)]
    for spec in QUICK[name]
    if name != FULL_ONLY or spec.name == "wine"
]


@pytest.mark.covered(1)
@pytest.mark.parametrize(("name", "dataset"), PAIRS)
def test_run_prints_the_numbers_of_reproduce(call, name, dataset):
    check(call, name, [spec for spec in QUICK[name] if spec.name == dataset])


def test_a_configuration_beside_a_table_has_its_settings_and_only_tests_sets_of_their_own_are_not_small():
    assert [name for name, tables in PRINTED.items() if EXPERIMENTS[name].published and not tables] == [
        "reproduce/oc1_readings"
    ]
    assert QUICK.keys() - set(SMALL) == {f"reproduce/{name}" for name in (
        "chapter3_income", "chapter3_shuttle", "chapter3_shuttle_stratified", "chapter5_shuttle")}  # fmt: skip


def test_configurations_with_other_draws_than_their_study_agree_with_it(call):
    reproduction = Path(__file__).parents[3] / "results" / "reproduction"
    votes = 'datasets=[{"name": "house_votes_complete", "encoding": "ordinal"}]'
    neighbors = yaml.safe_load((folder("configs") / "reproduce" / "figure_6_4.yaml").read_text("utf-8"))["algorithms"]
    changes = (
        ("odt_spect", "algorithms=[c45]"),
        (
            "figure_6_4",
            votes,
            f"algorithms={json.dumps([spec for spec in neighbors if 'hc_edit' not in spec['name']])}",
        ),
    )
    spect, figure = (
        json.loads(call("run", f"reproduce/{name}", *[word for change in (*more, "cv.repeats=1") for word in
                        ("--set", change)], "--format", "json", "--quiet", "-j", "1").out)["rows"]
        for name, *more in changes
    )  # fmt: skip
    errors = (reproduction / "odt_errors.csv").read_text("utf-8")
    assert f"spect,C4.5,{100 - spect[0]['accuracy_mean']:.2f},{spect[0]['nodes_mean']:.2f},-\n" in errors
    stored = {cell.key[1:]: cell for cell in read_cells(reproduction / "taxonomy.csv")}
    of_run = {row["algorithm"]: row for row in figure}
    for name, method in (("knn", "k-NN"), ("wilson", "Wilson"), ("wilson_prob", "WilsonProb")):
        for k in (1, 3, 5, 7):
            cell = stored["house_votes_complete", method, "accuracy_percent", f"k={k}"]
            assert abs(of_run[f"{name}.{k}"]["accuracy_mean"] - cell.ours) < 4 * cell.ours_sd
