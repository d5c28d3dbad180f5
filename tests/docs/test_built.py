"""What the documentation is built with is made from the code and the results, and shows what these say."""

import re
import xml.etree.ElementTree
from functools import cache

import pytest
from document_support import ROOT

from tools import built, index, rooms

SVG = "{http://www.w3.org/2000/svg}"


picture_of_rooms = cache(rooms.picture)


def boxes(panel: xml.etree.ElementTree.Element) -> dict[str, tuple[float, float, float, float]]:
    """Rooms of a picture: name -> left, top, width, height."""
    shapes = panel.findall(f"{SVG}rect")
    names = [text.text for text in panel.findall(f"{SVG}text") if text.get("class") != "title"]
    sides = [[float(shape.get(key)) for key in ("x", "y", "width", "height")] for shape in shapes]
    return dict(zip(names, map(tuple, sides), strict=True))


@pytest.mark.long
def test_everything_is_made_and_the_plain_index_has_every_page_of_the_site_once(tmp_path):
    built.main(str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(built.BUILT)
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    assert [name for name in built.BUILT if f"]({name})" not in pages] == []
    text = (tmp_path / "llms.txt").read_text(encoding="utf-8")
    linked = re.findall(r"^- \[.+?\]\((\S+)\.html\)(?:: .+)?$", text, re.MULTILINE)
    named = re.findall(r"[\w/]+(?=\.(?:md|ipynb))", str(index.navigation()["nav"]))
    assert linked == named and len(linked) == text.count("\n- ") > 60
    assert "[Refined trees](algorithms/tao.html): TAO improves a grown tree as a whole." in text
    assert not re.search(r"\]\((?!\S+\.html\))|<!--|\.\.\.$", text)


def test_all_published_cells_are_in_the_picture_of_the_reproduction():
    picture = built.built("reproduction.svg")
    assert xml.etree.ElementTree.fromstring(picture).tag == f"{SVG}svg" and len(picture) > 100_000


@pytest.mark.parametrize(("panel", "imports"), [(0, rooms.rooms), (1, rooms.core_rooms)], ids=["package", "core"])
def test_every_room_is_drawn_above_those_that_it_imports_from(panel, imports):
    arrows = imports()
    picture = xml.etree.ElementTree.fromstring(picture_of_rooms())
    place = boxes(picture.findall(f"{SVG}g")[panel])
    assert place.keys() == arrows.keys()
    assert all(place[name][1] < place[there][1] for name in arrows for there in arrows[name])
    for name, (x, y, width, _) in place.items():
        beside = [other for other in place if other != name and place[other][1] == y]
        assert all(x + width < place[other][0] or place[other][0] + place[other][2] < x for other in beside)


def test_the_picture_is_told_in_words_and_always_the_same():
    picture = picture_of_rooms()
    text = re.search(r"<desc>(.*)</desc>", picture, re.DOTALL)[1]
    assert [name for name in rooms.rooms() if name not in text] == []
    assert rooms.picture() == picture


def test_lines_that_others_imply_are_left_out():
    arrows = {"a": {"b", "c"}, "b": {"c"}, "c": set(), "d": {"c"}}
    assert rooms.needed(arrows) == {"a": {"b"}, "b": {"c"}, "c": set(), "d": {"c"}}
    assert rooms.floors(arrows) == {"a": 2, "b": 1, "c": 0, "d": 1}
    assert rooms.description(arrows) == "Floor 2: a on b. Floor 1: b on c; d on c. Floor 0: c."


def test_lines_cross_no_more_often_than_they_must():
    arrows = {"a": {"y"}, "b": {"x"}, "x": set(), "y": set()}
    lines = rooms.drawn(arrows, "title")[0]
    assert sum("<path" in line for line in lines) == 2
    ends = [re.findall(r"-?\d+\.\d", line) for line in lines if "<path" in line]
    (a, y), (b, x) = ((float(end[0]), float(end[-2])) for end in ends)
    assert (a < b) == (y < x)
