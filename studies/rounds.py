"""Boosting with 100 rounds beside the rounds that validation rows choose, and with planes of all drawn features beside
planes of at most 8, on development sets of the catalogue.

python -m studies.rounds OUTPUT.csv    three folds of each set, one row for each fold and way

Sets of numbers have no division, so all of them are used. Sets with words or missing cells are left out. With at most
16 columns, half of them are at most 8, so that the last way is left out.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterator

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold

from oblique_cli.data import catalogue
from oblique_cli.errors import DataError
from oblique_cli.estimators.algorithms import make
from tools.field_folds import DEVELOPMENT, division

MOST_CELLS = 150_000
ALGORITHMS = {"classification": "oblique_boosting", "regression": "oblique_boosting_regression"}
WAYS: dict[str, dict[str, object]] = {
    "100": {"n_estimators": 100, "max_plane_features": None},
    "auto": {"max_plane_features": None},
    "8 features": {},
}
HEADER = ("data set", "task", "training rows", "fold", "way", "rounds", "accuracy or RMSE", "log loss", "CPU seconds")


def rows() -> Iterator[tuple[object, ...]]:
    """Yield a row of HEADER for each data set, fold and way."""
    parts = division()
    for name in catalogue.names():
        entry = catalogue.entry(name)
        if (entry.task == "classification" and parts.get(name) != DEVELOPMENT) or entry.n * entry.p > MOST_CELLS:
            continue
        try:
            data = catalogue.load(name)
        except DataError:
            continue
        X, y = np.asarray(data.X, dtype=float), data.y
        is_numbers = data.task == "regression"
        folds = (
            KFold(3, shuffle=True, random_state=0) if is_numbers else StratifiedKFold(3, shuffle=True, random_state=0)
        )
        ways = WAYS if X.shape[1] > 16 else dict(list(WAYS.items())[:2])
        for fold, (train, test) in enumerate(folds.split(X, y)):
            for way, parameters in ways.items():
                begun = time.process_time()
                model = make(ALGORITHMS[data.task], random_state=fold, **parameters).fit(X[train], y[train])
                seconds = time.process_time() - begun
                if is_numbers:
                    score, loss = np.sqrt(np.mean((model.predict(X[test]) - y[test]) ** 2)), ""
                else:
                    shares = np.clip(model.predict_proba(X[test]), 1e-15, 1.0)
                    score, loss = (
                        100 * model.score(X[test], y[test]),
                        f"{log_loss(y[test], shares, labels=model.classes_):.4f}",
                    )
                yield (
                    name,
                    data.task,
                    len(train),
                    fold,
                    way,
                    model.n_estimators_,
                    f"{score:.4g}",
                    loss,
                    f"{seconds:.3f}",
                )


if __name__ == "__main__":
    with open(sys.argv[1], "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(HEADER)
        for row in rows():
            table.writerow(row)
            file.flush()
