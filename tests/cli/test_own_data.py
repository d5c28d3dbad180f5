"""What a new user types at files of their own, and what happened to the first of them."""

import gzip
import json
import shutil
from pathlib import Path

import pytest
from cli_support import forked, on_a_terminal

FILES = Path(__file__).parents[1] / "files"
PLAIN, WILD = str(FILES / "plain.csv"), str(FILES / "wild.csv")
QUICK = ("--set", "cv.folds=3", "--set", "cv.repeats=2")


def run_of(ended) -> str:
    """The name of the run that a command ended with."""
    return ended.err.splitlines()[-1].partition(":")[0]


# ---- first guesses ---------------------------------------------------------------------------------------------------


def test_a_file_is_a_word_like_a_data_set(call):
    ended = call("tree", WILD, "--target", "Befund")
    assert ended.code == 0 and ended.out.startswith("# HHCART(A) on wild: ")
    assert "# Left out: 'Patient' (tells rows apart), 'Name' (tells rows apart), 'Aufnahme' (dates)" in ended.out
    assert "# Pruned by cross-validation" in ended.out and "Größe (cm)" in ended.out
    assert call("tree", "--csv", WILD, "--target", "Befund").out == ended.out
    whole = call("tree", PLAIN, "--target", "variety", "--set", "pruning=none").out
    assert "pruned" not in whole and whole.count("if ") > call("tree", PLAIN, "--target", "variety").out.count("if ")


def test_an_identifier_of_words_is_no_tree_of_two_leaves_and_two_numbers_a_cell_are_told(call):
    lines = Path(PLAIN).read_text().splitlines()
    named = ["kernel," + lines[0], *(f"k{i:04d},{line}" for i, line in enumerate(lines[1:]))]
    (call.folder / "named.csv").write_text("\n".join(named) + "\n")
    ended = call("tree", "named.csv", "--target", "variety")
    assert "# Left out: 'kernel' (tells rows apart); --keep brings a column back.\n" in ended.out
    # The rest of the tree is the one without the column.
    plain = call("tree", PLAIN, "--target", "variety").out
    assert ended.out.partition("if ")[2] == plain.partition("if ")[2]
    rows = [f"{i % 7},{100 + i}/{60 + i % 30},{i % 3 + 1}/2,{'ab'[i % 2]}" for i in range(60)]
    (call.folder / "pressure.csv").write_text("\n".join(["x,bp,dose,y", *rows]) + "\n")
    out = call("tree", "pressure.csv", "--target", "y").out
    assert "'bp' holds two numbers in a cell ('100/60')" in out and "'dose' holds two numbers in a cell ('1/2')" in out
    assert "two numbers" not in call("tree", "pressure.csv", "--target", "y", "--qualitative", "bp,dose").out


def test_a_table_comes_by_standard_input(tmp_path):
    assert forked(tmp_path, "tree", "-", "--target", "Befund", stdin=WILD).out.startswith("# HHCART(A) on stdin: ")
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(Path(PLAIN).read_bytes()))
    ended = forked(tmp_path, "run", "--csv", "-", "--target", "variety", "--quiet", *QUICK, stdin=packed)
    assert "stdin       HHCART(A)" in ended.out and (ended.code, ended.err) == (0, "")


def test_a_table_without_a_header_goes_all_the_way(call):
    rows = [f"{i % 9}.{i % 7},{i % 5}.5,{'yes' if i % 9 > 4 else 'no'}" for i in range(90)]
    (call.folder / "bare.csv").write_text("\n".join(rows) + "\n")
    ended = call("fit", "bare.csv", "--target", "column 3", "--algorithm", "axis_parallel")
    assert ended.code == 4 and "so it is hardly a header; say --header none" in ended.err
    options = ("--header", "none", "--target", "column 3", "--algorithm", "axis_parallel", "--output", "bare.json")
    ended = call("fit", "bare.csv", *options)
    assert ended.code == 0 and "if column 1 > 4.8:" in ended.out
    (call.folder / "new.csv").write_text("8.1,0.5\n1.1,0.5\n")
    assert call("predict", "bare.json", "new.csv").out == "row,prediction\n1,yes\n2,no\n"


def test_drop_takes_a_list_and_notes_say_what_was_done_to_units(call):
    lines = ["a,b,cost,y", *(f'{i % 7}.5,{i % 3}.5,"${i},{i % 10}00.50",{"yn"[i % 2]}' for i in range(10, 60))]
    (call.folder / "cost.csv").write_text("\n".join(lines) + "\n")
    ended = call("tree", "cost.csv", "--target", "y", "--drop", "a,b", "--set", "pruning=none")
    assert ended.code == 0 and "converted to numbers: 'cost' ('$10,000.50' is 10000.5)" in ended.out
    assert "if cost <= " in ended.out and " a " not in ended.out.partition("\nif ")[2]


