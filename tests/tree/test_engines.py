"""The native engine grows the tree of the reference: heuristics, criteria, options, limits, kinds of rows."""

import numpy as np
import pytest
from contracts import (
    CRITERION_NAMES,
    NATIVE_NAMES,
    QUICK,
    REAL_SETS,
    STOCHASTIC,
    assert_same_tree,
    engines_agree,
    grow,
    real_set,
)
from covering import few
from monotone_support import classes
from tree_support import MIXED, MIXED_NAMES, mixed_set, small_mixed_set, small_set

from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.tree.splitting import PROPOSERS, Finish
from oblique_cli.tree.stopping import Stopping

OPTIONS = [
    ("hhcart_a", {"sign": "positive"}),
    ("hhcart_a", {"tau": 0.3}),
    ("hhcart_d", {"sign": "positive", "tau": 0.0}),
    ("hhcart_a", {"eigenvalue_tolerance": 0.05}),
    ("hhcart_a", {"reflections": "both"}),
    ("hhcart_d", {"reflections": "both"}),
    ("hhcrv", {"reflections": "both"}),
    ("hhcart_g", {"reflections": "both", "sign": "positive", "tau": 0.3}),
    ("hhcart_a", {"shrinkage": True}),
    ("hhcart_d", {"shrinkage": True}),
    ("hhcart_d", {"shrinkage": True, "reflections": "both"}),
    ("hhgdt", {"sign": "positive", "tau": 0.1}),
    ("hhgdt", {"bisector_classes": "all"}),
    ("gdt", {"bisector_classes": "all"}),
    *(("quest", {"split_point": at, "splits": on}) for at in ("lda", "search") for on in ("linear", "univariate")),
    ("cline", {"classes": "largest"}),
    ("cline", {"rule": "nearest_pair", "normal": "pair"}),
    ("oc1", {"restarts": 3, "search": "exact"}),
    ("oc1", {"restarts": 3, "order": "best"}),
    ("oc1", {"restarts": 2, "order": "r50"}),
    ("oc1", {"restarts": 3, "stagnation": 0.0}),
    ("oc1", {"restarts": 3, "standardization": "none"}),
    ("oc1", {"restarts": 3, "jumps": 0}),
    ("oc1", {"restarts": 1}),
    ("oc1_lc", {"backward_elimination": True}),
    ("oc1_lc", {"sweep_tol": 0.0}),
    ("oc1_lc", {"standardization": "none"}),
    ("oc1_lc", {"standardization": "range", "rows_per_feature": 0.0}),
    *(("oc1", {"restarts": 2, "variant": "oc1_v3", "order": order}) for order in ("sequential", "best", "r50")),
    *((name, {"variant": "oc1_v3"}) for name in ("oc1_lc", "oc1_ap")),
    ("union", {"proposers": [name for name in NATIVE_NAMES if name != "union"]}),
    ("union", {"proposers": [name for name in NATIVE_NAMES if name != "union"][::-1]}),
]
FINISHES = [
    Finish(polish=True),
    Finish(split_cost=0.05),
    Finish(polish=True, split_cost=0.1),
    *(Finish(max_terms=most) for most in (1, 2, 3)),
    Finish(polish=True, max_terms=2),
    Finish(split_cost=0.1, max_terms=2),
]
FINISHED = ["hhgdt", "fdt", "gdt", "axis_parallel", "union", "cline", "hhcart_a", "hhcart_d", "quest"]


@few(name=NATIVE_NAMES, criterion=CRITERION_NAMES, set_name=REAL_SETS)
def test_on_real_sets(name, criterion, set_name):
    data = real_set(set_name)
    engines_agree(name, data.X, data.y, criterion=criterion)


@pytest.mark.parametrize("seed", range(15))  # each kind of a small set with each criterion
@pytest.mark.parametrize("name", NATIVE_NAMES)
def test_on_small_sets_with_ties_and_weights(name, seed):
    X, y, n_classes, weights = small_set(seed)
    engines_agree(name, X, y, n_classes, weights=weights, criterion=CRITERION_NAMES[seed % len(CRITERION_NAMES)])


