"""The picture of docs/shapley.md, from a model that is fitted for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from oblique_cli import data, make
from oblique_cli.drawing.canvas import blank, color, tint
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.models.explaining.shapley import mean_sizes, shapley_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW = 40  # of wine, whose values are drawn
BACKGROUND = 50


def shapley_picture() -> Figure:
    """Return the values of one row of wine as steps from the base value, and the mean sizes over all rows."""
    wine = data.load(DatasetSpec("wine"), offline=True)
    tree = make("hhcart_a", pruning="cv", max_terms=3, random_state=1).fit(wine.X, wine.y)
    background = wine.X[:: -(-wine.n // BACKGROUND)]
    found = shapley_values(tree, wine.X, background)
    code = int(tree.predict(wine.X[ROW : ROW + 1])[0])
    values, start = found.values[ROW, :, code], float(found.base_values[ROW, code])
    sizes = mean_sizes(found.values)
    order = [j for j in np.argsort(-sizes, kind="stable") if sizes[j] > 0][::-1]
    figure, (left, right) = blank(1, 2, width=3.4, height=2.6)
    at = start
    for place, j in enumerate(order):
        left.barh(place, values[j], left=at, color=color(0 if values[j] >= 0 else 1), height=0.7)
        at += float(values[j])
    for value, name in ((start, "mean of the background"), (at, "this row")):
        left.axvline(value, color="0.5", linewidth=0.7, linestyle="--")
        left.annotate(name, (value, len(order) - 0.4), fontsize=6, ha="center", va="bottom")
    left.set_yticks(range(len(order)), [wine.feature_names[j] for j in order], fontsize=6)
    left.set_xlabel(f"probability of class {wine.classes[code]}, one row", fontsize=7)
    left.set_xlim(0.0, 1.1)
    left.set_ylim(-0.6, len(order) + 0.1)
    right.barh(range(len(order)), sizes[order], color=tint(0, 0.5), height=0.7)
    right.set_yticks(range(len(order)), [])
    right.set_ylim(-0.6, len(order) + 0.1)
    right.set_xlabel("mean |value| over all rows and classes", fontsize=7)
    for panel in (left, right):
        panel.tick_params(labelsize=6)
    return figure
