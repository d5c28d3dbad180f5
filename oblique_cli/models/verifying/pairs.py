"""Pairs of rows that differ in one column only, each in its leaf: the effect of this column on the prediction.

For leaves a and b, is there a row in a that lies in b after the change, and is the prediction of b a violation?
With constant leaves the predictions are compared once and a linear program searches for such a row; with linear models
the difference of both predictions is the objective. Columns of levels add 0-1 variables.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from oblique_cli.ground.arrays import Array
from oblique_cli.models.explaining.scored import Factor
from oblique_cli.models.procedure import MAJORITY, NUMBER, Leaf, Procedure, Steps
from oblique_cli.models.verifying.polyhedra import (
    MARGIN,
    Form,
    Frame,
    Product,
    Program,
    Shape,
    Undecided,
    plain_terms,
)

# Further rows of programs and their limits, one program after the other.
Limits = tuple[tuple[Array, Array], ...]
SATURATED = 30.0  # log odds beyond which a probability has too few digits to show a difference
SMALL = 1e-7  # of the change of a form over a standard deviation: the solver cannot distinguish less from 0


@dataclass
class Effort:
    """Counts of the work: solved programs, examined pairs of leaves, and undecided pairs among them."""

    pairs: int = 0
    programs: int = 0
    undecided: int = 0


def inside(
    program: Program, effort: Effort, numbers: Sequence[int], to: Array | None = None, most: float = np.inf
) -> Iterator[Array]:
    """Yield a row inside with limited depth whose numbers are near `to`, or the means, and then the deepest row."""
    for strict_only in (False, True):
        effort.programs += 1
        solution = program.deepest(strict_only)
        if solution is None:
            return
        v, depth = solution
        if depth > MARGIN:
            effort.programs += 1
            near = None if strict_only else program.nearest(min(0.5 * depth, most), numbers, to)
            if near is not None:
                yield near
            yield v
            return


@dataclass(frozen=True)
class Says:
    """Prediction of a leaf: numbers that are compared directly, and forms that linear programs compare.
    bounds : limits of the form of a number, None without"""

    plain: tuple[float, ...] = ()
    forms: tuple[Form, ...] = ()
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Joint:
    """Variables of a row, followed by those of one column after its change."""

    frame: Frame
    cell: int  # the column
    direction: int | None = None  # 1 or -1 if its number may only rise or fall, None if it may do both
    goes: bool = False  # whether the change removes the number
    effort: Effort = field(default_factory=Effort)

    def rows(self, v: Array) -> tuple[Array, Array]:
        """Return both rows, (p,) each."""
        changed = v[: self.frame.n].copy()
        changed[self.places] = v[self.frame.n :]
        before, after = self.frame.row(v[: self.frame.n]), self.frame.row(changed)
        if self.goes:
            after[self.cell] = np.nan
        return before, after

    @property
    def places(self) -> list[int]:
        """Variables of the column."""
        return self.frame.places(self.cell)

    def before(self, vectors: Array) -> Array:
        """Return rows over the variables of a row as rows over all variables."""
        return np.hstack([vectors, np.zeros((len(vectors), len(self.places)))])

    def after(self, vectors: Array) -> Array:
        """Return the same for the changed row."""
        moved = vectors.copy()
        moved[:, self.places] = 0.0
        return np.hstack([moved, vectors[:, self.places]])

    def program(self, a: Shape, b: Shape) -> Program:
        """Return the program of a row in a that lies in b after the column has changed."""
        frame = self.frame
        A, E = np.vstack([self.before(a.A), self.after(b.A)]), frame.sums_of_states()
        both = self.before(E)
        if self.cell in frame.states:
            both = np.vstack([both, self.after(E[[list(frame.states).index(self.cell)]])])
        low = np.append(np.maximum(a.low, np.where(self._changes, -np.inf, b.low)), b.low[self.places])
        high = np.append(np.minimum(a.high, np.where(self._changes, np.inf, b.high)), b.high[self.places])
        whole = np.append(frame.whole, frame.whole[self.places])
        program = Program(A, np.append(a.b, b.b), np.append(a.strict, b.strict), low, high, both, whole)
        if self.direction is None:
            return program
        order = np.zeros((1, frame.n + 1))
        order[0, self.places[0]], order[0, frame.n] = self.direction, -self.direction
        return program.also(order, np.zeros(1))

    @property
    def _changes(self) -> NDArray[np.bool_]:
        changes = np.zeros(self.frame.n, np.bool_)
        changes[self.places] = True
        return changes

    def meets(self, tree: Steps, a: Shape, b: Shape) -> bool:
        """Return False if a single split, or bounds, prove that no row of a can reach b."""
        fork = next((turn for turn, other in zip(a.turns, b.turns, strict=False) if turn != other), None)
        if fork is not None and not self.goes:
            node, left = fork
            column_terms = [term for term in plain_terms(self.frame.procedure, tree, node) if term.cell == self.cell]
            if not column_terms:
                return False
            if self.direction is not None:
                coef = sum(term.coef for term in column_terms if term.level == NUMBER)
                # From left to right the sum must rise.
                if self.direction * coef * (1.0 if left else -1.0) <= 0.0:
                    return False
        same = ~self._changes
        if (np.maximum(a.low, b.low) > np.minimum(a.high, b.high))[same].any():
            return False
        if self.direction is None or not self.places:
            return True
        (place,), (lower, upper) = self.places, (a, b) if self.direction > 0 else (b, a)
        return bool(lower.low[place] <= upper.high[place])

    def candidates(
        self, a: Shape, b: Shape, form: Form | None, after: Form | None = None, limits: Limits = ()
    ) -> Iterator[Array]:
        """Yield solutions for two leaves, the least extreme first; with a form those where it is above 0.

        after : log odds of the changed row, which are tried below SATURATED first; limits : of `limits_of`
        Rows lie inside the leaves by MARGIN or, without a form, inside the borders that do not belong to them.
        """
        self.effort.pairs += 1
        program = self.program(a, b)
        try:
            if form is None:
                changed = [self.frame.n] if self.cell in self.frame.numbers else []
                yield from inside(program, self.effort, [*self.frame.numbers.values(), *changed])
                return
            for limited in limits:
                if (shown := self._highest(program.also(*limited), form)) is not None:
                    yield shown
            if limits:
                return
            v = self._highest(program, form)
            if v is not None and after is not None and not after.places:
                clear = program.also(self.after(after.vector[None]), np.array([SATURATED - after.constant]))
                if (shown := self._highest(clear, form)) is not None:
                    yield shown
            if v is not None:
                yield v
        except Undecided:
            self.effort.undecided += 1

    def _highest(self, program: Program, form: Form) -> Array | None:
        self.effort.programs += 1
        return program.highest(form, SMALL * form.size)

    def difference(self, first: Form, second: Form) -> Form:
        """Return the value of a form at the row less that of another at the changed row, over all variables."""
        vector = self.before(first.vector[None])[0] - self.after(second.vector[None])[0]
        amounts: dict[tuple[Factor, ...], float] = {}
        for product in first.products:
            amounts[product.factors] = amounts.get(product.factors, 0.0) + product.amount
        for product in second.products:
            factors = tuple(factor._replace(place=self._place_after(factor.place)) for factor in product.factors)
            amounts[factors] = amounts.get(factors, 0.0) - product.amount
        products = tuple(Product(amount, factors) for factors, amount in amounts.items() if amount)
        return Form(vector, first.constant - second.constant, products)

    def _place_after(self, place: int) -> int:
        return self.frame.n + self.places.index(place) if place in self.places else place


def saying(frame: Frame, procedure: Procedure, leaf: Leaf, of: int) -> Says:
    """Return the values that must not fall: the share and the label of class `of`, or the number."""
    if procedure.is_regression:
        return _number(frame, leaf)
    if leaf.scores is not None:
        weights = [1.0 if code == of else -1.0 for code in leaf.scores.classes]
        return Says(forms=(frame.score(leaf.scores, weights),))
    label = float(leaf.label == of)
    if procedure.voting == MAJORITY:
        return Says((label,))
    return Says((leaf.shares[of],)) if procedure.is_forest else Says((leaf.shares[of], label))


def answering(frame: Frame, procedure: Procedure, leaf: Leaf, lacking: frozenset[int] = frozenset()) -> Says:
    """Return all outputs of a leaf: every share and the label, every score less their mean, or the number."""
    if procedure.is_regression:
        return _number(frame, leaf)
    if leaf.scores is not None:
        n = len(leaf.scores.classes)
        weights = np.eye(n) - 1.0 / n
        return Says(forms=tuple(frame.score(leaf.scores, row.tolist(), lacking) for row in weights))
    if procedure.voting == MAJORITY:
        return Says((float(leaf.label),))
    return Says(leaf.shares if procedure.is_forest else (*leaf.shares, float(leaf.label)))


def _number(frame: Frame, leaf: Leaf) -> Says:
    form = frame.number(leaf) if leaf.scores is None else frame.score(leaf.scores, [1.0])
    if form.vector.any() or form.products:
        return Says(forms=(form,), bounds=leaf.bounds)
    low, high = leaf.bounds or (-np.inf, np.inf)
    return Says((min(max(form.constant, low), high),))


def limits_of(joint: Joint, before: Says, after: Says, rises: bool = False) -> Limits:
    """Return further rows of programs of two numbers with bounds, empty without bounds or if a number has products.

    The bounded numbers can only differ if the larger one is above the lower bound and the smaller one below the upper
    bound. The first program keeps a quarter of the bounds' distance, since a program's optimum may lie on a border.
    rises : whether the number after the change is the larger one"""
    bounds = before.bounds or after.bounds
    if bounds is None or any(form.products for form in (*before.forms, *after.forms)):
        return ()
    low, high = bounds
    forms = [says.forms[0] if says.forms else Form(np.zeros(joint.frame.n), says.plain[0]) for says in (before, after)]
    sides = [
        (joint.before(forms[0].vector[None]), forms[0].constant),
        (joint.after(forms[1].vector[None]), forms[1].constant),
    ]
    (larger, larger_constant), (smaller, smaller_constant) = sides[::-1] if rises else sides
    rows = np.vstack([-larger, smaller])
    room = np.array([larger_constant - low, high - smaller_constant])
    return tuple((rows, room - share * (high - low)) for share in (0.25, 0.0))


def falls(joint: Joint, tree: Steps, says: Callable[[Leaf], Says]) -> Iterator[Array]:
    """Yield solutions where the prediction of a tree falls as the column moves in its direction."""
    shapes = joint.frame.shapes(tree)
    answers = {shape.node: says(tree.leaf(shape.node)) for shape in shapes}
    of_scores = not joint.frame.procedure.is_regression
    for a in shapes:
        for b in shapes:
            before, after = answers[a.node], answers[b.node]
            forms = _differences(joint, before, after)
            if not forms and not any(x > y for x, y in zip(before.plain, after.plain, strict=True)):
                continue
            if not joint.meets(tree, a, b):
                continue
            if not forms:
                yield from joint.candidates(a, b, None)
            elif a is b:
                # The prediction in the row's own leaf: the difference starts from 0, so its slope decides.
                yield from _slopes(joint, a, before, of_scores)
            else:
                limits = limits_of(joint, before, after)
                for form in forms:
                    yield from joint.candidates(a, b, form, after.forms[0] if of_scores else None, limits)


def _differences(joint: Joint, before: Says, after: Says) -> list[Form]:
    if not before.forms and not after.forms:
        return []
    n = joint.frame.n

    def forms(says: Says) -> Sequence[Form]:
        return says.forms or tuple(Form(np.zeros(n), value) for value in says.plain)

    return [joint.difference(x, y) for x, y in zip(forms(before), forms(after), strict=True)]


def _slopes(joint: Joint, shape: Shape, says: Says, of_scores: bool) -> Iterator[Array]:
    """Yield solutions in one leaf whose slope along the column has the wrong sign.

    In each range between the knots of the column, a product adds its amount times the rate and the other factor.
    """
    frame, (place,), (form, *_) = joint.frame, joint.places, says.forms
    moving = [
        (product.amount * factor.rate, factor, product.factors[:i] + product.factors[i + 1 :])
        for product in form.products
        for i, factor in enumerate(product.factors)
        if factor.place == place and factor.rate
    ]
    if not moving:
        if joint.direction is not None and joint.direction * form.vector[place] < 0.0:
            limits = limits_of(joint, says, says)
            yield from joint.candidates(shape, shape, joint.difference(form, form), form if of_scores else None, limits)
        return
    direction = joint.direction or 1
    knots = sorted({knot for _, factor, _ in moving for knot in factor.knots})
    for low, high in itertools.pairwise([-np.inf, *knots, np.inf]):
        box = replace(shape, low=shape.low.copy(), high=shape.high.copy())
        box.low[place], box.high[place] = max(box.low[place], low), min(box.high[place], high)
        if box.low[place] >= box.high[place]:
            continue
        middle = max(low, min(knots) - 1.0) / 2.0 + min(high, max(knots) + 1.0) / 2.0
        vector, constant, products = np.zeros(frame.n), -direction * float(form.vector[place]), list[Product]()
        for amount, factor, others in moving:
            if not factor.low < factor.start + factor.rate * middle < factor.high:
                continue
            if not others:
                constant -= direction * amount
            elif others[0] == factor:
                vector[place] -= direction * amount * factor.rate
                constant -= direction * amount * factor.start
            else:
                products.append(Product(-direction * amount, others))
        program = joint.program(box, box)
        joint.effort.pairs += 1
        try:
            wrong = joint._highest(program, Form(joint.before(vector[None])[0], constant, tuple(products)))
        except Undecided:
            joint.effort.undecided += 1
            continue
        if wrong is not None:
            yield from _steps_from(joint, wrong)


def _steps_from(joint: Joint, v: Array) -> Iterator[Array]:
    """Yield small changes of the column at a row."""
    (place,) = joint.places
    direction = joint.direction or 1
    for step in (0.1, 0.01, 1e-3, 1e-4, 1e-5):
        for back in (0.0, step):  # at the end of a leaf there is room on one side only
            changed = v.copy()
            changed[place] -= direction * back
            changed[joint.frame.n] = changed[place] + direction * step
            yield changed


def differs(joint: Joint, tree: Steps, says: Callable[[Leaf, frozenset[int]], Says]) -> Iterator[Array]:
    """Yield solutions where the prediction of a tree changes with the column."""
    frame = joint.frame
    shapes = frame.shapes(tree)
    lacking = frozenset([joint.cell] if joint.goes else [])
    changed = frame.shapes(tree, lacking) if joint.goes else shapes
    answers = {shape.node: says(tree.leaf(shape.node), frozenset()) for shape in shapes}
    answers_after = {shape.node: says(tree.leaf(shape.node), lacking) for shape in changed} if joint.goes else answers
    for i, a in enumerate(shapes):
        for b in changed if joint.goes else shapes[i:]:
            before, after = answers[a.node], answers_after[b.node]
            forms = _differences(joint, before, after)
            if forms and a is b and not _takes(joint, before):
                continue
            if not forms and before.plain == after.plain:
                continue
            if not joint.meets(tree, a, b):
                continue
            if not forms:
                yield from joint.candidates(a, b, None)
            for form in forms:
                yield from joint.candidates(a, b, form, limits=limits_of(joint, before, after))
                if a is not b or joint.goes:
                    yield from joint.candidates(a, b, form.negative, limits=limits_of(joint, before, after, rises=True))


def _takes(joint: Joint, says: Says) -> bool:
    """Return whether the prediction of a leaf uses the column."""
    places = joint.places
    return any(form.vector[places].any() or form.places.intersection(places) for form in says.forms)
