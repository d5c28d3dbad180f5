"""A figure is one function in one module, and its caption."""

import pytest

FIGURE = """
from oblique_cli import data
from oblique_cli.drawing.canvas import blank
from oblique_cli.drawing import partition
from oblique_cli.drawing.polygons import surroundings
from oblique_cli.papers.reproduction.figures.illustrations import FigureSetting, Picture, illustration


@illustration
def clouds(setting: FigureSetting) -> Picture:
    dataset = data.load("five_clouds", setting.data_dir, setting.offline)
    figure, axes = blank(1, 1)
    partition.frame(axes[0], surroundings(dataset.X), "five clouds")
    partition.points(axes[0], dataset.X, dataset.y, size=4.0)
    return Picture(figure, f"{dataset.n} points.")
"""
CAPTION = """clouds:
  title: Five clouds
  remakes: none
  claim: there are five of them."""


@pytest.mark.long
def test_a_figure_is_one_module_and_a_caption(checkout):
    checkout.write("oblique_cli/papers/reproduction/figures/clouds.py", FIGURE)
    ended = checkout.oblique("figures", "--list")
    assert ended.code == 2 and "figures/clouds.py: figure 'clouds' has no title" in ended.err
    checkout.insert("oblique_cli/papers/reproduction/figures/captions.yaml", "", CAPTION)
    ended = checkout.oblique("figures", "clouds", "--output", ".")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("clouds.svg: ") and ended.out.endswith(" points.\n")
    assert (checkout.folder / "clouds.svg").read_text(encoding="utf-8").startswith("<?xml")
