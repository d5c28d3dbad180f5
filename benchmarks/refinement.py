"""Tree alternating optimization: one run at one penalty, beside growth and scikit-learn's random forest.

The tree is HHGDT's, fully grown, the penalty the weight of two rows of Letter and of 20 of the made-up rows.
"""

from __future__ import annotations

import sys
from functools import partial

from sklearn.ensemble import RandomForestClassifier

from benchmarks.inputs import Data, letter, synthetic
from benchmarks.measuring import Ratio, Report, Sample, alternate, main
from oblique_cli.proposers.hhgdt import HHGDT
from oblique_cli.tree.growing import grow_top_down
from oblique_cli.tree.refining import Path, PlaneSpace, Settings, along_path
from oblique_cli.tree.structure import Tree

SETTINGS = Settings(split_leaves=True)


def grown(X: Data, n_classes: int) -> Tree:
    """A full HHGDT tree."""
    return grow_top_down(*X, n_classes, HHGDT())


def refined(X: Data, n_classes: int, tree: Tree, rows: float) -> Path:
    """One run, the preparation of rows included. rows : whose weight is the penalty"""
    space = PlaneSpace(*X, n_classes)
    return along_path(tree, space, [rows / len(X[0])], SETTINGS)


def run(report: Report, repeat: int) -> None:
    """Refine on Letter and on 100,000 rows of 10 features."""
    sets = {
        "Letter": (letter(2000 if report.quick else None), 26, 2.0),
        "100,000 x 10": (synthetic(2000 if report.quick else 100_000, 10, informative=6), 3, 20.0),
    }
    table, times_of = [], {}
    for name, (rows, n_classes, price) in sets.items():
        tree = grown(rows, n_classes)
        contestants = {
            "growth": partial(grown, rows, n_classes),
            "refinement": partial(refined, rows, n_classes, tree, price),
            "forest": partial(RandomForestClassifier(100, random_state=0, n_jobs=1).fit, *rows),
        }
        times, results = alternate(contestants, repeat)
        times_of[name] = times
        after = results["refinement"]
        row: dict[str, float | int | str | bool] = {"data": name, "leaves before": tree.n_leaves}
        row |= {"leaves after": after.trees[0].n_leaves, "sweeps": after.runs[0].sweeps}
        row |= {label: sample.median for label, sample in times.items()}
        table.append(row)
    report.table("one run at one penalty, in seconds; a forest of 100 trees", table)
    for name, target in (("Letter", "< 60"), ("100,000 x 10", "< 30")):
        sample: Sample = times_of[name]["refinement"]
        report.claim(f"one run on {name}", target, sample, "s")
    for name, times in times_of.items():
        report.claim(f"one run / growth of HHGDT, on {name}", "<= 10", Ratio.of(times["refinement"], times["growth"]))
        report.claim(
            f"one run / scikit-learn's random forest, on {name}", None, Ratio.of(times["refinement"], times["forest"])
        )


if __name__ == "__main__":
    sys.exit(main({"refinement": run}, __doc__ or ""))
