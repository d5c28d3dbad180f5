"""The scikit-learn face: its contract, its parameters, its paths over epsilon, its ways of pruning."""

import math

import numpy as np
import pytest
from contracts import (
    ALGORITHM_NAMES,
    DRAWING_PRUNINGS,
    KEEPING_PRUNINGS,
    PROPOSER_NAMES,
    PRUNING_NAMES,
    QUICK,
    STOCHASTIC,
    grow,
    real_set,
)
from covering import few
from node_support import RandomStarts
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier

from oblique_cli.errors import ConfigError, UnknownName
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.estimators.oblique.training import shuffled_folds
from oblique_cli.proposers.hhcart import HHCART
from oblique_cli.proposers.union import UnionProposer
from oblique_cli.tree import pruning
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Proposer
from oblique_cli.tree.stopping import Stopping

EPSILONS = np.round(np.arange(0.05, 0.405, 0.01), 2)  # the grid of thesis 5.2: 36 values


def labeled(name):
    data = real_set(name)
    return data.X, np.array(data.classes)[data.y]


def quick(name, **options):
    """The estimator of an algorithm, with a short search where it searches at random."""
    return make(name, random_state=0, **QUICK.get(name, {}), **options)


class OwnProposer(Proposer):
    """A heuristic of a user, without native growth: one random direction."""

    def propose(self, node):
        h = node.rng().normal(size=node.X.shape[1])
        yield Candidates.directions((h / np.linalg.norm(h))[None])


def test_a_users_proposer_and_a_union_that_the_core_does_not_grow_are_grown_node_by_node():
    X, y = labeled("iris")
    a, b, c = (ObliqueTreeClassifier(OwnProposer(), random_state=seed).fit(X, y) for seed in (1, 1, 2))
    assert a.tree_.to_dict() == b.tree_.to_dict() != c.tree_.to_dict()
    assert a.score(X, y) > 0.9
    with pytest.raises(ConfigError, match=r"OwnProposer has no native growth; set engine to 'auto' or 'reference'\."):
        ObliqueTreeClassifier(OwnProposer(), engine="native").fit(X, y)
    data = real_set("iris")
    X = data.X.astype(np.float32)
    single, double = (
        ObliqueTreeClassifier(UnionProposer(("fdt", "sadt")), max_depth=2, random_state=0).fit(rows, data.y)
        for rows in (X, X.astype(np.float64))
    )
    assert single.tree_.to_dict() == double.tree_.to_dict()


@pytest.mark.parametrize("name", ALGORITHM_NAMES)
def test_predictions_are_the_majority_labels_and_shares_of_the_leaves(name):
    X, y = labeled("wine")
    model = make(name, random_state=0, max_depth=2, probabilities="counts").fit(X, y)
    leaves = model.apply(X)
    assert model.classes_.tolist() == sorted(set(y))
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        shares = np.array([(y[rows] == label).mean() for label in model.classes_])
        np.testing.assert_allclose(model.predict_proba(X[rows]), np.tile(shares, (rows.sum(), 1)), rtol=1e-12)
        assert (model.predict(X[rows]) == model.classes_[np.argmax(shares)]).all()
    assert (model.n_leaves_, model.n_nodes_, model.depth_) == (
        model.tree_.n_leaves,
        model.tree_.n_nodes,
        model.tree_.depth,
    )


def test_the_tree_is_that_of_grow_top_down():
    data = real_set("bupa")
    for name in sorted(set(PROPOSER_NAMES) - STOCHASTIC):
        model = ObliqueTreeClassifier(name, criterion="gini", max_misrate=0.1, probabilities="counts")
        model.fit(data.X, data.y)
        tree = grow(name, data.X, data.y, criterion="gini", stopping=Stopping(epsilon=0.1))
        assert model.tree_.to_dict() == tree.to_dict()


@pytest.mark.parametrize("name", ["axis_parallel", "hhcart_d"])
@pytest.mark.parametrize("pruning_name", PRUNING_NAMES)
def test_one_class_one_row_and_one_column_are_fitted(name, pruning_name):
    rng = np.random.default_rng(2)
    for X, y in (
        (rng.normal(size=(12, 2)), ["a"] * 12),
        (np.array([[1.0, 2.0]]), ["a"]),
        (rng.normal(size=(2, 2)), ["a", "b"]),
        (rng.normal(size=(30, 1)), np.arange(30) % 2),
        (np.ones((9, 2)), np.arange(9) % 3),
    ):
        model = quick(name, pruning=pruning_name).fit(X, y)
        assert set(model.predict(X)) <= set(y)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


