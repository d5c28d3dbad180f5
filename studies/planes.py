"""GDT where the rows of both classes of a node lie in one plane, and on glass with the column that numbers its rows.

Where the null space of A lies inside that of B, the thesis has a third case (5.1.2); Manwani & Sastry (2012), section
II.B, has none: B projected on the null space of A is zero, and any vector is its leading eigenvector. Which case it is
has to be judged by numbers of the size of rounding, so a program may take one for the other. Here the third case is
seen in a share of those nodes, and in the others the plane is drawn at random.

Table I of the paper counts ten features of glass. The file has nine and the number of the row, which tells the classes,
since the rows are sorted by class.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from oblique_cli import config
from oblique_cli.data.dataset import Dataset
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.estimators.oblique.heuristics import classifier_of
from oblique_cli.evaluation import published
from oblique_cli.experiments.dispatching import Call
from oblique_cli.experiments.fits import Case
from oblique_cli.ground.constraints import Real
from oblique_cli.ground.geometry import Standard, clustering_hyperplane
from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.runs import loaded, result_of, step, take
from oblique_cli.papers.reproduction.framework.studies import ExtraTable, StudyRequest, StudyResult, study
from oblique_cli.papers.reproduction.framework.study_report import shown
from oblique_cli.parameters import parameter
from oblique_cli.proposers.gdt import GDT, better_bisector
from oblique_cli.tree.splitting import Candidates, Node
from studies import script
from studies.drawing import ENDS, RATIOS, Drawing, draw_step

Array = NDArray[np.float64]

# Tables of GDT, by configuration. Trees of Letter and Magic have thousands of nodes before they are cut.
TABLES = {"chapter5_two_stage": "wickramarachchi2015:5.2", "gdt_trees": "manwani2012:II"}
LEFT_OUT = frozenset(("letter", "magic_balanced"))
SHARES = (1.0, 0.75, 0.5, 0.0)
NUMBERED = ("gdt_trees", "glass")
# Table 5.4 prints the limit that stage 1 of the thesis chose; it is chosen anew for every other tree.
PRINTED_EPSILON = {("chapter5_two_stage", "balance_scale"): 0.16}
HEADER = ("table", "data set", "third case seen", "metric", "published", "ours", "verdict",
          "least fold", "largest fold", "least repetition", "largest repetition")  # fmt: skip
SEEN = parameter(default=1.0, allowed=Real(0.0, 1.0), help="Share of nodes with the third case in which it is seen.")


class SometimesArbitrary(GDT):
    """GDT that sees the third case in a share of the nodes that have it, and draws the plane in the others."""

    native: ClassVar[str | None] = None

    seen: float = SEEN

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield the better bisector with its offset."""
        # As with rounding, the rows of a node decide.
        rng = node.rng("third case", zlib.crc32(np.ascontiguousarray(node.X).tobytes()))

        def plane_of(A: Array, B: Array, standard: Standard) -> tuple[Array | None, str]:
            w, case = clustering_hyperplane(A, B, standard)
            if case == "range_space" and rng.random() >= self.seen:
                w = rng.standard_normal(len(A))  # the length of a plane does not matter
            return w, case

        plane = better_bisector(node, self.bisector_classes, plane_of)
        if plane is not None:
            yield Candidates.directions(plane[None, :-1], -plane[-1:])

    def native_options(self) -> dict[str, Any]:
        """None: it has no native growth."""
        return {}


class SometimesArbitraryClassifier(classifier_of("gdt"), kw_only=True):  # type: ignore[misc, call-arg]
    """A tree of `SometimesArbitrary`."""

    heuristic = SometimesArbitrary

    seen: float = SEEN


ALGORITHM = replace(ALGORITHMS["gdt"], compiled=False, made_by=SometimesArbitraryClassifier)


@study("GDT where both classes of a node lie in one plane, and on glass with numbered rows", selects=("dataset",))
def planes(request: StudyRequest) -> StudyResult:
    """Grow the trees of Tables 5.2 and II with the third case seen in each share of the nodes that have it."""
    calls = list(_calls(request))
    steps = take(request, "planes", [call for _, call in calls])
    rows = tuple(row for key, draws in steps.measures_by(calls).items() for row in _beside(*key, draws[0]))
    caption = "GDT by the share of nodes in which the third case of section 5.1.2 is seen"
    return result_of([steps], tables=[ExtraTable("cells", caption, HEADER, rows, left=4)])


def _calls(request: StudyRequest) -> Iterator[tuple[tuple[str, str, str], Call]]:
    for name, table in TABLES.items():
        experiment = config.load(f"reproduce/{name}", [])
        cv = replace(experiment.cv, repeats=2) if request.profile == "quick" else experiment.cv
        gdt = next(algorithm for algorithm in experiment.algorithms if algorithm.id == "gdt")
        for policy in experiment.datasets:
            if policy.name in LEFT_OUT or not request.wants("dataset", policy.name):
                continue
            if (data := loaded(request, "planes", policy)) is None:
                continue
            epsilon = PRINTED_EPSILON.get((name, policy.name))
            spec = gdt.on(policy.name)
            for title, rows in _titled(name, data):
                case = replace(Case.of(experiment, rows, policy, spec), algorithm=ALGORITHM)
                for seen in SHARES:
                    case = replace(case, spec=replace(spec, params={**spec.params, "seen": seen}))
                    drawing = Drawing("folds", case, cv, None if epsilon is None else {"epsilon": epsilon})
                    decides = (table, rows.digest, case.spec.params, spec.grid, vars(cv), epsilon)
                    # The folds are those of the study of the table.
                    job = step("planes", policy.name, f"{table} {title} {seen:g}", 0, experiment.seed,
                               *map(str, decides))  # fmt: skip
                    yield (table, title, f"{seen:g}"), (job, draw_step, (drawing,))


def _titled(name: str, data: Dataset) -> Iterator[tuple[str, Dataset]]:
    """A data set as it is, and with the numbers of its rows as a feature where Table I counts them."""
    yield data.name, data
    if (name, data.name) == NUMBERED:
        X = np.column_stack([np.arange(1.0, data.n + 1.0), data.X])
        yield f"{data.name}, rows numbered", replace(data, X=X, feature_names=("number", *data.feature_names))


def _beside(table: str, title: str, seen: str, measures: Mapping[str, float]) -> Iterator[tuple[str, ...]]:
    """Rows of the table: each printed number beside ours."""
    source, _, number_of = table.partition(":")
    dataset = title.partition(",")[0]
    for metric in RATIOS:
        printed = published.lookup(source, number_of, dataset, "GDT", metric)
        if printed is None:
            continue
        cell = Cell(table, dataset, "GDT", metric, measures[metric], measures[f"{metric} sd"], printed.mean, printed.sd)
        ends = (f"{measures[f'{metric} {end}']:.3g}" for end in ENDS)
        yield (table, title, seen, metric, shown(cell.published, cell.published_sd), shown(cell.ours, cell.ours_sd),
               cell.verdict, *ends)  # fmt: skip


if __name__ == "__main__":
    script(planes)
