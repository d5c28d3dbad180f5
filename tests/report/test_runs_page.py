"""The page of a report: whole, readable without scripts, safe with any name, and right in a real browser."""

import re
import shutil

import numpy as np
import pytest
from cli_support import forked

from oblique_cli.drawing import markup
from oblique_cli.drawing.canvas import rendered
from oblique_cli.drawing.painter import painted
from oblique_cli.drawing.ranks import Ranks, critical_differences
from oblique_cli.errors import ConfigError, DataError, StoreError
from oblique_cli.experiments.store import Store
from oblique_cli.report import runs_page as report
from oblique_cli.report.material import gather
from oblique_cli.report.plot_kinds import Plot, Request

pytest.importorskip("matplotlib", reason="plots need matplotlib")
from matplotlib.figure import Figure

CFG = """
version: 1
title: "<script>alert(1)</script> & more"
datasets: [iris, wine]
algorithms: [axis_parallel, {name: hhgdt, epsilon: {grid: [0.05, 0.3]}}]
cv: {scheme: nested, folds: 3, repeats: 2, tune: {folds: 2}}
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with a finished run and the report on it."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "x.yaml").write_text(CFG)
    assert forked(folder, "run", "x.yaml", "--quiet").code == 0
    ended = forked(folder, "report", "x")
    assert ended.code == 0, ended.err
    assert "x.html: " in ended.out
    return folder


@pytest.fixture
def page(call, finished):
    """The file of a report on a finished run, in a copy of that folder."""
    shutil.copytree(finished, call.folder, dirs_exist_ok=True)
    return call.folder / "x.html"


def test_the_page_has_everything_and_no_address(page):
    text = page.read_text(encoding="utf-8")
    for title in ("Results", "Plots", "Choices of parameters", "Trees", "Times", "Where the numbers come from"):
        assert f"<h2>{title}</h2>" in text
    assert "<script>alert" not in text and "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in text
    assert not re.findall(r'(?:src|href)="(?!#)[^"]*"', re.sub(r'xlink:href="#[^"]*"', "", text))
    assert not re.search(r"https?://(?!www\.w3\.org)", text)
    assert len(text) < 1_000_000
    assert text.count("<svg") >= 4 and "NaN" not in text
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


@pytest.mark.sample(1)
@pytest.mark.parametrize("trouble", [ConfigError, DataError, StoreError])
def test_a_tree_that_cannot_be_grown_again_costs_no_report_but_says_why(page, call, trouble):
    with Store(call.folder / "results" / "oblique.sqlite", must_exist=True) as store:

        def tree_of(method, row):
            raise trouble("it was <grown> elsewhere.")

        text = report.page(gather(store, ["x"]), Request(), tree_of)
    assert "it was &lt;grown&gt; elsewhere. (Axis-parallel on iris, " in text


@pytest.mark.long
def test_without_a_number_the_smallest_trees_are_shown(page, call, monkeypatch):
    monkeypatch.setattr(report, "FEW_TREES", 3)
    with Store(call.folder / "results" / "oblique.sqlite", must_exist=True) as store:
        material = gather(store, ["x"])
        first = [method.rows(dataset)[0] for dataset in material.datasets for method in material.methods]

        def shown(trees):
            grown = []

            def tree_of(method, row):
                grown.append(row)
                return report.DrawnTree(method.label, "", "leaf")

            return grown, report.page(material, Request(), tree_of, trees)

        grown, text = shown(None)
        assert sorted(row.n_leaves for row in grown) == sorted(row.n_leaves for row in first)[:3]
        assert "Those of fewest leaves; <code>--trees 1</code> shows 1 more." in text
        grown, text = shown(1)
        assert grown == first and "Those of fewest leaves" not in text
        assert shown(0)[0] == []


def test_the_help_says_how_many_trees_there_are(call):
    assert f"smallest {report.FEW_TREES}]" in " ".join(call("report", "--help").out.split())


def test_a_long_table_has_one_form_for_other_programs(page, call, monkeypatch):
    text = page.read_text(encoding="utf-8")
    monkeypatch.setattr(report, "LONG_SHEET", 1)
    with Store(call.folder / "results" / "oblique.sqlite", must_exist=True) as store:
        short = report.page(gather(store, ["x"]), Request())
    assert text.count('data-copy="CSV"') == short.count('data-copy="CSV"') > 0
    assert text.count('data-copy="LaTeX"') > short.count('data-copy="LaTeX"') == 0


def test_counts_of_a_matrix_keep_their_digits():
    text = markup.matrix("A", ["a", "b"], np.array([[45586.0, 0.0], [1.5, 8903.0]]))
    assert re.findall(r">([\d.e+]+)</td>", text) == ["45586", "1.5", "8903"]


def test_a_diagram_of_ranks_takes_the_ink_of_the_page():
    scene = critical_differences([Ranks("", [("a", 1.2), ("b", 1.8)], [(0, 1)], 0.9)])
    text = report._inline(rendered(painted(scene), "svg").decode(), "cd")
    assert "a (1.20)" in text and "currentColor" in text
    assert not re.search(r"#1b2430|#000000|#ffffff", text), "black on a dark page, or a white sheet"


def test_two_runs_have_a_command_each_that_can_be_copied(call):
    for name in ("one", "two"):
        (call.folder / f"{name}.yaml").write_text(
            "version: 1\ndataset: iris\nalgorithms: [hhgdt, {name: hhgdt, id: same, min_parent: 2}]\n"
            "cv: {folds: 2, repeats: 1}\n"
        )
        assert call("run", f"{name}.yaml", "--quiet", "--set", "cv.repeats= 1").code == 0
    assert call("report", "one", "two").code == 0
    text = (call.folder / "one.html").read_text(encoding="utf-8")
    assert "--set &#x27;cv.repeats= 1&#x27;" in text
    output = text[text.index('id="significance"') : text.index('id="plots"')]
    for label in ("HHGDT (one)", "HHGDT (two)", "same (one)", "same (two)"):
        assert f">{label}<" in output
    assert "(one) (" not in output and "(two) (" not in output


def test_failures_come_first_and_unfinished_runs_say_so(call):
    cfg = "version: 1\ndataset: iris\nalgorithms: [axis_parallel, hhcart_d]\ncv: {folds: 4, repeats: 1}\n"
    (call.folder / "x.yaml").write_text(cfg)
    assert call("run", "x.yaml", "--quiet", "--shard", "1/2").code == 0
    assert call("report", "x").code == 0
    text = (call.folder / "x.html").read_text(encoding="utf-8")
    assert text.index("folds are still to run") < text.index("<h2>Results</h2>")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_tables_sort_text_is_copied_and_nothing_complains(page, opened, scheme):
    view = opened(page, color_scheme=scheme)
    table = view.locator("#results table.sortable").first
    accuracies = lambda: [float(t.split()[0]) for t in table.locator("tbody td:nth-child(3)").all_inner_texts()]  # noqa: E731
    before = accuracies()
    heading = table.locator("thead th:nth-child(3) button")
    heading.click()
    assert accuracies() == sorted(before)
    heading.focus()
    view.keyboard.press("Enter")
    assert accuracies() == sorted(before, reverse=True)
    heading.click()
    assert accuracies() == before
    times = view.locator("#times table.sortable").first
    cells = times.locator("tbody td:last-child")
    for cell, text in zip(cells.all(), ("12,345,678", "9,876"), strict=True):
        cell.evaluate("(cell, text) => (cell.textContent = text)", text)
    times.locator("thead th:last-child button").click()
    assert cells.all_inner_texts() == ["9,876", "12,345,678"]
    view.locator("text=Copy as LaTeX").first.click()
    view.wait_for_selector("text=Copied")
    ink = view.evaluate("getComputedStyle(document.body).color")
    paper = view.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ink != paper and (paper == "rgb(255, 255, 255)") == (scheme == "light")
    assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_without_scripts_everything_is_there(page, opened):
    view = opened(page, java_script_enabled=False)
    assert view.locator("#results tbody tr").count() == 4
    assert view.locator("figure svg").count() >= 4
    view.locator("summary", has_text="as CSV").first.click()
    assert "accuracy_mean" in view.locator("details[open] pre").first.inner_text()


def test_on_a_phone_wide_tables_scroll_and_the_page_does_not(call, opened):
    (call.folder / "many.yaml").write_text(
        "version: 1\ndatasets: [glass, iris]\nalgorithms: [axis_parallel, hhcart_a]\ncv: {folds: 2, repeats: 1}\n"
    )
    assert call("run", "many.yaml", "--quiet").code == 0
    assert call("report", "many", "--output", "many.html").code == 0
    view = opened(call.folder / "many.html", viewport={"width": 390, "height": 844})
    view.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert view.evaluate("document.documentElement.scrollWidth") == 390
    wide = "[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth)"
    assert view.evaluate(f"{wide}.some(one => one.querySelector('table.matrix'))")


def test_tables_of_plots_know_their_columns_of_names(finished, monkeypatch):
    """A name may begin with a digit, a number with a minus, and a plot may have no numbers at all."""
    rows = {"box": [("2 leaves", "-0.5")], "cd": []}

    def draw(kind, material, request):
        if kind not in rows:
            raise ConfigError("no data")
        return Plot(Figure(), "a caption", (("algorithm", "score"), rows[kind]))

    monkeypatch.setattr(report, "draw", draw)
    with Store(finished / "results" / "oblique.sqlite", must_exist=True) as store:
        page = report.page(gather(store, ("x",)), Request())
    (table,) = re.findall(r"<table.*?Numbers of the plot.*?</table>", page, re.S)
    assert '<td class="name">2 leaves</td><td>-0.5</td>' in table
