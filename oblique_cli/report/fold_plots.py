"""Plots of metrics, times and ranks over folds, and of tuning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from oblique_cli import schemes
from oblique_cli.drawing import charts
from oblique_cli.drawing.charts import Axis, Curve, Group, Panel, Point
from oblique_cli.drawing.painter import PER_INCH, painted
from oblique_cli.drawing.ranks import critical_differences
from oblique_cli.errors import ConfigError
from oblique_cli.evaluation.metrics import METRICS, Undefined
from oblique_cli.evaluation.significance_report import judge
from oblique_cli.evaluation.tables import title_of
from oblique_cli.ground.registry import close_matches
from oblique_cli.report.material import Material, Method, deviation, mean, measured
from oblique_cli.report.plot_kinds import (
    KINDS,
    MOST_PANELS,
    WIDE_RANGE,
    Plot,
    Request,
    axis_of,
    left_out,
    methods_on,
    metric_of,
    nothing,
    protocol,
    sentence,
    tested,
    titled,
    without,
)

LETTERS = 6.5  # points, in a diagram of ranks


@KINDS.register("box")
def box(material: Material, request: Request) -> Plot:
    """Draw the spread of a metric: over folds, or over data sets if there are many."""
    metric = metric_of(material, request.metric)
    if len(material.datasets) <= MOST_PANELS:
        panels = [
            Panel(
                name,
                [
                    Group(m.label, values, m.code)
                    for m in methods_on(material, name)
                    if (values := m.values(name, metric))
                ],
            )
            for name in material.datasets
        ]
        over = "the test folds"
    else:
        common = _common(material, metric)
        groups = [Group(m.label, list(common[m.code].values()), m.code) for m in material.methods if m.code in common]
        panels = [Panel("", groups)]
        over = f"{len(next(iter(common.values())))} data sets"
    panels = [panel for panel in panels if panel.things]
    if not panels:
        raise nothing(metric)
    codes = {group.code for panel in panels for group in panel.things}
    values = [value for panel in panels for group in panel.things for value in group.values]
    figure = charts.boxes(panels, axis_of(metric, values), request.width)
    caption = (
        f"{sentence(metric)} over {over}, {protocol(material)}. Boxes reach from the lower to the upper quartile "
        "with the median inside, whiskers to the last value within 1.5 times the distance of the quartiles."
        f"{without(material, codes, title_of(metric))}{tested(material)}"
    )
    return Plot(figure, caption, charts.numbers(panels, title_of(metric)))


@KINDS.register("scatter")
def scatter(material: Material, request: Request) -> Plot:
    """Draw a metric against another one, such as accuracy against leaves, with the Pareto front."""
    y, x = metric_of(material, request.metric), metric_of(material, request.x)
    if x == y:
        raise ConfigError(f"a scatter needs two metrics, and both are {y}; give another one by --x or --metric.")
    across, up = _common(material, x), _common(material, y)
    methods = [method for method in material.methods if method.code in across and method.code in up]
    names = [name for name in material.datasets if all(name in across[m.code] and name in up[m.code] for m in methods)]
    if not names or not methods:
        raise nothing(f"{y} and {x}")
    points = []
    for method in methods:
        xs, ys = ([values[method.code][name] for name in names] for values in (across, up))
        single = len(names) == 1
        points.append(
            Point(
                method.label, mean(xs), mean(ys), method.code,
                deviation(method.by_repetition(names[0], x)) if single else 0.0,
                deviation(method.by_repetition(names[0], y)) if single else 0.0,
            )
        )  # fmt: skip
    front = pareto(points, METRICS[x].larger_is_better, METRICS[y].larger_is_better)
    title = names[0] if len(names) == 1 else ""
    across_axis = axis_of(x, [point.x for point in points])
    up_axis = axis_of(y, [point.y for point in points])
    figure = charts.scatter(Panel(title, points), across_axis, up_axis, front, request.width)
    best = " and ".join(point.label for point in sorted(front, key=lambda point: point.x))
    spread = "; bars are standard deviations over repetitions" if len(names) == 1 else ""
    mean_over = "" if len(names) == 1 else f", means over {len(names)} data sets"
    caption = (
        f"{sentence(y)} against {title_of(x)}{mean_over}, {protocol(material)}{spread}. The dashed line is the "
        f"Pareto front, of methods that no other one beats in both: {best}."
        f"{without(material, across.keys() & up.keys(), f'{title_of(x)} or {title_of(y)}')}{tested(material)}"
    )
    return Plot(figure, caption, charts.numbers([Panel(title, points)], title_of(y), title_of(x)))


@KINDS.register("time")
def time(material: Material, request: Request) -> Plot:
    """Draw the seconds of fitting and of predicting, over data sets or folds."""
    single = len(material.datasets) == 1
    pairs = []
    for method in material.methods:
        kinds = []
        for metric in ("fit", "predict"):
            if single:
                values = method.values(material.datasets[0], metric)
            else:
                values = [mean(seconds) for name in material.datasets if (seconds := method.values(name, metric))]
            kinds.append(Group(method.label, values, method.code))
        if any(value > 0 for value in kinds[0].values):
            pairs.append(tuple(kinds))
    if not pairs:
        raise nothing("fit")
    title = material.datasets[0] if single else ""
    figure = charts.times(Panel(title, pairs), Axis("seconds (filled: fitting, hollow: predicting)", 10), request.width)
    over = "folds" if single else f"{len(material.datasets)} data sets"
    caption = (
        f"Seconds to fit a model (filled) and to predict the test rows of a fold (hollow): geometric mean, least and "
        f"most over {over}, {protocol(material)}. Times of runs on several workers share processors."
        f"{tested(material)}"
    )
    parts = [
        Panel(" ".join(filter(None, (title, part))), [pair[k] for pair in pairs])
        for k, part in enumerate(("fit", "predict"))
    ]
    return Plot(figure, caption, charts.numbers(parts, "seconds"))


@KINDS.register("cd")
def cd(material: Material, request: Request) -> Plot:
    """Draw the critical-difference diagram of average ranks over data sets."""
    metric = metric_of(material, request.metric)
    paired = material.paired((metric,))
    ((ranks, test),) = judge(paired, material.title).diagrams()
    width = request.width / charts.MILLIMETERS * PER_INCH
    figure = painted(critical_differences([replace(ranks, title="")], width, LETTERS))
    caption = (
        f"Average ranks by {title_of(metric)} over {test.n} data sets, {protocol(material)}; 1 is best. Methods under "
        "one bar are not told apart at 0.05 by the Nemenyi test (critical difference "
        f"{ranks.critical:.2f}; Friedman test: F = {test.f:.2f}, p = {test.p:.2g})."
    )
    order = sorted(ranks.methods, key=lambda pair: pair[1])
    return Plot(figure, caption, (("algorithm", "average rank"), [(name, f"{rank:.3f}") for name, rank in order]))


@KINDS.register("learning")
def learning(material: Material, request: Request) -> Plot:
    """Draw a metric against the number of training rows, of runs with cv: {scheme: learning}."""
    metric = metric_of(material, request.metric)
    others = [shown.run.name for shown in material.shown if shown.experiment.cv.scheme != "learning"]
    if others:
        raise ConfigError(
            f"run {others[0]!r} was not made with growing training sets; run it with --set cv.scheme=learning."
        )
    panels: list[Panel] = []
    ticks: set[int] = set()
    for dataset in material.datasets[:MOST_PANELS]:
        lines = []
        for method in material.methods:
            experiment = method.shown.experiment
            steps = schemes.SCHEMES["learning"].steps(experiment.cv)  # type: ignore[attr-defined]
            heights: list[list[float]] = [[] for _ in range(steps)]
            rows_of: list[list[float]] = [[] for _ in range(steps)]
            for repetition in method.repetitions(dataset):
                n = sum(row.n_test for row in repetition) // steps
                for step in range(steps):
                    step_rows = [row for row in repetition if row.fold % steps == step]
                    try:
                        heights[step].append(float(measured(metric, step_rows, experiment)))
                    except Undefined as reason:
                        raise ConfigError(
                            f"{title_of(metric)} of {method.label} on {dataset} is undefined in some fold ({reason}); "
                            "a learning curve needs all of them."
                        ) from reason
                    rows_of[step].append(mean([(n - row.n_test) >> (steps - 1 - step) for row in step_rows]))
            if all(heights):
                xs, ys = [mean(rows) for rows in rows_of], [mean(values) for values in heights]
                ticks.update(round(x) for x in xs)
                lines.append(Curve(method.label, xs, ys, [deviation(values) for values in heights], method.code))
        if lines:
            panels.append(Panel(dataset, lines))
    if not panels:
        raise nothing(metric)
    shown_ticks = sorted(ticks) if len(panels) == 1 else ()
    figure = charts.curves(panels, Axis("training rows", 2), Axis(titled(metric)), request.width, shown_ticks)
    caption = (
        f"{sentence(metric)} by the number of training rows, mean and standard deviation over repetitions, "
        f"{protocol(material)}.{left_out(material)}"
    )
    return Plot(figure, caption, charts.numbers(panels, title_of(metric), "training rows"))


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
    return Plot(figure, caption, charts.numbers(panels, title_of(metric), parameter))


def pareto(points: Iterable[Point], more_x: bool | None, more_y: bool | None) -> list[Point]:
    """Return the points that no other point beats in both coordinates. more_x, more_y : whether larger is better"""
    known = list(points)

    def better(a: Point, b: Point) -> bool:
        ahead = [a.x - b.x if more_x else b.x - a.x, a.y - b.y if more_y else b.y - a.y]
        return min(ahead) >= 0 and max(ahead) > 0

    return [point for point in known if not any(better(other, point) for other in known)]


def _common(material: Material, metric: str) -> dict[int, dict[str, float]]:
    """Return the code of a method -> mean of a metric by data set, on the data sets of all methods with the metric."""
    means: dict[int, dict[str, float]] = {}
    for method in material.methods:
        lists = {name: method.by_repetition(name, metric) for name in material.datasets if material.has(method, name)}
        if any(lists.values()):
            means[method.code] = {name: mean(values) for name, values in lists.items() if values}
    shared = [name for name in material.datasets if all(name in values for values in means.values())]
    if not means or not shared:
        raise nothing(metric)
    return {code: {name: values[name] for name in shared} for code, values in means.items()}


def _chose(material: Material, parameter: str) -> str:
    """Return the metric that chose the values of a parameter, "" for the default."""
    tuned = [method.shown.experiment.cv for method in material.methods if parameter in method.spec.grid]
    names = list(dict.fromkeys(cv.tune_metric or "" for cv in tuned))
    if len(names) > 1:
        listed = " and by ".join(name or metric_of(material, "") for name in names)
        raise ConfigError(f"the runs chose {parameter} by {listed}; say by --metric which one the curve is to show.")
    return names[0]


def _tuning(method: Method, dataset: str, parameter: str, metric: str) -> Curve | None:
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
    """Return the tuning result of a candidate; raise ConfigError for a metric that tuning did not compute."""
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
