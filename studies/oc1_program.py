"""The program OC1, version 3, beside our trees of variant "oc1_v3", on the folds of Table 3.1 of the thesis.

    python -m studies.oc1_program PROGRAM [SETS ...]

PROGRAM is `mktree`, built by its makefile with -std=gnu89 -fcommon and IMPURITY twoing() in oc1.h: the first sources of
github.com/AndriyMulyar/sklearn-oblique-tree, with the header of the commit after them. Its licence allows
non-commercial use; nothing of it is part of this package.

accuracy, leaves, depth    means over five folds, grown and pruned on the same rows
same, of                   unpruned trees with one start and no random directions: splits that divide the rows of a node
                           as the program's do, of those that both trees reach by such splits; under "program" a second
                           run of the program under another seed, which decides between equal cuts
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from oblique_cli import config
from oblique_cli.data import load
from oblique_cli.estimators.algorithms import make
from oblique_cli.ground.arrays import Array
from oblique_cli.schemes import folds

SETS = ("balance_scale", "banknote", "breast_cancer_wisconsin", "bupa", "glass", "haberman", "pima", "seeds",
        "statlog_heart", "wine")  # fmt: skip
FLAGS: Mapping[str, tuple[str, ...]] = {"oc1": (), "oc1_lc": ("-K",), "oc1_ap": ("-a",)}
COLUMNS = ("accuracy", "leaves", "depth", "same", "of")
HEADER = ("dataset", "algorithm", *(f"{who} {column}" for column in COLUMNS for who in ("program", "ours")))
Splits = dict[str, tuple[tuple[int, ...], tuple[int, ...]]]  # turns from the root -> class counts left and right


def shuffled(n: int, seed: int) -> list[int]:
    """Return the order in which the program uses n rows of a file: it swaps each with one that drand48 draws."""
    order, state = list(range(n)), (seed << 16) + 0x330E
    for i in range(n):
        state = (0x5DEECE66D * state + 0xB) % 2**48
        other = int(np.float32(1.0 + state / 2**48 * (n - 1))) - 1
        order[i], order[other] = order[other], order[i]
    return order


def run(program: str, flags: tuple[str, ...], X: Array, y: Array, test: Array, n_pruning: int, seed: int) -> Any:
    """Return accuracy, leaves, depth and splits of the program's tree. X, y : all rows, those for pruning behind those
    for growth; test : row numbers, the last of all"""
    train = np.setdiff1d(np.arange(len(y)), test)
    with tempfile.TemporaryDirectory() as folder:
        places = np.empty(len(train), dtype=int)
        places[shuffled(len(train), seed)] = train
        for name, rows in (("train", places), ("test", test)):
            lines = (" ".join(map(repr, X[row].tolist())) + f" {y[row] + 1}\n" for row in rows)
            Path(folder, name).write_text("".join(lines), encoding="ascii")
        sizes = ("-c", str(int(y.max()) + 1), "-d", str(X.shape[1]), "-s", str(seed))
        share = str((n_pruning + 0.5) / len(train) if n_pruning else 0)
        command = (program, *sizes, "-p", share, *flags, "-t", "train", "-T", "test", "-D", "tree")
        output = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
        tree = Path(folder, "tree").read_text("ascii")
    shape = re.findall(r"accuracy = (\S+)\s+#leaves = (\S+)\s+max depth = (\S+)", output)[0]
    nodes = re.findall(r"(\w+) Hyperplane: Left = \[(.*)\], Right = \[(.*)\]", tree)
    sides = {turns: (counts(left), counts(right)) for turns, left, right in nodes}
    return *map(float, shape), {"" if turns == "Root" else turns: both for turns, both in sides.items()}


def counts(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def splits_of(tree: Any, node: int = 0, turns: str = "") -> Splits:
    """Return the splits of one of our trees."""
    if tree.left[node] < 0:
        return {}
    below = {side: int(getattr(tree, side)[node]) for side in ("left", "right")}
    here: Splits = {turns: tuple(tuple(tree.counts[child].astype(int).tolist()) for child in below.values())}  # type: ignore[dict-item]
    return here | splits_of(tree, below["left"], turns + "l") | splits_of(tree, below["right"], turns + "r")


def same(a: Splits, b: Splits, in_a: str = "", in_b: str = "") -> np.ndarray:
    """Return the number of splits of equal class counts, and of places that both trees reach by such splits."""
    if in_a not in a and in_b not in b:
        return np.zeros(2, dtype=int)
    if in_a not in a or in_b not in b or set(a[in_a]) != set(b[in_b]):
        return np.array([0, 1])
    turns = "lr" if a[in_a] == b[in_b] else "rl"
    below = (same(a, b, in_a + side, in_b + turn) for side, turn in zip("lr", turns, strict=True))
    return np.array([1, 1]) + sum(below)


def compared(program: str, dataset: str, algorithm: str) -> list[str]:
    """Return the row of one data set and algorithm."""
    experiment = config.load("reproduce/chapter3")
    data, spec = load(dataset), next(spec for spec in experiment.algorithms if spec.id == algorithm)
    params = spec.params | {"min_parent": 3}  # as compiled
    params.pop("pruning_fraction", None)
    start, only_start = ({"restarts": 1, "jumps": 0}, ("-r", "1", "-j", "0")) if algorithm == "oc1" else ({}, ())
    measured = []
    for seed, fold in enumerate(folds(data, replace(experiment.cv, repeats=1), experiment.seed), start=1):
        order = np.concatenate([np.setdiff1d(fold.train, fold.pruning), fold.pruning, fold.test])
        X, y = data.X[order], np.unique(data.y, return_inverse=True)[1][order]
        n, held_out = len(fold.train), np.arange(len(fold.train) - len(fold.pruning), len(fold.train))
        rows = (X, y, np.arange(n, len(y)))
        tree = make(algorithm, **params, random_state=seed).fit(X[:n], y[:n], pruning_rows=held_out)
        grown = make(algorithm, **params | start | {"pruning": "none"}, random_state=seed).fit(X[:n], y[:n])
        theirs = run(program, FLAGS[algorithm], *rows, len(held_out), seed)[:3]
        plain, again = (run(program, FLAGS[algorithm] + only_start, *rows, 0, s)[3] for s in (seed, seed + 100))
        ours = (100.0 * tree.score(X[n:], y[n:]), tree.n_leaves_, tree.depth_, *same(plain, splits_of(grown.tree_)))
        measured.append([value for pair in zip((*theirs, *same(plain, again)), ours, strict=True) for value in pair])
    columns = list(zip(*measured, strict=True))
    return [dataset, algorithm, *(f"{fmean(column):.2f}" for column in columns[:6]), *map(str, map(sum, columns[6:]))]


def main(program: str, *sets: str) -> None:
    """Store the table as results/oc1_program.csv, or print the rows of given sets."""
    path = str(Path(program).resolve())
    with nullcontext(sys.stdout) if sets else Path("results", "oc1_program.csv").open("w", 1, "utf-8") as stream:
        rows = (compared(path, name, algorithm) for name in sets or SETS for algorithm in FLAGS)
        csv.writer(stream, lineterminator="\n").writerows(chain([HEADER], rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
