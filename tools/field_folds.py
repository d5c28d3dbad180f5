"""The field: our trees and ensembles beside those of other libraries. Stored folds, and the tables made from them.

python -m tools.field_folds compare results field field_beyond   # tables of stored runs of `oblique run`, by part
python -m tools.field_folds add field results field field_beyond   # stores the folds of these runs in results/field/
python -m tools.field_folds tables                               # the files below, from the stored folds alone

folds.csv.gz      a line a fold: part, dataset, method, repeat, fold, n_test, n_correct, balanced_accuracy (%),
                  log_loss (nats), leaves, terms, cpu_s (of the fit, its own choices of parameters included; the clock
                  tells hundredths, and means take 0 for one of them), failure.
                  An empty cell is a number that a model does not have
summary.csv       a line a part and method: method, part, sets, repeats, accuracy (%, mean over sets of the share of all
                  test rows), terms, leaves, cpu_s (geometric means over sets)
PART_means.csv, PART_ranks.csv, PART_METHOD.csv, PART_accuracies.csv   tables of each part
front.md          the sentence of the third part that the README has
field.svg below docs/   accuracy on the third part by what there is to read in a model

Parts are development and confirmation, the halves of the catalogue (`division`), and third, further tables. A method
is in the tables of a part if all folds of all sets were run; a set with a failed fold has no result. A method that
failed on a data set is ranked last there, and means are over the sets that all methods finished, so no failure improves
a mean.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

import numpy as np

from oblique_cli.data import catalogue
from oblique_cli.drawing.canvas import rendered
from oblique_cli.drawing.charts import Axis, Panel, Point, scatter
from oblique_cli.errors import ObliqueError
from oblique_cli.evaluation import significance_tests
from oblique_cli.evaluation.metrics import METRICS as ALL_METRICS
from oblique_cli.evaluation.sheets import MISSING, Sheet, TextGrid, render
from oblique_cli.evaluation.tables import title_of
from oblique_cli.experiments.store import Store
from oblique_cli.ground.nouns import Row
from oblique_cli.ground.seeds import generator
from oblique_cli.papers.reproduction.framework.runs import DATABASE
from oblique_cli.papers.reproduction.framework.studies import ExtraTable

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "results" / "field"
FOLDS, SUMMARY, PICTURE = FOLDER / "folds.csv.gz", FOLDER / "summary.csv", ROOT / "docs" / "field.svg"
DEVELOPMENT, CONFIRMATION, THIRD = "development", "confirmation", "third"
PARTS = (CONFIRMATION, DEVELOPMENT, THIRD)
SEED = 20260401  # of the division
# Our defaults beyond the papers were chosen on these sets before the division.
CHOSEN_ON = frozenset({"iris", "glass", "vehicle", "pima", "bupa", "ionosphere"})
# Sets with the same rows as another set, or a part of them.
DERIVED = frozenset({"boston_housing_3class", "boston_housing_binary", "house_votes_complete", "magic", "pima_532"})
ROPE = 1.0  # region of practical equivalence, in points of accuracy
METRICS = ("accuracy", "balanced_accuracy", "log_loss", "leaves", "n_terms", "cpu")
REFERENCES = ("logistic_tree", "logistic_forest")
# Of this package; pictures tell them from others.
OURS = ("logistic_tree", "lmt", "tao", "hhgdt", "tao_forest", "hhgdt_forest", "logistic_forest")
TREE = "logistic_tree"
FOLDS_OF_THIRD = 3
LEAST_SECONDS = 0.01  # which the clock that fits were measured by tells from nothing
# Whom the README's sentence names, in words.
KNOWN = {
    "ebm": "EBM",
    "svm-rbf": "a tuned support vector machine",
    "random-forest-500": "random forests of 500 trees",
    "extra-trees-500": "extra trees of 500",
    "xgboost-100": "XGBoost",
    "lightgbm-100": "LightGBM",
    "catboost": "CatBoost",
    "cart": "CART",
}


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
    """Numbers of all methods by metric, (data sets, methods); NaN if absent. Every finished set has an accuracy."""

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    values: Mapping[str, np.ndarray]

    @property
    def failed(self) -> np.ndarray:
        """Whether each method lacks a result on each data set (data sets x methods)."""
        return np.asarray(np.isnan(self.values["accuracy"]))

    def ranked(self, metric: str) -> np.ndarray:
        """Return values of which larger is better, with missing ones below all others."""
        scores = self.values[metric] if ALL_METRICS[metric].larger_is_better else -self.values[metric]
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
        if ALL_METRICS[metric].ratio:
            # A single-leaf tree has no coefficients and no path.
            least = 0.0 if np.nanmin(rows) > 0 else 1.0
            return [float(np.exp(np.log(column + least).mean()) - least) for column in rows.T]
        return [float(column.mean()) for column in rows.T]


def mean_table(part: str, scores: Scores) -> ExtraTable:
    """Return means by method, the best first; a star marks the front of leaves and accuracy."""
    means = {metric: scores.means(metric) for metric in scores.values}
    shown = {title_of(metric): [_shown(metric, value) for value in values] for metric, values in means.items()}
    accuracies = means["accuracy"]
    n_whole = int((~scores.failed).all(axis=1).sum())
    caption = (
        f"Means over the {n_whole} of {len(scores.datasets)} {part} sets that all methods finished; sizes and times "
        "are geometric means; * no other method is both more accurate and smaller"
    )
    front, failed = pareto(accuracies, means["leaves"]), scores.failed.sum(axis=0)
    rows = tuple(
        (scores.methods[m] + " *" * (m in front), *(column[m] for column in shown.values()), str(failed[m]))
        for m in sorted(range(len(scores.methods)), key=lambda m: (-accuracies[m], scores.methods[m]))
    )
    return ExtraTable(f"{part}_means", caption, ("method", *shown, "sets without a result"), rows)


def pareto(accuracies: Sequence[float], leaves: Sequence[float]) -> set[int]:
    """Return the methods that no other method dominates in accuracy and leaves."""
    points = [(-a, n, m) for m, (a, n) in enumerate(zip(accuracies, leaves, strict=True)) if isfinite(a - n)]
    return {m for a, n, m in points if not any(b <= a and k <= n and (b, k) != (a, n) for b, k, _ in points)}


def rank_tables(part: str, scores: Scores) -> list[ExtraTable]:
    """Return average ranks by accuracy, with the groups that Nemenyi's test does not separate."""
    n, k = len(scores.datasets), len(scores.methods)
    if n < 2 or k < 2:
        return []
    others = [metric for metric in ("log_loss", "leaves") if metric in scores.values]
    by = {metric: significance_tests.average_ranks(scores.ranked(metric)) for metric in ("accuracy", *others)}
    ranks = [float(rank) for rank in by["accuracy"]]
    critical = significance_tests.critical_difference(k, n)
    groups = significance_tests.cliques(ranks, critical)
    test = significance_tests.friedman(ranks, n, significance_tests.share_of_ties(scores.ranked("accuracy")))
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
        f"Average ranks over {n} {part} sets, 1 the best. By accuracy: Friedman F {test.f:.2f}, "
        f"p {test.p:.2g}; critical difference {critical:.2f} (Nemenyi, 0.05), methods with a letter in common are "
        "not told apart"
    )
    header = ("method", title_of("accuracy"), "groups", *map(title_of, others))
    return [ExtraTable(f"{part}_ranks", caption, header, rows)]


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


