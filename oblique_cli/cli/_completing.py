"""Completion in the shell: names of algorithms, data sets, schemes, metrics and more, with those of plugins.

`eval "$(_OBLIQUE_COMPLETE=bash_source oblique)"` switches it on (zsh_source and fish_source likewise).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def _algorithms() -> Iterable[str]:
    from oblique_cli.estimators.algorithms import ALGORITHMS

    return ALGORITHMS


def _datasets() -> Iterable[str]:
    from oblique_cli.data import catalogue

    return catalogue.names()


def _configs() -> Iterable[str]:
    from oblique_cli.config import composing

    return composing.bundled()


def _schemes() -> Iterable[str]:
    from oblique_cli.schemes import SCHEMES

    return SCHEMES


def _metrics() -> Iterable[str]:
    from oblique_cli.evaluation.metrics import METRICS

    return METRICS


def with_plugins(names: Callable[[], Iterable[str]]) -> Iterable[str]:
    """Return names once plugins have registered theirs; a plugin that cannot be imported adds none, and says nothing.

    What is typed is not run yet: the command says what is wrong with the plugin.
    """
    from oblique_cli import plugins
    from oblique_cli.errors import ObliqueError

    with contextlib.suppress(ObliqueError):
        plugins.load()
    return names()


def completed(names: Iterable[str], begun: str, before: str = "") -> list[CompletionItem]:
    """Return the names that begin so, with what stands before them in the same word."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(before + name) for name in names if name.startswith(begun)]


def _completer(names: Callable[[], Iterable[str]], files: bool = False, listed: bool = False) -> Completer:
    """Complete one of `names`; listed : as the last item of "a,b,c". files : the shell offers files as well."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        before, comma, begun = incomplete.rpartition(",") if listed else ("", "", incomplete)
        items = completed(with_plugins(names), begun, before + comma)
        # The item of files comes first: it empties the shell's list.
        return [CompletionItem(incomplete, type="file"), *items] if files else items

    return complete


complete_algorithm = _completer(_algorithms)
complete_algorithms = _completer(_algorithms, listed=True)
complete_dataset = _completer(_datasets)
complete_datasets = _completer(_datasets, listed=True)
complete_dataset_or_file = _completer(_datasets, files=True)
complete_metric = _completer(_metrics)
complete_scheme = _completer(_schemes)
complete_config_or_file = _completer(_configs, files=True)
