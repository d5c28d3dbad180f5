"""What all benchmarks share: alternating repetitions, tables, claims, and the command line."""

from __future__ import annotations

import argparse
import gc
import json
import operator
import os
import platform
import re
import statistics
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tabulate import tabulate
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parent.parent
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass
class Sample:
    """Repeated measurements of one contestant, in any unit."""

    values: list[float] = field(default_factory=list)

    @property
    def least(self) -> float:
        return min(self.values)

    @property
    def median(self) -> float:
        return statistics.median(self.values)


def alternate(
    contestants: Mapping[str, Callable[[], Any]],
    repeat: int,
    *,
    once: Collection[str] = (),
    clock: Callable[[], float] = time.process_time,
) -> tuple[dict[str, Sample], dict[str, Any]]:
    """Time the contestants in turn, A B C A B C ..., so that a busy minute of the machine hits all of them.

    repeat : rounds; those named in `once` take part in the middle round only
    clock  : CPU time of this process by default. On one thread of an idle machine that is the wall time; on a busy one
             it leaves out what others ran, and it would count threads that a contestant started on the sly
    returns seconds of each contestant, and what each returned last
    """
    samples = {name: Sample() for name in contestants}
    results: dict[str, Any] = {}
    for round_ in range(repeat):
        for name, contestant in contestants.items():
            if name in once and round_ != repeat // 2:
                continue
            gc.collect()
            start = clock()
            results[name] = contestant()
            samples[name].values.append(clock() - start)
    return samples, results


@dataclass(frozen=True)
class Ratio:
    """How many times as long one contestant took as another: of the medians, and of the least times."""

    median: float
    least: float

    @classmethod
    def of(cls, a: Sample, b: Sample, scale: float = 1.0) -> Ratio:
        """a / b, times `scale`."""
        return cls(scale * a.median / b.median, scale * a.least / b.least)


def machine() -> dict[str, Any]:
    """What the numbers depend on: processor, cores, load, versions."""
    model = platform.processor() or platform.machine()
    with suppress(OSError):
        result = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        model = result[1] if result else model
    facts: dict[str, Any] = {"processor": model, "cpus": os.cpu_count(), "system": platform.system(), "threads": 1}
    with suppress(AttributeError, OSError):
        facts["load"] = round(os.getloadavg()[0], 2)
    facts["python"] = platform.python_version()
    return facts | {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "oblique-trees")}


class Report:
    """Prints tables and claims as they come and keeps them for JSON.

    quick : sizes are too small for the claims, which are printed but not judged
    only  : names of the parts that a benchmark of several parts is to run; () for all
    """

    def __init__(self, name: str, quick: bool = False, only: Collection[str] = ()) -> None:
        self.name = name
        self.quick = quick
        self.only = only
        self.tables: dict[str, list[dict[str, Any]]] = {}
        self.claims: list[dict[str, Any]] = []

    def table(self, title: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Print rows of one set of columns; a cell may be None. Floats get four significant digits."""
        self.tables[title] = [dict(row) for row in rows]
        print(f"\n{title}")
        print(tabulate(rows, headers="keys", floatfmt=".4g", intfmt=",", missingval="-"), flush=True)

    def claim(self, text: str, target: str | None, measured: Ratio | Sample | str, unit: str = "x") -> None:
        """Print one claim with its verdict.

        text     : for a ratio "what / what"
        target   : such as "< 40", judged on the median; None for a number that is only reported
        measured : the numbers, or the reason why there are none
        """
        numbers = None if isinstance(measured, str) else measured
        if numbers is None:
            verdict = f"not measured: {measured}"
        elif target is None:
            verdict = "reported"
        elif self.quick:
            verdict = "not judged (quick size)"
        else:
            sign, limit = target.split()
            verdict = "met" if COMPARISONS[sign](numbers.median, float(limit)) else "not met"
        self.claims.append(
            {
                "claim": text,
                "target": target,
                "unit": unit,
                "median": numbers.median if numbers else None,
                "least": numbers.least if numbers else None,
                "verdict": verdict,
            }
        )
        parts = [f"claim: {text}", f"target {target} {unit}" if target else "no target"]
        if numbers:
            kind = "measured ratio" if unit == "x" else "measured"
            parts.append(f"{kind} {numbers.median:.3g} {unit} (least {numbers.least:.3g})")
        print("; ".join([*parts, verdict]), flush=True)

    def as_dict(self) -> dict[str, Any]:
        """Return what was printed as plain data."""
        return {"name": self.name, "quick": self.quick, "tables": self.tables, "claims": self.claims}


Benchmark = Callable[[Report, int], None]


def main(benchmarks: Mapping[str, Benchmark], description: str, argv: Sequence[str] | None = None) -> int:
    """Run benchmarks from the command line; 0 whatever the ratios, for benchmarks report and do not gate.

    A wrong result (two trees that must be equal and are not) is an AssertionError all the same.
    """
    parser = argparse.ArgumentParser(description=description)
    if len(benchmarks) > 1:
        parser.add_argument("names", nargs="*", help=f"which to run, of {', '.join(benchmarks)}; without it, all")
    parser.add_argument("--only", metavar="PART,...", default="", help="of a benchmark of several parts (waits), these")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run? The claims are not judged.")
    parser.add_argument("--repeat", type=int, default=5, help="rounds of alternating repetitions (default: 5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="save the numbers")
    args = parser.parse_args(argv)
    names = getattr(args, "names", None) or list(benchmarks)
    for name in names:
        if name not in benchmarks:
            parser.error(f"unknown benchmark {name!r}; there are {', '.join(benchmarks)}")
    if args.repeat < 1:
        parser.error(f"--repeat must be at least 1. Got {args.repeat}.")

    facts = machine()
    print("machine: " + ", ".join(f"{key} {value}" for key, value in facts.items()), flush=True)
    reports = []
    for name in names:
        print(f"\n== {name} ==", flush=True)
        report = Report(name, args.quick, tuple(filter(None, args.only.split(","))))
        with threadpool_limits(1):
            benchmarks[name](report, args.repeat)
        reports.append(report.as_dict())
    if args.json:
        args.json.write_text(json.dumps({"machine": facts, "benchmarks": reports}, indent=2) + "\n", encoding="utf-8")
    return 0
