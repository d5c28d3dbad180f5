"""Qualitative features: the scores of levels, trees that hold them, data frames and configurations that use them."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
from click.testing import CliRunner
from contracts import QUICK, assert_same_tree, grow
from covering import few
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracles import gains
from runner_support import toy
from sklearn.base import clone
from tree_support import MIXED, MIXED_NAMES, mixed_set, tree_of

import oblique_cli._core as _core
from oblique_cli import config
from oblique_cli.cli.tree import tree as tree_command
from oblique_cli.data import catalogue
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.estimators.encoding import encoded_levels, encoded_names, fold_encoder, prepared
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier
from oblique_cli.experiments.fits import Case, run_job
from oblique_cli.experiments.jobs import expand
from oblique_cli.ground.geometry import crimcoord, dummy_scatter, level_codes, level_table
from oblique_cli.ground.nouns import DatasetSpec
from oblique_cli.schemes import SCHEMES
from oblique_cli.tree import pruning
from oblique_cli.tree.describe import condition, export_text
from oblique_cli.tree.splitting import PROPOSERS
from oblique_cli.tree.structure import Tree

BOTH = pytest.mark.parametrize("scores", [crimcoord, lambda table: np.asarray(_core.crimcoord(table))], ids=["py", "c"])


def direct(table):
    """Leading quotient and eigenvector of (B, T) by scipy, from dummy vectors (thesis eq. 3.7.1 to 3.7.2c)."""
    cells = [(level, code) for level, code in np.argwhere(table > 0) for _ in range(int(table[level, code]))]
    V = np.array([np.eye(len(table))[level] for level, _ in cells])
    y = np.array([code for _, code in cells])
    B, W, mean = np.zeros((len(table),) * 2), np.zeros((len(table),) * 2), V.mean(axis=0)
    for code in np.unique(y):
        local = V[y == code]
        B += len(local) * np.outer(local.mean(axis=0) - mean, local.mean(axis=0) - mean)
        W += sum(np.outer(v - local.mean(axis=0), v - local.mean(axis=0)) for v in local)
    present = np.flatnonzero(table.sum(axis=1))
    basis = np.zeros((len(table), len(present) - 1))
    basis[present] = scipy.linalg.null_space(np.ones((1, len(present))))  # the range of T
    quotients, vectors = scipy.linalg.eigh(basis.T @ B @ basis, basis.T @ (B + W) @ basis)
    return quotients, basis @ vectors, B, W


# The scores


@BOTH
@settings(max_examples=40, deadline=None)
@given(table=hnp.arrays(float, st.tuples(st.integers(2, 7), st.integers(2, 5)), elements=st.integers(0, 9).map(float)))
def test_scores_solve_the_generalized_eigenproblem_of_dummy_vectors(scores, table):
    present = table.sum(axis=1) > 0
    a = scores(table)
    assert (a[~present] == 0).all()
    if present.sum() < 2:
        assert (a == 0).all()
        return
    quotients, vectors, B, W = direct(table)
    np.testing.assert_allclose([np.linalg.norm(a), a.sum()], [1.0, 0.0], atol=1e-9)
    assert a[np.flatnonzero(np.abs(a) > 1e-9)[0]] > 0
    np.testing.assert_allclose(a @ B @ a / (a @ (B + W) @ a), quotients[-1], atol=1e-9)
    np.testing.assert_allclose(np.linalg.pinv(B + W) @ B @ a, quotients[-1] * a, atol=1e-8)
    if len(quotients) == 1 or quotients[-1] - quotients[-2] > 1e-6:
        v = vectors[:, -1] / np.linalg.norm(vectors[:, -1])
        np.testing.assert_allclose(a, v * np.sign(v @ a), atol=1e-7)


@settings(max_examples=50, deadline=None)
@given(
    table=hnp.arrays(float, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.integers(0, 3).map(float)),
    scale=st.sampled_from([1.0, 0.1, 1e-3, 1e6]),
)
def test_the_compiled_scores_are_the_readable_ones_whatever_the_unit_of_weight(table, scale):
    # Small counts: levels that are pure, alike or absent, hence repeated eigenvalues.
    if table.sum() > 0:
        np.testing.assert_allclose(np.asarray(_core.crimcoord(table * scale)), crimcoord(table), atol=1e-8)
        np.testing.assert_allclose(crimcoord(table * scale), crimcoord(table), atol=1e-8)


@BOTH
def test_levels_that_do_not_differ_in_their_classes_stand_apart_from_the_first(scores):
    expected = np.array([0.0, 2.0, -1.0, -1.0]) / np.sqrt(6.0)
    for of_class in ([1.0, 3.0], [2.0], [0.3, 0.1, 0.7]):
        table = np.outer([0.0, 1.0, 2.0, 5.0], of_class)
        np.testing.assert_allclose(scores(table), expected, atol=1e-9)


@BOTH
def test_pure_levels_repeat_the_eigenvalue_and_get_the_same_scores_in_any_order_of_classes(scores):
    table = np.array([[4.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 9.0], [3.0, 0.0, 0.0]])
    a = scores(table)
    for order in itertools.permutations(range(3)):
        np.testing.assert_allclose(scores(np.ascontiguousarray(table[:, order])), a, atol=1e-9)
    # All functions of the class with mean 0: the one nearest to e_1 has the pure levels 2 and 3 alike.
    assert a[0] == pytest.approx(a[3], abs=1e-9) and a[1] == pytest.approx(a[2], abs=1e-9)


def test_tables_of_blocks_give_the_scores_and_the_scatter_of_all_rows():
    data, levels = mixed_set("car")
    blocks = np.array_split(np.random.default_rng(0).permutation(data.n), 7)
    for j, count in enumerate(levels):
        codes = level_codes(data.X[:, j], count)
        whole = level_table(codes, data.y, None, count, len(data.classes))
        tables = [level_table(codes[b], data.y[b], None, count, len(data.classes)) for b in blocks]
        np.testing.assert_array_equal(sum(tables), whole)
        np.testing.assert_array_equal(crimcoord(sum(tables)), crimcoord(whole))
        # Thesis eq. 4.1.3b and 4.1.4a, from means and scatters of blocks.
        n, means = whole.sum(axis=0), whole / whole.sum(axis=0)
        mean = whole.sum(axis=1) / whole.sum()
        W, B = np.zeros((count, count)), np.zeros((count, count))
        for c in range(len(data.classes)):
            for table in tables:
                n_m = table[:, c].sum()
                mean_m = table[:, c] / n_m
                W += np.diag(table[:, c]) - n_m * np.outer(mean_m, mean_m)
                W += n_m * np.outer(means[:, c] - mean_m, means[:, c] - mean_m)
            B += n[c] * np.outer(means[:, c] - mean, means[:, c] - mean)
        np.testing.assert_allclose(dummy_scatter(whole), (B, W), atol=1e-9)


def test_whatever_is_no_level_has_code_minus_one_and_no_weight():
    cells = np.array([0.0, 2.0, 3.0, -1.0, 0.5, np.nan, np.inf, -np.inf, -0.0])
    codes = level_codes(cells, 3)
    assert codes.tolist() == [0, 2, -1, -1, -1, -1, -1, -1, 0]
    table = level_table(codes, np.array([0, 1, 0, 0, 0, 0, 0, 0, 1], dtype=np.int32), np.arange(1.0, 10.0), 3, 2)
    assert table.tolist() == [[1, 9], [0, 0], [0, 2]]


# Trees


def seen(tree, node, X):
    """Rows as the hyperplane of a node sees them."""
    Z = X.copy()
    for j, columns in tree.level_columns.items():
        codes = level_codes(X[:, j], tree.levels[j])
        Z[:, j] = np.where(codes >= 0, tree.level_scores[node, columns][codes], 0.0)
    return Z


def rows_at(tree, X):
    rows = [np.arange(len(X))] + [np.arange(0)] * (tree.n_nodes - 1)
    for node in np.flatnonzero(~tree.is_leaf):
        left = np.asarray(_core.project(seen(tree, node, X[rows[node]]), tree.coef_[node])) <= tree.thresholds[node]
        rows[tree.left[node]], rows[tree.right[node]] = rows[node][left], rows[node][~left]
    return rows


@few(1, name=MIXED_NAMES, set_name=list(MIXED))
def test_a_node_stores_the_scores_of_its_own_training_rows(name, set_name):
    data, levels = mixed_set(set_name)
    tree = grow(name, data.X, data.y, levels=levels)
    for node, rows in enumerate(rows_at(tree, data.X)):
        assert len(rows) == tree.n_rows[node]  # prediction follows growth to the row
        for j, columns in tree.level_columns.items():
            codes = level_codes(data.X[rows, j], levels[j])
            table = level_table(codes, data.y[rows], None, levels[j], len(data.classes))
            expected = np.zeros(levels[j]) if tree.is_leaf[node] else crimcoord(table)
            np.testing.assert_allclose(tree.level_scores[node, columns], expected, atol=1e-7)
            assert not tree.level_scores[node, columns][table.sum(axis=1) == 0].any()


@pytest.mark.parametrize("name", MIXED_NAMES[::3])
def test_prediction_gives_a_level_its_score_at_each_node_and_an_unknown_one_zero(name):
    data, levels = mixed_set("australian_credit")
    half = np.arange(data.n) % 2 == 0
    tree = grow(name, data.X[half], data.y[half], levels=levels)
    X = data.X.copy()
    X[1::3, 5] = 1000.0
    X[::3, 4] = np.nan
    X[2::3, 7] = -3.0
    rows = rows_at(tree, X)
    stop = tree.apply(X)
    for leaf in np.flatnonzero(tree.is_leaf):
        np.testing.assert_array_equal(np.flatnonzero(stop == leaf), rows[leaf])
    limits = np.array([0.0, 0.1, 0.3])
    for limit, result in zip(limits, tree.apply_limits(X, limits, tree.misclassification_rates).T, strict=True):
        cut = tree.collapse(tree.misclassification_rates <= limit)
        np.testing.assert_array_equal(tree.labels[result], cut.labels[cut.apply(X)])
    path = pruning.cost_complexity_path(tree)
    wrong = pruning.sequence_errors(tree, path, path.alphas, X, data.y)
    for k in range(len(path.alphas)):
        member = path.member(tree, k)
        assert wrong[k] == (member.labels[member.apply(X)] != data.y).sum()


def test_one_qualitative_feature_is_split_as_well_as_any_subset_of_its_levels_splits_it():
    # With two classes the best subset is a cut of the levels ordered by their share of a class (Breiman et al. 1984).
    for seed in range(20):
        rng = np.random.default_rng([5, seed])
        X, y = rng.integers(0, 6, (60, 1)).astype(float), rng.integers(0, 2, 60)
        table = level_table(level_codes(X[:, 0], 6), y.astype(np.int32), None, 6, 2)
        subsets = np.array([table[list(s)].sum(axis=0) for k in (1, 2, 3) for s in itertools.combinations(range(6), k)])
        tree = grow("axis_parallel", X, y, levels=[6], criterion="gini")
        assert tree.gains[0] == pytest.approx(gains(subsets, table.sum(axis=0), "gini").max(), rel=1e-12)


@pytest.mark.parametrize("name", ["axis_parallel", "hhcart_a", "hhcart_d", "hhcrv"])
def test_levels_no_feature_of_which_tells_the_classes_alone_are_still_split(name):
    X = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0)] * 5)
    y = (X[:, 0] != X[:, 1]).astype(int)
    X = np.vstack([X, [[0.0, 0.0]]])
    tree = grow(name, X, np.append(y, 1), levels=[2, 2])
    assert (tree.labels[tree.apply(X)] == np.append(y, 1)).sum() == 20


@few(1, name=MIXED_NAMES, engine=["native", "reference"])
def test_weight_two_is_a_doubled_row_and_scaled_weights_change_nothing(name, engine):
    data, levels = mixed_set("tae")
    weights = 1.0 + (np.arange(data.n) % 3 == 0)
    doubled = np.repeat(np.arange(data.n), weights.astype(int))
    options = {"levels": levels, "engine": engine}
    a = grow(name, data.X, data.y, weights=weights, **options)
    b = grow(name, data.X[doubled], data.y[doubled], **options)
    c = grow(name, data.X, data.y, weights=0.37 * weights, **options)
    np.testing.assert_array_equal(a.left, b.left)
    np.testing.assert_array_equal(a.counts, b.counts)
    for tree in (b, c):
        np.testing.assert_allclose(tree.level_scores, a.level_scores, atol=1e-8)
        np.testing.assert_allclose(tree.coef_, a.coef_, atol=1e-7)


@pytest.mark.parametrize("name", MIXED_NAMES)
def test_the_order_of_rows_does_not_change_a_bit(name):
    data, levels = mixed_set("australian_credit")
    order = np.random.default_rng(3).permutation(data.n)
    a, b = grow(name, data.X, data.y, levels=levels), grow(name, data.X[order], data.y[order], levels=levels)
    assert_same_tree(a, b)
    np.testing.assert_array_equal(a.level_scores, b.level_scores)


def test_a_tree_without_qualitative_features_holds_no_scores():
    data = catalogue.load(DatasetSpec("iris"), offline=True)
    plain, zeros = grow("hhcart_a", data.X, data.y), grow("hhcart_a", data.X, data.y, levels=[0] * 4)
    assert_same_tree(plain, zeros)
    assert plain.levels == zeros.levels == (0, 0, 0, 0) and plain.level_columns == {}
    assert plain.level_scores.shape == (plain.n_nodes, 0)
    assert "levels" not in plain.to_dict() and "level_scores" not in plain.to_dict()


@pytest.mark.parametrize("levels", [[2], [2, 0, 0], [-1, 0]])
def test_the_core_refuses_levels_that_do_not_fit_the_columns(levels):
    X, y = np.zeros((4, 2)), np.array([0, 1, 0, 1])
    with pytest.raises(ValueError, match="levels must"):
        grow("axis_parallel", X, y, levels=levels)


# Estimators


def frame(n=200):
    """Words, categories, booleans and numbers; the class depends on all of them."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame(
        {
            "age": rng.normal(size=n),
            "color": rng.choice(["red", "green", "blue"], n),
            "size": pd.Categorical(rng.choice([30, 10, 20], n)),
            "old": rng.random(n) < 0.5,
            "place": pd.array(rng.choice(["u", "v"], n), dtype="string"),
            "code": rng.integers(0, 4, n),
        }
    )
    y = np.where((X.age > 0) ^ (X.color == "red") ^ ((X["size"] == 20) & X.old), "yes", "no")
    return X, y


