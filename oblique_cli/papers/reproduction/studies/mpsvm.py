"""Zhang & Suganthan (2014): ranks of the twelve ensembles, and the significance of their differences.

The paper's tables of accuracies and its list of data sets are lost; only average ranks and the verdicts of tests over
44 data sets remain. Our ranks are over the sets of `configs/reproduce/mpsvm.yaml`, so we compare patterns, not numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from statistics import fmean
from typing import NamedTuple

import numpy as np

from oblique_cli.estimators.algorithms import ALGORITHMS, FOREST
from oblique_cli.evaluation import published, significance_tests
from oblique_cli.evaluation.published import Published
from oblique_cli.evaluation.tables import Line
from oblique_cli.experiments import decomposing
from oblique_cli.experiments.running import load_datasets
from oblique_cli.papers.reproduction.framework.declarations import FULL, Declaration, Part, Runs, declare
from oblique_cli.papers.reproduction.framework.runs import Number, Ours, Outcome
from oblique_cli.papers.reproduction.framework.studies import ExtraTable, StudyRequest

PAPER = "zhang2014"
TABLES = tuple(f"{PAPER}:{section}" for section in ("IV-B", "IV-C", "IV-E"))
TITLES = [algorithm.title for algorithm in ALGORITHMS.values() if algorithm.family is FOREST]
BASES = ("RaF", "RoF", "RRoF")
RULES = ("T", "P", "N")
SWEEPS = ("minleaf2", "minleaf3", "mtry")


def family(base: str) -> tuple[str, ...]:
    """Return an ensemble and its three MPSVM variants."""
    return (base, *(f"MP{base}-{rule}" for rule in RULES))


# Section IV-B compares the first family, IV-C the second and the fourth. The third was in Table V.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "IV-B": BASES,
    "IV-C, RaF": family("RaF"),
    "Table V, RoF": family("RoF"),
    "IV-C, RRoF": family("RRoF"),
}


class MethodScores(NamedTuple):
    """Accuracies, data sets x methods, of the data sets on which every method has a result."""

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    values: np.ndarray

    @classmethod
    def of(cls, accuracies: Mapping[tuple[str, str], float], methods: Sequence[str]) -> MethodScores:
        """Collect accuracies by (data set, method)."""
        names = dict.fromkeys(dataset for dataset, _ in accuracies)
        whole = tuple(name for name in names if all((name, method) in accuracies for method in methods))
        values = np.array([[accuracies[name, method] for method in methods] for name in whole])
        # Rounded, so that equal counts summed in different orders are ties.
        return cls(whole, tuple(methods), np.round(values.reshape(len(whole), len(methods)), 9))

    @classmethod
    def usable(
        cls, accuracies: Mapping[tuple[str, str], float], groups: Iterable[Sequence[str]]
    ) -> Iterator[MethodScores]:
        """Yield the accuracies of each group of methods that share at least two data sets."""
        for methods in groups:
            scores = cls.of(accuracies, methods)
            if len(scores.datasets) >= 2:
                yield scores

    def ranks(self) -> np.ndarray:
        """Return the average rank of each method, 1 the best."""
        return significance_tests.average_ranks(self.values)

    def rank_errors(self) -> np.ndarray:
        """Return the standard error of each average rank, over data sets."""
        by_set = np.array([significance_tests.average_ranks(row[None, :]) for row in self.values])
        return np.asarray(by_set.std(axis=0, ddof=1) / sqrt(len(by_set)))

    def sign_test(self, first: str, second: str) -> significance_tests.SignTest:
        """Return the sign test of two methods over the data sets."""
        i, j = self.methods.index(first), self.methods.index(second)
        return significance_tests.sign_test((self.values[:, i] - self.values[:, j]).tolist())

    def better(self, first: str, second: str, test: str) -> bool:
        """Return whether the first method is significantly better: by "sign", or by Nemenyi's test."""
        if test == "sign":
            sign = self.sign_test(first, second)
            return sign.wins >= sign.needed
        critical = significance_tests.critical_difference(len(self.methods), len(self.datasets))
        ranks = dict(zip(self.methods, self.ranks(), strict=True))
        return bool(ranks[second] - ranks[first] >= critical)


def _accuracies(lines: Mapping[tuple[str, str], Line]) -> dict[tuple[str, str], float]:
    """Return the accuracy in percent of complete lines."""
    return {
        key: line.accuracy.mean
        for key, line in lines.items()
        if line.accuracy.mean is not None and line.repeats == line.repeats_expected
    }


