"""Base class of schemes with their declarations, and the registration that checks them."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from oblique_cli.errors import ConfigError
from oblique_cli.foreign import error_text
from oblique_cli.ground.constraints import Boolean, Constraint, Integer, Real
from oblique_cli.ground.nouns import CVSpec, Fold, Row
from oblique_cli.ground.registry import Registry, fault_of_type, source_of

if TYPE_CHECKING:
    from oblique_cli.data.dataset import Dataset as Dataset
else:
    Dataset = Any  # schemes need no module of data sets

Places = list[tuple[int, int]]

FRACTION = Real(0, 1, open_low=True, open_high=True)
FOLDS = Integer(2)

# Keys of `cv` for every scheme, without `scheme` itself; `tune` is a key of every scheme that tunes.
COMMON: Mapping[str, Constraint] = {
    "repeats": Integer(1, 10_000),
    "stratified": Boolean(),
    "pruning_fraction": FRACTION,
}
# `scheme` and `tune` of a configuration, and the fields of `CVSpec` that these two and `Scheme.keys` set.
RESERVED = ("scheme", "tune", "tune_folds", "tune_metric", "options")

NESTED = "nested"  # each fold's tuning pairs lie inside its training rows
SHARED = "shared"  # one set of tuning pairs, over all rows, serves every fold of a data set


class Scheme(ABC):
    """A way to divide rows. A subclass has a docstring, whose first line is its summary, `places` and `draw`.

    keys              its own keys of `cv`, name -> what the value may be; `CVSpec` has a field for some, the others
                      are in `CVSpec.options`
    required          those of them that must be given
    unused            key of another scheme -> why this scheme does not use it, as text that follows "..., "
    fixed             key -> the value that the name of the scheme stands for; another one is refused
    defaults          key -> what a configuration without it means, where that is not the default of `CVSpec`
    tuning            "" if it carries no tuning pairs, so that an algorithm may not have a grid; else NESTED or SHARED
    covers            the test sets of a repetition together are all rows
    disjoint          no row is in two test sets of a repetition
    redraws           a repetition divides the rows anew; else repetitions differ in their pruning rows and seeds only,
                      and their SD says nothing about how far a mean can be trusted
    replacement       training rows may be drawn more than once
    single_row_tests  every test set is one row, on which metrics of several rows have no meaning
    places_from_data  how many folds there are is not known without the data set
    estimate          what the accuracy is called if it is not a share of right test rows, "" if it is
    pooling           how a table says what its numbers are"""

    name: str = ""

    keys: ClassVar[Mapping[str, Constraint]] = {}
    required: ClassVar[tuple[str, ...]] = ()
    unused: ClassVar[Mapping[str, str]] = {}
    fixed: ClassVar[Mapping[str, Any]] = {}
    defaults: ClassVar[Mapping[str, Any]] = {}
    tuning: ClassVar[str] = ""
    covers: ClassVar[bool] = True
    disjoint: ClassVar[bool] = True
    redraws: ClassVar[bool] = True
    replacement: ClassVar[bool] = False
    single_row_tests: ClassVar[bool] = False
    places_from_data: ClassVar[bool] = False
    estimate: ClassVar[str] = ""
    pooling: ClassVar[str] = "accuracy in % pooled over the folds of a repetition, leaves averaged over its trees"

    @property
    def summary(self) -> str:
        """One-line description."""
        return (inspect.getdoc(type(self)) or "").partition("\n")[0]

    @property
    def tunes(self) -> bool:
        """Whether folds have tuning pairs, so that an algorithm may have a grid."""
        return bool(self.tuning)

    @property
    def tests_every_row_once(self) -> bool:
        """Whether each row is in exactly one test set of a repetition."""
        return self.covers and self.disjoint

    def takes(self) -> dict[str, Constraint]:
        """Return the keys of `cv` that this scheme uses, without `scheme` and `tune`."""
        return {**COMMON, **self.keys}

    # ---- declarations of a subclass ----------------------------------------------------------------------------------

    @abstractmethod
    def places(self, dataset: Dataset | None, cv: CVSpec) -> Places:
        """Return the (repeat, index) of every fold, in order, without drawing any.

        Repetitions and, in each, folds count from 0. More repetitions only add places. dataset : may be None unless
        `places_from_data`; then return the places of an ordinary data set"""

    @abstractmethod
    def draw(self, dataset: Dataset, cv: CVSpec, seed: int, repeat: int) -> Iterator[Fold]:
        """Yield the folds of one repetition, which depend on the arguments only, not on other repetitions.

        `schemes.repetition` calls it and checks the folds against the scheme's declarations."""

    def repeats(self, dataset: Dataset | None, cv: CVSpec) -> int:
        """Return the number of distinct repetitions, at most `cv.repeats`. dataset : as in `places`"""
        return cv.repeats

    def check(self, dataset: Dataset, cv: CVSpec) -> None:  # noqa: B027
        """Raise ConfigError, one sentence with a remedy, if `dataset` cannot be divided as `cv` requires."""

    def check_tuning(self, dataset: Dataset, cv: CVSpec) -> None:  # noqa: B027
        """Raise ConfigError if there are too few rows for the tuning pairs."""

    def group_column(self, cv: CVSpec) -> str:
        """Return the column whose equal values stay together, which is then not a feature; "" for none."""
        return ""

    # ---- methods for evaluation --------------------------------------------------------------------------------------

    def protocol(self, cv: CVSpec) -> str:
        """Return the description of the scheme below a table: "10 x 5-fold CV (nested, stratified)"."""
        return f"{cv.repeats} x {self.name}{', stratified' if cv.stratified and not self.fixed else ''}"

    def estimate_of(self, cv: CVSpec) -> str:
        """Return `estimate` under the keys of `cv`."""
        return self.estimate

    def pooling_of(self, cv: CVSpec) -> str:
        """Return `pooling` under the keys of `cv`."""
        return self.pooling

    def partition(self, cv: CVSpec) -> tuple[Any, ...]:
        """Return the key of the test rows beside seed and data: schemes with equal keys have the same test rows."""
        plain = cv.plain()
        return (self.name, *((key, plain[key]) for key in sorted(self.takes()) if key in plain and key != "repeats"))

    def test_over_train(self, cv: CVSpec) -> float | None:
        """Return the ratio of test to training rows of a fold, for the resampled t test; None if it does not apply."""
        return None

    def apparent(self, cv: CVSpec) -> frozenset[tuple[int, int]]:
        """Return the places of folds that are tested on their own training rows; repetitions do not include them."""
        return frozenset()

    def accuracies(self, cv: CVSpec, repetitions: Sequence[Sequence[Row]], apparent: Sequence[Row]) -> list[Fraction]:
        """Return the accuracy of each repetition in percent, from its successful rows, of which there is at least one.

        Wickramarachchi (2015), eq. 1.9.3: correct predictions of all its folds divided by their test rows. Exact, so
        that no order of rows or of sums changes a digit. apparent : the rows at the places of `apparent`"""
        return [Fraction(100 * sum(r.n_correct for r in rows), sum(r.n_test for r in rows)) for rows in repetitions]


