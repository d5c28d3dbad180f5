"""`oblique tree`: every form of every tree, of data sets, stored folds and model files."""

import json
import re
import sqlite3
import xml.etree.ElementTree as ET
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from tree_support import tree_of

from oblique_cli import data, make
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.experiments.store import Store
from oblique_cli.models import Model, save
from oblique_cli.tree.reading import Units

TREES = [name for name, algorithm in ALGORITHMS.items() if algorithm.family.makes_tree]
# Large trees, or slow ones, made small.
SMALLER = {
    **{name: ["min_node_percent=20"] for name in ("tprti_a", "tprti_b", "retis")},
    "aft": ["n_estimators=5"],
    **{name: ["max_depth=2", "pruning=none"] for name in TREES if name.endswith(("_regression", "_model_tree"))},
}


# ---- forms -----------------------------------------------------------------------------------------------------------


FORMS = ("json", "svg", "html", "dot", "tikz")


@pytest.mark.sample(2)
@pytest.mark.parametrize("algorithm", TREES)
def test_every_algorithm_that_makes_a_tree_is_shown_in_words_and_in_another_form(call, algorithm):
    name = "auto_mpg" if ALGORITHMS[algorithm].family.task == "regression" else "iris"
    if not ALGORITHMS[algorithm].family.hyperplanes and name == "iris" and algorithm != "pathfinder":
        name = "spect"
    options = [word for setting in SMALLER.get(algorithm, ()) for word in ("--set", setting)]
    command = ("tree", name, "--algorithm", algorithm, *options)
    leaves = None
    for form in ("text", FORMS[TREES.index(algorithm) % 5]):
        ended = call(*command, "--format", form)
        # A busy machine says how long it has been growing.
        assert (ended.code, re.sub(r"growing the tree, \d+:\d\d\n", "", ended.err)) == (0, ""), form
        if form == "text":
            leaves = int(re.search(r": (\d+) lea", ended.out)[1])
        if form == "svg":
            ET.fromstring(ended.out)
            assert ended.out.count('class="leaf"') == leaves
        if form == "html":
            assert ended.out.startswith("<!doctype html>") and ended.out.count('class="leaf"') == leaves
        if form in ("dot", "tikz"):
            assert ended.out.count("->" if form == "dot" else r"\draw") >= leaves - 1


@pytest.mark.long
def test_png_and_pdf_go_to_files(call):
    for form, begin in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        assert call("tree", "iris", "--format", form, "--output", f"tree.{form}").code == 0
        assert (call.folder / f"tree.{form}").read_bytes().startswith(begin)


def test_html_is_a_word_of_its_own_and_depth_shows_the_top_of_trees_of_every_kind(call):
    assert call("tree", "iris", "--html").out == call("tree", "iris", "--format", "html").out
    for command in (("bupa",), ("spect", "--algorithm", "c45"), ("auto_mpg", "--algorithm", "tprti_b")):
        whole, top = (call("tree", *command, *more).out for more in ((), ("--depth", "1")))
        assert "..." in top and len(top) < len(whole)
        assert call("tree", *command, "--depth", "1", "--format", "svg").out.count('class="node"') <= 3


def test_weights_are_per_standard_deviation_unless_raw(call):
    dataset = data.load("iris")
    plain, raw = (
        call("tree", "iris", "--depth", "1", "--precision", "12", "--full", *more).out for more in ((), ("--raw",))
    )
    document = json.loads(call("tree", "iris", "--format", "json").out)
    tree = tree_of(document)

    def weights(text):
        line = next(line for line in text.replace("\n      ", " ").splitlines() if line.startswith("if "))
        return {name: float(value) for value, name in re.findall(r"(\d[\d.e-]*) (\w+)", line.partition("<")[0])}

    np.testing.assert_allclose([weights(raw)[name] for name in dataset.feature_names], np.abs(tree.coef_[0]), rtol=1e-9)
    scaled = np.abs(tree.coef_[0]) * dataset.X.std(axis=0)
    scaled /= np.linalg.norm(scaled)
    np.testing.assert_allclose([weights(plain)[name] for name in dataset.feature_names], scaled, rtol=1e-9)
    assert list(weights(plain).values()) == sorted(weights(plain).values(), reverse=True)
    assert "standard deviation" in plain and "standard deviation" not in raw


def test_sparse_says_what_it_dropped_and_what_it_cost_and_keeps_the_weights_of_classes(call):
    ended = call("tree", "bupa", "--sparse")
    line = next(line for line in ended.out.splitlines() if line.startswith("# --sparse"))
    before, after = map(int, re.search(r"terms of splits (\d+) -> (\d+)", line).groups())
    assert (
        after < before
        and "right 345 -> 345 of 345" in line
        and line.endswith("no training row changes its side of a split")
    )
    ended = call("tree", "bupa", "--sparse", "--tolerance", "0.05", "--format", "svg")
    assert "at most 5 % of the training rows more are wrong" in ended.out

    options = ("tree", "bupa", "--set", "pruning=none", "--set", "max_depth=2", "--format", "json")
    weighted = ("--set", "algorithm.class_weight=balanced")
    whole, sparse = (json.loads(call(*options, *weighted, *more).out) for more in ((), ("--sparse",)))
    assert whole["counts"][0][0] == pytest.approx(whole["counts"][0][1])
    assert np.array(sparse["counts"]) == pytest.approx(np.array(whole["counts"]))
    text = call("tree", "bupa", *options[2:-2], *weighted, "--sparse", "--tolerance", "0.02").out
    assert "at most 2 % of the weight of the training rows more is wrong" in text


