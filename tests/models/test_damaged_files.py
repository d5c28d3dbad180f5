"""Damaged model files give one sentence with the file in it, or a model that predicts; never a traceback."""

import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_commands import model_of
from models_support import CASES, NEW, fitted

from oblique_cli.errors import DataError
from oblique_cli.models import load, save
from oblique_cli.models.file_format import binary_of, digest


def outcome(path: Path) -> str:
    """ "" if a model loads and predicts, else its sentence."""
    try:
        load(path).predict(NEW)
    except DataError as error:
        return str(error)
    return ""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.json"
    save(fitted("hhcart_a"), path)
    return path


def tree_of(document: dict[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = document["state"]["tree_"]
    return tree


def said_of(path: Path, document: dict[str, Any]) -> str:
    path.write_text(json.dumps({**document, "digest": digest(document)}))
    with pytest.raises(DataError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")
    return str(caught.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda d: d.update(version=2), "the file has format version 2, and this version reads 1; install a newer"),
        (lambda d: d.update(version="1"), "the file has format version '1', and this version reads 1; fit the model"),
        (lambda d: d.update(format="tree"), "this is no model file"),
        (lambda d: d.update(algorithm="a\nb"), r"algorithm must be a name of one line. Got 'a\nb'."),
        (lambda d: d.update(kind="bush"), "kind is 'bush', and this version knows forest,"),
        (lambda d: d.pop("classes"), "the file has no key 'classes'."),
        (lambda d: d.update(extra=1), "the file has a key 'extra', which it should not have."),
        (lambda d: tree_of(d)["left"].__setitem__(1, 0), "state.tree_ is damaged: node 1 has a child that does"),
        (lambda d: tree_of(d)["left"].__setitem__(0, 999), "state.tree_.left must hold numbers below"),
        (lambda d: tree_of(d)["left"].__setitem__(0, 2), "state.tree_ is damaged: every node but the first must"),
        (lambda d: d["state"]["tree_"]["left"].pop(), "state.tree_.right must have size"),
        (lambda d: d["state"]["tree_"]["coef_"][0].pop(), "state.tree_.coef_ must be an array, and its rows differ"),
        (lambda d: d["state"]["tree_"].update(left=[0.5]), "state.tree_.left must hold int32 numbers."),
        (lambda d: d["state"]["tree_"].update(left="no"), "state.tree_.left must be an array. Got 'no'."),
        (lambda d: d["classes"].append("c"), "the estimator has 3 classes, and there are 4 labels."),
        (lambda d: d["feature_names"].append("c"), "the estimator takes 3 columns, and there are 4."),
        (lambda d: d.update(task="regression"), "the estimator is not for regression."),
        (lambda d: d["state"]["classes_"].update(dtype="<c16"), "state.classes_ must be labels of a type of numbers"),
        (
            lambda d: d["state"]["classes_"].update(dtype="<U9999999", values=["a", "b", "c"]),
            "state.classes_ must be labels of a type as long as they are. Got <U9999999 for at most 1 characters.",
        ),
        (lambda d: d["state"]["classes_"].update(dtype="|O8"), "state.classes_ must be labels of a type of numbers"),
        (
            lambda d: tree_of(d).update(probabilities=[[2.0] * 3] * len(tree_of(d)["left"])),
            "state.tree_ is damaged: probabilities must not be negative and must add up to 1",
        ),
        (lambda d: d["state"]["tree_"].update(probabilities=[[1.0]]), "state.tree_.probabilities must have"),
        (lambda d: d["state"]["tree_"].update(left={"npz": "a0"}), "state.tree_.left names the array 'a0', which the"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(path, change, sentence):
    document = json.loads(path.read_text())
    change(document)
    assert said_of(path, document).startswith(sentence)


def test_a_number_of_columns_costs_nothing_until_it_is_true(tmp_path):
    path = tmp_path / "model.json"
    save(model_of("hhcart_a"), path)
    document = json.loads(path.read_text())
    document["encoder"]["n_columns"] = 2**31
    tracemalloc.start()
    try:
        assert said_of(path, document).startswith("encoder is damaged: quantitative and qualitative must name every")
        assert tracemalloc.get_traced_memory()[1] < 2**27  # the buffer for a file of any size is half of it
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ('"task": ', '"task": "classification",\n  "task": ', "the key 'task' comes twice in one object."),
        ('"thresholds": [', '"thresholds": [NaN, ', "the file holds NaN, which is no number of JSON."),
        ('"thresholds": [', '"thresholds": [-Infinity, ', "the file holds -Infinity, which is no number of JSON."),
        ('"thresholds": [', '"thresholds": [1e999, ', "the number 1e999 is not finite."),
        ('"facts": {}', '"facts": ' + "[" * 100_000 + "]" * 100_000, "the JSON is nested too deeply"),
        ('"facts": {}', '"facts": ' + "7" * 5000, "the file holds a number of too many digits."),
        ('"facts": {}', '"facts": {"a": 1}', "the content does not have the digest that was written with it"),
        ('"task"', "task", "line 8, column 3 is no JSON"),
        ("}", "\udce4}", "this is not UTF-8 text"),
    ],
)
def test_text_that_is_not_strict_json_is_refused(path, before, after, sentence):
    text = path.read_text()
    assert before in text
    path.write_bytes(text.replace(before, after, 1).encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: {sentence}")


@pytest.mark.parametrize("name", ["save", "load", "make", "ALGORITHMS", "Tree", "os.system", 3])
def test_a_part_that_is_no_class_of_parameters_is_refused(tmp_path, name):
    path = tmp_path / "model.json"
    save(CASES["quantiles of trees"]()[0], path)
    document = json.loads(path.read_text())
    document["parameters"]["energy"] = {"part": ["public", name], "parameters": {"path": "x", "model": 1}}
    path.write_text(json.dumps({**document, "digest": digest(document)}))
    with pytest.raises(
        DataError, match=r"parameters\.energy names .*, which is no class of oblique_cli with parameters"
    ):
        _ = load(path).estimator
    assert not (tmp_path / "x").exists()


def test_whitespace_and_the_order_of_keys_do_not_matter(path):
    document = json.loads(path.read_text())
    path.write_text(json.dumps(dict(reversed(document.items())), indent=3))
    assert load(path).classes == ("0", "1", "2")


def test_a_file_that_is_too_large_is_refused_unread(path, monkeypatch):
    monkeypatch.setattr("oblique_cli.models.file_format.MOST_JSON", 100)
    with pytest.raises(DataError, match="the file is larger than 100 bytes, which no model file is"):
        load(path)


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"none\.json: cannot be read \(No such file or directory\)"):
        load(tmp_path / "none.json")
    with pytest.raises(DataError, match=r"cannot be read|not a regular file"):
        load(tmp_path)


@pytest.fixture
def large(tmp_path, monkeypatch):
    monkeypatch.setattr("oblique_cli.models.file_format.INLINE", 10)
    path = tmp_path / "large.json"
    save(fitted("knn"), path)
    return path


def test_the_binary_file_must_be_there_and_the_right_one(large):
    packed = binary_of(large)
    content = packed.read_bytes()
    packed.unlink()
    assert "the file is missing; it belongs to the model" in outcome(large)
    packed.write_bytes(content + b" ")
    assert "larger than" in outcome(large)
    packed.write_bytes(content[:-1] + b" ")
    assert "is not the one that was written with the model" in outcome(large)


def rewritten(large: Path, packed: bytes) -> str:
    """The outcome with another binary file of the right digest."""
    document = json.loads(large.read_text())
    binary_of(large).write_bytes(packed)
    import hashlib

    document["arrays"] = {"digest": f"sha256:{hashlib.sha256(packed).hexdigest()}", "bytes": len(packed)}
    large.write_text(json.dumps({**document, "digest": digest(document)}))
    return outcome(large)


def test_a_crafted_binary_file_is_refused(large, monkeypatch):
    with np.load(binary_of(large)) as archive:
        arrays = dict(archive)

    def packed(**arrays: Any) -> bytes:
        stream = io.BytesIO()
        np.savez_compressed(stream, **arrays)
        return stream.getvalue()

    assert rewritten(large, packed(**arrays)) == ""
    assert "the arrays cannot be read" in rewritten(large, b"PK nothing")
    assert "which the binary file beside it does not have" in rewritten(large, packed(b=np.zeros(3)))
    assert "that nothing refers to" in rewritten(large, packed(**arrays, spare=np.zeros(3)))
    pickled = {name: np.array([{}, {}], dtype=object) for name in arrays}
    assert "the arrays cannot be read (ValueError: Object arrays cannot be loaded" in rewritten(
        large, packed(**pickled)
    )
    floats = {name: array.astype(np.float32) for name, array in arrays.items()}
    assert "must hold" in rewritten(large, packed(**floats))
    holes = {name: np.full_like(array, np.nan) if array.dtype.kind == "f" else array for name, array in arrays.items()}
    assert "holds values that are not finite" in rewritten(large, packed(**holes))
    monkeypatch.setattr("oblique_cli.models.file_format.MOST_ARRAYS", 10**6)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive_:
        archive_.writestr("a0.npy", bytes(2 * 10**6))
    assert "unpacked, the arrays take" in rewritten(large, stream.getvalue())
