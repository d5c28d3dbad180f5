"""How long OC1 takes: against the same climb programmed directly, which sorts with std::sort and recomputes all values.

Both are compiled, allocate nothing while they climb, and must find the same tree. Full trees with the published
settings: 20 restarts, 5 jumps, twoing.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

from benchmarks.inputs import Data, grow, letter
from benchmarks.measuring import Ratio, Report, alternate, main
from oblique_cli import data
from oblique_cli.ground.nouns import DatasetSpec

TARGET = ">= 5"


def vehicle(rows: int | None = None) -> Data:
    """Vehicle silhouettes: 846 rows, 18 features, 4 classes; or its first `rows` rows."""
    dataset = data.load(DatasetSpec("vehicle"))
    return dataset.X[:rows], dataset.y[:rows]


def run(report: Report, repeat: int) -> None:
    """OC1 on Vehicle and on 2,000 rows of Letter, both searches, beside the direct program."""
    sets = {
        "Vehicle": vehicle(150 if report.quick else None),
        "Letter-2000": letter(300 if report.quick else 2000),
    }
    rows, ratios = [], {}
    for name, (X, y) in sets.items():
        for search in ("faithful", "exact"):
            ours = partial(grow, X, y, "oc1", search=search)
            times, trees = alternate({"oc1": ours, "direct": partial(ours, direct=True)}, repeat, once=("direct",))
            for array in ("left", "right", "counts", "n_rows"):
                np.testing.assert_array_equal(trees["oc1"][array], trees["direct"][array], err_msg=f"{name}: {array}")
            np.testing.assert_allclose(trees["oc1"]["weights"], trees["direct"]["weights"], atol=1e-8)
            ratios[name, search] = Ratio.of(times["direct"], times["oc1"])
            for program, sample in times.items():
                rows.append(
                    {
                        "tree": f"{name}, {search}, {program}",
                        "min s": sample.least,
                        "median s": sample.median,
                        "nodes": len(trees[program]["left"]),
                    }
                )
    report.table("OC1, 20 restarts and 5 jumps: the same tree by both programs", rows)
    for (name, search), ratio in ratios.items():
        target = TARGET if search == "faithful" else None
        report.claim(f"direct program / OC1, {search} search, on {name}", target, ratio)


if __name__ == "__main__":
    sys.exit(main({"oc1": run}, __doc__ or ""))
