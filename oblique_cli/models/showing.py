"""A fitted tree for display: its origin, and all its output forms."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from oblique_cli.drawing.view import BLANK, MOST_TERMS, TreeView, broken, printable, text_of, view_of
from oblique_cli.errors import ConfigError
from oblique_cli.ground.column_values import ColumnValues
from oblique_cli.ground.nodes import pairs_of
from oblique_cli.models.codecs import resolved
from oblique_cli.tree.reading import Units
from oblique_cli.tree.sparse import Light, idle_terms, simplified
from oblique_cli.tree.structure import Tree, of_classes

if TYPE_CHECKING:
    from oblique_cli.drawing.page import Field
    from oblique_cli.estimators.encoding import ColumnEncoder
    from oblique_cli.models.explaining.importance import Importances
    from oblique_cli.models.model import Model

LONG = 4  # terms of a sum that is easy to read


@dataclass(frozen=True, eq=False)
class Shown:
    """A fitted tree and the names for its display.

    X, y        training rows as the estimator saw them, and their places in `classes` or numbers; None if they are not
                available
    classes     labels that the tree knows: its training rows may lack classes of the data; () in regression
    kept_light  terms that training rows need, from a model file or an earlier search; None if unknown
    source      names of the columns before `encoder`, their levels, and what makes X of them, None for X itself
    estimator   the fitted estimator; a model from a file builds it on first use
    values      column of numbers -> its range and histogram in the training rows, from a model file
    make_importances  returns the importances of the columns for a page; None if they are unknown
    page_note   a further note on a page
    """

    title: str  # first words of the heading
    tree: Any  # a `Tree`, or the structure of another kind
    features: Sequence[str]  # names of the columns of X, an `Indicator` for a level
    classes: Sequence[str]
    levels: Mapping[int, Sequence[str]]  # qualitative column -> names of the tree's codes
    target: str  # name of the target
    X: Any = None
    y: Any = None
    remarks: tuple[str, ...] = ()  # further lines of the heading
    document: Mapping[str, Any] = field(default_factory=dict)  # further entries of the JSON
    units: Units | None = None
    make_estimator: Any = None
    kept_light: Light | None = None
    source: tuple[Sequence[str], Mapping[int, Sequence[str]], ColumnEncoder | None] | None = None
    make_importances: Callable[[], Importances | None] | None = None
    values: Mapping[str, ColumnValues] = field(default_factory=dict)
    page_note: str = ""

    @cached_property
    def estimator(self) -> Any:
        """The fitted estimator, with the names of its levels."""
        made = self.make_estimator()
        return made.with_level_names(self.levels) if self.levels and not self.is_hyperplanes else made

    @cached_property
    def tree_rows(self) -> Any:
        """Training rows as the tree takes them."""
        if self.X is None:
            return None
        rows = getattr(self.estimator, "tree_rows", None)
        return self.X if rows is None else rows(self.X)

    @property
    def is_hyperplanes(self) -> bool:
        """Whether the tree has hyperplanes, and classes in its leaves."""
        return of_classes(self.tree)

    @cached_property
    def needed(self) -> Light | None:
        """The terms that the training rows need to keep their paths, None if unknown."""
        if not self.is_hyperplanes:
            return None
        if self.kept_light is not None:
            return self.kept_light
        # Of a table beyond memory only a sample of the rows is available; without a term another row may move.
        if self.X is None or self.tree.n_rows[0] > len(self.X):
            return None
        return Light.of(self.tree, self.tree_rows, pairs_of(self.features))

    @cached_property
    def light(self) -> Tree | None:
        """The tree with only these terms."""
        return None if self.needed is None else self.needed.tree(self.tree)

    def with_fewer_terms(self, tolerance: float) -> Shown:
        """Return this tree with fewer terms; ConfigError for another kind of tree, or without known terms."""
        if not self.is_hyperplanes:
            raise ConfigError("--sparse drops terms of hyperplanes, and this tree has none.")
        if self.tree.leaf_models is not None and tolerance > 0.0:
            raise ConfigError(
                "--tolerance drops terms of planes, and these leaves have models of their own: leave it out, or set "
                "max_terms of logistic_tree."
            )
        promise = "no training row changes its side of a split"
        if self.X is None or self.tree.leaf_models is not None:  # the training rows must keep their paths
            if self.light is None:
                raise ConfigError(
                    "--sparse needs to know which terms move no training row, and the model file does not say: "
                    "fit it again."
                )
            if tolerance > 0.0:
                raise ConfigError(
                    "--tolerance needs the training rows, which a model file does not hold: leave it out, or fit the "
                    "tree now, by the name of the table in place of the model's."
                )
            before, after = (int((tree.coef_ != 0.0).sum()) for tree in (self.tree, self.light))
            return self._sparser(self.light, f"terms of splits {before} -> {after}; {promise}")
        weights = None
        if getattr(self.estimator, "class_weight", None) is not None:  # the root's counts reflect class weights
            weights = (self.tree.counts[0] / np.maximum(np.bincount(self.y, minlength=len(self.classes)), 1))[self.y]
        simplification = simplified(self.tree, self.tree_rows, self.y, tolerance, weights)
        trees = self.tree, simplification.tree
        right = [int((tree.labels[tree.apply(self.tree_rows)] == self.y).sum()) for tree in trees]
        if tolerance > 0:
            rows = "training rows more are" if weights is None else "weight of the training rows more is"
            promise = f"at most {100 * tolerance:g} % of the {rows} wrong"
        return self._sparser(
            simplification.tree,
            f"terms of splits {simplification.terms_before} -> {simplification.terms_after}, "
            f"leaves {self.tree.n_leaves} -> {simplification.tree.n_leaves}, "
            f"training rows right {right[0]} -> {right[1]} of {len(self.y)}; {promise}",
        )

    def _sparser(self, tree: Tree, remark: str) -> Shown:
        return replace(self, tree=tree, kept_light=None, remarks=(*self.remarks, f"--sparse: {remark}"))

    def with_hint(self) -> Shown:
        """Return this tree with a hint at --sparse if sums are long even with fewer terms."""
        if self.X is None or self.light is None or self.tree.leaf_models is not None:
            return self
        longest = int((self.light.coef_ != 0).sum(axis=1).max())
        if longest <= LONG:
            return self
        hint = f"sums need up to {longest} terms: --sparse --tolerance 0.01 may do with fewer."
        # The terms are searched once: for a large table this takes seconds.
        return replace(self, kept_light=self.needed, remarks=(*self.remarks, hint))

    def view(self, precision: int, raw: bool, depth: int | None, full: bool = False, rows: bool = True) -> TreeView:
        """Return the view of the tree.

        raw : weights in the features' own units; depth : levels of splits; full : all terms of the tree
        rows : whether to compute histograms of the training rows, which text does not show
        """
        notes = [sentence(printable(remark)) for remark in self.remarks]
        if self.light is not None and not full:
            notes += idle_terms(self.tree, self.light)
        seen = self.tree_rows if self.is_hyperplanes else self.X
        training_rows = None if self.X is None or not rows else (seen, self.y)
        if not self.is_hyperplanes:
            named = self.classes or self.target
            view: TreeView = self.estimator.view(self.features, named, precision, self.title, training_rows)
            return view.noted(notes).cut(depth)
        view = view_of(
            self.tree,
            self.features,
            self.classes,
            title=self.title,
            precision=precision,
            level_names=self.levels,
            rows=training_rows,
            units=self.units_of(raw),
            light=None if full else self.light,
            most=None if full else MOST_TERMS,
        )
        return view.noted(notes).cut(depth)

    def units_of(self, raw: bool) -> Units | None:
        """Return the units of weights."""
        if not self.is_hyperplanes:
            return None
        if raw or (self.X is None and self.units is None):
            return Units.raw(self.tree.n_features)
        return self.units or Units.deviations(self.tree_rows, self.tree.levels)

    def reads_view(self, full: bool) -> bool:
        """Return whether the text comes from the view instead of the export of the estimator."""
        return self.is_hyperplanes or not (self.classes or full)

    def rules(self, view: TreeView, precision: int, depth: int | None, width: int, full: bool = False) -> str:
        """Return the tree as text. full : for a regression tree, every coefficient in the features' own units"""
        if self.reads_view(full):
            return text_of(view, width=width)
        text = self.estimator.export_text(self.features, self.classes or self.target, precision)
        pieces = (broken(line.lstrip(), line[: -len(line.lstrip())], width) for line in _cut(text, depth))
        return "".join(f"{piece}\n" for of_line in pieces for piece in of_line)

    def heading(self) -> str:
        """Return the first lines of the text: the model, its size, and its training accuracy."""
        n_leaves, depth = int(self.tree.n_leaves), int(self.tree.depth)
        n_terms = self.tree.n_terms if isinstance(self.tree, Tree) else int(self.tree.n_nodes)
        terms = f"{n_terms} term{'' if n_terms == 1 else 's'}"
        size = f"{n_leaves} {'leaf' if n_leaves == 1 else 'leaves'}, {terms}, depth {depth}"
        # Only a model just fitted has it; building the estimator of a file takes long.
        refinement = None if self.X is None else getattr(self.estimator, "refinement_", None)
        remarks = self.remarks if refinement is None else (*self.remarks, refinement.summary())
        lines = [f"{printable(self.title)}: {size}{self._training_fit()}", *map(sentence, map(printable, remarks))]
        return "".join(f"# {line}\n" for line in lines)

    def _training_fit(self) -> str:
        """Return the accuracy or RMSE on the training rows, as text."""
        if self.X is None:
            return ""
        if not self.classes:
            predicted = self.estimator.predict(self.X)
            return f", RMSE {((predicted - self.y) ** 2).mean() ** 0.5:.4g} on its {len(self.y)} rows"
        if self.is_hyperplanes:
            predicted = self.tree.predicted(self.tree_rows)
        else:
            predicted = self.estimator.classes_.searchsorted(self.estimator.predict(self.X))
        text = f", {int((predicted == self.y).sum())} of its {len(self.y)} rows right"
        if hasattr(self.estimator, "reject_"):
            text += f", {int(self.estimator.reject_.sum())} rejected"
        return text

    def json(self) -> str:
        """Return the tree as JSON, every coefficient to the bit."""
        return json.dumps({**self.document, **self.tree.to_dict()}) + "\n"

    def html(self, view: TreeView, precision: int, raw: bool, depth: int | None, full: bool) -> str:
        """Return the tree as an HTML page."""
        from oblique_cli.drawing.page import PageData, page

        rows = self.tree_rows
        if self.page_note:
            view = view.noted([sentence(printable(self.page_note))])
        leaves = None
        counted = None if self.make_importances is None else self.make_importances()
        if rows is not None:
            leaves = self.tree.apply(rows) if self.is_hyperplanes else self.estimator.apply(self.X)
        data = PageData(
            self.features,
            self.target,
            self.levels,
            self.units_of(raw),
            rows,
            self.y,
            leaves,
            self.tree.parents,
            self.rules(view, precision, depth, 110, full),
            self._fields(),
            importances=() if counted is None else tuple(counted.values.items()),
            importances_are="" if counted is None else f"Importance of the columns: {counted.description}.",
        )
        return page(view, data)

    def _fields(self) -> tuple[Field, ...]:
        """Return the columns of the table, with their values in the training rows if a model file says them."""
        from oblique_cli.drawing.page import Field

        fields = () if self.source is None else _encoded_fields(*self.source)
        if not fields and self.values:
            fields = tuple(
                Field(str(name), (j,), tuple(self.levels.get(j, ()))) for j, name in enumerate(self.features)
            )
        return tuple(replace(field, values=self.values.get(field.name)) for field in fields)


