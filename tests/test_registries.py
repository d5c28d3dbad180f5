"""Every registry refuses what is broken when it is registered: one sentence with the file, the name and what to do."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import oblique_cli
from oblique_cli.errors import ConfigError, PluginError
from oblique_cli.estimators.algorithms import ALGORITHMS, MACHINE, Algorithm, algorithm, fault_of_estimator
from oblique_cli.evaluation.comparing import Rule
from oblique_cli.evaluation.metrics import CLASSIFICATION, LABELS, MEAN, ROW, SUM, Metric, Scored, metric
from oblique_cli.ground.constraints import Integer
from oblique_cli.ground.registry import Registry
from oblique_cli.models import exporting
from oblique_cli.models.codecs import Whole
from oblique_cli.models.exporting._exporter import Format, exporter
from oblique_cli.models.kinds._kind import Kind
from oblique_cli.schemes import SCHEMES, scheme
from oblique_cli.tree.criteria import Criterion
from oblique_cli.tree.pruning import KEPT_ROWS, PruningRule, pruned
from oblique_cli.tree.splitting import Candidates, Node, Proposer, best_split


class Fine(Proposer):
    """Axes."""

    title = "fine"
    source = "a test"

    def propose(self, node: Node) -> Any:
        yield Candidates.axes()


class FineRule(PruningRule):
    """Nothing."""

    rows = KEPT_ROWS

    def prune(self, tree: Any, rows: Any) -> Any:
        return tree


class FineEstimator(BaseEstimator):
    """Says 0."""

    constraints: ClassVar[dict[str, Any]] = {"depth": Integer(1)}

    def __init__(self, depth: int = 1) -> None:
        self.depth = depth

    def fit(self, X: Any, y: Any) -> FineEstimator:
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), dtype=np.int64)


def changed(base: type[Any], **attributes: Any) -> type[Any]:
    """A class like `base` with other attributes, and a docstring."""
    return type(base.__name__, (base,), {"__doc__": "A thing.", "__module__": __name__, **attributes})


def no_docstring(*arguments: Any) -> float:
    return 0.0


def of_one(y: Any) -> float:
    """One argument."""
    return 0.0


def of_labels(y: Any, predicted: Any, weights: Any = None) -> float:
    """A metric."""
    return 0.0


def of_sides(left: Any, right: Any) -> Any:
    """A criterion."""
    return left[:, 0] * right[:, 0]


def write(source: Any) -> str:
    """A format."""
    return ""


def raises(self: Any, *arguments: Any) -> None:
    raise ZeroDivisionError("on purpose")


ABOUT: dict[str, Any] = {
    "title": "t", "unit": "%", "larger_is_better": True, "task": CLASSIFICATION, "needs": LABELS, "aggregate": MEAN,
}  # fmt: skip
METRIC = Metric("own", of_labels, **ABOUT)
ESTIMATOR = Algorithm("own", "Own", "a test", MACHINE, None, False, FineEstimator)
FORMAT = Format("A format", ".own", write)
KIND = Kind(("Own",), {"n_": Whole()})


def made_by(**attributes: Any) -> Algorithm:
    return replace(ESTIMATOR, made_by=changed(FineEstimator, **attributes))


# Kind of a registry -> broken things, and a part of what is said of each; things that no registry takes are in BARE.
BROKEN: dict[str, list[tuple[Any, str]]] = {
    "comparison rule": [
        (Rule, "say Rule(better, other)"),
        (Rule("1", 1), "has better '1'"),  # type: ignore[arg-type]
    ],
    "metric": [
        (of_labels, "put @metric(...) over its function"),
        (replace(METRIC, function=of_one), "must take (y, predicted, weights)"),
        (replace(METRIC, function=no_docstring), "has no docstring"),
        (replace(METRIC, title=None), "has no title"),
        (Metric("own", of_labels, unit="%"), "has no title, larger_is_better, task, needs, aggregate; give"),
        (replace(METRIC, larger_is_better="yes"), "direction"),
        (replace(METRIC, aggregate="max"), "has no aggregate"),
        (replace(METRIC, needs="rows"), "has no needs"),
        (replace(METRIC, decimals=-1), "has decimals -1"),
        (replace(METRIC, matrix=True), "must have aggregate 'sum' if it is a matrix, and only then"),
        (replace(METRIC, needs=ROW, aggregate=SUM, matrix=True), "must not need 'row' if it is a matrix"),
        (replace(METRIC, from_row=lambda: 1), "has a from_row that must take (row)"),  # type: ignore[arg-type, misc]
    ],
    "table format": [(of_labels, "must take (sheet)")],
    "proposer": [
        (Fine(), "is no subclass of Proposer"),
        (Proposer, "has no method propose(node)"),
        (changed(Fine, propose=lambda self: iter(())), "must take (self, node)"),
        (changed(Fine, title=""), "has no title"),
        (changed(Fine, __doc__=None), "has no docstring"),
        (changed(Fine, native=3), "native"),
        (changed(Fine, native="none such"), "no family of the core"),
        (changed(Fine, __init__=raises), "ZeroDivisionError: on purpose"),
        (changed(Fine, native="hhcart_a", native_options=raises), "ZeroDivisionError: on purpose"),
    ],
    "criterion": [
        (Criterion(), "put @criterion(name) over one"),
        (Criterion(of_one), "must take (left, right)"),
        (Criterion(of_sides, gain=of_one), "has a gain that must take (values, totals)"),
        (Criterion(of_labels), "must return"),
    ],
    "pruning": [
        (changed(FineRule, rows="all"), "does not say which rows it needs"),
        (changed(FineRule, prune=lambda self: None), "has a method prune that"),
        (changed(FineRule, __doc__=None), "has no docstring"),
    ],
    "kind of plot": [(lambda material, request: None, "has no docstring"), (of_one, "must take (material, request)")],
    "cross-validation scheme": [(type(SCHEMES["ordinary"]), "put @scheme(name) over a subclass")],
    "kind of model": [
        (replace(KIND, classes="Own"), "has classes 'Own'"),  # type: ignore[arg-type]
        (replace(KIND, state=["n_"]), "has state"),  # type: ignore[arg-type]
        (replace(KIND, state={"n_": int}), "attribute 'n_'"),  # type: ignore[dict-item]
        (replace(KIND, optional=frozenset({"m_"})), "optional attribute 'm_'"),
        (replace(KIND, check=of_one), "has a check that must take (parameters, state)"),  # type: ignore[arg-type]
        (replace(KIND, predictor="nowhere"), "'module:class'"),
    ],
    "format of export": [
        (write, "put @exporter(...) over"),
        (replace(FORMAT, title=""), "has no title"),
        (replace(FORMAT, write=lambda: ""), "must take (source)"),  # type: ignore[arg-type, misc]
        (replace(FORMAT, suffix="own"), "has suffix 'own'"),
        (replace(FORMAT, digits=18), "has digits 18"),
    ],
    "algorithm": [
        (FineEstimator, "must be an Algorithm, and is the class FineEstimator; put @algorithm(...) over its class"),
        (replace(ESTIMATOR, title=""), "has no title"),
        (replace(ESTIMATOR, source=None), "has no source"),  # type: ignore[arg-type]
        (replace(ESTIMATOR, family="trees"), "must be a ModelFamily"),  # type: ignore[arg-type]
        (replace(ESTIMATOR, family=replace(MACHINE, task="ranking")), "has task 'ranking'"),
        (replace(ESTIMATOR, made_by=FineEstimator()), "which must be a class"),  # type: ignore[arg-type]
        (replace(ESTIMATOR, made_by=type("Bare", (), {})), "has no method fit(X, y)"),
        (replace(ESTIMATOR, path_parameter="width"), "has the path parameter 'width'"),
        (replace(ESTIMATOR, path_parameter="depth"), "has a path parameter and no method predict_path"),
        (made_by(predict=None), "has no method predict(X)"),
        (made_by(fit=lambda self: self), "has a method fit that must take"),
        (made_by(constraints={"depth": 3}), "without a Constraint"),
        (made_by(constraints={"width": Integer(1)}), "'width'"),
        (made_by(constraints={"depth": Integer(2)}), "has a default that its constraints forbid: depth of"),
        (made_by(__init__=raises), "cannot be made without arguments"),
    ],
    "reader of sizes": [(of_labels, "must take (estimator)")],
    "synthetic data set": [(of_labels, "must take (rng)")],
    "data set": [(of_one, "must take ()")],
    "study": [],
    "figure": [],
}
BARE = (3, object, FineEstimator(), type("Bare", (), {}))


@cache
def registries() -> dict[str, Registry[Any]]:
    """Every registry that a module of the package has, by its kind."""
    results: dict[str, Registry[Any]] = {}
    for module in pkgutil.walk_packages(oblique_cli.__path__, f"{oblique_cli.__name__}."):
        if not module.name.endswith("__main__"):
            for thing in vars(importlib.import_module(module.name)).values():
                if isinstance(thing, Registry):
                    assert results.setdefault(thing.kind, thing) is thing, f"two registries of a {thing.kind}"
    return results


def refused(registry: Registry[Any], thing: Any) -> str:
    """What is said of a thing; it is registered with nothing else, so that nothing is left behind."""
    alone: Registry[Any] = Registry(registry.kind, registry.listed_by, registry.fault)
    with pytest.raises(ConfigError) as caught:
        alone.register("own")(thing)
    assert not len(alone)
    text = str(caught.value)
    assert f": {registry.kind} 'own' " in text and text.endswith(".") and "\n" not in text
    return text


def test_every_registry_is_tried_here():
    assert registries().keys() == BROKEN.keys()


@pytest.mark.parametrize("kind", BROKEN)
def test_every_registry_says_what_is_broken_when_it_is_registered(kind):
    registry = registries()[kind]
    for thing in BARE:
        refused(registry, thing)
    for thing, part in BROKEN[kind]:
        assert part in refused(registry, thing)


@pytest.mark.parametrize("kind", BROKEN)
def test_all_that_is_registered_is_right(kind):
    registry = registries()[kind]
    assert registry.fault is not None
    for name, thing in registry.items():
        assert registry.fault(thing) is None, name


@pytest.mark.parametrize("kind", BROKEN)
def test_a_name_is_given_once_and_a_file_said(kind):
    registry = registries()[kind]
    names = list(registry)
    if not names:  # only plugins add data sets
        return
    with pytest.raises(ConfigError, match="is registered twice \\(first in "):
        registry.register(names[0])(registry[names[0]])
    with pytest.raises(ConfigError, match="needs a name of letters"):
        registry.register("two words")(registry[names[0]])
    assert list(registry) == names


def test_the_estimator_of_every_algorithm_keeps_the_conventions():
    assert {name: fault_of_estimator(item) for name, item in ALGORITHMS.items() if fault_of_estimator(item)} == {}


# ---- decorators ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decorate", "part"),
    [
        (lambda: algorithm("own", title="Own", source="a test")(3), "algorithm 'own' must be a class, and is 3."),
        (lambda: algorithm("own", title="", source="a test")(FineEstimator), "algorithm 'own' has no title."),
        (lambda: algorithm("hhcart_a", title="Own", source="a test")(FineEstimator), "registered twice"),
        (
            lambda: algorithm("own", title="Own", source="a test", task="regression", family=MACHINE)(FineEstimator),
            "has task 'regression', and its family is for classification.",
        ),
        (lambda: algorithm("own", title="O", source="t", task="ranks")(FineEstimator), "has task 'ranks'"),
        (lambda: metric("own", **ABOUT)(3), "metric 'own' is no function."),  # type: ignore[arg-type]
        (lambda: metric("own", **ABOUT, better="larger")(of_labels), "says 'better', which is nothing to say"),
        (lambda: scheme("own")(3), "scheme 'own' must be a class derived from Scheme."),  # type: ignore[type-var]
        (lambda: exporter("own", "Own", "own")(write), "format of export 'own' has suffix 'own'"),
    ],
)
def test_a_decorator_names_the_file_of_what_is_broken(decorate, part):
    with pytest.raises(ConfigError) as caught:
        decorate()
    assert str(caught.value).startswith(f"{__file__}: ") and part in str(caught.value)


# ---- what they give --------------------------------------------------------------------------------------------------


SCORED = Scored(np.array([0, 1]), np.array([0, 1]), 2, lambda: np.eye(2), None, np.zeros((2, 1)))


@pytest.mark.parametrize(
    ("about", "result", "expected"),
    [
        ({}, "high", "must return a number. Got 'high'."),
        ({}, None, "must return a number. Got None."),
        ({"aggregate": SUM, "matrix": True}, 3.0, "must return a square matrix of counts. Got 3.0."),
        ({"aggregate": SUM, "matrix": True}, [["a"]], "must return a square matrix of counts. Got [['a']]."),
    ],
)
def test_a_metric_that_gives_no_number_is_named(about, result, expected):
    def metric_value(y: Any, predicted: Any) -> Any:
        return result

    with pytest.raises(PluginError) as caught:
        Metric("own", metric_value, **{**ABOUT, **about}).evaluate(SCORED)
    assert str(caught.value) == f"{__file__}: metric 'own' {expected}"


@pytest.mark.parametrize(("result", "shown"), [(None, "None"), ([3], "3"), ("ab", "'a'")])
def test_a_heuristic_that_gives_no_candidates_is_named(result, shown):
    node = Node(np.arange(8.0).reshape(4, 2), np.array([0, 0, 1, 1], dtype=np.int32), None, 2, 0, "gini")
    with pytest.raises(PluginError) as caught:
        best_split(node, changed(Fine, propose=lambda self, node: result)())
    where = f"{__file__}: Fine.propose must yield Candidates"
    assert str(caught.value) == f"{where}, such as Candidates.axes(). Got {shown}."


def test_a_pruning_rule_that_gives_no_tree_is_named():
    with pytest.raises(PluginError, match=r"prune must return a Tree\. Got 3\."):
        pruned(changed(FineRule, prune=lambda self, tree, rows: 3)(), None, None)  # type: ignore[arg-type]


def test_an_exporter_that_gives_no_text_is_named(monkeypatch):
    from oblique_cli import make

    table: Registry[Format] = Registry("format of export")
    table.register("own")(replace(FORMAT, write=lambda source: 3))
    monkeypatch.setattr(exporting, "FORMATS", table)
    monkeypatch.setattr(exporting, "refuse", lambda name, procedure: None)
    tree = make("axis_parallel").fit(np.arange(4.0)[:, None], [0, 0, 1, 1])
    with pytest.raises(PluginError) as caught:
        exporting.export(tree, "own")
    assert str(caught.value) == f"{__file__}: format of export 'own' must return text or bytes. Got 3."
