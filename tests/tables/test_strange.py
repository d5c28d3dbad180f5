"""Strange tables are read as they are meant, or refused with the option that helps: none is misread in silence."""

import json
import re

import numpy as np
import pytest

from oblique_cli.data.own.front import FEATURES, Columns, Reading, chunks, read_own
from oblique_cli.data.own.source import Source
from oblique_cli.errors import DataError
from tables import strange

QUICK = 14  # tables in strange files that are always read
CELLS, FILES = strange.tables(), strange.files()
STEP = len(FILES) // QUICK
NAMES = [*CELLS, *(pytest.param(name, marks=[pytest.mark.long] * bool(k % STEP)) for k, name in enumerate(FILES))]
MOST_REFUSED = 0.03
OPTION = re.compile(r"--na (nonnumeric)\b")


def read(table: strange.Strange, **how):
    source = Source("strange.csv", content=table.content)
    reading = Reading(target=table.target[0], missing="impute", encoding="onehot", **how)
    return source, *read_own(source, reading, "strange")


@pytest.mark.parametrize("makers", [CELLS, pytest.param(FILES, marks=pytest.mark.long)], ids=["cells", "files"])
def test_there_are_enough_and_few_may_be_refused(makers):
    assert len(makers) >= 120
    assert sum(make().refusable for make in makers.values()) <= MOST_REFUSED * len(makers)


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", NAMES)
def test_a_strange_table_is_read_as_it_is_meant(name):
    table, how, error = {**CELLS, **FILES}[name](), {}, ""
    try:
        source, dataset, columns, notes = read(table)
    except DataError as caught:
        error = str(caught)
        assert table.refusable and re.search(r"column \d+ \('[vw]'\).* in row \d+ \(line \d+\)", error)
        how["missing_marks"] = (OPTION.search(error)[1],)
        source, dataset, columns, notes = read(table, **how)
    treatments = {column.name: column.treatment for column in columns.columns}
    column_of = dict(zip(columns.feature_names, dataset.X.T, strict=True))
    assert dataset.task == "classification"
    assert [dataset.classes[code] for code in dataset.y] == table.target[1]
    if table.reported:
        assert any("left out: " in note for note in notes)
    for column, values in table.numbers.items():
        assert treatments[column] == "number", "lost, or taken for levels"
        np.testing.assert_allclose(column_of[column], values, rtol=1e-12, equal_nan=True)
        if column != "x" and not error and "mark" not in name and "plain" not in name:
            assert any(repr(column) in note or "missing" in note for note in notes)
    for column, values in table.bounds.items():
        np.testing.assert_array_equal(column_of[f"{column} censored"], values)
    for column, values in table.levels.items():
        assert treatments[column] == "levels"
        pairs = set(zip(column_of[column].tolist(), values, strict=True))
        assert len(pairs) == len(set(values)) == len(columns.levels[columns.feature_names.index(column)])
    for column in table.dates:
        assert treatments[column] == "date"
    again = Columns.from_plain(json.loads(json.dumps(columns.to_plain())))
    X = np.concatenate([part.X for part in chunks(source, again)])
    np.testing.assert_array_equal(X, dataset.X)
    if table.dates:
        _, dataset, columns, _ = read(table, dates="days", **how)
        column_of = dict(zip(columns.feature_names, dataset.X.T, strict=True))
        for column, values in table.dates.items():
            np.testing.assert_array_equal(column_of[column], values)
    left_out = ["identifier"] * ("names of rows" in name)
    assert all(column.treatment in (*FEATURES, "target", "date", *left_out) for column in columns.columns)