def _encoded_fields(
    names: Sequence[str], levels: Mapping[int, Sequence[str]], encoder: ColumnEncoder | None
) -> tuple[Field, ...]:
    """Return the columns of a table with the features that an encoder makes of them, () for no features."""
    from oblique_cli.drawing.page import Field

    if encoder is None:
        return ()
    fields: dict[int, Field] = {}
    for k, j in enumerate(encoder.quantitative.tolist()):
        usual = None if encoder.medians is None else float(encoder.medians[k])
        fields[j] = Field(names[j], (k,), usual=usual)
    first = len(fields)
    for k, j in enumerate(encoder.qualitative.tolist()):
        known = list(levels.get(j, ()))
        codes = list(range(len(known))) if encoder.levels is None else encoder.levels[k].tolist()
        present_codes = [int(code) for code in codes if code == code]
        usual = None if encoder.usual is None else float(encoder.usual[k])
        if encoder.levels is None:
            fields[j] = Field(names[j], (first,), tuple(known), usual=usual)
            first += 1
            continue
        empty = first + len(present_codes) if len(present_codes) < len(codes) else -1
        level_names = tuple(known[code] if code < len(known) else str(code) for code in present_codes)
        place = None if usual is None else float(present_codes.index(int(usual)))
        fields[j] = Field(names[j], tuple(range(first, first + len(present_codes))), level_names, empty, place)
        first += len(codes)
    return tuple(fields[j] for j in sorted(fields))


