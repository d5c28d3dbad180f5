"""PATHFINDER: the paper's worked cluster, boundary points by hand, slow oracles, the reject option, bad input."""

import json

import numpy as np
import pytest
from contracts import real_set
from hypothesis import given, settings
from hypothesis import strategies as st

import oblique_cli._core as _core
from oblique_cli import config
from oblique_cli.data import load
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.evaluation.tables import summarize
from oblique_cli.experiments.running import run
from oblique_cli.experiments.store import Store
from oblique_cli.papers.pathfinder.classifier import PathfinderClassifier
from oblique_cli.papers.pathfinder.regions import CellGrid, best_clusters, clusters_of


def cells_to_rows(counts, size):
    """Rows in the middle of cells, (column, row) -> (class 0, class 1); a third class holds the grid's corners."""
    U, y = [[0.0, 0.0], [float(size), float(size)]], [2, 2]
    for (column, row), numbers in counts.items():
        for code, n in enumerate(numbers):
            U += [[column + 0.5, row + 0.5]] * n
            y += [code] * n
    return np.array(U), np.array(y, dtype=np.int32)


def regions(counts, size, pivot=0, alpha=1.0, theta=1.0):
    U, y = cells_to_rows(counts, size)
    return clusters_of(U, y, 3, (0, 1), (pivot, 1 - pivot), CellGrid(size, alpha, theta))


# ---- clusters --------------------------------------------------------------------------------------------------------

# Figure 3.5: class 0 are its circles, class 1 its crosses. The text gives the purities of blocks; how the rows of one
# lie in its cells is ours.
FIGURE = {
    (6, 3): (3, 0),
    (7, 3): (3, 1),
    (6, 4): (3, 0),
    (7, 4): (4, 0),
    (5, 3): (2, 1),
    (5, 4): (2, 0),
    (5, 2): (1, 1),
    (6, 2): (0, 1),
    (7, 2): (1, 1),
}


def test_the_worked_cluster_of_figure_3_5_and_a_higher_threshold_that_stops_it_earlier():
    result = regions(FIGURE, 8, alpha=0.7, theta=0.8)
    np.testing.assert_allclose(result.corners, [[5, 3, 8, 5]])
    # At 100 % the cell (7, 3), of purity 3/4, stays out; upwards goes on.
    assert [6.0, 3.0, 7.0, 5.0] in regions(FIGURE, 8).corners.tolist()


def test_touching_rectangles_of_a_class_are_one_cluster():
    # An L: a row of three cells, and a cell above its end; the other class keeps the row above from being added.
    counts = {(0, 0): (2, 0), (1, 0): (2, 0), (2, 0): (2, 0), (2, 1): (2, 0), (0, 1): (0, 3), (5, 5): (3, 0)}
    result = regions(counts, 6)
    assert len(result.corners) == 3 and result.cluster.tolist() == [0, 0, 1]


