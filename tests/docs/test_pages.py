"""What the pages say is so: their code runs, their links lead somewhere, their tables and lists are complete."""

import re
from collections.abc import Callable

import pytest
from document_support import PAGES, ROOT, Reader, blocks_of, without_blocks

from oblique_cli.cli import COMMANDS
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.ground.resources import PACKAGE
from oblique_cli.papers.reproduction.framework import document
from oblique_cli.papers.reproduction.framework.studies import STUDIES
from oblique_cli.papers.reproduction.reproduce_command import SCRIPTS
from tools.built import BUILT

# The README has a test of its own, because it sets up a machine.
# Looked up, not read: an entry for each version, and for each data set.
LISTS = ("CHANGELOG.md", "datasets/SOURCES.md")
WITH_CODE = [page for page in PAGES if page != "README.md" and blocks_of(page)]


def of_every_page(check: Callable[[str], None]) -> Callable[[], None]:
    """One test of all pages; what fails names its page."""

    def test() -> None:
        for page in PAGES:
            try:
                check(page)
            except AssertionError as error:
                raise AssertionError(f"{page}: {error}") from error

    return test


@pytest.mark.long
@pytest.mark.parametrize("page", WITH_CODE)
def test_the_code_of_a_page_runs(page, call):
    reader = Reader(call.folder, call)
    for block in blocks_of(page):
        reader.type(block)


@of_every_page
def test_a_block_that_is_not_run_says_why(page):
    reasons = [block.value for block in blocks_of(page) if block.kind == "not run"]
    assert all(len(reason.split()) > 2 for reason in reasons)


@of_every_page
def test_every_comment_is_one_that_is_understood(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    comments = re.findall(r"^ *<!-- (not run|file|output)\b.*-->\n", text, re.MULTILINE)
    assert len(comments) == sum(bool(block.kind) for block in blocks_of(page))


@of_every_page
def test_commands_are_in_fences(page):
    indented = re.findall(r"(?<=\n\n) {4}(?:oblique|python|make|pip) .*", without_blocks(page))
    assert indented == []


@of_every_page
def test_a_page_can_be_read_at_one_sitting(page):
    words = re.findall(r"\S*\w\S*", (ROOT / page).read_text(encoding="utf-8"))
    assert page in LISTS or len(words) < 2000


@of_every_page
def test_a_picture_is_told_in_words(page):
    output = [" ".join(text.split()) for text in re.findall(r"!\[([^]]*)\]\(", without_blocks(page))]
    assert [text for text in output if len(text.split()) < 4] == []
    assert "<img" not in without_blocks(page)


@of_every_page
def test_links_lead_somewhere(page):
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", without_blocks(page))]
    local = [(ROOT / page).parent / link for link in links if link and "://" not in link]
    made = [ROOT / "docs" / name for name in BUILT]
    assert [path for path in local if not path.exists() and path not in made] == []


@of_every_page
def test_files_that_are_named_are_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    roots = "oblique_cli|tests|docs|configs|datasets|benchmarks|tools"
    named = re.findall(rf"`((?:{roots})/[\w./-]+?\.\w+)`", text)
    assert [name for name in named if not (ROOT / name).exists() and "NAME" not in name] == []


@pytest.mark.parametrize("page", ["architecture.md", "core.md"])
def test_files_of_the_architecture_are_there(page):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = re.findall(r"`(\w+/[\w/]+\.(?:py|hpp|cpp|yaml))`", text)
    folders = (ROOT, PACKAGE, PACKAGE / "core")
    assert len(named) > 10 and [name for name in named if not any((f / name).is_file() for f in folders)] == []


@pytest.mark.parametrize(
    ("pages", "index"), [("*.md", "README.md"), ("algorithms/*.md", "choosing.md"), ("api/*.md", "api/README.md")]
)
def test_every_page_is_reached_from_an_index(pages, index):
    here = ROOT / "docs" / index
    links = re.findall(r"\]\(([^)#\s]+)", here.read_text(encoding="utf-8"))
    linked = {(here.parent / link).resolve() for link in links} | {here}
    assert [page for page in sorted((ROOT / "docs").glob(pages)) if page not in linked] == []


def test_the_overview_has_the_class_of_each_algorithm():
    page = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
    for line in re.findall(r"^\| `.*$", page, re.M):
        names, classes = (set(re.findall(r"`(\w+)`", line.split(" | ")[i])) for i in (0, 2))
        assert {ALGORITHMS[name].estimator.__name__ for name in names} == classes


def test_every_algorithm_and_every_command_has_its_line():
    algorithms = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
    experiments = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    assert [name for name in ALGORITHMS if f"`{name}`" not in algorithms] == []
    assert [name for name in COMMANDS if f"`oblique {name}" not in experiments] == []


def test_files_of_the_table_of_algorithms_are_there():
    text = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
    files = [match[1] for match in re.finditer(r"\| `([\w/.]+)` \|$", text, re.MULTILINE)]
    assert len(files) > 25 and [file for file in files if not (PACKAGE / file).exists()] == []


def test_every_study_is_in_the_list_of_reproductions():
    text = (ROOT / "docs" / "reproduction.md").read_text()
    assert [name for name in STUDIES if f"| `make reproduce-{name}` |" not in text] == []
    scripts = [path.stem for path in (ROOT / "studies").glob("*.py") if "\n    script(" in path.read_text("utf-8")]
    assert sorted(scripts) == sorted(name for name, command in SCRIPTS.items() if "studies." in command)
    assert [name for name in scripts if f"| `python -m studies.{name}` |" not in text] == []


@pytest.mark.parametrize("name", document.DOCUMENTS)
def test_tables_of_reproductions_are_those_of_the_results(name):
    text = (ROOT / name).read_text()
    assert document.filled(text, document.blocks(ROOT / "results")) == text, "run: oblique reproduce report"
    assert document.BLOCK.search(text)


def test_every_block_is_in_a_document():
    texts = "".join((ROOT / name).read_text() for name in document.DOCUMENTS)
    made = document.blocks(ROOT / "results")
    assert [name for name in made if f"<!-- begin {name} -->" not in texts] == []


def test_pictures_of_explaining_are_those_that_the_page_shows_and_small():
    page = (ROOT / "docs" / "explaining.md").read_text(encoding="utf-8")
    pictures = {path.name: path.stat().st_size for path in (ROOT / "docs" / "images").iterdir()}
    assert set(re.findall(r"\(images/([\w.]+)\)", page)) == set(pictures)
    assert max(pictures.values()) < 200_000
