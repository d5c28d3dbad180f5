"""Report of `oblique significance`: results of every test on the methods of stored runs.

Positive differences favor the first method; the sign is reversed for metrics where less is better, such as leaves.
Over data sets, leaves, errors and times (`Metric.ratio`) are compared by the logarithm of their ratio, because a
difference of five leaves is large on Wine and negligible on Letter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import isinf, log
from typing import Any

import numpy as np

from oblique_cli.drawing.ranks import Ranks
from oblique_cli.errors import ConfigError
from oblique_cli.evaluation import comparing, significance_tests
from oblique_cli.evaluation.comparing import FIRST, SECOND, TIE
from oblique_cli.evaluation.metrics import METRICS, Metric
from oblique_cli.evaluation.paired import Paired, PairedScores
from oblique_cli.evaluation.sheets import MISSING, Sheet, TextGrid
from oblique_cli.evaluation.significance_tests import Friedman, Probabilities, SignTest, Wilcoxon
from oblique_cli.evaluation.tables import TableValue, listed, shown, title_of

# With fewer data sets no rank test can be significant: four that all agree have p = 0.125.
FEWEST_DATASETS = 5

AXIS = 36  # characters of a diagram on the terminal, which leave room for names in 80
MANY_PAIRS = 10  # more pairs than this, such as those of six methods, are shown as a matrix


@dataclass(frozen=True)
class Limits:
    """Level of every test, and region of practical equivalence: `rope` in points, for metrics without % in hundredths.

    rope_leaves   as a share, of metrics compared by their ratio, such as leaves
    """

    alpha: float = 0.05
    rope: float = 1.0
    rope_leaves: float = 0.1

    def within(self, metric: Metric) -> float:
        """Return the largest practically negligible difference over data sets, logarithms if `Metric.ratio`."""
        return log(1 + self.rope_leaves) if metric.ratio else self.rope * metric.point


KEYS = (
    "metric", "test", "dataset", "first", "second", "n", "statistic", "p", "p_holm",
    "probability_first", "probability_same", "probability_second", "winner",
)  # fmt: skip

Records = list[dict[str, Any]]


def _record(**known: Any) -> dict[str, Any]:
    """Return one test as plain data, with None for numbers that it does not have."""
    record = {**dict.fromkeys(KEYS), **known}
    # JSON has no infinity: the statistic of differences without spread is omitted, and p is 0.
    if record["statistic"] is not None and isinf(record["statistic"]):
        record["statistic"] = None
    return record


@dataclass(frozen=True)
class _Two:
    """Two methods with the posterior probabilities of a Bayesian test."""

    first: str
    second: str
    probabilities: Probabilities | None

    def name(self, outcome: str | None) -> str | None:
        return {FIRST: self.first, SECOND: self.second}.get(str(outcome), outcome)

    def _bayesian(self) -> dict[str, Any]:
        # Benavoli et al. decide at 0.95, independent of the level of the other tests.
        probabilities = self.probabilities or ()
        outcome = next((name for name, p in zip((FIRST, TIE, SECOND), probabilities, strict=True) if p > 0.95), None)
        named = zip(("probability_first", "probability_same", "probability_second"), probabilities, strict=True)
        return {**dict(named), "winner": self.name(outcome)}

    def _shares(self) -> tuple[str, ...]:
        return tuple(f"{p:.2f}" for p in self.probabilities) if self.probabilities else (MISSING,) * 3


@dataclass(frozen=True)
class MethodDuel(_Two):
    """Two methods on one data set. difference: first - second, as printed. t: None if folds cannot be paired."""

    dataset: str
    difference: float
    rules: dict[str, str | None]
    t: significance_tests.ResampledT | None

    def outcome(self, alpha: float) -> str | None:
        """Return the result of the t test, None without one."""
        return _significant(self.t.p, self.t.mean, alpha) if self.t else None

    def cells(self, label: Mapping[str | None, str], alpha: float) -> tuple[str, ...]:
        t = (f"{self.t.t:z.2f}", _p(self.t.p, alpha)) if self.t else (MISSING, MISSING)
        winners = (label[self.name(outcome)] for outcome in self.rules.values())
        names = (self.dataset, label[self.first], label[self.second])
        return (*names, f"{self.difference:+z.2f}", *winners, *t, *self._shares())

    def records(self, metric: str, alpha: float) -> Records:
        record = partial(_record, metric=metric, dataset=self.dataset, first=self.first, second=self.second)
        records = [
            record(test=rule, statistic=self.difference, winner=self.name(outcome))
            for rule, outcome in self.rules.items()
        ]
        if self.t:
            n, winner = self.t.df + 1, self.name(self.outcome(alpha))
            records += [
                record(test="corrected resampled t", n=n, statistic=self.t.t, p=self.t.p, winner=winner),
                record(test="Bayesian correlated t", n=n, **self._bayesian()),
            ]
        return records


@dataclass(frozen=True)
class Match(_Two):
    """Two methods over all data sets. p_holm is adjusted over all pairs."""

    sign: SignTest
    wilcoxon: Wilcoxon
    p_holm: float
    rank_difference: float
    p_nemenyi: float

    def outcome(self, alpha: float) -> str:
        """Return the result of the Wilcoxon test after Holm's correction."""
        return _significant(self.p_holm, self.wilcoxon.plus - self.wilcoxon.minus, alpha)

    def _sign_outcome(self) -> str:
        sign = self.sign
        return FIRST if sign.wins >= sign.needed > 0 else SECOND if sign.losses >= sign.needed > 0 else TIE

    def cells(self, label: Mapping[str | None, str], alpha: float) -> tuple[str, ...]:
        sign, ranks = self.sign, self.wilcoxon
        signs = (f"{sign.wins}/{sign.losses}", label[self.name(self._sign_outcome())])
        wilcoxon = (f"{ranks.plus:g}", f"{ranks.minus:g}", _p(ranks.p, alpha), _p(self.p_holm, alpha))
        nemenyi = (f"{self.rank_difference:+z.2f}", _p(self.p_nemenyi, alpha))
        return (label[self.first], label[self.second], *signs, *wilcoxon, *self._shares(), *nemenyi)

    def records(self, metric: str, n: int, alpha: float) -> Records:
        record = partial(_record, metric=metric, first=self.first, second=self.second)
        sign, ranks, p_holm = self.sign, self.wilcoxon, self.p_holm
        smaller, by_ranks = min(ranks.plus, ranks.minus), self.name(self.outcome(alpha))
        difference, p = self.rank_difference, self.p_nemenyi
        by_nemenyi = self.name(_significant(p, -difference, alpha))
        return [
            record(test="sign", n=sign.n, statistic=sign.wins, winner=self.name(self._sign_outcome())),
            record(test="Wilcoxon", n=ranks.n, statistic=smaller, p=ranks.p, p_holm=p_holm, winner=by_ranks),
            record(test="Bayesian signed rank", n=n, **self._bayesian()),
            record(test="Nemenyi", n=n, statistic=difference, p=p, winner=by_nemenyi),
        ]


