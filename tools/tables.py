"""Count how often columns of each label are left out over the corpus of tests/tables, into results/tables/rates.csv.

python -m tools.tables rates
"""

import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from tables import corpus, judging


def main() -> None:
    if sys.argv[1:] != ["rates"]:
        sys.exit(__doc__)
    if missing := corpus.missing_packages():
        sys.exit(f"{', '.join(missing)}: not installed; install the tables with pip install '.[tables]'.")
    with judging.STORED.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(judging.lines())


if __name__ == "__main__":
    main()
