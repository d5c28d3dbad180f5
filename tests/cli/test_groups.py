"""`--groups` on the command line: which commands take it, what they say, and what a model file keeps of it."""

import json
import re

import numpy as np
import pytest

NEEDED = ("--target", "t", "--algorithm", "hhgdt")


def table(n: int, rows: int, first: int = 0, noise: float = 1.0) -> str:
    """Patients whose measurements hardly vary, and of whom a quarter have the class that `a` does not tell."""
    rng = np.random.default_rng(first + 1)
    lines = ["patient,a,b,c,t"]
    for patient in range(first, first + n):
        center = rng.normal(size=3)
        label = "ill" if center[0] + noise * rng.normal() > 0 else "well"
        lines += [
            f"P{patient}," + ",".join(f"{v:.3f}" for v in center + 0.02 * rng.normal(size=3)) + f",{label}"
            for _ in range(rows)
        ]
    return "\n".join(lines) + "\n"


@pytest.fixture
def files(call):
    (call.folder / "p.csv").write_text(table(40, 6))
    (call.folder / "new.csv").write_text(table(150, 4, first=1000))
    return call


def test_an_estimate_by_groups_is_what_new_groups_get_and_one_by_rows_is_not(files):
    expected = {}
    for name, groups in (("rows", ("--drop", "patient")), ("groups", ("--groups", "patient"))):
        ended = files("fit", "p.csv", *NEEDED, *groups, "--format", "json", "-o", f"{name}.json")
        assert ended.code == 0, ended.err
        expected[name] = json.loads(ended.out)["estimate"]
    scored = files("score", "groups.json", "new.csv").out
    reached = float(re.search(r"accuracy +([\d.]+)", scored)[1]) / 100
    off = {name: abs(item["accuracy"] - reached) / item["standard_error"] for name, item in expected.items()}
    assert off["groups"] < 2 < off["rows"]
    assert expected["groups"]["groups"] == "patient" and "groups" not in expected["rows"]


@pytest.mark.parametrize("command", [("fit", "-o", "m.json"), ("run", "--set", "cv.folds=2")])
def test_trees_are_pruned_to_the_least_error_between_groups(files, command):
    command, *options = command
    for groups, rule in (((), "within 1 SE of the best"), (("--groups", "patient"), "of the least error")):
        ended = files(command, "p.csv", *NEEDED, *groups, *options)
        assert ended.code == 0 and f"(smallest tree {rule})" in ended.out
        if command == "fit":
            model = json.loads((files.folder / "m.json").read_text())
            assert model["parameters"]["standard_errors"] == float(not groups)


def test_sets_by_groups_cover_new_groups(files):
    fit = ("fit", "p.csv", *NEEDED, "--groups", "patient", "--coverage", "0.9", "-o", "m.json")
    ended = files(*fit)
    assert ended.code == 0, ended.err
    assert "90 % of the rows of new groups, on average over groups (lac, limits by 240 rows of 40 groups" in ended.out
    sets = [line.split(",")[-1] for line in files("predict", "m.json", "new.csv", "--sets").out.splitlines()[1:]]
    truth = [line.split(",")[-1] for line in (files.folder / "new.csv").read_text().splitlines()[1:]]
    covered = np.mean([label in some.split("|") for label, some in zip(truth, sets, strict=True)])
    assert 0.8 < covered <= 1.0  # one fit of 40 groups differs from 0.9 by 0.05 to 0.1


def test_the_model_file_and_the_card_name_the_groups_and_new_rows_need_no_such_column(files):
    ended = files("fit", "p.csv", *NEEDED, "--groups", "patient", "-o", "m.json", "--report", "card.html")
    assert ended.code == 0, ended.err
    facts = json.loads((files.folder / "m.json").read_text())
    assert facts["facts"]["groups"] == {"column": "patient", "number": 40}
    assert "patient" not in facts["feature_names"]
    card = (files.folder / "card.html").read_text()
    assert "cross-validation by groups of" in card and "fit that has not seen its group" in card
    bare = [line.partition(",")[2] for line in (files.folder / "new.csv").read_text().splitlines()]
    (files.folder / "bare.csv").write_text("\n".join(bare) + "\n")
    assert files("predict", "m.json", "bare.csv").out == files("predict", "m.json", "new.csv").out


