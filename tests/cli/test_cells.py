"""Cells of own tables on the command line: marks of missing values, conversions that models repeat, and many levels."""

import json
import math
import re

import pytest


def written(call, name: str, header: str, rows: list[str]) -> str:
    (call.folder / name).write_text("\n".join([header, *rows]) + "\n")
    return name


def test_na_adds_a_mark_and_may_be_repeated_and_only_na_replaces_the_usual_ones(call):
    cells = [["lost", "gone", "NA"][i // 9 % 3] if i % 9 == 0 else f"{i}.5" for i in range(90)]
    rows = [f"{cell},{'ab'[i % 2]}" for i, cell in enumerate(cells)]
    data = written(call, "marks.csv", "v,y", rows)
    ended = call("tree", data, "--target", "y")
    assert ended.code == 4 and "(line 2)" in ended.err and "--na lost" in ended.err
    ended = call("tree", data, "--target", "y", "--na", "lost", "--na", "gone")
    assert ended.code == 0 and "# 10 missing cells in 1 column" in ended.out
    ended = call("tree", data, "--target", "y", "--na", "lost", "--na", "gone", "--only-na")
    assert ended.code == 4 and "'NA'" in ended.err
    ended = call("tree", data, "--target", "y", "--na", "nonnumeric")
    assert ended.code == 0 and "# Cells that are no numbers are missing: 'v' ('lost', 'gone')" in ended.out


@pytest.mark.parametrize("share", [0.02, 0.09, 0.11, 0.3, 0.45])
def test_other_cells_among_numbers_are_an_error_whatever_their_share(call, share):
    n = 200
    odd = {round(k / share) for k in range(int(n * share))}
    rows = [f"{'oops' if i in odd else f'{i}.25'},{'ab'[i % 2]}" for i in range(n)]
    ended = call("tree", written(call, "odd.csv", "v,y", rows), "--target", "y")
    assert ended.code == 4 and "column 1 ('v') holds numbers, but 'oops' in row 1 (line 2)" in ended.err


def test_a_model_converts_cells_of_new_rows_as_it_did_those_of_training(call):
    rows = [f"{40 + i} kg,{'<' if i % 7 == 3 else ''}{i / 10},{'True' if i % 3 else 'TRUE'},{i * 2}" for i in range(60)]
    data = written(call, "mixed.csv", "w,c,flag,y", rows)
    fit = ("--target", "y", "--algorithm", "cart_regression", "--output", "m.json")
    assert call("fit", data, *fit).code == 0
    columns = json.loads((call.folder / "m.json").read_text())["columns"]["columns"]
    assert [column["treatment"] for column in columns] == ["number", "number", "constant", "target", "censored"]
    plain = [f"{40 + i},{'<' if i % 7 == 3 else ''}{i / 10},{i * 2}" for i in range(60)]
    other = written(call, "plain.csv", "w,c,y", plain)
    assert call("predict", "m.json", other).out == call("predict", "m.json", data).out
    ended = call("predict", "m.json", written(call, "lb.csv", "w,c,y", ["150 lb,1,1"]))
    assert ended.code == 4 and "'150 lb' at line 2, not a number in kg" in ended.err


@pytest.mark.long
def test_rare_levels_are_one_and_new_ones_belong_to_it(call):
    names = [f"s{int((i * 0.618 % 1) ** 2 * 700)}" for i in range(1500)]
    rows = [f"{name},{math.sin(i):.3f},{'ab'[i % 2 ^ (name == 's0')]}" for i, name in enumerate(names)]
    data = written(call, "names.csv", "name,x,y", rows)
    assert call("fit", data, "--target", "y", "--algorithm", "axis_parallel", "--output", "m.json").code == 0
    levels = json.loads((call.folder / "m.json").read_text())["columns"]["columns"][0]["levels"]
    assert 1 < len(levels) <= 50 and levels[-1] == "(other)"
    rare = next(name for name in names if name not in levels)
    new = written(call, "new.csv", "name,x", [f"{rare},0.5", "never seen,0.5"])
    ended = call("predict", "m.json", new)
    first, second = (line.partition(",")[2] for line in ended.out.splitlines()[1:])
    assert ended.code == 0 and first == second and "training rows did not have" not in ended.err
    whole = call("tree", data, "--target", "y", "--algorithm", "axis_parallel", "--keep", "name")
    assert re.search(r"Words are levels: 'name' \(\d{3}\)", whole.out)


def test_cells_can_be_taken_as_they_are_written(call):
    rows = [f"{40 + i % 5} kg,{i},{'ab'[i % 2]}" for i in range(40)]
    data = written(call, "kg.csv", "w,x,y", rows)
    ended = call("tree", data, "--target", "y", "--qualitative", "w")
    assert ended.code == 0 and "converted" not in ended.out and "Words are levels: 'w' (5)" in ended.out
