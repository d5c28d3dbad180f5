"""Unions: the best of what the members find, whatever they are."""

import numpy as np
import pytest
from contracts import CRITERION_NAMES, NATIVE_NAMES, PROPOSER_NAMES, QUICK, REAL_SETS, assert_same_tree, grow, real_set
from covering import few
from node_support import node_of, split_of

import oblique_cli
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.proposers.hhgdt import HHGDT
from oblique_cli.proposers.union import UnionProposer
from oblique_cli.tree.splitting import best_split

MEMBERS = [name for name in PROPOSER_NAMES if name != "union"]
NATIVE_MEMBERS = [name for name in NATIVE_NAMES if name != "union"]
MIXED = ["gdt", "cline", "hhgdt", "sadt", "quest", "axis_parallel"]  # offsets given and searched, one in Python only


def gain_of(split):
    return 0.0 if split is None else split.gain


@few(1, criterion=CRITERION_NAMES, members=[["fdt", "hhgdt", "axis_parallel"], MIXED, NATIVE_MEMBERS])
def test_the_gain_of_a_union_is_the_largest_of_its_members(members, criterion):
    for name in REAL_SETS:
        data = real_set(name)
        node = node_of(data.X, data.y, criterion=criterion)
        alone = [gain_of(split_of(member, node)) for member in members]
        assert gain_of(split_of("union", node, proposers=members)) == pytest.approx(max(alone), rel=1e-8)


def test_of_equal_gains_that_of_the_earlier_member_wins():
    X = np.array([[0.0, 0.0], [1.0, 0.2], [4.0, 5.0], [5.0, 5.1]])  # every direction tells the classes apart
    node = node_of(X, [0, 0, 1, 1])
    oblique, axis = split_of("fdt", node), split_of("axis_parallel", node)
    assert np.count_nonzero(oblique.coef) == 2 and np.count_nonzero(axis.coef) == 1
    for members, first in ((["fdt", "axis_parallel"], oblique), (["axis_parallel", "fdt"], axis)):
        result = split_of("union", node, proposers=members)
        np.testing.assert_array_equal(result.coef, first.coef)
        assert result.threshold == first.threshold


@pytest.mark.parametrize("name", MEMBERS)
def test_a_union_of_one_is_that_one(name):
    data = real_set("bupa")
    alone, union = (
        grow(item, data.X, data.y, seed=3, criterion="gini", proposer=parameters)
        for item, parameters in ((name, {}), ("union", {"proposers": [{"name": name, **QUICK.get(name, {})}]}))
    )
    assert_same_tree(alone, union)


def test_members_keep_their_parameters():
    data = real_set("wine")
    options = {"tau": 0.3, "sign": "positive"}
    expected = grow("hhgdt", data.X, data.y, proposer=options)
    for member in ({"name": "hhgdt", **options}, HHGDT(**options)):
        assert_same_tree(grow("union", data.X, data.y, proposer={"proposers": [member]}), expected)


def test_a_python_member_takes_the_whole_union_to_the_python_way():
    assert UnionProposer().native_family() == "union"
    assert UnionProposer(["fdt", "cline"]).native_family() == "union"
    assert UnionProposer(["fdt", "sadt"]).native_family() is None
    model = oblique_cli.UnionClassifier(proposers=["fdt", "sadt"], engine="native")
    with pytest.raises(ConfigError, match=r"^UnionProposer has no native growth; set engine to 'auto' or"):
        model.fit(np.eye(4), [0, 0, 1, 1])
    assert "has no native growth" in ALGORITHMS["union"].clash({"proposers": ["sadt"], "engine": "native"})
    assert ALGORITHMS["union"].clash({"engine": "native"}) is None


def test_members_without_a_proposal_leave_the_node_to_the_others():
    X, y = np.array([[0, 0], [1, 1], [0, 1], [1, 0]], dtype=float), [0, 0, 1, 1]  # classes of equal means
    assert split_of("fdt", node_of(X, y)) is None
    for engine in ("native", "reference"):
        both = grow("union", X, np.array(y), engine=engine, proposer={"proposers": ["fdt", "hhcart_a"]})
        assert both.n_leaves > 1
        assert grow("union", X, np.array(y), engine=engine, proposer={"proposers": ["fdt"]}).n_leaves == 1
    assert grow("union", np.full((6, 2), 0.1), np.arange(6) % 2).n_leaves == 1


def test_a_union_with_oc1_refuses_qualitative_columns_and_one_without_takes_them():
    X = np.array([["a", 0.0], ["b", 1.0], ["a", 2.0], ["b", 5.0]], dtype=object)
    for members, refused in ((["fdt", "oc1"], True), (["fdt", "hhgdt"], False)):
        model = oblique_cli.UnionClassifier(proposers=members, qualitative=[0], min_parent=1)
        if refused:
            with pytest.raises(ConfigError, match=r"^UnionProposer takes quantitative features only"):
                model.fit(X, [0, 1, 0, 1])
        else:
            assert model.fit(X, [0, 1, 0, 1]).score(X, [0, 1, 0, 1]) == 1.0


def test_one_heuristic_with_different_parameters_may_be_there_twice():
    data = real_set("wine")
    node = node_of(data.X, data.y)
    signs = [{"name": "hhgdt", "sign": sign} for sign in ("negative", "positive")]
    alone = [gain_of(best_split(node, HHGDT(sign=sign))) for sign in ("negative", "positive")]
    assert gain_of(split_of("union", node, proposers=signs)) == pytest.approx(max(alone))