def sentence(text: str) -> str:
    """Return a remark with a capital first letter."""
    return text[:1].upper() + text[1:]


def _cut(text: str, depth: int | None) -> list[str]:
    """Return lines of indented rules with only `depth` levels of conditions."""
    lines: list[str] = []
    for line in text.splitlines():
        level = (len(line) - len(line.lstrip(" "))) // 4
        if depth is None or level < depth or (level == depth and not line.rstrip().endswith(":")):
            lines.append(line)
        elif not lines or lines[-1].strip() != "...":
            lines.append("    " * depth + "...")
    return lines


def content(
    shown: Shown, form: str, *, precision: int, raw: bool, depth: int | None, width: int = 100, full: bool = False
) -> bytes:
    """Return the tree in a form: text, json, svg, png, pdf, html, dot or tikz. full : every term of the tree"""
    if form == "json":
        return shown.json().encode()
    view = shown.view(precision, raw, depth, full, rows=form != "text")
    if form == "text":
        text = shown.heading()
        notes = (*view.notes[len(shown.remarks) :], view.direction('"else"')) if shown.reads_view(full) else ()
        text += "".join(f"# {note}\n" for note in notes if note)
        return (text + shown.rules(view, precision, depth, width, full)).replace(BLANK, " ").encode(errors="replace")
    if form == "html":
        return shown.html(view, precision, raw, depth, full).encode()
    if form == "svg":
        from oblique_cli.drawing.scene import scene_of
        from oblique_cli.drawing.svg import svg

        return svg(scene_of(view)).encode()
    if form in ("dot", "tikz"):
        drawn_text: str = resolved(f"oblique_cli.drawing.{form}:{form}")(view)
        return drawn_text.encode()
    from oblique_cli.drawing.canvas import rendered
    from oblique_cli.drawing.diagram import drawn

    return rendered(drawn(view), form)


