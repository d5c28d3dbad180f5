"""Predicting with a model from a file: rows a second through the tree, beside reading and writing a CSV file; start-up
and memory of `oblique predict`."""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.inputs import letter
from benchmarks.measuring import Ratio, Report, Sample, alternate, main
from oblique_cli.data.dataset import Dataset
from oblique_cli.data.own.front import Chunk, chunks
from oblique_cli.estimators.algorithms import make
from oblique_cli.fitting.fitting import columns_of
from oblique_cli.models import Model, load, save
from oblique_cli.models.new_rows import ROWS, CSVWriter, Predicted

THROUGH = 500_000  # rows a second that the tree part must reach
ALGORITHMS = {"axis-parallel": "axis_parallel", "HHCART(D)": "hhcart_d", "HHCART(A)": "hhcart_a"}
READ = 100_000  # rows of the file that is read


def run(report: Report, repeat: int) -> None:
    """A million rows of Letter, its training rows again and again, by models that were saved and loaded."""
    X, y = letter(500 if report.quick else None)
    names = tuple(f"x{j + 1}" for j in range(X.shape[1]))
    labels = tuple(chr(ord("A") + k) for k in range(26))
    dataset = Dataset("letter", X, y, labels, names)
    rows = np.ascontiguousarray(np.tile(X, (2_000 // len(X) + 1 if report.quick else 1_000_000 // len(X), 1)))
    with tempfile.TemporaryDirectory() as folder:
        models = {}
        for title, name in ALGORITHMS.items():
            path = Path(folder, f"{name}.json")
            estimator = make(name).fit(X, y)
            model = Model.of(estimator, algorithm=name, classes=labels, columns=columns_of(dataset))
            save(model, path)
            models[title] = load(path)
            np.testing.assert_array_equal(models[title].fitted.predictor.predict(X), estimator.predict(X))
        times, result = alternate(
            {title: partial(model.predict, rows) for title, model in models.items()}, repeat, clock=time.process_time
        )
        table = Path(folder, "new.csv")
        read = _write_table(table, names, rows[: READ if not report.quick else 2_000])
        first = models["HHCART(A)"]
        parts: dict[str, Any] = {
            "reading": partial(_read, table, first),
            "writing": partial(_written, first, result["HHCART(A)"][:read]),
            "loading the model": partial(load, Path(folder, "hhcart_a.json")),
        }
        beside, _ = alternate(parts, repeat, clock=time.process_time)
        report.table(
            f"Labels of {len(rows):,} rows of Letter",
            [
                {"model": name, "median s": s.median, "rows a second": round(len(rows) / s.median),
                 "leaves": models[name].facts.get("leaves", models[name].estimator.n_leaves_)}
                for name, s in times.items()
            ],
        )  # fmt: skip
        report.table(
            f"Beside it, for {read:,} rows",
            [
                {"part": name, "median s": s.median, "rows a second": round(read / s.median)}
                for name, s in beside.items()
            ],
        )
        for name, sample in times.items():
            scaled = Sample([seconds * THROUGH / len(rows) for seconds in sample.values])
            report.claim(f"{THROUGH:,} rows through the tree of {name}", "< 1", scaled, "s")
        _commands(report, repeat, Path(folder), table, names, rows)


def _write_table(path: Path, names: tuple[str, ...], rows: np.ndarray) -> int:
    np.savetxt(path, rows, delimiter=",", header=",".join(names), comments="", fmt="%g")
    return len(rows)


def _read(path: Path, model: Model) -> int:
    return sum(len(chunk.X) for chunk in chunks(path, model.columns, ROWS))


def _written(model: Model, labels: np.ndarray) -> int:
    stream = io.BytesIO()
    writer = CSVWriter(stream, model)
    for first in range(0, len(labels), ROWS):
        some = labels[first : first + ROWS]
        chunk = Chunk(np.zeros((len(some), 0)), None, np.arange(first + 2, first + 2 + len(some)))
        writer.add(Predicted(first + 1, some, None, None, chunk))
    return len(stream.getvalue())


def _commands(report: Report, repeat: int, folder: Path, table: Path, names: tuple[str, ...], rows: np.ndarray) -> None:
    """The command itself: one row, and its memory for a file and one of five times its rows."""
    small, large = folder / "one.csv", folder / "large.csv"
    _write_table(small, names, rows[:1])
    _write_table(large, names, rows[: 5 * (READ if not report.quick else 2_000)])
    samples, _ = alternate({"one": partial(_peak, folder, small)}, repeat, clock=time.perf_counter)
    report.claim("oblique predict, one row", "< 0.5", samples["one"], "s")
    some, more = _peak(folder, table), _peak(folder, large)
    report.claim("memory of oblique predict, five times the rows", "< 1.2", Ratio(more / some, more / some))


def _peak(folder: Path, table: Path) -> int:
    """Bytes of memory at the peak of a call."""
    arguments = ["predict", str(folder / "hhcart_a.json"), str(table), "--output", str(folder / "out.csv")]
    code = f"from oblique_cli.cli import call; from pathlib import Path; code = call({arguments!r})"
    # Linux lets a new process inherit the peak that getrusage reports, as benchmarks/peak.py says.
    status = "print(code, *Path('/proc/self/status').read_text().split()) if Path('/proc').exists() else print(code)"
    done = subprocess.run([sys.executable, "-c", f"{code}; {status}"], capture_output=True, text=True, check=True)
    ended, *words = done.stdout.split()
    if ended != "0":
        raise RuntimeError(f"oblique predict ended with {ended}: {done.stderr}")
    return 1024 * int(words[words.index("VmHWM:") + 1]) if words else 1


if __name__ == "__main__":
    sys.exit(main({"models": run}, __doc__ or ""))
