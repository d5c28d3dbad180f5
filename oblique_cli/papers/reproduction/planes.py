"""GDT where the rows of both classes of a node lie in one plane, and on glass with the column that numbers its rows.

Where the null space of A lies inside that of B, the thesis has a third case (5.1.2); Manwani & Sastry (2012), section
II.B, has none: B projected on the null space of A is zero, and any vector is its leading eigenvector. Which case it is
has to be judged by numbers of the size of rounding, so a program may take one for the other. Here the third case is
seen in a share of those nodes, and in the others the plane is drawn at random.

Table I of the paper counts ten features of glass. The file has nine and the number of the row, which tells the classes,
since the rows are sorted by class.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from oblique_cli import config, schemes
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.evaluation import published
from oblique_cli.experiments.dispatching import Call
from oblique_cli.experiments.running import Case
from oblique_cli.ground import seeds
from oblique_cli.ground.geometry import Standard, clustering_hyperplane
from oblique_cli.ground.nouns import Job, Row, TuningPair
from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.steps import at_hand, step, take
from oblique_cli.papers.reproduction.framework.studies import (
    STUDIES,
    ExtraTable,
    Study,
    StudyRequest,
    StudyResult,
)
from oblique_cli.papers.reproduction.framework.study_report import shown
from oblique_cli.papers.reproduction.sensitivity import simplest_largest
from oblique_cli.parameters import parameter
from oblique_cli.proposers._clustering import better_bisector
from oblique_cli.proposers.gdt import GDT
from oblique_cli.tree.splitting import Candidates, Node

Array = NDArray[np.float64]

# Tables of GDT, by configuration. Trees of Letter and Magic have thousands of nodes before they are cut.
TABLES = {"chapter5_two_stage": "wickramarachchi2015:5.2", "gdt_trees": "manwani2012:II"}
LEFT_OUT = frozenset(("letter", "magic_balanced"))
SHARES = (1.0, 0.75, 0.5, 0.0)
NUMBERED = "glass"
# Table 5.4 prints the limit that stage 1 of the thesis chose.
PRINTED_EPSILON = {("wickramarachchi2015:5.2", "balance_scale"): 0.16}
ENDS = ("least", "largest", "least repetition", "largest repetition")
METRICS = ("accuracy_percent", "n_leaves", "depth")
HEADER = (
    "table",
    "data set",
    "third case seen",
    "metric",
    "published",
    "ours",
    "verdict",
    "least fold",
    "largest fold",
    "least repetition",
    "largest repetition",
)


class SometimesArbitrary(GDT):
    """GDT that sees the third case in a share of the nodes that have it, and draws the plane in the others."""

    native: ClassVar[str | None] = None

    seen: float = parameter(default=1.0, help="Share of those nodes in which the third case is seen.")

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield the better bisector with its offset."""
        rng = node.rng("third case")

        def plane_of(A: Array, B: Array, standard: Standard) -> tuple[Array | None, str]:
            w, case = clustering_hyperplane(A, B, standard)
            if case == "range_space" and rng.random() >= self.seen:
                w = rng.standard_normal(len(A))  # the length of a plane does not matter
            return w, case

        plane, useful = better_bisector(node, self.bisector_classes, plane_of)
        if plane is not None and useful:
            yield Candidates.directions(plane[None, :-1], -plane[-1:])

    def native_options(self) -> dict[str, Any]:
        """None: it has no native growth."""
        return {}


@dataclass(frozen=True)
class Reading:
    """A data set, whether its rows are numbered, and in which share of nodes the third case is seen."""

    case: Case
    cv: Any
    cv_seed: int
    seen: float
    epsilon: float | None

    def step(self, job: Job) -> Row:
        """Return accuracy, leaves and depth: the mean over all folds, the SD over repetitions, the least and the
        largest fold, and the least and the largest repetition."""
        started = time.perf_counter()
        data, params = self.case.dataset, dict(self.case.spec.params)
        folds = list(schemes.folds(data, self.cv, self.cv_seed))
        gdt = SometimesArbitrary(bisector_classes=params.pop("bisector_classes", "all"), seen=self.seen)
        tree = ObliqueTreeClassifier(gdt, **params)
        by_repeat: dict[int, list[tuple[float, ...]]] = {}
        with threadpool_limits(1):
            epsilon = self.chosen(tree, folds[0].tuning, job.seed) if self.epsilon is None else self.epsilon
            tree.set_params(max_misrate=epsilon)
            for fold in folds:
                tree.set_params(random_state=seeds.integer(job.seed, "planes", fold.repeat, fold.index))
                tree.fit(data.X[fold.train], data.y[fold.train])
                right = int((tree.predict(data.X[fold.test]) == data.y[fold.test]).sum())
                measured = (right, len(fold.test), tree.n_leaves_, tree.depth_)
                by_repeat.setdefault(fold.repeat, []).append(measured)
        found = {"epsilon": float(epsilon)}
        for at, metric in enumerate(METRICS):
            values = [100.0 * r / n if at == 0 else (0.0, leaves, depth)[at]
                      for each in by_repeat.values() for r, n, leaves, depth in each]  # fmt: skip
            means = [_mean(each, at) for each in by_repeat.values()]
            found |= {metric: fmean(means), f"{metric} sd": stdev(means) if len(means) > 1 else 0.0}
            found |= {f"{metric} least": min(values), f"{metric} largest": max(values)}
            found |= {f"{metric} least repetition": min(means), f"{metric} largest repetition": max(means)}
        return Row.of(job, fit_seconds=time.perf_counter() - started, measures=found)

    def chosen(self, tree: ObliqueTreeClassifier, pairs: Iterable[TuningPair], seed: int) -> float:
        """Return what stage 1 chooses: the largest of the simplest of the most accurate."""
        values, data = list(self.case.spec.grid["epsilon"]), self.case.dataset
        correct, leaves = np.zeros(len(values), dtype=int), np.zeros(len(values), dtype=int)
        tree.set_params(max_misrate=min(values))
        for i, pair in enumerate(pairs):
            tree.set_params(random_state=seeds.integer(seed, "planes tuning", i))
            tree.fit(data.X[pair.train], data.y[pair.train])
            correct += (tree.predict_path(data.X[pair.valid], values) == data.y[pair.valid][:, None]).sum(axis=0)
            leaves += tree.n_leaves_path(values)
        return float(values[simplest_largest(correct.tolist(), leaves.tolist())])


