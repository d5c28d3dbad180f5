"""Table of algorithms: the name in configurations, the parameters, and the constructor of the estimator."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from typing import Any, TypeVar

import oblique_cli.proposers  # noqa: F401  (registers the proposers)
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.oblique.groups import Growth, Leaves
from oblique_cli.estimators.oblique.heuristics import LIMIT, classifier_of
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier, no_native
from oblique_cli.estimators.outside.known import task_of_class
from oblique_cli.foreign import error_text
from oblique_cli.ground import extensions
from oblique_cli.ground.constraints import Constraint, violation
from oblique_cli.ground.registry import Registry, close_matches, fault_of_texts, fault_of_type, misfit, source_of
from oblique_cli.parameters import Alias
from oblique_cli.tree.pruning import PRUNINGS
from oblique_cli.tree.splitting import PROPOSERS, Proposer

ROOT = __name__.partition(".")[0]
TASKS = ("classification", "regression")
RUNNERS = ("n_jobs", "verbose", "warm_start", "random_state")  # parameters that the runner sets, not the configuration
C = TypeVar("C", bound=type)
P = TypeVar("P", bound=type[Proposer])


@dataclass(frozen=True)
class ModelFamily:
    """What kind of model an algorithm makes.

    growth        how the model is built; algorithms of one kind share most parameters
    task          "classification" or "regression", as for a data set
    makes_tree    whether a fitted estimator has one `tree_` to show
    hyperplanes   whether that tree is a `Tree` of hyperplanes with classes in its leaves
    without       parameters of other algorithms that this kind cannot have -> why
    symbolic      whether splits have a branch for each level of a qualitative column"""

    growth: str
    task: str = "classification"
    makes_tree: bool = False
    hyperplanes: bool = False
    without: Mapping[str, str] = field(default_factory=dict)
    symbolic: bool = False


@dataclass(frozen=True)
class Algorithm:
    """Algorithm of the table: the class of its estimators, with parameters in one flat list for configurations.

    title           method name in the published tables
    source          paper and section
    path_parameter  parameter for which one fit, at its smallest value, gives the results of all values; None without
    compiled        whether fitting releases the interpreter lock, so that threads speed it up
    made_by         the class that `make` instantiates; "module:class" for a class that is loaded on first use
    fixed, unused   parameters that the name fixes, and parameters without effect"""

    name: str
    title: str
    source: str
    family: ModelFamily
    path_parameter: str | None
    compiled: bool
    made_by: type[Any] | str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    unused: tuple[str, ...] = ()

    @property
    def __wrapped__(self) -> type[Any]:
        """Class of the estimators; the registry gets the algorithm's file from it."""
        return self.estimator

    @cached_property
    def estimator(self) -> type[Any]:
        """Class of the estimators that `make` returns."""
        if not isinstance(self.made_by, str):
            return self.made_by
        module, _, name = self.made_by.partition(":")
        cls: type[Any] = getattr(import_module(module, __package__), name)
        return cls

    @property
    def former_class(self) -> str:
        """Former class name of this algorithm: the words of the title and its task."""
        words = re.split(r"[^A-Za-z0-9]+", self.title.removesuffix(" regression"))
        suffix = "Regressor" if self.family.task == "regression" else "Classifier"
        return "".join(word[:1].upper() + word[1:] for word in words) + suffix

    @property
    def parameters(self) -> dict[str, Constraint]:
        """Name -> allowed values, of arrays and callables only the words; without fixed parameters and RUNNERS."""
        closed = {*self.fixed, *self.unused, *RUNNERS}
        table = self.estimator.constraints | getattr(self.estimator, "words", {})
        return {name: constraint for name, constraint in table.items() if name not in closed}

    @property
    def defaults(self) -> dict[str, Any]:
        """Name -> value of a parameter that a configuration does not set."""
        values = self.estimator().get_params(deep=False)
        return {name: values[name] for name in self.parameters}

    def make(self, random_state: Any = None, **params: Any) -> Any:
        """Return an unfitted estimator; ConfigError for a parameter that is unknown or out of range."""
        table = self.parameters
        params = self.current(params)
        for name, value in params.items():
            if name not in table:
                hint = self.hints.get(name) or close_matches(name, table)
                raise ConfigError(f"{self.name} has no parameter {name!r}.{hint}")
            message = violation(name, value, table[name], self.name)
            if message:
                raise ConfigError(message)
        return self.built(params, random_state=random_state)

    @property
    def hints(self) -> Mapping[str, str]:
        """Parameter that only other algorithms have -> hint for the error message."""
        return self.family.without

    def clash(self, params: Mapping[str, Any]) -> str | None:
        """Return the error message for incompatible parameters, under either name, or None."""
        current = self.current(params)
        try:
            self.built(current)
        except ConfigError as error:
            return str(error)
        return None

    def built(self, params: Mapping[str, Any], n_features: int | None = None, random_state: Any = None) -> Any:
        """Return the estimator of checked parameters, under either name; ConfigError for incompatible ones, or for ones
        too large for n_features."""
        estimator = self._estimator(random_state, self.current(params))
        clash = getattr(estimator, "clash", None)
        if clash is not None and (message := clash(self.name, n_features)):
            raise ConfigError(message)
        return estimator

    def shared_work(self, params: Mapping[str, Any]) -> Hashable:
        """Return a key of the work that consecutive fits on the same rows can share, or None."""
        names = getattr(self.estimator, "shared_work", ())
        values = self.defaults | self.current(params) if names else {}
        return tuple(values[name] for name in names) or None

    def _estimator(self, random_state: Any, params: Mapping[str, Any]) -> Any:
        estimator = self.estimator(**self.fixed, **params)
        if "random_state" in estimator.get_params(deep=False):  # other estimators use no random numbers
            estimator.set_params(random_state=random_state)
        return estimator

    @cached_property
    def aliases(self) -> Mapping[str, Alias]:
        """Parameter -> its name in papers."""
        of_class: Mapping[str, Alias] = getattr(self.estimator, "aliases", {})
        closed = {*self.fixed, *self.unused}
        return {name: alias for name, alias in of_class.items() if name not in closed}

    def meaning(self, name: str) -> str:
        """Return the description of a parameter from its declaration; "" if it is not declared."""
        declared = getattr(self.estimator, "parameters", {}).get(name)
        return "" if declared is None else str(declared.help)

    def current(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters under the estimator's names; ConfigError for a parameter set under both names."""
        by_alias = {alias.name: (name, alias) for name, alias in self.aliases.items()}
        current: dict[str, Any] = {}
        for key, value in params.items():
            name, alias = by_alias.get(key, (key, None))
            if name in current:
                other = self.aliases[name].name
                raise ConfigError(f"{other} and {name} of {self.name} are the same parameter. Give one of them.")
            current[name] = value if alias is None else alias.current(value)
        return current

    def stored(self, name: str, values: Iterable[Any]) -> tuple[str, list[Any]]:
        """Return the name and the values of a parameter in jobs and results: under the older name, so that no job key
        changes, or under the current name if a value has no older form. name : current or stored"""
        values = list(values)
        try:
            alias = self.aliases[name]
            return alias.name, [alias.former(value) for value in values]
        except (KeyError, ValueError):
            return name, values


TOP_DOWN = ModelFamily(
    "top-down trees",
    makes_tree=True,
    hyperplanes=True,
    without={
        name: hint
        for group, kind in (("growth", Growth), ("leaves", Leaves))
        for name, hint in {
            group: f" Write its parameters flat, such as {next(iter(kind.parameters))}.",
            **{f"{group}__{flat}": f" Write it flat: {flat}." for flat in kind.parameters},
        }.items()
    },
)
BOTTOM_UP = ModelFamily(
    "bottom-up trees",
    makes_tree=True,
    hyperplanes=True,
    without={
        "class_weight": " Bottom-up trees take no weights, because scikit-learn's mixtures take none.",
        "missing": " Bottom-up trees take no missing values; set missing of the data set to impute or drop.",
    },
)


@dataclass(frozen=True)
class TopDown(Algorithm):
    """Tree grown top-down by a proposer, with the paper's name for the misclassification limit."""

    @classmethod
    def of(cls, name: str, proposer: type[Proposer]) -> TopDown:
        """Return the algorithm of a registered proposer."""
        compiled = proposer.native is not None
        estimator = classifier_of(name)
        return cls(name, proposer.title, proposer.source, TOP_DOWN, proposer.limit_name, compiled, estimator)

    @property
    def parameters(self) -> dict[str, Constraint]:
        """Parameters of the proposer, then of the tree without threads, then further ones of pruning rules."""
        of_tree = {name: c for name, c in self.estimator.constraints.items() if name != "n_jobs"}
        rules = {name: c for rule in PRUNINGS.values() for name, c in rule.constraints.items()}
        return of_tree | {name: constraint for name, constraint in rules.items() if name not in of_tree}

    @property
    def defaults(self) -> dict[str, Any]:
        """Defaults of the estimator and of pruning rules."""
        rules = {name: value for rule in PRUNINGS.values() for name, value in rule().get_params(deep=False).items()}
        values = rules | self.estimator().get_params(deep=False)
        return {name: values[name] for name in self.parameters}

    @property
    def hints(self) -> Mapping[str, str]:
        """Hints of the family, and the name of the misclassification limit of this algorithm."""
        limit = self.path_parameter
        return {**self.family.without, **({} if limit is None else {LIMIT: f" It is called {limit!r} here."})}

    def _clash(self, params: Mapping[str, Any]) -> str | None:
        """Return the error for native growth without a native family, or for a misplaced pruning parameter."""
        of_tree = self.estimator
        heuristic: type[Proposer] = of_tree.heuristic
        of_heuristic = {name: value for name, value in params.items() if name in heuristic.constraints}
        if params.get("engine") == "native" and heuristic(**of_heuristic).native_family() is None:
            return no_native(self.name)
        rule = params.get("pruning", of_tree.pruning)
        of_rule = PRUNINGS[rule].constraints.keys()
        if taken := sorted((of_tree.constraints.keys() - ObliqueTreeClassifier.constraints.keys()) & of_rule):
            return f"pruning {rule!r} has a parameter {taken[0]!r}, as {self.name} itself has; give it another name."
        strays = sorted(params.keys() - of_tree.constraints.keys() - of_rule)
        return f"{strays[0]} of {self.name} goes with another pruning rule. Got pruning {rule!r}." if strays else None

    def _estimator(self, random_state: Any, params: Mapping[str, Any]) -> Any:
        if clash := self._clash(params):
            raise ConfigError(clash)
        of_rule = {name: params[name] for name in params.keys() - self.estimator.constraints.keys()}
        of_tree = {name: value for name, value in params.items() if name not in of_rule}
        estimator = self.estimator(random_state=random_state, **of_tree)
        if of_rule:
            rule, tree = PRUNINGS[estimator.pruning], estimator.get_params(deep=False)
            shared = {name: tree[name] for name in rule.constraints if name in tree}
            estimator.set_params(pruning=rule(**of_rule, **shared))
        return estimator


def ready(
    family: ModelFamily,
    name: str,
    title: str,
    source: str,
    made_by: type[Any] | str,
    *,
    path: str | None = None,
    compiled: bool = False,
    unused: tuple[str, ...] = (),
    **fixed: Any,
) -> Algorithm:
    """Return an algorithm whose estimator needs parameters only. path, fixed : fields of `Algorithm`"""
    return Algorithm(name, title, source, family, path, compiled, made_by, fixed, unused)


_BARROS = "Barros et al. (2014); Wickramarachchi (2015), sections 6.2 to 6.4"
_THESIS_6 = "Wickramarachchi (2015), sections 6.3 and 6.5, algorithm 10"
_BOTTOM_UP = (
    ready(BOTTOM_UP, "hhbut", "HHBUT", _THESIS_6, ".oblique.bottom_up:HHBUTClassifier"),
    ready(BOTTOM_UP, "butif_svm", "BUTIF-SVM", _BARROS, ".oblique.bottom_up:BUTIFSVMClassifier", path="cost"),
)

MACHINE = ModelFamily("classifiers that are no tree")
_MANGASARIAN = "Mangasarian & Wild (2006); Manwani & Sastry (2012), section IV"
_LIBSVM = "Chang & Lin (2001), LIBSVM, in scikit-learn; Manwani & Sastry (2012), section IV"
_MACHINES = (
    ready(MACHINE, "gepsvm", "GEPSVM", _MANGASARIAN, ".machines:GEPSVMClassifier"),
    ready(MACHINE, "svm", "SVM", _LIBSVM, ".machines:SupportVectorClassifier"),
)

REFINED = ModelFamily("refined trees", makes_tree=True, hyperplanes=True)
_TAO = "Carreira-Perpinan & Tavallali (2018)"
_LANDWEHR = "Landwehr, Hall & Frank (2005)"
_LOGISTIC = ".oblique.logistic:LogisticTreeClassifier"
_OF_RIDGE = (
    *("leaf_penalty", "squares", "products", "hinges", "max_terms", "all_terms_price"),
    *("n_penalties", "surrogate", "max_sweeps"),
)
_PAPER: dict[str, Any] = {
    "base": "gain_ratio", "models": "logit_boost", "refine": "none", "criterion": "entropy", "min_parent": 14,
    "min_samples_leaf": 15, "max_depth": None, "log_loss_weight": 0.0, "doubling_price": 0.0,
}  # fmt: skip
_RIDGE: dict[str, Any] = {"unused": ("steps",), "models": "ridge"}
_REFINED = (
    ready(REFINED, "tao", "TAO", _TAO, ".oblique.refined:TAOClassifier", compiled=True),
    ready(REFINED, "lmt", "LMT", _LANDWEHR, _LOGISTIC, compiled=True, unused=_OF_RIDGE, **_PAPER),
    ready(REFINED, "logistic_tree", "Logistic tree", f"after {_LANDWEHR}", _LOGISTIC, compiled=True, **_RIDGE),
)

FOREST = ModelFamily("forests")
_forest = partial(ready, FOREST, compiled=True)
_MPSVM = ".forest.mpsvm:MPSVMForestClassifier"
_ZHANG = "Zhang & Suganthan (2014), sections II and III"
_ROTATION = ("group_size", "scaling")  # without effect unless features are rotated, as max_features if all are searched
_BAGGED = ".forest.bagged:BaggedForestClassifier"
_OF_TREES = "Breiman (1996), on Wickramarachchi (2015), section 5.1"
_FUTURE_WORK = "Wickramarachchi (2015), future work, on section 3.5"
_KATUWAL = "Katuwal, Suganthan & Zhang (2020)"
_HETEROGENEOUS = ".forest.heterogeneous:HeterogeneousForestClassifier"
_TAO_FOREST = "Carreira-Perpinan & Zharmagambetov (2020)"
_OF_LOGISTIC = f"Breiman (1996), on trees after {_LANDWEHR}"
BOOSTED = ModelFamily("boosted trees")
_BOOSTING = ".forest.boosting:ObliqueBoostingClassifier"
_FRIEDMAN = "Friedman (2001), on trees of any native heuristic"


def _mpsvm(
    base: str, title: str, unused: tuple[str, ...], axis: str = _ZHANG, oblique: str = _ZHANG
) -> list[Algorithm]:
    """Return one forest of axis-parallel splits, and three of MPSVM splits. axis, oblique : their sources"""
    along = _forest(base, title, axis, _MPSVM, unused=(*unused, "delta"), base=base, regularization="none")
    mpsvm = partial(_forest, source=oblique, made_by=_MPSVM, unused=unused, base=base)
    return [along] + [
        mpsvm(f"mp{base}_{letter}", f"MP{title}-{letter.upper()}", regularization=rule)
        for letter, rule in {"t": "tikhonov", "p": "axis", "n": "null"}.items()
    ]


_FORESTS = (
    *_mpsvm("raf", "RaF", _ROTATION),
    *_mpsvm("rof", "RoF", ("max_features",)),
    *_mpsvm("rrof", "RRoF", ()),
    *_mpsvm("drf", "DRF", _ROTATION, "Han, Kim & Lee (2020)", "Ganaie et al. (2022)"),
    _forest("hhcart_forest", "HHCART forest", _FUTURE_WORK, ".forest.hhcart:HHCARTForestClassifier"),
    _forest("hhgdt_forest", "HHGDT forest", _OF_TREES, _BAGGED, proposer="hhgdt"),
    _forest("bagged_forest", "bagged oblique forest", "Breiman (1996); Ho (1998)", _BAGGED),
    _forest("heterogeneous_forest", "heterogeneous oblique forest", _KATUWAL, _HETEROGENEOUS),
    _forest("tao_forest", "TAO forest", _TAO_FOREST, ".forest.refined:TAOForestClassifier"),
    _forest("logistic_forest", "logistic forest", _OF_LOGISTIC, ".forest.logistic_forest:LogisticForestClassifier"),
    ready(BOOSTED, "oblique_boosting", "oblique boosting", _FRIEDMAN, _BOOSTING, compiled=True),
)

_model_tree = partial(ready, ModelFamily("model trees", task="regression", makes_tree=True))
_AMALAMAN = "Amalaman (2015), chapter 2"
_TPRTI = ".regression.linear_leaves:TPRTIRegressor"
_LINEAR_TREE = ".regression.linear_tree:LinearTreeRegressor"
_LINEAR = "nodes that go on from their parents after Landwehr et al. (2005)"
_CONSTANT_LEAVES = ModelFamily("trees of constant leaves", task="regression")
_BREIMAN = "Breiman et al. (1984); scikit-learn"
_HYPERPLANES = ".regression.oblique_regressor:ObliqueTreeRegressor"
_CLASSES = "Wickramarachchi (2015), section 3.5, on classes of Loh (2002)"
_constant_tree = partial(_model_tree, made_by=_HYPERPLANES, leaves="constant")
_linear_tree = partial(_model_tree, made_by=_HYPERPLANES, leaves="linear")
_REGRESSION = (
    _model_tree("tprti_a", "TPRTI-A", f"{_AMALAMAN}, algorithms 1 and 2", _TPRTI, variant="A"),
    _model_tree("tprti_b", "TPRTI-B", f"{_AMALAMAN}, algorithms 1 and 3", _TPRTI, variant="B"),
    _model_tree("retis", "RETIS", f"Karalic (1992); {_AMALAMAN}", ".regression.linear_leaves:RETISRegressor"),
    _model_tree("m5_style", "M5-style", f"Quinlan (1992); {_AMALAMAN}", ".regression.linear_leaves:M5StyleRegressor"),
    _model_tree("pilot", "PILOT", "Raymaekers et al. (2024)", ".regression.pilot:PILOTRegressor", compiled=True),
    _model_tree("linear_tree", "linear model tree", _LINEAR, _LINEAR_TREE, compiled=True),
    # A constant lies within its targets, so truncation changes nothing; refinement does not keep monotonicity.
    _constant_tree("hhcart_regression", "HHCART regression", _CLASSES, unused=("truncate",), refine="none"),
    _linear_tree("hhcart_model_tree", "HHCART model tree", _CLASSES, refine="none"),
    _constant_tree("tao_regression", "TAO regression", _TAO, unused=("monotonic_cst", "truncate"), refine="tao"),
    _linear_tree("tao_model_tree", "TAO model tree", _TAO, unused=("monotonic_cst",), refine="tao"),
    ready(_CONSTANT_LEAVES, "cart_regression", "CART regression", _BREIMAN, ".regression.cart:CARTRegressor"),
)

_number_forest = partial(ready, ModelFamily("forests of numbers", task="regression"), compiled=True)
_BOOSTED_NUMBERS = ModelFamily("boosted trees of numbers", task="regression")
_FOREST = ".forest.regression:ObliqueForestRegressor"
_OF_NUMBERS = "Breiman (2001), on classes of Loh (2002) and leaves of Quinlan (1992)"
_TAO_NUMBERS = ".forest.refined_numbers:TAOForestRegressor"
_ZHARMAGAMBETOV = "Zharmagambetov & Carreira-Perpinan (2020), on trees grown by classes of Loh (2002)"
_STEPS = ".forest.boosting_regression:ObliqueBoostingRegressor"
_LOH = "Friedman (2001), on classes of Loh (2002)"
_NUMBERS = (
    _number_forest("oblique_forest_regression", "oblique regression forest", _OF_NUMBERS, _FOREST),
    _number_forest("tao_forest_regression", "TAO regression forest", _ZHARMAGAMBETOV, _TAO_NUMBERS),
    ready(_BOOSTED_NUMBERS, "oblique_boosting_regression", "oblique boosting of numbers", _LOH, _STEPS, compiled=True),
)

OTHER_REGRESSION = ModelFamily("regressors that are no tree", task="regression")


def _fault(algorithm: Any) -> str | None:
    """Return the fault of an algorithm as text that follows its name, or None."""
    if fault := fault_of_type(algorithm, Algorithm, "put @algorithm(...) over its class"):
        return fault
    if fault := fault_of_texts(algorithm, "name", "title", "source"):
        return fault
    if not isinstance(algorithm.family, ModelFamily):
        return f"has family {algorithm.family!r}, which must be a ModelFamily"
    if algorithm.family.task not in TASKS:
        return f"has task {algorithm.family.task!r}, which must be {' or '.join(map(repr, TASKS))}"
    if not isinstance(algorithm.compiled, bool):
        return f"has compiled {algorithm.compiled!r}, which must be True or False"
    if isinstance(algorithm.made_by, str):
        is_place = algorithm.made_by.count(":") == 1
        return None if is_place else f"has made_by {algorithm.made_by!r}, which must be 'module:class'"
    if not isinstance(algorithm.made_by, type):
        return f"has made_by {algorithm.made_by!r}, which must be a class"
    # Tests check the classes of this package: making all of them at every start would take too long.
    return None if algorithm.made_by.__module__.partition(".")[0] == ROOT else fault_of_estimator(algorithm)


def fault_of_estimator(algorithm: Algorithm) -> str | None:
    """Return the fault of an algorithm's class as text that follows its name, or None."""
    made_by = algorithm.estimator
    for method, arguments in (("fit", ("X", "y")), ("predict", ("X",)), ("get_params", ()), ("set_params", ())):
        if not callable(getattr(made_by, method, None)):
            base = "; derive it from sklearn.base.BaseEstimator" if method.endswith("_params") else ""
            return f"has no method {method}({', '.join(arguments)}){base}"
        if fault := misfit(getattr(made_by, method), "self", *arguments):
            return f"has a method {method} that {fault}"
    if not isinstance(getattr(made_by, "constraints", None), Mapping):
        return "has no constraints, a mapping of its parameters to what they may be"
    if not isinstance(getattr(made_by, "needs_pruning_rows", False), (bool, property)):
        return f"has needs_pruning_rows {made_by.needs_pruning_rows!r}, which must be True or False"
    try:
        parameters = made_by().get_params(deep=False)
    except Exception as error:
        return f"cannot be made without arguments; give every parameter a default ({error_text(error)})"
    for name, constraint in made_by.constraints.items():
        if name not in parameters:
            return f"has a constraint for {name!r}, which is no parameter of its constructor"
        if not isinstance(constraint, Constraint):
            return f"has a parameter {name!r} without a Constraint that says what its value may be"
        if message := violation(name, parameters[name], constraint, made_by.__name__):
            return f"has a default that its constraints forbid: {message.removesuffix('.')}"
    if algorithm.path_parameter is not None and algorithm.path_parameter not in algorithm.parameters:
        return f"has the path parameter {algorithm.path_parameter!r}, which is none of its parameters"
    if algorithm.path_parameter is not None and not hasattr(made_by, "predict_path"):
        return "has a path parameter and no method predict_path(X, values)"
    return None


def algorithm(
    name: str,
    *,
    title: str,
    source: str,
    task: str = "classification",
    family: ModelFamily | None = None,
    path_parameter: str | None = None,
    compiled: bool = False,
    unused: tuple[str, ...] = (),
    **fixed: Any,
) -> Callable[[C], C]:
    """Decorator that registers an estimator class as the algorithm `name`; ConfigError for an invalid class.

    title, source   method name in tables; where the algorithm is from
    task            "classification" or "regression"
    family          what kind of model it makes; without it one that is no tree
    path_parameter  the parameter of which one fit, at its smallest value, answers every value by `predict_path`
    compiled        whether fitting lets go of the interpreter lock, so that threads are of use
    unused, fixed   parameters that the name has no use for, and those that it decides

    The class follows scikit-learn's conventions (`fit`, `predict`, `get_params`), and has `constraints`: parameter ->
    what its value may be, for those that a configuration may set. With `needs_pruning_rows = True`, `fit` also gets
    `pruning_rows`, places of rows that are not for growth."""
    kind = family or (OTHER_REGRESSION if task == "regression" else MACHINE)

    def keep(made_by: C) -> C:
        if not isinstance(made_by, type):
            raise ConfigError(f"{source_of(made_by)}: algorithm {name!r} must be a class, and is {made_by!r}.")
        if task != kind.task:
            raise ConfigError(
                f"{source_of(made_by)}: algorithm {name!r} has task {task!r}, and its family is for {kind.task}."
            )
        made = Algorithm(name, title, source, kind, path_parameter, compiled, made_by, fixed, unused)
        ALGORITHMS.register(name)(made)
        return made_by

    return keep


class AlgorithmTable(Registry[Algorithm]):
    """Algorithms by name. Every registered heuristic is an algorithm, made on first use."""

    def find(self, name: str) -> Algorithm | None:
        with self._lock:
            if name not in self._things and (proposer := PROPOSERS.find(name)):
                self._things[name] = TopDown.of(name, proposer)
        return super().find(name)

    def _all(self) -> dict[str, Algorithm]:
        if self._doors and not self._opening:
            heuristics = {name: self[name] for name in PROPOSERS}
            self._things = heuristics | self._things
        return super()._all()


ALGORITHMS = AlgorithmTable("algorithm", "oblique list algorithms", _fault)
for _algorithm in (*_BOTTOM_UP, *_REFINED, *_FORESTS, *_REGRESSION, *_NUMBERS, *_MACHINES):
    ALGORITHMS.register(_algorithm.name)(_algorithm)
ALGORITHMS.former["tao_logistic"] = "logistic_tree"
ALGORITHMS.wait_for(extensions.ALGORITHMS)


def heuristic(name: str) -> Callable[[P], P]:
    """Decorator that registers a subclass of `Proposer`, which is then the algorithm `name`."""

    def keep(proposer: P) -> P:
        PROPOSERS.register(name)(proposer)
        take_up_proposers()
        return proposer

    return keep


def take_up_proposers() -> None:
    """Make algorithms of the heuristics registered since the last call."""
    for name in PROPOSERS:
        ALGORITHMS.find(name)


def is_outside(name: str) -> bool:
    """Return whether the name of an algorithm is a class of another library."""
    return "." in name and name not in ALGORITHMS


def task_of(name: str) -> str:
    """Return the task of an algorithm, or of a class of another library, by its name."""
    return ALGORITHMS[name].family.task if name in ALGORITHMS else task_of_class(name)


def make(name: str, random_state: Any = None, **params: Any) -> Any:
    """Return the unfitted estimator of an algorithm: ``make("hhgdt", epsilon=0.1)``."""
    return ALGORITHMS[name].make(random_state=random_state, **params)
