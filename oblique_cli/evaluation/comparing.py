"""Comparison of two algorithms on each data set by the interval rules of the papers.

1-SD rule (Manwani and Sastry 2012; Wickramarachchi 2015, chapters 5 and 6): A beats B if
mean_A - sd_A >= mean_B + sd_B. The 2-SD rule (Wickramarachchi 2015, chapter 3) uses twice the SD. Touching intervals
count as separate, because two printed verdicts need it (GDT on Wine, HHCART(A) on BC). The TPRTI rule (Amalaman
2015, Table 2.6) requires the worse mean to lie outside the SD of the better mean: mean_A - sd_A >= mean_B. The metric
defines which mean is better: for leaves, the smaller.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf
from typing import Any

from oblique_cli.errors import ConfigError
from oblique_cli.evaluation.metrics import METRICS
from oblique_cli.evaluation.published import Published
from oblique_cli.evaluation.sheets import MISSING, Sheet, TextGrid
from oblique_cli.evaluation.tables import FOLD_COUNTS, Line, ResultTable, listed, shown, title_of
from oblique_cli.ground.registry import Registry, fault_of_type

FIRST, SECOND, TIE = "first", "second", "tie"

# Touching intervals of printed decimals must also touch in floating point: 95.8 + 0.6 and 97.1 - 0.7.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Rule:
    """Numbers of SDs that the intervals of the better and of the worse mean extend."""

    better: float
    other: float

    def __str__(self) -> str:
        a, b = ("" if times == 1 else f"{times:g} " for times in (self.better, self.other))
        return f"A beats B if mean A - {a}SD A >= mean B" + (f" + {b}SD B" if self.other else "")


def _fault(rule: Any) -> str | None:
    """Return the error of a rule as words that follow its name, or None."""
    if fault := fault_of_type(rule, Rule, "say Rule(better, other)"):
        return fault
    for name in ("better", "other"):
        times = getattr(rule, name)
        if isinstance(times, bool) or not isinstance(times, (int, float)) or not 0 <= times < inf:
            return f"has {name} {times!r}, which must be a number of SDs, 0 or more"
    return None


RULES: Registry[Rule] = Registry("comparison rule", fault=_fault)
RULES.register("1-SD")(Rule(1, 1))
RULES.register("2-SD")(Rule(2, 2))
RULES.register("TPRTI")(Rule(1, 0))


def verdict(
    mean_a: float | None,
    sd_a: float | None,
    mean_b: float | None,
    sd_b: float | None,
    *,
    rule: str = "1-SD",
    smaller_is_better: bool = False,
) -> str | None:
    """Return FIRST if A beats B, SECOND if B beats A, TIE if the intervals overlap, None if a number is missing.

    Examples: 97.2 ± 0.3 beats 96.3 ± 0.4 (96.9 >= 96.7). Equal means with SDs of 0 touch on both sides: a tie.
    """
    if mean_a is None or sd_a is None or mean_b is None or sd_b is None:
        return None
    gap = mean_b - mean_a if smaller_is_better else mean_a - mean_b
    of_better, of_other = (sd_a, sd_b) if gap > 0 else (sd_b, sd_a)
    reach = RULES[rule].better * of_better + RULES[rule].other * of_other - TOLERANCE
    if abs(gap) < reach or abs(gap) <= TOLERANCE:
        return TIE
    return FIRST if gap > 0 else SECOND


@dataclass(frozen=True)
class PrintedDuel:
    """Two algorithms on one data set: FIRST, SECOND, TIE or None by metric, for our and for published numbers."""

    first: Line
    second: Line
    verdicts: Mapping[str, str | None]
    published: Mapping[str, str | None]

    @property
    def lines(self) -> tuple[Line, Line]:
        return self.first, self.second


@dataclass(frozen=True)
class Pair:
    """Two algorithms, identified by their ids, on every data set of a table."""

    first: str
    second: str
    duels: tuple[PrintedDuel, ...]

    @property
    def labels(self) -> tuple[str, str]:
        return self.duels[0].first.label, self.duels[0].second.label

    def counts(self, metric: str, published: bool = False) -> dict[str, int]:
        """Return wins, ties and losses of `first` and undecided data sets, by our or by the published numbers."""
        seen = Counter((duel.published if published else duel.verdicts)[metric] for duel in self.duels)
        return {"wins": seen[FIRST], "ties": seen[TIE], "losses": seen[SECOND], "undecided": seen[None]}

    def agreement(self, metric: str) -> tuple[int, int]:
        """Return the numbers of data sets where our verdict equals the published one, and of those with both."""
        both = [(duel.verdicts[metric], duel.published[metric]) for duel in self.duels]
        both = [(ours, theirs) for ours, theirs in both if ours is not None and theirs is not None]
        return sum(ours == theirs for ours, theirs in both), len(both)


@dataclass(frozen=True)
class Comparison:
    """Pairs of algorithms in the order of the table. metrics : names of the compared metrics"""

    title: str
    rule: str
    pairs: tuple[Pair, ...]
    metrics: tuple[str, ...]
    has_published: bool
    notes: tuple[str, ...]

    def sheet(self) -> Sheet:
        """Return the sheet for `sheets.render`: one grid per pair, then wins, ties and losses of each pair."""
        rows = tuple(self._summary(pair, metric) for pair in self.pairs for metric in self.metrics)
        header = ("first", "second", "metric", "wins/ties/losses", "undecided")
        return Sheet(
            title=f"{self.title}, {self.rule} rule",
            grids=(
                *(self._grid(pair) for pair in self.pairs),
                TextGrid(
                    header=(*header, "published", "same verdict") if self.has_published else header,
                    rows=rows,
                    left=3,
                    caption="data sets that the first wins, ties and loses",
                ),
            ),
            notes=self.notes,
            records=tuple(self._record(duel) for pair in self.pairs for duel in pair.duels),
            facts={"rule": self.rule, "summary": [self._counts(pair) for pair in self.pairs]},
        )

    def _grid(self, pair: Pair) -> TextGrid:
        first, second = pair.labels
        header = ["data set"]
        for metric in self.metrics:
            title, best = title_of(metric), "better" if METRICS[metric].larger_is_better else "smaller"
            header += [f"{title} {first}", f"{title} {second}", best]
            if self.has_published:
                header.append("published")
        rows = []
        for duel in pair.duels:
            row = [duel.first.dataset]
            for metric in self.metrics:
                row += [shown(metric, line.value(metric), line.mark) for line in duel.lines]
                row.append(_winner(duel, duel.verdicts[metric]))
                if self.has_published:
                    row.append(_winner(duel, duel.published[metric]))
            rows.append(tuple(row))
        return TextGrid(header=tuple(header), rows=tuple(rows), left=1, caption=f"{first} against {second}")

    def _summary(self, pair: Pair, metric: str) -> tuple[str, ...]:
        def counted(counts: Mapping[str, int]) -> str:
            return f"{counts['wins']}/{counts['ties']}/{counts['losses']}"

        ours = pair.counts(metric)
        row = (*pair.labels, title_of(metric), counted(ours), str(ours["undecided"]))
        if not self.has_published:
            return row
        same, both = pair.agreement(metric)
        return (*row, counted(pair.counts(metric, published=True)), f"{same} of {both}")

    def _counts(self, pair: Pair) -> dict[str, Any]:
        record: dict[str, Any] = {"first": pair.first, "second": pair.second}
        for metric in self.metrics:
            record[metric] = pair.counts(metric)
            if self.has_published:
                same, both = pair.agreement(metric)
                record[f"published_{metric}"] = pair.counts(metric, published=True)
                record[f"same_verdict_{metric}"] = {"same": same, "of": both}
        return record

    def _record(self, duel: PrintedDuel) -> dict[str, Any]:
        lines = dict(zip((FIRST, SECOND), duel.lines, strict=True))
        record: dict[str, Any] = {"dataset": duel.first.dataset}
        record |= {place: line.algorithm for place, line in lines.items()}
        for place, line in lines.items():
            record |= {f"{place}_{count}": getattr(line, count) for count in FOLD_COUNTS}
        for metric in self.metrics:
            for place, line in lines.items():
                value = line.value(metric)
                record[f"{place}_{metric}_mean"] = value.mean
                record[f"{place}_{metric}_sd"] = value.sd
            record[f"{metric}_verdict"] = duel.verdicts[metric]
            if self.has_published:
                record[f"{metric}_published_verdict"] = duel.published[metric]
        return record


def compare(table: ResultTable, rule: str = "1-SD") -> Comparison:
    """Compare all pairs of algorithms of a table by its metrics. Raise ConfigError if there is nothing to compare."""
    RULES[rule]  # raises UnknownName before any computation
    ids = list(dict.fromkeys(line.algorithm for line in table.lines))
    if len(ids) < 2:
        raise ConfigError(f"compare: the table has one algorithm, {ids[0]}; give at least two.")
    metrics = tuple(name for name in table.metrics if name in METRICS and not METRICS[name].matrix)
    candidates = (Pair(a, b, tuple(_duels(table, rule, a, b, metrics))) for a, b in combinations(ids, 2))
    pairs = tuple(pair for pair in candidates if pair.duels)
    if not pairs:
        raise ConfigError("compare: no two algorithms have a data set in common.")
    return Comparison(
        title=table.title,
        rule=rule,
        pairs=pairs,
        metrics=metrics,
        has_published=bool(table.references),
        notes=(*_notes(rule, pairs, metrics), *table.notes),
    )


def _duels(table: ResultTable, rule: str, first: str, second: str, metrics: Sequence[str]) -> list[PrintedDuel]:
    lines = {(line.dataset, line.algorithm): line for line in table.lines}
    duels = []
    for dataset in dict.fromkeys(line.dataset for line in table.lines):
        a, b = lines.get((dataset, first)), lines.get((dataset, second))
        if a is None or b is None:  # possible in a table of several runs
            continue
        ours: dict[str, str | None] = {}
        theirs: dict[str, str | None] = {}
        for name in metrics:
            value, other, smaller = a.value(name), b.value(name), not METRICS[name].larger_is_better
            ours[name] = verdict(value.mean, value.sd, other.mean, other.sd, rule=rule, smaller_is_better=smaller)
            theirs[name] = published_verdict(value.published, other.published, rule=rule, smaller_is_better=smaller)
        duels.append(PrintedDuel(a, b, ours, theirs))
    return duels


def published_verdict(
    a: Published | None, b: Published | None, *, rule: str = "1-SD", smaller_is_better: bool = False
) -> str | None:
    """Return the verdict on two published numbers, None unless both are in the same table.

    An SD that is not printed counts as 0: the GDT paper omits SDs below 0.001, the thesis those of single trees.
    """
    if a is None or b is None or (a.source, a.table) != (b.source, b.table):
        return None
    return verdict(a.mean, a.sd or 0.0, b.mean, b.sd or 0.0, rule=rule, smaller_is_better=smaller_is_better)


def _winner(duel: PrintedDuel, outcome: str | None) -> str:
    return {FIRST: duel.first.label, SECOND: duel.second.label, TIE: "tie", None: MISSING}[outcome]


def _notes(rule: str, pairs: tuple[Pair, ...], metrics: Sequence[str]) -> list[str]:
    duels = [duel for pair in pairs for duel in pair.duels]
    smaller = [title_of(name) for name in metrics if not METRICS[name].larger_is_better]
    which = f" ({listed(smaller)}: the smaller wins)" if smaller else ""
    notes = [f"{rule} rule: {RULES[rule]}{which}; touching intervals count as apart."]
    if any(outcome is None for duel in duels for outcome in duel.verdicts.values()):
        notes.append(f"{MISSING} no verdict: an SD needs two complete repetitions of both algorithms.")
    without_sd = [
        duel.first.dataset
        for duel in duels
        for name, outcome in duel.published.items()
        if outcome is not None
        and any(number and number.sd is None for number in (line.value(name).published for line in duel.lines))
    ]
    if without_sd:
        notes.append(f"No SD is printed for {', '.join(dict.fromkeys(without_sd))}; it is read as 0.")
    return notes
