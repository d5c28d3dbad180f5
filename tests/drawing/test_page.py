"""The page of a tree, in a real browser: no error, no network, no name that is taken for markup."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from drawing_support import WILD, WILD_CLASSES, fitted, page_data, view, wild_view

from oblique_cli import make
from oblique_cli.drawing.page import PageData, page
from oblique_cli.drawing.view import text_of, view_of
from oblique_cli.models import load
from oblique_cli.tree.reading import Units


def data_of(document):
    """What the page's script reads."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', document, re.S)[1])


def test_a_page_of_200_nodes_is_below_a_megabyte():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(700, 10)), rng.integers(0, 3, 700).astype(np.int32)
    tree = make("hhcart_a", random_state=0).fit(X, y).tree_
    names, classes = [f"feature number {j}" for j in range(10)], ["first", "second", "third"]
    shown = view_of(tree, names, classes, rows=(X, y))
    data = PageData(names, "class", {}, Units.deviations(X), X, y, tree.apply(X), tree.parents, text_of(shown))
    document = page(shown, data)
    assert len(shown.nodes) >= 200
    assert len(document.encode()) * 200 / len(shown.nodes) < 1_000_000


def test_a_page_is_one_file_with_the_same_bytes():
    first, second = (page(view(), page_data()) for _ in range(2))
    assert first == second
    links = set(re.findall(r"https?://[^\s\"'<>]+", first))
    assert links == {"http://www.w3.org/2000/svg"}  # the name of a language, no address
    assert not re.search(r"<link\b|\bsrc=|@import|url\(|\bfetch\(|XMLHttpRequest|innerHTML|eval\(", first)


def test_names_get_into_the_page_as_text_only():
    document = page(wild_view(), page_data(names=WILD))
    assert document.count("<script") == document.count("</script>") == 2
    assert "<img" not in document and "<b>" not in document
    result = data_of(document)
    assert result["classes"] == WILD_CLASSES
    assert [feature["n"] for feature in result["features"]][:3] == WILD[:3]


def test_importances_are_bars_without_a_script():
    data = replace(page_data(), importances=[("<b>tall", 0.5), ("short", 0.125)], importances_are="Importance: <i>.")
    document = page(view(), data)
    (table,) = re.findall(r'<table class="bars">.*?</table>', document)
    assert "<caption>Importance: &lt;i&gt;.</caption>" in table and "&lt;b&gt;tall" in table
    assert re.findall(r'width="([\d.]+)" height="8"', table) == ["100.0", "25.0"]
    assert re.findall(r"<td>([\d.]+)</td>", table) == ["0.5", "0.125"]
    assert 'class="bars"' not in page(view(), page_data())
    many = replace(data, importances=[(f"x{j}", 1.0) for j in range(40)])
    assert "Of 40 columns the first 30." in page(view(), many) and "x30</th>" not in page(view(), many)


def test_rows_beyond_what_a_page_holds_are_thinned_and_counted():
    data = page_data()
    tiled = {"values": np.tile(data.values, 60), "leaves": np.tile(data.leaves, 60)}
    many = replace(data, rows=np.tile(data.rows, (60, 1)), **tiled)
    rows = data_of(page(view(), many))["rows"]
    assert rows["of"] == 9000 and rows["step"] == 2 and len(rows["x"]) == 4500
    cut = data_of(page(view().cut(1), data))
    assert set(cut["rows"]["at"]) <= set(range(len(cut["nodes"]))) and len(set(cut["rows"]["at"])) == 2


# ---- in a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture
def opened(opened, tmp_path):
    """Open a document."""

    def open_page(document, **options):
        (tmp_path / "tree.html").write_text(document, encoding="utf-8")
        return opened(tmp_path / "tree.html", **options)

    return open_page


def follow(result, rows):
    """Numbers of the places where the page sends rows."""
    return result.evaluate(
        "rows => rows.map(row => { const steps = window.obliqueFollow(row); return steps[steps.length - 1].place; })",
        [[None if np.isnan(value) else value for value in row] for row in rows.tolist()],
    )


@pytest.mark.parametrize(("name", "algorithm"), [("iris", "hhcart_a"), ("bupa", "hhgdt"), ("bupa", "axis_parallel")])
def test_the_page_sends_rows_to_the_leaves_of_the_tree(opened, name, algorithm):
    tree_view = view(name, algorithm)
    opened_page = opened(page(tree_view, page_data(name, algorithm)))
    dataset, model = fitted(name, algorithm)
    numbers = [tree_view.nodes[place].number for place in follow(opened_page, dataset.X)]
    np.testing.assert_array_equal(numbers, model.tree_.apply(dataset.X))


