"""Registration, which refuses a broken scheme, and verification, which refuses a broken fold."""

import re
from dataclasses import replace

import numpy as np
import pytest
from runner_support import toy

from oblique_cli import config, schemes
from oblique_cli.errors import ConfigError
from oblique_cli.ground.constraints import Integer
from oblique_cli.ground.nouns import CVSpec, Fold, TuningPair
from oblique_cli.schemes import NESTED, SCHEMES, SHARED, Scheme, folds, repetition, scheme


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    """Schemes that a test registers are gone after it."""
    monkeypatch.setattr(SCHEMES, "_things", dict(SCHEMES._things))


# ---- registration ----------------------------------------------------------------------------------------------------


def good(**changes):
    """A class that registers, with `changes`; None takes an attribute away."""

    def places(self, dataset, cv):
        return [(r, 0) for r in range(cv.repeats)]

    def draw(self, dataset, cv, seed, repeat):
        yield Fold(repeat, 0, np.arange(10, dataset.n), np.arange(10), np.arange(10, 12))

    members = {"__doc__": "One line.", "__module__": __name__, "places": places, "draw": draw, "covers": False}
    return type("Own", (Scheme,), {k: v for k, v in {**members, **changes}.items() if v is not None})


def needs_data(self, dataset, cv):
    return [(r, k) for r in range(cv.repeats) for k in range(dataset.n)]


def function(dataset, cv, seed, repeat):
    """A function was a scheme once."""


def test_what_is_complete_registers():
    scheme("own")(good())
    assert SCHEMES["own"].summary == "One line." and not SCHEMES["own"].tunes
    scheme("own_n")(good(places=needs_data, places_from_data=True))


def test_a_key_of_a_scheme_is_checked_like_any_other(call):
    scheme("own")(good(keys={"blocks": Integer(2, 50)}))
    text = "version: 1\ndataset: iris\nalgorithm: axis_parallel\ncv: {scheme: own, blocks: 5, repeats: 1}\n"
    (call.folder / "x.yaml").write_text(text)
    assert call("validate", "x.yaml").code == 0
    assert config.schema()["properties"]["cv"]["properties"]["blocks"] == Integer(2, 50).schema()
    refused = call("validate", "x.yaml", "--set", "cv.blocks=1")
    assert refused.code == 2 and "cv.blocks must be a whole number from 2 to 50. Got 1." in refused.err
    other = call("validate", "x.yaml", "--set", "cv={scheme: ordinary, blocks: 3}")
    assert other.code == 2 and "cv.blocks is not used by scheme ordinary; leave it out." in other.err


@pytest.mark.parametrize(
    ("name", "cls", "fault"),
    [
        ("Own scheme", good(), "needs a name of a-z, 0-9 and '_', such as leave_one_out"),
        ("nested", good(), r"has a name that \S+/schemes/nested\.py has taken"),
        ("own", function, "must be a class derived from Scheme"),
        ("own", good(places=None), r"has no method places\(dataset, cv\)"),
        ("own", good(draw=None), r"has no method draw\(dataset, cv, seed, repeat\)"),
        ("own", good(tuning="inside"), "has tuning 'inside', which must be 'nested', 'shared' or ''"),
        ("own", good(keys={"tune": Integer()}), "has a key 'tune', which belongs to all schemes"),
        ("own", good(keys={"k": 3}), "has a key 'k' without a Constraint that says what its value may be"),
        ("own", good(keys={"folds": Integer(9)}), "has a key 'folds' that may be something else than that of scheme"),
        ("own", good(required=("k",)), "requires the key 'k', which it does not have"),
        ("own", good(fixed={"folds": 3}), "fixes the key 'folds', which it does not have"),
        ("own", good(defaults={"repeats": 0}), "has 0 for the key 'repeats', which must be a whole number from 1 to"),
        ("own", good(apparent=lambda self, cv: frozenset({(0, 0), (0, 7)})), r"has the apparent place \(0, 7\), which"),
        ("own", good(apparent=lambda self, cv: None), r"cannot tell which of its places are apparent \(TypeError: "),
        ("own", good(__init__=lambda self, x: None), r"cannot be made without arguments \(TypeError: .*'x'\); use"),
        ("own", good(places=needs_data), r"cannot tell its places without a data set \(AttributeError: .*\): say pla"),
        ("own", good(places=lambda self, dataset, cv: cv.folds), r"has places 10, which must be a list of \(repeat, "),
        ("own", good(places=lambda self, dataset, cv: [(0, 1)]), r"has place \(0, 1\) out of order: repetitions, and"),
        ("own", good(places=lambda self, dataset, cv: [(0, 0)]), "has no fold in repetition 1 of 3"),
        (
            "own",
            good(places=lambda self, dataset, cv: [(r, k) for r in range(cv.repeats) for k in range(cv.repeats)]),
            "changes its places when repetitions are added",
        ),
    ],
)
def test_what_is_not_complete_is_refused_with_its_file(name, cls, fault):
    before = set(SCHEMES)
    with pytest.raises(ConfigError) as caught:
        scheme(name)(cls)
    assert re.match(rf"{re.escape(__file__)}.*: scheme {name!r} {fault}", str(caught.value)), str(caught.value)
    assert "\n" not in str(caught.value)
    assert set(SCHEMES) == before


