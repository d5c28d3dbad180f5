"""Every fold of the field's comparisons that is kept, in results/field/, and what is made of them.

python -m tools.field_folds add third FOLDER field_third field_third_slow   # rows of stored runs, as folds of a part
python -m tools.field_folds tables                                          # the files below, from the folds alone

folds.csv.gz      a line a fold: part, dataset, method, repeat, fold, n_test, n_correct, balanced_accuracy (%),
                  log_loss (nats), leaves, terms, cpu_s (of the fit, its own choices of parameters included; the clock
                  tells hundredths, and means take 0 for one of them), failure.
                  An empty cell is a number that a model does not have
summary.csv       a line a part and method: method, part, sets, repeats, accuracy (%, mean over sets of the share of all
                  test rows), terms, leaves, cpu_s (geometric means over sets)
PART_means.csv, PART_ranks.csv, PART_METHOD.csv, PART_accuracies.csv   tables of each part
front.md          the sentence of the third part that the README has
field.svg below docs/   accuracy on the third part by what there is to read in a model

Parts are development, confirmation and third. A method is in tables of a part if all folds of all sets were run; one
fold that failed is a set without a result.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

import numpy as np

from oblique_cli.drawing.canvas import rendered
from oblique_cli.drawing.charts import Axis, Panel, Point, scatter
from oblique_cli.errors import ObliqueError
from oblique_cli.experiments.store import Store
from oblique_cli.ground.nouns import Row
from oblique_cli.papers.reproduction.framework.runs import DATABASE
from oblique_cli.papers.reproduction.framework.studies import ExtraTable
from oblique_cli.papers.reproduction.studies.field import Scores, against, division, mean_table, pareto, rank_tables

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "results" / "field"
FOLDS, SUMMARY, PICTURE = FOLDER / "folds.csv.gz", FOLDER / "summary.csv", ROOT / "docs" / "field.svg"
THIRD = "third"
PARTS = ("confirmation", "development", THIRD)
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
            return math.nan
        if metric == "accuracy":
            return 100.0 * int(self.n_correct) / int(self.n_test)
        found = getattr(self, {"n_terms": "terms", "cpu": "cpu_s"}.get(metric, metric))
        value = float(found) if found else math.nan
        return max(value, LEAST_SECONDS) if metric == "cpu" else value


def of_row(row: Row, part: str) -> Fold:
    """Return a stored row as a line."""

    def measured(name: str) -> str:
        found = row.measures.get(name)
        return f"{found:.6g}" if isinstance(found, float | int) else ""

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


def add(part: str, folder: str, runs: Sequence[str], numbers: Sequence[int] = ()) -> None:
    """Keep the rows of stored runs; rows of the same set, method and place are replaced.

    part : "field" divides sets; numbers : of the folds, all without, as whole ones of a run that is under way
    """
    kept = {fold.place: fold for fold in (read() if FOLDS.is_file() else ())}
    parts = division()
    with Store(f"{folder}/{DATABASE}", must_exist=True) as store:
        for name in runs:
            rows = [
                of_row(row, parts[row.dataset] if part == "field" else part)
                for row in store.rows(name)
                if not numbers or row.fold in numbers
            ]
            kept |= {fold.place: fold for fold in rows}
            print(f"{name}: {len(rows)} folds")
    write(kept.values())


def scores(folds: Sequence[Fold], part: str) -> Scores:
    """Return the numbers of the methods of a part that were run on all folds of all its sets.

    The accuracy of a repetition is that of all its test rows, any other metric the mean over its folds.
    """
    own = [fold for fold in folds if fold.part == part]
    datasets = tuple(sorted({fold.dataset for fold in own}))
    places = {(fold.dataset, fold.repeat, fold.fold) for fold in own}
    by_method: dict[str, list[Fold]] = {}
    for fold in own:
        by_method.setdefault(fold.method, []).append(fold)
    methods = tuple(sorted(name for name, found in by_method.items() if len(found) == len(places)))
    values = {metric: np.full((len(datasets), len(methods)), math.nan) for metric in METRICS}
    for m, method in enumerate(methods):
        of_sets: dict[str, list[Fold]] = {}
        for fold in by_method[method]:
            of_sets.setdefault(fold.dataset, []).append(fold)
        for d, dataset in enumerate(datasets):
            found = of_sets[dataset]
            if any(fold.failure for fold in found):
                continue
            for metric in METRICS[1:]:
                values[metric][d, m] = float(np.mean([fold.value(metric) for fold in found]))
            rows = [[int(fold.n_correct), int(fold.n_test)] for fold in found]
            right, tested = np.array(rows).sum(axis=0)
            values["accuracy"][d, m] = 100.0 * right / tested
    return Scores(methods, datasets, values)


def summary(folds: Sequence[Fold]) -> list[tuple[str, ...]]:
    """Return the lines of summary.csv, its heading first."""
    lines: list[tuple[str, ...]] = [("method", "part", "sets", "repeats", "accuracy", "terms", "leaves", "cpu_s")]
    for part in PARTS:
        found = scores(folds, part)
        if not found.methods:
            continue
        repeats = len({fold.repeat for fold in folds if fold.part == part})
        means = {metric: found.means(metric) for metric in ("accuracy", "n_terms", "leaves", "cpu")}
        whole = int((~found.failed).all(axis=1).sum())
        for m in sorted(range(len(found.methods)), key=lambda m: (-means["accuracy"][m], found.methods[m])):
            numbers = (f"{means['accuracy'][m]:.2f}", *(_cell(means[name][m]) for name in ("n_terms", "leaves", "cpu")))
            lines.append((found.methods[m], part, str(whole), str(repeats), *numbers))
    return lines


def _cell(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else ""


def tables(folds: Sequence[Fold]) -> dict[str, ExtraTable]:
    """Return the tables of every part, by the names of their files."""
    found: dict[str, ExtraTable] = {}
    for part in PARTS:
        own = scores(folds, part)
        if len(own.methods) < 2:
            continue
        found[f"{part}_means"] = mean_table(part, own)
        for table in rank_tables(part, own):
            found[f"{part}_ranks"] = table
        for reference in REFERENCES:
            for table in against(part, own, reference):
                found[f"{part}_{reference}"] = table
        header = ("data set", *own.methods)
        rows = tuple((name, *(_percent(v) for v in own.values["accuracy"][d])) for d, name in enumerate(own.datasets))
        found[f"{part}_accuracies"] = ExtraTable("accuracies", "Accuracy in percent", header, rows)
    return found


def _percent(value: float) -> str:
    return f"{value:.1f}" if math.isfinite(value) else "—"


def front_sentence(folds: Sequence[Fold]) -> str:
    """Return what the README says of the third part: the tree beside the rivals that most people know."""
    own = scores(folds, THIRD)
    accuracy, terms = own.means("accuracy"), own.means("n_terms")
    rivals = [
        f"{title} {accuracy[own.methods.index(name)]:.1f}" for name, title in KNOWN.items() if name in own.methods
    ]
    at = own.methods.index(TREE)
    done = len({fold.fold for fold in folds if fold.part == THIRD})
    so_far = "" if done == FOLDS_OF_THIRD else f" ({done} of {FOLDS_OF_THIRD} folds so far)"
    text = (
        f"Mean accuracy on {len(own.datasets)} tables that were not used to choose a default: `{TREE}` "
        f"{accuracy[at]:.1f} % ({terms[at]:.0f} terms), {', '.join(rivals)}{so_far}."
    )
    return "\n".join(wrap(text, 118, break_long_words=False, break_on_hyphens=False)) + "\n"


def picture(folds: Sequence[Fold], part: str = THIRD) -> tuple[bytes, str]:
    """Return accuracy by terms as SVG, and the sentence that says what is seen."""
    own = scores(folds, part)
    accuracies, terms = own.means("accuracy"), own.means("n_terms")
    known = [m for m in range(len(own.methods)) if math.isfinite(terms[m])]
    points = [
        Point(own.methods[m], terms[m], accuracies[m], 1 if own.methods[m] in OURS else 0)
        for m in sorted(known, key=lambda m: -accuracies[m])
    ]
    best = pareto(accuracies, terms)
    front = [point for point in points if own.methods.index(point.label) in best]
    figure = scatter(
        Panel("", points),
        Axis("terms to read (leaves and coefficients), geometric mean", 10),
        Axis(f"accuracy in %, mean over {len(own.datasets)} tables"),
        front,
        width=170.0,
    )
    said = "; ".join(f"{p.label} {p.y:.1f} % with {p.x:,.0f} terms" for p in points)
    left = [own.methods[m] for m in range(len(own.methods)) if m not in known]
    without = f" Not shown, as nobody can read them: {', '.join(left)}." if left else ""
    caption = (
        f"Accuracy of {len(points)} methods on {len(own.datasets)} tables that nothing was chosen on, by how many "
        f"terms there are to read in a model: {said}. No other method is both smaller and more accurate than "
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
    one = verbs.add_parser("add")
    one.add_argument("part", choices=(*PARTS, "field"), help='"field" tells confirmation from development sets')
    one.add_argument("folder", help="of stored results")
    one.add_argument("runs", nargs="+")
    one.add_argument("--folds", type=int, nargs="+", default=(), help="these alone, of a run that is under way")
    verbs.add_parser("tables")
    given = parser.parse_args()
    try:
        if given.verb == "add":
            add(given.part, given.folder, given.runs, given.folds)
        else:
            for path, content in make().items():
                path.write_bytes(content)
                print(path.relative_to(ROOT))
    except ObliqueError as error:
        sys.exit(f"field_folds: {error}")


if __name__ == "__main__":
    main()