def test_a_click_on_a_node_shows_its_histogram_weights_and_rows(opened):
    opened_page = opened(page(view(), page_data()))
    opened_page.locator('[data-node="1"]').click()
    panel = opened_page.locator("#node")
    assert panel.locator("h2").inner_text() == "Split"
    assert panel.locator("svg.chart").count() == 1
    assert "petal_length" in panel.locator("table:visible").first.inner_text()
    assert panel.locator("tr[data-row]").count() == 60
    assert "of 100" in panel.inner_text()


def test_a_row_that_is_typed_shows_its_path(opened):
    opened_page = opened(page(view(), page_data()))
    opened_page.locator("#tab-try").click()
    assert "Iris-setosa" in opened_page.locator("#way").inner_text()  # the first training row
    for field, value in enumerate(["6,3", "2.9", "5.6", "1.8"]):
        opened_page.locator(f"#f{field}").fill(value)
    assert "Iris-virginica" in opened_page.locator("#way").inner_text()
    assert opened_page.locator(".node.on").count() >= 3 and opened_page.locator(".link.on").count() >= 2
    opened_page.locator("#f3").fill("wide")
    assert "not a number" in opened_page.locator("#way").inner_text()
    opened_page.locator("#f3").fill("")
    assert "takes no missing values" in opened_page.locator("#way").inner_text()


def test_the_keyboard_walks_the_tree(opened):
    opened_page = opened(page(view(), page_data()))
    opened_page.locator('[data-node="0"]').focus()
    visited = []
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp", "Home"):
        opened_page.keyboard.press(key)
        visited.append(int(opened_page.evaluate("document.activeElement.dataset.node")))
    nodes = view().nodes
    assert visited[0] == 1 and nodes[visited[1]].parent == 1 and nodes[visited[2]].parent == 1
    assert visited[1] != visited[2] and visited[3:] == [1, 0]
    assert opened_page.locator('[data-node="0"]').get_attribute("aria-label")


def test_terrible_names_are_shown_and_nothing_of_them_runs(opened):
    opened_page = opened(page(wild_view(), page_data(names=WILD)))
    assert opened_page.title() == "</title><b>Trees & 'co' \"…\""
    opened_page.locator("#tab-try").click()
    labels = opened_page.locator("#try label").all_inner_texts()
    assert labels[:3] == WILD[:3]
    opened_page.locator("#tab-node").click()
    assert WILD_CLASSES[0] in opened_page.locator("#node").inner_text()


def test_without_scripts_the_picture_and_the_rules_are_there(opened):
    opened_page = opened(page(view(), page_data()), java_script_enabled=False)
    assert opened_page.locator("svg.tree .node").count() == len(view().nodes)
    assert not opened_page.locator("#panel").is_visible() and not opened_page.locator("#tools").is_visible()
    opened_page.locator("summary").click()
    assert "if -0.896 sepal_length" in opened_page.locator("pre").inner_text()


def test_a_page_is_printed_as_picture_and_node(opened, tmp_path):
    opened_page = opened(page(view(), page_data()))
    opened_page.emulate_media(media="print")
    assert not opened_page.locator("#tools").is_visible() and opened_page.locator("svg.tree").is_visible()
    assert opened_page.pdf().startswith(b"%PDF")


# ---- windows, and columns of words -----------------------------------------------------------------------------------


@pytest.fixture
def birds(call):
    """The page of a table with words, as `oblique tree` writes it, and what else commands make of the table."""
    rng = np.random.default_rng(5)
    lines = ["species,island,mass,length,sex"]
    for _ in range(200):
        species = ("Adelie", "Gentoo", "Chinstrap")[rng.integers(3)]
        island = ("Biscoe", "Dream", "Torgersen <b>")[rng.integers(3)] if species == "Adelie" else "Biscoe"
        sex = ("male", "female")[rng.integers(2)]
        mass = 3700 + 900 * (species == "Gentoo") + 350 * (sex == "male") + 300 * rng.normal()
        lines.append(f"{species},{island},{mass:.0f},{39 + 8 * (species != 'Adelie') + 3 * rng.normal():.1f},{sex}")
    (call.folder / "birds.csv").write_text("\n".join(lines) + "\n")

    def made(*arguments):
        ended = call(*map(str, arguments))
        assert ended.code == 0, ended.err
        return (call.folder / "page.html").read_text(encoding="utf-8")

    return made


