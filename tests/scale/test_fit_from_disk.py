"""A table beyond memory gives the estimator that memory would give."""

import numpy as np
import pytest
from scale_support import same, table

from oblique_cli import HHCARTClassifier
from oblique_cli.data.own.front import Reading, read_own
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.algorithms import make
from oblique_cli.ground import seeds
from oblique_cli.scale import fit_from_disk
from oblique_cli.scale.disk_tables import Division, array_table, convert, parquet_table, store

pytestmark = pytest.mark.usefixtures("large_from_40_rows")
pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'oblique-trees[parquet]'")
import pyarrow.parquet as pq  # noqa: E402


def parts(n: int, prune: float, test: float = 0.0) -> np.ndarray:
    """The rows that a fit keeps from growth, as it draws them."""
    return Division(prune, test, 1).drawn()(n)


@pytest.mark.parametrize("pruning", fit_from_disk.PRUNED_HERE)
@pytest.mark.parametrize("algorithm", ["hhcart_a", "gdt"])
def test_a_fit_is_the_one_in_memory(algorithm, pruning):
    X, y = table(1, n=400)
    labels = np.array(["a", "b", "c"])[y]
    params = {"pruning": pruning, "max_depth": 5, "class_weight": "balanced"}
    fit = fit_from_disk.fit(array_table(X, labels), algorithm, params, memory=1 << 21)
    held_out = np.flatnonzero(parts(400, 0.1) == 1) if pruning in ("cost_complexity", "critical_value") else None
    expected = make(algorithm, random_state=1, **params)
    expected.fit(X, labels, pruning_rows=held_out)
    assert not same(fit.estimator.tree_, expected.tree_)
    assert fit.estimator.predict(X).tolist() == expected.predict(X).tolist()
    assert fit.estimator.classes_.tolist() == expected.classes_.tolist()


@pytest.mark.parametrize(
    ("algorithm", "params"),
    [
        ("hhcart_d", {"min_samples_leaf": 3, "min_weight_fraction_leaf": 0.02, "max_misrate": 0.1}),
        ("hhgdt", {"misrate_of": "parent", "epsilon": 0.1}),
    ],
)
def test_weights_and_limits_count(algorithm, params):
    X, y = table(2, n=400)
    weights = np.random.default_rng(2).integers(0, 4, len(X)).astype(float)
    from_disk = fit_from_disk.fit(array_table(X, y, weights), algorithm, {**params, "pruning": "none"})
    expected = make(algorithm, random_state=1, **params, pruning="none").fit(X, y, weights)
    assert not same(from_disk.estimator.tree_, expected.tree_)


@pytest.mark.parametrize("params", [{}, {"misrate_of": "parent", "epsilon": 0.1}, {"pruning": "pessimistic"}], ids=repr)
def test_a_limit_of_leaves_counts(params):
    X, y = table(2, n=400)
    for most in (1, 2, 7, 1000):
        options = {"epsilon": 0.0, "pruning": "none", **params, "max_leaf_nodes": most}
        fit = fit_from_disk.fit(array_table(X, y), "hhgdt", options)
        expected = make("hhgdt", random_state=1, **options).fit(X, y)
        assert not same(fit.estimator.tree_, expected.tree_) and expected.n_leaves_ <= most


def test_the_test_is_of_rows_that_growth_has_not_seen():
    X, y = table(3, n=500)
    params = {"pruning": "none", "max_depth": 4, "class_weight": {0: 2.0}}
    fitted = fit_from_disk.fit(array_table(X, y), "hhcart_d", params, division=Division(0.1, 0.2, 1))
    held_out = parts(500, 0.0, 0.2) == 2
    assert fitted.tested == held_out.sum() > 50
    expected = make("hhcart_d", random_state=1, **params).fit(X[~held_out], y[~held_out])
    assert not same(fitted.estimator.tree_, expected.tree_)
    assert fitted.right == (expected.predict(X[held_out]) == y[held_out]).sum()


def test_single_precision_is_kept_so_on_the_disk_and_mapped_arrays_are_tables(tmp_path):
    X, y = table(4)
    X = X.astype(np.float32)
    fit = fit_from_disk.fit(array_table(X, y), "axis_parallel", {"pruning": "none"}, scratch=tmp_path)
    assert not same(fit.estimator.tree_, make("axis_parallel", pruning="none").fit(X, y).tree_)
    made = store(array_table(X, y), tmp_path)
    assert made.dtype == "<f4" and made.file(0).stat().st_size == 300 * (3 * 4 + 4 + 1)
    assert np.array_equal(made.read(0).columns, X.T.astype(float))
    X, y = table(5)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    mapped = array_table(*(np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "Xy"))
    fit = fit_from_disk.fit(mapped, "hhcrv", {"pruning": "none"})
    assert not same(fit.estimator.tree_, make("hhcrv", pruning="none").fit(X, y).tree_)


