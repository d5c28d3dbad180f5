"""Hyperplanes in readable form: weights per standard deviation, the largest first, one direction in the whole tree.

A `Tree` stores a hyperplane as it was grown: in the units of the features and with an arbitrary sign. A reader is
misled by both: a weight of 0.003 may be the most important, and "more" leads left at one node and right at the next.
Nothing here changes what a tree predicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import DataError
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.nodes import BLANK, Indicator, spreads_of
from oblique_cli.tree.structure import EVERYTHING, Tree

LevelNames = Mapping[int, Sequence[str]]


@dataclass(frozen=True)
class Units:
    """Units for display: a feature's name in a sum stands for (value - center) / spread, (p,); 0 and 1 give original
    units.
    of_levels : qualitative feature -> share of each level, which gives the spread of its scores; {} if unknown"""

    center: Array
    spread: Array
    of_levels: Mapping[int, Array]
    standard: bool

    @classmethod
    def raw(cls, n_features: int) -> Units:
        """Return the features' original units."""
        return cls(np.zeros(n_features), np.ones(n_features), {}, standard=False)

    def to_plain(self) -> dict[str, Any]:
        """Return the units as plain data, for the facts of a model file."""
        return {
            "center": self.center.tolist(),
            "spread": self.spread.tolist(),
            "of_levels": {str(j): shares.tolist() for j, shares in self.of_levels.items()},
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], n_features: int) -> Units:
        """Return the inverse of `to_plain`, for units that are standard deviations. DataError for invalid data."""
        try:
            center = np.array(plain["center"], dtype=np.float64)
            spread = np.array(plain["spread"], dtype=np.float64)
            shares = {int(j): np.array(each, dtype=np.float64) for j, each in plain["of_levels"].items()}
            fits = center.shape == spread.shape == (n_features,) and bool((spread > 0.0).all())
            finite = all(np.isfinite(v).all() and v.ndim == 1 for v in (center, spread, *shares.values()))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            fits = finite = False
        if not (fits and finite):
            raise DataError(
                f"units of a tree must be a center and a positive spread for each of {n_features} features."
            )
        return cls(center, spread, shares, standard=True)

    @classmethod
    def deviations(cls, X: Array, levels: Sequence[int] = ()) -> Units:
        """Return units of means and deviations of rows X (n, p), without missing values; 1 for a constant feature.
        levels : p counts as in `Tree`; a qualitative feature keeps its scores"""
        columns = spreads_of(X, levels)
        spread = np.where(columns.deviations > 0.0, columns.deviations, 1.0)
        return cls(columns.means, spread, columns.shares, standard=True)


@dataclass(frozen=True)
class LevelGroup:
    """Levels of a qualitative feature with equal contributions. weight : contribution of each to the sum"""

    names: tuple[str, ...]
    weight: float


@dataclass(frozen=True)
class Term:
    """Feature in a sum.
    weight : per unit; for a qualitative feature the standard deviation of its levels' contributions; levels : groups
    with their contributions, the largest first, () for a quantitative feature; yes : whether it is an indicator, 1 if
    its name ("island is Biscoe") holds"""

    feature: int
    name: str
    weight: float
    levels: tuple[LevelGroup, ...] = ()
    yes: bool = False

    @property
    def summand(self) -> str:
        """Name within a sum."""
        return f"({self.name})" if self.yes else self.name


@dataclass(frozen=True)
class Reading:
    """Readable form of a split: a sum, and the conditions of both sides.

    terms      all terms, the largest first; a single term means that the feature decides alone
    threshold  a row goes to the first child if the sum is below or, unless `flipped`, equal; with a single quantitative
               feature the sum is the feature itself in original units, and `first` and `second` state its sides
    flipped    whether the first child is the right child in the tree
    expression, first, second   the sum as text, and the comparisons that lead to the first and the second child
    condition  condition for the first child, in one line
    scale      divisor of the sum `coef_ @ x`, negative if flipped; `shift` is subtracted first"""

    terms: tuple[Term, ...]
    threshold: float
    flipped: bool
    expression: str
    first: str
    second: str
    condition: str
    scale: float
    shift: float


