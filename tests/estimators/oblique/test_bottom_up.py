"""HHBUT and BUTIF-SVM: clusters become leaves, K is chosen as the thesis says, mixtures are those of scikit-learn."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import yaml
from contracts import real_set
from covering import few
from document_support import ROOT
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from oblique_cli import config
from oblique_cli.errors import EXIT_FAILED_FOLDS, ConfigError, NotConverged
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.estimators.oblique import clusters as clusters_of
from oblique_cli.estimators.oblique import mixtures
from oblique_cli.estimators.oblique.bottom_up import BottomUpTreeClassifier, svm_plane
from oblique_cli.estimators.oblique.clusters import CRITERIA, Clustering
from oblique_cli.estimators.oblique.mixtures import SingularCovariance, fit_mixture, log_of_sums
from oblique_cli.experiments import fits, running
from oblique_cli.experiments.store import Store
from oblique_cli.proposers.hhcart import HHCART
from oblique_cli.tree.splitting import Node, best_split

SPLITTERS = ("hhcart", "svm")
GRID = [0.03125, 1.0, 32.0]


def blobs(*places, rows=40, seed=0):
    """Round clouds of two features at these places, each with its class: (class, x, y)."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal([x, y], 0.5, size=(rows, 2)) for _, x, y in places])
    return X, np.repeat([code for code, _, _ in places], rows)


def clustering(**changes):
    model = BottomUpTreeClassifier(**changes)
    return Clustering(**{name: getattr(model, name) for name in Clustering.__dataclass_fields__})


@few(name=["balance_scale", "glass", "wine"], components=CRITERIA, merging=["centroid", "overlap"])
def test_the_leaves_are_the_clusters_whatever_splits(name, components, merging):
    data = real_set(name)
    options = {"components": components, "merging": merging, "component_folds": 5, "random_state": 1}
    models = [BottomUpTreeClassifier(s, **options).fit(data.X, data.y) for s in SPLITTERS]
    assert models[0].n_clusters_ == models[1].n_clusters_
    for model in models:
        assert model.n_leaves_ == sum(model.n_clusters_.values()) == int(model.tree_.is_leaf.sum())
        assert list(model.n_clusters_) == list(model.classes_)
        leaves = np.flatnonzero(model.tree_.is_leaf)
        counts = model.tree_.counts[leaves]
        assert ((counts > 0).sum(axis=1) == 1).all()  # a cluster is of one class
        np.testing.assert_array_equal(counts.sum(axis=0), np.bincount(data.y))
        by_class = np.bincount(model.tree_.labels[leaves], minlength=len(model.classes_))
        assert by_class.tolist() == list(model.n_clusters_.values())


def test_components_grow_while_bic_or_the_held_out_likelihood_improves(monkeypatch):
    data = real_set("bupa")
    X = data.X[data.y == 0]
    groups = clustering().of_class(X, "a", seed=5)
    assert sorted(np.concatenate(groups).tolist()) == list(range(len(X)))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    fit = clusters_of._Mixtures(clustering(), "a", 5)
    with threadpool_limits(1):
        mixtures = [fit.of_all(Z, k) for k in range(1, len(groups) + 2)]
    bics = [mixture.bic(Z) for mixture in mixtures]
    assert len(groups) > 1 and (np.diff(bics[:-1]) < 0).all()
    assert bics[-1] >= bics[-2]
    fits = counted_fits(monkeypatch)
    X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0.0], [9.0], [18.0]], 20, axis=0)
    clustering(components="cv", component_folds=5).of_class(X, 0, 1)
    worse = fits[-2]  # the first K that does not improve the likelihood
    assert worse > 2 and fits == [k for k in range(1, worse + 1) for _ in range(5)] + [worse - 1]


