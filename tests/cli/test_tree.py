"""`oblique tree`: the rules of one tree."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from tree_support import tree_of

from oblique_cli import data, make
from oblique_cli.cli import _common
from oblique_cli.estimators import default_pruning
from oblique_cli.experiments import progress as progress_module
from oblique_cli.fitting import budget
from oblique_cli.ground import seeds
from oblique_cli.models import load, save


def test_rules_begin_with_what_was_fitted(call):
    ended = call("tree", "bupa", "--algorithm", "hhgdt", "--set", "epsilon=0.3")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0].startswith("# HHGDT on bupa: ") and lines[0].endswith(" of its 345 rows right")
    assert lines[1].startswith("# BUPA: the class is the selector field")
    assert lines[2] == "# Sums need up to 6 terms: --sparse --tolerance 0.01 may do with fewer."
    assert re.fullmatch(r"# \d+ of 24 terms move no training row and are not shown: --full shows them, .*", lines[3])
    assert lines[4] == "# Weights are per standard deviation: in a sum, a name stands for (value - mean) / SD."
    assert (
        lines[5] == '# "else" is the side with the larger share of class 2; in a node without it, of the node\'s '
        "largest class."
    )
    assert lines[6].startswith("if ") and "mcv" in lines[6]
    leaves = [line for line in lines[6:] if re.match(r" *[12]  \(", line)]
    assert f"{len(leaves)} leaves" in lines[0]


def test_json_is_a_tree_with_names_that_predicts_the_same(call):
    ended = call("tree", "iris", "--algorithm", "gdt", "--format", "json", "--seed", "3")
    document = json.loads(ended.out)
    dataset = data.load("iris")
    assert (document["algorithm"], document["dataset"]) == ("gdt", "iris")
    assert document["features"] == list(dataset.feature_names) and document["classes"] == list(dataset.classes)
    assert document["parameters"]["epsilon"] == 0.05 and document["parameters"]["criterion"] == "gini"
    tree = tree_of(document)
    expected = make("gdt").fit(dataset.X, dataset.y).predict(dataset.X)
    assert (tree.labels[tree.apply(dataset.X)] == expected).all()


def test_a_csv_of_ones_own_with_levels_and_gaps_and_with_the_name_of_a_known_data_set(call):
    rows = [f"{i % 2},{'red' if i < 6 else 'blue'},{'yes' if i < 6 else 'no'}\n" for i in range(9)]
    (call.folder / "my.csv").write_text("".join(["size,color,class\n", *rows, ",red,yes\n"]))
    plain = ("tree", "--csv", "my.csv", "--target", "class", "--algorithm", "axis_parallel")
    refused = call(*plain, "--set", "missing=error")
    assert refused.code == 4 and "column 1 ('size') has 1 missing value; set missing: impute or drop" in refused.err
    ended = call(*plain)
    assert ended.code == 0 and ended.out.startswith(
        "# Axis-parallel on my: 2 leaves, 3 terms, depth 1, 10 of its 10 rows right\n"
    )
    assert "# Words are levels: 'color' (2).\n# 1 missing cell in 1 column filled from training rows.\n" in ended.out
    assert re.search(r"color is (not )?(blue|red)", ended.out)
    dropped = call(*plain, "--set", "dataset.missing=drop", "--set", "encoding=ordinal", "--set", "max_depth=0")
    assert dropped.out.startswith("# Axis-parallel on my: 1 leaf, 1 term, depth 0, 6 of its 9 rows right\n")
    assert "\n# 1 row with a missing value left out (missing: drop).\n" in dropped.out
    assert dropped.out.endswith("\nyes  (no: 3, yes: 6)\n")
    (call.folder / "Iris.csv").write_text("x,class\n1,a\n2,a\n3,b\n4,b\n")
    ended = call("tree", "--csv", "Iris.csv", "--target", "class")
    heading = "# HHCART(A) on iris-csv: 2 leaves, 3 terms, depth 1, 4 of its 4 rows right\n"
    assert ended.out.startswith(heading)
    assert ended.out.endswith("\nif x > 2.5:  (a: 2, b: 2)\n    b  (b: 2)\nelse:\n    a  (a: 2)\n")


def test_a_refined_tree_says_how_it_came_about(call):
    for words in (("--algorithm", "tao"), ("--algorithm", "hhgdt", "--set", "refine=tao")):
        ended = call("tree", "iris", *words)
        assert (ended.code, ended.err) == (0, "")
        texts = [line for line in ended.out.splitlines() if line.startswith("# Refined at penalty ")]
        assert len(texts) == 1 and re.search(r"\d+ to \d+ leaves, \d+ to \d+ coefficients, training error", texts[0])


def test_a_tree_with_models_in_its_leaves_shows_them_and_fewer_terms_of_planes_leave_them(call):
    ended = call("tree", "iris", "--algorithm", "hhgdt", "--set", "leaf_models=logistic", "--set", "max_depth=1")
    assert (ended.code, ended.err) == (0, "")
    text = "# A leaf gives every class a score, and the largest one answers; shares are exp(score) over their sum."
    assert text in ended.out.splitlines()
    iris = data.load("iris")
    seed = seeds.integer(1, "iris", "tree")
    model = make("hhgdt", random_state=seed, leaf_models="logistic", max_depth=1).fit(iris.X, iris.y)
    assert f"{int((model.predict(iris.X) == iris.y).sum())} of its 150 rows right" in ended.out
    assert f", {model.tree_.n_terms} terms, depth 1" in ended.out.splitlines()[0]
    assert ended.out.count("Iris-virginica: ") == model.n_leaves_ + 2  # of the counts of the root and of a leaf

    deep = ("--set", "leaf_models=logistic", "--set", "max_depth=1")
    ended = call("tree", "iris", "--algorithm", "hhgdt", *deep, "--sparse")
    assert ended.code == 0
    assert "--sparse: terms of splits 4 -> 1; no training row changes its side of a split" in ended.out
    assert "largest score" in ended.out


# ---- rules that people can read --------------------------------------------------------------------------------------


@pytest.fixture
def birds(call):
    """A table with words: islands, two sexes, and levels that need quotes."""
    rng = np.random.default_rng(5)
    lines = ["species,island,mass,length,sex,diet"]
    for _ in range(240):
        species = ("Adelie", "Gentoo", "Chinstrap")[rng.integers(3)]
        island = {"Adelie": "Dream", "Gentoo": "Biscoe", "Chinstrap": "Dream"}[species]
        mass = 3700 + 1300 * (species == "Gentoo") + 250 * rng.normal()
        length = 39 + 9 * (species != "Adelie") + 2.5 * rng.normal()
        sex, diet = ("male", "female")[rng.integers(2)], ("fish and krill", "squid")[rng.integers(2)]
        lines.append(f"{species},{island if rng.random() < 0.9 else 'Torgersen'},{mass:.0f},{length:.1f},{sex},{diet}")
    (call.folder / "birds.csv").write_text("\n".join(lines) + "\n")
    return call


def rules_of(text):
    """The rules with every condition on one line: lines that go on stand six blanks further in, others four."""
    result = "".join(f"{line}\n" for line in text.splitlines() if line[:1] != "#")
    return re.sub(r"\n(?:    )*  (?=\S)", " ", result)


def test_an_indicator_is_read_as_its_level_and_two_levels_are_one_term(birds):
    ended = birds("tree", "birds.csv", "--target", "species", "--set", "pruning=none")
    rules = rules_of(ended.out)
    assert re.search(r"\(island is (Biscoe|Dream|Torgersen)\)|island is (not )?Biscoe", rules)
    assert "=" not in re.sub("[<>]=", "", rules)
    for condition in re.findall(r"if (.*?): +\(\w+: ", rules):
        assert condition.count("sex is") < 2 and condition.count("diet is") < 2
    full = birds("tree", "birds.csv", "--target", "species", "--set", "pruning=none", "--full").out
    assert "(sex is female)" in rules_of(full) and "(sex is male)" in rules_of(full)
    assert '(diet is "fish and krill")' in rules_of(full)


@pytest.mark.parametrize("form", ["text", "svg", "html", "dot", "tikz"])
def test_a_split_by_one_level_is_said_in_every_form(birds, form):
    command = "tree birds.csv --target species --algorithm axis_parallel --drop mass --drop length"
    ended = birds(*command.split(), "--format", form)
    output = ended.out.replace("\N{NO-BREAK SPACE}", " ").replace("~", " ")
    assert ended.code == 0 and re.search(r"is (not )?(Biscoe|Dream)", output) and "island=" not in output


def test_the_rules_that_are_printed_hold_for_every_training_row(birds):
    """An oracle that reads the text, takes rows down it, and knows nothing of trees."""
    command = ("tree", "birds.csv", "--target", "species", "--set", "pruning=none", "--raw", "--precision", "17")
    rules = rules_of(birds(*command).out)
    with open(birds.folder / "birds.csv") as file:
        rows = list(csv.DictReader(file))
    assert "smaller term" not in rules

    def value(term, row):
        column, is_level, level = term.strip("()").partition(" is ")
        return float(row[column] == level.strip('"')) if is_level else float(row[column])

    def truth(condition, row):
        if text := re.fullmatch(r"(\w+) is (not )?(.*)", condition):
            return (row[text[1]] == text[3].strip('"')) != bool(text[2])
        total, mark, threshold = re.fullmatch(r"(.*) (<=|<|>=|>) (\S+)", condition).groups()
        if re.fullmatch(r"\w+", total):
            number = float(row[total])
        else:
            terms = re.findall(r"([-+]?) ?(\d\S*) (\(.*?\)|\w+)", total)
            number = sum(float(f"{sign}{weight}") * value(term, row) for sign, weight, term in terms)
        return {"<=": number <= float(threshold), "<": number < float(threshold)}.get(
            mark, number >= float(threshold) if mark == ">=" else number > float(threshold)
        )

    lines = rules.splitlines()
    for row in rows:
        at, depth = 0, 0
        while lines[at].strip().startswith("if "):
            condition = re.sub(r": +\([^()]*\)$", "", lines[at].strip()[3:])
            at += 1
            if not truth(condition, row):
                at = next(k for k in range(at, len(lines)) if lines[k] == "    " * depth + "else:") + 1
            depth += 1
        counts = dict(re.findall(r"(\w+): (\d+)", lines[at]))
        assert row["species"] in counts and lines[at].split()[0] == max(counts, key=lambda name: int(counts[name]))


def test_a_line_has_seven_terms_and_counts_the_others(call):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = X.sum(axis=1) + rng.normal(size=400) > 0
    rows = [",".join([*(f"{v:.3f}" for v in row), "yes" if item else "no"]) for row, item in zip(X, y, strict=True)]
    (call.folder / "sums.csv").write_text("\n".join([",".join([*(f"x{j}" for j in range(12)), "y"]), *rows]) + "\n")
    command = ("tree", "sums.csv", "--target", "y", "--set", "max_depth=1", "--set", "pruning=none")
    short, full = (rules_of(call(*command, *more).out) for more in ((), ("--full",)))
    (condition,) = re.findall(r"if (.*?): ", short)
    terms = len(re.findall(r"\bx\d+", condition))
    assert terms == 7 and re.search(r" and [1-5] smaller terms? <", condition)
    assert len(re.findall(r"\bx\d+", re.findall(r"if (.*?): ", full)[0])) == 12
    regression = ("tree", "sums.csv", "--target", "x0", "--algorithm", "retis", "--set", "max_depth=1")
    output = call(*regression).out
    assert (
        re.search(r"and \d+ more terms, within ", rules_of(output))
        and "more terms" not in call(*regression, "--full").out
    )


def test_a_model_file_shows_the_rules_of_its_fit_can_be_made_sparse_and_says_what_it_lacks(birds):
    fitted = birds(
        "fit", "birds.csv", "--target", "species", "--algorithm", "hhcart_a", "--folds", "2", "--output", "m.json"
    )
    assert fitted.code == 0
    shown = birds("tree", "m.json")
    assert rules_of(shown.out) == rules_of(fitted.out) and "are not shown: --full shows them" in shown.out
    sparse = birds("tree", "m.json", "--sparse")
    before, after = map(
        int, re.search(r"# --sparse: terms of splits (\d+) -> (\d+); no training row changes", sparse.out).groups()
    )
    assert after < before and rules_of(sparse.out) == rules_of(shown.out)
    tree = tree_of(json.loads(birds("tree", "m.json", "--sparse", "--format", "json").out))
    assert np.count_nonzero(tree.coef_) == after
    whole = tree_of(json.loads(birds("tree", "m.json", "--format", "json").out))
    assert np.count_nonzero(whole.coef_) == before

    model = load(birds.folder / "m.json")
    facts = {key: value for key, value in model.facts.items() if key != "sparse"}
    save(replace(model, facts=facts), birds.folder / "old.json")
    assert birds("tree", "old.json").code == 0
    save(replace(model, facts={**facts, "sparse": {"pairs": [], "cuts": [[0, 1.0, [999]]]}}), birds.folder / "bad.json")
    ended = birds("tree", "bad.json")
    assert ended.code == 4 and "does not fit its tree: fit the model again." in ended.err and ended.err.count("\n") == 1


@pytest.fixture
def table(call):
    """A table of two numbers and a word, in the folder of `call`."""
    rows = [f"{i % 17 / 4},{i % 5 / 4},{'red' if i % 3 else 'blue'},{'yes' if i % 17 > 8 else 'no'}" for i in range(60)]
    (call.folder / "my.csv").write_text("\n".join(["size,width,color,class", *rows]) + "\n")
    return call


def test_many_rows_are_pruned_on_a_tenth_of_them_and_it_is_said(table, monkeypatch):
    few = table("tree", "my.csv", "--target", "class")
    assert "# Pruned by cross-validation (smallest tree within 1 SE of the best)" in few.out
    monkeypatch.setattr(default_pruning, "MANY_ROWS", 60)
    many = table("tree", "my.csv", "--target", "class")
    assert many.code == 0, many.err
    assert "# Pruned on 10 % of the rows, kept from growth (smallest tree within 1 SE of the best)" in many.out
    text = table("tree", "my.csv", "--target", "class", "--set", "pruning=cv", "--format", "json")
    assert json.loads(text.out)["parameters"]["pruning"] == "cv"


def test_the_tree_of_a_large_table_that_nobody_has_named_is_a_quick_one_and_it_is_said(table, monkeypatch):
    usual = table("tree", "my.csv", "--target", "class")
    assert usual.out.startswith("# HHCART(A) on my")
    seconds = {"hhcart_a": 2.0, "hhcart_d": 1.0, "hhgdt": 0.5}  # pruning grows eleven trees, in each of two folds
    monkeypatch.setattr(budget, "growth_seconds", lambda *size: seconds)
    quick = table("tree", "my.csv", "--target", "class")
    assert quick.out.startswith("# HHCART(D) on my")
    sentence = "HHCART(D), about 11 s of CPU, as HHCART(A) would take 22 s on 60 rows of 4 columns; "
    assert quick.err == f"{sentence}--algorithm hhcart_a grows that.\n"
    assert f"# {quick.err}" in quick.out
    assert table("tree", "my.csv", "--target", "class", "--algorithm", "hhcart_a").out == usual.out
    ended = table("run", "my.csv", "--target", "class", "--dry-run")
    note = "note: hhgdt in place of hhcart_a: 2 folds of it take about 11 s of CPU, of hhcart_a 44 s; "
    assert f"{note}--algorithm axis_parallel,hhcart_a runs" in ended.err


class Hasty(progress_module.Progress):
    """Says something at every change of what is done, as if each took long."""

    now = 0.0

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **{**options, "clock": lambda: self.now})

    def doing(self, what):
        super().doing(what)
        self.now += 30
        self.beat()


def test_long_work_says_what_it_does_and_quick_work_nothing(table, monkeypatch):
    assert table("tree", "my.csv", "--target", "class").err == ""
    fitted = table("fit", "my.csv", "--target", "class", "--algorithm", "axis_parallel", "--folds", "2", "-o", "m.json")
    assert fitted.code == 0, fitted.err
    monkeypatch.setattr(progress_module, "Progress", Hasty)
    monkeypatch.setattr(progress_module, "BEAT_SECONDS", 1e9)  # no thread beside the clock of the test
    tree = table("tree", "my.csv", "--target", "class")
    assert tree.err.splitlines() == ["reading my.csv, 0:30", "growing the tree, 0:30", "drawing the tree, 0:30"]
    sparse = table("tree", "my.csv", "--target", "class", "--sparse")
    assert sparse.err.splitlines()[-1] == "leaving out terms, 0:30"

    predicted = {
        ("score", "m.json", "my.csv"): ["scoring my.csv, 0:30"],
        ("predict", "m.json", "my.csv"): ["predicting my.csv, 0:30"],
        ("predict", "m.json", "my.csv", "-o", "new.csv"): ["predicting my.csv, 0:30"],
        ("export", "m.json", "--format", "sql"): ["writing m.json as sql, 0:30"],
        ("explain", "m.json", "my.csv", "--row", "3"): ["reading my.csv, 0:30", "looking for the nearest change, 0:30"],
        ("explain", "m.json", "--values", "size=1"): ["reading the row, 0:30", "looking for the nearest change, 0:30"],
    }
    for arguments, lines in predicted.items():
        ended = table(*arguments)
        assert (ended.code, ended.err.splitlines()) == (0, lines), arguments
    assert _common.called("-") == "standard input"