@pytest.mark.parametrize("name", sorted(name for name in PROPOSERS if not PROPOSERS[name].quantitative)[::3])
def test_columns_of_words_categories_booleans_and_strings_are_qualitative(name):
    X, y = frame()
    model = make(name, random_state=0, **QUICK.get(name, {})).fit(X, y)
    assert model.levels_ == {1: ("blue", "green", "red"), 2: (10, 20, 30), 3: (False, True), 4: ("u", "v")}
    assert model.tree_.levels == (0, 3, 3, 2, 2, 0) and model.feature_names_in_.tolist() == X.columns.tolist()
    assert model.score(X, y) > 0.95
    codes = X.assign(**{c: pd.Categorical(X[c]).codes for c in X.columns[1:5]}).to_numpy(dtype=float)
    by_codes = clone(model).set_params(qualitative=[1, 2, 3, 4]).fit(codes, y)
    assert_same_tree(by_codes.tree_, model.tree_)
    words = X.to_numpy(dtype=object)
    by_words = clone(by_codes).fit(words, y)
    assert_same_tree(by_words.tree_, model.tree_)
    np.testing.assert_array_equal(by_words.predict(words), model.predict(X))


def test_columns_are_declared_by_name_or_position_or_not_at_all():
    X, y = frame()
    numbers = X[["age", "code"]]
    declared = (["code"], (np.int64(1),))
    by_name, by_position = (make("hhcart_d").set_params(qualitative=q).fit(numbers, y) for q in declared)
    assert by_name.levels_ == by_position.levels_ == {1: (0, 1, 2, 3)}
    assert_same_tree(by_name.tree_, by_position.tree_)
    for none in ("auto", None, []):
        assert make("hhcart_d").set_params(qualitative=none).fit(numbers, y).levels_ == {}
    assert make("hhcart_d").fit(numbers.to_numpy(), y).levels_ == {}
    with pytest.raises(ValueError, match=r"^column 'color' holds words such as 'blue', and HHCARTDClassifier takes"):
        make("hhcart_d").set_params(qualitative=None).fit(X, y)
    with pytest.raises(ValueError, match=r"^column 1 of X holds words such as 'blue', and HHCARTDClassifier takes"):
        make("hhcart_d").fit(X.to_numpy(dtype=object), y)
    only = make("hhcart_d").fit(X[["color", "old"]], y)
    assert only.tree_.levels == (3, 2) and only.predict(X[["color", "old"]]).shape == (len(X),)