def test_a_class_has_no_more_components_than_distinct_rows_and_equal_limits_fix_their_number():
    X = np.repeat([[0.0, 0.0], [9.0, 9.0]], [4, 3], axis=0)
    groups = sorted(g.tolist() for g in clustering(min_components=5).of_class(X, 0, 0))
    assert groups == [[0, 1, 2, 3], [4, 5, 6]]
    assert len(clustering(min_components=5).of_class(X[:4], 0, 0)) == 1
    data = real_set("bupa")
    for components in CRITERIA:
        model = BottomUpTreeClassifier(components=components, min_components=3, max_components=3, random_state=0)
        assert max(model.fit(data.X, data.y).n_clusters_.values()) == 3


def test_units_matter_to_clusters_without_standardizing_alone():
    data = real_set("wine")
    for code in range(3):
        X = data.X[data.y == code]
        scaled = X * 2.0 ** np.arange(-20, 19, 3)[: X.shape[1]]
        for first, other in zip(clustering().of_class(X, 0, 1), clustering().of_class(scaled, 0, 1), strict=True):
            np.testing.assert_array_equal(first, other)
    X, _ = blobs((0, 0, 0), (0, 6, 0))
    options = {"standardize": False, "covariance_regularization": 0.1}
    assert len(clustering(**options).of_class(X, 0, 0)) == 2
    assert len(clustering(**options).of_class(X * 1e-3, 0, 0)) == 1  # the two clouds drown in what is added
    assert len(clustering().of_class(X * 1e-3, 0, 0)) == 2


def test_the_seed_decides_and_both_splitters_share_their_clusters():
    data = real_set("glass")
    a, b = (make("hhbut", random_state=np.random.RandomState(4)).fit(data.X, data.y) for _ in range(2))
    assert a.tree_.to_dict() == b.tree_.to_dict()
    svm = make("butif_svm", random_state=np.random.RandomState(4)).fit(data.X, data.y)
    leaves = [sorted(map(tuple, m.tree_.counts[m.tree_.is_leaf].tolist())) for m in (a, svm)]
    assert leaves[0] == leaves[1]
    others = {make("hhbut", random_state=s).fit(data.X, data.y).tree_.counts.tobytes() for s in range(4)}
    assert len(others) > 1


def counted_fits(monkeypatch):
    """The number of components of every mixture that is fitted from now on."""
    fits = []

    def counted(X, k, **settings):
        fits.append(k)
        return fit_mixture(X, k, **settings)

    monkeypatch.setattr(clusters_of, "fit_mixture", counted)
    return fits


def test_fits_that_share_take_over_the_clusters_of_the_same_rows_and_no_others(monkeypatch):
    data, other = real_set("wine"), real_set("iris")
    fits, shared = counted_fits(monkeypatch), {}
    first = make("hhbut", random_state=4).fit(data.X, data.y, shared)
    assert fits and first.seconds_saved_ == 0.0
    alone = len(fits)
    second = make("butif_svm", random_state=4).fit(data.X, data.y, shared)
    assert len(fits) == alone and second.seconds_saved_ > 0.0
    assert second.n_clusters_ == first.n_clusters_
    for parameters, X, y in (
        ({"random_state": 5}, data.X, data.y),
        ({"random_state": 4, "covariance_regularization": 0.02}, data.X, data.y),
        ({"random_state": 4}, data.X[:-1], data.y[:-1]),
        ({"random_state": 4}, data.X, data.y[::-1]),
        ({"random_state": 4}, other.X, other.y),
    ):
        before = len(fits)
        make("hhbut", **parameters).fit(X, y, shared)
        assert len(fits) > before
    again = make("hhbut", random_state=4).fit(data.X, data.y)
    assert again.tree_.to_dict() == first.tree_.to_dict() and again.seconds_saved_ == 0.0


def test_held_out_rows_are_each_scored_once_and_never_fitted_with():
    rng = np.random.default_rng(0)
    divisions = list(clustering(components="cv", component_folds=4)._divisions(11, rng))
    assert len(divisions) == 4
    assert sorted(np.concatenate([test for _, test in divisions])) == list(range(11))
    halves = list(clustering(components="mccv", component_folds=6)._divisions(11, rng))
    assert [(len(a), len(b)) for a, b in halves] == [(5, 6)] * 6
    for train, test in divisions + halves:
        assert sorted(np.concatenate([train, test])) == list(range(11))


