"""Group cross-validation: what stays together, and where the column goes."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runner_support import toy

from oblique_cli.data import catalogue
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground.nouns import CVSpec, DatasetSpec
from oblique_cli.schemes import check, folds, places


def by_group(**changes):
    return CVSpec("group", **{"folds": 3, "repeats": 2, "tune_folds": 2, "options": {"groups": "g"}, **changes})


def grouped(groups, **changes):
    groups = np.asarray(groups)
    return toy(len(groups), groups=groups, group_column="g", **changes)


@given(
    st.lists(st.integers(0, 12), min_size=40, max_size=80).filter(lambda g: len(set(g)) > 6),
    st.booleans(),
    st.integers(0, 99),
)
def test_no_group_is_on_both_sides_of_a_test_or_a_tuning_fold(groups, stratified, seed):
    dataset = grouped(groups)
    for fold in folds(dataset, by_group(stratified=stratified), seed):
        local = dataset.groups
        assert not np.isin(local[fold.test], local[fold.train]).any()
        try:
            pairs = list(fold.tuning)
        except ConfigError as error:
            assert "groups in training" in str(error) or "group in training" in str(error)
            continue
        assert np.array_equal(np.sort(np.concatenate([pair.valid for pair in pairs])), fold.train)
        for pair in pairs:
            assert not np.isin(local[pair.valid], local[pair.train]).any()


def test_folds_are_as_equal_as_whole_groups_allow():
    dataset = grouped(np.repeat(np.arange(40), np.arange(40) % 5 + 1))
    for repeat in range(3):
        sizes = [len(f.test) for f in folds(dataset, by_group(folds=5, repeats=3), 1) if f.repeat == repeat]
        assert sum(sizes) == dataset.n and np.ptp(sizes) <= 5


def test_stratified_parts_keep_the_class_shares_better():
    sizes = np.repeat(np.arange(60), 4)
    dataset = grouped(sizes, y=np.repeat((np.arange(60) < 20).astype(np.int32), 4))

    def worst(stratified):
        drawn = folds(dataset, by_group(folds=5, stratified=stratified, repeats=5), 1)
        return max(abs(dataset.y[f.test].mean() - 1 / 3) for f in drawn)

    assert worst(True) < 0.06 < worst(False)


def test_as_many_folds_as_groups_are_run_once():
    dataset = grouped(np.repeat(np.arange(5), 6))
    drawn = folds(dataset, by_group(folds=5, repeats=4), 1)
    assert [(f.repeat, f.index) for f in drawn] == places(by_group(folds=5, repeats=4), dataset)
    assert sorted(np.unique(dataset.groups[f.test]).tolist() for f in drawn) == [[0], [1], [2], [3], [4]]
    # One group more, and repetitions differ.
    more = folds(grouped(np.repeat(np.arange(6), 6)), by_group(folds=5, repeats=4), 1)
    assert len(more) == 20 and len({f.test.tobytes() for f in more}) > 6


def test_a_run_that_leaves_one_group_out_has_one_repetition_and_says_so(call):
    (call.folder / "my.csv").write_text(CSV)
    (call.folder / "x.yaml").write_text(
        "version: 1\ndatasets: [{csv: my.csv, target: class}]\nalgorithms: [axis_parallel, hhcart_a]\n"
        "cv: {scheme: group, groups: patient, folds: 12, repeats: 3}\n"
    )
    assert call("validate", "x.yaml").out == "x.yaml: ok (1 data set x 2 algorithms x 12 folds)\n"
    ended = call("run", "x.yaml", "-j", "1")
    assert ended.code == 0, ended.err
    table, _, notes = ended.out.partition("\n\n3 x 12-fold CV")
    assert "my: one repetition, as there is one way only to divide the rows." in notes and "±" not in table
    assert call("table", "x").out == ended.out and call("run", "x.yaml", "-j", "1").out == ended.out
    assert "repetitions are complete" not in call("significance", "x").out
    assert "24" in call("status").out
    spread = call("bias-variance", "x.yaml")
    assert spread.code == 2 and "my can be divided in one way only" in spread.err


@pytest.mark.parametrize(
    ("groups", "cv", "has", "remedy"),
    [
        ([0, 1] * 6, by_group(), "2 groups in column 'g'", "folds: 2"),
        ([4] * 12, by_group(), "1 group in column 'g'", "a column with more"),
        ([0, 1, 2, 3] * 3, by_group(tune_folds=3), "2 groups in training in column 'g'", "tune: {folds: 2}"),
        ([0] * 11 + [1], by_group(folds=2), "leaves 1 to train on", "more rows"),
    ],
)
def test_groups_that_do_not_suffice_are_a_sentence(groups, cv, has, remedy):
    with pytest.raises(ConfigError, match=rf"^data set 'toy' has .*{has}.*: use {re.escape(remedy)}\.$"):
        check(grouped(groups), cv)
    if "training in" in has:
        check(grouped(groups), cv, tuned=False)  # nobody tunes, so nobody misses the groups


CSV = "patient,a,b,class\n" + "".join(f"p{i // 4},{i % 7},{i % 5},{'xy'[i % 3 == 0]}\n" for i in range(48))


@pytest.fixture
def patients(tmp_path):
    path = tmp_path / "my.csv"
    path.write_text(CSV)
    return DatasetSpec("my", csv=str(path), target="class")


def test_the_column_is_no_feature_whatever_it_looks_like(patients):
    dataset = catalogue.load(patients, groups="patient")
    assert dataset.feature_names == ("a", "b") and dataset.qualitative == ()
    assert dataset.group_column == "patient" and np.bincount(dataset.groups).tolist() == [4] * 12
    with pytest.raises(DataError, match="not numeric"):
        catalogue.load(patients)
    numbers = catalogue.load(DatasetSpec("iris"), groups="petal_width")
    assert numbers.p == 3 and len(set(numbers.groups.tolist())) == 22
    assert numbers.digest != catalogue.load(DatasetSpec("iris"), groups="petal_length").digest


def test_a_row_without_a_group_cannot_be_filled_in_and_can_be_dropped(patients):
    with open(patients.csv, "w") as file:
        file.write(CSV.replace("p3,", ","))
    with pytest.raises(DataError, match=r"of groups is empty at line 14; set missing: drop"):
        catalogue.load(DatasetSpec("my", csv=patients.csv, target="class", missing="impute"), groups="patient")
    for first in (",", "NA,"):  # the first row of all is one as well
        with open(patients.csv, "w") as file:
            file.write(CSV.replace("p0,", first))
        with pytest.raises(DataError, match=r"of groups is ('NA'|empty) at line 2; set missing: drop"):
            catalogue.load(DatasetSpec("my", csv=patients.csv, target="class", missing="impute"), groups="patient")
    retained = catalogue.load(DatasetSpec("my", csv=patients.csv, target="class", missing="drop"), groups="patient")
    assert retained.n == 44 == len(retained.groups)


def test_a_run_by_groups_from_a_file_with_tuning(call):
    (call.folder / "my.csv").write_text(CSV)
    (call.folder / "x.yaml").write_text(
        "version: 1\ndataset: {csv: my.csv, target: class}\nalgorithm: {name: hhgdt, epsilon: {grid: [0.1, 0.3]}}\n"
        "cv: {scheme: group, groups: patient, folds: 4, repeats: 2, tune: {folds: 3}}\n"
    )
    assert call("validate", "x.yaml").out == "x.yaml: ok (1 data set x 1 algorithm x 8 folds)\n"
    ended = call("run", "x.yaml", "-j", "1")
    assert ended.code == 0, ended.err
    assert "2 x 4-fold CV (group by patient): accuracy in % pooled over the folds of a repetition" in ended.out
    again = call("table", "x")
    assert again.out == ended.out, again.err
    changed = call("run", "x.yaml", "-j", "1", "--set", "cv.groups=b")
    assert changed.code == 4 and "not numeric" in changed.err  # the patient is a feature then
    changed = call("run", "x.yaml", "-j", "1", "--set", "cv.groups=b", "--set", "dataset.encoding=onehot")
    assert changed.code == 2 and 'cv.groups "patient" -> "b"' in changed.err
    missing = call("validate", "x.yaml", "--set", "cv.groups=doctor")
    assert missing.code == 4 and "there is no column 'doctor' to use as the column of groups." in missing.err
