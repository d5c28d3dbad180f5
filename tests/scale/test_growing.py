"""A tree from chunks on a disk is the tree in memory, in every array."""

import threading
import time
from unittest import mock

import numpy as np
import pytest
from covering import few
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scale_support import same, stored, table

import oblique_cli._core as _core
import oblique_cli.ground.magnitudes
import oblique_cli.proposers
from oblique_cli.errors import ConfigError, DataError
from oblique_cli.scale import growing
from oblique_cli.scale.growing import Plan, grow
from oblique_cli.scale.passes import Finish, Here, together_or_alone
from oblique_cli.tree.criteria import CRITERIA, criterion
from oblique_cli.tree.growing import grow_top_down
from oblique_cli.tree.splitting import PROPOSERS
from oblique_cli.tree.stopping import Stopping

pytestmark = pytest.mark.usefixtures("large_from_40_rows")
STOPPING = Stopping(2, 0.0, 4)


def assert_as_in_memory(folder, X, y, heuristic, criterion="gini", *, blocks=3, threads=1, ties="tolerant", **plan):
    """The growth from blocks of a store, whose tree is that of memory."""
    how = {"criterion": criterion, "stopping": STOPPING, "ties": ties}
    expected = grow_top_down(X, y, int(y.max()) + 1, heuristic, **how)
    store = stored(folder, X, y, blocks=blocks)
    plan = {"finish_rows": 0, **plan}
    grown = grow(Here(store, threads), store, Plan(heuristic, criterion, STOPPING, ties=ties, **plan))
    assert not same(grown.tree, expected)
    return grown


def keep_places(store, places):
    """Write the place of every row at level 1 into a store."""
    for chunk, of_chunk in enumerate(np.split(places, np.cumsum(store.sizes)[:-1])):
        store.keep_places(1, chunk, of_chunk)


def test_a_criterion_of_a_plugin_grows_from_blocks(tmp_path):
    @criterion("own_of_blocks")
    def product(left, right):
        """The same shares of every class are worth nothing."""
        n, m = left.sum(axis=1), right.sum(axis=1)
        return np.abs(left * m[:, None] - right * n[:, None]).sum(axis=1)

    try:
        assert_as_in_memory(
            tmp_path / "store", *table(3, "whole numbers"), PROPOSERS["axis_parallel"](), "own_of_blocks"
        )
    finally:
        del CRITERIA._things["own_of_blocks"]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(
        ["normal", "whole numbers", "offset", "skewed", "heap", "tied heap", "ladder", "rounded beside an offset"]
    ),
    few=st.sampled_from([0.0, growing.FEW_ROWS]),
    name=st.sampled_from(_core.from_sums()),
    criterion=st.sampled_from(["gini", "entropy", "twoing", "max_minority", "sum_minority"]),
    ties=st.sampled_from(["tolerant", "strict"]),
    weighted=st.booleans(),
    mixed=st.booleans(),
    order=st.permutations(range(5)),
    min_leaf=st.sampled_from([1.0, 4.0]),
)
def test_any_order_of_blocks_gives_the_tree_in_memory(
    tmp_path_factory, seed, kind, few, name, criterion, ties, weighted, mixed, order, min_leaf
):
    X, y = table(seed, kind, n=160)
    rng = np.random.default_rng(seed)
    levels = (4, 0, 0) if mixed else ()
    if mixed:
        X[:, 0] = rng.integers(0, 5, len(X))  # 4 is no level
    weights = rng.uniform(1, 3, len(X)) if weighted else None
    heuristic = PROPOSERS[name]()
    given_ = {"criterion": criterion, "stopping": STOPPING, "ties": ties, "min_leaf": min_leaf}
    expected = grow_top_down(X, y, 3, heuristic, weights=weights, levels=levels or None, **given_)
    if weights is not None:
        weights = oblique_cli.ground.magnitudes.summable(weights / weights.min())
    folder = tmp_path_factory.mktemp("rows") / "store"
    store = stored(folder, X, y, weights, n_classes=3, levels=levels, blocks=5, order=order)
    with mock.patch.object(growing, "FEW_ROWS", few):
        tree = grow(Here(store), store, Plan(heuristic, criterion, STOPPING, min_leaf, ties, finish_rows=0)).tree
    assert not same(tree, expected)


def looks(asker, result):
    """Lets an asker write down how many cells were divided in each pass that looks into cells."""
    ask = asker.ask

    def written(kind, level, request):
        if kind == "look":
            result.append((level, int((np.diff(request["first_part"]) > 0).sum())))
        return ask(kind, level, request)

    asker.ask = written
    return asker


