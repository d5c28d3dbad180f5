"""Options of commands, each declared once: as the default of a command's argument or of a dataclass field.

@declare.command()
def table(run: str = declare.argument(), mark: bool = declare.flag("--mark", "Mark the best.")) -> None:

A `group` is an argument or a field whose type is a dataclass of options.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from math import isnan
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Before version 8.4, click's types take no type arguments.
if TYPE_CHECKING:
    OptionType = click.ParamType[Any]
    TextChoice = click.Choice[str]
else:
    OptionType, TextChoice = click.ParamType, click.Choice

Command = Callable[..., Any]

# The names in sheets.FORMATS, repeated here so that the help need not import it.
FORMATS = ("text", "md", "csv", "latex", "json")
PICTURES = ("svg", "pdf", "png")  # formats of a picture


# ---- declarations ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Declaration:
    """Command-line parameter without its name. make : click.option or click.argument"""

    make: Callable[..., Any]
    names: tuple[str, ...]
    about: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Group:
    """Dataclass of options. left_out : fields that get no option; changes : field -> changed settings of its option"""

    kind: type[Any]
    left_out: tuple[str, ...] = ()
    changes: Mapping[str, Mapping[str, Any]] | None = None


def option(*words: str, **about: Any) -> Any:
    """Declare an option, named after its argument or field; the help shows a default that is not empty.

    words : its names, then its help text
    """
    about = {"show_default": about.get("default") not in (None, ""), **about}
    if not words[-1].startswith("-"):
        about["help"], words = words[-1], words[:-1]
    return Declaration(click.option, words, about)


def flag(name: str, text: str) -> Any:
    """Declare an option without a value."""
    return Declaration(click.option, (name,), {"is_flag": True, "help": text})


def argument(**about: Any) -> Any:
    """Declare an argument of the command line."""
    return Declaration(click.argument, (), about)


class _RunName(OptionType):
    """Name of a stored run; the file name of its configuration stands for it."""

    name = "run"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return PurePath(value).stem if value.endswith((".yaml", ".yml")) else value


def run(**about: Any) -> Any:
    """Declare the name of a stored run, or of several with `nargs`, as an argument."""
    return argument(type=_RunName(), **about)


def group(kind: type[Any], *left_out: str, **changes: Mapping[str, Any]) -> Any:
    """Declare the options of a dataclass."""
    return Group(kind, left_out, changes)


def parameters(command: Callable[..., None]) -> Command:
    """Add to a command the options that the defaults of its arguments declare, in their order."""
    declarations = {name: parameter.default for name, parameter in inspect.signature(command).parameters.items()}

    @functools.wraps(command)
    def called(**values: Any) -> None:
        command(**{name: _received(default, name, values) for name, default in declarations.items()})

    decorators = [decorator for name, default in declarations.items() for decorator in _decorators(default, name)]
    for decorator in reversed(decorators):
        decorator(called)
    return called


def command(name: str | None = None, of: Any = click, **about: Any) -> Callable[[Callable[..., None]], Any]:
    """Declare a command with the options of its arguments. of : its group; about : its class, and what that takes"""
    return lambda function: of.command(name, **about)(parameters(function))


def _decorators(declaration: Any, name: str, **changes: Any) -> Iterator[Any]:
    """Return the decorators of click; the fields of a class precede its inherited fields."""
    if isinstance(declaration, Declaration):
        yield declaration.make(*declaration.names, name, **{**declaration.about, **changes})
        return
    field_names = (name for kind in declaration.kind.__mro__ for name in inspect.get_annotations(kind))
    for name in dict.fromkeys(field_names):
        if name not in declaration.left_out:
            yield from _decorators(getattr(declaration.kind, name), name, **declaration.changes.get(name, {}))


def _received(declaration: Any, name: str, values: Mapping[str, Any]) -> Any:
    """Return the value of a parameter, or the dataclass of a group; fields without an option are empty."""
    if isinstance(declaration, Declaration):
        return values.get(name, False if declaration.about.get("is_flag") else None)
    members = {field.name: _received(field.default, field.name, values) for field in fields(declaration.kind)}
    return declaration.kind(**members)


# ---- types -----------------------------------------------------------------------------------------------------------


class NumberRange(click.FloatRange):
    """Range of numbers. click's range accepts "nan", which is neither below nor above any limit."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        if isnan(number):
            self.fail(f"must be a number. Got {value!r}.", param, ctx)
        return float(number)