def test_an_apparent_place_that_depends_on_data_is_looked_for_once_these_are_there():
    scheme("own")(good(places=needs_data, places_from_data=True, apparent=lambda self, cv: frozenset({(0, 30)})))
    with pytest.raises(ConfigError, match=r"scheme 'own' has the apparent place \(0, 30\), which is none of its"):
        schemes.places(CVSpec("own", repeats=1), toy(30))


# ---- verification ----------------------------------------------------------------------------------------------------

ALL = np.arange(30)


def drawn(*made, repeats=1, **changes):
    """Register a scheme that draws `made` and return the folds that come of it."""
    changes = {"places": lambda self, dataset, cv: [(0, k) for k in range(len(made))], **changes}
    scheme("own")(good(draw=lambda self, dataset, cv, seed, repeat: iter(made), places_from_data=True, **changes))
    return folds(toy(30), CVSpec("own", repeats=repeats), seed=1)


def fold(index=0, test=ALL[:10], **changes):
    train = np.setdiff1d(ALL, test)
    return replace(Fold(0, index, train, test, train[:2]), **changes)


PAIR = TuningPair(ALL[10:20], ALL[20:30], ALL[10:12])
THREE = tuple(fold(k, ALL[10 * k : 10 * k + 10]) for k in range(3))


def test_folds_as_they_should_be_pass():
    assert [f.index for f in drawn(*THREE, covers=True)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("made", "changes", "fault"),
    [
        ([fold(test=[1, 2])], {}, "fold 0: the test rows are a list, not an array of whole numbers"),
        ([fold(test=ALL[:10] + 0.0, train=ALL[10:])], {}, "fold 0: the test rows are an array of float64, not"),
        ([fold(test=ALL < 10, train=ALL[10:])], {}, "fold 0: the test rows are an array of bool, not"),
        ([fold(test=ALL[:0], train=ALL)], {}, "fold 0: there are no test rows"),
        ([fold(test=np.arange(20, 31))], {}, "fold 0: test row 30 is none of the 30 rows"),
        ([fold(train=np.arange(-1, 20))], {}, "fold 0: training row -1 is none of the 30 rows"),
        ([fold(test=ALL[:10][::-1])], {}, "fold 0: the test rows are not sorted, or not different"),
        ([fold(train=np.repeat(ALL[10:], 2))], {}, "fold 0: the training rows are not sorted, or not different"),
        ([fold(train=ALL)], {}, "fold 0: 10 rows, the first 0, are among the training and the test rows"),
        ([fold(pruning=ALL[9:11])], {}, "fold 0: row 9 is among the pruning and not among the training rows"),
        ([fold(pruning=ALL[10:])], {}, "fold 0: all training rows are pruning rows, and none is left to grow on"),
        ([fold(test=ALL, train=ALL, apparent=True)], {}, "fold 0: only the folds that the scheme's `apparent` names"),
        ([fold(tuning=[PAIR])], {}, "fold 0: it has tuning pairs, and the scheme's tuning is ''"),
        ([fold()], {"tuning": NESTED}, "fold 0: it has no tuning pairs, and the scheme's tuning is 'nested'"),
        ([fold(tuning=[PAIR])], {"tuning": SHARED}, "fold 0: its tuning_id is '', and the scheme's tuning is 'shared'"),
        ([fold(), fold(1)], {}, "fold 1: 10 rows, the first 0, are tested in an earlier fold as well"),
        (THREE[:2], {"covers": True}, "10 rows, the first 20, are in no test set, and the scheme covers all"),
        (THREE[1:], {}, r"2 folds are drawn and 2 are stated by its places, the first that differs \(0, 1\)"),
    ],
)
def test_a_fold_that_is_not_what_the_scheme_says_is_refused(made, changes, fault):
    with pytest.raises(ConfigError, match=rf"^scheme 'own', data set 'toy', repetition 0(, |: )?{fault}"):
        drawn(*made, **changes)


