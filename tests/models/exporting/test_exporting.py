"""Exported models, executed: what they say is what `predict` says."""

from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import export_support as support
import numpy as np
import pytest
from export_support import CASES, case_of
from robustness_support import SEED, counted

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS, make
from oblique_cli.models import Model
from oblique_cli.models.exporting import FORMATS, export, kind_of
from oblique_cli.models.exporting._exporter import BOOSTED, CODED_FOREST, LOGISTIC, LOGISTIC_FOREST
from oblique_cli.models.exporting._text import condition
from oblique_cli.models.procedure import MISSING, Cell, Procedure, Split, Term, procedure_of


@cache
def exported_case(name: str) -> tuple[np.ndarray, support.Answers, np.ndarray]:
    X = support.rows(case_of(name), seed=int(SEED or 3))
    return (X, *support.expected(case_of(name), X))


@pytest.mark.sample(8)
@pytest.mark.covered(2)
@pytest.mark.parametrize("format", support.SAY)
@pytest.mark.parametrize("name", CASES)
def test_an_exported_model_says_what_predict_says(name, format, tmp_path):
    case = case_of(name)
    if kind_of(case.procedure) not in FORMATS[format].kinds:
        with pytest.raises(ConfigError, match=f"^format {format} does not take .*; these do: "):
            export(case.model, format)
        return
    X, answers, shares = exported_case(name)
    with counted(f"exports executed: {format}") as counts:
        counts["cases"] += 1
        exported, exported_shares = support.SAY[format](export(case.model, format), case, X, tmp_path)
        if name.startswith("model tree"):  # NumPy adds up a linear model in an order of its own
            assert [value is None for value in exported] == [value is None for value in answers]
            of_numbers = [np.array([v for v in values if v is not None]) for values in (exported, answers)]
            np.testing.assert_allclose(*of_numbers, rtol=1e-12, atol=1e-10)
        else:
            assert exported == answers
        if exported_shares is None:
            return
        if exported_shares.ndim == 1:  # of the prediction alone
            codes = [None if label is None else case.procedure.classes.index(label) for label in answers]
            shares = np.array([np.nan if k is None else row[k] for k, row in zip(codes, shares, strict=True)])
        if kind_of(case.procedure) in (LOGISTIC, CODED_FOREST, LOGISTIC_FOREST, BOOSTED):
            np.testing.assert_allclose(exported_shares, shares, rtol=0, atol=1e-12)
        else:
            np.testing.assert_array_equal(exported_shares, shares)


UNITS = np.array([1e-80, 1e-30, 1.0, 1e5, 1e15])
FAR = ("mprof_t", "mprof_n", "mprrof_p", "rof", "logistic_forest", "hhcart_a", "logistic_tree", "hhcart_regression")


