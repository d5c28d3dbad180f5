"""Plots of what has no size beside trees, and legends that cover nothing."""

import numpy as np
import pytest

from oblique_cli.drawing import charts
from oblique_cli.drawing.charts import Axis, Curve, Panel
from oblique_cli.errors import ConfigError
from oblique_cli.experiments.store import Store
from oblique_cli.report.material import gather
from oblique_cli.report.plot_kinds import Request, draw

matplotlib = pytest.importorskip("matplotlib", reason="drawing needs matplotlib")


@pytest.fixture
def mixed(call):
    """A finished run of two trees and two estimators of scikit-learn that are none."""
    (call.folder / "x.yaml").write_text(
        "version: 1\ndatasets: [iris, wine]\nalgorithms:\n  - axis_parallel\n  - hhcart_a\n"
        "  - {class: sklearn.svm.SVC, id: svc}\n  - {class: sklearn.neighbors.KNeighborsClassifier, id: nn}\n"
        "cv: {folds: 3, repeats: 2}\n"
    )
    ended = call("run", "x.yaml", "--quiet", "-j", "1")  # so that all tests have one process for the estimators
    assert ended.code == 0, ended.err
    with Store(call.folder / "results" / "oblique.sqlite", must_exist=True) as store:
        yield gather(store, ("x",))


def test_what_has_no_leaves_is_at_no_place_of_a_scatter_and_is_named(mixed, call):
    made = draw("scatter", mixed, Request())
    (axes,) = made.figure.axes
    assert {text.get_text() for text in axes.texts} == {"Axis-parallel", "HHCART(A)"}
    assert axes.get_xscale() == "log" and axes.get_yscale() == "linear"
    assert "Without svc and nn, of which leaves or accuracy is undefined." in made.caption
    assert "Without" not in draw("scatter", mixed, Request(x="fit")).caption
    boxes = draw("box", mixed, Request(metric="leaves"))
    assert [label.get_text() for label in boxes.figure.axes[0].get_yticklabels()] == ["HHCART(A)", "Axis-parallel"]
    page = call.folder / "x.html"
    assert call("report", "x", "--output", str(page)).code == 0
    text = page.read_text()
    assert "svc and nn: no leaves to test (the model is no tree)." in text


def test_a_plot_of_what_no_method_has_is_a_sentence(mixed, call):
    only = gather(mixed.store, ("x",), algorithms=("svc", "nn"))
    with pytest.raises(ConfigError, match="the runs have no leaves that all methods and a data set share"):
        draw("scatter", only, Request())


@pytest.mark.sample(2)
@pytest.mark.parametrize("names", [["a", "b"], [f"a method with a long name {k}" for k in range(9)]])
@pytest.mark.parametrize("panels", [1, 3])
def test_a_legend_covers_no_axes(names, panels):
    rng = np.random.default_rng(1)
    drawn = [
        Panel(f"set {k}", [Curve(n, range(5), rng.random(5), [0.1] * 5, i) for i, n in enumerate(names)])
        for k in range(panels)
    ]
    for figure in (
        charts.curves(drawn, Axis("x"), Axis("y")),
        charts.calibration([Panel(p.title, [(c, [3] * 5) for c in p.things]) for p in drawn]),
    ):
        figure.draw_without_rendering()
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == names
        extent = legend.get_window_extent()
        assert not any(extent.overlaps(axes.get_tightbbox()) for axes in figure.axes)
        assert extent.x1 <= figure.bbox.x1 + 1 and extent.y1 <= figure.bbox.y1 + 1


@pytest.mark.parametrize(("low", "high"), [(3.0, 5.0), (3.0, 40.0), (2.0, 5000.0), (0.011, 0.012)])
def test_a_logarithmic_axis_has_at_least_two_ticks(low, high):
    points = [charts.Point("a", low, 0.0, 0), charts.Point("b", high, 1.0, 1)]
    figure = charts.scatter(Panel("", points), Axis("leaves", 10), Axis("accuracy"))
    figure.draw_without_rendering()
    left, right = figure.axes[0].get_xlim()
    assert sum(left <= tick <= right for tick in figure.axes[0].get_xticks()) >= 2
