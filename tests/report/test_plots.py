"""Plots of stored runs: numbers against the table's, refusals, bytes, legends; people look at pictures themselves."""

import json
import re
import shutil

import numpy as np
import pytest
from cli_support import forked

from oblique_cli.drawing import charts
from oblique_cli.drawing.charts import Axis, Curve, Panel, Point
from oblique_cli.errors import ConfigError, StoreError
from oblique_cli.experiments.store import Store
from oblique_cli.experiments.stored_predictions import Predictions, pack
from oblique_cli.ground.nouns import Row
from oblique_cli.report.fold_plots import pareto
from oblique_cli.report.material import gather
from oblique_cli.report.plot_kinds import KINDS, Request, draw
from oblique_cli.report.prediction_plots import confusions

pytest.importorskip("matplotlib", reason="drawing needs matplotlib")

CFG = """
version: 1
datasets: [iris, wine]
algorithms: [axis_parallel, {name: hhgdt, epsilon: {grid: [0.05, 0.1, 0.3]}}]
cv: {scheme: nested, folds: 3, repeats: 2, tune: {folds: 2}}
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with a finished run `x` with probabilities."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "x.yaml").write_text(CFG)
    ended = forked(folder, "run", "x.yaml", "--keep-probabilities", "--quiet")
    assert ended.code == 0, ended.err
    return folder


@pytest.fixture
def ran(call, finished):
    """The command in a copy of that folder."""
    shutil.copytree(finished, call.folder, dirs_exist_ok=True)
    return call


OPEN: list[Store] = []


@pytest.fixture(autouse=True)
def closed_stores():
    """Close what `material` opened: predictions are read when a picture is drawn."""
    yield
    while OPEN:
        OPEN.pop().close()


def finish(call, config, *options):
    """Run a configuration as `x`, and return its material."""
    (call.folder / "x.yaml").write_text(f"version: 1\n{config}\n")
    ended = call("run", "x.yaml", "--quiet", *options)
    assert ended.code == 0, ended.err
    return material(call)


def material(call, *names, **options):
    OPEN.append(Store(call.folder / "results" / "oblique.sqlite", must_exist=True))
    return gather(OPEN[-1], names or ("x",), **options)


@pytest.mark.sample(0)
@pytest.mark.covered(1)
@pytest.mark.parametrize("kind", ["box", "scatter", "curve", "calibration", "time"])
@pytest.mark.parametrize("form", ["svg", "pdf", "png"])
def test_a_picture_has_the_form_of_its_name_and_always_the_same_bytes(ran, kind, form):
    pictures = []
    for name in ("a", "b"):
        ended = ran("plot", kind, "x", "--output", f"{name}.{form}")
        assert ended.code == 0, ended.err
        pictures.append((ran.folder / f"{name}.{form}").read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0].startswith({"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[form])
    assert len(ended.out.split()) > 8 and ended.out.strip().endswith(".")  # the caption
    if form == "svg":
        assert ended.out.split(".")[0] in re.sub(r"\s+", " ", pictures[0].decode())


def test_a_picture_for_standard_output_leaves_its_caption_to_standard_error(ran):
    ended = ran("plot", "confusion", "x", "--dataset", "iris")
    assert ended.code == 0 and ended.out.startswith("<?xml") and ended.out.endswith("</svg>\n")
    assert ended.err.startswith("Test rows of each class")


def test_points_of_a_scatter_are_the_means_of_the_table(ran):
    rows = json.loads(ran("table", "x", "--format", "json").out)["rows"]
    figure = draw("scatter", material(ran, datasets=["iris"]), Request()).figure
    shown = {(round(line.get_xdata()[0], 9), round(line.get_ydata()[0], 9)) for line in figure.axes[0].lines[:2]}
    lines = [row for row in rows if row["dataset"] == "iris"]
    assert shown == {(round(row["leaves_mean"], 9), round(row["accuracy_mean"], 9)) for row in lines}


def test_a_confusion_matrix_adds_up_to_the_rows_and_to_the_accuracy(ran):
    rows = json.loads(ran("table", "x", "--format", "json").out)["rows"]
    accuracy = {row["algorithm"]: row["accuracy_mean"] for row in rows if row["dataset"] == "wine"}
    classes, result = confusions(material(ran), "wine")
    assert len(classes) == 3 and len(result) == 2
    for method, counts in result:
        assert counts.sum() == pytest.approx(178)
        assert 100 * np.trace(counts) / 178 == pytest.approx(accuracy[method.spec.id])


def test_predictions_that_are_not_those_that_were_counted_are_not_drawn(ran, monkeypatch):
    def others(self: Store, run: str, rows: list[Row]) -> list[bytes]:
        return [pack(Predictions(np.arange(row.n_test), np.zeros(row.n_test, dtype=np.int64))) for row in rows]

    monkeypatch.setattr(Store, "each_packed", others)
    with pytest.raises(StoreError, match=r"is damaged: the predictions of wine/\w+ r0 f0 of run 'x' are not those"):
        confusions(material(ran), "wine")
    monkeypatch.setattr(Store, "each_packed", lambda self, run, rows: [b""] * len(rows))
    with pytest.raises(ConfigError, match=r"run 'x' has no predictions of wine/\w+ r0 f0"):
        confusions(material(ran), "wine")


def test_a_tuning_curve_is_made_of_the_inner_choices(ran):
    made = draw("curve", material(ran, datasets=["iris"]), Request())
    line = made.figure.axes[0].lines[0]
    assert list(line.get_xdata()) == [0.05, 0.1, 0.3]
    rows = [row for row in material(ran).methods[1].rows("iris")]
    expected = [np.mean([100 * row.inner[k]["n_correct"] / row.inner[k]["n_rows"] for row in rows]) for k in range(3)]
    assert list(line.get_ydata()) == pytest.approx(expected)


def test_the_front_has_the_points_that_none_beats():
    points = [Point("a", 1, 1, 0), Point("b", 2, 2, 1), Point("c", 3, 2, 2), Point("d", 2, 1, 3)]
    assert [p.label for p in pareto(points, False, True)] == ["a", "b"]
    assert [p.label for p in pareto(points, True, True)] == ["c"]


def test_learning_curves_have_the_sizes_of_the_training_sets(call):
    cv = "cv: {scheme: learning, folds: 5, repeats: 2, steps: 3}"
    material = finish(call, f"dataset: iris\nalgorithm: axis_parallel\n{cv}")
    line = draw("learning", material, Request()).figure.axes[0].lines[0]
    assert list(line.get_xdata()) == [30, 60, 120]
    whole = [row for row in material.methods[0].rows("iris") if row.fold % 3 == 2]
    assert line.get_ydata()[-1] == pytest.approx(100 * sum(row.n_correct for row in whole) / 300)


def test_regions_predict_the_training_rows_where_these_lie_and_calibration_needs_probabilities(call):
    material = finish(call, "dataset: iris\nalgorithm: hhcart_d\ncv: {folds: 3, repeats: 1}")
    ended = call("plot", "calibration", "x")
    assert ended.code == 2 and "run it with --keep-probabilities" in ended.err
    made = draw("regions", material, Request(features=("petal_length", "petal_width")))
    assert "fitted to these two features alone" in made.caption
    image = made.figure.axes[0].images[0].get_array()
    assert image.shape == (300, 300, 3) and len(np.unique(image.reshape(-1, 3), axis=0)) == 3


def test_runs_on_different_data_of_one_name_are_not_drawn_together(call):
    for name, cell in (("x", 1), ("y", 2)):
        text = "a,b,c\n" + "\n".join(f"{i},{cell * i % 7},{'no' if i % 3 else 'yes'}" for i in range(40))
        (call.folder / "d.csv").write_text(text)
        dataset = "version: 1\ndataset: {csv: d.csv, target: c, name: d}\n"
        rest = "algorithm: axis_parallel\ncv: {folds: 2, repeats: 1}\n"
        (call.folder / f"{name}.yaml").write_text(dataset + rest)
        assert call("run", f"{name}.yaml", "--quiet").code == 0
    ended = call("plot", "box", "x", "y")
    assert ended.code == 2 and "read different data under the name 'd'" in ended.err


def test_the_command_knows_every_kind():
    from oblique_cli.cli import plot

    assert sorted(KINDS) == sorted(plot.KINDS)


FIVE = """datasets: [iris, wine, bupa, haberman, new_thyroid]
algorithms: [hhgdt, {name: hhgdt, id: pruned, min_parent: 40}, axis_parallel]
cv: {folds: 2, repeats: 1}"""


def labels(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_a_diagram_of_ranks_names_each_variant_of_an_algorithm_and_leaves_out_what_was_not_asked_for(call):
    shown = " ".join(labels(draw("cd", finish(call, FIVE), Request()).figure))
    for name in ("HHGDT (", "pruned (", "Axis-parallel ("):
        assert shown.count(name) == 1, shown
    two = " ".join(labels(draw("cd", material(call, algorithms=["hhgdt", "pruned"]), Request()).figure))
    assert "HHGDT (" in two and "pruned (" in two and "Axis-parallel" not in two
    with pytest.raises(ConfigError, match=r"at least 5 data sets\. Got 2"):
        draw("cd", material(call, datasets=["iris", "bupa"]), Request())


def test_what_is_asked_for_cuts_tables_and_counts_of_a_run(ran):
    result = material(ran, datasets=["wine"], algorithms=["hhgdt"])
    (only,) = result.shown
    assert {(line.dataset, line.algorithm) for line in only.table().lines} == {("wine", "hhgdt")}
    assert (only.done, only.failed, only.total) == (6, 0, 6)
    (whole,) = material(ran).shown
    assert (whole.done, whole.failed, whole.total) == (whole.run.done, whole.run.failed, whole.run.total)


def test_a_fold_that_is_tested_on_its_training_rows_is_in_no_picture_of_test_rows(call, monkeypatch):
    config = "dataset: iris\nalgorithm: axis_parallel\ncv: {scheme: bootstrap, repeats: 3}"
    material = finish(call, config, "--keep-probabilities")
    (method,) = material.methods
    assert [(row.repeat, row.fold) for row in method.rows("iris")] == [(0, 0), (0, 1), (1, 0), (2, 0)]
    assert [(row.repeat, row.fold) for row in method.tested("iris")] == [(0, 0), (1, 0), (2, 0)]
    assert len(method.values("iris", "accuracy")) == 3
    shown = []
    original = charts.calibration
    monkeypatch.setattr(charts, "calibration", lambda panels, width: shown.append(panels) or original(panels, width))
    draw("calibration", material, Request())
    (((_, counts),),) = [panel.things for panels in shown for panel in panels]
    assert sum(counts) == sum(row.n_test for row in method.tested("iris"))
    for kind in ("box", "scatter", "time"):
        assert draw(kind, material, Request()).caption.endswith(
            "the rows that a sample lacks are shown, and no estimate made of them."
        )


def test_a_tuning_curve_is_of_the_metric_that_chose_and_its_best_is_the_smallest_of_a_loss(call):
    config = """dataset: bupa
