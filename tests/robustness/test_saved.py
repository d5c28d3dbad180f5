"""What an algorithm has learned of a degenerate table can be saved, read and asked again."""

import pytest
from robustness_support import DEGENERATE, NAMES, degenerate, estimator

from oblique_cli.errors import ConfigError, DataError
from oblique_cli.models import load, save


@pytest.mark.sample(37)
@pytest.mark.covered(2)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", DEGENERATE)
@pytest.mark.parametrize("name", NAMES)
def test_a_model_that_was_fitted_is_saved_and_read_and_predicts_the_same_bits(name, table, tmp_path):
    X, y = degenerate(name, table)
    try:
        fitted = estimator(name).fit(X, y)
    except (ConfigError, DataError) as error:
        assert "\n" not in str(error) and str(error).endswith(".")
        return
    save(fitted, tmp_path / "model.json")
    model = load(tmp_path / "model.json")
    assert model.predict(X).tobytes() == fitted.predict(X).tobytes()
    assert model.estimator.predict(X).tobytes() == fitted.predict(X).tobytes()
    if hasattr(fitted, "predict_proba"):
        assert model.predict_proba(X).tobytes() == fitted.predict_proba(X).tobytes()
