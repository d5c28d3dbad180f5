"""`shap_values`: exact interventional Shapley values of hyperplane trees and of their forests (docs/explaining.md)."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, fields
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from oblique_cli.errors import ConfigError, quoted
from oblique_cli.ground.arrays import Array
from oblique_cli.models.explaining.games import (
    PROBABILITY,
    SCORE,
    VALUE,
    centered,
    completed,
    game_of,
    n_free_outputs,
    outputs_of,
    players_of,
    unrotated,
)
from oblique_cli.models.model import Model, as_model
from oblique_cli.models.procedure import CLIPPED, SUM, Procedure, procedure_of

MOST_STEPS = 1 << 28  # of one row in one tree: takes seconds
ROWS = 256  # whose summands are in memory at once
PROBED = 8  # rows whose coalitions are counted before the computation
BINS = 2048  # of the range of a sum, to count coalitions


@dataclass(frozen=True, eq=False)
class ShapleyValues:
    """Shapley values where `shap` is not installed, under the names of `shap.Explanation`.

    values         (n, p), of classes (n, p, K); interactions have a second p
    base_values    (n,) or (n, K): the mean over the background, the same for every row
    data           (n, p) the rows; feature_names, output_names : names of columns and of outputs
    """

    values: Array
    base_values: Array
    data: Array
    feature_names: list[str]
    output_names: list[str] | None = None


def shap_values(
    model: Any,
    X: ArrayLike,
    background: ArrayLike,
    *,
    output: str | None = None,
    interactions: bool = False,
    n_jobs: int | None = None,
) -> Any:
    """Return the exact interventional Shapley values of rows; a `shap.Explanation` where `shap` is installed.

    Without `shap` it is a `ShapleyValues`, which has the same fields.

    model         a `Model`, or a fitted estimator
    X             (n, p) rows as `Model.predict` takes them: numbers, NaN for a missing cell, codes of levels
    background    (m, p) rows that stand for the features that a coalition lacks, m >= 2
    output        "probability": class shares as `predict_proba` gives them; "score": the linear models of leaves, less
                  their mean over the classes, so that two classes differ by their log odds; "value": the predicted
                  number. Without it the only one that is exact for the model
    interactions  pairs in place of columns: Shapley interaction indices (Grabisch and Roubens 1999), half of each in
                  both places, and on the diagonal what is left of the column's own value
    n_jobs        threads, all processors without it; the values have the same bits for any number

    Values of a row and its base value add up to the output for the row. The value of a coalition is the mean,
    over the background, of the model at rows that have the row's cells in the coalition and the background row's
    elsewhere (Lundberg et al. 2020). The mean is exact, nothing is sampled.

    A linear leaf with bounds (`truncate`) is explained without its bounds. Rows whose prediction a bound changes are
    refused, also in the background: their prediction is no sum over columns.

    Raises ConfigError for a model without trees, for an output that is not piecewise linear (probabilities of models in
    leaves), for rows that do not fit, for a background of fewer than two rows, and for hyperplanes of so many features
    that there are too many coalitions to distinguish.
    """
    n_threads = n_jobs or os.cpu_count() or 1
    values = shapley_values(model, X, background, output=output, interactions=interactions, n_threads=n_threads)
    if find_spec("shap") is None:
        return values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of the libraries that it imports
        import shap  # type: ignore[import-untyped, import-not-found, unused-ignore]
    return shap.Explanation(**{field.name: getattr(values, field.name) for field in fields(values)})


def shapley_values(
    model: Any,
    X: ArrayLike,
    background: ArrayLike,
    *,
    output: str | None = None,
    interactions: bool = False,
    n_threads: int = 1,
    most_steps: int | None = None,
) -> ShapleyValues:
    """Return the result of `shap_values` without `shap`, and raise its errors.

    most_steps : limit of the steps of a row in a tree, MOST_STEPS by default
    """
    model = as_model(model)
    X, background = model.cells(X), model.cells(background)
    procedure = procedure_of(model)
    output = output_of(procedure, output)
    steps = MOST_STEPS if most_steps is None else most_steps
    rows, raw_rows = checked_rows(procedure, X, "X")
    against, unfilled = checked_rows(procedure, background, "background")
    if len(against) < 2:
        raise ConfigError(
            f"the background must have at least 2 rows, such as 100 training rows. Got {len(against)}; where a single "
            "row is meant as the whole reference, give it twice."
        )
    if procedure.has_bounds and procedure.is_forest:
        raise ConfigError(
            f"{procedure.title} has linear leaves within bounds in all of its trees, which are no sums of columns; fit "
            "it with leaves constant."
        )
    if procedure.has_bounds:
        for name, cells in (("X", raw_rows), ("background", unfilled)):
            _refuse_cut(model, procedure, cells, name)
    for tree in procedure.trees:
        if _least_steps(procedure, tree, rows[:PROBED], against, output, steps) > steps:
            raise ConfigError(_too_many(procedure, tree, steps))
    values, base = _of_trees(procedure, rows, against, output, interactions, steps, n_threads)
    names: list[str] | None = list(outputs_of(procedure, output))
    if output == VALUE:
        values, base, names = values[..., 0], base[0], None
    base_values = np.broadcast_to(base, (len(rows), *np.shape(base))).copy()
    return ShapleyValues(values, base_values, raw_rows, [cell.name for cell in procedure.cells], names)


def mean_sizes(values: Array) -> Array:
    """Return the global importance of columns: the mean of |value| over rows and classes, (p,). values : (n, p[, K])"""
    sizes = np.abs(values).mean(axis=0)
    return np.asarray(sizes if sizes.ndim == 1 else sizes.mean(axis=1))


def output_of(procedure: Procedure, output: str | None = None) -> str:
    """Return the output to explain; ConfigError if the model does not have it."""
    exact_output = VALUE if procedure.is_regression else SCORE if procedure.has_scores else PROBABILITY
    if procedure.voting == CLIPPED:
        raise ConfigError(
            f"{procedure.title} cuts negative sums of its trees off, so its probabilities have no exact Shapley values "
            "here; explain a tree, or a forest that averages."
        )
    if output in (None, exact_output):
        return exact_output
    if exact_output == SCORE and output == PROBABILITY:
        raise ConfigError(
            f"{procedure.title} makes its probabilities of scores, so they are not piecewise linear, and no exact "
            "Shapley values of them are known here; take output='score', their log odds."
        )
    raise ConfigError(f"output of {procedure.title} must be {exact_output!r}. Got {quoted(output)}.")


def checked_rows(procedure: Procedure, X: ArrayLike, name: str) -> tuple[Array, Array]:
    """Return rows with filled cells and appended codes, and the raw rows; ConfigError for unfit rows."""
    p = len(procedure.cells)
    try:
        raw_rows = np.array(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise ConfigError(f"{name} must be numbers, with codes for levels and NaN for missing cells.") from None
    if raw_rows.ndim != 2 or raw_rows.shape[1] != p:
        raise ConfigError(f"{name} must have {p} columns, those of the model. Got an array of shape {raw_rows.shape}.")
    if np.isinf(raw_rows).any():
        i, j = (int(k) for k in np.argwhere(np.isinf(raw_rows))[0])
        raise ConfigError(f"{name} must be finite. Row {i} has an infinite {quoted(procedure.cells[j].name)}.")
    filled = np.where(np.isnan(raw_rows), procedure.fills, raw_rows)
    for j in procedure.needed:
        if lacking := np.flatnonzero(np.isnan(filled[:, j])).tolist():
            raise ConfigError(
                f"row {lacking[0]} of {name} has no {quoted(procedure.cells[j].name)}, and the model takes no missing "
                "values; fill the cell or leave the row out."
            )
    if procedure.coded:
        filled = np.array([procedure.with_codes(row) for row in filled.tolist()]).reshape(len(filled), -1)
    return filled, raw_rows


def _refuse_cut(model: Model, procedure: Procedure, rows: Array, name: str) -> None:
    """Raise ConfigError for rows whose prediction is a bound of their leaf."""
    (tree,) = procedure.trees
    for i, (leaf, value) in enumerate(zip(model.apply(rows).tolist(), model.predict(rows).tolist(), strict=True)):
        if value in (tree.leaf(leaf).bounds or ()):
            raise ConfigError(
                f"row {i} of {name} is held at a bound of its leaf, {value:.6g}, which is no sum of columns; leave the "
                "row out, or fit with truncate none."
            )


def _of_trees(
    procedure: Procedure, rows: Array, background: Array, output: str, interactions: bool, most_steps: int, threads: int
) -> tuple[Array, Array]:
    """Return means over background and trees: values, (n, p, K) or (n, p, p, K), and the base value, (K,)."""
    p, n_outputs = len(procedure.cells), n_free_outputs(procedure, output)
    values = np.zeros((len(rows), p, p, n_outputs) if interactions else (len(rows), p, n_outputs))
    base = np.zeros(n_outputs)
    for tree in procedure.trees:
        game = game_of(procedure, tree, output)
        reference = game.summands(background)
        base += game.core.values(*reference).mean(axis=0)
        for first in range(0, len(rows), ROWS):
            block = slice(first, first + ROWS)
            summands = game.summands(rows[block])
            try:
                values[block] += game.core.shapley(*summands, *reference, interactions, most_steps, threads)
            except OverflowError:
                raise ConfigError(_too_many(procedure, tree, most_steps)) from None
    trees = 1 if procedure.voting == SUM else procedure.votes if procedure.prior else len(procedure.trees)
    values /= len(background) * trees
    if interactions:  # in the form of `shap`: rows add up to the values of columns
        diagonal, halves = np.arange(p), values / 2.0
        halves[:, diagonal, diagonal] = 0.0
        halves[:, diagonal, diagonal] = values[:, diagonal, diagonal] - halves.sum(axis=2)
        values = halves
    base /= trees
    if procedure.prior:
        base += np.array(procedure.prior[:n_outputs]) / procedure.votes
    if procedure.voting == SUM:
        base += centered(procedure.base, n_outputs) if output == SCORE else procedure.base
    return completed(values, base, len(outputs_of(procedure, output)), output)


def _least_steps(procedure: Procedure, tree: Any, rows: Array, background: Array, output: str, limit: int) -> float:
    """Return a lower bound of the steps of some row in the first split of a tree, 0 if they are few."""
    if tree.left[0] < 0:
        return 0.0
    split, players = tree.split(0), players_of(procedure)
    plain_terms = (plain for term in split.terms for plain in unrotated(term, tree, len(players)))
    width = len({players[plain.cell] for plain in plain_terms})
    if 2.0**width * len(background) <= limit:
        return 0.0
    splits = game_of(procedure, tree, output).splits
    most = 0.0
    for x in splits.of(rows)[:, :width]:
        total = 0.0
        for z in splits.of(background)[:, :width]:
            total += _undecided(x, z, split.threshold)
            if total > limit:
                return total
        most = max(most, total)
    return most


def _undecided(x: Array, z: Array, threshold: float) -> float:
    """Return a lower bound of the coalitions that leave a sum of x and z undecided, columns in the order of their gaps.

    The sums of d columns are counted in bins. Each column is rounded down to a bin, so a sum may lie up to d bins
    too low: sums within d bins of a bound are not counted.
    """
    with np.errstate(invalid="ignore"):
        gaps = np.sort(np.abs(x - z))[::-1]
    total = gaps.sum()
    if not 0.0 < total < np.inf:
        return 0.0
    unit = total / BINS
    room = (threshold - np.minimum(x, z).sum()) / unit
    counts = np.zeros(BINS + 1)
    counts[0], undecided, left = 1.0, 0.0, float(BINS)
    for d, gap in enumerate(gaps[gaps > 0] / unit):
        first, last = max(0.0, np.floor(room - left) + 2), min(float(BINS), np.floor(room) - d - 1)
        if first <= last:
            undecided += counts[int(first) : int(last) + 1].sum()
        shift, left = int(gap), left - gap
        counts[shift:] += counts[: BINS + 1 - shift]
    return float(undecided)


def _too_many(procedure: Procedure, tree: Any, most_steps: int) -> str:
    widest = max(len({term.cell for term in split.terms}) for split in tree.splits if split is not None)
    return (
        f"{procedure.title} has planes of up to {widest} columns, which leave more coalitions to tell apart than the "
        f"{most_steps:,} steps that a row may take; fit splits of fewer terms, as by --set max_terms=4, or give fewer "
        "background rows."
    )
