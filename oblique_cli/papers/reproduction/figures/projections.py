"""Two figures of the thesis with projections on a line: of the levels of a feature, and of the rows of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from oblique_cli import data
from oblique_cli.drawing.canvas import blank, color
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.geometry import crimcoord, dummy_scatter, principal_axes, unit_scatter
from oblique_cli.papers.reproduction.figures.illustrations import FigureSetting, Picture, illustration

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Rows of two levels, as in figure 3.11, by two classes; the figure's numbers are not printed.
LEVELS = np.array([[30.0, 10.0], [10.0, 30.0]])
STEPS = 720  # directions to try, over half a turn


def directions(count: int = STEPS) -> Array:
    """Return unit vectors of the plane, evenly over half a turn, (count, 2)."""
    turn = np.pi * np.arange(count) / count
    return np.column_stack([np.cos(turn), np.sin(turn)])


def sums_of_squares(table: Array, scores: Array) -> tuple[Array, Array]:
    """Return the squares between classes, (C,), and within them by class and level, (C, L), of projected levels.
    table : (L, C) rows of levels by classes; scores : (L,). The sums are a'Ba and a'Wa (thesis eq. 3.7.2a, 3.7.2b)."""
    sizes = table.sum(axis=0)
    means = scores @ table / sizes
    grand = float(scores @ table.sum(axis=1) / table.sum())
    return sizes * (means - grand) ** 2, table.T * (scores[None, :] - means[:, None]) ** 2


@illustration
def level_scores(setting: FigureSetting) -> Picture:
    """Draw the dummy vectors, the class means between them, and all of them projected on a*."""
    scores = crimcoord(LEVELS)
    means = (LEVELS / LEVELS.sum(axis=0)).T
    figure, (axes,) = blank(1, 1, width=4.0, height=4.0)
    axes.set_aspect("equal")
    axes.set_xlim(-1.0, 1.4)
    axes.set_ylim(-1.0, 1.4)
    axes.axhline(0.0, color="0.8", linewidth=0.6)
    axes.axvline(0.0, color="0.8", linewidth=0.6)
    axes.plot(*np.outer([-1.0, 1.0], scores).T, color="black")
    axes.annotate("a*", tuple(0.95 * scores), textcoords="offset points", xytext=(6, 6))
    for level, place in enumerate(np.eye(2), start=1):
        _projected(axes, place, scores, "0.3", f"level {level}", f"v'{level}", "s")
    for code, place in enumerate(means):
        _projected(axes, place, scores, color(code), f"mean of class {code + 1}", "", "o")
    between, within = (float(part.sum()) for part in sums_of_squares(LEVELS, scores))
    B, W = dummy_scatter(LEVELS)
    tried = directions()
    total = np.einsum("ij,jk,ik->i", tried, B + W, tried)
    quotients = (np.einsum("ij,jk,ik->i", tried, B, tried) / np.where(total > 1e-9, total, np.inf)).round(9)
    return Picture(
        figure,
        f"the levels become {scores[0]:.4f} and {scores[1]:.4f}; of {between + within:.1f}, the sum of squares of the "
        f"projections, {between:.1f} lies between the classes. None of {STEPS} other directions has a larger share "
        f"between them than {quotients.max():.3f}: of two levels all have this one, but (1, 1), on which both are the "
        "same point.",
    )


def _projected(axes: Axes, place: Array, unit: Array, shade: str, name: str, image: str, form: str) -> None:
    """Draw a point, its name, and its projection on the line along `unit`, also with a name."""
    foot = (place @ unit) * unit
    axes.plot(*np.array([place, foot]).T, color=shade, linestyle=":", linewidth=0.8)
    axes.plot(*place, marker=form, color=shade, markersize=5)
    axes.plot(*foot, marker=form, color=shade, markersize=4, markerfacecolor="white")
    axes.annotate(name, tuple(place), textcoords="offset points", xytext=(6, 4))
    if image:
        axes.annotate(image, tuple(foot), textcoords="offset points", xytext=(-14, -10))


@illustration
def representative_proof(setting: FigureSetting) -> Picture:
    """Draw one row with its angle and distance, then all rows of a class on the circle with the best line."""
    dataset = data.load("extreme_values", setting.data_dir, setting.offline)
    rows = dataset.X[dataset.y == 0]
    units, scatter = unit_rows(rows), unit_scatter(rows)
    assert scatter is not None
    best = principal_axes(scatter)[0]
    figure, axes = blank(1, 2)
    turn = np.linspace(0.0, 2.0 * np.pi, 200)
    far = int(np.argsort(squared_distances(units, best))[len(units) * 3 // 4])
    for panel, shown, title in ((axes[0], units[[far]], "one row"), (axes[1], units, "all rows of the class")):
        panel.set_aspect("equal")
        panel.set_title(title)
        panel.plot(np.cos(turn), np.sin(turn), color="0.8", linewidth=0.6)
        panel.plot(*np.outer([-1.2, 1.2], best).T, color="black")
        panel.annotate("v", tuple(1.2 * best), textcoords="offset points", xytext=(4, 0))
        for row in shown:
            panel.plot(*np.array([row, (row @ best) * best]).T, color=color(1), linewidth=0.8)
        panel.plot(*shown.T, linestyle="none", marker="o", markersize=3, color=color(0))
    axes[0].plot(*np.array([np.zeros(2), units[far]]).T, color=color(0), linewidth=0.8)
    axes[0].annotate("x", tuple(units[far]), textcoords="offset points", xytext=(4, 4))
    middle = (units[far] + (units[far] @ best) * best) / 2
    axes[0].annotate("d", tuple(middle), textcoords="offset points", xytext=(4, -4))
    sums = np.array([squared_distances(units, each).sum() for each in directions()])
    least = directions()[int(sums.argmin())]
    alpha = np.degrees(np.arccos(min(1.0, abs(float(units[far] @ best)))))
    return Picture(
        figure,
        f"the row of the left panel is {alpha:.1f} degrees from v and {np.sin(np.radians(alpha)):.3f} away; the "
        f"squared distances of all {len(units)} rows sum to {squared_distances(units, best).sum():.3f}. Of {STEPS} "
        f"directions the best has {sums.min():.3f}, "
        f"{np.degrees(np.arccos(min(1.0, abs(float(least @ best))))):.2f} degrees from v.",
    )


def unit_rows(rows: Array) -> Array:
    """Return rows centered on their mean and scaled to length 1. rows : (n, p), none on the mean."""
    centered = rows - rows.mean(axis=0)
    return np.asarray(centered / np.linalg.norm(centered, axis=1, keepdims=True))


def squared_distances(units: Array, direction: Array) -> Array:
    """Return the squared distance of each row from the line along a unit vector, measured at its foot, (n,)."""
    feet = np.outer(units @ direction, direction)
    return np.asarray(((units - feet) ** 2).sum(axis=1))
