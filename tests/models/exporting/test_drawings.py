"""Drawings of models: read back as graphs, and as LaTeX without letters that LaTeX takes for commands."""

import json
import re

import export_support as support
import numpy as np
import pytest
from export_support import Policy

from oblique_cli.errors import ConfigError
from oblique_cli.models.exporting import export

NODE = re.compile(r'^  n(\d+) \[label=("(?:[^"\\]|\\.)*")', re.MULTILINE)
EDGE = re.compile(r'^  n(\d+) -> n(\d+) \[label=("(?:[^"\\]|\\.)*")\];$', re.MULTILINE)


def graph(source: str) -> tuple[dict[int, str], dict[int, list[tuple[str, int]]]]:
    """Texts of the nodes of a DOT graph, and what stands on the edges to their children."""
    texts = {int(number): json.loads(label) for number, label in NODE.findall(source)}
    children: dict[int, list[tuple[str, int]]] = {number: [] for number in texts}
    for parent, child, label in EDGE.findall(source):
        children[int(parent)].append((json.loads(label), int(child)))
    return texts, children


def test_a_row_finds_its_leaf_in_the_graph():
    case = support.iris("axis_parallel")
    texts, children = graph(str(export(case.model, "dot", precision=17)))
    names = [cell.name for cell in case.procedure.cells]
    X = support.rows(case, n=500, gaps=0)
    answers, _ = support.expected(case, X)
    tests = {"<": np.less, "≤": np.less_equal, ">": np.greater, "≥": np.greater_equal}
    for row, answer in zip(X, answers, strict=True):
        node = 0
        while children[node]:
            value = row[names.index(texts[node].split("\n")[0])]
            ways = [
                child for way, child in children[node] if tests[way[0]](value, float(way[1:].strip().replace("−", "-")))
            ]
            assert len(ways) == 1
            (node,) = ways
        assert texts[node].split("\n")[0] == answer


@pytest.mark.parametrize("format", ["dot", "latex"])
def test_every_leaf_is_drawn(format):
    case = support.mixed("hhcart_a", Policy("keep", "crimcoord"), missing="learn", max_depth=4, awkward=False)
    source = str(export(case.model, format))
    n_nodes = case.procedure.tree.n_nodes
    if format == "dot":
        texts, children = graph(source)
        assert len(texts) == n_nodes and sum(map(len, children.values())) == n_nodes - 1
    else:
        assert source.count(r"\node[") == n_nodes and source.count(r"\draw[") == n_nodes - 1


def test_latex_has_no_letter_of_a_name_as_a_command():
    source = str(export(support.awkward().model, "latex"))
    body = source[source.index(r"\begin{document}") :]
    known = r"\\(begin|end|node|draw|definecolor|textbackslash|textasciitilde|textasciicircum|textless|textgreater|"
    known += (
        r"textbar|textquotedbl|textasciigrave|textquotesingle|ensuremath|le|ge|dots|sffamily|scriptsize)(?![a-zA-Z])"
    )
    plain = re.sub(known, "", re.sub(r"\\[{}$&#_%\\]", "", body))
    assert "\\" not in plain and plain.count("{") == plain.count("}")
    assert not set("$&#_%^~\n\n") & set(re.sub(r"\s", "", plain)) - set("~")
    assert body.isprintable() or all(char.isprintable() or char == "\n" for char in body)


def test_drawings_are_of_single_trees():
    with pytest.raises(ConfigError, match=r"^format latex does not take forests; these do: c, javascript, json"):
        export(support.iris("raf", n_estimators=2).model, "latex")
