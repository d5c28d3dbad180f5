"""All benchmarks: growth, bottom_up, OC1, fourier, hierarchy, predict, pruning, memory and startup, in turn."""

from __future__ import annotations

import sys

from benchmarks import bottom_up, fourier, growth, hierarchy, memory, oc1, predict, pruning, startup
from benchmarks.measuring import main

BENCHMARKS = {
    "growth": growth.run,
    "bottom_up": bottom_up.run,
    "oc1": oc1.run,
    "fourier": fourier.run,
    "hierarchy": hierarchy.run,
    "predict": predict.run,
    "pruning": pruning.run,
    "memory": memory.run,
    "startup": startup.run,
}

if __name__ == "__main__":
    sys.exit(main(BENCHMARKS, __doc__ or ""))