TREE = ("tree", "birds.csv", "--target", "species", "--set", "pruning=none", "--html", "--output", "page.html")


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
@pytest.mark.parametrize("depth", [2, 9])
def test_the_tree_fits_its_window_and_facts_stand_below(opened, birds, size, depth):
    opened_page = opened(birds(*TREE, "--depth", depth))
    opened_page.set_viewport_size({"width": size[0], "height": size[1]})
    opened_page.reload()
    width, tree, frame, facts = opened_page.evaluate(
        "() => [document.documentElement.scrollWidth, ...['svg.tree', '#picture', '.facts']"
        ".map(one => { const box = document.querySelector(one).getBoundingClientRect();"
        " return [box.left, box.top, box.right, box.bottom]; })]"
    )
    assert width == size[0]
    assert tree[0] >= 0 and tree[2] <= frame[2] + 1 and tree[3] <= size[1] and tree[2] - tree[0] > 100
    assert facts[1] >= tree[3] - 1 and "Words are levels" in opened_page.locator(".facts").inner_text()
    assert opened_page.locator(".legend").inner_text().count("(") == 3
    # What is typed and what is clicked fits as well.
    opened_page.locator("#tab-try").click()
    opened_page.locator('[data-node="0"]').click()
    assert opened_page.evaluate("document.documentElement.scrollWidth") == size[0]


def test_a_column_of_words_is_a_list_that_sets_its_features(opened, birds):
    opened_page = opened(birds(*TREE))
    opened_page.locator("#tab-try").click()
    assert opened_page.locator("#try label").all_inner_texts() == ["island", "mass", "length", "sex"]
    islands = ["(missing)", "Biscoe", "Dream", "Torgersen <b>", "(any other)"]
    assert opened_page.locator("#f0 option").all_inner_texts() == islands
    assert (
        opened_page.locator("#f3 option").count() == 4
        and opened_page.locator("#f1").evaluate("f => f.tagName") == "INPUT"
    )
    encoded = opened_page.evaluate("cells => window.obliqueEncoded(cells)", [1, 4000, 40.5, 0])
    assert sorted(encoded) == [0, 0, 0, 1, 1, 40.5, 4000]
    assert opened_page.evaluate("cells => window.obliqueEncoded(cells)", [3, 4000, 40.5, None]).count(1) == 0
    before = opened_page.locator("#way").inner_text()
    for level in ("Biscoe", "Dream", "Torgersen <b>"):
        opened_page.locator("#f0").select_option(label=level)
        assert "not a number" not in opened_page.locator("#way").inner_text()
    assert before and opened_page.locator(".node.on").count() >= 2


def test_the_page_of_words_sends_rows_where_the_fitted_tree_does_though_it_shows_less(opened, birds, call):
    birds(*TREE)
    birds("fit", "birds.csv", "--target", "species", "--algorithm", "hhcart_a", "--folds", 2, "--output", "m.json")
    document = birds("tree", "m.json", "--html", "--output", "page.html")
    assert "move no training row and are not shown" in document
    model = load(call.folder / "m.json")
    opened_page = opened(document)
    rng = np.random.default_rng(0)
    n = 300
    X = np.column_stack(
        [rng.integers(0, 3, n), rng.normal(4000, 900, n), rng.normal(45, 9, n), rng.integers(0, 2, n)]
    ).astype(float)
    places = opened_page.evaluate(
        "rows => rows.map(row => window.obliqueFollow(window.obliqueEncoded(row)).at(-1).place)", X.tolist()
    )
    labels = [data_of(document)["classes"][data_of(document)["nodes"][place]["k"]] for place in places]
    assert labels == model.predict(X).tolist()


def test_a_row_that_is_clicked_fills_lists_and_numbers(opened, birds):
    opened_page = opened(birds(*TREE))
    row = opened_page.locator("#node tr[data-row]").first
    cells = row.locator("td").all_inner_texts()
    assert "no training row" in opened_page.locator("#node").inner_text()  # how many terms are not shown
    heads = opened_page.locator("#node thead tr").last.locator("th").all_inner_texts()
    row.click()
    island = cells[[head.lower() for head in heads].index("island")]
    assert opened_page.locator("#f0").evaluate("f => f.selectedOptions[0].textContent") == island


# ---- models in leaves ------------------------------------------------------------------------------------------------


