"""The field's comparison: our trees and ensembles beside those of other libraries, on the sets of the catalogue.

The classification sets are divided once into development sets, used for the choice of defaults, and confirmation sets,
used for no choice. Every table has both. The regression sets are too few to divide. A method that failed on a data set
is ranked last there, and means are over the sets that all methods finished, so that no failure improves a mean. Sets
that only some methods finished are listed and appear only in the table of accuracies; missing sets are listed too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite, nan

import numpy as np

from oblique_cli import config
from oblique_cli.data import catalogue, files
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.evaluation import significance_tests
from oblique_cli.evaluation.metrics import METRICS
from oblique_cli.evaluation.sheets import MISSING
from oblique_cli.evaluation.tables import Line, task_of_experiment, title_of
from oblique_cli.ground.nouns import AlgorithmSpec
from oblique_cli.ground.seeds import generator
from oblique_cli.papers.reproduction.framework.runs import Outcome, is_quick, outcome, result_of
from oblique_cli.papers.reproduction.framework.studies import STUDIES, ExtraTable, Study, StudyRequest, StudyResult

RUNS = ("field", "field_beyond", "field_more", "field_more_beyond")
TUNED_RUNS = ("field_tuned",)
REGRESSION_RUNS = ("field_regression",)
SEED = 20260401  # of the division
# Our defaults beyond the papers were chosen on these sets before the division.
CHOSEN_ON = frozenset({"iris", "glass", "vehicle", "pima", "bupa", "ionosphere"})
# Sets with the same rows as another set, or a part of them.
DERIVED = frozenset({"boston_housing_3class", "boston_housing_binary", "house_votes_complete", "magic", "pima_532"})
LOSS, SIZE = METRICS["log_loss"], METRICS["leaves"]  # metrics of ranks beside accuracy or RMSE
REFERENCES = ("tao", "tao_logistic")  # the methods that are tested against every other one
ROPE = 1.0  # region of practical equivalence, in points of accuracy
DEVELOPMENT, CONFIRMATION = "development", "confirmation"


def division() -> dict[str, str]:
    """Return the part, development or confirmation, of every classification set of the catalogue. Sets are put in order
    of the number of classes (two or more) and of rows; of each two neighbors one is drawn for development. A set of
    CHOSEN_ON is always a development set, so its neighbor is for confirmation; for two of them the next two are."""
    entries = [catalogue.entry(name) for name in catalogue.names()]
    entries = [e for e in entries if e.task == "classification" and not e.generated and e.name not in DERIVED]
    names = [e.name for e in sorted(entries, key=lambda e: (len(e.classes) > 2, e.n, e.name))]
    parts: dict[str, str] = {}
    owed = 0  # number of sets missing from confirmation
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
    """Numbers of all methods of several runs, by metric, data set and method; NaN if absent.

    values      the metrics that the configuration of the first run lists, in its order
    main        the metric that every method has on every set that it finished
    left_out    data sets of only some methods, without numbers here
    partly      data set that is left out -> available values of the main metric, by method
    """

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    values: Mapping[str, np.ndarray]
    main: str = "accuracy"
    left_out: tuple[str, ...] = ()
    partly: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, runs: Sequence[Outcome]) -> Scores:
        """Combine runs of other methods on the same sets, or of the same methods on other sets. ConfigError if two runs
        differ in task, division, or a method of one name, or have no data set in common."""
        first = runs[0].experiment
        task = task_of_experiment(first)
        lines: dict[tuple[str, str], Line] = {}
        specs: dict[str, AlgorithmSpec] = {}
        for run in runs:
            experiment = run.experiment
            if (experiment.cv, experiment.seed) != (first.cv, first.seed):
                raise ConfigError(f"the runs of the field divide their data differently: {experiment.name}.")
            if task_of_experiment(experiment) != task:
                raise ConfigError(
                    f"classification and regression have tables of their own; take {experiment.name} by itself."
                )
            for spec in experiment.algorithms:
                if specs.setdefault(spec.id, spec) != spec:
                    raise ConfigError(
                        f"two runs of the field mean different things by {spec.id!r}; give one of them another id."
                    )
            for line in run.table.lines:
                if line.folds_ok + line.folds_failed < line.folds_expected:
                    continue  # not run, or not completed
                if (line.dataset, line.algorithm) in lines:
                    raise ConfigError(
                        f"two runs of the field have an algorithm {line.algorithm!r} on {line.dataset}; give it "
                        "another id."
                    )
                lines[line.dataset, line.algorithm] = line
        methods = tuple(dict.fromkeys(method for _, method in lines))
        every = tuple(dict.fromkeys(dataset for dataset, _ in lines))
        datasets = tuple(d for d in every if all((d, m) in lines for m in methods))
        if not datasets:
            raise ConfigError("the runs of the field have no data set in common, and their methods differ.")
        values = {
            metric: np.array([[_mean(lines[d, m], metric) for m in methods] for d in datasets])
            for metric in first.metrics
        }
        main = "rmse" if task == "regression" else "accuracy"
        partly = {
            d: {m: _mean(lines[d, m], main) for m in methods if (d, m) in lines} for d in every if d not in datasets
        }
        return cls(methods, datasets, values, main, tuple(partly), partly)

    def part(self, names: Sequence[str]) -> Scores:
        """Return the available numbers of some data sets."""
        selected = [i for i, name in enumerate(self.datasets) if name in names]
        values = {metric: table[selected] for metric, table in self.values.items()}
        names = tuple(self.datasets[i] for i in selected)
        return replace(self, datasets=names, values=values)

    @property
    def failed(self) -> np.ndarray:
        """Whether each method lacks a result on each data set (data sets x methods)."""
        return np.asarray(np.isnan(self.values[self.main]))

    def ranked(self, metric: str) -> np.ndarray:
        """Return values of which larger is better, with missing ones below all others."""
        scores = self.values[metric] if METRICS[metric].larger_is_better else -self.values[metric]
        # Rounded, so that equal counts summed in different orders are ties.
        return np.where(np.isnan(scores), -np.inf, np.round(scores, 9))

    def means(self, metric: str) -> list[float]:
        """Return each method's mean over the data sets that all methods with this metric finished; NaN without one.
        Leaves, coefficients and times are geometric means: a mean of them would be that of the largest set."""
        scores = self.values[metric]
        has = ~np.isnan(scores).all(axis=0)
        whole = ~self.failed.any(axis=1) & ~np.isnan(scores[:, has]).any(axis=1)
        if not whole.any() or not has.any():
            return [nan] * len(self.methods)
        rows = scores[whole]
        if METRICS[metric].ratio:
            # A single-leaf tree has no coefficients and no path.
            least = 0.0 if np.nanmin(rows) > 0 else 1.0
            return [float(np.exp(np.log(column + least).mean()) - least) for column in rows.T]
        return [float(column.mean()) for column in rows.T]

    def relative(self) -> np.ndarray:
        """Return the main metric, an error, relative to the best method on each data set; NaN if that is 0."""
        best = np.min(self.values[self.main], axis=1, initial=np.inf, where=~self.failed)[:, None]
        known = (best > 0) & ~self.failed
        return np.asarray(np.divide(self.values[self.main], best, out=np.full(self.failed.shape, nan), where=known))


def _mean(line: Line, metric: str) -> float:
    if line.repeats < line.repeats_expected:
        return nan
    value = line.value(metric).mean
    return nan if value is None else value


def compare(runs: Sequence[str], overrides: Sequence[str], request: StudyRequest) -> StudyResult:
    """Run bundled configurations on the available data sets, and compare them. overrides : changes of all of them"""
    named = {name: [spec.name for spec in config.load(name).datasets] for name in runs}
    absent = _absent(request, list(dict.fromkeys(name for names in named.values() for name in names)))
    outcomes = [
        outcome(request, name, *overrides, datasets=[each for each in names if each not in absent])
        for name, names in named.items()
    ]
    finished = [run for run in outcomes if run.rows]
    return result_of(outcomes, tables=field_tables(finished, absent) if finished else ())


def _methods(runs: Sequence[str]) -> Sequence[str]:
    """Return the ids of all methods, including those of other libraries."""
    return list(dict.fromkeys(spec.id for name in runs for spec in config.load(name).algorithms))


TEN_BY_FIVE = ("cv.repeats=10", "cv.folds=5")  # training sets of four fifths, ten times
for _name, _title, _runs, _overrides in (
    ("field", "The field: our trees and ensembles beside those of other libraries", RUNS, ()),
    ("field_10x5", "The field with ten repetitions of five folds", RUNS, TEN_BY_FIVE),
    ("field_tuned", "The field with equal budgets for tuning", TUNED_RUNS, ()),
    ("field_regression", "The field of regression: our trees beside those of other libraries", REGRESSION_RUNS, ()),
):
    _run, _ids = partial(compare, _runs, _overrides), partial(_methods, _runs)
    STUDIES.register(_name)(Study(_name, _title, _run, in_all=False, ids=_ids))


def _absent(request: StudyRequest, names: Sequence[str]) -> list[str]:
    """Return the data sets that cannot be fetched, and report the reason. A damaged file ends the run."""
    absent = []
    for name in names:
        known = catalogue.entry(name)
        if not request.wants("dataset", name) or not (request.profile == "full" or is_quick(name)):
            continue
        if known.bundled or all(files.find(file, False, request.data_dir) for file in known.files.values()):
            continue
        try:
            catalogue.load(name, request.data_dir, request.offline, known.task)
        except DataError as error:
            request.say(f"{name} is left out of the field: {error}")
            absent.append(name)
    return absent


def field_tables(runs: Sequence[Outcome], absent: Sequence[str] = ()) -> tuple[ExtraTable, ...]:
    """Return all tables of runs: means, ranks, Bayesian tests, and numbers by data set. absent : for a caption"""
    scores = Scores.of(runs)
    if scores.main == "rmse":
        return _regression_tables(scores, absent)
    parts = division()
    named = {
        part: scores.part([name for name in scores.datasets if parts.get(name) == part])
        for part in (CONFIRMATION, DEVELOPMENT)
    }
    tables = []
    for part, part_scores in named.items():
        if part_scores.datasets:
            tables += [mean_table(part, part_scores), *rank_tables(part, part_scores)]
            tables += [table for reference in REFERENCES for table in against(part, part_scores, reference)]
    return (*tables, _accuracies(scores, parts, absent))


def _regression_tables(scores: Scores, absent: Sequence[str]) -> tuple[ExtraTable, ...]:
    what = "RMSE" + _without(scores, absent)
    grids = {
        "rmse": (what, scores.values["rmse"], "{:.4g}"),
        "relative": ("RMSE over that of the best method on the data set", scores.relative(), "{:.3f}"),
        "leaves": ("Leaves, mean over folds", scores.values["leaves"], "{:.1f}"),
    }
    return (
        mean_table("regression", scores, name="means"),
        *rank_tables("regression", scores, name="ranks"),
        *(
            ExtraTable(
                name,
                caption,
                ("method", *scores.datasets),  # one column per data set
                tuple((m, *(_text(v, form) for v in row)) for m, row in zip(scores.methods, values.T, strict=True)),
            )
            for name, (caption, values, form) in grids.items()
        ),
    )


def _without(scores: Scores, absent: Sequence[str]) -> str:
    out = f"; not at hand: {', '.join(absent)}" if absent else ""
    return out + (f"; not run with all methods: {', '.join(scores.left_out)}" if scores.left_out else "")


def mean_table(part: str, scores: Scores, name: str = "") -> ExtraTable:
    """Return means by method, the best first; a star marks the front of leaves and accuracy (or relative error)."""
    means = {metric: scores.means(metric) for metric in scores.values if metric != "rmse"}
    shown = {title_of(metric): [_shown(metric, value) for value in values] for metric, values in means.items()}
    words = "sizes"
    if scores.main == "rmse":
        ratios = scores.relative()
        usable = ~scores.failed.any(axis=1) & ~np.isnan(ratios).any(axis=1)
        relative = [float(np.exp(np.log(column).mean())) if usable.any() else nan for column in ratios[usable].T]
        shown = {"relative RMSE": [_text(value, "{:.3f}") for value in relative], **shown}
        words = "relative RMSE is the geometric mean of RMSE over that of the best method on each set; sizes"
        better, best = "has both a smaller error and fewer leaves", [-ratio for ratio in relative]
    else:
        better, best = "is both more accurate and smaller", means["accuracy"]
    n_whole = int((~scores.failed).all(axis=1).sum())
    caption = (
        f"Means over the {n_whole} of {len(scores.datasets)} {part} sets that all methods finished; {words} and "
        f"times are geometric means; * no other method {better}"
    )
    front, failed = pareto(best, means["leaves"]), scores.failed.sum(axis=0)
    order = [-value if isfinite(value) or scores.main == "accuracy" else np.inf for value in best]
    rows = tuple(
        (scores.methods[m] + " *" * (m in front), *(column[m] for column in shown.values()), str(failed[m]))
        for m in sorted(range(len(scores.methods)), key=lambda m: (order[m], scores.methods[m]))
    )
    return ExtraTable(name or f"{part}_means", caption, ("method", *shown, "sets without a result"), rows)


def pareto(accuracies: Sequence[float], leaves: Sequence[float]) -> set[int]:
    """Return the methods that no other method dominates in accuracy and leaves."""
    points = [(-a, n, m) for m, (a, n) in enumerate(zip(accuracies, leaves, strict=True)) if isfinite(a - n)]
    return {m for a, n, m in points if not any(b <= a and k <= n and (b, k) != (a, n) for b, k, _ in points)}


def rank_tables(part: str, scores: Scores, name: str = "") -> list[ExtraTable]:
    """Return average ranks by accuracy or RMSE, with the groups that Nemenyi's test does not separate."""
    n, k = len(scores.datasets), len(scores.methods)
    if n < 2 or k < 2:
        return []
    others = [metric for metric in scores.values if METRICS[metric] in (LOSS, SIZE)]
    by = {metric: significance_tests.average_ranks(scores.ranked(metric)) for metric in (scores.main, *others)}
    ranks = [float(rank) for rank in by[scores.main]]
    critical = significance_tests.critical_difference(k, n)
    groups = significance_tests.cliques(ranks, critical)
    test = significance_tests.friedman(ranks, n, significance_tests.share_of_ties(scores.ranked(scores.main)))
    rows = tuple(
        (
            scores.methods[m],
            f"{ranks[m]:.2f}",
            " ".join(chr(ord("a") + g) for g, group in enumerate(groups) if m in group) or MISSING,
            *(f"{by[metric][m]:.2f}" for metric in others),
        )
        for m in sorted(range(k), key=lambda m: (ranks[m], scores.methods[m]))
    )
    caption = (
        f"Average ranks over {n} {part} sets, 1 the best. By {title_of(scores.main)}: Friedman F {test.f:.2f}, "
        f"p {test.p:.2g}; critical difference {critical:.2f} (Nemenyi, 0.05), methods with a letter in common are "
        "not told apart"
    )
    header = ("method", title_of(scores.main), "groups", *map(title_of, others))
    return [ExtraTable(name or f"{part}_ranks", caption, header, rows)]


