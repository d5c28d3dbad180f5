"""The table of algorithms: every name a configuration may use, its parameters, and how to make its estimator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import oblique_cli.proposers  # noqa: F401  (registers the proposers)
from oblique_cli.constraints import Choice, Constraint, violation
from oblique_cli.errors import ConfigError
from oblique_cli.estimators import bottom_up, discrete, forest, machines, model_tree, orthogonal, taxonomy
from oblique_cli.estimators.pathfinder import PathfinderClassifier
from oblique_cli.estimators.tree import ObliqueTreeClassifier
from oblique_cli.registry import Registry, close_matches
from oblique_cli.tree.splitting import PROPOSERS, Proposer


@dataclass(frozen=True)
class Algorithm(ABC):
    """An algorithm under its name, with parameters in one flat list as a configuration writes them.

    title           method name in the published tables
    source          paper and section
    path_parameter  the parameter of which one fit, at its smallest value, answers every value; None if there is none
    compiled        whether fitting runs outside the interpreter lock, so that threads are of use
    growth          what kind of model it is and how that comes about: those of one kind share most parameters
    task            "classification" or "regression": what it predicts, as a data set says what it is for
    makes_tree      whether a fitted estimator has one `tree_` to show
    hyperplanes     whether that tree is a `Tree` of hyperplanes with classes in its leaves
    without         parameters of other algorithms that this kind cannot have -> why
    """

    growth: ClassVar[str] = ""
    task: ClassVar[str] = "classification"
    makes_tree: ClassVar[bool] = True
    hyperplanes: ClassVar[bool] = True
    without: ClassVar[Mapping[str, str]] = {}

    name: str
    title: str
    source: str
    path_parameter: str | None
    compiled: bool

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Constraint]:
        """Name -> what it may be."""

    @property
    @abstractmethod
    def defaults(self) -> dict[str, Any]:
        """Name -> value a parameter has unless a configuration sets it."""

    def make(self, random_state: Any = None, **params: Any) -> Any:
        """Return an unfitted estimator; ConfigError for a parameter that is unknown or out of range."""
        table = self.parameters
        for name, value in params.items():
            if name not in table:
                hint = self.without.get(name) or close_matches(name, table)
                raise ConfigError(f"{self.name} has no parameter {name!r}.{hint}")
            message = violation(name, value, table[name], self.name)
            if message:
                raise ConfigError(message)
        return self._estimator(random_state, params)

    @abstractmethod
    def _estimator(self, random_state: Any, params: Mapping[str, Any]) -> Any:
        """Return the estimator of checked parameters."""


@dataclass(frozen=True)
class TopDown(Algorithm):
    """A tree grown top-down by a proposer, whose misclassification limit goes by the paper's name."""

    growth: ClassVar[str] = "top-down trees"

    proposer: type[Proposer]

    @classmethod
    def of(cls, name: str, proposer: type[Proposer]) -> TopDown:
        """The algorithm that a registered proposer makes."""
        return cls(name, proposer.title, proposer.source, proposer.limit_name, proposer.native is not None, proposer)

    @property
    def _limit(self) -> str:
        return self.proposer.limit_name or "max_misrate"

    @property
    def parameters(self) -> dict[str, Constraint]:
        """Those of the proposer, then those of the tree."""
        tree = {self._limit if k == "max_misrate" else k: v for k, v in ObliqueTreeClassifier.constraints.items()}
        return dict(self.proposer.constraints) | tree

    @property
    def defaults(self) -> dict[str, Any]:
        """The estimator's own, but where the proposer asks for others."""
        tree = ObliqueTreeClassifier().get_params(deep=False) | dict(self.proposer.tree_defaults)
        tree[self._limit] = tree.pop("max_misrate")
        own = self.proposer().get_params(deep=False)
        return {name: (own | tree)[name] for name in self.parameters}

    def _estimator(self, random_state: Any, params: Mapping[str, Any]) -> ObliqueTreeClassifier:
        own = {name: params[name] for name in self.proposer.constraints if name in params}
        tree: dict[str, Any] = dict(self.proposer.tree_defaults)
        for name, value in params.items():
            if name not in own:
                tree["max_misrate" if name == self._limit else name] = value
        return ObliqueTreeClassifier(self.proposer(**own), random_state=random_state, **tree)


