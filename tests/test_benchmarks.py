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

# The targets that each script judges its claims by, in their order; None for a number that is only reported.
TARGETS: dict[str, list[str | None]] = {
    "growth": ["<= 1.5", "<= 2.5", "<= 2.5", "<= 12", "<= 12", None, None, "<= 1.5", None, None, ">= 15", ">= 15"],
    "waits": ["<= 3", "<= 1", "<= 0.7", None, "<= 20", None, "<= 1", "<= 1", "<= 1", "<= 1", "< 0.6", "<= 7"],
    "refinement": ["< 60", "< 30", "<= 10", None, "<= 10", None],
    "around": [None] * 14,
    "forests": ["<= 1.5", "<= 1", "<= 1", "<= 1", "<= 1", "<= 1", None, None, "<= 1.5", ">= 3"],
    "models": ["< 1", "< 1", "< 1", "< 0.5", "< 1.2"],
    "pruning": ["> 1"] * 4,
    "memory": ["< 100.2", None],
    "startup": ["< 0.4", "< 4", "< 10"],
}


@pytest.mark.long
@pytest.mark.parametrize("name", TARGETS)
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
    assert [claim["target"] for claim in numbers["claims"]] == TARGETS[name]
    for line, claim in zip(lines, numbers["claims"], strict=True):
        assert line.startswith(f"claim: {claim['claim']}; ")
        if claim["verdict"].startswith("not measured"):
            assert name in ("startup", "forests", "waits") and re.search("; not measured: (the|aeon|xgboost) ", line)
        else:
            # A quick run may measure noise, even a difference below 0. That it is a number is what a test can ask.
            assert math.isfinite(claim["least"]) and math.isfinite(claim["median"])
            assert "; measured " in line
            assert claim["verdict"] == ("reported" if claim["target"] is None else "not judged (quick size)")


@pytest.mark.long
@pytest.mark.parametrize("module", ["benchmarks", "benchmarks.refinement"])
def test_benchmarks_run_from_the_shell_together_and_alone(module: str) -> None:
    done = subprocess.run([sys.executable, "-m", module, "--help"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert ("waits" in done.stdout.partition("options:")[0]) == (module == "benchmarks")


def test_every_script_is_run_by_the_whole_and_explained_in_the_readme() -> None:
    readme = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    scripts = {
        path.stem for path in (ROOT / "benchmarks").glob("*.py") if 'main({"' in path.read_text(encoding="utf-8")
    }
    assert scripts == set(BENCHMARKS) == set(TARGETS)
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
