"""`oblique fit --path`: trees of all sizes as a table, as JSON and drawn, each to be fitted by what the table says."""

import json
from pathlib import Path

import pytest

PLAIN = str(Path(__file__).parent.parent / "files" / "plain.csv")
ASKED = ("fit", PLAIN, "--target", "variety", "--algorithm", "fdt", "--folds", "2")


@pytest.fixture
def document(call):
    """The JSON document of --path for the plain table."""
    ended = call(*ASKED, "--path", "--format", "json")
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def test_every_tree_of_the_path_can_be_fitted(call, document):
    path = document["path"]
    assert {tree["max_terms"] for tree in path} >= {None, 1, 2}
    for tree in path[:: max(1, len(path) // 6)]:
        settings = {"pruning": "ccp_alpha", "ccp_alpha": tree["alpha"]}
        settings |= {} if tree["max_terms"] is None else {"max_terms": tree["max_terms"]}
        keys = [text for key, value in settings.items() for text in ("--set", f"{key}={value}")]
        ended = call(*ASKED, *keys, "--format", "json")
        assert ended.code == 0, ended.err
        made = json.loads(ended.out)
        assert (made["leaves"], made["n_terms"]) == (tree["leaves"], tree["n_terms"])


def test_the_best_are_those_that_no_tree_of_as_few_terms_matches(document):
    path = document["path"]
    for tree in path:
        smaller = [other for other in path if other["n_terms"] <= tree["n_terms"] and other is not tree]
        if tree["best"]:
            assert all(other["score"] <= tree["score"] for other in smaller)
    assert next(tree for tree in path if tree["chosen"])["leaves"] == document["leaves"]
    assert sum(tree["chosen"] for tree in path) == 1
    assert all(0.0 <= tree["score"] <= 1.0 and tree["error"] >= 0.0 and tree["alpha"] >= 0.0 for tree in path)


def test_the_table_and_the_picture(call, document):
    ended = call(*ASKED, "--path", "--set", "path_figure=path.svg")
    assert ended.code == 0, ended.err
    shown = [tree for tree in document["path"] if tree["best"] or tree["chosen"]]
    lines = ended.out.splitlines()
    first = next(i for i, line in enumerate(lines) if line.split()[1:3] == ["terms", "leaves"])
    rows = [line.split()[1:] for line in lines[first + 1 : first + 1 + len(shown)]]
    assert [int(row[0]) for row in rows] == sorted(tree["n_terms"] for tree in shown)
    assert sum(row[-1] == "fitted" for row in rows) == 1
    text = Path("path.svg").read_text()
    assert "splits of any terms" in text and "at most 2 terms" in text and "terms of the tree" in text


def test_a_limit_that_is_asked_for_is_the_only_one(call):
    ended = call(*ASKED, "--set", "max_terms=2", "--path", "--format", "json")
    assert ended.code == 0, ended.err
    assert {tree["max_terms"] for tree in json.loads(ended.out)["path"]} == {2}
    ended = call("fit", "iris", "--algorithm", "axis_parallel", "--folds", "2", "--path", "--format", "json")
    assert {tree["max_terms"] for tree in json.loads(ended.out)["path"]} == {None}