@dataclass(frozen=True)
class Ranking:
    """Average ranks of the methods, the Friedman test, and the critical difference with its groups of methods."""

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    friedman: Friedman
    critical_difference: float
    groups: tuple[tuple[int, ...], ...]

    def records(self, metric: str) -> Records:
        friedman = self.friedman
        record = partial(_record, metric=metric, n=friedman.n)
        return [
            record(test="Friedman chi2", statistic=friedman.chi2),
            record(test="Iman-Davenport F", statistic=friedman.f, p=friedman.p),
            record(test="critical difference", statistic=self.critical_difference),
            *(
                record(test="average rank", first=method, statistic=rank)
                for method, rank in zip(self.methods, self.ranks, strict=True)
            ),
        ]


@dataclass(frozen=True)
class MetricVerdicts:
    """All tests on one metric of all methods on n_datasets; matches and ranking are empty for few data sets."""

    metric: str
    n_datasets: int
    duels: tuple[MethodDuel, ...]
    matches: tuple[Match, ...]
    ranking: Ranking | None

    @property
    def is_crowd(self) -> bool:
        """Return whether there are too many pairs for one line each."""
        return len({(duel.first, duel.second) for duel in self.duels}) > MANY_PAIRS

    def records(self, alpha: float) -> Records:
        records = [record for duel in self.duels for record in duel.records(self.metric, alpha)]
        if self.ranking:
            n = self.ranking.friedman.n
            records += [record for match in self.matches for record in match.records(self.metric, n, alpha)]
            records += self.ranking.records(self.metric)
        return records