@dataclass(frozen=True)
class BottomUp(Algorithm):
    """A tree merged from clusters; `options` are the parameters that its splitter has to itself."""

    growth: ClassVar[str] = "bottom-up trees"
    without: ClassVar[Mapping[str, str]] = {
        "class_weight": " Bottom-up trees take no weights, because scikit-learn's mixtures take none.",
        "missing": " Bottom-up trees take no missing values; set missing of the data set to impute or drop.",
    }

    splitter: str
    options: Mapping[str, Constraint]

    @property
    def parameters(self) -> dict[str, Constraint]:
        """Those of clusters and merging, then those of the splitter."""
        return dict(bottom_up.SHARED) | dict(self.options)

    @property
    def defaults(self) -> dict[str, Any]:
        """The estimator's own."""
        own = bottom_up.BottomUpTreeClassifier().get_params(deep=False)
        return {name: own[name] for name in self.parameters}

    def _estimator(self, random_state: Any, params: Mapping[str, Any]) -> bottom_up.BottomUpTreeClassifier:
        return bottom_up.BottomUpTreeClassifier(self.splitter, random_state=random_state, **params)


@dataclass(frozen=True)
class Machine(Algorithm):
    """A classifier that is no tree: a row of published tables, beside the trees."""

    growth: ClassVar[str] = "classifiers that are no tree"
    makes_tree: ClassVar[bool] = False

    estimator: type[machines.ProximalSVMClassifier] | type[machines.SupportVectorClassifier]

    @property
    def parameters(self) -> dict[str, Constraint]:
        """Those of the estimator."""
        return dict(self.estimator.constraints)

    @property
    def defaults(self) -> dict[str, Any]:
        """The estimator's own."""
        own = self.estimator().get_params(deep=False)
        return {name: own[name] for name in self.parameters}

    def _estimator(self, random_state: Any, params: Mapping[str, Any]) -> Any:
        return self.estimator(**params)  # neither draws at random


@dataclass(frozen=True)
class Neighbours(Algorithm):
    """The k-nearest-neighbour rule after an editor; `fixed` are the parameters that make it this algorithm."""

    growth: ClassVar[str] = "nearest neighbours"
    makes_tree: ClassVar[bool] = False

    estimator: type[taxonomy.NearestNeighborsClassifier]
    fixed: Mapping[str, Any]

    @property
    def parameters(self) -> dict[str, Constraint]:
        """Those of the estimator but for the fixed ones."""
        return {k: v for k, v in taxonomy.neighbour_options(self.estimator).items() if k not in self.fixed}

    @property
    def defaults(self) -> dict[str, Any]:
        """The estimator's own."""
        own = self.estimator().get_params(deep=False)
        return {name: own[name] for name in self.parameters}

    def _estimator(self, random_state: Any, params: Mapping[str, Any]) -> taxonomy.NearestNeighborsClassifier:
        given = {**self.fixed, **params}
        if "random_state" in self.estimator().get_params(deep=False):
            given["random_state"] = random_state
        return self.estimator(**given)


BOTTOM_UP = (
    BottomUp(
        "hhbut",
        "HHBUT",
        "Wickramarachchi (2015), sections 6.3 and 6.5, algorithm 10",
        path_parameter=None,
        compiled=False,
        splitter="hhcart",
        options=bottom_up.HHCART_OPTIONS,
    ),
    BottomUp(
        "butif_svm",
        "BUTIF-SVM",
        "Barros et al. (2014); Wickramarachchi (2015), sections 6.2 to 6.4",
        path_parameter="cost",
        compiled=False,
        splitter="svm",
        options=bottom_up.SVM_OPTIONS,
    ),
)


