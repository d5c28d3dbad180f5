"""Missing values: refused by name, filled with medians, or sent the way that scored better at each node."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from contracts import ALGORITHM_NAMES, PRUNING_NAMES, QUICK, assert_same_tree, real_set
from covering import few
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import gains

import oblique_cli
from oblique_cli import config
from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import make
from oblique_cli.estimators.missing_values import medians
from oblique_cli.estimators.oblique.bottom_up import BottomUpTreeClassifier
from oblique_cli.experiments import running
from oblique_cli.experiments.store import Store
from oblique_cli.tree.describe import export_text
from oblique_cli.tree.pruning import cost_complexity_path, sequence_errors
from oblique_cli.tree.structure import EVERYTHING, Tree


def with_gaps(n=120, p=3, share=0.15, seed=0, n_classes=2):
    """Rows of classes that lie along a slanted line, some of whose cells are missing at random."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.digitize(X[:, 0] + 0.5 * X[:, -1] + 0.3 * rng.normal(size=n), np.linspace(-0.5, 0.5, n_classes - 1))
    X[rng.random(X.shape) < share] = np.nan
    return X, y


def goes_left(tree, node, x):
    """The definition, for one row: the stored side if a used feature is missing, else the side of the values."""
    used = np.flatnonzero(tree.coef_[node])
    if np.isnan(x[used]).any():
        return bool(tree.missing_left[node])
    return float(tree.coef_[node][used] @ x[used]) <= tree.thresholds[node]


def leaf_of(tree, x, stop=()):
    node = 0
    while not tree.is_leaf[node] and node not in stop:
        node = int(tree.left[node] if goes_left(tree, node, x) else tree.right[node])
    return node


def rows_of(tree, X):
    """Row numbers at every node."""
    rows = [np.arange(len(X))] + [np.arange(0)] * (tree.n_nodes - 1)
    for node in np.flatnonzero(~tree.is_leaf):
        left = np.array([goes_left(tree, node, X[i]) for i in rows[node]], dtype=bool)
        rows[tree.left[node]], rows[tree.right[node]] = rows[node][left], rows[node][~left]
    return rows


@pytest.mark.parametrize("engine", ["auto", "reference"])
@pytest.mark.parametrize("name", ALGORITHM_NAMES)
def test_without_missing_values_the_tree_is_the_same_to_the_bit(name, engine):
    data = real_set("glass")
    options = {"random_state": 0, "engine": engine, "max_depth": 4, **QUICK.get(name, {})}
    plain = make(name, **options).fit(data.X, data.y).tree_
    learned = make(name, missing="learn", **options).fit(data.X, data.y).tree_
    assert_same_tree(plain, learned)
    assert plain.missing_left is None
    inner = ~learned.is_leaf
    weights = learned.counts.sum(axis=1)
    heavier = weights[learned.left] >= weights[learned.right]
    np.testing.assert_array_equal(learned.missing_left[inner], heavier[inner])
    assert not learned.missing_left[~inner].any()


@given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(["axis_parallel", "hhcart_a", "hhcart_d", "hhgdt", "gdt", "oc1_lc"]),
    criterion=st.sampled_from(["gini", "entropy", "twoing"]),
    share=st.sampled_from([0.05, 0.3, 0.6]),
    weighted=st.booleans(),
)
@settings(deadline=None, derandomize=True, max_examples=25)
def test_at_every_node_the_better_side_is_taken_by_brute_force(seed, name, criterion, share, weighted):
    X, y = with_gaps(60, 3, share, seed, n_classes=3)
    w = np.random.default_rng(seed).integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    tree = make(name, criterion=criterion, missing="learn", random_state=0).fit(X, y, w / w.min()).tree_
    C = tree.counts.shape[1]
    names = np.unique(y)

    def score(rows, left):
        def counts(some):
            return np.array([w[some][y[some] == k].sum() for k in names])

        if not left.any() or left.all():
            return -np.inf
        return gains(counts(rows[left])[None], counts(rows), criterion)[0]

    assert len(names) == C
    for node, rows in enumerate(rows_of(tree, X)):
        assert tree.n_rows[node] == len(rows)
        if tree.is_leaf[node]:
            continue
        coef, Z = tree.coef_[node], X[rows]
        used = coef != 0
        block = np.isnan(Z[:, used]).any(axis=1)
        values = np.where(np.isnan(Z), 0.0, Z) @ coef <= tree.thresholds[node]
        left, right = score(rows, values | block), score(rows, values & ~block)
        if block.any():
            assert tree.missing_left[node] == (left >= right - 1e-9 * abs(right))
            assert tree.gains[node] == pytest.approx(max(left, right), rel=1e-9)
        else:
            assert tree.missing_left[node] == (w[rows][values].sum() >= w[rows][~values].sum())
            assert tree.gains[node] == pytest.approx(left, rel=1e-9)
        # No cut between present and missing would have been better.
        present = [score(rows, ~np.isnan(Z[:, j])) for j in range(X.shape[1])]
        assert max(present) <= tree.gains[node] * (1 + 1e-9)


