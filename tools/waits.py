"""The claims of waiting times that results/waits.json keeps.

`python -m tools.waits RUN.json ...` keeps the claims of runs of `python -m benchmarks waits --json RUN.json`, those of
a later run in place of earlier ones.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STORED = ROOT / "results" / "waits.json"
NAME = "waits"


def stored() -> list[dict[str, Any]]:
    """Return the claims that are kept, each with the machine and its load."""
    return list(json.loads(STORED.read_text(encoding="utf-8")))


def retained(before: Sequence[Mapping[str, Any]], run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return claims with those of a run in place of older ones of the same text. run : what `--json` saved

    ValueError for a run of tiny sizes.
    """
    (numbers,) = (benchmark for benchmark in run["benchmarks"] if benchmark["name"] == NAME)
    if numbers["quick"]:
        raise ValueError("a run with --quick measures nothing; leave it out")
    load = run["machine"].get("load")
    new = {
        claim["claim"]: {**claim, "load": load, "processor": run["machine"]["processor"]}
        for claim in numbers["claims"]
        if claim["median"] is not None
    }
    return [new.pop(item["claim"], dict(item)) for item in before] + list(new.values())


def main(runs: Sequence[str]) -> None:
    """Keep the claims of runs."""
    claims = stored() if STORED.exists() else []
    for run in runs:
        claims = retained(claims, json.loads(Path(run).read_text(encoding="utf-8")))
    STORED.write_text(json.dumps(claims, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
