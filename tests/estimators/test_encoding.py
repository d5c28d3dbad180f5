"""Columns prepared inside a fold: by hand, on a few rows."""

from dataclasses import replace

import numpy as np
import pytest
from runner_support import toy
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from oblique_cli.estimators.encoding import ColumnEncoder, encoded_names, fold_encoder
from oblique_cli.ground.nouns import DatasetSpec


def test_columns_that_can_be_used_as_they_are_cost_nothing():
    codes = replace(toy(), qualitative=(0,), levels={0: tuple(map(str, range(30)))})
    assert fold_encoder(toy(), DatasetSpec("toy", missing="impute", encoding="onehot"), toy().X) is None
    assert fold_encoder(codes, DatasetSpec("toy", encoding="ordinal"), codes.X) is None


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
    encoder = fold_encoder(dataset, DatasetSpec("toy", missing=missing, encoding=encoding), X)
    if encoder is not None:
        assert encoder.transform(X).shape[1] == len(names)
    assert encoded_names(dataset, encoder) == names


def by_scikit_learn(dataset, missing, encoding):
    """The same by scikit-learn's own transformers, which learn from the rows that they are given."""

    def steps(strategy, encode):
        parts = [SimpleImputer(strategy=strategy, keep_empty_features=True)] if missing == "impute" else []
        parts += [OneHotEncoder(handle_unknown="ignore", sparse_output=False)] if encode else []
        return make_pipeline(*parts) if parts else "passthrough"

    words = sorted(dataset.qualitative)
    numbers = [j for j in range(dataset.p) if j not in words]
    return ColumnTransformer(
        [("numbers", steps("median", False), numbers), ("words", steps("most_frequent", encoding == "onehot"), words)]
    )


@pytest.mark.parametrize("encoding", ["onehot", "ordinal"])
@pytest.mark.parametrize("missing", ["impute", "keep"])
@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("n", [7, 40])
def test_the_encoder_does_what_those_of_scikit_learn_do(encoding, missing, share, n):
    rng = np.random.default_rng(n)
    X = np.column_stack([rng.integers(0, 3, 2 * n), rng.normal(size=(2 * n, 2)), rng.integers(0, 4, 2 * n)])
    X[rng.random(X.shape) < share] = np.nan
    X[:n, 1] = np.where(share, np.nan, X[:n, 1])  # a column without a value in the training rows
    levels = {0: ("x", "y", "z"), 3: ("a", "b", "c", "d")}
    dataset = replace(toy(2 * n), X=X, qualitative=(0, 3), levels=levels)
    encoder = fold_encoder(dataset, DatasetSpec("toy", missing=missing, encoding=encoding), X[:n])
    if encoder is None:
        assert encoding == "ordinal" and (missing == "keep" or not share)
        return
    theirs = by_scikit_learn(dataset, missing if share else "keep", encoding).fit(X[:n])
    X[n:, 0] += n % 2  # some levels that the training rows do not show
    assert encoder.transform(X).tobytes() == np.ascontiguousarray(theirs.transform(X), dtype=np.float64).tobytes()


def test_weights_count_rows_several_times():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=30), rng.integers(0, 4, 30)])
    X[rng.random(X.shape) < 0.2] = np.nan
    weights = rng.integers(1, 5, 30)
    result = ColumnEncoder.learned(X, (1,), fill=True, indicators=True, weights=weights.astype(float))
    repeated = ColumnEncoder.learned(np.repeat(X, weights, axis=0), (1,), fill=True, indicators=True)
    assert result.transform(X).tobytes() == repeated.transform(X).tobytes()
    assert result.medians.tolist() == repeated.medians.tolist() and result.usual.tolist() == repeated.usual.tolist()