def test_nodes_without_complete_rows_cut_each_feature_alone_and_gaps_that_tell_the_class_are_learned():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(400, 4)), rng.integers(0, 2, 400)
    X[y == 1, 2] = np.nan
    for name in ALGORITHM_NAMES:
        model = make(name, missing="learn", random_state=0).fit(X[:200], y[:200])
        assert model.n_leaves_ == 2 and model.score(X[200:], y[200:]) == 1.0
        assert (model.tree_.coef_[0] == [0, 0, 1, 0]).all() and model.tree_.thresholds[0] == EVERYTHING
        # It is what imputation throws away.
        assert make(name, missing="impute", max_depth=3, random_state=0).fit(X[:200], y[:200]).n_leaves_ > 2
    rng = np.random.default_rng(6)
    y = np.repeat([0, 0, 1, 1], 20)
    X = rng.normal(size=(80, 2)) + 4.0 * y[:, None]
    X[::2, 0] = np.nan
    X[1::2, 1] = np.nan
    tree = make("hhcart_a", missing="learn").fit(X, y).tree_
    assert (np.count_nonzero(tree.coef_[~tree.is_leaf], axis=1) == 1).all()
    assert (tree.labels[tree.apply(X)] == y).all()


@pytest.mark.parametrize("name", ALGORITHM_NAMES)
def test_nodes_with_few_or_no_complete_rows(name):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    X[:, 0] += 3 * y
    no_complete_row = X.copy()
    no_complete_row[::2, 1] = np.nan
    no_complete_row[1::2, 2] = np.nan
    empty_column = X.copy()
    empty_column[:, 1] = np.nan
    one_class_complete = X.copy()
    one_class_complete[y == 0, 1] = np.nan
    for rows in (no_complete_row, empty_column, one_class_complete):
        model = make(name, missing="learn", random_state=0).fit(rows, y)
        assert model.score(rows, y) > 0.9
        assert set(np.unique(model.predict(np.full((2, 3), np.nan)))) <= {0, 1}
    nothing = make(name, missing="learn", random_state=0).fit(np.full((60, 3), np.nan), y)
    assert nothing.n_leaves_ == 1


@pytest.mark.parametrize("name", ["axis_parallel", "hhcart_a", "hhgdt"])
def test_weight_two_is_a_doubled_row_and_the_scale_of_weights_is_nothing(name):
    X, y = with_gaps(80, seed=7)
    w = np.random.default_rng(7).integers(1, 3, 80)
    options = {"missing": "learn", "random_state": 0, "max_depth": 4}
    weighted = make(name, **options).fit(X, y, w).tree_
    doubled = make(name, **options).fit(np.repeat(X, w, axis=0), np.repeat(y, w)).tree_
    scaled = make(name, **options).fit(X, y, 8.0 * w).tree_
    assert_same_tree(weighted, scaled)
    for field in ("left", "right", "missing_left"):
        np.testing.assert_array_equal(getattr(weighted, field), getattr(doubled, field))
    np.testing.assert_allclose(weighted.coef_, doubled.coef_, atol=1e-8)
    np.testing.assert_allclose(weighted.counts, doubled.counts, rtol=1e-12)


@pytest.mark.parametrize("name", ["axis_parallel", "hhcart_a", "hhcart_d", "quest"])
def test_the_compiled_walk_is_the_definition(name):
    X, y = with_gaps(150, 4, 0.2, seed=9)
    model = make(name, missing="learn", random_state=0).fit(X, y)
    new = with_gaps(200, 4, 0.4, seed=10)[0]
    tree = model.tree_
    assert model.apply(new).tolist() == [leaf_of(tree, x) for x in new]
    limits = np.array([0.0, 0.1, 0.25])
    for column, limit in zip(tree.apply_limits(new, limits, tree.misclassification_rates).T, limits, strict=True):
        stop = set(np.flatnonzero(tree.misclassification_rates <= limit).tolist())
        assert column.tolist() == [leaf_of(tree, x, stop) for x in new]
    path = cost_complexity_path(tree)
    codes = (np.arange(200) % 2).astype(np.int32)
    errors = sequence_errors(tree, path, path.alphas, new, codes)
    for k, total in enumerate(errors):
        member = path.member(tree, k)
        assert total == sum(member.labels[leaf_of(member, x)] != c for x, c in zip(new, codes, strict=True))