def turned(tree: Tree) -> NDArray[np.bool_]:
    """Return which splits are shown with their children exchanged, (n_nodes,): the second child, on the side of larger
    sums, gets the larger share of the tree's most frequent class (of the node's, if the node lacks that class); equal
    shares change nothing."""
    weights = tree.counts.sum(axis=1)
    shares = tree.counts / np.where(weights > 0.0, weights, 1.0)[:, None]
    inner = np.flatnonzero(~tree.is_leaf)
    judged = np.where(tree.counts[inner, tree.labels[0]] > 0.0, tree.labels[0], tree.labels[inner])
    out = np.zeros(tree.n_nodes, dtype=np.bool_)
    out[inner] = shares[tree.left[inner], judged] > shares[tree.right[inner], judged]
    return out


def number(value: float, precision: int = 3) -> str:
    """Return a number with `precision` significant digits, and all digits before the point: 1234.5 is "1234"."""
    if value == 0.0 or not np.isfinite(value):
        return f"{value + 0.0:g}"
    size = abs(value)
    if 1e-4 <= size < 1e7:
        places = max(precision - 1 - int(np.floor(np.log10(size))), 0)
        text = f"{value:.{places}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if text in ("-0", "") else text
    return f"{value:.{precision}g}"


def read(
    tree: Tree,
    node: int,
    flipped: bool,
    names: Sequence[str],
    units: Units,
    precision: int = 3,
    level_names: LevelNames | None = None,
    most: int | None = None,
) -> Reading:
    """Return the readable form of a split of `tree` in the given units.
    flipped : as of `turned`; names : (p,); most : terms that its condition shows, None for all"""
    coef, threshold = tree.coef_[node], float(tree.thresholds[node])
    used = [int(j) for j in np.flatnonzero(coef)]
    if len(used) == 1:
        return _single(tree, node, used[0], flipped, names, precision, level_names or {})
    qualitative = [j for j in used if j in tree.level_columns]
    sums = {j: coef[j] * tree.level_scores[node, tree.level_columns[j]] for j in qualitative}
    with np.errstate(over="ignore"):
        weights = coef * units.spread
    for j, adds in sums.items():
        share = units.of_levels.get(j)
        share = np.full(len(adds), 1.0 / len(adds)) if share is None or share.sum() == 0 else share / share.sum()
        weights[j] = np.sqrt(share @ (adds - share @ adds) ** 2)
    quantitative = [j for j in used if j not in sums]
    shift = float(coef[quantitative] @ units.center[quantitative])
    length = float(np.linalg.norm(weights[used])) if units.standard else 1.0
    if not (np.isfinite(length) and length > 0.0):
        length = 1.0
    scale = -length if flipped else length
    terms = []
    for j in used:
        groups = _groups(sums[j] / scale, _names_of(j, len(sums[j]), level_names or {}), precision) if j in sums else ()
        name = names[j]
        weight = abs(weights[j]) / length if j in sums else weights[j] / scale
        terms.append(
            Term(j, name.holds() if isinstance(name, Indicator) else name, weight, groups, isinstance(name, Indicator))
        )
    terms.sort(key=lambda term: (-abs(term.weight), term.feature))
    at = (threshold - shift) / scale
    shown_terms = terms if most is None or len(terms) <= most else terms[:most]
    expression = _sum(shown_terms, precision) + counted(len(terms) - len(shown_terms))
    below, above = ("<", ">=") if flipped else ("<=", ">")
    # A number within rounding of 0 is shown as 0.
    shown = number(0.0 if units.standard and abs(at) < 10.0 ** -(precision + 6) else at, precision)
    levels = "".join(
        f" with {term.name} = "
        + ", ".join(f"{number(group.weight, precision)} {' or '.join(group.names)}" for group in term.levels)
        for term in shown_terms
        if term.levels
    )
    condition = f"{expression} {below} {shown}{levels}{_missing(tree, node, quantitative, flipped)}"
    sides = _side(below, shown), _side(above, shown)
    return Reading(tuple(terms), at, flipped, expression, *sides, condition, scale, shift)


