"""Forests on workers of Dask, by joblib's own backend: the forest of one process, whatever becomes of workers."""

import copy
import os
import threading
import time

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

import oblique_cli._core as _core
from oblique_cli.estimators import n_jobs
from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.n_jobs import threads_of
from oblique_cli.scale.workers import forests_on


def same(first, other):
    """Whether two forests are equal in every array."""
    pairs = list(zip(first.forest_.state(), other.forest_.state(), strict=True))
    return all(np.array_equal(a[key], b[key]) for a, b in pairs for key in a)


def test_threads_are_those_of_the_context_and_a_part_of_a_forest_stays_that_part_when_it_is_copied():
    estimator = make("hhgdt_forest")
    assert threads_of(estimator) == 1
    with joblib.parallel_config("threading", n_jobs=3):
        assert threads_of(estimator) == 3
        assert joblib.Parallel(n_jobs=2)(joblib.delayed(threads_of)(estimator) for _ in range(2)) == [1, 1]
        estimator.n_jobs = 2
        assert threads_of(estimator) == 2
    assert n_jobs.workers() == 0
    part = copy.deepcopy(_core.Forest(3, 2, 7, 5))
    assert part.first_number == 5


@pytest.fixture(scope="module")
def client():
    """A client of two worker processes."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'oblique-trees[dask]'")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local,
        distributed.Client(local) as made,
    ):
        yield made


ROWS = load_wine(return_X_y=True)


@pytest.mark.filterwarnings("ignore")  # Dask's own
@pytest.mark.parametrize("name", ["hhgdt_forest", "tao_forest", "drf", "heterogeneous_forest"])
def test_workers_grow_the_forest_of_one_process(client, name):
    params = {"random_state": 3, "n_estimators": 9}
    expected = make(name, **params).fit(*ROWS)
    with joblib.parallel_config("dask", n_jobs=-1):
        assert same(make(name, **params).fit(*ROWS), expected)


@pytest.mark.filterwarnings("ignore")
def test_kept_trees_weights_and_out_of_bag_scores_hold_on_workers(client):
    w = np.random.default_rng(1).integers(0, 3, len(ROWS[0])).astype(float)
    made = []
    for how in ({}, {"backend": "dask", "n_jobs": -1}):
        estimator = make("hhgdt_forest", random_state=1, n_estimators=3, oob_score=True)
        estimator.warm_start = True
        with joblib.parallel_config(**how) if how else joblib.parallel_config(n_jobs=1):
            estimator.fit(*ROWS, w)
            estimator.n_estimators = 8
            made.append(estimator.fit(*ROWS, w))
    assert same(*made) and made[0].oob_score_ == made[1].oob_score_


@pytest.mark.filterwarnings("ignore")
def test_no_more_workers_are_asked_than_the_context_says(client, monkeypatch):
    requests = []
    plain = n_jobs.Parallel
    monkeypatch.setattr(n_jobs, "Parallel", lambda n_jobs: requests.append(n_jobs) or plain(n_jobs=n_jobs))
    with joblib.parallel_config("dask", n_jobs=2):
        make("hhgdt_forest", random_state=3, n_estimators=4).fit(*ROWS)
    assert requests == [2]


@pytest.mark.filterwarnings("ignore")
def test_an_error_of_the_fit_is_not_called_the_schedulers(client):
    with pytest.raises(OSError, match="no space left"), forests_on(client.scheduler.address):
        raise OSError("no space left")


def on_a_worker():
    """How many workers a fit gets that is itself a task of one."""
    with joblib.parallel_config("dask", n_jobs=-1):
        return n_jobs.workers()


@pytest.mark.filterwarnings("ignore")
def test_a_fit_on_a_worker_asks_for_no_further_ones(client):
    assert client.submit(on_a_worker, pure=False).result() == 0


@pytest.mark.filterwarnings("ignore")
def test_a_worker_killed_while_trees_grow_changes_nothing(client):
    X, y = ROWS
    X, y = np.tile(X, (8, 1)), np.tile(y, 8)
    X = X + np.random.default_rng(0).normal(size=X.shape)
    params = {"random_state": 3, "n_estimators": 48}
    expected = make("hhgdt_forest", **params).fit(X, y)
    pids = client.run(os.getpid)
    killed = []

    def kill():
        # As soon as a worker is at work.
        for _ in range(500):
            if busy := [worker for worker, tasks in client.processing().items() if tasks]:
                killed.append(pids[busy[0]])
                os.kill(killed[0], 9)
                return
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    with joblib.parallel_config("dask", n_jobs=-1):
        killer.start()
        model = make("hhgdt_forest", **params).fit(X, y)
    killer.join()
    assert killed and same(model, expected)


@pytest.mark.parametrize("name", ["hhgdt_forest", "oblique_boosting"])
def test_a_fit_that_fails_leaves_no_forest(name, monkeypatch):
    """Not one without trees, and not that of earlier rows beside the classes of these."""
    estimator = make(name, random_state=3, n_estimators=3).fit(*ROWS)

    class Failing:
        def __init__(self, *_):
            pass

        def grow(self, *_, **__):
            raise MemoryError

        boost = grow

        def __len__(self):
            return 0

    monkeypatch.setattr(_core, "Forest", Failing)
    with pytest.raises(MemoryError):
        estimator.fit(*ROWS)
    with pytest.raises(NotFittedError):
        estimator.predict(ROWS[0])
