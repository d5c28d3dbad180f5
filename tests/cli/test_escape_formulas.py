"""Texts that a spreadsheet would run are escaped on request, and numbers never are."""

import csv
import io

from oblique_cli.data.csv_text import escaped

TEXTS = ("=1+1", "@SUM(A1)", "+cmd", "-x", "\tq")


def test_a_text_is_escaped_and_numbers_and_other_texts_stay():
    assert [escaped(text) for text in TEXTS] == [f"'{text}" for text in TEXTS]
    for cell in ("-1", "+2.5e-3", "-0.0", "", "a=b", -1, -2.5, None, True):
        assert escaped(cell) is cell


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_predictions_and_folds_are_escaped_on_request(call):
    lines = [f"{TEXTS[i % 3]}{i},{i - 20},{('=yes', 'no')[i % 40 > 19]}\n" for i in range(80)]
    (call.folder / "own.csv").write_text("name,x,class\n" + "".join(lines))
    fitted = call("fit", "own.csv", "--target", "class", "--algorithm", "axis_parallel", "--folds", "2", "-o", "m.json")
    assert fitted.code == 0, fitted.err
    words = ("predict", "m.json", "own.csv", "--keep", "name", "--keep", "x", "--proba")
    plain, safe = rows(call(*words).out), rows(call(*words, "--escape-formulas").out)
    assert plain[1][:4] == ["=1+10", "-20", "1", "=yes"] and safe[1][:4] == ["'=1+10", "-20", "1", "'=yes"]
    assert [[cell.removeprefix("'") for cell in line] for line in safe] == plain
    assert call(*words, "--escape-formulas", "--format", "json").out == call(*words, "--format", "json").out
    entry = "{csv: own.csv, target: class, drop: [name]}"
    (call.folder / "x.yaml").write_text(
        f"version: 1\ndataset: {entry}\nalgorithm: axis_parallel\ncv: {{folds: 2, repeats: 1}}\n"
    )
    ended = call("run", "x.yaml", "--quiet")
    assert ended.code == 0, ended.err
    plain, safe = rows(call("predictions", "x").out), rows(call("predictions", "x", "--escape-formulas").out)
    assert safe != plain and [[cell.removeprefix("'") for cell in line] for line in safe] == plain
    assert call("folds", "x", "--escape-formulas").code == 0