@few(
    1,
    weighted=[False, True],
    kind=["heap", "tied heap", "ladder"],
    name=[name for name in _core.from_sums() if name != "gdt"],
    parts=[(1, None), (2, [1, 0]), (7, [3, 1, 6, 0, 5, 2, 4])],
)
def test_cells_are_divided_until_few_rows_are_left(name, kind, weighted, parts, tmp_path, monkeypatch):
    monkeypatch.setattr(growing, "FEW_ROWS", 0.0)
    X, y = table(2, kind, n=1500)
    heuristic = PROPOSERS[name]()
    weights = np.random.default_rng(3).integers(1, 4, len(X)).astype(float) if weighted else None
    expected = grow_top_down(X, y, 3, heuristic, weights=weights, criterion="gini", stopping=STOPPING)
    assert expected.depth > 1
    blocks, order = parts
    store = stored(tmp_path / str(blocks), X, y, weights, blocks=blocks, order=order)
    divided = []
    asker = looks(Here(store, threads=min(blocks, 2)), divided)
    tree = grow(asker, store, Plan(heuristic, "gini", STOPPING, finish_rows=0)).tree
    assert not same(tree, expected)
    assert any(cells for _, cells in divided)


@pytest.mark.parametrize("name", ["hhcart_a", "hhgdt"])
def test_parts_of_a_bin_stay_open_where_the_best_edge_is_no_cut(name, tmp_path, monkeypatch):
    # Of 4000 rows many projections differ by less than counts as a difference, so edges between bins are no cuts.
    monkeypatch.setattr(growing, "FEW_ROWS", 0.0)
    X, y = table(0, "rounded beside an offset", n=4000, p=4)
    for memory in (30_000, 1 << 30):
        assert_as_in_memory(tmp_path / str(memory), X, y, PROPOSERS[name](), blocks=2, memory=memory)


def test_neither_blocks_nor_memory_change_the_tree(tmp_path):
    X, y = table(4, "heap", n=1500)
    passes = []
    for memory in (12_000, 1 << 20):
        grown = assert_as_in_memory(tmp_path / str(memory), X, y, PROPOSERS["hhcart_a"](), memory=memory)
        passes.append(sum(level.passes for level in grown.levels))
    assert passes[0] > passes[1]
    grown = assert_as_in_memory(tmp_path / "rows", *table(8), PROPOSERS["hhcart_d"](), blocks=4, finish_rows=150)
    assert grown.levels[0].finished == 0 and sum(level.finished for level in grown.levels) > 0


@pytest.mark.parametrize("ties", ["tolerant", "strict"])
def test_an_edge_between_bins_need_not_be_a_cut(ties, tmp_path):
    # 0.5 is the edge of a bin; the rows on its two sides count as one value unless ties are strict.
    x = np.repeat([0.0, 0.2, 0.5 - 1e-13, 0.5, 0.9, 1.0], [20, 90, 200, 200, 70, 20])
    y = np.repeat([1, 0, 0, 1, 1, 0], [20, 90, 200, 200, 70, 20]).astype(np.int32)
    X = np.column_stack([x, np.ones(len(x))])
    heuristic = PROPOSERS["axis_parallel"]()
    store = stored(tmp_path / "rows", X, y, blocks=3)
    tree = grow(Here(store), store, Plan(heuristic, "gini", STOPPING, ties=ties, finish_rows=0)).tree
    expected = grow_top_down(X, y, 2, heuristic, criterion="gini", stopping=STOPPING, ties=ties)
    assert not same(tree, expected)
    assert (abs(expected.thresholds[0] - 0.5) < 1e-9) == (ties == "strict")


@pytest.mark.parametrize("name", ["axis_parallel", "hhcart_d", "hhcart_a"])
def test_bytes_that_are_read_are_those_of_the_cost_model(name, tmp_path):
    X, y = table(5, "heap", n=1500, p=4)
    store = stored(tmp_path / "rows", X, y, blocks=3)
    grown = grow(Here(store), store, Plan(PROPOSERS[name](), "gini", STOPPING, finish_rows=200))
    passes = [1, *(level.passes for level in grown.levels)]  # the first counts the rows
    with_places = sum(passes[2:])
    rows, places = len(X) * (8 * X.shape[1] + 5), 4 * len(X)  # docs/scale.md
    assert store.bytes_read == sum(passes) * rows + with_places * places
    usual = 4 if name == "axis_parallel" else 5
    assert grown.levels[0].passes - usual in range(4)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("hhcart_a", {"reflections": "both"}),
        ("hhcart_a", {"shrinkage": True}),
        ("hhcart_a", {"sign": "positive", "tau": 0.5}),
        ("gdt", {"bisector_classes": "all"}),
        ("hhgdt", {"bisector_classes": "all"}),
    ],
)
def test_options_of_heuristics_count(name, options, tmp_path):
    assert_as_in_memory(tmp_path / "rows", *table(5, p=4), PROPOSERS[name](**options), "twoing")