def test_a_level_never_seen_and_a_missing_cell_score_zero():
    X, y = frame()
    X.loc[::7, "color"] = None
    X.loc[::9, "place"] = pd.NA
    model = make("hhcart_a").fit(X, y)
    assert model.levels_[1] == ("blue", "green", "red") and model.levels_[4] == ("u", "v")
    known = X.color.notna()
    predictions = [model.predict(X.assign(color=word)[known]) for word in ("purple", None, 3)]
    for other in predictions[1:]:
        np.testing.assert_array_equal(other, predictions[0])
    codes = np.column_stack([X.age, *([pd.Categorical(X[c]).codes for c in X.columns[1:5]]), X.code]).astype(float)
    codes[:, 1] = -1.0
    np.testing.assert_array_equal(model.tree_.apply(codes[known]), model.apply(X.assign(color="purple")[known]))


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("all", "qualitative of ObliqueTreeClassifier must be 'auto', None or a list of columns. Got 'all'."),
        (["colr"], "X has no column named 'colr'. Did you mean 'color'"),
        ([6], "must list column names or positions from 0 to 5. Got 6."),
        ([True], "must list column names or positions from 0 to 5. Got True."),
    ],
)
def test_a_wrong_list_of_columns_is_named_in_one_sentence(declared, message):
    X, y = frame()
    with pytest.raises(ConfigError) as caught:
        ObliqueTreeClassifier(qualitative=declared).fit(X, y)
    assert message in str(caught.value)


