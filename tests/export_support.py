"""Models to export, rows to try them on, and what each format says of such rows when it is executed.

Rows are those of a model's `predict`: numbers, NaN for a missing cell, codes of levels, the code after the last for a
level that training did not show. There are rows on hyperplanes and next to them among them.
"""

import importlib.util
import json
import math
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, reduce
from itertools import combinations
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oblique_cli import Model, data, load, make, save
from oblique_cli.data.dataset import Dataset
from oblique_cli.data.own.front import Column, Columns
from oblique_cli.estimators.encoding import fold_encoder, prepared
from oblique_cli.models.exporting._text import quoted
from oblique_cli.models.file_format import digest
from oblique_cli.models.model import Threshold
from oblique_cli.models.procedure import NUMBER, Procedure, Split, procedure_of
from oblique_cli.tree.payloads import LeafModels

N_ROWS = 800

# Names that end a string, a comment or a document of some language, that are its words, or that differ in signs alone.
AWKWARD = (
    'a"b', "a'b", "a\\", "line\nend", "*/ int x; /*", "??/", "</script>", "100%", "under_score", "under-score",
    "select", "int", "class", "lambda", "Größe (cm)", "größe (CM)", "漢字", "", "\u202eright", "--", "{x}",
    "$x^2$", "#", "&",
)  # fmt: skip
LEVELS = ('re"d', "b'lue", "*/", "NULL", "<b>", "ü\\", "new\nline", "%s", "1", "漢")
LABELS = ("yes", "n\"o'\\", "per%haps_\n*/")

PLANES = ("threshold", "thresholds", "coef", "rotation_coef")  # keys of a model file

Answers = list[Any]  # label or number of each row, None without a prediction
Say = Callable[[Any, "Case", np.ndarray, Path], tuple[Answers, "np.ndarray | None"]]


@dataclass(frozen=True)
class Case:
    """A model, its steps, and training rows."""

    model: Model
    procedure: Procedure
    X: np.ndarray


@dataclass(frozen=True)
class Policy:
    """What a configuration says of a data set."""

    missing: str = "keep"
    encoding: str = "onehot"


def table(
    names: Sequence[str], target: str, classes: tuple[str, ...], levels: Mapping[int, tuple[str, ...]] | None = None
) -> Columns:
    """The columns of a table; of numbers to predict without classes. levels : by column, numbers elsewhere"""
    known = levels or {}
    columns = [
        Column(name, "levels" if j in known else "number", levels=known.get(j, ())) for j, name in enumerate(names)
    ]
    return Columns((*columns, Column(target, "target")), target, "classification" if classes else "regression", classes)


def iris(algorithm: str = "hhcart_a", **parameters: Any) -> Case:
    """A model of numbers alone."""
    dataset = data.load("iris")
    estimator = make(algorithm, random_state=1, **parameters).fit(dataset.X, dataset.y)
    names = {"classes": dataset.classes, "feature_names": dataset.feature_names}
    model = Model.of(estimator, algorithm=algorithm, **names)
    return Case(model, procedure_of(model), dataset.X)


def mixed(
    algorithm: str,
    policy: Policy = Policy(),
    *,
    n: int = 300,
    gaps: bool = True,
    awkward: bool = True,
    regression: bool = False,
    n_classes: int = 3,
    threshold: float | None = None,
    curved: bool = False,
    **parameters: Any,
) -> Case:
    """A model of five numbers and three columns of levels, some cells empty, with awkward names.

    threshold : of the first of two classes; curved : whether numbers to predict have a square and a product in them
    """
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 8)) * [1, 10, 0.01, 100, 1, 1, 1, 1] + [0, 5, 1, 0, 0, 0, 0, 0]
    X[:, 4] = rng.integers(0, 6, n)
    sizes = (3, len(LEVELS), 2)
    for j, size in zip((5, 6, 7), sizes, strict=True):
        X[:, j] = rng.integers(0, size, n)
    score = X[:, 0] + 0.1 * X[:, 1] + 0.7 * (X[:, 6] % 3) - X[:, 7] + rng.normal(scale=0.3, size=n)
    y: Any = np.digitize(score, np.quantile(score, [0.4, 0.8][: n_classes - 1])).astype(np.int32)
    if regression:
        y = 3.0 * score + X[:, 3] / 50.0 + curved * (9.0 * X[:, 0] ** 2 + X[:, 1] * X[:, 3] / 100.0)
    if gaps:
        X[rng.random(X.shape) < 0.05] = np.nan
    names = AWKWARD[:8] if awkward else ("age", "height", "dose", "weight", "visits", "color", "ward", "smoker")
    levels = {5: ("a", "b", "c"), 6: LEVELS, 7: ("no", "yes")}
    columns = table(names, 'what "it" is', () if regression else LABELS[:n_classes], levels)
    dataset = Dataset("mixed", X, y, columns.classes, tuple(names), columns.task, (5, 6, 7), levels)
    encoder = fold_encoder(dataset, policy, X)
    seen = X if encoder is None else encoder.transform(X)
    estimator = prepared(make(algorithm, random_state=1, **parameters), dataset, policy).fit(seen, y)
    model = Model.of(
        estimator,
        algorithm=algorithm,
        classes=columns.classes,
        feature_names=tuple(names),
        encoder=encoder,
        columns=columns,
        threshold=None if threshold is None else Threshold(LABELS[0], threshold),
    )
    return Case(model, procedure_of(model), X)


