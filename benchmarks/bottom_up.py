"""HHBUT's own work, merges and splits, beside BUTIF-SVM's; the mixtures that both start from are timed apart.

BUTIF-SVM needs a cost before it can start. Choosing it takes the trees of 21 costs on each of ten training sets; here
it is one training set, a tenth of that.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks.inputs import letter
from benchmarks.measuring import Ratio, Report, alternate, main
from oblique_cli.estimators.oblique.bottom_up import BottomUpTreeClassifier

SEED = 20260101
COSTS = 2.0 ** np.arange(-5, 16)
CHOOSING = f"BUTIF-SVM, {len(COSTS)} costs"


class Given(BottomUpTreeClassifier):
    """A tree over clusters that are there already."""

    found: Any = None

    def _clusters(self, X: Any, codes: Any, seed: int) -> Any:
        return self.found


class Kept(BottomUpTreeClassifier):
    """Finds the clusters and stops."""

    def _clusters(self, X: Any, codes: Any, seed: int) -> Any:
        Given.found = super()._clusters(X, codes, seed)
        return Given.found

    def _grow(self, *arguments: Any) -> None:
        pass


def run(report: Report, repeat: int) -> None:
    """Letter, its number of clusters by BIC, cost 1."""
    X, y = letter(1_500 if report.quick else None)
    times, found = alternate(
        {
            "mixtures": lambda: Kept(random_state=SEED).fit(X, y),
            "HHBUT": lambda: Given("hhcart", random_state=SEED).fit(X, y),
            "BUTIF-SVM": lambda: Given("svm", random_state=SEED).fit(X, y),
            CHOOSING: lambda: Given("svm", random_state=SEED).fit(X, y).n_leaves_path(COSTS),
        },
        repeat,
        once=(CHOOSING,),
    )
    trees = {name: found[name] for name in ("HHBUT", "BUTIF-SVM")}
    assert len({tree.n_leaves_ for tree in trees.values()}) == 1
    np.testing.assert_array_equal(*(tree.tree_.counts.sum() for tree in trees.values()))
    report.table(
        f"Bottom-up trees on Letter, {len(X):,} rows: median seconds without the mixtures, which take "
        f"{times['mixtures'].median:.3g} s",
        [
            {
                "algorithm": name,
                "merges and splits, s": times[name].median,
                "leaves": tree.n_leaves_,
                "depth": tree.depth_,
                "training accuracy, %": 100.0 * tree.score(X, y),
            }
            for name, tree in trees.items()
        ],
    )
    for name, target in ((CHOOSING, "< 0.1"), ("BUTIF-SVM", None)):
        what = "a tenth of choosing BUTIF-SVM's cost" if name == CHOOSING else "BUTIF-SVM's at one cost"
        report.claim(f"merges and splits of HHBUT / {what}, on Letter", target, Ratio.of(times["HHBUT"], times[name]))


if __name__ == "__main__":
    sys.exit(main({"bottom_up": run}, __doc__ or ""))