def test_a_column_of_too_many_levels_is_named_with_their_count_and_the_cap():
    X, y = frame()
    message = (
        "qualitative column 'color' has 3 levels, and max_levels of ObliqueTreeClassifier allows 2; join rare levels, "
        "leave the column out, or raise max_levels."
    )
    with pytest.raises(ConfigError) as caught:
        ObliqueTreeClassifier(max_levels=2).fit(X, y)
    assert str(caught.value) == message
    rows = np.arange(1001.0)[:, None]
    with pytest.raises(ConfigError, match="qualitative column 0 has 1001 levels"):
        ObliqueTreeClassifier(qualitative=[0]).fit(rows, rows[:, 0] % 2)
    assert ObliqueTreeClassifier(qualitative=[0]).fit(rows[1:], rows[1:, 0] % 2).n_leaves_ == 2


def test_quantitative_columns_beside_levels_are_checked_as_ever():
    X, y = frame()
    model = make("hhcart_d").fit(X, y)
    for bad, message in ((np.nan, "column 'age' has .* missing value"), (np.inf, "infinity")):
        with pytest.raises(ValueError, match=message):
            make("hhcart_d", missing="error").fit(X.assign(age=bad), y)
        with pytest.raises(ValueError, match=message):
            model.predict(X.assign(age=bad))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        make("hhcart_d").fit(X, y[1:])


