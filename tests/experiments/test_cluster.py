"""Folds on a Dask cluster: the table of one machine, whatever happens to workers."""

import os
import signal

import pytest
from cli_support import oblique, start
from store_support import n_stored
from waiting import FOREVER, wait_until

distributed = pytest.importorskip("distributed", reason="Dask is not installed (pip install 'oblique-trees[dask]')")

pytestmark = pytest.mark.filterwarnings("default")  # Dask's own threads and sockets warn

CONFIG = """version: 1
name: mine
datasets: [iris, bupa]
algorithms: [hhcart_a, knn, {class: sklearn.tree.DecisionTreeClassifier, id: cart}]
cv: {scheme: ordinary, folds: 5, repeats: 4}
"""
FOLDS = 2 * 3 * 5 * 4


@pytest.fixture(scope="module")
def cluster():
    """A cluster of two worker processes on this machine."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as running:
        yield running


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory) -> str:
    """The table by one worker of one machine."""
    folder = tmp_path_factory.mktemp("unbroken")
    (folder / "mine.yaml").write_text(CONFIG)
    ended = oblique(folder, "run", "mine.yaml", "-j", "1", "--quiet", "--format", "csv")
    assert (ended.code, ended.err) == (0, "")
    return ended.out


def on(cluster, *more: str) -> list[str]:
    address = cluster.scheduler_address
    return ["run", "mine.yaml", "--scheduler", address, "--quiet", "--format", "csv", *more]


def test_a_worker_that_is_killed_changes_nothing(tmp_path, cluster, unbroken):
    (tmp_path / "mine.yaml").write_text(CONFIG)
    with start(tmp_path, *on(cluster)) as process:
        wait_until(lambda: n_stored(tmp_path) >= 10 or process.poll() is not None)
        done = n_stored(tmp_path)
        victim = next(iter(cluster.scheduler_info["workers"].values()))["id"]
        os.kill(cluster.workers[victim].pid, signal.SIGKILL)
        out, err = process.communicate(timeout=FOREVER)
    assert process.returncode == 0, err
    assert 10 <= done < FOLDS, "the kill came in the middle of the work"
    assert out == unbroken, "byte for byte"


def test_a_job_that_kills_every_worker_is_one_failed_row(tmp_path, cluster):
    from oblique_cli.experiments.cluster import Cluster
    from oblique_cli.experiments.dispatching import Crew, Signals
    from oblique_cli.experiments.progress import Progress
    from oblique_cli.ground.nouns import Job

    jobs = [Job(str(i), "toy", "x", 0, i, 1) for i in range(6)]
    connection = Cluster(cluster.scheduler_address)
    try:
        crew = Crew(2, True, Signals(Progress(quiet=True)), connection)
        calls = lambda left: ([(job, deadly, (job, os.getpid()))] for job in left)  # noqa: E731
        results = {result.key: result for result in crew.results(jobs, calls, lost)}
    finally:
        connection.close()
    assert sorted(results) == [job.key for job in jobs]
    lost_one = "the process died (out of memory, or a crash in compiled code)"
    assert [results[job.key].message for job in jobs] == ["", "", "", lost_one, "", ""]


def deadly(job, parent):
    if job.fold == 3 and os.getpid() != parent:
        os._exit(9)
    return done(job)


def done(job, message=""):
    from oblique_cli.ground.nouns import Row

    return Row(job.key, job.dataset, job.algorithm, job.repeat, job.fold, "ok", message)


def lost(job, message):
    return done(job, message)


def test_an_address_without_a_scheduler_is_one_sentence(tmp_path, monkeypatch):
    from oblique_cli.errors import ConfigError
    from oblique_cli.experiments import cluster

    monkeypatch.setattr(cluster, "SECONDS", 0.5)
    for address in ("tcp://127.0.0.1:9", "nowhere"):
        with pytest.raises(ConfigError, match="no Dask scheduler with workers answers at") as caught:
            cluster.Cluster(address)
        assert "\n" not in str(caught.value)


def test_workers_of_another_version_are_refused(cluster, monkeypatch):
    from oblique_cli.errors import ConfigError
    from oblique_cli.experiments import cluster as module

    versions = module.versions

    def pretended(names):
        return versions(names) | ({"numpy": "0.0.1"} if os.getpid() == here else {})

    here = os.getpid()
    monkeypatch.setattr(module, "versions", pretended)
    with pytest.raises(ConfigError, match=r"has numpy [\d.]+, and this process has 0\.0\.1: results could differ"):
        module.Cluster(cluster.scheduler_address)
