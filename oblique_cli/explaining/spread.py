"""How the training rows of a model are spread: the unit of every distance in an explanation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import ConfigError, DataError

if TYPE_CHECKING:
    from oblique_cli.models.model import Model

Array = NDArray[np.float64]

FACT = "spread"  # the key in `Model.facts`


@dataclass(frozen=True)
class Spread:
    """What is known of each column of the training rows; missing cells are left out.

    means       mean of the numbers, 0 for a column of levels
    deviations  standard deviation (of the population), 0 for a column of levels or of one value
    whole       whether all numbers are whole
    shares      column of levels -> share of the rows with each level
    """

    means: tuple[float, ...]
    deviations: tuple[float, ...]
    whole: tuple[bool, ...]
    shares: Mapping[int, tuple[float, ...]]

    @classmethod
    def of(cls, X: Array, levels: Mapping[int, Sequence[Any]]) -> Spread:
        """Return the spread of rows. X : (n, p), NaN where missing, codes of levels; levels : columns of levels."""
        means, deviations, whole = [], [], []
        shares: dict[int, tuple[float, ...]] = {}
        for j, column in enumerate(np.asarray(X, dtype=np.float64).T):
            values = column[~np.isnan(column)]
            if j in levels:
                counts = np.bincount(values.astype(np.int64), minlength=len(levels[j]))[: len(levels[j])]
                shares[j] = tuple((counts / max(len(values), 1)).tolist())
            plain = len(values) > 0 and j not in levels
            # The largest value comes first, so that no square overflows.
            size = float(np.abs(values).max()) if plain else 0.0
            scaled = values / size if size > 0.0 else np.zeros(1)
            means.append(float(scaled.mean() * size))
            deviations.append(float(scaled.std() * size) if scaled.min() < scaled.max() else 0.0)
            whole.append(plain and bool((values == np.round(values)).all()))
        return cls(tuple(means), tuple(deviations), tuple(whole), shares)

    def to_plain(self) -> dict[str, Any]:
        """Return plain data for the facts of a model."""
        return {
            "means": list(self.means),
            "deviations": list(self.deviations),
            "whole": list(self.whole),
            "shares": {str(j): list(values) for j, values in self.shares.items()},
        }

    @classmethod
    def of_model(cls, model: Model) -> Spread:
        """Return what a model file says. ConfigError if it says nothing, DataError if it makes no sense."""
        plain = model.facts.get(FACT)
        if plain is None:
            raise ConfigError(
                "the model does not say how its training rows are spread, which distances need: fit it by `oblique "
                "fit`, or hand over training rows as `reference`."
            )
        p = len(model.feature_names)
        try:
            numbers = [tuple(float(value) for value in plain[key]) for key in ("means", "deviations")]
            whole = tuple(bool(value) for value in plain["whole"])
            shares = {int(j): tuple(float(value) for value in values) for j, values in plain["shares"].items()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"facts.{FACT} of the model cannot be read ({error!r}); fit the model again.") from None
        sizes = {len(numbers[0]), len(numbers[1]), len(whole)}
        if (
            sizes != {p}
            or not np.isfinite(numbers).all()
            or min(numbers[1]) < 0.0
            or not all(0 <= j < p for j in shares)
        ):
            raise DataError(f"facts.{FACT} of the model is not that of its {p} columns; fit the model again.")
        return cls(*numbers, whole, shares)
