"""What a model says of its rows, and refuses."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from models_support import CODES, HOLES, NEW, X, Y, fitted

import oblique_cli
from oblique_cli.data.dataset import Dataset
from oblique_cli.data.own.front import Column, Columns
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.encoding import fold_encoder
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.models import Model, load, save

WORDS = ("red", "green", "blue", "grey")


def table(X: np.ndarray = CODES) -> Dataset:
    """A data set of two quantitative columns and one qualitative one between them."""
    rows = np.ascontiguousarray(X[:, [0, 2, 1]])
    names = ("length", "color", "width")
    return Dataset("t", rows, Y.astype(np.int32), ("a", "b", "c"), names, qualitative=(1,), levels={1: WORDS})


def columns() -> Columns:
    return Columns(
        (Column("length", "number"), Column("color", "levels", levels=WORDS), Column("width", "number"),
         Column("y", "target")), "y", "classification", ("a", "b", "c"),
    )  # fmt: skip


HOLED = CODES.copy()
HOLED[::7, 0] = HOLED[3::11, 2] = np.nan


def encoded_model() -> Model:
    dataset = table(HOLED)
    encoder = fold_encoder(dataset, DatasetSpec("t", missing="impute", encoding="onehot"), dataset.X)
    estimator = oblique_cli.HHCARTClassifier().fit(encoder.transform(dataset.X), dataset.y)
    return Model.of(
        estimator,
        algorithm="hhcart_a",
        classes=dataset.classes,
        feature_names=dataset.feature_names,
        encoder=encoder,
        columns=columns(),
        facts={"rows": np.int64(80), "shares": (0.25, 0.75)},
    )


def test_a_model_of_a_table_survives_whole(tmp_path):
    model, dataset = encoded_model(), table(HOLED)
    save(model, tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert again.columns == model.columns
    assert again.facts == {"rows": 80, "shares": [0.25, 0.75]}
    assert again.predict(dataset.X).tolist() == model.predict(dataset.X).tolist()
    assert set(again.predict(dataset.X)) <= {"a", "b", "c"}
    assert again.predict_proba(dataset.X).tobytes() == model.predict_proba(dataset.X).tobytes()
    assert again.encoder is not None and again.encoder.n_encoded == 6


def test_a_class_that_no_training_row_has_gets_a_share_of_0(tmp_path):
    rows = np.flatnonzero(Y != 1)
    estimator = oblique_cli.HHCARTClassifier().fit(CODES[rows][:, [0, 2, 1]], Y[rows])
    model = Model.of(estimator, classes=("a", "b", "c"), feature_names=("length", "color", "width"), columns=columns())
    save(model, tmp_path / "m.json")
    shares = load(tmp_path / "m.json").predict_proba(NEW)
    assert shares.shape == (len(NEW), 3) and (shares[:, 1] == 0).all() and np.allclose(shares.sum(axis=1), 1)
    assert set(load(tmp_path / "m.json").predict(NEW)) <= {"a", "c"}


def test_sizes_that_do_not_fit_are_refused():
    estimator = fitted("hhcart_a")
    with pytest.raises(ConfigError, match=r"feature_names must be 3 names\. Got 2"):
        Model.of(estimator, feature_names=("a", "b"))
    with pytest.raises(ConfigError, match="columns do not have the features, classes and task of the model"):
        Model.of(estimator, columns=columns())
    with pytest.raises(ConfigError, match="has 3 classes, and there are 2 labels"):
        Model.of(estimator, classes=("a", "b"))
    with pytest.raises(ConfigError, match=r"facts\.when of a model must be plain data"):
        save(Model.of(estimator, facts={"when": np.zeros(3)}), "never.json")
    with pytest.raises(ConfigError, match=r"facts\.loss of a model must be plain data. Got nan"):
        save(Model.of(estimator, facts={"loss": float("nan")}), "never.json")


def test_rows_that_do_not_fit_are_refused(tmp_path):
    save(fitted("hhcart_a"), tmp_path / "m.json")
    model = load(tmp_path / "m.json")
    with pytest.raises(ConfigError, match=r"X must have 3 columns, those that the model was fitted on\. Got"):
        model.predict(NEW[:5, :2])
    bad = NEW[:5].copy()
    bad[3, 1] = np.nan
    with pytest.raises(ConfigError, match=r"row 4, column 2 of X is a missing value \(NaN\), which this model"):
        model.predict(bad)
    bad[3, 1] = np.inf
    with pytest.raises(ConfigError, match="row 4, column 2 of X is an infinite value"):
        model.predict(bad)


def test_large_finite_rows_are_taken(tmp_path):
    estimator = fitted("hhcart_a")
    save(estimator, tmp_path / "m.json")
    rows = np.full((2, 3), 1e308)  # their sum is not finite
    assert load(tmp_path / "m.json").predict(rows).tolist() == estimator.predict(rows).tolist()


def test_what_a_model_lacks_is_a_sentence(tmp_path):
    save(fitted("svm"), tmp_path / "svm.json")
    model = load(tmp_path / "svm.json")
    with pytest.raises(ConfigError, match=r"SupportVectorClassifier has no leaves\."):
        model.apply(NEW)
    with pytest.raises(ConfigError, match=r"SupportVectorClassifier gives no class probabilities\."):
        model.predict_proba(NEW)
    save(fitted("m5_style"), tmp_path / "m5.json")
    with pytest.raises(ConfigError, match="this model predicts numbers, so it has no class probabilities"):
        load(tmp_path / "m5.json").predict_proba(NEW)


def test_lists_and_frames_go_by_the_estimator(tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    estimator = oblique_cli.HHCARTClassifier().fit(frame, Y)
    save(estimator, tmp_path / "m.json")
    model = load(tmp_path / "m.json")
    assert model.predict(frame).tolist() == estimator.predict(frame).tolist()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c"]])


def test_a_tree_that_learned_where_missing_values_go_takes_them(tmp_path):
    estimator = oblique_cli.HHCARTClassifier(missing="learn").fit(HOLES, Y)
    save(estimator, tmp_path / "m.json")
    model = load(tmp_path / "m.json")
    assert model.takes_missing and model.may_be_empty == {0, 1, 2}
    assert model.predict(HOLES).tolist() == estimator.predict(HOLES).tolist()


def test_a_class_of_another_kind_is_refused(tmp_path):
    save(fitted("hhcart_a"), tmp_path / "m.json")
    model = load(tmp_path / "m.json")
    object.__setattr__(model.fitted, "cls", "SupportVectorClassifier")
    with pytest.raises(DataError, match="the model is of class 'SupportVectorClassifier', which is no estimator"):
        _ = model.estimator


FOLDER = Path(__file__).parent.parent / "files" / "models"  # written when format 1 was made
PETALS = np.array([[4.5, 1.5], [6.0, 2.1], [1.4, 0.2], [5.05, 1.75]])


@pytest.mark.parametrize(
    ("name", "shares"),
    [
        ("tree_1", [[0, 47 / 48, 1 / 48], [0, 3 / 52, 49 / 52], [1, 0, 0], [0, 3 / 52, 49 / 52]]),
        ("neighbors_1", [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0.4, 0.6]]),  # with a binary file
    ],
)
def test_models_of_format_1_stay_readable(name, shares):
    model = load(FOLDER / f"{name}.json")
    assert model.predict(PETALS).tolist() == ["Iris-versicolor", "Iris-virginica", "Iris-setosa", "Iris-virginica"]
    assert model.predict_proba(PETALS).tolist() == shares
    assert model.facts["rows"] == 150 and model.columns.feature_names == ("petal_length", "petal_width")


def broken(monkeypatch: Any, **change: Any) -> None:
    """Let what is read of a tree differ from what was written."""
    from oblique_cli.models.kinds import hyperplanes

    built = hyperplanes.TREE.build
    assert built is not None

    def other(fields: dict[str, Any], scope: Any) -> Any:
        return built({**fields, **{name: made(fields[name]) for name, made in change.items()}}, scope)

    monkeypatch.setitem(vars(hyperplanes.TREE), "build", other)


@pytest.mark.parametrize(
    ("change", "rows", "because"),
    [
        ({"thresholds": lambda t: t + 1.0}, X, r"it says something else of \d+ of 80 training rows\)\.$"),
        ({"left": lambda left: left[::-1].copy()}, None, r".*state\.tree_ is damaged"),
    ],
    ids=["another model", "no model"],
)
def test_a_model_that_does_not_come_back_from_its_file_is_not_written(change, rows, because, tmp_path, monkeypatch):
    path, estimator = tmp_path / "m.json", fitted("hhcart_a")
    path.write_text("an old model")
    broken(monkeypatch, **change)
    start = r"^cannot save HHCARTClassifier: the file would not give the model back, so none is written \("
    with pytest.raises(ConfigError, match=start + because):
        save(estimator, path, rows)
    assert path.read_text() == "an old model" and os.listdir(tmp_path) == ["m.json"]
