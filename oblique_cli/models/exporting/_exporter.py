"""The declaration of an export format, and the table of all formats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oblique_cli.errors import ConfigError
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


Write = Callable[[Source], str | bytes]


@dataclass(frozen=True)
class Format:
    """A format of export.

    kinds   of models that it can hold, of KINDS; PLAIN asks nothing of a writer but cells, splits and leaves
    named   what `Source.name` is in it, "" if it has no name
    digits  significant digits unless others are asked for; 0 for a format that has every number to the bit
    """

    title: str
    suffix: str
    write: Write
    kinds: tuple[str, ...] = PLAIN
    named: str = ""
    digits: int = 0

    @property
    def __wrapped__(self) -> Write:
        """The function, so that the registry finds the file that a format comes from."""
        return self.write


def _fault(form: Any) -> str | None:
    """The fault of a format, as text after its name."""
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
    """Return which of KINDS a model is."""
    if procedure.is_forest and procedure.has_scores:
        return BOOSTED if procedure.voting == SUM else LOGISTIC_FOREST
    if procedure.is_regression and procedure.n_outputs > 1:
        return SEVERAL_FOREST if procedure.is_forest else SEVERAL
    if procedure.is_forest and procedure.is_regression:
        return NUMBERS
    if procedure.is_forest:
        return CODED_FOREST if procedure.coded or procedure.voting == CLIPPED else FOREST
    if procedure.is_regression:
        return REGRESSION
    if procedure.coded:
        return CODED
    return LOGISTIC if procedure.has_scores else CLASSIFICATION


def refuse(name: str, procedure: Procedure) -> None:
    """Raise ConfigError if a format cannot hold a model, naming those that can."""
    kind = kind_of(procedure)
    if kind not in FORMATS[name].kinds:
        able = ", ".join(other for other, form in FORMATS.items() if kind in form.kinds)
        raise ConfigError(f"format {name} does not take {kind}; these do: {able}.")
