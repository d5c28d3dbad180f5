"""The field's comparison: our trees and ensembles beside those of other libraries, on the classification sets.

The data sets are divided once into development sets, on which defaults were chosen, and confirmation sets, on which
nothing was. Every table has both. A method that failed on a data set is ranked last there, and means are over the sets
that all methods finished, so that no failure improves a mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np

from oblique_cli import config
from oblique_cli.data import catalogue
from oblique_cli.errors import ConfigError
from oblique_cli.evaluation import significance
from oblique_cli.evaluation.metrics import METRICS
from oblique_cli.evaluation.tables import MISSING, Line, title_of
from oblique_cli.reproduction.framework.runs import Outcome, outcome, total
from oblique_cli.reproduction.framework.studies import STUDIES, ExtraTable, Study, StudyRequest, StudyResult
from oblique_cli.seeds import generator

RUNS = ("field", "field_beyond")
SEED = 20260401  # of the division
# Defaults of what goes beyond the papers were chosen on these before the division was made.
CHOSEN_ON = frozenset({"iris", "glass", "vehicle", "pima", "bupa", "ionosphere"})
# The same rows as another set, or a part of them.
DERIVED = frozenset({"boston_housing_3class", "boston_housing_binary", "house_votes_complete", "magic", "pima_532"})
SHOWN = (
    "accuracy", "balanced_accuracy", "log_loss", "roc_auc", "leaves", "non_zero", "mean_path", "fit", "predict",
)  # fmt: skip
REFERENCE = "tao"  # the method that Bayesian tests hold against every other one
ROPE = 1.0  # points of accuracy that are practically none
DEVELOPMENT, CONFIRMATION = "development", "confirmation"


def division() -> dict[str, str]:
    """Return the part, development or confirmation, of every classification set of the catalogue.

    Sets are put in order of the number of classes (two or more) and of rows; of each two neighbors one is drawn for
    development. A set of CHOSEN_ON is always there, so its neighbor goes to the other part; for two of them the next
    two go there.
    """
    entries = [catalogue.entry(name) for name in catalogue.names()]
    entries = [e for e in entries if e.task == "classification" and not e.generated and e.name not in DERIVED]
    names = [e.name for e in sorted(entries, key=lambda e: (len(e.classes) > 2, e.n, e.name))]
    parts: dict[str, str] = {}
    owed = 0  # sets that confirmation has too few
    for at in range(0, len(names), 2):
        pair = names[at : at + 2]
        drawn = [name for name in pair if name in CHOSEN_ON]
        if len(drawn) == len(pair):
            owed += 1
        elif not drawn and owed:
            owed -= 1
        elif not drawn:
            drawn = [pair[int(generator(SEED, "division", *pair).integers(len(pair)))]]
        parts |= {name: DEVELOPMENT if name in drawn else CONFIRMATION for name in pair}
    return parts


@dataclass(frozen=True, eq=False)
class Scores:
    """Numbers of all methods of several runs, by metric, data set and method; NaN where a method has none."""

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    values: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, runs: Sequence[Outcome]) -> Scores:
        """Put runs beside each other. ConfigError if two have a method of one name, or divide data differently."""
        lines: dict[tuple[str, str], Line] = {}
        for run in runs:
            if (run.experiment.cv, run.experiment.seed) != (runs[0].experiment.cv, runs[0].experiment.seed):
                raise ConfigError(f"the runs of the field divide their data differently: {run.experiment.name}.")
            for line in run.table.lines:
                if (line.dataset, line.algorithm) in lines:
                    raise ConfigError(
                        f"two runs of the field have an algorithm {line.algorithm!r}; give it another id."
                    )
                lines[line.dataset, line.algorithm] = line
        methods = tuple(dict.fromkeys(method for _, method in lines))
        datasets = tuple(dict.fromkeys(dataset for dataset, _ in lines))
        values = {
            metric: np.array([[_mean(lines.get((d, m)), metric) for m in methods] for d in datasets])
            for metric in SHOWN
        }
        return cls(methods, datasets, values)

    def part(self, names: Sequence[str]) -> Scores:
        """Return what there is of some data sets."""
        kept = [i for i, name in enumerate(self.datasets) if name in names]
        values = {metric: found[kept] for metric, found in self.values.items()}
        return Scores(self.methods, tuple(self.datasets[i] for i in kept), values)

    def ranked(self, metric: str) -> np.ndarray:
        """Values that are larger for better, those that are missing below all others."""
        found = self.values[metric] if METRICS[metric].larger_is_better else -self.values[metric]
        # Rounded, so that equal counts summed in another order are ties.
        return np.where(np.isnan(found), -np.inf, np.round(found, 9))

    def means(self, metric: str) -> list[float]:
        """Mean of each method over the data sets that all methods with this metric finished; NaN if it has none.

        Leaves, coefficients and times are geometric means: a mean of them would be that of the largest set.
        """
        found = self.values[metric]
        has = ~np.isnan(found).all(axis=0)
        whole = ~np.isnan(self.values["accuracy"]).any(axis=1) & ~np.isnan(found[:, has]).any(axis=1)
        if not whole.any():
            return [nan] * len(self.methods)
        rows = found[whole]
        if METRICS[metric].ratio:
            # A tree that is one leaf has no coefficients and no path.
            least = 0.0 if rows.min() > 0 else 1.0
            return [float(np.exp(np.log(column + least).mean()) - least) for column in rows.T]
        return [float(column.mean()) for column in rows.T]


def _mean(line: Line | None, metric: str) -> float:
    if line is None or line.repeats < line.repeats_expected:
        return nan
    value = line.value(metric).mean
    # Models that are no trees say 0 leaves.
    return nan if value is None or (metric == "leaves" and value == 0) else value


@STUDIES.register("field")
class Field(Study):
    """Accuracies, sizes and times of the field, on development and on confirmation sets."""

    name = "field"
    title = "The field: our trees and ensembles beside those of other libraries"
    tables = ()
    in_all = False

    def ids(self) -> Sequence[str]:
        """Return the ids of all methods, those of other libraries among them."""
        return [spec.id for name in RUNS for spec in config.load(name).algorithms]

    def run(self, request: StudyRequest) -> StudyResult:
        """Run the comparisons that the library has configurations for, and put them beside each other."""
        runs = [outcome(request, name) for name in RUNS]
        found = [run for run in runs if run is not None]
        cost, code = total(runs)
        tables = field_tables(found) if found else ()
        return StudyResult((), tables, cost, code)


def field_tables(runs: Sequence[Outcome]) -> tuple[ExtraTable, ...]:
    """Return all tables of runs: means, ranks, Pareto fronts, Bayesian tests, and accuracies data set by data set."""
    scores, parts = Scores.of(runs), division()
    named = {
        part: scores.part([name for name in scores.datasets if parts.get(name) == part])
        for part in (CONFIRMATION, DEVELOPMENT)
    }
    tables = []
    for part, found in named.items():
        if found.datasets:
            tables += [_mean_table(part, found), *_rank_tables(part, found), *_bayesian(part, found)]
    return (*tables, _accuracies(scores, parts))


def _mean_table(part: str, scores: Scores) -> ExtraTable:
    """Means of every metric; a star marks the front of accuracy and leaves."""
    means = {metric: scores.means(metric) for metric in SHOWN}
    failed = np.isnan(scores.values["accuracy"]).sum(axis=0)
    front = pareto(means["accuracy"], means["leaves"])
    order = sorted(range(len(scores.methods)), key=lambda m: (-means["accuracy"][m], scores.methods[m]))
    rows = tuple(
        (
            scores.methods[m] + " *" * (m in front),
            *(_shown(metric, means[metric][m]) for metric in SHOWN),
            str(failed[m]),
        )
        for m in order
    )
    whole = int((~np.isnan(scores.values["accuracy"])).all(axis=1).sum())
    caption = (
        f"Means over the {whole} of {len(scores.datasets)} {part} sets that all methods finished; sizes and times are "
        "geometric means; * no other method is both more accurate and smaller"
    )
    header = ("method", *(title_of(metric) for metric in SHOWN), "sets without a result")
    return ExtraTable(f"{part}_means", caption, header, rows)


def pareto(accuracies: Sequence[float], leaves: Sequence[float]) -> set[int]:
    """Return the methods that no other one beats in accuracy and leaves, as good in one and better in the other."""
    known = [m for m in range(len(accuracies)) if isfinite(accuracies[m]) and isfinite(leaves[m])]

    def beats(a: int, b: int) -> bool:
        return (
            accuracies[a] >= accuracies[b]
            and leaves[a] <= leaves[b]
            and (accuracies[a] > accuracies[b] or leaves[a] < leaves[b])
        )

    return {m for m in known if not any(beats(other, m) for other in known)}


def _rank_tables(part: str, scores: Scores) -> list[ExtraTable]:
    """Average ranks by accuracy, with the groups that Nemenyi's test does not tell apart."""
    n, k = len(scores.datasets), len(scores.methods)
    if n < 2 or k < 2:
        return []
    by = {metric: significance.average_ranks(scores.ranked(metric)) for metric in ("accuracy", "log_loss", "leaves")}
    ranks = [float(rank) for rank in by["accuracy"]]
    critical = significance.critical_difference(k, n)
    groups = significance.cliques(ranks, critical)
    test = significance.friedman(ranks, n)
    rows = tuple(
        (
            scores.methods[m],
            f"{ranks[m]:.2f}",
            " ".join(chr(ord("a") + g) for g, group in enumerate(groups) if m in group) or MISSING,
            *(f"{by[metric][m]:.2f}" for metric in ("log_loss", "leaves")),
        )
        for m in sorted(range(k), key=lambda m: (ranks[m], scores.methods[m]))
    )
    caption = (
        f"Average ranks over {n} {part} sets, 1 the best. By accuracy: Friedman F {test.f:.2f}, p {test.p:.2g}; "
        f"critical difference {critical:.2f} (Nemenyi, 0.05), methods with a letter in common are not told apart"
    )
    return [ExtraTable(f"{part}_ranks", caption, ("method", "accuracy", "groups", "log loss", "leaves"), rows)]


