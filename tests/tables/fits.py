"""The default fit against a random forest and a linear model, on the same folds of the tables of the corpus.

`python -m tools.tables fits` writes results/tables/fits.csv, one line a table.
"""

import math
import statistics
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from oblique_cli.data.dataset import Dataset
from oblique_cli.fitting import fitting
from oblique_cli.fitting.budget import Budget, candidates
from oblique_cli.ground import seeds
from oblique_cli.ground.nouns import AlgorithmSpec, DatasetSpec
from tables import corpus, judging

ROOT = Path(__file__).resolve().parents[2]
STORED = ROOT / "results" / "tables" / "fits.csv"

MOST_ROWS = 1000  # of a larger table as many are drawn
FOLDS = 5
POINTS = 0.03  # a fit is worse if it lacks more than this,
ERRORS = 2  # and more than as many standard errors, to both rivals
TREES = 200
SECONDS = 60.0  # the budget of `oblique fit` without an option


@dataclass(frozen=True)
class Result:
    """What came of one table.

    metric : "accuracy", or "skill" for numbers: 1 - RMSE / RMSE of the mean of the training rows
    fit, forest, linear : its mean over the folds
    to_forest, to_linear : mean of fit - rival over the folds, and their standard errors behind
    chosen : the algorithms that were chosen, with how often
    seconds : of CPU that one fit took, on average
    """

    table: str
    rows: int
    features: int
    folds: int
    metric: str
    fit: float
    forest: float
    linear: float
    to_forest: float
    to_forest_se: float
    to_linear: float
    to_linear_se: float
    chosen: str
    seconds: float

    @property
    def is_worse(self) -> bool:
        """Whether the fit is worse than both rivals."""
        pairs = ((self.to_forest, self.to_forest_se), (self.to_linear, self.to_linear_se))
        return all(lead < -POINTS and lead < -ERRORS * se for lead, se in pairs)


def standard_error(differences: Sequence[float]) -> float:
    """The standard error of the mean of differences over the folds of one cross-validation.

    Training sets of folds overlap, so the variance of the mean is that of the folds times 1/k + 1/(k - 1), test over
    training rows, in place of 1/k (Nadeau and Bengio, 2003).
    By hand: 0, 0.1 in two folds have variance 0.005, so it is sqrt(0.005 * 1.5) = 0.0866.
    """
    k = len(differences)
    return math.sqrt(statistics.variance(differences) * (1 / k + 1 / (k - 1)))


def fitted(dataset: Dataset, columns: Any) -> Any:
    """The model of `oblique fit` without an option."""
    specs = [
        AlgorithmSpec(one["name"], one["id"], {k: v for k, v in one.items() if k not in ("name", "id")})
        for one in candidates(dataset.task)
    ]
    policy = DatasetSpec("table", missing="impute", encoding="onehot")
    return fitting.fit(dataset, policy, specs, columns=columns, budget=Budget(SECONDS)).model


def rivals(dataset: Dataset, trees: int = TREES) -> list[Any]:
    """A random forest and a linear model, with levels as 0/1 columns and gaps filled."""
    levels = list(dataset.qualitative)
    numbers = [j for j in range(dataset.p) if j not in levels]

    def prepared(model: Any) -> Any:
        return make_pipeline(
            make_column_transformer(
                (make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler()), numbers),
                (OneHotEncoder(handle_unknown="ignore"), levels),
                sparse_threshold=0,
            ),
            model,
        )

    if dataset.task == "regression":
        return [prepared(RandomForestRegressor(trees, random_state=1)), prepared(RidgeCV(np.logspace(-3, 3, 13)))]
    return [
        prepared(RandomForestClassifier(trees, random_state=1)),
        prepared(LogisticRegression(max_iter=2000)),
    ]


def score(dataset: Dataset, train: np.ndarray, test: np.ndarray, predicted: Any) -> float:
    """Accuracy, or the skill of predicted numbers."""
    y = dataset.y[test]
    if dataset.task == "classification":
        return float(np.mean(np.asarray(predicted) == y))
    errors = y - np.asarray(predicted, dtype=float)
    return 1 - math.sqrt(np.mean(errors**2) / np.mean((y - dataset.y[train].mean()) ** 2))


def rows_of(dataset: Dataset, rows: np.ndarray) -> Dataset:
    """Some rows of a data set."""
    return replace(dataset, X=np.ascontiguousarray(dataset.X[rows]), y=dataset.y[rows])


def measured(table: corpus.Table, folds: int = FOLDS, most_rows: int = MOST_ROWS) -> Result:
    """Hold the default fit to its rivals; it sees the training rows of each fold alone.

    How the table is read is found out from all its rows, for all three models alike; of its target, only the classes.
    Stochasticity: rows are drawn by a stream named after the table, folds and forests have seed 1.
    """
    judged = judging.judged(table)
    dataset = judged.dataset
    if dataset.n > most_rows:
        drawn = seeds.generator(1, "rows of a table", table.name).choice(dataset.n, most_rows, replace=False)
        dataset = rows_of(dataset, np.sort(drawn))
    if dataset.task == "classification":
        codes, counts = np.unique(dataset.y, return_counts=True)
        frequent = np.isin(dataset.y, codes[counts >= folds])  # others cannot be in every fold
        dataset = rows_of(dataset, np.flatnonzero(frequent))
    Division = StratifiedKFold if dataset.task == "classification" else KFold
    scores: list[tuple[float, float, float]] = []
    chosen: Counter[str] = Counter()
    seconds = 0.0
    for train, test in Division(folds, shuffle=True, random_state=1).split(dataset.X, dataset.y):
        part = rows_of(dataset, train)
        before = time.process_time()
        model = fitted(part, judged.columns)
        seconds += time.process_time() - before
        chosen[model.algorithm] += 1
        predicted = model.predict(dataset.X[test])
        if dataset.task == "classification":
            code = {label: k for k, label in enumerate(dataset.classes)}
            predicted = [code[str(label)] for label in predicted]
        found = [score(dataset, train, test, predicted)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for rival in rivals(part):
                predicted = rival.fit(part.X, part.y).predict(dataset.X[test])
                found.append(score(dataset, train, test, predicted))
        scores.append((found[0], found[1], found[2]))
    fit, forest, linear = zip(*scores, strict=True)
    leads = [[mine - other for mine, other in zip(fit, rival, strict=True)] for rival in (forest, linear)]
    return Result(
        table.name,
        dataset.n,
        dataset.p,
        folds,
        "accuracy" if dataset.task == "classification" else "skill",
        *(round(statistics.fmean(some), 4) for some in (fit, forest, linear)),
        *(round(value, 4) for lead in leads for value in (statistics.fmean(lead), standard_error(lead))),
        " ".join(f"{name}:{count}" for name, count in sorted(chosen.items())),
        round(seconds / folds, 1),
    )


def stored() -> list[Result]:
    """The stored results."""
    return [Result(**row) for row in pandas.read_csv(STORED).to_dict("records")]


def store(results: Sequence[Result]) -> None:
    """Write results, in the order of the corpus."""
    order = {table.name: k for k, table in enumerate(corpus.tables())}
    STORED.parent.mkdir(parents=True, exist_ok=True)
    ordered = sorted(results, key=lambda result: order[result.table])
    pandas.DataFrame(map(asdict, ordered)).to_csv(STORED, index=False, lineterminator="\n")