@dataclass(frozen=True)
class Discrete(Algorithm):
    """Trees over discrete features; `preset` are parameters that make the algorithm what it is, and are not offered."""

    growth: ClassVar[str] = "trees over discrete features"

    estimator: type[discrete.DiscreteClassifier]
    preset: Mapping[str, Any]

    @property
    def parameters(self) -> dict[str, Constraint]:
        """The estimator's."""
        return {name: c for name, c in self.estimator.constraints.items() if name not in self.preset}

    @property
    def defaults(self) -> dict[str, Any]:
        """The estimator's own."""
        own = self.estimator().get_params(deep=False)
        return {name: own[name] for name in self.parameters}

    def _estimator(self, random_state: Any, params: Mapping[str, Any]) -> discrete.DiscreteClassifier:
        return self.estimator(random_state=random_state, **self.preset, **params)


@dataclass(frozen=True)
class DiscreteEnsemble(Discrete):
    """Several of them that predict together."""

    makes_tree: ClassVar[bool] = False


def _discrete(
    name: str,
    title: str,
    source: str,
    estimator: type[discrete.DiscreteClassifier],
    kind: type[Discrete] = DiscreteEnsemble,
    **preset: Any,
) -> Discrete:
    return kind(name, title, source, path_parameter=None, compiled=False, estimator=estimator, preset=preset)


KARGUPTA = "Kargupta, Park & Dutta (2006)"
DISCRETE = (
    _discrete("c45", "C4.5", "Quinlan (1993), discrete features", discrete.C45Classifier, Discrete),
    _discrete("c45_bagging", "C4.5 bagging", "Breiman (1996); Quinlan (1993)", discrete.C45BaggingClassifier),
    _discrete("c45_forest", "C4.5 forest", "Breiman (2001), multiway trees", discrete.C45ForestClassifier),
    _discrete("rft", "RFT", f"{KARGUPTA}, sections 4 and 5", orthogonal.ReconstructedFourierTreeClassifier),
    _discrete("aft", "AFT", f"{KARGUPTA}, sections 4.3 and 5", orthogonal.AggregatedFourierTreeClassifier, Discrete),
    _discrete("odt", "ODT", f"{KARGUPTA}, section 6", orthogonal.OrthogonalTreesClassifier, weights="uniform"),
    _discrete(
        "odt_lr",
        "ODT-LR",
        f"{KARGUPTA}, sections 6 and 7",
        orthogonal.OrthogonalTreesClassifier,
        weights="least_squares",
    ),
)

MACHINES = (
    Machine(
        "gepsvm",
        "GEPSVM",
        "Mangasarian & Wild (2006); Manwani & Sastry (2012), section IV",
        path_parameter=None,
        compiled=False,
        estimator=machines.ProximalSVMClassifier,
    ),
    Machine(
        "svm",
        "SVM",
        "Chang & Lin (2001), LIBSVM, in scikit-learn; Manwani & Sastry (2012), section IV",
        path_parameter=None,
        compiled=False,
        estimator=machines.SupportVectorClassifier,
    ),
)


@dataclass(frozen=True)
class Regression(Algorithm):
    """A regression tree; `fixed` are the parameters that its name decides."""

    growth: ClassVar[str] = "model trees"
    task: ClassVar[str] = "regression"
    hyperplanes: ClassVar[bool] = False

    estimator: type[Any]
    fixed: Mapping[str, Any]

    @property
    def parameters(self) -> dict[str, Constraint]:
        """Those of the estimator; of columns to take as discrete, what a configuration can say in a word."""
        words = {"discrete": Choice(model_tree.DISCRETE)} if "discrete" in self.estimator().get_params() else {}
        return {key: value for key, value in (self.estimator.constraints | words).items() if key not in self.fixed}

    @property
    def defaults(self) -> dict[str, Any]:
        """The estimator's own."""
        own = self.estimator().get_params(deep=False)
        return {name: own[name] for name in self.parameters}

    def _estimator(self, random_state: Any, params: Mapping[str, Any]) -> Any:
        estimator = self.estimator(**self.fixed, **params)
        if "random_state" in estimator.get_params():  # model trees draw nothing
            estimator.set_params(random_state=random_state)
        return estimator


