"""Printed numbers that rest on one draw: twenty draws of ours or more, and whether the printed number is among them.

What is drawn is the same for all cells of a kind: the points of a synthetic set, the rows of Magic, 99 % of the
training rows of Shuttle, the order of the rows where equal distances are settled by it, or the folds and the starts of
mixtures. Everything else is as in the study of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.model_selection import KFold

from oblique_cli import config
from oblique_cli.data.dataset import Dataset
from oblique_cli.evaluation import published
from oblique_cli.evaluation.published import Published
from oblique_cli.evaluation.tables import method_of, method_titles
from oblique_cli.experiments.dispatching import Call
from oblique_cli.experiments.fits import Case
from oblique_cli.ground import seeds
from oblique_cli.ground.nouns import DatasetSpec, Job
from oblique_cli.papers.reproduction.framework.printed_cells import AGREES, Cell
from oblique_cli.papers.reproduction.framework.runs import (
    dataset_names,
    loaded,
    measuring,
    qualifier,
    result_of,
    step,
    take,
)
from oblique_cli.papers.reproduction.framework.studies import ExtraTable, StudyRequest, StudyResult, study
from oblique_cli.papers.reproduction.studies import editing
from studies import script
from studies.drawing import CLUSTERS, Drawing, draw_step
from studies.prints import decimals

QUICK, ORDERS = 2, 20
HEADER = ("table", "data set", "method", "metric", "which", "published", "draws", "least", "largest", "among them",
          "agree")  # fmt: skip


@dataclass(frozen=True)
class Drawn:
    """A method on a data set whose rows are drawn anew.

    kind    what is drawn: "points", "rows" or "folds"
    table   reference of the printed table
    config  below configs/reproduce, and the id of the algorithm in it
    chosen  parameters that the study chose, where choosing them again takes too long; None chooses for every draw
    draws   how many in the full profile, if more than for the others
    """

    kind: str
    table: str
    dataset: str
    config: str
    algorithm: str
    chosen: Mapping[str, float] | None = None
    draws: int = 20


PAPER, THESIS = "manwani2012", "wickramarachchi2015"
CELLS: tuple[Drawn, ...] = (
    Drawn("points", f"{PAPER}:II", "checkerboard_2x2", "gdt_trees", "gdt", draws=200),
    Drawn("points", f"{PAPER}:II", "checkerboard_4x4", "gdt_trees", "gdt"),
    Drawn("points", f"{PAPER}:II", "synthetic_10d", "gdt_trees", "gdt"),
    Drawn("points", f"{PAPER}:III", "checkerboard_2x2", "gdt_gepsvm_linear", "gepsvm"),
    Drawn("points", f"{PAPER}:III", "checkerboard_2x2", "gdt_svm_gaussian", "svm"),
    Drawn("points", f"{PAPER}:III", "checkerboard_4x4", "gdt_gepsvm_gaussian", "gepsvm", {"width": 8.0}),
    Drawn("points", f"{PAPER}:III", "magic_balanced", "gdt_gepsvm_linear", "gepsvm"),
    Drawn("points", f"{PAPER}:III", "magic_balanced", "gdt_svm_gaussian", "svm", {"cost": 128.0, "width": 0.000016}),
    Drawn("rows", f"{THESIS}:5.2", "shuttle", "chapter5_shuttle", "gdt"),
    Drawn("rows", f"{THESIS}:5.2", "shuttle", "chapter5_shuttle", "hhgdt"),
    Drawn("folds", f"{THESIS}:6.2", "pima", "chapter6_cv", "hhbut"),
    Drawn("folds", f"{THESIS}:6.1", "banknote", "chapter6_bic", "hhbut"),
    Drawn("folds", f"{THESIS}:5.9", "banknote", "chapter5_hhcrv", "hhcrv"),
)
CELLS += tuple(
    Drawn("folds", f"{PAPER}:II", name, "gdt_trees", "gdt")
    for name in ("balance_scale", "bupa", "glass", "vehicle", "wine")
)
TREES = "amalaman2015:2.7"
CELLS += tuple(
    Drawn("points", TREES, name, "tprti", algorithm)
    for name, algorithm in (
        ("sine_product", "retis"),
        ("sine_product", "tprti_a"),
        ("friedman", "retis"),
        ("friedman", "tprti_a"),
    )
)


@measuring
def order_step(job: Job, data: Dataset, scaling: str) -> dict[str, float]:
    """Return figure 6.4 of rows in a random order: it decides which of equal neighbors counts, and the folds."""
    order = seeds.generator(job.seed, "draws", data.name, "order").permutation(data.n)
    shuffled = replace(data, X=np.ascontiguousarray(data.X[order]), y=data.y[order])
    scores = editing.edited(shuffled, scaling, list(KFold(10).split(shuffled.X)), job.seed, False)
    return {f"{method}|{metric}|{_which(marks)}": values[0] for (_, method, metric, marks), values in scores.items()}


def _which(marks: Sequence[tuple[str, object]]) -> str:
    return "; ".join(f"{name}={value}" for name, value in sorted(marks))


@study("Printed numbers that rest on one draw, among twenty draws of ours", selects=("dataset",))
def draws(request: StudyRequest) -> StudyResult:
    """Draw twenty times, and hold the least and the largest value beside the printed one."""
    calls = [*_calls(request), *_order_calls(request)]
    steps = take(request, "draws", [call for _, call in calls])
    rows = tuple(row for key, measures in steps.measures_by(calls).items() for row in _beside(*key, measures))
    return result_of([steps], tables=[ExtraTable("cells", "Printed numbers among draws of ours", HEADER, rows, left=5)])


Keyed = tuple[tuple[str, str, str], Call]


def _calls(request: StudyRequest) -> Iterator[Keyed]:
    for drawn in CELLS:
        if not request.wants("dataset", drawn.dataset):
            continue
        experiment = config.load(f"reproduce/{drawn.config}")
        policy = next(dataset for dataset in experiment.datasets if dataset.name == drawn.dataset)
        spec = next(algorithm for algorithm in experiment.algorithms if algorithm.id == drawn.algorithm)
        spec = spec.on(drawn.dataset)
        if (data := loaded(request, "draws", policy)) is None:
            continue
        case = Case.of(experiment, data, policy, spec)
        rows = None
        if drawn.dataset == "magic_balanced" and (rows := loaded(request, "draws", DatasetSpec("magic"))) is None:
            continue
        drawing = Drawing(drawn.kind, case, experiment.cv, drawn.chosen, rows)
        title = method_of(spec, method_titles())
        for draw in range(QUICK if request.profile == "quick" else drawn.draws):
            seed = seeds.integer(request.seed, "draws", drawn.dataset, draw)
            decides = (drawn.kind, drawn.table, data.digest, spec.params, spec.grid, vars(experiment.cv), drawn.chosen)
            job = step("draws", drawn.dataset, f"{drawn.table} {title}", draw, seed, *map(str, decides))
            yield (drawn.table, drawn.dataset, title), (job, draw_step, (drawing,))


def _order_calls(request: StudyRequest) -> Iterator[Keyed]:
    table = "amalaman2015:6.4"
    for name in editing.EDITED_SETS:
        if request.wants("dataset", name):
            data, scaling = editing.dataset_of(name, request.data_dir, request.offline)
            for draw in range(QUICK if request.profile == "quick" else ORDERS):
                seed = seeds.integer(request.seed, "draws", name, draw)
                job = step("draws", name, "order of rows", draw, seed, data.digest, scaling)
                yield (table, name, ""), (job, order_step, (data, scaling))


def _beside(table: str, dataset: str, method: str, draws: Sequence[Mapping[str, float]]) -> Iterator[tuple[str, ...]]:
    """Rows of the table: each printed number of a method, or of all of figure 6.4, beside the draws."""
    source, _, number_of = table.partition(":")
    names = dataset_names(source)
    for number in published.numbers(source, number_of):
        if number.mean is None or names.get(number.dataset, number.dataset) != dataset:
            continue
        if method:
            if method not in number.methods and not (number.metric == CLUSTERS and "HHBUT" in number.method):
                continue
            mark = f"; class_index={number.qualifiers.get('class_index')}" if number.metric == CLUSTERS else ""
            key = f"{number.metric}{mark}"
        else:
            marks = [(name, number.qualifiers[name]) for name in editing.IDENTIFYING if name in number.qualifiers]
            key = f"{number.method}|{number.metric}|{_which(marks)}"
        if key not in draws[0]:
            continue
        values = [each[key] for each in draws]
        half = 0.5 * 10.0 ** -decimals(number)  # a draw that would be printed alike is among them
        among = min(values) - half <= number.mean <= max(values) + half
        ends = (f"{min(values):.3f}", f"{max(values):.3f}", "yes" if among else "no")
        yield (table, dataset, number.method, number.metric, qualifier(number), f"{number.mean:g}", str(len(values)),
               *ends, _agreeing(key, number, draws))  # fmt: skip


def _agreeing(key: str, number: Published, draws: Sequence[Mapping[str, float]]) -> str:
    """How many draws agree with a printed number by the rule of verdicts; "" where a draw has no repetitions."""
    drawn = [(each[key], each.get(f"{key} sd")) for each in draws]
    if any(sd is None for _, sd in drawn):
        return ""
    cells = [Cell("", "", "", "", mean, sd, number.mean, number.sd) for mean, sd in drawn]
    return str(sum(cell.verdict == AGREES for cell in cells))


if __name__ == "__main__":
    script(draws)
