"""Products and hinges in the leaves of `logistic_tree`, on sets of the catalogue.

python -m studies.leaf_terms OUTPUT.csv    70 % of the rows of each set, at most 3,500, train; one row for each setting
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterator

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from oblique_cli.data import catalogue
from oblique_cli.estimators.algorithms import make

SETS = (
    "banknote", "vehicle", "pima", "image_segmentation", "ionosphere", "spambase", "statlog_heart", "sonar",
    "breast_cancer_wdbc", "page_blocks", "pendigits", "phoneme", "contraceptive", "magic_balanced", "yeast",
)  # fmt: skip
SETTINGS = {
    "squares": {"products": False, "hinges": False},
    "products": {"products": True, "hinges": False},
    "products and hinges": {"products": True, "hinges": True},
}
SEEDS = range(2)
HEADER = (
    *("set", "setting", "seed", "training_rows", "features", "classes"),
    *("accuracy", "log_loss", "leaves", "terms", "cpu_s"),
)


def rows() -> Iterator[tuple[object, ...]]:
    """Yield a row of HEADER for each seed, data set and setting."""
    for seed, name in ((seed, name) for seed in SEEDS for name in SETS):
        data = catalogue.load(name)
        X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
        share = min(0.7, 3500 / len(y))
        train, test = train_test_split(np.arange(len(y)), train_size=share, stratify=y, random_state=seed)
        for setting, parameters in SETTINGS.items():
            begun = time.process_time()
            model = make("logistic_tree", random_state=seed, **parameters).fit(X[train], y[train])
            seconds = time.process_time() - begun
            shares = np.clip(model.predict_proba(X[test]), 1e-15, 1.0)
            loss, accuracy = log_loss(y[test], shares, labels=model.classes_), 100 * model.score(X[test], y[test])
            tree = model.tree_
            yield (
                *(name, setting, seed, len(train), X.shape[1], len(model.classes_), f"{accuracy:.2f}", f"{loss:.4f}"),
                *(tree.n_leaves, tree.payload.n_terms(np.flatnonzero(tree.is_leaf)), f"{seconds:.2f}"),
            )


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for row in rows():
            writer.writerow(row)
            file.flush()