def scored(classes=3, title="A tree"):
    """A tree with models of values, squares and hinges in two leaves, its view and what its page knows besides."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(240, 3)) * [1.0, 30.0, 0.1] + [0.0, 200.0, 5.0]
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (np.where(z[:, 0] > 0, z[:, 1], z[:, 2]) + z[:, 1] ** 2 > 0.8).astype(np.int32)
    y = y + (z[:, 2] > 0.8) if classes == 3 else y
    tree = make("lmt", random_state=0, folds=2).fit(X, y).tree_
    if classes == 3:
        model = make(
            "logistic_tree", random_state=0, base="axis_parallel", max_depth=1, doubling_price=0.0, hinges=True
        )
        tree = model.fit(X, y).tree_
    names = [*WILD[:2], "c"]
    labels = WILD_CLASSES[:classes]
    shown = view_of(tree, names, labels, title=title, rows=(X, y))
    data = PageData(names, "class", {}, Units.deviations(X), X, y, tree.apply(X), tree.parents, text_of(shown))
    return tree, X, shown, page(shown, data)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_page_scores_rows_as_the_tree_does(opened, classes):
    tree, X, view, document = scored(classes)
    opened_page = opened(document)
    numbers = {node.number: place for place, node in enumerate(view.nodes)}
    leaves = tree.apply(X)
    X = np.vstack([X, X[:1] + np.array([0.0, 900.0, 0.0])])  # a square beyond its bound
    leaves = np.append(leaves, tree.apply(X[-1:]))
    values = [[numbers[leaf], row] for leaf, row in zip(leaves.tolist(), X.tolist(), strict=True)]
    text = opened_page.evaluate("rows => rows.map(([place, row]) => window.obliqueScores(place, row))", values)
    scores = tree.leaf_models.scores(X, leaves)
    if classes == 2:
        first = next(node.scores[0].label for node in view.nodes if node.scores)
        scores = scores[:, [first]] - scores[:, [1 - first]]
    np.testing.assert_allclose(text, scores, rtol=1e-9, atol=1e-9)
    answers = opened_page.evaluate("rows => rows.map(([place, row]) => window.obliqueAnswer(place, row))", values)
    assert [answer["label"] for answer in answers] == tree.predicted(X).tolist()
    shares = tree.predicted_shares(X)
    np.testing.assert_allclose([answer["shares"] for answer in answers], shares, atol=1e-9)


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_leaf_opens_to_contributions_and_curves(opened, size, classes):
    tree, X, view, document = scored(classes)
    opened_page = opened(document)
    opened_page.set_viewport_size({"width": size[0], "height": size[1]})
    place = next(place for place, node in enumerate(view.nodes) if node.scores and node.number == tree.apply(X[:1])[0])
    opened_page.locator(f'[data-node="{place}"]').click()
    panel = opened_page.locator("#node")
    assert "typed row" in panel.inner_text().lower()
    used = {term.feature for score in view.nodes[place].scores for term in score.terms}
    assert panel.locator("figure").count() == len(used)
    assert panel.locator("path.curve").count() == len(used) * len(view.nodes[place].scores)
    assert panel.locator("details.score").count() == len(view.nodes[place].scores)
    assert opened_page.evaluate("document.documentElement.scrollWidth") == size[0]
    opened_page.locator("#tab-try").click()
    before = opened_page.locator("#way").inner_text()
    assert WILD_CLASSES[int(tree.predicted(X[:1])[0])] in before and "start" in before and "together" in before
    field = sorted(used)[0]
    opened_page.locator(f"#f{field}").fill(str(X[:, field].max() * 3))
    assert opened_page.locator("#way").inner_text() != before
    opened_page.locator(f"#f{field}").fill("")
    assert "missing" in opened_page.locator("#way").inner_text()
    assert opened_page.evaluate("document.documentElement.scrollWidth") == size[0]


def test_a_column_of_words_has_a_curve_by_level(opened, birds):
    document = birds("tree", "birds.csv", "--target", "species", "--algorithm", "logistic_tree", "--set", "max_depth=0",
                     "--set", "max_terms=null", "--html", "--output", "page.html")  # fmt: skip
    opened_page = opened(document)
    captions = opened_page.locator("#node figcaption").all_inner_texts()
    assert captions == ["island", "mass", "length", "sex"]
    assert opened_page.locator("#node figure").first.locator("text").count() == 3
    opened_page.locator("#tab-try").click()
    opened_page.locator("#f0").select_option(label="Dream")
    assert "island = Dream" in opened_page.locator("#way").inner_text()
