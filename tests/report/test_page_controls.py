"""Every kind of page in a real browser: axe finds nothing serious, every control works, and state survives a reload."""

import re
import urllib.parse

import numpy as np
import pytest
from cli_support import forked

pytest.importorskip("matplotlib", reason="plots need matplotlib")
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="pip install 'oblique-trees[browser]' brings axe"
)

KINDS = ("tree", "leaves", "model tree", "two classes", "classes", "numbers", "two models", "run")
CFG = """
version: 1
datasets: [iris, wine]
algorithms: [axis_parallel, {name: hhgdt, epsilon: {grid: [0.05, 0.3]}}]
cv: {scheme: nested, folds: 2, repeats: 2, tune: {folds: 2}}
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Path of a page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(3)
    lines = ["months,height,color,kind,price"]
    for _ in range(160):
        months, height, color = (
            int(rng.integers(1, 72)),
            rng.normal(10, 3),
            ("red", "a long name of a color")[rng.integers(2)],
        )
        risk = months + 2 * height + 8 * (color == "red") + rng.normal(0, 8)
        lines.append(f"{months},{height:.3f},{color},{'yes' if risk > 60 else 'no'},{risk * 3:.2f}")
    (folder / "own.csv").write_text("\n".join(lines) + "\n")
    (folder / "x.yaml").write_text(CFG)
    local = ("fit", "own.csv", "--folds", "2")
    classes, numbers = ("--target", "kind", "--drop", "price"), ("--target", "price", "--drop", "kind")
    commands = {
        "tree": ("tree", "bupa", "--algorithm", "hhgdt", "--set", "epsilon=0.3", "--html", "--output"),
        "two classes": (*local, *classes, "--algorithm", "logistic_tree", "--output", "a.json", "--report"),
        "leaves": ("tree", "a.json", "--rows", "own.csv", "--html", "--output"),
        "model tree": ("tree", "own.csv", *numbers, "--html", "--output"),
        "classes": ("fit", "iris", "--algorithm", "hhcart_d", "--folds", "2", "--output", "b.json", "--report"),
        "numbers": (*local, *numbers, "--algorithm", "linear_tree", "--output", "c.json", "--report"),
        "second": (*local, *classes, "--algorithm", "axis_parallel", "--output", "d.json", "--report"),
        "two models": ("report", "a.json", "d.json", "--rows", "own.csv", "--output"),
        "stored": ("run", "x.yaml", "--quiet", "--output"),
        "run": ("report", "x", "--output"),
    }  # fmt: skip
    for name, command in commands.items():
        ended = forked(folder, *command, f"{name}.html")
        assert ended.code == 0, ended.err
    return {kind: folder / f"{kind}.html" for kind in KINDS}


@pytest.fixture
def opened(opened, pages):
    """Open a page of a kind."""
    return lambda kind, *fragment, **options: opened(pages[kind], *fragment, **options)


@pytest.mark.sample(3)
@pytest.mark.covered(1)
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing_serious(opened, kind, scheme, width):
    view = opened(kind, viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    view.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    violations = axe.Axe().run(view).response["violations"]
    serious = [
        (rule["id"], rule["nodes"][0]["html"][:200]) for rule in violations if rule["impact"] in ("critical", "serious")
    ]
    assert serious == []


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", KINDS)
def test_every_control_can_be_used_once(opened, kind):
    view = opened(kind, viewport={"width": 1280, "height": 900})
    view.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    used = view.evaluate("""() => {
      let used = 0;
      for (const control of [...document.querySelectorAll("button, input, select, [role=button], tr[data-row]")]) {
        if (control.tagName === "SELECT") control.selectedIndex = control.options.length - 1;
        else if (control.type === "range") control.value = control.max;
        else if (control.tagName === "INPUT" && !["checkbox", "radio"].includes(control.type)) control.value = "2";
        else control.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        for (const name of ["input", "change"]) control.dispatchEvent(new Event(name, { bubbles: true }));
        used += 1;
      }
      return used;
    }""")
    assert used > 5


def test_a_run_report_filters_pivots_and_keeps_its_state_in_the_address(opened):
    view = opened("run")
    view.locator(".filters summary").nth(1).click()
    view.locator(".filters label", has_text="HHGDT").click()
    assert view.locator(".filters summary").nth(1).inner_text() == "Algorithms: 1 of 2"
    assert view.locator("#results .result tbody tr:visible").count() == 2
    view.locator(".filters select").select_option("leaves")
    pivot = view.locator("#pivot table")
    assert pivot.locator("thead th").all_inner_texts() == ["data set", "Axis-parallel"]
    assert [row.split("\t")[0] for row in pivot.locator("tbody tr").all_inner_texts()] == ["iris", "wine", "mean of 2"]
    fragment = view.evaluate("location.hash")
    again = opened("run", fragment)
    assert again.locator("#results .result tbody tr:visible").count() == 2
    assert again.locator(".filters select").input_value() == "leaves" and "Axis-parallel" in urllib.parse.unquote(
        fragment
    )
    again.goto(again.url.partition("#")[0] + "#plots")  # an address of a section leaves the filters as they are
    assert again.locator(".filters select").input_value() == "leaves"
    entry = again.locator("#plots .legend button").first
    hidden = "document.querySelectorAll('#plots .off').length"
    assert again.evaluate(hidden) == 0
    entry.click()
    assert entry.get_attribute("aria-pressed") == "false" and again.evaluate(hidden) > 2


def test_the_legend_of_a_model_hides_curves_and_bands_of_a_class(opened):
    view = opened("classes")
    legend = view.locator(".legend:has(+ .plots figure path)").first
    figures = legend.locator("xpath=following-sibling::*[1]").locator("svg")
    code = legend.locator("[data-code]").first.get_attribute("data-code")
    curves, bands = figures.locator(f".dk{code}"), figures.locator(f".t{code}")
    assert curves.first.is_visible() and bands.first.is_visible()
    legend.locator("button").first.click()
    for mark in (*curves.all(), *bands.all()):
        assert not mark.is_visible()


def test_a_threshold_is_chosen_by_hand_or_by_costs(opened):
    view = opened("two classes")
    command = view.locator("#threshold pre")
    assert command.inner_text().startswith("oblique fit own.csv") and command.inner_text().endswith("--threshold 0.5")
    view.locator("#share").evaluate("(input) => { input.value = input.max; input.dispatchEvent(new Event('input')); }")
    highest = float(command.inner_text().rpartition(" ")[2])
    assert highest > 0.5
    label = view.locator("#threshold tbody th").first.inner_text()
    counts = [int(text) for text in view.locator("#threshold .matrix td").all_inner_texts()]
    assert sum(counts) == 160 and view.locator("#threshold tbody th").nth(2).inner_text() == f"recall of {label}"
    view.locator("#missed").fill("100")
    view.locator("#threshold button").click()
    assert float(command.inner_text().rpartition(" ")[2]) < 0.5  # a missed row is dear
    view.locator("#missed").fill("0.01")
    view.locator("#threshold button").click()
    assert float(command.inner_text().rpartition(" ")[2]) > 0.5


def test_weights_have_the_units_of_the_columns_and_sides_the_class_that_they_favor(opened):
    view = opened("tree")
    panel = view.locator("#node")
    assert re.search(r"Left favors 1: \d+ % of the rows, \d+ % before the split. Right favors 2", panel.inner_text())
    before = panel.locator(".condition").inner_text()
    panel.locator(".switch label").nth(1).click()
    assert panel.locator(".condition").inner_text() != before
    assert "per unit" in panel.locator("table").nth(1).inner_text()
    # The same rows are on the same side: the condition is the tree's own sum.
    same = view.evaluate("""() => {
      const data = JSON.parse(document.getElementById("data").textContent), node = data.nodes[0];
      const text = document.querySelector("#node .condition").textContent.replaceAll("−", "-");
      const [sum, limit] = text.split(/ <=? /), weights = Object.fromEntries(data.features.map((feature) => {
        const match = sum.match(new RegExp(`(?:^|([+-]) ?)([0-9.]+) ${feature.n}`));
        return [feature.n, match ? (sum[match.index] === "-" ? -1 : 1) * Number(match[2]) : 0];
      }));
      const first = data.nodes.findIndex((other) => other.p === 0);
      const below = (place) => { while (data.nodes[place].p > 0) place = data.nodes[place].p; return place; };
      return data.rows.x.filter((row, k) => {
        const total = data.features.reduce((sum, feature, j) => sum + weights[feature.n] * row[j], 0);
        return (total <= Number(limit)) === (below(data.rows.at[k]) === first);
      }).length / data.rows.x.length;
    }""")
    assert same > 0.97  # three digits of each weight


def test_curves_end_where_the_training_rows_do_and_step_for_whole_numbers(opened, pages):
    view = opened("leaves")
    figures = view.locator("#node figure")
    months = figures.filter(has=view.locator("figcaption", has_text="months"))
    low, high = map(int, months.locator("text").all_text_contents())
    cells = [int(line.partition(",")[0]) for line in (pages["leaves"].parent / "own.csv").read_text().splitlines()[1:]]
    assert (low, high) == (min(cells), max(cells))
    assert re.fullmatch(
        r"M-?[\d.]+ [\d.]+H[\d.]+(L[\d.]+ [\d.]+H[\d.]+)+", months.locator("path.curve").first.get_attribute("d")
    )
    assert months.locator("rect.rows").count() > 10
    assert "L" in figures.filter(has=view.locator("figcaption", has_text="height")).locator("path.curve").get_attribute(
        "d"
    )
    months.locator("summary").click()
    assert months.locator("tbody tr").count() >= 6


def test_the_page_of_two_models_has_the_rows_on_which_they_differ(pages):
    text = pages["two models"].read_text(encoding="utf-8")
    n = int(re.search(r"<b>(\d+)</b>different answers", text)[1])
    section = text[text.index('<section id="rows">') :]
    assert section.count("<tr>") == n + 1 > 2
    only = dict(re.findall(r'<td class="name">only ([ad].json)</td><td>(\d+)</td>', text))
    assert sum(map(int, only.values())) == n  # of two classes one model is right where they differ
    assert "exact test of McNemar" in text and 'class="curve dk1"' in text


def test_a_page_without_rows_names_the_option_that_adds_them(call, pages):
    model = str(pages["run"].parent / "a.json")
    assert call("tree", model, "--html", "--output", "t.html").code == 0
    assert "--rows TABLE" in (call.folder / "t.html").read_text(encoding="utf-8")
