"""Completion in the shell: names of algorithms, data sets, schemes, metrics and more, with those of plugins.

`eval "$(_OBLIQUE_COMPLETE=bash_source oblique)"` switches it on (zsh_source and fish_source likewise).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def names_at(place: str) -> Iterable[str]:
    """Return the names in a registry, or those that a function returns. place : "module:NAME", below the package"""
    module, _, name = place.partition(":")
    value: Any = getattr(import_module(f"oblique_cli.{module}"), name)
    names: Iterable[str] = value() if callable(value) else value
    return names


def with_plugins(place: str) -> Iterable[str]:
    """Return the names at a place once plugins have registered theirs; a plugin that cannot be imported adds none.

    What is typed is not run yet: the command says what is wrong with the plugin.
    """
    from oblique_cli import plugins
    from oblique_cli.errors import ObliqueError

    with contextlib.suppress(ObliqueError):
        plugins.load()
    return names_at(place)


def completed(names: Iterable[str], begun: str, before: str = "") -> list[CompletionItem]:
    """Return the names that begin so, with what stands before them in the same word."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(before + name) for name in names if name.startswith(begun)]


def _completer(place: str, files: bool = False, listed: bool = False) -> Completer:
    """Complete one of the names at a place. files : the shell offers files as well; listed : names as in "a,b"."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        before, comma, begun = incomplete.rpartition(",") if listed else ("", "", incomplete)
        items = completed(with_plugins(place), begun, before + comma)
        # The item of files comes first: it empties the shell's list.
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