def _of_ranks(done: Runs) -> Ours:
    """Return a function for average ranks and verdicts of tests."""
    (accuracies,) = (_accuracies(run.lines()) for run in done.of("main"))

    def ours(number: Published, _: str) -> Number | None:
        methods = _family_of(number)
        scores = MethodScores.of(accuracies, methods)
        if not accuracies:
            return None
        if len(scores.datasets) < 2:
            return None, None, "fewer than two data sets with all methods"
        if number.metric == "average_rank":
            at = methods.index(number.method)
            note = f"over {len(scores.datasets)} data sets of ours; SD is the standard error over them"
            return float(scores.ranks()[at]), float(scores.rank_errors()[at]), note
        if number.metric == "significantly_better":
            first, second = number.method.split(" over ")
            return float(scores.better(first, second, number.qualifiers["test"])), None, ""
        return None, None, "grows with the number of data sets; ours is in the table of ranks"

    return ours


def _family_of(number: Published) -> tuple[str, ...]:
    if "family" in number.qualifiers:
        return tuple(number.qualifiers["family"].split("/"))
    pair = set(number.method.split(" over "))
    return next((methods for methods in FAMILIES.values() if pair <= set(methods)), tuple(sorted(pair)))


def _rank_tables(accuracies: Mapping[tuple[str, str], float]) -> list[ExtraTable]:
    """Return average ranks of every family beside the paper's, and Friedman's test on them."""
    ranks: list[tuple[str, ...]] = []
    tests: list[tuple[str, ...]] = []
    section_of = {methods: section for section, methods in FAMILIES.items()}
    for scores in MethodScores.usable(accuracies, section_of):
        methods, section = scores.methods, section_of[scores.methods]
        printed = {
            (number.method, number.metric): f"{number.mean:.2f}"
            for table in ("IV-B", "IV-C")
            for number in published.numbers(PAPER, table)
            if "family" in number.qualifiers and _family_of(number) == methods
        }
        ours, family_name = scores.ranks(), "/".join(methods)
        for method, rank in zip(methods, ours, strict=True):
            ranks.append((section, method, f"{rank:.2f}", printed.get((method, "average_rank"), "-")))
        test = significance_tests.friedman(list(ours), len(scores.datasets))  # ties uncorrected, as in the paper
        critical = significance_tests.critical_difference(len(methods), len(scores.datasets))
        numbers = (f"{test.chi2:.2f}", f"{test.f:.2f}", f"{test.p:.3g}", f"{critical:.2f}")
        theirs = ("friedman_chi2", "friedman_F", "nemenyi_critical_difference")
        in_print = (printed.get((family_name, metric), "-") for metric in theirs)
        tests.append((section, str(len(scores.datasets)), *numbers, *in_print))
    header = ("family", "data sets", "chi2", "F", "p", "critical difference")
    return [
        ExtraTable("ranks", "Average ranks, 1 the best", ("family", "method", "ours", "paper"), tuple(ranks), left=2),
        ExtraTable(
            "tests",
            "Friedman's test within each family, the paper's over 44 data sets; Nemenyi's critical difference, 0.05",
            (*header, "chi2, paper", "F, paper", "critical difference, paper"),
            tuple(tests),
        ),
    ]


def _verdicts(done: Runs) -> ExtraTable:
    """Return every difference with a verdict in the paper on its significance, and our verdict."""
    words = {None: "-", 0.0: "no", 1.0: "yes"}
    rows = tuple(
        (cell.method, cell.which["test"], words[cell.ours], words[cell.published])
        for cell in STUDY.cells(done)
        if cell.metric == "significantly_better"
    )
    return ExtraTable("verdicts", "Is it significantly better?", ("pair", "test", "ours", "paper"), rows, left=2)


def _signs(accuracies: Mapping[tuple[str, str], float]) -> ExtraTable:
    """Return Table IX: MPRRoF against MPRaF, rule by rule."""
    rows = []
    for scores in MethodScores.usable(accuracies, [(f"MPRRoF-{rule}", f"MPRaF-{rule}") for rule in RULES]):
        first, second = scores.methods
        sign = scores.sign_test(first, second)
        verdict = "yes" if sign.wins >= sign.needed else "no"
        rows.append((f"{first} over {second}", str(sign.wins), str(sign.losses), str(sign.needed), verdict))
    header = ("pair", "wins", "losses", "needed", "significant")
    return ExtraTable("signs", "Sign tests (Table IX), ties split evenly", header, tuple(rows))


def _accuracy_table(accuracies: Mapping[tuple[str, str], float]) -> ExtraTable:
    """Return Tables IV to VI for our data sets."""
    datasets = dict.fromkeys(dataset for dataset, _ in accuracies)
    titles = [title for title in TITLES if any((name, title) in accuracies for name in datasets)]
    rows = tuple(
        (name, *(f"{accuracies[name, t]:.1f}" if (name, t) in accuracies else "-" for t in titles)) for name in datasets
    )
    return ExtraTable("accuracies", "Accuracy in percent", ("data set", *titles), rows)


