"""The command `oblique`: its subcommands, its error messages and its exit codes.

Each subcommand is a module of this package. It is imported, with the numerical libraries, only when it runs,
so that `oblique --help` answers at once.
"""

from __future__ import annotations

import contextlib
import copy
import errno
import functools
import io
import os
import re
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import click

from oblique_cli import __version__
from oblique_cli.errors import (
    EXIT_CONFIG,
    EXIT_DATA,
    EXIT_INTERNAL,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_PIPE,
    EXIT_STORE,
    DataError,
    ObliqueError,
    cut,
    exit_code_of,
    kernels_fault,
    not_installed,
)
from oblique_cli.foreign import plugin_fault
from oblique_cli.ground import extensions, versions
from oblique_cli.ground.registry import close_matches

# Section of the help -> command -> module and function, and its purpose. (A module `list` would hide the built-in.)
SECTIONS = {
    "One tree, one model": {
        "tree": ("tree.tree", "Look at a tree: of a table, a stored fold, a model."),
        "fit": ("fit.fit", "Fit a model to a table, and estimate its accuracy."),
        "predict": ("predict.predict", "Predict new rows by a model."),
        "score": ("predict.score", "Score a model on rows with known answers."),
        "explain": ("explain.explain", "Explain one prediction, and what would change it."),
        "verify": ("verify.verify", "Prove a property of a model, or refute it."),
        "export": ("export.export", "Write a model in C, Python, SQL, ONNX and more."),
    },
    "Experiments": {
        "run": ("run.run", "Run or resume configurations, or compare on a table."),
        "compare": ("compare.compare", "Compare algorithms data set by data set."),
        "bias-variance": ("run.bias_variance", "Split errors into bias and variance."),
        "validate": ("validate.validate", "Check configurations, or print their JSON schema."),
    },
    "Results": {
        "status": ("status.status", "List stored runs and what is left of them."),
        "table": ("stored.table", "Print the table of a run."),
        "significance": ("stored.significance", "Test which differences are more than chance."),
        "plot": ("plot.plot", "Draw runs: boxes, curves, confusion and more."),
        "report": ("report.report", "Write all that is known of runs into one page."),
        "folds": ("stored.folds", "Print every fold in full precision."),
        "predictions": ("stored.predictions", "Print what every fold predicted."),
        "rescore": ("stored.rescore", "Compute further metrics from stored predictions."),
        "diff": ("stored.diff", "Compare two runs fold by fold."),
        "merge": ("stored.merge", "Put the shards of a run together."),
        "repair": ("repair.repair", "Find damaged folds, and run those again."),
    },
    "What there is": {
        "list": ("listing.list_", "List algorithms, metrics, schemes and more."),
        "data": ("data.data", "List, show, verify, fetch and convert data sets."),
        "doctor": ("doctor.doctor", "Show versions, processors and folders."),
    },
}
for _title, _behind in extensions.COMMANDS.items():
    SECTIONS.setdefault(_title, {}).update(_behind)
COMMANDS = {name: place for section in SECTIONS.values() for name, (place, _) in section.items()}

# Renamed commands, and renamed options by command, each with the text that follows "is now".
MOVED_COMMANDS = {
    "convert": "`oblique data convert`",
    "retry": "`oblique run`: the command of the run, which `oblique status` prints, runs failed folds again",
    "schema": "`oblique validate --schema`",
}
MOVED_OPTIONS = {
    "--algorithms": {"compare": "--algorithm"},
    "--backend": dict.fromkeys(("run", "compare", "repair", "reproduce"), "--scheduler ADDRESS alone"),
    "--class-weight": {"fit": "--set class_weight=balanced"},
    "--datasets": {"compare": "--dataset"},
    "--import": {"validate": "--allow-code"},
    "--keep-column": {"predict": "--keep"},
    "--out": {"fit": "--output"},
    "--threshold": {"taxonomy": "--purity"},
    "--workers": {"fit": "--jobs"},
}

# Error messages of Python, the dynamic loader and the C library when memory is exhausted.
NO_MEMORY = re.compile("failed to map segment|annot allocate memory|can't start new thread|annot create thread")
LEAST_ADDRESS_SPACE = 640 << 20  # bytes: imports take up to 590 MB
TRACEBACK = "OBLIQUE_TRACEBACK"  # "1" prints the traceback of an error


class ReaderGone(Exception):
    """Error: the reader of standard output has closed it, as in `oblique list algorithms | head`."""


@contextlib.contextmanager
def _noticing_the_reader() -> Iterator[None]:
    # click would end a broken pipe with exit code 1, which is reserved for bugs.
    try:
        yield
    except BrokenPipeError:
        raise ReaderGone from None


