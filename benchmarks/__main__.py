"""All benchmarks in turn: growth, boosting, bottom_up, commands, conformal sets, eigenvectors, ensembles, forests, OC1,
fourier, hierarchy, model trees, models, monotone trees, PATHFINDER, predict, pruning, refinement, reproduction,
roofline, runner, memory, Shapley values, startup, threads, verify, waits, WEKA and wide data."""

from __future__ import annotations

import sys

from benchmarks import (
    boosting,
    bottom_up,
    commands,
    conformal,
    eigen,
    ensembles,
    forests,
    fourier,
    growth,
    hierarchy,
    memory,
    model_trees,
    models,
    monotone,
    oc1,
    pathfinder,
    predict,
    pruning,
    refinement,
    reproduction,
    roofline,
    runner,
    shapley,
    startup,
    threads,
    verify,
    waits,
    weka,
    wide,
)
from benchmarks.measuring import main

BENCHMARKS = {
    "growth": growth.run,
    "boosting": boosting.run,
    "bottom_up": bottom_up.run,
    "commands": commands.run,
    "conformal": conformal.run,
    "eigen": eigen.run,
    "ensembles": ensembles.run,
    "forests": forests.run,
    "oc1": oc1.run,
    "fourier": fourier.run,
    "hierarchy": hierarchy.run,
    "model_trees": model_trees.run,
    "pathfinder": pathfinder.run,
    "models": models.run,
    "monotone": monotone.run,
    "predict": predict.run,
    "pruning": pruning.run,
    "refinement": refinement.run,
    "reproduction": reproduction.run,
    "runner": runner.run,
    "memory": memory.run,
    "roofline": roofline.run,
    "shapley": shapley.run,
    "startup": startup.run,
    "threads": threads.run,
    "verify": verify.run,
    "waits": waits.run,
    "weka": weka.run,
    "wide": wide.run,
}

if __name__ == "__main__":
    sys.exit(main(BENCHMARKS, __doc__ or ""))
