"""What an algorithm has learned can be saved, read and asked again: wide, rare, constant and extreme tables."""

from collections.abc import Callable

import numpy as np
import pytest
from robustness_support import DISCRETE, NAMES, REGRESSION, SOAK, estimator, rows

from oblique_cli.errors import ConfigError, DataError
from oblique_cli.models import load, save

Table = tuple[np.ndarray, np.ndarray]


def wide(name: str, p: int) -> Table:
    """More columns than a machine word has bits, and labels that need many of them."""
    X, y = rows(name, 30, p)
    rng = np.random.default_rng(p)
    if name in DISCRETE:
        X = np.floor(2 * rng.uniform(size=X.shape))
    return X, y if name in REGRESSION else rng.integers(2, size=len(X))


def rare(name: str) -> Table:
    """One row of each of two classes among forty."""
    X, y = rows(name)
    return X, y if name in REGRESSION else np.where(np.arange(40) < 2, np.arange(40), 2)


def one_of_another(name: str) -> Table:
    """One row of another class, so that trees may have no split."""
    X, y = rows(name)
    return X, y if name in REGRESSION else (np.arange(40) == 7).astype(int)


def in_units(units: list[float]) -> Callable[[str], Table]:
    """Columns in units of their own."""

    def table(name: str) -> Table:
        X, y = rows(name)
        return X * np.array(units), y

    return table


def subnormal(name: str) -> Table:
    """A column of 0 and of the smallest number there is."""
    X, y = rows(name)
    X[:, 1] = np.where(X[:, 1] > np.median(X[:, 1]), 5e-324, 0.0)
    return X, y


TABLES: dict[str, Callable[[str], Table]] = {
    "64 columns": lambda name: wide(name, 64),
    "150 columns": lambda name: wide(name, 150),
    "rare classes": rare,
    "one row of another class": one_of_another,
    "one column": lambda name: (rows(name)[0][:, :1], rows(name)[1]),
    "columns of one value": lambda name: (np.ones((40, 2)), rows(name)[1]),
    "1e300": in_units([1e300, 1e300, 1e300]),
    "1e-310": in_units([1e-310, 1e-310, 1e-310]),
    "mixed": in_units([1e300, 1e-310, 1.0]),
    "subnormal": subnormal,
}


def in_turn() -> list[tuple[str, str]]:
    """Every algorithm with every second table, by turns: most kinds of model are of many algorithms; all in a soak."""
    tables = list(TABLES)
    return [(name, table) for i, name in enumerate(NAMES) for table in (tables if SOAK else tables[i % 2 :: 2])]


@pytest.mark.sample(37)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "table"), in_turn())
def test_a_model_that_was_fitted_is_saved_and_read_and_predicts_the_same_bits(name, table, tmp_path):
    X, y = TABLES[table](name)
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
