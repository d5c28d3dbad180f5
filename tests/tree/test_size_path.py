"""The path of sizes: nested trees, their terms, what cross-validation says of each, and each as a fitted tree."""

import json
import math

import numpy as np
import pytest
from contracts import PRUNING_NAMES, assert_same_tree, real_set
from sklearn.base import clone

from oblique_cli import FDTClassifier, HHGDTClassifier, ObliqueTreeClassifier
from oblique_cli.errors import ConfigError
from oblique_cli.tree.pruning import LabeledRows, cost_complexity_path
from oblique_cli.tree.size_path import SizePath


@pytest.fixture(scope="module")
def fitted():
    data = real_set("bupa")
    model = FDTClassifier(pruning="cv", pruning_folds=5, path=True, random_state=3).fit(data.X, data.y)
    return data, model


def test_members_are_the_nested_trees_with_their_sizes(fitted):
    data, model = fitted
    path = model.path_
    whole = FDTClassifier(pruning="none", random_state=3).fit(data.X, data.y).tree_
    assert_same_tree(path.tree(0), whole)
    assert path[0].alpha == -math.inf and path[-1].n_leaves == path[-1].n_terms == 1
    sizes = [item.n_leaves for item in path]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == len(path) > 5
    for k, member in enumerate(path):
        tree = path.tree(k)
        assert (member.n_leaves, member.n_terms) == (tree.n_leaves, tree.n_terms)
        assert member.n_terms == tree.n_leaves + np.count_nonzero(tree.coef_)
        if k and member.alpha >= 0.0:
            same = clone(model).set_params(pruning="ccp_alpha", ccp_alpha=member.alpha, path=False).fit(data.X, data.y)
            assert_same_tree(same.tree_, tree)


def test_the_chosen_member_is_the_tree_without_a_path(fitted):
    data, model = fitted
    without = clone(model).set_params(path=False).fit(data.X, data.y)
    assert not hasattr(without, "path_")
    assert_same_tree(model.tree_, without.tree_)
    assert_same_tree(model.path_.tree(model.path_.chosen), without.tree_)
    best = max(member.accuracy for member in model.path_)
    # Without standard errors "cv" takes the smallest tree of the best.
    last = max(k for k, member in enumerate(model.path_) if member.accuracy >= best - 1e-12)
    assert model.path_.chosen == last


def test_every_member_is_a_fitted_tree(fitted):
    data, model = fitted
    for k in range(-1, len(model.path_)):
        first = model.at(k)
        assert_same_tree(first.tree_, model.path_.tree(k))
        assert first.n_leaves_ == model.path_[k].n_leaves and first.path_.chosen == k % len(model.path_)
        assert first.predict_proba(data.X).shape == (data.n, 2)
        assert np.isfinite(first.feature_importances_).all() and first.export_text()
    assert model.n_leaves_ == model.path_[model.path_.chosen].n_leaves  # is as it was
    for wrong in (len(model.path_), -len(model.path_) - 1, True, 1.0, "1"):
        with pytest.raises(ConfigError, match=r"^the number of a member of the path must be from 0 to"):
            model.at(wrong)


def test_accuracies_are_those_of_rows_left_out():
    data = real_set("wine")
    parts = np.arange(data.n) % 4
    grown = HHGDTClassifier(epsilon=0).fit(data.X, data.y).tree_
    sequence = cost_complexity_path(grown)
    folds, right = [], np.zeros(len(sequence.alphas))
    for part in range(4):
        out = parts == part
        tree = HHGDTClassifier(epsilon=0).fit(data.X[~out], data.y[~out]).tree_
        folds.append((tree, LabeledRows(data.X[out], data.y[out].astype(np.int32), None)))
        local = cost_complexity_path(tree)
        for k, alpha in enumerate(sequence.between):
            cut = tree.collapse(local.node_alpha <= alpha)
            right[k] += (cut.labels[cut.apply(data.X[out])] == data.y[out]).sum()
    path = SizePath.of(grown, grown, folds)
    np.testing.assert_allclose([member.accuracy for member in path], right / data.n)
    shares = right / data.n
    np.testing.assert_allclose([member.standard_error for member in path], np.sqrt(shares * (1 - shares) / data.n))
    assert path.chosen == 0


