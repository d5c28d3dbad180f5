"""Data frames of polars and tables of pyarrow mean what the same data frame of pandas means."""

import datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from oblique_cli import HHCARTClassifier, load, save
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS, make

pl = pytest.importorskip("polars", reason="polars is not installed")
pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

RNG = np.random.default_rng(0)
NUMBERS, WORDS = RNG.normal(size=60), RNG.choice(["u", "v", "w"], 60)
COLUMNS = {"a": NUMBERS.tolist(), "b": [None if i % 11 == 0 else i % 9 for i in range(60)], "w": WORDS.tolist()}
Y = np.where((NUMBERS > 0) ^ (WORDS == "u"), "p", "q")
PLAIN = pd.DataFrame(COLUMNS)
FRAMES = {
    "polars": pl.DataFrame(COLUMNS),
    "polars categorical": pl.DataFrame(COLUMNS).with_columns(pl.col("w").cast(pl.Categorical)),
    "pyarrow": pa.table(COLUMNS),
    "pyarrow dictionary": pa.table(COLUMNS | {"w": pa.array(COLUMNS["w"]).dictionary_encode()}),
    "nullable": PLAIN.convert_dtypes(),
    "arrow in pandas": PLAIN.convert_dtypes(dtype_backend="pyarrow"),
    "category": PLAIN.astype({"w": "category"}),
    "object": PLAIN.astype({"w": object}),
}
OTHERS = ["axis_parallel", "tao", "logistic_tree", "bagged_forest", "oblique_boosting", "c45", "knn"]
CASES = [*(("hhcart_a", kind) for kind in FRAMES), *zip(OTHERS, FRAMES, strict=False)]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_frame_of_another_library_is_fitted_as_one_of_pandas(name, kind):
    further = {"n_estimators": 3} if "n_estimators" in ALGORITHMS[name].parameters else {}
    try:
        expected = make(name, random_state=0, **further).fit(PLAIN, Y)
    except ValueError as error:  # words or gaps that the algorithm does not take
        with pytest.raises(type(error)):
            make(name, random_state=0, **further).fit(FRAMES[kind], Y)
        return
    model = make(name, random_state=0, **further).fit(FRAMES[kind], Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "w"]
    for X in (PLAIN, FRAMES[kind]):
        np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(PLAIN))


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_named_columns_dates_and_files_are_as_for_pandas(kind, tmp_path):
    X = FRAMES[kind]
    model = HHCARTClassifier(qualitative=["w"]).fit(X, pl.Series(Y) if kind == "polars" else pa.array(Y))
    assert model.levels_ == {2: ("u", "v", "w")}
    save(model, tmp_path / "model.json")
    np.testing.assert_array_equal(load(tmp_path / "model.json").predict(X), model.predict(PLAIN))
    days = {"day": [datetime.date(2020, 1, 1 + i % 28) for i in range(60)]}
    dates = pl.DataFrame(days) if kind == "polars" else pa.table(days)
    with pytest.raises(ConfigError, match="column 'day' holds dates"):
        HHCARTClassifier().fit(dates, Y)


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_a_pipeline_hands_over_frames_by_set_output(output):
    steps = make_pipeline(SimpleImputer(), HHCARTClassifier()).set_output(transform=output)
    numbers = PLAIN[["a", "b"]]
    assert steps.fit(numbers, Y)[-1].feature_names_in_.tolist() == ["a", "b"]
    plain = cross_val_score(make_pipeline(SimpleImputer(), HHCARTClassifier()), numbers, Y)
    np.testing.assert_array_equal(cross_val_score(steps, numbers, Y), plain)