@pytest.mark.parametrize("missing", ["learn", "impute"])
@pytest.mark.parametrize("pruning", PRUNING_NAMES)
def test_every_pruning_takes_rows_with_gaps(pruning, missing):
    X, y = with_gaps(200, seed=12)
    options = {"missing": missing, "random_state": 1}
    full = make("hhcart_d", **options).fit(X, y)
    pruned = make("hhcart_d", pruning=pruning, ccp_alpha=0.01, **options).fit(X, y)
    assert pruned.n_leaves_ <= full.n_leaves_ and pruned.score(X, y) > 0.6
    assert (pruned.tree_.missing_left is None) == (missing == "impute")


def test_the_rules_say_where_missing_values_go():
    coef = np.zeros((7, 2))
    coef[0], coef[1], coef[2] = [0.6, -0.8], [0.0, 1.0], [1.0, 0.0]
    tree = Tree(
        np.array([1, 3, 5, -1, -1, -1, -1]),
        np.array([2, 4, 6, -1, -1, -1, -1]),
        coef,
        np.array([1.5, EVERYTHING, 2.0, 0, 0, 0, 0]),
        np.tile([1.0, 2.0], (7, 1)),
        np.zeros(7),
        np.full(7, 3),
        missing_left=np.array([True, False, True, False, False, False, False]),
    )
    conditions = [line.strip() for line in export_text(tree, ["h", "w"], ["a", "b"]).splitlines() if "if" in line]
    assert conditions == [
        "if 0.6 h - 0.8 w <= 1.5, or any of these missing:",
        "if w is not missing:",
        "if h <= 2, or missing:",
    ]


def test_impute_fills_with_medians_of_the_rows_it_grows_on_which_are_those_of_numpy():
    X, y = with_gaps(120, seed=17)
    retained = np.arange(0, 120, 3)
    X[retained] += 10.0  # rows kept for pruning must not move the medians
    model = make("hhcart_a", missing="impute", pruning="reduced_error").fit(X, y, pruning_rows=retained)
    fill = np.nanmedian(np.delete(X, retained, axis=0), axis=0)
    np.testing.assert_array_equal(model.fill_values_, fill)
    filled = np.where(np.isnan(X), fill, X)
    by_hand = make("hhcart_a", pruning="reduced_error").fit(filled, y, pruning_rows=retained)
    assert_same_tree(model.tree_, by_hand.tree_)
    np.testing.assert_array_equal(model.predict(X), by_hand.predict(filled))
    rng = np.random.default_rng(16)
    X = np.round(rng.normal(size=(31, 4)), 1)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 3] = np.nan
    np.testing.assert_allclose(medians(X, None)[:3], np.nanmedian(X[:, :3], axis=0))
    assert medians(X, None)[3] == 0.0
    w = rng.integers(1, 5, 31)
    np.testing.assert_allclose(medians(X, w.astype(float)), medians(np.repeat(X, w, axis=0), None))
    np.testing.assert_allclose(medians(X, 0.1 * w), medians(np.repeat(X, w, axis=0), None))


def results(plan, folder):
    """Folds of a run, which must end well."""
    experiment = config.from_mapping(plan)
    with Store(folder / "results.sqlite") as store:
        assert running.run(experiment, store, n_jobs=1, offline=True, fresh=True).exit_code == 0
        return [(row.repeat, row.fold, row.n_correct, row.n_leaves) for row in store.rows(experiment.name)]


def plan(dataset, *algorithms):
    cv = {"scheme": "stratified", "folds": 3, "repeats": 1}
    return {"version": 1, "seed": 2, "cv": cv, "dataset": dataset, "algorithms": list(algorithms)}


def test_the_estimator_and_the_data_set_fill_numbers_alike(tmp_path):
    by_data = plan({"name": "hepatitis", "missing": "impute"}, "hhcart_d")
    by_tree = plan({"name": "hepatitis", "missing": "keep"}, {"name": "hhcart_d", "missing": "impute"})
    assert results(by_data, tmp_path) == results(by_tree, tmp_path)


@few(1, name=["hhcart_a", "tao", "logistic_tree"], levels=[False, True])
def test_gaps_of_a_data_frame_are_learned_unasked(name, levels, tmp_path):
    X, y = with_gaps(90, seed=21)
    frame = pd.DataFrame(X, columns=list("abc"))
    if levels:
        frame["d"] = pd.Categorical(np.where(np.arange(90) % 3, "red", "blue"))
        frame.loc[4, "d"] = None
    plain, request = (make(name, random_state=0, **how).fit(frame, y) for how in ({}, {"missing": "learn"}))
    assert_same_tree(plain.tree_, request.tree_)
    assert plain.missing_ == request.missing_ == "learn"
    expected = request.predict_proba(frame)
    # What was learned decides, not what is asked for afterwards.
    assert (plain.set_params(missing="error").predict_proba(frame) == expected).all()
    plain.set_params(missing="auto")
    path = tmp_path / "model.json"
    oblique_cli.save(plain, path)
    again = oblique_cli.load(path)
    assert again.takes_missing
    if not levels:
        assert (again.predict_proba(X) == expected).all()