FORESTS = ("raf", "mpraf_t", "bagged_forest", "hhgdt_forest", "heterogeneous_forest", "oblique_forest_regression")
NUMBERS = ("cart_regression", "linear_tree", "pilot", "hhcart_regression", "tao_model_tree")


@pytest.mark.parametrize("name", [*FORESTS, *NUMBERS])
def test_forests_and_regression_trees_take_a_share_too(name):
    X, y = (part[::2] for part in (real_set("iris").X, real_set("iris").y))
    y = X[:, 0] * X[:, 1] if ALGORITHMS[name].family.task == "regression" else y
    further = {"n_estimators": 3} if name in FORESTS else {}
    fits = [make(name, random_state=0, min_samples_leaf=least, **further).fit(X, y) for least in (0.11, 9)]
    assert np.array_equal(*(fit.predict(X) for fit in fits)) and fits[0].n_leaves_ == fits[1].n_leaves_
    for bad in (0.0, 1.5, -3):
        with pytest.raises(ValueError, match="min_samples_leaf"):
            make(name, min_samples_leaf=bad).fit(X, y)


@pytest.mark.parametrize("name", ["axis_parallel", "hhcart_a", "hhgdt", "oc1", "c45"])
@pytest.mark.parametrize("share", [0.1, 0.07, 0.21])
def test_a_least_leaf_below_one_is_a_share_of_the_rows_as_in_scikit_learn(name, share):
    X, y = load_iris(return_X_y=True)
    rows = math.ceil(share * len(X))
    by_share, by_count = (make(name, min_samples_leaf=least, random_state=0).fit(X, y) for least in (share, rows))
    leaves = by_share.apply(X)
    assert np.array_equal(leaves, by_count.apply(X)) and np.unique(leaves, return_counts=True)[1].min() >= rows
    theirs = DecisionTreeClassifier(min_samples_leaf=share, random_state=0).fit(X, y)
    assert np.unique(theirs.apply(X), return_counts=True)[1].min() >= rows


def test_weights_that_cannot_be_used_are_refused():
    X, y = np.eye(3), [0, 1, 1]
    with pytest.raises(ConfigError, match=r"sample_weight must not be negative\. Got -1; remove such rows\."):
        make("hhcart_a").fit(X, y, [1.0, -1.0, 1.0])
    # scikit-learn itself refuses this from some version on.
    with pytest.raises(ValueError, match=r"sample_weight must have a positive entry|at least one non-zero"):
        make("hhcart_a").fit(X, y, [0.0, 0.0, 0.0])
    for weights in ([1.0, np.nan, 1.0], [1.0, 1.0], [1.0, np.inf, 1.0]):
        with pytest.raises(ValueError):
            make("hhcart_a").fit(X, y, weights)


def test_parameters_have_constraints_and_a_proposer_that_is_none_is_refused():
    model = ObliqueTreeClassifier()
    free = {"proposer", "qualitative", "random_state"}
    assert set(model.get_params(deep=False)) - set(model.constraints) == free
    for parameter, constraint in model.constraints.items():
        assert constraint.holds(getattr(model, parameter)), parameter
    with pytest.raises(UnknownName, match=r"unknown proposer 'hhcarts'\. Did you mean 'hhcart_"):
        ObliqueTreeClassifier("hhcarts").fit(np.eye(2), [0, 1])
    for proposer in (3, None, HHCART):
        with pytest.raises(ConfigError, match="proposer of ObliqueTreeClassifier must be a registered name or a Prop"):
            ObliqueTreeClassifier(proposer).fit(np.eye(2), [0, 1])


LIMITS = [0.0, 0.05, 0.1, 0.25, 0.4]


def paths():
    """Proposer, data set, options of the tree, and how rows come: weighted, or with gaps."""
    yield from ((name, "statlog_heart", {}, "weighted") for name in ALGORITHM_NAMES)
    yield from ((name, "bupa", {"misrate_of": "parent"}, "") for name in ("gdt", "hhgdt"))
    yield from ((name, "iris", {"engine": "reference"}, "") for name in ALGORITHM_NAMES[::3])
    for proposer in (OwnProposer(), RandomStarts()):
        yield from ((proposer, name, {"misrate_of": of}, "") for name in ("bupa", "glass") for of in ("node", "parent"))
        yield proposer, "bupa", {"missing": "learn"}, "gaps"


