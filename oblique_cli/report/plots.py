"""Plots of stored runs, one function a kind: what is drawn, and the caption that a paper needs below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from oblique_cli import schemes
from oblique_cli.data import catalogue
from oblique_cli.drawing import charts
from oblique_cli.drawing.canvas import needs_matplotlib
from oblique_cli.drawing.charts import Axis, Curve, Group, Panel, Point
from oblique_cli.drawing.painter import PER_INCH, painted
from oblique_cli.drawing.ranks import critical_differences
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import task_of
from oblique_cli.evaluation.metrics import METRICS, Undefined
from oblique_cli.evaluation.metrics import chosen as checked
from oblique_cli.evaluation.significance_report import judge
from oblique_cli.evaluation.tables import title_of
from oblique_cli.experiments.rescoring import stored
from oblique_cli.experiments.running import Case, fitted
from oblique_cli.nouns import Fold
from oblique_cli.registry import Registry, close_matches
from oblique_cli.report.material import Material, Method, deviation, mean, measured
from oblique_cli.seeds import integer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS = 6  # data sets with axes of their own; of more, the means are shown together
BINS = 10  # of a reliability diagram, equally wide
GRID = 300  # points a side, of decision regions
UNITS = ("%", "s", "nats")  # said beside what is measured; of leaves, "leaves" is enough
LETTERS = 6.5  # points, of a diagram of ranks
WIDE_RANGE = 30.0  # from this ratio of the largest to the smallest value on, an axis is logarithmic


@dataclass(frozen=True, eq=False)
class Plot:
    """A finished figure and its caption."""

    figure: Figure
    caption: str


@dataclass(frozen=True)
class Request:
    """What may be asked of a plot.

    metric       what is shown, "" for accuracy (RMSE of regression)
    x            the other metric of a scatter
    parameter    of a tuning curve, "" if there is one only
    features     two columns, of decision regions
    width        millimeters
    data_dir, offline   where data sets come from, see `catalogue.load`
    """

    metric: str = ""
    x: str = "leaves"
    parameter: str = ""
    features: tuple[str, ...] = ()
    width: float = charts.COLUMN
    data_dir: str | None = None
    offline: bool = False


Drawn = Callable[[Material, Request], Plot]

KINDS: Registry[Drawn] = Registry("kind of plot")


def draw(kind: str, material: Material, request: Request) -> Plot:
    """Return a plot. ConfigError if the runs do not have what it shows."""
    # Names of classes, columns and algorithms are text, dollars included.
    with needs_matplotlib().rc_context({"text.parse_math": False}):
        return KINDS[kind](material, request)


def summary(kind: str) -> str:
    """Return what a kind of plot shows, one line."""
    return (KINDS[kind].__doc__ or "").partition("\n")[0].removeprefix("Draw ").rstrip(".")


# ---- values of folds -------------------------------------------------------------------------------------------------


@KINDS.register("box")
def box(material: Material, request: Request) -> Plot:
    """Draw the spread of a metric: over folds, or over data sets if there are many."""
    metric = _metric(material, request.metric)
    if len(material.datasets) <= MOST_PANELS:
        panels = [
            Panel(name, [Group(m.label, values, m.code) for m, values in _filled(material, name, metric)])
            for name in material.datasets
        ]
        over = "the test folds"
    else:
        common = _common(material, metric)
        groups = [Group(m.label, [common[m.code][name] for name in common[m.code]], m.code) for m in material.methods]
        panels = [Panel("", groups)]
        over = f"{len(next(iter(common.values())))} data sets"
    panels = [panel for panel in panels if panel.things]
    if not panels:
        raise _nothing(metric)
    figure = charts.boxes(panels, _axis(metric, _values(panels)), request.width)
    caption = (
        f"{_sentence(metric)} over {over}, {_protocol(material)}. Boxes reach from the lower to the upper quartile "
        "with the median inside, whiskers to the last value within 1.5 times the distance of the quartiles."
        f"{_tested(material)}"
    )
    return Plot(figure, caption)


@KINDS.register("scatter")
def scatter(material: Material, request: Request) -> Plot:
    """Draw a metric against another one, such as accuracy against leaves, with the Pareto front."""
    y, x = _metric(material, request.metric), _metric(material, request.x)
    if x == y:
        raise ConfigError(f"a scatter needs two metrics, and both are {y}; give another one by --x or --metric.")
    across, up = _common(material, x), _common(material, y)
    names = [
        name
        for name in material.datasets
        if all(name in across[m.code] and name in up[m.code] for m in material.methods)
    ]
    if not names:
        raise _nothing(f"{y} and {x}")
    points = []
    for method in material.methods:
        xs, ys = ([values[method.code][name] for name in names] for values in (across, up))
        one = len(names) == 1
        points.append(
            Point(
                method.label, mean(xs), mean(ys), method.code,
                deviation(method.by_repetition(names[0], x)) if one else 0.0,
                deviation(method.by_repetition(names[0], y)) if one else 0.0,
            )
        )  # fmt: skip
    front = pareto(points, METRICS[x].larger_is_better, METRICS[y].larger_is_better)
    title = names[0] if len(names) == 1 else ""
    across_axis = _axis(x, [point.x for point in points])
    figure = charts.scatter(Panel(title, points), across_axis, _axis(y, []), front, request.width)
    best = " and ".join(point.label for point in sorted(front, key=lambda point: point.x))
    spread = "; bars are standard deviations over repetitions" if len(names) == 1 else ""
    mean_over = "" if len(names) == 1 else f", means over {len(names)} data sets"
    caption = (
        f"{_sentence(y)} against {title_of(x)}{mean_over}, {_protocol(material)}{spread}. The dashed line is the "
        f"Pareto front, of methods that no other one beats in both: {best}.{_tested(material)}"
    )
    return Plot(figure, caption)


@KINDS.register("time")
def time(material: Material, request: Request) -> Plot:
    """Draw the seconds of fitting and of predicting, over data sets or folds."""
    one = len(material.datasets) == 1
    pairs = []
    for method in material.methods:
        kinds = []
        for metric in ("fit", "predict"):
            if one:
                values = method.values(material.datasets[0], metric)
            else:
                values = [mean(found) for name in material.datasets if (found := method.values(name, metric))]
            kinds.append(Group(method.label, values, method.code))
        if any(value > 0 for value in kinds[0].values):
            pairs.append(tuple(kinds))
    if not pairs:
        raise _nothing("fit")
    title = material.datasets[0] if one else ""
    figure = charts.times(Panel(title, pairs), Axis("seconds (filled: fitting, hollow: predicting)", 10), request.width)
    over = "folds" if one else f"{len(material.datasets)} data sets"
    caption = (
        f"Seconds to fit a model (filled) and to predict the test rows of a fold (hollow): geometric mean, least and "
        f"most over {over}, {_protocol(material)}. Times of runs on several workers share processors."
        f"{_tested(material)}"
    )
    return Plot(figure, caption)


# ---- ranks -----------------------------------------------------------------------------------------------------------


@KINDS.register("cd")
def cd(material: Material, request: Request) -> Plot:
    """Draw the critical-difference diagram of average ranks over data sets."""
    metric = _metric(material, request.metric)
    paired = material.paired((metric,))
    ((ranks, test),) = judge(paired, material.title).diagrams()
    width = request.width / charts.MILLIMETERS * PER_INCH
    figure = painted(critical_differences([replace(ranks, title="")], width, LETTERS))
    caption = (
        f"Average ranks by {title_of(metric)} over {test.n} data sets, {_protocol(material)}; 1 is best. Methods under "
        "one bar are not told apart at 0.05 by the Nemenyi test (critical difference "
        f"{ranks.critical:.2f}; Friedman test: F = {test.f:.2f}, p = {test.p:.2g})."
    )
    return Plot(figure, caption)


# ---- choices and sizes -----------------------------------------------------------------------------------------------


@KINDS.register("curve")
def curve(material: Material, request: Request) -> Plot:
    """Draw what tuning found for each value of a parameter, and how often a value was chosen."""
    tuned = sorted({name for method in material.methods for name in method.spec.grid})
    if not tuned:
        raise ConfigError("the runs tuned no parameter; a tuning curve needs an algorithm with a grid.")
    parameter = request.parameter or tuned[0]
    if not request.parameter and len(tuned) > 1:
        raise ConfigError(f"the runs tuned {' and '.join(tuned)}; choose one by --parameter.")
    if parameter not in tuned:
        hint = close_matches(parameter, tuned) or f" They tuned {', '.join(tuned)}."
        raise ConfigError(f"the runs did not tune {parameter!r}.{hint}")
    metric = _metric(material, request.metric or _chose(material, parameter))
    panels = []
    for dataset in material.datasets[:MOST_PANELS]:
        lines = []
        for method in material.methods:
            if parameter in method.spec.grid and (found := _tuning(method, dataset, parameter, metric)):
                lines.append(found)
        if lines:
            panels.append(Panel(dataset, lines))
    if not panels:
        raise ConfigError(f"no choice of {parameter} is stored: no fold of the runs is finished.")
    values = sorted({x for panel in panels for line in panel.things for x in line.x})
    axis = Axis(parameter.replace("_", " "), 10 if min(values) > 0 and max(values) / min(values) >= WIDE_RANGE else 0)
    figure = charts.curves(panels, axis, Axis(_title(metric)), request.width)
    left_out = _left_out(material)
    caption = (
        f"{_sentence(metric)} on the validation rows of tuning for each value of {parameter}, mean and "
        f"standard error over the choices of the folds, {_protocol(material)}. Rings mark the values that were chosen, "
        f"the larger the more often; of further tuned parameters the best value is taken.{left_out}"
    )
    return Plot(figure, caption)


def _chose(material: Material, parameter: str) -> str:
    """The metric that chose the values of a parameter, "" for the usual one."""
    tuned = [method.shown.experiment.cv for method in material.methods if parameter in method.spec.grid]
    names = list(dict.fromkeys(cv.tune_metric or "" for cv in tuned))
    if len(names) > 1:
        listed = " and by ".join(name or _metric(material, "") for name in names)
        raise ConfigError(f"the runs chose {parameter} by {listed}; say by --metric which one the curve is to show.")
    return names[0]


def _tuning(method: Method, dataset: str, parameter: str, metric: str) -> Curve | None:
    """The curve of a method on a data set."""
    tables = [(row.inner, row.chosen) for row in method.rows(dataset) if row.inner]
    tables += [
        (one.inner, one.chosen)
        for one in method.shown.tunings
        if (one.dataset, one.algorithm, one.status) == (dataset, method.spec.id, "ok")
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
            found = _validated(method, entry, metric)
            known = best.get(float(value))
            if known is None or (found > known) == larger:
                best[float(value)] = found
        for value, found in best.items():
            by_value.setdefault(value, []).append(found)
        if parameter in choice:
            chosen[float(choice[parameter])] += 1
    if not by_value:
        return None
    xs = sorted(by_value)
    spread = [deviation(by_value[x]) / len(by_value[x]) ** 0.5 for x in xs]
    return Curve(method.label, xs, [mean(by_value[x]) for x in xs], spread, method.code, dict(chosen))


def _validated(method: Method, entry: Mapping[str, Any], metric: str) -> float:
    """What tuning found for one candidate; ConfigError for a metric that it did not compute."""
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


@KINDS.register("learning")
def learning(material: Material, request: Request) -> Plot:
    """Draw a metric against the number of training rows, of runs with cv: {scheme: learning}."""
    metric = _metric(material, request.metric)
    others = [one.run.name for one in material.shown if one.experiment.cv.scheme != "learning"]
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
                    own = [row for row in repetition if row.fold % steps == step]
                    try:
                        heights[step].append(float(measured(metric, own, experiment)))
                    except Undefined as reason:
                        raise ConfigError(
                            f"{title_of(metric)} of {method.label} on {dataset} is undefined in some fold ({reason}); "
                            "a learning curve needs all of them."
                        ) from reason
                    rows_of[step].append(mean([(n - row.n_test) >> (steps - 1 - step) for row in own]))
            if all(heights):
                xs, ys = [mean(rows) for rows in rows_of], [mean(found) for found in heights]
                ticks.update(round(x) for x in xs)
                lines.append(Curve(method.label, xs, ys, [deviation(found) for found in heights], method.code))
        if lines:
            panels.append(Panel(dataset, lines))
    if not panels:
        raise _nothing(metric)
    shown_ticks = sorted(ticks) if len(panels) == 1 else ()
    figure = charts.curves(panels, Axis("training rows", 2), Axis(_title(metric)), request.width, shown_ticks)
    caption = (
        f"{_sentence(metric)} by the number of training rows, mean and standard deviation over repetitions, "
        f"{_protocol(material)}.{_left_out(material)}"
    )
    return Plot(figure, caption)


# ---- predictions -----------------------------------------------------------------------------------------------------


@KINDS.register("calibration")
def calibration(material: Material, request: Request) -> Plot:
    """Draw reliability: how often a prediction of a given probability is right."""
    _classes_only(material, "calibration")
    panels = []
    for dataset in material.datasets[:MOST_PANELS]:
        lines = []
        for method in _on(material, dataset):
            confident, right = [], []
            for row, found, labels in stored(material.store, method.shown.run, method.tested(dataset)):
                if found.probabilities is None:
                    raise ConfigError(
                        f"run {method.shown.run.name!r} keeps no probabilities of {method.label} on {dataset} "
                        f"(repetition {row.repeat}, fold {row.fold}); run it with --keep-probabilities."
                    )
                confident.append(found.probabilities.max(axis=1))
                right.append(found.predicted == labels.y[found.rows])
            if confident:
                lines.append(_reliability(method, np.concatenate(confident), np.concatenate(right)))
        if lines:
            panels.append(Panel(dataset, lines))
    if not panels:
        raise _nothing("predictions")
    figure = charts.calibration(panels, request.width)
    caption = (
        f"Reliability of the predicted class's probability on test rows, {BINS} bins of equal width, "
        f"{_protocol(material)}; points are as large as the share of rows in their bin. ECE is the expected "
        f"calibration error, the mean distance from the diagonal.{_left_out(material)}"
    )
    return Plot(figure, caption)


def _reliability(method: Method, confident: np.ndarray, right: np.ndarray) -> tuple[Curve, list[int]]:
    bins = np.clip(np.ceil(confident * BINS).astype(int) - 1, 0, BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    used = np.flatnonzero(counts)
    x = np.bincount(bins, weights=confident, minlength=BINS)[used] / counts[used]
    y = np.bincount(bins, weights=right, minlength=BINS)[used] / counts[used]
    error = float((np.abs(x - y) * counts[used]).sum() / counts.sum())
    label = f"{method.label} (ECE {error:.3f})"
    return Curve(label, x.tolist(), y.tolist(), [0.0] * len(used), method.code), counts[used].tolist()


@KINDS.register("confusion")
def confusion(material: Material, request: Request) -> Plot:
    """Draw which class was taken for which."""
    _classes_only(material, "a confusion matrix")
    if len(material.datasets) > 1:
        raise ConfigError(
            f"a confusion matrix is of one data set; choose one by --dataset: {', '.join(material.datasets)}."
        )
    (dataset,) = material.datasets
    classes, found = confusions(material, dataset)
    if not found:
        raise _nothing("predictions")
    panels = [Panel(f"{dataset}, {method.label}", [counts]) for method, counts in found]
    figure = charts.confusion(panels, classes, request.width)
    caption = (
        f"Test rows of each class by the class predicted, mean over repetitions, {_protocol(material)}; shades are "
        "shares of a row."
    )
    return Plot(figure, caption)


def confusions(material: Material, dataset: str) -> tuple[tuple[str, ...], list[tuple[Method, np.ndarray]]]:
    """Return the classes of a data set, and for each method its (C, C) matrix of counts, mean over repetitions."""
    classes: tuple[str, ...] = ()
    out = []
    for method in _on(material, dataset):
        repetitions = method.repetitions(dataset)
        rows = [row for rows in repetitions for row in rows] or method.tested(dataset)
        total: np.ndarray | None = None
        for _, found, labels in stored(material.store, method.shown.run, rows):
            classes = labels.classes
            total = np.zeros((len(classes), len(classes))) if total is None else total
            np.add.at(total, (labels.y[found.rows], found.predicted), 1)
        if total is not None:
            out.append((method, total / max(len(repetitions), 1)))
    return classes, out


@KINDS.register("regions")
def regions(material: Material, request: Request) -> Plot:
    """Draw the class that each algorithm predicts over the plane of two features."""
    _classes_only(material, "regions")
    if len(material.datasets) > 1:
        raise ConfigError(f"regions are of one data set; choose one by --dataset: {', '.join(material.datasets)}.")
    (dataset,) = material.datasets
    panels = []
    data = columns = None
    for method in _on(material, dataset):
        policy = material.policy(method, dataset)
        data = catalogue.load(policy, request.data_dir, request.offline, task_of(method.spec.name))
        if data.digest != method.shown.data.get(dataset):
            raise ConfigError(f"the data of {dataset!r} have changed since run {method.shown.run.name!r} was made.")
        columns = _two(data, request.features)
        X = np.ascontiguousarray(data.X[:, columns])
        if np.isnan(X).any():
            raise ConfigError(f"regions need values, and {dataset!r} has missing ones in the features shown.")
        chosen = Counter(tuple(sorted(row.chosen.items())) for row in method.rows(dataset)).most_common(1)
        flat = _plane(data, X, columns)
        case = Case.of(method.shown.experiment, flat, policy, method.spec)
        rows = np.arange(flat.n)
        seed = integer(method.shown.experiment.seed, dataset, "regions")
        everything = Fold(0, 0, rows, rows[:0], rows[:: max(2, round(1 / method.shown.experiment.cv.pruning_fraction))])
        estimator, encoder, _ = fitted(case, everything, seed, dict(chosen[0][0]) if chosen else {})
        low, high = X.min(axis=0), X.max(axis=0)
        margin = np.where(high > low, 0.05 * (high - low), 0.5)
        rectangle = np.array([low - margin, high + margin])
        across, up = np.meshgrid(*(np.linspace(rectangle[0, k], rectangle[1, k], GRID) for k in (0, 1)))
        plane = np.column_stack([across.ravel(), up.ravel()])
        plane = plane if encoder is None else np.ascontiguousarray(encoder.transform(plane), dtype=np.float64)
        codes = np.asarray(estimator.predict(plane)).reshape(GRID, GRID)
        panels.append(Panel(method.label, [codes, X, data.y]))
    if data is None or columns is None:
        raise _nothing("regions")
    names = [data.feature_names[k] for k in columns]
    figure = charts.regions(panels, rectangle, names, data.classes, request.width)
    note = "" if len(data.feature_names) == 2 else " The models were fitted to these two features alone."
    over = f"{names[0]} and {names[1]}"
    caption = f"Classes of {dataset} that each model, fitted to all {data.n} rows, predicts over {over}.{note}"
    return Plot(figure, caption)


def _two(data: Any, asked: Sequence[str]) -> list[int]:
    names = list(data.feature_names)
    if not asked:
        if len(names) == 2:
            return [0, 1]
        raise ConfigError(
            f"regions need two features, and {data.name!r} has {len(names)}; choose by --features A,B from "
            f"{', '.join(names[:8])}{', ...' if len(names) > 8 else ''}."
        )
    if len(asked) != 2 or asked[0] == asked[1]:
        raise ConfigError(f"--features takes two different names, A,B. Got {','.join(asked)!r}.")
    for name in asked:
        if name not in names:
            hint = close_matches(name, names) or f" It has {', '.join(names[:8])}."
            raise ConfigError(f"data set {data.name!r} has no feature {name!r}.{hint}")
    found = [names.index(name) for name in asked]
    for k in found:
        if k in data.qualitative:
            raise ConfigError(f"feature {names[k]!r} of {data.name!r} is qualitative; regions need two numbers.")
    return found


def _plane(data: Any, X: np.ndarray, columns: Sequence[int]) -> Any:
    names = tuple(data.feature_names[k] for k in columns)
    return replace(data, X=X, feature_names=names, qualitative=(), levels={}, split=None)


# ---- shared ----------------------------------------------------------------------------------------------------------


def pareto(points: Iterable[Point], more_x: bool | None, more_y: bool | None) -> list[Point]:
    """Return the points that no other one beats in both coordinates. more_x, more_y : whether more is better"""
    known = list(points)

    def better(a: Point, b: Point) -> bool:
        ahead = [a.x - b.x if more_x else b.x - a.x, a.y - b.y if more_y else b.y - a.y]
        return min(ahead) >= 0 and max(ahead) > 0

    return [point for point in known if not any(better(other, point) for other in known)]


def _metric(material: Material, name: str) -> str:
    usual = "rmse" if material.task == "regression" else "accuracy"
    (metric,) = checked((name or usual,), material.task, "plot")
    return metric


def _filled(material: Material, dataset: str, metric: str) -> list[tuple[Method, list[float]]]:
    """Methods with values on a data set."""
    found = [(method, method.values(dataset, metric)) for method in _on(material, dataset)]
    return [(method, values) for method, values in found if values]


def _common(material: Material, metric: str) -> dict[int, dict[str, float]]:
    """Code of a method -> mean of a metric by data set, on the data sets that all methods have."""
    means: dict[int, dict[str, float]] = {}
    for method in material.methods:
        found = {name: method.by_repetition(name, metric) for name in material.datasets if material.has(method, name)}
        means[method.code] = {name: mean(values) for name, values in found.items() if values}
    shared = [name for name in material.datasets if all(name in values for values in means.values())]
    if not shared:
        raise _nothing(metric)
    return {code: {name: values[name] for name in shared} for code, values in means.items()}


def _on(material: Material, dataset: str) -> list[Method]:
    return [method for method in material.methods if material.has(method, dataset)]


def _classes_only(material: Material, what: str) -> None:
    if material.task == "regression":
        raise ConfigError(f"{what} needs classes, and the runs predict numbers.")


def _title(metric: str) -> str:
    unit = METRICS[metric].unit
    title = title_of(metric)
    return f"{title} in {unit}" if unit in UNITS and unit not in title.split() else title


def _sentence(metric: str) -> str:
    title = _title(metric)
    return title[:1].upper() + title[1:]


def _axis(metric: str, values: Sequence[float]) -> Axis:
    """The axis of a metric: logarithmic where it is compared by ratios and has a wide range."""
    wide = METRICS[metric].ratio and values and min(values) > 0 and max(values) / min(values) >= WIDE_RANGE
    return Axis(_title(metric), 10 if wide else 0)


def _values(panels: Sequence[Panel]) -> list[float]:
    return [value for panel in panels for group in panel.things for value in group.values]


def _protocol(material: Material) -> str:
    return " and ".join(
        dict.fromkeys(schemes.SCHEMES[one.experiment.cv.scheme].protocol(one.experiment.cv) for one in material.shown)
    )


def _tested(material: Material) -> str:
    """What is said where a scheme's estimate, which tables show, is not what the folds have."""
    experiments = [one.experiment for one in material.shown]
    if not any(schemes.SCHEMES[one.cv.scheme].apparent(one.cv) for one in experiments):
        return ""
    return " Of a bootstrap, the rows that a sample lacks are shown, and no estimate made of them."


def _left_out(material: Material) -> str:
    more = len(material.datasets) - MOST_PANELS
    return f" The first {MOST_PANELS} of {len(material.datasets)} data sets are shown." if more > 0 else ""


def _nothing(metric: str) -> ConfigError:
    return ConfigError(
        f"the runs have no {metric} that all methods and a data set share; oblique status says what is done."
    )
