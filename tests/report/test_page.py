"""The page of a report: whole, readable without scripts, safe with any name, and right in a real browser."""

from __future__ import annotations

import re
import shutil

import pytest
from cli_support import call

__all__ = ["call"]

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
CFG = """
version: 1
title: "<script>alert(1)</script> & more"
datasets: [iris, wine]
algorithms: [axis_parallel, {name: hhgdt, epsilon: {grid: [0.05, 0.3]}}]
cv: {scheme: nested, folds: 3, repeats: 2, tune: {folds: 2}}
"""


@pytest.fixture
def page(call):
    """The file of a report on a finished run."""
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    (call.folder / "x.yaml").write_text(CFG)
    assert call("run", "x.yaml", "--quiet").code == 0
    ended = call("report", "x")
    assert ended.code == 0, ended.err
    assert ended.out.startswith("x.html: ") or "x.html: " in ended.out
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


def test_failures_come_first_and_unfinished_runs_say_so(call):
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    cfg = "version: 1\ndataset: iris\nalgorithms: [axis_parallel, hhcart_d]\ncv: {folds: 4, repeats: 1}\n"
    (call.folder / "x.yaml").write_text(cfg)
    assert call("run", "x.yaml", "--quiet", "--shard", "1/2").code == 0
    assert call("report", "x").code == 0
    text = (call.folder / "x.html").read_text(encoding="utf-8")
    assert text.index("folds are still to run") < text.index("<h2>Results</h2>")


def test_an_empty_run_has_no_report(call):
    (call.folder / "x.yaml").write_text("version: 1\ndataset: iris\nalgorithm: axis_parallel\n")
    assert call("report", "x").code in (2, 5)
    assert call("run", "x.yaml", "--quiet", "--shard", "1/2", "--set", "cv.folds=2", "--set", "cv.repeats=1").code == 0
    ended = call("report", "nothing")
    assert ended.code == 2 and "nothing" in ended.err and not list(call.folder.glob("*.html"))


@pytest.mark.skipif(BROWSER is None, reason="no chromium on the path: the page is not opened in a browser")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_tables_sort_text_is_copied_and_nothing_complains(page, scheme):
    playwright = pytest.importorskip("playwright.sync_api", reason="driving a browser needs the package playwright")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=list(FLAGS))
        view = browser.new_context(color_scheme=scheme).new_page()
        complaints: list[str] = []
        view.on("console", lambda message: complaints.append(message.text))
        view.on("pageerror", lambda error: complaints.append(str(error)))
        view.goto(page.as_uri())
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
        view.locator("text=Copy as LaTeX").first.click()
        view.wait_for_selector("text=Copied")
        ink = view.evaluate("getComputedStyle(document.body).color")
        paper = view.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ink != paper and (paper == "rgb(255, 255, 255)") == (scheme == "light")
        assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        browser.close()
    assert complaints == []


@pytest.mark.skipif(BROWSER is None, reason="no chromium on the path: the page is not opened in a browser")
def test_without_scripts_everything_is_there(page):
    playwright = pytest.importorskip("playwright.sync_api", reason="driving a browser needs the package playwright")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=list(FLAGS))
        view = browser.new_context(java_script_enabled=False).new_page()
        view.goto(page.as_uri())
        assert view.locator("#results tbody tr").count() == 4
        assert view.locator("figure svg").count() >= 4
        view.locator("summary", has_text="as CSV").first.click()
        assert "accuracy_mean" in view.locator("details[open] pre").first.inner_text()
        browser.close()
