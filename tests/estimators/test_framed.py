"""Forests and boosting on data frames with words and gaps: the same as on rows that were encoded by hand."""

import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli_support import oblique
from sklearn.base import clone

import oblique_cli
from oblique_cli import BaggedForestClassifier, export, load, save
from oblique_cli.errors import ConfigError
from oblique_cli.estimators import framed
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.estimators.framed import TakesFrames
from oblique_cli.models.model import Model

# An algorithm of every class
NAMES = [
    *{
        algorithm.estimator: name
        for name, algorithm in ALGORITHMS.items()
        if issubclass(algorithm.estimator, TakesFrames)
    }.values()
]
N = 90


@cache
def frame(n: int = N, seed: int = 0) -> pd.DataFrame:
    """Numbers, words, categories and truth values, some of which are missing."""
    rng = np.random.default_rng(seed)
    made = pd.DataFrame(
        {
            "color": rng.choice(["red", "green", "blue"], n),
            "length": rng.normal(size=n),
            "grade": pd.Categorical(rng.integers(8, 11, n)),
            "sold": rng.random(n) < 0.5,
            "width": rng.normal(size=n),
        }
    )
    made.loc[rng.random(n) < 0.15, "length"] = np.nan
    made.loc[rng.random(n) < 0.15, "color"] = None
    made.loc[rng.random(n) < 0.15, "grade"] = np.nan
    return made


LEVELS = {"color": ("blue", "green", "red"), "grade": (8, 9, 10)}
ENCODED = ["length", "sold", "width", *(f"{name}={level}" for name, levels in LEVELS.items() for level in levels)]


def by_hand(new: pd.DataFrame, train: pd.DataFrame) -> np.ndarray:
    """The columns that trees see, one after another."""
    columns = [
        new[name].astype(float).fillna(train[name].astype(float).median()) for name in ("length", "sold", "width")
    ]
    for name, levels in LEVELS.items():
        counts = [(train[name] == level).sum() for level in levels]
        cells = new[name].astype(object).where(new[name].notna(), levels[int(np.argmax(counts))])
        columns += [(cells == level).astype(float) for level in levels]
    return np.column_stack(columns)


def answers(name: str, X: pd.DataFrame) -> np.ndarray:
    rng = np.random.default_rng(5)
    score = X["length"].fillna(0.0) + (X["color"] == "red") + 0.5 * X["sold"] + 0.3 * rng.normal(size=len(X))
    if ALGORITHMS[name].family.task == "regression":
        return score.to_numpy()
    return np.array(["low", "high"])[(score > 0.5).astype(int).to_numpy()]


def later(seed: int = 1) -> pd.DataFrame:
    """Rows with levels and gaps that those of the fit do not have."""
    new = frame(40, seed).copy()
    new.loc[:4, "color"] = "violet"
    new.loc[3:9, "width"] = np.nan
    return new


def small(name: str, **parameters: Any) -> Any:
    return make(name, n_estimators=3, random_state=1, **parameters)


def predictions_of(estimator: Any, X: Any) -> list[np.ndarray]:
    """All that an estimator says of rows."""
    methods = ("predict", "predict_proba", "predict_log_proba", "decision_function", "apply")
    return [getattr(estimator, method)(X) for method in methods if hasattr(estimator, method)]