@cache
def far_case(name: str) -> support.Case:
    """A model of columns in very different units."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(150, 5))
    number = X[:, 0] + X[:, 1]
    y = number if name.endswith("regression") else np.digitize(number, [-0.5, 0.5])
    known = ALGORITHMS[name].parameters
    small = {key: value for key, value in {"n_estimators": 3, "max_depth": 3}.items() if key in known}
    model = Model.of(make(name, random_state=1, **small).fit(X * UNITS, y), algorithm=name)
    return support.Case(model, procedure_of(model), X * UNITS)


@pytest.mark.sample(10)
@pytest.mark.covered(1)
@pytest.mark.parametrize("format", support.SAY)
@pytest.mark.parametrize("name", FAR)
def test_formats_agree_with_the_core_up_to_the_range_that_the_file_states(name, format, tmp_path):
    case = far_case(name)
    farthest = case.procedure.farthest
    if kind_of(case.procedure) not in FORMATS[format].kinds:
        return  # another test says so
    rng = np.random.default_rng(2)
    n, p = 120, len(UNITS)
    rows = rng.uniform(-1.0, 1.0, size=(n, p)) * farthest ** rng.choice((0.0, 0.5, 0.9, 1.0), size=(n, p))
    rows[:40] = rng.choice((-farthest, farthest), size=(40, p))
    text = export(case.model, format)
    stated = f"{farthest:.0e}".replace("+", "").encode()
    assert (text if isinstance(text, bytes) else text.encode()).count(stated) >= 1 or format == "json"
    labels, _ = support.SAY[format](text, case, rows, tmp_path)
    if case.procedure.is_regression:
        np.testing.assert_allclose(labels, case.model.predict(rows), rtol=1e-9)
    else:
        assert labels == support.expected(case, rows)[0]


def test_the_range_is_narrower_where_coefficients_are_large():
    """Rotated features of a column in units of 1e-80 have coefficients up to 1e80."""
    assert far_case("mprrof_p").procedure.farthest < 1e250 < case_of("rotated forest").procedure.farthest


# A model file holds finite numbers only, and scikit-learn's tree has an infinite threshold where gaps are cut off.
NUDGED = [name for name in CASES if name not in ("large", "CART regression, gaps")]


@pytest.mark.sample(7)
@pytest.mark.covered(1)
@pytest.mark.parametrize("format", support.SAY)
@pytest.mark.parametrize("name", NUDGED)
def test_planes_with_other_last_bits_are_exported_as_they_are(name, format, tmp_path):
    case = support.nudged(case_of(name), tmp_path)
    if kind_of(case.procedure) not in FORMATS[format].kinds:
        return  # refused, as the test above has it
    X = support.rows(case, 300, seed=9)
    answers, _ = support.expected(case, X)
    labels, _ = support.SAY[format](export(case.model, format), case, X, tmp_path)
    if name.startswith("model tree"):  # a leaf of the other side of a plane is off by far more
        np.testing.assert_allclose(*(np.array(values, float) for values in (labels, answers)), rtol=1e-12, atol=1e-10)
    else:
        assert labels == answers


def test_labels_are_those_of_the_counts_where_another_class_is_more_probable():
    _, answers, shares = exported_case("another class more probable")
    case = case_of("another class more probable")
    labels = [case.procedure.classes.index(label) if label in case.procedure.classes else label for label in answers]
    values = [i for i, label in enumerate(labels) if label is not None]
    assert any(shares[i].argmax() != labels[i] for i in values)
    assert " training rows, probability " in str(export(case.model, "rules"))
    assert ", probability " not in str(export(support.iris(probabilities="counts").model, "rules"))


FORMATS_OF_BOOSTING = [name for name, form in FORMATS.items() if BOOSTED in form.kinds]


@pytest.mark.sample(9)
@pytest.mark.parametrize("format", FORMATS_OF_BOOSTING)
@pytest.mark.parametrize("known", [(0, 2), (1,)], ids=["two", "one"])
def test_boosting_says_the_classes_that_it_was_fitted_on(known, format, tmp_path):
    X = np.random.default_rng(0).normal(size=(120, 3))
    y = np.take(known, (X.sum(axis=1) > 0).astype(int) % len(known)).astype(np.int32)
    estimator = make("oblique_boosting", n_estimators=4, random_state=0).fit(X, y)
    about = {"classes": support.LABELS, "columns": support.table(("a", "b", "c"), "y", support.LABELS)}
    model = Model.of(estimator, algorithm="oblique_boosting", feature_names=("a", "b", "c"), **about)
    case = support.Case(model, procedure_of(model), X)
    rows = support.rows(case, n=200, gaps=0)
    predicted, shares = support.SAY[format](export(model, format), case, rows, tmp_path)
    expected = model.predict_proba(rows)
    labels = [support.LABELS[code] for code in expected.argmax(axis=1)]
    assert predicted == labels and set(labels) == {support.LABELS[code] for code in known}
    expected = expected.max(axis=1) if shares.ndim == 1 else expected
    np.testing.assert_allclose(shares, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("format", FORMATS_OF_BOOSTING)
def test_of_equal_scores_boosting_says_the_first_class(format, tmp_path):
    X = np.zeros((6, 1))  # no cut, and as many rows of each class
    estimator = make("oblique_boosting", n_estimators=2, max_samples=None, random_state=0).fit(X, [0, 1, 2] * 2)
    model = Model.of(estimator, algorithm="oblique_boosting", classes=support.LABELS)
    case = support.Case(model, procedure_of(model), X)
    labels, shares = support.SAY[format](export(model, format), case, X, tmp_path)
    assert labels == [support.LABELS[0]] * 6
    np.testing.assert_allclose(shares, 1.0 / 3.0)


def test_a_threshold_of_boosting_decides():
    results = {
        name: set(exported_case(f"forest by boosting of two classes{name}")[1]) for name in ("", ", a threshold")
    }
    assert all(answers == set(support.LABELS[:2]) for answers in results.values())
    plain, moved = (exported_case(f"forest by boosting of two classes{name}") for name in ("", ", a threshold"))
    first = plain[2][:, 0]
    assert [label == support.LABELS[0] for label in moved[1]] == (first >= 0.3).tolist()
    assert ((first >= 0.3) & (first < 0.5)).any()


@cache
def pmml_says(folder: Path) -> dict[str, tuple[support.Answers, np.ndarray | None]]:
    names = [name for name in CASES if kind_of(case_of(name).procedure) in FORMATS["pmml"].kinds]
    names.remove("logistic leaves, a threshold")
    documents = [(str(export(case_of(name).model, "pmml")), case_of(name), exported_case(name)[0]) for name in names]
    return dict(zip(names, support.say_pmml(documents, folder), strict=True))


@pytest.fixture(scope="module")
def pmml_folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("pmml")


@pytest.mark.long
@pytest.mark.skipif(bool(support.why_no_pmml_reader()), reason=support.why_no_pmml_reader())
@pytest.mark.parametrize("name", [name for name in CASES if "forest" not in name and "regress" not in name])
def test_a_pmml_model_says_what_predict_says(name, pmml_folder):
    if name not in pmml_says(pmml_folder) and case_of(name).procedure.threshold:
        with pytest.raises(ConfigError, match=r"^format pmml says the class of the largest probability, and this"):
            export(case_of(name).model, "pmml")
        return
    if name not in pmml_says(pmml_folder):
        with pytest.raises(ConfigError, match=r"^format pmml does not take regression trees; these do: "):
            export(case_of(name).model, "pmml")
        return
    with counted("exports executed: pmml") as counts:
        counts["cases"] += 1
        exported, shares = pmml_says(pmml_folder)[name]
        _, answers, expected_shares = exported_case(name)
        assert exported == answers
        # JPMML divides probabilities by their sum, which is 1 but for the rounding of smoothed shares.
        np.testing.assert_allclose(shares, expected_shares, rtol=1e-15, atol=1e-12)


# The rules of a threshold say a probability, which the reader of this test does not compute.
@pytest.mark.sample(15)
@pytest.mark.parametrize("name", [name for name in CASES if not {"forest", "threshold"} & set(name.split())])
def test_one_rule_holds_for_a_row_and_says_what_predict_says(name):
    case = case_of(name)
    X, answers, _ = exported_case(name)
    labels, close = support.say_rules(str(export(case.model, "rules", precision=17)), case, X)
    assert close.mean() < 0.6
    pairs = [(a, b) for a, b, near in zip(labels, answers, close, strict=True) if not near]
    if case.procedure.is_regression:
        assert [a is None for a, _ in pairs] == [b is None for _, b in pairs]
        numbers = np.array([pair for pair in pairs if pair[0] is not None])
        np.testing.assert_allclose(*numbers.T, rtol=1e-12, atol=1e-10)
    else:
        assert all(a == b for a, b in pairs)


def test_rows_are_what_they_are_said_to_be():
    case = case_of("scores of levels, sides of gaps")
    X, answers, _ = exported_case("scores of levels, sides of gaps")
    assert len(X) == 800 and len(set(answers)) == 3
    unseen = [j for j, cell in enumerate(case.procedure.cells) if cell.levels and (X[:, j] == len(cell.levels)).any()]
    assert np.isnan(X).any(axis=0).all() and unseen == [5, 6, 7]
    X, _, _ = exported_case("iris")
    tree = case_of("iris").model.estimator.tree_
    z = X[~np.isnan(X).any(axis=1)] @ tree.coef_.T
    near = np.abs(z - tree.thresholds)[:, ~tree.is_leaf].min(axis=1)
    assert (near < 1e-14).mean() > 0.3


def test_every_format_is_executed():
    assert {*support.SAY, "rules", "pmml", "dot", "latex"} >= set(FORMATS) >= set(support.SAY)


def test_a_fitted_estimator_is_exported_as_its_model_is():
    X = np.random.default_rng(1).normal(size=(40, 2))
    tree = make("hhgdt", random_state=1).fit(X, np.array(["no", "yes"])[(X.sum(axis=1) > 0).astype(int)])
    assert export(tree, "c") == export(Model.of(tree, algorithm="hhgdt"), "c")


def test_a_split_by_one_level_is_a_sentence():
    cells = (Cell("age"), Cell("is it", ("red", 'deep "blue"')))
    procedure = Procedure(cells, (), ("a", "b"))
    split = Split(((Term(1.0, 1, 1),), (), (), ()), 0.5)
    assert [condition(split, procedure, 6, left) for left in (True, False)] == [
        '"is it" is not "deep \\"blue\\""',
        '"is it" is "deep \\"blue\\""',
    ]
    empty = Split(((Term(-1.0, 1, MISSING),), (), (), ()), -0.5)
    assert condition(empty, procedure, 6, True) == '"is it" is missing'
    always = Split(((Term(1.0, 1, 0),), (), (), ()), 1.5)
    assert condition(always, procedure, 6, True) == '"is it"[1 if "red", else 0] <= 1.5'


def test_a_pmml_document_is_as_the_standard_library_writes_it_at_any_depth():
    def model_of(n: int) -> Model:
        X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2  # each split takes one row off
        fitted = make("axis_parallel", random_state=1, pruning="none").fit(X, y)
        assert fitted.depth_ > 0.9 * n
        names, classes = ("<a & 'b'>",), ("u\tv", "w")
        about = {"classes": classes, "columns": support.table(names, 'c\n"d"', classes)}
        return Model.of(fitted, algorithm="axis_parallel", feature_names=names, **about)

    written = str(export(model_of(40), "pmml"))
    root = ElementTree.fromstring(written)
    ElementTree.register_namespace("", "http://www.dmg.org/PMML-4_4")
    ElementTree.indent(root)
    assert written.split("\n", 1)[1] == ElementTree.tostring(root, encoding="unicode") + "\n"
    deep = str(export(model_of(1500), "pmml"))
    assert deep.count("</Node>") > 2900 and len(deep) < 4_000_000
