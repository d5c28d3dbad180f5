"""Every algorithm has its page, and what a page takes from the code, the results and the trees is as they are."""

import re
import xml.etree.ElementTree

import pytest
from document_support import ROOT

from oblique_cli.estimators.algorithms import ALGORITHMS
from tools import algorithm_pages, algorithm_pictures
from tools.algorithm_pages import FOLDER, PAGES, SHARED_PAGE, TAXONOMIES

# Pages whose algorithms take seconds with the parameters of their pictures.
DEAR = {"hhcart_regression", "sadt"}
SILENT = "Where the paper is silent"
SECTIONS = ["Method", "Example", "Parameters", "Cost", "Use and limits", SILENT, "Published numbers"]
MOST_WORDS = 500  # of a page without its generated blocks


def text_of(page: str) -> str:
    return (FOLDER / f"{page}.md").read_text(encoding="utf-8")


def test_every_algorithm_is_on_one_page():
    assert sorted(name for names in PAGES.values() for name in names) == sorted(ALGORITHMS)
    assert sorted(path.stem for path in FOLDER.glob("*.md")) == sorted([SHARED_PAGE, TAXONOMIES, *PAGES])


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_is_found_on_its_page_and_in_the_overview(name):
    page = next(page for page, names in PAGES.items() if name in names)
    assert f'<a id="{name}"></a>`{name}`' in text_of(page)
    overview = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
    lines = re.findall(rf"^\| `.*`?{name}`.*$", overview, re.MULTILINE)
    assert [line for line in lines if f"](algorithms/{page}.md#" in line]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_parameter_is_described(name):
    algorithm = ALGORITHMS[name]
    missing = [key for key in algorithm.parameters if len(algorithm_pages.meaning(algorithm, key)) < 8]
    assert missing == []


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_parameter_is_in_a_table(name):
    page = next(page for page, names in PAGES.items() if name in names)
    tables = text_of(page) + (text_of(SHARED_PAGE) if f"({SHARED_PAGE}.md#parameters)" in text_of(page) else "")
    assert [key for key in ALGORITHMS[name].parameters if f"| `{key}`" not in tables] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_its_sections_and_its_picture(page):
    text = text_of(page)
    sections = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert sections == [name for name in SECTIONS if name != SILENT or name in sections]
    assert re.search(rf"!\[[^\]]{{20,}}\]\({page}\.svg\)", text)
    method, example = (text.partition(f"## {name}")[2].partition("\n## ")[0] for name in ("Method", "Example"))
    assert re.search(r"\b(19|20)\d\d\b", method) and len(method.split()) > 50
    assert "```sh" in example or "```python" in example


@pytest.mark.parametrize("page", [SHARED_PAGE, TAXONOMIES, *PAGES])
def test_a_page_has_at_most_500_words_of_its_own(page):
    written = re.sub(r"<!-- begin ([\w-]+) -->.*?<!-- end \1 -->", "", text_of(page), flags=re.DOTALL)
    assert len(written.split()) <= MOST_WORDS


@pytest.mark.parametrize("page", [SHARED_PAGE, *PAGES])
def test_tables_are_those_of_the_code_and_the_results(page):
    assert algorithm_pages.text_of(page) == text_of(page), "run: python -m tools.algorithm_pages --text"


@pytest.mark.sample(7)
@pytest.mark.parametrize("page", [pytest.param(page, marks=pytest.mark.long if page in DEAR else ()) for page in PAGES])
def test_a_picture_shows_what_the_algorithms_make_now(page):
    svg = (FOLDER / f"{page}.svg").read_bytes()
    assert xml.etree.ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert len(svg) < 120_000
    drawn = re.sub(r"\s+", " ", " ".join(re.findall(r">([^<>]+)</text>", svg.decode())))
    titles = [panel.title for row in algorithm_pictures.panels(page) for panel in row]
    assert [title for title in titles if title not in drawn] == [], "run: python -m tools.algorithm_pages"


@pytest.mark.long
def test_a_picture_is_the_same_whenever_it_is_drawn():
    assert algorithm_pictures.picture("hhgdt") == algorithm_pictures.picture("hhgdt")