def naive_rectangles(counts, size, alpha, theta):
    """Algorithm 2.1 line by line, on dictionaries."""
    taken, result = set(), []

    def total(block):
        return sum(counts.get(c, (0, 0))[0] for c in block), sum(counts.get(c, (0, 0))[1] for c in block)

    def pure(numbers, share):
        return sum(numbers) > 0 and numbers[0] / sum(numbers) >= share - 1e-9

    for row in range(size):
        for column in range(size):
            if (column, row) in taken or counts.get((column, row), (0, 0))[0] == 0:
                continue
            if not pure(total([(column, row)]), theta):
                continue
            box = [column, row, column, row]
            grew = True
            while grew:
                grew = False
                for side, step in ((2, 1), (3, 1), (0, -1), (1, -1)):  # right, up, left, down
                    at = box[side] + step
                    if not 0 <= at < size:
                        continue
                    if side % 2 == 0:
                        block = [(at, r) for r in range(box[1], box[3] + 1)]
                    else:
                        block = [(c, at) for c in range(box[0], box[2] + 1)]
                    grown = box.copy()
                    grown[side] = at
                    whole = [(c, r) for c in range(grown[0], grown[2] + 1) for r in range(grown[1], grown[3] + 1)]
                    if not taken & set(block) and pure(total(block), alpha) and pure(total(whole), theta):
                        box, grew = grown, True
            taken |= {(c, r) for c in range(box[0], box[2] + 1) for r in range(box[1], box[3] + 1)}
            result.append([box[0], box[1], box[2] + 1, box[3] + 1])
    return result


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.sampled_from([(1.0, 1.0), (0.6, 0.8), (0.3, 0.5)]))
def test_rectangles_equal_the_algorithm_line_by_line(seed, size, purity):
    rng = np.random.default_rng(seed)
    share = rng.uniform(0.2, 0.9)
    counts = {}
    for cell in np.ndindex(size, size):
        n = rng.integers(0, 4)
        first = rng.binomial(n, share)
        counts[cell] = (int(first), int(n - first))
    result = regions(counts, size, alpha=purity[0], theta=purity[1])
    slow = np.reshape(naive_rectangles(counts, size, *purity), (-1, 4))
    np.testing.assert_allclose(result.corners.reshape(-1, 4), slow)


# ---- boundary points -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "points", "points_of_second"),
    [
        # Direct neighbors: columns end at 2 and start at 4, and share the row between 1 and 2.
        ([(0, 0), (0, 1), (1, 0), (1, 1)], [(4, 1), (4, 2), (5, 1), (5, 2)], [[3.0, 1.5]], [[3.0, 1.5]]),
        # Only the nearer cluster of class 1 faces class 0; the other has no direct neighbor, and no oblique one.
        ([(0, 0)], [(2, 0), (4, 0)], [[1.5, 0.5]], [[1.5, 0.5]]),
        # Vertical neighbors have points in columns.
        ([(1, 0), (2, 0)], [(1, 3), (2, 3)], [[1.5, 2.0], [2.5, 2.0]], [[1.5, 2.0], [2.5, 2.0]]),
        # Oblique neighbors: class 0 ends at (1, 1), class 1 starts at (3, 2): b1 = ((1 + 3) / 2, (1 + 2) / 2) for both,
        # b2, b3 at its height.
        ([(0, 0)], [(3, 2)], [[2.0, 1.5], [1.0, 1.5]], [[2.0, 1.5], [3.0, 1.5]]),
        # Class 0 faces the first of class 1; the second, without a direct neighbor, finds class 0 to its southwest.
        ([(0, 0)], [(3, 0), (3, 3)], [[2.0, 0.5], [2.0, 2.0], [1.0, 2.0]], None),
    ],
)
def test_boundary_points_lie_halfway_between_neighbors(first, second, points, points_of_second):
    counts = dict.fromkeys(first, (1, 0)) | dict.fromkeys(second, (0, 1))
    for pivot, expected in enumerate((points, points_of_second)):
        if expected is not None:
            result = regions(counts, 6, pivot=pivot)
            np.testing.assert_allclose(result.points, expected)
            assert result.owner[0] == 0


# ---- inside or not ---------------------------------------------------------------------------------------------------


