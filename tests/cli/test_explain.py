"""`oblique explain`: one row of a table, or typed."""

import json
import re
from pathlib import Path

import pytest

FILES = Path(__file__).parents[1] / "files"
WILD = str(FILES / "wild.csv")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory) -> str:
    """A model of the wild table."""
    from oblique_cli.cli import call as run

    path = tmp_path_factory.mktemp("fitted") / "wild.json"
    words = ["fit", WILD, "--target", "Befund", "--algorithm", "hhcart_a", "--folds", "2"]
    assert run([*words, "--output", str(path)]) == 0
    return str(path)


def test_a_row_of_a_table(call, fitted):
    ended = call("explain", fitted, WILD, "--row", "3")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    predicted = call("predict", fitted, WILD).out.splitlines()[3]
    assert lines[0] == f"row 3 of {WILD}: class {predicted.rpartition(',')[2]}"
    assert re.search(r"^  node 0: (if|else), distance ", ended.out, re.MULTILINE)
    assert "The nearest change to class " in ended.out
    assert "Held fixed: Station, Raucher." in ended.out
    table = Path(WILD).read_text(encoding="utf-8-sig")
    (call.folder / "one.csv").write_text("\n".join(table.splitlines()[i] for i in (0, 3)) + "\n", encoding="utf-8")
    assert call("explain", fitted, "one.csv", "--row", "1").out.splitlines()[1:] == lines[1:]


def test_sides_and_signs_are_those_of_the_tree_that_is_shown(call, fitted):
    """A row is on the side that its sum says in the rules of `oblique tree`, and its distance has the sum's sign."""
    rules = call("tree", fitted, "--raw", "--precision", "12").out
    condition = re.search(r"^if (.*?):  \(", rules, re.DOTALL | re.MULTILINE)[1]
    left, sign, threshold = re.fullmatch(r"(.*) (<=?) (\S+)", " ".join(condition.split())).groups()
    document = json.loads(call("explain", fitted, WILD, "--row", "5", "--format", "json").out)
    values = {part["column"]: part["value"] for part in document["steps"][0]["contributions"]}
    total = 0.0
    for minus, weight, name in re.findall(r"(-?) ?([\d.e-]+) (\S.*?)(?= [+-] |$)", left.replace(" - ", " + -")):
        column, _, level = name.partition("=")
        total += float(f"{minus}{weight}") * (values[column] == level if level else values[column])
    is_if = total < float(threshold) if sign == "<" else total <= float(threshold)
    shown = re.search(r"^  node 0: (if|else), distance ([+-])", call("explain", fitted, WILD, "--row", "5").out, re.M)
    assert shown.groups() == (("if", "-") if is_if else ("else", "+"))


def test_json_has_every_number_and_the_change_leads_where_it_says(call, fitted):
    document = json.loads(call("explain", fitted, WILD, "--row", "3", "--format", "json").out)
    for step in document["steps"]:
        total = step["at_means"] + sum(part["amount"] for part in step["contributions"])
        assert total == pytest.approx(step["distance"])
        assert (step["goes"] == "left") == (step["total"] <= step["threshold"])
    assert sum(document["leaf"]["counts"].values()) == document["leaf"]["rows"]
    changed = {column["column"]: column["to"] for column in document["change"]["columns"]}
    first = {part["column"]: part["value"] for part in document["steps"][0]["contributions"]}
    # The values are typed as the file writes them: with a decimal comma.
    typed = {name: changed.get(name, value) for name, value in first.items()}
    values = [
        f"{name}={repr(value).replace('.', ',') if isinstance(value, float) else value}"
        for name, value in typed.items()
    ]
    words = [word for value in values for word in ("--values", value)]
    again = json.loads(call("explain", fitted, *words, "--format", "json").out)
    assert again["predicted"] == document["change"]["predicted"] and again["leaf"]["node"] == document["change"]["leaf"]


def test_values_may_be_one_text_or_several(call, fitted):
    first = call("explain", fitted, "--values", "Größe (cm)=170,5,Gewicht (kg)=98,Raucher=ja")
    several = call("explain", fitted, "--values", "Raucher=ja", "--values", "Größe (cm)=170,5, Gewicht (kg)=98")
    assert first.code == 0 and first.out == several.out and "Größe (cm) 170.5" in first.out
    assert "Glukose (mg/dl) missing" in first.out and "Glukose (mg/dl)" in first.out.split("Held fixed: ")[1]


