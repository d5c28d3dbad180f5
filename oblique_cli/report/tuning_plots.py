"""The plot of tuning results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from oblique_cli.drawing import charts
from oblique_cli.drawing.charts import Axis, Curve, Panel
from oblique_cli.errors import ConfigError
from oblique_cli.evaluation.metrics import METRICS
from oblique_cli.ground.registry import close_matches
from oblique_cli.report.material import Material, Method, deviation, mean
from oblique_cli.report.plot_kinds import (
    KINDS,
    MOST_PANELS,
    WIDE_RANGE,
    Plot,
    Request,
    left_out,
    metric_of,
    protocol,
    sentence,
    titled,
)


@KINDS.register("curve")
def curve(material: Material, request: Request) -> Plot:
    """Draw the tuning result of each value of a parameter, and how often a value was chosen."""
    tuned = sorted({name for method in material.methods for name in method.spec.grid})
    if not tuned:
        raise ConfigError("the runs tuned no parameter; a tuning curve needs an algorithm with a grid.")
    parameter = request.parameter or tuned[0]
    if not request.parameter and len(tuned) > 1:
        raise ConfigError(f"the runs tuned {' and '.join(tuned)}; choose one by --parameter.")
    if parameter not in tuned:
        hint = close_matches(parameter, tuned) or f" They tuned {', '.join(tuned)}."
        raise ConfigError(f"the runs did not tune {parameter!r}.{hint}")
    metric = metric_of(material, request.metric or _chose(material, parameter))
    panels = []
    for dataset in material.datasets[:MOST_PANELS]:
        lines = []
        for method in material.methods:
            if parameter in method.spec.grid and (line := _tuning(method, dataset, parameter, metric)):
                lines.append(line)
        if lines:
            panels.append(Panel(dataset, lines))
    if not panels:
        raise ConfigError(f"no choice of {parameter} is stored: no fold of the runs is finished.")
    values = sorted({x for panel in panels for line in panel.things for x in line.x})
    axis = Axis(parameter.replace("_", " "), 10 if min(values) > 0 and max(values) / min(values) >= WIDE_RANGE else 0)
    figure = charts.curves(panels, axis, Axis(titled(metric)), request.width)
    caption = (
        f"{sentence(metric)} on the validation rows of tuning for each value of {parameter}, mean and "
        f"standard error over the choices of the folds, {protocol(material)}. Rings mark the values that were chosen, "
        f"the larger the more often; of further tuned parameters the best value is taken."
        f"{left_out(material)}"
    )
    return Plot(figure, caption)


def _chose(material: Material, parameter: str) -> str:
    """The metric that chose the values of a parameter, "" for the usual one."""
    tuned = [method.shown.experiment.cv for method in material.methods if parameter in method.spec.grid]
    names = list(dict.fromkeys(cv.tune_metric or "" for cv in tuned))
    if len(names) > 1:
        listed = " and by ".join(name or metric_of(material, "") for name in names)
        raise ConfigError(f"the runs chose {parameter} by {listed}; say by --metric which one the curve is to show.")
    return names[0]


def _tuning(method: Method, dataset: str, parameter: str, metric: str) -> Curve | None:
    """The curve of a method on a data set."""
    tables = [(row.inner, row.chosen) for row in method.rows(dataset) if row.inner]
    tables += [
        (tuning.inner, tuning.chosen)
        for tuning in method.shown.tunings
        if (tuning.dataset, tuning.algorithm, tuning.status) == (dataset, method.spec.id, "ok")
    ]
    by_value: dict[float, list[float]] = {}
    chosen: Counter[float] = Counter()
    larger = bool(METRICS[metric].larger_is_better)
    for inner, choice in tables:
        best: dict[float, float] = {}
        for entry in inner:
            value = entry["params"].get(parameter)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ConfigError(f"{parameter} of {method.label} has the value {value!r}; a curve needs numbers.")
            score = _validated(method, entry, metric)
            known = best.get(float(value))
            if known is None or (score > known) == larger:
                best[float(value)] = score
        for value, score in best.items():
            by_value.setdefault(value, []).append(score)
        if parameter in choice:
            chosen[float(choice[parameter])] += 1
    if not by_value:
        return None
    xs = sorted(by_value)
    spread = [deviation(by_value[x]) / len(by_value[x]) ** 0.5 for x in xs]
    return Curve(method.label, xs, [mean(by_value[x]) for x in xs], spread, method.code, dict(chosen))


def _validated(method: Method, entry: Mapping[str, Any], metric: str) -> float:
    """The tuning result of one candidate; ConfigError for a metric that tuning did not compute."""
    if metric == "leaves":
        return float(entry["n_leaves"] / max(entry["n_trees"], 1))
    if metric == "rmse" and "squared_error" in entry:
        return float((entry["squared_error"] / max(entry["n_rows"], 1)) ** 0.5)
    if metric == "accuracy" and "n_correct" in entry:
        return float(100.0 * entry["n_correct"] / max(entry["n_rows"], 1))
    chose = method.shown.experiment.cv.tune_metric
    if metric == chose:
        return float(entry["score"])
    known = ["rmse" if "squared_error" in entry else "accuracy", "leaves", *([chose] if chose else [])]
    raise ConfigError(
        f"tuning in run {method.shown.run.name!r} computed {', '.join(known[:-1])} or {known[-1]} of its candidates, "
        f"and not {metric}; give one of these by --metric."
    )
