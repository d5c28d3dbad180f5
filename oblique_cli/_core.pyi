"""Types of the compiled core. The files of `core/bindings` hold the docstrings."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Singles = NDArray[np.float32]
Codes = NDArray[np.int32]
Numbers = NDArray[np.int64]

def grow(
    X: Doubles | Singles,
    y: Codes,
    weights: Doubles | None,
    n_classes: int,
    family: str,
    options: dict[str, Any],
    levels: Codes | None = None,
    n_threads: int = 1,
    stop: NDArray[np.uint8] | None = None,
    signs: Codes | None = None,
) -> dict[str, Any]: ...
def number_tree(
    X: Doubles, y: Doubles, family: str, options: dict[str, Any], min_leaf: int, max_depth: int, perfect: float
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
def propose(
    X: Doubles,
    y: Codes,
    weights: Doubles | None,
    n_classes: int,
    family: str,
    options: dict[str, Any],
    path: int = 1,
) -> list[tuple[Any, ...]]: ...
def polish(
    X: Doubles,
    y: Codes,
    weights: Doubles | None,
    n_classes: int,
    options: dict[str, Any],
    normal: Doubles,
    threshold: float,
    gain: float,
    path: int = 1,
) -> tuple[Doubles, float, float]: ...
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
    without: list[str] = ...,
    signs: Codes | None = None,
    low: float = ...,
    high: float = ...,
) -> tuple[Doubles, float, float, int] | None: ...
def tactics() -> list[str]: ...
def axis_tactics() -> list[str]: ...
def criteria() -> list[str]: ...
def give_criterion(
    name: str, values: Callable[[Doubles, Doubles], Doubles], gain: Callable[[float, Doubles], float] | None
) -> None: ...
def impurity(of_class: Doubles, criterion: str) -> float: ...
def places_along(x: Doubles, w: Doubles, c: float, scale: float, shift: float, plainly: bool) -> Doubles: ...
def count_places(places: Codes, sizes: Codes, bin_of: Codes, plainly: bool) -> Doubles: ...
def pick_rows(places: Codes, sizes: Codes, wanted: Codes, plainly: bool) -> tuple[Doubles, Doubles]: ...
def least_above(places: Codes, place: int, x: Doubles, w: Doubles, c: float) -> float: ...
def count_below(z: Doubles, values: Doubles) -> Doubles: ...
def bin_bounds(counts: Doubles, criterion: str) -> Doubles: ...
def cut_value(left: Doubles, totals: Doubles, criterion: str) -> tuple[float, float]: ...
def clustering_hyperplane(A: Doubles, B: Doubles, center: Doubles, scale: Doubles) -> tuple[Doubles, str]: ...
def principal_axes(covariance: Doubles, tolerance: float, sign: float, dominant_only: bool) -> Doubles: ...
def eigen(matrices: Doubles, dominant_only: bool = False) -> tuple[Doubles, Doubles]: ...
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
def softmax_fit(
    X: Doubles, y: Codes, weights: Doubles, intercept: Doubles, penalty: float, tolerance: float = 1e-10
) -> Doubles: ...
def node_models(
    X: Doubles,
    y: Codes,
    weights: Doubles,
    n_classes: int,
    leaf: Codes,
    parent: Codes,
    penalty: float | None = None,
    steps: int = 0,
    tolerance: float = 1e-5,
    start: Doubles | None = None,
) -> Doubles: ...
def node_losses(
    X: Doubles, y: Codes, weights: Doubles, n_classes: int, leaf: Codes, parent: Codes, models: Doubles
) -> tuple[Doubles, Doubles]: ...
def boosting_errors(
    X: Doubles,
    y: Codes,
    weights: Doubles,
    test_X: Doubles,
    test_y: Codes,
    test_weights: Doubles,
    n_classes: int,
    most: int = 200,
    patience: int = 50,
) -> Doubles: ...

class ReducedProblems:
    def __init__(self) -> None: ...

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
    leaf_prior: Doubles | None = None,
    leaf_x: Doubles | None = None,
    leaf_penalty: float = 1.0,
    models: Doubles | None = None,
    max_terms: int = 0,
    feature_of: Codes | None = None,
    numbers: Doubles | None = None,
    problems: ReducedProblems | None = None,
) -> dict[str, Any]: ...
def plain_rows(lines: bytes, delimiter: str, decimal: str, kinds: str) -> list[Any] | None: ...
def prefix_rss(rows: Doubles, cuts: NDArray[np.int64], zero: float, targets: int = 1) -> Doubles: ...
def cuts_along(
    X: Doubles,
    directions: Doubles,
    thresholds: Doubles | None,
    rows: Doubles,
    unit: float,
    least: int,
    zero: float,
    targets: int = 1,
) -> tuple[Doubles, Doubles]: ...
def pilot_models(
    X: Doubles, y: Doubles, orders: NDArray[np.int64], least: int, distinct: int, zero: float
) -> tuple[Doubles, Doubles]: ...
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
    def apply(
        self, X: Doubles | Singles, n_threads: int = 1, block_rows: int = 0, only_finite: bool = False
    ) -> Codes | None: ...
    def apply_limits(self, X: Doubles, rate: Doubles, limits: Doubles) -> Codes: ...
    def leaves_of_limits(self, rate: Doubles, limits: Doubles) -> NDArray[np.int64]: ...
    def weakest_links(self, errors: Doubles, tie: float) -> Doubles: ...
    def sequence_errors(
        self, node_alpha: Doubles, labels: Codes, alphas: Doubles, X: Doubles, y: Codes, weights: Doubles | None
    ) -> Doubles: ...

class Forest:
    def __init__(self, n_features: int, n_classes: int, seed: int, first_number: int = 0) -> None: ...
    def grow(
        self,
        X: Doubles,
        y: Codes,
        weights: Doubles | None,
        options: dict[str, Any],
        n_trees: int,
        n_threads: int,
        families: list[tuple[str, dict[str, Any]]] = [],
        without: list[str] = [],
        signs: Codes | None = None,
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
        start: Doubles | None = None,
    ) -> dict[str, Any]: ...
    def grow_numbers(
        self,
        X: Doubles,
        y: Doubles,
        weights: Doubles | None,
        options: dict[str, Any],
        n_trees: int,
        n_threads: int,
        families: list[tuple[str, dict[str, Any]]],
        max_bins: int,
        min_leaf: float,
    ) -> None: ...
    def boost_numbers(
        self,
        X: Doubles,
        y: Doubles,
        weights: Doubles | None,
        kept_X: Doubles,
        kept_y: Doubles,
        kept_weights: Doubles | None,
        options: dict[str, Any],
        families: list[tuple[str, dict[str, Any]]],
        boosting: dict[str, Any],
        squared: bool,
        quantile: float,
        linear: bool = False,
    ) -> dict[str, Any]: ...
    def model_sums(self, X: Doubles, models: Doubles, n_threads: int) -> Doubles: ...
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
    @property
    def seed(self) -> int: ...
    @property
    def first_number(self) -> int: ...
    @property
    def finished(self) -> int: ...
    def __len__(self) -> int: ...

def rows_of_slots(
    columns: Doubles, codes: Codes, weights: Doubles | None, places: Codes, of_place: Codes, n_slots: int
) -> tuple[Codes, Doubles, Codes, Doubles | None]: ...

class Block:
    def __init__(
        self,
        columns: Doubles,
        codes: Codes,
        slots: Codes,
        weights: Doubles | None,
        n_slots: int,
        n_classes: int,
        levels: Codes | None = None,
        scores: Doubles | None = None,
        room: Doubles | None = None,
    ) -> None: ...
    @property
    def n_rows(self) -> int: ...
    def add_boxes(
        self, rows: Numbers, weight: Doubles, heaviest: Doubles, low: Doubles, high: Doubles, tables: Doubles
    ) -> None: ...
    def add_moments(self, center: Doubles, inverse: Doubles, unit: Doubles, high: Numbers, low: Numbers) -> None: ...
    def raise_squares(self, mean: Doubles, inverse: Doubles, factor: Doubles, largest: Doubles) -> None: ...
    def add_unit_moments(
        self,
        mean: Doubles,
        inverse: Doubles,
        factor: Doubles,
        least: Doubles,
        unit: Doubles,
        high: Numbers,
        low: Numbers,
    ) -> None: ...
    def add_left(self, normals: Doubles, thresholds: Doubles, left: Doubles) -> None: ...
    def add_histograms(
        self,
        first_space: Numbers,
        u: Doubles,
        place: Numbers,
        low: Doubles,
        scale: Doubles,
        n_bins: int,
        counts: NDArray[np.uint32] | None,
        weighted: Doubles | None,
        least: Doubles,
        largest: Doubles,
    ) -> None: ...
    def look(
        self,
        first_space: Numbers,
        u: Doubles,
        place: Numbers,
        low: Doubles,
        scale: Doubles,
        n_bins: int,
        direction: Numbers,
        bin: Codes,
        after: Codes,
        from_: Doubles,
        to: Doubles,
        origin: Doubles,
        step: Doubles,
        first_part: Numbers,
        counts: NDArray[np.uint32] | None,
        weighted: Doubles | None,
        part_low: Doubles,
        part_high: Doubles,
        smallest: Doubles,
    ) -> tuple[Codes, Codes, Doubles, Doubles]: ...
    def route(
        self,
        normals: Doubles,
        thresholds: Doubles,
        left_slot: Codes,
        right_slot: Codes,
        next: Codes,
        below: Doubles,
        above: Doubles,
    ) -> None: ...

class LevelGrower:
    def __init__(
        self,
        n_features: int,
        n_classes: int,
        n_scores: int,
        min_parent: float,
        epsilon: float,
        max_depth: int,
    ) -> None: ...
    def begin(self, rows: NDArray[np.int64], weight: Doubles) -> None: ...
    def resume(self, arrays: dict[str, Any], open: NDArray[np.int64]) -> None: ...
    @property
    def open(self) -> NDArray[np.int64]: ...
    def work(
        self, rows: NDArray[np.int64], weight: Doubles, in_memory: int, at_once: int
    ) -> tuple[list[Codes], Codes]: ...
    def graft(self, slot: int, below: dict[str, Any]) -> None: ...
    def divide(
        self,
        slots: Codes,
        splits: list[tuple[Doubles, float, float, bool]],
        scores: Doubles,
        below: Doubles,
        above: Doubles,
        rows: NDArray[np.int64],
        weight: Doubles,
    ) -> None: ...
    def arrays(self) -> dict[str, Any]: ...
    def finish(self) -> dict[str, Any]: ...

class BlockNode:
    def __init__(
        self,
        family: str,
        options: dict[str, Any],
        rows: Numbers,
        weight: Doubles,
        heaviest: Doubles,
        low: Doubles,
        high: Doubles,
        tables: Doubles,
        levels: Codes | None,
        weighted: bool,
    ) -> None: ...
    @property
    def wants(self) -> str: ...
    @property
    def scores(self) -> Doubles: ...
    def request(self) -> dict[str, Any]: ...
    def take(self, answer: dict[str, Any]) -> None: ...
    def directions(self) -> tuple[Doubles, Numbers, Doubles, Doubles] | None: ...
    def begin(
        self,
        counts: NDArray[np.uint32] | None,
        weighted: Doubles | None,
        least: Doubles,
        largest: Doubles,
        low: Doubles,
        scale: Doubles,
        n_bins: int,
    ) -> None: ...
    def wanted(
        self, bytes: float, of_row: float, of_part: float, few_rows: float
    ) -> tuple[Numbers, Codes, Codes, Doubles, Doubles, Doubles, Doubles, Numbers]: ...
    def take_cells(
        self,
        entry: Codes,
        code: Codes,
        z: Doubles,
        weight: Doubles,
        counts: NDArray[np.uint32] | None,
        weighted: Doubles | None,
        low: Doubles,
        high: Doubles,
        smallest: Doubles,
    ) -> None: ...
    def split(self) -> tuple[Doubles, float, float, bool] | None: ...
    def class_moments(self, k: int) -> tuple[Doubles, Doubles] | None: ...

def from_sums() -> list[str]: ...
def copied_whole_up_to(bytes: int | None = None) -> int: ...
def exact_sums_above(rows: int | None = None) -> int: ...

class Game:
    def __init__(
        self,
        left: Codes,
        right: Codes,
        thresholds: Doubles,
        split_start: NDArray[np.int64],
        split_feature: Codes,
        leaf_start: NDArray[np.int64],
        leaf_feature: Codes,
        intercepts: Doubles,
        product_start: NDArray[np.int64],
        product_feature: Codes,
        product_coef: Doubles,
        sum_start: NDArray[np.int64],
        term_coef: Doubles,
        term_source: Codes,
        term_lane: Codes,
        slot_feature: Codes,
        missing_left: Codes,
        n_features: int,
    ) -> None: ...
    def shapley(
        self,
        splits: Doubles,
        leaves: Doubles,
        slots: Doubles,
        factors: Doubles,
        background_splits: Doubles,
        background_leaves: Doubles,
        background_slots: Doubles,
        background_factors: Doubles,
        interactions: bool = False,
        limit: int = ...,
        n_threads: int = 1,
    ) -> Doubles: ...
    def values(self, splits: Doubles, leaves: Doubles, slots: Doubles, factors: Doubles) -> Doubles: ...
