"""The core's code for newer processors changes no bit of a model."""

import shutil

import pytest
from checkout_support import Checkout
from core_support import CORE, built, missing_tool
from robustness_support import SOAK


@pytest.mark.skipif(not SOAK, reason="builds the core with full optimization, which takes minutes: `make soak`")
@pytest.mark.skipif(missing_tool() is not None, reason=f"the core cannot be built here: {missing_tool()} is missing")
def test_every_model_has_the_same_bits_without_the_code_for_newer_processors(tmp_path):
    (tmp_path / "here").mkdir()
    checkout = Checkout(tmp_path / "here")
    fits = ("-W", "ignore", "-m", "benchmarks.fingerprints")
    usual = checkout.python(*fits)
    assert usual.code == 0, usual.err
    shutil.copytree(CORE, tmp_path / "core")
    flags = {"CMAKE_CXX_FLAGS": "-DOBLIQUE_NO_CLONES", "OBLIQUE_OPTIMIZATION": "-O3"}
    module = built(tmp_path / "core", tmp_path / "build", **flags)
    shutil.copy(module, checkout.folder / "oblique_cli")
    baseline = checkout.python(*fits)
    assert baseline.code == 0, baseline.err
    assert baseline.out == usual.out
    assert len(usual.out.splitlines()) > 400
