"""A study: the published tables that one set of experiments answers, and how they are run."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from oblique_cli.foreign import error_text
from oblique_cli.ground.registry import Registry, fault_of_texts, misfit
from oblique_cli.papers.reproduction.framework.printed_cells import Cell

PROFILES = ("quick", "full")


@dataclass(frozen=True)
class StudyRequest:
    """The request for a run of a study.

    profile     "full" is the published protocol; "quick" the small bundled data sets and two repetitions
    n_jobs      processors, or "auto" for all
    results     folder of results
    data_dir    folder of data files that are not bundled
    only        "dataset" and "algorithm" -> the names that are wanted; {} for all
    say         takes a line of progress
    fresh       run again what is stored
    offline     never use the network
    """

    profile: str
    seed: int
    n_jobs: int | str
    results: str
    data_dir: str | None
    only: Mapping[str, tuple[str, ...]]
    say: Callable[[str], None]
    fresh: bool = False
    offline: bool = False

    def wants(self, kind: str, *names: str) -> bool:
        """Return whether `only` lets a data set or algorithm through that goes by any of `names`."""
        selected = self.only.get(kind)
        return not selected or bool(set(selected) & set(names))


@dataclass(frozen=True)
class ExtraTable:
    """A table beside the cells, of finished text: ranks, memory, readings. The first `left` columns hold names."""

    name: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 1


@dataclass(frozen=True)
class Cost:
    """What a study took: trees grown now, wall time, and the stored time of all its folds, resumed ones included."""

    trees: int = 0
    seconds: float = 0.0
    stored_trees: int = 0
    stored_seconds: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.trees + other.trees,
            self.seconds + other.seconds,
            self.stored_trees + other.stored_trees,
            self.stored_seconds + other.stored_seconds,
        )


@dataclass(frozen=True)
class StudyResult:
    """The results of a study; exit_code is that of its worst run, 0 if every fold is good."""

    cells: tuple[Cell, ...]
    tables: tuple[ExtraTable, ...] = ()
    cost: Cost = field(default_factory=Cost)
    exit_code: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing was run: no cell, no row of a table, no fold that failed."""
        return not (self.cells or self.exit_code or any(table.rows for table in self.tables))


class Study(ABC):
    """Published tables and the experiments that answer them.

    name        what `oblique reproduce` calls it
    title       one line for people
    tables      references of the published tables, such as "wickramarachchi2015:3.1"
    in_all      whether `oblique reproduce all` runs it
    selects     what `only` may name: kinds of `StudyRequest.only`
    """

    name: ClassVar[str]
    title: ClassVar[str]
    tables: ClassVar[tuple[str, ...]]
    in_all: ClassVar[bool] = True
    selects: ClassVar[tuple[str, ...]] = ("dataset", "algorithm")

    def ids(self) -> Sequence[str]:
        """Return what `only` may name as an algorithm besides the names of algorithms: ids of its configurations."""
        return ()

    @abstractmethod
    def run(self, request: StudyRequest) -> StudyResult:
        """Run or resume the experiments and return every cell of the tables that `request` asks for."""


def _fault(study: Any) -> str | None:
    """What is wrong with a study, as it follows its name."""
    if not (isinstance(study, type) and issubclass(study, Study)):
        return "is no subclass of Study"
    if inspect.isabstract(study):
        return "has no method run(request)"
    if fault := fault_of_texts(study, "name", "title"):
        return fault
    if not (isinstance(study.tables, tuple) and all(isinstance(reference, str) for reference in study.tables)):
        return f"has tables {study.tables!r}, which must be a tuple of references of published tables"
    if not isinstance(study.in_all, bool):
        return f"has in_all {study.in_all!r}, which must be True or False"
    try:
        made = study()
    except Exception as error:
        return f"cannot be made without arguments ({error_text(error)})"
    fault = misfit(made.run, "request")
    return f"has a method run that {fault}" if fault else None


STUDIES: Registry[type[Study]] = Registry("study", "oblique reproduce", _fault)
STUDIES.wait_for(("oblique_cli.papers.reproduction.studies",))
