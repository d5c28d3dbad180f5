"""Every command that takes a model file, and models of tables to give it: all algorithms, on a table of all sorts."""

import itertools
from functools import cache
from pathlib import Path

import numpy as np
from export_support import Policy
from robustness_support import DISCRETE, PARAMETERS, REGRESSION

from oblique_cli import Model
from oblique_cli.cli.export import FORMATS
from oblique_cli.data.dataset import Dataset
from oblique_cli.data.own.front import Column, Columns
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.estimators.encoding import fold_encoder, prepared

STRICT = Policy("error")
LEVELS = ("red", "green, or so", 'b"lue')
LABELS = ("no", "yes", "may be")
NAMES = ("age", "dose", "color")

# Forms of trees that need nothing to be drawn.
TREES = ("text", "json", "svg", "html", "dot", "tikz")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("predict", "model.json", "new.csv"),
    ("predict", "model.json", "new.csv", "--proba", "--format", "json"),
    ("predict", "model.json", "new.csv", "--leaf"),
    ("score", "model.json", "new.csv"),
    ("explain", "model.json", "new.csv", "--row", "2"),
    ("tree", "model.json", "--sparse"),
    *(("tree", "model.json", "--format", form, "--output", f"tree.{form}") for form in TREES),
    *(("export", "model.json", "--format", form, "--output", f"model.{form}") for form in FORMATS),
)


@cache
def table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two numbers and a column of levels, (60, 3), their classes, and numbers to predict."""
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(60, 3)), 2)
    X[:, 2] = rng.integers(0, len(LEVELS), 60)
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] + 0.8 * (X[:, 2] == 1), [0.0, 1.0]).astype(np.int32)
    return X, y, np.round(2 * X[:, 0] + np.abs(X[:, 1]) + X[:, 2], 2)


def model_of(name: str, policy: Policy = STRICT, **parameters: object) -> Model:
    """A model of an algorithm on `table`, small."""
    X, y, numbers = table()
    regression = name in REGRESSION
    columns = Columns(
        (
            *(Column(one, "levels", levels=LEVELS) if one == "color" else Column(one, "number") for one in NAMES),
            Column("said", "target"),
        ),
        target="said",
        task="regression" if regression else "classification",
        classes=() if regression else LABELS,
    )
    target = numbers if regression else y
    dataset = Dataset("mixed", X, target, columns.classes, NAMES, columns.task, (2,), {2: LEVELS})
    encoder = None if name in DISCRETE else fold_encoder(dataset, policy, X)
    seen = X if encoder is None else encoder.transform(X)
    known = ALGORITHMS[name].parameters
    given = {"n_estimators": 3, **PARAMETERS.get(name, {}), **parameters}
    small = {key: value for key, value in given.items() if key in known}
    estimator = prepared(make(name, random_state=1, **small), dataset, policy).fit(seen, target)
    return Model.of(
        estimator, algorithm=name, classes=columns.classes, feature_names=NAMES, encoder=encoder, columns=columns
    )


def write_table(folder: Path, n: int = 12) -> None:
    """Write the first n rows of `table` as new.csv, with classes in "said"."""
    X, y, _ = table()
    cells = ([*map(str, x[:2]), LEVELS[int(x[2])], LABELS[k]] for x, k in zip(X[:n], y, strict=False))
    lines = (",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in cells)
    (folder / "new.csv").write_text("\n".join(itertools.chain([",".join((*NAMES, "said"))], lines)) + "\n")


def write_numbers(folder: Path) -> None:
    """Write new.csv with numbers to predict."""
    write_table(folder)
    lines = (folder / "new.csv").read_text().splitlines()
    kept = [lines[0], *(f"{line.rpartition(',')[0]},{i}.5" for i, line in enumerate(lines[1:]))]
    (folder / "new.csv").write_text("\n".join(kept) + "\n")