algorithm: {name: gdt, epsilon: {grid: [0.05, 0.3]}, min_parent: {grid: [2, 60]}}
cv: {scheme: nested, folds: 2, repeats: 1, tune: {folds: 2, metric: log_loss}}"""
    material = finish(call, config)
    tables = [row.inner for row in material.methods[0].rows("bupa")]

    def best(value, of, choose):
        return np.mean([choose(of(e) for e in table if e["params"]["epsilon"] == value) for table in tables])

    made = draw("curve", material, Request(parameter="epsilon"))
    loss = [best(value, lambda e: e["score"], min) for value in (0.05, 0.3)]
    assert list(made.figure.axes[0].lines[0].get_ydata()) == pytest.approx(loss)
    assert "log loss" in made.figure.axes[0].get_ylabel()
    made = draw("curve", material, Request(parameter="epsilon", metric="accuracy"))
    right = [best(value, lambda e: 100 * e["n_correct"] / e["n_rows"], max) for value in (0.05, 0.3)]
    assert list(made.figure.axes[0].lines[0].get_ydata()) == pytest.approx(right)
    with pytest.raises(ConfigError, match=r"accuracy, leaves or log_loss.*f1_macro"):
        draw("curve", material, Request(parameter="epsilon", metric="f1_macro"))
    with pytest.raises(ConfigError, match="nonsense"):
        draw("curve", material, Request(parameter="epsilon", metric="nonsense"))


def test_dollars_in_names_are_text_and_no_formula(call):
    lines = [f"{i},{i * 7 % 20},{'$1_0 - $20' if i < 10 else '$' + chr(92) + 'frac$'}" for i in range(20)]
    (call.folder / "x.csv").write_text("$a_b$,$c^$,y\n" + "\n".join(lines) + "\n")
    finish(call, "dataset: {csv: x.csv, target: y}\nalgorithm: axis_parallel\ncv: {folds: 2, repeats: 1}")
    for kind in ("regions", "confusion"):
        ended = call("plot", kind, "x", "--output", f"{kind}.svg")
        assert ended.code == 0, ended.err
        svg = (call.folder / f"{kind}.svg").read_text()
        assert ">$1_0 - $20<" in svg and ">$\\frac$<" in svg
    assert ">$a_b$<" in (call.folder / "regions.svg").read_text()


# ---- methods without a size, and legends ----------------------------------------------------------------------------


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