@pytest.mark.parametrize(
    "command",
    [
        ("fit", "p.csv", *NEEDED, "--folds", "3"),
        ("tree", "p.csv", *NEEDED),
        ("run", "p.csv", *NEEDED, "--set", "cv.repeats=1", "--set", "cv.folds=3", "-j", "1"),
    ],
)
def test_the_option_and_the_key_of_a_configuration_are_one(files, command):
    by_option = files(*command, "--groups", "patient")
    by_key = files(*command, "--set", "cv.groups=patient")
    assert by_option.code == 0, by_option.err
    assert by_key.out == by_option.out
    assert files(*command, "--drop", "patient").out != by_option.out


def test_comparisons_and_configurations_divide_by_groups(files):
    options = ("compare", "p.csv", "--target", "t", "--groups", "patient", "--repeats", "2", "--folds", "3", "-j", "1")
    ended = files(*options, "--algorithm", "axis_parallel,hhgdt")
    assert ended.code == 0, ended.err
    assert "2 x 3-fold CV (group by patient)" in ended.out
    (files.folder / "x.yaml").write_text(
        "version: 1\ndataset: {csv: p.csv, target: t}\nalgorithm: {name: hhgdt, pruning: cv}\n"
        "cv: {groups: patient, folds: 3, repeats: 1}\n"
    )
    assert "(group by patient)" in files("run", "x.yaml", "-j", "1").out


@pytest.mark.parametrize("command", [("fit", "p.csv", *NEEDED, "--folds", "2"), ("run", "p.csv", *NEEDED, "--dry-run")])
def test_a_column_that_names_the_rows_of_one_person_is_warned_of(files, command):
    text = table(40, 6, noise=0.0)
    (files.folder / "p.csv").write_text(text)
    drop = ("--drop", "patient") if command[0] == "fit" else ()
    warnings = files(*command, *drop).err
    assert "warning: column 'patient' has 40 values in 240 rows" in warnings and "say --groups patient" in warnings
    assert "warning" not in files(*command, "--groups", "patient").err
    (files.folder / "p.csv").write_text(text.replace("P", ""))  # numbers that count persons
    assert "warning: column 'patient'" in files(*command, *drop).err


def test_copies_of_rows_are_warned_of_and_ordinary_columns_are_not(call):
    """A column of words that predicts well, and one that repeats and predicts nothing."""
    rng = np.random.default_rng(0)
    lines = ["town,shop,age,price"]
    for _ in range(400):
        town, shop = rng.integers(20), rng.integers(60)
        lines.append(f"town {town},shop {shop},{rng.integers(20, 80)},{town * 10 + rng.normal():.2f}")
    (call.folder / "p.csv").write_text("\n".join(lines) + "\n")
    ended = call("tree", "p.csv", "--target", "price", "--task", "regression")
    assert ended.code == 0 and "warning" not in ended.err, ended.err

    rng = np.random.default_rng(0)
    rows = [f"{a:.4f},{b:.4f},{'yes' if a + b > 0 else 'no'}" for a, b in rng.normal(size=(100, 2))]
    (call.folder / "p.csv").write_text("\n".join(["a,b,t", *rows, *rows]) + "\n")
    assert "warning: 200 of 200 rows are those of another row in every feature" in call("tree", "p.csv", *NEEDED).err
    (call.folder / "p.csv").write_text("\n".join(["a,b,t", *rows]) + "\n")
    assert "warning" not in call("tree", "p.csv", *NEEDED).err