def _shown(metric: str, value: float) -> str:
    if not isfinite(value):
        return MISSING
    about = ALL_METRICS[metric]
    if about.unit == "s":
        return f"{value:.2g}"
    return f"{value:.1f}" if about.unit == "%" or about.ratio else f"{value:.3f}"


class Fold(NamedTuple):
    """One line of folds.csv.gz, numbers as they are written there."""

    part: str
    dataset: str
    method: str
    repeat: str
    fold: str
    n_test: str
    n_correct: str
    balanced_accuracy: str
    log_loss: str
    leaves: str
    terms: str
    cpu_s: str
    failure: str

    @property
    def place(self) -> tuple[str, str, str, int, int]:
        """What tells it from all others."""
        return self.part, self.dataset, self.method, int(self.repeat), int(self.fold)

    def value(self, metric: str) -> float:
        """Return a metric of METRICS; NaN where it has none."""
        if self.failure:
            return nan
        if metric == "accuracy":
            return 100.0 * int(self.n_correct) / int(self.n_test)
        result = getattr(self, {"n_terms": "terms", "cpu": "cpu_s"}.get(metric, metric))
        value = float(result) if result else nan
        return max(value, LEAST_SECONDS) if metric == "cpu" else value


def of_row(row: Row, part: str) -> Fold:
    """Return a stored row as a line."""

    def measured(name: str) -> str:
        result = row.measures.get(name)
        return f"{result:.6g}" if isinstance(result, float | int) else ""

    recalls = [right / n for right, n in row.per_class.values() if n]
    failed = row.status != "ok"
    return Fold(
        part, row.dataset, row.algorithm, str(row.repeat), str(row.fold), str(row.n_test), str(row.n_correct),
        "" if failed else f"{100 * sum(recalls) / len(recalls):.6g}", measured("log_loss"),
        str(row.n_leaves) if row.n_leaves else "", measured("n_terms"), measured("cpu"),
        row.message or "failed" if failed else "",
    )  # fmt: skip