def test_numbers_are_predicted_by_algorithms_for_numbers(call):
    ended = call("tree", PLAIN, "--target", "weight_mg")
    assert ended.code == 0 and ended.out.startswith("# M5-style on plain: ")
    assert "# Regression: numbers of 'weight_mg' in 240 rows (--task changes that)." in ended.out


def test_another_experiment_on_a_file_is_another_run(call):
    shutil.copy(PLAIN, call.folder / "my.csv")
    first = call("run", "my.csv", "--target", "variety", *QUICK)
    assert first.code == 0 and "2 x 3-fold" in first.out
    assert (
        "Axis-parallel and HHCART(A), pruned by cross-validation (smallest tree within 1 SE of the best)" in first.out
    )
    second = call("run", "my.csv", "--target", "variety", "--algorithm", "fdt", *QUICK)
    with open(call.folder / "my.csv", "a") as stream:
        stream.write("6.1,2.8,2.4,28.4,12.4,14.7,durum\n")
    third = call("run", "my.csv", "--target", "variety", *QUICK)
    names = [run_of(ended) for ended in (first, second, third)]
    assert [ended.code for ended in (first, second, third)] == [0, 0, 0] and len(set(names)) == 3
    assert all(name.startswith("my-") for name in names)
    # More repetitions are the same run, grown.
    grown = call("run", "my.csv", "--target", "variety", "--set", "cv.folds=3", "--set", "cv.repeats=3")
    assert run_of(grown) == names[2] and "18 of 18 folds" in grown.err


@pytest.mark.long
def test_compare_takes_files_and_stored_runs(call):
    ended = call("compare", PLAIN, "--target", "variety", "--repeats", "2", "--folds", "3", "--format", "json")
    assert ended.code == 0
    (record,) = json.loads(ended.out)["rows"]
    assert (record["dataset"], record["first"], record["second"]) == ("plain", "axis_parallel", "hhcart_a")
    first = run_of(ended)
    second = run_of(call("run", PLAIN, "--target", "variety", "--algorithm", "gdt", *QUICK))
    other = run_of(call("run", WILD, "--target", "Befund", "--algorithm", "gdt", *QUICK))
    joined = call("compare", first, second, "--format", "json")
    assert joined.code == 0
    duels = {(record["first"], record["second"]): record for record in json.loads(joined.out)["rows"]}
    assert set(duels) == {("axis_parallel", "hhcart_a"), ("axis_parallel", "gdt"), ("hhcart_a", "gdt")}
    assert duels["axis_parallel", "hhcart_a"]["first_accuracy_mean"] == record["first_accuracy_mean"]
    text = call("compare", first, other).out
    assert "Axis-parallel" in text and "GDT against" not in text


def test_runs_on_other_data_of_one_name_are_not_compared(call):
    for rows in (100, 200):
        lines = Path(PLAIN).read_text().splitlines()[: rows + 1]
        (call.folder / "my.csv").write_text("\n".join(lines) + "\n")
        call("run", "my.csv", "--target", "variety", "--algorithm", "fdt", *QUICK, "--set", f"name=r{rows}")
    ended = call("compare", "r100", "r200")
    assert (ended.code, ended.out) == (2, "")
    assert "runs 'r100' and 'r200' have different data under the name 'my'" in ended.err


# ---- what has to be said ---------------------------------------------------------------------------------------------