@few(1, name=MIXED_NAMES, criterion=["gini", "twoing"], set_name=list(MIXED))
def test_on_sets_with_qualitative_features(name, criterion, set_name):
    data, levels = mixed_set(set_name)
    assert engines_agree(name, data.X, data.y, criterion=criterion, levels=levels).levels == tuple(levels)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", MIXED_NAMES)
def test_where_cells_hold_no_level(name, seed):
    X, y, n_classes, levels = small_mixed_set(seed)
    engines_agree(name, X, y, n_classes, levels=levels)


@pytest.mark.sample(14)
@pytest.mark.parametrize(("number", "name", "options"), [(i, *case) for i, case in enumerate(OPTIONS)])
def test_with_options(number, name, options):
    exact = {"coef": 1e-12, "threshold": 1e-9} if name.startswith("oc1") else {}
    for i, set_name in enumerate((("bupa", "iris", "glass")[number % 3], "iris", "tae")):
        data, levels = mixed_set(set_name) if set_name == "tae" else (real_set(set_name), None)
        if levels and (name not in MIXED_NAMES or name == "union"):
            continue
        weights = np.random.default_rng(1).integers(1, 4, data.n).astype(float) if i == 1 else None
        criterion = CRITERION_NAMES[(number + i) % len(CRITERION_NAMES)]
        how = {"weights": weights, "criterion": criterion, "levels": levels, "seed": 5}
        engines_agree(name, data.X, data.y, proposer=options, **how, **exact)


@pytest.mark.parametrize("criterion", CRITERION_NAMES)
def test_gdt_splits_by_its_bisector_where_the_super_classes_gain_nothing(criterion):
    data = real_set("glass")
    tree = engines_agree("gdt", data.X, data.y, proposer={"bisector_classes": "super"}, criterion=criterion)
    assert tree.n_leaves > 1


@pytest.mark.parametrize("ties", ["tolerant", "strict"])
@pytest.mark.parametrize("name", NATIVE_NAMES)
def test_for_both_tie_rules(name, ties):
    data = real_set("iris")
    how = {"ties": ties, "min_leaf": 3.0, "stopping": Stopping(5, 0.02, 4)}
    # Strict ties compare bits, so they may depend on the order in which sums were taken: only axes are exact.
    if ties == "tolerant" or name == "axis_parallel":
        engines_agree(name, data.X, data.y, **how)
    else:
        gains = [grow(name, data.X, data.y, engine=engine, **how).gains[0] for engine in ("native", "reference")]
        assert gains[0] == pytest.approx(gains[1], rel=1e-9)


@few(finish=FINISHES, name=FINISHED, set_name=["bupa", "wine", "balance_scale"])
def test_of_finished_splits(name, finish, set_name):
    data = real_set(set_name)
    weights = np.random.default_rng(2).integers(1, 4, data.n).astype(float) if set_name == "wine" else None
    how = {"weights": weights, "finish": finish, "stopping": Stopping(max_depth=3), "seed": 7, "threshold": 1e-5}
    tree = engines_agree(name, data.X, data.y, **how)
    assert np.count_nonzero(tree.coef_, axis=1).max() <= (finish.max_terms or data.p)


def fits_agree(name, X, y, weights=None, **options):
    """Whether both engines fit the same tree of an estimator."""
    native, reference = (
        ObliqueTreeClassifier(PROPOSERS[name](**QUICK.get(name, {})), random_state=2, engine=engine, **options)
        for engine in ("native", "reference")
    )
    assert_same_tree(native.fit(X, y, weights).tree_, reference.fit(X, y, weights).tree_, coef=1e-7, threshold=1e-6)


@pytest.mark.filterwarnings("ignore:monotonic_cst of")  # random rows contradict the order
@pytest.mark.parametrize("name", NATIVE_NAMES)
def test_with_an_order_of_the_answers(name):
    X, y = classes(np.random.default_rng(5), 90, 3)
    weights = np.random.default_rng(6).integers(1, 4, 90)
    fits_agree(name, X, y, weights, monotonic_cst=(1, 0, -1))


@pytest.mark.parametrize("pruning", ["cv", "cost_complexity"])
@pytest.mark.parametrize("name", sorted(STOCHASTIC & set(NATIVE_NAMES)))
def test_of_heuristics_that_draw_if_they_are_pruned(name, pruning):
    fits_agree(name, real_set("bupa").X, real_set("bupa").y, pruning=pruning, pruning_folds=3)
