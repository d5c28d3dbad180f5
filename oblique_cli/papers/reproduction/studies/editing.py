"""HC-edit (Amalaman 2015, chapter 6): figure 6.4."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from oblique_cli.data import catalogue
from oblique_cli.data.dataset import Dataset
from oblique_cli.estimators.algorithms import make
from oblique_cli.experiments.dispatching import Call
from oblique_cli.ground import seeds
from oblique_cli.ground.nouns import DatasetSpec, Job
from oblique_cli.papers.hierarchy.editing_classifiers import HCEditClassifier
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
        """Add the finding whether a is less than b over paired draws; None within two standard errors of the mean."""
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


def _boston(data: Dataset) -> Dataset:
    """Return Boston in three classes; the limits are not printed, so they are those of earlier comparisons: log prices
    9.84 and 10.075. Without the river dummy there are the 12 attributes of Table 5.5."""
    columns = [i for i, name in enumerate(data.feature_names) if name.lower() != "chas"]
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
