"""Learning curves: training sets that lie inside each other, tested on the rows of ordinary cross-validation."""

import json

import numpy as np
import pytest
from runner_support import toy

from oblique_cli.errors import ConfigError
from oblique_cli.ground.nouns import CVSpec
from oblique_cli.schemes import SCHEMES, check, folds, places


def test_training_sets_are_halved_and_lie_inside_each_other():
    cv = CVSpec("learning", folds=4, repeats=2, options={"steps": 3})
    data = toy(48)
    drawn = folds(data, cv, seed=5)
    assert [(f.repeat, f.index) for f in drawn] == places(cv) == [(r, k) for r in (0, 1) for k in range(12)]
    for first in range(0, len(drawn), 3):
        small, half, whole = drawn[first : first + 3]
        assert [len(f.train) for f in (small, half, whole)] == [9, 18, 36]
        assert set(small.train) < set(half.train) < set(whole.train)
        assert np.array_equal(small.test, whole.test) and np.array_equal(half.test, whole.test)
        assert np.array_equal(np.union1d(whole.train, whole.test), np.arange(48))


def test_the_whole_training_sets_are_those_of_ordinary_cross_validation():
    data = toy(30)
    drawn = folds(data, CVSpec("learning", folds=5, repeats=2, options={"steps": 2}), seed=3)[1::2]
    usual = folds(data, CVSpec("ordinary", folds=5, repeats=2), seed=3)
    assert len(drawn) == len(usual) == 10
    assert all(
        np.array_equal(a.train, b.train) and np.array_equal(a.test, b.test) for a, b in zip(drawn, usual, strict=True)
    )


def test_too_many_steps_are_refused_with_the_number_that_fits():
    with pytest.raises(ConfigError, match=r"has 9 training rows, halved 3 times they are 1, and 2 .*: use steps: 3"):
        check(toy(12), CVSpec("learning", folds=4))
    with pytest.raises(ConfigError, match="use more rows"):
        check(toy(4), CVSpec("learning", folds=2, options={"steps": 5}))


def test_its_mean_over_sizes_is_not_compared_as_an_accuracy(call):
    cv = "cv: {scheme: learning, folds: 3, repeats: 2}\n"
    (call.folder / "x.yaml").write_text("version: 1\ndataset: iris\nalgorithms: [axis_parallel, hhcart_d]\n" + cv)
    ended = call("run", "x.yaml", "--format", "json")
    assert ended.code == 0, ended.err
    assert {line["accuracy_estimate"] for line in json.loads(ended.out)["rows"]} == {"mean over training sizes"}
    refused = call("significance", "x")
    assert refused.code == 2 and "use a cross-validation, such as scheme ordinary" in refused.err
    assert SCHEMES["learning"].pooling in call("table", "x").out.replace("\n", " ")