def read(path: Path = FOLDS) -> list[Fold]:
    """Return all folds that are kept."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        return [Fold(**line) for line in csv.DictReader(stream)]


def write(folds: Iterable[Fold], path: Path = FOLDS) -> None:
    """Write folds in the order of part, set, method and place; the same folds give the same bytes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Fold._fields)
    writer.writerows(sorted(folds, key=lambda fold: fold.place))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def stored(part: str, folder: str, runs: Sequence[str], numbers: Sequence[int] = ()) -> list[Fold]:
    """Return the folds of stored runs. Raise ObliqueError if there is no store.

    part : "field" divides the sets; numbers : of the folds, () for all, the complete ones of an unfinished run"""
    parts = division()
    with Store(f"{folder}/{DATABASE}", must_exist=True) as store:
        return [
            of_row(row, parts[row.dataset] if part == "field" else part)
            for name in runs
            for row in store.rows(name)
            if not numbers or row.fold in numbers
        ]


def add(folds: Sequence[Fold]) -> None:
    """Store folds; those of the same set, method and place are replaced."""
    all_folds = {fold.place: fold for fold in (*(read() if FOLDS.is_file() else ()), *folds)}
    write(all_folds.values())
    print(f"{len(folds)} folds of {len({fold.method for fold in folds})} methods")


def compare(folds: Sequence[Fold]) -> str:
    """Return the tables of folds as text."""
    grids = [TextGrid(each.header, each.rows, each.left, each.caption) for each in tables(folds).values()]
    return render(Sheet("The field", tuple(grids), (), (), {}), "text")


def scores(folds: Sequence[Fold], part: str) -> Scores:
    """Return the numbers of the methods of a part that were run on all folds of all its sets.

    The accuracy of a repetition is that of all its test rows, any other metric the mean over its folds."""
    selected = [fold for fold in folds if fold.part == part]
    datasets = tuple(sorted({fold.dataset for fold in selected}))
    places = {(fold.dataset, fold.repeat, fold.fold) for fold in selected}
    by_method: dict[str, list[Fold]] = {}
    for fold in selected:
        by_method.setdefault(fold.method, []).append(fold)
    methods = tuple(sorted(name for name, outcome in by_method.items() if len(outcome) == len(places)))
    values = {metric: np.full((len(datasets), len(methods)), nan) for metric in METRICS}
    for m, method in enumerate(methods):
        of_sets: dict[str, list[Fold]] = {}
        for fold in by_method[method]:
            of_sets.setdefault(fold.dataset, []).append(fold)
        for d, dataset in enumerate(datasets):
            result = of_sets[dataset]
            if any(fold.failure for fold in result):
                continue
            for metric in METRICS[1:]:
                values[metric][d, m] = float(np.mean([fold.value(metric) for fold in result]))
            rows = [[int(fold.n_correct), int(fold.n_test)] for fold in result]
            right, tested = np.array(rows).sum(axis=0)
            values["accuracy"][d, m] = 100.0 * right / tested
    return Scores(methods, datasets, values)


def summary(folds: Sequence[Fold]) -> list[tuple[str, ...]]:
    """Return the lines of summary.csv, its heading first."""
    lines: list[tuple[str, ...]] = [("method", "part", "sets", "repeats", "accuracy", "terms", "leaves", "cpu_s")]
    for part in PARTS:
        result = scores(folds, part)
        if not result.methods:
            continue
        repeats = len({fold.repeat for fold in folds if fold.part == part})
        means = {metric: result.means(metric) for metric in ("accuracy", "n_terms", "leaves", "cpu")}
        whole = int((~result.failed).all(axis=1).sum())
        for m in sorted(range(len(result.methods)), key=lambda m: (-means["accuracy"][m], result.methods[m])):
            numbers = (f"{means['accuracy'][m]:.2f}", *(_cell(means[name][m]) for name in ("n_terms", "leaves", "cpu")))
            lines.append((result.methods[m], part, str(whole), str(repeats), *numbers))
    return lines


def _cell(value: float) -> str:
    return f"{value:.4g}" if isfinite(value) else ""


