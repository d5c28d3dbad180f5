"""A heuristic that draws: a node's numbers are its own, whichever nodes are visited, in whichever order, by whom."""

import numpy as np
import pytest
from contracts import KEEPING_PRUNINGS, PROPOSER_NAMES, STOCHASTIC, real_set
from covering import few
from joblib import parallel_backend
from node_support import RandomStarts
from sklearn.model_selection import cross_val_predict

from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.oblique import bottom_up, training
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.proposers.hhcart import HHCART
from oblique_cli.tree.pruning import PRUNINGS
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Proposer

# What keeps a tree of a heuristic that draws small enough for a test of every heuristic.
QUICK = {"sadt": {"patience": 100}, "oc1": {"restarts": 3}}


class RandomDirections(Proposer):
    """A heuristic as a newcomer would write it: a few random directions."""

    def propose(self, node):
        D = node.rng().normal(size=(3, node.X.shape[1]))
        yield Candidates.directions(D / np.linalg.norm(D, axis=1)[:, None])


DRAWING = [RandomDirections, RandomStarts]


@pytest.mark.parametrize("name", PROPOSER_NAMES)
def test_what_draws_is_what_a_seed_changes(name):
    data = real_set("bupa")
    a, b, again = (
        ObliqueTreeClassifier(PROPOSERS[name](**QUICK.get(name, {})), random_state=seed, max_depth=3)
        .fit(data.X, data.y)
        .tree_.to_dict()
        for seed in (1, 2, 1)
    )
    assert a == again
    assert (a != b) == (name in STOCHASTIC)


@few(1, proposer=DRAWING, pruning=[name for name in PRUNINGS if name != "none"])
def test_a_pruned_tree_is_the_top_of_the_unpruned_one(pruning, proposer):
    data = real_set("bupa")
    held_out = np.arange(0, data.n, 7) if pruning in KEEPING_PRUNINGS else np.arange(0)
    weights = np.ones(data.n)
    weights[held_out] = 0.0
    whole = ObliqueTreeClassifier(proposer(), random_state=1).fit(data.X, data.y, weights).tree_
    model = ObliqueTreeClassifier(proposer(), random_state=1, pruning=pruning, ccp_alpha=0.02)
    pruned = model.fit(data.X, data.y, pruning_rows=held_out if len(held_out) else None).tree_
    assert 1 < pruned.n_leaves <= whole.n_leaves
    inner = np.flatnonzero(~pruned.is_leaf)
    results = {(row.tobytes(), t) for row, t in zip(whole.coef_, whole.thresholds, strict=True)}
    assert {(pruned.coef_[node].tobytes(), pruned.thresholds[node]) for node in inner} <= results


def test_pruning_folds_are_the_same_for_every_heuristic(monkeypatch):
    drawn = []

    def recorded(n, folds, seed, groups=None):
        drawn.append(seed)
        return shuffled(n, folds, seed, groups)

    shuffled = training.shuffled_folds
    monkeypatch.setattr(training, "shuffled_folds", recorded)
    data = real_set("bupa")
    for proposer in ("hhcart_d", RandomDirections(), RandomStarts(), "sadt"):
        model = ObliqueTreeClassifier(proposer, pruning="cv", pruning_folds=2, max_depth=2, random_state=4)
        model.fit(data.X, data.y)
    assert len(drawn) == 4 and len(set(drawn)) == 1


@few(1, proposer=DRAWING, pruning=["none", "cv"])
def test_threads_change_nothing(pruning, proposer):
    data = real_set("wine")
    model = ObliqueTreeClassifier(proposer(), random_state=0, pruning=pruning, pruning_folds=3)
    alone = cross_val_predict(model, data.X, data.y, cv=4)
    with parallel_backend("threading", n_jobs=2):
        together = cross_val_predict(model, data.X, data.y, cv=4, n_jobs=2)
    np.testing.assert_array_equal(alone, together)


@pytest.mark.parametrize("hybrid", [False, True])
def test_every_merge_and_every_tree_below_a_leaf_draws_its_own(monkeypatch, hybrid):
    drawn = []

    class Drawing(HHCART):
        native = None

        def propose(self, node):
            d = node.rng().normal(size=node.X.shape[1])
            drawn.append(tuple(d))
            yield Candidates.directions((d / np.linalg.norm(d))[None])

    monkeypatch.setattr(bottom_up, "PROPOSERS", {"hhcart_a": Drawing})
    data = real_set("glass")
    trees, draws = [], []
    for seed in (1, 1, 2):
        drawn.clear()
        trees.append(make("hhbut", random_state=seed, max_components=2, hybrid=hybrid).fit(data.X, data.y).tree_)
        draws.append(list(drawn))
    assert trees[0].to_dict() == trees[1].to_dict() != trees[2].to_dict()
    assert draws[0] == draws[1] and len(draws[0]) >= trees[0].n_leaves - 1
    assert len(set(draws[0])) == len(draws[0])
    assert not set(draws[0]) & set(draws[2])
