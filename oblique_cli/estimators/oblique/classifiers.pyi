# Written by `python -m tools.stubs`.
from collections.abc import Mapping
from typing import Any

from oblique_cli.estimators.oblique.heuristics import HeuristicTreeClassifier
from oblique_cli.tree.pruning import PruningRule

# A heuristic that is added later has a class too.
def __getattr__(name: str) -> Any: ...
def __dir__() -> list[str]: ...

class AxisParallelClassifier(HeuristicTreeClassifier):
    def __init__(
        self,
        *,
        criterion: str = "twoing",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        random_state: Any = None,
    ) -> None: ...

class ClineClassifier(HeuristicTreeClassifier):
    rule: str
    normal: str
    def __init__(
        self,
        *,
        rule: str = "best",
        normal: str = "discriminant",
        criterion: str = "gini",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        random_state: Any = None,
    ) -> None: ...

class FDTClassifier(HeuristicTreeClassifier):
    def __init__(
        self,
        *,
        criterion: str = "gini",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        random_state: Any = None,
    ) -> None: ...

class GDTClassifier(HeuristicTreeClassifier):
    epsilon: float
    bisector_classes: str
    def __init__(
        self,
        *,
        epsilon: float = 0.05,
        bisector_classes: str = "all",
        criterion: str = "gini",
        min_parent: float = 2,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        random_state: Any = None,
    ) -> None: ...

class HHCARTClassifier(HeuristicTreeClassifier):
    tau: float
    sign: str
    eigenvalue_tolerance: float
    reflections: str
    shrinkage: bool
    def __init__(
        self,
        *,
        tau: float = 0.05,
        sign: str = "negative",
        eigenvalue_tolerance: float = 1e-10,
        reflections: str = "one",
        shrinkage: bool = False,
        criterion: str = "twoing",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        random_state: Any = None,
    ) -> None: ...

class HHCARTDClassifier(HeuristicTreeClassifier):
    tau: float
    sign: str
    eigenvalue_tolerance: float
    reflections: str
    shrinkage: bool
    def __init__(
        self,
        *,
        tau: float = 0.05,
        sign: str = "negative",
        eigenvalue_tolerance: float = 1e-10,
        reflections: str = "one",
        shrinkage: bool = False,
        criterion: str = "twoing",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        random_state: Any = None,
    ) -> None: ...

class HHCRVClassifier(HeuristicTreeClassifier):
    tau: float
    sign: str
    reflections: str
    def __init__(
        self,
        *,
        tau: float = 0.0,
        sign: str = "negative",
        reflections: str = "one",
        criterion: str = "twoing",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        random_state: Any = None,
    ) -> None: ...

class HHGDTClassifier(HeuristicTreeClassifier):
    epsilon: float
    tau: float
    sign: str
    bisector_classes: str
    def __init__(
        self,
        *,
        epsilon: float = 0.05,
        tau: float = 0.0,
        sign: str = "negative",
        bisector_classes: str = "all",
        criterion: str = "gini",
        min_parent: float = 2,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        random_state: Any = None,
    ) -> None: ...

class OC1APClassifier(HeuristicTreeClassifier):
    def __init__(
        self,
        *,
        criterion: str = "twoing",
        min_parent: float = 1,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        random_state: Any = None,
    ) -> None: ...

class OC1Classifier(HeuristicTreeClassifier):
    restarts: int
    jumps: int
    order: str
    stagnation: float
    standardization: str
    search: str
    def __init__(
        self,
        *,
        restarts: int = 20,
        jumps: int = 5,
        order: str = "sequential",
        stagnation: float = 1.0,
        standardization: str = "range",
        search: str = "faithful",
        criterion: str = "twoing",
        min_parent: float = 1,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        random_state: Any = None,
    ) -> None: ...

class OC1LCClassifier(HeuristicTreeClassifier):
    sweep_tol: float
    backward_elimination: bool
    standardization: str
    rows_per_feature: float
    def __init__(
        self,
        *,
        sweep_tol: float = 0.001,
        backward_elimination: bool = False,
        standardization: str = "deviation",
        rows_per_feature: float = 2.0,
        criterion: str = "twoing",
        min_parent: float = 1,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        random_state: Any = None,
    ) -> None: ...

class QUESTClassifier(HeuristicTreeClassifier):
    split_point: str
    eigenvalue_tolerance: float
    def __init__(
        self,
        *,
        split_point: str = "qda",
        eigenvalue_tolerance: float = 1e-10,
        criterion: str = "gini",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        random_state: Any = None,
    ) -> None: ...

class SADTClassifier(HeuristicTreeClassifier):
    temperature: float
    cooling: float
    patience: int
    def __init__(
        self,
        *,
        temperature: float = 0.01,
        cooling: float = 0.995,
        patience: int = 1000,
        criterion: str = "gini",
        min_parent: float = 2,
        max_misrate: float = 0.0,
        misrate_of: str = "node",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: str | Mapping[Any, float] | None = None,
        ties: str = "tolerant",
        pruning: str | PruningRule = "none",
        pruning_fraction: float = 0.1,
        pruning_folds: int = 10,
        standard_errors: float = 0.0,
        ccp_alpha: float = 0.0,
        qualitative: Any = "auto",
        missing: str = "error",
        max_levels: int = 1000,
        engine: str = "auto",
        random_state: Any = None,
    ) -> None: ...
