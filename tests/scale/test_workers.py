"""Workers of Dask grow the tree of one process, whatever becomes of them."""

import logging
import os
import shutil

import numpy as np
import pytest
from scale_support import same, stored, table

import oblique_cli._core as _core
import oblique_cli.proposers  # noqa: F401
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.scale import growing
from oblique_cli.scale import workers as of_dask
from oblique_cli.scale.growing import Checkpoint, Plan, grow
from oblique_cli.scale.passes import Here
from oblique_cli.tree.growing import grow_top_down
from oblique_cli.tree.splitting import PROPOSERS
from oblique_cli.tree.stopping import Stopping

distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'oblique-trees[dask]'")
pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own, of ports and of workers that end
STOPPING = Stopping(2, 0.0, 3)


@pytest.fixture(scope="module")
def workers():
    """Two worker processes, for which nodes of more than 40 rows are large."""
    with of_dask.workers_of(None, 2) as made:
        made.client.register_worker_callbacks(setup=lower)
        yield made


def lower():
    """Let nodes of more than 40 rows be large; runs on every worker, also on one that takes another's place."""
    _core.exact_sums_above(40)


def assert_as_in_memory(asker, X, y, name="hhcart_d", finish_rows=0):
    """What is grown by an asker of the rows is the tree of memory."""
    grown = grow(asker, asker.store, Plan(PROPOSERS[name](), "gini", STOPPING, finish_rows=finish_rows))
    assert not same(grown.tree, grow_top_down(X, y, 3, PROPOSERS[name](), criterion="gini", stopping=STOPPING))
    return grown


@pytest.mark.parametrize("name", ["hhcart_a", "hhcrv", "hhgdt"])
@pytest.mark.usefixtures("large_from_40_rows")
def test_workers_grow_the_tree_of_memory(workers, name, tmp_path):
    X, y = table(1)
    asker = workers(stored(tmp_path / "rows", X, y, blocks=6))
    assert_as_in_memory(asker, X, y, name, 60)
    assert asker.store.bytes_read > X.nbytes


@pytest.mark.usefixtures("large_from_40_rows")
def test_workers_divide_cells_as_one_process_does(workers, tmp_path, monkeypatch):
    monkeypatch.setattr(growing, "FEW_ROWS", 0.0)
    X, y = table(8, "heap", n=900)
    for name in ("axis_parallel", "hhcart_a"):
        assert_as_in_memory(workers(stored(tmp_path / name, X, y, blocks=6)), X, y, name, 60)


@pytest.mark.parametrize("cut", [of_dask.Cut(2, 1), of_dask.Cut(1, 2), of_dask.Cut(2, 3)])
@pytest.mark.usefixtures("large_from_40_rows")
def test_cuts_by_rows_and_by_directions_are_alike(workers, cut, tmp_path, monkeypatch):
    monkeypatch.setattr(of_dask, "cut", lambda *_: cut)
    X, y = table(2)
    assert_as_in_memory(workers(stored(tmp_path / "rows", X, y, blocks=5)), X, y)


@pytest.mark.usefixtures("large_from_40_rows")
def test_large_requests_and_many_answers_give_the_same_tree(workers, tmp_path, monkeypatch):
    monkeypatch.setattr(of_dask, "SMALL_REQUEST", 0)
    monkeypatch.setattr(of_dask, "FAN_IN", 2)
    X, y = table(2)
    assert_as_in_memory(workers(stored(tmp_path / "rows", X, y, blocks=5)), X, y, finish_rows=60)


def test_a_worker_is_told_the_same_chunks_in_every_pass():
    reports = []

    class Client:
        def map(self, what, folders, blocks, *arguments, workers, **_):
            reports.append((workers, blocks))
            return blocks

    class Rows:
        sizes = [10] * 7

    asker = of_dask.Workers(Client(), Rows())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_dask.Folder, "of", lambda _: None)
        assert asker._blocks(["a", "b"], 4, of_dask.answered) == [[0], [1, 2], [3, 4], [5, 6]]
    assert reports == [(["a"], [[0], [1, 2]]), (["b"], [[3, 4], [5, 6]])]


@pytest.mark.usefixtures("large_from_40_rows")
def test_a_folder_that_is_written_anew_is_read_anew(workers, tmp_path):
    for seed in (5, 6):
        X, y = table(seed)
        shutil.rmtree(tmp_path / "rows", ignore_errors=True)
        assert_as_in_memory(workers(stored(tmp_path / "rows", X, y, blocks=4)), X, y, finish_rows=None)


@pytest.mark.usefixtures("large_from_40_rows")
def test_nodes_are_shared_evenly_and_their_rows_stay_with_the_workers(workers, tmp_path, monkeypatch):
    X, y = table(7)
    asker = workers(stored(tmp_path / "rows", X, y, blocks=4))
    requests = []
    ask = type(asker).ask
    monkeypatch.setattr(type(asker), "ask", lambda self, kind, *rest: requests.append(kind) or ask(self, kind, *rest))
    result = assert_as_in_memory(asker, X, y, finish_rows=None)
    # No node of more than a worker's share is finished by one of them, and no rows pass through here.
    assert sum(level.finished for level in result.levels) >= 2 and result.levels[0].finished == 0
    assert "fetch" not in requests