def against(part: str, scores: Scores, reference: str) -> list[ExtraTable]:
    """Return one method against every other method: wins, and the posterior of the Bayesian signed rank test."""
    if reference not in scores.methods or len(scores.datasets) < 2:
        return []
    accuracy = scores.values["accuracy"]
    first = accuracy[:, scores.methods.index(reference)]
    rows = []
    for m, method in enumerate(scores.methods):
        both = ~np.isnan(first) & ~np.isnan(accuracy[:, m])
        if method == reference or both.sum() < 2:
            continue
        d = np.round(first[both] - accuracy[both, m], 9)
        sign, ranks = significance_tests.sign_test(d.tolist()), significance_tests.wilcoxon(d.tolist())
        posterior = significance_tests.bayesian_signed_rank(d.tolist(), ROPE)
        numbers = (f"{d.mean():+.2f}", f"{sign.wins}/{sign.losses}", f"{ranks.p:.3f}")
        rows.append((method, *numbers, *(f"{p:.2f}" for p in posterior), str(int(both.sum()))))
    caption = (
        f"{reference} against every other method on {part} sets, accuracy; posterior that it is better, that both are "
        f"within {ROPE:g} point, that the other is better (Benavoli et al. 2017)"
    )
    header = ("method", "difference", "wins/losses", "Wilcoxon p", "P(better)", "P(same)", "P(worse)", "sets")
    return [ExtraTable(f"{part}_{reference}", caption, header, tuple(rows))]


def _accuracies(scores: Scores, parts: Mapping[str, str], absent: Sequence[str]) -> ExtraTable:
    rows = []
    for name, accuracies in zip(scores.datasets, scores.values["accuracy"], strict=True):
        rows.append((name, parts.get(name, ""), *(_shown("accuracy", value) for value in accuracies)))
    for name, some in scores.partly.items():
        cells = (_shown("accuracy", some[method]) if method in some else "" for method in scores.methods)
        rows.append((name, parts.get(name, ""), *cells))
    header = ("data set", "part", *scores.methods)
    empty = "; an empty cell was not run" if scores.partly else ""
    caption = f"Accuracy in percent, {MISSING} for a method that failed{empty}" + _without(scores, absent)
    return ExtraTable("accuracies", caption, header, tuple(rows), left=2)


def _shown(metric: str, value: float) -> str:
    if not isfinite(value):
        return MISSING
    about = METRICS[metric]
    if about.unit == "s":
        return f"{value:.2g}"
    return f"{value:.1f}" if about.unit == "%" or about.ratio else f"{value:.3f}"


def _text(value: float, form: str) -> str:
    return form.format(value) if isfinite(value) else MISSING