class ConstantLeaves(Regression):
    """A regression tree that has no models in its leaves, and parameters of its own."""

    growth: ClassVar[str] = "trees of constant leaves"
    makes_tree: ClassVar[bool] = False


CHAPTER_2 = "Amalaman (2015), chapter 2"
TPRTI, RETIS, M5, CART = (
    model_tree.TPRTIRegressor,
    model_tree.RETISRegressor,
    model_tree.M5StyleRegressor,
    model_tree.CARTRegressor,
)
REGRESSION = (
    Regression("tprti_a", "TPRTI-A", f"{CHAPTER_2}, algorithms 1 and 2", None, False, TPRTI, {"variant": "A"}),
    Regression("tprti_b", "TPRTI-B", f"{CHAPTER_2}, algorithms 1 and 3", None, False, TPRTI, {"variant": "B"}),
    Regression("retis", "RETIS", f"Karalic (1992); {CHAPTER_2}", None, False, RETIS, {}),
    Regression("m5_style", "M5-style", f"Quinlan (1992); {CHAPTER_2}", None, False, M5, {}),
    ConstantLeaves("cart_regression", "CART regression", "Breiman et al. (1984); scikit-learn", None, False, CART, {}),
)


@dataclass(frozen=True)
class Pathfinder(Algorithm):
    """PATHFINDER, which is one of its kind."""

    growth: ClassVar[str] = "trees of regions"
    hyperplanes: ClassVar[bool] = False

    @property
    def parameters(self) -> dict[str, Constraint]:
        """The estimator's."""
        return dict(PathfinderClassifier.constraints)

    @property
    def defaults(self) -> dict[str, Any]:
        """The estimator's own."""
        own = PathfinderClassifier().get_params(deep=False)
        return {name: own[name] for name in self.parameters}

    def _estimator(self, random_state: Any, params: Mapping[str, Any]) -> PathfinderClassifier:
        return PathfinderClassifier(**params)  # draws nothing


PATHFINDER = Pathfinder("pathfinder", "PATHFINDER", "Amalaman (2015), chapter 3", path_parameter=None, compiled=True)


def _neighbours(
    name: str, title: str, source: str, estimator: Any, path: str | None = None, **fixed: Any
) -> Neighbours:
    return Neighbours(name, title, f"{source}; Amalaman (2015), chapter 6", path, False, estimator, fixed)


NEIGHBOURS = (
    _neighbours("knn", "k-NN", "Cover & Hart (1967)", taxonomy.NearestNeighborsClassifier, weights="uniform"),
    _neighbours(
        "knn_weighted", "weighted k-NN", "Dudani (1976)", taxonomy.NearestNeighborsClassifier, weights="distance"
    ),
    _neighbours("wilson", "Wilson", "Wilson (1972)", taxonomy.WilsonClassifier, voting="uniform"),
    _neighbours(
        "wilson_prob", "WilsonProb", "Vazquez, Sanchez & Pla (2005)", taxonomy.WilsonClassifier, voting="distance"
    ),
    _neighbours("multi_edit", "Multi-edit", "Devijver & Kittler (1980)", taxonomy.MultiEditClassifier),
    _neighbours(
        "supervised_clustering_edit",
        "supervised clustering editing",
        "Eick, Zeidat & Vilalta (2004)",
        taxonomy.SupervisedClusteringEditClassifier,
    ),
    _neighbours(
        "hc_edit_staxac", "HC-edit-STAXAC", "Amalaman & Eick (2015)", taxonomy.HCEditClassifier, "beta", tree="staxac"
    ),
    _neighbours(
        "hc_edit_upgma", "HC-edit-UPGMA", "Amalaman & Eick (2015)", taxonomy.HCEditClassifier, "beta", tree="upgma"
    ),
)


