"""Columns prepared inside a fold: by hand, on a few rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from runner_support import toy

from oblique_cli.estimators.encoding import encoded_names, fold_encoder
from oblique_cli.ground.nouns import DatasetSpec


def test_missing_values_are_filled_from_the_training_rows():
    X = np.array([[1.0, 0.0], [3.0, 1.0], [np.nan, 1.0], [100.0, np.nan]])
    dataset = replace(toy(4), X=X, qualitative=(1,), levels={1: ("no", "yes")})
    encoder = fold_encoder(dataset, DatasetSpec("toy", missing="impute", encoding="ordinal"))
    assert encoder.fit_transform(X[:3]).tolist() == [[1, 0], [3, 1], [2, 1]]
    assert encoder.transform(X[3:]).tolist() == [[100, 1]]


def test_levels_become_indicators_of_the_levels_in_the_training_rows():
    X = np.array([[0.0, 7.0], [2.0, 8.0], [1.0, 9.0]])
    dataset = replace(toy(4), X=X, qualitative=(0,), levels={0: ("x", "y", "z")})
    encoder = fold_encoder(dataset, DatasetSpec("toy", encoding="onehot"))
    assert encoder.fit_transform(X[:2]).tolist() == [[7, 1, 0], [8, 0, 1]]
    assert encoder.transform(X[2:]).tolist() == [[9, 0, 0]]  # a level never seen is no level


def test_filling_and_indicators_work_together():
    X = np.array([[0.0, 7.0], [2.0, np.nan], [2.0, 9.0], [np.nan, 9.0]])
    dataset = replace(toy(4), X=X, qualitative=(0,), levels={0: ("x", "y", "z")})
    encoder = fold_encoder(dataset, DatasetSpec("toy", missing="impute", encoding="onehot"))
    assert encoder.fit_transform(X).tolist() == [[7, 1, 0], [9, 0, 1], [9, 0, 1], [9, 0, 1]]


def test_a_column_without_a_value_in_the_training_rows_is_zero():
    X = np.array([[np.nan, 7.0], [np.nan, 8.0], [5.0, 9.0]])
    encoder = fold_encoder(replace(toy(4), X=X), DatasetSpec("toy", missing="impute"))
    assert encoder.fit_transform(X[:2]).tolist() == [[0, 7], [0, 8]]


def test_columns_that_can_be_used_as_they_are_cost_nothing():
    codes = replace(toy(), qualitative=(0,), levels={0: tuple(map(str, range(30)))})
    assert fold_encoder(toy(), DatasetSpec("toy", missing="impute", encoding="onehot")) is None
    assert fold_encoder(codes, DatasetSpec("toy", encoding="ordinal")) is None


@pytest.mark.parametrize(
    ("missing", "encoding", "names"),
    [
        ("error", "ordinal", ("color", "size")),
        ("impute", "ordinal", ("size", "color")),
        ("error", "onehot", ("size", "color=x", "color=z")),
        ("impute", "onehot", ("size", "color=x", "color=z")),
    ],
)
def test_every_encoded_column_has_a_name(missing, encoding, names):
    X = np.array([[0.0, 7.0], [2.0, 8.0], [2.0, np.nan if missing == "impute" else 9.0]])
    dataset = replace(toy(3), X=X, qualitative=(0,), levels={0: ("x", "y", "z")}, feature_names=("color", "size"))
    encoder = fold_encoder(dataset, DatasetSpec("toy", missing=missing, encoding=encoding))
    if encoder is not None:
        assert encoder.fit_transform(X).shape[1] == len(names)
    assert encoded_names(dataset, encoder) == names
