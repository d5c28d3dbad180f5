"""What small trees cost, on small development sets of the field: splits of few features, few leaves, fewer terms after.

    python -m tools.small_trees           # writes results/small_trees/fits.csv

Two repetitions of halves, stratified, the same for all. Every tree is pruned by cross-validation inside its half, by
the rule of one standard error. `--sparse` is `oblique tree --sparse --tolerance 0.01`: terms are taken out of the tree
that is fitted, as long as 1 % of its training rows more or fewer are wrong.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from oblique_cli import make
from oblique_cli.data import catalogue
from oblique_cli.evaluation.metrics import n_terms
from oblique_cli.ground import seeds
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.papers.reproduction.studies.field import DEVELOPMENT, division
from oblique_cli.tree.sparse import simplified

ROOT = Path(__file__).resolve().parent.parent
STORED = ROOT / "results" / "small_trees" / "fits.csv"
SETS = (
    *("iris", "tae", "sonar", "glass", "new_thyroid", "statlog_heart", "bupa", "ionosphere"),
    *("breast_cancer_wdbc", "pima", "vehicle"),
)
HEURISTICS = ("hhcart_a", "hhgdt", "fdt", "union")
LIMITS = (1, 2, 3, None)
LEAVES = (2, 4, 8)
SEED = 20260401
PRUNED: Mapping[str, Any] = {"pruning": "cv", "standard_errors": 1.0}
FIELDS = ("dataset", "repeat", "half", "heuristic", "max_terms", "max_leaf_nodes", "sparse", "accuracy", "leaves",
          "terms")  # fmt: skip


def fits() -> Iterator[dict[str, Any]]:
    """Yield a row a fitted tree."""
    assert all(division()[name] == DEVELOPMENT for name in SETS)
    for name in SETS:
        data = catalogue.load(DatasetSpec(name), offline=True)
        for repeat, half, train, test in _halves(data):
            X, y = data.X[train], data.y[train]
            for heuristic, given in _kinds():
                seed = seeds.integer(SEED, name, repeat, half)
                model = make(heuristic, random_state=seed, **PRUNED, **given).fit(X, y)
                about = {"dataset": name, "repeat": repeat, "half": half, "heuristic": heuristic}
                about |= {"max_terms": given.get("max_terms", ""), "max_leaf_nodes": given.get("max_leaf_nodes", "")}
                right = float(np.mean(model.predict(data.X[test]) == data.y[test]))
                yield {**about, "sparse": 0, "accuracy": right, "leaves": model.n_leaves_, "terms": n_terms(model)}
                if given or heuristic == "axis_parallel":
                    continue
                tree = simplified(model.tree_, X, np.asarray(y, dtype=np.int32), 0.01).tree
                labels = model.classes_[tree.labels[tree.apply(data.X[test])]]
                right = float(np.mean(labels == data.y[test]))
                yield {**about, "sparse": 1, "accuracy": right, "leaves": tree.n_leaves, "terms": tree.n_terms}


def _halves(data: Any) -> Iterator[tuple[int, int, Any, Any]]:
    for repeat in range(2):
        rng, first = seeds.generator(SEED, data.name, "halves", repeat), np.zeros(data.n, dtype=np.bool_)
        for code in range(len(data.classes)):
            rows = rng.permutation(np.flatnonzero(data.y == code))
            first[rows[: len(rows) // 2]] = True
        for half, train in enumerate((first, ~first)):
            yield repeat, half, np.flatnonzero(train), np.flatnonzero(~train)


def _kinds() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "axis_parallel", {}
    for heuristic in HEURISTICS:
        for limit in LIMITS:
            yield heuristic, {} if limit is None else {"max_terms": limit}
    for heuristic in ("axis_parallel", "fdt"):
        for most in LEAVES:
            yield heuristic, {"max_leaf_nodes": most}


def stored() -> list[dict[str, str]]:
    """Return the rows of the stored fits."""
    with STORED.open(newline="") as stream:
        return list(csv.DictReader(stream))


def main() -> int:
    """Fit and store."""
    STORED.parent.mkdir(parents=True, exist_ok=True)
    with STORED.open("w", newline="") as stream:
        out = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        out.writeheader()
        for row in fits():
            out.writerow({**row, "accuracy": f"{row['accuracy']:.6f}"})
            stream.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
