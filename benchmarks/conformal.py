"""Sets and intervals from given predictions: ours beside `crepes`, if it is installed; coverage, sizes and time."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.measuring import Report, alternate, main
from oblique_cli.estimators.conformal_limits import Held, guarantee_of

SEED = 20261126
COVERAGE = 0.9
CLASSES = 5


def predictions(n: int) -> tuple[Any, Any, Any, Any]:
    """Made-up shares of classes with the true ones, and predicted numbers with the true ones."""
    rng = np.random.default_rng(SEED)
    scores = rng.normal(size=(n, CLASSES)) * 2.0
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    y = (shares.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=CLASSES - 1)
    said = rng.normal(size=n)
    return shares, y, said, said + rng.standard_t(4, size=n)


def run(report: Report, repeat: int) -> None:
    """Limits from half of the rows, sets and intervals of the other half."""
    n = 2_000 if report.quick else 20_000
    shares, y, said, truth = predictions(n)
    half = n // 2

    def sets() -> Any:
        return guarantee_of("lac", COVERAGE, "split", Held(shares[:half], y[:half])).sets(shares[half:])

    def intervals() -> Any:
        held = Held(said[:half], truth[:half])
        return guarantee_of("absolute", COVERAGE, "split", held).intervals(said[half:])

    contestants = {"ours, lac": sets, "ours, absolute": intervals}
    if find_spec("crepes") is not None:
        contestants |= _of_crepes(shares, y, said, truth, half)
    times, found = alternate(contestants, repeat)
    lines = []
    for name, taken in times.items():
        answer = np.asarray(found[name])
        if "lac" in name:
            inside, sizes = answer[np.arange(n - half), y[half:]].astype(bool), answer.sum(axis=1)
        else:
            inside = (answer[:, 0] <= truth[half:]) & (truth[half:] <= answer[:, 1])
            sizes = answer[:, 1] - answer[:, 0]
        lines.append({"by": name, "coverage, %": 100 * inside.mean(), "size": sizes.mean(), "seconds": taken.median})
    report.table(f"{half:,} rows for the limits, {n - half:,} asked, coverage {100 * COVERAGE:g} %", lines)
    if "crepes, lac" in found:
        np.testing.assert_array_equal(found["ours, lac"], np.asarray(found["crepes, lac"], bool))
        np.testing.assert_allclose(found["ours, absolute"], found["crepes, absolute"])
    report.claim(f"limits and sets of {half:,} rows of {CLASSES} classes", None, times["ours, lac"], unit="s")


def _of_crepes(shares: Any, y: Any, said: Any, truth: Any, half: int) -> dict[str, Any]:
    import crepes

    def sets() -> Any:
        own = crepes.ConformalClassifier().fit(1.0 - shares[np.arange(half), y[:half]])
        return own.predict_set(1.0 - shares[half:], confidence=COVERAGE, smoothing=False)

    def intervals() -> Any:
        own = crepes.ConformalRegressor().fit(truth[:half] - said[:half])
        return own.predict_int(said[half:], confidence=COVERAGE)

    return {"crepes, lac": sets, "crepes, absolute": intervals}


if __name__ == "__main__":
    sys.exit(main({"conformal": run}, __doc__ or ""))
