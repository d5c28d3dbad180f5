"""What WEKA itself makes of the data, where a text says that its numbers are WEKA's.

Amalaman (2015) ran "M5" and "Simple CART" with WEKA, and prints sizes of M5 whose SD is 0 on all twelve sets: those of
the one model that WEKA shows for all rows. WEKA has two programs by that name, M5P, which makes a tree, and M5Rules,
which makes rules; the text does not say which. Both are held beside print. Synthetic points are drawn twenty times.

Its errors are held beside print too: mean and SD of the squared RMSE of WEKA's 10-fold cross-validation under its seeds
1 to 10, of the rows and inputs that Table 2.4 counts (`AS_COUNTED`).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from oblique_cli.data.dataset import Dataset
from oblique_cli.data.synthetic import SYNTHETIC
from oblique_cli.estimators.outside.weka_classifier import archive, run, write_arff
from oblique_cli.evaluation import published
from oblique_cli.evaluation.published import Published
from oblique_cli.experiments.dispatching import Call
from oblique_cli.ground import seeds
from oblique_cli.ground.nouns import DatasetSpec, Job
from oblique_cli.papers.reproduction.framework.runs import dataset_names, loaded, measuring, result_of, step, take
from oblique_cli.papers.reproduction.framework.studies import ExtraTable, StudyRequest, StudyResult, study
from studies import halves, script

SOURCE = "amalaman2015"
DRAWS = {"quick": 2, "full": 20}
SEEDS = {"quick": 2, "full": 10}  # of WEKA's cross-validation, from 1 on; the text: "repeated 10 times"
# Table 2.4 counts 8 attributes of Abalone with its target, which leaves no place for Sex, and 949 rows of Stock: the
# text removed the first.
AS_COUNTED: Mapping[str, Callable[[Dataset], Dataset]] = {
    "abalone": lambda data: replace(data, X=data.X[:, 1:], feature_names=data.feature_names[1:]),
    "stock": lambda data: replace(data, X=data.X[1:], y=data.y[1:]),
}
# M5Rules takes minutes for each of the cross-validations of Kin8nm: its errors are not held beside print.
TOO_LONG = ("kin8nm",)
ERRORS = ("2.7", "M5", "mse")


@dataclass(frozen=True)
class Program:
    """A program of WEKA that a printed column may be of.

    table, method   the column
    size            finds the size in what the program prints
    """

    java_class: str
    table: str
    method: str
    size: str

    @property
    def name(self) -> str:
        """Its name in WEKA."""
        return self.java_class.rpartition(".")[2]


RULES = r"Number of Rules : (\d+)"
PROGRAMS = (
    Program("weka.classifiers.trees.M5P", "2.7", "M5", RULES),
    Program("weka.classifiers.rules.M5Rules", "2.7", "M5", RULES),
    Program("weka.classifiers.trees.SimpleCart", "3.6", "Simple CART", r"Number of Leaf Nodes: (\d+)"),
)


def _output(program: Program, data: Dataset, X: np.ndarray, y: np.ndarray, options: Sequence[object]) -> str:
    """Return the output of a program for rows. data : whose task and classes they have"""
    regression = data.task == "regression"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.arff")
        codes = y if regression else np.unique(y, return_inverse=True)[1]
        write_arff(path, np.asarray(X), codes, 0 if regression else len(data.classes))
        return run(program.java_class, ["-t", path, *options, "-v"])


@measuring
def size_step(job: Job, data: Dataset, program: Program, draw: int | None) -> dict[str, float]:
    """Return the size of WEKA's model of all rows. draw : of a synthetic set's points; None for the rows as they are"""
    X, y = data.X, data.y
    if draw is not None:
        X, y = SYNTHETIC[data.name](seeds.generator(draw, "synthetic", data.name))
    output = _output(program, data, X, y, ["-no-cv"])
    size = re.search(program.size, output)
    if size is None:
        raise RuntimeError(f"{program.name} of WEKA says no size")
    return {"size": float(size[1])}


@measuring
def error_step(job: Job, data: Dataset, program: Program, seed: int) -> dict[str, float]:
    """Return the squared RMSE of WEKA's 10-fold cross-validation with a seed of WEKA's."""
    output = _output(program, data, data.X, data.y, ["-x", 10, "-s", seed])
    errors = re.findall(r"Root mean squared error\s+([\d.]+)", output)
    if not errors:
        raise RuntimeError(f"{program.name} of WEKA says no error")
    return {"mse": float(errors[-1]) ** 2}


@study(
    "Sizes and errors of M5, and sizes of Simple CART, by WEKA itself (Amalaman 2015, Tables 2.7 and 3.6)",
    selects=("dataset",),
)
def weka(request: StudyRequest) -> StudyResult:
    """Run WEKA on half of the sets and on the others; without it, or without java, say what is missing."""
    _, missing = archive()
    if missing:
        request.say(f"weka: not run, {missing}")
        return StudyResult(())
    names = dict.fromkeys(name for program in PROGRAMS for name in printed_sizes(program))
    wanted = (DatasetSpec(name, encoding="ordinal") for name in names if request.wants("dataset", name))
    sets = {policy.name: data for policy in wanted if (data := loaded(request, "weka", policy)) is not None}
    calls, validated = list(_calls(request, sets)), list(_error_calls(request, sets))
    steps = take(request, "weka", [call for _, call in [*calls, *validated]])
    sizes_by = {key: [each["size"] for each in sizes] for key, sizes in steps.measures_by(calls).items()}
    errors = {key: [each["mse"] for each in measures] for key, measures in steps.measures_by(validated).items()}
    return result_of([steps], tables=(size_table(sizes_by), half_table(sizes_by), error_table(errors)))


def printed(table: str, method: str, metric: str) -> dict[str, Published]:
    """Return the printed numbers by our name of the data set, in the order of the table."""
    names = dataset_names(SOURCE)
    return {
        names[number.dataset]: number
        for number in published.numbers(SOURCE, table)
        if (number.method, number.metric) == (method, metric) and number.mean is not None and number.dataset in names
    }


def printed_sizes(program: Program) -> dict[str, float]:
    """Return the printed size by our name of the data set."""
    numbers = printed(program.table, program.method, "n_leaves")
    return {name: number.mean for name, number in numbers.items() if number.mean is not None}


Sets = Mapping[str, Dataset]


def _calls(request: StudyRequest, sets: Sets) -> Iterator[tuple[tuple[Program, str], Call]]:
    for program in PROGRAMS:
        for name in printed_sizes(program):
            if (data := sets.get(name)) is None:
                continue
            draws: Sequence[int | None] = range(DRAWS[request.profile]) if name in SYNTHETIC else (None,)
            for draw in draws:
                job = step("weka", name, program.name, draw or 0, request.seed, data.digest, program.java_class)
                yield (program, name), (job, size_step, (data, program, draw))


def _error_calls(request: StudyRequest, sets: Sets) -> Iterator[tuple[tuple[Program, str], Call]]:
    for name in printed(*ERRORS):
        if (data := sets.get(name)) is None or name in TOO_LONG:
            continue
        counted = AS_COUNTED[name](data) if name in AS_COUNTED else data
        for program in PROGRAMS:
            if program.method != "M5":
                continue
            for seed in range(1, SEEDS[request.profile] + 1):
                decides = (data.digest, program.java_class, "error", *counted.X.shape)
                yield (program, name), (step("weka", name, f"{program.name}, error", seed, request.seed, *decides),
                                        error_step, (counted, program, seed))  # fmt: skip


def error_table(errors_by: Mapping[tuple[Program, str], Sequence[float]]) -> ExtraTable:
    """Every printed error of M5 beside those of the programs."""
    numbers = printed(*ERRORS)
    rows = tuple(
        (f"{SOURCE}:2.7", dataset, program.name, f"{numbers[dataset].mean:g}", f"{numbers[dataset].sd:g}",
         str(len(errors)), f"{fmean(errors):.5g}", f"{stdev(errors):.4g}")
        for (program, dataset), errors in errors_by.items()
    )  # fmt: skip
    header = ("table", "data set", "program", "published", "published SD", "seeds", "MSE", "SD")
    caption = "Printed errors of M5 and those of WEKA's cross-validations under its seeds"
    return ExtraTable("errors", caption, header, rows, left=3)


Sizes = Mapping[tuple[Program, str], Sequence[float]]


def is_met(sizes: Sequence[float], printed: float) -> bool:
    """Return whether a printed size is that of the program, or lies among its sizes under draws of the points."""
    return min(sizes) <= printed <= max(sizes)


def size_table(sizes_by: Sizes) -> ExtraTable:
    """Every printed size beside those of the programs."""
    rows = tuple(
        (f"{SOURCE}:{program.table}", dataset, program.method, program.name, f"{printed_sizes(program)[dataset]:g}",
         str(len(sizes)), f"{min(sizes):g}", f"{max(sizes):g}",
         "yes" if is_met(sizes, printed_sizes(program)[dataset]) else "no")
        for (program, dataset), sizes in sizes_by.items()
    )  # fmt: skip
    header = ("table", "data set", "method", "program", "published", "draws", "least", "largest", "met")
    return ExtraTable("sizes", "Printed sizes and those of WEKA's programs on all rows", header, rows, left=4)


def half_table(sizes_by: Sizes) -> ExtraTable:
    """How many printed sizes each program meets, on every second set of its table and on the others."""
    rows = []
    for program in PROGRAMS:
        sizes = printed_sizes(program)
        counts: list[str] = []
        for half in halves([name for name in sizes if (program, name) in sizes_by]):
            counts += [str(len(half)), str(sum(is_met(sizes_by[program, name], sizes[name]) for name in half))]
        if any((program, name) in sizes_by for name in sizes):
            rows.append((f"{SOURCE}:{program.table}", program.name, *counts))
    header = ("table", "program", "sets", "met on half of the sets", "other sets", "met on the others")
    return ExtraTable("halves", "Printed sizes that each program of WEKA meets", header, tuple(rows), left=2)


if __name__ == "__main__":
    script(weka)
