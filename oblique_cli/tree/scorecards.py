"""Scorecards: readable formulas of the models in leaves. Nothing here changes what a tree predicts.

A model stores the square of a standardized feature as (z^2 - 1) / sqrt(2) and has a score for each class, which is
redundant for two classes. A scorecard shows z^2 itself, and for two classes the difference of their scores: the log
odds of one against the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from oblique_cli.ground.nodes import BLANK, Indicator, spoken
from oblique_cli.tree.payloads import BELOW, FARTHEST_SQUARED, HINGE, LEVEL, PRODUCT, SQUARE, VALUE, LeafModels, Term
from oblique_cli.tree.reading import number

SQUARED, TIMES = "²", f"{BLANK}×{BLANK}"
MOST_SCORES = 12  # number of classes of a leaf whose scores are shown


@dataclass(frozen=True)
class CardTerm:
    """Term of a score.
    kind, feature, level, other, knot : as of `payloads.Term`; name : as in the sum, "age", "age²", "age × height",
    "max(0, age - 3.2)", "(island is Biscoe)"; weight : coefficient of the name"""

    kind: str
    feature: int
    level: int
    other: int
    knot: float
    name: str
    weight: float


@dataclass(frozen=True)
class Score:
    """Score of a class, or of one class of two against the other.
    label, against : class codes, -1 if every class has a score; name : of the class, or "yes against no"; terms : the
    largest weight first; formula : the sum in one line"""

    label: int
    against: int
    name: str
    intercept: float
    terms: tuple[CardTerm, ...]
    formula: str


def scores_of(
    models: LeafModels,
    leaf: int,
    feature_names: Sequence[str],
    class_names: Sequence[str],
    *,
    first: int = 1,
    raw: bool = False,
    precision: int = 3,
    level_names: Mapping[int, Sequence[str]] | None = None,
    most: int | None = None,
) -> tuple[Score, ...]:
    """Return the scores of a leaf: one for each class, or for two classes the difference in favor of `first`.
    feature_names : (p,), an `Indicator` for a feature that is a level; class_names : (C,); raw : terms in the original
    units, except squares and products; most : terms that `formula` shows, None for all; the others are counted"""
    weights, intercepts = models.weights(leaf), models.intercept[leaf]
    if len(weights) == 2:
        sign = 1.0 if first == 1 else -1.0
        weights, intercepts = sign * (weights[1:] - weights[:1]), sign * (intercepts[1:] - intercepts[:1])
    scores = []
    for k, (class_weights, start) in enumerate(zip(weights, intercepts.tolist(), strict=True)):
        terms, shift = [], start
        for term, weight in zip(models.terms, class_weights.tolist(), strict=True):
            if not weight:
                continue
            if term.kind == SQUARE:
                weight *= np.sqrt(0.5)
                shift -= weight
            own_units = raw and term.kind in (VALUE, HINGE)
            if own_units:
                with np.errstate(over="ignore", invalid="ignore"):
                    of_unit = weight / models.scale[term.feature]
                    moved = of_unit * models.center[term.feature] if term.kind == VALUE else 0.0
                own_units = bool(np.isfinite([of_unit, moved]).all())  # else there is no readable unit
                if own_units:
                    weight, shift = of_unit, shift - moved
            name = _named(models, term, feature_names, level_names or {}, raw and not own_units, own_units, precision)
            terms.append(CardTerm(*term, name, float(weight)))
        terms.sort(key=lambda term: -abs(term.weight))
        label, against, name = k, -1, class_names[k]
        if len(class_names) == 2:
            label, against = first, 1 - first
            name = f"{class_names[label]}{BLANK}against{BLANK}{class_names[against]}"
        formula = _sum(shift, terms, precision, most)
        scores.append(Score(label, against, name, float(shift), tuple(terms), formula))
    return tuple(scores)


def _named(
    models: LeafModels,
    term: Term,
    names: Sequence[str],
    level_names: Mapping[int, Sequence[str]],
    spelled: bool,
    own_units: bool,
    precision: int,
) -> str:
    """Return the name of a term in a sum.
    spelled : whether to write out standard deviations; own_units : whether a knot is in the feature's units"""
    kind, feature, level, other, knot = term
    if kind == PRODUCT:
        if other == feature:
            return _named(models, Term(SQUARE, feature), names, level_names, spelled, own_units, precision)
        factors = (Term(VALUE, feature), Term(VALUE, other))
        return TIMES.join(_named(models, each, names, level_names, spelled, own_units, precision) for each in factors)
    name = names[feature]
    if kind == LEVEL:
        known = level_names.get(feature, ())
        label = known[level] if level < len(known) else str(level)
        return f"({BLANK.join((name, 'is', spoken(label)))})"
    label = f"({name.holds()})" if isinstance(name, Indicator) else name
    if kind == HINGE:  # in the units of VALUE
        if spelled:
            label = _named(models, Term(VALUE, feature), names, level_names, spelled, own_units, precision)
        at = number(knot if own_units else float((knot - models.center[feature]) / models.scale[feature]), precision)
        low, high = (label, at) if other == BELOW else (at, label)
        minus = f"+{BLANK}{low[1:]}" if low[0] == "-" else f"-{BLANK}{low}"
        return f"max(0,{BLANK}{high}{BLANK}{minus})"
    square = SQUARED if kind == SQUARE else ""
    if not spelled:
        return f"({label}){SQUARED}" if square and BLANK in label and label[0] != "(" else label + square
    center, scale = (number(float(of[feature]), precision) for of in (models.center, models.scale))
    minus = f"+{BLANK}{center[1:]}" if center[0] == "-" else f"-{BLANK}{center}"
    return f"(({label}{BLANK}{minus}){BLANK}/{BLANK}{scale}){square}"


