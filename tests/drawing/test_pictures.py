"""Pictures of trees: what stands in them, that nothing overlaps, and that no name breaks them."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from drawing_support import WILD, WILD_CLASSES, fitted, view, wild_view

from oblique_cli.drawing.canvas import rendered
from oblique_cli.drawing.diagram import drawn
from oblique_cli.drawing.dot import dot, quoted
from oblique_cli.drawing.scene import Label, Link, Rectangle, lines_of, scene_of, shortened, width_of
from oblique_cli.drawing.svg import svg
from oblique_cli.drawing.tikz import LABEL_CHARACTERS, tikz
from oblique_cli.drawing.view import BLANK, text_of, view_of
from oblique_cli.ground.latex_text import escaped

SVG = "{http://www.w3.org/2000/svg}"


def texts(document):
    return ["".join(element.itertext()) for element in ET.fromstring(document).iter(f"{SVG}text")]


def boxes(scene):
    """The card of every node: its background."""
    cards = {}
    for group in scene.groups:
        if group.place >= 0:
            cards[group.place] = next(shape for shape in group.shapes if isinstance(shape, Rectangle))
    return cards


# ---- what is seen ----------------------------------------------------------------------------------------------------


def test_a_view_has_counts_weights_and_a_histogram_at_every_split():
    shown = view()
    dataset, model = fitted()
    for node in shown.nodes:
        assert node.counts == tuple(model.tree_.counts[node.number])
        if node.is_leaf:
            assert node.text == dataset.classes[node.label]
            continue
        histogram = node.histogram
        np.testing.assert_array_equal(histogram.counts.sum(axis=0), node.counts)
        children = [child for child in shown.nodes if child.parent == shown.nodes.index(node)]
        edge = round((histogram.threshold - histogram.low) / (histogram.high - histogram.low) * len(histogram.counts))
        np.testing.assert_array_equal(histogram.counts[:edge].sum(axis=0), children[0].counts)
        np.testing.assert_array_equal(histogram.counts[edge:].sum(axis=0), children[1].counts)


def test_a_histogram_of_one_feature_has_larger_values_on_the_right_whichever_child_gets_them():
    shown = view("bupa", "axis_parallel", max_depth=4)
    flipped = 0
    for place, node in enumerate(shown.nodes):
        if node.is_leaf:
            continue
        histogram = node.histogram
        first = shown.nodes[shown.children[place][0]]
        edge = round((histogram.threshold - histogram.low) / (histogram.high - histogram.low) * len(histogram.counts))
        below = tuple(histogram.counts[:edge].sum(axis=0))
        flipped += first.way.startswith(">")
        assert below == first.counts or first.way.startswith(">")
    assert flipped


def test_depth_shows_the_top_and_counts_what_is_below():
    whole = view("bupa")
    cut = whole.cut(2)
    assert max(cut.depths) == 2 and cut.nodes[0].text == whole.nodes[0].text
    leaves = sum(node.hidden if node.hidden else node.is_leaf for node in cut.nodes)
    assert leaves == sum(node.is_leaf for node in whole.nodes)
    assert whole.cut(100) is whole and whole.cut(None) is whole
    assert "..." in text_of(cut) and "leaves, mostly" in text_of(cut)


def test_lines_of_rules_are_short_and_break_between_terms_only():
    names = [f"a long name, number {j} of four" for j in range(4)]
    text = text_of(view(names=names, classes=["first class", "second class", "third class"]), width=70)
    assert all(len(line) <= 130 for line in text.splitlines()) and BLANK not in text
    for name in names:
        assert sum(line.count(name) for line in text.splitlines()) == text.replace("\n", " ").count(name)
    assert not re.search(r"[+-]$|[+-] [\d.]+$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "sideways"), [("iris", False), ("iris", True), ("bupa", None), ("five_regions", None)]
)
def test_no_card_lies_on_another_and_no_link_crosses_one(name, sideways):
    scene = scene_of(view(name), sideways)
    cards = boxes(scene)
    results = list(cards.values())
    for i, a in enumerate(results):
        assert a.x >= 0 and a.y >= 0 and a.x + a.width <= scene.width and a.y + a.height <= scene.height
        for b in results[i + 1 :]:
            apart = a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
            assert apart
    for link in (shape for group in scene.groups for shape in group.shapes if isinstance(shape, Link)):
        # Control points of the bend lie between two levels, where no card is.
        low, high = (link.knee[0], link.end[0]) if link.sideways else (link.knee[1], link.end[1])
        for card in results:
            start, size = (card.x, card.width) if link.sideways else (card.y, card.height)
            assert start + size <= low + 1e-6 or start >= high - 1e-6


def test_an_unpruned_tree_fits_a_large_page():
    scene = scene_of(view("bupa"))
    assert scene.sideways and scene.width < 3200 and scene.height < 3300  # 5400 wide before it stood on its side


def test_no_text_is_wider_than_its_card():
    scene = scene_of(wild_view())
    cards = boxes(scene)
    for group in scene.groups:
        for label in (shape for shape in group.shapes if isinstance(shape, Label) and group.place >= 0):
            assert width_of(label.text, label.size, label.bold) <= cards[group.place].width


def test_a_name_is_shortened_in_its_middle_and_never_broken():
    long = "a" * 30 + "z" * 30
    short = shortened(long, 100.0)
    assert short.startswith("a") and short.endswith("z") and "…" in short and width_of(short) <= 100.0
    assert lines_of(f"one{BLANK}name two", 60.0) == [f"one{BLANK}name", "two"]


# ---- files -----------------------------------------------------------------------------------------------------------


def test_svg_is_xml_with_every_name_as_it_is():
    document = svg(scene_of(wild_view()))
    result = " ".join(texts(document))
    for name in ("[b] $y$", "{c} ' OR 1=1"):
        assert name in result
    assert not re.search(r"<(script|img)\b", document)
    titles = " ".join("".join(element.itertext()) for element in ET.fromstring(document).iter(f"{SVG}title"))
    for name in (*WILD[:3], *WILD_CLASSES):
        assert name in titles


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_pictures_have_the_same_bytes_whenever_they_are_drawn(form):
    first, second = (
        svg(scene_of(view("five_regions"))).encode() if form == "svg" else rendered(drawn(view("five_regions")), form)
        for _ in range(2)
    )
    assert first == second
    assert first.startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[form])
    assert not re.search(rb"CreationDate|Matplotlib v|/tmp/|/home/", first)


def test_two_features_have_their_partition_beside_the_tree():
    document = svg(scene_of(view("five_regions")))
    dataset, _ = fitted("five_regions")
    dots = re.findall(r'<path class="dots dk\d" d="([^"]+)"', document)
    assert sum(path.count("h0") for path in dots) == dataset.n
    assert not re.findall("dots dk", svg(scene_of(view("iris"))))


def test_a_tree_that_is_one_leaf_is_drawn():
    for document in (svg(scene_of(view(max_depth=0))), dot(view(max_depth=0)), tikz(view(max_depth=0))):
        assert "Iris-setosa" in document.replace("{-}", "-")


@pytest.mark.skipif(shutil.which("dot") is None, reason="there is no Graphviz (dot) on this machine")
def test_graphviz_draws_the_tree_with_every_name_as_it_is():
    result = wild_view()
    done = subprocess.run(["dot", "-Tsvg"], input=dot(result).encode(), capture_output=True, check=False)
    assert done.returncode == 0 and done.stderr == b"", done.stderr.decode()
    shown = " ".join(texts(done.stdout)).replace("\xa0", " ")
    for name in (*WILD[:3], *WILD_CLASSES[1:]):
        assert name in shown
    document = ET.fromstring(done.stdout)
    kinds = [element.get("class") for element in document.iter(f"{SVG}g")]
    assert kinds.count("node") == len(result.nodes) and kinds.count("edge") == len(result.nodes) - 1


def test_quotes_of_dot_are_balanced_whatever_stands_in_them():
    assert quoted('a\\"b\n') == '"a\\\\\\"b\\n"'
    for line in dot(wild_view()).splitlines():
        assert len(re.findall(r'(?<!\\)(?:\\\\)*"', line)) % 2 == 0, line


def test_braces_of_latex_are_balanced_and_nothing_special_is_left():
    for text in (*WILD, *WILD_CLASSES):
        bare = re.sub(r"\\[a-zA-Z]+|\\[{}$&#_%]|[{}]", "", escaped(text, LABEL_CHARACTERS))
        assert not re.search(r"[\\$&#_%~^]", bare.replace("~", "")), bare
    document = tikz(wild_view())
    assert document.count(r"\node[") == len(wild_view().nodes)
    stripped = re.sub(r"\\\\|\\[{}]", "", document)
    assert stripped.count("{") == stripped.count("}")


def test_levels_stand_beside_the_lines_in_groups():
    from oblique_cli import make

    X = np.column_stack([np.arange(60) % 3, np.linspace(0, 1, 60)]).astype(float)
    y = (np.arange(60) % 3 == 1).astype(np.int32)
    model = make("hhcart_a", random_state=0).set_params(qualitative=[0]).fit(X, y)
    names = {0: ["red", "dark blue", "green"]}
    shown = view_of(model.tree_, ["color", "size"], ["no", "yes"], level_names=names, rows=(model.tree_rows(X), y))
    ways = [node.way.replace(BLANK, " ") for node in shown.nodes[1:]]
    assert sorted(ways) == ["dark blue", "red, green, any other level"] or sorted(ways) == [
        "dark blue, any other level",
        "red, green",
    ]
    assert shown.nodes[0].histogram is None