@few(1, threads=[2, 3], memory=[6_000, 1 << 20])
def test_neither_threads_nor_memory_change_the_tree(threads, memory, tmp_path):
    _core.exact_sums_above(10)
    how = {"blocks": 6, "threads": threads, "memory": memory, "finish_rows": None}
    assert_as_in_memory(tmp_path / "rows", *table(7, p=4), PROPOSERS["hhcart_a"](), **how)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_put_the_rows_of_small_nodes_together_in_the_order_of_the_table(threads, weighted, tmp_path):
    X, y = table(9)
    weights = np.arange(1.0, len(X) + 1) if weighted else None
    store = stored(tmp_path / "rows", X, y, weights, blocks=5)
    places = np.random.default_rng(1).integers(-1, 4, len(X)).astype(np.int32)
    keep_places(store, places)
    wanted = [2, 0]  # slots 0 and 1 of the request
    request = {"slots": np.array([1, -1, 0, -1], np.int32), "n_slots": 2}
    rows = [int((places == slot).sum()) for slot in wanted]

    def keep(X, y, w, *_):
        return {"X": X.copy(), "y": y.copy(), "w": None if w is None else w.copy()}

    with mock.patch.object(_core, "grow", keep):
        seen = Here(store, threads).finish(Finish(1, request, rows, "hhcart_d", [{}, {}]))
    for of_slot, slot in zip(seen, wanted, strict=True):
        assert (of_slot["X"] == X[places == slot]).all() and (of_slot["y"] == y[places == slot]).all()
        assert of_slot["w"] is None if weights is None else (of_slot["w"] == weights[places == slot]).all()


@pytest.mark.parametrize(
    ("rows", "threads", "expected"),
    [
        ([5], 1, ([], [0])),
        ([5], 2, ([0], [])),
        ([5, 5], 2, ([], [0, 1])),
        ([1, 9, 1, 1], 2, ([1, 0], [2, 3])),
        ([5, 5, 5], 2, ([0], [1, 2])),
        ([4, 5, 4, 5, 4, 4], 2, ([], [1, 3, 0, 2, 4, 5])),
        ([7, 7, 7, 7], 3, ([0], [1, 2, 3])),
    ],
)
def test_large_nodes_are_shared_and_the_others_grow_side_by_side(rows, threads, expected):
    assert together_or_alone(rows, threads) == expected


def test_an_error_in_one_of_the_trees_stops_the_others(tmp_path):
    X, y = table(9)
    store = stored(tmp_path / "rows", X, y, blocks=5)
    places = np.arange(len(X), dtype=np.int32) % 2
    keep_places(store, places)
    request = {"slots": np.array([0, 1], np.int32), "n_slots": 2}
    rows = [int((places == slot).sum()) for slot in (0, 1)]
    stopped = threading.Event()

    def one_fails(X, y, w, n_classes, family, options, levels, n_threads, stop):
        if options["fails"]:
            raise KeyError("of the tree")
        for _ in range(1000):
            if stop[0]:
                stopped.set()
                raise RuntimeError("the growth of the tree was stopped")
            time.sleep(0.01)

    with mock.patch.object(_core, "grow", one_fails), pytest.raises(KeyError, match="of the tree"):
        Here(store, 2).finish(Finish(1, request, rows, "hhcart_d", [{"fails": False}, {"fails": True}]))
    assert stopped.is_set()


def test_a_corrupt_chunk_stops_all_threads(tmp_path):
    X, y = table(4)
    store = stored(tmp_path / "rows", X, y, blocks=6)
    content = bytearray(store.file(3).read_bytes())
    content[5] ^= 1
    store.file(3).write_bytes(content)
    here = Here(store, threads=2)
    with pytest.raises(DataError, match=r"chunk 3 .* is corrupt"):
        here.ask("boxes", 0, {"n_slots": 1})
    assert len(here._pool._threads) <= 2
    store.file(3).write_bytes(bytes(content[:5]) + bytes([content[5] ^ 1]) + bytes(content[6:]))
    assert here.ask("boxes", 0, {"n_slots": 1})["rows"].sum() == len(X)


def test_an_untouched_default_gives_large_tables_the_same_tree(tmp_path):
    _core.exact_sums_above(65536)
    X, y = table(9, n=70_000)
    weights = np.random.default_rng(0).uniform(1, 2, len(X))
    for w in (None, weights):
        heuristic = PROPOSERS["hhcart_d"]()
        expected = grow_top_down(X, y, 3, heuristic, weights=w, criterion="gini", stopping=Stopping(2, 0.0, 2))
        used = None if w is None else oblique_cli.ground.magnitudes.summable(w / w.min())
        store = stored(tmp_path / str(w is None), X, y, used, blocks=3)
        tree = grow(Here(store), store, Plan(heuristic, "gini", Stopping(2, 0.0, 2), finish_rows=0)).tree
        assert not same(tree, expected)


def test_too_little_memory_and_a_corrupt_chunk_are_named(tmp_path):
    X, y = table(1)
    store = stored(tmp_path / "rows", X, y, blocks=3)
    with pytest.raises(ConfigError, match="--memory 0 MB is too small"):
        grow(Here(store), store, Plan(PROPOSERS["hhcart_d"](), memory=1000))
    content = bytearray(store.file(1).read_bytes())
    content[100] ^= 1
    store.file(1).write_bytes(content)
    with pytest.raises(DataError, match=r"chunk 1 \(rows 101 to 200\) is corrupt"):
        grow(Here(store), store, Plan(PROPOSERS["hhcart_d"]()))
    store.file(1).write_bytes(content[:-1])
    with pytest.raises(DataError, match=r"chunk 1 \(rows 101 to 200\) has \d+ bytes instead of"):
        grow(Here(store), store, Plan(PROPOSERS["hhcart_d"]()))
