"""What is made of the folds of the field is made of them, and is recounted here in plain lines."""

import csv
import gzip
import io
import math
import re
from collections import defaultdict
from statistics import fmean

import pytest
from document_support import ROOT

from tools import field_folds

FOLDER = ROOT / "results" / "field"
FOLDS = list(csv.DictReader(io.StringIO(gzip.decompress(field_folds.FOLDS.read_bytes()).decode())))
SUMMARY = list(csv.DictReader((FOLDER / "summary.csv").read_text(encoding="utf-8").splitlines()))


@pytest.fixture(scope="module")
def made():
    return field_folds.make()


def geometric(values):
    return math.exp(fmean(math.log(value) for value in values))


def of_method(part, method):
    """Folds of a method by data set."""
    found = defaultdict(list)
    for fold in FOLDS:
        if (fold["part"], fold["method"]) == (part, method):
            found[fold["dataset"]].append(fold)
    return found


@pytest.mark.long
def test_every_file_is_what_the_folds_make(made):
    for path, content in made.items():
        assert path.read_bytes() == content or path == field_folds.PICTURE, path
    stored = {path for path in FOLDER.iterdir() if path != field_folds.FOLDS}
    assert stored == {path for path in made if path != field_folds.PICTURE}


def test_the_picture_says_what_the_summary_says(made):
    """Another release of the library that paints gives other bytes, but no other words."""
    stored, now = (
        re.search(r"<dc:description>(.*?)</dc:description>", content.decode(), re.DOTALL)[1]
        for content in (field_folds.PICTURE.read_bytes(), made[field_folds.PICTURE])
    )
    assert stored == now
    said = dict(re.findall(r"([\w-]+) ([\d.]+) % with", stored))
    for line in SUMMARY:
        if line["part"] == "third" and line["terms"]:
            assert float(said[line["method"]]) == pytest.approx(float(line["accuracy"]), abs=0.06)


@pytest.mark.parametrize("line", SUMMARY, ids=lambda line: f"{line['part']} {line['method']}")
def test_the_summary_is_recounted(line):
    found = of_method(line["part"], line["method"])
    # A set that some method did not finish is left out for all; none is so far.
    assert not [fold for fold in FOLDS if fold["part"] == line["part"] and fold["failure"]] or line["sets"]
    failed = {fold["dataset"] for fold in FOLDS if fold["part"] == line["part"] and fold["failure"]}
    found = {name: folds for name, folds in found.items() if name not in failed}
    assert len(found) == int(line["sets"])
    shares = [
        100 * sum(int(fold["n_correct"]) for fold in folds) / sum(int(fold["n_test"]) for fold in folds)
        for folds in found.values()
    ]
    assert fmean(shares) == pytest.approx(float(line["accuracy"]), abs=0.006)
    for name in ("terms", "leaves", "cpu_s"):
        if line[name]:
            least = 0.01 if name == "cpu_s" else 0.0  # a hundredth of a second is all that the clock told
            values = [fmean(max(float(fold[name]), least) for fold in folds) for folds in found.values()]
            assert geometric(values) == pytest.approx(float(line[name]), rel=2e-3)


def test_every_fold_is_there_once_and_of_the_same_rows_for_all_methods():
    places = [(f["part"], f["dataset"], f["method"], f["repeat"], f["fold"]) for f in FOLDS]
    assert len(set(places)) == len(places)
    rows = defaultdict(set)
    for fold in FOLDS:
        if not fold["failure"]:
            rows[fold["part"], fold["dataset"], fold["repeat"], fold["fold"]].add(fold["n_test"])
    assert all(len(each) == 1 for each in rows.values())
    assert field_folds.FOLDS.stat().st_size < 20_000_000


def test_folds_are_written_in_one_order_with_the_same_bytes(tmp_path):
    folds = field_folds.read()
    field_folds.write(reversed(folds), tmp_path / "again.csv.gz")
    again, stored = (path.read_bytes() for path in (tmp_path / "again.csv.gz", field_folds.FOLDS))
    assert gzip.decompress(again) == gzip.decompress(stored)  # zlib compresses otherwise in another release
    assert again[:8] == stored[:8], "no time of writing"


def test_a_fold_that_failed_is_a_set_without_a_result_and_no_part_of_means():
    def fold(dataset, method, right, failure=""):
        return field_folds.Fold(
            "third", dataset, method, "0", "0", "10", str(right), "50", "", "2", "3", "0.1", failure
        )

    folds = [fold("a", "x", 8), fold("a", "y", 6), fold("b", "x", 0, "too slow"), fold("b", "y", 2)]
    scores = field_folds.scores(folds, "third")
    assert scores.failed.tolist() == [[False, False], [True, False]]
    assert scores.means("accuracy") == [80.0, 60.0] and scores.means("n_terms") == [pytest.approx(3.0)] * 2
    # A method that was not run everywhere is in no table.
    assert field_folds.scores([*folds, fold("c", "y", 5)], "third").methods == ("y",)