class KnownName(TextChoice):
    """Name listed in the help or registered by a plugin. registry : its place, see `names_at`"""

    def __init__(self, choices: Sequence[str], registry: str) -> None:
        super().__init__(choices)
        self.registry = registry

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from oblique_cli import plugins

        if value not in self.choices and plugins.load() and value in names_at(self.registry):
            return str(value)
        return str(super().convert(value, param, ctx))

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return completed(dict.fromkeys((*self.choices, *with_plugins(self.registry))), incomplete)


class Jobs(OptionType):
    """Number of processors, or "auto"."""

    name = "jobs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        if value == "auto":
            return "auto"
        if not str(value).isdecimal() or int(value) < 1:
            self.fail(f"must be auto or a whole number, at least 1. Got {value!r}.", param, ctx)
        return int(value)


# ---- completion ------------------------------------------------------------------------------------------------------

# `eval "$(_OBLIQUE_COMPLETE=bash_source oblique)"` enables it (likewise zsh_source and fish_source).


def names_at(place: str) -> Iterable[str]:
    """Return the names in a registry, or those returned by a function. place : "module:NAME", below the package"""
    module, _, name = place.partition(":")
    value: Any = getattr(import_module(f"oblique_cli.{module}"), name)
    names: Iterable[str] = value() if callable(value) else value
    return names


def with_plugins(place: str) -> Iterable[str]:
    """Return the names at a place, including those of plugins; a plugin that fails to import adds none.

    Completion reports no error: the command reports the error of the plugin when it runs.
    """
    from oblique_cli import plugins
    from oblique_cli.errors import ObliqueError

    with contextlib.suppress(ObliqueError):
        plugins.load()
    return names_at(place)


def completed(names: Iterable[str], begun: str, before: str = "") -> list[CompletionItem]:
    """Return the names that start with `begun`, each with the text before it in the same word."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(before + name) for name in names if name.startswith(begun)]


Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def _completer(place: str, files: bool = False, listed: bool = False) -> Completer:
    """Return a completer for the names at a place. files : also offer files; listed : complete names in "a,b"."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        before, comma, begun = incomplete.rpartition(",") if listed else ("", "", incomplete)
        items = completed(with_plugins(place), begun, before + comma)
        # The item for files comes first, because it empties the shell's list.
        return [CompletionItem(incomplete, type="file"), *items] if files else items

    return complete


ALGORITHMS, DATASETS = "estimators.algorithms:ALGORITHMS", "data.catalogue:names"
complete_algorithm = _completer(ALGORITHMS)
complete_algorithms = _completer(ALGORITHMS, listed=True)
complete_dataset = _completer(DATASETS)
complete_datasets = _completer(DATASETS, listed=True)
complete_dataset_or_file = _completer(DATASETS, files=True)
complete_metric = _completer("evaluation.metrics:METRICS")
complete_scheme = _completer("schemes:SCHEMES")
complete_config_or_file = _completer("config.composing:bundled", files=True)


# ---- options of several commands -------------------------------------------------------------------------------------


