"""Packed predictions come back to the bit, and take little room."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oblique_cli.experiments.store import Store
from oblique_cli.experiments.stored_predictions import Labels, Predictions, pack, pack_labels, unpack, unpack_labels
from oblique_cli.ground.nouns import Row


def bits(of: Predictions) -> list[object]:
    """The ids of the rows, and the bytes of what was predicted."""
    parts = (of.predicted, of.probabilities)
    return [of.rows.tolist(), *(None if part is None else part.tobytes() for part in parts)]


any_float = st.floats(allow_nan=True, allow_infinity=True, width=64)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_predictions_come_back_to_the_bit(data):
    n, classes = data.draw(st.integers(0, 40)), data.draw(st.integers(1, 5))
    ids = np.array(data.draw(st.lists(st.integers(0, 2**40), min_size=n, max_size=n)), dtype=np.int64)
    if data.draw(st.booleans()):
        predicted = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, 70_000)))
    else:
        predicted = data.draw(hnp.arrays(np.float64, n, elements=any_float))
    shares = data.draw(st.none() | hnp.arrays(np.float64, (n, classes), elements=any_float))
    packed = pack(Predictions(ids, predicted, shares))
    assert bits(unpack(packed)) == bits(Predictions(ids, predicted, shares))
    assert pack(unpack(packed)) == packed


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\0"), max_size=8), min_size=1, unique=True), st.randoms())
def test_labels_come_back_to_the_bit(classes, chance):
    y = np.array([chance.randrange(len(classes)) for _ in range(30)], dtype=np.int32)
    result = unpack_labels(pack_labels(Labels(tuple(classes), y)))
    assert result.classes == tuple(classes) and result.y.tolist() == y.tolist()
    numbers = np.array([0.1, -0.0, 1e300])
    assert unpack_labels(pack_labels(Labels((), numbers))).y.tobytes() == numbers.tobytes()


def test_bytes_that_nothing_has_packed_are_refused():
    good = pack(Predictions(np.arange(5), np.arange(5)))
    for bad in (b"", b"\x07" + good[1:], good[:-3]):
        with pytest.raises((ValueError, IndexError, Exception)):
            unpack(bad)


def test_ten_by_ten_folds_of_letter_take_less_than_20_megabytes_probabilities_included(tmp_path):
    # Letter: 20,000 rows, 26 classes. Leaves of a tree: some hundreds of distributions, mostly of one class; one row in
    # six is taken for another class.
    rng = np.random.default_rng(0)
    y = rng.integers(26, size=20_000)
    path = tmp_path / "oblique.sqlite"
    with Store(path) as store:
        store.begin("letter", {"cv": {"repeats": 10}}, 100)
        store.add_labels({"digest": pack_labels(Labels(tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), y))})
        for repeat in range(10):
            for fold, rows in enumerate(np.array_split(rng.permutation(20_000), 10)):
                rows = np.sort(rows)
                predicted = np.where(rng.random(len(rows)) < 1 / 6, rng.integers(26, size=len(rows)), y[rows])
                leaves = rng.dirichlet(np.full(26, 0.05), size=900)
                shares = np.where(rng.random(len(rows))[:, None] < 0.7, np.eye(26)[predicted],
                                  leaves[rng.integers(900, size=len(rows))])  # fmt: skip
                packed = pack(Predictions(rows, predicted, shares))
                per_class = {"all": [int((predicted == y[rows]).sum()), len(rows)]}
                row = Row(f"{repeat} {fold}", "letter", "tree", repeat, fold, "ok", n_test=len(rows), packed=packed,
                          n_correct=per_class["all"][0], per_class=per_class)  # fmt: skip
                store.append("letter", row)
                if repeat == 0:
                    codes_alone = len(pack(Predictions(rows, predicted)))
    size = path.stat().st_size
    print(f"{size / 1e6:.1f} MB with probabilities; {codes_alone} bytes a fold without")
    assert size < 20e6 and codes_alone * 100 < 1e6
