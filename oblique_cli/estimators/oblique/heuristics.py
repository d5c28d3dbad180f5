"""One classifier for each registered heuristic: `ObliqueTreeClassifier` with both parameter lists in one."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import replace
from types import new_class
from typing import Any, ClassVar

import oblique_cli
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.ground.constraints import violation
from oblique_cli.ground.registry import close_matches, source_of
from oblique_cli.parameters import SECTION, Declared
from oblique_cli.tree.splitting import PROPOSERS, Proposer

LIMIT = "max_misrate"  # some papers use another name
HOME = "oblique_cli.estimators.oblique.classifiers"

CLASSIFIERS: dict[str, type[HeuristicTreeClassifier]] = {}  # class name -> class


class HeuristicTreeClassifier(ObliqueTreeClassifier):
    """Base of the classifiers of single heuristics. `proposer` is built from the parameters, and cannot be set."""

    heuristic: ClassVar[type[Proposer]]

    @property  # type: ignore[misc]
    def proposer(self) -> Proposer:  # type: ignore[override]
        """Heuristic with its parameters, made anew at each call."""
        return self.heuristic(**{name: getattr(self, name) for name in self.heuristic.parameters})


def class_name(proposer: type[Proposer]) -> str:
    """Return the name of a heuristic's classifier."""
    # An inherited name belongs to another heuristic's class.
    return vars(proposer).get("classifier") or f"{proposer.__name__}Classifier"


def classifier_of(name: str) -> type[HeuristicTreeClassifier]:
    """Return the classifier of a registered heuristic, made at the first call; ConfigError, with the file, if its names
    or defaults conflict with those of the tree."""
    proposer = PROPOSERS[name]
    called = class_name(proposer)
    if called not in CLASSIFIERS or CLASSIFIERS[called].heuristic is not proposer:
        other = ""
        if called in CLASSIFIERS:
            other = f"that of {source_of(CLASSIFIERS[called].heuristic)}"
        elif (place := oblique_cli.place_of(called)) not in (None, HOME):
            other = f"the one in {place}"
        advice = f"rename the class {proposer.__name__}, or set its attribute classifier"
        fault = f"has a classifier called {called}, as {other} is; {advice}" if other else _fault(proposer)
        if fault:
            raise ConfigError(f"{source_of(proposer)}: proposer {name!r} {fault}.")
        CLASSIFIERS[called] = _made(proposer, called)
        # Pickle finds a class by name only if its module is loaded.
        importlib.import_module(HOME)
    return CLASSIFIERS[called]


def _fault(proposer: type[Proposer]) -> str | None:
    """Return the fault that prevents a tree class of a heuristic, as text that follows its name, or None."""
    of_tree = ObliqueTreeClassifier.parameters
    taken = of_tree.keys() | _others(ObliqueTreeClassifier) | set(dir(HeuristicTreeClassifier))
    names = proposer.parameters.keys()
    for parameter in sorted((names | _others(proposer)) & taken):
        return f"has a parameter {parameter!r}, which the tree has as well; rename it"
    limit = proposer.limit_name
    if limit is not None and limit != LIMIT:
        if limit in taken - {"epsilon"} | names:
            return f"has limit_name {limit!r}, which is another parameter; it is a second name of {LIMIT}"
        if not limit.isidentifier():
            return f"has limit_name {limit!r}, which is no name of a parameter"
    for key, value in proposer.tree_defaults.items():
        if key not in of_tree.keys() - {"proposer"}:
            near = close_matches(key, of_tree).partition("Did you mean ")[2].removesuffix("?")
            hint = f"; perhaps {near} is meant" if near else ""
            return f"has {key!r} in tree_defaults, which is no parameter of the tree{hint}"
        constraint = of_tree[key].allowed
        if constraint and (message := violation(key, value, constraint, "tree_defaults")):
            return f"has a default that the tree does not take: {message.removesuffix('.')}"
    return None


def _others(cls: type[Declared]) -> set[str]:
    return {parameter.also.name for parameter in cls.parameters.values() if parameter.also}


def _made(proposer: type[Proposer], called: str) -> type[HeuristicTreeClassifier]:
    """Return the class: parameters of the heuristic first, then those of the tree with the heuristic's defaults."""
    limit = proposer.limit_name or LIMIT
    of_tree, defaults = ObliqueTreeClassifier.parameters, proposer.tree_defaults
    changed = {name: replace(of_tree[name], default=value) for name, value in defaults.items()}
    fields = {name: replace(parameter, kw_only=True) for name, parameter in proposer.parameters.items()}
    members: dict[str, Any] = {}
    if limit != LIMIT:
        fields = {limit: changed.pop(LIMIT, of_tree[LIMIT]), **fields}
        members[LIMIT] = property(lambda self: getattr(self, limit), doc=f"The same as `{limit}`.")
    members |= fields | changed
    members |= {"__module__": HOME, "__qualname__": called, "__doc__": _documented(proposer), "heuristic": proposer}
    made: type[HeuristicTreeClassifier] = new_class(
        called, (HeuristicTreeClassifier,), {"kw_only": True}, lambda body: body.update(members)
    )
    return made


def _documented(proposer: type[Proposer]) -> str:
    text = (inspect.getdoc(proposer) or proposer.__name__).partition(f"\n{SECTION}")[0]
    first, _, rest = text.removeprefix(f"{proposer.title}: ").partition("\n")
    lines = [f"{proposer.title or proposer.__name__}: a top-down tree.", "", first[:1].upper() + first[1:]]
    lines += ["", f"Source: {proposer.source}."]
    lines += ["", rest.strip()] if rest.strip() else []
    return "\n".join([*lines, "", "Attributes", "-" * 10, "As in `ObliqueTreeClassifier`, whose notes hold here too."])
