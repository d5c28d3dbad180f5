"""The linear algebra of other processors gives the same tables.

OpenBLAS has code for every family of processors, and `OPENBLAS_CORETYPE` chooses it. What still uses it (reference
engines, the linear models of libraries) then differs in its last bits; sizes of trees and predicted labels may not. A
few fits here; all of them under `make soak`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from robustness_support import SOAK

CHECKOUT = Path(__file__).parents[2]
EVERY = 1 if SOAK else 32


def outcomes(kernel: str) -> list[str]:
    """Sizes and predictions of fits of all algorithms (or some), by the linear algebra of one family of processors."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.fingerprints", "--outcomes", "--every", str(EVERY)]
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = str(CHECKOUT)
    done = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == -4:
        pytest.skip(f"this processor cannot run the code that OpenBLAS has for {kernel} (illegal instruction)")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def architecture(kernel: str) -> str:
    """The family whose code is used when `kernel` is asked for."""
    code = "import scipy.linalg, threadpoolctl; print(threadpoolctl.threadpool_info()[0].get('architecture'))"
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernel}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture(scope="module")
def usual() -> list[str]:
    return outcomes("")


@pytest.mark.long
@pytest.mark.parametrize("kernel", ["Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX"])
def test_sizes_and_predictions_are_those_of_every_processor(kernel, usual):
    if kernel not in ("Prescott", "SkylakeX") and not SOAK:
        pytest.skip("the kernels between the oldest and the newest run under `make soak`")
    assert outcomes(kernel) == usual
    assert len(usual) > 8


@pytest.mark.long
def test_the_kernel_can_be_chosen():
    """Otherwise the test above compares a thing with itself."""
    chosen = {architecture(kernel) for kernel in ("Prescott", "Haswell")}
    if chosen == {"None"} or not all(chosen):
        pytest.skip("the linear algebra here is not OpenBLAS, so its code cannot be chosen")
    assert len(chosen) == 2
