"""Classifiers of WEKA (java) with the methods of a scikit-learn classifier; each call starts a java process.

Only labels are read: WEKA 3.6 prints probabilities with three decimals.

Needs java and WEKA's archive: Debian's packages default-jre-headless and weka, or a path in WEKA_JAR. WEKA has the GNU
General Public License; it is run by its command line, and no part of it is in this package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.outside.process import leave_with
from oblique_cli.estimators.outside.sizes import Sizes

ARCHIVE = "/usr/share/java/weka.jar"


def archive() -> tuple[str, str]:
    """Return the archive of WEKA and "", or "" and the name of the missing part."""
    place = os.environ.get("WEKA_JAR", ARCHIVE)
    if shutil.which("java") is None:
        return "", "there is no java (Debian: default-jre-headless)"
    if not Path(place).is_file():
        return "", f"there is no {place} (Debian: weka)"
    return place, ""


def class_of(path: str) -> type[WekaClassifier]:
    """Return the class for a classifier of WEKA by its name in java. ConfigError without java or WEKA."""
    _, missing = archive()
    if missing:
        raise ConfigError(f"class {path}: {missing}")
    return type(path.rpartition(".")[2], (WekaClassifier,), {"java_class": path, "__module__": path.rpartition(".")[0]})


class WekaClassifier:
    """WEKA classifier for arrays of numbers with labels 0 to k - 1; text_ : the model as printed by WEKA.

    options : arguments after the class name on WEKA's command line"""

    java_class: ClassVar[str]

    def __init__(self, options: str = "") -> None:
        self.options = options

    def fit(self, X: np.ndarray, y: np.ndarray) -> WekaClassifier:
        """Train on rows (n, p) and labels (n,). RuntimeError if WEKA fails."""
        self.n_classes_ = int(y.max()) + 1
        with tempfile.TemporaryDirectory() as folder:
            train, model = Path(folder, "train.arff"), Path(folder, "model")
            write_arff(train, X, y, self.n_classes_)
            self.text_ = run(self.java_class, ["-t", train, "-d", model, "-no-cv", "-v", *self.options.split()])
            self.model_ = model.read_bytes()
        sizes = sizes_of_text(self.text_, self.n_classes_)
        self.n_leaves_, self.n_nodes_, self.depth_, self.n_terms_ = sizes
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return labels (n,). RuntimeError if WEKA fails."""
        with tempfile.TemporaryDirectory() as folder:
            test, model = Path(folder, "test.arff"), Path(folder, "model")
            write_arff(test, X, np.zeros(len(X), dtype=np.int64), self.n_classes_)
            model.write_bytes(self.model_)
            output = run(self.java_class, ["-T", test, "-l", model, "-p", 0])
        # inst#, actual, predicted, error, prediction: "    1      1:c0       2:c1   +   0.812"
        labels = re.findall(r"^\s*\d+\s+\S+:c\d+\s+\d+:c(\d+)", output, re.MULTILINE)
        if len(labels) != len(X):
            raise RuntimeError(f"WEKA predicted {len(labels)} of {len(X)} rows")
        return np.array(labels, dtype=np.int64)


def run(java_class: str, arguments: Sequence[Any]) -> str:
    """Return the output of a WEKA class. RuntimeError if WEKA is missing or fails."""
    place, missing = archive()
    if missing:
        raise RuntimeError(missing)
    java = ["java", "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", place, java_class]
    parent = os.getpid()  # the new process ends with this one, if the system supports it
    leave = (lambda: leave_with(parent)) if os.name == "posix" else None
    done = subprocess.run([*java, *map(str, arguments)], capture_output=True, text=True, check=False, preexec_fn=leave)
    if done.returncode or not done.stdout.strip():
        raise RuntimeError(f"WEKA said: {(done.stderr or done.stdout).strip()[:300]}")
    return done.stdout


def write_arff(
    path: Path, X: np.ndarray, y: np.ndarray, n_classes: int, levels: Mapping[int, int] | None = None
) -> None:
    """Write rows (n, p) for WEKA: NaN is missing, y (n,) a code, or a number if n_classes is 0; levels : column of
    codes -> number of its levels"""
    levels = levels or {}

    def cell(j: int, value: float) -> str:
        return "?" if np.isnan(value) else f"l{int(value)}" if j in levels else repr(float(value))

    with path.open("w") as file:
        file.write("@relation rows\n")
        for j in range(X.shape[1]):
            named = ",".join(f"l{code}" for code in range(levels.get(j, 0)))
            file.write(f"@attribute f{j} {f'{{{named}}}' if j in levels else 'numeric'}\n")
        classes = f"{{{','.join(f'c{k}' for k in range(n_classes))}}}" if n_classes else "numeric"
        file.write(f"@attribute class {classes}\n@data\n")
        for row, target in zip(X, y, strict=True):
            last = f"c{target}" if n_classes else repr(float(target))
            file.write(",".join([*(cell(j, value) for j, value in enumerate(row)), last]) + "\n")


def sizes_of_text(text: str, n_classes: int) -> Sizes:
    """Return the sizes of a model from WEKA's output: lines `[f3] * 1.5` for coefficients of a class in a leaf, or a
    line per column of a logistic model. Of two classes the first is counted: the second has its negatives."""
    leaves = re.search(r"Number of Leaves\s*:\s*(\d+)", text)
    if leaves:
        number, size = int(leaves.group(1)), re.search(r"Size of the Tree\s*:\s*(\d+)", text)
        coefficients = len(re.findall(r"^.*\[\S+\] \* \S+", text, re.MULTILINE)) // (2 if n_classes == 2 else 1)
        paths = [line.count("|   ") + 1 for line in text.splitlines() if re.search(r": LM_\d+:", line)]
        nodes = int(size.group(1)) if size else 2 * number - 1
        return Sizes(number, nodes, max(paths, default=0) if number > 1 else 0, nodes + coefficients)
    table = re.search(r"Coefficients\.\.\..*?=====\n(.*?)\nIntercept", text, re.DOTALL)
    if table:
        values = [float(cell) for line in table.group(1).splitlines() for cell in line.split()[1:]]
        return Sizes(0, 0, 0, 1 + int(np.count_nonzero(values)))
    return Sizes(0, 0, 0, 0)
