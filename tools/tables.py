"""Write what is measured on the corpus of tables (tests/tables).

python -m tools.tables rates              how often columns of each label are left out, into results/tables/rates.csv
python -m tools.tables fits [TABLE ...]   the default fit beside its rivals, into results/tables/fits.csv; hours for all
"""

import argparse
import csv
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from tables import corpus, fits, judging  # noqa: E402  (the corpus is that of the tests)


def write_rates() -> None:
    """Count columns over the corpus and store the counts."""
    with judging.STORED.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(judging.lines())


def write_fits(names: list[str], workers: int) -> None:
    """Measure tables, all without names, beside what is stored; what is done is stored after each."""
    from joblib import Parallel, delayed

    results = {result.table: result for result in fits.stored()} if fits.STORED.exists() else {}
    known = {table.name: table for table in corpus.tables()}
    wanted = [known[name] for name in names or known]
    for result in Parallel(n_jobs=workers, return_as="generator_unordered")(map(delayed(fits.measured), wanted)):
        results[result.table] = result
        fits.store(list(results.values()))
        lead = f"{result.to_forest:+.3f} to the forest, {result.to_linear:+.3f} to the linear model"
        print(f"{result.table}: {result.metric} {result.fit:.3f}, {lead}{', WORSE' * result.is_worse}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("rates", "fits"))
    parser.add_argument("tables", nargs="*", metavar="TABLE")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    if missing := corpus.missing_packages():
        sys.exit(f"{', '.join(missing)}: not installed; install the tables with pip install '.[tables]'.")
    if unknown := sorted(set(arguments.tables) - {table.name for table in corpus.tables()}):
        sys.exit(f"there is no table {unknown[0]!r} in tests/tables/tables.csv.")
    if arguments.what == "rates":
        write_rates()
    else:
        write_fits(arguments.tables, arguments.workers)


if __name__ == "__main__":
    main()