def test_columns_can_be_held_a_class_asked_for_and_terms_written(call, fitted):
    held = json.loads(call("explain", fitted, WILD, "--row", "3", "--fix", "Gewicht (kg)", "--format", "json").out)
    assert (
        "Gewicht (kg)" not in [column["column"] for column in held["change"]["columns"]]
        and "Gewicht (kg)" in held["held"]
    )
    to = json.loads(call("explain", fitted, WILD, "--row", "3", "--to", "auffällig", "--format", "json").out)
    assert to["change"]["predicted"] == "auffällig"
    free = json.loads(call("explain", fitted, WILD, "--row", "3", "--format", "json").out)
    assert min(held["change"]["distance"], to["change"]["distance"]) >= free["change"]["distance"]
    names = ("Größe (cm)", "Gewicht (kg)", "Glukose (mg/dl)", "Thrombozyten (10²/µl)")
    all_held = call("explain", fitted, WILD, "--row", "3", *(word for name in names for word in ("--fix", name)))
    assert "No change of the other columns leads to another class. Held fixed: Größe (cm), " in all_held.out
    few = call("explain", fitted, WILD, "--row", "3", "--terms", "1", "--output", "said.txt")
    assert (few.code, few.out) == (0, "")
    assert "and 5 smaller" in (call.folder / "said.txt").read_text(encoding="utf-8")


def test_numbers_are_explained_by_the_equation_of_the_leaf(call):
    rows = "".join(f"{i / 7:.3f},{'ab'[i % 2]},{(i if i < 60 else 200 - i) + i % 3}\n" for i in range(120))
    (call.folder / "my.csv").write_text("size,kind,price\n" + rows)
    fit = "fit my.csv --target price --task regression --algorithm m5_style --folds 2 --output m.json"
    assert call(*fit.split()).code == 0
    ended = call("explain", "m.json", "my.csv", "--row", "5")
    assert ended.code == 0 and ended.out.startswith("row 5 of my.csv: price ") and "nearest" not in ended.out
    document = json.loads(call("explain", "m.json", "my.csv", "--row", "5", "--format", "json").out)
    total = document["equation"]["intercept"] + sum(term["amount"] for term in document["equation"]["terms"])
    assert total == pytest.approx(document["predicted"]) and "change" not in document


def test_a_typed_row_of_one_column_may_be_empty(call):
    (call.folder / "one.csv").write_text("a,y\n" + "".join(f"{i}.5,{'pq'[i > 5]}\n" for i in range(12)))
    fit = "fit one.csv --target y --algorithm axis_parallel --folds 2 --output m.json"
    assert call(*fit.split()).code == 0
    ended = call("explain", "m.json", "--values", "a=")
    assert (ended.code, ended.err) == (0, "") and "a missing" in ended.out


def test_the_numbers_that_are_printed_lead_to_the_class_that_is_promised(call):
    """A cut at 1.03 is passed by 1.0300005, and not by 1.03."""
    rows = [f"{i % 7}.25,{i / 100},{'pq'[i > 102]}" for i in range(200)]
    (call.folder / "cut.csv").write_text("\n".join(["a,b,y", *rows]) + "\n")
    fit = ("fit", "cut.csv", "--target", "y", "--algorithm", "axis_parallel", "--folds", "2", "--output", "m.json")
    assert call(*fit).code == 0
    output = call("explain", "m.json", "--values", "a=1.25,b=0.5").out
    (line,) = [line.split() for line in output.splitlines() if " -> " in line]
    assert line[:3] == ["b", "0.5", "->"] and "to class q" in output
    assert call("explain", "m.json", "--values", f"a=1.25,b={line[3]}").out.startswith("the row: class q")


def test_shapley_values_add_up_beside_the_way_down_and_are_importances_of_a_table(call, fitted):
    plain = call("explain", fitted, WILD, "--row", "3").out
    ended = call("explain", fitted, WILD, "--row", "3", "--shap", "--terms", "2")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(plain.splitlines()[0]) and "4 smaller" in ended.out
    assert re.search(rf"^Exact Shapley values of the probability of \S+ against 80 rows of {WILD}:$", ended.out, re.M)
    document = json.loads(call("explain", fitted, WILD, "--row", "3", "--shap", "--format", "json").out)
    local = document["shapley"]
    predicted = document["predicted"]
    assert local["output"] == "probability" and "importance" not in local
    counts = document["leaf"]["counts"]
    share = (counts[predicted] + 5.0 / len(counts)) / (sum(counts.values()) + 5.0)  # the default adds 5 equal rows
    assert sum(local["values"][predicted].values()) + local["base"][predicted] == pytest.approx(share, abs=1e-10)

    ended = call("explain", fitted, WILD, "--shap", "--background", WILD)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(f"Mean |Shapley value| of the rows of {WILD} against 80 rows of {WILD} (probability")
    document = json.loads(call("explain", fitted, WILD, "--shap", "--format", "json").out)
    sizes = document["shapley"]["importance"]
    assert ended.out.splitlines()[2].split()[0] == f"{max(sizes.values()):.4g}"


def test_a_forest_has_shapley_values_and_no_way_down(call):
    small = ("--algorithm", "hhgdt_forest", "--set", "n_estimators=5", "--folds", "2")
    assert call("fit", WILD, "--target", "Befund", *small, "--output", "forest.json").code == 0
    ended = call("explain", "forest.json", WILD, "--row", "2", "--shap")
    assert ended.code == 0 and "nearest change" not in ended.out and "Exact Shapley values" in ended.out
