"""Every command that takes a model file, and models of tables to give it: all algorithms, on a table of all sorts."""

import copy
import itertools
import random
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from export_support import Policy
from robustness_support import DISCRETE, PARAMETERS, REGRESSION

from oblique_cli import Model
from oblique_cli.cli.export import FORMATS
from oblique_cli.data.dataset import Dataset
from oblique_cli.data.own.front import Column, Columns
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.estimators.encoding import fold_encoder, prepared
from oblique_cli.models.file_format import digest

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
            *(Column(item, "levels", levels=LEVELS) if item == "color" else Column(item, "number") for item in NAMES),
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
    params = {"n_estimators": 3, **PARAMETERS.get(name, {}), **parameters}
    small = {key: value for key, value in params.items() if key in known}
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
    retained = [lines[0], *(f"{line.rpartition(',')[0]},{i}.5" for i, line in enumerate(lines[1:]))]
    (folder / "new.csv").write_text("\n".join(retained) + "\n")


# Values that an edited model file may have at any place.
NUMBERS: tuple[Any, ...] = (-1, 0, 1, 2, 3, 64, -7, 2**31, 2**53, 2**63, 2**70, 0.5, -0.5, 1e-300, 5e-324, 1e300, 1e308)
OTHERS: tuple[Any, ...] = (None, True, False, "", "x", "float64", "<U9", [], {}, [[]], [None], {"npz": "a0"}, {"a": 1})
EDITS = (*OTHERS, *NUMBERS)
WHOLE = ("kind", "estimator", "algorithm", "state", "parameters", "columns", "encoder", "facts")  # from another model


def places(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in plain data, but of long lists the first entries and the last alone."""
    if path:
        yield path
    if isinstance(plain, dict):
        for key, value in plain.items():
            yield from places(value, (*path, key))
    elif isinstance(plain, list):
        for i in sorted({*range(min(len(plain), 4)), len(plain) - 1} - {-1}):
            yield from places(plain[i], (*path, i))


def edited(document: dict[str, Any], rng: random.Random, kinds: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """A copy with one to three values changed and a digest that fits."""
    changed = copy.deepcopy(document)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        path = rng.choice([p for p in places(changed) if p[0] != "digest"])
        parent: Any = changed
        for key in path[:-1]:
            parent = parent[key]
        old, action = parent[path[-1]], rng.randrange(8)
        if action == 0 and isinstance(parent, dict):
            del parent[path[-1]]
        elif action == 1 and isinstance(old, list) and old:
            old.append(copy.deepcopy(rng.choice(old)))
        elif action == 2 and isinstance(old, list) and old:
            del old[rng.randrange(len(old))]
        elif action == 3 and isinstance(old, list) and len(old) > 1:
            i, j = rng.randrange(len(old)), rng.randrange(len(old))
            old[i], old[j] = old[j], old[i]
        elif action == 4:
            parent[path[-1]] = copy.deepcopy(rng.choice(OTHERS))
        elif action == 5 and path[0] in WHOLE:
            other = rng.choice(list(kinds.values()))
            changed[path[0]] = copy.deepcopy(other[path[0]])
        elif type(old) in (int, float) and rng.random() < 0.5:
            parent[path[-1]] = old + rng.choice((-1, 1, 2, -old, 1000))
        elif isinstance(old, str) and rng.random() < 0.5:
            parent[path[-1]] = rng.choice(
                (old + "x", old[:1], "number", "levels", "target", "drop", 'a"\nb', "9" * 500)
            )
        else:
            parent[path[-1]] = rng.choice(NUMBERS)
    changed["digest"] = digest(changed)
    return changed
