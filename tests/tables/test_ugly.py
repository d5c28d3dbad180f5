"""Tables as people have them, written on purpose: what they hold is known to the bit."""

import json

import numpy as np
import pytest

from oblique_cli.data.own.front import FEATURES, LEFT_OUT, Columns, Reading, chunks, read_own
from oblique_cli.data.own.source import Source
from tables import corpus, judging, ugly


@pytest.mark.long
def test_there_are_forty_and_they_are_written_alike_each_time():
    assert len(ugly.TABLES) >= 40
    for name, maker in ugly.TABLES.items():
        made = ugly.table(name)
        if len(made.content) < 100_000:
            assert maker(name).content == made.content
        assert set(made.labels.values()) <= corpus.LABELS.keys()


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ugly.TABLES)
def test_an_ugly_table_is_read_as_it_was_written(name):
    made = ugly.table(name)
    source = Source(f"{name}.csv", content=made.content)
    reading = Reading(target=made.target, missing="impute", encoding="onehot", **made.said)
    dataset, columns, _ = read_own(source, reading, name)
    assert (columns.delimiter, columns.charset, columns.task) == (made.delimiter, made.charset, made.task)
    fates = {column.name: column.treatment for column in columns.columns}
    assert fates.keys() == made.labels.keys()
    for column, label in made.labels.items():
        if label in judging.STAYS:
            assert fates[column] in FEATURES, column
        elif label != "target":
            assert fates[column] in LEFT_OUT, column
        if label in ("date", "text", "identifier", "constant", "empty"):
            assert fates[column] == label, column
    for column, values in made.truth.items():
        found = dataset.y if column == made.target else dataset.X[:, columns.feature_names.index(column)]
        assert np.array_equal(found, np.array(values, dtype=float), equal_nan=True), column
    again = Columns.from_plain(json.loads(json.dumps(columns.to_plain())))
    parts = list(chunks(source, again))
    assert np.array_equal(np.concatenate([part.X for part in parts]), dataset.X, equal_nan=True)
    assert np.array_equal(np.concatenate([part.y for part in parts]), dataset.y)
