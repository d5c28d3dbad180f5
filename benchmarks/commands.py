"""CPU time of `oblique tree` and `oblique fit --algorithm NAME` on large tables of words and numbers, as whole
commands."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.measuring import Report, Sample, main
from benchmarks.startup import program


@dataclass(frozen=True)
class Table:
    """A made-up table with a column of classes, `y`, that its rows tell in part.

    levels : how many levels each column of words has; the other columns are numbers
    most : CPU seconds that a command on it may take
    """

    rows: int
    columns: int
    levels: tuple[int, ...]
    classes: int
    most: float
    seed: int = 1

    @property
    def name(self) -> str:
        return f"{self.rows:,} x {self.columns:,}, {len(self.levels)} of words"

    def write(self, path: Path, rows: int | None = None, columns: int | None = None) -> None:
        """Write the table as CSV, or a smaller one like it.

        A class is the largest of sums of its own: of numbers, of products of numbers and of levels, and of noise as
        large as these, so trees that are grown until leaves are pure are large. A third of the numbers are measured in
        whole units, and every hundredth row has its class by lot.
        """
        rng = np.random.default_rng(self.seed)
        n, numbers = rows or self.rows, (columns or self.columns) - len(self.levels)
        X = rng.normal(size=(n, numbers))
        words = [np.minimum(rng.geometric(2.5 / count, n) - 1, count - 1) for count in self.levels]
        used = min(numbers, 10)
        score = 1.5 * rng.gumbel(size=(n, self.classes))
        score += X[:, :used] @ rng.normal(size=(used, self.classes))
        score += (X[:, :used] * np.roll(X[:, :used], 1, axis=1)) @ rng.normal(size=(used, self.classes)) / 2
        for codes, count in zip(words, self.levels, strict=True):
            score += rng.normal(size=(count, self.classes))[codes]
        y = score.argmax(axis=1)
        by_lot = rng.random(n) < 0.01
        y[by_lot] = rng.integers(self.classes, size=int(by_lot.sum()))
        cells = [
            [f"{value:.0f}" for value in 100 * column] if j % 3 == 2 else [f"{value:.4f}" for value in column]
            for j, column in enumerate(X.T)
        ]
        cells += [[f"w{code:02}" for code in codes] for codes in words] + [[f"class{k}" for k in y]]
        header = [f"x{j}" for j in range(numbers)] + [f"word{j}" for j in range(len(words))] + ["y"]
        lines = [",".join(row) for row in zip(*cells, strict=True)]
        path.write_text("\n".join([",".join(header), *lines]) + "\n", encoding="utf-8")


TABLES = (
    Table(54_000, 26, (4, 7, 12, 25), 7, 10.0),
    Table(200_000, 12, (5, 9, 20), 2, 20.0),
    Table(200, 2_000, (), 2, 5.0),
)
COMMANDS = (("tree",), ("tree", "--algorithm", "axis_parallel"), ("fit", "--algorithm", "hhcart_d"))
QUICK_ROWS, QUICK_COLUMNS = 100, 6


def cpu_seconds(arguments: list[str], folder: Path) -> float:
    """Return what a command takes, user and system time. AssertionError, with what it says, if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        arguments, cwd=folder, capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr.strip().splitlines()[-1:]
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(report: Report, repeat: int) -> None:
    """Each command once on each table, a quick run one command a table; `repeat` would make hours of it."""
    installed = program()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, table in enumerate(TABLES):
            path = folder / f"table{number}.csv"
            small = (QUICK_ROWS, min(QUICK_COLUMNS, table.columns)) if report.quick else (None, None)
            table.write(path, *small)
            for words in COMMANDS[number : number + 1] if report.quick else COMMANDS:
                text, target = f"oblique {' '.join(words)} on {table.name}", f"<= {table.most:g}"
                if installed is None:
                    report.claim(text, target, "there is no oblique beside this Python; install the package first")
                    continue
                arguments = [*installed, words[0], path.name, "--target", "y", "--keep", "*", *words[1:]]
                seconds = cpu_seconds(arguments, folder)
                rows.append({"table": table.name, "command": " ".join(words), "CPU s": seconds})
                report.claim(text, target, Sample([seconds]), "s")
    report.table("CPU seconds of commands", rows)


if __name__ == "__main__":
    sys.exit(main({"commands": run}, __doc__ or ""))
