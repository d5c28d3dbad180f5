"""One classifier for each registered heuristic: `ObliqueTreeClassifier` with the parameters of both in one flat list.

The classes are made from the proposers, so a new proposer has its class without another line. They are ordinary
classes: `inspect.signature` and `help` show every parameter, they are pickled by their qualified names, and
scikit-learn clones them and searches their parameters. `classifiers` is the module that they are attributes of.
"""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import oblique_cli
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.aliases import Alias, Aliases
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.ground.constraints import Constraint, violation
from oblique_cli.ground.registry import close_matches, source_of
from oblique_cli.tree.splitting import PROPOSERS, Proposer

# A parameter in the docstring of a heuristic, with its further lines indented.
OWN_PARAMETER = re.compile(r"^(?P<name>[a-z]\w*) : (?P<text>.*\n(?:[ ]+\S.*\n?)*)", re.MULTILINE)
LIMIT = "max_misrate"  # which some papers have another name for
HOME = "oblique_cli.estimators.oblique.classifiers"

CLASSIFIERS: dict[str, type[HeuristicTreeClassifier]] = {}  # class name -> class


class HeuristicTreeClassifier(ObliqueTreeClassifier):
    """What the classes of single heuristics share. `proposer` is made of the parameters, and cannot be set."""

    heuristic: ClassVar[type[Proposer]]
    parts: ClassVar[Mapping[str, Callable[[Any], Any]]] = {
        name: part for name, part in ObliqueTreeClassifier.parts.items() if name != "proposer"
    }

    @property
    def proposer(self) -> Proposer:  # type: ignore[override]
        """The heuristic with its parameters, made anew at each call."""
        return self.heuristic(**{name: getattr(self, name) for name in parameters_of(self.heuristic)})