def awkward(names: tuple[str, ...] = AWKWARD, **parameters: Any) -> Case:
    """A tree over columns of all the awkward names."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, len(names)))
    y = np.digitize(X.sum(axis=1) + 2 * X[:, 0], [-1.0, 2.0]).astype(np.int32)
    estimator = make("hhcart_a", **{"random_state": 1, "max_depth": 4, **parameters}).fit(X, y)
    about = {"classes": LABELS, "feature_names": names, "columns": table(names, "leaf", LABELS)}
    model = Model.of(estimator, algorithm="hhcart_a", **about)
    return Case(model, procedure_of(model), X)


def leaf_models(
    seed: int,
    n_features: int = 3,
    n_classes: int = 3,
    depth: int = 2,
    *,
    squares: bool = True,
    products: bool = True,
    levels: bool = False,
    gaps: bool = False,
    threshold: float | None = None,
) -> Case:
    """A tree with random models in its leaves, which no fit has made: some coefficients 0, some large.

    products : of all pairs of numbers, and hinges of all numbers, with squares only; levels : the last column has
    four levels, which the tree and the models score; threshold : of the first class
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, n_features)) * 10.0 ** rng.integers(-3, 4, n_features) + rng.normal(size=n_features)
    y = rng.integers(0, n_classes, 120)
    y[:n_classes] = range(n_classes)
    last = n_features - 1
    if levels:
        X[:, last] = rng.integers(0, 4, 120)
        X[:4, last] = range(4)
    further: dict[str, Any] = {"missing": "learn"} if gaps else {}
    estimator = make("hhcart_a", random_state=1, max_depth=depth, leaf_models="logistic", leaf_penalty=1.0, **further)
    if levels:
        estimator.set_params(qualitative=[last])
    estimator.fit(X, y)
    tree = estimator.tree_

    def drawn(width: int = n_features) -> np.ndarray:
        size, shape = 10.0 ** rng.integers(-2, 2), (tree.n_nodes, n_classes, width)
        return rng.normal(size=shape) * size * (rng.random(shape) < 0.7) * tree.is_leaf[:, None, None]

    coef, curve, intercept = drawn(), drawn(), rng.normal(size=(tree.n_nodes, n_classes))
    center, scale = X.mean(axis=0), X.std(axis=0)
    if levels:
        coef[:, :, last] = curve[:, :, last] = center[last] = 0.0
        scale[last] = 1.0
    options: dict[str, Any] = {"level_coef": drawn(4), "levels": tree.levels} if levels else {}
    pairs = [*combinations(range(n_features - levels), 2)] if squares and products else []
    if pairs:
        pairs += [(j, side) for j in range(n_features - levels) for side in (-1, -2)]
        knots = [X[k, i] if j < 0 else 0.0 for k, (i, j) in enumerate(pairs)]
        options |= {"pairs": np.array(pairs), "pair_coef": drawn(len(pairs)), "knots": np.array(knots)}
    models = LeafModels(center, scale, coef, intercept, curve if squares else None, **options)
    estimator.tree_ = tree.with_leaf_models(models)
    labels = tuple(f"class {k}" for k in range(n_classes))
    names = tuple(f"x{j + 1}" for j in range(n_features))
    about: dict[str, Any] = {"classes": labels, "feature_names": names}
    about["columns"] = table(names, "y", labels, {last: ("a", "b", "c", "d")} if levels else {})
    about["threshold"] = None if threshold is None else Threshold(labels[0], threshold)
    model = Model.of(estimator, algorithm="hhcart_a", **about)
    return Case(model, procedure_of(model), X)