def naive_inside(result, s):
    """Algorithm 3, lines 7 to 14, with the choices where a line does not exist."""
    d = np.hypot(*(result.points - s).T)
    near = int(np.argmin(d))
    p, owner = result.points[near], result.owner[near]
    center = result.centers[owner]

    def nearest(mask):
        mask = mask & (np.hypot(*(result.points - p).T) > 1e-12)
        return int(np.argmin(np.where(mask, d, np.inf))) if mask.any() else None

    second = nearest(result.owner == owner)
    if second is None:
        second = nearest(result.cluster[result.owner] == result.cluster[owner])
    if second is not None:
        q = result.points[second]
        of_center, of_s = np.linalg.det([q - p, center - p]), np.linalg.det([q - p, s - p])
        if abs(of_center) > 1e-9 * np.linalg.norm(q - p) * np.linalg.norm(center - p):
            return of_center * of_s >= 0
    return (s - p) @ (center - p) >= 0


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_inside_equals_the_algorithm_row_by_row(seed):
    rng = np.random.default_rng(seed)
    U = rng.uniform(size=(80, 2))
    y = (U[:, 0] + 0.3 * np.sin(9 * U[:, 1]) + rng.normal(0, 0.05, 80) > 0.5).astype(np.int32)
    result = clusters_of(U, y, 2, (0, 1), (0, 1), CellGrid(6, 1.0, 1.0))
    rows = rng.uniform(-0.1, 1.1, size=(60, 2))
    if len(result.points):
        assert result.inside(rows).tolist() == [bool(naive_inside(result, s)) for s in rows]
    else:
        assert not result.inside(rows).any()


def test_rectangles_that_overlap_in_a_cell_without_rows_are_parted_in_the_middle_of_it():
    # Cells (column, row) of a 3 x 3 grid: class 0 in (0, 0), (1, 0) and (0, 1), class 1 in (2, 1), (2, 2) and (1, 2).
    # By whole rows both grow over the empty cell (1, 1).
    cells = np.array([[0, 0], [1, 0], [0, 1], [2, 1], [2, 2], [1, 2]])
    U, y = np.r_[(cells + 0.5) / 3, [[0, 0], [1, 1]]], np.array([0, 0, 0, 1, 1, 1, 0, 1], dtype=np.int32)
    grid = CellGrid(3, 1.0, 1.0)
    local, other = (clusters_of(U, y, 2, (0, 1), pair, grid) for pair in ((0, 1), (1, 0)))
    np.testing.assert_allclose(local.corners, [[0, 0, 2 / 3, 2 / 3]])
    np.testing.assert_allclose(other.corners, [[1 / 3, 1 / 3, 1, 1]])
    np.testing.assert_allclose(local.points, [[0.5, 0.5]])
    np.testing.assert_allclose(other.points, [[0.5, 0.5]])
    assert local.inside(U).tolist() == (y == 0).tolist() and other.inside(U).tolist() == (y == 1).tolist()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_split_has_the_largest_gain_over_all_planes_and_pairs(seed):
    rng = np.random.default_rng(seed)
    U, y = rng.uniform(size=(90, 3)), rng.integers(0, 3, 90).astype(np.int32)
    U[:, 0] += 0.4 * y
    grid = CellGrid(5, 1.0, 1.0)

    def gini(codes):
        return 1 - ((np.bincount(codes, minlength=3) / max(len(codes), 1)) ** 2).sum()

    best = 0.0
    for plane in ((0, 1), (0, 2), (1, 2)):
        for pair in [(a, b) for a in range(3) for b in range(3) if a != b]:
            inside = clusters_of(U, y, 3, plane, pair, grid).inside(U)
            if 0 < inside.sum() < 90:
                best = max(best, gini(y) - inside.mean() * gini(y[inside]) - (~inside).mean() * gini(y[~inside]))
    result = best_clusters(U, y, 3, grid)
    assert (result[1] if result else 0.0) == pytest.approx(best, abs=1e-9)


# ---- trees -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "size"), [("patches_4", 20), ("sine_2d", 12)])
def test_the_papers_easy_sets_take_two_leaves_and_reject_nothing(name, size):
    data = load(name)
    model = PathfinderClassifier(size).fit(data.X[::2], data.y[::2])
    measures = model.extra_measures(data.X[1::2], data.y[1::2])
    # On nine tenths of the rows Table 3.6 has 100 % and no rejected row; this is half of them.
    assert model.n_leaves_ == 2 and measures["published_accuracy_percent"] >= 99.5 and measures["reject_percent"] <= 1


