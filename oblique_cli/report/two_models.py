"""Two models on the rows of one table, on one page: scores with their paired difference, sizes, curves, and the rows
with different predictions. It is one file that needs no network, and is readable without scripts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.drawing import markup, small_charts
from oblique_cli.drawing.small_charts import Marks, scale_of
from oblique_cli.drawing.svg import drawing, style_sheet
from oblique_cli.drawing.view import printable
from oblique_cli.errors import ConfigError, cut, quoted
from oblique_cli.ground.arrays import Array
from oblique_cli.models.explaining.importance import Importances
from oblique_cli.models.explaining.shapes import MOST_SHAPES, Shape, followed, shapes_of
from oblique_cli.models.model import Model
from oblique_cli.tree.reading import number

MOST_ROWS, MOST_CELLS = 200, 8  # rows and columns of the table of differing answers


@dataclass(frozen=True, eq=False)
class Read:
    """A model and the rows of the table as it reads them.

    name : of the file; X : (n, p) cells; y : (n,) codes of classes, or numbers
    """

    name: str
    model: Model
    X: Array
    y: NDArray[Any]

    def predicted(self) -> NDArray[Any]:
        """Return codes of classes, or numbers, (n,)."""
        answers = self.model.predict(self.X)
        if not self.model.classes:
            return np.asarray(answers, dtype=np.float64)
        places = {label: code for code, label in enumerate(self.model.classes)}
        return np.array([places[str(label)] for label in answers], dtype=np.int64)


def target_of(model: Model) -> str:
    """Return the name of the predicted column, "" if unknown."""
    return "" if model.columns is None else model.columns.target


def check(first: str, of_first: Model, second: str, of_second: Model) -> None:
    """Raise ConfigError for models, from files of these names, whose predictions cannot be compared row by row."""
    targets = [quoted(target_of(model)) for model in (of_first, of_second)]
    if targets[0] != targets[1]:
        raise ConfigError(
            f"{first} predicts column {targets[0]} and {second} column {targets[1]}; compare two models of one column."
        )
    if set(of_first.classes) != set(of_second.classes):
        pairs = ((first, of_first), (second, of_second))
        shown = [f"{name}: {', '.join(map(cut, model.classes[:12])) or 'numbers'}" for name, model in pairs]
        raise ConfigError(f"the models have different classes ({'; '.join(shown)}); fit both to the same classes.")


def two_models(first: Read, second: Read, table: str) -> str:
    """Return the page. first, second : models of one target, which `check` has passed; table : name of the file"""
    # The order of the classes may differ; that of the first model counts.
    labels = list(first.model.classes)
    answers = [first.predicted(), second.predicted()]
    if labels:
        place = np.array([labels.index(label) for label in second.model.classes])
        answers[1] = place[answers[1]]
    names = [printable(read.name) for read in (first, second)]
    wrong = [(of_model != first.y) if labels else (of_model - first.y) ** 2 for of_model in answers]
    sections = [
        ("scores", "On these rows", _scores(names, wrong, bool(labels)) + _agreement(names, wrong, answers, labels)),
        ("sizes", "Size and estimate", _sizes(first, second)),
        ("curves", "Along the columns", _curves(names, first, second)),
        ("rows", "Rows with different answers", _differing(names, first, answers, labels)),
    ]
    tiles = {"rows": f"{len(first.y):,}", "different answers": f"{int(_differ(answers, labels).sum()):,}"}
    style = markup.file("report/runs_page.css") + markup.file("report/model_card.css")
    style += small_charts.STYLE + style_sheet("svg ")
    title = f"{names[0]} and {names[1]}"
    soft = f"Answers of two models of {printable(target_of(first.model))!r} to the rows of {printable(table)}."
    note = (
        "Rows that a model was fitted to flatter it. The estimate of each model (Size and estimate) is of rows that it "
        "had not seen."
    )
    return markup.sectioned(title, soft, tiles, [note], sections, style, markup.file("report/pages.js"))


def _differ(answers: Sequence[NDArray[Any]], labels: Sequence[str]) -> NDArray[np.bool_]:
    """Return whether predictions differ, (n,); for numbers, by more than a hundredth of their standard deviation."""
    if labels:
        return np.asarray(answers[0] != answers[1])
    return np.asarray(np.abs(answers[0] - answers[1]) > 0.01 * max(float(np.std(answers[0])), 1e-300))


def _scores(names: Sequence[str], wrong: Sequence[NDArray[Any]], of_classes: bool) -> str:
    """Return both scores, and their paired difference with its standard error."""
    gain = np.asarray(wrong[1], dtype=np.float64) - wrong[0]
    error = float(gain.std(ddof=1)) / sqrt(len(gain)) if len(gain) > 1 else 0.0
    if of_classes:
        shares = [100 * (1 - float(of_model.mean())) for of_model in wrong]
        rows = [(name, f"{share:.1f} %") for name, share in zip(names, shares, strict=True)]
        rows.append(("first less second, paired", f"{100 * gain.mean():+.1f} points ± {100 * error:.1f}"))
        return markup.plain_table("Accuracy of both models", ("model", "accuracy"), rows, 1)
    rows = [(name, number(sqrt(float(of_model.mean())), 4)) for name, of_model in zip(names, wrong, strict=True)]
    table = markup.plain_table("RMSE of both models", ("model", "RMSE"), rows, 1)
    mean = f"{number(float(gain.mean()), 3)} ± {number(error, 2)}"
    return f'{table}<p class="soft">Squared error of the second less that of the first, mean over rows: {mean}.</p>'


def _agreement(
    names: Sequence[str], wrong: Sequence[NDArray[Any]], answers: Sequence[NDArray[Any]], labels: Sequence[str]
) -> str:
    """Return which model is right on how many rows, with the exact test of McNemar; "" for numbers."""
    if not labels:
        return ""
    from scipy.stats import binomtest

    right = [~np.asarray(of_model, dtype=bool) for of_model in wrong]
    only = [int((right[k] & ~right[1 - k]).sum()) for k in (0, 1)]
    rows = [
        ("both right", f"{int((right[0] & right[1]).sum()):,}"),
        (f"only {names[0]}", f"{only[0]:,}"),
        (f"only {names[1]}", f"{only[1]:,}"),
        ("both wrong", f"{int((~right[0] & ~right[1]).sum()):,}"),
    ]
    p = float(binomtest(only[0], sum(only), 0.5).pvalue) if sum(only) else 1.0
    table = markup.plain_table("Right answers of both models", ("right", "rows"), rows, 1)
    test = f"Rows on which one model alone is right: p = {p:.2g} by the exact test of McNemar."
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(counts, (answers[0], answers[1]), 1)
    shown = [cut(printable(label), 40) for label in labels]
    matrix = markup.matrix(f"Answers of {names[0]} (lines) and of {names[1]} (columns).", shown, counts.tolist())
    return f'{table}<p class="soft">{test}</p>{matrix if len(labels) <= 30 else ""}'


def _sizes(first: Read, second: Read) -> str:
    rows = []
    for what, key in (("leaves", "leaves"), ("terms", "n_terms"), ("depth", "depth"), ("training rows", "rows")):
        counts = (read.model.facts.get(key) for read in (first, second))
        rows.append((what, *(f"{n:,}" if isinstance(n, int) else "-" for n in counts)))
    estimates = []
    for read in (first, second):
        estimate, metric = read.model.facts.get("estimate", {}), read.model.facts.get("metric", "")
        known = metric in estimate
        score = f"{number(estimate[metric], 4)} ± {number(estimate['standard_error'], 2)}" if known else "-"
        estimates.append(f"{metric} {score}" if known else "-")
    rows += [
        ("estimate on new rows", *estimates),
        ("algorithm", *(str(read.model.algorithm) for read in (first, second))),
    ]
    header = ("what", printable(first.name), printable(second.name))
    return markup.plain_table("Size and estimate of both models", header, rows, 1)


def _curves(names: Sequence[str], first: Read, second: Read) -> str:
    """Return partial dependence of both models along the columns that are most important to either of them."""
    columns: dict[str, None] = {}
    for read in (first, second):
        counted = Importances.from_plain(read.model.facts.get("importances"))
        if counted is not None:
            columns |= dict.fromkeys(counted.largest(MOST_SHAPES, read.model.feature_names))
    label = first.model.classes[followed(first.model)[0]] if first.model.classes else None
    figures: list[str] = []
    for name in list(columns)[: 2 * MOST_SHAPES]:
        shapes = {
            code: shape
            for code, read in enumerate((first, second))
            if name in read.model.feature_names
            for shape in shapes_of(read.model, read.X, (name,), None, follow=label)
        }
        figures += _overlaid(
            names, cut(printable(name), 40), shapes, "" if label is None else cut(printable(label), 40)
        )
    if not figures:
        return ""
    legend = "".join(markup.key(code, name) for code, name in enumerate(names))
    what = "the mean probability of one class" if first.model.classes else "the mean prediction"
    note = f"Curves: {what}, when the column of all rows has one value (partial dependence)."
    return f'<p class="soft">{note}</p><ul class="legend">{legend}</ul><div class="plots">{"".join(figures)}</div>'


def _overlaid(names: Sequence[str], column: str, shapes: Mapping[int, Shape], label: str) -> Iterator[str]:
    """Yield the figure of a column, if it can be drawn. shapes : code of a model -> its shape; label : of the class"""
    points = {
        code: [
            (cut(printable(shape.levels[int(x)]), 40) if shape.levels else x, y)
            for x, y in zip(shape.at.tolist(), shape.mean[:, 0].tolist(), strict=True)
        ]
        for code, shape in shapes.items()
    }
    values = scale_of(
        [y for of_model in points.values() for _, y in of_model], f"of {label}" if label else "prediction"
    )
    has_levels = {bool(shape.levels) for shape in shapes.values()}
    if values is None or len(has_levels) > 1:
        return
    title = f"Both models along {column}"
    if True in has_levels:
        levels = list(dict.fromkeys(str(level) for of_model in points.values() for level, _ in of_model))
        dots = [Marks([(y, levels.index(str(x))) for x, y in of_model], code) for code, of_model in points.items()]
        chart = small_charts.levels(title, levels, values, dots)
    else:
        lines = [Marks([(float(x), y) for x, y in of_model], code, joined=True) for code, of_model in points.items()]
        across = scale_of([x for line in lines for x, _ in line.points], column)
        if across is None:
            return
        chart = small_charts.plane(title, across, values, lines)
    rows = [
        (x if isinstance(x, str) else number(x, 5), names[code], number(y, 4))
        for code, of_model in points.items()
        for x, y in of_model
    ]
    table = markup.numbers(title, (column, "model", "value"), rows, 2)
    caption = markup.cell("figcaption", f"{column}: {label}" if label else column, "")
    yield f"<figure>{drawing(chart)}{caption}{table}</figure>"


def _differing(names: Sequence[str], first: Read, answers: Sequence[NDArray[Any]], labels: Sequence[str]) -> str:
    """Return the table of rows with different predictions; for numbers, those that differ most."""
    rows = np.flatnonzero(_differ(answers, labels))
    if not len(rows):
        return '<p class="soft">Both models give every row the same answer.</p>'
    if not labels:
        rows = rows[np.argsort(-np.abs(answers[0] - answers[1])[rows], kind="stable")]
    counted = Importances.from_plain(first.model.facts.get("importances"))
    seen = first.model.feature_names if counted is None else counted.largest(MOST_CELLS, first.model.feature_names)
    columns = [first.model.feature_names.index(name) for name in seen[:MOST_CELLS]]
    levels = {} if first.model.columns is None else first.model.columns.levels

    def answer(value: Any) -> str:
        return cut(printable(labels[int(value)]), 40) if labels else number(float(value), 5)

    def cell(row: int, j: int) -> str:
        value = float(first.X[row, j])
        if value != value:
            return ""
        known = levels.get(j, ())
        return cut(printable(known[int(value)]), 40) if j in levels and int(value) < len(known) else number(value, 5)

    body = [
        (str(row + 1), answer(first.y[row]), *(answer(of_model[row]) for of_model in answers),
         *(cell(row, j) for j in columns))
        for row in rows[:MOST_ROWS].tolist()
    ]  # fmt: skip
    header = (
        "row",
        printable(target_of(first.model)),
        *names,
        *(printable(first.model.feature_names[j]) for j in columns),
    )
    more = f" The first {MOST_ROWS} of {len(rows):,} are shown." if len(rows) > MOST_ROWS else ""
    note = f'<p class="soft">Rows are counted from 1 below the header, without those that lack the target.{more}</p>'
    return note + markup.plain_table("Rows with different answers", header, body, 0)
