"""A fit that was stopped goes on from the last level that it finished."""

import random
import shutil

import numpy as np
import pytest
from robustness_support import many
from scale_support import Stopped, same, stored, table

import oblique_cli.proposers  # noqa: F401
from oblique_cli.errors import DataError, StoreError
from oblique_cli.estimators.algorithms import make
from oblique_cli.scale import fit_from_disk
from oblique_cli.scale.disk_tables import array_table
from oblique_cli.scale.growing import Checkpoint, Plan, grow
from oblique_cli.scale.passes import Here
from oblique_cli.scale.store import Store
from oblique_cli.tree.splitting import PROPOSERS
from oblique_cli.tree.stopping import Stopping

pytestmark = pytest.mark.usefixtures("large_from_40_rows")


class Failing(Here):
    """Answers some requests, then none."""

    left = 0

    def ask(self, kind, level, request):
        if self.left == 0:
            raise Stopped
        self.left -= 1
        return super().ask(kind, level, request)


@pytest.mark.parametrize("levels", [(), (3, 0, 0)])
def test_a_fit_may_be_stopped_in_any_pass(levels, tmp_path):
    X, y = table(1)
    if levels:
        X[:, 0] = np.random.default_rng(1).integers(0, 3, len(X))
    plan = Plan(PROPOSERS["hhcart_d"](), "gini", Stopping(2, 0.0, 4), finish_rows=0)
    store = stored(tmp_path / "rows", X, y, blocks=3, levels=levels)
    expected = grow(Here(store), store, plan).tree
    checkpoint, stops = Checkpoint(tmp_path / "state.npz"), 0
    for _ in range(40):
        again = Store.open(store.path)
        asker = Failing(again)
        asker.left = 7  # more than a level takes
        try:
            tree = grow(asker, again, plan, checkpoint)
            break
        except Stopped:
            stops += 1
    assert stops > 1 and not same(tree.tree, expected)


def test_a_state_of_another_fit_is_refused(tmp_path):
    X, y = table(1)
    store = stored(tmp_path / "rows", X, y)
    checkpoint = Checkpoint(tmp_path / "state.npz")
    grow(Here(store), store, Plan(PROPOSERS["hhcart_d"](), "gini", Stopping(2, 0.0, 2), finish_rows=0), checkpoint)
    with pytest.raises(DataError, match="is of a fit with other parameters"):
        grow(Here(store), store, Plan(PROPOSERS["hhcart_d"](), "twoing"), checkpoint)
    (tmp_path / "state.npz").write_bytes(b"nothing")
    with pytest.raises(DataError, match="not a state of a fit"):
        grow(Here(store), store, Plan(PROPOSERS["hhcart_d"](), "gini"), checkpoint)


def stopped_fit(scratch):
    """Begin a fit that stops after one answer, and give its rows, labels and parameters."""
    X, y = table(2)
    params = {"pruning": "none", "max_depth": 4}

    def stopping(store):
        asker = Failing(store)
        asker.left = 1
        return asker

    with pytest.raises(Stopped):
        fit_from_disk.fit(array_table(X, y), "hhcart_d", params, scratch=scratch, asker=stopping)
    return X, y, params


def test_a_scratch_folder_is_gone_on_from(tmp_path):
    X, y, params = stopped_fit(tmp_path)
    assert (tmp_path / "oblique-rows" / "rows.json").exists()
    with pytest.raises(DataError, match="holds the rows of another fit"):
        fit_from_disk.fit(array_table(X[:200], y[:200]), "hhcart_d", params, scratch=tmp_path)
    fit = fit_from_disk.fit(array_table(X, y), "hhcart_d", params, scratch=tmp_path)
    assert not same(fit.estimator.tree_, make("hhcart_d", **params).fit(X, y).tree_)
    assert list(tmp_path.iterdir()) == []


def damage(path, number):
    """Change a file: a bit, its end, a byte, a stretch of zeros, all of it, or bytes put in."""
    rng, content = random.Random(f"{path.name} {number}"), bytearray(path.read_bytes())
    at, how = rng.randrange(len(content)), number % 6
    if how == 0:
        content[at] ^= 1 << rng.randrange(8)
    elif how == 1:
        del content[at:]
    elif how == 2:
        content[at] = 255
    elif how == 3:
        content[at : at + 200] = bytes(len(content[at : at + 200]))
    elif how == 4:
        content[:] = rng.choice((b"", b"[]", b"{}", b"null", b"7", b"\xff\xfe"))
    else:
        content[at:at] = rng.randbytes(9)
    path.write_bytes(content)


def test_a_damaged_state_is_one_sentence_or_changes_nothing(tmp_path):
    X, y = table(1)
    store = stored(tmp_path / "rows", X, y)
    path = tmp_path / "state.npz"
    plan = Plan(PROPOSERS["hhcart_d"](), "gini", Stopping(2, 0.0, 2), finish_rows=0)
    expected = grow(Here(store), store, plan, Checkpoint(path)).tree
    whole, refused = path.read_bytes(), 0
    n = many(60, 2000)
    for number in range(n):
        path.write_bytes(whole)
        damage(path, number)
        try:
            assert not same(grow(Here(store), store, plan, Checkpoint(path)).tree, expected), f"{number}: another tree"
        except DataError as error:
            assert str(path) in str(error) and "\n" not in str(error)
            refused += 1
    assert n // 2 < refused


def test_a_damaged_file_of_a_scratch_folder_is_one_sentence(tmp_path):
    X, y, params = stopped_fit(tmp_path / "whole")
    expected = make("hhcart_d", **params).fit(X, y).tree_
    files = sorted(path.relative_to(tmp_path / "whole") for path in (tmp_path / "whole").rglob("*") if path.is_file())
    assert {"table.json", "rows.json", "chunk_000000.rows"} <= {path.name for path in files}
    refused = 0
    for file in files:
        for number in range(many(6, 200)):
            folder = tmp_path / "damaged"
            shutil.copytree(tmp_path / "whole", folder)
            damage(folder / file, number)
            try:
                fit = fit_from_disk.fit(array_table(X, y), "hhcart_d", params, scratch=folder)
                assert not same(fit.estimator.tree_, expected), f"{file} {number} gave another tree"
            except DataError as error:
                assert str(folder) in str(error) and "\n" not in str(error)
                refused += 1
            shutil.rmtree(folder, ignore_errors=True)
    assert refused > 3 * len(files)


def test_a_full_disk_is_a_sentence_and_leaves_no_half_file(tmp_path, monkeypatch):
    X, y = table(2)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(StoreError, match="the disk is full: --scratch names a folder on another disk"):
        fit_from_disk.fit(array_table(X, y), "hhcart_d", {"pruning": "none"}, scratch=tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
