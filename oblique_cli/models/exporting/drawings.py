"""Drawings of trees in the columns' own units: for Graphviz, and for LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oblique_cli.ground.nodes import Indicator
from oblique_cli.models.exporting._exporter import SEVERAL, SINGLE, Source, exporter
from oblique_cli.models.procedure import MISSING, NUMBER, columns_of
from oblique_cli.tree.reading import Units
from oblique_cli.tree.structure import of_classes

# The drawing modules take longer to import than all other formats together.
if TYPE_CHECKING:
    from oblique_cli.drawing.view import TreeView


@exporter("dot", "a drawing for Graphviz", ".dot", kinds=(*SINGLE, SEVERAL), digits=3)
def graph(source: Source) -> str:
    """Return the graph."""
    from oblique_cli.drawing.dot import dot

    return dot(_view(source))


@exporter("latex", "a drawing for LaTeX (TikZ)", ".tex", kinds=(*SINGLE, SEVERAL), digits=3)
def page(source: Source) -> str:
    """Return a document of one page."""
    from oblique_cli.drawing.tikz import tikz

    return tikz(_view(source))


def _view(source: Source) -> TreeView:
    from oblique_cli.drawing.view import view_of

    model, procedure, state = source.model, source.procedure, source.model.fitted.state
    cells, columns, tree = procedure.cells, columns_of(model), state["tree_"]
    features: list[str] = []
    for cell, level in columns:
        says = "" if level in (NUMBER, MISSING) else cells[cell].levels[level]
        features.append(cells[cell].name if level == NUMBER else Indicator(cells[cell].name, says))
    title = f"{procedure.title}, {len(procedure.tree.leaf_nodes)} leaves"
    known = state["classes_"].tolist() if model.has_codes else range(len(procedure.classes))
    classes = [procedure.classes[int(code)] for code in known]
    unencoded = model.columns is None and model.encoder is None
    levels = {
        j: [cells[columns[j][0]].levels[k if unencoded else int(code)] for k, code in enumerate(codes)]
        for j, codes in (state.get("levels_") or {}).items()
    }
    if not of_classes(tree):
        estimator = model.estimator.with_level_names(levels) if levels else model.estimator
        view: TreeView = estimator.view(features, classes or procedure.target, source.precision, title)
        return view
    units = Units.raw(tree.n_features)
    return view_of(tree, features, classes, title=title, precision=source.precision, level_names=levels, units=units)