def test_planes_are_those_of_hhcart_or_halfway_between_two_rows():
    data = real_set("wine")
    model = make("hhbut", max_components=1).fit(data.X, data.y)
    root = model.tree_
    (pure,) = [child for child in (root.left[0], root.right[0]) if root.is_leaf[child]]
    group = (data.y == root.labels[pure]).astype(np.int32)
    order = np.argsort(group, kind="stable")
    node = Node(data.X[order], group[order], None, 2, 0, "twoing")
    split = best_split(node, HHCART(tau=0.05))
    np.testing.assert_allclose(np.abs(root.coef_[0] @ split.coef), 1.0)
    assert root.gains[0] == pytest.approx(split.gain)
    X = np.array([[0.0, 3.0], [4.0, 3.0]])
    for scale in (1.0, 1e-6, 1e6):
        plane = svm_plane(X * scale, np.array([0, 1], dtype=np.int32), 100.0, 0)
        np.testing.assert_allclose(plane.coef, [1.0, 0.0])
        assert plane.threshold == pytest.approx(2.0 * scale)
    assert svm_plane(np.ones((3, 2)), np.array([0, 1, 1], dtype=np.int32), 1.0, 0) is None


def test_a_path_over_cost_is_a_fit_for_each_cost():
    data = real_set("bupa")
    item = make("butif_svm", cost=min(GRID), random_state=2).fit(data.X[::2], data.y[::2])
    labels, leaves = item.predict_path(data.X, GRID[::-1]), item.n_leaves_path(GRID[::-1])
    for column, cost in enumerate(GRID[::-1]):
        single = make("butif_svm", cost=cost, random_state=2).fit(data.X[::2], data.y[::2])
        np.testing.assert_array_equal(labels[:, column], single.predict(data.X))
        assert leaves[column] == single.n_leaves_
    with pytest.raises(ConfigError, match=r"^cost of BUTIFSVMClassifier must be a number in \(0, inf\)\. Got 0\.0"):
        item.predict_path(data.X, [0.0])
    with pytest.raises(ConfigError, match=r"^a path over cost needs splitter 'svm'\. Got 'hhcart'\.$"):
        make("hhbut").fit(data.X, data.y).predict_path(data.X, GRID)


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_a_hybrid_keeps_the_skeleton_and_fits_the_training_rows(splitter):
    data = real_set("bupa")
    plain, hybrid = (
        BottomUpTreeClassifier(splitter, hybrid=h, random_state=0).fit(data.X, data.y) for h in (False, True)
    )
    np.testing.assert_array_equal(plain.tree_.coef_[0], hybrid.tree_.coef_[0])
    assert plain.n_clusters_ == hybrid.n_clusters_ and hybrid.n_leaves_ > sum(hybrid.n_clusters_.values())
    assert hybrid.score(data.X, data.y) > plain.score(data.X, data.y)
    assert hybrid.score(data.X, data.y) > 0.98  # nodes of two rows stay whole (min_parent 2)


@pytest.mark.parametrize("heuristic", ["hhcart_d", "axis_parallel"])
def test_a_hybrid_divides_the_leaves_of_undecided_clusters_alone_by_the_heuristic_it_is_given(heuristic):
    X, y = blobs((0, 0, 0), (1, 0.5, 0), (2, 30, 0), (3, 34, 0), rows=60)
    X[-1], y[-1] = (34.0, 0.0), 2  # amid class 3: the leaf is mixed, though the clusters hardly overlap
    options = {"max_components": 1, "random_state": 0, "hybrid": True, "hybrid_heuristic": heuristic}
    whole, some, none = (make("hhbut", hybrid_overlap=limit, **options).fit(X, y) for limit in (None, 0.5, 1.0))
    assert some.undecided(0.5).tolist() == [True, True, False, False] and none.n_leaves_ == 4
    near, far = np.arange(120), np.arange(120, 240)
    assert some.score(X[near], y[near]) == whole.score(X[near], y[near]) > none.score(X[near], y[near])
    assert some.score(X[far], y[far]) == none.score(X[far], y[far]) < whole.score(X[far], y[far]) == 1.0
    rough = make("hhbut", hybrid_epsilon=0.2, **options).fit(X, y)
    assert none.n_leaves_ < rough.n_leaves_ < whole.n_leaves_


