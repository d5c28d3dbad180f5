"""The view that drawings of a model show: the tree in the columns' own units."""

from __future__ import annotations

from oblique_cli.drawing.view import TreeView, view_of
from oblique_cli.ground.nodes import Indicator
from oblique_cli.models.exporting._exporter import Source
from oblique_cli.models.procedure import MISSING, NUMBER, columns_of
from oblique_cli.tree.reading import Units
from oblique_cli.tree.structure import of_classes


def view(source: Source) -> TreeView:
    """Return the view of a model's tree."""
    model, procedure = source.model, source.procedure
    cells = procedure.cells
    features: list[str] = []
    for cell, level in columns_of(model):
        name = cells[cell].name
        says = "" if level in (NUMBER, MISSING) else cells[cell].levels[level]
        features.append(name if level == NUMBER else Indicator(name, says))
    title = f"{procedure.title}, {len(procedure.tree.leaf_nodes)} leaves"
    tree = model.fitted.state["tree_"]
    known_classes = (
        [procedure.classes[int(code)] for code in model.fitted.state["classes_"]] if model.has_codes else None
    )
    if not of_classes(tree):
        target = procedure.target if procedure.is_regression else known_classes or procedure.classes
        tree_view: TreeView = model.estimator.view(features, target, source.precision, title)
        return tree_view
    known = model.fitted.state.get("levels_") or {}
    levels = {}
    for j, codes in known.items():
        cell = cells[columns_of(model)[j][0]]
        unencoded = model.columns is None and model.encoder is None
        levels[j] = [cell.levels[k if unencoded else int(code)] for k, code in enumerate(codes)]
    return view_of(
        tree,
        features,
        known_classes or procedure.classes,
        title=title,
        precision=source.precision,
        level_names=levels,
        units=Units.raw(tree.n_features),
    )
