"""Write what is measured on the corpus of tables (tests/tables): python -m tools.tables

The rates of docs/own_data.md, how often columns of each label are used and left out.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from tables import corpus, judging  # noqa: E402  (the corpus is that of the tests)


def main() -> None:
    if missing := corpus.missing_packages():
        sys.exit(f"{', '.join(missing)}: not installed; install the tables with pip install '.[tables]'.")
    before, _, after = judging.parts(judging.PAGE.read_text(encoding="utf-8"))
    judging.PAGE.write_text(before + judging.text() + after, encoding="utf-8")


if __name__ == "__main__":
    main()
