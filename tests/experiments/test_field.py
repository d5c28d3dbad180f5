"""The comparison with the field, on a tiny part of it: it works, and survives a crash and a kill."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import environment, forked
from store_support import n_stored, sql
from waiting import wait_until

from oblique_cli import config
from oblique_cli.config import outside
from oblique_cli.estimators.outside import known
from oblique_cli.ground.resources import PACKAGE, folder

FIELD = folder("configs") / "field.yaml"
TESTS = Path(__file__).parents[1]
TINY = ("--set", "datasets=[iris, tae]", "--set", "cv.folds=2", "--set", "name=tiny")
# The peers of scikit-learn, and one that crashes on purpose.
SUBSET = """
extends: configs/field.yaml
datasets: [iris, tae]
cv: {scheme: ordinary, folds: 2, repeats: 1}
algorithms:
  - hhcart_a
  - {class: sklearn.ensemble.RandomForestClassifier, id: random-forest}
  - {class: sklearn.ensemble.HistGradientBoostingClassifier, id: hist-boosting, params: {max_iter: 20}}
  - {class: outside_support.Segfault}
  - {class: outside_support.Majority}
# Without times, which differ from run to run.
metrics: [accuracy, balanced_accuracy, roc_auc, log_loss, leaves, non_zero, mean_path]
"""
FOLDS = 2 * 5 * 2


def start(place: Path, *arguments: str) -> subprocess.Popen[str]:
    env = {**environment(place), "PYTHONPATH": f"{PACKAGE.parent}{os.pathsep}{TESTS}", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "oblique_cli", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    return subprocess.Popen(command, cwd=place, env=env, **pipes)


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


@pytest.mark.long
def test_it_survives_a_kill_and_a_crashing_estimator(tmp_path):
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "field.yaml").write_text(FIELD.read_text())
    (tmp_path / "mine.yaml").write_text(SUBSET)
    options = ("run", "mine.yaml", "--allow-code", "-j", "2", "--format", "csv")
    # On rows without a 0 in the first column the estimator of the tests takes its process with it.
    unbroken = forked(tmp_path, *options, "--results", "unbroken", "--quiet")
    assert unbroken.code == 3 and "segfault" in unbroken.err
    with start(tmp_path, *options) as process:
        wait_until(lambda: n_stored(tmp_path) >= 4 or process.poll() is not None)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    done = n_stored(tmp_path, "status = 'ok'")
    assert 0 < done < FOLDS, "the kill came in the middle of the work"
    ended = forked(tmp_path, *options)
    assert ended.code == 3 and f"resumed: {done} done" in ended.err
    assert ended.out == unbroken.out, "byte for byte"
    failed = "SELECT DISTINCT algorithm, message FROM rows WHERE status = 'failed'"
    assert sql(tmp_path / "results" / "oblique.sqlite", failed) == [
        ("segfault", "Crashed: its process died of SIGSEGV (segmentation fault) under a memory limit of 2 GB")
    ]