SCHEMES: Registry[Scheme] = Registry(
    "cross-validation scheme",
    "oblique list schemes",
    lambda made: fault_of_type(made, Scheme, "put @scheme(name) over a subclass of Scheme"),
)

S = TypeVar("S", bound=type)


def named(wanted: Callable[[Scheme], bool]) -> str:
    """Return the names of the schemes for which `wanted` is true, as part of a sentence: "a, b or c"."""
    *most, last = (name for name, candidate in SCHEMES.items() if wanted(candidate))
    return f"{', '.join(most)} or {last}" if most else last


def scheme(name: str) -> Callable[[S], S]:
    """Register the decorated subclass of `Scheme` as `name`; ConfigError names its file and what is missing."""

    def keep(cls: S) -> S:
        def refused(fault: str) -> ConfigError:
            return ConfigError(f"{source_of(cls)}: scheme {name!r} {fault}.")

        for fault in _faults(name, cls):
            raise refused(fault)
        try:
            made = cls()
        except Exception as error:
            raise refused(f"cannot be made without arguments ({error_text(error)}); use keys in their place") from None
        made.name = name
        if fault := _fault_of_places(made):
            raise refused(fault)
        SCHEMES.register(name)(made)
        return cls

    return keep


def is_stratified(cv: CVSpec) -> bool:
    """Return whether test, tuning and pruning rows are stratified by class."""
    return cv.stratified or bool(SCHEMES[cv.scheme].fixed.get("stratified", False))