def test_measures_count_rejected_rows_as_the_paper_does():
    data = load("circles_2d")
    model = PathfinderClassifier(18).fit(data.X[::2], data.y[::2])
    X, y = data.X[1::2], data.y[1::2]
    predicted, rejected = model.predict_with_reject(X)
    result = model.extra_measures(X, y)
    wrong = np.mean((predicted != y) & ~rejected)
    assert 0 < rejected.sum() < len(y)
    assert result["reject_percent"] == pytest.approx(100 * rejected.mean())
    assert result["published_accuracy_percent"] == pytest.approx(100 - 100 * wrong)
    assert result["accepted_accuracy_percent"] == pytest.approx(100 * (predicted == y)[~rejected].mean())
    np.testing.assert_array_equal(model.predict(X), predicted)
    np.testing.assert_array_equal(model.reject_, model.predict_with_reject(data.X[::2])[1])


def test_a_row_between_the_classes_is_rejected_in_a_leaf_of_clusters():
    # Two square blocks far apart obliquely; a row out on the other diagonal is in neither.
    rng = np.random.default_rng(0)
    X = np.vstack([rng.uniform(0, 1, (60, 2)), rng.uniform(4, 5, (60, 2))])
    model = PathfinderClassifier(5).fit(X, np.repeat(["low", "high"], 60))
    assert model.n_leaves_ == 2 and not model.reject_.any()
    assert model.predict([[0.5, 0.5], [4.5, 4.5]]).tolist() == ["low", "high"]


def test_leaves_that_are_not_pure_reject_all_their_rows_and_pure_ones_none():
    data = real_set("glass")
    for theta in (100.0, 70.0):
        both = {
            word: PathfinderClassifier(8, alpha=theta, theta=theta, rejected=word).fit(data.X, data.y)
            for word in ("outside", "impure")
        }
        model = both["impure"]
        assert model.n_leaves_ == both["outside"].n_leaves_  # the trees are the same, their leaves are not
        np.testing.assert_array_equal(model.predict(data.X), both["outside"].predict(data.X))
        counts = np.array([node.counts for node in model.tree_.nodes])[model.apply(data.X)]
        shares = 100 * counts.max(axis=1) / counts.sum(axis=1)
        np.testing.assert_array_equal(model.reject_, shares < theta)
        assert 0 < model.reject_.sum() < data.n
        text = model.export_text()
        assert "rejected, " in text and "else rejected" not in text
    assert not PathfinderClassifier(8, rejected="impure").fit(data.X, np.zeros(data.n)).reject_.any()


def test_stopping_rules_are_in_percent():
    data = real_set("glass")
    small = PathfinderClassifier(8, min_node=0, min_gain=0).fit(data.X, data.y)
    large = PathfinderClassifier(8, min_node=40).fit(data.X, data.y)
    assert large.n_leaves_ < small.n_leaves_
    inner = [node for node in large.tree_.nodes if node.split is not None]
    assert all(node.counts.sum() >= 0.4 * len(data.y) for node in inner)
    assert PathfinderClassifier(8, min_gain=100).fit(data.X, data.y).n_leaves_ == 1


def test_the_grid_is_chosen_by_errors_and_rejections_on_the_training_rows():
    data = load("sine_2d")
    X, y = data.X[::4], data.y[::4]
    model = PathfinderClassifier("auto", max_grid_size=8).fit(X, y)

    def bad(size):
        single = PathfinderClassifier(size).fit(X, y)
        return int(((single.predict(X) != y) | single.reject_).sum())

    scores = {size: bad(size) for size in range(2, 9)}
    assert model.grid_size_ == min(scores, key=lambda size: (scores[size], size))


