"""What a notebook shows of an estimator: scikit-learn's box, and below it the fitted tree."""

import pickle
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn import config_context

from oblique_cli import make
from oblique_cli.drawing.canvas import rendered


def rows():
    X = np.random.default_rng(0).normal(size=(120, 3))
    return X, X[:, 0] + X[:, 1] > 0


@pytest.mark.parametrize("name", ["hhcart_a", "logistic_tree", "hhbut", "retis", "c45"])
def test_the_tree_stands_below_the_box(name):
    X, y = rows()
    tree = make(name)
    before = tree._repr_mimebundle_()["text/html"]
    assert "<svg" not in before.partition("sk-top-container")[2]
    shown = tree.fit(X, y.astype(float) if name == "retis" else y)._repr_mimebundle_()
    assert shown["text/plain"] == repr(tree)
    box, _, picture = shown["text/html"].partition('<div class="oblique-tree">')
    assert "sk-top-container" in box and picture.count('class="node"') == tree.n_nodes_
    assert "<script" not in picture
    assert tree._repr_html_().partition('<div class="oblique-tree">')[2] == picture
    # Styles are those of the picture alone: a notebook is full of other elements.
    sheet = re.findall(r"<style>(.*?)</style>", box, re.S)[-1]
    selectors = re.findall(r"(?:^|[}{])\s*([^{}@]+?)\s*\{", sheet)
    assert len(selectors) > 20 and all(selector.startswith(".oblique-tree") for selector in selectors)


def test_the_picture_is_cut_or_left_out():
    tree = make("hhcart_a", random_state=0).fit(*rows())
    with config_context(display="text"):
        assert list(tree._repr_mimebundle_()) == ["text/plain"] and not hasattr(tree, "_repr_html_")
    X = np.random.default_rng(1).normal(size=(600, 3))
    tree = make("axis_parallel", random_state=0).fit(X, np.random.default_rng(2).integers(0, 2, 600))
    assert tree.n_leaves_ > 40
    assert "The first 4 levels of splits" in tree._repr_html_()
    tree = make("cart_regression").fit(*rows())
    assert "oblique-tree" not in tree._repr_html_()


@pytest.mark.parametrize("name", ["hhcart_a", "logistic_tree", "retis", "cart_regression", "c45"])
def test_a_tree_is_a_page_of_its_own(name):
    X, y = rows()
    tree = make(name).fit(X, y.astype(float) if name in ("retis", "cart_regression") else y)
    classes = ["no", "yes"] if hasattr(tree, "classes_") else None
    page = tree.to_html(["<b>tall", "wide", "deep"], classes)
    assert page.startswith("<!doctype html>") and "&lt;b&gt;tall" in page and "<b>tall" not in page.split("<script")[0]
    assert page.count('class="node"') == tree.get_n_leaves() * 2 - 1 or name == "c45"
    assert type(tree).__name__ in page


@pytest.mark.parametrize("name", ["hhcart_a", "retis", "hhgdt_forest"])
def test_a_figure_fits_its_cell_and_is_the_same_picture(name):
    X, y = rows()
    model = make(name).fit(X, y.astype(float) if name == "retis" else y)
    figure = model.plot(number=0) if name == "hhgdt_forest" else model.plot()
    shown = figure._repr_html_()
    tree = ElementTree.fromstring(shown).find("{http://www.w3.org/2000/svg}svg")
    width = figure.get_size_inches()[0]
    assert f"max-width: {width:.2f}in" in tree.get("style") and f"min-width: {0.6 * width:.2f}in" in tree.get("style")
    assert tree.get("width") is None and tree.get("height") is None and tree.get("viewBox")
    plain = ElementTree.fromstring(rendered(figure, "svg"))
    assert [element.tag for element in tree.iter()] == [element.tag for element in plain.iter()]
    assert isinstance(pickle.loads(pickle.dumps(figure)), Figure)  # as figures of matplotlib are