@dataclass(frozen=True)
class SignificanceReport:
    """Report for `sheets.render`."""

    title: str
    limits: Limits
    paired: Paired
    metrics: tuple[MetricVerdicts, ...]

    def diagrams(self) -> list[tuple[Ranks, Friedman]]:
        """Return the critical-difference diagram of each metric with enough data sets, and its Friedman test."""
        if not any(verdicts.ranking for verdicts in self.metrics):
            n = max(verdicts.n_datasets for verdicts in self.metrics)
            raise ConfigError(f"a critical-difference diagram needs at least {FEWEST_DATASETS} data sets. Got {n}.")
        diagrams = []
        for verdicts in self.metrics:
            if (ranking := verdicts.ranking) is not None:
                title = f"{title_of(verdicts.metric)}: average ranks over {ranking.friedman.n} data sets"
                names = [self.paired.methods[method] for method in ranking.methods]
                methods = list(zip(names, ranking.ranks, strict=True))
                ranks = Ranks(title, methods, ranking.groups, ranking.critical_difference)
                diagrams.append((ranks, ranking.friedman))
        return diagrams

    def sheet(self) -> Sheet:
        """Return grids for people, and for programs one record per test with the same keys throughout."""
        return Sheet(
            title=f"{self.title}: significance at {self.limits.alpha:g}",
            grids=tuple(grid for verdicts in self.metrics for grid in self._grids(verdicts)),
            notes=(*self._notes(), *self.paired.notes),
            records=tuple(record for verdicts in self.metrics for record in verdicts.records(self.limits.alpha)),
            facts={"alpha": self.limits.alpha, "rope": self.limits.rope, "rope_leaves": self.limits.rope_leaves},
        )

    def _grids(self, verdicts: MetricVerdicts) -> list[TextGrid]:
        alpha, title = self.limits.alpha, title_of(verdicts.metric)
        label: dict[Any, str] = {"tie": "tie", None: MISSING, **self.paired.methods}
        bayes = ("P(first)", "P(same)", "P(second)")
        diagrams = [self._diagram(verdicts.metric, verdicts.ranking)] if verdicts.ranking else []
        if verdicts.is_crowd:
            return [*self._matrices(verdicts), *diagrams]
        header = ("data set", "first", "second", "difference", "1-SD", "2-SD", "t", "p", *bayes)
        duels = tuple(duel.cells(label, alpha) for duel in verdicts.duels)
        grids = [TextGrid(header, duels, left=3, caption=f"{title}, data set by data set")]
        if verdicts.matches:
            wilcoxon = ("wins/losses", "sign", "R+", "R-", "p", "p (Holm)")
            columns = ("first", "second", *wilcoxon, *bayes, "rank diff", "p (Nemenyi)")
            matches = tuple(match.cells(label, alpha) for match in verdicts.matches)
            grids.append(TextGrid(columns, matches, left=2, caption=f"{title}, over {verdicts.n_datasets} data sets"))
        return [*grids, *diagrams]

    def _matrices(self, verdicts: MetricVerdicts) -> list[TextGrid]:
        """Return the pairs as matrices with a row per method and numbered columns."""
        alpha, title = self.limits.alpha, title_of(verdicts.metric)
        grids = []
        for scores in self.paired.scores:
            methods = [method for method in self.paired.methods if method in scores.means[verdicts.metric]]
            cells: dict[tuple[str, str], str] = {}
            for duel in verdicts.duels:
                if duel.dataset == scores.dataset:
                    outcome = duel.outcome(alpha)
                    cells[duel.first, duel.second] = {FIRST: "+", SECOND: "-", TIE: "=", None: MISSING}[outcome]
                    cells[duel.second, duel.first] = {FIRST: "-", SECOND: "+", TIE: "=", None: MISSING}[outcome]
            means = scores.means[verdicts.metric]
            values = [shown(verdicts.metric, TableValue(means[method], None)) for method in methods]
            grids.append(self._matrix(f"{title}, {scores.dataset}", title, methods, values, cells))
        if verdicts.ranking:
            cells = {}
            for m in verdicts.matches:
                outcome = m.outcome(alpha)
                cells[m.first, m.second] = f"{m.sign.wins}{'*' if outcome == FIRST else ''}"
                cells[m.second, m.first] = f"{m.sign.losses}{'*' if outcome == SECOND else ''}"
            ranks = [f"{rank:.2f}" for rank in verdicts.ranking.ranks]
            caption = f"{title}, over {verdicts.n_datasets} data sets"
            grids.append(self._matrix(caption, "rank", verdicts.ranking.methods, ranks, cells))
        return grids

    def _matrix(
        self, caption: str, heading: str, methods: Sequence[str], values: Sequence[str], cells: Mapping[Any, str]
    ) -> TextGrid:
        digits = len(str(len(methods)))
        rows = tuple(
            (f"{i:{digits}} {self.paired.methods[a]}", values[i - 1], *("" if a == b else cells[a, b] for b in methods))
            for i, a in enumerate(methods, 1)
        )
        header = ("method", heading, *(str(i) for i in range(1, len(methods) + 1)))
        return TextGrid(header, rows, left=1, caption=caption)

    def _diagram(self, metric: str, ranking: Ranking) -> TextGrid:
        friedman, k = ranking.friedman, len(ranking.ranks)
        order = sorted(range(k), key=lambda i: ranking.ranks[i])
        rows = tuple(
            (
                self.paired.methods[ranking.methods[i]],
                " ".join(chr(ord("a") + g) for g, group in enumerate(ranking.groups) if i in group) or MISSING,
                _axis(ranking.ranks[i], ranking.critical_difference, k),
                f"{ranking.ranks[i]:.2f}",
            )
            for i in order
        )
        ends = f"1 {'·' * (AXIS - 4)} {k}"
        caption = (
            f"{title_of(metric)}, critical difference {ranking.critical_difference:.2f} (Nemenyi): Friedman chi2 "
            f"{friedman.chi2:.2f}, Iman-Davenport F {friedman.f:.2f} with {k - 1} and {(k - 1) * (friedman.n - 1)} "
            f"degrees of freedom, p {_p(friedman.p, self.limits.alpha)}"
        )
        return TextGrid(("method", "groups", ends, "average rank"), rows, left=3, caption=caption)

    def _notes(self) -> list[str]:
        limits = self.limits
        ratios = [title_of(verdicts.metric) for verdicts in self.metrics if METRICS[verdicts.metric].ratio]
        points = [title_of(verdicts.metric) for verdicts in self.metrics if not METRICS[verdicts.metric].ratio]
        same = [f"{limits.rope:g} points of {listed(points)}"] if points else []
        same += [f"{limits.rope_leaves:.0%} of the {listed(ratios)}"] if ratios else []
        names = [verdicts.metric for verdicts in self.metrics]
        signs = [f"{'positive' if METRICS[n].larger_is_better else 'negative'} {title_of(n)}" for n in names]
        notes = [
            "1-SD, 2-SD: the rules of the papers on means and SDs over repetitions. t, p: corrected resampled t test "
            "(Nadeau and Bengio 2003) over all folds, not adjusted for the number of pairs and data sets.",
            f"P: posterior probabilities that the first is better, that both are practically the same (within "
            f"{', '.join(same)}), that the second is (Benavoli et al. 2017).",
            f"* p below {limits.alpha:g}. First - second: {', '.join(signs)} and negative ranks speak for the first.",
        ]
        n = min(verdicts.n_datasets for verdicts in self.metrics)
        if n < FEWEST_DATASETS:
            notes.append(
                f"Tests over data sets need at least {FEWEST_DATASETS}, here {'is' if n == 1 else 'are'} {n}: with so "
                f"few, the Wilcoxon test has no power (its smallest p is {min(1.0, 2 / 2**n):g})."
            )
        elif 2 / 2**n >= limits.alpha:
            notes.append(f"The Wilcoxon test over {n} data sets cannot have p below {2 / 2**n:g}: it has no power.")
        if any(verdicts.ranking for verdicts in self.metrics):
            notes.append(
                "Sign: at least N/2 + 1.96 sqrt(N)/2 wins, ties split. Wilcoxon: exact p. Methods with a letter in "
                "common are not told apart by Nemenyi's test: in the diagram, those under the bar that begins at the "
                "better one's average rank (●)."
            )
        if any(verdicts.is_crowd for verdicts in self.metrics):
            notes.append(
                f"Matrices, of more than {MANY_PAIRS} pairs: by the corrected resampled t test the method of a row "
                "is better (+) or worse (-) than that of a column, or not told apart (=). Over data sets: average "
                f"rank, and how many the row wins, ties split, with * where p (Holm) is below {self.limits.alpha:g} in "
                "its favor. --format csv has every test of every pair."
            )
        without_t = [duel.dataset for verdicts in self.metrics for duel in verdicts.duels if duel.t is None]
        fixed = [s.dataset for s in self.paired.scores if s.test_over_train is None and s.dataset in without_t]
        if fixed:
            notes.append(
                f"{', '.join(fixed)}: training and test sets are fixed; repetitions are no resampling, so there is no "
                "t test."
            )
        return notes