def parameters_of(cls: type[Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a constructor by name."""
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
    return {p.name: p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}


def class_name(proposer: type[Proposer]) -> str:
    """Return what the classifier of a heuristic is called."""
    # An inherited name is that of another heuristic's class.
    return vars(proposer).get("classifier") or f"{proposer.__name__}Classifier"


def classifier_of(name: str) -> type[HeuristicTreeClassifier]:
    """Return the classifier of a registered heuristic, making it if this is the first call.

    Raises ConfigError, with the file, if the heuristic and the tree do not go together: a parameter that both have, a
    `limit_name` that is taken, `tree_defaults` that the tree does not take, or a classifier with the name of another.
    """
    proposer = PROPOSERS[name]
    called = class_name(proposer)
    if called not in CLASSIFIERS or CLASSIFIERS[called].heuristic is not proposer:
        if fault := _name_fault(proposer, called) or _fault(proposer):
            raise ConfigError(f"{source_of(proposer)}: proposer {name!r} {fault}.")
        CLASSIFIERS[called] = _made(proposer, called)
        # Only a class whose module is loaded reaches another process by its name.
        importlib.import_module(HOME)
    return CLASSIFIERS[called]


def _name_fault(proposer: type[Proposer], called: str) -> str | None:
    """What is wrong with the name of the classifier, as it follows the name of the heuristic."""
    if called in CLASSIFIERS:
        other = f"that of {source_of(CLASSIFIERS[called].heuristic)}"
    elif oblique_cli.place_of(called) not in (None, HOME):
        other = f"the one in {oblique_cli.place_of(called)}"
    else:
        return None
    advice = f"rename the class {proposer.__name__}, or set its attribute classifier"
    return f"has a classifier called {called}, as {other} is; {advice}"


def _fault(proposer: type[Proposer]) -> str | None:
    """What keeps a heuristic from being a tree, as it follows its name."""
    of_tree = set(parameters_of(ObliqueTreeClassifier))
    others = {alias.name for alias in ObliqueTreeClassifier.aliases.values()}
    taken = of_tree | others | set(dir(HeuristicTreeClassifier))
    own = set(parameters_of(proposer))
    for parameter in sorted((own | set(proposer.aliases.values())) & taken):
        return f"has a parameter {parameter!r}, which the tree has as well; rename it"
    limit = proposer.limit_name
    if limit is not None and limit != LIMIT:
        if limit in taken | own:
            return f"has limit_name {limit!r}, which is another parameter; it is a second name of {LIMIT}"
        if not limit.isidentifier():
            return f"has limit_name {limit!r}, which is no name of a parameter"
    for key, value in proposer.tree_defaults.items():
        if key not in of_tree - {"proposer"}:
            near = close_matches(key, of_tree).partition("Did you mean ")[2].removesuffix("?")
            hint = f"; perhaps {near} is meant" if near else ""
            return f"has {key!r} in tree_defaults, which is no parameter of the tree{hint}"
        constraint = ObliqueTreeClassifier.constraints.get(key)
        if constraint and (message := violation(key, value, constraint, "tree_defaults")):
            return f"has a default that the tree does not take: {message.removesuffix('.')}"
    return None


def _made(proposer: type[Proposer], called: str) -> type[HeuristicTreeClassifier]:
    """Return the class: parameters of the heuristic first, then those of the tree with the heuristic's defaults."""
    limit = proposer.limit_name or LIMIT
    own = parameters_of(proposer)
    tree = {name: p for name, p in parameters_of(ObliqueTreeClassifier).items() if name != "proposer"}
    defaults = proposer.tree_defaults
    tree = {
        limit if name == LIMIT else name: p.replace(
            name=limit if name == LIMIT else name, default=defaults.get(name, p.default)
        )
        for name, p in tree.items()
    }
    everything = {limit: tree[limit], **own, **tree} if proposer.limit_name else {**own, **tree}
    constraints: dict[str, Constraint] = dict(proposer.constraints)
    constraints |= {limit if k == LIMIT else k: c for k, c in ObliqueTreeClassifier.constraints.items()}
    own_aliases: Aliases = {parameter: Alias(other) for parameter, other in proposer.aliases.items()}
    members: dict[str, Any] = {
        "__module__": HOME,
        "__qualname__": called,
        "__doc__": _documented(proposer, everything, constraints, limit),
        "__init__": _constructor(everything, called),
        "heuristic": proposer,
        "constraints": constraints,
        "aliases": {**ObliqueTreeClassifier.aliases, **own_aliases},
    }
    if limit != LIMIT:
        members[LIMIT] = property(lambda self: getattr(self, limit), doc=f"The same as `{limit}`.")
    return type(called, (HeuristicTreeClassifier,), members)


def _constructor(parameters: Mapping[str, inspect.Parameter], called: str) -> Callable[..., None]:
    """Return an `__init__` with keywords only, which keeps what it is given."""
    signature = inspect.Signature(
        [
            inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters.values()),
        ],
        return_annotation=None,
    )

    def __init__(*args: Any, **params: Any) -> None:
        try:
            bound = signature.bind(*args, **params)
        except TypeError as error:
            raise TypeError(f"{called}.__init__() {error}") from None
        bound.apply_defaults()
        own = dict(bound.arguments)
        self = own.pop("self")
        for name, value in own.items():
            setattr(self, name, value)

    __init__.__qualname__ = f"{called}.__init__"
    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def _documented(
    proposer: type[Proposer],
    parameters: Mapping[str, inspect.Parameter],
    constraints: Mapping[str, Constraint],
    limit: str,
) -> str:
    """Return the docstring: what the heuristic does, every parameter, and what the tree's own docstring says."""
    described, behind = _parameter_blocks(inspect.getdoc(ObliqueTreeClassifier) or "")
    own: dict[str, list[str]] = {}
    for cls in reversed(proposer.__mro__):  # a heuristic that inherits parameters need not describe them again
        own |= _described(inspect.cleandoc(vars(cls).get("__doc__") or ""))
    text = OWN_PARAMETER.sub("", inspect.getdoc(proposer) or proposer.__name__)
    first, _, rest = text.removeprefix(f"{proposer.title}: ").partition("\n")
    first = first[:1].upper() + first[1:]
    summary = f"{proposer.title or proposer.__name__}: a top-down tree."
    lines = [summary, "", first, "", f"Source: {proposer.source}."]
    lines += ["", rest.strip()] if rest.strip() else []
    lines += ["", "Parameters", "----------"]
    for name, parameter in parameters.items():
        original = LIMIT if name == limit else name
        allowed = constraints[name].describe() if name in constraints else "see `ObliqueTreeClassifier`"
        lines.append(f"{name} : {allowed}, default {parameter.default!r}")
        lines += own.get(name) or described.get(original, ["    Of the heuristic."])
    return "\n".join([*lines, "", behind])


def _described(doc: str) -> dict[str, list[str]]:
    """Return the indented lines for each parameter that a heuristic's docstring describes as "tau : what it is"."""
    found = {}
    for match in OWN_PARAMETER.finditer(doc):
        words = " ".join(match["text"].split()).removesuffix(".") + "."
        found[match["name"]] = textwrap.wrap(
            words[0].upper() + words[1:],
            116,
            initial_indent="    ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
    return found


def _parameter_blocks(doc: str) -> tuple[dict[str, list[str]], str]:
    """Return the indented lines below each parameter of a docstring, and everything behind the last."""
    section = doc.partition("Parameters\n----------\n")[2]
    text, _, behind = section.partition("\n\nAttributes\n")
    blocks: dict[str, list[str]] = {}
    names: list[str] = []
    for line in text.splitlines():
        if heading := re.match(r"(\w[\w, ]*) : ", line):
            names = heading.group(1).split(", ")
            blocks |= {name: [] for name in names}
        else:
            for name in names:
                blocks[name].append(line)
    return blocks, "Attributes\n" + behind
