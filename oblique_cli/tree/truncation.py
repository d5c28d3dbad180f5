"""Bounds on the predictions of linear leaves, near the targets they were fitted to.

A linear model is unbounded far from its rows. Raymaekers et al. (2024) truncate predictions of PILOT to 1.5 times the
range of the training targets, around its middle; the same is possible with the range of each leaf's rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from oblique_cli.ground.arrays import Array
from oblique_cli.tree.sparse import arrivals
from oblique_cli.tree.structure import Tree

NONE, ALL, LEAF = "none", "all", "leaf"
TRUNCATIONS = (NONE, ALL, LEAF)
WIDTH = 1.5  # in ranges of the targets


def truncated(tree: Tree, X: Array, y: Array, which: str) -> Tree:
    """Return a regression tree whose predictions stay within WIDTH times the range of targets, around its middle.
    X, y : the training rows (n, p) and targets (n,) or (n, k); which : "none", "all" for the range of all targets, or
    "leaf" for the range in each leaf, inside that of all"""
    if which == NONE or not tree.equations.linear.any():  # a constant lies within its targets
        return tree
    groups = [y] * tree.n_nodes if which == ALL else [y[rows] for rows in arrivals(tree, X)]
    ends = np.array([np.stack([targets.min(axis=0), targets.max(axis=0)], axis=-1) for targets in groups])
    room = 0.5 * (WIDTH - 1.0) * (ends[..., 1] - ends[..., 0])
    bounds = ends + room[..., None] * [-1.0, 1.0]
    return tree.changed(payload=replace(tree.equations, bounds=bounds))
