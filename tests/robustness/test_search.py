"""A random search: any algorithm on any shape of table, from a CSV file to predictions.

A case has a number, which is its seed. It must end with an answer or with one sentence: a death, work without end,
a traceback, "a bug in oblique" or a model that cannot be read is a finding. `findings` tries a single number again.
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from cli_support import Ended, Forking
from robustness_support import DISCRETE, NAMES, REGRESSION, many, small_parameters

MOST_CPU_SECONDS = 60
MOST_BYTES = 4 << 30
BLOCK = 8  # cases of one test
FITS = 16

# Processor time: other work on the machine must not decide.
LIMITS = (
    f"import resource; resource.setrlimit(resource.RLIMIT_CPU, ({MOST_CPU_SECONDS}, {MOST_CPU_SECONDS})); "
    f"resource.setrlimit(resource.RLIMIT_AS, ({MOST_BYTES}, {MOST_BYTES}))"
)

Rng = np.random.Generator
Change = Callable[[Rng, np.ndarray], None]


# ---- tables ----------------------------------------------------------------------------------------------------------


def equal_rows(rng: Rng, X: np.ndarray) -> None:
    X[:] = X[rng.integers(0, max(1, len(X) // 4), len(X))]


def nearly_all_zero(rng: Rng, X: np.ndarray) -> None:
    X[rng.random(X.shape) < 0.95] = 0.0


def subnormal_columns(rng: Rng, X: np.ndarray) -> None:
    X[:, rng.random(X.shape[1]) < 0.4] *= 5e-320


def columns_of_1e300(rng: Rng, X: np.ndarray) -> None:
    X[:, rng.random(X.shape[1]) < 0.4] *= 1e300


def constant_columns(rng: Rng, X: np.ndarray) -> None:
    X[:, rng.random(X.shape[1]) < 0.5] = rng.normal()


def ties(rng: Rng, X: np.ndarray) -> None:
    np.floor(X, out=X)


def far_from_zero(rng: Rng, X: np.ndarray) -> None:
    X += 10.0 ** rng.integers(3, 15)


def copied_columns(rng: Rng, X: np.ndarray) -> None:
    X[:] = X[:, rng.integers(0, max(1, X.shape[1] // 2), X.shape[1])]


def gaps(rng: Rng, X: np.ndarray) -> None:
    X[rng.random(X.shape) < 0.1] = np.nan


CHANGES: tuple[Change, ...] = (
    equal_rows,
    nearly_all_zero,
    subnormal_columns,
    columns_of_1e300,
    constant_columns,
    ties,
    far_from_zero,
    copied_columns,
    gaps,
)


@dataclass(frozen=True)
class Case:
    """A table and an algorithm. what : of which changes the table is made"""

    number: int
    algorithm: str
    X: np.ndarray
    y: list[str]
    what: str

    def __str__(self) -> str:
        return f"case {self.number}: {self.algorithm}, {self.X.shape[0]} x {self.X.shape[1]}, {self.what}"


def case(number: int) -> Case:
    """The case of a number, the same whenever it is made."""
    rng = np.random.default_rng(number)
    name = NAMES[int(rng.integers(len(NAMES)))]
    n = int(rng.choice((4, 6, 9, 15, 40, 90)))
    p = int(rng.choice((1, 2, 3, 5, 12, 70, 130)))
    X = rng.normal(size=(n, p))
    if name in DISCRETE:
        X = np.floor(3 * rng.uniform(size=(n, p)))
    chosen = [one for one in CHANGES if rng.random() < 0.2] or [CHANGES[int(rng.integers(len(CHANGES)))]]
    for change in chosen:
        change(rng, X)
    if name in REGRESSION:
        values = rng.normal(size=n) * 10.0 ** rng.choice((-300, 0, 0, 0, 0, 90))
        return Case(number, name, X, [repr(float(one)) for one in values], _listed(chosen))
    kind = ("two", "rare", "many", "more than half as many as rows")[int(rng.integers(4))]
    codes = {
        "two": rng.integers(0, 2, n),
        "rare": (np.arange(n) < 2).astype(int) + (np.arange(n) < 1),
        "many": rng.integers(0, 6, n),
        "more than half as many as rows": np.arange(n) % (n // 2 + 1),
    }[kind]
    return Case(number, name, X, [f"c{code}" for code in codes], f"{_listed(chosen)}, classes: {kind}")


def _listed(chosen: list[Change]) -> str:
    return ", ".join(one.__name__ for one in chosen)


def written(path: Path, X: np.ndarray, y: list[str] | None) -> None:
    """Write a table, every number in full, nothing for a gap; the writer puts the only cell of a line in quotes."""
    with open(path, "w", newline="") as stream:
        lines = csv.writer(stream)
        lines.writerow([f"x{j}" for j in range(X.shape[1])] + (["y"] if y else []))
        for i, row in enumerate(X):
            cells = ["" if np.isnan(one) else repr(float(one)) for one in row]
            lines.writerow(cells + ([y[i]] if y else []))


# ---- what happens to them --------------------------------------------------------------------------------------------


def fault(ended: Ended) -> str:
    """What is wrong with the end of a command, "" if nothing is."""
    if ended.code < 0:
        return f"died of signal {-ended.code}"
    if ended.code not in (0, 2, 3, 4, 5):
        return f"exit code {ended.code}: {ended.err[-300:]}"
    if "Traceback" in ended.err or "a bug in" in ended.err:
        return ended.err[-300:]
    if ended.code and ended.err.count("error: ") + ended.err.count("1 error.") != 1:
        return f"exit code {ended.code} without a sentence: {ended.err[-300:]}"
    return ""


def findings(forking: Forking, folder: Path, number: int) -> tuple[list[str], bool]:
    """What is wrong with a case, and whether a model was made."""
    one = case(number)
    written(folder / "rows.csv", one.X, one.y)
    written(folder / "new.csv", one.X, None)
    known = [f"--set={key}={value}" for key, value in small_parameters(one.algorithm).items()]
    if gaps.__name__ in one.what:
        known.append(f"--set=missing={('drop', 'impute', 'keep', 'error')[number % 4]}")
    task = "regression" if one.algorithm in REGRESSION else "classification"
    command = ("fit", "rows.csv", "--target", "y", "--task", task, "--keep", "*", "--algorithm", one.algorithm)
    model = folder / "model.json"
    ended = forking.oblique(folder, *command, "--folds", "2", "--output", "model.json", *known, first=LIMITS)
    if wrong := fault(ended):
        return [f"{one}, fit: {wrong}"], False
    if ended.code:
        return [], False
    found = []
    for reading in (("predict", "model.json", "new.csv"), ("tree", "model.json"), ("explain", "model.json", "new.csv")):
        ended = forking.oblique(folder, *reading, first=LIMITS)
        if wrong := fault(ended) or _unreadable(one, reading, ended):
            found.append(f"{one}, {reading[0]}: {wrong}")
    for file in folder.glob(f"{model.name}*"):
        file.unlink()
    return found, True


def _unreadable(one: Case, reading: tuple[str, ...], ended: Ended) -> str:
    """Whether predictions could not be made of the rows that a model was fitted to, and were not refused by a cell."""
    if reading[0] != "predict":
        return ""
    if ended.code:
        return ended.err if "model.json" in ended.err else ""
    answered = [line.rsplit(",", 1)[-1] for line in ended.out.splitlines()[1:]]
    if len(answered) != len(one.X):
        return f"{len(answered)} predictions of {len(one.X)} rows"
    if one.algorithm in REGRESSION:
        return "" if np.isfinite(np.array(answered, dtype=float)).all() else "predictions that are not finite"
    return "" if set(answered) <= {*one.y, "reject"} else f"labels that are none: {sorted(set(answered))[:5]}"


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, many(FITS, 4000), BLOCK))
def test_a_fit_from_a_file_to_predictions_ends_with_an_answer_or_a_sentence(forking, tmp_path, first):
    found, made = [], 0
    for number in range(first, first + BLOCK):
        wrong, was_made = findings(forking, tmp_path, number)
        found += wrong
        made += was_made
    print(f"{made} of {BLOCK} models made")
    assert not found, "\n".join(found)


def test_some_models_are_made_and_every_change_is_tried():
    cases = [case(number) for number in range(4000)]
    assert {one.algorithm for one in cases} == set(NAMES)
    assert all(any(change.__name__ in one.what for one in cases) for change in CHANGES)


# ---- the detectors can fire ------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_death_a_fault_of_the_program_and_work_without_end_are_findings(forking, tmp_path):
    for first, wrong in (
        ("import os, signal; os.kill(os.getpid(), signal.SIGFPE)", "died of signal 8"),
        (LIMITS.replace(f"{MOST_CPU_SECONDS}", "1") + "\ncall = lambda _: [0 for _ in iter(int, 1)]", "died of signal"),
        ("call = lambda _: 1 / 0", "exit code 1"),
        ("call = lambda _: 4", "without a sentence"),
    ):
        assert wrong in fault(forking.oblique(tmp_path, "list", "data", first=first))
    assert fault(forking.oblique(tmp_path, "list", "algorithms", first=LIMITS)) == ""
