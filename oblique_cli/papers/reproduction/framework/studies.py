"""A study: the published tables that one set of experiments answers, and how they are run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oblique_cli.ground.registry import Registry, fault_of_function, fault_of_texts, fault_of_type
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

    @property
    def is_whole(self) -> bool:
        """Whether every printed number is wanted."""
        return self.profile == "full" and not self.only

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


@dataclass(frozen=True)
class Study:
    """Published tables and the experiments that answer them.

    name        what `oblique reproduce` calls it
    title       one line for people
    run         runs or resumes the experiments and returns every cell of the tables that the request asks for
    tables      references of the published tables, such as "wickramarachchi2015:3.1"
    in_all      whether `oblique reproduce all` runs it
    selects     what `only` may name: kinds of `StudyRequest.only`
    ids         what `only` may name as an algorithm besides the names of algorithms: ids of its configurations
    """

    name: str
    title: str
    run: Callable[[StudyRequest], StudyResult]
    tables: tuple[str, ...] = ()
    in_all: bool = True
    selects: tuple[str, ...] = ("dataset", "algorithm")
    ids: Callable[[], Sequence[str]] = tuple


def study(title: str, *tables: str, **about: Any) -> Callable[[Callable[[StudyRequest], StudyResult]], Study]:
    """Decorator that makes a study, called like it, of a function. about : further fields of `Study`"""
    return lambda run: Study(run.__name__, title, run, tables, **about)


def _fault(study: Any) -> str | None:
    """What is wrong with a study, as it follows its name."""
    if fault := fault_of_type(study, Study, "put @study(...) over the function that runs it"):
        return fault
    return fault_of_texts(study, "title") or fault_of_function(study.run, "request")


STUDIES: Registry[Study] = Registry("study", "oblique reproduce", _fault)
STUDIES.wait_for(("oblique_cli.papers.reproduction.studies",))
