"""Running jobs: what is tuned, fitted and counted, and what becomes of a run that fails, stops or is killed."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
from runner_support import FAKES, DepthTree, FakeAlgorithm, Interrupts, PathTree, PruningTree, Stump, experiment, toy
from sklearn.metrics import accuracy_score
from threadpoolctl import threadpool_info
from waiting import FOREVER, wait_until

from oblique_cli import data
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.evaluation.tables import summarize
from oblique_cli.experiments import fits, running
from oblique_cli.experiments.environment import environment, outside
from oblique_cli.experiments.fits import Case, run_job, tune
from oblique_cli.experiments.jobs import expand
from oblique_cli.experiments.progress import Progress
from oblique_cli.experiments.running import run
from oblique_cli.experiments.store import Store
from oblique_cli.ground.nouns import AlgorithmSpec, CVSpec, DatasetSpec
from oblique_cli.schemes import SCHEMES, folds

PATH = AlgorithmSpec("path", "path", grid={"epsilon": tuple(round(0.05 + 0.01 * i, 2) for i in range(36))})
DEPTH = AlgorithmSpec("depth", "depth", grid={"max_depth": (1, 2, 3, 5)})


@pytest.fixture(scope="module")
def bupa():
    return data.load("bupa")


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "oblique.sqlite") as store:
        yield store


@pytest.fixture(autouse=True)
def fakes(monkeypatch):
    """The scripted algorithms in place of the table, and the toy data set beside the catalogue."""
    monkeypatch.setattr(fits, "ALGORITHMS", FAKES)
    load = data.catalogue.load

    def load_or_toy(spec, data_dir=None, offline=False, task="classification", groups=""):
        if spec.name.startswith("toy"):
            options = {"groups": np.arange(30) // 3, "group_column": groups} if groups else {}
            return toy(name=spec.name, **options)
        return load(spec, data_dir, offline, groups=groups)

    monkeypatch.setattr(data.catalogue, "load", load_or_toy)
    PathTree.fits.clear()
    PruningTree.seen.clear()


def case(spec, dataset, policy=None, algorithm=None):
    spec = spec if isinstance(spec, AlgorithmSpec) else AlgorithmSpec(spec, spec)
    return Case(dataset, policy or DatasetSpec(dataset.name), spec, algorithm or FAKES[spec.name])


def one_job(case_, cv, seed=1):
    """The row of the first job of `case_` under `cv`, with its fold."""
    exp = replace(experiment(case_.spec, datasets=(case_.dataset.name,), seed=seed), cv=cv)
    job = expand(exp, [case_.dataset])[0]
    fold = folds(case_.dataset, cv, seed)[0]
    return run_job(job, case_, fold), fold, job


def timeless(rows):
    return [replace(row, tune_seconds=0, fit_seconds=0, predict_seconds=0) for row in rows]


# ---- one job ---------------------------------------------------------------------------------------------------------


def test_a_row_counts_what_an_independent_fit_counts_and_a_class_without_test_rows_none_of_none(bupa):
    row, fold, job = one_job(case("depth", bupa), CVSpec())
    tree = DepthTree(job.seed).fit(bupa.X[fold.train], bupa.y[fold.train])
    predicted = tree.predict(bupa.X[fold.test])
    assert (row.status, row.message, row.n_test) == ("ok", "", 35)
    assert row.n_correct / row.n_test == accuracy_score(bupa.y[fold.test], predicted)
    assert (row.n_leaves, row.n_nodes, row.depth) == (tree.n_leaves_, tree.n_nodes_, tree.depth_)
    assert sum(correct for correct, _ in row.per_class.values()) == row.n_correct
    assert {name: rows for name, (_, rows) in row.per_class.items()} == {
        name: int((bupa.y[fold.test] == code).sum()) for code, name in enumerate(bupa.classes)
    }
    assert row.fit_seconds > 0 and row.predict_seconds > 0 and row.chosen == {} and row.inner == []
    dataset = replace(toy(), classes=("a", "b", "gone"))
    row, _, _ = one_job(case("stump", dataset), CVSpec(folds=3))
    assert row.per_class["gone"] == [0, 0]


def test_pruning_rows_of_tuning_folds_lie_in_their_training_rows(bupa):
    spec = AlgorithmSpec("pruning", "pruning", grid={"max_depth": (1, 3)})
    row, fold, _ = one_job(case(spec, bupa), CVSpec("nested", tune_folds=4))
    assert row.status == "ok"
    expected = [bupa.X[pair.pruning] for pair in fold.tuning for _ in (1, 3)] + [bupa.X[fold.pruning]]
    for (X, pruning_rows), rows in zip(PruningTree.seen, expected, strict=True):
        assert np.array_equal(X[pruning_rows], rows)


def test_an_exception_is_a_failed_row_with_its_first_line():
    cv = CVSpec(folds=3, repeats=1)
    case_ = case("breaks", toy())
    jobs = expand(replace(experiment("breaks"), cv=cv), [case_.dataset])
    rows = [run_job(job, case_, fold) for job, fold in zip(jobs, folds(case_.dataset, cv, 1), strict=True)]
    (failed,) = [row for row in rows if row.status == "failed"]
    assert failed.message == "LinAlgError: singular matrix (node 5, 7 rows)"
    assert (failed.n_test, failed.per_class, failed.inner) == (0, {}, [])
    assert fits.first_line(KeyError()) == "KeyError"


def test_a_keyboard_interrupt_is_not_a_failed_fold(monkeypatch):
    def interrupt(self, X, y):
        raise KeyboardInterrupt

    monkeypatch.setattr(Stump, "fit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        one_job(case("stump", toy()), CVSpec(folds=3))


# ---- choosing parameters ---------------------------------------------------------------------------------------------


def by_hand(case_, pairs, seed):
    """The tuning table the long way: one fit for every candidate and pair."""
    (name,) = case_.spec.grid
    table = []
    for value in case_.spec.grid[name]:
        correct = rows = leaves = trees = 0
        for i, pair in enumerate(pairs):
            pair_seed = fits.seeds.integer(seed, "tuning", i)
            tree = case_.algorithm.make(random_state=pair_seed, **{name: value})
            tree.fit(case_.dataset.X[pair.train], case_.dataset.y[pair.train])
            correct += int((tree.predict(case_.dataset.X[pair.valid]) == case_.dataset.y[pair.valid]).sum())
            rows += len(pair.valid)
            leaves += tree.n_leaves_
            trees += 1
        table.append(
            {"params": {name: value}, "n_correct": correct, "n_rows": rows, "n_leaves": leaves, "n_trees": trees}
        )
    return table


@pytest.mark.parametrize("spec", [PATH, DEPTH])
def test_the_table_of_a_grid_is_what_separate_fits_give(bupa, spec):
    case_ = case(spec, bupa)
    fold = folds(bupa, CVSpec("nested", repeats=1, tune_folds=4), 1)[0]
    chosen, table = tune(case_, fold.tuning, seed=7)
    assert table == by_hand(case_, fold.tuning, seed=7)
    best = max(table, key=lambda entry: (entry["n_correct"], -entry["n_leaves"]))
    assert (chosen, best["n_rows"]) == (best["params"], len(fold.train))


def test_a_path_and_another_parameter_grow_one_tree_for_each_value_of_the_other(bupa, monkeypatch):
    def fit(self, X, y, plain=PathTree.fit):
        self.random_state = self.params["other"]
        return plain(self, X, y)

    monkeypatch.setattr(PathTree, "fit", fit)
    spec = AlgorithmSpec("path", "path", grid={"other": (1, 2, 3), "epsilon": (0.1, 0.3)})
    fold = folds(bupa, CVSpec("nested", repeats=1, tune_folds=4), 1)[0]
    chosen, table = tune(case(spec, bupa), fold.tuning, seed=7)
    assert len(PathTree.fits) == 4 * 3
    assert [entry["params"] for entry in table] == [{"other": o, "epsilon": e} for o in (1, 2, 3) for e in (0.1, 0.3)]
    _, slow = tune(case(replace(spec, name="no_path"), bupa), fold.tuning, seed=7)
    assert len(PathTree.fits) == 4 * 3 + 4 * 6
    values = {json.dumps(e["params"], sort_keys=True): (e["n_correct"], e["n_leaves"]) for e in slow}
    assert values == {json.dumps(e["params"], sort_keys=True): (e["n_correct"], e["n_leaves"]) for e in table}
    assert chosen in [entry["params"] for entry in table]


class Scripted(Stump):
    """Is right on the first `right` rows and has `leaves` leaves, as scripted for its value of `epsilon`."""

    def fit(self, X, y):
        self.right, self.n_leaves_ = self.script[self.params["epsilon"]]
        return self

    def predict(self, X):
        return np.where(X[:, 0] < self.right, X[:, 1], 1 - X[:, 1])

    def predict_path(self, X, values):
        return np.stack([np.where(X[:, 0] < self.script[v][0], X[:, 1], 1 - X[:, 1]) for v in values], axis=1)

    def n_leaves_path(self, values):
        return np.array([self.script[v][1] for v in values])


@pytest.mark.parametrize("path_parameter", ["epsilon", None])
@pytest.mark.parametrize(
    ("script", "chosen_on_a_path", "chosen_elsewhere"),
    [
        ({0.1: (20, 5), 0.3: (22, 9), 0.2: (21, 2)}, 0.3, 0.3),  # the most accurate
        ({0.1: (22, 5), 0.3: (22, 9), 0.2: (22, 4)}, 0.2, 0.2),  # among equals the fewest leaves
        ({0.1: (22, 5), 0.3: (22, 5), 0.2: (22, 5)}, 0.3, 0.2),  # then the largest value; elsewhere the last
        ({0.3: (22, 5), 0.2: (22, 5), 0.1: (22, 5)}, 0.3, 0.1),
    ],
)
def test_the_rule_is_accuracy_then_leaves_then_the_largest_value(
    script, chosen_on_a_path, chosen_elsewhere, path_parameter
):
    plain = toy(30)
    dataset = replace(plain, X=np.column_stack([np.arange(30.0), plain.y]))
    algorithm = FakeAlgorithm("scripted", type("S", (Scripted,), {"script": script}), path_parameter)
    spec = AlgorithmSpec("scripted", "scripted", grid={"epsilon": tuple(script)})
    pairs = folds(dataset, CVSpec("nested", folds=3), 1)[0].tuning
    chosen, _ = tune(case(spec, dataset, algorithm=algorithm), pairs, seed=1)
    assert chosen == {"epsilon": chosen_on_a_path if path_parameter else chosen_elsewhere}


def test_two_stage_chooses_once_nested_for_each_fold_and_neither_without_a_grid(store):
    exp = experiment(PATH, datasets=("bupa",), scheme="two_stage", folds=5, tune_folds=4)
    assert run(exp, store, n_jobs=1).exit_code == 0
    (tuning,) = store.tunings("test")
    assert len(tuning.inner) == 36 and tuning.inner[0]["n_rows"] == 345 and tuning.seconds > 0
    rows = store.rows("test")
    assert [row.chosen for row in rows] == [tuning.chosen] * 10 and [row.inner for row in rows] == [[]] * 10
    assert PathTree.fits == [0.05] * 4 + [tuning.chosen["epsilon"]] * 10

    exp = replace(exp, cv=replace(exp.cv, scheme="nested"))
    assert run(exp, store, n_jobs=1, fresh=True).exit_code == 0
    rows = store.rows("test")
    assert len({row.chosen["epsilon"] for row in rows}) > 1
    assert all(row.inner[0]["n_rows"] == 345 - row.n_test for row in rows)
    assert store.tunings("test") == []

    exp = experiment("depth", scheme="two_stage")
    assert run(exp, store, n_jobs=1, fresh=True).exit_code == 0
    assert store.tunings("test") == [] and {json.dumps(row.chosen) for row in store.rows("test")} == {"{}"}


def accuracy(rows):
    return sum(row.n_correct for row in rows) / sum(row.n_test for row in rows)


@pytest.mark.long
def test_with_shuffled_labels_nested_stays_at_chance_and_two_stage_is_optimistic():
    """40 ways to guess, nothing to learn: two-stage reports the luckiest guess, nested does not."""
    spec = AlgorithmSpec("guess", "guess", grid={"k": tuple(range(40))})
    seen = {"nested": [], "two_stage": []}
    for seed in range(12):
        dataset = toy(60)
        dataset = replace(dataset, y=np.random.default_rng(seed).permutation(dataset.y))
        case_ = case(spec, dataset)
        for scheme, accuracies in seen.items():
            cv = CVSpec(scheme, folds=5, repeats=1, tune_folds=5)
            drawn = folds(dataset, cv, seed)
            exp = replace(experiment(spec), cv=cv, seed=seed)
            chosen = tune(case_, drawn[0].tuning, seed)[0] if drawn[0].tuning_id else None
            jobs = expand(exp, [dataset])
            accuracies.append(accuracy([run_job(j, case_, f, chosen) for j, f in zip(jobs, drawn, strict=True)]))
    standard_error = np.sqrt(0.25 / 60 / 12)
    assert abs(np.mean(seen["nested"]) - 0.5) < 3 * standard_error
    assert np.mean(seen["two_stage"]) > 0.5 + 5 * standard_error


# ---- columns ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["ordinary", "nested"])
def test_columns_are_prepared_from_training_rows_only(monkeypatch, scheme):
    learned: list[np.ndarray] = []
    monkeypatch.setattr(fits, "fold_encoder", lambda dataset, policy, X: learned.append(X[:, 0].astype(int)))
    spec = DEPTH if scheme == "nested" else "depth"
    row, fold, _ = one_job(case(spec, toy()), CVSpec(scheme, folds=3, tune_folds=3))
    assert row.status == "ok"
    *inner, outer = learned
    assert np.array_equal(outer, fold.train)
    expected = [pair.train for pair in fold.tuning for _ in DEPTH.grid["max_depth"]]
    assert len(inner) == len(expected) and all(map(np.array_equal, inner, expected))


# ---- a run -----------------------------------------------------------------------------------------------------------


def test_a_run_stores_every_fold_and_says_so(store):
    out = io.StringIO()
    summary = run(experiment("depth", "stump"), store, n_jobs=1, progress=Progress(out), argv=["oblique", "run"])
    assert (summary.name, summary.total, summary.done, summary.resumed) == ("test", 12, 12, 0)
    assert (summary.failures, summary.stopped, summary.exit_code) == ((), 0, 0)
    assert summary.seconds > 0 and len(store.rows("test")) == 12
    assert out.getvalue().startswith("test: 12 folds\n") and "test: 12 of 12 folds in" in out.getvalue()
    (record,) = store.runs()
    assert (record.total, record.done, record.argv) == (12, 12, ["oblique", "run"])
    assert {**record.environment, "outside": {}} == environment()
    assert list(record.environment["outside"]) == ["runner_support.py"]


def test_all_algorithms_see_the_same_folds_and_seeds(store, monkeypatch):
    seen = {}

    def fit(self, X, y, plain=Stump.fit):
        seen.setdefault(X.tobytes(), []).append(self.random_state)
        return plain(self, X, y)

    monkeypatch.setattr(Stump, "fit", fit)
    two = (AlgorithmSpec("stump", "a"), AlgorithmSpec("stump", "b"))
    run(experiment(*two), store, n_jobs=1)
    assert [len(set(states)) for states in seen.values()] == [1] * 6
    assert [len(states) for states in seen.values()] == [2] * 6


@pytest.mark.sample(1)
@pytest.mark.parametrize("scheme", ["ordinary", "nested", "two_stage"])
def test_rows_are_equal_whatever_the_number_of_workers(tmp_path, scheme):
    algorithms = ("path", "depth", "pruning") if scheme == "ordinary" else (PATH, DEPTH, "pruning")
    exp = experiment(*algorithms, datasets=("bupa", "toy"), scheme=scheme)
    rows = []
    for workers in (1, 3):
        with Store(tmp_path / f"{workers}.sqlite") as store:
            assert run(exp, store, n_jobs=workers).exit_code == 0
            rows.append(timeless(store.rows("test")))
            tunings = [replace(tuning, seconds=0) for tuning in store.tunings("test")]
            rows[-1] += tunings
    assert rows[0] == rows[1] and len(rows[0]) >= 36


@pytest.mark.long
def test_processes_and_threads_give_equal_rows(tmp_path):
    rows = []
    for name in ("depth", "depth_in_processes"):
        with Store(tmp_path / f"{name}.sqlite") as store:
            spec = AlgorithmSpec(name, "tree", grid=DEPTH.grid)
            assert run(experiment(spec, datasets=("bupa",), scheme="nested"), store, n_jobs=2).exit_code == 0
            rows.append([replace(row, key="") for row in timeless(store.rows("test"))])
    assert rows[0] == rows[1] and len(rows[0]) == 6


def test_linear_algebra_has_one_thread_while_jobs_run_and_its_own_number_after(store, monkeypatch):
    before = threadpool_info()
    threads = []

    def fit(self, X, y, plain=Stump.fit):
        threads.extend(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
        return plain(self, X, y)

    monkeypatch.setattr(Stump, "fit", fit)
    for workers in (1, 2):
        run(experiment("stump"), store, n_jobs=workers, fresh=True)
    assert set(threads) == {1}
    assert threadpool_info() == before


def test_a_finished_run_runs_nothing_again(store):
    exp = experiment(PATH, scheme="two_stage")
    run(exp, store, n_jobs=1)
    rows = store.rows("test")
    PathTree.fits.clear()
    summary = run(exp, store, n_jobs=1)
    assert (summary.done, summary.resumed, PathTree.fits) == (6, 6, [])
    assert store.rows("test") == rows


@pytest.mark.sample(1)
@pytest.mark.parametrize("scheme", ["ordinary", "nested", "two_stage", "bootstrap", "leave_one_out"])
def test_more_repetitions_grow_a_run_to_what_it_would_have_been(store, scheme, tmp_path):
    grid = {"max_depth": (1, 2)} if SCHEMES[scheme].tunes else {}
    small = experiment(AlgorithmSpec("depth", "depth", grid=grid), scheme=scheme, repeats=1)
    large = replace(small, cv=replace(small.cv, repeats=3))
    first = run(small, store, n_jobs=1)
    grown = run(large, store, n_jobs=1)
    assert grown.resumed == first.total < grown.total == grown.done
    (result,) = store.runs()
    assert (result.total, result.done, result.content["cv"]["repeats"]) == (grown.total, grown.total, 3)
    with Store(tmp_path / "at once.sqlite") as other:
        run(large, other, n_jobs=1)
        assert timeless(other.rows("test")) == timeless(store.rows("test"))


def test_fewer_repetitions_are_shown_and_the_others_kept(store):
    large = experiment("depth", repeats=3)
    small = replace(large, cv=replace(large.cv, repeats=1))
    run(large, store, n_jobs=1)
    out = io.StringIO()
    summary = run(small, store, n_jobs=1, progress=Progress(out))
    assert (summary.total, summary.done, summary.resumed) == (3, 3, 3)
    assert "test: 6 stored folds are of repetitions beyond cv.repeats; kept, not shown" in out.getvalue()
    assert {row.repeat for row in store.rows("test")} == {0} and store.not_asked_for("test") == 6
    (result,) = store.runs()
    assert (result.total, result.done, result.failed) == (3, 3, 0)
    assert summarize(store.rows("test"), small).lines[0].repeats == 1
    again = run(large, store, n_jobs=1)
    assert (again.resumed, again.total, len(store.rows("test"))) == (9, 9, 9)


def test_data_sets_and_algorithms_may_be_added(store):
    small = experiment("depth")
    run(small, store, n_jobs=1)
    large = experiment("depth", "stump", datasets=("toy", "toy two"))
    summary = run(large, store, n_jobs=1)
    assert (summary.resumed, summary.total, summary.done) == (6, 24, 24)
    with pytest.raises(ConfigError, match=r"algorithms\.stump \{\.\.\.\} -> \(none\), data\.toy two .* -> \(none\), "):
        run(small, store, n_jobs=1)


@pytest.mark.parametrize("workers", [1, 2])
def test_failed_folds_are_rows_in_the_summary_and_in_the_exit_code(store, workers):
    out = io.StringIO()
    summary = run(experiment("breaks", "stump"), store, n_jobs=workers, progress=Progress(out))
    assert (summary.total, summary.done, summary.exit_code) == (12, 10, 3)
    assert [(row.repeat, row.status) for row in summary.failures] == [(0, "failed"), (1, "failed")]
    failed = [row for row in store.rows("test") if row.status == "failed"]
    assert failed == list(summary.failures)
    assert f"! toy/breaks r0 f{failed[0].fold} failed: LinAlgError: singular matrix" in out.getvalue()
    assert out.getvalue().rstrip().endswith("2 failed")


def test_folds_whose_parameters_could_not_be_chosen_fail_with_that_message(store):
    spec = AlgorithmSpec("breaks", "breaks", grid={"tau": (0, 1)})
    exp = experiment(spec, "stump", scheme="two_stage")
    summary = run(exp, store, n_jobs=1)
    assert (summary.done, len(summary.failures), summary.exit_code) == (6, 6, 3)
    message = "choosing parameters: LinAlgError: singular matrix (node 5, 7 rows)"
    assert {row.message for row in summary.failures} == {message}
    assert store.tunings("test")[0].status == "failed"
    assert len(run(exp, store, n_jobs=1).failures) == 6  # tried again, not believed


def test_all_processors_are_used_by_default_and_wrong_options_are_refused(store):
    for n_jobs in (0, -1, 1.5, "all", True):
        with pytest.raises(ConfigError) as caught:
            run(experiment("stump"), store, n_jobs=n_jobs)
        assert str(caught.value) == f"the number of jobs must be auto or a whole number, at least 1. Got {n_jobs!r}."
    assert run(experiment("stump"), store).done == 6
    with pytest.raises(TypeError, match="no option 'fersh'"):
        run(experiment(), store, fersh=True)


def test_the_environment_names_no_file_for_algorithms_of_the_package():
    assert outside(type(ALGORITHMS[name]) for name in ("oc1", "hhbut")) == {}


def test_a_run_works_outside_the_main_thread(tmp_path):
    done = []

    def work():
        with Store(tmp_path / "thread.sqlite") as store:
            done.append(run(experiment("stump"), store, n_jobs=2).done)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [6]


# ---- trouble ---------------------------------------------------------------------------------------------------------


@pytest.mark.sample(3)
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_after_the_folds_in_hand_and_the_same_call_goes_on(store, workers, number, code):
    out = io.StringIO()
    spec = AlgorithmSpec("interrupts", "interrupts", {"number": number})
    exp = experiment(spec, folds=10, repeats=5)
    before = signal.getsignal(number)
    Interrupts.armed = True
    summary = run(exp, store, n_jobs=workers, progress=Progress(out))
    assert (summary.stopped, summary.exit_code) == (number, code)
    assert 0 < summary.done < 50 and len(store.rows("test")) == summary.done
    assert "stopping after the folds in hand (again to stop now)\n" in out.getvalue()
    assert signal.getsignal(number) == before
    rest = run(exp, store, n_jobs=workers)
    assert (rest.stopped, rest.resumed, rest.done, len(store.rows("test"))) == (0, summary.done, 50, 50)


@pytest.mark.long
def test_processes_finish_the_folds_in_hand_when_the_terminal_interrupts(tmp_path):
    # Ctrl-C reaches the whole group of processes, workers included.
    process = start_script(tmp_path, "sleeps_in_processes", 40, start_new_session=True)
    wait_until(lambda: len(stored(tmp_path)) >= 2, 0.05)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=FOREVER) == 130
    assert 2 <= len(stored(tmp_path)) < 40
    assert (tmp_path / "out.txt").read_text() == f"{len(stored(tmp_path))} of 40\n"
    assert "Traceback" not in (tmp_path / "err.txt").read_text()


@pytest.mark.long
def test_worker_processes_leave_when_the_run_is_killed(tmp_path):
    process = start_script(tmp_path, "sleeps_in_processes", 400, start_new_session=True)
    wait_until(lambda: len(stored(tmp_path)) >= 2, 0.05)
    process.kill()
    process.wait()

    def gone():
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    wait_until(gone)


def sharing(monkeypatch, *names):
    """Let these algorithms have all their work in common, in processes."""
    for name in names:
        monkeypatch.setitem(FAKES, name, replace(FAKES[name], shares=True, compiled=False))


@pytest.mark.long
def test_a_process_that_dies_fails_its_own_fold_only_also_among_folds_done_together(store, monkeypatch):
    summary = run(experiment("dies", repeats=1, folds=3), store, n_jobs=2)
    assert (summary.done, len(summary.failures), summary.exit_code) == (2, 1, 3)
    assert summary.failures[0].message == "the process died (out of memory, or a crash in compiled code)"
    sharing(monkeypatch, "stump", "dies")
    summary = run(experiment("stump", "dies", repeats=1, folds=3), store, n_jobs=2, fresh=True)
    assert (summary.done, len(summary.failures), len(store.rows("test"))) == (5, 1, 6)
    assert summary.failures[0].algorithm == "dies"


def test_a_signal_keeps_folds_that_are_done_together_together(store, monkeypatch):
    sharing(monkeypatch, "stump", "interrupts")
    # The signal comes during the first of the two, so the second is there only if both are one piece of work.
    exp = experiment(AlgorithmSpec("interrupts", "interrupts", {"number": signal.SIGINT}), "stump", folds=10)
    Interrupts.armed = True
    summary = run(exp, store, n_jobs=1)
    stored = [(row.repeat, row.fold) for row in store.rows("test")]
    assert summary.exit_code == 130 and 0 < summary.done < 40
    assert all(stored.count(fold) == 2 for fold in stored)
    assert run(exp, store, n_jobs=1).done == 40


@pytest.mark.parametrize(
    ("scheme", "grid", "size"), [("ordinary", {}, 2), ("nested", {"epsilon": (0.1, 0.2)}, 1), ("two_stage", {}, 2)]
)
def test_folds_are_done_together_unless_parameters_are_chosen_in_them(store, monkeypatch, scheme, grid, size):
    sharing(monkeypatch, "path", "no_path")
    groups = []
    results = running.Crew.results

    def watched(self, jobs, calls, lost):
        groups.extend(len(group) for group in calls(jobs))
        return results(self, jobs, calls, lost)

    monkeypatch.setattr(running.Crew, "results", watched)
    specs = [AlgorithmSpec(name, name, {} if grid else {"epsilon": 0.1}, grid) for name in ("path", "no_path")]
    assert run(experiment(*specs, scheme=scheme, repeats=1), store, n_jobs=1).exit_code == 0
    assert groups == [size] * (6 // size)


@pytest.mark.sample(1)
@pytest.mark.parametrize("compiled", [True, False])
def test_data_sets_take_turns_where_workers_are_threads_and_follow_one_another_where_not(store, monkeypatch, compiled):
    """Threads share the interpreter: what holds it goes on beside the compiled work of another data set."""
    for name in ("stump", "path"):
        monkeypatch.setitem(FAKES, name, replace(FAKES[name], compiled=compiled))
    exp = experiment("stump", AlgorithmSpec("path", "path", {"epsilon": 0.1}), datasets=("toy", "toy_b", "toy_c"))
    request, results = [], running.Crew.results

    def watched(self, jobs, calls, lost):
        for group in calls(jobs):
            for job, _, (_, case_, fold, *_) in group:
                assert (case_.dataset.name, fold.index) == (job.dataset, job.fold)
                (expected,) = [f for f in folds(case_.dataset, exp.cv, exp.seed) if at(f) == at(job)]
                np.testing.assert_array_equal(fold.test, expected.test)
                request.append((job.repeat, job.fold, job.dataset, job.algorithm))
        return results(self, jobs, calls, lost)

    def at(item):
        return item.repeat, item.index if hasattr(item, "index") else item.fold

    monkeypatch.setattr(running.Crew, "results", watched)
    assert run(exp, store, n_jobs=2).done == 36
    by_turns = sorted(request, key=lambda item: item[:2])
    one_after_another = sorted(request, key=lambda entry: (entry[2], *entry[:2]))
    assert len(set(request)) == 36 and request == (by_turns if compiled else one_after_another)


# ---- kill ------------------------------------------------------------------------------------------------------------

SCRIPT = """
import sys
from dataclasses import replace
sys.path.insert(0, {tests!r})
from runner_support import FAKES, FakeAlgorithm, Sleeps, experiment, toy
from oblique_cli import data
from oblique_cli.experiments import fits, running
from oblique_cli.ground.nouns import AlgorithmSpec
from oblique_cli.experiments.progress import Progress
from oblique_cli.experiments.store import Store

