"""The model card: its numbers are those of the fit, it is one safe file, and it opens in a real browser."""

import csv
import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import oblique_cli
from oblique_cli import HHCARTClassifier, make, model_card
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.models import load
from oblique_cli.models.explaining import shapes
from oblique_cli.models.explaining.importance import affordable_shapley
from oblique_cli.models.explaining.shapes import shapes_of
from oblique_cli.models.model import Model
from oblique_cli.report import model_card as module

PLAIN = Path(__file__).parent.parent / "files" / "plain.csv"
VOID = {"meta", "link", "br", "hr", "img", "input"}
QUICK = ("--algorithm", "axis_parallel", "--folds", "2", "--report", "card.html", "--format", "json")

# Names that would be markup, close an element, leave an attribute, or are read from right to left.
WILD = ["<script>alert(1)</script>", "</style><b>", '"&quot;\' onload="x"', "</svg>]]>", "a\tb \u202ec", "$style {x}"]
WILD_CLASSES = ["<i>no</i>", "&amp;", "</title>"]


class Nesting(HTMLParser):
    """Holds that every element ends where it should; collects attributes."""

    def __init__(self, text):
        super().__init__()
        self.open, self.attributes = [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def safe(text):
    """Hold what holds for every page; return its attributes."""
    assert len(text.encode()) < 1_000_000
    assert text.count("<style>") == text.count("<script>") == 1
    assert (
        re.search(r"default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-", text) and "unsafe" not in text
    )
    attributes = Nesting(text).attributes
    assert not [name for name, _ in attributes if name in ("style", "src") or name.startswith("on")]
    assert all(value.startswith("#") for name, value in attributes if name == "href")
    assert set(re.findall(r"https?://[^\s\"'<>]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert "NaN" not in text and "inf" not in re.findall(r"\b(?:nan|inf)\b", text)
    ids = [value for name, value in attributes if name == "id"]
    assert len(ids) == len(set(ids))
    return attributes


def sections(text):
    """Titles of the page."""
    return re.findall(r"<h2>(.*?)</h2>", text)


def cells(text, anchor):
    """Rows of all tables of a section, as text."""
    section = re.search(rf'<section id="{anchor}">(.*?)</section>', text, re.S)[1]
    rows = re.findall(r"<tr>(.*?)</tr>", section, re.S)
    return [[unescape(re.sub("<.*?>", "", cell)) for cell in re.findall(r"<t[dh].*?>.*?</t[dh]>", r)] for r in rows]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cards")


def fitted(call, *arguments):
    """The JSON of a fit, and its card."""
    ended = call("fit", *arguments)
    assert ended.code == 0, ended.err
    return json.loads(ended.out), (call.folder / "card.html").read_text(encoding="utf-8")


# ---- what it says ----------------------------------------------------------------------------------------------------


def test_numbers_of_classes_are_those_of_the_fit(call):
    document, text = fitted(call, str(PLAIN), "--target", "variety", "--coverage", "0.8", *QUICK)
    safe(text)
    assert sections(text) == [
        "On new rows", "The model", "What it looks at", "Along the columns", "Coverage", "The table", "Limits",
        "How to make it again",
    ]  # fmt: skip
    shown, result, estimate = cells(text, "estimate"), document["on_new_rows"], document["estimate"]
    percent = f"{100 * estimate['accuracy']:.1f} % ± {100 * estimate['standard_error']:.1f}"
    assert ["accuracy", percent] in shown and f"<b>{percent}</b>" in text
    assert ["accuracy of always saying 'amber'", "33.3 %"] in shown
    assert ["F1, mean over classes", f"{result['f1_macro']:.4g}"] in shown
    for label, counts in zip(document["classes"], result["confusion"], strict=True):
        recall = f"{100 * result['recalls'][label]:.1f} %"
        assert [label, *("" if not n else str(n) for n in counts), recall] in shown
    bins = result["calibration"]
    for output, was, n in zip(bins["confidence"], bins["right"], bins["rows"], strict=True):
        assert [f"{output:.3f}", f"{was:.3f}", f"{n:,}"] in shown
    assert sum(bins["rows"]) == 240 and f"error): {bins['error']:.3f}." in text
    values = [[name, "", f"{value:.3g}"] for name, value in document["importances"]["values"].items()]
    assert cells(text, "importances") == values
    assert f"for 80 % of new rows (lac, limits by {document['guarantee']['rows']} rows" in text
    assert ["length_mm", "number", "0", "4.89 to 8.71"] in cells(text, "table")
    made = dict(row for row in cells(text, "origin") if len(row) == 2)
    assert made["digest of the data"] == document["data_digest"] and made["seed"] == "1"
    assert made["command"].startswith("oblique fit ") and "--coverage 0.8" in made["command"]
    assert f"scikit-learn {document['versions']['scikit-learn']}" in made["versions"]


def test_numbers_of_numbers_are_those_of_the_fit(call):
    arguments = ("--algorithm", "m5_style", *QUICK[2:])
    document, text = fitted(call, str(PLAIN), "--target", "weight_mg", *arguments)
    safe(text)
    shown, result, estimate = cells(text, "estimate"), document["on_new_rows"], document["estimate"]
    assert ["RMSE", f"{estimate['rmse']:.4g} ± {estimate['standard_error']:.2g}"] in shown
    assert ["R2, 0 for always saying the mean", f"{result['r2']:.4g}"] in shown
    assert ["mean absolute error", f"{result['mae']:.4g}"] in shown
    parts = result["residuals"]["by_prediction"]
    for part in parts:
        quantiles = [f"{part[key]:.4g}" for key in ("low", "middle", "high")]
        assert [f"{part['predicted']:.4g}", *quantiles, str(part["rows"])] in shown
    assert sum(result["residuals"]["rows"]) == sum(part["rows"] for part in parts) == 240
    assert "weight_mg = " in unescape(text) and "variety: mean prediction" in text  # equations; a column of levels
    assert ["variety", "levels", "0", "3 levels"] in cells(text, "table")


def test_names_get_in_as_text_only(call):
    rng = np.random.default_rng(0)
    lines = [[*WILD, "y"]]
    for i in range(60):
        x = rng.normal(size=len(WILD) - 1)
        code = int(x[0] > 0) + int(x[1] > 1)
        lines.append([*(f"{value:.4f}" for value in x), WILD_CLASSES[i % 2], WILD_CLASSES[code]])
    with (call.folder / "wild.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="|").writerows(lines)
    document, text = fitted(call, "wild.csv", "--target", "y", "--delimiter", "|", *QUICK)
    safe(text)
    assert sorted(document["classes"]) == sorted(WILD_CLASSES)
    output = unescape(re.sub(r"<.*?>", "", text))
    for name in [*WILD[:4], WILD[5], *WILD_CLASSES]:
        assert name in output, name
    assert "\u202e" not in text and "\t" not in cells(text, "table")[0]
    assert "are few: other rows could give quite another model" in text and "Classes of fewer than 30 rows" in text


def test_auto_shows_what_it_compared_and_the_tree_beside_a_forest(call):
    document, text = fitted(
        call, str(PLAIN), "--target", "variety", "--time", "3s", "--folds", "2", "--output", "m.json", *QUICK[4:]
    )
    safe(text)
    rows = [row for row in cells(text, "estimate") if row and row[-1] == "chosen"]
    (chosen,) = [fitted_model for fitted_model in document["compared"] if fitted_model["chosen"]]
    assert rows == [[
        chosen["algorithm"], f"{100 * chosen['accuracy']:.1f} % ± {100 * chosen['standard_error']:.1f}",
        f"{chosen['leaves']:,}", f"{chosen['n_terms']:,}", "chosen",
    ]]  # fmt: skip
    model = load(call.folder / "m.json")
    again = model_card(model)  # of a stored model: no rows, hence no Shapley values of rows
    assert sections(again) == sections(text) and "Shapley value along" not in again
    forest = make("hhgdt_forest", n_trees=3, random_state=0).fit(np.eye(6)[:, :3], [0, 0, 0, 1, 1, 1])
    beside = model_card(forest, beside=model)
    assert "is not one tree" in beside and "The tree that is kept beside it" in beside and 'class="node"' in beside
    safe(beside)


def test_a_model_file_has_the_card_of_its_fit(call):
    _, text = fitted(call, str(PLAIN), "--target", "variety", "--output", "m.json", *QUICK)
    ended = call("report", "m.json", "--rows", str(PLAIN))
    assert ended.code == 0 and re.search(r"m.html: 0.\d\d MB\n$", ended.out), ended
    again = (call.folder / "m.html").read_text(encoding="utf-8")
    safe(again)
    figures = [re.findall(r"<figure>.*?</figure>", page, re.S) for page in (text, again)]
    assert len(figures[0]) > 8 and figures[0] == figures[1]
    same = ("importances", "table", "limits", "model")
    assert [cells(text, anchor) for anchor in same] == [cells(again, anchor) for anchor in same]
    assert call("report", "m.json", "--output", "bare.html").code == 0
    bare = (call.folder / "bare.html").read_text(encoding="utf-8")
    assert "Along the columns" in sections(bare) and "Shapley value along" not in bare


def test_a_fitted_estimator_has_a_card_without_an_estimate():
    X = np.random.default_rng(1).normal(size=(80, 3))
    text = model_card(HHCARTClassifier(random_state=0).fit(X, X[:, 0] > 0), X)
    safe(text)
    assert "only <code>oblique fit</code> writes estimates" in text and "x1: Shapley value" in text
    with pytest.raises(ConfigError, match=r"rows must have 3 columns, those of the model. Got \(80, 2\)"):
        model_card(HHCARTClassifier(random_state=0).fit(X, X[:, 0] > 0), X[:, :2])


def test_facts_that_make_no_sense_are_one_sentence():
    X = np.random.default_rng(1).normal(size=(80, 3))
    model = Model.of(HHCARTClassifier(random_state=0).fit(X, X[:, 0] > 0))
    for facts in ({"estimate": 3}, {"estimate": {}, "metric": "rmse"}, {"rows": "many"}, {"cells": 3}, {"versions": 4}):
        with pytest.raises(DataError, match="the facts of the model cannot be used"):
            model_card(replace(model, facts=facts))


def test_a_large_model_stays_below_a_megabyte(monkeypatch):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(1500, 12)), rng.integers(0, 6, 1500)
    names = tuple(f"{'a long name of a column ' * 20}{j}" for j in range(12))
    model = Model.of(make("axis_parallel", random_state=0).fit(X, y), feature_names=names)
    assert model.estimator.n_leaves_ > 500
    text = model_card(model, X)
    safe(text)
    assert "The first 4 levels of splits" in text
    monkeypatch.setattr(module, "LARGEST", len(text.encode()))
    assert "Along the columns" in sections(text) and "Along the columns" not in sections(model_card(model, X))


# ---- curves ----------------------------------------------------------------------------------------------------------


def test_partial_dependence_is_the_mean_with_the_cell_exchanged():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(70, 3))
    model = Model.of(make("logistic_tree", random_state=0).fit(X, X @ [1.0, -1.0, 0.0] > 0))
    (result,) = shapes_of(model, X, ("x2",), affordable_shapley(model, X))
    assert result.rows == 70 and result.outputs == (1,) and len(result.at) == shapes.POINTS
    assert result.at[0] == X[:, 1].min() and result.at[-1] == X[:, 1].max() and set(result.at) <= set(X[:, 1])
    for value, mean in zip(result.at, result.mean[:, 0], strict=True):
        changed = X.copy()
        changed[:, 1] = value
        assert mean == pytest.approx(model.predict_proba(changed)[:, 1].mean(), abs=1e-12)
    assert result.cells.tolist() == X[:, 1].tolist() and result.shapley.shape == (70, 1)
    # The score of a linear model falls with the column, and so do its Shapley values.
    order = np.argsort(result.cells)
    assert (np.diff(result.shapley[order, 0]) <= 1e-9).all() or model.estimator.n_leaves_ > 1


def test_what_gives_no_probabilities_is_followed_by_its_labels():
    X = np.random.default_rng(3).normal(size=(40, 2))
    model = Model.of(make("svm", random_state=0).fit(X, X[:, 0] > 0))
    (result,) = shapes_of(model, X, ("x1",), affordable_shapley(model, X))
    assert result.shapley is None and set(np.round(result.mean[:, 0] * 40).tolist()) <= set(range(41))
    assert result.mean[0, 0] == 0.0 and result.mean[-1, 0] == 1.0


# ---- in a browser ----------------------------------------------------------------------------------------------------


def test_it_opens_in_a_browser_without_scripts_light_dark_and_on_a_phone(call, opened):
    _, text = fitted(call, str(PLAIN), "--target", "variety", *QUICK)
    for width, scheme in ((1200, "light"), (390, "dark")):
        how = {"viewport": {"width": width, "height": 800}, "java_script_enabled": scheme == "light"}
        page = opened(call.folder / "card.html", color_scheme=scheme, **how)
        box = page.locator("#importances .bars rect").first.bounding_box()
        assert box["width"] > 50 and box["height"] == pytest.approx(8)
        main = page.locator("main").bounding_box()
        assert main["x"] >= 0 and main["x"] + main["width"] <= width
        assert page.locator("h2").all_inner_texts() == sections(text)
        if scheme == "light":
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert oblique_cli.__version__ in text
