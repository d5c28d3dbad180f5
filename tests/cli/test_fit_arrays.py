"""`oblique fit` of .npy files, with weights of rows, in memory and beyond it; and forests on workers."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest
from cli_support import environment, forked
from scale_support import same, table

from oblique_cli.estimators.algorithms import make
from oblique_cli.models.model import load
from oblique_cli.scale.disk_tables import Division


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table of 20,000 rows and one of 300, labels and weights beside them or as columns."""
    where = tmp_path_factory.mktemp("arrays")
    X, y = table(1, n=20_000)
    w = np.random.default_rng(1).integers(0, 4, len(X))
    names = np.array(["a", "b", "c"])[y]
    for name, rows in (("", slice(None)), ("few_", slice(300))):
        np.save(where / f"{name}X.npy", X[rows])
        np.save(where / f"{name}y.npy", names[rows])
        np.save(where / f"{name}w.npy", w[rows])
        np.save(where / f"{name}all.npy", np.column_stack([X, w, y])[rows])
        np.save(where / f"{name}bytes.npy", np.char.encode(names[rows], "utf-8"))
        np.save(where / f"{name}latin.npy", np.array([b"caf\xe9", b"b", b"c"])[y][rows])
    with open(where / "few.csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["x1", "x2", "x3", "w", "y"])
        few = zip(X[:300].tolist(), w[:300], names[:300], strict=True)
        writer.writerows([*map(repr, row), weight, label] for row, weight, label in few)
    return where


def fitted(folder, *arguments):
    ended = forked(folder, "fit", *arguments, "-o", "model.json")
    assert ended.code == 0, ended.err
    return load(folder / "model.json").estimator.tree_, ended.out


HERE = ("--algorithm", "hhcart_d", "--set", "pruning=none", "--folds", "2")


@pytest.mark.long
def test_labels_and_weights_lie_beside_the_rows_or_in_them(folder):
    X, y, w = (np.load(folder / f"few_{name}.npy") for name in "Xyw")
    beside, output = fitted(folder, "few_X.npy", "--target", "few_y.npy", "--weights", "few_w.npy", *HERE)
    expected = make("hhcart_d", pruning="none").fit(X, y, w.astype(float)).tree_
    assert not same(beside, expected)
    assert f"{int((w == 0).sum())} rows of weight 0 left out" in output
    within, _ = fitted(folder, "few_all.npy", "--target", "x5", "--weights", "x4", *HERE)
    text, _ = fitted(folder, "few.csv", "--target", "y", "--weights", "w", *HERE)
    assert not same(within, expected) and not same(text, expected)
    unweighted, _ = fitted(folder, "few.csv", "--target", "y", "--drop", "w", *HERE)
    assert same(unweighted, expected)


def test_a_model_of_arrays_predicts_arrays(folder):
    fitted(folder, "few_X.npy", "--target", "few_y.npy", *HERE)
    predicted = forked(folder, "predict", "model.json", "few_X.npy")
    assert predicted.code == 0, predicted.err
    results = [row[-1] for row in csv.reader(predicted.out.splitlines()[1:])]
    assert np.mean(np.array(results) == np.load(folder / "few_y.npy")) > 0.9
    scored = forked(folder, "tree", "few_all.npy", "--target", "x5", "--drop", "x4")
    assert scored.code == 0, scored.err


BEYOND = ("--algorithm", "hhcart_d", "--set", "pruning=none", "--set", "max_depth=5", "--memory")


def test_arrays_larger_than_memory_give_the_tree_of_memory(folder):
    model, text = fitted(folder, "X.npy", "--target", "y.npy", "--weights", "w.npy", *BEYOND, "7MB")
    assert "Grown from the disk within 7 MB" in text and "rows have no class or no weight" in text
    X, y, w = (np.load(folder / f"{name}.npy") for name in "Xyw")
    retained = Division(0.0, 0.1, 1).drawn()(len(X)) == 2
    expected = (
        make("hhcart_d", pruning="none", max_depth=5).fit(X[~retained], y[~retained], w[~retained].astype(float)).tree_
    )
    assert not same(model, expected)
    within, _ = fitted(folder, "all.npy", "--target", "x5", "--weights", "x4", *BEYOND, "7MB")
    assert not same(within, expected)


@pytest.mark.parametrize(("name", "how"), [("few_", HERE), ("", ("--algorithm", "hhcart_d", "--memory", "7MB"))])
def test_labels_of_bytes_are_texts(folder, name, how):
    ended = forked(folder, "fit", f"{name}X.npy", "--target", f"{name}bytes.npy", *how, "-o", "model.json")
    assert ended.code == 0, ended.err
    assert load(folder / "model.json").classes == ("a", "b", "c")
    ended = forked(folder, "fit", f"{name}X.npy", "--target", f"{name}latin.npy", *how)
    assert (ended.code, ended.out) == (4, "") and "latin.npy: holds bytes that are not UTF-8" in ended.err


def test_workers_are_threads_of_a_model_in_memory(folder):
    models = []
    for workers in ("1", "3"):
        name = f"w{workers}.json"
        ended = forked(
            folder, "fit", "few_X.npy", "--target", "few_y.npy", "--algorithm", "hhgdt_forest", "--folds", "2",
            "--set", "n_estimators=7", "--jobs", workers, "-o", name,
        )  # fmt: skip
        assert ended.code == 0, ended.err
        models.append(json.loads((folder / name).read_text())["state"])
    assert models[0] == models[1]


@pytest.mark.filterwarnings("ignore")  # Dask's own
def test_a_forest_grows_on_workers(folder):
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'oblique-trees[dask]'")
    states = []
    for name, how in (("here", ()), ("there", ("--scheduler", "local", "--jobs", "2"))):
        # A process that was forked cannot start workers, and `python -m` begins one for certain.
        command = [
            sys.executable, "-m", "oblique_cli", "fit", "few_X.npy", "--target", "few_y.npy", "--algorithm",
            "hhgdt_forest", "--folds", "2", "--set", "n_estimators=7", *how, "-o", f"{name}.json",
        ]  # fmt: skip
        done = subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        states.append(load(folder / f"{name}.json").estimator.forest_.state())
    assert len(states[0]) == 7
    for first, other in zip(*states, strict=True):
        assert all(np.array_equal(first[key], other[key]) for key in first)
