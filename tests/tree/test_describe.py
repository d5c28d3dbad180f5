"""A tree in words: the rules say what the tree does."""

import inspect
import re
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_support import one_split

from oblique_cli import data, make
from oblique_cli.tree.describe import condition, export_text
from oblique_cli.tree.structure import TreeBuilder


def test_the_example_of_the_documentation():
    tree = one_split([0.6, -0.8], 1.5)
    text = "if 0.6 height - 0.8 width <= 1.5:\n    a  (a: 4)\nelse:\n    b  (a: 1, b: 3)\n"
    assert export_text(tree, ["height", "width"], ["a", "b"]) == text
    assert textwrap.indent(text.strip(), " " * 4) in inspect.getdoc(export_text)


def test_a_tree_that_is_one_leaf_is_one_line():
    builder = TreeBuilder(2, 2)
    builder.add(np.array([3.0, 2.0]), 5)
    assert export_text(builder.finish(), ["x", "y"], ["no", "yes"]) == "no  (no: 3, yes: 2)\n"


@pytest.mark.parametrize(
    ("coef", "threshold", "text"),
    [
        ([1, 0], 2.5, "x <= 2.5"),
        ([-1, 0], -2.5, "x >= 2.5"),
        ([0, 2], 5, "y <= 2.5"),
        ([-1, 0], 0.0, "x >= 0"),
        ([-0.6, 0.8], -1, "-0.6 x + 0.8 y <= -1"),
        ([0.123456, 1e-9], 12345.678, "0.123 x + 1e-09 y <= 1.23e+04"),
    ],
)
def test_conditions_read_like_inequalities(coef, threshold, text):
    assert condition(one_split(coef, threshold), 0, ["x", "y"]) == text


def test_precision_is_in_significant_digits():
    tree = one_split([1 / 3, 2 / 3], 1 / 7)
    assert condition(tree, 0, ["x", "y"], precision=1) == "0.3 x + 0.7 y <= 0.1"
    assert condition(tree, 0, ["x", "y"], precision=6) == "0.333333 x + 0.666667 y <= 0.142857"


def test_names_cannot_break_lines_or_reach_the_terminal():
    text = export_text(one_split([1, 0], 2), ["a\n\x1b[31mb", "y"], ["p\tq", "r"])
    assert text == "if a  [31mb <= 2:\n    p q  (p q: 4)\nelse:\n    r  (p q: 1, r: 3)\n"


def test_a_tree_deeper_than_the_interpreters_stack_is_written():
    builder = TreeBuilder(1, 2)
    node = builder.add(np.array([1.0, 1.0]), 2)
    for depth in range(3000):
        left, right = builder.add(np.array([1.0, 0.0]), 1), builder.add(np.array([0.0, 1.0]), 1)
        builder.split(node, np.array([1.0]), float(depth), 0.1, left, right)
        node = right
    assert export_text(builder.finish(), ["x"], ["a", "b"]).count("else:") == 3000


def follow(text, row):
    """The class that the rules give to a row (name -> value), read as a person would."""
    lines = text.splitlines()
    at = depth = 0
    while True:
        line = lines[at]
        indent = (len(line) - len(line.lstrip())) // 4
        if indent != depth:  # belongs to a branch that was not taken
            at += 1
            continue
        word = line.strip()
        if not word.startswith("if "):
            return word.partition("  (")[0]
        left, sign, right = re.fullmatch(r"if (.+) (<=|>=) (\S+):", word).groups()
        terms = re.findall(r"(?:(^-?|[+-] )(\S+) )?([a-z_]\w*)(?= [+-] |$)", left)
        value = sum((-1 if "-" in mark else 1) * float(number or 1) * row[name] for mark, number, name in terms)
        depth += 1
        at += 1
        if value > float(right) if sign == "<=" else value < float(right):
            while lines[at] != "    " * (depth - 1) + "else:":
                at += 1
            at += 1


@pytest.mark.parametrize("name", ["axis_parallel", "hhcart_a", "hhgdt"])
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_whoever_follows_the_rules_predicts_what_the_tree_predicts(name, data):
    dataset, tree, text = FITTED[name]
    row = dataset.X[data.draw(st.integers(0, dataset.n - 1))]
    expected = dataset.classes[tree.labels[tree.apply(row[None])[0]]]
    assert follow(text, dict(zip(dataset.feature_names, row, strict=True))) == expected


def fitted(name):
    dataset = data.load("bupa")
    tree = make(name, random_state=0).fit(dataset.X, dataset.y).tree_
    return dataset, tree, export_text(tree, dataset.feature_names, dataset.classes, precision=17)


FITTED = {name: fitted(name) for name in ("axis_parallel", "hhcart_a", "hhgdt")}