@pytest.mark.parametrize("splitter", [*SPLITTERS, "fisher"])
def test_features_are_drawn_at_each_merge(splitter):
    data = real_set("wine")
    trees = [BottomUpTreeClassifier(splitter, max_features=m, random_state=1).fit(data.X, data.y) for m in (2, None)]
    used = [(model.tree_.coef_ != 0.0).sum(axis=1) for model in trees]
    assert used[0].max() <= 2 < used[1].max() and trees[0].n_clusters_ == trees[1].n_clusters_


def test_one_cluster_a_class_merged_by_mahalanobis_and_cut_along_fisher_is_the_tree_of_landeweerd():
    """Means at 0, 10 and 13 with a spread of 4 along the first axis, and at a height of 1 with a spread of 0.1."""
    rng = np.random.default_rng(0)
    spread, means = rng.normal(size=(50, 2)) * [4.0, 0.1], np.array([[0.0, 0.0], [10.0, 0.0], [13.0, 1.0]])
    X, y = np.vstack([spread + mean for mean in means]), np.repeat([0, 1, 2], 50)
    model = BottomUpTreeClassifier("fisher", merging="mahalanobis", max_components=1, random_state=0).fit(X, y)
    assert sorted(model.tree_.counts[1:, 2].tolist()) == [0.0, 0.0, 0.0, 50.0]  # 0 and 1 are merged first
    near = BottomUpTreeClassifier("fisher", max_components=1, random_state=0).fit(X, y)
    assert sorted(near.tree_.counts[1:, 0].tolist()) == [0.0, 0.0, 0.0, 50.0]  # 1 and 2, as their means are nearer
    W = sum(np.cov(X[y == k].T) for k in (0, 1))
    fisher = np.linalg.solve(W, X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    node = int(np.flatnonzero(~model.tree_.is_leaf)[-1])
    assert abs(model.tree_.coef_[node] @ fisher) == pytest.approx(np.linalg.norm(fisher), rel=1e-6)


# Rows, their classes, and the least share that a tree gets right
DEGENERATE = {
    "one row a class": ([[0.0, 1.0], [5.0, 2.0], [9.0, 7.0]], [0, 1, 2], 1.0),
    "p > n": (np.arange(60.0).reshape(4, 15) ** 2, [0, 0, 1, 1], 1.0),
    "equal columns": (np.column_stack([np.arange(20.0), np.full(20, 7.0), np.arange(20.0)]), [0] * 10 + [1] * 10, 1.0),
    "same rows, two labels": ([[1.0, 2.0]] * 5, [0, 0, 0, 1, 1], 0.6),
    "nearly so": ([[1.0, 2.0]] * 5 + [[3.0, 4.0]], [0, 0, 0, 1, 1, 1], 4 / 6),
    "one row": ([[4.0]], [1], 1.0),
    "one class": ([[1.0], [1.0], [2.0]], [0, 0, 0], 1.0),
    "two values, labels mixed": ([[0.0]] * 30 + [[1.0]] * 30, [0, 1] * 30, 0.5),
}


@few(label=DEGENERATE, splitter=SPLITTERS, components=CRITERIA, merging=["centroid", "overlap"])
def test_degenerate_nodes_give_a_leaf_for_each_cluster(label, splitter, components, merging):
    X, y, accuracy = DEGENERATE[label]
    model = BottomUpTreeClassifier(splitter, components=components, merging=merging, random_state=0).fit(X, y)
    assert model.n_leaves_ == sum(model.n_clusters_.values()) >= len(set(y))
    assert model.score(X, y) >= accuracy - 1e-12


def test_a_mixture_without_convergence_or_with_a_singular_covariance_names_class_and_k(monkeypatch):
    data = real_set("bupa")
    with pytest.raises(NotConverged) as error:
        BottomUpTreeClassifier(max_steps=1, min_components=2, random_state=0).fit(
            data.X, np.array(data.classes)[data.y]
        )
    assert str(error.value) == (
        "class 1, K=2: the mixture did not converge in 1 steps; raise max_steps or covariance_regularization."
    )
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)  # as it comes back from another process

    def fit(X, k, **settings):
        raise SingularCovariance("a covariance is singular")

    monkeypatch.setattr(clusters_of, "fit_mixture", fit)
    with pytest.raises(NotConverged) as error:
        BottomUpTreeClassifier().fit(data.X, data.y)
    assert str(error.value) == ("class 0, K=1: the mixture has a singular covariance; raise covariance_regularization.")


