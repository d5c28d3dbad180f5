"""Class weights: scikit-learn's meaning, the sample weights they stand for, labels as text in configurations."""

import re

import jsonschema
import numpy as np
import pytest
from contracts import PRUNING_NAMES, assert_same_tree, real_set
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_class_weight

from oblique_cli import config
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.estimators.encoding import coded_weights
from oblique_cli.experiments import running
from oblique_cli.experiments.store import Store


@pytest.mark.parametrize("name", ["axis_parallel", "hhcart_a", "gdt", "hhgdt", "quest", "cline", "union"])
def test_class_weights_are_the_sample_weights_of_their_rows(name):
    data = real_set("bupa")
    of_class, of_row = np.array([3.0, 1.0]), np.random.default_rng(1).integers(1, 4, data.n).astype(float)
    options = {"max_depth": 4, "random_state": 0}
    by_class = make(name, class_weight={0: 3, 1: 1}, **options).fit(data.X, data.y, of_row)
    by_row = make(name, **options).fit(data.X, data.y, of_row * of_class[data.y])
    assert by_class.tree_.to_dict() == by_row.tree_.to_dict()
    assert by_class.tree_.to_dict() != make(name, **options).fit(data.X, data.y, of_row).tree_.to_dict()


@pytest.mark.parametrize("pruning", PRUNING_NAMES)
def test_they_count_in_pruning_too(pruning):
    data = real_set("glass")
    options = {"pruning": pruning, "random_state": 3, **({"ccp_alpha": 0.02} if pruning == "ccp_alpha" else {})}
    weights = compute_class_weight("balanced", classes=np.unique(data.y), y=data.y)
    by_class = make("hhcart_d", class_weight="balanced", **options).fit(data.X, data.y)
    by_row = make("hhcart_d", **options).fit(data.X, data.y, weights[data.y])
    assert_same_tree(by_class.tree_, by_row.tree_)


def test_shares_are_of_the_weight_and_a_class_of_weight_zero_is_never_predicted():
    data = real_set("bupa")
    options = {"criterion": "gini", "max_depth": 1, "probabilities": "counts"}
    ours = make("axis_parallel", class_weight="balanced", **options).fit(data.X, data.y)
    theirs = DecisionTreeClassifier(class_weight="balanced", max_depth=1, random_state=0).fit(data.X, data.y)
    np.testing.assert_allclose(ours.predict_proba(data.X), theirs.predict_proba(data.X), rtol=1e-9)
    assert (ours.tree_.counts.sum(axis=1) > 0).all()
    data = real_set("iris")
    names = np.array(["a", "b", "c"])[data.y]
    a = make("hhcart_a", class_weight={"a": 1, "b": 0.0, "c": 1}).fit(data.X, names)
    assert a.classes_.tolist() == ["a", "b", "c"] and set(a.predict(data.X)) == {"a", "c"}
    b = make("hhcart_a", class_weight={"a": 1, "b": 5, "c": 5}, max_depth=1).fit(data.X, names)
    c = make("hhcart_a", class_weight={"b": 5, "c": 5}, max_depth=1).fit(data.X, names)
    assert_same_tree(b.tree_, c.tree_)


def test_labels_are_texts_that_become_codes_and_others_are_refused():
    X, y = np.eye(4), ["a", "a", "b", "b"]
    with pytest.raises(
        ConfigError,
        match=r"class_weight of HHCARTClassifier does not fit y: 'typo' is not in y, whose classes are 'a', 'b'\.",
    ):
        make("hhcart_a", class_weight={"a": 1, "typo": 2}).fit(X, y)
    with pytest.raises(ConfigError, match="sample_weight times class_weight must have a positive entry"):
        make("hhcart_a", class_weight={"a": 0, "b": 0}).fit(X, y)
    for value in ("even", {}, {"a": -1}, {"a": "2"}, {"a": float("nan")}, [("a", 1)], 3):
        with pytest.raises(ConfigError, match="class_weight of hhcart_a must be 'balanced', or a mapping of class lab"):
            make("hhcart_a", class_weight=value)
    assert coded_weights({"2": 4.0}, real_set("bupa")) == {0: 1.0, 1: 4.0}
    with pytest.raises(ConfigError, match=r"class_weight names '3', which is no class of 'bupa'\. Its classes: 1, 2\."):
        coded_weights({"3": 4.0}, real_set("bupa"))


