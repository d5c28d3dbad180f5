"""Chapter 2 of Amalaman's dissertation: TPRTI against RETIS, M5, GUIDE and SECRET, Tables 2.6 to 2.8."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from oblique_cli.evaluation.published import Published, find, numbers, unit
from oblique_cli.papers.reproduction.framework import runs
from oblique_cli.papers.reproduction.framework.declarations import Declaration, Runs, declare
from oblique_cli.papers.reproduction.framework.runs import FoldScores, Number, Ours, Score
from oblique_cli.papers.reproduction.framework.studies import ExtraTable

SOURCE = "amalaman2015"
TABLES = tuple(f"{SOURCE}:2.{table}" for table in (6, 7, 8))
METHODS = {"tprti_a": "TPRTI-A", "tprti_b": "TPRTI-B", "retis": "RETIS", "m5_style": "M5", "cart_regression": "CART"}
COPIED = ("GUIDE", "SECRET")  # printed numbers of another paper, which the dissertation uses for comparison
NOT_RUN = dict.fromkeys(COPIED, "printed numbers of another paper")
# RETIS has no printed number on kin8nm.
DATASETS = ("three_pieces", "one_bend", "breiman_levels", "sine_product", "friedman", "abalone", "auto_mpg",
            "boston_housing", "auto_mpg_zscore", "stock", "tecator", "kin8nm")  # fmt: skip
TABLE = find(TABLES[1])
MEASURES: Mapping[str, Score] = {"mse": lambda row: row.measures["mse"], "n_leaves": lambda row: row.n_leaves}
OUTCOMES = ("wins", "ties", "losses")


def _scores(done: Runs) -> FoldScores:
    return runs.fold_scores(done.of("trees"), METHODS, MEASURES)


def _is_whole(scores: FoldScores) -> bool:
    return all((dataset, method) in scores for dataset in DATASETS for method in METHODS.values())


def _of_table_2_6(done: Runs) -> Ours:
    scores, counts = _scores(done), {}
    if _is_whole(scores):
        counts = duels(scores)

    def ours(number: Published, dataset: str) -> Number | None:
        count = counts.get((number.method, number.qualifiers["versus"]))
        return (count[OUTCOMES.index(number.metric)], None, "counted by the printed rule") if count else None

    return ours


def _of_table_2_7(done: Runs) -> Ours:
    """Return a function for errors, in the unit of their row of Table 2.7, and leaves."""
    scores = _scores(done)

    def ours(number: Published, dataset: str) -> Number | None:
        value = scores.get((dataset, number.method), {}).get(number.metric)
        return value.number(unit(TABLE, dataset, number.metric)) if value else None

    return ours


def _of_table_2_8(done: Runs) -> Ours:
    scores = _scores(done)
    best = best_combinations(scores, DATASETS) if _is_whole(scores) else {}
    return lambda number, _: (best[number.method], None, "counted from the means") if number.method in best else None


def wins_ties_losses(ours: Mapping[str, tuple[float, float]], theirs: Mapping[str, tuple[float, float]]) -> list[int]:
    """Count data sets by the rule of section 2.4.3: of two errors mu1 < mu2 it is a tie if mu1 + c1 > mu2."""
    counts = [0, 0, 0]
    for dataset in ours.keys() & theirs.keys():
        (a, sd_a), (b, sd_b) = ours[dataset], theirs[dataset]
        if a == b or (a + sd_a > b if a < b else b + sd_b > a):
            counts[1] += 1
        else:
            counts[0 if a < b else 2] += 1
    return counts


def duels(scores: FoldScores) -> dict[tuple[str, str], list[int]]:
    """Return (method, versus) -> wins, ties, losses of TPRTI-A and -B."""
    means: dict[str, dict[str, tuple[float, float]]] = {}
    for (dataset, method), score_of in scores.items():
        mean, sd, _ = score_of["mse"].number(unit(TABLE, dataset, "mse"))
        means.setdefault(method, {})[dataset] = (mean, sd or 0.0)
    names = runs.dataset_names(SOURCE)
    for number in numbers(SOURCE, "2.7"):
        if number.method in COPIED and number.metric == "mse" and number.mean is not None:
            means.setdefault(number.method, {})[names[number.dataset]] = (number.mean, number.sd or 0.0)
    return {
        (method, other): wins_ties_losses(means[method], means[other])
        for method in ("TPRTI-A", "TPRTI-B")
        for other in means
        if method != other
    }


def best_combinations(scores: FoldScores, datasets: Iterable[str]) -> dict[str, int]:
    """Return by method the number of data sets where its error and its leaves are both the least (Table 2.8)."""
    methods = ("M5", "TPRTI-A", "TPRTI-B", "RETIS")
    counts = dict.fromkeys(methods, 0)
    for dataset in datasets:
        for method in methods:
            values = {other: scores[dataset, other] for other in methods}
            counts[method] += all(
                values[method][name].mean <= min(v[name].mean for v in values.values()) for name in MEASURES
            )
    return counts


def tables(done: Runs) -> Iterator[ExtraTable]:
    """Yield our numbers with both SDs, with CART, constant trees absent from the dissertation."""
    rows = []
    for (dataset, method), score_of in _scores(done).items():
        mse, leaves = score_of["mse"], score_of["n_leaves"]
        sds = [f"{sd:.3g}" if sd is not None else "" for sd in (mse.over_folds, mse.over_repeats)]
        rows.append((dataset, method, f"{mse.mean:.4g}", *sds, f"{leaves.mean:.1f}"))
    header = ("data set", "method", "MSE", "SD over folds", "SD over repetitions", "leaves")
    caption = "Mean squared errors with both standard deviations, CART for reference"
    yield ExtraTable("errors", caption, header, tuple(rows))


# Tables 2.6 and 2.8 are counted once all data sets are complete. M5 is our M5-style tree.
LAYOUTS = (_of_table_2_6, _of_table_2_7, _of_table_2_8)
declare(
    "tprti",
    "TPRTI against RETIS, M5, GUIDE and SECRET (Amalaman 2015, chapter 2)",
    Declaration({"trees": ("tprti",)}, dict(zip(TABLES, LAYOUTS, strict=True)), NOT_RUN, extras=tables),
)