def plan(algorithm, **cv):
    settings = {"scheme": "ordinary", "folds": 3, "repeats": 1, **cv}
    return {"version": 1, "seed": 1, "dataset": "bupa", "algorithm": algorithm, "cv": settings}


def test_a_fold_whose_mixture_does_not_converge_is_marked_and_the_run_ends_with_3(tmp_path):
    experiment = config.from_mapping(plan({"name": "hhbut", "max_steps": 1, "min_components": 2}))
    with Store(tmp_path / "results.sqlite") as store:
        summary = running.run(experiment, store, n_jobs=1, offline=True)
        rows = store.rows(experiment.name)
    assert summary.exit_code == EXIT_FAILED_FOLDS == 3
    assert [row.status for row in rows] == ["failed"] * 3
    assert re.fullmatch(r"NotConverged: class 1, K=2: the mixture did not converge in 1 steps; .*", rows[0].message)


def test_rows_carry_the_clusters_of_every_class_and_the_path_answers_the_grid(tmp_path):
    costs = {"name": "butif_svm", "cost": {"grid": GRID}}
    experiment = config.from_mapping(plan(costs, scheme="two_stage", tune={"folds": 3}))
    with Store(tmp_path / "results.sqlite") as store:
        assert running.run(experiment, store, n_jobs=1, offline=True).exit_code == 0
        rows, (tuning,) = store.rows(experiment.name), store.tunings(experiment.name)
    assert tuning.chosen["cost"] in GRID and len(tuning.inner) == len(GRID)
    for row in rows:
        assert list(row.clusters) == ["1", "2"] and sum(row.clusters.values()) == row.n_leaves


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
def test_algorithms_of_a_fold_share_its_clusters_and_give_what_they_give_alone(tmp_path, monkeypatch, workers):
    # Another method stands between them, and a third has other clusters.
    names = [{"name": "hhbut"}, "hhcart_d", {"name": "hhbut", "id": "cv", "components": "cv"}, {"name": "butif_svm"}]
    together = plan("hhbut")
    del together["algorithm"]
    together["algorithms"] = names
    fits = counted_fits(monkeypatch)

    def rows(mapping, name):
        with Store(tmp_path / f"{name}.sqlite") as store:
            experiment = config.from_mapping(mapping)
            assert running.run(experiment, store, n_jobs=workers, offline=True).exit_code == 0
            rows = store.rows(experiment.name)
        return {(r.algorithm, r.fold): (r.n_correct, r.n_leaves, dict(r.clusters)) for r in rows}

    both = rows(together, "together")
    counts = [len(fits)]
    alone = {}
    for algorithm in names:
        alone |= rows({**plan("hhbut"), "algorithm": algorithm}, f"alone_{len(alone)}")
        counts.append(len(fits))
    assert both == alone and len(both) == 12
    if workers == 1:  # of other processes nothing is counted here
        of_bic, of_none, of_cv, again = np.diff(counts)
        assert of_bic == again > 0 == of_none and counts[0] == of_bic + of_cv