def _single(
    tree: Tree, node: int, j: int, flipped: bool, names: Sequence[str], precision: int, level_names: LevelNames
) -> Reading:
    """Return the readable form of a split on one feature, in its original units."""
    coef, threshold, name = float(tree.coef_[node, j]), float(tree.thresholds[node]), names[j]
    scale = -1.0 if flipped else 1.0
    if isinstance(name, Indicator) and (coef <= threshold) != (threshold >= 0.0):
        is_first = (coef <= threshold) != flipped
        condition, other = name.holds(is_first), name.holds(not is_first)
        term, expression = Term(j, name.holds(), -1.0 if is_first else 1.0, yes=True), name.column
        first, second = (side[len(name.column) + 1 :] for side in (condition, other))
        return Reading((term,), threshold / coef, flipped, expression, first, second, condition, coef, 0.0)
    if j in tree.level_columns:
        scores = tree.level_scores[node, tree.level_columns[j]]
        called = _names_of(j, len(scores), level_names)
        left = [level for level, score in zip(called, scores, strict=True) if score and coef * score <= threshold]
        right = [level for level, score in zip(called, scores, strict=True) if score and coef * score > threshold]
        (left if threshold >= 0.0 else right).append("any other level")
        sides = (right, left) if flipped else (left, right)
        groups = tuple(LevelGroup(tuple(names), sign) for names, sign in zip(sides, (-1.0, 1.0), strict=True) if names)
        first, second = (", ".join(names) for names in sides)
        condition, at = f"{name} in {{{first}}}", threshold * scale
        return Reading((Term(j, name, 1.0, groups),), at, flipped, name, first, second, condition, scale, 0.0)
    if threshold == EVERYTHING and tree.missing_left is not None:
        first, second = ("is missing", "is known") if flipped else ("is known", "is missing")
        condition = f"{name} is {'' if flipped else 'not '}missing"
        return Reading((Term(j, name, 1.0),), 0.0, flipped, name, first, second, condition, scale, 0.0)
    shown, at = number(threshold / coef + 0.0, precision), threshold / coef
    marks = ("<=", ">") if coef > 0 else (">=", "<")
    below, above = marks[::-1] if flipped else marks
    condition = f"{name} {below} {shown}{_missing(tree, node, [j], flipped)}"
    term = Term(j, name, 1.0 if (coef > 0) != flipped else -1.0)
    sides_shown = _side(below, shown), _side(above, shown)
    return Reading((term,), at, flipped, name, *sides_shown, condition, coef, 0.0)


def _missing(tree: Tree, node: int, quantitative: Sequence[int], flipped: bool) -> str:
    """Return the suffix of a condition if rows with a missing value go to the same side, else ""."""
    if tree.missing_left is None or not quantitative or bool(tree.missing_left[node]) == flipped:
        return ""
    return ", or missing" if len(quantitative) == 1 else ", or any of these missing"


def counted(rest: int) -> str:
    """Return the text for terms that are not shown, "" for none."""
    return f" and {rest} smaller term{'' if rest == 1 else 's'}" if rest else ""


def _sum(terms: Sequence[Term], precision: int) -> str:
    """Return the terms in one line, without a space after the first sign."""
    text = ""
    for term in terms:
        text += f" {'-' if term.weight < 0 else '+'} "
        if not term.levels:
            text += number(abs(term.weight), precision) + (BLANK if term.yes else " ")
        text += term.summand
    return text.removeprefix(" + ") if text.startswith(" +") else "-" + text.removeprefix(" - ")


def _side(mark: str, shown: str) -> str:
    """Return a comparison as drawings show it."""
    return f"{ {'<=': '≤', '>=': '≥'}.get(mark, mark) } {shown.replace('-', '−', 1) if shown[0] == '-' else shown}"


def _names_of(feature: int, count: int, level_names: LevelNames) -> list[str]:
    names = level_names.get(feature)
    return [str(code) for code in range(count)] if names is None else [str(name) for name in names]


def _groups(adds: Array, names: Sequence[str], precision: int) -> tuple[LevelGroup, ...]:
    """Return groups of levels with equal contributions, to `precision` digits; levels without a score are omitted."""
    groups: dict[str, list[int]] = {}
    for level, add in enumerate(adds.tolist()):
        if add:
            groups.setdefault(number(add, precision), []).append(level)
    level_groups = [
        LevelGroup(tuple(names[level] for level in levels), float(adds[levels].mean())) for levels in groups.values()
    ]
    return tuple(sorted(level_groups, key=lambda group: -group.weight))
