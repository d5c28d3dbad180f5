"""How long AVALANCHE and STAXAC take on a matrix, and how much memory, against SciPy's average linkage.

One thread. The matrix is condensed, float64, of points in five dimensions; the classes of STAXAC are drawn at random,
which leaves it as many merges to weigh as there can be.
"""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist

from benchmarks.measuring import ROOT, Ratio, Report, Sample, alternate, main
from benchmarks.peak import peak
from oblique_cli.papers.hierarchy.avalanche import avalanche
from oblique_cli.papers.hierarchy.linkage import upgma
from oblique_cli.papers.hierarchy.staxac import staxac

OBJECTS = 5000
LIMIT = 20.0  # seconds
MB = 1e6


def matrix(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A condensed matrix of n points, and a class code each."""
    rng = np.random.default_rng(5)
    return pdist(rng.normal(size=(n, 5))), rng.integers(0, 3, size=n)


METHODS = {
    "SciPy average": lambda d, y: linkage(d, "average"),
    "AVALANCHE": lambda d, y: avalanche(d),
    "AVALANCHE, float32": lambda d, y: avalanche(d.astype(np.float32)),
    "STAXAC": lambda d, y: staxac(d, y),
    "STAXAC, renewed graph": lambda d, y: staxac(d, y, "renewed"),
    "STAXAC, float32": lambda d, y: staxac(d.astype(np.float32), y),
}


def canonical_upgma(condensed: np.ndarray, n: int) -> list[float]:
    """UPGMA as the dissertation ran it, "in its canonical form without optimization": all pairs are searched each time.

    In NumPy, so that the search itself is compiled. Returns the heights.
    """
    square = np.full((n, n), np.inf)
    square[np.triu_indices(n, 1)] = condensed
    square = np.minimum(square, square.T)
    size, heights = np.ones(n), []
    for _ in range(n - 1):
        i, j = sorted(divmod(int(square.argmin()), n))
        heights.append(float(square[i, j]))
        row = (size[i] * square[i] + size[j] * square[j]) / (size[i] + size[j])
        row[[i, j]] = np.inf
        square[i] = square[:, i] = row
        square[j] = square[:, j] = np.inf
        size[i] += size[j]
    return heights


def times(report: Report, n: int, repeat: int) -> None:
    """CPU seconds of every method on one matrix, in turn."""
    d, y = matrix(n)
    samples, _ = alternate({name: lambda f=f: f(d, y) for name, f in METHODS.items()}, repeat)
    report.table(
        f"{n:,} objects, condensed float64 matrix of {d.nbytes / MB:.1f} MB",
        [{"method": name, "min s": t.least, "median s": t.median} for name, t in samples.items()],
    )
    base = samples["SciPy average"]
    for name in ("AVALANCHE", "STAXAC", "STAXAC, renewed graph"):
        report.claim(f"{name}, {n:,} objects", f"< {LIMIT:g}", samples[name], "s")
        allowed = Sample([3 * value + 1 for value in base.values])
        report.claim(f"{name} / (3 times SciPy's average linkage + 1 s)", "< 1", Ratio.of(samples[name], allowed))
        report.claim(f"{name} / SciPy's average linkage", None, Ratio.of(samples[name], base))


def against_canonical(report: Report, n: int, repeat: int) -> None:
    """Figure 4.3: AVALANCHE against UPGMA that searches all pairs for every merge."""
    d, _ = matrix(n)
    samples, results = alternate(
        {"canonical UPGMA": lambda: canonical_upgma(d, n), "AVALANCHE": lambda: avalanche(d)}, repeat
    )
    np.testing.assert_allclose(sorted(results["canonical UPGMA"]), np.sort(upgma(d).heights), rtol=1e-9)
    ratio = Ratio.of(samples["canonical UPGMA"], samples["AVALANCHE"])
    report.claim(f"UPGMA without optimization / AVALANCHE, {n:,} objects (figure 4.3)", "> 1", ratio)


def memory(report: Report, n: int) -> None:
    """Peak memory of a fresh process beyond one that only makes the matrix, in sizes of the matrix."""
    size = n * (n - 1) / 2 * 8
    taken = {}
    for name in ("nothing", *METHODS):
        command = [sys.executable, "-m", "benchmarks.hierarchy", "--child", name, str(n)]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        taken[name] = int(re.findall(r"\d+", done.stdout)[-1])
    rows = [
        {
            "method": name,
            "MB beyond the matrix": (held - taken["nothing"]) / MB,
            "sizes of the matrix, itself included": 1 + (held - taken["nothing"]) / size,
        }
        for name, held in taken.items()
        if name != "nothing"
    ]
    report.table(f"Peak memory, {n:,} objects", rows)
    for row in rows:
        if row["method"] in ("AVALANCHE", "STAXAC", "STAXAC, renewed graph"):
            held = Sample([row["sizes of the matrix, itself included"]])
            report.claim(f"memory of {row['method']}, sizes of the matrix", "< 2.5", held, "matrices")


def child(name: str, n: int) -> None:
    """What a fresh process of `memory` does: make the matrix, run at most one method, print its peak in bytes."""
    d, y = matrix(n)
    if name != "nothing":
        METHODS[name](d, y)
    print(peak())


def run(report: Report, repeat: int) -> None:
    """Times, figure 4.3, and memory."""
    n = 300 if report.quick else OBJECTS
    times(report, n, repeat)
    against_canonical(report, 60 if report.quick else 1000, min(repeat, 3))
    memory(report, n)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]))
        sys.exit(0)
    sys.exit(main({"hierarchy": run}, __doc__ or ""))