def _mean(folds: Sequence[tuple[float, ...]], at: int) -> float:
    """The measure of a repetition: right rows in percent of all, or the mean over trees."""
    if at == 0:
        return 100.0 * sum(fold[0] for fold in folds) / sum(fold[1] for fold in folds)
    return fmean(fold[at + 1] for fold in folds)


def planes_step(job: Job, reading: Reading) -> Row:
    """Return what a reading measures."""
    return reading.step(job)


@STUDIES.register("planes")
class Planes(Study):
    """GDT's third case seen in a share of the nodes that have it."""

    name = "planes"
    title = "GDT where both classes of a node lie in one plane, and on glass with numbered rows"
    tables = ()
    in_all = False
    selects = ("dataset",)

    def run(self, request: StudyRequest) -> StudyResult:
        """Grow the trees of Tables 5.2 and II under each share."""
        calls = list(_calls(request))
        steps = take(request, self.name, [call for _, call in calls])
        rows = tuple(row for key, found in steps.measures_by(calls).items() for row in _beside(*key, found[0]))
        caption = "GDT by the share of nodes in which the third case of section 5.1.2 is seen"
        return StudyResult((), (ExtraTable("cells", caption, HEADER, rows, left=4),), steps.cost, steps.exit_code)


Key = tuple[str, str, str]


def _calls(request: StudyRequest) -> Iterator[tuple[Key, Call]]:
    for name, table in TABLES.items():
        experiment = config.load(f"reproduce/{name}", [])
        cv = replace(experiment.cv, repeats=2) if request.profile == "quick" else experiment.cv
        spec = next(one for one in experiment.algorithms if one.id == "gdt")
        for policy in experiment.datasets:
            if policy.name in LEFT_OUT or not request.wants("dataset", policy.name):
                continue
            if (data := at_hand(request, "planes", policy)) is None:
                continue
            shown_as = [(policy.name, data)]
            if (name, policy.name) == ("gdt_trees", NUMBERED):
                numbered = np.column_stack([np.arange(1.0, data.n + 1.0), data.X])
                names = ("number", *data.feature_names)
                shown_as.append((f"{policy.name}, rows numbered", replace(data, X=numbered, feature_names=names)))
            for title, rows in shown_as:
                case = Case.of(experiment, rows, policy, spec)
                for seen in SHARES:
                    epsilon = PRINTED_EPSILON.get((table, policy.name))
                    reading = Reading(case, cv, experiment.seed, seen, epsilon)
                    decides = (table, rows.digest, spec.params, spec.grid, vars(cv), seen, epsilon, experiment.seed)
                    job = step("planes", policy.name, f"{table} {title} {seen:g}", 0, request.seed, *map(str, decides))
                    yield (table, title, f"{seen:g}"), (job, planes_step, (reading,))


def _beside(table: str, title: str, seen: str, found: Mapping[str, float]) -> Iterator[tuple[str, ...]]:
    """Rows of the table: each printed number beside ours."""
    source, _, number_of = table.partition(":")
    dataset = title.partition(",")[0]
    for metric in METRICS:
        printed = published.lookup(source, number_of, dataset, "GDT", metric)
        if printed is None:
            continue
        ours, sd = found[metric], found[f"{metric} sd"]
        cell = Cell(table, dataset, "GDT", metric, ours, sd, printed.mean, printed.sd)
        ends = (f"{found[f'{metric} {end}']:.3g}" for end in ENDS)
        which = f"{title} (epsilon {found['epsilon']:.2f})"
        yield (table, which, seen, metric, shown(printed.mean, printed.sd), shown(ours, sd), cell.verdict, *ends)