# Options beyond the papers


@pytest.mark.parametrize("name", ["hhcart_a", "hhcart_d", "hhcrv"])
def test_both_signs_are_never_worse_at_the_root_than_either(name):
    for data, levels in map(mixed_set, MIXED):
        both, negative, positive = (
            grow(name, data.X, data.y, levels=levels, proposer=options, criterion="gini").gains[0]
            for options in ({"reflections": "both"}, {}, {"sign": "positive"})
        )
        assert both == pytest.approx(max(negative, positive), rel=1e-9)


# Experiments


@pytest.mark.parametrize(("name", "missing"), [("australian_credit", "error"), ("credit_approval", "impute")])
def test_a_fold_under_crimcoord_is_the_estimator_told_of_its_qualitative_columns(name, missing):
    plain = {
        "version": 1,
        "dataset": {"name": name, "missing": missing, "encoding": "crimcoord"},
        "algorithm": {"name": "hhcart_d", "pruning": "cost_complexity"},
        "cv": {"scheme": "ordinary", "folds": 3, "repeats": 1},
    }
    experiment = config.from_mapping(plain)
    policy = experiment.datasets[0]
    data = catalogue.load(policy, offline=True)
    case = Case(data, policy, experiment.algorithms[0], ALGORITHMS["hhcart_d"])
    fold = next(iter(SCHEMES["ordinary"].draw(data, experiment.cv, experiment.seed, 0)))
    job = expand(experiment, [data])[0]
    row = run_job(job, case, fold)
    assert row.status == "ok" and row.n_correct / row.n_test > 0.75
    # The same by hand, from a data frame: numbers first, then words, the most frequent word where one is missing.
    qualitative = sorted(data.qualitative)
    train, test = (pd.DataFrame(data.X[rows], columns=data.feature_names) for rows in (fold.train, fold.test))
    for table in (test, train):
        for j, column in enumerate(data.feature_names):
            fill = train[column].mode()[0] if j in qualitative else train[column].median()
            table[column] = table[column].fillna(fill)
            if j in qualitative:
                table[column] = table[column].map(lambda code, j=j: data.levels[j][int(code)]).astype(object)
    order = list(data.feature_names)
    if missing == "impute":
        order = [c for j, c in enumerate(order) if j not in qualitative] + [order[j] for j in qualitative]
    model = make("hhcart_d", pruning="cost_complexity").fit(
        train[order], data.y[fold.train], pruning_rows=np.searchsorted(fold.train, fold.pruning)
    )
    assert row.n_leaves == model.n_leaves_
    assert row.n_correct == (model.predict(test[order]) == data.y[fold.test]).sum()


