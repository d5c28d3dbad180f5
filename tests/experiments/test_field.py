"""The comparison with the field, on a tiny part of it."""

import importlib.util

import pytest
from cli_support import forked

from oblique_cli import config
from oblique_cli.config import outside
from oblique_cli.estimators.outside import known
from oblique_cli.ground.resources import folder

FIELD = folder("configs") / "field.yaml"
TINY = ("--set", "datasets=[iris, tae]", "--set", "cv.folds=2", "--set", "name=tiny")


def test_it_has_forty_sets_ours_scikit_learns_and_the_peers():
    experiment = config.load(FIELD, code=outside.LEAVE)
    assert len(experiment.datasets) == 40
    libraries = {known.library_of(spec.name) for spec in experiment.algorithms if "." in spec.name}
    peers = {"lightgbm", "xgboost", "ydf", "stree", "obliquetree", "aeon", "interpret", "imodels"}
    assert libraries == {"sklearn", *peers}
    assert sum("." not in spec.name for spec in experiment.algorithms) >= 5


def test_every_method_has_the_same_limits():
    for name in ("field", "field_beyond", "field_more", "field_more_beyond", "field_tuned", "field_regression"):
        experiment = config.load(name, code=outside.LEAVE)
        assert all(spec.limits == {"time": 60.0, "memory": 2 << 30} for spec in experiment.algorithms), name


def test_every_peer_does_a_fold(tmp_path):
    experiment = config.load(FIELD, code=outside.LEAVE)
    needed = {known.library_of(spec.name) for spec in experiment.algorithms if "." in spec.name}
    absent = sorted(name for name in needed if importlib.util.find_spec(name) is None)
    if absent:
        pytest.skip(f"not installed: {', '.join(absent)} (pip install 'oblique-trees[field]')")
    ended = forked(tmp_path, "run", "field", *TINY, "--set", "datasets=[iris]", "--quiet", "--format", "csv")
    assert (ended.code, ended.err) == (0, "")
    header, *lines = (line.split(",") for line in ended.out.splitlines())
    accuracy = header.index("accuracy_mean")
    assert len(lines) == len(experiment.algorithms)
    assert all(float(line[accuracy]) > 85 for line in lines)