@pytest.mark.parametrize("name", ["hhcart_a", "oc1_ap", "gdt"])
@pytest.mark.parametrize("share", [0.05, 0.2])
def test_no_child_weighs_less_than_the_least_share(name, share):
    data = real_set("bupa")
    weights = np.random.default_rng(2).uniform(0.1, 3.0, data.n)
    tree = make(name, min_weight_fraction_leaf=share).fit(data.X, data.y, weights).tree_
    assert tree.n_leaves > 1 or name == "gdt"  # its one plane may leave less than the share on a side
    assert tree.counts.sum(axis=1).min() >= share * tree.counts[0].sum() * (1 - 1e-12)


def plan(**algorithm):
    cv = {"scheme": "stratified", "folds": 3, "repeats": 1}
    return {"version": 1, "seed": 1, "dataset": "bupa", "algorithm": {"name": "hhcart_d", **algorithm}, "cv": cv}


def test_a_configuration_may_weigh_classes_or_choose_weights_from_a_grid(tmp_path):
    validator = jsonschema.Draft202012Validator(config.schema())
    grid = {"grid": ["balanced", {"1": 2}, "none"]}
    for value in ("balanced", {"1": 2, "2": 0.5}, grid):
        assert validator.is_valid(plan(class_weight=value)), value
    assert not validator.is_valid(plan(class_weight={"1": -2}))
    assert config.from_mapping(plan(class_weight={"1": 2})).algorithms[0].params["class_weight"] == {"1": 2.0}
    nested = plan(class_weight=grid)
    nested["cv"] = {"scheme": "nested", "folds": 3, "repeats": 1, "tune": {"folds": 2}}
    experiment = config.from_mapping(nested)
    assert experiment.algorithms[0].grid["class_weight"] == ("balanced", {"1": 2.0}, None)
    with Store(tmp_path / "results.sqlite") as store:
        assert running.run(experiment, store, n_jobs=1, offline=True).exit_code == 0
        assert all(row.chosen["class_weight"] in ("balanced", {"1": 2.0}, None) for row in store.rows(experiment.name))


def test_heavier_classes_are_found_more_often_and_a_wrong_label_stops_the_run(tmp_path):
    recall = []
    for weight in (1, 20):
        experiment = config.from_mapping(plan(class_weight={"1": weight}, max_depth=3), name=f"w{weight}")
        with Store(tmp_path / "results.sqlite") as store:
            assert running.run(experiment, store, n_jobs=1, offline=True).exit_code == 0
            results = [row.per_class["1"] for row in store.rows(experiment.name)]
        recall.append(sum(right for right, _ in results) / sum(rows for _, rows in results))
    assert recall[1] > recall[0] + 0.2
    with Store(tmp_path / "results.sqlite") as store, pytest.raises(ConfigError, match="which is no class of 'bupa'"):
        running.run(config.from_mapping(plan(class_weight={"one": 2})), store, n_jobs=1, offline=True)


@pytest.mark.parametrize("name", ["hhbut", "butif_svm"])
def test_bottom_up_trees_refuse_weights_and_say_why(name):
    assert "class_weight" not in ALGORITHMS[name].parameters
    reason = "Bottom-up trees take no weights, because scikit-learn's mixtures take none."
    with pytest.raises(ConfigError, match=re.escape(f"{name} has no parameter 'class_weight'. {reason}")):
        make(name, class_weight="balanced")
    with pytest.raises(ConfigError, match=re.escape(reason)):
        config.from_mapping(plan(class_weight="balanced") | {"algorithm": {"name": name, "class_weight": "balanced"}})
