"""A digest of every algorithm's fitted models, to compare two versions of the code: the same line is the same model.

    python -m benchmarks.fingerprints > before.csv   # then with the other version to after.csv, and diff both

A line names algorithm, data set, parameters and seed, and ends in the SHA-256 of all arrays of the fitted model and of
what it predicts. Digests are those of one machine and one set of libraries; compare runs of the same.

    python -m benchmarks.fingerprints --outcomes

prints what a table shows of a model instead, which linear algebra of another processor should not change: its size and
a digest of the labels it predicts (of a regression the predictions, to six digits).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import itertools
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from oblique_cli import ALGORITHMS, make
from oblique_cli.estimators.algorithms import task_of

DATASETS = Path(__file__).parent.parent / "datasets"
QUANTITATIVE = ("iris", "bupa", "wine", "glass", "balance_scale", "vowel")
REGRESSION = ("auto_mpg", "boston_housing", "tecator_215")
ROWS = 240  # of each set, evenly spread
SEEDS = (0, 1)
# Parameters beside the defaults, for the algorithms that have them.
VARIATIONS: tuple[Mapping[str, Any], ...] = (
    {"criterion": "gini"},
    {"criterion": "entropy", "ties": "strict"},
    {"pruning": "cv"},
    {"pruning": "cost_complexity"},
    {"pruning": "reduced_error", "min_leaf": 3},
    {"engine": "reference"},
    {"class_weight": "balanced"},
    {"sign": "positive"},
    {"reflections": "both"},
    {"epsilon": 0.2},
    {"tau": 0.3},
)


def numbers(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and target of a bundled set of numbers; the target is the last column."""
    plain = DATASETS / f"{name}.csv"
    text = plain.read_text() if plain.exists() else gzip.decompress((DATASETS / f"{name}.csv.gz").read_bytes()).decode()
    rows = list(csv.reader(text.splitlines()))[1:]
    rows = [rows[i] for i in np.linspace(0, len(rows) - 1, min(ROWS, len(rows))).astype(int)]
    return np.array([[float(cell or 0.0) for cell in row[:-1]] for row in rows]), np.array([row[-1] for row in rows])


def arrays(thing: Any, seen: dict[int, Any]) -> Iterator[np.ndarray]:
    """Every array that can be reached from `thing`. seen : visited objects, kept alive so that no id comes twice"""
    if isinstance(thing, np.ndarray):
        yield thing
        return
    if id(thing) in seen or isinstance(thing, str | bytes | type) or callable(thing):
        return
    seen[id(thing)] = thing
    if isinstance(thing, Mapping):
        for key in thing:
            yield from arrays(thing[key], seen)
    elif isinstance(thing, list | tuple):
        for item in thing:
            yield from arrays(item, seen)
    elif hasattr(thing, "state"):  # a compiled forest
        yield from arrays(thing.state(), seen)
    elif hasattr(thing, "__dict__"):
        yield from arrays(vars(thing), seen)


def digest(model: Any, X: np.ndarray) -> str:
    """SHA-256 of the model's arrays, whatever their names and order, and of its predictions."""
    parts = []
    answers = [getattr(model, name)(X) for name in ("predict", "predict_proba") if hasattr(model, name)]
    # What is kept of the training rows beside the model is not part of it.
    fitted = {name: value for name, value in vars(model).items() if name not in ("_ranges", "_spreads")}
    for array in [*arrays(fitted, {}), *answers]:
        a = np.asarray(array)
        data = repr(a.tolist()).encode() if a.dtype.kind in "OU" else np.ascontiguousarray(a).tobytes()
        parts.append(hashlib.sha256(f"{a.shape} ".encode() + data).digest())
    return hashlib.sha256(b"".join(sorted(parts))).hexdigest()


def outcome(model: Any, X: np.ndarray) -> str:
    """Leaves, where the model counts them, and SHA-256 of its predictions."""
    answers = model.predict(X)
    if answers.dtype.kind == "f":
        answers = [f"{answer:.6g}" for answer in answers]
    leaves = model.get_n_leaves() if hasattr(model, "get_n_leaves") else ""
    return f"{leaves} {hashlib.sha256(repr(list(map(str, answers))).encode()).hexdigest()[:16]}"


def fits() -> Iterator[tuple[str, str, Mapping[str, Any], int]]:
    """What is fitted: (algorithm, data set, parameters, seed)."""
    for name in sorted(ALGORITHMS):
        algorithm = ALGORITHMS[name]
        names = REGRESSION if task_of(name) == "regression" else QUANTITATIVE
        for dataset in names:
            yield name, dataset, {}, 0
        for seed in SEEDS[1:]:
            yield name, names[1], {}, seed
        for variation in VARIATIONS:
            known = {*algorithm.parameters, *(alias.name for alias in algorithm.aliases.values())}
            if set(variation) <= known and not (variation.get("engine") == "reference" and not algorithm.compiled):
                yield name, names[2], variation, 0


def main() -> int:
    """Print a line a fit."""
    parser = argparse.ArgumentParser(description="A digest of every algorithm's fitted models.")
    parser.add_argument("--outcomes", action="store_true", help="sizes and predictions instead of all bits")
    parser.add_argument("--every", type=int, default=1, help="only every so-manieth fit")
    arguments = parser.parse_args()
    summary = outcome if arguments.outcomes else digest
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("algorithm", "dataset", "parameters", "seed", "digest"))
    for name, dataset, parameters, seed in itertools.islice(fits(), 0, None, arguments.every):
        X, y = numbers(dataset)
        target = y.astype(float) if dataset in REGRESSION else y
        try:
            result = summary(make(name, random_state=seed, **parameters).fit(X, target), X)
        except ValueError as error:  # what an algorithm refuses is part of what it does
            result = f"refused: {error}"
        out.writerow((name, dataset, " ".join(f"{k}={v}" for k, v in parameters.items()), seed, result))
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
