"""A criterion that a plugin gives as a function: the same trees as by the core's own, in every engine and thread."""

import threading
from typing import Any

import numpy as np
import pytest
from contracts import assert_same_tree, engines_agree, grow, real_set
from covering import few

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError, PluginError
from oblique_cli.estimators.forest.bagged import BaggedForestClassifier
from oblique_cli.proposers.axis_parallel import AxisParallel
from oblique_cli.tree.criteria import CRITERIA, criterion
from oblique_cli.tree.growing import grow_top_down
from oblique_cli.tree.splitting import Candidates, Finish, Node, impurity, search
from oblique_cli.tree.stopping import Stopping


def gini(left: Any, right: Any) -> Any:
    """Pure sides, as the Gini index has them."""
    return (left**2).sum(axis=1) / left.sum(axis=1) + (right**2).sum(axis=1) / right.sum(axis=1)


def decrease(values: Any, totals: Any) -> Any:
    return (values - (totals**2).sum() / totals.sum()) / totals.sum()


def apart(left: Any, right: Any) -> Any:
    """Shares of one class that differ much on both sides."""
    n, m = left.sum(axis=1), right.sum(axis=1)
    return np.abs(left / n[:, None] - right / m[:, None]).max(axis=1) * n * m / (n + m) ** 2


ON_PURPOSE = {"how": ""}
CALLERS: set[int] = set()


def faulty(left: Any, right: Any) -> Any:
    """What Gini prefers, until it fails."""
    CALLERS.add(threading.get_ident())
    if ON_PURPOSE["how"] == "raise":
        raise ZeroDivisionError("on purpose")
    return gini(left, right) if ON_PURPOSE["how"] == "" else np.full(len(left), np.nan)


@pytest.fixture(scope="module", autouse=True)
def local():
    """The criteria of this file, which the core keeps and the list of criteria forgets."""
    criterion("own_gini", gain=decrease)(gini)
    criterion("own_apart")(apart)
    criterion("own_faulty", gain=decrease)(faulty)
    criterion("roots")(hellinger)
    yield
    for name in ("own_gini", "own_apart", "own_faulty", "roots"):
        del CRITERIA._things[name]


@pytest.fixture
def fails(request):
    ON_PURPOSE["how"] = request.param
    yield
    ON_PURPOSE["how"] = ""


def both_ginis(name: str, data: Any, **options: Any) -> list[Any]:
    return [grow(name, data.X, data.y, criterion=criterion, **options) for criterion in ("own_gini", "gini")]


def test_the_list_has_those_of_the_core_and_those_that_are_given():
    assert list(CRITERIA) == [*_core.criteria(), "own_gini", "own_apart", "own_faulty", "roots"]
    assert "own_gini" in _core.families()["hhcart_a"]["criterion"]


@few(name=["axis_parallel", "hhcart_a", "gdt", "oc1_lc"], engine=["native", "reference"], weighted=[False, True])
def test_gini_as_a_function_grows_the_tree_of_gini(name, engine, weighted):
    data = real_set("iris")
    weights = np.random.default_rng(0).uniform(1.0, 2.0, data.n) if weighted else None
    function, core = both_ginis(name, data, engine=engine, weights=weights)
    assert function.n_leaves > 2
    assert_same_tree(function, core, coef=1e-9 if weighted else 0.0, threshold=1e-9 if weighted else 0.0)  # sums round


def test_both_engines_grow_one_tree_and_the_gain_is_the_value_unless_there_is_one():
    data = real_set("glass")
    native = engines_agree("hhcart_a", data.X, data.y, criterion="own_apart", threshold=1e-5)
    left = data.X @ native.coef_[0] <= native.thresholds[0]
    sides = (np.bincount(data.y[side], minlength=6).astype(float)[None] for side in (left, ~left))
    assert native.gains[0] == pytest.approx(apart(*sides)[0], rel=1e-12)


@pytest.mark.long
def test_threads_change_no_bit():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 12))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0.3).astype(np.int32)
    CALLERS.clear()
    options = {"engine": "native", "criterion": "own_faulty", "stopping": Stopping(max_depth=3)}
    trees = [grow("hhcart_a", X, y, n_threads=n, **options) for n in (1, 3)]
    assert_same_tree(*trees)
    assert len(CALLERS) > 1


@pytest.mark.parametrize("fails", ["raise"], indirect=True)
@pytest.mark.parametrize("threads", [1, 3])
def test_an_exception_ends_the_growth_whichever_thread_it_is_in(fails, threads):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(3000, 12)), rng.integers(0, 2, 3000).astype(np.int32)
    with pytest.raises(ZeroDivisionError, match=r"^on purpose$") as caught:
        grow("hhcart_a", X, y, engine="native", criterion="own_faulty", n_threads=threads)
    assert caught.traceback[-1].name == "faulty"


@pytest.mark.parametrize("fails", ["nan"], indirect=True)
@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_value_that_is_no_number_names_the_file(fails, engine):
    data = real_set("iris")
    sentence = r"test_criteria.py: criterion 'own_faulty' must return finite numbers, and returns nan\.$"
    with pytest.raises(PluginError, match=sentence):
        grow("axis_parallel", data.X, data.y, engine=engine, criterion="own_faulty")


