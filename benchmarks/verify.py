"""Proofs about trees of 50 leaves: every pair of leaves is looked at, as where a property holds."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import numpy as np

from benchmarks.measuring import Report, alternate, main
from oblique_cli.estimators.algorithms import make
from oblique_cli.models.explaining.spread import Spread
from oblique_cli.models.model import Model
from oblique_cli.models.procedure import Procedure, procedure_of
from oblique_cli.models.verifying.pairs import Joint, answering, differs, falls, saying
from oblique_cli.models.verifying.polyhedra import Frame
from oblique_cli.models.verifying.verification import verify

SEED = 20261102
LEAVES = 50
FEATURES = 10
ROWS = 100  # whose boxes are looked at


def table_of(n: int) -> tuple[Any, Any]:
    """Made-up rows of normal features, and a number that is linear, bent and stepped in five of them."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(n, FEATURES))
    smooth = X[:, 0] + X[:, 1] ** 2 + 0.5 * X[:, 2] * X[:, 3] + np.where(X[:, 4] > 0.0, 1.0, 0.0)
    return X, smooth + rng.normal(0.0, 0.3, n)


def column_of(procedure: Procedure) -> int:
    """Return the column that most splits use: one that no split uses would leave nothing to prove."""
    (tree,) = procedure.trees
    return Counter(term.cell for split in tree.splits if split for term in split.terms).most_common(1)[0][0]


def every_pair(procedure: Procedure, X: Any, kind: str) -> tuple[int, int]:
    """Look at every pair of leaves for the column of most splits, whatever is found: how many, and programs."""
    frame = Frame.of(procedure, Spread.of(X, {}), {})
    joint = Joint(frame, column_of(procedure), 1 if kind == "monotone" else None)
    (tree,) = procedure.trees
    if kind == "monotone":
        found = falls(joint, tree, lambda leaf: saying(frame, procedure, leaf, len(procedure.classes) - 1))
    else:
        found = differs(joint, tree, lambda leaf, lacking: answering(frame, procedure, leaf, lacking))
    for _ in found:
        pass
    return joint.effort.pairs, joint.effort.programs


def run(report: Report, repeat: int) -> None:
    """Trees with one and with all features in a plane, constant and linear leaves."""
    leaves, n_rows = (6, 5) if report.quick else (LEAVES, ROWS)
    X, number = table_of(300 if report.quick else 4000)
    y = (number > 1.0).astype(int)
    trees = {
        "axis-parallel": make("axis_parallel", max_leaf_nodes=leaves, random_state=1).fit(X, y),
        "planes of all features": make("hhcart_a", max_leaf_nodes=leaves, random_state=1).fit(X, y),
        "numbers, planes of all features": make("hhcart_regression", max_leaf_nodes=leaves).fit(X, number),
        "numbers, planes, linear leaves": make("hhcart_model_tree", max_leaf_nodes=leaves, pruning="none").fit(
            X, number
        ),
    }
    lines = []
    for name, tree in trees.items():
        model = Model.of(tree)
        procedure = procedure_of(model)
        contestants: dict[str, Any] = {
            "monotone": lambda own=procedure: every_pair(own, X, "monotone"),
            "never uses": lambda own=procedure: every_pair(own, X, "never uses"),
        }
        if not procedure.is_regression:
            contestants["robust"] = lambda own=model: verify(own, robust=0.1, rows=X[:n_rows], reference=X)
        times, results = alternate(contestants, repeat)
        pairs, programs = results["monotone"]
        lines.append(
            {
                "tree": name,
                "leaves": len(procedure.tree.leaf_nodes),
                "pairs": pairs,
                "programs": programs,
                **{
                    kind: times[kind].median if kind in times else None for kind in ("monotone", "never uses", "robust")
                },
            }
        )
        for kind in ("monotone", "never uses"):
            report.claim(f"{kind} in one column, {name}, every pair of leaves", "< 10", times[kind], unit="s")
        if "robust" in times:
            report.claim(f"robust, {name}, {n_rows} rows", "< 10", times["robust"], unit="s")
    report.table("CPU seconds to look at every pair of leaves", lines)


if __name__ == "__main__":
    sys.exit(main({"verify": run}, __doc__ or ""))
