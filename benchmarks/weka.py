"""Logistic model trees beside those of WEKA, whose authors are those of the paper: accuracy, leaves, equal halves.

Needs java and WEKA's archive, from Debian's packages default-jre-headless and weka, or where WEKA_JAR says; without
them the table says what is missing. Nominal columns are levels on both sides. WEKA divides them many ways, ours in two,
so that leaves are compared on numbers alone.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import Report, main
from oblique_cli import data, make, schemes
from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import DataError
from oblique_cli.estimators.outside.weka_classifier import archive, write_arff
from oblique_cli.estimators.outside.weka_classifier import run as weka
from oblique_cli.ground.nouns import CVSpec, DatasetSpec

SETS = ("iris", "bupa", "vehicle", "image_segmentation", "phoneme", "magic_balanced", "car", "tic_tac_toe")
THEIRS = {"WEKA's LMT": "weka.classifiers.trees.LMT", "WEKA's Logistic": "weka.classifiers.functions.Logistic"}
OURS = {"lmt": {}, "logistic_tree": {}}
SEED = 20260401


def theirs(name: str, dataset: Dataset, train: NDArray[Any], test: NDArray[Any]) -> tuple[float, int]:
    """Return accuracy on the test rows in %, and leaves (1 for a model that is no tree). RuntimeError if WEKA fails."""
    levels = {j: len(names) for j, names in dataset.levels.items()}
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "train.arff"), Path(folder, "test.arff")
        for path, rows in zip(paths, (train, test), strict=True):
            write_arff(path, dataset.X[rows], dataset.y[rows], len(dataset.classes), levels)
        said = weka(name, ["-t", paths[0], "-T", paths[1]])
    found = re.findall(r"Correctly Classified Instances\s+\d+\s+([\d.]+)", said)
    leaves = re.search(r"Number of Leaves\s*:\s*(\d+)", said)
    return float(found[-1]), int(leaves.group(1)) if leaves else 1


def ours(name: str, dataset: Dataset, train: NDArray[Any], test: NDArray[Any]) -> tuple[float, int]:
    """Return accuracy on the test rows in %, and leaves."""
    model = make(name, random_state=SEED).set_params(qualitative=list(dataset.qualitative) or None)
    model.fit(dataset.X[train], dataset.y[train])
    return 100.0 * float(model.score(dataset.X[test], dataset.y[test])), int(model.n_leaves_)


def averaged(found: Sequence[tuple[float, int]]) -> str:
    """Return mean accuracy and mean leaves as one cell."""
    accuracy, leaves = np.mean(found, axis=0)
    return f"{accuracy:.1f} / {leaves:.1f}"


def run(report: Report, repeat: int) -> None:
    """Two halves of every set, each once for training and once for testing. repeat : not used"""
    _, missing = archive()
    table = []
    for name in SETS[:2] if report.quick else SETS:
        try:
            dataset = data.load(DatasetSpec(name, encoding="ordinal"))
        except DataError as error:  # not bundled and not at hand
            table.append({"data": name, "lmt": str(error)})
            continue
        places = schemes.repetition(dataset, CVSpec(folds=2, repeats=1, stratified=True), SEED, 0)
        row: dict[str, float | int | str | bool] = {"data": name}
        for label in OURS:
            row[label] = averaged([ours(label, dataset, place.train, place.test) for place in places])
        if not missing:
            for label, theirs_is in THEIRS.items():
                row[label] = averaged([theirs(theirs_is, dataset, one.train, one.test) for one in places])
        else:
            row["WEKA"] = f"left out, {missing}"
        table.append(row)
    report.table("accuracy in % / leaves, means over two halves", table)


if __name__ == "__main__":
    sys.exit(main({"weka": run}, __doc__ or ""))
