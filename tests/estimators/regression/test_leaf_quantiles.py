"""Quantiles of leaves: against the rows of every leaf, files, single rows, bad input."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.algorithms import make
from oblique_cli.models import Model, load, save
from oblique_cli.models.file_format import digest
from oblique_cli.tree.leaf_quantiles import shares_of

SMALL = {"max_depth": 2, "pruning": "none", "random_state": 0}
NAMES = {
    "hhcart_regression": SMALL,
    "hhcart_model_tree": SMALL,
    "pilot": {"max_depth": 2},
    "retis": {"min_node_percent": 30},
    "tprti_b": {},
    "m5_style": {"min_node_percent": 30},
}
Q = (0.0, 0.1, 0.5, 0.9, 1.0)


def rows(seed=0, n=90):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(X[:, 0] > 0, 3 * X[:, 1], X[:, 0]) + rng.normal(size=n) * (1 + (X[:, 0] > 0))


def by_hand(values, q):
    """The quantile of NumPy's default, by its definition: linear between the two order statistics around (n - 1) q."""
    ordered = sorted(values)
    at = (len(ordered) - 1) * q
    low = int(np.floor(at))
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


@pytest.mark.parametrize("truncate", ["none", "leaf"])
@pytest.mark.parametrize("name", NAMES)
def test_a_leaf_says_its_value_and_the_quantiles_of_what_its_rows_leave_over(name, truncate):
    X, y = rows()
    options = {} if name == "hhcart_regression" else {"truncate": truncate}
    model = make(name, leaf_residuals=True, **NAMES[name], **options).fit(X, y)
    at = rows(1, 30)[0]
    leaves, values = model.apply(X), model.predict(X)
    expected = [
        [text + by_hand((y - values)[leaves == leaf], q) for q in Q]
        for text, leaf in zip(model.predict(at), model.apply(at), strict=True)
    ]
    np.testing.assert_allclose(model.predict_quantiles(at, Q), expected, rtol=1e-12, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.floats(0, 1), min_size=1, max_size=5, unique=True))
def test_quantiles_rise_with_their_shares_and_lie_between_the_ends(seed, shares):
    X, y = rows(seed % 1000, 60)
    model = make("pilot", leaf_residuals=True).fit(X, y)
    result = model.predict_quantiles(X, sorted(shares))
    ends = model.predict_quantiles(X, (0.0, 1.0))
    assert (np.diff(result, axis=1) >= -1e-12).all()
    assert (result >= ends[:, :1] - 1e-12).all() and (result <= ends[:, 1:] + 1e-12).all()
    # Every training row lies between the ends of its own leaf.
    assert ((ends[:, 0] <= y + 1e-9) & (y <= ends[:, 1] + 1e-9)).all()


def test_one_row_and_a_constant_target_say_one_number():
    single = make("pilot", leaf_residuals=True).fit([[1.0]], [2.0])
    np.testing.assert_array_equal(single.predict_quantiles([[5.0]], Q), np.full((1, 5), 2.0))
    flat = make("retis", leaf_residuals=True).fit(rows()[0], np.full(90, 3.0))
    np.testing.assert_array_equal(flat.predict_quantiles(rows()[0][:2], Q), np.full((2, 5), 3.0))


@pytest.mark.parametrize("name", NAMES)
def test_a_model_file_says_the_same_and_is_as_before_without_residuals(name, tmp_path):
    X, y = rows(3)
    model = make(name, leaf_residuals=True, **NAMES[name]).fit(X, y)
    save(Model.of(model, algorithm=name), tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    np.testing.assert_array_equal(again.predict_quantiles(X, Q), model.predict_quantiles(X, Q))
    np.testing.assert_array_equal(again.estimator.predict_quantiles(X, Q), model.predict_quantiles(X, Q))
    bare = clone(model).set_params(leaf_residuals=False).fit(X, y)
    np.testing.assert_array_equal(bare.predict(X), model.predict(X))
    save(Model.of(bare, algorithm=name), tmp_path / "bare.json")
    assert "leaf_residuals_" not in json.loads((tmp_path / "bare.json").read_text())["state"]
    with pytest.raises(ConfigError, match="kept no residuals"):
        load(tmp_path / "bare.json").predict_quantiles(X, Q)
    with pytest.raises(ConfigError, match="kept no residuals"):
        bare.predict_quantiles(X)


@pytest.mark.parametrize("q", [[], [-0.1], [0.5, 0.5], [0.9, 0.1], [1.1], ["a"], [[0.1, 0.2]], [np.nan], None])
def test_other_shares_are_refused_in_a_sentence(q):
    with pytest.raises(ConfigError, match=r"^quantiles must be rising shares from 0 to 1, such as .* Got "):
        shares_of(q)


def test_other_models_say_no_quantiles_and_damaged_files_are_refused(tmp_path):
    X, y = rows(5)
    for model in (make("cart_regression").fit(X, y), make("hhcart_a", random_state=0).fit(X, (y > 0).astype(int))):
        with pytest.raises(ConfigError, match="trees of numbers of this package alone"):
            Model.of(model).predict_quantiles(X, Q)
    save(Model.of(make("pilot", leaf_residuals=True).fit(X, y), algorithm="pilot"), tmp_path / "m.json")
    text = (tmp_path / "m.json").read_text()
    for change in (lambda starts: [*starts[:-1], starts[-1] + 1], lambda starts: starts[:-1], lambda starts: [1] * 4):
        document = json.loads(text)
        local = document["state"]["leaf_residuals_"]
        local["starts"] = change(local["starts"])
        (tmp_path / "m.json").write_text(json.dumps({**document, "digest": digest(document)}))
        with pytest.raises(DataError, match="starts of leaf_residuals_ must rise from 0"):
            load(tmp_path / "m.json")
    X, y = rows(7)
    save(Model.of(make("pilot").fit(X, y), algorithm="pilot"), tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    document["state"]["tree_"]["bounds"][0].reverse()
    (tmp_path / "m.json").write_text(json.dumps({**document, "digest": digest(document)}))
    with pytest.raises(DataError, match="bounds must have the least answer before the largest one"):
        load(tmp_path / "m.json")
