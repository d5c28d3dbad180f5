"""Studies: the published tables that a set of experiments reproduces, and the run of these experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from oblique_cli.ground.registry import Registry, fault_of_function, fault_of_texts, fault_of_type
from oblique_cli.papers.reproduction.framework.printed_cells import Cell


@dataclass(frozen=True)
class StudyRequest:
    """The request for a run of a study.

    profile     "full" is the published protocol; "quick" the small bundled data sets and two repetitions
    data_dir    folder of data files that are not bundled
    only        "dataset" and "algorithm" -> the requested names; {} for all
    say         receives lines of progress
    fresh       rerun stored folds
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
        """Whether all printed numbers are requested."""
        return self.profile == "full" and not self.only

    def wants(self, kind: str, *names: str) -> bool:
        """Return whether `only` includes a data set or algorithm with any of `names`."""
        selected = self.only.get(kind)
        return not selected or bool(set(selected) & set(names))


@dataclass(frozen=True)
class ExtraTable:
    """A table beside the cells, with formatted text: ranks, memory, readings. The first `left` columns hold names."""

    name: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 1


class Cost(NamedTuple):
    """Cost of a study: trees grown now, wall time, and the stored time of all its folds, including resumed ones."""

    trees: int = 0
    seconds: float = 0.0
    stored_trees: int = 0
    stored_seconds: float = 0.0


@dataclass(frozen=True)
class StudyResult:
    """The results of a study; exit_code is that of its worst run, 0 if every fold is good."""

    cells: tuple[Cell, ...]
    tables: tuple[ExtraTable, ...] = ()
    cost: Cost = field(default_factory=Cost)
    exit_code: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing was run: no cell, no table row, no failed fold."""
        return not (self.cells or self.exit_code or any(table.rows for table in self.tables))


@dataclass(frozen=True)
class Study:
    """Published tables and the experiments that reproduce them.

    run         runs or resumes the experiments and returns every cell of the tables that the request asks for
    tables      references of the published tables, such as "wickramarachchi2015:3.1"
    selects     kinds of `StudyRequest.only` that the study supports
    ids         names that `only` accepts as algorithms beside algorithm names: ids of its configurations
    of_run      returns for a table and a stored run (`runs.Outcome`) the function for its numbers (`runs.Ours`); None
                if the study runs no configurations
    """

    name: str
    title: str
    run: Callable[[StudyRequest], StudyResult]
    tables: tuple[str, ...] = ()
    selects: tuple[str, ...] = ("dataset", "algorithm")
    ids: Callable[[], Sequence[str]] = tuple
    of_run: Callable[[str, Any], Callable[..., Any]] | None = None


def study(title: str, *tables: str, **about: Any) -> Callable[[Callable[[StudyRequest], StudyResult]], Study]:
    """Decorator that converts a function to a study of the same name. about : further fields of `Study`"""
    return lambda run: Study(run.__name__, title, run, tables, **about)


def _fault(study: Any) -> str | None:
    """Return the error message for a study, without its name, or None."""
    if fault := fault_of_type(study, Study, "put @study(...) over the function that runs it"):
        return fault
    return fault_of_texts(study, "title") or fault_of_function(study.run, "request")


STUDIES: Registry[Study] = Registry("study", "oblique reproduce", _fault)
STUDIES.wait_for(("oblique_cli.papers.reproduction.studies",))