FAKES["sleeps_in_processes"] = FakeAlgorithm("sleeps", Sleeps, compiled=False, defaults={{"seconds": 0.05}})
fits.ALGORITHMS = FAKES
data.catalogue.load = lambda spec, **options: toy(60, name=spec.name)
path, name, repeats = sys.argv[1], sys.argv[2], int(sys.argv[3])
exp = experiment(AlgorithmSpec(name, name), scheme="monte_carlo", repeats=repeats, folds=10)
with Store(path) as store:
    summary = running.run(exp, store, n_jobs=2, progress=Progress())
print(summary.done, "of", summary.total, flush=True)
sys.exit(summary.exit_code)
"""


def start_script(folder, name, repeats, **options):
    script = folder / "script.py"
    script.write_text(SCRIPT.format(tests=os.path.dirname(sys.modules["runner_support"].__file__)))
    command = [sys.executable, str(script), str(folder / "oblique.sqlite"), name, str(repeats)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with open(folder / "out.txt", "w") as out, open(folder / "err.txt", "w") as err:
        return subprocess.Popen(command, stdout=out, stderr=err, env=env, **options)


def stored(folder):
    if not (folder / "oblique.sqlite").exists():
        return []
    with Store(folder / "oblique.sqlite") as store:
        return store.rows("test")


class Telling(Stump):
    """Says more of itself than the runner asks."""

    def extra_measures(self, X, y):
        return {"rows": len(X), "share of class 1": np.mean(y == 1)}


def test_what_an_estimator_says_of_itself_on_the_test_rows_is_kept():
    dataset = toy(30)
    row, fold, _ = one_job(case("stump", dataset, algorithm=FakeAlgorithm("stump", Telling)), CVSpec(folds=3))
    expected = {"rows": 10.0, "share of class 1": float(np.mean(dataset.y[fold.test] == 1))}
    size = {"n_terms": 1.0}  # which every run measures
    assert row.measures == expected | size
    assert one_job(case("stump", dataset), CVSpec(folds=3))[0].measures == size
