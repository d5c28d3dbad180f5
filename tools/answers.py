"""The pictures of docs/explaining.md and docs/guarantees.md: of models fitted here, and of the stored coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from oblique_cli import data, make
from oblique_cli.drawing import partition
from oblique_cli.drawing.canvas import blank, color, marker, tint
from oblique_cli.drawing.polygons import surroundings
from oblique_cli.estimators.conformal_limits import ABSOLUTE, CROSS, LAC, SPLIT
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.models.explaining.shapley import mean_sizes, shapley_values
from oblique_cli.models.verifying.verification import PROVED, verify
from tools import coverage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW = 40  # of wine, whose values are drawn
BACKGROUND = 50
REACH = 0.1  # standard deviations that a row may move


def shapley_picture() -> Figure:
    """Return the values of one row of wine as steps from the base value, and the mean sizes over all rows."""
    wine = data.load(DatasetSpec("wine"), offline=True)
    tree = make("hhcart_a", pruning="cv", max_terms=3, random_state=1).fit(wine.X, wine.y)
    background = wine.X[:: -(-wine.n // BACKGROUND)]
    result = shapley_values(tree, wine.X, background)
    code = int(tree.predict(wine.X[ROW : ROW + 1])[0])
    values, start = result.values[ROW, :, code], float(result.base_values[ROW, code])
    sizes = mean_sizes(result.values)
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


def guarantees_picture() -> Figure:
    """Return the coverage of every set of results/coverage.csv under the usual guarantee, cross and split."""
    results: dict[tuple[str, str], list[float]] = {}
    rows: dict[str, int] = {}
    for row in coverage.stored():
        if row["guarantee"] in (LAC, ABSOLUTE):
            results.setdefault((row["calibration"], row["dataset"]), []).append(100 * float(row["coverage"]))
            rows[row["dataset"]] = int(row["rows"])
    figure, (panel,) = blank(1, 1, width=5.2, height=2.8)
    panel.axhline(100 * coverage.COVERAGE, color="0.5", linewidth=0.8, linestyle="--")
    for code, how in enumerate((CROSS, SPLIT)):
        selected = [(rows[name], float(np.mean(shares))) for (mode, name), shares in results.items() if mode == how]
        across, up = zip(*selected, strict=True)
        mean = f"{how}: mean {np.mean(up):.1f} %"
        panel.plot(across, up, linestyle="none", marker=marker(code), color=color(code), markersize=4, label=mean)
    panel.set_xscale("log")
    panel.set_xticks([100, 200, 400, 800], ["100", "200", "400", "800"])
    panel.minorticks_off()
    panel.set_xlabel("rows of the half that is learned from", fontsize=7)
    panel.set_ylabel("rows whose truth is inside, %", fontsize=7)
    panel.legend(frameon=False, fontsize=7, loc="lower right")
    panel.tick_params(labelsize=6)
    return figure


def verify_picture() -> Figure:
    """Return rows between which one number grows and a share falls, and rows with their boxes."""
    from matplotlib.patches import Rectangle

    iris = data.load(DatasetSpec("iris"), offline=True)
    retained = iris.y > 0  # versicolor and virginica, by their petals
    X, y = iris.X[retained][:, 2:], iris.y[retained] - 1
    tree = make("hhcart_a", max_depth=3, random_state=1).fit(X, y)
    verification = verify(tree, monotone=["x2"], robust=REACH, rows=X, reference=X)
    box = surroundings(X)
    figure, (left, right) = blank(1, 2, width=3.4, height=2.6)
    for panel in (left, right):
        partition.frame(panel, box, names=iris.feature_names[2:])
        panel.set_aspect("auto")
        partition.regions(panel, tree.tree_, box)
        panel.tick_params(labelsize=6)
    partition.points(left, X, y, size=4.0)
    shown = verification.verdicts[0].counterexample
    if shown is not None:
        left.annotate(
            "", xy=tuple(shown.changed), xytext=tuple(shown.row), arrowprops={"arrowstyle": "-|>", "shrinkA": 0}
        )
        text = "share {:.2f}, then {:.2f}".format(*shown.shares)
        left.annotate(text, tuple(shown.row), fontsize=6, xytext=(6, -8), textcoords="offset points")
    reach = REACH * X.std(axis=0)
    for verdict, row in zip(verification.verdicts[1:], X, strict=True):
        proved = verdict.outcome == PROVED
        corner = row - reach
        right.add_patch(
            Rectangle(
                tuple(corner), *(2.0 * reach), fill=not proved, color="0.4" if proved else color(1), linewidth=0.4
            )
        )
    return figure


def monotone_picture() -> Figure:
    """Return what trees predict of one car as only its weight grows, with an order and without."""
    cars = data.load(DatasetSpec("auto_mpg"), offline=True)
    whole = ~np.isnan(cars.X).any(axis=1)
    X, y, weight = np.ascontiguousarray(cars.X[whole]), cars.y[whole], cars.feature_names.index("weight")
    grown = np.repeat(np.median(X, axis=0)[None], 400, axis=0)
    grown[:, weight] = np.linspace(X[:, weight].min(), X[:, weight].max(), 400)
    figure, panels = blank(1, 2, width=3.4, height=2.6)
    for panel, name in zip(panels, ("hhcart_regression", "hhcart_model_tree"), strict=True):
        panel.plot(X[:, weight], y, linestyle="none", marker=".", markersize=2, color="0.75")
        for code, (text, params) in enumerate({"without": {}, "with": {"monotonic_cst": {weight: -1}}}.items()):
            tree = make(name, pruning="none", random_state=1, **params).fit(X, y)
            panel.plot(
                grown[:, weight], tree.predict(grown), color=color(code), linewidth=1.2, label=f"{text} an order"
            )
        panel.set_title(name, fontsize=7)
        panel.set_xlabel("weight, the other columns at their medians", fontsize=7)
        panel.set_ylim(5.0, 50.0)
        panel.tick_params(labelsize=6)
    panels[0].set_ylabel("miles per gallon", fontsize=7)
    panels[0].legend(frameon=False, fontsize=7)
    return figure
