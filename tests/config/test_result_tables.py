"""Published numbers stand beside results of the same data set, algorithm, scheme and parameters only."""

from dataclasses import replace

import pytest

from oblique_cli import config
from oblique_cli.config.result_tables import deviations, table_of
from oblique_cli.data import catalogue
from oblique_cli.evaluation import published
from oblique_cli.evaluation.sheets import OTHER_SETTINGS
from oblique_cli.evaluation.tables import method_titles
from oblique_cli.experiments import jobs
from oblique_cli.experiments.running import run
from oblique_cli.experiments.store import Store
from oblique_cli.ground import resources

TABLE = "wickramarachchi2015:5.2"
# Other values than those of the table, by intention.
READINGS = ("reproduce/oc1_readings", "every_algorithm_quantitative")
BUNDLED = [
    path.relative_to(resources.folder("configs")).with_suffix("").as_posix()
    for path in sorted(resources.folder("configs").rglob("*.yaml"))
]


@pytest.mark.parametrize("name", [name for name in BUNDLED if name not in READINGS])
def test_bundled_configurations_have_the_settings_of_their_tables(name):
    experiment = config.load(name)
    titles = method_titles()
    assert not {
        place: settings
        for place, settings in deviations(experiment).items()
        for spec in experiment.algorithms
        if settings and place[1] == spec.id
        if published.prints(published.find(place[2]), place[0], titles.get(spec.id, titles.get(spec.name, "")))
    }


@pytest.mark.parametrize(
    ("override", "setting"),
    [
        ("algorithm.criterion=entropy", "criterion entropy (gini)"),
        ("algorithm.max_depth=2", "max_depth 2 (none)"),
        ("algorithm.epsilon=0.3", "epsilon 0.3 ({grid: 36 values from 0.05 to 0.4})"),
        ("cv.folds=5", "cv.folds 5 (10)"),
        ("cv.scheme=nested", "cv.scheme nested (two_stage)"),
        ("dataset={name: bupa, missing: drop}", "dataset.missing drop (error)"),
    ],
)
def test_a_setting_that_differs_is_named_with_that_of_the_table(override, setting):
    differing = deviations(config.load("bupa_hhgdt", [override]))["bupa", "hhgdt", TABLE]
    assert setting in differing
    # The folds that choose epsilon are of the tuning, which a single value has none of.
    assert len(differing) == (1 if "epsilon" not in override else 3)


@pytest.mark.parametrize("override", ["cv.repeats=2", "seed=3", "algorithm.engine=reference", "title=other"])
def test_precision_and_presentation_may_differ(override):
    assert not any(deviations(config.load("bupa_hhgdt", [override])).values())


def test_a_line_with_other_settings_is_marked_and_has_no_published_number(tmp_path):
    experiment = config.load("bupa_hhgdt", ["algorithm.epsilon=0.3", "cv.repeats=1", "cv.folds=2"])
    with Store(tmp_path / "results.sqlite") as store:
        run(experiment, store, n_jobs=1)
        rows = list(store.rows(experiment.name))
    table = table_of(experiment, rows)
    (line,) = table.lines
    assert line.accuracy.published is None and line.accuracy.difference is None
    assert table.sheet().grids[0].rows[0][3:5] == (OTHER_SETTINGS, "—")
    (note,) = (note for note in table.notes if note.startswith(f"{OTHER_SETTINGS} bupa, HHGDT: "))
    assert "epsilon 0.3" in note and "cv.folds 2 (10)" in note


def test_jobs_of_a_data_set_with_parameters_have_the_keys_of_those_parameters():
    local = config.load("reproduce/tprti", ["dataset=auto_mpg"])
    spec = local.algorithms[0]
    assert spec.on("auto_mpg").params["cos_beta"] == 0.85 and spec.params["cos_beta"] == 0.8
    plain = replace(local, algorithms=tuple(algorithm.on("auto_mpg") for algorithm in local.algorithms))
    dataset = catalogue.load(local.datasets[0], task="regression")
    assert [job.key for job in jobs.expand(local, [dataset])] == [job.key for job in jobs.expand(plain, [dataset])]
