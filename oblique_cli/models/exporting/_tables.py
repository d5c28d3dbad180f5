"""A model as flat tables, for languages that walk large trees and forests by a loop."""

from __future__ import annotations

from dataclasses import dataclass, field

from oblique_cli.models.procedure import ANYTHING, MAJORITY, Lane, Leaf, Procedure, Split


@dataclass
class Terms:
    """Terms one after the other: coefficient, cell, level (-1 the number itself, -2 missing)."""

    coef: list[float] = field(default_factory=list)
    cell: list[int] = field(default_factory=list)
    level: list[int] = field(default_factory=list)

    def add(self, lane: Lane) -> None:
        """Append the terms of a lane."""
        for term in lane:
            self.coef.append(term.coef)
            self.cell.append(term.cell)
            self.level.append(term.level)


@dataclass
class Tables:
    """Inner nodes of all trees, numbered through, and leaves, numbered through.

    roots          of each tree: the number of an inner node, or -1 - the number of a leaf
    left, right    of each inner node, coded as `roots`
    threshold, missing_left   of each inner node
    starts         n_lanes a node, and one more: where the terms of each lane begin
    rotated_starts, rotated_first   where the terms of each rotated feature begin, and the features of each tree
    node           of each leaf: its number in its tree, as `apply` gives it
    voice          of each leaf: what it adds to the sums of a vote (`voice_of`)
    model_starts   of each leaf and one more: where the terms of its linear model begin
    bounds         of each leaf: least and largest number of this model
    """

    n_lanes: int
    roots: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    missing_left: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    terms: Terms = field(default_factory=Terms)
    rotated_first: list[int] = field(default_factory=lambda: [0])
    rotated_starts: list[int] = field(default_factory=lambda: [0])
    rotated: Terms = field(default_factory=Terms)
    node: list[int] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    shares: list[tuple[float, ...]] = field(default_factory=list)
    voice: list[tuple[float, ...]] = field(default_factory=list)
    model_starts: list[int] = field(default_factory=lambda: [0])
    model: Terms = field(default_factory=Terms)
    intercept: list[float] = field(default_factory=list)
    bounds: list[tuple[float, float]] = field(default_factory=list)


def voice_of(procedure: Procedure, leaf: Leaf) -> tuple[float, ...]:
    """Return what a leaf adds to the sums of a forest: a number, a vote, shares of the classes, or scores of some."""
    if procedure.is_regression:
        return (leaf.intercept,)
    if leaf.scores is not None:
        return leaf.scores.intercept
    if procedure.voting == MAJORITY:
        return tuple(float(k == leaf.label) for k in range(len(procedure.classes)))
    return leaf.shares


def tables_of(procedure: Procedure) -> Tables:
    """Return the tables of a model. All its splits have one number of lanes, four or one."""
    lanes = {len(split.lanes) for tree in procedure.trees for split in tree.splits if split is not None} or {1}
    (n_lanes,) = lanes
    out = Tables(n_lanes)
    for tree in procedure.trees:
        first_inner, first_leaf = len(out.left), len(out.node)
        number = {node: first_inner + i for i, node in enumerate(tree.inner)}
        number |= {node: -1 - first_leaf - i for i, node in enumerate(tree.leaf_nodes)}
        out.roots.append(number[0])
        for node in tree.inner:
            out.left.append(number[tree.left[node]])
            out.right.append(number[tree.right[node]])
            _add_split(out, tree.split(node))
        for node in tree.leaf_nodes:
            leaf = tree.leaf(node)
            out.node.append(tree.number(node))
            out.label.append(leaf.label)
            out.shares.append(leaf.shares)
            out.voice.append(voice_of(procedure, leaf))
            out.model.add(leaf.terms)
            out.model_starts.append(len(out.model.coef))
            out.intercept.append(leaf.intercept)
            out.bounds.append(leaf.bounds or ANYTHING)
        for lane in tree.rotated:
            out.rotated.add(lane)
            out.rotated_starts.append(len(out.rotated.coef))
        out.rotated_first.append(len(out.rotated_starts) - 1)
    return out


def _add_split(out: Tables, split: Split) -> None:
    out.threshold.append(split.threshold)
    out.missing_left.append(int(split.missing_left is True))
    for lane in split.lanes:
        out.terms.add(lane)
        out.starts.append(len(out.terms.coef))
