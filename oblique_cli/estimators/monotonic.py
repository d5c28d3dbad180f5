"""Parameter `monotonic_cst`, checked against the rows of a fit."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ConfigError, cut, quoted
from oblique_cli.ground.arrays import Array
from oblique_cli.ground.constraints import Optional, SignsOfColumns
from oblique_cli.ground.registry import close_matches
from oblique_cli.tree.monotone import Signs

NAME = "monotonic_cst"
CLEAR = 2.0  # number of standard errors from which a correlation counts


class FlatResponse(UserWarning):
    """Warning for a constrained column that the model does not use: the rows contradict it. column : position"""

    def __init__(self, owner: str, order: str, seen: str, r: float, column: int, name: str) -> None:
        self.column = column
        self._parts = (owner, order, seen, r)
        super().__init__(self.message_for(name))

    def message_for(self, name: str) -> str:
        """Return the sentence with the name of the column."""
        owner, order, seen, r = self._parts
        return (
            f"{owner} asks that the answer {order} as {quoted(name)} grows, and in the training rows it {seen} "
            f"(correlation {r:.2f}): the model does not use the column, so no answer changes with it."
        )


ALLOWED = Optional(SignsOfColumns())


def meaning(answer: str) -> str:
    """Return the description of the parameter. answer : the prediction that never falls, or never rises"""
    return (
        f"Constraint on {answer}, as in scikit-learn: 1 if it never falls as a column grows, -1 if it never rises, 0 "
        "without a constraint; one number for each column, or a mapping of names or positions of columns to them. It "
        "holds for all rows, not only for training rows, and `verify` proves it (docs/guarantees.md)."
    )


def signs_of(estimator: Any, levels: Iterable[int] = (), n_classes: int = 2) -> Signs | None:
    """Return the signs of columns, (p,), or None; ConfigError for a constraint that does not fit columns or classes.
    levels : positions of qualitative columns; n_classes : 2 in regression as well"""
    constraint, owner = getattr(estimator, NAME), type(estimator).__name__
    if constraint is None:
        return None
    p, names = estimator.n_features_in_, list(getattr(estimator, "feature_names_in_", ()))
    signs = signs_by_column(constraint, names, p, owner)
    if not signs.any():
        return None
    if n_classes > 2:
        raise ConfigError(
            f"{NAME} of {owner} is about the probability of one of two classes, and y has {n_classes}; leave it out, "
            "or fit one class against the others."
        )
    for j in levels:
        if signs[j]:
            raise ConfigError(
                f"{NAME} of {owner} constrains column {quoted(names[j] if names else j)}, whose levels have no order; "
                "leave the column out of it."
            )
    return signs if n_classes == 2 else None


def signs_by_column(constraint: Any, names: Sequence[str], p: int, owner: str) -> Signs:
    """Return the sign of each of p columns, (p,). names : of the columns; empty without names"""
    signs = np.zeros(p, dtype=np.int32)
    if isinstance(constraint, Mapping):
        for column, sign in constraint.items():
            signs[_position(column, names, p, owner)] = sign
    elif len(constraint) != p:
        raise ConfigError(
            f"{NAME} of {owner} must have one entry for each of the {p} columns of X. Got {len(constraint)}; give a "
            "mapping to name a few."
        )
    else:
        signs[:] = constraint
    return signs


def _position(column: Any, names: Sequence[str], p: int, owner: str) -> int:
    if not isinstance(column, str):
        if column < p:
            return int(column)
        raise ConfigError(f"{NAME} of {owner} must name columns from 0 to {p - 1}. Got {column}.")
    if not names:
        raise ConfigError(
            f"{NAME} of {owner} names column {quoted(column)}, and the columns of X have no names; give a data frame, "
            "or an entry for each column."
        )
    if column not in names:
        hint = close_matches(cut(column), names) or f" Its columns: {', '.join(map(cut, names[:20]))}."
        raise ConfigError(f"{NAME} of {owner}: X has no column named {quoted(column)}.{hint}")
    return names.index(column)


def warn_of_flat(
    estimator: Any, signs: Signs | None, used: NDArray[Any], X: Array, y: NDArray[Any], stacklevel: int = 3
) -> None:
    """Warn of constrained columns that the fit does not use although they correlate in the opposite direction.

    used : (p,) whether an answer can change with the column; X : (n, p) training rows; y : (n,) numbers or codes"""
    if signs is None:
        return
    names = getattr(estimator, "feature_names_in_", None)
    for j in np.flatnonzero((signs != 0) & ~used):
        known = ~np.isnan(X[:, j])
        x, answers = X[known, j], np.asarray(y, dtype=np.float64)[known]
        if len(x) < 3 or x.min() == x.max() or answers.min() == answers.max():
            continue
        x, answers = (x - x.mean()) / np.ptp(x), (answers - answers.mean()) / np.ptp(answers)
        r = float(x @ answers / math.sqrt(float(x @ x) * float(answers @ answers)))
        if r * signs[j] < 0.0 and abs(r) * math.sqrt(len(X)) > CLEAR:
            order, seen = ("never falls", "falls") if signs[j] > 0 else ("never rises", "rises")
            name = str(names[j]) if names is not None else f"x{j + 1}"
            owner = f"{NAME} of {type(estimator).__name__}"
            warnings.warn(FlatResponse(owner, order, seen, r, int(j), name), stacklevel=stacklevel)
