"""Tests of significance: one data set with repeated cross-validation, and many data sets with one score each.

Every function takes plain numbers; larger is better, and a positive difference favors the first method.
docs/experiments.md gives purpose and formula of each test. Sources:

Nadeau & Bengio (2003)   Inference for the generalization error. Machine Learning 52: the corrected resampled t test
Demsar (2006)            Statistical comparisons of classifiers over multiple data sets. JMLR 7: Wilcoxon, sign test,
                         Friedman, Nemenyi, Holm, the critical-difference diagram
Benavoli et al. (2017)   Time for a change. JMLR 18: the Bayesian correlated t test and signed-rank test
Zhang & Suganthan (2014) Oblique decision tree ensemble via multisurface proximal SVM, equations 13-15
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, isinf, nan, sqrt
from typing import NamedTuple

import numpy as np
from scipy import special
from scipy.stats import rankdata, studentized_range

from oblique_cli.ground import seeds

# Draws from a posterior: the Monte Carlo error of a probability is at most 0.5 / sqrt(50000) = 0.0022.
DRAWS = 50_000

# Differences whose distance is at most this share of the largest are tied: 0.768 - 0.763 and 0.661 - 0.656 are 0.005.
DECIMALS = 9


class Probabilities(NamedTuple):
    """Probabilities that the first method is better, that both are practically equal, that the second is better."""

    first: float
    same: float
    second: float


# ---- one data set ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ResampledT:
    """Mean difference over folds, and its standard error, corrected for overlapping training sets."""

    mean: float
    scale: float
    df: int

    @property
    def t(self) -> float:
        """Return the t statistic; infinite for equal non-zero differences, 0 if all differences are 0."""
        if self.scale == 0:
            return float(np.sign(self.mean)) * inf if self.mean else 0.0
        return self.mean / self.scale

    @property
    def p(self) -> float:
        """Return the two-sided p value."""
        return 0.0 if isinf(self.t) else float(2 * special.stdtr(self.df, -abs(self.t)))

    def probabilities(self, rope: float) -> Probabilities:
        """Return the Bayesian correlated t test: P(mean difference below, within and above -rope ... rope)."""
        if self.scale == 0:
            return Probabilities(float(self.mean > rope), float(abs(self.mean) <= rope), float(self.mean < -rope))
        first = float(special.stdtr(self.df, (self.mean - rope) / self.scale))
        second = float(special.stdtr(self.df, (-rope - self.mean) / self.scale))
        return Probabilities(first, max(0.0, 1.0 - first - second), second)


def corrected_resampled_t(differences: Sequence[float], test_over_train: float) -> ResampledT:
    """Return the corrected resampled t test (Nadeau & Bengio 2003) on the J differences of all folds and repetitions.

    The variance of the mean is (1/J + n_test/n_train) s^2, with divisor J - 1 in s^2. The Bayesian correlated t test
    with correlation n_test / (n_test + n_train) has the same scale. Raise ValueError for fewer than two differences.
    """
    d = np.asarray(differences, dtype=float)
    if len(d) < 2:
        raise ValueError("a resampled t test needs at least two folds")
    # Equal differences have no spread, independent of the rounding of their mean.
    variance = 0.0 if np.ptp(d) == 0 else float(d.var(ddof=1))
    return ResampledT(float(d.mean()), sqrt((1 / len(d) + test_over_train) * variance), len(d) - 1)


# ---- two methods over many data sets ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wilcoxon:
    """Sums of ranks for and against the first method, over n data sets; p is two-sided and exact."""

    n: int
    plus: float
    minus: float
    p: float


def wilcoxon(differences: Sequence[float]) -> Wilcoxon:
    """Return the signed-rank test of Demsar (2006, section 3.1.3).

    Ranks of zero differences are split between both sums; if their number is odd, one is ignored. p is exact for any n,
    including ties: it counts the sums over all signs of the observed ranks, instead of using the normal
    approximation. If all differences are zero, p = 1.
    """
    d = _tied(differences)
    zeros = np.flatnonzero(d == 0)
    if len(zeros) % 2:
        d = np.delete(d, zeros[0])
    ranks = rankdata(np.abs(d))
    split = ranks[d == 0].sum() / 2
    plus, minus = ranks[d > 0].sum(), ranks[d < 0].sum()
    # Twice a rank is an integer, so the distribution of the sum is an array of counters, updated rank by rank.
    shares = np.ones(1)
    for twice in np.rint(2 * ranks[d != 0]).astype(int):
        shares = (np.pad(shares, (0, twice)) + np.pad(shares, (twice, 0))) / 2
    tail = shares[: round(2 * min(plus, minus)) + 1].sum()
    return Wilcoxon(len(d), float(plus + split), float(minus + split), float(min(1.0, 2 * tail)))


@dataclass(frozen=True)
class SignTest:
    """Wins of both methods over n data sets, ties split evenly, and the number of wins that is significant."""

    n: int
    wins: int
    losses: int
    needed: int


def sign_test(differences: Sequence[float]) -> SignTest:
    """Return the sign test at 0.05: better with at least N/2 + 1.96 sqrt(N)/2 wins (Demsar 2006, section 3.1.4).

    Ties are split evenly; an odd tie is ignored and reduces N.
    """
    d = _tied(differences)
    half = int((d == 0).sum()) // 2
    wins, losses = int((d > 0).sum()) + half, int((d < 0).sum()) + half
    n = wins + losses
    return SignTest(n, wins, losses, ceil(n / 2 + 1.96 * sqrt(n) / 2))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted by Holm's step-down procedure, in their order."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, stepped)
    return [float(value) for value in adjusted]


def bayesian_signed_rank(differences: Sequence[float], rope: float, draws: int = DRAWS) -> Probabilities:
    """Return the Bayesian signed-rank test with a region of practical equivalence (Benavoli et al. 2017, section 4.2).

    The prior is a Dirichlet process of strength 1 with its single pseudo-observation in the middle of the region. Each
    draw weights the observations; the probabilities are the shares of draws in which the first method, neither, or the
    second has most weight of the pairwise means. Without a region (rope 0) means of zero count half for each.

    Stochasticity: the stream named ("bayesian signed rank"), the same for all differences; their order has no effect.
    """
    d = np.asarray(differences, dtype=float)
    d = np.concatenate([[0.0], d[np.lexsort((d, np.abs(d)))]])
    sums = d[:, None] + d
    weights = _dirichlet_weights(draws, len(d))
    first = np.einsum("ij,ij->i", weights @ (sums > 2 * rope).astype(float), weights)
    second = np.einsum("ij,ij->i", weights @ (sums < -2 * rope).astype(float), weights)
    same = 1 - first - second
    if rope == 0:
        first, second, same = first + same / 2, second + same / 2, np.full(draws, -1.0)
    largest = np.maximum(np.maximum(first, same), second) - 1e-12
    most = [share >= largest for share in (first, same, second)]
    tied = np.add(np.add(most[0], most[1], dtype=np.int8), most[2], dtype=np.int8)
    return Probabilities(*(float((is_largest / tied).mean()) for is_largest in most))


@functools.lru_cache(maxsize=1)
def _dirichlet_weights(draws: int, n: int) -> np.ndarray:
    """Return draws of n weights, (draws, n): the same for every pair of methods on equally many data sets."""
    weights = seeds.generator(0, "bayesian signed rank").standard_exponential((draws, n))
    weights /= weights.sum(axis=1, keepdims=True)
    weights.flags.writeable = False
    return weights


def _tied(differences: Sequence[float]) -> np.ndarray:
    """Return differences as shares of the largest, rounded so that rounding errors break no ties."""
    d = np.asarray(differences, dtype=float)
    largest = np.abs(d).max(initial=0.0)
    return np.zeros_like(d) if largest == 0 else np.round(d / largest, DECIMALS)


# ---- many methods over many data sets --------------------------------------------------------------------------------


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Spearman's rank correlation with average ranks of ties; nan if one side has a single value."""
    a, b = rankdata(first), rankdata(second)
    return nan if np.ptp(a) == 0 or np.ptp(b) == 0 else float(np.corrcoef(a, b)[0, 1])


