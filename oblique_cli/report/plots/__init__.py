"""Plots of stored runs, one function a kind: what is drawn, and the caption that a paper needs below it.

Kinds are divided by what of a run they read:

    _kind.py         what a kind is, and the words that kinds share
    folds.py         metrics, times and ranks
    tuning.py        what tuning found
    predictions.py   calibration, confusion, decision regions
"""

import oblique_cli.report.plots.tuning  # noqa: F401  (registers its kind)
from oblique_cli.report.plots._kind import KINDS, Plot, Request, draw, summary
from oblique_cli.report.plots.folds import pareto
from oblique_cli.report.plots.predictions import confusions

__all__ = ["KINDS", "Plot", "Request", "confusions", "draw", "pareto", "summary"]
