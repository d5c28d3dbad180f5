"""Estimators of other libraries from the command line: a run survives them, and says what is wrong with them."""

from pathlib import Path

import pytest
from cli_support import forked as run  # the estimators of `outside_support` are at hand in its process
from store_support import sql

HEAD = "version: 1\nname: mine\ndataset: {csv: rows.csv, target: y, keep: [row, x]}\n"
CV = "cv: {scheme: ordinary, folds: 3, repeats: 1}\n"


@pytest.fixture
def folder(tmp_path):
    """A folder with a table whose first feature is the row number."""
    lines = [f"{i},{(i * 7919) % 101},{'ab'[(i * 7919) % 101 > 50]}" for i in range(60)]
    (tmp_path / "rows.csv").write_text("row,x,y\n" + "\n".join(lines) + "\n")
    return tmp_path


def failures(folder: Path) -> set[tuple[str, str]]:
    failed = "SELECT algorithm, message FROM rows WHERE status = 'failed'"
    return set(sql(folder / "results" / "oblique.sqlite", failed))


def damage(results: Path) -> None:
    sql(results / "oblique.sqlite", "UPDATE rows SET message = 'another' WHERE fold = 0")


@pytest.mark.long
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_run_survives_estimators_that_crash_hang_and_eat_memory(folder, jobs):
    limits = {"Hang": "limits: {time: 2s}", "Eat": "limits: {memory: 300MB}"}
    names = ("Majority", "Segfault", "Leave", "Abort", "Hang", "Eat", "Raises")
    entries = [f"{{class: outside_support.{name}, {limits.get(name, '')}}}" for name in names]
    (folder / "mine.yaml").write_text(f"{HEAD}algorithms: [axis_parallel, {', '.join(entries)}]\n{CV}")
    ended = run(folder, "run", "mine.yaml", "--allow-code", "--quiet", "-j", jobs)
    assert ended.code == 3, ended.err
    # Row 0 is in the test set of one fold of three, and each estimator misbehaves on that fold alone.
    assert failures(folder) == {
        ("segfault", "Crashed: its process died of SIGSEGV (segmentation fault)"),
        ("leave", "Crashed: its process left with exit code 3"),
        ("abort", "Crashed: its process died of SIGABRT (aborted)"),
        ("hang", "OutOfTime: not done within the limit of 2 s"),
        ("eat", next(m for a, m in failures(folder) if a == "eat")),
        ("raises", "LinAlgError: singular matrix"),
    }
    assert next(m for a, m in failures(folder) if a == "eat").startswith(
        "OutOfMemory: more memory is needed than the limit of 300 MB"
    )

    assert "hello" not in ended.out + ended.err


@pytest.mark.long
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_algorithms_of_this_package_have_limits_too(folder, jobs):
    free = [
        "tao",
        "{name: hhgdt_forest, n_estimators: 5}",
        "svm",
        "{name: hhcart_a, pruning: ccp_alpha, ccp_alpha: {grid: [0.0, 0.1]}}",
    ]
    nested = "cv: {scheme: nested, folds: 2, repeats: 1, tune: {folds: 2}}\nmetrics: [accuracy, leaves, mean_path]\n"
    (folder / "free.yaml").write_text(f"{HEAD.replace('mine', 'free')}algorithms: [{', '.join(free)}]\n{nested}")
    slow = "{name: oc1, id: slow, restarts: 5000, limits: {time: 0.001s}}"
    (folder / "limited.yaml").write_text(
        f"{HEAD.replace('mine', 'limited')}algorithms: [{', '.join(free)}, {slow}]\n"
        f"limits: {{time: 60s, memory: 1GB}}\n{nested}"
    )
    assert run(folder, "run", "free.yaml", "--quiet", "-j", jobs).code == 0
    ended = run(folder, "run", "limited.yaml", "--quiet", "-j", jobs)
    assert ended.code == 3, ended.err
    assert failures(folder) == {("slow", "OutOfTime: not done within the limit of 0.001 s")}
    what = 'algorithm, fold, key, n_correct, n_leaves, n_nodes, depth, chosen, "inner", measures'
    good = f"SELECT {what} FROM rows WHERE run = ? AND status = 'ok'"
    rows = {name: sorted(sql(folder / "results" / "oblique.sqlite", good, name)) for name in ("free", "limited")}
    assert len(rows["free"]) == 8 and rows["limited"] == rows["free"]
    shown = run(folder, "tree", "limited", "--fold", "0", "--algorithm", "tao")
    assert shown.code == 0, shown.err


