"""The command as a whole: help, start-up, and how every error becomes a sentence and a code."""

import builtins
import importlib.metadata
import json
import os
import pkgutil
import re
import subprocess
import sys

import click
import pytest
from cli_support import COMMAND, forked, oblique, start

import oblique_cli
import oblique_cli.cli
from oblique_cli import errors
from oblique_cli.cli import COMMANDS, MOVED_COMMANDS, MOVED_OPTIONS, cli, main
from oblique_cli.cli.fit import SHARED, fit
from oblique_cli.config import composing
from oblique_cli.ground import extensions, versions

BUG = f"a bug in oblique {oblique_cli.__version__} (ZeroDivisionError; {versions.described()})"
HEAVY = {"numpy", "scipy", "sklearn", "pandas", "joblib", "yaml", "sqlite3", "multiprocessing"}


def every_command(group=cli, words=()):
    """Every command and subcommand as its words."""
    yield words
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            yield from every_command(group.get_command(context, name), (*words, name))


@pytest.mark.parametrize("words", list(every_command()), ids=" ".join)
def test_every_command_has_help_with_an_example(call, words):
    ended = call(*words, "--help")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(f"Usage: {' '.join(['oblique', *words])} ")
    assert f"Example: oblique {' '.join(words)}" in ended.out


def test_h_is_short_for_help(tmp_path):
    # In a process of its own: click remembers the names of the help option from its first use.
    ended = oblique(tmp_path, "data", "list", "-h")
    assert ended == oblique(tmp_path, "data", "list", "--help") and ended.code == 0


def test_every_option_says_what_it_does_and_the_help_tells_the_exit_codes(call):
    for words in every_command():
        command = cli
        for word in words:
            command = command.get_command(click.Context(command), word)
        for option in command.params:
            assert not isinstance(option, click.Option) or option.help, (words, option.name)
    out = " ".join(call("--help").out.split())
    for name, code in vars(errors).items():
        if name.startswith("EXIT_") and name != "EXIT_PIPE":
            assert f" {code} " in out, name


def test_every_module_beside_the_group_is_a_command():
    modules = {module.name for module in pkgutil.iter_modules(oblique_cli.cli.__path__)}
    assert {name for name in modules if not name.startswith("_")} == {
        place.split(".")[0] for place in COMMANDS.values() if not place.startswith(extensions.PAPERS)
    }
    assert not modules & set(dir(builtins)), "a module would hide a builtin in the package"


@pytest.mark.parametrize("name", MOVED_COMMANDS)
def test_a_former_command_names_its_new_place(call, name):
    ended = call(name, "smoke")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert f"`oblique {name}` is now {MOVED_COMMANDS[name]}." in ended.err
    place = MOVED_COMMANDS[name].split("`")[1].split()
    assert place[0] == "oblique" and call(*place[1:], "--help").code == 0


@pytest.mark.parametrize(
    ("command", "option"), [(command, option) for option, places in MOVED_OPTIONS.items() for command in places]
)
def test_a_former_option_names_its_new_place(call, command, option):
    ended = call(command, "smoke", option, "x")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    place = MOVED_OPTIONS[option][command]
    assert f"{option} is now {place}." in ended.err
    assert place.split()[0] in {name for param in cli.get_command(None, command).params for name in param.opts}


@pytest.mark.parametrize("setting", [name for name, option in fit.settings.items() if option.name not in SHARED])
def test_a_former_option_of_fit_is_a_name_for_set(call, setting):
    option = f"--{setting.replace('_', '-')}"
    ended = call("fit", "iris", option, "x")
    assert ended.code == 2 and ended.err.startswith(f"error: {option} is now --set {setting}=")


def test_fit_shows_25_options_under_headings_and_no_other(call):
    shown = "\nTable:\n" + call("fit", "--help").out.partition("\nTable:\n")[2]
    listed = re.findall(r"^  (?:-\w, )?--([a-z-]+)", shown, re.MULTILINE)
    assert (
        len(listed) == 25 + 1
        and "help" in listed
        and not {name.replace("-", "_") for name in listed} & fit.settings.keys()
    )
    assert all(f"\n{title}:\n" in shown for title in fit.headings)
    assert all(f"\n  {name}=" in shown for name in fit.settings)
    names = {name for names in fit.headings.values() for name in names} - {"--help"}
    assert names <= {name for param in fit.params for name in param.opts}


