"""A node and what it may draw."""

import numpy as np
import pytest
from node_support import node_of

import oblique_cli._core as _core
from oblique_cli.errors import ConfigError
from oblique_cli.ground.constraints import Integer
from oblique_cli.proposers.oc1 import OC1
from oblique_cli.proposers.sadt import SADT
from oblique_cli.tree.growing import grow_top_down
from oblique_cli.tree.splitting import GROWTH_OPTIONS, PROPOSERS, Candidates, Node, Proposer

X, Y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2


def numbers(node, *names):
    return tuple(node.rng(*names).random(3))


def test_a_node_draws_the_same_whenever_asked_and_as_when_results_were_published():
    assert node_of(X, Y, seed=1, path=6).rng().integers(1000, size=3).tolist() == [9, 190, 717]
    assert numbers(node_of(X, Y)) == numbers(node_of(X, Y))
    assert numbers(node_of(X, Y), "restart", 3) == numbers(node_of(X[::-1], Y, criterion="entropy"), "restart", 3)


def test_seeds_places_and_names_have_numbers_of_their_own():
    of_places = {numbers(node_of(X, Y, seed=seed, path=path)) for seed in range(5) for path in range(1, 40)}
    of_names = {numbers(node_of(X, Y), *names) for names in ((), ("a",), ("a", 1), ("a", 2), ("b", 1), (1,), ("1",))}
    assert len(of_places) == 5 * 39
    assert len(of_names) == 7 and len(of_places & of_names) == 1  # the stream without a name


def test_a_node_without_a_seed_says_what_is_missing():
    node = Node(X, Y.astype(np.int32), None, 2, 0, "gini")
    message = r"^a node made by hand has no random numbers; give it a seed, as in Node\(\.\.\., seed=0\)\.$"
    for proposer in (SADT(), OC1()):
        with pytest.raises(ConfigError, match=message):
            list(proposer.propose(node))


@pytest.mark.parametrize("cut", [lambda x: x.max() - 0.5, lambda x: x.min() + 0.5], ids=["left", "right"])
def test_nodes_far_down_have_streams_of_their_own(cut):
    drawn = []

    class Chain(Proposer):
        """Cuts off one row."""

        def propose(self, node):
            drawn.append(numbers(node))
            yield Candidates.directions(np.array([[1.0]]), np.array([cut(node.X)]))

    n = 200
    tree = grow_top_down(np.arange(n, dtype=float)[:, None], np.arange(n, dtype=np.int32) % 2, 2, Chain(), seed=1)
    assert tree.depth > 150 and len(drawn) >= tree.n_leaves - 1
    assert len(set(drawn)) == len(drawn)


def test_the_climb_of_a_node_far_down_takes_what_the_core_keeps_of_its_path():
    deep = node_of(X, Y, path=2**64 + 5)
    ((kind, *results),) = [group.spec for group in OC1(restarts=3).propose(deep)]
    ((_, *again),) = [group.spec for group in OC1(restarts=3).propose(node_of(X, Y, path=5))]
    assert kind == "directions"
    np.testing.assert_array_equal(results[0], again[0])


def test_growth_gives_the_options_that_all_families_have():
    families = _core.families()
    assert frozenset.intersection(*map(frozenset, families.values())) == GROWTH_OPTIONS


OPTIONS = OC1().native_options()
FAMILY = "has native_options() that are not those of family 'oc1': it "


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"native_options": lambda self: OPTIONS | {"tua": 1}}, FAMILY + "has too many, namely 'tua'."),
        ({"native_options": lambda self: {k: OPTIONS[k] for k in OPTIONS if k != "order"}}, FAMILY + "lacks 'order'."),
        (
            {"native_options": lambda self: {k.replace("jumps", "leaps"): v for k, v in OPTIONS.items()}},
            FAMILY + "lacks 'jumps' and has too many, namely 'leaps'.",
        ),
        (
            {"constraints": OC1.constraints | {"restarts": Integer(30)}},
            "has a default that its constraints forbid: restarts of Other must be a whole number, at least 30. Got 20.",
        ),
    ],
)
def test_a_heuristic_that_would_fail_at_its_first_fit_is_refused(members, message):
    with pytest.raises(ConfigError) as caught:
        PROPOSERS.register("other")(type("Other", (OC1,), {"__doc__": "One line.", **members}))
    assert str(caught.value).endswith(f"proposer 'other' {message}") and "other" not in PROPOSERS
