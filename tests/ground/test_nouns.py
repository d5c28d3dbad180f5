"""Experiments as plain data and back."""

from dataclasses import replace

import pytest

from oblique_cli import config
from oblique_cli.config import composing
from oblique_cli.ground.nouns import Experiment


@pytest.mark.parametrize("name", composing.bundled())
def test_an_experiment_comes_back_from_its_content(name):
    experiment = config.load(name)
    assert experiment.title and experiment.name == name.rpartition("/")[2]
    content = {**experiment.content(), "data": {"bupa": "digest"}}
    presentation = {"title": "T", "published": ["a:1"], "metrics": list(experiment.metrics)}
    assert Experiment.from_content(name, content, presentation) == replace(
        experiment, name=name, title="T", published=("a:1",)
    )


def test_a_csv_comes_back_from_its_content_with_its_policies_but_not_its_place(tmp_path):
    (tmp_path / "my.csv").write_text("a,class")
    spec = {"csv": str(tmp_path / "my.csv"), "target": "class", "missing": "drop", "qualitative": ["a", "b"]}
    experiment = config.from_mapping({"version": 1, "dataset": spec, "algorithm": "gdt"}, "own")
    (dataset,) = experiment.datasets
    again = Experiment.from_content("own", experiment.content(), {})
    assert again == replace(experiment, datasets=(replace(dataset, csv=None),))
