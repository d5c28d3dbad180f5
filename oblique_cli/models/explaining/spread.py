"""Means and standard deviations of a model's training rows: the unit of every distance in an explanation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground.arrays import Array
from oblique_cli.models.procedure import NUMBER, Procedure, codes_of_scores, columns_of

if TYPE_CHECKING:
    from oblique_cli.models.model import Model


@dataclass(frozen=True)
class Spread:
    """Statistics of each column of the training rows, without missing cells."""

    means: tuple[float, ...]  # mean of the numbers, 0 for a column of levels
    deviations: tuple[float, ...]  # standard deviation (of the population), 0 for a column of levels or of one value
    whole: tuple[bool, ...]  # whether all numbers are whole
    shares: Mapping[int, Mapping[int, float]]  # column of levels -> code -> share of the rows with that level
    low: tuple[float, ...] = ()  # least and largest number of each column, infinite if unknown; () if all are unknown
    high: tuple[float, ...] = ()

    def ranges(self) -> tuple[Array, Array]:
        """Return the least and the largest number of each column, infinite if unknown."""
        p = len(self.means)
        return np.array(self.low or p * (-np.inf,)), np.array(self.high or p * (np.inf,))

    @classmethod
    def of(cls, X: Array, levels: Mapping[int, Sequence[Any]]) -> Spread:
        """Return the spread of rows. X : (n, p), NaN where missing, codes of levels; levels : columns of levels."""
        means, deviations, whole = [], [], []
        low, high = [], []
        shares: dict[int, dict[int, float]] = {}
        for j, column in enumerate(np.asarray(X, dtype=np.float64).T):
            values = column[~np.isnan(column)]
            if j in levels:
                counts = np.bincount(values.astype(np.int64), minlength=len(levels[j]))[: len(levels[j])]
                shares[j] = dict(enumerate((counts / max(len(values), 1)).tolist()))
            plain = len(values) > 0 and j not in levels
            # The largest value comes first, so that no square overflows.
            size = float(np.abs(values).max()) if plain else 0.0
            scaled = values / size if size > 0.0 else np.zeros(1)
            means.append(float(scaled.mean() * size))
            deviations.append(float(scaled.std() * size) if scaled.min() < scaled.max() else 0.0)
            whole.append(plain and bool((values == np.round(values)).all()))
            low.append(float(values.min()) if plain else -np.inf)
            high.append(float(values.max()) if plain else np.inf)
        return cls(tuple(means), tuple(deviations), tuple(whole), shares, tuple(low), tuple(high))

    @classmethod
    def of_reference(cls, procedure: Procedure, reference: ArrayLike) -> Spread:
        """Return the spread of rows of a model; ConfigError for another number of columns."""
        levels = {j: cell.levels for j, cell in enumerate(procedure.cells) if cell.levels}
        spread = cls.of(np.asarray(reference, np.float64), levels)
        if len(spread.means) != len(procedure.cells):
            raise ConfigError(f"reference must have {len(procedure.cells)} columns. Got {len(spread.means)}.")
        return spread

    @classmethod
    def of_model(cls, model: Model) -> Spread:
        """Return the spread from the facts that `oblique fit` has written: units, and columns of whole numbers.

        Without units, return the spread of the training rows of the fitted estimator. ConfigError if there is neither,
        DataError if units are invalid
        """
        fitted = None if "units" in model.facts else getattr(model.estimator, "_spreads", None)
        if fitted is not None:
            of_codes = {j: dict(enumerate(of_level.tolist())) for j, of_level in fitted.shares.items()}
            arrays = (fitted.means, fitted.deviations, fitted.low, fitted.high)
            columns_means, columns_deviations, *ends = (tuple(array.tolist()) for array in arrays)
            return cls(columns_means, columns_deviations, fitted.whole, of_codes, *ends)
        if "units" not in model.facts:
            raise ConfigError(
                "the model does not say how its training rows are spread, which distances need: fit it by `oblique "
                "fit`, or hand over training rows as `reference`."
            )
        columns, scored = columns_of(model), codes_of_scores(model)
        try:
            units = model.facts["units"]
            center, spread = (np.array(units[key], dtype=np.float64) for key in ("center", "spread"))
            of_levels = {int(j): list(map(float, level_shares)) for j, level_shares in units["of_levels"].items()}
            names = set(model.facts.get("whole_numbers", ()))
            if center.shape != (len(columns),) or spread.shape != center.shape or not (spread > 0.0).all():
                raise ValueError("there must be a center and a positive spread for each column")
            if not np.isfinite([center, spread]).all() or of_levels.keys() != scored.keys():
                raise ValueError("a number is not finite, or shares of levels are not those of the columns of levels")
            shares: dict[int, dict[int, float]] = {}
            for column, level_shares in of_levels.items():
                shares[columns[column][0]] = dict(zip(scored[column], level_shares, strict=True))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"facts.units of the model cannot be used ({error}); fit the model again.") from None
        means, deviations = np.zeros(len(model.feature_names)), np.zeros(len(model.feature_names))
        for column, (cell, level) in enumerate(columns):
            if level == NUMBER and column not in scored:
                means[cell], deviations[cell] = center[column], spread[column]
            elif level != NUMBER:  # the mean of an indicator is the share of its level
                shares.setdefault(cell, {})[level] = float(center[column])
        whole = tuple(name in names for name in model.feature_names)
        cells = [model.facts.get("cells", {}).get(name, {}) for name in model.feature_names]
        low, high = (
            tuple(float(of_column.get(key, end)) for of_column in cells)
            for key, end in (("least", -np.inf), ("most", np.inf))
        )
        return cls(tuple(means.tolist()), tuple(deviations.tolist()), whole, shares, low, high)
