"""Model card: one page on a model's training data, error on new rows, important columns, limits and origin. It is one
file that needs no network, and is readable without scripts.

All numbers are those of the model file (`Model.facts`), so `oblique fit --format json` has the same numbers. If the
training table is available, its rows add Shapley values along the most important columns.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oblique_cli import __version__
from oblique_cli.drawing import markup, small_charts
from oblique_cli.drawing.scene import FIRST, WHOLE, Scene, scene_of
from oblique_cli.drawing.small_charts import Band, Marks, Scale, scale_of
from oblique_cli.drawing.svg import drawing, style_sheet
from oblique_cli.drawing.view import BLANK, printable
from oblique_cli.errors import ConfigError, DataError, cut
from oblique_cli.ground.column_values import ColumnValues
from oblique_cli.models.explaining.importance import Importances, affordable_shapley, importances_of
from oblique_cli.models.explaining.shapes import MOST_SHAPES, Shape, shapes_of
from oblique_cli.models.model import Model, as_model
from oblique_cli.models.new_rows import unused_columns
from oblique_cli.models.showing import Shown, has_tree, of_loaded, sentence, values_of
from oblique_cli.tree.reading import number

LONG = 60  # letters of a name
MOST_COLUMNS = 200  # in the table of columns
MOST_BARS = 20
MOST_POINTS = 30  # in the table behind a figure
MOST_CLASSES = 30  # of a matrix; for more classes only the worst recalls are shown
WORST = 12
FEW_OF_CLASS, FEW = 30, 200  # a class or table with fewer rows gets a warning
LARGEST = 1_000_000  # bytes of a page; the largest sections of a larger page are omitted


def model_card(
    model: Any,
    rows: ArrayLike | None = None,
    *,
    remarks: Sequence[str] = (),
    beside: Model | None = None,
    command: str = "",
) -> str:
    """Return a page about a model as HTML, below a megabyte.

    model    a `Model`, as `load` gives it, or a fitted estimator; only `oblique fit` writes estimates into a model
    rows     (n, p) training rows as `Model.predict` takes them: numbers, NaN for a missing cell, codes of levels; they
             give the curves along columns, and importances where the model file has none
    remarks  sentences on the estimate
    beside   a tree that is kept beside a model that is none
    command  what made the model

    Raises DataError for a model whose facts are invalid.
    """
    model = as_model(model)
    X = None if rows is None else np.asarray(model.cells(rows), dtype=np.float64)
    if X is not None and (X.ndim != 2 or X.shape[1] != len(model.feature_names)):
        raise ConfigError(f"rows must have {len(model.feature_names)} columns, those of the model. Got {X.shape}.")
    try:
        card = _Card(model, X, tuple(remarks), beside, command)
        whole = card.page(())
        for left_out in (("shapes",), ("shapes", "model")):
            if len(whole.encode()) < LARGEST:
                break
            whole = card.page(left_out)
        return whole
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
        raise DataError(f"the facts of the model cannot be used ({error!r}); fit the model again.") from None


class _Card:
    """Sections of a page."""

    def __init__(self, model: Model, X: Any, remarks: tuple[str, ...], beside: Model | None, command: str) -> None:
        self.model, self.X, self.remarks, self.beside, self.command = model, X, remarks, beside, command
        self.facts = model.facts
        self.target = "the target" if model.columns is None else repr(_name(model.columns.target))
        self.shapley = None if X is None else affordable_shapley(model, X)
        counted = Importances.from_plain(self.facts.get("importances"))
        self.counted = importances_of(model, X, None, self.shapley) if counted is None and X is not None else counted
        self.values = values_of(model)
        if X is not None and not self.values:
            columns = {name: ColumnValues.of(cells[np.isfinite(cells)]) for name, cells in self._numbers()}
            self.values = {name: values for name, values in columns.items() if values is not None}

    def _numbers(self) -> Iterator[tuple[str, Any]]:
        """Yield the columns of numbers with their cells in the training rows."""
        levels = {} if self.model.columns is None else self.model.columns.levels
        for j, name in enumerate(self.model.feature_names):
            if j not in levels:
                yield name, self.X[:, j]

    def page(self, left_out: Sequence[str]) -> str:
        """Return the whole page. left_out : anchors of omitted sections"""
        sections: list[tuple[str, str, Callable[[], str]]] = [
            ("estimate", "On new rows", self.estimate),
            ("model", "The model", self.shown),
            ("importances", "What it looks at", self.importances),
            ("shapes", "Along the columns", self.shapes),
            ("coverage", "Coverage", self.coverage),
            ("table", "The table", self.table),
            ("limits", "Limits", self.limits),
            ("origin", "How to make it again", self.origin),
        ]
        made = [(anchor, title, body()) for anchor, title, body in sections if anchor not in left_out]
        style = markup.file("report/runs_page.css") + markup.file("report/model_card.css")
        style += markup.BARS + small_charts.STYLE + style_sheet("svg ")
        script = markup.file("report/pages.js") + markup.file("report/model_card.js")
        return markup.sectioned(self.title, *self.head(), made, style, script, kind=": model card")

    @property
    def title(self) -> str:
        """Return the name of the model."""
        name = str(self.facts.get("title") or self.model.algorithm or self.model.fitted.cls)
        return _name(f"{name} on {self.facts['data']}" if "data" in self.facts else name, 2 * LONG)

    def head(self) -> tuple[str, dict[str, str], list[str]]:
        """Return the target, the size and the most important notes."""
        facts, model = self.facts, self.model
        kind = f"{len(model.classes)} classes of {self.target}" if model.classes else f"numbers of {self.target}"
        tiles = {"rows": f"{facts['rows']:,}"} if "rows" in facts else {}
        tiles["columns used to predict"] = f"{len(model.feature_names) - len(unused_columns(model)):,}"
        if "estimate" in facts:
            tiles[f"{_metric_title(facts)} on new rows"] = _score(facts, facts["estimate"])
        sizes = {"leaves": facts.get("leaves"), "terms": facts.get("n_terms")}
        tiles |= {name: f"{size:,}" for name, size in sizes.items() if size}
        return f"Model card. It predicts {kind}.", tiles, [_text(warning) for warning in facts.get("warnings", ())]

    # ---- what it does ------------------------------------------------------------------------------------------------

    def estimate(self) -> str:
        """Return scores, confusion matrix, and calibration or residuals."""
        facts = self.facts
        if "estimate" not in facts:
            return '<p class="soft">The model does not say: only <code>oblique fit</code> writes estimates into it.</p>'
        holdout = facts.get("on_new_rows", {})
        rows = [(_metric_title(facts), _score(facts, facts["estimate"])), *self._others(holdout)]
        parts = [
            markup.plain_table("Scores on new rows", ("metric", "on new rows, ± standard error"), rows, 1),
            _listed([self._by(), *self.remarks]),
        ]
        if "confusion" in holdout:
            parts.append(self._matrix(holdout))
        if "calibration" in holdout:
            parts.append(_calibration(holdout["calibration"]))
        if "thresholds" in holdout and len(self.model.classes) == 2:
            parts.append(self._thresholds(holdout["thresholds"]))
        if "residuals" in holdout:
            parts.append(_residuals(holdout["residuals"]))
        return "".join(parts) + self._compared()

    def _thresholds(self, facts: Mapping[str, Any]) -> str:
        """Return the results of each threshold, from the rows that the estimate predicted."""
        first, second = self.model.classes
        stated, threshold = 0.5, self.model.threshold
        if threshold is not None:
            stated = threshold.share if threshold.label == facts["label"] else 1.0 - threshold.share
        words = shlex.split(self.command)
        if not words:
            target = "class" if self.model.columns is None else self.model.columns.target
            words = ["oblique", "fit", "TABLE", "--target", target, "--algorithm", str(self.model.algorithm)]
            if self.facts.get("metric") != "accuracy":
                words += ["--metric", str(self.facts["metric"])]
        if "--threshold" in words:
            del words[words.index("--threshold") : words.index("--threshold") + 2]
        other = second if facts["label"] == first else first
        return _thresholds(facts, other, stated, shlex.join(words))

    def _by(self) -> str:
        estimate = self.facts["estimate"]
        folds = f" of {estimate['folds']} folds" if estimate.get("folds") else ""
        unseen = "its group" if estimate.get("groups") else "it"
        return (
            f"By {estimate['by']}{folds}: every row is predicted by a fit that has not seen {unseen}, and whatever was "
            f"chosen is chosen again without it. The model itself is fitted to {self.facts['rows']:,} rows."
        )

    def _others(self, holdout: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Return the scores of constant predictions, and further metrics."""
        counts = self.facts.get("class_counts", {})
        if counts:
            label = max(counts, key=counts.get)
            share = counts[label] / sum(counts.values())
            yield f"accuracy of always saying {_name(label)!r}", f"{100 * share:.1f} %"
        names = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "f1_macro": "F1, mean over classes",
                 "roc_auc": "area under the ROC curve", "r2": "R2, 0 for always saying the mean",
                 "mae": "mean absolute error"}  # fmt: skip
        for name, title in names.items():
            if name in holdout and name != self.facts.get("metric"):
                percent = name.endswith("accuracy")
                yield title, f"{100 * holdout[name]:.1f} %" if percent else f"{holdout[name]:.4g}"

    def _matrix(self, holdout: Mapping[str, Any]) -> str:
        recalls, labels = holdout["recalls"], self.model.classes
        if len(labels) > MOST_CLASSES:
            worst = sorted(recalls.items(), key=lambda pair: pair[1])[:WORST]
            rows = [(_name(label), f"{100 * share:.1f} %") for label, share in worst]
            table = markup.plain_table("Lowest recalls", ("class", "recall"), rows, 1)
            return f"<h3>Classes with the lowest recall</h3>{table}"
        shares = [f"{100 * recalls[label]:.1f} %" if label in recalls else "-" for label in labels]
        title = "New rows of each class by the class predicted; the share found is the recall."
        return markup.matrix(title, [_name(label) for label in labels], holdout["confusion"], shares)

    def _compared(self) -> str:
        """Return the table of `auto`."""
        if "compared" not in self.facts:
            return ""
        rows = []
        for fit in self.facts["compared"]:
            scored = "failure" not in fit
            shown = _score(self.facts, fit) if scored else str(fit["failure"])
            mark = "chosen" if fit["chosen"] else f"dropped at {fit['compared_on']:,} rows" if fit["dropped"] else ""
            rows.append((fit["algorithm"], shown, f"{fit['leaves']:,}", f"{fit['n_terms']:,}", mark))
        header = ("algorithm", _metric_title(self.facts), "leaves", "terms", "")
        note = "These figures flatter what is chosen from them; the estimate above does not."
        table = markup.plain_table("Algorithms that were compared", header, rows, 1, long=(4,))
        return f'<h3>What was compared</h3>{table}<p class="soft">{note}</p>'

    # ---- what it is --------------------------------------------------------------------------------------------------

    def shown(self) -> str:
        """Return the tree with its leaves, or a sentence for a model without a tree."""
        if has_tree(self.model):
            return _tree(of_loaded(self.model, self.title))
        size = f" of {self.facts['leaves']:,} leaves" if self.facts.get("leaves") else ""
        note = f'<p class="soft">The model{size} is not one tree, so no rules are shown.</p>'
        if self.beside is None:
            return note
        return f"{note}<h3>The tree that is kept beside it</h3>{_tree(of_loaded(self.beside, 'The tree beside it'))}"

    def importances(self) -> str:
        """Return the importances of the columns."""
        if self.counted is None:
            return ""
        shown = [(_name(name), value) for name, value in list(self.counted.values.items())[:MOST_BARS]]
        left = len(self.counted.values) - len(shown)
        more = f" {left} smaller ones are left out." if left else ""
        caption = f"{self.counted.description[:1].upper()}{self.counted.description[1:]}.{more}"
        return markup.bars(caption, shown)

    def shapes(self) -> str:
        """Return partial dependence and Shapley values of the most important columns."""
        shapes = self._shapes()
        figures = [figure for shape in shapes for figure in self._shape(shape)]
        if not figures:
            return ""
        legend = _legend((k, self.model.classes[k]) for k in shapes[0].outputs if self.model.classes)
        band = " Bands: least and most of the models of the folds." if shapes[0].ends is not None else ""
        bars = " Bars: training rows." if self.values else ""
        points = " Points: the Shapley value of the column in single rows." if shapes[0].cells is not None else ""
        note = (
            f"Curves: what the model says, mean over {shapes[0].rows} training rows, when the column of all of them "
            f"has one value (partial dependence).{band}{bars}{points} They ask about rows that may not exist where "
            "columns go together, and do not say what causes what."
        )
        return f'<p class="soft">{note}</p>{legend}<div class="plots">{"".join(figures)}</div>'

    def _shapes(self) -> list[Shape]:
        """Return the shapes that the model file has, with the Shapley values of the rows if there are rows."""
        stored = {str(plain["column"]): Shape.from_plain(plain) for plain in self.facts.get("curves", ())}
        if self.X is None or self.counted is None:
            return list(stored.values())
        names = self.counted.largest(MOST_SHAPES, self.model.feature_names)
        made = shapes_of(self.model, self.X, names, self.shapley)
        return [
            replace(stored.get(shape.column, shape), outputs=shape.outputs, cells=shape.cells, shapley=shape.shapley)
            for shape in made
        ]

    def _shape(self, shape: Shape) -> Iterator[str]:
        quantity = f"mean {'probability' if self.model.classes else 'prediction'}"
        values = self.values.get(shape.column)
        steps = values is not None and values.whole
        curves = [
            Marks(list(zip(shape.at.tolist(), column.tolist(), strict=True)), k, joined=not shape.levels, steps=steps)
            for k, column in zip(shape.outputs, shape.mean.T, strict=True)
        ]
        bands = []
        if shape.ends is not None:
            ends = zip(shape.outputs, *shape.ends.transpose(0, 2, 1), strict=True)
            bands = [
                Band(list(zip(shape.at.tolist(), *map(np.ndarray.tolist, pair), strict=True)), k, steps)
                for k, *pair in ends
            ]
        yield self._figure(shape, quantity, curves, bands)
        if shape.cells is None or shape.shapley is None:
            return
        points = [
            Marks([(x, y) for x, y in zip(shape.cells.tolist(), column.tolist(), strict=True) if not isnan(x)], k)
            for k, column in zip(shape.outputs, shape.shapley.T, strict=True)
        ]
        yield self._figure(shape, "Shapley value", points)

    def _figure(self, shape: Shape, what: str, marks: Sequence[Marks], bands: Sequence[Band] = ()) -> str:
        name = _name(shape.column)
        ends = [end for band in bands for _, *pair in band.points for end in pair]
        values = scale_of([*(y for mark in marks for _, y in mark.points), *ends], what)
        if values is None:
            return ""
        title = f"{what} along {name}"
        labels = [self.model.classes[mark.code] if self.model.classes else "prediction" for mark in marks]
        if shape.levels:
            order = {code: place for place, code in enumerate(shape.at.tolist())}
            across = [Marks([(y, order[x]) for x, y in mark.points if x in order], mark.code) for mark in marks]
            wide = [Band([(order[x], low, high) for x, low, high in band.points], band.code) for band in bands]
            names = [_name(shape.levels[int(code)]) for code in shape.at.tolist()]
            chart = small_charts.levels(title, names, values, across, wide)
        else:
            cells = scale_of([x for mark in marks for x, _ in mark.points], name)
            if cells is None:
                return ""
            chart = small_charts.plane(title, cells, values, marks, (), bands, self.values.get(shape.column))
        return _figure(chart, f"{name}: {what}", _numbers_of(shape, name, labels, marks))

    def coverage(self) -> str:
        """Return the coverage of sets or intervals."""
        guarantee = self.model.guarantee
        if guarantee is None:
            return ""
        return (
            f"<p>{_text(guarantee.sentence(len(self.model.classes)))} The share is a mean over rows that come as the "
            "training rows came, not a promise for each kind of row.</p>"
        )

    # ---- where it comes from -----------------------------------------------------------------------------------------

    def table(self) -> str:
        """Return the facts of the table and of each column."""
        counts = self.facts.get("class_counts", {})
        parts = [_listed([sentence(note) for note in self.facts.get("notes", ())])]
        if counts:
            rows = [(_name(label), f"{count:,}") for label, count in list(counts.items())[:MOST_COLUMNS]]
            table = markup.plain_table("Training rows by class", ("class", "rows"), rows, 1)
            parts.append(_folded(f"{len(counts)} classes", table, len(rows)))
        columns = list(self._columns())
        header = ("column", "role", "missing cells", "values in training")
        shown = markup.plain_table("Columns", header, columns[:MOST_COLUMNS], 2, long=(3,))
        left = len(columns) - MOST_COLUMNS
        more = f'<p class="soft">{left:,} further columns are not shown.</p>' if left > 0 else ""
        return "".join(parts) + _folded(f"{len(columns):,} columns", shown, len(columns)) + more

    def _columns(self) -> Iterator[tuple[str, str, str, str]]:
        cells = self.facts.get("cells", {})
        listed = [(name, "number") for name in self.model.feature_names]
        if self.model.columns is not None:
            listed = [(column.name, column.treatment) for column in self.model.columns.columns]
        for name, role in listed:
            facts = cells.get(name, {})
            known = f"{facts['missing']:,}" if "missing" in facts else "-"
            values = f"{facts['levels']:,} levels" if "levels" in facts else ""
            if "least" in facts:
                values = f"{number(float(facts['least']), 4)} to {number(float(facts['most']), 4)}"
            yield _name(name), ROLES.get(role, role), known, values

    def limits(self) -> str:
        """Return warnings about cases for which the model was not tested."""
        return _listed(list(self._limits()))

    def _limits(self) -> Iterator[str]:
        facts, model = self.facts, self.model
        rows = facts.get("rows")
        if rows is not None and rows < FEW:
            yield f"{rows} rows are few: other rows could give quite another model and another estimate."
        few = {label: n for label, n in facts.get("class_counts", {}).items() if n < FEW_OF_CLASS}
        if few:
            some = ", ".join(f"{_name(label)!r} {n}" for label, n in list(few.items())[:WORST])
            more = f" and {len(few) - WORST} more" if len(few) > WORST else ""
            yield f"Classes of fewer than {FEW_OF_CLASS} rows, of which the estimate says little: {some}{more}."
        yield (
            "The estimate is of rows that come as those of the table came. It was not tested on another time, place or "
            "way of measuring, and not on rows that belong together, such as several of one person, kept apart."
        )
        if any("least" in column for column in facts.get("cells", {}).values()):
            yield (
                "Numbers beyond the values in training (The table) were never seen: outside them a tree goes on as at "
                "its border, and a linear model in a leaf goes on in a straight line."
            )
        empty = model.may_be_empty
        gaps = [name for j, name in enumerate(model.feature_names) if j not in empty]
        if not gaps:
            yield "Rows may lack any cell; the fewer a row has, the less the estimate is about it."
        elif len(gaps) == len(model.feature_names):
            yield "Rows with an empty cell are refused."
        else:
            some = ", ".join(_name(name) for name in gaps[:WORST])
            yield f"Rows with an empty cell in one of {len(gaps)} columns are refused: {some}."
        if model.task == "classification":
            yield f"Whatever a row is, the model says one of its {len(model.classes)} classes, never a new one."
        yield "It says what goes together in the table, not what causes what."

    def origin(self) -> str:
        """Return command, seed, digest of the data and versions."""
        facts = self.facts
        versions = ", ".join(f"{name} {version}" for name, version in facts.get("versions", {}).items())
        listed: list[tuple[str, Any]] = [
            ("command", self.command or None),
            ("algorithm", self.model.algorithm or self.model.fitted.cls),
            ("seed", facts.get("seed")),
            ("chosen by cross-validation", facts.get("chosen") or None),
            ("data", facts.get("data")),
            ("digest of the data", facts.get("data_digest")),
            ("budget", facts.get("budget")),
            ("versions", versions or None),
            ("this page", f"oblique {__version__}"),
        ]
        rows = [(what, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
                for what, value in listed if value is not None]  # fmt: skip
        parameters = markup.source(json.dumps(dict(self.model.parameters), indent=1, default=str), "Parameters")
        shown = markup.plain_table("Origin", ("what", "value"), [(a, printable(b)) for a, b in rows], 1, long=(1,))
        return f"{shown}{markup.folded('parameters', parameters)}"


# Names of the treatments of columns.
ROLES = {"number": "number", "levels": "levels", "days": "date, as days", "target": "target", "groups": "groups",
         "identifier": "left out: tells rows apart", "text": "left out: text", "date": "left out: date",
         "dropped": "left out: as asked", "constant": "left out: one value", "empty": "left out: empty"}  # fmt: skip


def _tree(shown: Shown) -> str:
    large = int(shown.tree.n_leaves) > WHOLE
    depth = FIRST if large else None
    view = shown.view(3, raw=False, depth=depth)
    rules = shown.rules(view, 3, depth, 100).replace(BLANK, " ")
    notes = [note.replace(BLANK, " ") for note in (*view.notes, view.direction("The right")) if note]
    picture = drawing(scene_of(view, heading=False))
    return (
        f"{_legend(enumerate(view.classes[:MOST_CLASSES]))}{markup.scrolling(picture, 'The tree', 'picture')}"
        f"{_listed(notes)}<details><summary>the rules as text</summary>{markup.source(rules, 'Rules')}</details>"
    )


def _calibration(facts: Mapping[str, Any]) -> str:
    share = Scale(0.0, 1.0, "probability of the class predicted")
    right = Scale(0.0, 1.0, "share of these rows that is right")
    points = list(zip(facts["confidence"], facts["right"], strict=True))
    marks = [Marks(points, 0, joined=True), Marks(points, 0)]
    chart = small_charts.plane("Share of right rows by stated probability", share, right, marks, ((0, 0), (1, 1)))
    rows = [
        (f"{stated:.3f}", f"{was:.3f}", f"{n:,}")
        for stated, was, n in zip(facts["confidence"], facts["right"], facts["rows"], strict=True)
    ]
    table = markup.plain_table(
        "Share of right rows by probability", ("mean probability", "share right", "new rows"), rows, 0
    )
    note = (
        "Where the points lie on the diagonal, the probability of the likeliest class is what it says. Mean distance "
        f"(expected calibration error): {facts['error']:.3f}."
    )
    figure = _figure(chart, "Share of right rows by probability")
    return f'<h3>Are its probabilities right?</h3><p class="soft">{note}</p><div class="plots">{figure}{table}</div>'


def _residuals(facts: Mapping[str, Any]) -> str:
    """Return the distribution of truth minus prediction, over all rows and by prediction."""
    edges, figures = scale_of(facts["edges"], "truth less prediction", exact=True), ""
    title = "New rows by truth less prediction"
    if edges is not None:
        chart = small_charts.histogram(title, facts["edges"], facts["rows"], edges)
        ends = [f"{edge:.4g}" for edge in facts["edges"]]
        counts = [(*pair, f"{n:,}") for *pair, n in zip(ends, ends[1:], facts["rows"], strict=False)]
        figures += _figure(chart, title, markup.numbers(title, ("from", "to", "new rows"), counts, 0))
    figures += _along("the prediction", [{**part, "value": part["predicted"]} for part in facts["by_prediction"]])
    for name, column in facts.get("by_column", {}).items():
        figures += _along(name, column)
    note = "Lines: the middle of the rows; bands: 80 % of them."
    return f'<h3>How far off is it?</h3><p class="soft">{note}</p><div class="plots">{figures}</div>'


def _along(column: str, parts: Sequence[Mapping[str, Any]]) -> str:
    """Return the figure of residuals along a column of numbers or of levels."""
    name, title = _name(column), f"Truth less prediction along {_name(column)}"
    spread = scale_of([part[key] for part in parts for key in ("low", "high")], "truth less prediction")
    if spread is None:
        return ""
    rows = [
        (_name(part["level"]) if "level" in part else f"{part['value']:.4g}",
         *(f"{part[key]:.4g}" for key in ("low", "middle", "high")), f"{part['rows']:,}")
        for part in parts
    ]  # fmt: skip
    left = int("level" in parts[0])
    table = markup.numbers(title, (name, "10 %", "50 %", "90 %", "new rows"), rows, left)
    if left:
        names = [_name(part["level"]) for part in parts]
        wide = [Band([(place, part["low"], part["high"]) for place, part in enumerate(parts)], 0)]
        middles = [Marks([(part["middle"], place) for place, part in enumerate(parts)], 0)]
        return _figure(small_charts.levels(title, names, spread, middles, wide), title, table)
    at = [part["value"] for part in parts]
    x = scale_of(at, name)
    if x is None:
        return ""
    middle = [Marks(list(zip(at, (part["middle"] for part in parts), strict=True)), 0, joined=True)]
    band = [Band([(part["value"], part["low"], part["high"]) for part in parts], 0)]
    zero = ((x.low, 0.0), (x.high, 0.0)) if spread.low <= 0.0 <= spread.high else ()
    return _figure(small_charts.plane(title, x, spread, middle, zero, band), title, table)


def _figure(chart: Scene, caption: str, table: str = "") -> str:
    return f"<figure>{drawing(chart)}<figcaption>{escape(caption)}</figcaption>{table}</figure>"


def _numbers_of(shape: Shape, name: str, labels: Sequence[str], marks: Sequence[Marks]) -> str:
    """Return the table of the points of a figure, at most `MOST_POINTS` of each class."""
    rows = [
        (shape.levels[int(x)] if shape.levels else number(x, 5), _name(label), number(y, 4))
        for label, mark in zip(labels, marks, strict=True)
        for x, y in list(mark.points)[:MOST_POINTS]
    ]
    return markup.numbers(f"Numbers along {name}", (name, "of", "value"), rows, 2 if shape.levels else 0)


def _thresholds(facts: Mapping[str, Any], others: str, stated: float, command: str) -> str:
    """Return curves over the threshold on the probability of a class, and data for the script that chooses a threshold.

    facts : label, at, true and false of `holdout_report.thresholds`; others : label of the other class; stated : the
    share from which the model predicts the class; command : that fits the model again
    """
    label = _name(facts["label"])
    true, false = (np.array(facts[key], dtype=np.float64) for key in ("true", "false"))
    n_true, n_false = float(true[0]), float(false[0])
    if not (n_true and n_false):
        return ""
    recall, fallout = true / n_true, false / n_false
    predicted = true + false
    precision = np.divide(true, predicted, out=np.ones_like(true), where=predicted > 0)
    roc = small_charts.plane(
        "ROC curve", Scale(0.0, 1.0, f"share of {_name(others)} taken for {label}"), Scale(0.0, 1.0, "recall"),
        [Marks(list(zip(fallout.tolist(), recall.tolist(), strict=True)), 0, joined=True)], ((0, 0), (1, 1)),
    )  # fmt: skip
    base = n_true / (n_true + n_false)
    pr = small_charts.plane(
        "Precision by recall", Scale(0.0, 1.0, f"recall of {label}"), Scale(0.0, 1.0, "precision"),
        [Marks(list(zip(recall.tolist(), precision.tolist(), strict=True)), 1, joined=True)], ((0, base), (1, base)),
    )  # fmt: skip
    rows = [
        tuple(f"{value:.{digits}g}" for value, digits in zip(values, (4, 6, 6, 4, 4), strict=True))
        for values in zip(facts["at"], facts["true"], facts["false"], recall, precision, strict=True)
    ]
    header = ("threshold", f"{label}, found", f"{_name(others)}, taken for it", "recall", "precision")
    table = markup.numbers("What each threshold gives", header, rows, 0)
    data = {"label": label, "other": _name(others), "at": facts["at"], "true": facts["true"], "false": facts["false"]}
    data |= {"stated": stated, "command": command, "frame": small_charts.FRAME}
    note = (
        f"New rows that would be predicted {label} from a share of {label} on, as the cross-validation of the estimate "
        "predicted them."
    )
    return (
        f'<h3>Which threshold?</h3><p class="soft">{escape(note)}</p><div class="plots" id="curves">'
        f"{_figure(roc, 'ROC curve')}{_figure(pr, 'Precision by recall')}</div>{table}"
        f'<div id="threshold"></div><script type="application/json" id="thresholds">{markup.json_text(data)}</script>'
    )


def _legend(classes: Iterable[tuple[int, str]]) -> str:
    """Return the color legend of classes. classes : their codes and names"""
    items = "".join(markup.key(code, _name(name)) for code, name in classes)
    return f'<ul class="legend">{items}</ul>' if items else ""


def _listed(sentences: Sequence[str]) -> str:
    items = "".join(f"<li>{_text(sentence)}</li>" for sentence in sentences)
    return f'<ul class="said">{items}</ul>' if items else ""


def _folded(title: str, table: str, n: int) -> str:
    """Return a table, folded if it is long."""
    return table if n <= WORST else markup.folded(title, table)


def _metric_title(facts: Mapping[str, Any]) -> str:
    return "RMSE" if facts["metric"] == "rmse" else str(facts["metric"])


def _score(facts: Mapping[str, Any], estimate: Mapping[str, Any]) -> str:
    value, error = float(estimate[str(facts["metric"])]), float(estimate["standard_error"])
    if facts["metric"] == "accuracy":
        return f"{100 * value:.1f} % ± {100 * error:.1f}"
    return f"{value:.4g} ± {error:.2g}"


def _name(text: str, most: int = LONG) -> str:
    """Return a name from the user's table on one line, as escaped text."""
    return cut(printable(str(text)).replace(BLANK, " "), most)


def _text(text: str) -> str:
    return escape(printable(text).replace(BLANK, " "))
