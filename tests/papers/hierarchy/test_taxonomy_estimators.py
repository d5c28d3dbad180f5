"""Editors against their definitions, and estimators under scikit-learn's checks and in experiments."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from contracts import real_set
from covering import few
from hierarchy_oracles import extract_clustering, nodes_of
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

import oblique_cli._core as _core
from oblique_cli import config
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.experiments import running
from oblique_cli.experiments.store import Store
from oblique_cli.papers.algorithms import NEIGHBORS
from oblique_cli.papers.hierarchy import editing_classifiers as classifiers
from oblique_cli.papers.hierarchy import editors as editing
from oblique_cli.papers.hierarchy.dissimilarities import METRICS, between
from oblique_cli.papers.hierarchy.hierarchies import Hierarchy, Taxonomy, staxac
from oblique_cli.papers.hierarchy.measures import extract_clusters, purity_thresholds
from oblique_cli.papers.hierarchy.neighbors import NearestNeighborsClassifier
from oblique_cli.papers.hierarchy.taxonomy_estimators import AvalancheClustering, SupervisedTaxonomy

CLASSIFIERS = [
    NearestNeighborsClassifier(3, weights="distance"),
    classifiers.WilsonClassifier("distance", n_neighbors=3),
    classifiers.MultiEditClassifier(),
    classifiers.SupervisedClusteringEditClassifier(restarts=1),
    classifiers.HCEditClassifier(inner_folds=2),
    classifiers.HCEditClassifier("upgma", beta=0.8),
]
NAMES = [algorithm.name for algorithm in ALGORITHMS.values() if algorithm.family is NEIGHBORS]


def noisy(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping groups with some labels flipped."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=n)
    X = rng.normal(size=(n, 2)) + 2.0 * y[:, None]
    return X, np.where(rng.random(n) < 0.1, 1 - y, y)


# ---- the rule --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", editing.WEIGHTS)
@pytest.mark.parametrize("k", [1, 3, 7])
def test_votes_are_those_of_scikit_learn_where_nothing_ties(k, weights):
    X, y = noisy(1)
    by = "uniform" if weights == "uniform" else (lambda d: 1 / (1 + d))
    peer = KNeighborsClassifier(k, weights=by).fit(X[:40], y[:40])
    ours = NearestNeighborsClassifier(k, weights=weights, scaling="none").fit(X[:40], y[:40])
    np.testing.assert_allclose(ours.predict_proba(X[40:]), peer.predict_proba(X[40:]))
    np.testing.assert_array_equal(ours.predict(X[40:]), peer.predict(X[40:]))


def test_of_equal_distances_the_first_row_and_of_equal_votes_the_nearest_class_wins():
    distances, codes = np.array([[2.0, 1.0, 1.0, 3.0]]), np.array([0, 2, 1, 0])
    assert editing.nearest(distances, 3).tolist() == [[1, 2, 0]]
    assert editing.classify(distances, codes, 2, 3).tolist() == [2]
    assert editing.classify(distances, codes, 4, 3).tolist() == [0]
    # One vote of 1 / (1 + 1) each for 2 and 1, 1/3 + 1/4 for 0.
    assert editing.classify(distances, codes, 4, 3, "distance").tolist() == [0]
    assert editing.classify(distances, codes, 3, 3, "distance").tolist() == [2]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_a_precomputed_matrix_gives_the_predictions_of_its_rows(model):
    X, y = noisy(2)
    seed = {"random_state": 0} if "random_state" in model.get_params() else {}
    rows = clone(model).set_params(scaling="none", **seed)
    matrix = clone(rows).set_params(metric="precomputed")
    rows.fit(X[:45], y[:45])
    matrix.fit(squareform(pdist(X[:45])), y[:45])
    np.testing.assert_array_equal(rows.kept_, matrix.kept_)
    np.testing.assert_array_equal(rows.predict(X[45:]), matrix.predict(cdist(X[45:], X[:45])))
    with pytest.raises(DataError, match="must be symmetric"):
        clone(matrix).fit(np.triu(np.ones((4, 4)), 1), [0, 1, 0, 1])
    with pytest.raises(DataError, match=r"dissimilarities must be 0 or more. Got -1"):
        matrix.predict(-np.ones((1, 45)))


# ---- editors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", editing.WEIGHTS)
@pytest.mark.parametrize("k", [1, 3, 5])
def test_wilson_drops_the_rows_that_all_others_classify_wrongly(k, weights):
    X, y = noisy(3)
    by = "uniform" if weights == "uniform" else (lambda d: 1 / (1 + d))
    expected = [
        KNeighborsClassifier(k, weights=by).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[i : i + 1])[0] == y[i]
        for i in range(len(X))
    ]
    retained = editing.wilson(squareform(pdist(X)), y, k, weights)
    np.testing.assert_array_equal(retained, expected)
    assert 0 < retained.sum() < len(y)
    model = classifiers.WilsonClassifier(weights, n_neighbors=k, scaling="none").fit(X, y)
    np.testing.assert_array_equal(model.kept_, np.flatnonzero(expected))
    assert model.compression_ == pytest.approx(100 * (1 - np.mean(expected)))
    assert model.extra_measures(X, y) == {"compression": model.compression_}


def test_an_editor_that_would_leave_nothing_leaves_everything():
    square = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert editing.wilson(square, np.array([0, 1]), 1).all()
    assert editing.wilson(np.zeros((1, 1)), np.array([0]), 1).all()
    rng = np.random.default_rng(0)
    assert editing.multi_edit(square, np.array([0, 1]), 1, 2, 1, rng).all()
    assert editing.multi_edit(square, np.array([0, 1]), 1, 3, 1, rng).all()


def test_multi_edit_ends_when_every_subset_agrees_with_the_next():
    X, y = noisy(4, 150)
    square = squareform(pdist(X))
    for rounds in (1, 5):
        retained = np.flatnonzero(editing.multi_edit(square, y, 1, 3, rounds, np.random.default_rng(0)))
        assert 0 < len(retained) < len(y)
        one_more = editing.multi_edit(
            square[np.ix_(retained, retained)], y[retained], 1, 3, rounds, np.random.default_rng(9)
        )
        # What is left is nearly consistent; with five quiet rounds asked for, it is more so.
        assert one_more.mean() > (0.9 if rounds == 1 else 0.95)
    # By hand: two subsets of one object each, of different classes, judge each other wrong; of one class, right.
    far = np.array([[0.0, 5.0], [5.0, 0.0]])
    assert editing.multi_edit(far, np.array([1, 1]), 1, 2, 1, np.random.default_rng(0)).tolist() == [True, True]


@pytest.mark.parametrize("seed", range(4))
def test_a_climb_over_representatives_ends_where_no_change_of_one_is_better(seed):
    X, y = noisy(seed, 25)
    square, labels, weight = squareform(pdist(X)), y.astype(np.int32), 0.1

    def q(chosen):
        owner = [min(chosen, key=lambda r: (square[i, r], r)) for i in range(len(y))]
        right = sum(np.bincount([y[i] for i in range(len(y)) if owner[i] == r], minlength=2).max() for r in chosen)
        return 1 - right / len(y) + weight * np.sqrt(max(0, len(chosen) - 2) / len(y))

    start = np.sort(np.random.default_rng(seed).choice(25, 3, replace=False)).astype(np.int32)
    result, value = _core.climb_representatives(square, labels, 2, weight, start)
    chosen = result.tolist()
    assert value == pytest.approx(q(chosen), abs=1e-12) and value <= q(start.tolist()) + 1e-12
    for r in range(25):
        changed = sorted(set(chosen) ^ {r})
        if changed:
            assert q(changed) > value - 1e-12
    mask = editing.supervised_clustering(square, y, weight, 4, np.random.default_rng(seed))
    assert q(np.flatnonzero(mask).tolist()) <= 0.5


def test_the_trees_of_figure_6_3_are_edited_as_its_text_says():
    # x1, x2, x3 of one class and x4, x5 of the other; STAXAC's tree has purities 60 and 100, that of average linkage
    # 60, 66.67, 50 and 100.
    codes = np.array([0, 0, 0, 1, 1])
    by_staxac = Taxonomy.of(Hierarchy(np.array([[0, 1], [5, 2], [3, 4], [6, 7]]), np.arange(4.0)), codes)
    assert purity_thresholds(by_staxac).tolist() == [0.6, 1.0]
    assert editing.hc_edit(by_staxac, 0.6).tolist() == [True, True, True, False, False]
    assert editing.hc_edit(by_staxac, 0.61).all()
    by_linkage = Taxonomy.of(Hierarchy(np.array([[1, 3], [0, 5], [2, 4], [6, 7]]), np.arange(4.0)), codes)
    assert sorted(set(by_linkage.purity.round(4))) == [0.5, 0.6, 0.6667, 1.0]
    assert editing.hc_edit(by_linkage, 0.6).tolist() == [True, True, True, False, False]
    assert editing.hc_edit(by_linkage, 0.65).tolist() == [True, True, True, False, True]
    assert editing.hc_edit(by_linkage, 0.67).all()


@pytest.mark.parametrize("beta", [0.5, 0.7, 0.9, 1.0])
def test_hc_edit_keeps_the_majority_of_every_cluster(beta):
    X, y = noisy(5)
    tree, _ = staxac(pdist(X), y)
    expected = []
    for cluster in extract_clustering(nodes_of(tree), y, beta):
        counts = np.bincount(y[cluster])
        assert len(counts) == 1 or counts[0] != counts[1], "a tie within a cluster is no matter of the definition"
        expected += [i for i in cluster if y[i] == counts.argmax()]
    retained = np.flatnonzero(editing.hc_edit(Taxonomy.of(tree, y), beta))
    assert retained.tolist() == sorted(expected)
    model = classifiers.HCEditClassifier(beta=beta, scaling="none").fit(X, y)
    assert model.kept_.tolist() == retained.tolist() and model.beta_ == beta


@pytest.mark.parametrize("tree", ["staxac", "upgma"])
def test_one_fit_answers_every_beta_as_a_fit_each_would(tree):
    X, y = noisy(6)
    betas = [0.6, 0.8, 1.0]
    model = classifiers.HCEditClassifier(tree, beta=0.9, n_neighbors=3).fit(X[:40], y[:40])
    path, sizes = model.predict_path(X[40:], betas), model.n_leaves_path(betas)
    for k, beta in enumerate(betas):
        alone = classifiers.HCEditClassifier(tree, beta=beta, n_neighbors=3).fit(X[:40], y[:40])
        np.testing.assert_array_equal(path[:, k], alone.predict(X[40:]))
        assert sizes[k] == alone.n_leaves_ == len(alone.kept_)
    with pytest.raises(ConfigError, match=r"beta of HCEditClassifier must be a number in \(0, 1\], or none. Got 1.5."):
        model.predict_path(X, [1.5])


@pytest.mark.parametrize("tree", ["staxac", "upgma"])
def test_beta_is_chosen_within_the_training_rows_among_the_thresholds_of_their_tree(tree):
    X, y = noisy(7)
    model = classifiers.HCEditClassifier(tree, random_state=1).fit(X, y)
    assert model.beta_ in purity_thresholds(model.taxonomy_)
    assert model.taxonomy_.purity[-1] <= model.beta_ < 1
    again = classifiers.HCEditClassifier(tree, random_state=1).fit(X, y)
    assert again.beta_ == model.beta_
    # No purity lies between that of the root and 1: classes far apart leave every row where it is.
    apart = classifiers.HCEditClassifier(tree, random_state=1).fit(X + 100 * y[:, None], y)
    assert apart.beta_ == 1.0 and apart.compression_ == 0.0


def test_beta_is_never_1_where_another_threshold_is_at_hand():
    # Far apart, but for a row of either class among the other: no editing is as good as any, and 1 was taken.
    X = np.r_[np.arange(10.0), 100 + np.arange(10.0)][:, None]
    y = np.repeat([0, 1], 10)
    y[[4, 15]] = [1, 0]
    model = classifiers.HCEditClassifier("upgma", n_neighbors=1, random_state=0).fit(X, y)
    assert model.beta_ < 1 and model.compression_ > 0


def test_editing_helps_nearest_neighbors_where_labels_are_noisy():
    X, y = noisy(8, 300)
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 2, size=400)
    fresh = rng.normal(size=(400, 2)) + 2.0 * truth[:, None]
    plain = NearestNeighborsClassifier().fit(X, y).score(fresh, truth)
    for model in (
        classifiers.WilsonClassifier(n_neighbors=3),
        classifiers.MultiEditClassifier(random_state=0),
        classifiers.HCEditClassifier(beta=0.85),
    ):
        assert model.fit(X, y).score(fresh, truth) > plain + 0.01


# ---- contracts -------------------------------------------------------------------------------------------------------


def test_avalanche_labels_are_its_highest_joins_and_taxonomy_labels_its_clusters():
    rng = np.random.default_rng(0)
    X, groups = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 20]), np.repeat([0, 1], 30)
    labels = AvalancheClustering(2, scaling="none").fit(X).labels_
    assert len(np.unique(np.column_stack([labels, groups]), axis=0)) == 2
    X, groups = np.concatenate([X, rng.normal(size=(30, 2)) - 20]), np.repeat([0, 1, 2], 30)
    taxonomy = SupervisedTaxonomy().fit(X, groups)
    assert len(np.unique(np.column_stack([taxonomy.labels_, groups]), axis=0)) == 3
    single = SupervisedTaxonomy(dtype="float32").fit(X, groups)
    assert len(np.unique(np.column_stack([single.labels_, groups]), axis=0)) == 3
    assert SupervisedTaxonomy("gabriel").fit(X, groups).rounds_ == 1
    with pytest.raises(DataError, match=r"90 objects can be cut into 1 to 90 clusters. Got 91."):
        AvalancheClustering(91).fit(X)


@pytest.mark.parametrize("name", NAMES)
def test_every_neighbor_algorithm_learns_wine(name):
    with pytest.raises(ConfigError, match="metric of"):
        make(name, metric="precomputed")
    data = real_set("wine")
    model = make(name, random_state=0).fit(data.X[::2], data.y[::2])
    assert model.score(data.X[1::2], data.y[1::2]) > 0.8
    assert (model.n_leaves_, model.depth_) == (len(model.kept_), 0)


def test_beta_is_tuned_by_nested_cross_validation_on_one_fit_a_fold(tmp_path):
    plain = {
        "version": 1,
        "dataset": "iris",
        "algorithm": {"name": "hc_edit_staxac", "n_neighbors": 3, "beta": {"grid": [0.8, 0.9, 1.0]}},
        "cv": {"scheme": "nested", "folds": 2, "repeats": 1, "tune": {"folds": 2}},
    }
    experiment = config.from_mapping(plain, "hc", [], where="test")
    with Store(tmp_path / "s.sqlite") as store:
        summary = running.run(experiment, store, n_jobs=1)
        rows = store.rows(experiment.name)
    assert not summary.failures and len(rows) == 2
    assert all(row.chosen["beta"] in (0.8, 0.9, 1.0) and row.n_correct / row.n_test > 0.85 for row in rows)


# ---- rows so far away that squares and sums of their distances overflow ----------------------------------------------

ROWS = np.array([[1.0, 2.0], [3.0, 1.0], [-2.0, 0.5], [0.0, -4.0]])
FAR = np.array([[1e200, 2e200], [-1e300, 1.0], [1.7e308, 1.0e308], [3.0, -1e180]])


@pytest.mark.parametrize("metric", METRICS)
def test_distances_from_afar_are_finite_and_of_near_rows_as_before(metric):
    both = np.vstack([FAR, ROWS])
    result = between(both, ROWS, metric)
    assert np.isfinite(result).all() and (result >= 0).all()
    np.testing.assert_array_equal(result[len(FAR) :], between(ROWS, ROWS, metric))


def test_distances_from_afar_are_those_of_exact_arithmetic():
    rows = FAR[[0, 1, 3]]
    exact = [[sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, z, strict=True)) for z in ROWS] for x in rows]
    near = between(rows, ROWS, "euclidean")
    for line, squares in zip(near, exact, strict=True):
        assert all(abs(Fraction(d) ** 2 / square - 1) < 1e-14 for d, square in zip(line, squares, strict=True))


@few(1, metric=["euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine"], weights=["uniform", "distance"])
def test_a_far_row_gets_an_answer(metric, weights):
    model = NearestNeighborsClassifier(3, metric=metric, weights=weights).fit(ROWS, ["a", "a", "b", "b"])
    assert set(model.predict(FAR)) <= {"a", "b"}
    shares = model.predict_proba(FAR)
    assert np.isfinite(shares).all() and shares.sum(axis=1) == pytest.approx(1.0)


DIVIDED = ("iris", "wine", "glass", "bupa", "new_thyroid", "haberman", "ionosphere", "vehicle")


def test_the_page_has_the_clusters_of_staxac_and_of_division_on_the_sets_of_the_catalogue():
    kinds = ({"graph": "nearest"}, {"graph": "renewed"}, {"method": "divisive"})
    lines = ["| set | objects | STAXAC `nearest` | STAXAC `renewed` | division |", "| --- | --- | --- | --- | --- |"]
    fewer = []
    for name in DIVIDED:
        data = real_set(name)
        counts = []
        for kind in kinds:
            model = SupervisedTaxonomy(**kind).fit(data.X, data.y)
            counts.append([len(extract_clusters(model.taxonomy_, purity)) for purity in (1.0, 0.9)])
            assert model.labels_.max() + 1 == counts[-1][0]
        fewer.append(counts[1][0] < counts[2][0] < counts[0][0])
        cells = (name, str(len(data.y)), *(f"{pure} / {nearly}" for pure, nearly in counts))
        lines.append(f"| {' | '.join(cells)} |")
    page = (Path(__file__).parents[3] / "docs/algorithms/taxonomies.md").read_text(encoding="utf-8")
    assert "\n\n" + "\n".join(lines) + "\n\nDivision needs fewer pure clusters than `nearest` except on bupa." in page
    assert [name for name, holds in zip(DIVIDED, fewer, strict=True) if not holds] == ["bupa"]
