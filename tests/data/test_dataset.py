"""From a table of text to arrays: labels, levels, missing cells, and a sentence for each column that does not fit."""

import dataclasses
import math
import pickle
import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oblique_cli.data.catalogue import load
from oblique_cli.data.dataset import Dataset, from_table
from oblique_cli.data.text_table import parse
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground.nouns import DatasetSpec


def read(text: str, **how) -> Dataset:
    how = {"target": "class", "name": "mine"} | how
    return from_table(parse(text.encode(), "my.csv"), **how)


def test_numbers_labels_names_and_targets_arrive_as_they_are():
    d = read("b,a,class\n1,2.5,yes\n-3,1e-3,no\n.5,+4,yes\n")
    assert d.X.tolist() == [[1, 2.5], [-3, 0.001], [0.5, 4]]
    assert d.X.dtype == np.float64 and d.X.flags.c_contiguous and not d.X.flags.writeable
    assert d.y.tolist() == [1, 0, 1] and d.y.dtype == np.int32 and not d.y.flags.writeable
    assert (d.classes, d.feature_names, d.task, d.n, d.p) == (("no", "yes"), ("b", "a"), "classification", 3, 2)
    assert (d.name, d.qualitative, d.levels, d.split, d.paper_code, d.note) == ("mine", (), {}, None, "", "")
    d = read("label,a,b\nx,1,2\ny,3,4\n", target="label")
    assert d.X.tolist() == [[1, 2], [3, 4]] and d.feature_names == ("a", "b")
    assert read("a,class\n1,10\n1,9\n1,1.0\n1,x\n1,1\n").classes == ("1", "1.0", "9", "10", "x")
    assert read("a,class\n1,10\n1,9\n1,1.0\n1,x\n1,1\n").y.tolist() == [3, 2, 1, 4, 0]
    d = read("a,target\n1,2\n3,4.5\n", target="target", task="regression")
    assert d.y.tolist() == [2, 4.5] and d.y.dtype == np.float64 and d.classes == () and not d.y.flags.writeable
    with pytest.raises(DataError, match=r"my.csv: the target 'target' is not numeric, as regression needs"):
        read("a,target\n1,2\n3,high\n", target="target", task="regression")


def test_words_and_declared_codes_become_level_codes():
    for encoding in ("onehot", "ordinal"):
        d = read(COLORS, encoding=encoding)
        assert d.X.tolist() == [[1, 1], [2, 0], [3, 1]]
        assert (d.qualitative, d.levels) == ((1,), {1: ("blue", "red")})
    d = read(ZIPS, qualitative=["zip"], encoding="onehot")
    assert d.levels == {0: ("9", "10")} and d.X[:, 0].tolist() == [1, 0, 1]
    assert read("a,class\nred,x\n?,y\n", encoding="onehot").levels == {0: ("?", "red")}


COLORS = "size,color,class\n1,red,a\n2,blue,b\n3,red,a\n"
ZIPS = "zip,a,class\n10,1,x\n9,2,y\n10,3,y\n"
GAPS = "age,sgpt,color,class\n1,2,red,x\n2,,blue,y\n3,,,x\n4,5,red,y\n"


def test_drop_keeps_whole_rows_and_impute_keeps_gaps():
    d = read(GAPS + "5,6,green,\n".replace(",\n", ",z\n"), missing="drop", encoding="onehot")
    assert d.X.tolist() == [[1, 2, 1], [4, 5, 1], [5, 6, 0]]
    assert d.classes == ("x", "y", "z") and d.levels == {2: ("green", "red")}
    d = read(GAPS, missing="impute", encoding="onehot")
    assert np.array_equal(d.X, [[1, 2, 1], [2, math.nan, 0], [3, math.nan, math.nan], [4, 5, 1]], equal_nan=True)
    d = read("a,class\n1,x\n,y\n3,y\n4,x\n,x\n6,y\n", n_train=3, missing="drop")
    assert d.split is not None
    assert [part.tolist() for part in d.split] == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("text", "how", "message"),
    [
        ("a,Class\n1,x\n", {}, "there is no column 'class' to use as target. Did you mean 'Class'?"),
        ("aa,bb\n1,x\n", {}, "there is no column 'class' to use as target. Columns: 'aa', 'bb'."),
        (
            "color,class\n1,x\n",
            {"qualitative": ["colr"]},
            "there is no column 'colr' to use as qualitative column. Did",
        ),
        ("a,class\n1,x\n2,y\n", {"qualitative": ["class"]}, "'class' is the target, it cannot be listed under qual"),
        ("class\nx\ny\n", {}, "'class' is the only column, at least one feature is needed"),
        ("a,class\n1,x\n2,x\n", {}, "the target 'class' has only one class, 'x', in 2 rows"),
        ("a,class\n1,x\n,y\n3,x\n", {"missing": "drop"}, "the target 'class' has only one class, 'x', in 2 rows"),
        ("a,b,class\n1,,x\n2,,y\n", {"missing": "impute"}, "column 2 ('b') is empty in every row; remove it"),
        ("a,b,class\n1,,x\n,2,y\n", {"missing": "drop"}, "every row has a missing value, so drop would leave none"),
        (COLORS, {}, "column 2 ('color') is not numeric (first such value 'red' at line 2); declare encoding: "),
        ("a,class\n1,x\n2,y\n\nred,x\nblue,y\n", {}, "column 1 ('a') is not numeric (first such value 'red' at line 5"),
        *[
            (f'a,class\n1,x\n"{cell}",y\n', {}, f"column 1 ('a') is not numeric (first such value {cell!r} at line 3)")
            for cell in ("1_000", "1,5", "five")
        ],
        (ZIPS, {"qualitative": ["zip"]}, "column 1 ('zip') is qualitative; declare encoding: "),
        *[
            (f"a,class\n1,x\n{cell},y\n2,y\n", {"encoding": encoding}, f"column 1 ('a') holds {cell!r} at line 3, not")
            for cell in ("NaN", "-Infinity", "1e400", "?", "NA")
            for encoding in ("error", "onehot")
        ],
        ("age,sgpt,class\n1,2,x\n2,,y\n", {}, "column 2 ('sgpt') has 1 missing value; set missing: impute or drop"),
        (GAPS, {"encoding": "onehot"}, "column 2 ('sgpt') has 2 missing values (2 columns have some); set missing: "),
        *[
            (f"a,class\n1,x\n2,{label}\n3,y\n", {"missing": missing}, f"the target 'class' is {what} at line 3")
            for label, what in (("", "missing"), ("nan", "'nan'"))
            for missing in ("error", "drop", "impute")
        ],
    ],
)
def test_each_misfit_gets_one_sentence(text, how, message):
    with pytest.raises(DataError) as caught:
        read(text, **how)
    assert str(caught.value).startswith(f"my.csv: {message}") and "\n" not in str(caught.value)