def test_degenerate_data_have_a_stated_answer():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    single = PathfinderClassifier(4).fit(X, np.zeros(20))
    assert single.n_leaves_ == 1 and not single.reject_.any()
    flat = PathfinderClassifier(4).fit(np.ones((20, 3)), rng.permutation(np.repeat([0, 1], 10)))
    assert flat.n_leaves_ == 1 and flat.reject_.all()
    names = (f"{name}_percent" for name in ("reject", "published_accuracy", "accepted_accuracy"))
    assert flat.extra_measures(np.ones((2, 3)), [0, 1]) == dict.fromkeys(names, 100.0)
    column = PathfinderClassifier(4).fit(X[:, :1], rng.permutation(np.repeat([0, 1], 10)))
    assert column.n_leaves_ == 1 and column.reject_.all()  # one feature makes no plane
    twins = PathfinderClassifier(4).fit(np.repeat(X[:5], 4, axis=0), np.tile([0, 1], 10))
    assert twins.reject_.all()  # every place has both classes: nothing is pure
    assert PathfinderClassifier(4).fit(X[:1], [3]).predict(X).tolist() == [3] * 20


@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce")  # scikit-learn's check sums the column
def test_a_range_beyond_the_largest_number_splits_as_a_small_one_does():
    data = load("circles_2d")
    rows = data.X - data.X.mean(axis=0)
    rows *= 1 / np.abs(rows).max(axis=0)
    small = PathfinderClassifier(8).fit(rows, data.y)
    large = PathfinderClassifier(8).fit(rows * 2.0**1023, data.y)
    assert small.n_leaves_ > 1
    assert large.tree_.to_dict() == small.tree_.to_dict()
    np.testing.assert_array_equal(large.predict(rows * 2.0**1023), small.predict(rows))


def test_defaults_are_those_of_the_paper():
    d = ALGORITHMS["pathfinder"].defaults
    assert (d["alpha"], d["theta"], d["min_node"], d["min_gain"]) == (100, 100, 5, 1)


def test_the_core_refuses_what_it_cannot_use():
    U, y = np.zeros((3, 2)), np.array([0, 1, 0], dtype=np.int32)
    with pytest.raises(ValueError, match="at least two cells"):
        _core.region_split(U, y, 2, 1, 1.0, 1.0)
    with pytest.raises(ValueError, match="two different features"):
        _core.regions(U, y, 2, 0, 0, 0, 1, 4, 1.0, 1.0)
    with pytest.raises(ValueError, match="two classes"):
        _core.regions(U, y, 2, 0, 1, 1, 1, 4, 1.0, 1.0)


def test_the_tree_command_shows_planes_and_rejections(call):
    ended = call("tree", "patches_4", "--algorithm", "pathfinder", "--set", "grid_size=20")
    assert ended.code == 0 and "2 leaves, 3 terms, depth 1, 1082 of its 1082 rows right, 0 rejected" in ended.out
    assert "if inside 2 clusters of C+ against C- in (x1, x2), 36 boundary points:" in ended.out
    document = json.loads(call("tree", "patches_4", "--algorithm", "pathfinder", "--format", "json").out)
    assert document["schema"] == "oblique-region-tree/1"
    assert call("tree", "patches_4", "--algorithm", "pathfinder", "--set", "grid_size=auto").code == 0


def test_the_printed_accuracy_stands_beside_the_one_that_counts_rejected_rows_as_right(tmp_path):
    plain = {
        "version": 1,
        "dataset": "bupa",
        "algorithm": {"name": "pathfinder"},
        "cv": {"folds": 3, "repeats": 1},
        "published": ["amalaman2015:3.7"],
    }
    configuration = config.from_mapping(plain, "rejects", [], where="test")
    with Store(tmp_path / "oblique.sqlite") as store:
        run(configuration, store, n_jobs=1)
        (line,) = summarize(store.rows(configuration.name), configuration, titles={"pathfinder": "PATHFINDER"}).lines
    assert line.accuracy.published is None
    assert line.values["published_accuracy_percent"].published.mean == 81.63
    assert line.values["reject_percent"].published.mean == 21.63
