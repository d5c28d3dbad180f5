"""How often the sets and intervals of `oblique fit --coverage` hold the truth, and how large they are.

    OBLIQUE_DATA=FOLDER python -m tools.coverage   # results/coverage.csv, then the table of docs/guarantees.md
    python -m tools.coverage --table               # the table alone

Every set is divided into halves, three times; a model and its limits come from one half, and the other half is asked.
At most ROWS rows of a set take part. Sets that are done are not done again, so it may be stopped and started. Sets that
may not be bundled are looked for in OBLIQUE_DATA.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from oblique_cli import data
from oblique_cli.data.dataset import Dataset
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.estimators.conformal_limits import CROSS, OF_CLASSES, OF_NUMBERS, SPLIT, least_rows
from oblique_cli.estimators.encoding import own_labels
from oblique_cli.experiments.fits import Case
from oblique_cli.fitting.calibrating import Promise, guaranteed, training_rows
from oblique_cli.fitting.choosing import fit_to_all, part
from oblique_cli.fitting.fitting import columns_of, filling
from oblique_cli.fitting.goals import Goal
from oblique_cli.ground import seeds
from oblique_cli.ground.nouns import AlgorithmSpec, DatasetSpec
from oblique_cli.models.model import Model

ROOT = Path(__file__).resolve().parent.parent
STORED, PAGE = ROOT / "results" / "coverage.csv", ROOT / "docs" / "guarantees.md"
SEED = 20261126
ROWS, REPEATS, FOLDS = 1600, 3, 5
COVERAGE = 0.9
ALGORITHM = {"classification": "logistic_tree", "regression": "m5_style"}
CLASSES = (
    *("australian_credit", "balance_scale", "banknote", "breast_cancer_ljubljana", "breast_cancer_wdbc"),
    *("breast_cancer_wisconsin", "bupa", "car", "chess_kr_vs_kp", "climate_crashes", "contraceptive"),
    *("credit_approval", "dermatology", "ecoli", "german_credit", "glass", "haberman", "hepatitis", "house_votes"),
    *(
        "image_segmentation",
        "ionosphere",
        "iris",
        "magic",
        "new_thyroid",
        "page_blocks",
        "pendigits",
        "phoneme",
        "pima",
    ),
    *("satimage", "seeds", "sonar", "spambase", "statlog_heart", "tae", "tic_tac_toe", "vehicle", "wine", "yeast"),
)
NUMBERS = ("abalone", "auto_mpg", "boston_housing", "kin8nm", "stock", "tecator")
FIELDS = ("dataset", "repeat", "guarantee", "calibration", "rows", "classes", "coverage", "size", "one", "worst_class")


def names_of(dataset: Dataset) -> tuple[str, ...]:
    """Return the guarantees that a set is measured with."""
    return OF_NUMBERS if dataset.task == "regression" else OF_CLASSES


def measured(name: str, repeat: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each guarantee and calibration of one division of a set."""
    policy = DatasetSpec(name, encoding="onehot", missing="impute")
    dataset = data.load(policy, offline=True)
    order = seeds.generator(SEED, name, "halves", repeat).permutation(dataset.n)[:ROWS]
    train, test = part(dataset, order[::2]), part(dataset, order[1::2])
    spec = AlgorithmSpec(*2 * (ALGORITHM[dataset.task],))
    goal, known = Goal.usual(dataset.task), {}

    def fit(rows: Dataset, seed: int) -> Model:
        """Fit, once for the same rows: all guarantees rest on the same fits."""
        key = (rows.digest, rows.n, seed)
        if key not in known:
            case = Case(rows, policy, spec, ALGORITHMS[spec.name])
            estimator, encoder, _ = fit_to_all(case, FOLDS, seed, goal)
            known[key] = Model.of(
                estimator, algorithm=spec.name, classes=dataset.classes, feature_names=dataset.feature_names,
                encoder=filling(rows, policy, encoder), columns=columns_of(dataset),
            )  # fmt: skip
        return known[key]

    with own_labels(train):
        for how in (CROSS, SPLIT):
            for guarantee in names_of(dataset):
                promise = Promise(COVERAGE, guarantee, how)
                rows = training_rows(train, promise, repeat)
                if guarantee == "class" and _fewest(train, rows, how) < least_rows(COVERAGE):
                    continue  # refused, in a sentence
                model = fit(train if len(rows) == train.n else part(train, rows), SEED)
                result = _asked(guaranteed(model, train, promise, FOLDS, repeat, fit), test, float(np.std(train.y)))
                n_classes = len(dataset.classes)
                yield {
                    "dataset": name, "repeat": repeat, "guarantee": guarantee, "calibration": how, "rows": train.n,
                    "classes": n_classes, **{key: f"{value:.6g}" for key, value in result.items()},
                }  # fmt: skip