def stated(made: Scheme, dataset: Dataset | None, cv: CVSpec) -> Places:
    """Return the places that a scheme declares. ConfigError unless they are (repeat, index) counted from 0 and include
    every place tested on its own training rows."""
    places = made.places(dataset, cv)
    if fault := _fault_of_counting(places, made.repeats(dataset, cv)) or _fault_of_apparent(made, places, cv):
        raise ConfigError(f"{source_of(type(made))}: scheme {made.name!r} {fault}.")
    return places


# ---- registration ----------------------------------------------------------------------------------------------------


def _faults(name: str, cls: Any) -> Iterator[str]:
    """Yield the faults of a class as it stands."""
    if not isinstance(name, str) or not re.fullmatch("[a-z][a-z0-9_]*", name):
        yield "needs a name of a-z, 0-9 and '_', such as leave_one_out"
    if name in SCHEMES:
        yield f"has a name that {source_of(type(SCHEMES[name]))} has taken"
    if not (isinstance(cls, type) and issubclass(cls, Scheme)):
        yield "must be a class derived from Scheme"
    if not (vars(cls).get("__doc__") or "").strip():
        yield "has no docstring, whose first line says in lists what it does"
    for method, arguments in (("places", "dataset, cv"), ("draw", "dataset, cv, seed, repeat")):
        if method in cls.__abstractmethods__:
            yield f"has no method {method}({arguments})"
    if cls.tuning not in ("", NESTED, SHARED):
        yield f"has tuning {cls.tuning!r}, which must be {NESTED!r}, {SHARED!r} or ''"
    for key, constraint in cls.keys.items():
        if key in RESERVED or key in COMMON:
            yield f"has a key {key!r}, which belongs to all schemes"
        if not isinstance(constraint, Constraint):
            yield f"has a key {key!r} without a Constraint that says what its value may be"
        for other in SCHEMES.values():
            if other.keys.get(key, constraint) != constraint:
                yield f"has a key {key!r} that may be something else than that of scheme {other.name!r}"
    known: Mapping[str, Constraint] = {**COMMON, **cls.keys}
    for what, keys in (("requires", cls.required), ("fixes", cls.fixed), ("has a default for", cls.defaults)):
        for key in keys:
            if key not in known:
                yield f"{what} the key {key!r}, which it does not have"
    for key, value in (*cls.fixed.items(), *cls.defaults.items()):
        if not known[key].holds(value):
            yield f"has {value!r} for the key {key!r}, which must be {known[key].describe()}"


def _fault_of_places(made: Scheme) -> str:
    if made.places_from_data:  # `stated` checks them
        return ""
    listings = []
    for repeats in (1, 3):
        cv = CVSpec(made.name, repeats=repeats)
        try:
            listings.append(made.places(None, cv))
        except Exception as error:
            return (
                f"cannot tell its places without a data set ({error_text(error)}): say places_from_data = True if they "
                "depend on it"
            )
        if fault := _fault_of_counting(listings[-1], repeats) or _fault_of_apparent(made, listings[-1], cv):
            return fault
    few, many = listings
    first_places = [place for place in many if place[0] == 0]
    return "" if first_places == few else "changes its places when repetitions are added"


def _fault_of_apparent(made: Scheme, places: Places, cv: CVSpec) -> str:
    try:
        strays = sorted(set(made.apparent(cv)) - set(places))
    except Exception as error:
        return f"cannot tell which of its places are apparent ({error_text(error)})"
    return f"has the apparent place {strays[0]}, which is none of its places" if strays else ""


def _fault_of_counting(places: Any, repeats: int) -> str:
    """Return the fault of declared places; tables and stored runs count folds by them."""
    wrong = f"has places {str(places)[:80]}, which must be a list of (repeat, index)"
    if not isinstance(places, list):
        return wrong
    counts = [0] * repeats
    last = 0
    for place in places:
        if not (isinstance(place, tuple) and len(place) == 2 and set(map(type, place)) == {int}):
            return wrong
        repeat, index = place
        if not (last <= repeat < repeats and index == counts[repeat]):
            return f"has place {place} out of order: repetitions, and the folds of each, count from 0"
        counts[repeat] += 1
        last = repeat
    return "" if all(counts) else f"has no fold in repetition {counts.index(0)} of {repeats}"