def average_ranks(scores: np.ndarray) -> np.ndarray:
    """Return the average rank of each column of `scores` (data sets x methods): 1 is the largest, ties share a rank."""
    return np.asarray(rankdata(-np.asarray(scores, dtype=float), axis=1).mean(axis=0))


def share_of_ties(scores: np.ndarray) -> float:
    """Return the share of the variance of ranks (data sets x methods) lost to ties: sum (t^3 - t) / (N (k^3 - k))."""
    rows = np.asarray(scores, dtype=float)
    n, k = rows.shape
    counts = np.concatenate([np.unique(row, return_counts=True)[1] for row in rows]).astype(float)
    return float((counts**3 - counts).sum() / (n * (k**3 - k)))


@dataclass(frozen=True)
class Friedman:
    """Friedman's statistic, and Iman and Davenport's with its p value, for k methods on n data sets."""

    n: int
    k: int
    chi2: float
    f: float
    p: float


def friedman(ranks: Sequence[float], n: int, ties: float = 0.0) -> Friedman:
    """Return the test of k average ranks over n data sets (Zhang & Suganthan, equations 13 and 14).

    F has k - 1 and (k - 1)(n - 1) degrees of freedom; it is infinite if every data set ranks the methods alike.
    ties : `share_of_ties` of the scores, which corrects chi2 (Hollander & Wolfe 1973, p. 140); the papers do not
    correct, and with ties their test is conservative.
    """
    r = np.asarray(ranks, dtype=float)
    k = len(r)
    if k < 2 or n < 2:
        raise ValueError("the Friedman test needs at least two methods and two data sets")
    chi2 = max(0.0, 12 * n / (k * (k + 1)) * (float((r**2).sum()) - k * (k + 1) ** 2 / 4))
    if chi2 and ties < 1:
        chi2 /= 1 - ties
    left = n * (k - 1) - chi2
    if left <= 1e-9 * n * k:
        return Friedman(n, k, chi2, inf, 0.0)
    f = (n - 1) * chi2 / left
    return Friedman(n, k, chi2, f, float(special.fdtrc(k - 1, (k - 1) * (n - 1), f)))