def _fewest(train: Dataset, rows: Any, how: str) -> int:
    """The rows of the smallest class among those that limits are made of."""
    retained = train.y if how == CROSS else np.delete(train.y, rows)
    return int(np.bincount(retained, minlength=len(train.classes)).min())


def _asked(model: Model, test: Dataset, unit: float) -> dict[str, float]:
    """The share of rows whose truth is inside, and sizes; of numbers in standard deviations of the target."""
    if test.task == "regression":
        ends = model.intervals(test.X)
        inside = (ends[:, 0] <= test.y) & (test.y <= ends[:, 1])
        return {
            "coverage": inside.mean(),
            "size": float((ends[:, 1] - ends[:, 0]).mean()) / unit,
            "one": 0.0,
            "worst_class": 0.0,
        }
    sets = model.sets(test.X)
    inside = sets[np.arange(test.n), test.y]
    by_class = [inside[test.y == k].mean() for k in range(len(test.classes)) if (test.y == k).sum() >= 20]
    sizes = sets.sum(axis=1)
    low = min(by_class) if by_class else float("nan")
    return {"coverage": inside.mean(), "size": sizes.mean(), "one": (sizes == 1).mean(), "worst_class": low}


def stored() -> list[dict[str, str]]:
    """Return the rows of the results."""
    if not STORED.exists():
        return []
    with STORED.open(newline="") as stream:
        return list(csv.DictReader(stream))


def keep(rows: Sequence[Mapping[str, Any]]) -> None:
    """Write all rows, sets in their order."""
    place = {name: i for i, name in enumerate((*CLASSES, *NUMBERS))}
    with STORED.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: (place[row["dataset"]], int(row["repeat"]))))


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """Return the table of the page: of each guarantee means over sets of the means over their divisions."""
    by: dict[tuple[str, str], dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by[row["guarantee"], row["calibration"]][row["dataset"]].append(
            [float(row[key]) for key in ("coverage", "size")]
        )
    lines = ["| guarantee | cross, % | split, % | size, cross and split |", "| --- | --- | --- | --- |"]
    for name in (*OF_CLASSES, *OF_NUMBERS):
        means = [np.array([np.mean(halves, axis=0) for halves in by[name, how].values()]) for how in (CROSS, SPLIT)]
        percents = [100 * sets[:, 0] for sets in means]
        cells = [f"{sets.mean():.1f} ({sets.min():.1f} to {sets.max():.1f})" for sets in percents]
        sizes = " and ".join(f"{sets[:, 1].mean():.2f}" for sets in means)
        lines.append(f"| `{name}` | {' | '.join(cells)} | {sizes} |")
    return "\n".join(lines)


def filled(page: str, made: Mapping[str, str]) -> str:
    """Return a page with its tables between their marks; ValueError for a table that has not exactly one place."""
    for name, lines in made.items():
        mark = re.compile(rf"(<!-- begin {name} -->\n\n).*?(\n\n<!-- end {name} -->)", re.DOTALL)
        page, count = mark.subn(lambda match, lines=lines: match[1] + lines + match[2], page)
        if count != 1:
            raise ValueError(f"the page has {count} places for {name}")
    return page


def main() -> int:
    """Measure what is not stored, then fill in the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="only fill in the page")
    parser.add_argument("--sets", default="", help="names of sets, divided by commas; all without it")
    arguments = parser.parse_args()
    rows: list[Mapping[str, Any]] = list(stored())
    wanted = arguments.sets.split(",") if arguments.sets else [*CLASSES, *NUMBERS]
    for repeat in () if arguments.table else range(REPEATS):
        for name in wanted:
            if any((row["dataset"], int(row["repeat"])) == (name, repeat) for row in rows):
                continue
            rows += measured(name, repeat)
            keep(rows)
            print(name, repeat, flush=True)
    if PAGE.exists():
        PAGE.write_text(filled(PAGE.read_text(), {"coverage": table(stored())}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
