"""Criteria of choices and estimates: a metric, and for two classes a threshold on the share of one class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oblique_cli.data.dataset import Dataset
from oblique_cli.errors import ConfigError
from oblique_cli.evaluation import metrics
from oblique_cli.evaluation.metrics import LABELS, METRICS, Metric, Scored, Undefined
from oblique_cli.ground.row_groups import spread_of_sums

Array = NDArray[np.float64]

GROUPS = 20  # of rows, for the standard error of a metric that is not a mean over rows
MOST_THRESHOLDS = 99  # number of thresholds that an automatic choice compares
AUTO = "auto"
OF_ROWS = ("rows", "y", "predicted", "shares", "groups")  # the arrays of `Answers`


@dataclass(frozen=True, eq=False)
class Answers:
    """Out-of-sample predictions for some rows.

    rows       (m,) row numbers; y : (m,) their codes or numbers
    predicted  (m,) codes or numbers
    shares     (m, C) of the classes; None in regression, and for an algorithm without them
    n_classes  C, 0 in regression
    groups     (m,) codes of the groups of the rows, if only groups are independent; else None; `group_column`
               is the name of their column
    """

    rows: NDArray[np.intp]
    y: NDArray[Any]
    predicted: NDArray[Any]
    shares: Array | None
    n_classes: int
    groups: NDArray[np.int64] | None = None
    group_column: str = ""

    @classmethod
    def of(
        cls, dataset: Dataset, rows: NDArray[np.intp], predicted: NDArray[Any], shares: Array | None, n_classes: int
    ) -> Answers:
        """Return the answers for rows of a data set, with their true values and their groups."""
        groups = None if dataset.groups is None else dataset.groups[rows]
        return cls(rows, dataset.y[rows], predicted, shares, n_classes, groups, dataset.group_column)

    @staticmethod
    def together(parts: list[Answers]) -> Answers:
        """Return the answers of several folds as one."""
        values = {name: [getattr(part, name) for part in parts] for name in OF_ROWS}
        absent = {name for name, several in values.items() if any(value is None for value in several)}
        whole: dict[str, Any] = {name: None for name in absent}
        whole |= {name: np.concatenate(several) for name, several in values.items() if name not in absent}
        return replace(parts[0], **whole)

    def part(self, rows: NDArray[Any]) -> Answers:
        """Return the answers for some of the rows, selected by mask or index."""
        values = {name: getattr(self, name) for name in OF_ROWS}
        return replace(self, **{name: value[rows] for name, value in values.items() if value is not None})

    def value(self, metric: Metric) -> float:
        """Return the value of a metric of predictions or probabilities. Raise Undefined if it has none."""

        def shares() -> Array:
            if self.shares is None:
                raise Undefined("the algorithm gives no class probabilities")
            return self.shares

        return float(metric.evaluate(Scored(self.y, self.predicted, self.n_classes, shares, None, np.zeros((0, 0)))))


@dataclass(frozen=True)
class Goal:
    """Criterion of choices.

    metric     of predictions or probabilities
    threshold  least share for the prediction `positive`; AUTO to choose it in training rows; None for the largest share
    positive   code of the class of the threshold
    readable   whether the model must be a tree with a split
    """

    metric: Metric
    threshold: float | str | None = None
    positive: int = 0
    readable: bool = False

    @classmethod
    def usual(cls, task: str) -> Goal:
        """Return the default goal: accuracy, or the squared error."""
        return cls(METRICS["rmse" if task == "regression" else "accuracy"])

    @property
    def is_usual(self) -> bool:
        """Return whether the metric is accuracy or the squared error."""
        return self.metric.name in ("accuracy", "rmse", "mse")

    def measured(self, answers: Answers) -> tuple[float, float, float, float]:
        """Return score, its standard error, loss and its standard error.

        The standard errors of accuracy and root mean squared error are those of a mean over rows. For any other
        metric it is that of a jackknife, which leaves out one of `GROUPS` groups of rows at a time, with classes spread
        evenly over them (Efron and Tibshirani 1993, section 11.5). If answers have groups, sums over groups replace
        rows, and the jackknife leaves out whole groups. Raise Undefined for a metric without a value on all rows.
        """
        y, predicted = answers.y, answers.predicted
        if self.metric.name in ("rmse", "mse"):
            squares = (np.asarray(predicted, dtype=np.float64) - y) ** 2
            loss = float(squares.mean())
            loss_error = float(squares.std()) / sqrt(len(y))
            if answers.groups is not None:
                loss_error = _spread_of_groups(squares, answers.groups)
            if self.metric.name == "mse":
                return loss, loss_error, loss, loss_error
            score = sqrt(loss)
            return score, loss_error / (2 * score) if score > 0 else 0.0, loss, loss_error
        if self.metric.name == "accuracy":
            score = int((predicted == y).sum()) / len(y)
            error = sqrt(score * (1 - score) / len(y))
            if answers.groups is not None:
                error = _spread_of_groups(predicted != y, answers.groups)
            return score, error, 1 - score, error
        score = answers.value(self.metric)
        error = self._jackknife(answers)
        return score, error, -score if self.metric.larger_is_better else score, error

    def _jackknife(self, answers: Answers) -> float:
        block = np.zeros(len(answers.y), dtype=np.int64)
        if answers.groups is None:
            order = np.argsort(answers.y, kind="stable")
            block[order] = np.arange(len(order)) % GROUPS
        else:
            block = np.unique(answers.groups, return_inverse=True)[1] % GROUPS
        values = []
        for number in range(int(block.max()) + 1):
            try:
                values.append(answers.part(block != number).value(self.metric))
            except Undefined:  # the only rows of a class are in this block
                continue
        n = len(values)
        return sqrt((n - 1) * float(np.var(values))) if n > 1 else 0.0

    def applied(self, answers: Answers, threshold: float | None) -> Answers:
        """Return answers with `positive` from the threshold on, and the most probable other class below it."""
        if threshold is None:
            return answers
        return replace(answers, predicted=labels_at(self._shares(answers), self.positive, threshold))

    def decided(self, answers: Answers) -> tuple[Answers, float | None]:
        """Return answers by the threshold, and the threshold; an automatic threshold is chosen on these answers."""
        threshold = self._chosen(answers) if self.threshold == AUTO else self.threshold
        assert not isinstance(threshold, str)
        return self.applied(answers, threshold), threshold

    def _chosen(self, answers: Answers) -> float:
        """Return the threshold of least loss; ties: the nearest to 0.5, then the smaller."""
        shares = np.unique(self._shares(answers)[:, self.positive])
        middles = (shares[1:] + shares[:-1]) / 2
        if len(middles) > MOST_THRESHOLDS:
            places = np.linspace(0, len(middles) - 1, MOST_THRESHOLDS).round().astype(np.intp)
            middles = middles[places]
        by = self.deciding
        sign = 1.0 if by.larger_is_better else -1.0
        tried = np.unique(np.append(middles, 0.5)).tolist()

        def rank(threshold: float) -> tuple[float, float, float]:
            return (sign * self.applied(answers, threshold).value(by), -abs(threshold - 0.5), -threshold)

        return float(max(tried, key=rank))

    @property
    def deciding(self) -> Metric:
        """Return the metric that chooses a threshold: balanced accuracy if the metric ignores thresholds, or is a
        recall, which is 1 at the threshold 0."""
        if self.metric.needs != LABELS or self.metric.name.startswith("recall:"):
            return METRICS["balanced_accuracy"]
        return self.metric

    @property
    def pruning(self) -> Goal:
        """Return the goal for pruning: balanced accuracy instead of a recall, which is 1 in a leaf of its class."""
        return replace(self, metric=self.deciding) if self.metric.name.startswith("recall:") else self

    def _shares(self, answers: Answers) -> Array:
        if answers.shares is None:
            raise ConfigError("a threshold needs class probabilities, and this algorithm gives none; leave it out.")
        return answers.shares


def _spread_of_groups(losses: NDArray[Any], groups: NDArray[np.int64]) -> float:
    """Return the standard error of the mean loss of rows if only groups are independent. losses, groups : (n,)"""
    member = np.unique(groups, return_inverse=True)[1]
    return spread_of_sums(np.bincount(member, losses), np.bincount(member))


def labels_at(shares: Array, positive: int, threshold: float) -> NDArray[np.int64]:
    """Return codes for shares of two classes, (n, 2): `positive` from the threshold on, the other class below it."""
    return np.where(shares[:, positive] >= threshold, positive, 1 - positive)


def positive_of(metric: str, classes: Sequence[str], counts: NDArray[Any]) -> int:
    """Return the code of the class, of two, that a threshold is for: that in the name of a metric, else the one of
    fewer rows, the second on a tie."""
    if metric.startswith("recall:"):
        return classes.index(metric.removeprefix("recall:"))
    return int(counts[1] <= counts[0])


def goal_of(
    metric: str | None, threshold: str | None, task: str, classes: tuple[str, ...], counts: NDArray[Any], owner: str
) -> Goal:
    """Return the goal of --metric and --threshold. counts : (C,) rows of each class; owner : start of error messages

    The threshold is for the class in the metric's name, or else the class of fewer rows, the second on a tie.
    """
    usual = Goal.usual(task)
    of = metrics.named(metric, task, classes, owner) if metric else usual.metric
    if threshold is None:
        return Goal(of)
    if task == "regression" or len(classes) != 2:
        has = "predicts numbers" if task == "regression" else f"has {len(classes)} classes"
        raise ConfigError(f"{owner}: --threshold is for two classes, and this target {has}; leave it out.")
    positive = positive_of(of.name, classes, counts)
    if threshold == AUTO:
        return Goal(of, AUTO, positive)
    try:
        value = float(threshold)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise ConfigError(f"{owner}: --threshold must be auto or a share between 0 and 1. Got {threshold!r}.")
    return Goal(of, value, positive)
