"""Kill -9 of a run and its workers at random moments, and several processes on one results file: one right table."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_support import Ended, Forking, oblique, start
from robustness_support import SOAK, counted, many, seeded

from oblique_cli.experiments.store import Store

SEED = 18
CONFIG = """\
version: 1
name: small
datasets: [iris, bupa]
algorithms: [ALGORITHM]
cv: {scheme: two_stage, folds: 4, repeats: 3, tune: {folds: 2}}
"""
# Compiled work is done by threads, Python-bound work by processes.
BACKENDS = {
    "threads": "hhcart_d, {name: hhgdt, epsilon: {grid: [0.1, 0.2]}}",
    "processes": "{name: oc1, restarts: 1, max_depth: {grid: [1, 2]}, engine: reference}",
}
# Each fold is work of seconds in a process of its own.
OUTSIDE = """
version: 1
dataset: pima
algorithm: {class: sklearn.ensemble.GradientBoostingClassifier, params: {n_estimators: 400}}
cv: {folds: 4, repeats: 1}
"""
RUN = ("run", "small.yaml", "--quiet", "--format", "csv")
REPRODUCE = ("reproduce", "odt", "--profile", "quick", "--only", "dataset=spect", "--quiet", "--format", "csv")
# In a session of its own, the command and whatever it starts, and one process that kills all of them.
KILLER = """
os.setsid()
if os.fork() == 0:
    time.sleep({seconds})
    os.killpg(0, 9)
"""


def keys(folder: Path) -> set[str]:
    """The keys of the rows that are stored, none of which is damaged."""
    path = folder / "results" / "oblique.sqlite"
    if not path.exists():
        return set()
    with Store(path) as store:
        assert not any(map(store.damage, store.names()))
        return {row.key for name in store.names() for row in store.rows(name)}


@pytest.fixture
def options(request) -> Iterator[tuple[str, ...]]:
    """How a command says where its folds are run."""
    if request.param != "dask":
        yield ("-j", "2")
        return
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (pip install 'oblique-trees[dask]')")
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster:
        yield ("--scheduler", cluster.scheduler_address)


@pytest.mark.long
@pytest.mark.filterwarnings("default:::distributed")  # its own sockets
@pytest.mark.parametrize(
    ("backend", "kills", "options"),
    [
        pytest.param("threads", many(8, 700), "threads", id="threads"),
        pytest.param("processes", many(4, 250), "processes", id="processes"),
        pytest.param(
            "reproduce",
            many(3, 50),
            "reproduce",
            id="reproduce",
            marks=pytest.mark.skipif(not SOAK, reason="a reproduction takes minutes: `make soak`"),
        ),
        pytest.param(
            "threads",
            many(2, 50),
            "dask",
            id="dask",
            marks=pytest.mark.skipif(not SOAK, reason="starting a cluster takes many seconds: `make soak`"),
        ),
    ],
    indirect=["options"],
)
def test_a_run_that_is_killed_again_and_again_ends_with_the_table_of_an_unbroken_one(
    forking, tmp_path, backend, kills, options
):
    rng = seeded(f"{SEED} {backend}")
    command = RUN if backend in BACKENDS else REPRODUCE
    config = CONFIG.replace("ALGORITHM", BACKENDS.get(backend, "c45"))
    unbroken = new(tmp_path / "unbroken", config)
    right = forking.oblique(unbroken, *command, "-j", "1")
    assert (right.code, right.err) == (0, ""), right
    longest = forking.oblique(new(tmp_path / "timed", config), *command, *options).seconds
    every, done, folds, amid = keys(unbroken), 0, 0, 0

    def needed() -> bool:
        """Whether to go on: on a busy machine a kill may come earlier in the work than it was meant to."""
        return done < kills or (amid < kills // 8 and done < 4 * kills)

    with counted(f"kill -9 of a run: {'dask' if '--scheduler' in options else backend}") as counts:
        while needed():
            shutil.rmtree(tmp_path / "w", ignore_errors=True)
            folder, before = new(tmp_path / "w", config), set[str]()
            ended = Ended(-9, "", "")
            while needed() and ended.code == -9:
                # At any moment, and more often while folds are run: first, worker processes start.
                seconds = longest * rng.uniform(rng.choice((0, 0.5, 0.5)), 1)
                ended = forking.oblique(folder, *command, *options, first=KILLER.format(seconds=seconds))
                assert ended.code in (-9, 0) and not ended.err, ended
                after = keys(folder)
                assert before <= after <= every, "what was stored is never lost"
                done += ended.code == -9
                counts["cases"] += ended.code == -9
                amid += ended.code == -9 and 0 < len(after) < len(every)
                folds, before = folds + len(after - before), after
            if ended.code == -9:
                ended = forking.oblique(folder, *command, *options)
            assert (ended.code, ended.out) == (0, right.out), ended.err
            assert keys(folder) == every
    print(f"{backend}: {done} kills, {amid} of them between the first fold and the last, {folds} folds stored")
    assert amid >= kills // 8, "kills came in the middle of the work"


def new(folder: Path, config: str, name: str = "small") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.yaml").write_text(config)
    return folder


# In place of one command: several at the same time, whose codes and output are printed.
AT_ONCE = """
import json, tempfile
def call(arguments):
    started = []
    for one in COMMANDS:
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        pid = os.fork()
        if pid == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            code = command(one)
            sys.stdout.flush()
            os._exit(code)
        started.append((pid, out, err))
    ended = []
    for pid, *files in started:
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        for one in files:
            one.seek(0)
        ended.append([code, *(one.read().decode() for one in files)])
    print(json.dumps(ended))
    return 0