def judge(
    paired: Paired, title: str, limits: Limits | None = None, metrics: tuple[str, ...] | None = None
) -> SignificanceReport:
    """Run every test on every pair of methods with a metric, for each of `metrics` (all of `paired` if None)."""
    limits = limits or Limits()
    metrics = metrics or paired.metrics
    return SignificanceReport(title, limits, paired, tuple(_judge(paired, metric, limits) for metric in metrics))


def _judge(paired: Paired, metric: str, limits: Limits) -> MetricVerdicts:
    duels = tuple(
        _duel(scores, a, b, metric, limits)
        for scores in paired.scores
        for a, b in combinations([method for method in paired.methods if method in scores.means[metric]], 2)
    )
    methods, whole = paired.whole(metric)
    if len(methods) < 2 or len(whole) < FEWEST_DATASETS:
        return MetricVerdicts(metric, len(whole), duels, (), None)
    means = np.array([[scores.means[metric][method] for method in methods] for scores in whole])
    about = METRICS[metric]
    compared = np.log(means) if about.ratio else means
    larger_is_better = compared if about.larger_is_better else -compared
    rope = limits.within(about)
    ranks = [float(rank) for rank in significance_tests.average_ranks(larger_is_better)]
    n, k = means.shape
    pairs = list(combinations(range(k), 2))
    differences = [larger_is_better[:, a] - larger_is_better[:, b] for a, b in pairs]
    tests = [significance_tests.wilcoxon(d) for d in differences]
    adjusted = significance_tests.holm([test.p for test in tests])
    matches = []
    for (a, b), d, test, p_holm in zip(pairs, differences, tests, adjusted, strict=True):
        bayes, sign = significance_tests.bayesian_signed_rank(d, rope), significance_tests.sign_test(d)
        p = significance_tests.nemenyi_p(ranks[a] - ranks[b], k, n)
        matches.append(Match(methods[a], methods[b], bayes, sign, test, p_holm, ranks[a] - ranks[b], p))
    critical = significance_tests.critical_difference(k, n, limits.alpha)
    groups = tuple(significance_tests.cliques(ranks, critical))
    friedman = significance_tests.friedman(ranks, n, significance_tests.share_of_ties(larger_is_better))
    ranking = Ranking(methods, tuple(ranks), friedman, critical, groups)
    return MetricVerdicts(metric, n, duels, tuple(matches), ranking)