@pytest.mark.parametrize(("proposer", "data_name", "options", "rows"), list(paths()))
def test_a_path_over_the_limit_is_that_of_direct_fits(proposer, data_name, options, rows):
    X, y = labeled(data_name)
    rng = np.random.default_rng(4)
    weights = rng.integers(1, 4, len(y)).astype(float) if rows == "weighted" else None
    if rows == "gaps":
        X = np.where(rng.random(X.shape) < 0.05, np.nan, X)
    if isinstance(proposer, str):
        proposer = PROPOSERS[proposer](**QUICK.get(proposer, {}))
    whole, direct = (ObliqueTreeClassifier(proposer, random_state=3, **options) for _ in range(2))
    whole.fit(X, y, weights)
    labels, leaves = whole.predict_path(X, LIMITS), whole.n_leaves_path(LIMITS)
    for column, limit in enumerate(LIMITS):
        direct.set_params(max_misrate=limit).fit(X, y, weights)
        np.testing.assert_array_equal(labels[:, column], direct.predict(X), err_msg=f"max_misrate {limit}")
        assert leaves[column] == direct.n_leaves_


def leaves_by_hand(X, y, limit, weight_of_parent=None):
    """Leaves of a GDT tree whose nodes are leaves where their errors are few among their parent's rows."""
    errors = len(y) - np.unique(y, return_counts=True)[1].max()
    if weight_of_parent is not None and errors / weight_of_parent <= limit:
        return 1
    split = make("gdt", epsilon=0.0, max_depth=1).fit(X, y).tree_
    if split.n_nodes == 1:
        return 1
    goes_left = split.apply(X) == 1
    return sum(leaves_by_hand(X[side], y[side], limit, len(y)) for side in (goes_left, ~goes_left))


@pytest.mark.parametrize("data_name", ["bupa", "statlog_heart"])
def test_errors_may_be_a_share_of_the_parents_rows(data_name):
    X, y = labeled(data_name)
    sizes = []
    for limit in (0.0, 0.05, 0.12, 0.2):
        model = make("gdt", epsilon=limit, misrate_of="parent").fit(X, y)
        assert model.n_leaves_ == leaves_by_hand(X, y, limit)
        sizes.append(model.n_leaves_)
    assert sizes[0] == make("gdt", epsilon=0.0).fit(X, y).n_leaves_ > sizes[1] > sizes[-1] > 1
    # The root is split whatever it gets wrong, and pruning goes on from the tree that was cut.
    assert make("gdt", epsilon=0.99, misrate_of="parent").fit(X, y).n_leaves_ == 2
    pruned = make("gdt", epsilon=0.05, misrate_of="parent", pruning="pessimistic").fit(X, y)
    assert pruned.n_leaves_ <= sizes[1]


def test_a_path_has_the_order_of_its_values_and_needs_an_unpruned_fit_at_the_smallest():
    X, y = labeled("bupa")
    model = make("gdt", epsilon=0.05).fit(X, y)
    order = np.random.default_rng(5).permutation(36)
    np.testing.assert_array_equal(model.predict_path(X, EPSILONS[order]), model.predict_path(X, EPSILONS)[:, order])
    np.testing.assert_array_equal(model.n_leaves_path(EPSILONS[order]), model.n_leaves_path(EPSILONS)[order])
    np.testing.assert_array_equal(model.n_leaves_path([0.3, 0.1, 0.3]), model.n_leaves_path([0.3, 0.1])[[0, 1, 0]])
    with pytest.raises(NotFittedError):
        make("gdt").predict_path(X, [0.1])
    with pytest.raises(ConfigError, match=r"the tree was grown with max_misrate 0\.1 and knows no smaller value\. Got"):
        make("gdt", epsilon=0.1).fit(X, y).n_leaves_path([0.2, 0.05])
    with pytest.raises(ConfigError, match=r"a path over max_misrate needs pruning 'none'\. Got 'pessimistic'\."):
        make("gdt", pruning="pessimistic").fit(X, y).predict_path(X, [0.2])


