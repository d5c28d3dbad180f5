"""Groups of parameters are flat now: each former way answers with the flat one, and files that hold groups load."""

import json
import sys

import numpy as np
import pytest
from contracts import real_set

import oblique_cli
from oblique_cli import HHCARTClassifier, HHGDTClassifier, config, make
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground.later import FORMER
from oblique_cli.models.codecs import Arrays, Scope
from oblique_cli.models.file_format import digest
from oblique_cli.models.parameter_values import parameters_of, plain_parameters

IRIS = real_set("iris").X, real_set("iris").y
CONFIG = "version: 1\ndataset: iris\nalgorithm: {{name: hhgdt, {}}}\ncv: {{scheme: nested, folds: 2}}\n"


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("Growth", r"HHCARTClassifier\(max_depth=3\)"),
        ("Leaves", r"HHCARTClassifier\(max_depth=3\)"),
        ("Refinement", "TAOClassifier"),
        ("TAORegressor", r"make\('tao_regression', "),
        ("MPRRoFTClassifier", r"make\('mprrof_t', "),
    ],
)
def test_a_removed_class_names_the_flat_way(name, way):
    with pytest.raises(ImportError, match=way):
        getattr(oblique_cli, name)
    assert name not in dir(oblique_cli)


@pytest.mark.parametrize("former", FORMER)
def test_a_former_class_name_works_with_a_warning_and_loads(former, tmp_path):
    with pytest.warns(FutureWarning, match=rf"{former} is now oblique_cli\.{FORMER[former]}; "):
        cls = getattr(oblique_cli, former)
    assert cls is getattr(oblique_cli, FORMER[former]) and former not in dir(oblique_cli)
    assert getattr(sys.modules[cls.__module__], former) is cls  # as pickle finds it
    X, y = IRIS
    model = cls().fit(X, X[:, 0] if cls.__name__.endswith("Regressor") else y)
    path = tmp_path / "model.json"
    oblique_cli.save(model, path)
    document = json.loads(path.read_text())
    assert document["estimator"] == cls.__name__
    document["estimator"] = former
    path.write_text(json.dumps({**document, "digest": digest(document)}))
    np.testing.assert_array_equal(oblique_cli.load(path).estimator.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("growth: {max_depth: 2}", "unknown key 'growth' in algorithm hhgdt. Write its parameters flat"),
        ("leaves: {probabilities: laplace}", "'leaves' in algorithm hhgdt. Write its parameters flat"),
        ("growth__max_depth: 2", "unknown key 'growth__max_depth' in algorithm hhgdt. Write it flat: max_depth."),
        (
            "pruning: {name: cv, pruning_folds: 4}",
            "unknown key 'name' in pruning of hhgdt. Write the name as the value",
        ),
    ],
)
def test_a_configuration_names_the_flat_way_with_its_place(tmp_path, text, sentence):
    (tmp_path / "bad.yaml").write_text(CONFIG.format(text))
    with pytest.raises(ConfigError) as caught:
        config.load(tmp_path / "bad.yaml")
    assert sentence in str(caught.value) and "bad.yaml:3:" in str(caught.value)


def test_make_and_set_params_name_the_flat_way():
    with pytest.raises(ConfigError, match=r"^hhgdt has no parameter 'growth__max_depth'\. Write it flat: max_depth\.$"):
        make("hhgdt", growth__max_depth=2)
    with pytest.raises(ConfigError, match=r"^growth__max_depth of HHGDTClassifier cannot be set; set max_depth\.$"):
        HHGDTClassifier().set_params(growth__max_depth=2)


def test_a_model_file_with_groups_loads(tmp_path):
    tree = HHGDTClassifier(max_depth=2, random_state=0).fit(*IRIS)
    former = {**tree.get_params(deep=False), "growth": None, "leaves": None, "refine": {"penalty": 0.02}}
    plain = plain_parameters(former, Scope("parameters", Arrays(), reading=False))
    oblique_cli.save(tree, tmp_path / "tree.json")
    fitted = oblique_cli.load(tmp_path / "tree.json").fitted
    fitted.__dict__.pop("estimator", None)
    object.__setattr__(fitted, "parameters", json.loads(json.dumps(plain)))
    assert fitted.estimator.get_params() == tree.get_params() | {"refine": "tao"}
    np.testing.assert_array_equal(fitted.estimator.predict(IRIS[0]), tree.predict(IRIS[0]))


def test_the_tree_of_a_parameter_takes_the_values_of_its_groups():
    scope = Scope("parameters", Arrays(), reading=False)
    plain = plain_parameters({"base": HHCARTClassifier()}, scope)
    plain["base"]["parameters"] |= plain_parameters({"growth": {"max_depth": 3}, "leaves": None}, scope)
    reading = Scope("parameters", Arrays(), reading=True)
    assert parameters_of(plain, reading)["base"].max_depth == 3
    with pytest.raises(DataError, match="growth"):
        parameters_of({"growth": {"max_depth": 3}}, reading)