def _duel(scores: PairedScores, a: str, b: str, metric: str, limits: Limits) -> MethodDuel:
    about = METRICS[metric]
    smaller = not about.larger_is_better
    means = scores.means[metric]
    repetitions = [scores.repetitions[metric][method] for method in (a, b)]
    sds = [float(values.std(ddof=1)) if len(values) > 1 else None for values in repetitions]
    of = (means[a], sds[0], means[b], sds[1])
    rules = {rule: comparing.verdict(*of, rule=rule, smaller_is_better=smaller) for rule in ("1-SD", "2-SD")}
    t = None
    if scores.folds and scores.test_over_train is not None and len(scores.folds[metric][a]) > 1:
        d = scores.folds[metric][a] - scores.folds[metric][b]
        t = significance_tests.corrected_resampled_t(-d if smaller else d, scores.test_over_train)
    rope = limits.rope_leaves * (means[a] + means[b]) / 2 if about.ratio else limits.within(about)
    return MethodDuel(a, b, t.probabilities(rope) if t else None, scores.dataset, means[a] - means[b], rules, t)


def _significant(p: float, direction: float, alpha: float) -> str:
    return TIE if p >= alpha else FIRST if direction > 0 else SECOND


# ---- cells -----------------------------------------------------------------------------------------------------------


def _p(p: float, alpha: float) -> str:
    text = "<0.001" if p < 0.001 else f"{p:.3f}"
    return f"{text}*" if p < alpha else text


def _axis(rank: float, reach: float, k: int) -> str:
    """Return a rank as a dot on an axis from 1 to k, with a bar of the critical difference to its right."""
    place = round((rank - 1) / (k - 1) * (AXIS - 1))
    bar = round(reach / (k - 1) * (AXIS - 1))
    return ("·" * place + "●" + "━" * bar)[:AXIS].ljust(AXIS, "·")