"""


def at_once(forking: Forking, folder: Path, commands: list[list[str]]) -> list[Ended]:
    """Run commands at the same time, each in a process of its own."""
    first = f"command, COMMANDS = call, {commands!r}\n{AT_ONCE}"
    return [Ended(*item) for item in json.loads(forking.oblique(folder, first=first).out)]


@pytest.mark.long
@pytest.mark.parametrize("writers", [2, 4, 8])
@pytest.mark.parametrize("of", ["one run", "several runs"])
def test_several_commands_at_once_on_one_results_file_end_with_the_tables_of_one(forking, tmp_path, writers, of):
    config = CONFIG.replace("ALGORITHM", "hhcart_d").replace("[iris, bupa]", "[iris]")
    new(tmp_path, config)
    command = [*RUN, "-j", "1"]
    right = forking.oblique(tmp_path, *command, "--results", "right").out
    for turn in range(many(1, 10)):
        results = ["--results", f"together{turn}"]
        names = ["small" if of == "one run" else f"small{i}" for i in range(writers)]
        commands = [[*command, *results, "--set", f"name={name}"] for name in names]
        for ended, again in zip(at_once(forking, tmp_path, commands), commands, strict=True):
            if ended.code:  # a machine so busy that one writer waited for the others for seconds
                assert ended.code == 5 and "is in use by another process" in ended.err, ended
                ended = forking.oblique(tmp_path, *again)
            assert (ended.code, ended.out) == (0, right), ended.err
        with Store(tmp_path / f"together{turn}" / "oblique.sqlite") as store:
            assert sorted(store.names()) == sorted(set(names))
            assert all(len(store.rows(name)) == 12 and not store.damage(name) for name in names)


@pytest.mark.long
def test_a_run_that_is_started_over_while_others_write_is_theirs_or_its_own_and_never_both(forking, tmp_path):
    new(tmp_path, CONFIG.replace("ALGORITHM", "hhcart_d"))
    other = ["--set", "seed=2"]
    command = [*RUN, "-j", "1"]
    right = {forking.oblique(tmp_path, *command, *seed, "--results", "right", "--fresh").out for seed in ([], other)}
    assert len(right) == 2
    for turn in range(many(2, 50)):
        results = ["--results", f"mixed{turn}"]
        commands = [[*command, *results, "--fresh", *seed] for seed in ([], other, [])]
        for ended in at_once(forking, tmp_path, commands):
            if ended.code:
                assert ended.code in (2, 5) and ended.err.count("error: ") == 1, ended
            else:
                assert ended.out in right
        table = forking.oblique(tmp_path, "table", "small", "--format", "csv", *results)
        assert table.code == 0 and table.out in right


# ---- the detectors can fire ------------------------------------------------------------------------------------------


def test_a_command_that_hangs_is_killed_with_what_it_started(forking, tmp_path):
    first = KILLER.format(seconds=0.2) + "call = lambda arguments: (os.fork(), time.sleep(600))"
    ended = forking.oblique(tmp_path, first=first)
    assert ended.code == -9


@pytest.mark.long
def test_a_fold_that_is_lost_is_noticed(forking, tmp_path):
    folder = new(tmp_path / "w", CONFIG.replace("ALGORITHM", "hhcart_d"))
    assert forking.oblique(folder, *RUN).code == 0
    every = keys(folder)
    with Store(folder / "results" / "oblique.sqlite") as store:
        store._db.execute("DELETE FROM rows WHERE fold = 1")
    with Store(folder / "results" / "oblique.sqlite") as store:
        left = {row.key for row in store.rows("small")}
        assert left < every
        assert {fault.key for fault in store.damage("small")} == every - left  # of which the predictions are there


def children(pid: int) -> list[int]:
    """The processes that a process started, the last one at the end."""
    listed = subprocess.run(["ps", "-e", "-o", "ppid=,pid="], capture_output=True, text=True, check=True).stdout
    pairs = (map(int, line.split()) for line in listed.splitlines())
    return sorted(child for parent, child in pairs if parent == pid)


@pytest.mark.long
@pytest.mark.parametrize("turn", range(many(1, 20)))
def test_a_worker_process_that_is_killed_costs_its_fold_alone(tmp_path, turn):
    folder = new(tmp_path / "w", OUTSIDE)
    with counted("kill -9 of a worker process") as counts, start(folder, *RUN, "-j", "2") as process:
        # The process that workers are forked from, then a worker a fold.
        while process.poll() is None and len(children(process.pid)) < 3:
            time.sleep(0.2)
        os.kill(children(process.pid)[-1], signal.SIGKILL)
        _, message = process.communicate()
        assert process.returncode == 3 and "3 of 4 folds, 1 failed" in message, message
        again = oblique(folder, *RUN, "-j", "2")
        assert again.code == 0 and ",4,0,4," in again.out, again
        counts["cases"] += 1
