"""The comparison with the field, on a tiny part of it: it works, and survives a crash and a kill."""

import importlib.util
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from cli_support import environment, forked
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


def run(place: Path, *arguments: str) -> tuple[int, str, str]:
    ended = forked(place, *arguments)
    return ended.code, ended.out, ended.err


def stored(place: Path, what: str = "count(*)", where: str = "1") -> list[tuple]:
    try:
        with closing(sqlite3.connect(f"file:{place}/results/oblique.sqlite?mode=ro", uri=True)) as db:
            return db.execute(f"SELECT {what} FROM rows WHERE {where}").fetchall()
    except sqlite3.OperationalError:
        return [(0,)]


def test_it_has_forty_sets_ours_scikit_learns_and_the_peers():
    experiment = config.load(FIELD, code=outside.LEAVE)
    assert len(experiment.datasets) == 40
    libraries = {known.library_of(spec.name) for spec in experiment.algorithms if "." in spec.name}
    assert libraries == {
        "sklearn",
        "lightgbm",
        "xgboost",
        "ydf",
        "stree",
        "obliquetree",
        "aeon",
        "interpret",
        "imodels",
    }
    assert sum("." not in spec.name for spec in experiment.algorithms) >= 5


@pytest.mark.parametrize(
    "name", ["field", "field_beyond", "field_more", "field_more_beyond", "field_tuned", "field_regression"]
)
def test_every_method_has_the_same_limits(name):
    experiment = config.load(name, code=outside.LEAVE)
    assert all(spec.limits == {"time": 60.0, "memory": 2 << 30} for spec in experiment.algorithms)


def test_every_peer_does_a_fold(tmp_path):
    experiment = config.load(FIELD, code=outside.LEAVE)
    needed = {known.library_of(spec.name) for spec in experiment.algorithms if "." in spec.name}
    absent = sorted(name for name in needed if importlib.util.find_spec(name) is None)
    if absent:
        pytest.skip(f"not installed: {', '.join(absent)} (pip install 'oblique-trees[field]')")
    code, out, err = run(tmp_path, "run", "field", *TINY, "--set", "datasets=[iris]", "--quiet", "--format", "csv")
    assert (code, err) == (0, "")
    header, *lines = (line.split(",") for line in out.splitlines())
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
    code, unbroken, err = run(tmp_path, *options, "--results", "unbroken", "--quiet")
    assert code == 3 and "segfault" in err
    with start(tmp_path, *options) as process:
        wait_until(lambda: stored(tmp_path)[0][0] >= 4 or process.poll() is not None)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    done = stored(tmp_path, where="status = 'ok'")[0][0]
    assert 0 < done < FOLDS, "the kill came in the middle of the work"
    code, out, err = run(tmp_path, *options)
    assert code == 3 and f"resumed: {done} done" in err
    assert out == unbroken, "byte for byte"
    failed = stored(tmp_path, "DISTINCT algorithm, message", "status = 'failed'")
    assert failed == [
        ("segfault", "Crashed: its process died of SIGSEGV (segmentation fault) under a memory limit of 2 GB")
    ]