# ---- where trees come from -------------------------------------------------------------------------------------------


def of_model(path: Path, table: str | None = None) -> Shown:
    """Return the tree of a model file; for a tree of hyperplanes it loads only NumPy and the core.

    table : file of its training rows, for histograms of the nodes; ConfigError for one without the target column
    """
    from oblique_cli.models.model import load

    model = load(path)
    name = model.algorithm or model.fitted.cls
    if not has_tree(model):
        raise ConfigError(f"{path}: the model is {name}, which is no tree to show.")
    title = f"{model.facts.get('title') or name} in {path.name}"
    remarks = tuple(_of_facts(model))
    if table is None:
        note = f"histograms and rows of nodes need the training rows: oblique tree {path.name} --rows TABLE."
        return replace(of_loaded(model, title, remarks=remarks), page_note=note if model.columns is not None else "")
    from oblique_cli.models.new_rows import rows_of

    rows, y = rows_of(model, str(path), table)
    if y is None or not len(y):
        target = "" if model.columns is None else f" {model.columns.target!r}"
        raise ConfigError(f"{table}: no row has a value in the target column{target}, which histograms need.")
    if len(rows) != model.facts.get("rows", len(rows)):
        remarks += (f"histograms are of the {len(rows):,} rows of {Path(table).name}, not of the training rows.",)
    X = rows if model.encoder is None else model.encoder.transform(np.asarray(rows, dtype=np.float64))
    return of_loaded(model, title, X, y, remarks)