@pytest.mark.usefixtures("large_from_40_rows")
def test_a_corrupt_chunk_is_named_by_a_worker(workers, tmp_path):
    X, y = table(2)
    store = stored(tmp_path / "rows", X, y, blocks=3)
    content = bytearray(store.file(2).read_bytes())
    content[7] ^= 1
    store.file(2).write_bytes(content)
    asker = workers(store)
    with pytest.raises(DataError, match=r"chunk 2 \(rows 201 to 300\) is corrupt"):
        grow(asker, asker.store, Plan(PROPOSERS["hhcart_d"](), "gini", STOPPING, finish_rows=0))


@pytest.mark.usefixtures("large_from_40_rows")
def test_a_worker_killed_in_a_pass_changes_nothing(workers, tmp_path):
    X, y = table(3)
    store = stored(tmp_path / "rows", X, y, blocks=6)
    asker = workers(store)
    killed = []

    class Killing:
        """Ends a worker just after its tasks were handed out."""

        def ask(self, kind, level, request):
            if kind == "route" and not killed:
                pids = asker.client.run(os.getpid)
                victim, pid = next(iter(pids.items()))
                killed.append(victim)
                asker.client.submit(os.kill, pid, 9, workers=[victim], pure=False, retries=0, allow_other_workers=False)
            return asker.ask(kind, level, request)

        workers = 2
        copies = 5

        def finish(self, some):
            return asker.finish(some)

    tree = grow(Killing(), asker.store, Plan(PROPOSERS["hhcart_d"](), "gini", STOPPING, finish_rows=0)).tree
    assert killed
    expected = grow_top_down(X, y, 3, PROPOSERS["hhcart_d"](), criterion="gini", stopping=STOPPING)
    assert not same(tree, expected)


@pytest.mark.usefixtures("large_from_40_rows")
def test_a_scheduler_that_is_lost_is_told_and_the_fit_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr("oblique_cli.experiments.cluster.SECONDS", 6.0)
    X, y = table(4)
    store = stored(tmp_path / "rows", X, y, blocks=3)
    plan = Plan(PROPOSERS["hhcart_d"](), "gini", STOPPING, finish_rows=0)
    checkpoint = Checkpoint(tmp_path / "state.npz")
    local = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None)
    with of_dask.workers_of(local.scheduler_address) as company:
        asker = company(store)

        class Losing:
            """Answers until the second level; then the scheduler is gone."""

            workers = 1
            copies = 5

            def ask(self, kind, level, request):
                if level == 1:
                    local.close()
                return asker.ask(kind, level, request)

        with pytest.raises(DataError, match="the Dask scheduler is gone"):
            grow(Losing(), asker.store, plan, checkpoint)
    tree = grow(Here(store), store, plan, checkpoint)
    assert tree.levels[0].level == 1
    expected = grow_top_down(X, y, 3, PROPOSERS["hhcart_d"](), criterion="gini", stopping=STOPPING)
    assert not same(tree.tree, expected)


def test_nobody_at_an_address_is_told_and_errors_are_told_once(monkeypatch):
    monkeypatch.setattr("oblique_cli.experiments.cluster.SECONDS", 0.5)
    with (
        pytest.raises(ConfigError, match="no Dask scheduler with workers answers"),
        of_dask.workers_of("tcp://127.0.0.1:9"),
    ):
        pass
    seen = logging.getLogger("distributed.client")
    before = seen.getEffectiveLevel()
    with of_dask._quiet():
        assert not seen.isEnabledFor(logging.CRITICAL)
    assert seen.getEffectiveLevel() == before


def test_rows_directions_and_loads_are_divided_by_their_cost():
    # Small tables: rows. Tables larger than what the rows take to be read: directions.
    assert of_dask.cut(8, 100, 1000, 1e10, 1e6) == of_dask.Cut(8, 1)
    assert of_dask.cut(8, 100, 1000, 1e6, 1e9) == of_dask.Cut(1, 8)
    assert of_dask.cut(8, 2, 1000, 1e10, 1e6) == of_dask.Cut(2, 4)  # two chunks cannot be cut into eight
    for rows, tables in ((1e9, 1e8), (1e8, 1e8)):
        best = of_dask.cut(8, 100, 1000, rows, tables)
        others = [of_dask.Cut(8 // d, d) for d in (1, 2, 4, 8)]
        assert best.seconds(rows, tables) == min(other.seconds(rows, tables) for other in others)
    request = {"place": np.array([-1, 0, 1, 2, 3]), "low": np.arange(4.0), "scale": np.ones(4)}
    parts = of_dask._by_directions(request, 3)
    assert [part["place"].tolist() for part in parts] == [[-1, 0, -1, -1, -1], [-1, -1, 0, -1, -1], [-1, -1, -1, 0, 1]]
    assert np.concatenate([part["low"] for part in parts]).tolist() == [0, 1, 2, 3]
    assert of_dask._evenly([5, 9, 4, 3], ["a", "b"]) == [(1, "a"), (0, "b"), (2, "b"), (3, "a")]
