"""HC-edit (Amalaman 2015, chapter 6): figure 6.4, and readings of its folds, units, rows and class limits."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from oblique_cli.data import catalogue
from oblique_cli.data.dataset import Dataset
from oblique_cli.estimators.algorithms import make
from oblique_cli.evaluation import published
from oblique_cli.experiments.dispatching import Call
from oblique_cli.ground import seeds
from oblique_cli.ground.nouns import DatasetSpec, Job
from oblique_cli.papers.hierarchy.dissimilarities import pairwise, to_square
from oblique_cli.papers.hierarchy.editing_classifiers import HCEditClassifier
from oblique_cli.papers.hierarchy.editors import votes, winners
from oblique_cli.papers.reproduction.framework.runs import measuring, step
from oblique_cli.papers.reproduction.framework.studies import ExtraTable, StudyRequest

SOURCE = "amalaman2015"
REPEATS = {"quick": 2, "full": 10}  # of HC-edit's cross-validation

EDITED_SETS = ("boston_housing_3class", "bupa", "house_votes_complete")
NEIGHBORS = (1, 3, 5, 7)
BETAS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)
EDITORS = {"HC-edit-STAXAC": "hc_edit_staxac", "HC-edit-UPGMA": "hc_edit_upgma"}
TREES = {"HC-edit-STAXAC": "staxac", "HC-edit-UPGMA": "upgma"}
INSIDE = "accuracy_percent, beta chosen inside"
BY_TEST_LABELS = f"best of {len(BETAS)} values of beta by the test labels, as published"
OTHERS = {"WilsonProb": "wilson_prob", "Wilson": "wilson", "k-NN": "knn"}
IDENTIFYING = ("theta_percent", "theta", "clustering", "rank", "k", "beta_percent", "x")

# Finding, published value, our value, and whether it holds: None within chance, or if nothing is published.
Finding = tuple[str, str, str, bool | None]
Qualifiers = tuple[tuple[str, str], ...]
# Data set, method, metric, qualifiers -> values of all draws or repetitions.
Key = tuple[str, str, str, Qualifiers]
Scores = dict[Key, list[float]]


def score_key(dataset: str, method: str, metric: str, **qualifiers: object) -> Key:
    """Return the key of a number."""
    return dataset, method, metric, tuple(sorted((k, str(v)) for k, v in qualifiers.items()))


def key_of(text: str) -> Key:
    """Return the key from its stored text."""
    dataset, method, metric, qualifiers = json.loads(text)
    return dataset, method, metric, tuple((name, value) for name, value in qualifiers)


def as_measures(scores: Scores) -> dict[str, float]:
    """Return scores of one value each in the form that a step stores."""
    return {json.dumps(key): value for key, (value,) in scores.items()}


@dataclass
class Results:
    """Results for a part of the dissertation: scores, and findings with their direction."""

    scores: Scores = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add(self, value: float, dataset: str, method: str, metric: str, **qualifiers: object) -> None:
        """Add the value of a draw or repetition."""
        self.scores.setdefault(score_key(dataset, method, metric, **qualifiers), []).append(float(value))

    def values(self, dataset: str, method: str, metric: str, **qualifiers: object) -> list[float]:
        """Return the values of all draws or repetitions."""
        return self.scores[score_key(dataset, method, metric, **qualifiers)]

    def finds(self, finding: str, published: str, ours: str, holds: bool | None) -> None:
        """Add a finding."""
        self.findings.append((finding, published, ours, holds))

    def compare(self, finding: str, published: str, a: Sequence[float], b: Sequence[float]) -> None:
        """Add whether a is less than b over paired draws; open if the mean gap is within two standard errors of 0."""
        differences = np.subtract(b, a)
        error = float(differences.std(ddof=1)) / len(a) ** 0.5
        mean = float(differences.mean())
        holds = None if abs(mean) <= 2 * error else mean > 0
        self.finds(finding, published, f"{fmean(a):.3g} and {fmean(b):.3g}", holds)


# ---- data sets -------------------------------------------------------------------------------------------------------


def wants(request: StudyRequest, name: str) -> bool:
    """Return whether a data set is requested; Boston has two names."""
    return request.wants("dataset", name, *(("boston_housing",) if name == "boston_housing_3class" else ()))


def dataset_of(name: str, data_dir: str | None, offline: bool) -> tuple[Dataset, str]:
    """Return a data set of the dissertation and the scaling of its columns."""
    if name == "boston_housing_3class":
        return _boston(catalogue.load(DatasetSpec("boston_housing"), data_dir, offline)), "zscore"
    data = catalogue.load(DatasetSpec(name, encoding="ordinal"), data_dir, offline)
    return data, "none" if data.qualitative else "zscore"


def _boston(data: Dataset, attributes: int = 12) -> Dataset:
    """Return Boston in three classes; the limits are not printed, so they are those of earlier comparisons: log prices
    9.84 and 10.075. Without the river dummy there are the 12 attributes of Table 5.5; with 13 it stays."""
    columns = [i for i, name in enumerate(data.feature_names) if attributes == 13 or name.lower() != "chas"]
    codes = np.digitize(np.log(1000.0 * data.y), [9.84, 10.075], right=True).astype(np.int32)
    return replace(
        data,
        name="boston_housing_3class",
        X=np.ascontiguousarray(data.X[:, columns]),
        y=codes,
        classes=("low", "middle", "high"),
        feature_names=tuple(data.feature_names[i] for i in columns),
        task="classification",
    )


# ---- figure 6.4 ------------------------------------------------------------------------------------------------------

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]  # training and test rows


def calls(request: StudyRequest) -> Iterator[Call]:
    """Yield the steps of figure 6.4, one cross-validation each."""
    for name in EDITED_SETS:
        if wants(request, name):
            data, scaling = dataset_of(name, request.data_dir, request.offline)
            for repeat in range(REPEATS[request.profile]):
                methods = (NEIGHBORS, BETAS, EDITORS, OTHERS)
                job = step("taxonomy", name, "HC-edit", repeat, request.seed, data.digest, scaling, *methods)
                yield job, editing_step, (data, scaling)


@measuring
def editing_step(job: Job, data: Dataset, scaling: str) -> dict[str, float]:
    """Run one 10-fold cross-validation of every method and k: accuracy pooled over folds, mean compression."""
    seed = seeds.integer(job.seed, "taxonomy", data.name, "editing", job.repeat)
    return as_measures(edited(data, scaling, random_folds(data, seed), seed, job.repeat == 0))


def random_folds(data: Dataset, seed: int) -> list[Fold]:
    """Return a 10-fold cross-validation."""
    return list(KFold(10, shuffle=True, random_state=seed).split(data.X))


def edited(data: Dataset, scaling: str, folds: list[Fold], seed: int, choose: bool) -> Scores:
    """Return accuracy and compression of every method and k over these folds; `choose` adds an inner choice of beta."""
    results = Results()
    for k in NEIGHBORS:
        settings: dict[str, Any] = {"n_neighbors": k, "scaling": scaling}
        for method, name in OTHERS.items():
            right, compression = 0, []
            for train, test in folds:
                model = make(name, **settings).fit(data.X[train], data.y[train])
                right += int((model.predict(data.X[test]) == data.y[test]).sum())
                compression.append(model.compression_)
            results.add(_percent(right, data.n), data.name, method, "accuracy_percent", k=k)
            results.add(fmean(compression), data.name, method, "compression_percent", k=k)
    for method in EDITORS:
        _hc_edit(data, scaling, folds, seed, method, choose, results)
    return results.scores


def _hc_edit(
    data: Dataset, scaling: str, folds: list[Fold], seed: int, method: str, choose: bool, results: Results
) -> None:
    """Add the results of HC-edit with one kind of tree in one cross-validation; `choose` beta inside as well."""
    right = np.zeros((len(NEIGHBORS), len(BETAS)), dtype=np.int64)
    honest = np.zeros(len(NEIGHBORS), dtype=np.int64)
    compression = np.zeros(len(BETAS))
    for i, (train, test) in enumerate(folds):
        X, y = data.X[train], data.y[train]
        model = HCEditClassifier(TREES[method], beta=1.0, scaling=scaling).fit(X, y)
        compression += 100 * (1 - model.n_leaves_path(BETAS) / len(train)) / len(folds)
        for j, k in enumerate(NEIGHBORS):
            model.set_params(n_neighbors=k)
            right[j] += (model.predict_path(data.X[test], BETAS) == data.y[test][:, None]).sum(axis=0)
            if choose:
                state = seeds.integer(seed, i)
                chooser = HCEditClassifier(TREES[method], n_neighbors=k, scaling=scaling, random_state=state)
                honest[j] += int((chooser.fit(X, y).predict(data.X[test]) == data.y[test]).sum())
    for j, k in enumerate(NEIGHBORS):
        results.add(_percent(right[j].max(), data.n), data.name, method, "accuracy_percent", k=k)
        if choose:
            results.add(_percent(honest[j], data.n), data.name, method, INSIDE, k=k)
        for b, beta in enumerate(BETAS):
            percent = round(100 * beta)
            results.add(compression[b], data.name, method, "compression_percent", k=k, beta_percent=percent)


def _percent(part: int, whole: int) -> float:
    """Return a percentage to two decimals, as printed, so that equal row counts give equal numbers."""
    return round(100.0 * int(part) / whole, 2)


def notes(scores: Scores) -> dict[Key, str]:
    """Return remarks on accuracies whose beta was chosen with the test labels, by their keys."""
    return {key: BY_TEST_LABELS for key in scores if key[1] in EDITORS and key[2] == "accuracy_percent"}


def accuracies(results: Results) -> ExtraTable:
    """Return figure 6.4 by its protocol, with beta chosen on the test labels, beside an inner choice of beta."""
    rows = []
    methods = (*EDITORS, *OTHERS)
    for name in EDITED_SETS:
        if not all(score_key(name, method, INSIDE, k=k) in results.scores for method in EDITORS for k in NEIGHBORS):
            continue  # not requested, or its first step failed

        def mean(method: str, metric: str, k: int, dataset: str = name, **qualifiers: object) -> float:
            return fmean(results.values(dataset, method, metric, k=k, **qualifiers))

        means = {(method, k): f"{mean(method, 'accuracy_percent', k):.2f}" for method in methods for k in NEIGHBORS}
        inside = {(method, k): mean(method, INSIDE, k) for method in EDITORS for k in NEIGHBORS}
        for k in NEIGHBORS:
            shown = [means[method, k] for method in methods]
            rows.append((name, str(k), *shown, *(f"{inside[method, k]:.2f}" for method in EDITORS)))
        removed = [
            mean("Wilson", "compression_percent", k) > mean(method, "compression_percent", k, beta_percent=90)
            for k in NEIGHBORS
            for method in EDITORS
        ]
        results.finds(
            f"{name}: HC-edit at 90% purity removes fewer rows than Wilson",
            "fewer, but for STAXAC on Bos (37.28 and 23.24 percent)",
            f"fewer in {sum(removed)} of {len(removed)} comparisons",
            sum(removed) > len(removed) / 2,
        )
        best, others = (max(float(means[m, k]) for m in group for k in NEIGHBORS) for group in (EDITORS, OTHERS))
        finding = f"{name}: HC-edit is the most accurate, beta chosen"
        shown_best = f"{best:.2f} and {others:.2f} of the others"
        results.finds(f"{finding} with the test labels", "yes (on Bos with k-NN)", shown_best, best >= others)
        honest = f"{max(inside.values()):.2f} and {others:.2f} of the others"
        results.finds(f"{finding} inside the training rows", "not reported", honest, None)
    header = ("data set", "k", *methods, *(f"{method}, beta chosen inside" for method in EDITORS))
    caption = "Accuracy of figure 6.4's methods; HC-edit's beta by the test labels, then inside"
    return ExtraTable("editing", caption, header, tuple(rows))


# ---- readings of figure 6.4 ------------------------------------------------------------------------------------------

BLD_ROWS, BLD_DRAWS = 306, 10  # printed accuracies of Bld are multiples of 1/306; samples of 306 of the 345 rows
READINGS = (
    "folds at random",
    "folds in the order of the file",
    "own units",
    f"{BLD_ROWS} random rows",
    f"{BLD_ROWS} random rows, own units",
    "13 attributes of Bos",
)


def _of_readings(data: Dataset, scaling: str, seed: int, other: Dataset | None) -> Iterator[tuple[str, ...]]:
    shuffled = random_folds(data, seeds.integer(seed, "taxonomy", data.name))
    in_file = list(KFold(10).split(data.X))
    readings = [[edited(data, scaling, folds, seed, False)] for folds in (shuffled, in_file)]
    readings.append([edited(data, "none", shuffled, seed, False)] if scaling != "none" else [])
    for units in (scaling, "none"):
        draws: list[Scores] = []
        for draw in range(BLD_DRAWS if data.name == "bupa" else 0):
            rng = seeds.generator(seed, "taxonomy", data.name, "rows", draw)
            sample = rng.permutation(data.n)[:BLD_ROWS]
            part = replace(data, X=data.X[sample], y=data.y[sample])
            draws.append(edited(part, units, list(KFold(10).split(part.X)), seed, False))
        readings.append(draws)
    readings.append([] if other is None else [edited(other, scaling, shuffled, seed, False)])
    for key in readings[0][0]:
        _, method, metric, qualifiers = key
        yield method, metric, _which(qualifiers), *(_between([run[key][0] for run in runs]) for runs in readings)


def _which(qualifiers: Qualifiers) -> str:
    return "; ".join(f"{name}={value}" for name, value in qualifiers)


def _between(values: list[float]) -> str:
    if len(values) < 2:
        return "".join(f"{value:.2f}" for value in values)
    return f"{min(values):.2f} to {max(values):.2f}"


def readings(request: StudyRequest) -> ExtraTable:
    """Return figure 6.4 under other folds, units and rows; the least and the largest value if rows are drawn."""
    rows = []
    for name in filter(lambda name: wants(request, name), EDITED_SETS):
        data, scaling = dataset_of(name, request.data_dir, request.offline)
        other = None
        if name == "boston_housing_3class":
            other = _boston(catalogue.load(DatasetSpec("boston_housing"), request.data_dir, request.offline), 13)
        rows += [(name, *row) for row in _of_readings(data, scaling, request.seed, other)]
    header = ("data set", "method", "metric", "which", *READINGS)
    return ExtraTable("editing_readings", "Figure 6.4 under other readings", header, tuple(rows), left=4)


# ---- folds and class limits of figure 6.4 ----------------------------------------------------------------------------

FOLDINGS = 200  # cross-validations of each kind
NEAR = 64  # nearest rows to examine, at least 7 of them training rows
EDITING_RULES = {"Wilson": "uniform", "WilsonProb": "distance"}
Folds = list[NDArray[np.intp]]


def in_order(n: int) -> Folds:
    """Return ten test folds in the order of the file: a tenth of the rows, rounded down, and the rest in the last."""
    size = n // 10
    return [np.arange(i * size, n if i == 9 else (i + 1) * size) for i in range(10)]


def rights(square: NDArray[np.float64], codes: NDArray[np.int32], folds: Folds) -> dict[tuple[str, int], float]:
    """Return the percentages that k nearest training rows classify correctly: by ("k-NN", k) of the test rows; by an
    editor and k of the training rows, each by the others, which is the share that the editor retains."""
    n, k, known = len(codes), max(NEIGHBORS), codes.astype(np.int64)
    order = np.argsort(square + np.diag(np.full(n, np.inf)), axis=1, kind="stable")[:, :NEAR]
    shares = {(name, k): 0.0 for name in ("k-NN", *EDITING_RULES) for k in NEIGHBORS}
    for test in folds:
        away = np.isin(order, test)
        nearest = np.take_along_axis(order, np.argsort(away, axis=1, kind="stable")[:, :k], axis=1)
        if (NEAR - away.sum(axis=1)).min() < k:
            raise ValueError(f"fewer than {k} training rows among the {NEAR} nearest")
        for name, weights in (("k-NN", "uniform"), *EDITING_RULES.items()):
            rows = test if name == "k-NN" else np.setdiff1d(np.arange(n), test)
            for few in NEIGHBORS:
                columns = nearest[rows, :few]
                ballots = votes(square[rows], columns, known, int(known.max()) + 1, weights)
                right = float((winners(ballots, columns, known) == known[rows]).sum())
                shares[name, few] += 100.0 * right / (n if name == "k-NN" else 10 * len(rows))
    return shares


def square_of(data: Dataset, scaling: str) -> NDArray[np.float64]:
    """Return distances of all rows: "all datasets were preprocessed into dissimilarity matrices"."""
    return to_square(pairwise(data.X, scaling=scaling))


def foldings(data: Dataset, seed: int, count: int) -> Iterator[Folds]:
    """Yield `count` random and `count` stratified cross-validations."""
    for kind in (KFold, StratifiedKFold):
        for draw in range(count):
            folds = kind(10, shuffle=True, random_state=seeds.integer(seed, "taxonomy", data.name, kind.__name__, draw))
            yield [test for _, test in folds.split(data.X, data.y)]


def _printed(dataset: str) -> dict[tuple[str, str, Qualifiers], float]:
    """Return printed numbers of figure 6.4, by method, metric and qualifiers, without those that are 0 by rule."""
    code = published.dataset_code(SOURCE, dataset)
    return {
        score_key("", n.method, n.metric, **{k: v for k, v in n.qualifiers.items() if k in IDENTIFYING})[1:]: n.mean
        for n in published.numbers(SOURCE, "6.4")
        if n.dataset == code and n.mean
    }


def pairs(datasets: Mapping[str, tuple[Dataset, str]], seed: int, count: int = FOLDINGS) -> ExtraTable:
    """Return two printed numbers that estimate nearly the same in any random cross-validation: the accuracy of k-NN on
    test rows, and the share of the training rows that an editor retains, which k of the others classify correctly.
    """
    rows = []
    for name, (data, scaling) in datasets.items():
        printed, square = _printed(name), square_of(data, scaling)
        of_draws = [rights(square, data.y, folds) for folds in foldings(data, seed, count)]
        in_file = rights(square, data.y, in_order(data.n))
        for editor in EDITING_RULES:
            for k in NEIGHBORS:
                which = (("k", str(k)),)
                accuracy = printed["k-NN", "accuracy_percent", which]
                retained = 100.0 - printed[editor, "compression_percent", which]
                moved = [each["k-NN", k] - each[editor, k] for each in of_draws]
                apart = accuracy - retained
                ends = min(moved), max(moved)
                shown = (f"{value:.2f}" for value in (accuracy, retained, apart))
                among = "yes" if ends[0] <= apart <= ends[1] else "no"
                last = in_file["k-NN", k] - in_file[editor, k]
                row = (name, editor, str(k), *shown, str(len(moved)), *(f"{end:.2f}" for end in ends), among)
                rows.append((*row, f"{last:.2f}"))
    header = ("data set", "editor", "k", "k-NN, test rows", "kept training rows", "difference", "draws",
              "least", "largest", "among them", "folds in the order of the file")  # fmt: skip
    return ExtraTable("pairs", "Accuracy of k-NN less what an editor keeps, printed and drawn", header, tuple(rows), 3)


def folds_and_limits(request: StudyRequest) -> Iterator[ExtraTable]:
    """Yield the tables of pairs and of limits in the full profile."""
    load = (request.data_dir, request.offline)
    sets = {name: dataset_of(name, *load) for name in EDITED_SETS if wants(request, name)}
    if request.profile == "full" and sets:
        yield pairs(sets, request.seed)
        if "boston_housing_3class" in sets:
            yield limits(catalogue.load(DatasetSpec("boston_housing"), *load))


LIMITS, WITHIN = (10.0, 40.0, 0.5), 2.0  # of MEDV; points between accuracies, the standard error of a share of 506 rows


def limits(boston: Dataset) -> ExtraTable:
    """Return figure 6.4 of Bos by the limits of its three classes, which the text does not print, with folds in file
    order. The four accuracies of k-NN alone choose the limits; the other numbers are beside them."""
    data, prices = _boston(boston), np.asarray(boston.y)
    printed, square, folds = _printed(data.name), square_of(data, "zscore"), in_order(boston.n)
    aims = {k: printed["k-NN", "accuracy_percent", (("k", str(k)),)] for k in NEIGHBORS}
    split = [(np.setdiff1d(np.arange(data.n), test), test) for test in folds]

    def scores_of(codes: NDArray[np.int32], right: Mapping[tuple[str, int], float]) -> Scores:
        """Return scores with the accuracies of k-NN from one distance matrix of all rows, which choose the limits."""
        of_all = {score_key(data.name, "k-NN", "accuracy_percent", k=k): [right["k-NN", k]] for k in NEIGHBORS}
        return edited(replace(data, y=codes), "zscore", split, 0, False) | of_all

    chosen: list[tuple[str, Scores]] = []
    steps = np.arange(*LIMITS)
    tried = 0
    for low, high in ((a, b) for a in steps for b in steps if a < b):
        codes = np.digitize(prices, [low, high], right=True).astype(np.int32)
        if np.bincount(codes, minlength=3).min() < 50:
            continue
        tried += 1
        right = rights(square, codes, folds)
        if all(abs(right["k-NN", k] - aim) <= WITHIN for k, aim in aims.items()):
            chosen.append((f"{low:g} and {high:g}", scores_of(codes, right)))
    base = scores_of(data.y, rights(square, data.y, folds))
    header = ("method", "metric", "which", "published", "ours, same folds", "limits", "least", "largest", "among them",
              *(title for title, _ in chosen))  # fmt: skip
    rows = []
    for (method, metric, which), mean in printed.items() if chosen else ():
        key = data.name, method, metric, which
        values = [scores[key][0] for _, scores in chosen]
        ends = min(values), max(values)
        among = "yes" if ends[0] <= mean <= ends[1] else "no"
        row = (method, metric, _which(which), f"{mean:g}", f"{base[key][0]:.2f}", f"{len(chosen)} of {tried}")
        rows.append((*row, *(f"{end:.2f}" for end in ends), among, *(f"{v:.2f}" for v in values)))
    return ExtraTable("limits", "Figure 6.4 of Bos by the limits of its classes", header, tuple(rows), left=3)
