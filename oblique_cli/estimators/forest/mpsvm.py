"""The ensembles of Zhang & Suganthan (2014): random and rotation forests, and their MPSVM variants."""

from __future__ import annotations

from typing import Any

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.forest.base import ForestClassifier
from oblique_cli.ground.constraints import Choice, Integer, Real
from oblique_cli.parameters import parameter

BASES = ("raf", "rof", "rrof", "drf")
REGULARIZATIONS = ("tikhonov", "axis", "null", "none")
SCALINGS = ("range", "deviation", "none")


class MPSVMForestClassifier(ForestClassifier, kw_only=True):
    """RaF, RoF, RRoF and their MPSVM variants (Zhang & Suganthan 2014).

    At a node of an MPSVM tree the classes are grouped into two hyper-classes by the Bhattacharyya distance. Each of two
    clustering hyperplanes is close to one hyper-class and far from the other, and the better of their two bisectors
    splits the rows. If neither bisector has rows on both sides, the best axis-parallel split is taken. Trees are grown
    until their leaves are pure.

    Attributes
    ----------
    forest_ : the compiled trees; `tree(i)` gives one as arrays
    classes_ : (C,) class labels
    n_features_in_ : int
    encoding_ : encoding of a data frame with texts or missing cells, None if columns are not encoded
    feature_importances_ : (p,)
    probability_strength_ : float, in the unit of the counts of trees, where `probabilities` is not "counts"
    leaf_probabilities_ : (leaves of all trees, C) what `probabilities` gives them, where that is not "counts"
    oob_score_ : float, accuracy over the rows that some tree did not draw; with `oob_score`
    oob_votes_ : (n, C) votes of the trees that did not draw a row, all 0 for one that all have drawn; with `oob_score`
    n_nodes_, n_leaves_ : int, of all trees; depth_ : int, of the deepest

    Notes
    -----
    Stochasticity. One integer is drawn from `random_state`. All other draws come from streams named after this integer,
    the number of the tree, and the purpose: the bootstrap sample, the groups, the sample of each group, the features of
    each node."""

    base: str = parameter(
        default="raf",
        allowed=Choice(BASES),
        kw_only=False,
        help="Random forest: bootstrap samples, `max_features` features at each node. Rotation forest: bootstrap "
        "samples (section II-B), all features at each node, rotated by principal components of groups. Random "
        "rotation forest: `max_features` of the rotated features at each node. Double random forest (Han, Kim & "
        "Lee 2020; oblique in Ganaie et al. 2022): each tree sees all rows, and the split of a node with more "
        "than a tenth of them is chosen on a bootstrap sample of the node's rows, which then all follow it.",
    )
    regularization: str = parameter(
        default="tikhonov",
        allowed=Choice(REGULARIZATIONS),
        kw_only=False,
        help='What is done where the rows of a hyper-class do not span the features drawn: "tikhonov" adds `delta` to '
        'the diagonal of its moments (equation 11); "axis" grows axis-parallel splits from there down; "null" '
        'uses the null space, as the geometric decision tree does. "none" is the ensemble without MPSVM, of '
        "axis-parallel splits only.",
    )
    delta: float = parameter(
        default=0.01,
        allowed=Real(0.0, open_low=True),
        help='Added by "tikhonov" to the diagonal, in the units of the features, as in the paper. It mends covariances '
        "of classes too.",
    )
    group_size: int = parameter(
        default=3,
        allowed=Integer(1),
        help="Number of features in a rotated group; above p, one group has all features.",
    )
    scaling: str = parameter(
        default="range",
        allowed=Choice(SCALINGS),
        help="Divisor of each feature, over all training rows, before the principal components of a group are "
        'computed. With "none" the components follow the features of the largest units. The rotated features, and with '
        "them `delta`, are in these units.",
    )
    bootstrap: bool | None = parameter(
        default=None, help='Whether trees are grown on bootstrap samples. None is False for "drf", True for the others.'
    )

    @property
    def _draws_rows(self) -> bool:
        return self.base != "drf" if self.bootstrap is None else self.bootstrap

    def _options(self, p: int) -> dict[str, Any]:
        if self.base == "rof" and self.max_features not in ("auto", None):
            raise ConfigError(
                f"max_features of {type(self).__name__} must be None with base 'rof', which searches all features. "
                f"Got {self.max_features!r}; base 'rrof' draws features."
            )
        options: dict[str, Any] = {
            "node_bootstrap": self.base == "drf",
            "group_size": 0 if self.base in ("raf", "drf") else min(self.group_size, p),
            "scaling": self.scaling,
        }
        if self.base == "rof":
            options["mtry"] = 0
        if self.regularization == "none":
            return options | {"split": "axis"}
        return options | {"split": "mpsvm", "regularization": self.regularization, "delta": float(self.delta)}
