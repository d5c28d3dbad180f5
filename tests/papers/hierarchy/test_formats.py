"""Matrices in and trees out: every form read back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oblique_cli.errors import DataError
from oblique_cli.papers.hierarchy import dissimilarities
from oblique_cli.papers.hierarchy.dissimilarities import from_square, pairwise, to_square
from oblique_cli.papers.hierarchy.formats import newick, read_labels, read_matrix
from oblique_cli.papers.hierarchy.hierarchies import neighbor_joining, upgma

NAMES = ["alpha", "beta", "gamma"]
SQUARE = np.array([[0.0, 1.0, 2.5], [1.0, 0.0, 3.0], [2.5, 3.0, 0.0]])
CONDENSED = [1.0, 2.5, 3.0]

BODY = ["0,1,2.5", "1,0,3", "2.5,3,0"]
NAMED = [f"{name},{row}" for name, row in zip(NAMES, BODY, strict=True)]


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (BODY, None),
        (["alpha,beta,gamma", *BODY], NAMES),
        (NAMED, NAMES),
        ([",alpha,beta,gamma", *NAMED], NAMES),
        ([row.replace(",", "\t") for row in [",alpha,beta,gamma", *NAMED]], NAMES),
        (["1,2.5,3"], None),
        (["distance", "1", "2.5", "3"], None),
        (["3", *(row.replace(",", " ") for row in NAMED)], NAMES),
        (["   3", "alpha", "beta 1", "gamma  2.5 3.0"], NAMES),
        (["3", "alpha 0 1", "  2.5", "beta 1 0 3", "gamma 2.5 3", "0"], NAMES),
    ],
)
def test_a_matrix_is_read_in_every_form(lines, names):
    result, condensed = read_matrix("\n".join(lines) + "\n\n", "m")
    assert (result, condensed.tolist()) == (names, CONDENSED)


def test_numbers_are_checked_wherever_they_come_from():
    with pytest.raises(DataError, match="dissimilarities must be numbers"):
        from_square([["a", "b"], ["b", "a"]])
    with pytest.raises(DataError, match="Got 2 dimensions"):
        dissimilarities.checked_condensed([[1.0]])
    with pytest.raises(DataError, match="needs at least one object"):
        from_square(np.zeros((0, 0)))
    with pytest.raises(DataError, match="the cosine distance of some rows is not a number"):
        pairwise([[0.0, 0.0], [1.0, 2.0]], "cosine", "none")
    for dtype, huge in (("float64", 1e200), ("float32", 1e38)):
        with pytest.raises(DataError, match=r"sums of dissimilarities of 2 objects .* divide all"):
            from_square([[0, huge], [huge, 0]], dtype)
        assert from_square([[0, 1e30], [1e30, 0]], dtype).tolist() == [np.dtype(dtype).type(1e30)]
    with pytest.raises(DataError, match=r"sums of dissimilarities of 2 objects .* divide all"):
        dissimilarities.checked_condensed([1e200])
    with pytest.raises(DataError, match="divide the column by a unit"):
        pairwise([[0.0], [1e200]], "cityblock", "none")
    # Rounding in the last digits is not asymmetry.
    nearly = SQUARE.copy()
    nearly[0, 1] *= 1 + 1e-15
    assert from_square(nearly)[0] == nearly[0, 1]


@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_condensed_and_square_are_each_others_inverse(n, seed):
    d = np.random.default_rng(seed).exponential(size=n * (n - 1) // 2)
    assert dissimilarities.number_of_objects(d) == n
    np.testing.assert_array_equal(from_square(to_square(d)), d)


def test_scaled_distances_do_not_depend_on_units_and_constant_columns_are_nothing():
    X = np.random.default_rng(0).normal(size=(9, 3))
    stretched = np.column_stack([X * [1.0, 1000.0, 0.01] + 5, np.full(9, 0.1)])
    np.testing.assert_allclose(pairwise(X), pairwise(stretched), rtol=1e-9)
    np.testing.assert_allclose(pairwise(X, "cityblock", "none")[0], np.abs(X[0] - X[1]).sum())
    np.testing.assert_allclose(dissimilarities.between(X, X, "euclidean")[0, 1], pairwise(X, scaling="none")[0])


def test_a_column_of_extreme_numbers_is_scaled_or_named():
    rows = [[0.0, 1e200], [1.0, -1e200], [2.0, 0.0]]
    np.testing.assert_allclose(pairwise(rows), pairwise([[a, b / 1e200] for a, b in rows]), rtol=1e-12)
    with pytest.raises(DataError, match=r"column 1 of X holds numbers up to 1e\+200 in size, .*; divide the column by"):
        pairwise(rows, scaling="none")
    assert pairwise(rows, "hamming", "none").tolist() == [1.0, 1.0, 1.0]


def test_labels_are_matched_by_name_or_by_place():
    assert read_labels("x\ny\nx\n", "l", NAMES, 3) == ["x", "y", "x"]
    assert read_labels("class\nx\ny\nx\n", "l", None, 3) == ["x", "y", "x"]
    assert read_labels("beta,y\ngamma,x\nalpha,z\n", "l", NAMES, 3) == ["z", "y", "x"]
    assert read_labels("name,class\nbeta,y\ngamma,x\nalpha,z\n", "l", NAMES, 3) == ["z", "y", "x"]
    assert read_labels("1,y\n2,x\n3,z\n", "l", None, 3) == ["y", "x", "z"]
    for text, message in (
        ("x\ny\n", "l: 3 objects need 3 labels. Got 2."),
        ("alpha,x\nbeta,y\n", "l: there is no label for 'gamma'."),
        ("alpha,x\nbeta,y\ngamma,x\ndelta,x\n", "l: 3 objects need 3 labels. Got 4."),
        ("a,b,c\n", "l: a file of labels has one label a line"),
        ("alpha,x\nbeta,\ngamma,y\n", "l: the label of 'beta' is empty."),
        ("a" * 200_000 + "\nx\ny\n", "l: it cannot be read as CSV"),
    ):
        with pytest.raises(DataError, match=message):
            read_labels(text, "l", NAMES, 3)
    with pytest.raises(DataError, match="l: the label of '2' is empty"):
        read_labels("1,x\n2,\n3,y\n", "l", None, 3)


def parsed(text: str) -> tuple[dict[str, float], float]:
    """Distance from the root to each object of a Newick text, and the sum of all branches."""
    total, open_ = 0.0, []
    tokens = text.strip().rstrip(";").replace("(", " ( ").replace(")", " ) ").replace(",", " ").split()
    for token in tokens:
        if token == "(":
            open_.append([])
        elif token == ")":
            below = open_.pop()
            if open_:
                open_[-1].append(below)
            else:
                open_ = [below]
        else:
            name, _, length = token.rpartition(":")
            total += float(length)
            group = open_[-1]
            if name:
                group.append([(name, 0.0)])
            group[-1] = [(leaf, d + float(length)) for leaf, d in flat(group[-1])]
    return dict(flat(open_[0])), total


def flat(group):
    return [pair for item in group for pair in ([item] if isinstance(item, tuple) else flat(item))]


def test_newick_has_the_heights_of_the_tree_and_quotes_names():
    tree = upgma(np.array(CONDENSED))
    assert newick(tree, NAMES) == "((alpha:0.5,beta:0.5):0.875,gamma:1.375);\n" or newick(tree, NAMES) == (
        "(gamma:1.375,(alpha:0.5,beta:0.5):0.875);\n"
    )
    depths, total = parsed(newick(tree, NAMES))
    assert depths == {"alpha": 1.375, "beta": 1.375, "gamma": 1.375}
    assert total == 0.5 + 0.5 + 0.875 + 1.375
    assert newick(upgma(np.zeros(0)), ["it's one"]) == "'it''s one';\n"
    assert newick(upgma(np.ones(1))) == "(1:0.5,2:0.5);\n"
    # Neighbor joining has lengths of its own, which add up to the distances of an additive matrix.
    depths, _ = parsed(newick(neighbor_joining(np.array(CONDENSED)), NAMES))
    assert set(depths) == set(NAMES)