def test_a_class_that_a_training_set_lacks_has_no_clusters(tmp_path):
    data = real_set("glass")
    train = np.flatnonzero(data.y != 2)
    fold = running.Fold(0, 0, train, np.flatnonzero(data.y == 2), train[:0])
    (spec,) = config.from_mapping(plan("hhbut")).algorithms
    (policy,) = config.from_mapping({**plan("hhbut"), "dataset": "glass"}).datasets
    case = fits.Case(data, policy, spec, ALGORITHMS["hhbut"])
    row = fits.run_job(running.Job("k", "glass", "hhbut", 0, 0, 1), case, fold)
    assert list(row.clusters) == list(data.classes) and row.clusters["3"] == 0
    assert row.n_leaves == sum(row.clusters.values()) and row.n_correct == 0


def test_costs_by_size_are_those_of_weighed_rows_and_move_the_plane_towards_the_larger_group():
    """Both groups cost n C / 2 in all: where one has three times the rows, 4/6 C and 2 C a row."""
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(0.0, 1.0, (90, 2)), rng.normal([1.2, 0.0], 1.0, (30, 2))])
    group = np.repeat([0, 1], [90, 30]).astype(np.int32)
    alike, by_size = (svm_plane(X, group, 1.0, 0, costs) for costs in ("alike", "by_size"))
    center, spread = X.mean(axis=0), X.std(axis=0)
    weighed = LinearSVC(C=1.0, loss="hinge", max_iter=100_000, class_weight={0: 120 / 180, 1: 120 / 60})
    weighed.fit((X - center) / spread, group)
    sides = [int((X @ plane.coef > plane.threshold).sum()) for plane in (alike, by_size)]
    assert sides[1] > sides[0] + 10
    assert sides[1] == pytest.approx(int((weighed.decision_function((X - center) / spread) > 0).sum()), abs=2)


def test_defaults_are_those_of_the_thesis_and_there_are_no_sample_weights():
    d = ALGORITHMS["hhbut"].defaults
    assert (d["components"], d["component_folds"], d["criterion"], d["tau"]) == ("bic", 10, "twoing", 0.05)
    assert (d["merging"], d["hybrid"], d["covariance_regularization"]) == ("centroid", False, 0.01)
    assert "cost" not in d and "tau" not in ALGORITHMS["butif_svm"].parameters
    assert (ALGORITHMS["hhbut"].path_parameter, ALGORITHMS["butif_svm"].path_parameter) == (None, "cost")
    with pytest.raises(TypeError, match="sample_weight"):
        BottomUpTreeClassifier().fit([[0.0], [1.0]], [0, 1], sample_weight=[1, 2])


def test_clusters_that_overlap_beyond_the_threshold_are_undecided():
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(0.0, 1.0, (80, 2)), rng.normal(0.5, 1.0, (80, 2)), rng.normal(30.0, 1.0, (80, 2))])
    y = np.repeat([0, 1, 2], 80)
    model = make("hhbut", max_components=1, merging="overlap", random_state=0).fit(X, y)
    assert model.undecided(0.5).tolist() == [True, True, False]
    assert not model.undecided(1.0).any() and len(model.overlap_) == sum(model.n_clusters_.values())
    with pytest.raises(ValueError, match=r"threshold of undecided must be between 0 and 1\. Got 2\.0"):
        model.undecided(2.0)
    with pytest.raises(ValueError, match='fit with merging="overlap"'):
        make("hhbut", max_components=1, random_state=0).fit(X, y).undecided()


