"""What long fits say: lines of `verbose`, and tasks that callbacks of scikit-learn are told of."""

import re
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import oblique_cli
from oblique_cli import make

ENSEMBLES = {
    "hhgdt_forest": {},
    "mpraf_t": {},
    "tao_forest": {},
    "logistic_forest": {"squares": False},
    "oblique_boosting": {},
    "oblique_forest_regression": {},
    "tao_forest_regression": {},
    "oblique_boosting_regression": {"max_depth": 2},
}
with_callbacks = pytest.mark.skipif(
    find_spec("sklearn.callback") is None, reason="scikit-learn has callbacks from 1.9 on"
)


def rows(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=80)
    return X, y if name.endswith("_regression") else (y > 0).astype(int)


class Told:
    """A callback that keeps what it is told."""

    def __init__(self, failing=False):
        self.heard, self.failing = [], failing

    def setup(self, estimator, context):
        self.heard.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.heard.append((context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context):
        if self.failing and context.task_name == "tree":
            raise RuntimeError("the callback broke")
        self.heard.append(("end of " + context.task_name, context.task_id))

    def teardown(self, estimator, context):
        self.heard.append("teardown")


@pytest.mark.parametrize("name", ENSEMBLES)
def test_every_tree_has_a_line_in_order_and_the_fit_is_the_same(name, capsys):
    X, y = rows(name)
    quiet = make(name, n_estimators=7, random_state=1, **ENSEMBLES[name]).fit(X, y)
    assert capsys.readouterr().out == ""
    loud = make(name, n_estimators=7, random_state=1, **ENSEMBLES[name]).set_params(verbose=2).fit(X, y)
    owner = type(loud).__name__
    lines = capsys.readouterr().out.splitlines()
    assert [re.sub(r"[\d.]+ s$", "_", line) for line in lines] == [f"{owner}: {i} of 7 trees, _" for i in range(1, 8)]
    assert (loud.predict(X) == quiet.predict(X)).all()


@with_callbacks
@pytest.mark.parametrize("name", ENSEMBLES)
def test_callbacks_are_told_every_tree_once_and_in_order(name):
    watcher = Told()
    make(name, n_estimators=7, random_state=1, **ENSEMBLES[name]).set_callbacks(watcher).fit(*rows(name))
    trees = [what for i in range(7) for what in (("tree", i), ("end of tree", i))]
    assert watcher.heard == ["setup", ("fit", 0), *trees, ("end of fit", 0), "teardown"]


def test_verbose_1_prints_ten_lines_at_most_and_trees_kept_by_warm_start_are_not_counted(capsys):
    X, y = rows("hhgdt_forest")
    for number, numbers in ((25, [3, 6, 9, 12, 15, 18, 21, 24, 25]), (4, [1, 2, 3, 4])):
        oblique_cli.BaggedForestClassifier("hhgdt", n_estimators=number, verbose=1).fit(X, y)
        assert [int(n) for n in re.findall(r": (\d+) of", capsys.readouterr().out)] == numbers
    model = make("hhgdt_forest", n_estimators=3, random_state=0).set_params(warm_start=True).fit(X, y)
    model.set_params(n_estimators=5, verbose=2).fit(X, y)
    assert re.findall(r"\d of \d trees", capsys.readouterr().out) == ["1 of 2 trees", "2 of 2 trees"]


@with_callbacks
def test_searches_hand_callbacks_on_models_do_not_keep_them_and_their_errors_reach_the_caller(tmp_path):
    class Handed(Told):
        max_propagation_depth = None

    X, y = rows("hhgdt_forest")
    watcher = Handed()
    forest = make("hhgdt_forest", n_estimators=2, random_state=0)
    search = GridSearchCV(forest, {"max_depth": [1, 2]}, cv=2).set_callbacks(watcher).fit(X, y)
    assert watcher.heard.count(("tree", 1)) == 2 * 2 + 1 and watcher.heard.count("setup") == 1
    alone = forest.set_callbacks(watcher).fit(X, y)
    oblique_cli.save(alone, tmp_path / "model.json")
    assert "callback" not in (tmp_path / "model.json").read_text()
    assert (oblique_cli.load(tmp_path / "model.json").predict(X) == alone.predict(X)).all()
    assert clone(alone).fit(X, y).n_leaves_ == alone.n_leaves_ and search.best_params_
    watcher = Told(failing=True)
    with pytest.raises(RuntimeError, match="the callback broke"):
        make("hhgdt_forest", n_estimators=3).set_callbacks(watcher).fit(X, y)
    assert watcher.heard[-1] == "teardown"
