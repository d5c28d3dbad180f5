"""A format of export is one function in one module, and an ending that stands for it."""

import pytest

FORMAT = '''
"""Nested lists for Scheme."""

from oblique_cli.models.exporting._exporter import CLASSIFICATION, Source, exporter


@exporter("scheme", "nested lists", ".scm", kinds=(CLASSIFICATION,))
def write(source: Source) -> str:
    """Return the tree as one expression in the columns of a row, a vector."""
    tree = source.procedure.tree

    def written(node: int) -> str:
        if tree.left[node] < 0:
            return str(tree.leaf(node).label)
        split = tree.split(node)
        terms = " ".join(f"(* {term.coef!r} (vector-ref row {term.cell}))" for term in split.terms)
        return f"(if (<= (+ {terms}) {split.threshold!r}) {written(tree.left[node])} {written(tree.right[node])})"

    return f"(lambda (row) {written(0)})\\n"
'''


@pytest.mark.long
def test_a_format_of_export_is_one_module_and_an_ending(checkout):
    checkout.write("oblique_cli/models/exporting/scheme.py", FORMAT)
    checkout.insert("oblique_cli/cli/export.py", "SUFFIXES = {", '    ".scm": "scheme",')
    assert checkout.oblique("fit", "iris", "--algorithm", "fdt", "--output", "model.json").code == 0
    ended = checkout.oblique("export", "model.json", "--output", "tree.scm")
    assert (ended.code, ended.err) == (0, "")
    text = (checkout.folder / "tree.scm").read_text()
    assert text.startswith("(lambda (row) (if (<= (+ (* ") and text.count("(") == text.count(")")
    assert checkout.oblique("export", "model.json", "--format", "scheme").out == text
    assert "scheme" in checkout.oblique("export", "--help").out
