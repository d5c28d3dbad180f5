"""OC1 and its relatives: hyperplanes optimized by perturbing one coefficient at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from oblique_cli.ground.constraints import Boolean, Choice, Integer, Real
from oblique_cli.parameters import parameter
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Node, Proposer, from_core

# OC1 splits nodes of at least two rows (thesis 3.9.1), which is more than one in terms of min_parent.
TREE_DEFAULTS: Mapping[str, Any] = {"criterion": "twoing", "min_parent": 1}


class TwoSources(Proposer):
    """A heuristic as its article describes it, or as the program OC1 runs it."""

    tree_defaults: ClassVar[Mapping[str, Any]] = TREE_DEFAULTS

    variant: str = parameter(
        default="article",
        allowed=Choice(("article", "oc1_v3")),
        kw_only=True,
        help='"oc1_v3" searches a node as the program OC1, version 3, does (docs/algorithms/oc1.md); parameters that '
        "the program does not have are then without effect.",
    )

    def native_family(self) -> str | None:
        """Return the core's family of the variant."""
        return self.native if self.variant == "article" else f"{self.native}_v3"

    def propose(self, node: Node) -> Iterator[Candidates]:
        """Yield the hyperplane with its threshold, or else the original axes."""
        draws = self.draws_tree_seed or self.variant == "oc1_v3"
        yield from from_core(self, node, node.tree_seed if draws else 0)


class HillClimbing(TwoSources):
    """The best axis-parallel split, or a hyperplane that hill climbing in the compiled core finds to be better.

    A node of weight at most twice the number of features gets the axis-parallel split (Murthy et al. 1994, section 2).
    """

    quantitative: ClassVar[bool] = True


@PROPOSERS.register("oc1")
class OC1(HillClimbing):
    """OC1: perturb coefficients until nothing improves, jump in random directions, and restart from random hyperplanes.

    Decisions where the article is silent: `core/heuristic/climbing/oc1_climb.hpp`. Deterministic for a random_state."""

    title = "OC1"
    source = "Murthy, Kasif & Salzberg (1994), JAIR 2, 1-33; Wickramarachchi (2015), section 2.2, algorithm 2"
    native: ClassVar[str | None] = "oc1"
    draws_tree_seed: ClassVar[bool] = True

    restarts: int = parameter(
        default=20,
        allowed=Integer(0, 10**6),
        help="Starting hyperplanes, the first of them the best axis-parallel split and the others random. 0 leaves the "
        "axis-parallel split.",
    )
    jumps: int = parameter(
        default=5,
        allowed=Integer(0, 10**6),
        help="Random directions tried before a restart ends; after an improvement the count starts again.",
    )
    order: str = parameter(
        default="sequential",
        allowed=Choice(("sequential", "best", "r50")),
        help='Order of perturbation: "sequential" takes the coefficients in turn until none changes, "best" the one '
        'that gains most until none gains, "r50" fifty drawn at random.',
    )
    stagnation: float = parameter(
        default=1.0,
        allowed=Real(0.0, 1.0),
        help="Probability of accepting a step that does not change the score; it falls by a tenth with every accepted "
        "step and is restored by an improvement.",
    )
    standardization: str = parameter(
        default="range",
        allowed=Choice(("range", "none")),
        also="standardisation",
        help='Unit of a feature at the node for random hyperplanes and directions, its "range"; "none" draws '
        "coefficients for unscaled features, so features of small range have little influence.",
    )
    search: str = parameter(
        default="faithful",
        allowed=Choice(("faithful", "exact")),
        help='"faithful" splits the steps of all rows like a feature and then scores the hyperplane, as published; '
        '"exact" scores the hyperplane at every step. They differ where a feature has both signs or zeros.',
    )

    def native_options(self) -> dict[str, Any]:
        options = {"restarts": int(self.restarts), "jumps": int(self.jumps), "order": self.order}
        if self.variant == "oc1_v3":
            return options
        return options | {
            "stagnation": float(self.stagnation),
            "standardization": self.standardization,
            "exact": self.search == "exact",
            "direct": False,
        }


@PROPOSERS.register("oc1_lc")
class CARTLC(HillClimbing):
    """OC1-LC: the linear combinations of CART, one deterministic climb from the axis-parallel split.

    For each feature the best of three steps (gamma -0.25, 0 and 0.25) is taken, then the threshold is searched.
    Nothing is drawn at random. docs/algorithms/oc1.md has other interpretations of the article."""

    title = "OC1-LC"
    classifier = "OC1LCClassifier"
    source = "Breiman et al. (1984), section 5.2; Murthy, Kasif & Salzberg (1994), JAIR 2, 1-33"
    native: ClassVar[str | None] = "oc1_lc"

    sweep_tol: float = parameter(
        default=1e-3,
        allowed=Real(0.0),
        help="A sweep over all features that gains less than this, in units of the criterion, is the last.",
    )
    backward_elimination: bool = parameter(
        default=False,
        allowed=Boolean(),
        help="Whether to drop features whose removal costs less than a fifth of the cost of removing the most "
        "important one, and to repeat the climb, as Breiman et al. do; the published tables of OC1-LC do not.",
    )
    standardization: str = parameter(
        default="deviation",
        allowed=Choice(("deviation", "range", "none")),
        also="standardisation",
        help='Unit of a feature at the node, its "deviation" or its "range", both about the mean; "none" leaves '
        "features as they are.",
    )
    rows_per_feature: float = parameter(
        default=2.0, allowed=Real(0.0), help="Nodes of at most this weight per feature get the axis-parallel split."
    )

    def native_options(self) -> dict[str, Any]:
        if self.variant == "oc1_v3":
            return {}
        return {
            "sweep_tol": float(self.sweep_tol),
            "backward_elimination": bool(self.backward_elimination),
            "standardization": self.standardization,
            "rows_per_feature": float(self.rows_per_feature),
        }


@PROPOSERS.register("oc1_ap")
class OC1AxisParallel(TwoSources):
    """OC1-AP: axis-parallel splits under OC1's conventions, criterion and least node size."""

    title = "OC1-AP"
    classifier = "OC1APClassifier"
    source = "Murthy, Kasif & Salzberg (1994), JAIR 2, 1-33"
    native: ClassVar[str | None] = "oc1_ap"
    combines: ClassVar[bool] = False
