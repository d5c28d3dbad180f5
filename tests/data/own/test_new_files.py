"""New rows in a file that another program wrote: delimiter, decimals, character set and lines are told anew."""

import numpy as np
import pytest
from covering import few

from oblique_cli.data.own.front import Reading, chunks, read_own
from oblique_cli.data.own.source import Source
from oblique_cli.errors import DataError
from oblique_cli.ground.nouns import TextOptions

N = 60
ROWS = [[i * 37.5 - 900, i % 13 / 4, ("Genf", "Zürich")[i // 2 % 2], "ab"[i // 3 % 2]] for i in range(N)]
NAMES = ["far", "near", "town", "y"]


def written(decimal: str, thousands: str = "", sign: str = ";", above: str = "") -> str:
    def cell(value):
        if isinstance(value, str):
            return value
        return f"{value:,.2f}".replace(",", "T").replace(".", decimal).replace("T", thousands)

    return above + "\n".join(sign.join(map(cell, row)) for row in [NAMES, *ROWS]) + "\n"


def source(text: str, charset: str = "utf-8") -> Source:
    return Source("new.csv", content=text.encode(charset))


@pytest.fixture(scope="module", params=[(".", "", ","), (",", "", ";"), (",", ".", ";"), (".", ",", "\t")])
def learned(request):
    decimal, thousands, sign = request.param
    return read_own(source(written(decimal, thousands, sign)), Reading("y", missing="impute", encoding="onehot"))[:2]


@few(
    1,
    form=[(".", "", ","), (",", "", ";"), (",", ".", "\t"), (".", ",", ";"), (",", " ", "|")],
    charset=["utf-8", "cp1252", "utf-16"],
)
def test_a_file_of_another_country_is_read(learned, form, charset):
    dataset, columns = learned
    notes: list[str] = []
    content = source(written(*form, above="Our rows\n\n"), charset)
    (chunk,) = chunks(content, columns, notes=notes)
    assert np.array_equal(chunk.X, dataset.X) and np.array_equal(chunk.y, dataset.y)
    assert len(notes) == 1 and "'Our rows'" in notes[0]


def test_options_say_how_a_file_is_read(learned):
    dataset, columns = learned
    text = written(",", ".", "!").replace("Genf", "weg", 1) + "x!y!z\n"
    options = TextOptions(delimiter="!", decimal="comma", thousands="point", missing_marks=("weg",), skip_end=1)
    (chunk,) = chunks(source(text), columns, options=options)
    assert np.isnan(chunk.X[0, 2]) and np.array_equal(chunk.X[1:], dataset.X[1:])


def test_all_columns_that_are_not_there_are_named(learned):
    _, columns = learned
    with pytest.raises(DataError, match=r"there are no columns 'far', 'town', which the model needs"):
        list(chunks(source("near;y\n1;a\n"), columns))
    with pytest.raises(DataError, match=r"there is no column 'town', which is one of the features"):
        list(chunks(source("near;far;y\n1;2;a\n"), columns))
    (chunk,) = chunks(source("near;far;y\n1;2;a\n"), columns, unused=lambda: ("town",))
    assert chunk.X[0, [columns.feature_names.index(name) for name in ("near", "far", "town")]].tolist() == [1, 2, 0]