def test_the_names_of_levels_follow_the_codes_of_a_fitted_tree():
    policy = DatasetSpec("toy", missing="impute", encoding="crimcoord")
    X = np.array([[2.0, 7.0], [0.0, np.nan], [2.0, 9.0], [0.0, 8.0]])
    data = replace(toy(4), X=X, qualitative=(0,), levels={0: ("x", "y", "z")}, feature_names=("word", "number"))
    encoder = fold_encoder(data, policy, X)
    estimator = prepared(make("axis_parallel"), data, policy)
    estimator.fit(encoder.transform(X), [0, 1, 0, 1])
    assert encoded_names(data, encoder) == ("number", "word")
    assert encoded_levels(data, estimator) == {1: ("x", "z")}  # no training row shows y


def test_an_estimator_that_takes_no_levels_is_named():
    data = replace(toy(4), qualitative=(0,), levels={0: ("x", "y")})
    other = make("hhcart_d").proposer  # has parameters, and none called qualitative
    with pytest.raises(ConfigError, match="HHCARTDominant does not take the levels of 'toy' as they are"):
        prepared(other, data, DatasetSpec("toy", encoding="crimcoord"))
    assert prepared(other, data, DatasetSpec("toy", encoding="onehot")) is other


# Rules in words


def test_the_rules_of_a_tree_list_the_scores_of_levels():
    X, _ = frame()
    model = make("hhcart_d", max_depth=1).fit(X[["color", "age"]], np.where(X.color == "red", "yes", "no"))
    names = {0: model.levels_[0]}
    text = export_text(model.tree_, ["color", "age"], model.classes_, level_names=names)
    assert text.splitlines()[0] == "if color in {red}:"
    assert export_text(model.tree_, ["color", "age"], model.classes_).splitlines()[0] == "if color in {2}:"
    tree = Tree(
        [1, -1, -1], [2, -1, -1], [[0.6, -0.8], [0, 0], [0, 0]], [0.25, 0, 0], np.ones((3, 2)), np.zeros(3), [2, 1, 1],
        (3, 0), [[0.707, -0.707, 0.0], [0, 0, 0], [0, 0, 0]],
    )  # fmt: skip
    assert condition(tree, 0, ["color", "age"], level_names={0: ["red", "green", "blue"]}) == (
        "0.6 color - 0.8 age <= 0.25 with color = 0.707 red, -0.707 green"
    )


def test_a_feature_alone_says_where_levels_without_a_score_go():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]])
    tree = grow("axis_parallel", X, np.array([0, 0, 0, 1, 1]), levels=[3])
    text = condition(tree, 0, ["word"], level_names={0: ["x", "y", "z"]})
    left = tree.apply(np.array([[0.0], [1.0], [2.0]])) == 1
    inside = [name for name, goes in zip("xy", left, strict=False) if goes]
    assert text == f"word in {{{', '.join(inside)}}}" + (", or any level without a score here" if left[2] else "")


def test_the_command_line_shows_levels_by_name():
    options = ["car", "--set", "encoding=crimcoord", "--set", "max_depth=2", "--offline"]
    result = CliRunner().invoke(tree_command, options)
    assert result.exit_code == 0, result.output
    assert "med" in result.output and "persons" in result.output
    options = ["car", "--set", "encoding=crimcoord", "--format", "json", "--offline"]
    document = json.loads(CliRunner().invoke(tree_command, options).output)
    assert document["level_names"]["5"] == ["high", "low", "med"] and document["levels"] == [4, 4, 4, 3, 3, 3]
    assert tree_of(document).n_features == 6


@pytest.mark.parametrize("name", sorted(name for name in PROPOSERS if PROPOSERS[name].quantitative))
def test_a_heuristic_for_numbers_only_refuses_qualitative_columns(name):
    X, y = frame()
    with pytest.raises(ConfigError, match="takes quantitative features only"):
        make(name).fit(X, y)
