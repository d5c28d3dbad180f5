"""The table of docs/performance.md of what people wait for, from the numbers that results/waits.json keeps.

`python -m tools.waits RUN.json ...` keeps the claims of runs of `python -m benchmarks waits --json RUN.json`, those of
a later run in place of earlier ones, and fills in the page; without a file it fills in the page alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.small_trees import filled

ROOT = Path(__file__).resolve().parent.parent
STORED = ROOT / "results" / "waits.json"
PAGE = ROOT / "docs" / "performance.md"
NAME = "waits"


def stored() -> list[dict[str, Any]]:
    """Return the claims that are kept, each with the machine and its load."""
    return list(json.loads(STORED.read_text(encoding="utf-8")))


def kept(before: Sequence[Mapping[str, Any]], run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return claims with those of a run in place of older ones of the same text. run : what `--json` saved

    ValueError for a run of tiny sizes.
    """
    (numbers,) = (one for one in run["benchmarks"] if one["name"] == NAME)
    if numbers["quick"]:
        raise ValueError("a run with --quick measures nothing; leave it out")
    load = run["machine"].get("load")
    new = {
        one["claim"]: {**one, "load": load, "processor": run["machine"]["processor"]}
        for one in numbers["claims"]
        if one["median"] is not None
    }
    return [new.pop(one["claim"], dict(one)) for one in before] + list(new.values())


def table(claims: Sequence[Mapping[str, Any]]) -> str:
    """Return the table: what is measured, now, wanted."""
    lines = ["| what | now | wanted |", "| --- | --- | --- |"]
    for one in claims:
        unit = " s" if one["unit"] == "s" else ""
        wanted = "-" if one["target"] is None else f"{one['target'].split()[1]}{unit}"
        missed = ", missed" if one["verdict"] == "not met" else ""
        lines.append(f"| {one['claim']} | {one['median']:.3g}{unit} | {wanted}{missed} |")
    return "\n".join(lines)


def main(runs: Sequence[str]) -> None:
    """Keep runs and fill in the page."""
    claims = stored() if STORED.exists() else []
    for run in runs:
        claims = kept(claims, json.loads(Path(run).read_text(encoding="utf-8")))
    if runs:
        STORED.write_text(json.dumps(claims, indent=1) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(filled(page, {NAME: table(claims)}), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
