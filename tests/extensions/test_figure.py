"""A figure is one function in one module."""

import pytest

FIGURE = """
from oblique_cli import data
from oblique_cli.drawing.canvas import blank
from oblique_cli.drawing import partition
from oblique_cli.drawing.polygons import surroundings
from oblique_cli.papers.reproduction.figures.illustrations import FigureSetting, Picture, illustration


@illustration("Five clouds", "none", "there are five of them.", seed=1)
def clouds(setting: FigureSetting) -> Picture:
    dataset = data.load("five_clouds", setting.data_dir, setting.offline)
    figure, axes = blank(1, 1)
    partition.frame(axes[0], surroundings(dataset.X), "five clouds")
    partition.points(axes[0], dataset.X, dataset.y, size=4.0)
    return Picture(figure, f"{dataset.n} points.")
"""


@pytest.mark.long
def test_a_figure_is_one_module(checkout):
    checkout.write("oblique_cli/papers/reproduction/figures/clouds.py", FIGURE)
    ended = checkout.oblique("figures", "clouds", "--output", ".")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("clouds.svg: ") and ended.out.endswith(" points.\n")
    assert (checkout.folder / "clouds.svg").read_text(encoding="utf-8").startswith("<?xml")