# ---- stored folds ----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_tree_of_a_stored_fold_is_grown_again(finished):
    ended = finished("tree", "small", "--fold", "2", "--repeat", "1", "--dataset", "bupa", "--algorithm", "hhgdt")
    assert (ended.code, ended.err) == (0, "")
    with closing(sqlite3.connect(finished.folder / "results" / "oblique.sqlite")) as db:
        row = db.execute(
            "SELECT n_leaves, depth, n_correct, n_test, chosen FROM rows "
            "WHERE dataset = 'bupa' AND algorithm = 'hhgdt' AND repeat = 1 AND fold = 2"
        ).fetchone()
    first, second = ended.out.splitlines()[:2]
    assert first.startswith(f"# HHGDT on bupa: {row[0]} lea") and f"depth {row[1]}, " in first
    assert f"Fold 2 of repetition 1, {row[2]} of its {row[3]} test rows right" in second
    assert f"chosen: epsilon {json.loads(row[4])['epsilon']}" in second


def test_a_tree_that_is_not_the_stored_one_is_refused(finished, monkeypatch):
    # As if another version had grown other trees; a row that is changed in the file is found damaged.
    rows = Store.rows
    monkeypatch.setattr(Store, "rows", lambda self, name: [replace(row, n_leaves=99) for row in rows(self, name)])
    ended = finished("tree", "small", "--fold", "0", "--dataset", "iris", "--algorithm", "hhgdt")
    assert ended.code == 5 and "n_leaves" in ended.err and "the stored one 99" in ended.err


# ---- model files -----------------------------------------------------------------------------------------------------


def model_file(folder, algorithm="hhcart_a", units=False):
    dataset = data.load("iris")
    estimator = make(algorithm, random_state=0).fit(dataset.X, dataset.y)
    facts = {"units": Units.deviations(dataset.X).to_plain()} if units else {}
    model = Model.of(
        estimator, algorithm=algorithm, classes=dataset.classes, feature_names=dataset.feature_names, facts=facts
    )
    save(model, folder / "model.json")
    return estimator


@pytest.mark.parametrize("form", ["text", "svg", "html", "dot", "tikz", "json"])
@pytest.mark.parametrize("algorithm", ["hhcart_a", "c45", "pathfinder"])
def test_a_model_file_is_shown(call, algorithm, form):
    model_file(call.folder, algorithm)
    ended = call("tree", "model.json", "--format", form)
    assert (ended.code, ended.err) == (0, "")
    assert "petal_" in ended.out.replace(r"\_", "_")


def test_a_model_file_that_knows_its_units_has_weights_per_deviation(call):
    model_file(call.folder, units=True)
    assert "# Weights are per standard deviation" in call("tree", "model.json").out
    assert "# Weights are per standard deviation" not in call("tree", "model.json", "--raw").out


# ---- classes that training rows lack ---------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["hhcart_a", "c45"])
def test_labels_stay_with_their_classes_where_training_rows_lack_one(call, algorithm):
    """The class between the others, by its name, has its only rows left out, or all of them in a test fold."""
    rows = [f"{i % 10},{i + 40 * (i > 29)}.5,{'apple' if i < 30 else 'cherry'}" for i in range(60)]
    (call.folder / "gap.csv").write_text("\n".join(["a,b,y", *rows, ",3,banana", ",4,banana"]) + "\n")
    options = ("--target", "y", "--set", "missing=drop", "--algorithm", algorithm)
    for form in ("svg", "html", "dot", "tikz"):
        assert call("tree", "gap.csv", *options, "--format", form, "--output", "out").code == 0
    ended = call("tree", "gap.csv", *options)
    assert (ended.code, ended.err) == (0, "")
    assert "60 of its 60 rows right" in ended.out and "No row is left of 'banana'." in ended.out
    leaves = [line for line in ended.out.splitlines() if not line.startswith("#")]
    assert any("apple" in line for line in leaves) and not any("banana" in line for line in leaves)
    assert json.loads(call("tree", "gap.csv", *options, "--format", "json").out)["classes"] == ["apple", "cherry"]
    if algorithm == "hhcart_a":
        assert "training rows right 60 -> 60 of 60" in call("tree", "gap.csv", *options, "--sparse").out
        fitted = call("fit", "gap.csv", *options, "--folds", "3", "--output", "m.json")
        assert fitted.code == 0 and "60 of its 60 rows right" in fitted.out
        shown = call("tree", "m.json").out
        assert "cherry  (cherry: 30)" in shown and "banana" not in shown