@dataclass(frozen=True)
class Forest(Algorithm):
    """An ensemble of trees: an estimator with some of its parameters fixed by the name, the others open."""

    growth: ClassVar[str] = "forests"
    makes_tree: ClassVar[bool] = False

    estimator: type[forest.MPSVMForestClassifier] | type[forest.HHCARTForestClassifier]
    fixed: Mapping[str, Any]
    unused: tuple[str, ...] = ()

    @property
    def parameters(self) -> dict[str, Constraint]:
        """Those of the estimator that the name leaves open, but for threads and warm starts, which are the runner's."""
        closed = {*self.fixed, *self.unused, "n_jobs", "warm_start"}
        return {name: c for name, c in self.estimator.constraints.items() if name not in closed}

    @property
    def defaults(self) -> dict[str, Any]:
        """The estimator's own."""
        own = self.estimator().get_params(deep=False)
        return {name: own[name] for name in self.parameters}

    def _estimator(self, random_state: Any, params: Mapping[str, Any]) -> Any:
        return self.estimator(**self.fixed, **params, random_state=random_state)


BASES = {"raf": "RaF", "rof": "RoF", "rrof": "RRoF"}
REGULARIZATIONS = {"t": "tikhonov", "p": "axis", "n": "null"}


def _ensembles() -> list[Forest]:
    """The twelve ensembles of Zhang & Suganthan (2014), and the forest of HHCART trees."""
    found = []
    for base, title in BASES.items():
        # No parameter of a name that has no use for it: groups without rotation, mtry where all features are searched.
        unused = {"raf": ("group_size",), "rof": ("mtry",), "rrof": ()}[base]
        for letter, rule in {"": "none", **REGULARIZATIONS}.items():
            found.append(
                Forest(
                    f"mp{base}_{letter}" if letter else base,
                    f"MP{title}-{letter.upper()}" if letter else title,
                    "Zhang & Suganthan (2014), sections II and III",
                    path_parameter=None,
                    compiled=True,
                    estimator=forest.MPSVMForestClassifier,
                    fixed={"base": base, "regularization": rule},
                    unused=unused if letter else (*unused, "delta"),
                )
            )
    found.append(
        Forest(
            "hhcart_forest",
            "HHCART forest",
            "Wickramarachchi (2015), future work, on section 3.5",
            path_parameter=None,
            compiled=True,
            estimator=forest.HHCARTForestClassifier,
            fixed={},
        )
    )
    return found


ENSEMBLES = tuple(_ensembles())


def _table() -> Mapping[str, Algorithm]:
    table: Registry[Algorithm] = Registry("algorithm", "oblique list algorithms")
    for name, proposer in PROPOSERS.items():
        table.register(name)(TopDown.of(name, proposer))
    kinds = (*BOTTOM_UP, *DISCRETE, *MACHINES, *NEIGHBOURS, *ENSEMBLES, *REGRESSION, PATHFINDER)
    for algorithm in kinds:
        table.register(algorithm.name)(algorithm)
    return table


ALGORITHMS = _table()


def task_of(name: str) -> str:
    """Return what the algorithm of this name predicts, "classification" for one that the table lacks."""
    return ALGORITHMS[name].task if name in ALGORITHMS else Algorithm.task


def make(name: str, random_state: Any = None, **params: Any) -> Any:
    """Return the unfitted estimator of an algorithm: ``make("hhgdt", epsilon=0.1)``."""
    return ALGORITHMS[name].make(random_state=random_state, **params)