def _sum(intercept: float, terms: Sequence[CardTerm], precision: int, most: int | None) -> str:
    """Return a score in one line: "0.5 - 1.2 age + 0.3 age² and 3 more terms"."""
    shown = terms if most is None or len(terms) <= most else terms[:most]
    text = number(intercept, precision)
    for term in shown:
        apart = BLANK if term.name.startswith("(") else " "  # no line break before a bracket
        text += f" {'-' if term.weight < 0 else '+'} {number(abs(term.weight), precision)}{apart}{term.name}"
    return text + more(len(terms) - len(shown))


def more(rest: int) -> str:
    """Return the text for terms that are not shown, "" for none."""
    return f" and {rest} more term{'' if rest == 1 else 's'}" if rest else ""


def notes_of(models: LeafModels, classes: Sequence[str], first: int, raw: bool) -> list[str]:
    """Return notes on the scores for the reader, as sentences."""
    if len(classes) == 2:
        a, b = classes[first], classes[1 - first]
        notes = [f"A leaf gives the log odds of {a} against {b}: above 0 the answer is {a}."]
    else:
        notes = ["A leaf gives every class a score, and the largest one answers; shares are exp(score) over their sum."]
    kinds = {term.kind for term in models.terms}
    if VALUE in kinds and not raw:
        notes.append("In a score a name stands for (value - mean) / SD of the training rows; what is missing adds 0.")
    elif VALUE in kinds:
        notes.append("In a score what is missing counts as the mean.")
    if LEVEL in kinds:
        notes.append("A level in brackets adds its weight where it holds, and a level that no training row had adds 0.")
    if SQUARE in kinds:
        what = "a square" if raw else f"the square of this, as age{SQUARED} for age,"
        notes.append(f"{what[0].upper()}{what[1:]} is taken at most {FARTHEST_SQUARED:g} SD from the mean.")
    if HINGE in kinds:
        notes.append("A term max(0, ...) is 0 where its column is missing.")
    if PRODUCT in kinds:
        notes.append(f"Each factor of a product is taken at most {FARTHEST_SQUARED:g} SD from the mean.")
    return notes