def nemenyi_q(k: int, alpha: float = 0.05) -> float:
    """Return the critical value of the Nemenyi test: the studentized range of k infinite samples, over sqrt(2)."""
    return float(studentized_range.ppf(1 - alpha, k, inf)) / sqrt(2)


def critical_difference(k: int, n: int, alpha: float = 0.05) -> float:
    """Return the least significant difference of two of k average ranks over n data sets (equation 15)."""
    return nemenyi_q(k, alpha) * sqrt(k * (k + 1) / (6 * n))


def nemenyi_p(difference: float, k: int, n: int) -> float:
    """Return the p value of a difference of two of k average ranks over n data sets."""
    z = abs(difference) / sqrt(k * (k + 1) / (6 * n))
    return float(min(1.0, max(0.0, studentized_range.sf(z * sqrt(2), k, inf))))


def cliques(ranks: Sequence[float], difference: float) -> list[tuple[int, ...]]:
    """Return the largest groups, of two or more methods, best first, whose ranks lie within less than `difference`."""
    order = sorted(range(len(ranks)), key=lambda method: ranks[method])
    groups: list[tuple[int, ...]] = []
    reached = 0
    for start in range(len(order)):
        end = start + 1
        while end < len(order) and ranks[order[end]] - ranks[order[start]] < difference:
            end += 1
        if end > reached and end - start > 1:
            groups.append(tuple(order[start:end]))
        reached = max(reached, end)
    return groups


# ---- bias and variance -----------------------------------------------------------------------------------------------


class BiasVariance(NamedTuple):
    """Squared bias, including the noise, and variance; their sum is the expected error."""

    bias: float
    variance: float


def kohavi_wolpert(votes: np.ndarray, labels: np.ndarray) -> BiasVariance:
    """Return the decomposition of 0/1 loss of Kohavi & Wolpert (1996; Zhang & Suganthan, equations 19 and 20).

    votes    rows x classes: number of classifiers, each trained on another training set, that predict the class
    labels   the class code of each row

    bias^2 = 1/2 sum_y (P(Y_F = y) - P(Y_H = y))^2 and variance = 1/2 (1 - sum_y P(Y_H = y)^2), averaged over the rows.
    P(Y_F) is 1 for the row's label: noise, which a single label per row cannot show, is counted as bias. (The paper
    prints Y_H in the noise term, where Kohavi and Wolpert have Y_F.) Raise ValueError if a row has no vote.
    """
    counts = np.asarray(votes, dtype=float)
    totals = counts.sum(axis=1, keepdims=True)
    if not (totals > 0).all():
        raise ValueError("every row needs at least one vote")
    predicted = counts / totals
    target = np.zeros_like(predicted)
    target[np.arange(len(labels)), labels] = 1
    bias = ((target - predicted) ** 2).sum(axis=1) / 2
    variance = (1 - (predicted**2).sum(axis=1)) / 2
    return BiasVariance(float(bias.mean()), float(variance.mean()))
