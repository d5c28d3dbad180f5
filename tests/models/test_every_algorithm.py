"""Every algorithm can be saved and loaded, and predicts the same bits."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from models_support import CASES, NEW, Y, fitted
from sklearn.base import BaseEstimator, ClassifierMixin

import oblique_cli
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.models import Model, load, save
from oblique_cli.models.file_format import binary_of
from oblique_cli.models.kinds import KINDS, kind_of

METHODS = ("predict", "predict_proba", "apply", "decision_function", "predict_with_reject")


def same_bits(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same_bits, a, b))
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind == "O":
        return bool(a.tolist() == b.tolist() and b.dtype.kind == "O")
    return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())


def check_bits(estimator: Any, model: Model, rows: Any) -> None:
    for method in METHODS:
        if hasattr(estimator, method):
            expected = getattr(estimator, method)(rows)
            assert same_bits(expected, getattr(model.estimator, method)(rows)), f"{method} of the estimator"
            if method in ("predict", "predict_proba", "apply"):
                assert same_bits(expected, getattr(model, method)(rows)), f"{method} of the model"


@pytest.mark.sample(18)
@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_an_algorithm_is_saved_and_loaded_and_predicts_the_same_bits(name, tmp_path):
    estimator = fitted(name)
    save(estimator, tmp_path / "model.json")
    model = load(tmp_path / "model.json")
    assert model.algorithm == name and model.task == ALGORITHMS[name].family.task
    check_bits(estimator, model, NEW)
    assert same_bits(estimator.predict(NEW), model.predict(NEW))
    again = save(model, tmp_path / "again.json")[0]
    assert again.read_bytes() == (tmp_path / "model.json").read_bytes()
    assert repr(model.estimator) == repr(estimator)


@pytest.mark.parametrize("case", list(CASES))
def test_what_parameters_change_is_saved_too(case, tmp_path):
    estimator, rows = CASES[case]()
    save(estimator, tmp_path / "model.json")
    model = load(tmp_path / "model.json")
    check_bits(estimator, model, rows)
    assert model.fitted.parameters == Model.of(estimator).fitted.parameters


@pytest.mark.parametrize("name", ["hhcart_a", "hhcart_forest", "rof", "odt", "svm", "knn", "m5_style", "pathfinder"])
def test_large_arrays_go_into_a_binary_file_with_the_same_bits(name, tmp_path, monkeypatch):
    monkeypatch.setattr("oblique_cli.models.file_format.INLINE", 10)
    monkeypatch.setattr("oblique_cli.models.file_format.SMALL", 3)
    estimator = fitted(name)
    written = save(estimator, tmp_path / "model.json")
    assert written == [tmp_path / "model.json", binary_of(tmp_path / "model.json")]
    check_bits(estimator, load(tmp_path / "model.json"), NEW)


def test_an_old_binary_file_goes_when_a_small_model_takes_the_place(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    with monkeypatch.context() as patch:
        patch.setattr("oblique_cli.models.file_format.INLINE", 10)
        save(fitted("knn"), path)
    assert binary_of(path).exists()
    save(fitted("hhcart_a"), path)
    assert not binary_of(path).exists()


def test_every_kind_is_the_kind_of_some_algorithm():
    assert {kind_of(a.estimator) for a in ALGORITHMS.values()} == set(KINDS)


def test_names_of_a_data_frame_importances_and_text_are_kept(tmp_path):
    X = pd.DataFrame(NEW[: len(Y)], columns=["ä", "b c", "=d"])
    estimator = oblique_cli.HHCARTClassifier().fit(X, Y)
    oblique_cli.save(estimator, tmp_path / "m.json")
    model = oblique_cli.load(tmp_path / "m.json")
    assert model.feature_names == ("ä", "b c", "=d") and list(model.estimator.feature_names_in_) == ["ä", "b c", "=d"]
    assert model.estimator.export_text() == estimator.export_text()
    assert same_bits(model.estimator.feature_importances_, estimator.feature_importances_)


class Strange(ClassifierMixin, BaseEstimator):
    """An estimator of which model files know nothing."""

    def fit(self, X: Any, y: Any) -> Strange:
        self.classes_ = np.unique(y)
        return self


def changed(name: str, **attributes: Any) -> Any:
    estimator = fitted(name)
    vars(estimator).update(attributes)
    return estimator


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Strange().fit(NEW, NEW[:, 0] > 0), "cannot save Strange: model files have no form for it"),
        (lambda: changed("hhcart_a", surprise_=3), "no form for its attribute 'surprise_'"),
        (lambda: oblique_cli.HHCARTClassifier(), "cannot save HHCARTClassifier: it is not fitted"),
        (lambda: changed("knn", metric=print), r"parameter\.metric is <built-in function print>"),
    ],
)
def test_what_has_no_form_in_a_file_is_refused_by_one_sentence(make, sentence, tmp_path):
    with pytest.raises(ConfigError, match=sentence):
        save(make(), tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def test_a_generator_is_not_kept(tmp_path):
    estimator = oblique_cli.SADTClassifier(random_state=np.random.RandomState(3)).fit(NEW[: len(Y)], Y)
    save(estimator, tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["parameters"]["random_state"] is None
