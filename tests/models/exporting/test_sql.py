"""SQL: literals that no reader of decimals takes for their neighbor, and what is refused."""

import math
import sqlite3
from contextlib import closing

import export_support as support
import numpy as np
import pytest

from oblique_cli import Model, make
from oblique_cli.errors import ConfigError
from oblique_cli.models.exporting import export
from oblique_cli.models.exporting.sql import number
from oblique_cli.models.procedure import procedure_of


def test_sqlite_reads_every_literal_as_the_number_it_stands_for():
    rng = np.random.default_rng(3)
    values = [*(rng.normal(size=20_000) * 10.0 ** rng.uniform(-8, 8, 20_000)).tolist(), 0.1, 0.0, 2.0**-1074, 1e300]
    with closing(sqlite3.connect(":memory:")) as base:
        for first in range(0, len(values), 500):
            part = values[first : first + 500]
            (row,) = base.execute("SELECT " + ", ".join(number(value) for value in part))
            assert list(row) == part
    assert number(2.45) == "2.45" and number(math.nextafter(1.0, 2.0)) == "1.0000000000000002"


def test_a_tree_too_large_for_sql_is_refused_in_a_sentence():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4500, 2))
    model = Model.of(make("axis_parallel").fit(X, rng.integers(0, 2, 4500)), algorithm="axis_parallel")
    with pytest.raises(
        ConfigError, match=r"^format sql takes trees of at most 1000 splits\. This one has \d+: prune it"
    ):
        export(model, "sql")


def test_columns_of_the_table_are_kept_and_none_is_covered():
    case = support.iris("axis_parallel")
    names = ("leaf", "prediction", "share", "Leaf_2")
    model = Model(**{**vars(case.model), "feature_names": names})
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(f"CREATE TABLE data ({', '.join(f'{chr(34)}{name}{chr(34)} REAL' for name in names)}, id TEXT)")
        base.execute("INSERT INTO data VALUES (5.1, 3.5, 1.4, 0.2, 'first')")
        result = base.execute(str(export(model, "sql")))
        header = [column[0] for column in result.description]
        assert header == [*names, "id", "leaf_3", "prediction_2", "share_2"]
        assert result.fetchone()[-2] == "Iris-setosa"


def test_numbers_in_columns_of_text_are_numbers():
    case = support.iris("axis_parallel")
    names = [cell.name for cell in case.procedure.cells]
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(f"CREATE TABLE data ({', '.join(f'{name} TEXT' for name in names)})")
        base.executemany("INSERT INTO data VALUES (?, ?, ?, ?)", [[str(x) for x in row] for row in case.X.tolist()])
        texts = [row[-2] for row in base.execute(str(export(case.model, "sql")))]
    assert texts == support.expected(case, case.X)[0]


def test_a_name_with_a_nul_is_refused():
    case = support.iris()
    model = Model(**{**vars(case.model), "feature_names": ("a\0b", "c", "d", "e")})
    with pytest.raises(ConfigError, match="a name in SQL holds no NUL character"):
        export(model, "sql")
    with pytest.raises(ConfigError, match=r"XML, and so PMML, holds no character U\+0000"):
        export(model, "pmml")


def test_columns_called_as_those_of_the_statement_are_not_mixed_up(tmp_path):
    inner = ("row_z0", "ROW_c0", "row__l0_1", "row_r0_0", "row_leaf", "row_s0")
    for case in (
        support.awkward(inner, leaf_models="logistic", leaf_penalty=1.0, max_depth=2),
        support.iris("mprof_t", n_estimators=3),
        support.iris("oblique_boosting", n_estimators=3),
    ):
        names = inner[: len(case.procedure.cells)]
        model = Model(**{**vars(case.model), "feature_names": names})
        if model.columns is not None:
            model = case.model
        renamed = support.Case(model, procedure_of(model), case.X)
        X = support.rows(renamed, n=200)
        labels, shares = support.say_sql(str(export(model, "sql")), renamed, X, tmp_path)
        assert labels == support.expected(renamed, X)[0] and shares is not None
