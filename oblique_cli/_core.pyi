"""Types of the compiled core. The files of `core/bindings` hold the docstrings."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Singles = NDArray[np.float32]
Codes = NDArray[np.int32]
Numbers = NDArray[np.int64]

def grow(
    X: Doubles,
    y: Codes,
    weights: Doubles | None,
    n_classes: int,
    family: str,
    options: dict[str, Any],
    levels: Codes | None = None,
) -> dict[str, Any]: ...
def split(
    X: Doubles,
    y: Codes,
    weights: Doubles | None,
    n_classes: int,
    family: str,
    options: dict[str, Any],
    path: int = 1,
) -> tuple[Doubles, float, float, bool] | None: ...
def families() -> dict[str, dict[str, str]]: ...
def line_search(
    v: Doubles,
    c: Doubles,
    y: Codes,
    weights: Doubles | None,
    n_classes: int,
    criterion: str,
    exact: bool,
    strict_ties: bool,
    direct: bool,
) -> tuple[float, float] | None: ...
def search(
    X: Doubles,
    y: Codes,
    weights: Doubles | None,
    n_classes: int,
    criterion: str,
    candidates: list[tuple[Any, ...]],
    min_leaf: float,
    strict_ties: bool,
    exhaustive: bool,
) -> tuple[Doubles, float, float, int] | None: ...
def bin_bounds(counts: Doubles, criterion: str) -> Doubles: ...
def cut_value(left: Doubles, totals: Doubles, criterion: str) -> tuple[float, float]: ...
def clustering_hyperplane(A: Doubles, B: Doubles, center: Doubles, scale: Doubles) -> tuple[Doubles, str]: ...
def principal_axes(covariance: Doubles, tolerance: float, sign: float, dominant_only: bool) -> Doubles: ...
def crimcoord(table: Doubles) -> Doubles: ...
def project(X: Doubles, w: Doubles) -> Doubles: ...
def linear_fit(
    X: Doubles,
    side: Doubles,
    weights: Doubles | None = None,
    loss: str = "logistic",
    l1: float = 0.0,
    l2: float = 0.0,
    intercept: bool = True,
    box: float = 1e3,
    tolerance: float = 1e-9,
    max_steps: int = 200,
    start: Doubles | None = None,
) -> tuple[Doubles, float, float, int, bool]: ...
def refine(
    X: Doubles,
    absent: NDArray[np.bool_] | None,
    y: Codes,
    weights: Doubles,
    n_classes: int,
    left: Codes,
    right: Codes,
    w: Doubles,
    b: Doubles,
    missing_left: NDArray[np.bool_],
    labels: Codes,
    penalty: float,
    surrogate: str = "logistic",
    max_sweeps: int = 40,
    tolerance: float = 1e-6,
    split_leaves: bool = False,
    n_threads: int = 1,
) -> dict[str, Any]: ...
def prefix_rss(rows: Doubles, cuts: NDArray[np.int64], zero: float) -> Doubles: ...
def region_split(
    U: Doubles, y: Codes, n_classes: int, cells: int, alpha: float, theta: float
) -> tuple[int, int, int, int, float] | None: ...
def regions(
    U: Doubles,
    y: Codes,
    n_classes: int,
    x: int,
    y_axis: int,
    pivot: int,
    other: int,
    cells: int,
    alpha: float,
    theta: float,
) -> tuple[Doubles, Codes, Doubles, Doubles, Codes]: ...
def inside_regions(
    points: Doubles, owner: Codes, centers: Doubles, cluster: Codes, rows: Doubles
) -> NDArray[np.uint8]: ...
def avalanche(
    distances: Doubles | Singles, n: int, trace: bool = False
) -> tuple[tuple[Numbers, Doubles], Numbers, Doubles]: ...
def staxac(
    distances: Doubles | Singles, y: Codes, n_classes: int, edges: Codes | None = None, renew: bool = False
) -> tuple[tuple[Numbers, Doubles], int]: ...
def gabriel_edges(distances: Doubles | Singles, n: int) -> Codes: ...
def neighbor_joining(square: Doubles) -> tuple[tuple[Numbers, Doubles], Doubles]: ...
def climb_representatives(
    square: Doubles, y: Codes, n_classes: int, weight: float, start: Codes
) -> tuple[Codes, float]: ...

class Walker:
    def __init__(
        self,
        left: Codes,
        right: Codes,
        weights: Doubles,
        thresholds: Doubles,
        levels: Codes | None = None,
        level_scores: Doubles | None = None,
        missing_left: NDArray[np.bool_] | None = None,
    ) -> None: ...
    def apply(self, X: Doubles) -> Codes: ...
    def apply_limits(self, X: Doubles, rate: Doubles, limits: Doubles) -> Codes: ...
    def leaves_of_limits(self, rate: Doubles, limits: Doubles) -> NDArray[np.int64]: ...
    def weakest_links(self, errors: Doubles, tie: float) -> Doubles: ...
    def sequence_errors(
        self, node_alpha: Doubles, labels: Codes, alphas: Doubles, X: Doubles, y: Codes, weights: Doubles | None
    ) -> Doubles: ...

class Forest:
    def __init__(self, n_features: int, n_classes: int, seed: int) -> None: ...
    def grow(
        self,
        X: Doubles,
        y: Codes,
        weights: Doubles | None,
        options: dict[str, Any],
        n_trees: int,
        n_threads: int,
        families: list[tuple[str, dict[str, Any]]] = [],
    ) -> None: ...
    def boost(
        self,
        X: Doubles,
        y: Codes,
        weights: Doubles | None,
        kept_X: Doubles,
        kept_y: Codes,
        kept_weights: Doubles | None,
        options: dict[str, Any],
        families: list[tuple[str, dict[str, Any]]],
        boosting: dict[str, Any],
    ) -> dict[str, Any]: ...
    def draws(self, n: int, more: int, bootstrap: bool, max_samples: int) -> NDArray[np.uint32]: ...
    def sums(self, X: Doubles, values: Doubles, n_threads: int) -> Doubles: ...
    def votes(self, X: Doubles, shares: bool, n_threads: int) -> Doubles: ...
    def out_of_bag_votes(
        self, X: Doubles, shares: bool, n_threads: int, bootstrap: bool = True, max_samples: int = 0
    ) -> Doubles: ...
    def apply(self, X: Doubles, n_threads: int) -> Codes: ...
    def importances(self) -> Doubles: ...
    def n_nodes(self) -> NDArray[np.int64]: ...
    def depths(self) -> NDArray[np.int64]: ...
    def n_oblique(self) -> NDArray[np.int64]: ...
    def state(self) -> list[dict[str, Any]]: ...
    def restore(self, trees: list[dict[str, Any]]) -> None: ...
    def __len__(self) -> int: ...
