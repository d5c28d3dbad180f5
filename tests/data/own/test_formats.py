"""Every format of a table: one table in many files is read alike, and a format that cannot be read is named."""

from __future__ import annotations

import io
import json
import pickle
import sqlite3
import zipfile
from contextlib import closing

import numpy as np
import pytest

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


def lines(sign: str, empty: str = "", quote: str = "") -> list[str]:
    return [
        sign.join([empty if i == GAP else str(x), str(c), f"{quote}{color}{quote}", label])
        for i, (x, c, color, label) in enumerate(ROWS)
    ]


def arff() -> bytes:
    head = "@relation t\n@attribute size real\n@attribute count integer\n@attribute color {red,green,blue}\n"
    return "\n".join([head + "@attribute kind {a,b}", "@data", *lines(",", "?", "'")]).encode()


def sparse_arff() -> bytes:
    rows = []
    for i, (x, c, color, label) in enumerate(ROWS):
        cells = [
            f"0 {'?' if i == GAP else x}" * bool(x or i == GAP),
            f"1 {c}" * bool(c),
            f"2 {color}" * (color != "red"),
        ]
        rows.append("{" + ", ".join(cell for cell in [*cells, f"3 {label}" * (label != "a")] if cell) + "}")
    return b"\n".join([arff().partition(b"@data")[0] + b"@data", *map(str.encode, rows)])


def keel() -> bytes:
    head = "@relation t\n@attribute size real [-10.0, 10.0]\n@attribute count integer[0,6]\n"
    head += "@attribute color{red, green, blue}\n"
    head += "@attribute kind {a, b}\n@inputs size, count, color\n@outputs kind"
    return "\n".join([head, "@data", *lines(", ", "<null>")]).encode()


def orange() -> bytes:
    return "\n".join(["\t".join(NAMES), "c\tc\tred green blue\td", "\t\t\tclass", *lines("\t", "?")]).encode()


def orange_in_a_line() -> bytes:
    return "\n".join(["C#size\tC#count\tD#color\tcD#kind", *lines("\t", "?")]).encode()


def json_records() -> bytes:
    return frame().to_json(orient="records").encode()


def json_lines() -> bytes:
    records = json.loads(json_records())
    for record in records:
        record.update({key: value for key, value in record.items() if value is not None})
    del records[GAP]["size"]
    return "\n".join(map(json.dumps, records)).encode()


def json_columns() -> bytes:
    return frame().to_json(orient="columns").encode()


def json_lists() -> bytes:
    return json.dumps({name: json.loads(frame()[name].to_json(orient="values")) for name in NAMES}).encode()


def json_split() -> bytes:
    return frame().to_json(orient="split", index=False).encode()


def excel() -> bytes:
    pytest.importorskip("openpyxl")
    out = io.BytesIO()
    frame().to_excel(out, index=False)
    return out.getvalue()


def excel_with_a_title() -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
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


def sqlite() -> bytes:
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute('CREATE TABLE t (size REAL, "count" INTEGER, color TEXT, kind TEXT)')
        base.executemany(
            "INSERT INTO t VALUES (?,?,?,?)", [(None if i == GAP else r[0], *r[1:]) for i, r in enumerate(ROWS)]
        )
        base.commit()
        return base.serialize()


def stata() -> bytes:
    out = io.BytesIO()
    frame().assign(color=lambda t: t["color"].astype("category")).to_stata(out, write_index=False)
    return out.getvalue()


def spss(tmp_path) -> bytes:
    pyreadstat = pytest.importorskip("pyreadstat")
    codes = {"red": 1.0, "green": 2.0, "blue": 3.0}
    made = frame().assign(color=lambda t: t["color"].map(codes))
    pyreadstat.write_sav(made, tmp_path / "t.sav", variable_value_labels={"color": {v: k for k, v in codes.items()}})
    return (tmp_path / "t.sav").read_bytes()


def feather() -> bytes:
    pytest.importorskip("pyarrow")
    out = io.BytesIO()
    frame().to_feather(out)
    return out.getvalue()


def parquet() -> bytes:
    pytest.importorskip("pyarrow")
    out = io.BytesIO()
    frame().to_parquet(out)
    return out.getvalue()


