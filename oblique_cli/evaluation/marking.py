"""Marks in tables: the best method of each data set and the methods not significantly worse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from oblique_cli.errors import ConfigError
from oblique_cli.evaluation.metrics import METRICS
from oblique_cli.evaluation.paired import StoredRun, pair
from oblique_cli.evaluation.significance_tests import corrected_resampled_t
from oblique_cli.evaluation.tables import BEST, SAME, ResultTable

ALPHA = 0.05

Marks = Mapping[tuple[str, str, str], str]


def marks(run: StoredRun, metrics: Sequence[str], alpha: float = ALPHA) -> Marks:
    """Return (data set, algorithm, metric) -> BEST, or SAME for a mean not significantly worse than the best.

    Uses the corrected resampled t test, two-sided, on shared folds. Raise ConfigError if there is nothing to compare.
    """
    cell_marks: dict[tuple[str, str, str], str] = {}
    paired = pair([run], {}, metrics)
    for scores in paired.scores:
        for metric in metrics:
            means = scores.means[metric]
            if not means:
                continue
            best = max(means.values()) if METRICS[metric].larger_is_better else min(means.values())
            leader = next(method for method, mean in means.items() if mean == best)
            folds = scores.folds.get(metric)
            for method, mean in means.items():
                ratio, d = scores.test_over_train, None if folds is None else folds[leader] - folds[method]
                if mean == best:
                    cell_marks[scores.dataset, method, metric] = BEST
                elif ratio is not None and d is not None and len(d) > 1 and corrected_resampled_t(d, ratio).p > alpha:
                    cell_marks[scores.dataset, method, metric] = SAME
    return cell_marks


def marked(table: ResultTable, run: StoredRun, alpha: float = ALPHA) -> ResultTable:
    """Return the table of a run with marks on the best cells and a note; raise ConfigError as in `marks`."""
    metrics = [name for name in table.metrics if name in METRICS and not METRICS[name].matrix]
    if not metrics:
        raise ConfigError(f"{run.experiment.name}: the table shows no metric whose best could be marked.")
    cell_marks = marks(run, metrics, alpha)
    test = f"at {alpha:g} by the corrected resampled t test"
    note = f"{BEST} the best on its data set; {SAME} not significantly worse {test}."
    return replace(table, notes=(*table.notes, note), marks=cell_marks)
