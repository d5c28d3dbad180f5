"""HHGDT: the reflection of the bisector's normal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from oblique_cli.ground.geometry import orient
from oblique_cli.parameters import parameter
from oblique_cli.proposers._reflection import SIGN, SIGNS, TAU, reflections
from oblique_cli.proposers.gdt import BISECTOR_CLASSES, better_bisector
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Node, Proposer


@PROPOSERS.register("hhgdt")
class HHGDT(Proposer):
    """Reflect along the normal of GDT's bisector and search all axes of that space with all classes."""

    title = "HHGDT"
    source = "Wickramarachchi (2015), section 5.1, algorithms 7 and 8"
    tree_defaults: ClassVar[Mapping[str, Any]] = {"criterion": "gini", "max_misrate": 0.05}
    limit_name: ClassVar[str | None] = "epsilon"
    native: ClassVar[str | None] = "hhgdt"
    member_defaults: ClassVar[Mapping[str, Any]] = {"bisector_classes": "all"}

    tau: float = parameter(
        default=0.0,
        allowed=TAU,
        help="A normal within this distance of a feature axis is not reflected (0 in the thesis).",
    )
    sign: str = parameter(
        default="negative",
        allowed=SIGN,
        help="Sign given to the first non-zero component of the normal, on which the further axes of the reflection "
        "depend.",
    )
    bisector_classes: str = parameter(
        default="super",
        allowed=BISECTOR_CLASSES,
        help='"super" takes the bisector that splits the two super-classes, the largest class and the rest, better: '
        '"up to the computation of z, the multi-class problem is considered as a two-class problem" (thesis 5.1.2). '
        '"all" takes the one that splits all classes of the node better.',
    )

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield the reflected space of the better bisector's normal."""
        plane = better_bisector(node, self.bisector_classes)
        if plane is not None:
            yield from reflections([orient(plane[:-1], SIGNS[self.sign])], self.tau)

    def native_options(self) -> dict[str, Any]:
        by_super_classes = self.bisector_classes == "super"
        return {"tau": float(self.tau), "sign": SIGNS[self.sign], "bisector_by_super_classes": by_super_classes}
