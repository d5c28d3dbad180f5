"""PILOT of its authors beside ours: errors of both on the same folds of a few tables, as results/pilot_authors.csv.

python -m tools.pilot_authors FOLDER

FOLDER is a checkout of the authors' program (github.com/STAN-UAntwerp/PILOT; its folder `pilot` needs numba, pandas and
networkx). Nothing of it is part of this project.
"""

from __future__ import annotations

import csv
import importlib
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.model_selection import KFold

from oblique_cli import PILOTRegressor

STORED = Path(__file__).resolve().parent.parent / "results" / "pilot_authors.csv"
TRUNCATION = 1.5  # of the paper; the program's default is 3 by now
Rows = tuple[NDArray[Any], NDArray[Any]]


def tables() -> dict[str, Rows]:
    """Return rows and numbers of each table."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    noise = 0.1 * rng.normal(size=400)
    return {
        "diabetes": load_diabetes(return_X_y=True),
        "friedman1": make_friedman1(500, noise=1.0, random_state=1),
        "step": (X, 2.0 * (X[:, 0] > 0.3) + noise),
        "bent line": (X, 2.0 * np.maximum(X[:, 0], 0.0) + X[:, 1] + noise),
        "line": (X, X[:, 0] - X[:, 2] + noise),
    }


def folds(table: Rows) -> Iterator[tuple[Rows, Rows]]:
    """Yield the rows to fit and to test on, five times."""
    X, y = table
    for fit, test in KFold(5, shuffle=True, random_state=0).split(X):
        yield (X[fit], y[fit]), (X[test], y[test])


def ours(fit: Rows, X: NDArray[Any]) -> NDArray[Any]:
    """Return what our PILOT, fitted to some rows, says of others."""
    return np.asarray(PILOTRegressor().fit(*fit).predict(X))


def authors(folder: Path) -> Any:
    """Return the authors' class. FOLDER's own list of modules names a compiled one, which is not asked for here."""
    package = types.ModuleType("pilot")
    package.__path__ = [str(folder / "pilot")]
    sys.modules["pilot"] = package
    return importlib.import_module("pilot.Pilot").PILOT


def compared(theirs: Any) -> list[dict[str, str]]:
    """Return the root mean squared errors of both by table and fold, and how far their predictions are apart.

    The latter is the root mean squared difference in rows whose features are all within the range of the training rows.
    """
    found = []
    for name, table in tables().items():
        for number, (fit, (X, y)) in enumerate(folds(table)):
            model = theirs(truncation_factor=TRUNCATION)
            model.fit(*fit)
            said, own = np.asarray(model.predict(X)).ravel(), ours(fit, X)
            errors = {who: float(np.sqrt(((p - y) ** 2).mean())) for who, p in (("authors", said), ("ours", own))}
            inside = ((fit[0].min(axis=0) <= X) & (fit[0].max(axis=0) >= X)).all(axis=1)
            apart = float(np.sqrt(((said - own)[inside] ** 2).mean()))
            row = {"table": name, "fold": str(number), **{who: f"{error:.6g}" for who, error in errors.items()}}
            found.append(row | {"apart_inside": f"{apart:.2g}"})
    return found


def main() -> None:
    """Write the errors."""
    if len(sys.argv) != 2:
        raise SystemExit("python -m tools.pilot_authors FOLDER, a checkout of the authors' program")
    rows = compared(authors(Path(sys.argv[1])))
    with STORED.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