MADE = {
    "arff": (arff, sparse_arff, keel),
    "csv": (orange, orange_in_a_line),
    "json": (json_records, json_lines, json_columns, json_lists, json_split),
    "excel": (excel, excel_with_a_title),
    "sqlite": (sqlite,),
    "stata": (stata,),
    "spss": (spss,),
    "feather": (feather,),
    "parquet": (parquet,),
}
MAKERS = [(kind, maker) for kind, makers in MADE.items() for maker in makers]


def content_of(maker, tmp_path) -> bytes:
    return maker(tmp_path) if maker is spss else maker()


@pytest.mark.parametrize(("kind", "maker"), MAKERS, ids=[maker.__name__ for _, maker in MAKERS])
def test_one_table_in_every_format(kind, maker, tmp_path):
    content = content_of(maker, tmp_path)
    dataset, columns, notes = read_own(Source("t", content=content), Reading("kind", **USUAL), "t")
    assert columns.format == kind and dataset.feature_names == ("size", "count", "color")
    expected = np.array([[np.nan if i == GAP else x, c] for i, (x, c, _, _) in enumerate(ROWS)])
    assert np.array_equal(dataset.X[:, :2], expected, equal_nan=True)
    levels = dataset.levels[2]
    assert set(levels) == {"red", "green", "blue"} and [levels[int(code)] for code in dataset.X[:, 2]] == COLOR
    assert [dataset.classes[code] for code in dataset.y] == CLASS
    (chunk,) = chunks(Source("t", content=content), columns)
    assert np.array_equal(chunk.X, dataset.X, equal_nan=True) and np.array_equal(chunk.y, dataset.y)
    assert "'Total, 99'" in " ".join(notes) or maker is not excel_with_a_title


@pytest.mark.parametrize(("kind", "maker"), MAKERS, ids=[maker.__name__ for _, maker in MAKERS])
def test_a_cut_file_is_one_sentence(kind, maker, tmp_path):
    content = content_of(maker, tmp_path)
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


def test_keel_names_features_and_the_target():
    with opened(Source("t", content=keel().replace(b"size, count, color\n", b"size, color\n"))) as table:
        assert table.target == "kind" and table.kinds["count"] == "ignored"


def test_orange_leaves_out_what_is_no_feature():
    text = "m#name\tC#size\tiC#other\tcD#kind\n" + "\n".join(f"n{i}\t{i / 7}\t{i}\t{i % 2}" for i in range(30))
    dataset, *_ = read_own(Source("t", content=text.encode()), Reading("kind", **USUAL), "t")
    assert dataset.feature_names == ("size",) and dataset.classes == ("0", "1")


def test_values_with_some_labels_only_are_numbers():
    pandas = pytest.importorskip("pandas")
    out = io.BytesIO()
    made = pandas.DataFrame({"age": [float(i) for i in range(N)], "y": CLASS})
    made.to_stata(out, write_index=False, value_labels={"age": {0: "newborn"}})
    dataset, *_ = read_own(Source("t", content=out.getvalue()), Reading("y", keep=("age",), **USUAL), "t")
    assert dataset.X[:, 0].tolist() == list(range(N))


def test_a_part_of_a_file_is_named(tmp_path):
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


def test_a_sheet_is_named(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for name in ("first", "second"):
        sheet = book.create_sheet(name)
        for row in [["x", "y"], *[[len(name) + i / 7, "ab"[i % 2]] for i in range(20)]]:
            sheet.append(row)
    book.save(tmp_path / "b.xlsx")
    one, _, notes = read_own(tmp_path / "b.xlsx", Reading("y"))
    assert one.X[0] == 5 and "sheet 'first' of 3 is read; FILE:SHEET names another." in notes
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


def test_an_address_is_to_be_downloaded_first():
    for address in ("https://example.org/data.csv", "http://example.org/d", "s3://bucket/x.csv"):
        with pytest.raises(DataError, match=r"this is an address; download the file first"):
            source_of(address)


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"a": 1}', "[1, 2]", '[{"a": [1]}]', '[{"a": 1}', "{'a': 1}\n", "[[1, 2], [3]]", "[" * 3000]
)
def test_json_that_is_no_table_is_one_sentence(text):
    with pytest.raises(DataError, match=r"^t: ") as caught:
        read_own(Source("t", content=text.encode()), Reading("y"))
    assert "\n" not in str(caught.value)
