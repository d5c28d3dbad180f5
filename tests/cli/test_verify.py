"""`oblique verify`: properties of a model file, with an exit code that a script can go by."""

import json
from pathlib import Path

import pytest

FILES = Path(__file__).parents[1] / "files"
PLAIN, WILD = str(FILES / "plain.csv"), str(FILES / "wild.csv")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory) -> dict[str, str]:
    """Models of both tables."""
    from oblique_cli.cli import call as run

    folder = tmp_path_factory.mktemp("fitted")
    results = {}
    for name, table, target, algorithm, *further in (
        ("wild", WILD, "Befund", "hhcart_a"),
        ("number", PLAIN, "weight_mg", "hhcart_regression"),
        ("flat", PLAIN, "weight_mg", "hhcart_regression", "--set", "max_depth=0"),
    ):
        results[name] = str(folder / f"{name}.json")
        words = ["fit", table, "--target", target, "--algorithm", algorithm, *further, "--folds", "2"]
        words += ["--output", results[name]]
        assert run(words) == 0
    return results


def test_what_is_proved_ends_well(call, fitted):
    ended = call("verify", fitted["flat"], "--monotone", "length_mm:-", "--never-uses", "protein_pct")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("PROVED  weight_mg never rises as length_mm grows")
    assert "PROVED  no answer changes with protein_pct" in ended.out


def test_what_is_refuted_ends_with_a_code_of_its_own_and_two_rows(call, fitted):
    ended = call("verify", fitted["number"], "--monotone", "length_mm", "--within", "length_mm=0:10")
    assert ended.code == 7 and ended.err == "of 1 properties 1 refuted.\n"
    assert ended.out.startswith("REFUTED  weight_mg never falls as length_mm grows\n    length_mm from ")
    assert "replayed by predict and the exported" in ended.out and "length_mm from 0 to 10" in ended.out
    document = json.loads(
        call(
            "verify", fitted["number"], "--monotone", "length_mm", "--within", "length_mm=0:10", "--format", "json"
        ).out
    )
    (result,) = document["properties"]
    shown = result["counterexample"]
    assert result["outcome"] == "refuted" and not document["holds"]
    assert 0 <= shown["row"]["length_mm"] < shown["changed"]["length_mm"] <= 10
    assert shown["before"] > shown["after"]
    # Both rows are rows of a table, of which `predict` says the same.
    (call.folder / "two.csv").write_text(
        "\n".join([",".join(shown["row"]), *(",".join(map(str, shown[k].values())) for k in ("row", "changed"))]) + "\n"
    )
    if set(shown["row"]) >= {"length_mm", "width_mm", "thickness_mm", "protein_pct", "moisture_pct", "variety"}:
        predicted = [
            float(line.rpartition(",")[2]) for line in call("predict", fitted["number"], "two.csv").out.splitlines()[1:]
        ]
        assert predicted == [shown["before"], shown["after"]]


def test_rows_keep_their_class_or_another_one_is_near(call, fitted):
    ended = call("verify", fitted["wild"], "--robust", "0.05", "--rows", WILD, "--format", "json")
    document = json.loads(ended.out)
    outcomes = [statement["outcome"] for statement in document["properties"]]
    assert len(outcomes) == 320 and set(outcomes) == {"proved", "refuted"} and ended.code == 7
    text = call("verify", fitted["wild"], "--robust", "0.05", "--rows", WILD, "--output", "said.txt")
    assert text.code == 7
    output = (call.folder / "said.txt").read_text(encoding="utf-8")
    assert f"{outcomes.count('proved')} of 320 do, {outcomes.count('refuted')} do not" in output