def has_tree(model: Model) -> bool:
    """Return whether a model is a single tree, which `of_loaded` shows."""
    return "tree_" in model.fitted.state


def of_loaded(model: Model, title: str, X: Any = None, y: Any = None, remarks: tuple[str, ...] = ()) -> Shown:
    """Return the tree of a single-tree model. X, y : training rows as its estimator saw them, if available"""
    features, levels = model.columns_seen()
    target = model.columns.target if model.columns is not None else "class" if model.classes else "target"
    classes, y = known(model.classes, model.fitted.state.get("classes_") if model.has_codes else None, y)
    tree = model.fitted.state["tree_"]
    units, sparse = model.facts.get("units"), model.facts.get("sparse")
    return Shown(
        title,
        tree if hasattr(tree, "to_dict") else model.estimator.model_tree,
        features,
        classes,
        levels,
        target,
        X,
        y,
        remarks,
        document={
            "algorithm": model.algorithm,
            "parameters": dict(model.parameters),
            "features": features,
            "classes": classes,
            **({"level_names": levels} if levels else {}),
        },
        units=Units.from_plain(units, len(features)) if isinstance(units, Mapping) else None,
        make_estimator=lambda: model.estimator,
        kept_light=Light.from_plain(sparse, tree) if sparse is not None and of_classes(tree) else None,
        source=(model.feature_names, {} if model.columns is None else model.columns.levels, model.encoder),
        make_importances=lambda: _importances(model),
        values=values_of(model),
    )


def _of_facts(model: Model) -> Iterator[str]:
    """Yield remarks of a model file on its fit, and on predictions other than the class of a leaf."""
    facts = model.facts
    if model.threshold is not None:
        yield f"predicts {model.threshold.label!r} from a share of {model.threshold.share:.3g} in a leaf on."
    estimate: Any = facts.get("estimate")
    estimate = estimate if isinstance(estimate, Mapping) else {}
    by = f"({estimate.get('by')})."
    if model.columns is not None and isinstance(rows := facts.get("rows"), int):
        what = f"{len(model.classes)} classes" if model.classes else "numbers"
        yield f"{model.task}: {what} of {model.columns.target!r}, fitted to {rows} rows."
    if {"accuracy", "standard_error"} <= estimate.keys():
        score, error = 100 * estimate["accuracy"], 100 * estimate["standard_error"]
        yield f"on new rows: {score:.1f} % right, standard error {error:.1f} points {by}"
    elif {"rmse", "standard_error"} <= estimate.keys():
        yield f"on new rows: RMSE {estimate['rmse']:.4g}, standard error {estimate['standard_error']:.2g} {by}"
    elif (name := facts.get("metric")) in estimate:
        yield f"on new rows: {name} {estimate[name]:.4g} {by}"


def known(classes: Sequence[str], codes: Any, y: Any) -> tuple[list[str], Any]:
    """Return the labels of these class codes (all labels without codes), and the places of codes `y` among them."""
    if codes is None or len(codes) == len(classes):
        return list(classes), y
    return [classes[code] for code in codes.tolist()], None if y is None else codes.searchsorted(y)


def values_of(model: Model) -> dict[str, ColumnValues]:
    """Return column of numbers -> its range and histogram in the training rows, as the facts of a model say."""
    whole = set(model.facts.get("whole_numbers", ()))
    values = {name: ColumnValues.of_facts(facts, name in whole) for name, facts in model.facts.get("cells", {}).items()}
    return {name: of_column for name, of_column in values.items() if of_column is not None}


def _importances(model: Model) -> Importances | None:
    from oblique_cli.models.explaining.importance import Importances

    return Importances.from_plain(model.facts.get("importances"))
