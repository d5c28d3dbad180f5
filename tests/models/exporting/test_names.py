"""Names that end strings, comments or documents, or that are words of a language: every format survives them."""

import export_support as support
import pytest
from export_support import AWKWARD

from oblique_cli.models.exporting import export
from oblique_cli.models.exporting._text import identifiers, quoted

LEAVES = {"leaf_models": "logistic", "leaf_penalty": 1.0, "max_depth": 2}


@pytest.mark.parametrize("format", support.SAY)
@pytest.mark.parametrize("leaves", [{}, LEAVES], ids=["planes", "leaf models"])
def test_awkward_names_change_nothing(format, leaves, tmp_path):
    # For SQLite names that differ in case are the same.
    names = [name for name in AWKWARD if name != "größe (CM)" or (format != "sql" and not leaves)]
    case = support.awkward((*names, *(("NEEDED", "CLASSES", "exp") if leaves else ())), **leaves)
    X = support.rows(case, n=300, gaps=0.005)
    answers, _ = support.expected(case, X)
    assert support.SAY[format](export(case.model, format), case, X, tmp_path)[0] == answers


@pytest.mark.long
@pytest.mark.parametrize("format", ["pmml", "rules"])
def test_awkward_names_are_escaped_in_documents(format, tmp_path):
    case = support.awkward()
    X = support.rows(case, n=300, gaps=0.005)
    answers, _ = support.expected(case, X)
    source = str(export(case.model, format, **({"precision": 17} if format == "rules" else {})))
    if format == "rules":
        labels, close = support.say_rules(source, case, X)
        assert all(a == b for a, b, near in zip(labels, answers, close, strict=True) if not near)
    elif support.why_no_pmml_reader():
        pytest.skip(support.why_no_pmml_reader())
    else:
        ((labels, _),) = support.say_pmml([(source, case, X)], tmp_path)
        assert labels == answers


def test_identifiers_differ_and_are_words():
    words = identifiers(AWKWARD, {"int", "class", "lambda", "select"})
    assert len(set(words)) == len(AWKWARD) and all(word.isidentifier() and word.isascii() for word in words)
    assert words[8] == "under_score" and words[9] == "under_score_2" and "Grosse_cm" in words
    assert identifiers(["a b", "a-b", "1st", "", "漢"]) == ["a_b", "a_b_2", "x_1st", "x4", "x5"]


def test_quoted_names_stay_on_their_line():
    for name in (*AWKWARD, "\r\v\f\x1c\u2028\x85\x00"):
        assert len(quoted(name).splitlines()) == 1 and quoted(name).isprintable()