@pytest.mark.parametrize("values", [[], [np.nan, 0.1], [[0.1, 0.2]], 0.1, ["a"]])
def test_values_that_are_no_list_of_numbers_are_refused_as_a_path(values):
    X, y = labeled("iris")
    model = make("gdt").fit(X, y)
    for call in (lambda: model.predict_path(X, values), lambda: model.n_leaves_path(values)):
        with pytest.raises(ValueError):
            call()


def grown_and_pruned(name, pruning_name, seed=0, **options):
    X, y = labeled("bupa")
    return make(name, pruning=pruning_name, random_state=seed, **options).fit(X, y)


@few(1, name=["axis_parallel", "hhcart_a", "hhgdt"], pruning_name=[name for name in PRUNING_NAMES if name != "none"])
def test_pruned_trees_are_smaller_and_the_same_for_a_seed(name, pruning_name):
    options = {"ccp_alpha": 0.01} if pruning_name == "ccp_alpha" else {}
    a, b = (grown_and_pruned(name, pruning_name, **options) for _ in range(2))
    assert a.tree_.to_dict() == b.tree_.to_dict()
    assert a.n_leaves_ < make(name, random_state=0).fit(*labeled("bupa")).n_leaves_


@pytest.mark.parametrize("pruning_name", DRAWING_PRUNINGS)
def test_another_seed_draws_other_rows(pruning_name):
    dicts = [grown_and_pruned("hhcart_d", pruning_name, seed).tree_.to_dict() for seed in range(6)]
    assert any(other != dicts[0] for other in dicts[1:])


@pytest.mark.parametrize("pruning_name", KEEPING_PRUNINGS)
@pytest.mark.parametrize("fraction", [0.1, 0.33, 0.9])
def test_pruning_rows_are_a_tenth_or_what_is_asked_and_kept_from_growth(pruning_name, fraction):
    X, y = labeled("bupa")
    model = make("hhcart_d", pruning=pruning_name, pruning_fraction=fraction, random_state=0).fit(X, y)
    assert model.needs_pruning_rows
    assert model.tree_.n_rows[0] == len(y) - round(fraction * len(y))
    assert make("hhcart_d").needs_pruning_rows is False


@pytest.mark.parametrize("name", ["axis_parallel", "hhcart_a", "gdt"])
@pytest.mark.parametrize("pruning_name", KEEPING_PRUNINGS)
def test_given_pruning_rows_choose_the_subtree_and_nothing_else(name, pruning_name):
    data = real_set("bupa")
    rng = np.random.default_rng(6)
    retained = rng.choice(data.n, 60, replace=False)
    rest = np.setdiff1d(np.arange(data.n), retained)
    grown = make(name, random_state=0).fit(data.X[rest], data.y[rest]).tree_
    sizes = set()
    for _ in range(6):
        labels = data.y.copy()
        labels[retained] = rng.permutation(labels[retained])  # the grown tree must not notice
        model = make(name, pruning=pruning_name, random_state=int(rng.integers(99)))
        pruned = model.fit(data.X, labels, pruning_rows=retained).tree_
        rule = pruning.PRUNINGS[pruning_name]()
        chosen = rule.prune(grown, pruning.LabeledRows(data.X[retained], labels[retained], None))
        assert pruned.to_dict() == chosen.to_dict()
        sizes.add(pruned.n_leaves)
    assert len(sizes) > 1


def test_pruning_rows_are_heeded_with_weights_dropped_at_weight_zero_and_refused_if_nothing_is_left():
    data = real_set("bupa")
    rng = np.random.default_rng(7)
    weights = rng.integers(0, 3, data.n).astype(float)
    retained = rng.choice(data.n, 80, replace=False)
    rest = np.setdiff1d(np.flatnonzero(weights > 0), retained)
    kept_used = retained[weights[retained] > 0]
    model = make("hhcart_d", pruning="cost_complexity").fit(data.X, data.y, weights, pruning_rows=retained)
    grown = make("hhcart_d").fit(data.X[rest], data.y[rest], weights[rest]).tree_
    held_out = pruning.LabeledRows(data.X[kept_used], data.y[kept_used], weights[kept_used])
    chosen = pruning.CostComplexity().prune(grown, held_out)
    assert model.tree_.to_dict() == chosen.to_dict()
    X, y = labeled("iris")
    with pytest.raises(ConfigError, match=r"pruning_rows must leave rows to grow the tree on\. They cover all rows\."):
        make("hhcart_a", pruning="cost_complexity").fit(X, y, pruning_rows=np.arange(len(y)))
    for rows in ([len(y)], [-1], [0.5], [[0, 1]], ["a"]):
        with pytest.raises(ConfigError, match="pruning_rows"):
            make("hhcart_a", pruning="cost_complexity").fit(X, y, pruning_rows=rows)


