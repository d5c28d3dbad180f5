"""A command with many options: its help has headings, and rare options are names for --set."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import click


class Headed(click.Command):
    """Command whose options are listed under headings; an option without a heading is set by --set NAME=VALUE.

    headings : heading -> its options, as they are typed
    shared : parameters of options without a heading that may also be typed, as in other commands and in messages
    """

    def __init__(
        self, *args: Any, headings: Mapping[str, Sequence[str]], shared: Container[str | None], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.headings, self.shared = headings, shared
        shown = {name for names in headings.values() for name in names}
        options = [param for param in self.params if isinstance(param, click.Option) and not shown & set(param.opts)]
        self.settings = {option.opts[0].removeprefix("--").replace("-", "_"): option for option in options}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse --set NAME=VALUE for an option without a heading as the option itself, with its checks."""
        try:
            return super().parse_args(ctx, self._read(ctx, args))
        except click.BadParameter as error:
            for setting, option in self.settings.items():
                if error.param is option:
                    error.param_hint = f"'--set {setting}'"
            raise

    def _read(self, ctx: click.Context, args: Sequence[str]) -> list[str]:
        """Return the words with options in place of --set; refuse a typed option that only --set accepts."""
        words: list[str] = []
        rest = iter(args)
        for word in rest:
            name, equals, value = word.partition("=")
            setting = name.removeprefix("--").replace("-", "_")
            if word == "--":
                words += [word, *rest]
            elif name.startswith("--") and setting in self.settings and not ctx.resilient_parsing:
                if self.settings[setting].name not in self.shared:
                    raise click.UsageError(f"{name} is now --set {setting}={self._metavar(setting)}.", ctx)
                words.append(word)
            elif name == "--set":
                text = value if equals else next(rest, None)
                words += ["--set"] if text is None else self._words(text, ctx)
            else:
                words.append(word)
        return words

    def _words(self, text: str, ctx: click.Context) -> Iterable[str]:
        """Return --set NAME=VALUE as words for the parser; lists in brackets belong to the configuration."""
        key, equals, value = (part.strip() for part in text.partition("="))
        option = self.settings.get(key.replace("-", "_"))
        if option is None or not equals or value.startswith("["):
            return ("--set", text)
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        if not option.is_flag:
            return (f"{option.opts[0]}={value}",)
        return option.opts[:1] if click.BOOL.convert(value, option, ctx) else ()

    def _metavar(self, setting: str) -> str:
        option = self.settings[setting]
        if option.is_flag:
            return "true"
        return "|".join(getattr(option.type, "choices", ())) or option.metavar or option.type.name.upper()

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by heading, then the names for --set."""
        params = self.get_params(ctx)
        for title, names in self.headings.items():
            records = [param.get_help_record(ctx) for param in params if set(names) & set(param.opts)]
            with formatter.section(title):
                formatter.write_dl([record for record in records if record])
        with formatter.section("Names for --set, beside the parameters of the algorithm"):
            formatter.write_dl(
                [(f"{name}={self._metavar(name)}", option.help or "") for name, option in self.settings.items()]
            )