def form(
    choices: Sequence[str], otherwise: str = "text", spelled: Mapping[str, str] | None = None, title: str = "Form"
) -> Any:
    """Declare --format; its default is the suffix of --output, else `otherwise`.

    spelled : suffix -> name of the format, where they differ
    """
    endings = {**{name: name for name in choices}, "txt": "text", **(spelled or {})}

    def chosen(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
        # --output is eager, so its value is available here.
        ending = Path(ctx.params.get("output") or "").suffix.lower().removeprefix(".")
        return value or endings.get(ending, otherwise)

    text = f"{title}.  [default: by the ending of --output, else {otherwise}]"
    return option("--format", type=click.Choice(choices), callback=chosen, help=text)


def metrics(usual: str = "accuracy and leaves, or errors and leaves") -> Any:
    """Declare --metric, which may be repeated. usual : description of the default"""
    return metric("--metric", f"A metric (oblique list metrics); may be repeated.  [default: {usual}]", multiple=True)


def metric(name: str, text: str, **about: Any) -> Any:
    """Declare an option whose value is a metric."""
    return option(name, **{"metavar": "NAME", "shell_complete": complete_metric, "help": text, **about})


def names(*declarations: str, metavar: str = "NAME", **about: Any) -> Any:
    """Declare an option for names such as "a,b", which may be repeated."""

    def split(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())

    return option(*declarations, metavar=metavar, multiple=True, callback=split, **about)


def changes(example: str) -> Any:
    """Declare --set."""
    return option("--set", metavar="KEY=VALUE", multiple=True, help=set_text(example))


def set_text(example: str) -> str:
    """Return the help text of --set."""
    return f"Change a setting, such as {example}."


def seed(default: int) -> Any:
    """Declare --seed."""
    return option("--seed", type=click.IntRange(0), default=default, help="Seed of all random draws.")


def precision(text: str, default: int | None = 3) -> Any:
    """Declare --precision, a number of digits."""
    return option("--precision", type=click.IntRange(1, 17), default=default, help=text)


def file(*declarations: str, **about: Any) -> Any:
    """Declare an option for an output file."""
    return option(*declarations, metavar="FILE", callback=writable, **about)


def writable(ctx: click.Context, param: click.Parameter | None, path: str | None) -> str | None:
    """Raise an error for an output that cannot be written, before any computation."""
    if path is None:
        return None
    place = Path(path).resolve()
    if not place.parent.is_dir():
        raise click.BadParameter(f"the folder of {path!r} does not exist.")
    if place.exists() and not place.is_file():  # a rename would replace a device by a file
        raise click.BadParameter(f"{path!r} is not a regular file.")
    return str(place)


def picture_form(path: str | None, otherwise: str = "") -> str:
    """Return the format of a picture from its suffix, SVG without a file; raise BadParameter for an unknown suffix."""
    ending = Path(path).suffix[1:].lower() if path else PICTURES[0]
    if ending not in PICTURES:
        raise click.BadParameter(f"{path!r} does not say the form; name it *.svg, *.pdf or *.png{otherwise}.")
    return ending


def off_terminal(path: str | None, name: str) -> str | None:
    """Return the file for a picture or page: `path`, or `name` in the current folder if the output is a terminal.

    Raise a usage error if that would overwrite a file that the user has not named.
    """
    if path is not None or not sys.stdout.isatty():
        return path
    if Path(name).exists():
        raise click.UsageError(f"{name!r} is there already: say --output {shlex.quote(name)} to write over it")
    return writable(click.get_current_context(), None, name)


ALLOW_CODE = flag("--allow-code", "Allow a configuration to import Python files and classes of any library.")
AS_JSON = option("--format", type=click.Choice(("text", "json")), default="text", help="Form.",
                 callback=lambda ctx, param, value: value == "json")  # fmt: skip
CSV = option("--csv", metavar="FILE", help="Your table, for names that look like something else; - for standard input.")
DATA_DIR = option(
    "--data-dir",
    metavar="DIR",
    help="Folder with data files that are not bundled. Without it: $OBLIQUE_DATA, then the cache.",
)
ESCAPE = flag(
    "--escape-formulas",
    "In CSV, put ' before a text that a spreadsheet would run (it begins with =, +, -, @); numbers stay.",
)
JOBS = option("-j", "--jobs", metavar="N|auto", type=Jobs(), default="auto", help="Number of processors.")
OFFLINE = flag("--offline", "Never use the network.")
OUTPUT = file(
    "-o",
    "--output",
    is_eager=True,
    help="Write to FILE instead of standard output; a failed write leaves no partial file.",
)
RESULTS = option("--results", metavar="DIR", default="results", help="Folder of the results, in oblique.sqlite.")
# Parts of a run to use; the others are ignored.
SHOWN_ALGORITHMS = names(
    "--algorithm", metavar="ID", help="An algorithm, or several, as in a,b; may be repeated.  [default: all]"
)
SHOWN_DATASETS = names("--dataset", help="A data set, or several, as in a,b; may be repeated.  [default: all]")
TABLE_FORM = form(FORMATS, spelled={"tex": "latex"}, title="Form of the table")
