"""The registry of pruning rules: what it refuses, and a rule from outside the package that prunes."""

import ast
import inspect
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from contracts import PRUNING_NAMES, real_set
from sklearn.base import clone

import oblique_cli
from oblique_cli import config
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.ground.constraints import Integer, Real
from oblique_cli.parameters import Parameter
from oblique_cli.tree import pruning
from oblique_cli.tree.pruning import KEPT_ROWS, NO_ROWS, PRUNINGS, TRAINING_ROWS, PruningRule, RuleParameters


class DepthLimit(PruningRule):
    """Cuts every branch at a depth."""

    rows = NO_ROWS
    constraints: ClassVar = {"depth_limit": Integer(0)}

    def __init__(self, depth_limit=1):
        self.depth_limit = depth_limit

    def prune(self, tree, rows):
        assert rows is None
        return tree.collapse(tree.depths >= self.depth_limit)


@contextmanager
def registered(name, rule):
    PRUNINGS.register(name)(rule)
    try:
        yield
    finally:
        del PRUNINGS._things[name]


@pytest.fixture
def depth_limit():
    """A rule of another file, registered for one test."""
    with registered("depth_limit", DepthLimit):
        yield DepthLimit


@pytest.fixture(scope="module")
def bupa():
    data = real_set("bupa")
    return data.X, data.y


def test_a_rule_from_outside_prunes_by_name_with_its_own_parameter(depth_limit, bupa):
    assert make("hhcart_a").fit(*bupa).depth_ > 2
    assert ObliqueTreeClassifier("hhcart_a", pruning="depth_limit").fit(*bupa).depth_ == 1
    assert make("hhcart_a", pruning="depth_limit", depth_limit=2).fit(*bupa).depth_ == 2
    assert make("hhcart_a", pruning="depth_limit").fit(*bupa).depth_ == 1


def test_a_rule_from_outside_is_configured_as_the_others_are(depth_limit):
    plain = {"version": 1, "dataset": "bupa", "algorithm": {"name": "hhcart_a", "pruning": "depth_limit"}}
    (spec,) = config.from_mapping(plain, overrides=["algorithm.depth_limit=3"]).algorithms
    assert spec.params == {"pruning": "depth_limit", "depth_limit": 3}
    with pytest.raises(ConfigError, match=r"depth_limit of hhcart_a must be a whole number, at least 0\. Got -1"):
        config.from_mapping(plain, overrides=["algorithm.depth_limit=-1"])
    with pytest.raises(ConfigError, match=r"depth_limit of hhcart_a goes with another pruning rule\. Got pruning 'cv'"):
        config.from_mapping(plain, overrides=["algorithm.depth_limit=1", "algorithm.pruning=cv"])


def test_an_instance_has_nested_parameters_and_needs_no_registration(bupa):
    model = ObliqueTreeClassifier("hhcart_a", pruning=DepthLimit(2))
    assert model.get_params()["pruning__depth_limit"] == 2
    assert clone(model).set_params(pruning__depth_limit=0).fit(*bupa).n_leaves_ == 1
    with pytest.raises(ConfigError, match=r"depth_limit of DepthLimit must be a whole number, at least 0\. Got -3"):
        model.set_params(pruning__depth_limit=-3).fit(*bupa)


def test_a_parameter_beside_an_instance_that_would_not_be_used_is_refused(bupa):
    model = ObliqueTreeClassifier("hhcart_a", pruning=DepthLimit(2), ccp_alpha=0.1)
    with pytest.raises(ConfigError, match=r"ccp_alpha=0\.1 has no effect beside pruning=DepthLimit\(depth_limit=2\)"):
        model.fit(*bupa)


@pytest.mark.parametrize("name", PRUNING_NAMES)
def test_an_instance_of_a_registered_rule_prunes_as_its_name_does(name, bupa):
    values = {key: value for key, value in {"ccp_alpha": 0.01}.items() if key in PRUNINGS[name].constraints}
    by_name = ObliqueTreeClassifier("hhcart_a", pruning=name, random_state=4, **values).fit(*bupa)
    model = ObliqueTreeClassifier("hhcart_a", pruning=PRUNINGS[name](**values), random_state=4)
    assert model.needs_pruning_rows == by_name.needs_pruning_rows == (PRUNINGS[name].rows == KEPT_ROWS)
    assert model.fit(*bupa).tree_.to_dict() == by_name.tree_.to_dict()