@pytest.mark.parametrize("finish", [Finish(split_cost=0.3), Finish(polish=True)])
def test_it_finishes_splits(finish):
    data = real_set("iris")
    assert_same_tree(*both_ginis("hhcart_a", data, finish=finish), coef=1e-9, threshold=1e-9)


def test_impurity_and_a_node_searched_by_hand():
    assert impurity(np.array([30.0, 10.0]), "own_gini") == impurity(np.array([30.0, 10.0]), "gini") == 0.375
    data = real_set("bupa")
    groups = [Candidates.axes(), Candidates.directions(np.eye(data.p)[:2], np.array([90.0, 64.5]))]
    results = [
        search(Node(data.X, data.y, None, 2, 0, name), groups, exhaustive=exhaustive)
        for name, exhaustive in (("gini", False), ("own_gini", False), ("own_gini", True))
    ]
    assert len({(split.order, split.threshold, split.gain) for split in results}) == 1


def test_forests_take_it():
    data = real_set("iris")
    arguments, local = (
        BaggedForestClassifier("hhcart_a", n_estimators=3, criterion=name, n_jobs=2, random_state=0).fit(data.X, data.y)
        for name in ("own_gini", "gini")
    )
    assert np.array_equal(arguments.predict_proba(data.X), local.predict_proba(data.X))


def test_the_values_of_many_cuts_come_in_several_calls():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 1)), rng.integers(0, 8, 20_000).astype(np.int32)
    shapes = []

    def counted(left: Any, right: Any) -> Any:
        """Gini's."""
        shapes.append(left.shape)
        return gini(left, right)

    criterion("own_counted", gain=decrease)(counted)
    del CRITERIA._things["own_counted"]
    shapes.clear()
    arguments, local = (search(Node(X, y, None, 8, 0, name), [Candidates.axes()]) for name in ("own_counted", "gini"))
    assert (arguments.threshold, arguments.gain) == (local.threshold, local.gain)
    assert sum(m for m, _ in shapes if m > 1) > 19_900 and max(m for m, _ in shapes) == 8192


def lopsided(left: Any, right: Any) -> Any:
    """What is on the left."""
    return left.sum(axis=1)


def relative(left: Any, right: Any) -> Any:
    """The best of all cuts is worth 1."""
    return gini(left, right) / gini(left, right).max()


SHAPE = "must return an array of shape (3,) for 3 cuts, and returns one of shape "


def returning(output: Any) -> Any:
    def broken(left: Any, right: Any) -> Any:
        """Nothing."""
        return output(len(left))

    return broken


@pytest.mark.parametrize(
    ("function", "gain", "sentence"),
    [
        (lambda left, right: left[:, 0], None, "has no docstring, whose first line says what it prefers"),
        (lopsided, None, "must give a cut the same value whichever side is called left"),
        (relative, None, "must value each cut by itself, and gives one alone another value than among others"),
        (gini, 3, "has a gain that must be a function of (values, totals), and is 3"),
        (gini, lambda values, totals: values**2, "has a gain that must be linear in the values, and grow with them"),
        (gini, lambda values, totals: -values, "has a gain that must be linear in the values, and grow with them"),
        (gini, lambda values, totals: 1.0, "has a gain that must return an array of shape (3,) for 3 cuts, and"),
        (returning(lambda m: np.inf * np.ones(m)), None, "must return finite numbers, and returns inf."),
        (
            returning(lambda m: np.ones((m, 2))),
            None,
            "must return an array of shape (3,) for 3 cuts, and returns one of",
        ),
        (returning(lambda m: 1.0), None, SHAPE + "()."),
        (returning(lambda m: 1 / 0), None, "is broken (ZeroDivisionError: division by zero)."),
    ],
)
def test_what_is_broken_is_refused(function, gain, sentence):
    with pytest.raises(ConfigError) as caught:
        criterion("own_broken", gain=gain)(function)
    assert f": criterion 'own_broken' {sentence}" in str(caught.value)
    assert "own_broken" not in CRITERIA and "own_broken" not in str(_core.families()["hhcart_a"]["criterion"])


@pytest.mark.parametrize("name", ["gini", "own_gini"])
def test_a_name_that_is_taken_is_refused(name):
    with pytest.raises(ConfigError, match=f"criterion '{name}' is registered twice"):
        criterion(name)(apart)
    with pytest.raises(ValueError, match=f"^there is a criterion '{name}' already$"):
        _core.give_criterion(name, apart, None)


def test_an_unknown_one_is_an_error_in_both_engines():
    data = real_set("iris")
    for engine in ("native", "reference"):
        with pytest.raises(ValueError, match=r"ginni.*|one of 'gini', .*'own_gini'"):
            grow_top_down(data.X, data.y, 3, AxisParallel(), criterion="ginni", engine=engine)


def hellinger(left: Any, right: Any) -> Any:
    """Squared Hellinger distance of the class shares of both sides."""
    shares = (side / side.sum(axis=1, keepdims=True) for side in (left, right))
    return ((np.subtract(*map(np.sqrt, shares))) ** 2).sum(axis=1)


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("seed", range(3))
def test_class_weights_are_never_negative(engine, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 3, 300).astype(np.int32)
    weights = rng.uniform(0.1, 1000.0, 300)
    tree = grow("hhcart_a", X, y, engine=engine, weights=weights, criterion="roots")
    assert tree.n_leaves > 20
