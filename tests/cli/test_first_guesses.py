"""What somebody types who has read a line of the README and guesses the rest."""

import gzip
import io
import re
import shutil

import numpy as np
import pytest
from cli_support import forked, on_a_terminal
from document_support import ROOT

from oblique_cli.fitting.budget import candidates

FILES = ROOT / "tests" / "files"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A folder with the two tables of the tests, and a model of the plain one."""
    folder = tmp_path_factory.mktemp("fitted")
    for name in ("plain.csv", "wild.csv"):
        shutil.copy(FILES / name, folder)
    forked(folder, "fit", "plain.csv", "--target", "variety", "--algorithm", "fdt", "--output", "model.json")
    return folder


@pytest.fixture
def folder(call, fitted):
    """A copy of that folder, in which the command is called."""
    shutil.copytree(fitted, call.folder, dirs_exist_ok=True)
    return call.folder


# ---- where things go -------------------------------------------------------------------------------------------------


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("tree.svg", "<?xml"),
        ("tree.html", "<!doctype html>"),
        ("tree.htm", "<!doctype html>"),
        ("tree.json", '{"algorithm"'),
        ("tree.gv", "digraph"),
        ("tree.tex", "%"),
        ("tree.txt", "# FDT on plain"),
        ("tree", "# FDT on plain"),
    ],
)
def test_the_ending_of_the_output_is_the_form_of_a_tree(call, folder, name, start):
    ended = call("tree", "plain.csv", "--target", "variety", "--algorithm", "fdt", "-o", name)
    assert ended == type(ended)(0, "", "") and (folder / name).read_text().startswith(start)


def test_the_ending_of_the_output_is_the_form_of_a_table(call):
    (call.folder / "my.yaml").write_text("version: 1\ndataset: iris\nalgorithm: fdt\ncv: {folds: 2, repeats: 1}\n")
    assert call("run", "my.yaml", "--quiet", "-o", "t.md").code == 0
    for name, start in {"t.csv": "dataset,", "t.json": "{", "t.tex": "\\usepackage"}.items():
        assert call("table", "my", "-o", name).code == 0
        assert (call.folder / name).read_text().lstrip("% \n").startswith(start), name
    assert "| iris" in (call.folder / "t.md").read_text()
    assert call("folds", "my", "--output", "f.json").code == 0
    assert (call.folder / "f.json").read_text().startswith(("[", "{"))
    assert call("table", "my", "--format", "csv", "--output", "t.txt").code == 0
    assert (call.folder / "t.txt").read_text().startswith("dataset,")


def test_a_model_that_is_not_kept_is_said_to_be_none_and_its_progress_shows_on_a_terminal_alone(call, folder):
    ended = call("fit", "plain.csv", "--target", "variety", "--algorithm", "fdt")
    assert ended.err == "the model is not kept: --output model.json writes it, for predict, explain and export\n"
    ended = call("fit", "plain.csv", "--target", "variety", "--algorithm", "fdt", "--output", "model.json")
    assert ended.err == "model written to model.json\n"
    words = ("fit", "plain.csv", "--target", "variety", "--algorithm", "fdt", "--output", "model.json")
    shown = on_a_terminal(folder, 100, *words).out
    assert re.search(r"fdt  \d+/11  \d+ %", shown)


def without_progress(shown):
    """What stays on a terminal: a line of progress is written over, however often a slow machine shows one."""
    return "".join(line.rpartition("\r")[2] for line in shown.splitlines(keepends=True))


def test_what_is_said_of_a_tree_fits_the_terminal(folder):
    words = ("tree", "wild.csv", "--target", "Befund", "--algorithm", "fdt")
    ended = on_a_terminal(folder, 40, *words)
    texts = [line for line in ended.out.splitlines() if line.startswith("#")]
    assert ended.code == 0 and max(map(len, texts)) <= 40
    assert " ".join(line.removeprefix("#").strip() for line in texts).count("--keep brings a column back.") == 1


def test_a_page_at_a_terminal_goes_to_a_file_and_nothing_is_written_over(folder):
    words = ("tree", "plain.csv", "--target", "variety", "--algorithm", "fdt", "--html")
    ended = on_a_terminal(folder, 100, *words)
    assert (ended.code, without_progress(ended.out)) == (0, "written to plain.html\n")
    page = (folder / "plain.html").read_bytes()
    assert page.startswith(b"<!doctype html>")
    again = on_a_terminal(folder, 100, *words)
    there = "error: 'plain.html' is there already: say --output plain.html to write over"
    assert again.code == 2 and again.out.startswith(there)
    ended = on_a_terminal(folder, 100, "tree", "model.json", "--format", "svg")
    assert (ended.code, ended.out) == (0, "written to model.svg\n") and (folder / "model.svg").exists()


# ---- names and orders ------------------------------------------------------------------------------------------------


def test_the_name_of_a_file_changes_no_tree_and_messages_name_it_as_it_is_typed(call, folder, monkeypatch):
    def rules(*words):
        ended = call(*words, "--target", "variety")
        assert ended.code == 0
        return re.sub(r" on \w+:", "", ended.out)

    content = (folder / "plain.csv").read_bytes()
    (folder / "renamed.csv").write_bytes(content)
    (folder / "packed.csv.gz").write_bytes(gzip.compress(content))
    (folder / "tabs.tsv").write_bytes(content.replace(b",", b"\t"))
    wanted = rules("tree", "plain.csv")
    assert rules("tree", "renamed.csv") == rules("tree", "packed.csv.gz") == wanted
    assert rules("tree", "tabs.tsv").replace("# Read with tab between cells.\n", "") == wanted
    piped = forked(folder, "tree", "-", "--target", "variety", stdin=folder / "plain.csv").out
    assert re.sub(r" on \w+:", "", piped) == wanted
    fits = [rules("fit", name, "--algorithm", "hhgdt") for name in ("plain.csv", "renamed.csv")]
    assert fits[0] == fits[1]

    for name in ("plain.csv", str(folder / "plain.csv"), "./plain.csv"):
        ended = call("fit", name, "--target", "varity")
        assert ended.err == "error: plain.csv: there is no column 'varity' to use as target. Did you mean 'variety'?\n"
    assert call("tree", "gone.csv", "--target", "y").err == "error: gone.csv: the file does not exist.\n"
    elsewhere = str(FILES / "plain.csv")
    assert call("tree", elsewhere, "--target", "y").err.startswith(f"error: {elsewhere}: there is no column 'y'")


def test_a_run_of_a_file_is_named_in_full_where_the_file_is_asked_for(call, folder):
    (folder / "plain.csv").write_text("\n".join((folder / "plain.csv").read_text().splitlines()[:40]) + "\n")
    assert call("run", "plain.csv", "--target", "variety", "--set", "cv.repeats=1", "--quiet").code == 0
    (name,) = re.findall(r"plain-[0-9a-f]{8}", call("status").out.splitlines()[1])[:1]
    ended = call("table", "plain")
    assert ended.code == 2 and f"Did you mean '{name}'?" in ended.err


# ---- what is said ----------------------------------------------------------------------------------------------------


def test_an_estimate_stands_beside_what_no_model_at_all_would_do(call, folder):
    ended = call("fit", "wild.csv", "--target", "Befund", "--algorithm", "fdt")
    assert "# Always saying 'unauffällig': 54.4 % right.\n" in ended.out and "rows are few" not in ended.out
    rows = (folder / "plain.csv").read_text().splitlines()
    (folder / "tiny.csv").write_text("\n".join(rows[:13]) + "\n")
    ended = call("fit", "tiny.csv", "--target", "variety", "--algorithm", "fdt")
    assert "# 12 rows are few: other rows could give quite another tree and another estimate.\n" in ended.out


@pytest.mark.long
def test_a_comparison_of_trees_for_numbers_has_its_points_in_line(call, folder):
    ended = call("fit", "plain.csv", "--target", "weight_mg")
    table = [line for line in ended.out.splitlines() if re.match(r"# \w+ +\d+\.\d+ +\d", line)]
    places = {tuple(len(cell.partition(".")[2]) for cell in line.split()[2:4]) for line in table}
    left_out = [line for line in ended.out.splitlines() if re.match(r"# \w+ +- +- ", line)]
    assert len(table) >= 4 and len(table) + len(left_out) == len(candidates("regression")) and len(places) == 1
    weights = np.genfromtxt(io.StringIO((folder / "plain.csv").read_text()), delimiter=",", skip_header=1)[:, 3]
    assert f"# Always saying the mean, {weights.mean():.4g}: RMSE {weights.std():.4g}.\n" in ended.out
    # Sentences of remarks are as long as what they say.
    assert max(len(line) for line in ended.out.splitlines() if not line.endswith(".")) <= 130


def test_a_model_file_says_what_it_is_of_and_shares_of_right_answers_have_as_many_digits(call, folder):
    lines = call("tree", "model.json").out.splitlines()
    assert re.fullmatch(r"# FDT in model\.json: \d+ leaves, \d+ terms, depth \d+", lines[0])
    assert lines[1] == "# Classification: 3 classes of 'variety', fitted to 240 rows."
    assert re.fullmatch(
        r"# On new rows: \d\d\.\d % right, standard error \d\.\d points \(cross-validation\)\.", lines[2]
    )
    assert '/*\n * fdt: class "variety" by a tree of ' in call("export", "model.json", "--format", "c").out
    ended = call("score", "model.json", "plain.csv")
    assert all(re.search(r" \d+\.\d\d  %$", line) for line in ended.out.splitlines()[1:])


def test_the_help_of_the_program_cuts_no_sentence_and_names_every_command(call):
    shown = call("--help").out
    lines = [line for line in shown.splitlines() if re.match(r"  [a-z-]+ {2,}\S", line) and "--" not in line]
    from oblique_cli.cli import COMMANDS

    assert [line.split()[0] for line in lines] == list(COMMANDS)
    assert all(line.endswith(".") and "..." not in line and len(line) < 80 for line in lines)
    assert (
        shown.index("\nOne tree, one model:\n")
        < shown.index("\nExperiments:\n")
        < shown.index("\nResults:\n")
        < shown.index("\nPublished results:\n")
    )