def test_without_a_command_the_help_is_shown(call):
    assert call() == call("--help")
    ended = call("data")
    assert ended.code == 2 and ended.err.startswith("Usage: oblique data")
    ended = call("fit", "iris", "--set", "only_na=perhaps")
    assert ended.code == 2 and "'perhaps' is not a valid boolean" in ended.err


def test_the_installed_command_is_this_one(call):
    assert [e.value for e in importlib.metadata.entry_points(name="oblique")] == ["oblique_cli._start:main"]
    assert oblique(call.folder, "--version").out == f"oblique {oblique_cli.__version__}\n"
    done = subprocess.run([sys.executable, "-m", "oblique_cli", "--version"], capture_output=True, text=True)
    assert done.stdout == call("--version").out


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["run", "--help"], ["compare", "--help"]], ids=" ".join
)
def test_help_imports_nothing_heavy(arguments):
    script = (
        "import sys, json; from oblique_cli.cli import call; "
        f"assert call({arguments!r}) == 0; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    loaded = json.loads(done.stderr)
    assert "click" in loaded and not HEAVY & set(loaded)
    assert not [name for name in loaded if name.startswith("oblique_cli.experiments")]


# ---- errors ----------------------------------------------------------------------------------------------------------


def test_an_unexpected_exception_is_a_sentence_and_a_log_with_the_traceback_where_one_can_be_written(call, monkeypatch):
    def bug():
        raise ZeroDivisionError("in the middle")

    monkeypatch.setattr(composing, "bundled", bug)
    monkeypatch.setattr("tempfile.tempdir", str(call.folder))
    ended = call("list", "configs")
    (log,) = call.folder.glob("oblique-*.log")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == f"error: {BUG}: please report it with the file {log}.\n"
    text = log.read_text()
    assert "'list', 'configs'" in text and "Traceback" in text and "ZeroDivisionError: in the middle" in text
    monkeypatch.setattr(composing, "bundled", lambda: 1 / 0)
    monkeypatch.setattr("tempfile.tempdir", str(call.folder / "nowhere"))
    assert call("list", "configs").err == f"error: {BUG}: please report it.\n"

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(composing, "bundled", interrupted)
    ended = call("list", "configs")
    assert (ended.code, ended.out, ended.err.strip()) == (130, "", "")


@pytest.mark.sample(1)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [["validate", "--schema"], ["data", "list"], ["--help"]])
def test_an_output_without_room_is_a_sentence_whatever_the_command(tmp_path, arguments):
    ended = forked(tmp_path, *arguments, first="os.dup2(os.open('/dev/full', os.O_WRONLY), 1)")
    assert (ended.code, ended.err.count("\n")) == (errors.EXIT_STORE, 1)
    assert ended.err.startswith("error: No space left on device: ")


def test_a_reader_that_goes_away_is_no_reason_to_complain(tmp_path):
    process = start(tmp_path, "data", "list", "--format", "json")
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait() == errors.EXIT_PIPE == 141
    process.stderr.close()


@pytest.mark.long
def test_a_terminal_that_cannot_show_a_character_shows_a_question_mark(tmp_path):
    (tmp_path / "my.csv").write_text("λ,class\n1,a\n2,a\n3,b\n4,b\n", encoding="utf-8")
    done = subprocess.run(
        [*COMMAND, "tree", "--csv", "my.csv", "--target", "class"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
    )
    assert done.returncode == 0 and b"\nif ? > 2.5:  (" in done.stdout
    assert all(line.startswith(b"reading my.csv") for line in done.stderr.splitlines())  # after ten seconds


@pytest.mark.parametrize(("options", "shown"), [([], False), (["-W", "default"], True)])
def test_warnings_of_libraries_are_shown_to_those_who_ask(options, shown):
    script = "import oblique_cli.cli as c, warnings; c.call = lambda given: warnings.warn('old') or 0; c.main()"
    done = subprocess.run([sys.executable, *options, "-c", script], capture_output=True, text=True)
    assert ("UserWarning: old" in done.stderr) == shown and (shown or done.stderr == "")


def test_main_takes_the_arguments_of_the_process(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["oblique", "--version"])
    monkeypatch.setenv("PYTHONSAFEPATH", "")  # which `main` sets for the processes that it starts
    monkeypatch.delenv("PYTHONSAFEPATH")
    assert main() == 0 and capsys.readouterr().out.startswith("oblique ")
