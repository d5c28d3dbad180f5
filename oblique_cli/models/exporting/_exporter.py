"""The declaration of an export format, and the table of all formats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.conformal_limits import APS
from oblique_cli.ground.registry import Registry, fault_of_function, fault_of_texts, fault_of_type
from oblique_cli.models.procedure import CLIPPED, SUM, Procedure

if TYPE_CHECKING:
    from oblique_cli.models.model import Model

CLASSIFICATION, REGRESSION, FOREST = "classification trees", "regression trees", "forests"
# Leaves with linear models of the classes (`Leaf.scores`); columns of codes (`Procedure.coded`) or clipped votes.
LOGISTIC, CODED, CODED_FOREST = "logistic leaves", "trees over codes", "forests over codes"
PLAIN = (CLASSIFICATION, REGRESSION, FOREST)
SINGLE = (CLASSIFICATION, LOGISTIC, CODED, REGRESSION)  # trees
MOST = (CLASSIFICATION, LOGISTIC, CODED, REGRESSION, FOREST, CODED_FOREST)
LOGISTIC_FOREST, BOOSTED = "forests of logistic leaves", "boosting of classes"
NUMBERS = "forests of numbers"
SEVERAL, SEVERAL_FOREST = "regression trees of several outputs", "forests of several outputs"
WITHOUT_SEVERAL = (*MOST, LOGISTIC_FOREST, BOOSTED, NUMBERS)
KINDS = (*WITHOUT_SEVERAL, SEVERAL, SEVERAL_FOREST)


@dataclass(frozen=True)
class Limits:
    """Limits of prediction sets or of intervals (docs/guarantees.md)."""

    rows: tuple[tuple[float, ...], ...]  # of `leaves`, then of all other leaves: a number per class, or (below, above)
    leaves: tuple[int, ...]
    by_sums: bool  # whether the limit bounds running sums from above, instead of shares from below
    promise: str  # the guarantee for new rows

    def at(self, leaf: int) -> tuple[float, ...]:
        """Return the limits in a leaf."""
        return self.rows[self.leaves.index(leaf) if leaf in self.leaves else -1]


@dataclass(frozen=True)
class Source:
    """The input of an export format.

    name        what the model is called in the language: of a table, or before the names of functions; "" for the
                format's own choice
    precision   significant digits in formats that are read rather than run; 17 give numbers to the bit
    """

    model: Model
    procedure: Procedure
    name: str = ""
    precision: int = 17

    @cached_property
    def limits(self) -> Limits | None:
        """The limits of prediction sets and intervals, None for a model without a guarantee."""
        guarantee = self.model.guarantee
        if guarantee is None:
            return None
        width = 2 if self.procedure.is_regression else len(self.procedure.classes)
        rows = tuple(row if len(row) == width else row * width for row in guarantee.limits)
        promise = f"for {100 * guarantee.coverage:g} % of new rows, by {guarantee.rows} rows that were not learned from"
        return Limits(rows, guarantee.leaves, guarantee.name == APS, promise)

    def members(self, shares: tuple[float, ...], leaf: int) -> list[str]:
        """Return the classes in the set of a row with these shares."""
        assert self.model.guarantee is not None
        (inside,) = self.model.guarantee.sets(np.array([shares]), np.array([leaf]))
        return [self.procedure.classes[k] for k in np.flatnonzero(inside)]


Write = Callable[[Source], str | bytes]


@dataclass(frozen=True)
class Format:
    """An export format.

    kinds   models that it supports, of KINDS; PLAIN needs a writer for cells, splits and leaves only
    """

    title: str
    suffix: str
    write: Write
    kinds: tuple[str, ...] = PLAIN
    named: str = ""  # meaning of `Source.name`, "" if the format has no name
    digits: int = 0  # default number of significant digits; 0 for a format with every number to the bit

    @property
    def __wrapped__(self) -> Write:
        """The function; the registry needs it for the file of a format."""
        return self.write


def _fault(form: Any) -> str | None:
    """Return the error message for a format, without its name, or None."""
    if fault := fault_of_type(form, Format, "put @exporter(...) over the function that writes it"):
        return fault
    if fault := fault_of_texts(form, "title") or fault_of_function(form.write, "source"):
        return fault
    if not (isinstance(form.suffix, str) and form.suffix.startswith(".") and len(form.suffix) > 1):
        return f"has suffix {form.suffix!r}, which must be the ending of its files, such as '.py'"
    if not (isinstance(form.kinds, tuple) and form.kinds and set(form.kinds) <= set(KINDS)):
        return f"has kinds {form.kinds!r}, which must be a tuple of some of {', '.join(map(repr, KINDS))}"
    if not isinstance(form.named, str):
        return f"has named {form.named!r}, which must be a text"
    if type(form.digits) is not int or not 0 <= form.digits <= 17:
        return f"has digits {form.digits!r}, which must be a whole number from 0 to 17"
    return None


FORMATS: Registry[Format] = Registry("format of export", "oblique export --help", _fault)


def exporter(
    name: str, title: str, suffix: str, kinds: tuple[str, ...] = PLAIN, named: str = "", digits: int = 0
) -> Callable[[Write], Write]:
    """Decorator that registers a function as the writer of a format."""

    def keep(write: Write) -> Write:
        FORMATS.register(name)(Format(title, suffix, write, kinds, named, digits))
        return write

    return keep


def kind_of(procedure: Procedure) -> str:
    """Return the kind of a model, one of KINDS."""
    forest = procedure.is_forest
    if procedure.is_regression:
        single = procedure.n_outputs == 1
        return (NUMBERS if single else SEVERAL_FOREST) if forest else (REGRESSION if single else SEVERAL)
    if forest and procedure.has_scores:
        return BOOSTED if procedure.voting == SUM else LOGISTIC_FOREST
    if procedure.coded or procedure.voting == CLIPPED:
        return CODED_FOREST if forest else CODED
    return FOREST if forest else LOGISTIC if procedure.has_scores else CLASSIFICATION


def refuse(name: str, procedure: Procedure) -> None:
    """Raise ConfigError if a format does not support a model; the message names formats that do."""
    kind = kind_of(procedure)
    if kind not in FORMATS[name].kinds:
        formats = ", ".join(sorted(other for other, form in FORMATS.items() if kind in form.kinds))
        raise ConfigError(f"format {name} does not take {kind}; these do: {formats}.")
