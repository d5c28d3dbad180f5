"""The site has every page once, and its links are those of the repository."""

import re

import pytest
import yaml
from document_support import PAGES, ROOT

import oblique_cli
from tools import docstrings, site
from tools.built import BUILT

# Tags that Python objects are made by are no concern of this test.
LOADER = type("LOADER", (yaml.SafeLoader,), {})
LOADER.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: None)
CONFIG = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader=LOADER)


def pages_of(nav) -> list[str]:
    if isinstance(nav, list):
        return [page for entry in nav for page in pages_of(entry)]
    return pages_of([*nav.values()]) if isinstance(nav, dict) else [nav]


def test_the_navigation_has_every_page_once():
    pages = [page for page in PAGES if page != "README.md"]
    there = [site.OUTSIDE.get(page, page.removeprefix("docs/")) for page in pages]
    there += [f"notebooks/{path.name}" for path in (ROOT / "docs" / "notebooks").glob("*.ipynb")]
    named = pages_of(CONFIG["nav"])
    assert sorted(named) == sorted([*there, *(name for name in BUILT if name.endswith(".md"))])


@pytest.mark.parametrize(
    ("link", "file", "page", "made"),
    [
        ("[r](../README.md)", "docs/README.md", "README.md", "[r](README.md)"),
        ("[c](../CONTRIBUTING.md)", "docs/choosing.md", "choosing.md", "[c](contributing.md)"),
        ("[a](docs/choosing.md#x)", "CONTRIBUTING.md", "contributing.md", "[a](choosing.md#x)"),
        ("[b](../../benchmarks/README.md)", "docs/figures/README.md", "figures/README.md", "[b](../benchmarks.md)"),
        ("[f](ensembles.md)", "docs/choosing.md", "choosing.md", "[f](ensembles.md)"),
        ("![p](hhcart.svg)", "docs/algorithms/hhcart.md", "algorithms/hhcart.md", "![p](hhcart.svg)"),
        ("[l](../LICENSE)", "docs/README.md", "README.md", "l"),
        ("[h](#cost)", "docs/README.md", "README.md", "[h](#cost)"),
        ("[w](https://example.org/a)", "docs/README.md", "README.md", "[w](https://example.org/a)"),
        ("[n](nowhere.md)", "docs/README.md", "README.md", "[n](nowhere.md)"),
        ("(90)[5.80],[80][10.9]", "docs/reproduction.md", "reproduction.md", r"(90)[5.80],[80]\[10.9]"),
        ("```sh\n[l](../LICENSE)\n```", "docs/README.md", "README.md", "```sh\n[l](../LICENSE)\n```"),
    ],
)
def test_links_lead_to_pages_of_the_site(link, file, page, made):
    assert site.relinked(link, file, page) == made


def test_parameters_of_functions_become_a_list():
    doc = "Do it.\n\nX   (n, p) numbers,\n    finite\ny : (n,) labels\nreturns more\nIt ends."
    made = "Do it.\n\n\n- `X`: (n, p) numbers,\n    finite\n- `y`: (n,) labels\n\nreturns more\nIt ends."
    assert docstrings.listed(doc) == made
    numpydoc = "Do it.\n\nParameters\n----------\nX : rows\n"
    assert docstrings.listed(numpydoc) == numpydoc


def test_a_default_is_not_the_first_of_the_choices():
    doc = 'Do it.\n\nParameters\n----------\nrule : {"a", "b"} or None, default "b"\n    Which {one}.\n'
    assert docstrings.listed(doc) == doc.replace('{"a", "b"}', 'one of "a", "b"')


def test_the_api_has_every_public_name():
    texts = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "api").glob("*.md"))
    shown = re.findall(r"^::: oblique_cli\.(\w+)$", texts, re.MULTILINE)
    missing = set(oblique_cli.__all__) - set(shown) - {"ALGORITHMS"}  # a mapping, which the page of the table explains
    assert missing == set(), "put a line ::: oblique_cli.NAME for each into a page of docs/api/"
    assert "`ALGORITHMS`" in texts
    assert len(shown) == len(set(shown))


def test_nothing_is_fetched_by_a_page():
    theme = CONFIG["theme"]
    assert theme["font"] is False
    assert not {"offline", "social"} & {
        name if isinstance(name, str) else next(iter(name)) for name in CONFIG["plugins"]
    }
    assert "extra_javascript" not in CONFIG and "extra_css" not in CONFIG
