"""The benchmarks run from end to end in a tiny size, find equal results where they must, and print what they promise.

No test here looks at how long anything took.
"""

import json
import math
import re
import subprocess
import sys
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import startup  # noqa: E402
from benchmarks.__main__ import BENCHMARKS  # noqa: E402
from benchmarks.growth import numpy_best_gini  # noqa: E402
from benchmarks.inputs import grow, letter, synthetic, tree_of  # noqa: E402
from benchmarks.measuring import Ratio, Report, Sample, alternate, main  # noqa: E402
from benchmarks.pruning import naive_path  # noqa: E402

# What each script claims: a piece of the text, and the target it is judged by.
CLAIMS: dict[str, dict[str, str | None]] = {
    "ensembles": {
        f"{what} / {other}scikit-learn's random forest": None
        for title in ("HHGDT forest", "bagged oblique forest", "heterogeneous oblique forest", "oblique boosting")
        for what, other in ((f"training {title}", ""), (f"predicting with {title}", "with "))
    },
    "growth": {
        "axis-parallel, gini / scikit-learn's axis-parallel tree, on Letter": "<= 1.5",
        "HHCART(D), gini / scikit-learn": "<= 2.5",
        "HHCART(D), twoing / scikit-learn": "<= 2.5",
        "HHCART(A), gini / scikit-learn": "<= 12",
        "HHCART(A), twoing / scikit-learn": "<= 12",
        "GDT, gini / scikit-learn": None,
        "HHGDT, gini / scikit-learn": None,
        "axis-parallel, gini / scikit-learn's, on 1,000 x 50": "<= 1.5",
        "std::sort / bounds, the root alone": None,
        "plain NumPy / bounds": None,
        "std::sort of every direction / bounds, HHCART(A), gini": ">= 15",
        "std::sort of every direction / bounds, HHCART(A), twoing": ">= 15",
    },
    "monotone": {},
    "waits": {
        "training oblique boosting / XGBoost, half of Spambase": "<= 8",
        "training tao_forest of 3 / random forest of 30": "<= 1",
        "logistic_tree, one fit, median of": "<= 0.7",
        "logistic_tree / random forest of 20, median of": None,
        "oblique fit, auto, 120 x 8, 3 classes, by the clock": "<= 20",
        "oblique fit, auto, 120 x 8, 3 classes, CPU time": None,
        "predicting 400 x 50 with HHCART(A) / scikit-learn's": "<= 1",
        "predicting 8 x 50 with HHCART(A) / scikit-learn's": "<= 1",
        "predicting 400 x 50 with axis-parallel / scikit-learn's": "<= 1",
        "predicting 8 x 50 with axis-parallel / scikit-learn's": "<= 1",
        "importing one class, beside import sklearn.tree": "< 0.6",
        "HHCART(A), gini / scikit-learn's axis-parallel tree": "<= 7",
    },
    "refinement": {
        "one run on Letter": "< 60",
        "one run on 100,000 x 10": "< 30",
        "one run / growth of HHGDT, on Letter": "<= 10",
        "one run / scikit-learn's random forest, on Letter": None,
        "one run / growth of HHGDT, on 100,000 x 10": "<= 10",
        "one run / scikit-learn's random forest, on 100,000 x 10": None,
    },
    "commands": {  # one a table where it is quick
        "oblique tree on 54,000 x 26, 4 of words": "<= 10",
        "oblique tree --algorithm axis_parallel on 200,000 x 12, 3 of words": "<= 20",
        "oblique fit --algorithm hhcart_d on 200 x 2,000, 0 of words": "<= 5",
    },
    "forests": {
        "training RaF / scikit-learn's random forest, on Letter, threads: 1": "<= 1.5",
        "predicting with RaF / with scikit-learn's, on Letter, threads: 1": "<= 1",
        "training MPRaF-P / scikit-learn's random forest, on Letter, threads: 1": "<= 1",
        "predicting with MPRaF-P / with scikit-learn's, on Letter, threads: 1": "<= 1",
        "training MPRaF-T / scikit-learn's random forest, on Letter, threads: 1": "<= 1",
        "predicting with MPRaF-T / with scikit-learn's, on Letter, threads: 1": "<= 1",
        "training HHCART forest / scikit-learn's random forest, on Letter, threads: 1": None,
        "predicting with HHCART forest / with scikit-learn's, on Letter, threads: 1": None,
        "training RaF / scikit-learn's random forest, on Letter, threads: 2": "<= 1.5",
        "predicting with RaF / with scikit-learn's, on Letter, threads: 2": "<= 1",
        "training MPRaF-P / scikit-learn's random forest, on Letter, threads: 2": "<= 1",
        "predicting with MPRaF-P / with scikit-learn's, on Letter, threads: 2": "<= 1",
        "training MPRaF-T / scikit-learn's random forest, on Letter, threads: 2": "<= 1",
        "predicting with MPRaF-T / with scikit-learn's, on Letter, threads: 2": "<= 1",
        "training HHCART forest / scikit-learn's random forest, on Letter, threads: 2": None,
        "predicting with HHCART forest / with scikit-learn's, on Letter, threads: 2": None,
        "peak memory of training RaF / scikit-learn's random forest, on Letter": "<= 1.5",
        "peak memory of training MPRaF-P / scikit-learn's random forest, on Letter": "<= 1.5",
        "peak memory of training MPRaF-T / scikit-learn's random forest, on Letter": "<= 1.5",
        "aeon's rotation forest / RoF, training on Letter": ">= 3",
    },
    "models": {
        "500,000 rows through the tree of axis-parallel": "< 1",
        "500,000 rows through the tree of HHCART(D)": "< 1",
        "500,000 rows through the tree of HHCART(A)": "< 1",
        "oblique predict, one row": "< 0.5",
        "memory of oblique predict, five times the rows": "< 1.2",
    },
    "pruning": {
        "naive loop / one pass": "> 1",
        "36 fits / one fit, GDT": "> 1",
        "36 fits / one fit, HHGDT": "> 1",
        "ten folds / a kept tenth": "> 1",
    },
    "memory": {
        "hhcart_a on Letter: peak memory": "< 100.2",
        "axis_parallel on 300 x 10: memory beside the table": None,
        "hhcart_d on 300 x 10: memory beside the table": None,
    },
    "startup": {
        "oblique --help": "< 0.4",
        "oblique run bupa_hhgdt": "< 4",
        "oblique compare --cv nested --dataset bupa": "< 10",
    },
}