def clumps(seed, n, p, lattice=False):
    """Rows of three clumps; on a lattice they have ties and duplicates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 2 * rng.integers(0, 3, size=(n, 1))
    return np.ascontiguousarray(np.round(X) if lattice else X - X.mean(axis=0))


def theirs(X, k, n_init, max_steps, seed):
    mixture = GaussianMixture(
        k, init_params="random_from_data", reg_covar=0.1, n_init=n_init, max_iter=max_steps, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return mixture.fit(X)


@pytest.mark.parametrize("seed", range(10))
def test_a_mixture_is_that_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(8, 300)), int(rng.integers(1, 19))
    k = int(rng.integers(1, min(n, 13)))
    X = clumps(seed, n, p, lattice=seed % 3 == 0)
    n_init, max_steps = 1 + seed % 2, 2 if seed % 5 == 0 else 1000
    ours = fit_mixture(X, k, regularization=0.1, n_init=n_init, max_steps=max_steps, seed=seed)
    other = theirs(X, k, n_init, max_steps, seed)
    assert (ours.steps, ours.converged) == (other.n_iter_, other.converged_)
    np.testing.assert_allclose(ours.weights, other.weights_, rtol=1e-9)
    np.testing.assert_allclose(ours.means, other.means_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.factors, other.precisions_cholesky_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(ours.score_samples(X), other.score_samples(X), rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), other.predict(X))
    assert ours.bic(X) == pytest.approx(other.bic(X), rel=1e-9)


def test_blocks_of_components_change_no_bit(monkeypatch):
    X = clumps(1, 200, 5)
    whole = fit_mixture(X, 7, regularization=0.1, n_init=1, max_steps=1000, seed=3)
    monkeypatch.setattr(mixtures, "BLOCK", 2000)  # two components at a time
    parts = fit_mixture(X, 7, regularization=0.1, n_init=1, max_steps=1000, seed=3)
    for name in ("weights", "means", "factors"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


def test_rows_without_a_covariance_are_refused_unless_it_is_regularized():
    X = np.repeat(np.arange(6.0)[:, None], 2, axis=1)  # both features are the same
    with pytest.raises(SingularCovariance):
        fit_mixture(X, 1, regularization=0.0, n_init=1, max_steps=10, seed=0)
    assert fit_mixture(X, 1, regularization=1e-3, n_init=1, max_steps=10, seed=0).converged
    X = np.ascontiguousarray(clumps(2, 30, 2) * 1e200)
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(SingularCovariance):
        fit_mixture(X, 2, regularization=0.1, n_init=1, max_steps=10, seed=0)


@pytest.mark.parametrize("k", [1, 3, 8, 11])
def test_logarithms_of_sums_neither_overflow_nor_lose_ties(k):
    values = np.random.default_rng(k).normal(size=(k, 20)) * 300 - 2000
    values[:, 0] = -5000.0  # all alike
    np.testing.assert_allclose(log_of_sums(values), np.logaddexp.reduce(values, axis=0), rtol=1e-14)


# ---- the stored table ------------------------------------------------------------------------------------------------


def test_the_page_names_what_the_stored_run_loses_and_iris_has_its_numbers_again(tmp_path):
    """tools/algorithm_pages.py makes the table of the page."""
    stored = pd.read_csv(ROOT / "results" / "tables" / "bottom_up.csv")
    accuracy, leaves = (stored.pivot(index="algorithm", columns="dataset", values=v) for v in ("accuracy", "leaves"))
    mean, hybrids = accuracy.mean(axis=1), [name for name in accuracy.index if "hybrid" in name]
    assert mean["hhbut-forest"] > mean["hhbut"] + 3 and mean["butif_svm-forest"] < mean["butif_svm"] + 0.1
    assert accuracy.loc[hybrids, "bupa"].max() < accuracy.loc["hhbut", "bupa"]
    plan = yaml.safe_load((ROOT / "configs" / "bottom_up.yaml").read_text(encoding="utf-8"))
    assert set(stored["dataset"]) == set(plan["datasets"])
    assert set(stored["algorithm"]) == {spec.get("id", spec["name"]) for spec in plan["algorithms"]}
    plan |= {"datasets": ["iris"], "algorithms": plan["algorithms"][:5]}
    with Store(tmp_path / "results.sqlite") as store:
        experiment = config.from_mapping(plan)
        assert running.run(experiment, store, n_jobs=1, offline=True).exit_code == 0
        rows = store.rows(experiment.name)
    for spec in experiment.algorithms:
        folds = [row for row in rows if row.algorithm == spec.id]
        assert sum(row.n_correct for row in folds) / 1.5 == pytest.approx(accuracy.loc[spec.id, "iris"], abs=0.006)
        assert np.mean([row.n_leaves for row in folds]) == pytest.approx(leaves.loc[spec.id, "iris"])
