"""Logistic model trees beside those of WEKA, whose authors are those of the paper: accuracy, leaves, equal halves.

Needs java and WEKA's archive, from Debian's packages default-jre-headless and weka, or where WEKA_JAR says; without
them the table says what is missing. Nominal columns are levels on both sides. WEKA divides them many ways, ours in two,
so that leaves are compared on numbers alone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
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
from oblique_cli.ground.nouns import CVSpec, DatasetSpec

SETS = ("iris", "bupa", "vehicle", "image_segmentation", "phoneme", "magic_balanced", "car", "tic_tac_toe")
THEIRS = {"WEKA's LMT": "weka.classifiers.trees.LMT", "WEKA's Logistic": "weka.classifiers.functions.Logistic"}
OURS = {"lmt": {}, "logistic_tree": {}}
SEED = 20260401
ARCHIVE = "/usr/share/java/weka.jar"


def weka() -> tuple[str, str]:
    """Return the archive of WEKA and "", or "" and what is missing."""
    archive = os.environ.get("WEKA_JAR", ARCHIVE)
    if shutil.which("java") is None:
        return "", "left out, there is no java (Debian: default-jre-headless)"
    if not Path(archive).is_file():
        return "", f"left out, there is no {archive} (Debian: weka)"
    return archive, ""


def write_arff(path: Path, dataset: Dataset, rows: NDArray[Any]) -> None:
    """Write rows of a data set as WEKA reads them."""

    def cell(j: int, value: float) -> str:
        return "?" if np.isnan(value) else f"l{int(value)}" if j in dataset.levels else repr(float(value))

    with path.open("w") as file:
        file.write("@relation rows\n")
        for j in range(dataset.p):
            levels = ",".join(f"l{code}" for code in range(len(dataset.levels.get(j, ()))))
            file.write(f"@attribute f{j} {f'{{{levels}}}' if levels else 'numeric'}\n")
        file.write(f"@attribute class {{{','.join(f'c{k}' for k in range(len(dataset.classes)))}}}\n@data\n")
        for row in rows.tolist():
            cells = [cell(j, value) for j, value in enumerate(dataset.X[row])]
            file.write(",".join([*cells, f"c{dataset.y[row]}"]) + "\n")


def theirs(archive: str, name: str, dataset: Dataset, train: NDArray[Any], test: NDArray[Any]) -> tuple[float, int]:
    """Return accuracy on the test rows in %, and leaves (1 for a model that is no tree). RuntimeError if WEKA fails."""
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder, "train.arff"), Path(folder, "test.arff")
        for path, rows in zip(paths, (train, test), strict=True):
            write_arff(path, dataset, rows)
        command = ["java", "-cp", archive, name, "-t", str(paths[0]), "-T", str(paths[1])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.findall(r"Correctly Classified Instances\s+\d+\s+([\d.]+)", done.stdout)
    if not found:
        raise RuntimeError(f"WEKA said: {(done.stderr or done.stdout)[:300]}")
    leaves = re.search(r"Number of Leaves\s*:\s*(\d+)", done.stdout)
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
    archive, missing = weka()
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
        if archive:
            for label, theirs_is in THEIRS.items():
                row[label] = averaged([theirs(archive, theirs_is, dataset, one.train, one.test) for one in places])
        else:
            row["WEKA"] = missing
        table.append(row)
    report.table("accuracy in % / leaves, means over two halves", table)


if __name__ == "__main__":
    sys.exit(main({"weka": run}, __doc__ or ""))
