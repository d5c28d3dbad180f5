"""Cases of attacks are counted by attack and seed, faults among them, and the page says what the file holds."""

import csv
from pathlib import Path

import robustness_support
from robustness_support import COUNTS, counted

ROOT = Path(__file__).parents[2]


def test_cases_of_several_blocks_are_added_up_and_a_fault_is_counted(tmp_path, monkeypatch):
    monkeypatch.setenv("OBLIQUE_COUNTS", str(tmp_path / "counts.csv"))
    monkeypatch.setattr(robustness_support, "SEED", "7")
    for error in (None, AssertionError, ZeroDivisionError):
        try:
            with counted("tables") as counts:
                counts["cases"] += 2
                counts["refused"] += 1
                if error:
                    raise error
        except (AssertionError, ZeroDivisionError) as fault:
            assert type(fault) is error
    assert (tmp_path / "counts.csv").read_text() == f"attack,seed,{','.join(COUNTS)}\ntables,7,6,1,3,1\n"


def test_the_page_says_what_the_file_holds():
    with (ROOT / "results/tables/attacks.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) > 5
    page = (ROOT / "docs/reliability.md").read_text(encoding="utf-8")
    section = page.partition("## The last soak")[2].partition("\n## ")[0]
    table = [[cell.strip() for cell in row.split("|")[1:-1]] for row in section.splitlines() if row.startswith("|")]
    assert table[2:] == [list(line.values()) for line in lines]
    assert table[0] == list(lines[0])