def assert_same(result: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert len(result) == len(expected) > 1
    for ours, theirs in zip(result, expected, strict=True):
        assert ours.dtype == theirs.dtype and np.array_equal(ours, theirs)


@pytest.mark.parametrize("name", NAMES)
def test_a_forest_of_a_frame_is_that_of_its_columns_encoded_by_hand(name):
    X, new = frame(), later()
    y = answers(name, X)
    ours, hand = small(name).fit(X, y), small(name).fit(by_hand(X, X), y)
    assert list(ours.encoding_.get_feature_names_out()) == ENCODED
    for rows in (X, new):
        assert_same(predictions_of(ours, rows), predictions_of(hand, by_hand(rows, X)))
    assert ours.score(X, y) == hand.score(by_hand(X, X), y)
    assert ours.extra_measures(X, y) == hand.extra_measures(by_hand(X, X), y)
    assert ours.n_features_in_ == 5 and list(ours.feature_names_in_) == list(X.columns)
    assert hand.encoding_ is None
    of_encoded = hand.feature_importances_
    expected = [of_encoded[3:6].sum(), of_encoded[0], of_encoded[6:9].sum(), of_encoded[1], of_encoded[2]]
    assert ours.feature_importances_ == pytest.approx(expected, abs=1e-15)
    assert ours.tree(0).coef_.tobytes() == hand.tree(0).coef_.tobytes()
    assert ours.export_text() == hand.export_text(feature_names=ours.encoding_.get_feature_names_out())
    assert (ours.decision_path(new)[0] != hand.decision_path(by_hand(new, X))[0]).nnz == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_frame_of_numbers_without_a_gap_is_taken_as_it_is(name, monkeypatch):
    X = frame()[["length", "width", "sold"]].fillna(0.0)
    monkeypatch.setattr(framed, "cells_of", None)  # which is not called
    ours = small(name).fit(X, answers(name, frame()))
    hand = small(name).fit(X.to_numpy(dtype=float), answers(name, frame()))
    assert ours.encoding_ is None
    assert_same(predictions_of(ours, X), predictions_of(hand, X.to_numpy(dtype=float)))
    assert np.array_equal(ours.feature_importances_, hand.feature_importances_)


@pytest.mark.parametrize("name", ["hhgdt_forest", "oblique_forest_regression", "oblique_boosting", "logistic_forest"])
def test_weights_count_in_medians_and_rows_of_weight_0_are_not_there(name):
    X, y = frame(), answers(name, frame())
    weights = np.random.default_rng(3).integers(0, 4, N)
    forest = small(name).fit(X, y, sample_weight=weights)
    repeated = X.iloc[np.repeat(np.arange(N), weights)]
    assert_same([forest.encoding_.transform(later())] * 2, [by_hand(later(), repeated)] * 2)
    # A level and a number that only rows of weight 0 have.
    odd = pd.concat([X, X.iloc[:5].assign(color="violet", length=1e6)], ignore_index=True)
    without = small(name).fit(X, y)
    zeros = small(name).fit(odd, np.append(y, y[:5]), sample_weight=np.append(np.ones(N), np.zeros(5)))
    assert zeros.encoding_.get_feature_names_out().tolist() == ENCODED
    assert zeros.encoding_.transform(later()).tobytes() == without.encoding_.transform(later()).tobytes()


def test_warm_start_keeps_the_encoding_of_the_first_fit():
    X, y = frame(), answers("hhgdt_forest", frame())
    forest = small("hhgdt_forest").set_params(warm_start=True).fit(X, y)
    first = forest.encoding_
    grown = forest.set_params(n_estimators=6).fit(X, y)
    assert grown.encoding_ is first
    assert_same(
        predictions_of(grown, later()),
        predictions_of(make("hhgdt_forest", n_estimators=6, random_state=1).fit(X, y), later()),
    )
    forest.set_params(n_estimators=7).fit(X.assign(color="violet"), y)
    assert forest.encoding_ is first and forest.n_features_in_ == 5
    numbers = X[["width"]]
    plain = small("hhgdt_forest").set_params(warm_start=True).fit(numbers, y).set_params(n_estimators=4)
    with pytest.raises(ConfigError, match=r"column 'width' has a missing value \(NaN\), and the rows of fit had none"):
        plain.fit(numbers.replace(numbers.iloc[3, 0], np.nan), y)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        plain.fit(numbers, np.full(N, np.nan))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        forest.set_params(n_estimators=8).fit(X.to_numpy(dtype=object).tolist(), y)
    # A fit that starts over forgets the encoding, and one that fails keeps it.
    forest.set_params(warm_start=False)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        forest.fit(numbers, y[:4])
    assert forest.encoding_ is first
    assert forest.fit(numbers, y).encoding_ is None and forest.n_features_in_ == 1


def test_an_order_is_that_of_a_column_of_the_frame():
    X, y = frame(), answers("hhgdt_forest", frame())
    results = [
        BaggedForestClassifier("hhgdt", n_estimators=5, random_state=1, monotonic_cst=signs).fit(X, y)
        for signs in ({"length": -1}, [0, -1, 0, 0, 0])
    ]
    hand = BaggedForestClassifier("hhgdt", n_estimators=5, random_state=1, monotonic_cst={0: -1})
    hand.fit(by_hand(X, X), y)
    for forest in results:
        assert_same(predictions_of(forest, X), predictions_of(hand, by_hand(X, X)))
        ends = [forest.predict_proba(X.assign(length=value))[:, 1] for value in (-3.0, 0.0, 3.0)]
        assert (np.diff(ends, axis=0) <= 1e-12).all()
    for signs in ({"color": 1}, [1, 0, 0, 0, 0]):
        with pytest.raises(ConfigError, match="constrains column 'color', whose levels have no order"):
            BaggedForestClassifier(monotonic_cst=signs).fit(X, y)
    with pytest.raises(ConfigError, match="one entry for each of the 5 columns"):
        BaggedForestClassifier(monotonic_cst=[0] * 9).fit(X, y)


def encoding_of(**columns: Any) -> Any:
    X = pd.DataFrame(columns)
    return small("hhgdt_forest").fit(X, np.arange(len(X)) % 2).encoding_


def test_a_column_holds_words_if_a_cell_is_no_number_and_nothing_without_a_cell():
    gap = [0.0, np.nan] * 6
    for numbers in (["1", "2.5", " "] * 4, [1, None, "3"] * 4, [True, False, None] * 4, [1, pd.NA, 2] * 4):
        result = encoding_of(gap=gap, x=pd.Series(numbers, dtype=object))
        assert result.levels == {} and result.get_feature_names_out().tolist() == ["gap", "x"]
    for typed in (pd.array([1, None, 3] * 4, "Int64"), pd.array([True, None, False] * 4, "boolean")):
        assert encoding_of(gap=gap, x=typed).levels == {}
    assert encoding_of(gap=gap, x=["1", "b", "10", "9 "] * 3).levels == {1: ("1", "9", "10", "b")}
    assert encoding_of(gap=gap, x=pd.Categorical([3, 1, 2] * 4)).levels == {1: ("1", "2", "3")}
    # A word is the same whichever type its column has: a category of whole numbers beside gaps is one of floats.
    forest = encoding_of(gap=gap, x=pd.Categorical([3, 1, 2] * 4))
    same = [
        forest.transform(pd.DataFrame({"gap": [0.0] * 3, "x": x}))
        for x in ([1, 2, 3], [1.0, 2.0, 3.0], ["1", "2", "3"])
    ]
    assert same[0].tolist() == same[1].tolist() == same[2].tolist() == [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    result = encoding_of(x=[1.0, 2.0] * 4, none=[None] * 8, never=[np.nan] * 8, word=pd.Categorical([None] * 8))
    assert result.transform(pd.DataFrame({"x": [3.0], "none": [5.0], "never": [np.nan], "word": ["a"]})).tolist() == [
        [3.0, 5.0, 0.0, 0.0]
    ]


@pytest.mark.parametrize("name", ["hhgdt_forest", "logistic_forest", "oblique_boosting", "tao_forest_regression"])
def test_arrays_are_refused_as_before(name):
    X, y = frame(), answers(name, frame())
    with pytest.raises(ValueError, match="Input X contains NaN"):
        small(name).fit(X[["length", "width"]].to_numpy(), y)
    with pytest.raises(ConfigError, match=r"column 0 of X holds words such as 'blue'.*as a data frame"):
        small(name).fit(np.array([["blue", 1.0]] * N, dtype=object), y)


def test_what_cannot_be_encoded_is_refused_in_a_sentence():
    X, y = frame(), answers("hhgdt_forest", frame())
    forest, numbers = small("hhgdt_forest"), X[["width"]]
    for message, wrong in {
        "column 'when' holds dates": X.assign(when=pd.Timestamp("2024-05-01")),
        "Complex data not supported": numbers.assign(z=1j),
        "column 'z' holds \\[1\\], which .* takes neither for a number nor for a word": X.assign(z=[[1]] * N),
    }.items():
        with pytest.raises(ConfigError, match=message):
            forest.fit(wrong, y)
    with pytest.raises(ValueError, match="infinity"):
        forest.fit(X.assign(z=np.inf), y)
    many = pd.DataFrame({"name": [f"n{i}" for i in range(1001)]})
    with pytest.raises(ConfigError, match=r"column 'name' has 1001 levels, and .* takes 1000 at most; join rare"):
        forest.fit(many, np.arange(1001) % 2)
    fitted, plain = small("hhgdt_forest").fit(X, y), small("hhgdt_forest").fit(numbers, y)
    for message, item, wrong in (
        ("column 'width' holds 'wide', and .* was fitted to numbers there", fitted, X.assign(width="wide")),
        ("column 'width' holds dates", fitted, X.assign(width=pd.Timestamp("2024-05-01"))),
        ("column 'width' has 90 missing values .NaN., and the rows of fit had none", plain, numbers * np.nan),
    ):
        with pytest.raises(ConfigError, match=message):
            item.predict(wrong)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(X[X.columns[::-1]])


@pytest.mark.parametrize("name", NAMES)
def test_a_forest_of_a_frame_predicts_the_same_from_its_file(name, tmp_path):
    X, y = frame(), answers(name, frame())
    forest = small(name).fit(X, y)
    save(forest, tmp_path / "m.json", X)
    again = load(tmp_path / "m.json")
    methods = [method for method in ("predict", "predict_proba", "apply") if hasattr(forest, method)]
    for rows in (X, later()):
        results = [getattr(again, method)(rows) for method in methods]
        assert_same(results, [getattr(forest, method)(rows) for method in methods])
    assert again.feature_names == tuple(X.columns) and list(again.columns_seen()[0]) == ENCODED
    assert again.may_be_empty == set(range(5))
    document = json.loads((tmp_path / "m.json").read_text())
    assert document["encoder"]["n_columns"] == 5 and document["columns"]["format"] == "frame"


@pytest.mark.parametrize("name", ["hhgdt_forest", "rof", "logistic_forest", "oblique_forest_regression"])
def test_an_export_reads_words_and_gaps_as_the_forest_does(name):
    X, y = frame(), answers(name, frame())
    forest, new = small(name).fit(X, y), later()
    exported: dict[str, Any] = {}
    exec(export(forest, "python"), exported)
    rows = new.assign(grade=new["grade"].astype(object).map(lambda g: g if g != g else str(g))).to_dict("records")
    assert [exported["predict"](row) for row in rows] == forest.predict(new).tolist()


def test_frames_are_explained_and_saved_whatever_their_columns_are_called(tmp_path):
    X, y = frame(), answers("hhgdt_forest", frame())
    forest = small("hhgdt_forest").fit(X, y)
    result = oblique_cli.shap_values(forest, later().iloc[:4], X.iloc[:10])
    assert list(result.feature_names) == list(X.columns)
    assert result.values.sum(axis=1) + result.base_values == pytest.approx(forest.predict_proba(later().iloc[:4]))
    whole = X.dropna().iloc[:2]
    verdicts = oblique_cli.verify(forest, robust=1e-9, rows=whole, reference=X.fillna({"length": 0.0})).verdicts
    assert [verdict.outcome for verdict in verdicts] == ["proved"] * 2
    card = oblique_cli.model_card(forest, X)
    assert "color" in card and "grade" in card
    model = Model.of(forest)
    with pytest.raises(ConfigError, match="has no column 'color', which the model was fitted to"):
        model.predict(X[["length"]])
    assert model.predict(X[X.columns[::-1]]).tolist() == forest.predict(X).tolist()  # by name, as in tables
    X = frame().rename(columns={"color": "class", "length": "class_"})
    y = answers("hhgdt_forest", frame())
    save(small("hhgdt_forest").fit(X, y), tmp_path / "m.json", X)
    assert load(tmp_path / "m.json").columns.target == "class__"


@pytest.mark.long
@pytest.mark.parametrize("name", ["hhgdt_forest", "oblique_forest_regression"])
def test_a_frame_means_what_a_table_means_to_the_command_line(name, tmp_path):
    X = frame()[["color", "length", "width"]]
    y = answers(name, frame())
    X.assign(said=y).to_csv(tmp_path / "t.csv", index=False)
    more = ["--set", "missing=impute", "--set", "n_estimators=3", "--output", "m.json"]
    ended = oblique(tmp_path, "fit", "t.csv", "--target", "said", "--algorithm", name, *more)
    assert ended.code == 0, ended.err
    by_table = load(tmp_path / "m.json")
    ours = clone(by_table.estimator).fit(X, y)
    assert list(by_table.columns_seen()[0]) == ours.encoding_.get_feature_names_out().tolist()
    new = later()[X.columns]
    assert np.array_equal(by_table.predict(new), ours.predict(new))
    if hasattr(ours, "predict_proba"):
        assert np.array_equal(by_table.predict_proba(new), ours.predict_proba(new))