@pytest.mark.parametrize("name", ["hhcart_a", "tao"])
def test_without_a_gap_in_a_data_frame_the_tree_is_that_of_complete_rows_and_refuses_gaps(name):
    X, y = with_gaps(60, share=0.0, seed=22)
    frame = pd.DataFrame(X, columns=list("abc"))
    model = make(name, random_state=0).fit(frame, y)
    assert model.missing_ == "error"
    assert model.tree_.missing_left is None
    frame.loc[3, "b"] = np.nan
    with pytest.raises(ConfigError, match=r"^column 'b' has 1 missing value \(NaN\), which .* set missing to 'learn'"):
        model.predict(frame)
    # The next fit learns anew, and an array is never taken to hold gaps on purpose.
    assert model.fit(frame, y).missing_ == "learn"
    with pytest.raises(ConfigError, match=r"^column 1 of X has 1 missing value"):
        model.fit(frame.to_numpy(), y)


def test_a_missing_value_is_refused_by_column_and_by_native_growth():
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "protime": [1.0, np.nan, 2.0, np.nan]})
    y = [0, 1, 0, 1]
    message = "column 'protime' has 2 missing values (NaN), which HHCARTClassifier does not take; set missing to"
    for refusing in (make("hhcart_a", missing="error"), make("hhcart_a", monotonic_cst={"size": 1})):
        with pytest.raises(ConfigError, match=re.escape(message)) as caught:
            refusing.fit(frame, y)
        assert "\n" not in str(caught.value)
    model = make("hhcart_a").fit(frame.fillna(0.0).to_numpy(), y)
    with pytest.raises(ConfigError, match=r"^column 1 of X has 1 missing value \(NaN\), which"):
        model.predict(frame.to_numpy()[:2])
    bottom_up = r"^column 1 of X has 2 missing values \(NaN\), which BottomUpTreeClassifier does not take; fill"
    with pytest.raises(ConfigError, match=bottom_up):
        BottomUpTreeClassifier().fit(frame.to_numpy(), y)
    for missing in ("learn", "impute"):
        with pytest.raises(ValueError, match="infinity"):
            make("hhcart_a", missing=missing).fit(frame.fillna(np.inf), y)
    X, y = with_gaps(60, seed=18)
    with pytest.raises(ConfigError, match=r"^engine 'native' does not grow on missing values; set engine to 'auto' or"):
        make("hhcart_a", missing="learn", engine="native").fit(X, y)
    native = make("hhcart_a", missing="learn", engine="native").fit(np.nan_to_num(X), y)
    assert native.apply(X).tolist() == [leaf_of(native.tree_, x) for x in X]
    assert make("hhcart_a", missing="impute", engine="native").fit(X, y).n_leaves_ > 1


def test_a_csv_with_blanks_is_run_and_its_tree_shown(tmp_path, call):
    rng = np.random.default_rng(19)
    size, load = rng.normal(size=(2, 90)).round(3)
    late = (size + load < -0.2) | (rng.random(90) < 0.2)
    gaps = late & (rng.random(90) < 0.4)
    cells = [
        f"{'' if gap else s},{v},{'late' if wrong else 'fine'}"
        for s, v, gap, wrong in zip(size, load, gaps, late, strict=True)
    ]
    (tmp_path / "my.csv").write_text("size,load,class\n" + "\n".join(cells) + "\n")
    file = ("--csv", str(tmp_path / "my.csv"), "--target", "class")
    learn = ("--set", "missing=keep", "--set", "algorithm.missing=learn", "--set", "pruning=none")
    shown = call("tree", *file, *learn, "--set", "max_depth=2")
    assert shown.code == 0 and "missing:" in shown.out
    tree = json.loads(call("tree", *file, *learn, "--format", "json").out)
    assert tree["parameters"]["missing"] == "learn" and len(tree["missing_left"]) == len(tree["left"])
    text = """version: 1
dataset: {csv: my.csv, target: class, missing: keep}
algorithms: [{name: hhcart_a, missing: learn}, {name: axis_parallel, missing: impute}]
cv: {scheme: stratified, folds: 3, repeats: 1}
"""
    (tmp_path / "my.yaml").write_text(text)
    ended = call("run", str(tmp_path / "my.yaml"), "--allow-outside")
    assert ended.code == 0 and "HHCART(A)" in ended.out
    plain = call("tree", *file, "--set", "missing=keep")
    assert plain.code == 2 and "hhcart_a takes no missing values, and data set my keeps them" in plain.err
