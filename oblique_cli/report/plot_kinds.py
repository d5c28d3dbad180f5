"""Kinds of plots, and their common functions and texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oblique_cli import schemes
from oblique_cli.drawing import charts
from oblique_cli.drawing.canvas import needs_matplotlib
from oblique_cli.drawing.charts import Axis
from oblique_cli.errors import ConfigError, PluginError, quoted
from oblique_cli.evaluation.metrics import METRICS
from oblique_cli.evaluation.metrics import chosen as checked
from oblique_cli.evaluation.tables import listed, title_of
from oblique_cli.ground.registry import Registry, fault_of_function, source_of
from oblique_cli.report.material import Material, Method

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS = 6  # data sets with separate axes; for more, the means are shown together
UNITS = ("%", "s", "nats")  # shown beside the metric; the title "leaves" needs none
WIDE_RANGE = 30.0  # least ratio of largest to smallest parameter value for a logarithmic axis


@dataclass(frozen=True, eq=False)
class Plot:
    """A finished figure and its caption. numbers : the header and the rows of the table of what is drawn"""

    figure: Figure
    caption: str
    numbers: tuple[Sequence[str], Sequence[Sequence[str]]] = ((), ())


@dataclass(frozen=True)
class Request:
    """The options of a plot.

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

KINDS: Registry[Drawn] = Registry(
    "kind of plot",
    "oblique plot --help",
    lambda function: fault_of_function(function, "material", "request", says="says what is drawn"),
)
KINDS.wait_for(f"oblique_cli.report.{name}" for name in ("fold_plots", "prediction_plots"))


def plot(name: str) -> Callable[[Drawn], Drawn]:
    """Decorator that registers a function (material, request) -> `Plot` as a kind of `oblique plot`."""
    return KINDS.register(name)


def draw(kind: str, material: Material, request: Request) -> Plot:
    """Return a plot. Raise ConfigError if the runs lack the data for it."""
    # Names of classes, columns and algorithms are plain text, including dollar signs.
    with needs_matplotlib().rc_context({"text.parse_math": False}):
        made = KINDS[kind](material, request)
    if not isinstance(made, Plot):
        raise PluginError(f"{source_of(KINDS[kind])}: plot {kind!r} must return a Plot. Got {quoted(made)}.")
    return made


# ---- shared ----------------------------------------------------------------------------------------------------------


def metric_of(material: Material, name: str) -> str:
    """Return the requested or the default metric; raise ConfigError for a metric of another task."""
    usual = "rmse" if material.task == "regression" else "accuracy"
    (metric,) = checked((name or usual,), material.task, "plot")
    return metric


def methods_on(material: Material, dataset: str) -> list[Method]:
    """Return the methods that the configurations run on a data set."""
    return [method for method in material.methods if material.has(method, dataset)]


def classes_only(material: Material, what: str) -> None:
    """Raise ConfigError for regression runs."""
    if material.task == "regression":
        raise ConfigError(f"{what} needs classes, and the runs predict numbers.")


def titled(metric: str) -> str:
    """Return the title of a metric with its unit."""
    unit = METRICS[metric].unit
    title = title_of(metric)
    return f"{title} in {unit}" if unit in UNITS and unit not in title.split() else title


def sentence(metric: str) -> str:
    """Return the title of a metric with a capital letter."""
    title = titled(metric)
    return title[:1].upper() + title[1:]


def axis_of(metric: str, values: Sequence[float]) -> Axis:
    """Return the scale of a metric's axis: logarithmic if it is compared by ratios and all values allow it."""
    return Axis(titled(metric), 10 if METRICS[metric].ratio and values and min(values) > 0 else 0)


def protocol(material: Material) -> str:
    """Return the description of the test scheme of the runs."""
    return " and ".join(
        dict.fromkeys(schemes.SCHEMES[run.experiment.cv.scheme].protocol(run.experiment.cv) for run in material.shown)
    )


def tested(material: Material) -> str:
    """Return the remark in the caption for a scheme whose estimate is not the mean of its folds."""
    experiments = [run.experiment for run in material.shown]
    if not any(schemes.SCHEMES[experiment.cv.scheme].apparent(experiment.cv) for experiment in experiments):
        return ""
    return " Of a bootstrap, the rows that a sample lacks are shown, and no estimate made of them."


def left_out(material: Material) -> str:
    """Return the sentence on data sets without axes, "" if all have axes."""
    more = len(material.datasets) - MOST_PANELS
    return f" The first {MOST_PANELS} of {len(material.datasets)} data sets are shown." if more > 0 else ""


def without(material: Material, shown: Collection[int], metric: str) -> str:
    """Return the sentence on methods without the metric, "" if all are shown. shown : codes of methods"""
    labels = [method.label for method in material.methods if method.code not in shown]
    return f" Without {listed(labels)}, of which {metric} is undefined." if labels else ""


def nothing(metric: str) -> ConfigError:
    """Return the error for runs without common results to draw."""
    return ConfigError(
        f"the runs have no {metric} that all methods and a data set share; oblique status says what is done."
    )
