"""Union of several heuristics: the search takes the best of all their proposals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

# The default members must be registered first.
import oblique_cli.proposers.fdt
import oblique_cli.proposers.hhgdt  # noqa: F401
from oblique_cli.ground.constraints import Constraint
from oblique_cli.ground.registry import close_matches
from oblique_cli.parameters import parameter
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Node, Proposer


@dataclass(frozen=True)
class Members(Constraint):
    """A list of different heuristics: names, mappings of a name and parameters, or instances."""

    takes_list: ClassVar[bool] = True

    def holds(self, value: Any) -> bool:
        return isinstance(value, list | tuple) and not self.fault(value)

    def describe(self) -> str:
        return "a list of heuristics, names or mappings such as {name: hhgdt, tau: 0.1}"

    def schema(self) -> dict[str, Any]:
        names = sorted(name for name, cls in PROPOSERS.items() if not _is_union(cls))
        forms: list[dict[str, Any]] = [{"enum": names}]
        for name in names:
            table = {key: constraint.schema() for key, constraint in PROPOSERS[name].constraints.items()}
            properties = {"name": {"const": name}, **table}
            forms.append(
                {"type": "object", "properties": properties, "required": ["name"], "additionalProperties": False}
            )
        return {"type": "array", "items": {"anyOf": forms}, "minItems": 1}

    def fault(self, value: Any) -> str:
        if not isinstance(value, list | tuple):
            return ""
        if not value:
            return "it names none"
        members: list[tuple[type[Proposer], dict[str, Any]]] = []
        for item in value:
            if fault := _fault(item):
                return fault
            member = made(item)
            signature = type(member), member.get_params()
            if signature in members:
                return f"{_name(item)} is there twice; give one of them other parameters or leave it out"
            members.append(signature)
        return ""


def _is_union(heuristic: type[Proposer]) -> bool:
    return any(isinstance(constraint, Members) for constraint in heuristic.constraints.values())


def _name_and_parameters(member: Any) -> tuple[Any, dict[str, Any]]:
    if not isinstance(member, Mapping):
        return member, {}
    return member.get("name"), {key: value for key, value in member.items() if key != "name"}


def made(member: Any) -> Proposer:
    """Return the heuristic of a valid member."""
    if isinstance(member, Proposer):
        return member
    name, params = _name_and_parameters(member)
    return PROPOSERS[name](**params)


def _name(member: Any) -> str:
    return type(member).__name__ if isinstance(member, Proposer) else str(_name_and_parameters(member)[0])


def _perhaps(name: str, names: Iterable[str]) -> str:
    near = close_matches(name[:80], names).removeprefix(" Did you mean ").removesuffix("?")
    return f"; perhaps {near} is meant" if near else ""


def _fault(member: Any) -> str:
    """Return the fault of a member, as part of a sentence."""
    if isinstance(member, Proposer):
        cls, params = type(member), member.get_params(deep=False)
    else:
        name, params = _name_and_parameters(member)
        if not isinstance(name, str):
            return f"{member!r} has no name of a heuristic" if isinstance(member, Mapping) else f"{member!r} is no name"
        if name not in PROPOSERS:
            return f"{name!r} is no heuristic{_perhaps(name, PROPOSERS)}"
        cls = PROPOSERS[name]
    if _is_union(cls):
        return "a union has no unions as members; name their members instead"
    for key, value in params.items():
        if key not in cls.constraints:
            if key in (cls.limit_name, "max_misrate"):
                return f"{_name(member)} has no {key!r} of its own here; set max_misrate of the union"
            return f"{_name(member)} has no parameter {key!r}{_perhaps(str(key), cls.constraints)}"
        if not cls.constraints[key].holds(value):
            return f"{key} of {_name(member)} must be {cls.constraints[key].describe()}, and is {value!r}"
    return ""


@PROPOSERS.register("union")
class UnionProposer(Proposer):
    """Union: at every node the best split among the proposals of several heuristics.

    The split with the largest gain by the tree's criterion wins. A direction without an offset competes with its best
    threshold, a plane with an offset (GDT, Cline, QUEST, OC1) with that offset. Of equal gains, by the tie rule of
    every search, that of the earlier member wins. A member without a proposal leaves the node to the others; the node
    is a leaf if no member has one.

    The tree grows in the compiled core if all members can. A member that draws random numbers draws the same numbers as
    alone with the same seed of the tree."""

    title = "Union"
    classifier = "UnionClassifier"
    source = "beyond the papers; different planes at one node as in Katuwal, Suganthan & Zhang (2020)"
    tree_defaults: ClassVar[Mapping[str, Any]] = {"criterion": "gini"}
    native: ClassVar[str | None] = "union"

    proposers: Sequence[str | Mapping[str, Any] | Proposer] = parameter(
        default=("fdt", {"name": "hhgdt", "bisector_classes": "all"}),
        allowed=Members(),
        help="The members, in the order in which ties are settled: registered names, mappings of a name and parameters "
        'such as {"name": "hhgdt", "tau": 0.1}, or instances.',
    )

    def members(self) -> list[Proposer]:
        """Return the heuristics, in order."""
        return [made(member) for member in self.proposers]

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield the proposals of the members, one member after the other."""
        for member in self.members():
            yield from member.propose(node)

    def native_family(self) -> str | None:
        """Return the core's union family, if every member has a family there."""
        return self.native if all(member.native_family() for member in self.members()) else None

    def is_quantitative(self) -> bool:
        """Return whether a member cannot use qualitative features."""
        return any(member.is_quantitative() for member in self.members())

    def native_options(self) -> dict[str, Any]:
        return {"members": [(member.native_family(), member.native_options()) for member in self.members()]}
