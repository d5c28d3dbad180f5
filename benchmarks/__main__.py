"""All benchmarks in turn: every module of this folder that has a function run(report, repeat)."""

from __future__ import annotations

import pkgutil
import sys
from importlib import import_module

import benchmarks
from benchmarks.measuring import main

MODULES = [import_module(f"benchmarks.{module.name}") for module in pkgutil.iter_modules(benchmarks.__path__)
           if module.name not in ("__main__", "peak")]  # fmt: skip
BENCHMARKS = {module.__name__.rpartition(".")[2]: module.run for module in MODULES if hasattr(module, "run")}

if __name__ == "__main__":
    sys.exit(main(BENCHMARKS, __doc__ or ""))
