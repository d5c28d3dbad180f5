"""`oblique predict`: columns that go with the predictions, and CSV that is read back as it was meant."""

import csv
import io
import json
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_commands import model_of

from oblique_cli.data.own.front import Chunk
from oblique_cli.models import Model
from oblique_cli.models.new_rows import CSVWriter, Predicted

NEW = 'code,row,a,b,color\n"p,1",7,1,2,red\n"p\n2",8,-3,0,red\np3,9,0,0.5,blue\n'


@pytest.fixture
def model(call):
    """A model whose fit left out "code", in model.json, and rows to predict in new.csv."""
    rows = [
        f"p{i:03},{i % 7 - 3}.{i % 3},{i % 5},{('red', 'blue')[i % 2]},{('no', 'yes')[i % 7 > 3]}" for i in range(70)
    ]
    (call.folder / "t.csv").write_text("\n".join(["code,a,b,color,y", *rows]) + "\n")
    (call.folder / "new.csv").write_text(NEW)
    ended = call("fit", "t.csv", "--target", "y", "--algorithm", "axis_parallel", "--folds", "2", "-o", "model.json")
    assert ended.code == 0, ended.err
    return "model.json"


@cache
def a_model() -> Model:
    return model_of("axis_parallel")


def table(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_kept_columns_come_first_by_name_or_as_identifiers_and_one_named_as_a_prediction_is_called_input(model, call):
    lines = table(call("predict", model, "new.csv").out)
    assert lines[0] == ["code", "row", "prediction"]
    assert [row[:2] for row in lines[1:]] == [["p,1", "1"], ["p\n2", "2"], ["p3", "3"]]
    (call.folder / "other.csv").write_text(NEW.replace("code,", "kode,", 1))
    assert table(call("predict", model, "other.csv").out)[0] == ["row", "prediction"]
    lines = table(call("predict", model, "new.csv", "--keep", "color", "--keep", "code").out)
    assert lines[0] == ["color", "code", "row", "prediction"] and lines[2][:3] == ["red", "p\n2", "2"]
    assert table(call("predict", model, "new.csv", "--keep", "none").out)[0] == ["row", "prediction"]
    lines = table(call("predict", model, "new.csv", "--keep", "row", "--leaf").out)
    assert lines[0] == ["input.row", "row", "prediction", "leaf"] and lines[1][:2] == ["7", "1"]


def test_json_parquet_and_an_empty_table_have_the_kept_columns_too(model, call):
    rows = json.loads(call("predict", model, "new.csv", "--format", "json").out)
    assert list(rows[1]) == ["code", "row", "prediction"] and rows[1]["code"] == "p\n2"
    (call.folder / "empty.csv").write_text("code,a,b,color\n")
    assert call("predict", model, "empty.csv").out == "code,row,prediction\n"
    pq = pytest.importorskip("pyarrow.parquet", reason="reads Parquet")
    assert call("predict", model, "new.csv", "--format", "parquet", "--output", "p.parquet").code == 0
    assert pq.read_table(call.folder / "p.parquet").column("code").to_pylist() == ["p,1", "p\n2", "p3"]


labels = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1), min_size=3,
                  max_size=3, unique=True)  # fmt: skip


@given(labels, labels)
def test_whatever_a_label_or_a_kept_cell_holds_is_read_back(classes, retained):
    made = a_model()
    model = Model(made.fitted, classes=tuple(classes), feature_names=made.feature_names, encoder=made.encoder)
    stream = io.BytesIO()
    chunk = Chunk(np.zeros((3, 3)), None, np.arange(3), texts={"id": retained})
    CSVWriter(stream, model).add(Predicted(1, np.array(classes, dtype=object), None, None, chunk))
    expected = [
        ["id", "row", "prediction"],
        *([k, str(i), c] for i, (k, c) in enumerate(zip(retained, classes, strict=True), 1)),
    ]
    assert table(stream.getvalue().decode()) == expected


LONG = "x" * 50_000


@pytest.mark.parametrize(
    ("command", "table_", "code"),
    [
        (("score", "model.json", "long.csv"), f"a,b,color,y\n1,2,red,{LONG}\n", 0),
        (("explain", "model.json", "--values", "a=1,b=2,color=red", "--to", LONG), "", 2),
        (("predict", "model.json", "new.csv", "--keep", LONG), "", 4),
        (("predict", "model.json", "long.csv"), f"a,b,color\n1,2,{LONG}\n", 0),
    ],
)
def test_a_sentence_quotes_sixty_characters_at_most(model, call, command, table_, code):
    (call.folder / "long.csv").write_text(table_)
    ended = call(*command)
    assert ended.code == code and "xxx..." in ended.err and len(ended.err) < 500
