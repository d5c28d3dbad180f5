"""`oblique fit --memory` of a table that takes more, `oblique data convert`, and `oblique predict` of its model."""

import csv
import json
import re

import numpy as np
import pytest
from cli_support import forked
from scale_support import table

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'oblique-trees[parquet]'")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with big.parquet, made of big.csv: 20,000 rows that take some 10 MB as texts."""
    where = tmp_path_factory.mktemp("beyond")
    X, y = table(1, n=20_000)
    colors = np.array(["red", "blue"])[(X[:, 0] > 0.3).astype(int)]
    with open(where / "big.csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["a", "b", "c", "color", "kind"])
        writer.writerows([*map(repr, row.tolist()), color, f"k{k}"] for row, color, k in zip(X, colors, y, strict=True))
    ended = forked(where, "data", "convert", "big.csv", "big.parquet")
    assert ended.code == 0 and "20000 rows, 5 columns written to big.parquet" in ended.out
    assert "a: numbers" in ended.out and "color: text" in ended.out
    return where


FIT = ("fit", "big.parquet", "--target", "kind", "--algorithm", "hhcart_d", "--memory", "8MB")


def test_a_large_file_is_fitted_from_the_disk_and_predicted(folder):
    ended = forked(folder, *FIT, "--set", "max_depth=5", "-o", "model.json")
    assert ended.code == 0, ended.err
    assert "Grown from the disk within 8 MB" in ended.out and "rows kept from the fit" in ended.out
    predicted = forked(folder, "predict", "model.json", "big.parquet")
    assert predicted.code == 0, predicted.err
    results = [row[-1] for row in csv.reader(predicted.out.splitlines()[1:])]
    with open(folder / "big.csv", newline="") as stream:
        wanted = [row["kind"] for row in csv.DictReader(stream)]
    assert np.mean([a == b for a, b in zip(results, wanted, strict=True)]) > 0.7
    scored = forked(folder, "explain", "model.json", "big.parquet", "--row", "1")
    assert scored.code == 0, scored.err


def test_the_model_is_the_same_for_any_memory_and_workers(folder):
    trees = []
    for memory, workers in (("8MB", "1"), ("9MB", "3")):
        name = f"m{workers}.json"
        ended = forked(folder, *FIT[:-1], memory, "--jobs", workers, "--scratch", ".", "-o", name, "--format", "json")
        assert ended.code == 0, ended.err
        assert json.loads(ended.out)["held_out"]["rows"] > 1500
        trees.append(json.loads((folder / name).read_text())["state"]["tree_"])
    assert trees[0] == trees[1]
    assert not (folder / "rows").exists()


def test_a_forest_grows_from_the_disk_and_is_predicted(folder):
    forest = ("--algorithm", "hhgdt_forest", "--set", "n_trees=3", "--set", "max_depth=5")
    ended = forked(folder, *FIT[:4], *forest, "--drop", "color", "--memory", "8MB", "-o", "forest.json")
    assert ended.code == 0, ended.err
    output = " ".join(ended.out.replace("\n#  ", "").split())
    assert "3 trees. Each drew its features once (max_features_per_tree 0.5), and its rows as in memory." in output
    assert "The model is not one tree, so no rules are shown." in output and "rows kept from the fit" in output
    predicted = forked(folder, "predict", "forest.json", "big.parquet")
    assert predicted.code == 0 and predicted.out.count("\n") == 20_001


@pytest.mark.parametrize(("memory", "how"), [("3MB", "drawn anew every few trees"), ("8MB", "all there are, so as")])
def test_boosting_sees_as_many_rows_at_a_time_as_memory_holds(folder, memory, how):
    boosting = ("--algorithm", "oblique_boosting", "--set", "n_trees=12", "--drop", "color", "--memory", memory)
    ended = forked(folder, *FIT[:4], *boosting, "-o", "boosting.json")
    assert ended.code == 0, ended.err
    output = " ".join(ended.out.replace("\n#  ", "").split())
    rows = re.search(rf"12 trees on (\d+) rows at a time, {how}", output)
    assert rows is not None and (int(rows[1]) < 18_000) == (memory == "3MB")
    assert "rows kept from the fit" in output
    predicted = forked(folder, "predict", "boosting.json", "big.parquet")
    assert predicted.code == 0 and predicted.out.count("\n") == 20_001


def test_a_file_that_fits_is_fitted_as_ever(folder):
    small = ["a,b,kind", *(f"{i},{i % 7},{'yes' if i % 5 else 'no'}" for i in range(60))]
    (folder / "small.csv").write_text("\n".join(small))
    assert forked(folder, "data", "convert", "small.csv", "small.parquet", "--single", "--format", "json").code == 0
    ended = forked(
        folder, "fit", "small.parquet", "--target", "kind", "--algorithm", "axis_parallel", "--memory", "1GB"
    )
    assert ended.code == 0 and "cross-validation" in ended.out


def test_what_a_large_csv_is_told_to_do_finds_its_delimiter(folder):
    (folder / "cut.csv").write_text((folder / "big.csv").read_text().replace(",", "|"))
    ended = forked(folder, "fit", "cut.csv", "--target", "kind", "--algorithm", "hhcart_d", "--memory", "2MB")
    assert ended.code == 2 and "`oblique data convert cut.csv cut.parquet`" in " ".join(ended.err.split())
    ended = forked(folder, "data", "convert", "cut.csv", "cut.parquet")
    assert ended.code == 0 and "20000 rows, 5 columns" in ended.out and "a: numbers" in ended.out


@pytest.mark.parametrize("link", [None, "symlink_to", "hardlink_to"])
def test_the_source_is_never_the_target(folder, link):
    source, target = folder / "kept.csv", folder / ("kept.csv" if link is None else f"{link}.csv")
    source.write_text("a,b\n1,2\n")
    if link is not None:
        getattr(target, link)(source)
    ended = forked(folder, "data", "convert", source.name, target.name)
    assert ended.code == 4 and "is the file that is to be converted" in " ".join(ended.err.split())
    assert source.read_text() == "a,b\n1,2\n"
