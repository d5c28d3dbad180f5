"""Every format of a table: one table in many files is read alike, and a format that cannot be read is named."""

import gzip
import io
import json
import pickle
import sqlite3
import zipfile
from contextlib import closing

import numpy as np
import pytest
from tables.strange_files import DECLARED, SHEETS, TEXTS, TYPED, text

from oblique_cli.data.own.front import Reading, chunks, read_own
from oblique_cli.data.own.rows import opened
from oblique_cli.data.own.source import Source, source_of
from oblique_cli.errors import DataError

USUAL = {"missing": "impute", "encoding": "onehot"}
N = 40
SIZE = [round(np.sin(i) * 10, 3) for i in range(N)]
COUNT = [i % 7 for i in range(N)]
COLOR = [("red", "green", "blue")[i // 2 % 3] for i in range(N)]
CLASS = ["ab"[(i // 3) % 2] for i in range(N)]
NAMES = ["size", "count", "color", "kind"]
ROWS = list(zip(SIZE, COUNT, COLOR, CLASS, strict=True))
GAP = 5  # row whose size is missing


def frame():
    pandas = pytest.importorskip("pandas")
    made = pandas.DataFrame(dict(zip(NAMES, zip(*ROWS, strict=True), strict=True)))
    made.loc[GAP, "size"] = float("nan")
    return made


KINDS = {"size": "number", "count": "number", "color": "levels", "kind": "levels"}
LINES = [NAMES, *(["" if i == GAP else str(x), str(c), color, label] for i, (x, c, color, label) in enumerate(ROWS))]


def json_lists() -> bytes:
    return json.dumps({name: json.loads(frame()[name].to_json(orient="values")) for name in NAMES}).encode()


def json_split() -> bytes:
    return frame().to_json(orient="split", index=False).encode()


def excel_with_a_title() -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.create_sheet("data")
    sheet = book["data"]
    sheet["B2"] = "Sizes of things"
    for row in [NAMES, *[[None if i == GAP else row[0], *row[1:]] for i, row in enumerate(ROWS)]]:
        sheet.append([None, *row])
    sheet.append([None, "Total", 99])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def stata() -> bytes:
    out = io.BytesIO()
    frame().assign(color=lambda t: t["color"].astype("category")).to_stata(out, write_index=False)
    return out.getvalue()


def spss(tmp_path) -> bytes:
    import pyreadstat

    codes = {"red": 1.0, "green": 2.0, "blue": 3.0}
    made = frame().assign(color=lambda t: t["color"].map(codes))
    pyreadstat.write_sav(made, tmp_path / "t.sav", variable_value_labels={"color": {v: k for k, v in codes.items()}})
    return (tmp_path / "t.sav").read_bytes()


def written(form: str):
    """A maker of LINES in a form of strange_files."""
    return lambda: {**TEXTS, **SHEETS, **DECLARED, **TYPED}[form](LINES, False, KINDS)


# Name -> format, and what makes the table.
MAKERS = {
    **{form: ("arff", written(form)) for form in ("ARFF", "sparse ARFF", "KEEL")},
    **{form: ("csv", written(form)) for form in ("Orange", "Orange in one line")},
    **{form: ("json", written(form)) for form in ("JSON", "JSON lines", "JSON columns")},
    "JSON lists": ("json", json_lists),
    "JSON split": ("json", json_split),
    "Excel": ("excel", written("Excel")),
    "Excel with a title": ("excel", excel_with_a_title),
    "SQLite": ("sqlite", written("SQLite")),
    "Stata with labels": ("stata", stata),
    "SPSS with labels": ("spss", spss),
    **{form: (form, written(form)) for form in ("feather", "parquet")},
}
NEEDED = {"excel": "openpyxl", "spss": "pyreadstat", "feather": "pyarrow", "parquet": "pyarrow"}


def made(name: str, tmp_path) -> tuple[str, bytes]:
    """The format of a table, and its bytes."""
    kind, maker = MAKERS[name]
    if kind in NEEDED:
        pytest.importorskip(NEEDED[kind])
    return kind, maker(tmp_path) if maker is spss else maker()


@pytest.mark.parametrize("name", MAKERS)
def test_one_table_in_every_format(name, tmp_path):
    kind, content = made(name, tmp_path)
    dataset, columns, notes = read_own(Source("t", content=content), Reading("kind", **USUAL), "t")
    assert columns.format == kind and dataset.feature_names == ("size", "count", "color")
    expected = np.array([[np.nan if i == GAP else x, c] for i, (x, c, _, _) in enumerate(ROWS)])
    assert np.array_equal(dataset.X[:, :2], expected, equal_nan=True)
    levels = dataset.levels[2]
    assert set(levels) == {"red", "green", "blue"} and [levels[int(code)] for code in dataset.X[:, 2]] == COLOR
    assert [dataset.classes[code] for code in dataset.y] == CLASS
    (chunk,) = chunks(Source("t", content=content), columns)
    assert np.array_equal(chunk.X, dataset.X, equal_nan=True) and np.array_equal(chunk.y, dataset.y)
    # Another format than that of the fit, and the same one in an archive.
    for packed in (text()(LINES, False, KINDS), gzip.compress(content) if kind == "parquet" else content):
        (chunk,) = chunks(Source("t", content=packed), columns)
        assert np.array_equal(chunk.X[:, :2], dataset.X[:, :2], equal_nan=True)
    assert "'Total, 99'" in " ".join(notes) or name != "Excel with a title"


@pytest.mark.parametrize("name", MAKERS)
def test_a_cut_file_is_one_sentence(name, tmp_path):
    _, content = made(name, tmp_path)
    for size in (len(content) // 2, len(content) - 3):
        try:
            read_own(Source("t", content=content[:size]), Reading("kind", **USUAL), "t")
        except DataError as error:
            assert str(error).startswith("t: ") and "\n" not in str(error)


def test_libsvm_has_zeros_at_other_places():
    rows = [
        f"{'+1' if label == 'a' else '-1'} 1:{x} {f'2:{c} ' if c else ''}4:2.5 # {i}"
        for i, (x, c, _, label) in enumerate(ROWS)
    ]
    dataset, columns, _ = read_own(
        Source("t", content="\n".join(rows).encode()), Reading("label", keep=("*",), **USUAL), "t"
    )
    assert dataset.feature_names == ("x1", "x2", "x3", "x4") and columns.format == "libsvm"
    assert np.array_equal(dataset.X, [[x, c, 0, 2.5] for x, c, _, _ in ROWS]) and len(dataset.classes) == 2
    (chunk,) = chunks(Source("t", content=b"+1 2:3 3:1\n-1\n"), columns)
    assert chunk.X.tolist() == [[0, 3, 1, 0], [0, 0, 0, 0]]
    with pytest.raises(DataError, match="place 999999, 100000 columns are allowed"):
        read_own(Source("t", content=b"1 1:2 999999:1\n" * 9), Reading("label"), "t")


def test_declared_targets_and_features_of_keel_orange_and_stata():
    content = written("KEEL")()
    for old, new in ((b"size, count, color\n", b"size, color\n"), (b"count real [", b"count integer[")):
        assert old in content
        content = content.replace(old, new)
    with opened(Source("t", content=content)) as table:
        assert table.target == "kind" and table.kinds["count"] == "ignored"
    text = "m#name\tC#size\tiC#other\tcD#kind\n" + "\n".join(f"n{i}\t{i / 7}\t{i}\t{i % 2}" for i in range(30))
    dataset, *_ = read_own(Source("t", content=text.encode()), Reading("kind", **USUAL), "t")
    assert dataset.feature_names == ("size",) and dataset.classes == ("0", "1")
    pandas = pytest.importorskip("pandas")
    out = io.BytesIO()
    made = pandas.DataFrame({"age": [float(i) for i in range(N)], "y": CLASS})
    made.to_stata(out, write_index=False, value_labels={"age": {0: "newborn"}})
    dataset, *_ = read_own(Source("t", content=out.getvalue()), Reading("y", keep=("age",), **USUAL), "t")
    assert dataset.X[:, 0].tolist() == list(range(N))


def test_a_part_of_a_file_is_named_and_an_address_is_to_be_downloaded(tmp_path):
    with closing(sqlite3.connect(tmp_path / "two.sqlite")) as base, base:
        for name in ("one", "two"):
            base.execute(f"CREATE TABLE {name} (x REAL, y TEXT)")
            base.executemany(f"INSERT INTO {name} VALUES (?,?)", [(len(name) + i / 7, "ab"[i % 2]) for i in range(20)])
    assert read_own(f"{tmp_path}/two.sqlite:two", Reading("y"))[0].n == 20
    with pytest.raises(DataError, match="has 2 tables; name one, as in FILE:one"):
        read_own(tmp_path / "two.sqlite", Reading("y"))
    with pytest.raises(DataError, match=r"there is no table 'tow'. Did you mean 'two'"):
        read_own(f"{tmp_path}/two.sqlite:tow", Reading("y"))
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for name in ("a.csv", "b.csv"):
            archive.writestr(zipfile.ZipInfo(name), "x,y\n" + "\n".join(f"{i / 7},{'ab'[i % 2]}" for i in range(20)))
    assert read_own(f"{tmp_path}/many.zip:b.csv", Reading("y"))[0].n == 20
    with pytest.raises(DataError, match=r"the archive has 2 files \(a.csv, b.csv\); say which one, as in FILE:a.csv"):
        read_own(tmp_path / "many.zip", Reading("y"))
    for address in ("https://example.org/data.csv", "http://example.org/d", "s3://bucket/x.csv"):
        with pytest.raises(DataError, match=r"this is an address; download the file first"):
            source_of(address)


def test_a_sheet_is_named(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for name in ("first", "second"):
        sheet = book.create_sheet(name)
        for row in [["x", "y"], *[[len(name) + i / 7, "ab"[i % 2]] for i in range(20)]]:
            sheet.append(row)
    book.save(tmp_path / "b.xlsx")
    first, _, notes = read_own(tmp_path / "b.xlsx", Reading("y"))
    assert first.X[0] == 5 and "sheet 'first' of 3 is read; FILE:SHEET names another." in notes
    assert read_own(f"{tmp_path}/b.xlsx:second", Reading("y"))[0].X[0] == 6


def archive_of(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), b"\x93NUMPY" if name.endswith("npy") else b"<x/>")
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"%PDF-1.7\n1 0 obj\n", "a PDF document"),
        (b"<!DOCTYPE html>\n<html><table>", "a web page (HTML)"),
        (b"  <html>", "a web page (HTML)"),
        (b"<?xml version='1.0'?><a/>", "an XML document"),
        (pickle.dumps({"a": [1, 2]}), "a pickle of Python"),
        (pickle.dumps([1], 2), "a pickle of Python"),
        (b"\x89HDF\r\n\x1a\n\0\0", "an HDF5 file"),
        (b"RDX3\nX\n\0\0", "data of R (.RData)"),
        (b"X\n\0\0\0\x03\0", "data of R (.rds)"),
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\xff\xd8\xff\xe0", "a JPEG image"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "an old Excel workbook (.xls)"),
        (b"\0" * 257 + b"ustar", "a tar archive"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (archive_of("[Content_Types].xml", "word/document.xml"), "an Office document"),
    ],
)
def test_a_format_that_cannot_be_read_is_named(content, name):
    with pytest.raises(DataError, match=r"^t: this is .*save ") as caught:
        read_own(Source("t", content=content), Reading("y"))
    assert name in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"a": 1}', "[1, 2]", '[{"a": [1]}]', '[{"a": 1}', "{'a': 1}\n", "[[1, 2], [3]]", "[" * 3000]
)
def test_json_that_is_no_table_is_one_sentence(text):
    with pytest.raises(DataError, match=r"^t: ") as caught:
        read_own(Source("t", content=text.encode()), Reading("y"))
    assert "\n" not in str(caught.value)


# ---- kinds that a file declares decide -----------------------------------------------------------------------------


def columns_of(text: str, target: str, **reading):
    return read_own(Source("t", content=text.encode()), Reading(target, **USUAL, **reading), "t")[1]


def arff(*attributes: str, rows: list[str]) -> str:
    return "\n".join(["@relation t", *(f"@attribute {text}" for text in attributes), "@data", *rows, ""])


@pytest.mark.parametrize(("kind", "task"), [("{1,2,3,4,5,6,7,8}", "classification"), ("real", "regression")])
@pytest.mark.parametrize("distinct", [8, 3])
def test_the_declared_kind_of_a_target_in_arff_decides_the_task(kind, task, distinct):
    rows = [f"{i / 7},{i % distinct + 1}" for i in range(80)]
    assert columns_of(arff("x real", f"c {kind}", rows=rows), "c").task == task


def test_two_numbers_are_classes_and_different_words_identify_rows_whatever_arff_declares():
    rows = [f"{i / 7},{i % 2}" for i in range(30)]
    assert columns_of(arff("x real", "c integer", rows=rows), "c").task == "classification"
    names = ",".join(f"n{i}" for i in range(40))
    rows = [f"n{i},{i / 7},{'ab'[i % 2]}" for i in range(40)]
    text = arff(f"name {{{names}}}", "x real", "c {a,b}", rows=rows)
    assert columns_of(text, "c").left_out == {"name": "identifier"}
    assert columns_of(text, "c", keep=("name",)).left_out == {}
