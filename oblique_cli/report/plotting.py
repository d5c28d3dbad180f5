"""Plots of stored runs, one function a kind, each with the caption that a paper needs.

The files by the part of a run that they read:

    _kind.py         what a kind is, and the words that kinds share
    folds.py         metrics, times and ranks
    tuning.py        what tuning found
    predictions.py   calibration, confusion, decision regions
"""

import oblique_cli.report.tuning_plots  # noqa: F401  (registers its kind)
from oblique_cli.report.fold_plots import pareto
from oblique_cli.report.plot_kinds import KINDS, Plot, Request, draw, summary
from oblique_cli.report.prediction_plots import confusions

__all__ = ["KINDS", "Plot", "Request", "confusions", "draw", "pareto", "summary"]