def tables(folds: Sequence[Fold]) -> dict[str, ExtraTable]:
    """Return the tables of every part, by the names of their files."""
    results: dict[str, ExtraTable] = {}
    for part in PARTS:
        scored = scores(folds, part)
        if len(scored.methods) < 2:
            continue
        results[f"{part}_means"] = mean_table(part, scored)
        for table in rank_tables(part, scored):
            results[f"{part}_ranks"] = table
        for reference in REFERENCES:
            for table in against(part, scored, reference):
                results[f"{part}_{reference}"] = table
        header = ("data set", *scored.methods)
        accuracies = zip(scored.datasets, scored.values["accuracy"], strict=True)
        rows = tuple((name, *map(_percent, row)) for name, row in accuracies)
        results[f"{part}_accuracies"] = ExtraTable("accuracies", "Accuracy in percent", header, rows)
    return results


def _percent(value: float) -> str:
    return f"{value:.1f}" if isfinite(value) else "—"


def front_sentence(folds: Sequence[Fold]) -> str:
    """Return what the README says of the third part: the tree beside the rivals that most people know."""
    scored = scores(folds, THIRD)
    accuracy, terms = scored.means("accuracy"), scored.means("n_terms")
    rivals = [
        f"{title} {accuracy[scored.methods.index(name)]:.1f}" for name, title in KNOWN.items() if name in scored.methods
    ]
    at = scored.methods.index(TREE)
    done = len({fold.fold for fold in folds if fold.part == THIRD})
    so_far = "" if done == FOLDS_OF_THIRD else f" ({done} of {FOLDS_OF_THIRD} folds so far)"
    text = (
        f"Mean accuracy on {len(scored.datasets)} tables that were not used to choose a default: `{TREE}` "
        f"{accuracy[at]:.1f} % ({terms[at]:.0f} terms), {', '.join(rivals)}{so_far}."
    )
    return "\n".join(wrap(text, 118, break_long_words=False, break_on_hyphens=False)) + "\n"


def picture(folds: Sequence[Fold], part: str = THIRD) -> tuple[bytes, str]:
    """Return accuracy by terms as SVG, and the sentence that says what is seen."""
    scored = scores(folds, part)
    accuracies, terms = scored.means("accuracy"), scored.means("n_terms")
    known = [m for m in range(len(scored.methods)) if isfinite(terms[m])]
    points = [
        Point(scored.methods[m], terms[m], accuracies[m], 1 if scored.methods[m] in OURS else 0)
        for m in sorted(known, key=lambda m: -accuracies[m])
    ]
    best = pareto(accuracies, terms)
    front = [point for point in points if scored.methods.index(point.label) in best]
    figure = scatter(
        Panel("", points),
        Axis("terms to read (leaves and coefficients), geometric mean", 10),
        Axis(f"accuracy in %, mean over {len(scored.datasets)} tables"),
        front,
        width=170.0,
    )
    text = "; ".join(f"{p.label} {p.y:.1f} % with {p.x:,.0f} terms" for p in points)
    left = [scored.methods[m] for m in range(len(scored.methods)) if m not in known]
    without = f" Not shown, as nobody can read them: {', '.join(left)}." if left else ""
    caption = (
        f"Accuracy of {len(points)} methods on {len(scored.datasets)} tables that nothing was chosen on, by how "
        f"many terms there are to read in a model: {text}. No other method is both smaller and more accurate than "
        f"{', '.join(p.label for p in sorted(front, key=lambda p: p.x))}.{without}"
    )
    return rendered(figure, "svg", caption), caption


def make() -> dict[Path, bytes]:
    """Return every file that is made of the folds."""
    folds = read()
    made = {SUMMARY: _csv(summary(folds))}
    for name, table in tables(folds).items():
        made[FOLDER / f"{name}.csv"] = _csv([table.header, *table.rows])
    made[FOLDER / "front.md"] = front_sentence(folds).encode()
    made[PICTURE] = picture(folds)[0]
    return made


def _csv(lines: Iterable[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue().encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    adding = verbs.add_parser("add")
    adding.add_argument("part", choices=(*PARTS, "field"), help='"field" divides the sets of the catalogue')
    adding.add_argument("--folds", type=int, nargs="+", default=(), help="only these, of an unfinished run")
    for verb in (adding, verbs.add_parser("compare")):
        verb.add_argument("folder", help="of stored results")
        verb.add_argument("runs", nargs="+")
    verbs.add_parser("tables")
    options = parser.parse_args()
    try:
        if options.verb == "add":
            add(stored(options.part, options.folder, options.runs, options.folds))
        elif options.verb == "compare":
            print(compare(stored("field", options.folder, options.runs)))
        else:
            for path, content in make().items():
                path.write_bytes(content)
                print(path.relative_to(ROOT))
    except ObliqueError as error:
        sys.exit(f"field_folds: {error}")


if __name__ == "__main__":
    main()