@pytest.mark.long
@pytest.mark.parametrize("name", CLAIMS)
def test_benchmark_prints_every_claim_with_its_ratio_and_saves_the_same(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "numbers.json"
    assert main(BENCHMARKS, "", [name, "--quick", "--repeat", "1", "--json", str(saved)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("machine: processor ")
    lines = [line for line in printed.splitlines() if line.startswith("claim: ")]
    report = json.loads(saved.read_text())
    assert report["machine"]["threads"] == 1 and report["machine"]["cpus"] >= 1
    (numbers,) = report["benchmarks"]
    assert (numbers["name"], numbers["quick"]) == (name, True)
    assert numbers["tables"] and all(numbers["tables"].values())
    assert len(lines) == len(numbers["claims"]) == len(CLAIMS[name])
    for (text, target), line, claim in zip(CLAIMS[name].items(), lines, numbers["claims"], strict=True):
        assert text in line and text in claim["claim"]
        assert claim["target"] == target
        if claim["verdict"].startswith("not measured"):
            assert name in ("startup", "forests", "waits") and re.search("; not measured: (the|aeon|xgboost) ", line)
        else:
            # A quick run may measure noise, even a difference below 0. That it is a number is what a test can ask.
            assert math.isfinite(claim["least"]) and math.isfinite(claim["median"])
            assert "; measured " in line
            assert claim["verdict"] == ("reported" if target is None else "not judged (quick size)")


@pytest.mark.long
@pytest.mark.parametrize("command", [["benchmarks", "pruning"], ["benchmarks.pruning"]])
def test_one_benchmark_runs_from_the_shell_under_either_name(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command, "--quick", "--repeat", "1"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("claim: ") == len(CLAIMS["pruning"])


def test_every_script_is_run_by_the_whole_and_explained_in_the_readme() -> None:
    readme = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    scripts = {
        path.stem for path in (ROOT / "benchmarks").glob("*.py") if 'main({"' in path.read_text(encoding="utf-8")
    }
    assert scripts == set(BENCHMARKS) == set(CLAIMS)
    assert all(f"`{name}.py`" in readme for name in scripts)


@pytest.mark.long
def test_contestants_alternate_and_a_slow_one_may_run_in_the_middle_round_only() -> None:
    order: list[str] = []
    ticks = count()

    def contestant(name: str) -> int:
        order.append(name)
        return len(order)

    samples, results = alternate(
        {name: partial(contestant, name) for name in ("A", "B", "slow")},
        3,
        once=("slow",),
        clock=lambda: float(next(ticks)),
    )
    assert order == ["A", "B", "A", "B", "slow", "A", "B"]
    assert samples["A"].values == samples["B"].values == [1.0, 1.0, 1.0]
    assert samples["slow"].values == [1.0]
    assert results == {"A": 6, "B": 7, "slow": 5}


def test_ratio_is_of_medians_and_of_least_times() -> None:
    ratio = Ratio.of(Sample([6.0, 4.0, 20.0]), Sample([2.0, 1.0, 3.0]), scale=10.0)
    assert (ratio.median, ratio.least) == (30.0, 40.0)


@pytest.mark.parametrize(
    ("target", "quick", "verdict"),
    [
        ("< 3", False, "not met"),
        ("<= 3", False, "met"),
        ("> 3", False, "not met"),
        (">= 3", False, "met"),
        (">= 3", True, "not judged (quick size)"),
        (None, False, "reported"),
    ],
)
def test_claim_is_judged_on_the_median(
    target: str | None, quick: bool, verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report = Report("any", quick)
    report.claim("a / b", target, Ratio(3.0, 2.0))
    goal = f"target {target} x" if target else "no target"
    assert capsys.readouterr().out == f"claim: a / b; {goal}; measured ratio 3 x (least 2); {verdict}\n"
    assert report.claims[0]["verdict"] == verdict


def test_missed_target_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main({"slow": lambda report, repeat: report.claim("a / b", "< 1", Ratio(9.0, 9.0))}, "", []) == 0
    assert capsys.readouterr().out.endswith("not met\n")


def test_wrong_result_is_a_failure() -> None:
    def wrong(report: Report, repeat: int) -> None:
        np.testing.assert_array_equal([1], [2])

    with pytest.raises(AssertionError):
        main({"wrong": wrong}, "", [])


@pytest.mark.long
def test_missing_command_is_said_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(startup, "FLOORS", {"nothing": [sys.executable, "-c", "pass"]})
    monkeypatch.setattr(startup, "COMMANDS", (startup.Command("oblique --help", "< 0.4"),))
    monkeypatch.setattr(startup, "program", lambda: [sys.executable, "-c", "raise SystemExit('no such command')"])
    startup.run(Report("startup"), 1)
    assert capsys.readouterr().out.endswith(
        "claim: oblique --help; target < 0.4 s; not measured: the command does not work here (no such command)\n"
    )
    monkeypatch.setattr(startup, "program", lambda: None)
    startup.run(Report("startup"), 1)
    assert "not measured: there is no oblique beside this Python; install the package first" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["growht"], ["--repeat", "0"]])
def test_wrong_arguments_are_refused_in_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    both = {"growth": lambda report, repeat: None, "memory": lambda report, repeat: None}
    with pytest.raises(SystemExit) as stop:
        main(both, "", arguments)
    assert stop.value.code == 2
    message = capsys.readouterr().err.splitlines()[-1]
    assert message.endswith(
        ("unknown benchmark 'growht'; there are growth, memory", "--repeat must be at least 1. Got 0.")
    )


def test_inputs_are_the_same_every_time() -> None:
    X, y = letter(50)
    assert X.shape == (50, 16) and len(y) == 50
    for again, first in zip(synthetic(60), synthetic(60), strict=True):
        np.testing.assert_array_equal(again, first)


def test_naive_pruning_path_by_hand() -> None:
    # Root 3 + 3 splits into a pure leaf of 2 and a node 1 + 3 that splits cleanly: errors 3/6, then 1/6, then 0.
    X = np.array([[0.0], [1.0], [4.0], [5.0], [6.0], [9.0]])
    y = np.array([0, 0, 1, 1, 1, 0], dtype=np.int32)
    tree = tree_of(grow(X, y, "axis_parallel", criterion="gini"))
    alphas, sizes = naive_path(tree)
    assert tree.n_leaves == 3
    # Collapsing the inner node costs 1/6 for one leaf, and the root then 2/6 for one leaf; at first it is 3/6 for two.
    np.testing.assert_allclose(alphas, [-np.inf, 1 / 6, 2 / 6])
    assert sizes == [3, 2, 1]


def test_plain_numpy_search_finds_the_obvious_cut() -> None:
    X = np.array([[0.0, 5.0], [1.0, 1.0], [2.0, 4.0], [3.0, 2.0]])
    y = np.array([0, 0, 1, 1], dtype=np.int32)
    np.testing.assert_array_equal(numpy_best_gini(X, y, np.eye(2)), [2.0, 0.0])