@pytest.mark.parametrize("pruning", PRUNING_NAMES)
def test_every_pruning_has_a_path_and_the_same_tree(pruning):
    data = real_set("glass")
    params = {"pruning": pruning, "random_state": 1, "max_terms": 2, "pruning_folds": 3}
    params |= {"ccp_alpha": 0.02} if pruning == "ccp_alpha" else {}
    model = FDTClassifier(path=True, **params).fit(data.X, data.y)
    assert_same_tree(model.tree_, FDTClassifier(**params).fit(data.X, data.y).tree_)
    assert all(0.0 < member.accuracy < 1.0 for member in model.path_)
    if pruning in ("none", "cv", "ccp_alpha", "cost_complexity"):
        assert_same_tree(model.path_.tree(model.path_.chosen), model.tree_)
    assert max(np.count_nonzero(model.path_.tree(0).coef_, axis=1)) == 2


def test_weights_probabilities_and_labels_go_with_it():
    data = real_set("bupa")
    labels = np.array(["low", "high"])[data.y]
    weights = np.random.default_rng(0).integers(0, 3, data.n).astype(float)
    params = {"pruning": "cv", "probabilities": "laplace", "path": True, "random_state": 0, "pruning_folds": 3}
    model = HHGDTClassifier(epsilon=0, **params).fit(data.X, labels, weights)
    root = model.at(-1)
    share = (np.bincount(data.y, weights, 2) + 1) / (weights.sum() + 2)
    np.testing.assert_allclose(root.predict_proba(data.X[:2])[:, list(root.classes_).index("low")], share[0])
    assert set(model.at(0).predict(data.X)) == {"low", "high"}


def test_the_front_is_what_no_smaller_member_matches(fitted):
    path = fitted[1].path_
    accuracies = [member.accuracy for member in path]
    front = [k for k, accuracy in enumerate(accuracies) if all(accuracy > other for other in accuracies[k + 1 :])]
    assert path.front() == front[::-1] and path.front()[0] == len(path) - 1


def test_the_table_is_text_and_json(fitted):
    path = fitted[1].path_
    lines = str(path).splitlines()
    assert len(lines) == 1 + len(path) and lines[1 + path.chosen].endswith("chosen") and "as grown" in lines[1]
    plain = json.loads(json.dumps(path.to_plain(), allow_nan=False))
    assert plain["chosen"] == path.chosen and plain["members"][0]["alpha"] is None
    assert plain["members"][-1]["n_leaves"] == 1 and len(plain["members"]) == len(path)


@pytest.mark.parametrize("label", ["one row", "one class", "two rows"])
def test_degenerate_rows_have_a_path_too(label):
    X = np.array([[0.0, 1.0], [2.0, 0.0]])[: 1 if label == "one row" else 2]
    y = [0, 1][: len(X)] if label != "one class" else [1, 1]
    model = FDTClassifier(path=True, random_state=0, pruning="cv").fit(X, y)
    assert len(model.path_) == model.path_.tree(0).n_leaves and model.at(-1).n_leaves_ == 1
    assert math.isnan(model.path_[0].accuracy) == (label == "one row")


def test_what_has_no_path_says_so(fitted):
    data, _ = fitted
    with pytest.raises(ConfigError, match=r"^path of FDTClassifier needs refine 'none'\. Got 'tao'"):
        FDTClassifier(path=True, refine="tao").fit(data.X, data.y)
    with pytest.raises(ConfigError, match=r"^path of FDTClassifier needs leaf_models 'none'\. Got 'logistic'"):
        FDTClassifier(path=True, leaf_models="logistic").fit(data.X, data.y)
    with pytest.raises(ConfigError, match=r"^at of FDTClassifier needs path=True in fit\.$"):
        FDTClassifier().fit(data.X, data.y).at(0)
    model = ObliqueTreeClassifier(path=True, random_state=0).fit(data.X, data.y)
    assert not hasattr(model.set_params(path=False).fit(data.X, data.y), "path_")
