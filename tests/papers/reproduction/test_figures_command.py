"""`oblique figures`, and trees as pictures."""

import xml.etree.ElementTree

import pytest

from oblique_cli.ground.resources import PACKAGE
from oblique_cli.papers.reproduction.figures.illustrations import FIGURES


def test_named_figures_are_files_and_the_page_is_left_alone(call):
    ended = call("figures", "tree", "two_class", "--output", "pictures")
    assert (ended.code, ended.err) == (0, "")
    assert sorted(path.name for path in (call.folder / "pictures").iterdir()) == ["tree.svg", "two_class.svg"]
    assert "pictures/tree.svg: leaves at depths 2, 2, 2, 3, 4, 4.\n" in ended.out
    root = xml.etree.ElementTree.parse(call.folder / "pictures" / "tree.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_the_list_names_every_figure_and_draws_nothing(call):
    ended = call("figures", "--list")
    names = [line.split()[0] for line in ended.out.splitlines()]
    assert ended.code == 0 and names == list(FIGURES)
    assert sorted(names) == sorted(path.stem for path in (PACKAGE.parent / "docs" / "figures").glob("*.svg"))
    assert not (call.folder / "docs").exists()


def test_an_unknown_figure_is_refused_before_anything_is_drawn(call):
    ended = call("figures", "two_class", "two_clas", "--output", "pictures")
    assert ended.code == 2 and "unknown figure 'two_clas'. Did you mean 'two_class'" in ended.err
    assert not (call.folder / "pictures").exists()


def test_an_output_that_is_a_file_is_refused(call):
    (call.folder / "taken").write_text("")
    ended = call("figures", "tree", "--output", "taken")
    assert (
        ended.code == 4 and ended.err == "error: taken: cannot be written (File exists); --output must be a folder.\n"
    )


@pytest.mark.parametrize(("name", "has_partition"), [("five_clouds", True), ("iris", False)])
def test_a_tree_is_drawn_with_its_partition_if_there_are_two_features(call, name, has_partition):
    ended = call("tree", name, "--format", "svg", "--output", "tree.svg")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    text = (call.folder / "tree.svg").read_text()
    assert ('class="frame"' in text) == has_partition and f"HHCART(A) on {name}" in text


def test_a_csv_of_ones_own_is_drawn(call):
    rows = [f"{i},{i % 3},{'no' if i < 5 else 'yes'}\n" for i in range(10)]
    (call.folder / "my.csv").write_text("".join(["length,width,kind\n", *rows]))
    ended = call("tree", "--csv", "my.csv", "--target", "kind", "--format", "png", "--output", "my.png")
    assert ended.code == 0 and (call.folder / "my.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_needs_a_file(call):
    ended = call("tree", "iris", "--format", "png")
    assert ended.code == 2 and "--format png needs --output, the file to draw to" in ended.err