@pytest.mark.long
def test_the_grid_of_a_class_is_searched_and_workers_change_nothing(folder):
    (folder / "mine.yaml").write_text(
        f"{HEAD}algorithms:\n"
        "  - {class: sklearn.tree.DecisionTreeClassifier, id: t, grid: {max_depth: [1, 8], splitter: [best, random]}}\n"
        "  - {class: sklearn.ensemble.ExtraTreesClassifier, id: extra, params: {n_estimators: 9}}\n"
        "cv: {scheme: nested, folds: 3, repeats: 1, tune: {folds: 2}}\n"
    )
    tables = []
    for jobs, results in (("1", "one"), ("2", "two")):
        ended = run(folder, "run", "mine.yaml", "--quiet", "-j", jobs, "--results", results, "--format", "csv")
        assert (ended.code, ended.err) == (0, "")
        tables.append(ended.out)
    assert tables[0] == tables[1]
    chosen = sql(folder / "one" / "oblique.sqlite", "SELECT chosen FROM rows WHERE algorithm = 't'")
    assert all("max_depth" in text and "splitter" in text for (text,) in chosen)


def test_validate_holds_classes_to_their_names_and_imports_none(folder):
    (folder / "marker.py").write_text("open('imported', 'w').close()\n\nclass Model:\n    pass\n")
    (folder / "mine.yaml").write_text(
        f"{HEAD}algorithms: [{{class: marker.Model}}, {{class: sklearn.svm.SVC, params: {{C: 1}}}}]\n{CV}"
    )
    ended = run(folder, "validate", "mine.yaml")
    assert ended.code == 0 and not (folder / "imported").exists()
    ended = run(folder, "validate", "mine.yaml", "--allow-code")
    assert ended.code == 2 and "class marker.Model is no estimator" in ended.err and (folder / "imported").exists()


@pytest.mark.long
def test_a_file_of_results_makes_nothing_be_imported_and_keeps_limits(folder):
    entry = "{class: outside_support.Raises}"
    (folder / "mine.yaml").write_text(f"{HEAD}algorithms: [{entry}]\n{CV}")
    assert run(folder, "run", "mine.yaml", "--allow-code", "--quiet").code == 3
    damage(folder / "results")
    again = run(folder, "repair", "mine")
    assert again.code == 2 and again.err.startswith(
        "error: run 'mine' imports code of its own: give its command again ("
    )
    known = "{class: sklearn.ensemble.RandomForestClassifier, limits: {time: 0.001s}}"
    (folder / "mine.yaml").write_text(f"{HEAD}algorithms: [{known}]\n{CV}")
    code = run(folder, "run", "mine.yaml", "--quiet", "--results", "other").code
    damage(folder / "other")
    again = run(folder, "repair", "mine", "--quiet", "--results", "other")
    assert (code, again.code) == (3, 3) and "not done within the limit of 0.001 s" in again.err


@pytest.mark.long
def test_the_tree_of_another_library_is_not_shown(folder):
    (folder / "mine.yaml").write_text(f"{HEAD}algorithms: [{{class: sklearn.tree.DecisionTreeClassifier}}]\n{CV}")
    assert run(folder, "run", "mine.yaml", "--quiet").code == 0
    ended = run(folder, "tree", "mine", "--fold", "0")
    assert ended.code == 2 and "is of another library (sklearn.tree.DecisionTreeClassifier)" in ended.err