def test_digest_depends_on_content_alone_and_survives_pickling_to_a_worker():
    text = "a,b,class\n1,2,x\n3,4,y\n"
    first = read(text)
    assert first.digest == read("\ufeff" + text, name="other").digest
    assert len(first.digest) == 64
    others = [
        read(text.replace("4", "5")),
        read(text.replace("x", "z")),
        read(text.replace("b,", "c,")),
        read(text, n_train=1),
        read(text, qualitative=["a"], encoding="onehot"),
        read("b,a,class\n2,1,x\n4,3,y\n"),
    ]
    assert len({first.digest, *(other.digest for other in others)}) == 7
    # Pinned: stored results are keyed by it.
    assert first.digest == "a223b6897e85ab860720b412d29bcb4eaa4992cfb4aa2d6626281e18b7422888"
    first = read("a,b,class\nred,2,x\nblue,4,y\n", encoding="onehot", n_train=1)
    again = pickle.loads(pickle.dumps(first))
    assert again.digest == first.digest and dataclasses.replace(again, name="copy").digest == first.digest


def test_a_csv_file_is_loaded_like_any_name_with_a_target_and_known_policies(tmp_path):
    path = tmp_path / "my.csv"
    path.write_text("a;color;kind\n1;red;x\n;blue;y\n3;red;y\n")
    d = load(DatasetSpec("mine", csv=str(path), target="kind", missing="drop", encoding="onehot"))
    assert (d.name, d.n, d.classes, d.feature_names) == ("mine", 2, ("x", "y"), ("a", "color"))
    with pytest.raises(ConfigError, match=r"data set 'mine' is a CSV file: set target to the name of its class column"):
        load(DatasetSpec("mine", csv="my.csv"))
    with pytest.raises(ConfigError, match=r"missing of data set 'mine' must be one of 'error', .* Got 'mean'"):
        load(DatasetSpec("mine", csv="my.csv", target="a", missing="mean"))
    with pytest.raises(ConfigError, match=r"encoding of data set 'bupa' must be one of 'error', .* Got 'x'"):
        load(DatasetSpec("bupa", encoding="x"))
    with pytest.raises(DataError, match=r"none\.csv: the file does not exist"):
        load(DatasetSpec("mine", csv=str(tmp_path / "none.csv"), target="a"))


numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(numbers, st.integers(-(10**15), 10**15)), min_size=2, max_size=20))
@settings(max_examples=60, deadline=None)
def test_every_float64_is_read_back_exactly(rows):
    text = "a,b,class\n" + "".join(f"{a!r},{b},{i % 2}\n" for i, (a, b) in enumerate(rows))
    assert read(text).X.tolist() == [[a, float(b)] for a, b in rows]


def test_five_hundred_mutilated_files_give_arrays_or_one_sentence():
    rng = random.Random(20260101)
    base = b"age,sgpt,color,class\n1,2.5,red,x\n2,,blue,y\n3,1e3,red,x\n4,5,green,y\n"
    scraps = [b",", b";", b"\n", b"\r\n", b'"', b"\0", b"\xff", b"nan", b"inf", b"1e400", b"\xef\xbb\xbf"]
    scraps += [b"x" * 50, b"", b"\t"]
    outcomes = {"arrays": 0, "sentence": 0}
    for _ in range(500):
        content = bytearray(base)
        for _ in range(rng.randint(1, 2)):
            at = rng.randrange(len(content) + 1)
            content[at : at + rng.choice([0, 1, 5, 30])] = rng.choice(scraps)
        how = {
            "missing": rng.choice(["error", "drop", "impute", "keep"]),
            "encoding": rng.choice(["error", "onehot", "onehot"]),
        }
        try:
            d = from_table(parse(bytes(content), "my.csv"), "class", name="mine", **how)
        except DataError as error:
            assert re.match(r"my\.csv: \S", str(error)) and "\n" not in str(error), (content, how)
            outcomes["sentence"] += 1
        else:
            assert d.X.shape == (d.n, d.p) and len(d.y) == d.n and not np.isinf(d.X).any()
            outcomes["arrays"] += 1
    assert min(outcomes.values()) > 25
