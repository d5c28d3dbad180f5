"""Notebooks are stored without outputs, stand in the site, and their cells run in order."""

import contextlib
import io
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def cells(path: Path) -> list[str]:
    """The code of a notebook, cell by cell."""
    document = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(item["source"]) for item in document if item["cell_type"] == "code"]


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["comparing_classifiers", "quick_start", "tree_to_sql"]


def test_the_site_runs_them_whenever_it_is_built():
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "execute: true" in settings and "cache: false" in settings and "allow_errors: false" in settings


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs_and_stands_in_the_site_and_among_the_pictures(path):
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert (stored["nbformat"], stored["metadata"]["kernelspec"]["name"]) == (4, "python3")
    for cell in stored["cells"]:
        assert cell["cell_type"] == "markdown" or (cell["outputs"], cell["execution_count"]) == ([], None)
    assert f"notebooks/{path.name}" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert f"notebooks/{path.name}" in (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_of_a_notebook_run_in_order(path):
    names: dict[str, object] = {"__name__": "__main__"}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        for code in cells(path):
            exec(compile(code, path.name, "exec"), names)
    assert "% right" in out.getvalue() or "150 of 150 rows have the prediction of the estimator" in out.getvalue()