@pytest.mark.parametrize(
    ("pair", "fault"),
    [
        (PAIR._replace(valid=ALL[19:]), "row 19 is among the training and the validation rows"),
        (PAIR._replace(valid=ALL[5:9]), "4 rows, the first 5, are among the validation rows and not in the training"),
        (PAIR._replace(pruning=ALL[25:26]), "row 25 is among the pruning and not among the training rows"),
        (PAIR._replace(train=ALL[5:20]), "5 rows, the first 5, are among the training rows and not in the training"),
    ],
)
def test_tuning_pairs_are_held_to_the_training_rows(pair, fault):
    (only,) = drawn(fold(tuning=[PAIR, pair]), tuning=NESTED)
    with pytest.raises(
        ConfigError, match=f"^scheme 'own', data set 'toy', repetition 0, fold 0, tuning pair 1: {fault}"
    ):
        list(only.tuning)


def test_places_are_listed_once_for_all_repetitions():
    calls = []

    def places(self, dataset, cv):
        calls.append(cv.repeats)
        return [(repeat, 0) for repeat in range(cv.repeats)]

    def draw(self, dataset, cv, seed, repeat):
        yield replace(fold(), repeat=repeat)

    scheme("own")(good(draw=draw, places=places, places_from_data=True))
    assert len(folds(toy(30), CVSpec("own", repeats=50), seed=1)) == 50
    assert calls == [50]


def test_draws_that_differ_from_one_time_to_the_next_are_refused():
    rng = np.random.default_rng(0)

    def draw(self, dataset, cv, seed, repeat):
        yield fold(test=np.sort(rng.permutation(30)[:10]))

    scheme("own")(good(draw=draw))
    with pytest.raises(ConfigError, match=r"fold 0: two draws differ: draw from oblique_cli\.ground\.seeds only"):
        list(repetition(toy(30), CVSpec("own", repeats=1), 1, 0))


@pytest.mark.parametrize("name", list(SCHEMES))
def test_every_scheme_states_the_places_it_draws_and_adds_some_with_repetitions(name):
    split = (np.arange(20), np.arange(20, 30))
    dataset = toy(30, groups=np.arange(30) // 3, group_column="g", split=split)
    few, many = (CVSpec(name, folds=3, repeats=r, tune_folds=3, options={"groups": "g"}) for r in (2, 4))
    assert schemes.places(many, dataset)[: len(schemes.places(few, dataset))] == schemes.places(few, dataset)
    a, b = (folds(dataset, cv, seed=1) for cv in (few, many))
    assert [(f.repeat, f.index) for f in b] == schemes.places(many, dataset)
    for first, same in zip(a, b, strict=False):
        assert all(np.array_equal(getattr(first, part), getattr(same, part)) for part in ("train", "test", "pruning"))