@pytest.mark.parametrize("data_name", ["bupa", "wine", "glass", "iris"])
def test_pruning_by_cross_validation_is_that_of_breiman_by_hand(data_name):
    # Breiman et al. (1984), section 3.4.2, on the folds that the seed draws. The sequence starts at T(0).
    data = real_set(data_name)
    model = make("axis_parallel", pruning="cv", pruning_folds=5, random_state=11).fit(data.X, data.y)
    rng = np.random.default_rng(np.random.RandomState(11).randint(2**31))
    folds = KFold(5, shuffle=True, random_state=int(rng.integers(2**31)))
    tree = make("axis_parallel").fit(data.X, data.y).tree_
    alphas = np.unique(np.maximum(pruning.cost_complexity_path(tree).alphas, 0.0))
    cuts = [*np.sqrt(alphas[:-1] * alphas[1:]), np.inf]
    errors = np.zeros(len(cuts))
    for rows, held_out in folds.split(data.X):
        part = grow("axis_parallel", data.X[rows], data.y[rows], len(data.classes), criterion="twoing")
        for k, cut in enumerate(cuts):
            small = pruning.fixed_alpha(part, cut)
            errors[k] += (small.labels[small.apply(data.X[held_out])] != data.y[held_out]).sum()
    best = int(np.flatnonzero(errors == errors.min())[-1])
    assert model.tree_.to_dict() == pruning.fixed_alpha(tree, alphas[best]).to_dict()


def test_repeated_cross_validation_adds_errors_of_further_divisions_and_chooses_by_their_mean():
    data = real_set("bupa")
    seen = []

    class Spy(pruning.CrossValidatedComplexity):
        def prune(self, tree, rows):
            def grow(folds):
                for part, left_out in rows.grow(folds):
                    seen.append((len(part.labels), left_out.X[:, 0].sum()))
                    yield part, left_out

            return super().prune(tree, pruning.CrossValidation(rows.rows, grow))

    once = ObliqueTreeClassifier("hhgdt", pruning=Spy(pruning_folds=5), random_state=3).fit(data.X, data.y)
    first, seen[:] = list(seen), []
    thrice = ObliqueTreeClassifier("hhgdt", pruning=Spy(pruning_folds=5, pruning_repeats=3), random_state=3).fit(
        data.X, data.y
    )
    assert len(seen) == 15 and seen[:5] == first and len(set(seen)) == 15
    by_name = ObliqueTreeClassifier("hhgdt", pruning="cv", pruning_folds=5, random_state=3)
    flat = clone(by_name).set_params(pruning_repeats=3).fit(data.X, data.y)
    assert flat.tree_.to_dict() == thrice.tree_.to_dict()
    single = by_name.fit(data.X, data.y)
    assert single.tree_.to_dict() == once.tree_.to_dict()
    tree = grown = make("axis_parallel").fit(*(real_set("bupa").X, real_set("bupa").y)).tree_
    path = pruning.cost_complexity_path(grown)
    rows = pruning.LabeledRows(real_set("bupa").X, real_set("bupa").y.astype(np.int32), None)
    halves = [np.arange(0, len(rows.X), 2), np.arange(1, len(rows.X), 2)]
    calls = iter([halves[0], halves[1], halves[1]])

    def grow(folds):  # a division whose only fold has other rows each time
        at = next(calls)
        yield tree, pruning.LabeledRows(rows.X[at], rows.codes[at], None)

    alphas = np.maximum(path.alphas, 0.0)
    cuts = np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.inf)
    by_half = [pruning.sequence_errors(tree, path, cuts, rows.X[at], rows.codes[at]) for at in halves]
    mean = (by_half[0] + 2 * by_half[1]) / 3
    k = pruning.smallest_within(mean, float(len(rows.X)), 1.0)
    rule = pruning.CrossValidatedComplexity(pruning_folds=2, pruning_repeats=3, standard_errors=1.0)
    result = rule.prune(tree, pruning.CrossValidation(rows, grow))
    assert result.n_leaves == path.n_leaves[k]


