"""Scorecards say what models say: scores recounted from what is printed, in every unit, of every kind of term."""

import re

import numpy as np
import pytest
from contracts import real_set

from oblique_cli import LogisticTreeClassifier, make
from oblique_cli.drawing.view import text_of, view_of
from oblique_cli.ground.nodes import BLANK, Indicator
from oblique_cli.tree.payloads import LeafModels, standardized
from oblique_cli.tree.reading import Units
from oblique_cli.tree.scorecards import SQUARED, notes_of, scores_of

NUMBER = r"-?(?:\d+\.?\d*(?:e[+-]?\d+)?)"
TERM = re.compile(rf" ([+-]) ({NUMBER})[ {BLANK}](\(\(.*?\){SQUARED}|\(.*?\){SQUARED}?|[^ ]+)")


def recounted(text, values):
    """The score that a printed sum gives of what its names stand for."""
    start = re.match(NUMBER, text)[0]
    rest = text[len(start) :]
    total = float(start)
    for sign, weight, name in TERM.findall(rest):
        total += float(f"{sign}{weight}") * values(name)
    assert TERM.sub("", rest) == ""
    return total


@pytest.fixture(scope="module")
def bent():
    """Models of two and of three classes with squares in one leaf or two."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4)) * [1.0, 20.0, 0.1, 1e6] + [0.0, 50.0, 3.0, -2e6]
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    two = (z[:, 0] + z[:, 1] ** 2 - 1 + 0.3 * rng.normal(size=300) > 0).astype(int)
    return X, two, two + (z[:, 2] > 1)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("first", [0, 1])
def test_the_printed_card_gives_the_scores_of_the_model(bent, classes, raw, first):
    X, two, three = bent
    y = two if classes == 2 else three
    how = {"products": False, "max_depth": 1, "folds": 2, "random_state": 0}
    model = LogisticTreeClassifier("axis_parallel", **how).fit(X, y)
    tree, names = model.tree_, list("abcd")
    models, leaves = tree.leaf_models, tree.apply(X)
    assert models.curve is not None
    z = standardized(X, models.center, models.scale)
    for i in (0, 7, 100):
        bounded = np.clip(z[i], -3, 3)

        def value(name, i=i, bounded=bounded):
            j = names.index(re.search("[abcd]", name)[0])
            return bounded[j] ** 2 if name.endswith(SQUARED) else X[i, j] if raw else z[i, j]

        result = scores_of(models, int(leaves[i]), names, ["no", "yes", "maybe"][:classes], first=first, raw=raw,
                          precision=17)  # fmt: skip
        expected = models.scores(X[i : i + 1], leaves[i : i + 1])[0]
        scale = sum(abs(term.weight) for item in result for term in item.terms) * (np.abs(X[i]).max() if raw else 1.0)
        if classes == 2:
            (scored,) = result
            assert (scored.label, scored.against) == (first, 1 - first)
            expected = [expected[first] - expected[1 - first]]
        for scored, score in zip(result, expected, strict=True):
            assert recounted(scored.formula, value) == pytest.approx(score, rel=1e-9, abs=1e-12 * scale + 1e-9)
            sizes = [abs(term.weight) for term in scored.terms]
            assert sizes == sorted(sizes, reverse=True)


def test_terms_that_are_not_written_are_counted():
    X, y = real_set("glass").X, real_set("glass").y
    tree = make("hhcart_a", max_depth=0, leaf_models="logistic", leaf_penalty=1.0).fit(X, y).tree_
    names = [f"x{j}" for j in range(X.shape[1])]
    for most, rest in ((7, "and 2 more terms"), (8, "and 1 more term"), (9, "")):
        text = scores_of(tree.leaf_models, 0, names, list("uvwxyz"), most=most)[0].formula
        assert text.endswith(rest) and text.count(" x") == most and ("more" in text) == bool(rest)


def by_hand(**parts):
    """One leaf of two features."""
    params = {"center": [0.0, 0.0], "scale": [1.0, 1.0], "coef": [[[0.0, 0.0]] * 3], "intercept": [[0.0, 1.0, 2.0]]}
    return LeafModels(**(params | parts))


def test_levels_and_indicators_stand_in_brackets():
    models = by_hand(
        coef=[[[1.0, 0.0]] * 3], level_coef=[[[0.0, 0.25, 0.0], [0.0] * 3, [0.0, 0.0, -2.0]]], levels=(0, 3)
    )
    names = [Indicator("island", "Dream"), "job"]
    result = scores_of(models, 0, names, list("abc"), level_names={1: ["clerk", "smith", "sea man"]})
    texts = [item.formula.replace(BLANK, " ") for item in result]
    assert texts[0] == "0 + 1 (island is Dream) + 0.25 (job is smith)"
    assert texts[1] == "1 + 1 (island is Dream)"
    assert texts[2] == "2 - 2 (job is sea man) + 1 (island is Dream)"
    assert models.n_terms(0) == 5


def test_a_product_has_the_names_of_both_features():
    models = by_hand(pairs=np.array([[0, 1]]), pair_coef=[[[0.5], [0.0], [-2.0]]], center=[1.0, 0.0])
    lines = [scores_of(models, 0, [Indicator("island", "Dream"), "age"], list("abc"), raw=raw) for raw in (False, True)]
    texts = [[score.formula.replace(BLANK, " ") for score in scores] for scores in lines]
    assert texts[0] == ["0 + 0.5 (island is Dream) × age", "1", "2 - 2 (island is Dream) × age"]
    assert texts[1][0] == "0 + 0.5 (((island is Dream) - 1) / 1) × ((age - 0) / 1)"
    assert models.n_terms(0) == 2 and "factor of a product" in notes_of(models, list("abc"), 0, raw=False)[-1]


def test_a_hinge_has_its_knot_in_the_units_of_the_feature():
    further = {"pairs": np.array([[1, -1], [1, -2]]), "pair_coef": [[[0.5, 1.0]] * 3], "knots": [3.0, 11.0]}
    models = by_hand(center=[0.0, 7.0], scale=[1.0, 2.0], **further)
    lines = [scores_of(models, 0, ["x", "age"], list("abc"), raw=raw)[0].formula for raw in (False, True)]
    texts = ["0 + 1 max(0, 2 - age) + 0.5 max(0, age + 2)", "0 + 0.5 max(0, 11 - age) + 0.25 max(0, age - 3)"]
    assert [text.replace(BLANK, " ") for text in lines] == texts
    assert "missing" in notes_of(models, list("abc"), 0, raw=True)[-1]


def test_a_leaf_whose_model_has_no_term_says_its_class():
    tree = make("axis_parallel", max_depth=1).fit([[0.0], [0.0], [1.0], [1.0], [1.0]], list("aabbb")).tree_
    models = LeafModels([0.0], [1.0], np.zeros((3, 2, 1)), [[0.0, 0.0], [2.0, 1.0], [1.0, 2.0]])
    view = view_of(tree.with_leaf_models(models), ["x"], ["a", "b"])
    assert [node.text for node in view.nodes[1:]] == ["a", "b"] and not any(node.scores for node in view.nodes)
    assert "against" not in text_of(view) and "log odds" not in " ".join(view.notes)


def test_of_many_classes_those_with_the_most_rows_are_written():
    y = np.repeat(np.arange(30), np.arange(1, 31))
    tree = make("axis_parallel", max_depth=0).fit(np.zeros((len(y), 1)), y).tree_
    models = LeafModels([0.0], [1.0], np.ones((1, 30, 1)) * np.arange(30)[:, None], np.zeros((1, 30)))
    view = view_of(tree.with_leaf_models(models), ["x"], [f"c{k}" for k in range(30)])
    text = text_of(view)
    assert "c29: 0 + 29 x" in text and "c18:" in text and "c17:" not in text.replace("c17: 18", "")
    assert text.rstrip().endswith("and 18 more classes")


@pytest.mark.parametrize("case", ["one class", "constant", "levels", "missing", "separable", "huge"])
@pytest.mark.parametrize("name", ["lmt", "logistic_tree"])
def test_degenerate_leaves_have_cards_of_finite_numbers(case, name):
    rng = np.random.default_rng(0)
    X, y, missing, qualitative = rng.normal(size=(60, 3)), np.arange(60) % 2, "error", None
    if case == "one class":
        y[:] = 0
    if case == "constant":
        X[:] = 3.0
    if case == "levels":
        X, qualitative = np.column_stack([np.arange(60) % 3, np.arange(60) % 2]).astype(float), [0, 1]
    if case == "missing":
        X[::3] = np.nan
        missing = "learn"
    if case == "separable":
        X[:, 0] += 100 * y
    if case == "huge":
        X *= 1e150
        X[0, 0] = 1e300
    model = make(name, random_state=0, folds=2, missing=missing).set_params(qualitative=qualitative).fit(X, y)
    tree = model.tree_
    for units in (Units.raw(tree.n_features), Units.deviations(X, tree.levels)):
        view = view_of(tree, list("abc")[: tree.n_features], [str(label) for label in model.classes_], units=units)
        text = text_of(view)
        assert "nan" not in text and "inf" not in text
        numbers = [score.intercept for node in view.nodes for score in node.scores]
        numbers += [term.weight for node in view.nodes for score in node.scores for term in score.terms]
        assert np.isfinite(numbers).all()
    assert tree.n_terms >= tree.n_leaves and np.isfinite(model.predict_proba(X)).all()


def test_a_column_without_a_name_has_its_terms(bent):
    X, two, _ = bent
    model = LogisticTreeClassifier(random_state=1).fit(X, two)
    unnamed, named = (text_of(model.view([name, "b", "c", "d"])) for name in ("", "a"))
    assert unnamed.count("\n") == named.count("\n") and re.search(r"[+-] [\d.]+ [ +]", unnamed)
