"""Labels that nothing predicts: no choice of a parameter has seen a test row, so no estimate is above chance.

A pipeline that leaks (features chosen on all rows, test rows included) is far above it, so the test can fail.
"""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from robustness_support import many

pytestmark = pytest.mark.long

ROWS, FEATURES, USED = 100, 2000, 20
# Of a hundred rows, 65.0 % is three standard deviations above one half.
CHANCE = 65.0
CONFIG = """\
version: 1
dataset: {csv: FILE, target: label, name: noise}
algorithms:
  - {name: axis_parallel, min_samples_leaf: {grid: [1, 5, 20]}}
  - {name: fdt, min_samples_leaf: {grid: [1, 5, 20]}}
cv: {scheme: nested, folds: 5, repeats: 3, tune: {folds: 3}}
"""


def noise() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(18)
    return rng.normal(size=(ROWS, FEATURES)), rng.permutation(np.arange(ROWS) % 2)


def write(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    names = ",".join(f"x{j}" for j in range(X.shape[1]))
    lines = (",".join(map(repr, map(float, row))) + f",{'ab'[label]}" for row, label in zip(X, y, strict=True))
    path.write_text("\n".join([f"{names},label", *lines, ""]))


def accuracies(call, file: str) -> list[float]:
    (call.folder / "noise.yaml").write_text(CONFIG.replace("FILE", file))
    ended = call("run", "noise.yaml", "--fresh", "--quiet", "--format", "csv")
    assert ended.code == 0, ended.err
    return [float(line["accuracy_mean"]) for line in csv.DictReader(io.StringIO(ended.out))]


def chosen(X: np.ndarray, y: np.ndarray, n: int) -> np.ndarray:
    """The n columns that go best with the labels."""
    strength = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())) / X.std(axis=0)
    return X[:, np.argsort(-strength)[:n]]


def test_nested_cross_validation_of_noise_stays_at_chance_and_a_leak_does_not(call):
    X, y = noise()
    write(call.folder / "honest.csv", X[:, :USED], y)
    write(call.folder / "leaking.csv", chosen(X, y, USED), y)
    honest, leaking = accuracies(call, "honest.csv"), accuracies(call, "leaking.csv")
    print(f"honest {honest}, leaking {leaking}")
    assert max(honest) < CHANCE
    assert max(leaking) > CHANCE + 10, "the detector can fire"


@pytest.mark.parametrize("how", [("fdt", "--tune"), ("auto",)][: many(1, 2)], ids=" ".join)
def test_what_fit_says_to_expect_of_noise_is_chance(call, how):
    X, y = noise()
    for name, columns in (("honest", X[:, :USED]), ("leaking", chosen(X, y, USED))):
        write(call.folder / f"{name}.csv", columns, y)
        ended = call("fit", f"{name}.csv", "--target", "label", "--algorithm", *how, "--folds", "3", "--format", "json")
        assert ended.code == 0, ended.err
        value = 100 * json.loads(ended.out)["estimate"]["accuracy"]
        print(f"{name} {value}")
        assert value < CHANCE or name == "leaking"
    assert value > CHANCE + 10, "the detector can fire"