class LazyGroup(click.Group):
    """Group of commands that imports the module of a command only when the command is used."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _noticing_the_reader():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _noticing_the_reader():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, function = COMMANDS[cmd_name].rpartition(".")
        there = module if module.startswith(f"{extensions.PAPERS}.") else f"{__name__}.{module}"
        command: click.Command = getattr(import_module(there), function)
        return _prepared(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands of each section without importing them."""
        width = max(map(len, COMMANDS))
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{width}}", summary) for name, (_, summary) in section.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            if args[0] in MOVED_COMMANDS:
                raise click.UsageError(f"`oblique {args[0]}` is now {MOVED_COMMANDS[args[0]]}.", ctx)
            raise click.UsageError(f"there is no command {args[0]!r}.{close_matches(args[0], COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)


def _prepared(command: click.Command) -> click.Command:
    """Return the command, changed to check the memory and import plugins before it runs, but not for its help."""
    callback = command.callback
    assert callback is not None

    @functools.wraps(callback)
    def begun(*args: Any, **kwargs: Any) -> Any:
        _check_address_space()
        from oblique_cli import plugins

        plugins.load()
        return callback(*args, **kwargs)

    wrapped = copy.copy(command)
    wrapped.callback = begun
    return wrapped


def _check_address_space() -> None:
    """Raise DataError if the address space (`ulimit -v`) is too small for the numerical libraries.

    With too little, OpenBLAS waits forever for the memory of its threads, and allocators abort without a message.
    With a limit that suffices, OpenBLAS gets one thread: each takes 32 MB in NumPy's copy and in SciPy's.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return
    if limit < LEAST_ADDRESS_SPACE:
        least = LEAST_ADDRESS_SPACE >> 20
        raise DataError(
            f"the address space is limited to {limit >> 20} MB: at least {least} MB are needed (ulimit -v)."
        )
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: oblique fit my.csv --target class --output model.json",
)
@click.version_option(__version__, message="oblique %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Run, compare and trust oblique decision trees.

    Exit codes: 0 all done, 1 a bug, 2 usage or configuration, 3 some folds failed, 4 data missing or damaged, 5 results
    locked or damaged, or no place to write to, 6 outside tolerance, 7 a property refuted or undecided, 130 interrupted,
    143 terminated.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> int:
    """Run the command line of this process and return its exit code."""
    if not sys.warnoptions:
        # Warnings of libraries are for programmers. `python -W default -m oblique_cli` shows them.
        warnings.simplefilter("ignore")
    # For all child processes, including those of joblib and multiprocessing: do not import a json.py of the current
    # folder.
    os.environ.setdefault("PYTHONSAFEPATH", "1")
    _open_streams()
    code = call(sys.argv[1:])
    dummy = sys.modules.get("multiprocessing.dummy")
    if dummy and any(isinstance(thread, dummy.DummyProcess) for thread in threading.enumerate()):
        # A second Ctrl-C or a full disk ends the process while threads run compiled code, which cannot be interrupted.
        # Those threads would crash in Python's regular shutdown.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def call(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; no exception leaves this function."""
    words = list(arguments)
    _write_all()
    for stream in (sys.stdout, sys.stderr):
        # On a terminal that cannot show ±, print a question mark.
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        cli.main(words, prog_name="oblique", standalone_mode=False, obj=words)
    except SystemExit as end:
        return _blame(end) if plugin_fault(end) else int(end.code or EXIT_OK)
    except ReaderGone:
        _forget_output()
        return EXIT_PIPE
    except click.ClickException as error:
        return _refuse(error)
    except (click.Abort, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    except ObliqueError as error:
        _show_traceback()
        # The problems of a configuration are printed as lines with their places, any other error as one sentence.
        text = str(error)
        if typed := re.fullmatch(r"oblique [\w-]+: (.*)\n1 error\.", text):  # the only error is in the typed options
            text = typed[1]
        click.echo(text if "\n" in text else f"error: {_ended(text)}", err=True)
        return exit_code_of(error)
    except Exception as error:
        if isinstance(error, OSError) and (advice := _advice(error)):
            _forget_output()
            place = f"{cut(str(error.filename))}: " if error.filename else ""
            click.echo(f"error: {place}{error.strerror}: {advice}.", err=True)
            return EXIT_STORE if error.errno == errno.EBADF else exit_code_of(error)
        if plugin_fault(error):
            return _blame(error)
        if sentence := not_installed(error) or kernels_fault(error):
            click.echo(f"error: {sentence}", err=True)
            return EXIT_CONFIG
        if _lacks_memory(error):
            click.echo("error: there is not enough memory: free some, or raise its limit (ulimit -v).", err=True)
            return EXIT_DATA
        _show_traceback()
        log = _log(words)
        where = f"please report it with the file {log}" if log else "please report it"
        click.echo(
            f"error: a bug in oblique {__version__} ({type(error).__name__}; {versions.described()}): {where}.",
            err=True,
        )
        return EXIT_INTERNAL
    return EXIT_OK


def _lacks_memory(error: BaseException | None) -> bool:
    """Return whether an exception or one of its causes reports exhausted memory."""
    while error is not None:
        match = isinstance(error, ImportError | RuntimeError | OSError) and NO_MEMORY.search(str(error))
        if isinstance(error, MemoryError) or match or getattr(error, "errno", None) == errno.ENOMEM:
            return True
        error = error.__cause__ or error.__context__
    return False


def _advice(error: OSError) -> str:
    """Return advice for an error of the system, or "" for a bug."""
    if error.errno == errno.EBADF and not error.filename:
        return "standard output is closed; give --output FILE, or leave the output open"
    return {EXIT_STORE: "free some space, or write somewhere else", EXIT_CONFIG: "give a shorter path"}.get(
        exit_code_of(error), ""
    )


def _blame(error: BaseException) -> int:
    """Print which plugin raised an exception, and return the exit code."""
    _show_traceback()
    click.echo(f"error: {plugin_fault(error)}; {TRACEBACK}=1 shows how it came to that.", err=True)
    return EXIT_CONFIG


def _show_traceback() -> None:
    """Print the traceback of the current exception if OBLIQUE_TRACEBACK is set."""
    if os.environ.get(TRACEBACK) == "1":
        click.echo(traceback.format_exc(), err=True, nl=False)


def _open_streams() -> None:
    """Open standard streams that the process was started without (`>&-`), so that no other file takes their numbers.

    Printing to a closed output raises an error; output to a closed standard error is discarded. Without an input
    `sys.stdin` stays None, which the commands handle."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # open() takes the smallest free number, which is this one. It is opened for reading, so writing fails.
            opened = os.open(os.devnull, os.O_RDWR if name == "stderr" else os.O_RDONLY)
            if number:
                setattr(sys, name, open(opened, "w", encoding="utf-8"))  # noqa: SIM115


def _write_all() -> None:
    """Buffer an unbuffered output (PYTHONUNBUFFERED): without a buffer Python silently ignores a short write, as on a
    nearly full disk."""
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
        sys.stdout = open(  # noqa: SIM115
            sys.stdout.fileno(), "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors, closefd=False
        )


def _forget_output() -> None:
    """Discard the unprinted output: Python would report an error when it flushes it at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(error: click.ClickException) -> int:
    """Print the error of a command line in one line."""
    text = error.format_message()
    if isinstance(error, click.NoSuchOption):  # click changes this text between versions
        meant = " or ".join(repr(name) for name in sorted(error.possibilities or ()))
        text = f"No such option {error.option_name!r}." + (f" Did you mean {meant}?" if meant else "")
        place = MOVED_OPTIONS.get(error.option_name, {}).get(error.ctx.info_name or "") if error.ctx else None
        text = f"{error.option_name} is now {place}." if place else text
    if text.startswith("Usage:"):  # a group without a command: click shows the help
        click.echo(text, err=True)
        return EXIT_CONFIG
    text = " ".join(text.split())
    ctx = getattr(error, "ctx", None)
    hint = f" Try '{ctx.command_path} --help'." if ctx else ""
    if ctx and (advice := _meant(error, ctx.command)):
        text, hint = (
            text.partition(" Did you mean")[0].replace("argument (", "argument '").replace(")", "'"),
            f" {advice}",
        )
    click.echo(f"error: {_ended(text)}{hint}", err=True)
    return EXIT_CONFIG


def _ended(text: str) -> str:
    """Return a sentence with a full stop."""
    return text if text.endswith((".", "?", ")")) else f"{text}."


def _meant(error: click.ClickException, command: click.Command) -> str:
    """Return advice for a format typed as an option (--svg) or an output file typed as an argument, else ""."""
    options = {name: option for option in command.params for name in option.opts}
    form = options.get("--format")
    if isinstance(error, click.NoSuchOption):
        word = error.option_name.lstrip("-")
        return f"Say --format {word}." if form and word in getattr(form.type, "choices", ()) else ""
    match = re.fullmatch(r"Got unexpected extra argument \((\S+\.\w+)\)\.?", error.format_message())
    return f"To write to a file, say --output {match[1]}." if match and "--output" in options else ""


def _log(arguments: Sequence[str]) -> str:
    """Write the traceback of the current exception to a new file; return its path, or "" on failure."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="oblique-", suffix=".log", delete=False, encoding="utf-8", errors="replace"
        ) as file:
            file.write(
                f"oblique {__version__}, {versions.described()}, arguments {arguments}\n\n{traceback.format_exc()}"
            )
        return file.name
    except OSError:
        return ""
