"""Parameters of a tree in groups: objects and mappings as values of growth, pruning, leaves and refine."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest
from contracts import real_set
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import oblique_cli
from oblique_cli import (
    Growth,
    HHCARTClassifier,
    HHGDTClassifier,
    Leaves,
    ObliqueTreeClassifier,
    RefinedTreeClassifier,
    Refinement,
    config,
)
from oblique_cli.config.json_schema import schema
from oblique_cli.errors import ConfigError
from oblique_cli.tree.pruning import PRUNINGS

IRIS = real_set("iris").X, real_set("iris").y
FLAT = {"max_depth": 3, "probabilities": "laplace", "pruning": "cv", "pruning_folds": 4}
GROUPED = [
    {
        "growth": Growth(max_depth=3),
        "leaves": Leaves(probabilities="laplace"),
        "pruning": PRUNINGS["cv"](pruning_folds=4),
    },
    {
        "growth": {"max_depth": 3},
        "leaves": {"probabilities": "laplace"},
        "pruning": {"name": "cv", "pruning_folds": 4},
    },
]


@pytest.mark.parametrize("grouped", GROUPED, ids=["objects", "mappings"])
def test_a_tree_of_groups_is_that_of_the_flat_names(grouped, tmp_path):
    flat = ObliqueTreeClassifier("hhgdt", random_state=0, **FLAT).fit(*IRIS)
    model = clone(ObliqueTreeClassifier("hhgdt", random_state=0, **grouped))
    assert model.fit(*IRIS) is model and vars(model).keys() == vars(flat).keys()
    assert model.growth is not None and model.max_depth is None  # parameters stay as they were given
    np.testing.assert_array_equal(model.predict_proba(IRIS[0]), flat.predict_proba(IRIS[0]))
    oblique_cli.save(model, tmp_path / "model.oblique")
    kept = oblique_cli.load(tmp_path / "model.oblique")
    np.testing.assert_array_equal(kept.predict(IRIS[0]), np.asarray(flat.predict(IRIS[0])))
    model.set_params(growth=None, leaves=None, pruning="none").fit(*IRIS)
    assert not hasattr(model, "probability_strength_")


def test_parameters_of_groups_are_reached_through_their_names():
    plain = HHCARTClassifier(pruning="cv").set_params(growth__max_depth=2, pruning__pruning_folds=3)
    assert plain.get_params(deep=False) == HHCARTClassifier(pruning="cv", max_depth=2, pruning_folds=3).get_params(
        deep=False
    )
    assert plain.get_params()["growth__max_depth"] == 2 and plain.get_params()["pruning__pruning_folds"] == 3
    mapping = HHCARTClassifier(growth={"min_parent": 5}).set_params(growth__max_depth=2)
    assert mapping.growth == {"min_parent": 5, "max_depth": 2} and mapping.get_params()["growth__min_parent"] == 5
    whole = HHCARTClassifier(growth=Growth(min_parent=5)).set_params(growth__max_depth=2)
    assert repr(whole.growth) == "Growth(max_depth=2, min_parent=5)" and whole.max_depth is None
    refined = HHCARTClassifier(refine="tao").set_params(refine__penalty=0.1)
    assert repr(refined.refine) == "Refinement(penalty=0.1)"
    limited = HHGDTClassifier().set_params(growth__max_misrate=0.2)
    assert limited.epsilon == 0.2 and HHGDTClassifier(growth={"max_misrate": 0.2}).ungrouped().epsilon == 0.2


def test_grid_search_goes_over_groups():
    grid = {"growth__max_depth": [1, 3], "pruning__ccp_alpha": [0.0, 0.4]}
    search = GridSearchCV(HHCARTClassifier(pruning="ccp_alpha"), grid, cv=2, error_score="raise").fit(*IRIS)
    assert search.best_params_ == {"growth__max_depth": 3, "pruning__ccp_alpha": 0.0}


@pytest.mark.parametrize(
    "how", [Refinement(penalty=0.02, surrogate="squared_hinge"), {"penalty": 0.02, "surrogate": "squared_hinge"}]
)
def test_refinement_says_how(how):
    model = ObliqueTreeClassifier("hhgdt", refine=how, random_state=0).fit(*IRIS)
    assert model.refinement_.penalties.tolist() == [0.02]
    assert set(Refinement.parameters) <= set(RefinedTreeClassifier.parameters)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"growth": {"max_dept": 1}},
            "growth of {} has no parameter 'max_dept'. Did you mean 'max_depth' or 'max_terms'?",
        ),
        ({"growth": 3}, "growth of {} must be a Growth, a mapping of its parameters, or None. Got 3."),
        ({"growth": Growth(max_depth=2), "max_depth": 3}, "max_depth of {} is 3, and 2 in growth; give it once."),
        ({"growth": {"max_depth": -1}}, "max_depth of {} must be a whole number, at least 0, or none. Got -1."),
        ({"pruning": {"name": "cv", "tau": 1}}, "pruning 'cv' of {} has no parameter 'tau'."),
        (
            {"pruning": {"pruning_folds": 3}},
            "pruning of {} needs a name, as in {{'name': 'cv'}}. Got {{'pruning_folds': 3}}.",
        ),
        ({"refine": {"penality": 1}}, "refine of {} has no parameter 'penality'. Did you mean"),
        ({"refine": {"penalty": -1}}, "penalty of Refinement must be a number in [0, inf), or none. Got -1."),
    ],
)
def test_a_group_that_is_wrong_is_refused_in_one_sentence(given, sentence):
    with pytest.raises(ConfigError) as caught:
        ObliqueTreeClassifier(**given).fit(*IRIS)
    assert str(caught.value).startswith(sentence.format("ObliqueTreeClassifier"))


CONFIG = "version: 1\ndataset: iris\nalgorithm: {{name: hhgdt, {}}}\ncv: {{scheme: nested, folds: 2}}\n"


def test_a_configuration_takes_the_groups_as_mappings(tmp_path):
    text = "growth: {max_depth: 2, max_misrate: {grid: [0.1, 0.2]}, min_leaf: 3}, pruning: {name: cv, pruning_folds: 4}"
    (tmp_path / "grouped.yaml").write_text(CONFIG.format(text))
    (tmp_path / "flat.yaml").write_text(
        CONFIG.format("max_depth: 2, epsilon: {grid: [0.1, 0.2]}, min_leaf: 3, pruning: cv, pruning_folds: 4")
    )
    specs = [config.load(tmp_path / f"{name}.yaml").algorithms for name in ("grouped", "flat")]
    assert specs[0] == specs[1]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "growth: {max_dept: 2}",
            "unknown key 'max_dept' in growth of hhgdt. Did you mean 'max_depth' or 'max_terms'?",
        ),
        ("growth: 2", "growth of hhgdt must be a mapping of its parameters."),
        ("growth: {max_depth: 2}, max_depth: 3", "max_depth of hhgdt is given in growth as well; give it once."),
        ("pruning: {pruning_folds: 4}", "pruning of hhgdt needs a name, as in {name: cv}."),
    ],
)
def test_a_group_of_a_configuration_that_is_wrong_is_told_with_its_place(tmp_path, text, sentence):
    (tmp_path / "bad.yaml").write_text(CONFIG.format(text))
    with pytest.raises(ConfigError) as caught:
        config.load(tmp_path / "bad.yaml")
    assert sentence in str(caught.value) and "bad.yaml:3:" in str(caught.value)


def test_the_schema_has_the_groups():
    known = json.loads(json.dumps(schema()))
    algorithm = {"name": "hhgdt", "growth": {"max_depth": 2}, "pruning": {"name": "cv", "pruning_folds": 4}}
    jsonschema.validate({"version": 1, "dataset": "iris", "algorithm": algorithm, "cv": {"folds": 2}}, known)
    with pytest.raises(jsonschema.ValidationError):
        wrong = {**algorithm, "growth": {"max_dept": 2}}
        jsonschema.validate({"version": 1, "dataset": "iris", "algorithm": wrong, "cv": {"folds": 2}}, known)