def _bayesian(part: str, scores: Scores) -> list[ExtraTable]:
    """The reference against every other method: wins, and the posterior of the Bayesian signed rank test."""
    if REFERENCE not in scores.methods or len(scores.datasets) < 2:
        return []
    accuracy = scores.values["accuracy"]
    first = accuracy[:, scores.methods.index(REFERENCE)]
    rows = []
    for m, method in enumerate(scores.methods):
        both = ~np.isnan(first) & ~np.isnan(accuracy[:, m])
        if method == REFERENCE or both.sum() < 2:
            continue
        d = np.round(first[both] - accuracy[both, m], 9)
        sign, ranks = significance.sign_test(d.tolist()), significance.wilcoxon(d.tolist())
        found = significance.bayesian_signed_rank(d.tolist(), ROPE)
        rows.append(
            (
                method, f"{d.mean():+.2f}", f"{sign.wins}/{sign.losses}", f"{ranks.p:.3f}",
                *(f"{p:.2f}" for p in found), str(int(both.sum())),
            )
        )  # fmt: skip
    caption = (
        f"{REFERENCE} against every other method on {part} sets, accuracy; posterior that it is better, that both are "
        f"within {ROPE:g} point, that the other is better (Benavoli et al. 2017)"
    )
    header = ("method", "difference", "wins/losses", "Wilcoxon p", "P(better)", "P(same)", "P(worse)", "sets")
    return [ExtraTable(f"{part}_{REFERENCE}", caption, header, tuple(rows))]


def _accuracies(scores: Scores, parts: Mapping[str, str]) -> ExtraTable:
    rows = []
    for name, found in zip(scores.datasets, scores.values["accuracy"], strict=True):
        rows.append((name, parts.get(name, ""), *(_shown("accuracy", value) for value in found)))
    header = ("data set", "part", *scores.methods)
    return ExtraTable("accuracies", "Accuracy in percent", header, tuple(rows), left=2)


def _shown(metric: str, value: float) -> str:
    if not isfinite(value):
        return MISSING
    if metric in ("fit", "predict"):
        return f"{value:.2g}"
    return f"{value:.3f}" if metric in ("log_loss", "roc_auc") else f"{value:.1f}"