def test_a_configuration_says_the_same_by_keys_which_are_no_part_of_what_a_run_is_begun_with(call):
    shutil.copy(WILD, call.folder / "wild.csv")
    key = "{csv: wild.csv, target: Befund, missing: impute, encoding: onehot"
    config = f"version: 1\ndataset: {key}, MORE}}\nalgorithm: fdt\ncv: {{folds: 3, repeats: 1}}\n"
    (call.folder / "c.yaml").write_text(config.replace("MORE", "drop: [Station], dates: days, decimal: comma"))
    ended = call("run", "c.yaml")
    assert ended.code == 0 and "wild: dates are days since 1970-01-01: 'Aufnahme'." in ended.err
    assert "wild: words are levels: 'Raucher' (2)." in ended.err
    (call.folder / "c.yaml").write_text(config.replace("MORE", "features: [Glukose], decmal: comma, task: words"))
    ended = call("validate", "c.yaml")
    assert ended.code == 2 and "unknown key 'decmal'" in ended.err and "task must be one of" in ended.err
    (call.folder / "c.yaml").write_text("version: 1\ndataset: {name: iris, drop: [a]}\nalgorithm: fdt\n")
    assert "drop goes with csv; a named data set knows how it is read." in call("validate", "c.yaml").err

    # A run that was stored before these keys were there goes on.
    shutil.copy(PLAIN, call.folder / "plain.csv")
    config = "version: 1\ndataset: {csv: plain.csv, target: variety%s}\nalgorithm: fdt\ncv: {folds: 3, repeats: 1}\n"
    (call.folder / "c.yaml").write_text(config % "")
    assert "3 of 3 folds" in call("run", "c.yaml", "--fresh").err
    from oblique_cli.experiments.store import Store

    with Store(call.folder / "results" / "oblique.sqlite") as store:
        (dataset,) = store.runs()[0].content["datasets"]
    assert set(dataset) == {"name", "target", "missing", "encoding", "qualitative"}
    (call.folder / "c.yaml").write_text(config % ", delimiter: comma, task: classification, keep: ['*']")
    again = call("run", "c.yaml")
    assert again.code == 0 and "3 of 3 folds" in again.err


# ---- the terminal ----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_tables_fit_a_terminal_of_40_columns(call):
    run = run_of(call("run", PLAIN, "--target", "variety", *QUICK))
    commands = (["table", run], ["compare", run], ["status"], ["data", "list"], ["data", "show", "bupa"], ["doctor"])
    for arguments in (*commands, ["list", "schemes"]):
        lines = on_a_terminal(call.folder, 40, *arguments).out.splitlines()
        assert max(map(len, lines)) <= 40, arguments
    assert "  accuracy: " in on_a_terminal(call.folder, 40, "table", run).out
    wide = on_a_terminal(call.folder, 400, "table", run).out
    assert wide == call("table", run).out, "a wide terminal shows what a file gets"


@pytest.mark.parametrize(
    ("words", "result"),
    [
        ("tree bup", {"file,bup", "plain,bupa"}),
        (
            "tree iris --algorithm hhcart_",
            {f"plain,hhcart_{end}" for end in ("a", "d", "g", "forest", "regression", "model_tree")},
        ),
        ("compare --cv two", {"plain,two_stage"}),
        ("plot cali", {"plain,calibration"}),
        ("export model.json --format on", {"plain,onnx"}),
        ("run bupa_hhg", {"file,bupa_hhg", "plain,bupa_hhgdt"}),
    ],
)
def test_names_are_completed_in_the_shell(tmp_path, words, result):
    typed = f"oblique {words}"
    more = {"_OBLIQUE_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    ended = forked(tmp_path, first=f"os.environ.update({more!r})")
    assert ended.code == 0 and set(ended.out.split()) == result


@pytest.mark.parametrize("arguments", [["list", "schemes"], ["data", "show", "iris"], ["doctor"]])
def test_json_has_one_spelling(call, arguments):
    assert json.loads(call(*arguments, "--format", "json").out)
    assert call(*arguments, "--json").code == 2


def test_no_color_leaves_no_escape_codes(tmp_path):
    arguments = ("taxonomy", "iris", "--min-size", "10")
    assert "\x1b[" in on_a_terminal(tmp_path, 200, *arguments).out
    assert "\x1b[" not in on_a_terminal(tmp_path, 200, *arguments, first="os.environ['NO_COLOR'] = '1'").out


@pytest.mark.long
def test_a_table_that_is_much_work_has_fewer_repetitions_unless_said(call):
    rows = [f"{i * 37 % 101},{i * 53 % 97},{i * i % 89 + i / 7919:.4f},{'ab'[i * i % 7 < 2]}" for i in range(8000)]
    (call.folder / "big.csv").write_text("\n".join(["x,y,z,t", *rows]) + "\n")
    command = ("run", "big.csv", "--target", "t", "--dry-run")
    ended = call(*command)
    assert "note: 5 repeats in place of 10" in ended.err and "--set cv.repeats=10 runs all" in ended.err
    assert "100 of 100 folds to run" in ended.out and call(*command).out == ended.out
    whole = call(*command, "--set", "cv.repeats=10")
    assert "200 of 200 folds to run" in whole.out and "in place of" not in whole.err
    wide = [",".join([row[:-2]] * 8) + row[-2:] for row in rows]
    (call.folder / "wide.csv").write_text("\n".join([",".join(f"x{j}" for j in range(24)) + ",t", *wide]) + "\n")
    assert "note: 1 repeat in place of 10" in call("run", "wide.csv", "--target", "t", "--dry-run").err
    assert "in place of" not in call("run", PLAIN, "--target", "variety", "--dry-run").err
