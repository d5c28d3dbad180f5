"""Published numbers: what is read is what is printed, and nothing is mixed up."""

import csv
import statistics
import subprocess
import sys

import pytest
from covering import few

from oblique_cli.errors import ConfigError
from oblique_cli.evaluation import published

THESIS, GDT_PAPER = "wickramarachchi2015", "manwani2012"


def number(*place: str, **qualifiers: str) -> published.Published:
    """The number of a source, table, data set, method and metric."""
    match = published.lookup(*place, **qualifiers)
    assert match is not None
    return match


def printed(*place: str, **qualifiers: str) -> str:
    return number(*place, **qualifiers).printed


@pytest.mark.parametrize(
    ("reference", "dataset", "method", "metric", "expected"),
    [
        ("wickramarachchi2015:5.2", "bupa", "HHGDT", "accuracy_percent", "67.9 ± 1.9"),
        ("wickramarachchi2015:5.2", "statlog_heart", "HHGDT", "n_leaves", "2 ± 0"),
        ("wickramarachchi2015:5.3", "letter", "GDT", "n_leaves", "2477.6 ± 21.6"),
        ("wickramarachchi2015:5.3", "boston_housing_binary", "GDT", "accuracy_percent", "82.00 ± 0.9"),
        ("wickramarachchi2015:5.3", "banknote", "GDT", "accuracy_percent", "97.6 ± 0.04"),
        ("wickramarachchi2015:3.1", "balance_scale", "HHCART(D)", "accuracy_percent", "88.3 ± 1.7"),
        ("manwani2012:II", "checkerboard_2x2", "GDT", "accuracy_percent", "99.55 ± 0.11"),
    ],
)
def test_known_numbers_of_the_papers(reference, dataset, method, metric, expected):
    source, _, table = reference.partition(":")
    assert printed(source, table, dataset, method, metric) == expected


def test_mean_and_sd_are_the_printed_digits_as_numbers_and_an_sd_that_is_not_printed_is_none():
    hhgdt = number(THESIS, "5.2", "bupa", "HHGDT", "accuracy_percent")
    assert (hhgdt.mean, hhgdt.sd, hhgdt.source, hhgdt.table) == (67.9, 1.9, THESIS, "5.2")
    hhgdt = number(THESIS, "5.2", "shuttle", "HHGDT", "accuracy_percent")
    assert (hhgdt.mean, hhgdt.sd, hhgdt.printed) == (99.95, None, "99.95")


def test_every_file_in_the_folder_is_listed_and_named_by_its_readme():
    samples = {"hhcart_table_1_2_sample.csv", "hhgdt_table_5_1_sample.csv"}
    indexes = {"sources.csv", "tables.csv", "dataset_codes.csv"}
    listed = {table.file for table in published.tables().values()}
    assert {path.name for path in published.FOLDER.glob("*.csv")} == listed | samples | indexes
    text = (published.FOLDER / "README.md").read_text(encoding="utf-8")
    fold_by_fold = {"hhgdt_table_5_6.csv", "hhgdt_table_5_7.csv"}  # "5.5 to 5.8"
    missing = [path.name for path in published.FOLDER.glob("*.csv") if path.name not in text]
    assert set(missing) == fold_by_fold


@pytest.mark.parametrize("reference", list(published.tables()))
def test_a_file_holds_its_table_and_every_number_once(reference):
    table = published.find(reference)
    numbers = published.numbers(table.source, table.table)
    assert numbers and {(n.source, n.table) for n in numbers} == {(table.source, table.table)}
    keys = [(n.dataset, n.method, n.metric, tuple(sorted(n.qualifiers.items()))) for n in numbers]
    assert len(keys) == len(set(keys))
    with open(published.FOLDER / table.file, encoding="utf-8", newline="") as handle:
        assert {len(row) for row in csv.reader(handle)} == {9}, "fields with commas stay one field"


def test_every_code_of_a_table_has_one_name_in_our_catalogue_and_codes_differ_between_documents():
    used = {
        (number.source, number.dataset)
        for table in published.tables().values()
        if table.level not in ("ranks", "comparison")  # of all data sets together, counts over them
        for number in published.numbers(table.source, table.table)
    }
    with open(published.FOLDER / "dataset_codes.csv", encoding="utf-8", newline="") as handle:
        codes = [(row["source"], row["code"]) for row in csv.DictReader(handle)]
    assert len(codes) == len(set(codes))
    assert set(codes) == used
    assert published.dataset_code(THESIS, "bupa") == "BUPA"
    assert published.dataset_code(GDT_PAPER, "bupa") == "Bupa Liver Disorder"
    assert published.dataset_code(GDT_PAPER, "shuttle") is None
    assert published.dataset_note(GDT_PAPER, "magic_balanced").startswith("3000 rows of each class drawn by us")