def test_pruning_by_cross_validation_of_a_split_that_saves_no_error_is_quiet():
    X, y = np.repeat([[0.0], [1.0]], 10, axis=0), [0] * 8 + [1] * 2 + [0] * 6 + [1] * 4
    assert make("axis_parallel").fit(X, y).n_leaves_ == 2
    assert make("axis_parallel", pruning="cv", random_state=0).fit(X, y).n_leaves_ == 1


@pytest.mark.parametrize(("n", "folds"), [(2, 2), (10, 3), (11, 11), (150, 10)])
def test_folds_of_pruning_are_those_of_scikit_learn(n, folds):
    local = list(shuffled_folds(n, folds, seed=7))
    others = KFold(folds, shuffle=True, random_state=7).split(np.zeros((n, 1)))
    for mine, theirs in zip(local, others, strict=True):
        assert [rows.tolist() for rows in mine] == [rows.tolist() for rows in theirs]


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize(("limit", "least"), [(2, 2), (30, 30), (0.1, 15), (1.0, 150)])
def test_min_samples_split_is_the_least_weight_of_a_split_node(engine, limit, least):
    X, y = labeled("iris")
    for weights in (None, np.full(len(y), 0.25)):
        tree = make("axis_parallel", min_samples_split=limit, engine=engine).fit(X, y, weights).tree_
        assert tree.n_node_samples[~tree.is_leaf].min() >= least
    same = make("axis_parallel", min_parent=least - 1, engine=engine).fit(X, y).tree_
    assert tree.to_dict() == same.to_dict()


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("misrate_of", ["node", "parent"])
def test_min_impurity_decrease_cuts_what_takes_less_off_the_impurity(criterion, misrate_of):
    X, y = labeled("glass")
    whole, cut = (
        make("hhcart_d", criterion=criterion, misrate_of=misrate_of, min_impurity_decrease=value).fit(X, y).tree_
        for value in (None, 0.02)
    )
    parts = []
    for tree in (whole, cut):
        inner, w = ~tree.is_leaf, tree.weighted_n_node_samples / len(y)
        children = sum(w[side[inner]] * tree.impurity[side[inner]] for side in (tree.left, tree.right))
        parts.append((w * tree.impurity)[inner] - children)
    assert parts[0].min() < 0.02 <= parts[1].min() and 1 < cut.n_leaves < whole.n_leaves


@pytest.mark.parametrize("name", ["axis_parallel", "hhcart_a"])
def test_an_exclusive_or_is_split_without_a_gain_where_that_is_requested(name):
    noise, *pair = np.indices((4, 6, 6)).reshape(3, -1)
    X, y = np.column_stack([noise, *pair]).astype(float), (pair[0] < 3) ^ (pair[1] < 3)
    never = make(name, criterion="gini", max_terms=1).fit(X, y)
    split = make(name, criterion="gini", max_terms=1, min_impurity_decrease=0.0).fit(X, y)
    assert never.n_leaves_ == 1 and split.score(X, y) == 1.0 and split.n_leaves_ == 4
    gone = np.where(np.arange(len(X))[:, None] % 7 == [0, 1, 2], np.nan, X)
    assert make(name, max_terms=1, min_impurity_decrease=0.0, missing="learn").fit(gone, y).score(gone, y) > 0.7


def test_max_features_are_drawn_at_every_node_from_its_stream():
    X, y = labeled("glass")
    few_ = make("axis_parallel", max_features=2, random_state=3)
    tree = few_.fit(X, y).tree_
    assert few_.max_features_ == 2 and tree.to_dict() == few_.fit(X, y).tree_.to_dict()
    assert tree.to_dict() != clone(few_).set_params(random_state=4).fit(X, y).tree_.to_dict()
    top = clone(few_).set_params(max_depth=2).fit(X, y).tree_
    assert tree.collapse(tree.depths == 2).to_dict() == top.to_dict()
    everything = make("axis_parallel", max_features=1.0).fit(X, y)
    assert everything.max_features_ == X.shape[1] and make("axis_parallel").fit(X, y).max_features_ == X.shape[1]
    assert everything.tree_.to_dict() == make("axis_parallel").fit(X, y).tree_.to_dict()
    planes = make("hhcart_a", max_features=3, random_state=0).fit(X, y).tree_
    assert np.count_nonzero(planes.coef_, axis=1).max() <= 3
    with pytest.raises(ConfigError, match=r"^engine 'native' .*max_features 2"):
        make("axis_parallel", max_features=2, engine="native").fit(X, y)