def test_parquet_with_texts_is_scored_as_in_memory(tmp_path):
    X, y = table(6)
    colors = np.array(["red", "green", "blue"])[np.random.default_rng(1).integers(0, 3, len(X))]
    y = np.where((colors == "red") & (y == 0), 1, y)
    columns = {"a": X[:, 0], "color": colors, "b": X[:, 1].astype(np.float32), "y": y}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=70)
    looked = parquet_table(tmp_path / "t.parquet", "y")
    assert looked.levels == (0, 3, 0) and looked.classes == ("0", "1", "2")
    fit = fit_from_disk.fit(looked, "hhcart_a", {"pruning": "none"}).estimator
    # Codes of levels are in the order of their texts.
    codes = np.searchsorted(["blue", "green", "red"], colors).astype(float)
    rows = np.column_stack([X[:, 0], codes, X[:, 1].astype(np.float32)])
    expected = HHCARTClassifier(pruning="none", qualitative=[1]).fit(rows, y)
    assert not same(fit.tree_, expected.tree_)


def test_sides_that_missing_cells_learn_need_all_rows():
    with pytest.raises(ConfigError, match="missing 'learn' needs all rows in memory"):
        fit_from_disk.fit(array_table(*table(1)), "hhcart_d", {"pruning": "none", "missing": "learn"})


def test_weights_that_cannot_be_added_exactly_are_refused():
    X, y = table(1)
    weights = np.full(len(X), 1.0)
    weights[0] = 1e12
    with pytest.raises(ConfigError, match="cannot be added up exactly"):
        fit_from_disk.fit(array_table(X, y, weights), "hhcart_d", {"pruning": "none"})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1.0, None, 3.0], "y": [0, 1, 0]}, r"cells without a finite number in column 'a' \(1\)"),
        ({"a": [1.0, 2.0, 3.0], "y": [1, 1, 1]}, "column 'y' has 1 classes, at least 2 are needed"),
        ({"a": [[1.0], [2.0], [3.0]], "y": [0, 1, 0]}, "column 'a' holds list<.*>, neither numbers nor texts"),
        ({"y": [0, 1, 0]}, "no column is left to be a feature"),
        ({"a": [1.0, 2.0, 3.0], "z": [0, 1, 0]}, "there is no column 'y' to use as the target"),
        ({"a": [1.0, 2.0], "y": [0, 1], "w": [1.0, -1.0]}, r"column 'w' holds '-1\.0' in row 2"),
        (b"PAR1 and nothing else", "not a whole table that can be read"),
    ],
)
def test_bad_tables_are_told_in_a_sentence(columns, message, tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(columns) if isinstance(columns, bytes) else pq.write_table(pa.table(columns), path)
    with pytest.raises(DataError, match=message):
        parquet_table(path, "y", weight="w" if "'w'" in message else "")


def test_kept_rows_have_a_stream_of_their_own():
    drawn = Division(0.25, 0.25, 7).drawn()
    together = np.concatenate([drawn(10), drawn(990)])
    assert np.array_equal(together, Division(0.25, 0.25, 7).drawn()(1000))
    assert [round(float((together == part).mean()), 1) for part in (0, 1, 2)] == [0.5, 0.3, 0.3]
    assert seeds.generator(7, "rows kept from growth").random() != seeds.generator(8, "rows kept from growth").random()


def test_csv_becomes_parquet_of_the_narrowest_types_that_hold_for_all_rows(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("i,x,t,e\n1,1,a,\n2,2.5,NA,\n,3,7,\n")
    result = convert(tmp_path / "t.csv", tmp_path / "t.parquet")
    assert result.rows == 3 and result.empty == {"i": 1, "t": 1, "e": 3}
    assert result.kinds == {"i": "int64", "x": "double", "t": "string", "e": "double"}
    assert pq.read_table(tmp_path / "t.parquet").to_pydict() == {
        "i": [1, 2, None],
        "x": [1.0, 2.5, 3.0],
        "t": ["a", None, "7"],
        "e": [None, None, None],
    }
    rows = [f"{'02139' if i % 3 else '94110'},{i % 7},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["zip,n,y", *rows]) + "\n")
    assert convert(tmp_path / "t.csv", tmp_path / "t.parquet").kinds == {"zip": "string", "n": "int64", "y": "string"}
    for name in ("t.csv", "t.parquet"):
        _, columns, _ = read_own(tmp_path / name, Reading(target="y", missing="impute", encoding="onehot"))
        assert columns.levels == {0: ("02139", "94110")}
    monkeypatch.setattr("oblique_cli.scale.disk_tables.BATCH", 100)
    lines = ["n,y", *(f"{i},{i % 2}" for i in range(950)), "many,1"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert convert(tmp_path / "t.csv", tmp_path / "t.parquet").kinds == {"n": "string", "y": "int64"}
