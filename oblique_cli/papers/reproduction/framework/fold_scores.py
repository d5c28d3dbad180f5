"""Means of single folds with two standard deviations: the one that Amalaman's dissertation prints, and ours.

Chapters 2 and 3 speak of ten repetitions, but the printed leaf counts fit ten whole numbers: their SDs are over the ten
folds of one cross-validation. Beside them stands the SD over repetition means, which all other tables use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import fmean, stdev

from oblique_cli.ground.nouns import Row
from oblique_cli.papers.reproduction.framework.runs import Number, Outcome

Score = Callable[[Row], float]


@dataclass(frozen=True)
class FoldScore:
    """Mean over all folds, SD over the folds of the first repetition, and SD over the means of the repetitions."""

    mean: float
    over_folds: float | None
    over_repeats: float | None

    def number(self) -> Number:
        """What a cell needs; its SD is the one over folds."""
        note = "SD over the folds of one cross-validation"
        if self.over_repeats is not None:
            note += f"; over repetition means {self.over_repeats:.3g}"
        return self.mean, self.over_folds, note


def fold_score(rows: Iterable[Row], score: Score) -> FoldScore | None:
    """Return the scores of good rows of one algorithm on one data set; None if there is none, or a fold failed."""
    repeats: dict[int, list[float]] = {}
    for row in rows:
        if row.status != "ok":
            return None
        repeats.setdefault(row.repeat, []).append(score(row))
    if not repeats:
        return None
    first = repeats[min(repeats)]
    means = [fmean(values) for values in repeats.values()]
    return FoldScore(
        fmean(value for values in repeats.values() for value in values),
        stdev(first) if len(first) > 1 else None,
        stdev(means) if len(means) > 1 else None,
    )


def rows_by_method(outcomes: Iterable[Outcome | None], names: dict[str, str]) -> dict[tuple[str, str], list[Row]]:
    """Return rows by data set and printed method. names : id in the configuration -> printed method."""
    rows_of: dict[tuple[str, str], list[Row]] = {}
    for each in outcomes:
        if each is None:
            continue
        for row in each.rows:
            rows_of.setdefault((row.dataset, names.get(row.algorithm, "")), []).append(row)
    return rows_of
