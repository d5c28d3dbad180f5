"""Fourier spectra of trees and orthogonal trees over a large domain: seconds, memory, two routes to one result."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial

import numpy as np

from benchmarks.measuring import ROOT, Ratio, Report, Sample, alternate, main
from oblique_cli import data
from oblique_cli.estimators.algorithms import make
from oblique_cli.papers.discrete.discrete_tree import DiscreteTree
from oblique_cli.papers.discrete.domain import Domain
from oblique_cli.papers.discrete.extraction import count_terms, spectrum_of
from oblique_cli.papers.discrete.principal import gram_of_trees
from oblique_cli.papers.discrete.spectrum import CoefficientMatrix

MB = 1e6


def complete_tree(depth: int, features: int) -> DiscreteTree:
    """A complete binary tree with random features and labels, always the same."""
    rng = np.random.default_rng(20260101)
    n_inner = 2**depth - 1
    feature = np.full(2 * n_inner + 1, -1)
    paths: list[tuple[int, ...]] = [()]
    for node in range(n_inner):
        feature[node] = rng.choice(np.setdiff1d(np.arange(features), paths[node]))
        paths += [(*paths[node], int(feature[node]))] * 2
    first = np.where(feature >= 0, 2 * np.arange(len(feature)) + 1, -1)
    labels = rng.integers(2, size=len(feature))
    return DiscreteTree(Domain([2] * features), feature, first, np.zeros((len(feature), 1)), labels)


def indicator(tree: DiscreteTree) -> np.ndarray:
    """1 at leaves of the second class."""
    return (tree.labels == 1)[:, None].astype(np.float64)


def transforms(report: Report, repeat: int) -> None:
    """Spectra of complete trees: by table, and along the paths where that is possible."""
    depth = 6 if report.quick else 12
    rows, samples = [], {}
    for features in (depth, depth + 4, depth + 8):
        tree = complete_tree(depth, features)
        _ = tree.paths, tree.measures, tree.depths  # kept by the tree, and known once it has been used
        times, found = alternate({"spectrum": partial(spectrum_of, tree, indicator(tree))}, max(repeat, 3))
        spectrum = found["spectrum"]
        energy = gram_of_trees([tree], [indicator(tree)])[0, 0]
        np.testing.assert_allclose(spectrum.energy, energy, rtol=1e-10)
        samples[features] = Sample([1000 * t for t in times["spectrum"].values])
        rows.append(
            {
                "features": features,
                "leaves": tree.n_leaves,
                "terms along the paths": count_terms(tree),
                "coefficients": len(spectrum),
                "median ms": samples[features].median,
            }
        )
    report.table(f"spectrum of a complete binary tree of depth {depth}", rows)
    for features, sample in samples.items():
        report.claim(f"spectrum of a binary tree of depth {depth} over {features} features", "< 50", sample, "ms")
    small = complete_tree(5 if report.quick else 8, 12)
    ways = {m: partial(spectrum_of, small, indicator(small), method=m) for m in ("paths", "table")}
    times, found = alternate(ways, repeat)
    np.testing.assert_array_equal(found["paths"].keys, found["table"].keys)
    np.testing.assert_allclose(found["paths"].weights, found["table"].weights, atol=1e-14)
    ratio = Ratio.of(times["paths"], times["table"])
    report.claim("along the paths / by table, complete over 12 features", None, ratio)


def inner_products(report: Report, repeat: int) -> None:
    """Gram matrix of bagged trees on DNA: from leaf boxes, beside spectra and their matrix."""
    dataset = data.load("dna")
    train, _ = dataset.split  # type: ignore[misc]
    train = train[:200] if report.quick else train
    model = make("c45_bagging", random_state=1, n_trees=5 if report.quick else 40)
    model.fit(dataset.X[train], dataset.y[train] != 2)
    trees, values = model.trees_, [indicator(tree) for tree in model.trees_]

    def by_spectra() -> np.ndarray:
        spectra = [spectrum_of(tree, value) for tree, value in zip(trees, values, strict=True)]
        return CoefficientMatrix(spectra).gram()

    times, found = alternate({"boxes": partial(gram_of_trees, trees, values), "spectra": by_spectra}, repeat)
    np.testing.assert_allclose(found["boxes"], found["spectra"], atol=1e-10)
    ratio = Ratio.of(times["spectra"], times["boxes"])
    report.claim(f"inner products of {len(trees)} trees on DNA by spectra / from leaf boxes", None, ratio)


REPRODUCTION = """
import sys, time
from benchmarks.peak import peak
from oblique_cli.papers.reproduction.studies import odt
from oblique_cli.papers.reproduction.framework.studies import StudyRequest
only = {"dataset": (sys.argv[1],)}
start = time.process_time()
odt.OrthogonalTrees().run(StudyRequest(sys.argv[2], 20260101, 1, sys.argv[3], None, only, lambda line: None))
print(time.process_time() - start, peak())
"""


def reproduction(report: Report, repeat: int) -> None:
    """All methods of section 7 on DNA, in a process of its own."""
    name, profile = ("house_votes", "quick") if report.quick else ("dna", "full")
    with tempfile.TemporaryDirectory() as results:  # a new one: what is stored would not be fitted again
        command = [sys.executable, "-c", REPRODUCTION, name, profile, results]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    seconds, size = (float(word) for word in done.stdout.split())
    report.table("oblique reproduce odt, one data set", [{"data set": name, "CPU s": seconds, "peak MB": size / MB}])
    report.claim("all methods of section 7 on DNA", "< 120", Sample([seconds]), "s")
    report.claim("all methods of section 7 on DNA, peak memory", "< 1000", Sample([size / MB]), "MB")


def run(report: Report, repeat: int) -> None:
    """Spectra, inner products, and the reproduction of DNA."""
    transforms(report, repeat)
    inner_products(report, repeat)
    reproduction(report, repeat)


if __name__ == "__main__":
    sys.exit(main({"fourier": run}, __doc__ or ""))
