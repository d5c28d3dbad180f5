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

from oblique_cli import config
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
    results = defaultdict(list)
    for fold in FOLDS:
        if (fold["part"], fold["method"]) == (part, method):
            results[fold["dataset"]].append(fold)
    return results


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
    text = dict(re.findall(r"([\w-]+) ([\d.]+) % with", stored))
    for line in SUMMARY:
        if line["part"] == "third" and line["terms"]:
            assert float(text[line["method"]]) == pytest.approx(float(line["accuracy"]), abs=0.06)


@pytest.mark.parametrize("line", SUMMARY, ids=lambda line: f"{line['part']} {line['method']}")
def test_the_summary_is_recounted(line):
    result = of_method(line["part"], line["method"])
    # A set that some method did not finish is left out for all; none is so far.
    assert not [fold for fold in FOLDS if fold["part"] == line["part"] and fold["failure"]] or line["sets"]
    failed = {fold["dataset"] for fold in FOLDS if fold["part"] == line["part"] and fold["failure"]}
    result = {name: folds for name, folds in result.items() if name not in failed}
    assert len(result) == int(line["sets"])
    shares = [
        100 * sum(int(fold["n_correct"]) for fold in folds) / sum(int(fold["n_test"]) for fold in folds)
        for folds in result.values()
    ]
    assert fmean(shares) == pytest.approx(float(line["accuracy"]), abs=0.006)
    for name in ("terms", "leaves", "cpu_s"):
        if line[name]:
            least = 0.01 if name == "cpu_s" else 0.0  # a hundredth of a second is all that the clock told
            values = [fmean(max(float(fold[name]), least) for fold in folds) for folds in result.values()]
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


def lines(*folds):
    """Return folds of (data set, method, correct of ten, failure)."""
    return [
        field_folds.Fold("third", name, method, "0", "0", "10", str(right), "50", "", "2", "3", "0.1", failure)
        for name, method, right, failure in folds
    ]


def test_a_failed_fold_is_a_set_without_a_result_that_is_ranked_last_and_improves_no_mean():
    folds = [("a", "x", 8, ""), ("a", "y", 6, ""), ("b", "x", 0, "too slow"), ("b", "y", 2, "")]
    scores = field_folds.scores(lines(*folds), "third")
    assert scores.failed.tolist() == [[False, False], [True, False]]
    assert scores.means("accuracy") == [80.0, 60.0] and scores.means("n_terms") == [pytest.approx(3.0)] * 2
    means, ranks, accuracies = field_folds.tables(lines(*folds)).values()
    assert [row[0] for row in means.rows] == ["x *", "y"] and means.rows[0][-1] == "1"
    assert [row[1] for row in ranks.rows] == ["1.50", "1.50"] and accuracies.rows[1] == ("b", "—", "20.0")
    # A method that was not run everywhere is in no table.
    assert field_folds.scores(lines(*folds, ("c", "y", 5, "")), "third").methods == ("y",)


def test_the_front_has_the_methods_that_no_other_method_dominates():
    assert field_folds.pareto([90.0, 99.0, math.nan, 90.0, 80.0], [3.0, math.nan, 1.0, 4.0, 2.0]) == {0, 4}


def test_every_classification_set_is_in_one_part_and_no_default_was_chosen_on_confirmation_sets():
    parts = field_folds.division()
    sizes = [list(parts.values()).count(part) for part in field_folds.PARTS[:2]]
    assert sum(sizes) == len(parts) and abs(sizes[0] - sizes[1]) <= 1
    assert all(parts[name] == field_folds.DEVELOPMENT for name in field_folds.CHOSEN_ON)
    assert {fold["dataset"]: fold["part"] for fold in FOLDS if fold["part"] != "third"}.items() <= parts.items()
    runs = {name: config.load(name) for name in ("field", "field_more", "field_beyond", "field_more_beyond")}
    sets, methods = ({name: [each.id if kind else each.name for each in getattr(run, ("datasets", "algorithms")[kind])]
                     for name, run in runs.items()} for kind in (0, 1))  # fmt: skip
    assert sorted(sets["field"] + sets["field_more"]) == sorted(parts)
    assert sets["field"] == sets["field_beyond"] and sets["field_more"] == sets["field_more_beyond"]
    assert methods["field"] == methods["field_more"] and methods["field_beyond"] == methods["field_more_beyond"]
    assert len({(run.cv, run.seed, run.metrics) for run in runs.values()}) == 1


def test_every_method_of_the_tuned_field_has_eight_candidates_on_the_folds_of_the_field():
    plain, tuned = config.load("field"), config.load("field_tuned")
    assert {math.prod(map(len, spec.grid.values())) for spec in tuned.algorithms} == {8}
    assert {spec.id for spec in plain.algorithms} <= {spec.id for spec in tuned.algorithms}
    assert (tuned.datasets, tuned.seed, tuned.cv.folds) == (plain.datasets, plain.seed, plain.cv.folds)


def test_stored_runs_of_the_field_are_compared_by_part(call, tmp_path):
    settings = ("datasets=[iris, bupa, wine, haberman]", "algorithms=[axis_parallel, hhcart_d]", "cv.repeats=1")
    call("run", "field", *(part for text in settings for part in ("--set", text)), "--results", str(tmp_path))
    folds = field_folds.stored("field", tmp_path, ["field"])
    assert len(folds) == 16 and {fold.part for fold in folds} == set(field_folds.PARTS[:2])
    text = field_folds.compare(folds)
    assert "Means over the 2 of 2 confirmation sets" in text and "Average ranks over 2 development sets" in text
