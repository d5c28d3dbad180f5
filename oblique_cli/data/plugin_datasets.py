"""A data set of a plugin or of another library: a table of text with its target, task and qualitative columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from oblique_cli.data.text_table import Table
from oblique_cli.errors import DataError
from oblique_cli.ground.registry import Registry, fault_of_function


@dataclass(frozen=True)
class Handed:
    """A table of text and what is known of it.

    target        column of the class, or of the number to predict
    qualitative   columns that hold levels
    task          "classification" or "regression"
    note          where it comes from, one line"""

    table: Table
    target: str
    qualitative: tuple[str, ...] = ()
    task: str = "classification"
    note: str = ""


# Data sets of plugins: a function without parameters that returns a `Handed`, or X (n, p) and y (n,).
FURTHER: Registry[Callable[[], Any]] = Registry("data set", "oblique data list", fault_of_function)


def data_set(name: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Decorator that registers a function without parameters, which returns X (n, p) and y (n,), or a `Handed`."""
    return FURTHER.register(name)


def of_arrays(
    where: str,
    X: Any,
    y: Any,
    names: Sequence[str] = (),
    target: str = "target",
    task: str = "classification",
    note: str = "",
) -> Handed:
    """Return numbers X (n, p) and labels or numbers y (n,) as a table; NaN becomes an empty cell."""
    import numpy as np

    X = np.asarray(X, dtype=np.float64)
    labels = list(map(str, y)) if task == "classification" else [repr(float(value)) for value in y]
    if X.ndim != 2 or len(X) != len(labels) or not X.size:
        raise DataError(
            f"{where}: X must be of shape (n, p) and y of shape (n,). Got {X.shape} and {len(labels)} labels"
        )
    header = [*(names or [f"x{j + 1}" for j in range(X.shape[1])]), target]
    columns = [tuple("" if value != value else repr(value) for value in column.tolist()) for column in X.T]
    return Handed(
        Table(where, tuple(header), (*columns, tuple(labels)), tuple(range(1, len(X) + 1))), target, (), task, note
    )
