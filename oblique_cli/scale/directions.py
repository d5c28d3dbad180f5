"""The directions that a heuristic searches at a node, from sums over its rows; the compiled heuristics do the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import oblique_cli._core as _core

Array = NDArray[np.float64]

AXES, COVARIANCES, UNIT_ROWS, BISECTORS = "axes", "covariances", "unit rows", "bisectors"
# Native family -> what it needs of the rows of a node. Others climb or draw, and want all rows at hand.
NEEDS: Mapping[str, str] = {
    "axis_parallel": AXES,
    "hhcart_a": COVARIANCES,
    "hhcart_d": COVARIANCES,
    "hhcrv": UNIT_ROWS,
    "gdt": BISECTORS,
    "hhgdt": BISECTORS,
}
ZERO_EIGENVALUE = 1e-10  # of HHCRV, as in core/heuristic/families/hhcrv.cpp


@dataclass
class Slot:
    """An open node: what the passes have found of its rows.

    rows, weight, heaviest : (C,) by class; low, high : (C, p) ranges, scores in place of levels; scores : of levels
    """

    node: int
    depth: int
    rows: NDArray[np.int64]
    weight: Array
    heaviest: Array
    low: Array
    high: Array
    scores: Array
    # Of passes that follow.
    center: Array | None = None
    inverse: Array | None = None
    high_sums: NDArray[np.int64] | None = None
    low_sums: NDArray[np.int64] | None = None
    planes: tuple[tuple[Array, float], ...] = ()
    left: Array | None = None
    spaces: Array | None = None

    @property
    def present(self) -> NDArray[np.intp]:
        """The codes of its classes."""
        return np.flatnonzero(self.rows)

    @property
    def box(self) -> tuple[Array, Array]:
        """The range of every feature over all classes."""
        present = self.present
        return self.low[present].min(axis=0), self.high[present].max(axis=0)

    @property
    def majority(self) -> int:
        """The heaviest class, the first of equals."""
        return int(np.argmax(self.weight))

    def unit(self, weighted: bool) -> Array:
        """Return the power of 2 that moments of each class are scaled by."""
        if not weighted:
            return np.ones(len(self.rows))
        return np.array([_core.weight_unit(w) if w > 0 else 1.0 for w in self.heaviest])

    def factor(self) -> float:
        """Return the power of 2 that keeps squares in range."""
        low, high = self.box
        return float(_core.moment_factor(float((high - low).max())))

    def _sums(self, k: int, weighted: bool) -> tuple[Array, Array, Any, Any, float, float]:
        assert self.center is not None and self.inverse is not None
        assert self.high_sums is not None and self.low_sums is not None
        center, inverse = np.ascontiguousarray(self.center[k]), np.ascontiguousarray(self.inverse[k])
        high, low = np.ascontiguousarray(self.high_sums[k]), np.ascontiguousarray(self.low_sums[k])
        return center, inverse, high, low, float(self.weight[k]), float(self.unit(weighted)[k])

    def differs(self, k: int) -> bool:
        """Whether rows of a class differ."""
        assert self.inverse is not None
        return bool(self.rows[k] >= 2 and (self.inverse[k] > 0).any())

    def scatter(self, k: int, weighted: bool, scale: float) -> Array:
        """Return the scatter of a class about its mean, times scale."""
        return np.asarray(_core.class_scatter(*self._sums(k, weighted), self.factor(), scale))

    def mean(self, k: int, weighted: bool) -> Array:
        """Return the mean of a class."""
        return np.asarray(_core.class_mean(*self._sums(k, weighted)))

    def products(self, k: int, weighted: bool) -> Array:
        """Return the sums of products of [y 1] of a class."""
        assert self.high_sums is not None and self.low_sums is not None and self.center is not None
        high, low = np.ascontiguousarray(self.high_sums[k]), np.ascontiguousarray(self.low_sums[k])
        return np.asarray(_core.class_products(self.center.shape[1], high, low, float(self.unit(weighted)[k])))


def scored_slot(slot: Slot, tables: Array, levels: Sequence[int]) -> None:
    """Give the levels of a node their scores (CRIMCOORD), and its ranges those of the scores.

    tables : (C, width + features), the weights of levels by class, a place for cells without a level after each feature
    """
    if not any(levels):
        return
    present, at, start = slot.present, 0, 0
    for j, count in enumerate(levels):
        if count == 0:
            continue
        table = tables[:, start : start + count + 1]
        start += count + 1
        scores = np.asarray(_core.crimcoord(np.ascontiguousarray(table[present, :count].T)))
        slot.scores[at : at + count] = scores
        at += count
        shown = np.append(scores, 0.0)
        for k in present:
            seen = shown[table[k] > 0]
            slot.low[k, j], slot.high[k, j] = seen.min(), seen.max()


def frame(slot: Slot, need: str) -> None:
    """Set the coordinates in which moments of a node are summed up: of each class, or of the node for bisectors."""
    if need == BISECTORS:
        low, high = slot.box
        center, scale = _core.standard_box(np.ascontiguousarray(low), np.ascontiguousarray(high))
        shape = slot.low.shape
        slot.center = np.broadcast_to(center, shape).copy()
        slot.inverse = np.where((slot.rows > 0)[:, None], 1.0 / np.asarray(scale), -1.0)
        return
    center, inverse, _ = _core.class_frames(np.ascontiguousarray(slot.low), np.ascontiguousarray(slot.high))
    slot.center, slot.inverse = np.asarray(center), np.asarray(inverse)


def original(p: int) -> Array:
    """Return the space of the features themselves."""
    return np.zeros((1, p))


def reflected(vectors: list[Array], options: Mapping[str, Any], p: int) -> Array:
    """Return the spaces of vectors, (k, p) of their u; the original one where there is no vector."""
    joined = np.ascontiguousarray(np.vstack(vectors)) if vectors else np.empty((0, p))
    if len(joined) == 0:
        return original(p)
    return np.asarray(_core.reflected_spaces(joined, options["tau"], options.get("both_signs", False)))


def of_covariances(slot: Slot, options: Mapping[str, Any], weighted: bool, dominant_only: bool) -> Array:
    """Return the spaces of HHCART from the moments of the classes (thesis 3.5, and 4.1.1.1 for blocks)."""
    vectors, p = [], slot.low.shape[1]
    pooled = _pooled(slot, weighted) if options["shrinkage"] else None
    for k in slot.present:
        if not slot.differs(k):
            continue
        covariance = slot.scatter(k, weighted, 1.0 / max(float(slot.weight[k]) - 1.0, 1.0))
        if pooled is not None:
            covariance = np.asarray(_core.shrunken(covariance, pooled, float(slot.weight[k])))
        axes = _core.principal_axes(covariance, options["eigenvalue_tolerance"], options["sign"], dominant_only)
        vectors.append(np.asarray(axes))
    return reflected(vectors, options, p)


def _pooled(slot: Slot, weighted: bool) -> Array:
    pooled, total = np.zeros(slot.low.shape[1]), 0.0
    for k in slot.present:
        total += float(slot.weight[k])
        if slot.differs(k):
            pooled += np.diagonal(slot.scatter(k, weighted, 1.0))
    return pooled / max(total - len(slot.present), 1.0)


def of_unit_rows(slot: Slot, sums: tuple[Any, Any], options: Mapping[str, Any], weighted: bool) -> Array:
    """Return the spaces of HHCRV from the scatter of unit rows (thesis 5.3). sums : (C, size) high and low"""
    vectors, p = [], slot.low.shape[1]
    for k in slot.present:
        if not slot.differs(k):
            continue
        high, low = (np.ascontiguousarray(each[k]) for each in sums)
        products = np.asarray(_core.class_products(p, high, low, float(slot.unit(weighted)[k])))
        scatter = np.ascontiguousarray(products[:p, :p])
        vectors.append(np.asarray(_core.principal_axes(scatter, ZERO_EIGENVALUE, options["sign"], True)))
    return reflected(vectors, options, p)


def bisectors(slot: Slot, weighted: bool, strict: bool) -> tuple[tuple[Array, float], ...]:
    """Return the angle bisectors of the clustering hyperplanes (thesis 5.1.1 to 5.1.2) as (w, t)."""
    p, largest = slot.low.shape[1], slot.majority
    others, rest = np.zeros((p + 1, p + 1)), 0.0
    for k in slot.present:
        if k != largest:
            others += slot.products(k, weighted)
            rest += float(slot.weight[k])
    low, high = (np.ascontiguousarray(side) for side in slot.box)
    mine = slot.products(largest, weighted)
    found = _core.bisectors(mine, others, float(slot.weight[largest]), rest, low, high, strict)
    return tuple((np.asarray(w), float(t)) for w, t in found)


def better(slot: Slot, left: Array, search: Callable[..., _core.SlotSearch], by_super_classes: bool) -> int:
    """Return which bisector has the greater gain, the first if neither has any. left : (planes, C) weights"""
    present, largest = slot.present, slot.majority
    of_class, parts = slot.weight[present], left[:, present]
    if by_super_classes and len(present) > 2:
        mine = left[:, largest]
        parts = np.stack([mine, parts.sum(axis=1) - mine], axis=1)
        of_class = np.array([slot.weight[largest], of_class.sum() - slot.weight[largest]])
    scored = search(np.ascontiguousarray(of_class))
    for i, (_, t) in enumerate(slot.planes):
        scored.offer_cut(i, t, np.ascontiguousarray(parts[i]), 0.0)
    winner = scored.winner()
    return 0 if winner is None else int(winner[0])


def predicted_ranges(slot: Slot, spaces: Array, weighted: bool, sums_are_of_classes: bool) -> tuple[Array, Array]:
    """Return about where the rows lie on every axis of some spaces, (k p,) each; bins beyond the ends take the rest.

    The range is that of the box for original axes, else four deviations about the mean, within the box: it decides how
    many rows a bin has, and nothing else.
    """
    p = spaces.shape[1]
    low, high = slot.box
    center, half = 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low
    H = np.eye(p)[None] - 2.0 * spaces[:, :, None] * spaces[:, None, :]
    middle = (H @ center).ravel()
    reach = (np.abs(H) @ half).ravel()
    least, largest = middle - reach, middle + reach
    if sums_are_of_classes:
        share = slot.weight / slot.weight.sum()
        means = np.array([slot.mean(k, weighted) if slot.rows[k] else center for k in range(len(slot.rows))])
        mean = share @ means
        spread = np.zeros((p, p))
        factor = slot.factor()
        for k in slot.present:
            if slot.differs(k):
                spread += slot.scatter(k, weighted, 1.0 / float(slot.weight.sum())) / factor / factor
            spread += share[k] * np.outer(means[k] - mean, means[k] - mean)
        with np.errstate(invalid="ignore", over="ignore"):
            at = (H @ mean).ravel()
            deviation = np.sqrt(np.maximum(np.einsum("sij,jk,sik->si", H, spread, H, optimize=True), 0.0)).ravel()
            near, far = at - 4.0 * deviation, at + 4.0 * deviation
        fine = np.isfinite(near) & np.isfinite(far) & (deviation > 0) & (spaces.ravel() != 0.0)
        least = np.where(fine, np.maximum(least, near), least)
        largest = np.where(fine, np.minimum(largest, far), largest)
    return least, largest