def nudged(case: Case, folder: Path, seed: int = 5) -> Case:
    """The same model with every threshold and coefficient of a plane moved by at most one unit in the last place."""
    rng = np.random.default_rng(seed)
    path = folder / "model.json"
    save(case.model, path)
    document = json.loads(path.read_text(encoding="utf-8"))

    def moved(value: Any) -> Any:
        if isinstance(value, list):
            return [moved(item) for item in value]
        # An integer threshold of codes and a coefficient of an axis stay what they are.
        if not isinstance(value, float) or value == int(value):
            return value
        return float(np.nextafter(value, rng.choice([-np.inf, value, np.inf])))

    def visit(node: dict[str, Any]) -> None:
        for key, value in node.items():
            if isinstance(value, dict):
                visit(value)
            elif key in PLANES:
                node[key] = moved(value)

    visit(document["state"])
    document["digest"] = digest(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    model = load(path)
    return Case(model, procedure_of(model), case.X)


CASES = {
    "iris": lambda: iris(),
    "one leaf": lambda: iris(max_depth=0),
    "axis-parallel": lambda: iris("axis_parallel", probabilities="counts"),
    "indicators, filled": lambda: mixed("hhcart_a", Policy("impute"), max_depth=4),
    "indicators, gaps of levels": lambda: mixed("hhcart_a", Policy("keep"), missing="learn", max_depth=4),
    "indicators, medians of the tree": lambda: mixed("hhcart_a", Policy("keep"), missing="impute", max_depth=3),
    "scores of levels, sides of gaps": lambda: mixed(
        "hhcart_a", Policy("keep", "crimcoord"), missing="learn", max_depth=5
    ),
    "another class more probable": lambda: mixed(
        "hhcart_a", Policy("impute"), max_depth=4, probabilities="m_estimate", probability_strength=60.0
    ),
    "codes as numbers": lambda: mixed("axis_parallel", Policy("keep", "ordinal"), gaps=False, max_depth=5),
    "rotated forest": lambda: iris("mprof_t", n_estimators=10),
    "forest": lambda: iris("raf", n_estimators=10, probabilities="counts"),
    "forest of shares": lambda: mixed("mprrof_p", Policy("impute"), n_estimators=7, voting="mean", min_samples_leaf=5),
    "forest with probabilities": lambda: mixed(
        "hhcart_forest", Policy("impute"), n_estimators=7, probabilities="shrinkage", probability_strength=3.0
    ),
    "forest of hyperplanes": lambda: mixed("hhcart_forest", Policy("impute"), n_estimators=7),
    "model tree": lambda: mixed("retis", Policy("impute"), regression=True, truncate="none"),
    "model tree with bounds": lambda: mixed("pilot", Policy("impute"), regression=True, truncate="leaf"),
    "CART regression": lambda: mixed("cart_regression", Policy("impute"), regression=True, max_depth=5),
    "CART regression, gaps": lambda: mixed("cart_regression", Policy("keep"), regression=True),
    "forest of numbers": lambda: mixed("oblique_forest_regression", Policy("impute"), regression=True, n_estimators=5),
    "forest by boosting": lambda: mixed(
        "oblique_boosting_regression", Policy("impute"), regression=True, n_estimators=8
    ),
    "forest by boosting, a quantile": lambda: mixed(
        "oblique_boosting_regression", Policy("impute"), regression=True, n_estimators=6, loss="quantile", quantile=0.8
    ),
    "forest of numbers, linear leaves": lambda: mixed(
        "oblique_forest_regression", Policy("impute"), regression=True, n_estimators=4, leaves="linear"
    ),
    "forest by boosting, linear leaves": lambda: mixed(
        "oblique_boosting_regression", Policy("impute"), regression=True, n_estimators=6, leaves="linear"
    ),
    "model tree, products and hinges": lambda: mixed(
        "linear_tree", Policy("impute"), regression=True, curved=True, products=True, hinges=True
    ),
    "logistic leaves, squares": lambda: iris("logistic_tree"),
    "logistic leaves, gaps": lambda: mixed(
        "hhcart_a", Policy("keep"), missing="learn", max_depth=2, leaf_models="logistic", leaf_penalty=1.0
    ),
    "logistic leaves, levels": lambda: leaf_models(5, levels=True, gaps=True),
    "logistic leaves, a number needed": lambda: leaf_models(4, n_classes=4),
    "logistic leaves, a threshold": lambda: leaf_models(3, n_classes=2, gaps=True, threshold=0.3),
    "forest of logistic leaves": lambda: mixed("logistic_forest", Policy("impute"), n_estimators=4),
    "forest of logistic leaves, numbers": lambda: iris("logistic_forest", n_estimators=3, min_parent=4),
    "forest by boosting of classes": lambda: mixed("oblique_boosting", Policy("impute"), n_estimators=8),
    "forest by boosting of classes, numbers": lambda: iris(
        "oblique_boosting", n_estimators=6, max_bins=None, n_iter_no_change=6
    ),
    "forest by boosting of two classes": lambda: mixed(
        "oblique_boosting", Policy("impute"), n_classes=2, n_estimators=8
    ),
    "forest by boosting of two classes, a threshold": lambda: mixed(
        "oblique_boosting", Policy("impute"), n_classes=2, n_estimators=8, threshold=0.3
    ),
    "C4.5": lambda: iris("c45"),
    "C4.5, codes": lambda: mixed("c45", Policy("keep", "ordinal"), missing="impute"),
    "C4.5, codes of indicators": lambda: mixed("c45", Policy("impute"), missing="impute"),
    "averages of a Fourier tree": lambda: mixed("aft", Policy("keep", "ordinal"), missing="impute", n_estimators=5),
    "forest of C4.5 trees": lambda: mixed(
        "c45_forest", Policy("keep", "ordinal"), missing="impute", n_estimators=5, max_depth=2
    ),
    "forest of orthogonal trees": lambda: mixed(
        "odt_lr", Policy("keep", "ordinal"), missing="impute", n_estimators=6, tcfs_depth=3
    ),
    "forest of orthogonal trees of labels": lambda: iris("odt", n_estimators=5, leaves="label"),
    "large": lambda: mixed("hhcart_d", Policy("keep"), n=1500, missing="learn"),
}


@cache
def case_of(name: str) -> Case:
    """One of CASES."""
    return CASES[name]()


# ---- rows ------------------------------------------------------------------------------------------------------------


def rows(case: Case, n: int = N_ROWS, gaps: float = 0.03, seed: int = 3) -> np.ndarray:
    """Rows to predict: drawn around training rows, on hyperplanes, next to them, with gaps and unknown levels."""
    rng = np.random.default_rng(seed)
    cells = case.procedure.cells
    X = case.X[rng.integers(0, len(case.X), n)].copy()
    deviation = np.nanstd(case.X, axis=0)
    plain = [j for j, cell in enumerate(cells) if not cell.levels]
    X[:, plain] += rng.normal(size=(n, len(plain))) * deviation[plain] * rng.choice([0.0, 0.3, 2.0], size=(n, 1))
    for j, cell in enumerate(cells):
        if cell.levels:
            drawn = rng.random(n) < 0.3
            X[drawn, j] = rng.integers(0, len(cell.levels) + 1, drawn.sum())
    splits = [s for tree in case.procedure.trees if not tree.rotated for s in tree.splits if s is not None]
    for i in range(0, n, 2) if splits else ():
        _put_on(X[i], splits[rng.integers(len(splits))], plain, rng)
    if gaps:
        X[rng.random(X.shape) < gaps] = np.nan
    return np.ascontiguousarray(X)


def _put_on(row: np.ndarray, split: Split, plain: list[int], rng: np.random.Generator) -> None:
    """Move a row onto a hyperplane along one number, or to one of the nearest numbers on either side."""
    numbers = [term for term in split.terms if term.level == NUMBER and term.cell in plain]
    if not numbers:
        return
    chosen = numbers[rng.integers(len(numbers))]
    rest = sum(
        term.coef * row[term.cell] if term.level == NUMBER else term.coef * (row[term.cell] == term.level)
        for term in split.terms
        if term is not chosen
    )
    value = (split.threshold - rest) / chosen.coef
    for _ in range(int(rng.integers(0, 3))):
        value = math.nextafter(value, rng.choice([-math.inf, math.inf]))
    if math.isfinite(value) and abs(value) < 1e100:
        row[chosen.cell] = value


def expected(case: Case, X: np.ndarray) -> tuple[Answers, np.ndarray]:
    """What `predict` and `predict_proba` say; None for rows that lack a number the model needs."""
    procedure = case.procedure
    lacking = np.isnan(X[:, list(procedure.needed)]).any(axis=1) if procedure.needed else np.zeros(len(X), bool)
    rows_of_predict = procedure.for_predict(X)  # `predict` refuses a gap in a column that no split uses
    answers: Answers = [None] * len(X)
    good = np.flatnonzero(~lacking)
    predictions = case.model.predict(rows_of_predict[good])
    labels = predictions.tolist() if procedure.is_regression or case.model.has_codes else _labels(case, predictions)
    for i, label in zip(good.tolist(), labels, strict=True):
        answers[i] = label
    shares = np.full((len(X), len(procedure.classes)), np.nan)
    if not procedure.is_regression:
        shares[good] = case.model.predict_proba(rows_of_predict[good])
    return answers, shares


def _labels(case: Case, result: np.ndarray) -> list[str]:
    codes = np.searchsorted(case.model.fitted.state["classes_"], result)
    return [case.procedure.classes[code] for code in codes]


def as_cells(procedure: Procedure, X: np.ndarray, missing: Any = None) -> list[list[Any]]:
    """Rows as a user has them: levels as text."""
    results = []
    for row in X.tolist():
        cells: list[Any] = []
        for cell, value in zip(procedure.cells, row, strict=True):
            if value != value:
                cells.append(missing)
            elif cell.levels:
                cells.append(cell.levels[int(value)] if value < len(cell.levels) else "never seen before")
            else:
                cells.append(value)
        results.append(cells)
    return results


# ---- what formats say ------------------------------------------------------------------------------------------------

RUN_PYTHON = """
import json, sys
source, functions, rows, names = json.load(sys.stdin)
module = {}
exec(compile(source, "model.py", "exec"), module)
assert not {"numpy", "oblique_cli", "sklearn"} & set(sys.modules)
named = [dict(zip(names, row)) for row in rows[:50]]
answers = [[module[name](row) for row in rows] for name in functions]
assert [values[:50] for values in answers] == [[module[name](row) for row in named] for name in functions]
json.dump(answers, sys.stdout)
"""
RUN_JAVASCRIPT = """
import { readFileSync } from "node:fs";
import * as model from "./model.mjs";
const [functions, rows, names] = JSON.parse(readFileSync(0, "utf-8"));
const named = rows.slice(0, 50).map((row) => {
  const cells = Object.create(null);
  names.forEach((name, j) => { cells[name] = row[j]; });
  return cells;
});
const answers = functions.map((name) => rows.map(model[name]));
functions.forEach((name, k) => named.forEach((row, i) => {
  if (JSON.stringify(model[name](row)) !== JSON.stringify(answers[k][i])) throw new Error(`row ${i} by names`);
}));
process.stdout.write(JSON.stringify(answers));
"""


def run_python(source: str, procedure: Procedure, X: np.ndarray, folder: Path, *functions: str) -> list[list[Any]]:
    """What functions of the module answer in a process without any package."""
    return _run([sys.executable, "-I", "-S", "-c", RUN_PYTHON], procedure, X, folder, source, functions)


def run_javascript(source: str, procedure: Procedure, X: np.ndarray, folder: Path, *functions: str) -> list[list[Any]]:
    """What functions of the module, named as in Python, answer in Node."""
    if shutil.which("node") is None:
        pytest.skip("needs Node 18 or newer to run JavaScript: install nodejs")
    (folder / "model.mjs").write_text(source, encoding="utf-8")
    (folder / "main.mjs").write_text(RUN_JAVASCRIPT, encoding="utf-8")
    in_humps = [re.sub("_(.)", lambda match: match[1].upper(), name) for name in functions]
    return _run(["node", "main.mjs"], procedure, X, folder, in_humps)


def _run(command: list[str], procedure: Procedure, X: np.ndarray, folder: Path, *further: Any) -> list[list[Any]]:
    request = json.dumps([*further, as_cells(procedure, X), [cell.name for cell in procedure.cells]])
    done = subprocess.run(
        command, cwd=folder, input=request, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers: list[list[Any]] = json.loads(done.stdout)
    return answers


def _of_functions(run: Callable[..., list[list[Any]]]) -> Say:
    def say(source: str, case: Case, X: np.ndarray, folder: Path) -> tuple[Answers, np.ndarray | None]:
        """What the functions of the module answer."""
        functions = ("predict",) if case.procedure.is_regression else ("predict", "predict_proba")
        answers, *shares = run(source, case.procedure, X, folder, *functions)
        return answers, _shares(shares[0], case) if shares else None

    return say


def _shares(shares: list[Any], case: Case) -> np.ndarray | None:
    if case.procedure.is_regression:
        return None
    nothing = [math.nan] * len(case.procedure.classes)
    return np.array([nothing if share is None else share for share in shares], dtype=np.float64)


STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic", "-Wmissing-prototypes")
STRICT += ("-Wstrict-prototypes",)

MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "model.c"
int main(void)
{
    double row[OBLIQUE_COLUMNS];
    while (fread(row, sizeof(double), OBLIQUE_COLUMNS, stdin) == OBLIQUE_COLUMNS) {
        %s
        fwrite(out, sizeof(double), sizeof out / sizeof *out, stdout);
    }
    return 0;
}
"""
CLASSES_MAIN = """double out[1 + OBLIQUE_CLASSES];
        int k;
        for (k = 0; k < OBLIQUE_CLASSES; k++) out[1 + k] = NAN;
        out[0] = oblique_predict_proba(row, out + 1);
        if (out[0] != oblique_predict(row)) return 1;"""
VALUE_MAIN = "double out[1] = {oblique_predict(row)};"
SET_MAIN = """double out[OBLIQUE_CLASSES];
        unsigned char inside[OBLIQUE_CLASSES];
        int k, count = oblique_predict_set(row, inside);
        for (k = 0; k < OBLIQUE_CLASSES; k++) count -= inside[k], out[k] = inside[k];
        if (count) return 1;"""
INTERVAL_MAIN = """double out[2];
        if (oblique_predict_interval(row, out) < 0) return 1;"""


def run_c(
    source: str, X: np.ndarray, folder: Path, main: str, command: tuple[str, ...] = ("cc", *STRICT)
) -> np.ndarray:
    """What the compiled program answers, (n, k). main : statements that fill out[k] by a row"""
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs the C compiler {command[0]}")
    (folder / "model.c").write_text(source, encoding="utf-8")
    (folder / "main.c").write_text(MAIN % main)
    program = str(folder / "program")
    done = subprocess.run([*command, "main.c", "-o", program, "-lm"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    ended = subprocess.run([program], input=X.astype("<f8").tobytes(), capture_output=True, check=True)
    return np.frombuffer(ended.stdout, "<f8").reshape(len(X), -1)


def say_c(
    source: str, case: Case, X: np.ndarray, folder: Path, command: tuple[str, ...] = ("cc", *STRICT)
) -> tuple[Answers, np.ndarray | None]:
    """What the compiled program says."""
    regression, classes = case.procedure.is_regression, case.procedure.classes
    table = run_c(source, X, folder, VALUE_MAIN if regression else CLASSES_MAIN, command)
    if regression:
        return [None if value != value else value for value in table[:, 0].tolist()], None
    return [None if code < 0 else classes[int(code)] for code in table[:, 0]], table[:, 1:]


def run_sql(source: str, procedure: Procedure, X: np.ndarray, columns: str) -> list[tuple[Any, ...]]:
    """What SQLite answers in some columns of the statement."""
    names = ['"' + (cell.name.replace('"', '""')) + '"' for cell in procedure.cells]
    with closing(sqlite3.connect(":memory:")) as base:
        types = ", ".join(f"{n} {'TEXT' if c.levels else 'REAL'}" for n, c in zip(names, procedure.cells, strict=True))
        base.execute(f'CREATE TABLE "data" (number INTEGER, {types})')
        marks = ", ".join("?" * (1 + len(names)))
        rows = [[i, *row] for i, row in enumerate(as_cells(procedure, X))]
        base.executemany(f'INSERT INTO "data" VALUES ({marks})', rows)
        statement = source.rstrip().removesuffix(";")
        return base.execute(f"SELECT {columns} FROM ({statement}) ORDER BY number").fetchall()


def say_sql(source: str, case: Case, X: np.ndarray, folder: Path) -> tuple[Answers, np.ndarray | None]:
    """What SQLite says: predictions, and the share of each, (n,)."""
    if case.procedure.is_regression:
        return [value for (value,) in run_sql(source, case.procedure, X, "prediction")], None
    answers, shares = zip(*run_sql(source, case.procedure, X, "prediction, share"), strict=True)
    return list(answers), np.array([math.nan if share is None else share for share in shares])


def say_json(source: str, case: Case, X: np.ndarray, folder: Path) -> tuple[Answers, np.ndarray | None]:
    """What the steps say to a reader that knows nothing but docs/models.md."""
    model = json.loads(source)
    answers, shares = [], []
    for row in X.tolist():
        cells = [
            column["fill"] if value != value and column["fill"] is not None else value
            for column, value in zip(model["columns"], row, strict=True)
        ]
        names = [column["name"] for column in model["columns"]]
        if any(cells[names.index(name)] != cells[names.index(name)] for name in model["needed"]):
            answers.append(None)
            shares.append(None)
            continue
        for item in model.get("codes", ()):
            value = cells[item["column"]]
            if "level" in item:
                value = float(value != value if item["level"] is None else value == item["level"])
            cells.append(float(item["values"].index(value) if value in item["values"] else item["usual"]))
        leaves = [_leaf_of(tree, cells) for tree in model["trees"]]
        if model["task"] == "regression":
            values = [_total(leaf["terms"], cells, []) + leaf["intercept"] for leaf in leaves]
            values = [_with_parts([v], of.get("parts", []), cells)[0] for v, of in zip(values, leaves, strict=True)]
            bounds = [leaf.get("bounds", (value, value)) for leaf, value in zip(leaves, values, strict=True)]
            total = reduce(add, (float(np.clip(v, *ends)) for v, ends in zip(values, bounds, strict=True)))
            forms = {"mean": total / len(values), "sum": total + model.get("base", 0.0)}
            answers.append(forms.get(model["voting"], total))
            continue
        n_classes = len(model["classes"])
        if "scored" in leaves[0] and model["voting"] == "mean":
            each = np.array([_by_scores(leaf, cells, model)[1] for leaf in leaves])
            shares.append((each.sum(axis=0) / len(leaves)).tolist())
            answers.append(model["classes"][int(np.argmax(shares[-1]))])
            continue
        if "scored" in leaves[0] and model["voting"] == "sum":
            sums = [reduce(add, each, 0.0) for each in zip(*(leaf["intercepts"] for leaf in leaves), strict=True)]
            scores = [entry + start for entry, start in zip(sums, model["base"], strict=True)]
            shares.append(_of_scores(scores, leaves[0]["scored"], model))
            answers.append(model["classes"][_code_of(shares[-1], model)])
            continue
        if "scored" in leaves[0]:
            label, of_row = _by_scores(leaves[0], cells, model)
            answers.append(label)
            shares.append(of_row)
            continue
        votes = [0.0] * n_classes
        for leaf in leaves:
            majority = [float(k == leaf.get("class")) for k in range(n_classes)]
            for k, share in enumerate(majority if model["voting"] == "majority" else leaf["shares"]):
                votes[k] += share
        if model["voting"] == "clipped":
            positive = [max(vote, 0.0) for vote in votes]
            shares.append([vote / sum(positive) for vote in positive] if any(positive) else model["even"])
            top = max(shares[-1])
            answers.append(next(name for name, s in zip(model["classes"], shares[-1], strict=True) if s >= top - 1e-9))
            continue
        code = votes.index(max(votes)) if model["voting"] else leaves[0]["class"]
        answers.append(model["classes"][code])
        prior, total = model.get("prior", [0.0] * n_classes), model.get("votes", len(leaves))
        shares.append([(vote + before) / total for vote, before in zip(votes, prior, strict=True)])
    return answers, _shares(shares, case)


def _by_scores(leaf: dict[str, Any], cells: list[float], model: dict[str, Any]) -> tuple[str, list[float]]:
    scores = _with_parts(leaf["intercepts"], leaf["parts"], cells)
    shares = _of_scores(scores, leaf["scored"], model)
    code = _code_of(shares, model) if "threshold" in model else leaf["scored"][scores.index(max(scores))]
    return model["classes"][code], shares


def _with_parts(scores: list[float], parts: list[dict[str, Any]], cells: list[float]) -> list[float]:
    def deviations(part: dict[str, Any]) -> float:
        x = cells[part["column"]]
        if "level" in part:
            x = float(x != x if part["level"] is None else x == part["level"])
        z = (x - part["center"]) / part["scale"]
        return 0.0 if x != x else min(max(z, part.get("least", -1e100)), part.get("largest", 1e100))

    for part in parts:
        z = deviations(part) * (deviations(part["times"]) if "times" in part else 1.0)
        scores = [score + coef * z for score, coef in zip(scores, part["coefficients"], strict=True)]
    return scores


def _of_scores(scores: list[float], scored: list[int], model: dict[str, Any]) -> list[float]:
    powers = [math.exp(score - max(scores)) for score in scores]
    shares = [0.0] * len(model["classes"])
    for code, power in zip(scored, powers, strict=True):
        shares[code] = power / sum(powers)
    return shares


def _code_of(shares: list[float], model: dict[str, Any]) -> int:
    if "threshold" not in model:
        return shares.index(max(shares))
    first = model["threshold"]["class"]
    return first if shares[first] >= model["threshold"]["share"] else 1 - first


def _leaf_of(tree: dict[str, Any], cells: list[float]) -> dict[str, Any]:
    rotated = [_total(terms, cells, []) for terms in tree["rotated"]]
    node = tree["nodes"][0]
    while "left" in node:
        sums = [_total(terms, cells, rotated) for terms in node["lanes"]]
        total = sums[0] if len(sums) == 1 else (sums[0] + sums[1]) + (sums[2] + sums[3])
        left = node["missing"] == "left" if total != total else total <= node["threshold"]
        node = tree["nodes"][node["left" if left else "right"]]
    return node


def _total(terms: list[dict[str, Any]], cells: list[float], rotated: list[float]) -> float:
    total = 0.0
    for term in terms:
        value = rotated[term["rotated"]] if "rotated" in term else cells[term["column"]]
        if "level" in term:
            holds = value != value if term["level"] is None else value == term["level"]
            total += term["coefficient"] if holds else 0.0
        else:
            total += term["coefficient"] * value
    return total


def run_onnx(source: bytes, procedure: Procedure, X: np.ndarray, *outputs: str) -> list[np.ndarray]:
    """What onnxruntime answers in some outputs."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install onnxruntime")
    session = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
    cells = as_cells(procedure, X, missing="")
    feeds = {}
    for j, (wanted, cell) in enumerate(zip(session.get_inputs(), procedure.cells, strict=True)):
        assert wanted.name == (cell.name or f"x{j + 1}")
        feeds[wanted.name] = np.array([[row[j]] for row in cells], dtype=object) if cell.levels else X[:, [j]]
    results: list[np.ndarray] = session.run(list(outputs), feeds)
    return results


def say_onnx(source: bytes, case: Case, X: np.ndarray, folder: Path) -> tuple[Answers, np.ndarray | None]:
    """What onnxruntime says."""
    if case.procedure.is_regression:
        (values,) = run_onnx(source, case.procedure, X, "value")
        return [None if value != value else value for value in values.tolist()], None
    labels, shares = run_onnx(source, case.procedure, X, "label", "probabilities")
    return [label or None for label in labels.tolist()], shares


PMML_READER = """
import json, sys
import pandas
from jpmml_evaluator import make_evaluator
from jpmml_evaluator.jpype import JPypeBackend
backend = JPypeBackend()
for line in sys.stdin:
    path, names, rows, target, shares = json.loads(line)
    evaluator = make_evaluator(path, backend=backend).verify()
    found = evaluator.evaluateAll(pandas.DataFrame(rows, columns=names, dtype=object))
    answers = [answer if isinstance(answer, str) else None for answer in found[target].tolist()]
    print(json.dumps([answers, found[shares].astype(float).where(found[shares].notna(), None).values.tolist()]))
"""


def why_no_pmml_reader() -> str:
    """Say what is missing to read PMML, "" if nothing is."""
    if shutil.which("java") is None:
        return "needs java 11 or newer to read PMML: install a Java runtime"
    absent = [name for name in ("jpmml_evaluator", "jpype", "pandas") if importlib.util.find_spec(name) is None]
    return f"needs {', '.join(absent)} to read PMML: pip install jpmml-evaluator JPype1 pandas" if absent else ""


def say_pmml(documents: list[tuple[str, Case, np.ndarray]], folder: Path) -> list[tuple[Answers, np.ndarray | None]]:
    """What JPMML says of several documents, in one process: a Java machine takes seconds to start."""
    requests = []
    for i, (document, case, X) in enumerate(documents):
        path = folder / f"{i}.pmml"
        path.write_text(document, encoding="utf-8")
        names = [cell.name or f"x{j}" for j, cell in enumerate(case.procedure.cells, start=1)]
        shares = [f"probability({label})" for label in case.procedure.classes]
        requests.append([str(path), names, as_cells(case.procedure, X), case.procedure.target, shares])
    values = "".join(json.dumps(item) + "\n" for item in requests)
    done = subprocess.run(
        [sys.executable, "-c", PMML_READER], input=values, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    texts = [json.loads(line) for line in done.stdout.splitlines()]
    return [(answers, np.array(shares, dtype=np.float64)) for answers, shares in texts]


QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
NUMERAL = r"\d[\d.]*(?:e[-+]?\d+)?"
SUMMAND = re.compile(rf" ?([-+]?) ?(?:(?:({NUMERAL}) \* )?@(\d+)(?:\[([^]]*), else 0\])?|({NUMERAL}))")


class RuleReader:
    """Reads a rule as docs/models.md describes it. Names and levels in quotes become @0, @1, ..."""

    def __init__(self, text: str, case: Case, X: np.ndarray) -> None:
        self.names = [json.loads(match) for match in QUOTED.findall(text)]
        places = iter(range(len(self.names)))
        self.conditions, _, self.conclusion = QUOTED.sub(lambda _: f"@{next(places)}", text).partition(" then ")
        self.procedure = case.procedure
        self.X = X
        self.close = np.zeros(len(X), dtype=bool)  # rows within rounding of a hyperplane of the rule

    def holds(self) -> np.ndarray:
        """Return for which rows the conditions hold."""
        result = np.ones(len(self.X), dtype=bool)
        for condition in self.conditions.removeprefix("if ").split(" and "):
            result &= condition == "true" or self.condition(condition)
        return result

    def condition(self, text: str) -> np.ndarray:
        """Return where one inequality holds, or where a column is a level, or is not."""
        if match := re.fullmatch(r"@(\d+) is (not )?(\S+)", text):
            return self.is_level(*self.column(match[1]), match[3]) != bool(match[2])
        match = re.fullmatch(r"(.*) (<=|>) (\S+)( \(or missing\))?", text)
        assert match, text
        total, size = self.sum(match[1])
        threshold = float(match[3])
        near = np.abs(total - threshold) <= 1e-12 * (size + abs(threshold))
        self.close |= near & ~np.isnan(total)
        holds = total <= threshold if match[2] == "<=" else total > threshold
        return holds | np.isnan(total) if match[4] else holds

    def sum(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """Return a sum, and the sum of the sizes of its summands."""
        total, size, at = np.zeros(len(self.X)), np.zeros(len(self.X)), 0
        while at < len(text):
            match = SUMMAND.match(text, at)
            assert match, text[at : at + 40]
            sign, factor, place, levels, number = match.groups()
            value = float(factor or number or 1.0) * (1.0 if place is None else self.reference(place, levels))
            total, size, at = total + (-value if sign == "-" else value), size + np.abs(value), match.end()
        return total, size

    def column(self, place: str) -> tuple[Any, np.ndarray]:
        """Return a column of the model by the place of its name, and its cells."""
        name = self.names[int(place)]
        (j,) = (j for j, cell in enumerate(self.procedure.columns) if cell.name == name)
        return self.procedure.columns[j], self.X[:, j]

    def is_level(self, cell: Any, values: np.ndarray, level: str) -> np.ndarray:
        """Return where cells have a level."""
        return np.isnan(values) if level == "missing" else values == cell.levels.index(self.names[int(level[1:])])

    def reference(self, place: str, levels: str | None) -> np.ndarray:
        """Return a column, or what its levels count."""
        cell, values = self.column(place)
        if levels is None:
            return values
        total = np.zeros(len(values))
        for case in levels.split(", "):
            amount, _, level = case.partition(" if ")
            total += float(amount) * self.is_level(cell, values, level)
        return total


def _said_deviations(lines: list[str], procedure: Procedure, X: np.ndarray) -> dict[str, np.ndarray]:
    """What the head of the rules says of the columns of scores: "hinge("age" > 3.5)" -> (n,)."""
    results = {}
    forms = {f"({quoted(cell.name)}": (j, None) for j, cell in enumerate(procedure.cells)}
    for j, cell in enumerate(procedure.cells):
        forms |= {f"({quoted(cell.name)} is {quoted(v)})": (j, code) for code, v in enumerate(cell.levels)}
        forms[f"({quoted(cell.name)} is missing)"] = (j, -2)
    for line in lines:
        heads = [f"#   {kind}{form}" for kind in ("z", "near", "hinge") for form in forms]
        head = max((head for head in heads if line.startswith(head)), key=len, default=None)
        if head is None:
            continue
        j, code = forms["(" + head.partition("(")[2]]
        end, _, output = line.removeprefix(head).partition(": ")
        name = head.removeprefix("#   ") + end
        if code is None:
            text = output.replace(quoted(procedure.cells[j].name), "V")
            parts = re.match(r"(.*?)(?:, at least (\S+) and at most ([^;]+))?(; .*)?$", text)
            formula, low, high, gone = parts.groups()
            z = eval(formula, {"V": X[:, j], "max": np.maximum})
            assert not np.isnan(z).any() or gone == "; 0 where it is missing" or procedure.needed
            results[name] = np.nan_to_num(np.clip(z, float(low or -1e100), float(high or 1e100)), nan=0.0)
        else:
            there, other = map(float, output.split(", else "))
            is_there = np.isnan(X[:, j]) if code == -2 else X[:, j] == code
            results[name] = np.where(is_there, there, other)
    assert len(results) == len(procedure.scaled)
    return results


def _by_said_scores(lines: list[str], rule: str, deviations: dict[str, np.ndarray], procedure: Procedure) -> np.ndarray:
    """The classes that the scores below a rule prefer, or the numbers below it."""
    n = len(next(iter(deviations.values())))
    scores, codes = [], []
    heads = [f"    score of {quoted(v)} = " for v in procedure.classes] or [f"    {quoted(procedure.target)} = "]
    for line in lines[: lines.index("")]:
        (code,) = (k for k, head in enumerate(heads) if line.startswith(head))
        text = line.removeprefix(heads[code])
        for name in sorted(deviations, key=len, reverse=True):
            text = text.replace(name, f"D[{list(deviations).index(name)}]")
        scores.append(np.zeros(n) + eval(text, {"D": list(deviations.values())}))
        codes.append(code)
    if procedure.is_regression:
        return scores[0]
    assert rule.endswith(" then the class of the largest score")
    return np.array(procedure.classes, dtype=object)[np.array(codes)[np.argmax(scores, axis=0)]]


def say_rules(source: str, case: Case, X: np.ndarray) -> tuple[Answers, np.ndarray]:
    """What the rules say, and which rows are within rounding of a hyperplane: rules are for reading."""
    procedure = case.procedure
    lines = source.splitlines()
    values = np.full(len(X), None, dtype=object)
    times, close = np.zeros(len(X), dtype=int), np.zeros(len(X), dtype=bool)
    filled = np.array([procedure.with_codes(row) for row in np.where(np.isnan(X), procedure.fills, X).tolist()])
    deviations = _said_deviations(lines, procedure, filled)
    for i, line in enumerate(lines):
        if not line.startswith("if "):
            continue
        text, _, _ = line.rpartition("  [")
        reader = RuleReader(text, case, filled)
        holds = reader.holds()
        times += holds
        close |= reader.close
        if procedure.is_regression:
            target, _, equation = reader.conclusion.partition(" = ")
            assert reader.names[int(target[1:])] == procedure.target
            if procedure.has_scores:
                assert re.match(r"the sum of \d+ terms, within", equation)
                value = _by_said_scores(lines[i + 1 :], text, deviations, procedure)
            else:
                value = reader.sum(equation.partition(", within")[0])[0]
            if bounds := re.search(r", within (\S+) to (\S+)$", line.rpartition("  [")[0]):
                value = np.clip(value, *map(float, bounds.groups()))
            values[holds] = value[holds]
        elif procedure.has_scores:
            values[holds] = _by_said_scores(lines[i + 1 :], text, deviations, procedure)[holds]
        else:
            values[holds] = reader.names[int(reader.conclusion.removeprefix("class @"))]
    lacking = np.isnan(X[:, list(procedure.needed)]).any(axis=1) if procedure.needed else np.zeros(len(X), bool)
    values[lacking] = None
    assert (times[~lacking & ~close] == 1).all()
    return values.tolist(), close


SAY: dict[str, Say] = {
    "python": _of_functions(run_python),
    "c": say_c,
    "javascript": _of_functions(run_javascript),
    "sql": say_sql,
    "json": say_json,
    "onnx": say_onnx,
}
