"""Tests of significance against what R prints, and the shares of errors they promise, by simulation."""

from math import sqrt

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from oblique_cli.evaluation import significance_tests as s

# ---- the examples of R's own help pages ------------------------------------------------------------------------------

# ?friedman.test: times of 22 players to round first base in three ways (Hollander & Wolfe 1973, p. 140 ff.).
ROUNDING_TIMES = np.array([
    [5.40, 5.50, 5.55], [5.85, 5.70, 5.75], [5.20, 5.60, 5.50], [5.55, 5.50, 5.40], [5.90, 5.85, 5.70],
    [5.45, 5.55, 5.60], [5.40, 5.40, 5.35], [5.45, 5.50, 5.35], [5.25, 5.15, 5.00], [5.85, 5.80, 5.70],
    [5.25, 5.20, 5.10], [5.65, 5.55, 5.45], [5.60, 5.35, 5.45], [5.05, 5.00, 4.95], [5.50, 5.50, 5.40],
    [5.45, 5.55, 5.50], [5.55, 5.55, 5.35], [5.45, 5.50, 5.55], [5.50, 5.45, 5.25], [5.65, 5.60, 5.40],
    [5.70, 5.65, 5.55], [6.30, 6.30, 6.25],
])  # fmt: skip


def test_friedman_of_r_with_its_correction_for_ties():
    n, k = ROUNDING_TIMES.shape
    ties = s.share_of_ties(ROUNDING_TIMES)
    found = s.friedman(s.average_ranks(ROUNDING_TIMES), n, ties)
    assert found.chi2 == pytest.approx(11.143, abs=5e-4)
    assert stats.chi2.sf(found.chi2, k - 1) == pytest.approx(0.003805, abs=5e-7)
    assert found.chi2 == pytest.approx(stats.friedmanchisquare(*ROUNDING_TIMES.T).statistic, rel=1e-10)
    plain = s.friedman(s.average_ranks(ROUNDING_TIMES), n)  # as the papers have it
    assert ties > 0 and plain.chi2 == pytest.approx((1 - ties) * found.chi2) and plain.p > found.p


def test_wilcoxon_of_r():
    # ?wilcox.test: a depression scale before and after a therapy (Hollander & Wolfe 1973, p. 29 f.).
    first = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
    second = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
    found = s.wilcoxon(first - second)
    assert found.plus == 40  # V
    assert found.p / 2 == pytest.approx(0.01953, abs=5e-6)  # its example is one-sided
    assert found.p == pytest.approx(stats.wilcoxon(first, second).pvalue, rel=1e-10)


def test_paired_t_of_r():
    # ?t.test: hours of sleep that two drugs add for ten patients (Student 1908).
    first = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
    second = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
    found = s.corrected_resampled_t(first - second, test_over_train=0.0)
    assert (found.t, found.df) == (pytest.approx(-4.0621, abs=5e-5), 9)
    assert found.p == pytest.approx(0.002833, abs=5e-7)
    assert found.p == pytest.approx(stats.ttest_rel(first, second).pvalue, rel=1e-10)


def test_rank_correlation_of_scipy():
    first, second = ROUNDING_TIMES[:, 0], ROUNDING_TIMES[:, 1]
    assert s.rank_correlation(first, second) == pytest.approx(stats.spearmanr(first, second).statistic, rel=1e-12)
    assert np.isnan(s.rank_correlation([1.0, 1.0], [1.0, 2.0]))


@pytest.mark.long
def test_critical_values_are_those_of_the_integral_of_the_range_and_of_the_printed_tables():
    def below(q, k):
        """The chance that k normal numbers lie within q."""
        density = lambda z: stats.norm.pdf(z) * (stats.norm.cdf(z) - stats.norm.cdf(z - q)) ** (k - 1)  # noqa: E731
        return k * integrate.quad(density, -9, q + 9, epsabs=1e-14, epsrel=1e-13, limit=500)[0]

    for k, printed in ((3, 2.343701), (10, 3.163684)):
        exact = optimize.brentq(lambda q, k=k: below(q, k) - 0.95, 1, 9, xtol=1e-14) / sqrt(2)
        assert s.nemenyi_q(k) == pytest.approx(exact, rel=1e-10)
        assert s.nemenyi_q(k) == pytest.approx(printed, abs=2e-6)  # qtukey of R, over the root of 2


# ---- what the tests promise, by simulation ---------------------------------------------------------------------------

DRAWS = 1000
# Three standard errors of a share of 5 % in so many draws.
SLACK = 3 * sqrt(0.05 * 0.95 / DRAWS)


def test_intervals_of_the_corrected_t_test_cover_the_truth():
    """Folds that correlate by n_test / (n_test + n_train): 95 % intervals hold the true mean 95 times in a hundred."""
    random = np.random.default_rng(1)
    folds, ratio, truth = 10, 1 / 9, 0.7
    rho = ratio / (1 + ratio)
    shared = sqrt(rho) * random.standard_normal((DRAWS, 1))
    samples = truth + shared + sqrt(1 - rho) * random.standard_normal((DRAWS, folds))
    held = 0
    for sample in samples:
        found = s.corrected_resampled_t(sample, ratio)
        held += abs(found.mean - truth) <= stats.t.isf(0.025, found.df) * found.scale
    assert held / DRAWS == pytest.approx(0.95, abs=SLACK)


def test_probabilities_of_the_correlated_t_test_are_calibrated():
    """The posterior probability that the first is better is uniform where both are equal."""
    random = np.random.default_rng(2)
    folds, ratio = 10, 1 / 9
    rho = ratio / (1 + ratio)
    samples = sqrt(rho) * random.standard_normal((DRAWS, 1)) + sqrt(1 - rho) * random.standard_normal((DRAWS, folds))
    first = [s.corrected_resampled_t(sample, ratio).probabilities(rope=0.0).first for sample in samples]
    assert stats.kstest(first, "uniform").pvalue > 0.001


@pytest.mark.long
def test_nemenyi_errs_at_most_once_in_twenty_where_all_are_equal():
    random = np.random.default_rng(3)
    n, k = 24, 4
    difference = s.critical_difference(k, n)
    wrong = sum(np.ptp(s.average_ranks(scores)) >= difference for scores in random.standard_normal((DRAWS, n, k)))
    assert wrong / DRAWS <= 0.05 + SLACK
    # The bound of the studentized range is close: a test that never rejects would pass the line above too.
    assert wrong / DRAWS >= 0.02