def test_a_blank_cell_and_what_a_table_does_not_hold_are_none():
    blank = [n for n in published.numbers(GDT_PAPER, "II") if n.mean is None]
    assert {(n.dataset, n.method) for n in blank} == {("Magic", "CART-LC")}
    assert {(n.sd, n.printed) for n in blank} == {(None, "")}
    assert published.lookup(GDT_PAPER, "II", "magic", "CART-LC", "accuracy_percent") is None
    for place in (("my_csv", "HHGDT", "n_leaves"), ("bupa", "OC1", "n_leaves"), ("bupa", "HHGDT", "depth")):
        assert published.lookup(THESIS, "5.2", *place) is None
    assert published.lookup(THESIS, "5.2", "bupa", "HHGDT", "n_leaves", sampling="STRS") is None


def test_rows_that_differ_in_a_qualifier_are_not_mixed_up():
    assert printed(THESIS, "3.2", "balance_scale", "HHCART(A)", "accuracy_percent", sampling="SRS") == "92.8 ± 1.3"
    assert printed(THESIS, "3.2", "balance_scale", "HHCART(A)", "accuracy_percent", sampling="STRS") == "93.2 ± 1.4"
    assert published.qualifier_values(THESIS, "3.2", "sampling") == ("SRS", "STRS")
    with pytest.raises(ConfigError) as error:
        published.lookup(THESIS, "3.2", "balance_scale", "HHCART(A)", "accuracy_percent")
    assert str(error.value) == (
        "published table wickramarachchi2015:3.2 has 2 numbers for accuracy_percent of HHCART(A) on BS; "
        "say which by sampling."
    )


def test_one_fold_is_not_taken_for_the_mean_nor_put_beside_means():
    with pytest.raises(ConfigError, match=r"say which by cv, fold\.$"):
        published.lookup(THESIS, "5.5", "bupa", "GDT", "accuracy_percent")
    assert printed(THESIS, "5.5", "bupa", "GDT", "accuracy_percent", cv="nested", fold="1") == "62.9"
    with pytest.raises(ConfigError) as error:
        published.comparable("wickramarachchi2015:5.5")
    assert str(error.value).startswith(
        "published table wickramarachchi2015:5.5 holds numbers of a single fold, which cannot stand beside means over "
        "repetitions; tables that can: wickramarachchi2015:3.1, "
    )
    assert published.comparable("wickramarachchi2015:5.3").table == "5.3"


def test_a_size_printed_once_belongs_to_both_methods_and_a_remark_is_the_free_text_of_a_note():
    for method in ("SVM", "HHBUT"):
        assert printed(THESIS, "6.1", "balance_scale", method, "n_leaves") == "3.9 ± 0.3"
    assert printed(THESIS, "6.1", "balance_scale", "SVM", "accuracy_percent") == "89.8 ± 1.1"
    assert printed(THESIS, "6.1", "balance_scale", "HHBUT", "accuracy_percent") == "89.6 ± 1.2"
    slip = number(THESIS, "5.9", "haberman", "OC1", "accuracy_percent")
    assert slip.qualifiers == {"sd_over": "10 CV repetitions"}
    assert slip.remark.startswith("printed method is HHGDT; read as OC1")
    assert number(THESIS, "6.4", "glass", "HHBUT", "accuracy_percent").remark == "printed as GLASS"


@few(table=["5.5", "5.6", "5.7", "5.8"], cv=["nested", "two-stage"], metric=["accuracy_percent", "n_leaves"])
def test_fold_tables_reproduce_their_own_mean_and_sample_sd(table, cv, metric):
    rows = [n for n in published.numbers(THESIS, table) if n.metric == metric and n.qualifiers["cv"] == cv]
    folds = [n.mean for n in rows if n.qualifiers["fold"] != "all"]
    (total,) = [n for n in rows if n.qualifiers["fold"] == "all"]
    assert len(folds) == 10
    assert statistics.mean(folds) == pytest.approx(total.mean, abs=0.1)
    assert statistics.stdev(folds) == pytest.approx(total.sd, abs=0.1)


@pytest.mark.parametrize("sampling", ["SRS", "STRS"])
def test_class_accuracies_weighted_by_class_size_give_the_pooled_accuracy(sampling):
    classes = [
        n
        for n in published.numbers(THESIS, "3.3")
        if n.dataset == "BUPA" and n.metric == "class_accuracy_percent" and n.qualifiers["sampling"] == sampling
    ]
    sizes = [int(n.qualifiers["class_size"]) for n in classes]
    pooled = sum(n.mean * size for n, size in zip(classes, sizes, strict=True)) / sum(sizes)
    assert sum(sizes) == 345
    mean = number(THESIS, "3.2", "bupa", "HHCART(A)", "accuracy_percent", sampling=sampling).mean
    assert pooled == pytest.approx(mean, abs=0.1)


def test_the_worked_examples_are_there():
    for file, n in (("hhcart_table_1_2_sample.csv", 34), ("hhgdt_table_5_1_sample.csv", 9)):
        with open(published.FOLDER / file, encoding="utf-8", newline="") as handle:
            points = [(row["Y"], float(row["X1"]), float(row["X2"])) for row in csv.DictReader(handle)]
        assert len(points) == n
        assert {y for y, _, _ in points} == {"1", "2"}


def test_reading_published_numbers_imports_nothing_numerical():
    code = (
        "import sys; from oblique_cli.evaluation import published; published.numbers('manwani2012', 'II'); "
        "print(sorted({'numpy', 'scipy', 'sklearn', 'yaml', 'joblib'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