@pytest.mark.parametrize("needed", [NO_ROWS, KEPT_ROWS, TRAINING_ROWS])
def test_a_rule_is_given_the_rows_that_it_asks_for(needed, bupa):
    seen = []

    class Spy(PruningRule):
        rows = needed

        def prune(self, tree, rows):
            seen.append(rows)
            return tree.collapse(np.arange(tree.n_nodes) == 0)

    X, y = bupa
    assert ObliqueTreeClassifier("axis_parallel", pruning=Spy(), random_state=0).fit(X, y).n_leaves_ == 1
    (rows,) = seen
    if needed == NO_ROWS:
        assert rows is None
    elif needed == KEPT_ROWS:
        assert len(rows.X) == len(rows.codes) == rows.total == round(0.1 * len(y)) and rows.weights is None
    else:
        assert len(rows.rows.X) == len(y)
        parts = list(rows.grow(4))
        assert sum(len(left_out.X) for _, left_out in parts) == len(y)
        assert [tree.n_rows[0] + len(left_out.X) for tree, left_out in parts] == [len(y)] * 4


def refused(rule):
    with pytest.raises(ConfigError) as caught:
        PRUNINGS.register("broken")(rule)
    assert "broken" not in PRUNINGS
    message = str(caught.value)
    assert message.startswith(f"{__file__}: pruning 'broken' ") and message.endswith(".") and "\n" not in message
    return message


def rule(name="limit", default=1, **changes):
    """A rule with one parameter, with `changes`."""
    made = {"name": name, "default": default}
    exec("def __init__(self, {name}={default!r}):\n    self.{name} = {name}".format(**made), made)
    members = {"__doc__": "One line.", "__module__": __name__, "rows": NO_ROWS, "__init__": made["__init__"]}
    members |= {"constraints": {name: Integer(0)}, "prune": lambda self, tree, rows: tree}
    return type("Own", (PruningRule,), members | changes)


def keeps_nothing(self, limit=1):
    """A constructor."""


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (rule(constraints={"limit": 5}), "has a parameter 'limit' without a Constraint that says what its value may"),
        (rule(constraints=["limit"]), "has constraints ['limit'], which must be a mapping of the names of its param"),
        (rule(default=-1), "has the default -1 for 'limit', which must be a whole number, at least 0"),
        (rule(as_grown="yes"), "has as_grown 'yes', which must be True or False"),
        (rule(__init__=keeps_nothing), "and keep it as an attribute (AttributeError: 'Own' object has no attribute"),
        (rule("standard_errors", constraints={"standard_errors": Real(1)}), "has a parameter 'standard_errors' that"),
    ],
)
def test_a_broken_rule_is_refused_where_it_is_registered(broken, fault):
    assert fault in refused(broken)


def test_what_the_broken_rules_are_made_from_is_a_rule():
    assert PRUNINGS.fault(rule()) is None


@pytest.mark.parametrize("name", sorted({*ObliqueTreeClassifier.parameters, "min_leaf"} - {*RuleParameters.parameters}))
def test_every_parameter_of_the_tree_that_no_rule_has_is_refused_to_rules(name):
    assert f"has a parameter {name!r}, which is one of the tree" in refused(rule(name))


def test_a_rule_with_a_parameter_that_a_tree_takes_later_is_refused_then(monkeypatch):
    monkeypatch.setattr(pruning, "_RESERVED", set(pruning._RESERVED))
    sentence = "pruning 'own' has a parameter 'sharpness', which is one of the tree"
    with registered("own", rule("sharpness")), pytest.raises(ConfigError, match=sentence):
        pruning.reserve({"sharpness": Parameter(1.0)})


def test_a_parameter_that_the_heuristic_has_too_is_refused_where_they_meet():
    with registered("own", rule("epsilon")):
        assert make("hhcart_a", pruning="own", epsilon=3).pruning.epsilon == 3
        with pytest.raises(ConfigError, match="pruning 'own' has a parameter 'epsilon', as gdt itself has; give it"):
            make("gdt", pruning="own")


@pytest.mark.long
def test_no_module_decides_by_the_name_of_a_rule():
    """A rule works by what it says of itself: its name stands at its registration and in configurations only."""
    for path in Path(oblique_cli.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "pruning" in text else ():
            if isinstance(node, ast.Compare) and "pruning" in ast.unparse(node.left):
                literals = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
                # The multiway trees of papers/discrete/ and regression trees have prunings of their own.
                assert path.parent.name in ("discrete", "regression") or not literals & set(PRUNING_NAMES), (
                    f"{path}: {ast.unparse(node)}"
                )


def test_the_docstring_of_the_estimator_names_every_rule():
    text = inspect.getdoc(ObliqueTreeClassifier)
    assert [name for name in PRUNING_NAMES if f"'{name}'" not in text] == []