def _costs(run: Outcome) -> ExtraTable:
    """Return node ratio and speed-up factor (equations 21 and 22), each the geometric mean over data sets."""
    sums: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in run.rows:
        if row.status == "ok":
            title = ALGORITHMS[row.algorithm].title
            sums.setdefault((row.dataset, title), []).append((row.measures["nodes_per_tree"], row.fit_seconds))
    means = {key: np.mean(values, axis=0) for key, values in sums.items()}
    rows = []
    for base in BASES:
        for method in family(base)[1:]:
            shared = [name for name, title in means if title == method and (name, base) in means]
            if not shared:
                continue
            logs = np.array([np.log(means[name, method] / means[name, base]) for name in shared])
            nodes, time = np.exp(logs.mean(axis=0))
            quicker = fmean(float(log[1] < 0) for log in logs)
            rows.append((method, base, f"{nodes:.2f}", f"{1 / time:.2f}", f"{100 * quicker:.0f}"))
    caption = "Nodes of a tree over the base's, training time of the base over the method's: geometric means"
    header = ("method", "base", "node ratio", "speed-up", "sets on which it is quicker, %")
    return ExtraTable("costs", caption, header, tuple(rows))


def _minleaf(runs: Sequence[Outcome]) -> ExtraTable:
    """Return Table X: average ranks of minleaf 1, 2 and 3 within each method, on their common repetitions."""
    repeats = min(run.experiment.cv.repeats for run in runs)
    accuracies: dict[tuple[str, str], float] = {}
    for value, run in enumerate(runs, start=1):
        sums: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for row in run.rows:
            if row.status == "ok" and row.repeat < repeats:
                title = f"{ALGORITHMS[row.algorithm].title} {value}"
                sums.setdefault((row.dataset, title), []).append((row.n_correct, row.n_test))
        accuracies |= {key: float(np.divide(*np.sum(pairs, axis=0))) for key, pairs in sums.items()}
    rows = []
    settings = [[f"{title} {value}" for value in (1, 2, 3)] for title in (*family("RaF"), *family("RRoF"))]
    for scores in MethodScores.usable(accuracies, settings):
        ranks = scores.ranks()
        test = significance_tests.friedman(list(ranks), len(scores.datasets))
        rows.append((scores.methods[0].removesuffix(" 1"), *(f"{rank:.2f}" for rank in ranks), f"{test.p:.3f}"))
    caption = f"Average ranks of minleaf 1, 2 and 3 (Table X), {repeats} repetitions"
    return ExtraTable("minleaf", caption, ("method", "1", "2", "3", "Friedman p"), tuple(rows))


def _mtry(run: Outcome) -> ExtraTable:
    """Return Figure A-II: accuracy over mtry."""
    accuracies = {(line.dataset, line.algorithm): line.accuracy.mean for line in run.table.lines}
    values = sorted({int(spec.params["mtry"]) for spec in run.experiment.algorithms})
    names = dict.fromkeys(spec.name for spec in run.experiment.algorithms)
    rows = []
    for dataset in dict.fromkeys(dataset for dataset, _ in accuracies):
        for name in names:
            means = [accuracies.get((dataset, f"{name}.{value}")) for value in values]
            rows.append((dataset, ALGORITHMS[name].title, *("-" if m is None else f"{m:.1f}" for m in means)))
    header = ("data set", "method", *(f"mtry {value}" for value in values))
    return ExtraTable("mtry", "Accuracy over mtry (figure A-II)", header, tuple(rows))


def _bias_variance(request: StudyRequest, run: Outcome) -> list[ExtraTable]:
    """Return Figure 1: average ranks of bias and variance within the families of section IV-C."""
    datasets = load_datasets(run.experiment, request.data_dir, request.offline)
    tables = []
    for base in ("RaF", "RRoF"):
        specs = tuple(s for s in run.experiment.algorithms if ALGORITHMS[s.name].title in family(base))
        if len(specs) < 2:
            continue
        experiment = replace(run.experiment, algorithms=specs)
        grids = decomposing.decompose(experiment, datasets).sheet().grids
        for grid in grids[1:]:
            tables.append(ExtraTable(f"bias_variance_{base.lower()}", grid.caption, grid.header, grid.rows))
    return tables


def _tables(done: Runs) -> Iterator[ExtraTable]:
    """Yield ranks, tests, sizes and times; in the full profile also sweeps, and bias and variance."""
    (main,) = done.of("main")
    if accuracies := _accuracies(main.lines()):
        yield from _rank_tables(accuracies)
        yield from (_verdicts(done), _signs(accuracies), _accuracy_table(accuracies), _costs(main))
    if main.rows and (sweeps := done.of("sweeps")):
        yield from (_minleaf([main, *sweeps[:2]]), _mtry(sweeps[2]))
        yield from _bias_variance(done.request, main)


STUDY = Declaration(
    {"main": ("mpsvm",), "sweeps": tuple(Part(f"mpsvm_{name}", least=FULL) for name in SWEEPS)},
    dict.fromkeys(TABLES, _of_ranks),
    extras=_tables,
)
declare("mpsvm", "MPSVM random and rotation forests: ranks and tests (Zhang & Suganthan 2014)", STUDY)
