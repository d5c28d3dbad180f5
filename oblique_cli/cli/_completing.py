"""Completion in the shell: names of algorithms and data sets.

`eval "$(_OBLIQUE_COMPLETE=bash_source oblique)"` switches it on (zsh_source and fish_source likewise).
"""

from __future__ import annotations

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


def _completer(names: Callable[[], Iterable[str]], files: bool = False, listed: bool = False) -> Completer:
    """Complete one of `names`; listed : as the last item of "a,b,c". files : the shell offers files as well."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        before, comma, begun = incomplete.rpartition(",") if listed else ("", "", incomplete)
        found = [CompletionItem(f"{before}{comma}{name}") for name in names() if name.startswith(begun)]
        # The item of files comes first: it empties the shell's list.
        return [CompletionItem(incomplete, type="file"), *found] if files else found

    return complete


complete_algorithm = _completer(_algorithms)
complete_algorithms = _completer(_algorithms, listed=True)
complete_dataset = _completer(_datasets)
complete_datasets = _completer(_datasets, listed=True)
complete_dataset_or_file = _completer(_datasets, files=True)
complete_config_or_file = _completer(_configs, files=True)
