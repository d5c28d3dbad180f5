"""`oblique significance`: stored runs of known numbers in, verdicts out, and what it refuses."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from oblique_cli.evaluation import significance_tests
from oblique_cli.evaluation.paired import StoredRun, pair
from oblique_cli.evaluation.significance_report import judge
from oblique_cli.experiments.store import Store
from oblique_cli.ground.nouns import AlgorithmSpec, CVSpec, DatasetSpec, Experiment, Row

SETS = ("iris", "wine", "glass", "bupa", "haberman", "pima")


def experiment(name="run", datasets=SETS, algorithms=("hhgdt", "gdt", "axis_parallel"), cv=None, seed=1, **params):
    specs = tuple(AlgorithmSpec(algorithm, algorithm, params) for algorithm in algorithms)
    cv = cv or CVSpec("ordinary", folds=2, repeats=3)
    return Experiment(name, seed, tuple(map(DatasetSpec, datasets)), specs, cv, title=f"Title of {name}")


def rows_of(exp, seed=5) -> list[Row]:
    """The first algorithm is right on about 80 of 100 rows with 3 leaves, each further one on 10 less, with 3 more."""
    rng = np.random.default_rng(seed)
    folds = 1 if exp.cv.scheme in ("split", "monte_carlo") else exp.cv.folds
    return [
        Row(f"{d.name} {a.id} {r} {f}", d.name, a.id, r, f, "ok", n_correct=int(80 - 10 * i + rng.integers(-3, 4)),
            n_test=100, n_leaves=int(3 + 3 * i + rng.integers(0, 2)))
        for d in exp.datasets for i, a in enumerate(exp.algorithms) for r in range(exp.cv.repeats) for f in range(folds)
    ]  # fmt: skip


def store(folder, exp, rows=None, data="digest") -> list[Row]:
    rows = rows_of(exp) if rows is None else rows
    content = {**exp.content(), "data": {spec.name: data for spec in exp.datasets}}
    with Store(folder / "results" / "oblique.sqlite") as open_store:
        open_store.begin(exp.name, content, len(rows), presentation={"title": exp.title, "published": []})
        for row in rows:
            open_store.append(exp.name, row)
    return rows


def records(call, *arguments):
    ended = call("significance", *arguments, "--format", "csv")
    assert ended.code == 0, ended.err
    return list(csv.DictReader(io.StringIO(ended.out)))


def named(result, test, **where):
    (record,) = [r for r in result if r["test"] == test and all(r[key] == value for key, value in where.items())]
    return record


def test_the_numbers_are_those_of_the_stored_folds_and_fewer_leaves_are_better(call):
    rows = store(call.folder, experiment())
    results = records(call, "run", "--metric", "accuracy")

    def folds(dataset, algorithm):
        return np.array([r.n_correct for r in rows if (r.dataset, r.algorithm) == (dataset, algorithm)], dtype=float)

    d = folds("wine", "hhgdt") - folds("wine", "gdt")
    t = named(results, "corrected resampled t", dataset="wine", first="hhgdt", second="gdt")
    # 2-fold: as many test as training rows.
    assert float(t["statistic"]) == pytest.approx(d.mean() / np.sqrt((1 / 6 + 1) * d.var(ddof=1)))
    assert t["n"] == "6"
    over = [(folds(name, "hhgdt") - folds(name, "gdt")).mean() for name in SETS]
    p = float(named(results, "Wilcoxon", first="hhgdt", second="gdt")["p"])
    assert p == significance_tests.wilcoxon(over).p == 2 / 64
    # Holm: three pairs with the same p.
    assert float(named(results, "Wilcoxon", first="hhgdt", second="gdt")["p_holm"]) == 6 / 64
    assert [r["statistic"] for r in results if r["test"] == "average rank"] == ["1.0", "2.0", "3.0"]
    assert named(results, "Iman-Davenport F")["p"] == "0.0"
    assert named(results, "Bayesian signed rank", first="hhgdt", second="gdt")["winner"] == "hhgdt"
    assert named(results, "2-SD", dataset="iris", first="hhgdt", second="axis_parallel")["winner"] == "hhgdt"

    results = records(call, "run", "--metric", "leaves")
    for test in ("sign", "Nemenyi", "Bayesian signed rank"):
        assert named(results, test, first="hhgdt", second="axis_parallel")["winner"] == "hhgdt"
    assert named(results, "1-SD", dataset="iris", first="hhgdt", second="gdt")["winner"] == "hhgdt"
    assert float(named(results, "corrected resampled t", dataset="iris", first="hhgdt", second="gdt")["statistic"]) > 0
    assert float(named(results, "1-SD", dataset="iris", first="hhgdt", second="gdt")["statistic"]) < 0  # as it is


def test_every_format_has_the_same_tests_and_the_diagrams_every_method(call):
    store(call.folder, experiment())
    text = call("significance", "run").out
    assert text.startswith("Title of run: significance at 0.05\n")
    assert "accuracy, critical difference 1.35 (Nemenyi)" in text and "leaves, over 6 data sets" in text
    assert "| HHGDT" in call("significance", "run", "--format", "md").out
    assert r"\toprule" in call("significance", "run", "--format", "latex").out
    document = json.loads(call("significance", "run", "--format", "json").out)
    assert len(document["rows"]) == len(records(call, "run"))
    assert (document["alpha"], document["rope"]) == (0.05, 1.0)

    out = call("significance", "run", "--metric", "accuracy").out
    lines = [line for line in out.splitlines() if "●━" in line or line.rstrip().endswith("3.00")]
    assert [line.split()[0] for line in lines] == ["HHGDT", "GDT", "Axis-parallel"]
    assert [re.split(r" {2,}", line)[1] for line in lines] == ["a", "a b", "b"]  # CD 1.35: only 1 and 3 are apart
    places = [line.index("●") for line in lines]
    assert places == sorted(set(places))

    ended = call("significance", "run", "--diagram", "cd.svg")
    assert ended.code == 0, ended.err
    root = ElementTree.parse(call.folder / "cd.svg").getroot()
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("HHGDT (1.00)") == texts.count("GDT (2.00)") == texts.count("Axis-parallel (3.00)") == 2
    assert texts.count("CD = 1.35") == 2
    bars = [n for n in root.iter("{http://www.w3.org/2000/svg}rect") if n.get("height") == "3.9"]
    assert len(bars) == 4  # two groups a metric


def test_two_data_sets_are_compared_one_by_one_and_told_why(call):
    store(call.folder, experiment(datasets=SETS[:2]))
    ended = call("significance", "run")
    assert ended.code == 0
    assert "Tests over data sets need at least 5, here are 2" in ended.out and "no power" in ended.out
    assert "Nemenyi" not in ended.out and "●" not in ended.out


def test_five_data_sets_are_said_to_be_too_few_for_the_level(call):
    store(call.folder, experiment(datasets=SETS[:5]))
    assert "The Wilcoxon test over 5 data sets cannot have p below 0.0625" in call("significance", "run").out


def test_failed_folds_take_their_repetition_from_every_method(call):
    rows = rows_of(experiment())
    bad = next(i for i, r in enumerate(rows) if (r.dataset, r.algorithm, r.repeat) == ("wine", "gdt", 1))
    rows[bad] = replace(rows[bad], status="failed", message="LinAlgError: singular", n_correct=0, n_test=0, n_leaves=0)
    store(call.folder, experiment(), rows)
    out = call("significance", "run").out
    assert "wine: 2 of 3 repetitions are complete for every method and used: GDT 1 failed (first: LinAlgError: s" in out
    # hhgdt against axis_parallel loses the repetition as well: both means are over the same partitions.
    t = named(records(call, "run", "--metric", "accuracy"), "corrected resampled t", dataset="wine", first="hhgdt",
              second="axis_parallel")  # fmt: skip
    assert t["n"] == "4"


def test_a_data_set_without_a_complete_repetition_is_left_out(call):
    rows = [r for r in rows_of(experiment()) if (r.dataset, r.algorithm, r.fold) != ("wine", "gdt", 1)]
    store(call.folder, experiment(), rows)
    out = call("significance", "run").out
    assert "wine is left out, no repetition is complete for every method: GDT 3 still to run." in out
    assert "over 5 data sets" in out
    store(call.folder, experiment("only", datasets=("wine",)), [r for r in rows if r.dataset == "wine"])
    ended = call("significance", "only")
    assert ended.code == 2 and "no data set can be used" in ended.err


def test_two_runs_that_share_their_folds_are_one_comparison(call):
    store(call.folder, experiment("one", algorithms=("hhgdt",)))
    two = experiment("two", algorithms=("gdt",), cv=CVSpec("nested", folds=2, repeats=3))
    store(call.folder, two, rows_of(two, seed=9))
    results = records(call, "one", "two", "--metric", "accuracy")
    assert named(results, "corrected resampled t", dataset="wine")["n"] == "6"
    assert named(results, "Nemenyi")["n"] == "6"
    assert call("significance", "one", "two").out.startswith("Title of one and Title of two: ")


@pytest.mark.parametrize("other", [{"seed": 2}, {"cv": CVSpec("ordinary", folds=4, repeats=3)}, {"data": "changed"}])
def test_folds_that_are_not_shared_are_not_paired(call, other):
    data = other.pop("data", "digest")
    store(call.folder, experiment("one", algorithms=("hhgdt",)))
    store(call.folder, experiment("two", algorithms=("gdt",), **other), data=data)
    results = records(call, "one", "two", "--metric", "accuracy")
    assert not [r for r in results if r["test"] in ("corrected resampled t", "Bayesian correlated t")]
    assert named(results, "Wilcoxon")["p"]  # data sets are paired all the same
    assert "wine: the runs divided its rows differently, so its folds cannot be paired" in (
        call("significance", "one", "two").out
    )


def test_one_algorithm_in_two_runs_is_two_methods_if_it_can_be_told_apart():
    def run(name, **more):
        exp = experiment(name, algorithms=("hhgdt",), **more)
        return StoredRun(exp, rows_of(exp), dict.fromkeys(SETS, "digest"))

    assert list(pair([run("one"), run("two", epsilon=0.2)]).methods) == ["hhgdt (one)", "hhgdt (two)"]
    # The same settings on other data sets: one method, whose data sets were run one by one.
    gdt = experiment("three", algorithms=("gdt",))
    both = [run("one", datasets=SETS[:3]), run("two", datasets=SETS[3:])]
    result = pair([*both, StoredRun(gdt, rows_of(gdt), dict.fromkeys(SETS, "digest"))], {"hhgdt": "HHGDT"})
    assert result.methods == {"hhgdt": "HHGDT", "gdt": "gdt"}
    assert [s.dataset for s in result.scores] == list(SETS)


def test_a_data_set_that_a_method_never_saw_is_left_out():
    first, two = experiment("one", algorithms=("hhgdt",)), experiment("two", SETS[1:], ("gdt",))
    result = pair([StoredRun(e, rows_of(e), dict.fromkeys(SETS, "digest")) for e in (first, two)])
    assert [s.dataset for s in result.scores] == list(SETS[1:])
    assert result.notes == ("iris is left out: gdt was not run on it.",)


@pytest.mark.parametrize(
    ("cv", "ratio"),
    [
        (CVSpec("nested", folds=10, repeats=2), 1 / 9),
        (CVSpec("monte_carlo", repeats=4, test_fraction=0.25), 1 / 3),
        (CVSpec("split", repeats=4), None),
    ],
)
def test_the_correction_follows_the_scheme(cv, ratio):
    exp = experiment(cv=cv)
    result = pair([StoredRun(exp, rows_of(exp), dict.fromkeys(SETS, "digest"))])
    assert [s.test_over_train for s in result.scores] == [pytest.approx(ratio)] * len(SETS)
    verdicts = judge(result, "title", metrics=("accuracy",))
    assert all((duel.t is None) == (ratio is None) for duel in verdicts.metrics[0].duels)
    assert any("no resampling" in note for note in verdicts.sheet().notes) == (ratio is None)


def without_leaves(exp, *algorithms, datasets=SETS):
    """Rows of `rows_of` in which some algorithms are no trees."""
    bare = {(dataset, algorithm) for dataset in datasets for algorithm in algorithms}
    return [replace(row, n_leaves=0) if (row.dataset, row.algorithm) in bare else row for row in rows_of(exp)]


def test_a_method_without_leaves_is_compared_by_accuracy_and_the_others_by_leaves_too(call):
    store(call.folder, experiment(), without_leaves(experiment(), "gdt"))
    results = records(call, "run")
    assert {r["first"] for r in results if r["metric"] == "leaves"} | {"gdt"} == {"", "hhgdt", "axis_parallel", "gdt"}
    pairs = {(r["first"], r["second"]) for r in results if (r["metric"], r["test"]) == ("leaves", "Wilcoxon")}
    assert pairs == {("hhgdt", "axis_parallel")}
    assert (
        len({(r["first"], r["second"]) for r in results if (r["metric"], r["test"]) == ("accuracy", "Wilcoxon")}) == 3
    )
    assert "GDT: no leaves to test (the model is no tree)." in call("significance", "run").out
    # What is left is what a run of the two alone says.
    store(call.folder, experiment("two", algorithms=("hhgdt", "axis_parallel")),
          [row for row in rows_of(experiment()) if row.algorithm != "gdt"])  # fmt: skip
    alone = records(call, "two", "--metric", "leaves")
    assert [r for r in results if r["metric"] == "leaves"] == alone


def test_a_metric_that_one_method_has_is_named_and_others_are_tested(call):
    store(call.folder, experiment(), without_leaves(experiment(), "gdt", "axis_parallel"))
    assert {r["metric"] for r in records(call, "run")} == {"accuracy"}
    assert "GDT and Axis-parallel: no leaves to test" in call("significance", "run").out
    ended = call("significance", "run", "--metric", "leaves")
    assert ended.code == 2 and ended.err.startswith("error: significance: no two algorithms have leaves. GDT and ")


def test_a_data_set_without_a_value_is_left_out_of_tests_of_that_metric_alone(call):
    store(call.folder, experiment(), without_leaves(experiment(), "gdt", datasets=("wine",)))
    results = records(call, "run")
    sizes = {r["metric"]: r["n"] for r in results if r["test"] == "Iman-Davenport F"}
    assert sizes == {"accuracy": "6", "leaves": "5"}
    assert named(results, "1-SD", metric="leaves", dataset="wine", first="hhgdt", second="axis_parallel")
    assert "wine: tests of leaves over data sets leave it out, as that of GDT is undefined (the model is no tree)." in (
        call("significance", "run").out
    )


def test_a_ratio_to_nothing_leaves_a_method_out_of_that_metric(call):
    rows = [
        replace(row, tune_seconds=0.0 if row.algorithm == "gdt" else 1.5 + row.fold) for row in rows_of(experiment())
    ]
    store(call.folder, experiment(), rows)
    results = records(call, "run", "--metric", "tune")
    assert {(r["first"], r["second"]) for r in results if r["test"] == "Wilcoxon"} == {("hhgdt", "axis_parallel")}
    assert "GDT: no tune s to test (it is 0)." in call("significance", "run", "--metric", "tune").out


def test_metrics_of_the_configuration_are_tested_too(call):
    exp = replace(experiment(), metrics=("depth",))
    content = {**exp.content(), "data": dict.fromkeys(SETS, "digest")}
    rows = [replace(row, depth=2 + row.fold) for row in rows_of(exp)]
    with Store(call.folder / "results" / "oblique.sqlite") as open_store:
        about = {"title": exp.title, "published": [], "metrics": list(exp.metrics)}
        open_store.begin("run", content, len(rows), presentation=about)
        for row in rows:
            open_store.append("run", row)
    assert {r["metric"] for r in records(call, "run")} == {"accuracy", "leaves", "depth"}


@pytest.mark.long
def test_pairs_of_ten_methods_are_matrices_of_80_columns(call):
    names = ("hhgdt", "gdt", "axis_parallel", "hhcart_a", "hhcart_d", "cline", "oc1", "quest", "c45", "hhcrv")
    exp = experiment(algorithms=names, cv=CVSpec("ordinary", folds=10, repeats=2))
    rng = np.random.default_rng(3)
    rows = [
        replace(row, n_correct=int(rng.integers(930, 990)), n_test=1000, n_leaves=int(rng.integers(100, 300)))
        for row in rows_of(exp)
    ]
    store(call.folder, exp, rows)
    text = call("significance", "run").out
    tables, _, notes = text.partition("\n1-SD, 2-SD:")
    lines = [line for line in tables.splitlines() if not line.startswith(("accuracy,", "leaves,"))]  # captions
    assert notes and 100 < len(lines) < 240 and max(map(len, lines)) <= 80
    results = records(call, "run", "--metric", "accuracy")
    assert len([r for r in results if r["test"] == "Wilcoxon"]) == 45  # CSV has every pair
    report = judge(pair([StoredRun(exp, rows, dict.fromkeys(SETS, "digest"))]), "title", metrics=("accuracy",))
    grids = {grid.caption: grid for grid in report.sheet().grids}
    over, wine = grids["accuracy, over 6 data sets"], grids["accuracy, wine"]
    for (i, a), (j, b) in combinations(enumerate(names), 2):
        sign = named(results, "sign", first=a, second=b)
        wins = int(float(sign["statistic"]))
        here, there = over.rows[i][2 + j], over.rows[j][2 + i]
        assert (int(here.rstrip("*")), int(there.rstrip("*"))) == (wins, int(sign["n"]) - wins)
        holm = named(results, "Wilcoxon", first=a, second=b)["winner"]
        assert (here.endswith("*"), there.endswith("*")) == (holm == a, holm == b)
        winner = named(results, "corrected resampled t", dataset="wine", first=a, second=b)["winner"]
        assert wine.rows[i][2 + j] + wine.rows[j][2 + i] == {a: "+-", b: "-+", "tie": "=="}[winner]
