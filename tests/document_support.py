"""Code blocks of Markdown pages, and their execution: what a page tells its reader to type is typed here.

A comment on the line above a block says what it is:

    <!-- not run: why -->   the block is read, and its `oblique` lines are parsed, but nothing runs
    <!-- file: NAME -->     the reader has this file; a configuration is validated as well
    <!-- output -->         what the block before it prints; a line of three dots stands for any lines, and a duration
                            for any duration

Blocks of a page run in their order, in one folder. There the reader's own my.csv is the iris data, iris_petals.csv and
the tables of tests/files lie beside it, and the paths of the checkout that pages name are there too.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from cli_support import Ended

from oblique_cli import data
from oblique_cli.cli import cli
from oblique_cli.ground.resources import PACKAGE

ROOT = PACKAGE.parent
BLOCK = re.compile(
    r"(?:^ *<!-- (?P<mark>[^\n]*?) -->\n)?^(?P<indent> *)```(?P<language>[\w-]*)[^\n]*\n(?P<text>.*?)^ *```$",
    re.DOTALL | re.MULTILINE,
)
MARK = re.compile(r"(?P<kind>not run|file|output)(?:: (?P<value>.+))?")
DURATION = re.compile(r"\d[\d.,]* ?(ms|s|min|seconds|minutes)\b")
# Every page that somebody reads.
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "benchmarks/README.md",
    "datasets/SOURCES.md",
    "oblique_cli/papers/published/README.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
)
# What a shell has to read, and not this module.
SHELL = re.compile(r"[|;&$`*<>(]")


@dataclass(frozen=True)
class Block:
    """A block of code of a page, and what the comment above it says of it."""

    page: str
    line: int
    language: str
    text: str
    kind: str = ""
    value: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def commands(self) -> list[str]:
        """The lines of a shell block, those that a backslash continues in one piece, without comments."""
        lines = re.sub(r"\s*\\\n\s*", " ", self.text).splitlines()
        stripped = (re.sub(r"(^|\s+)# .*$|^#.*$", "", line).strip() for line in lines)
        return [line for line in stripped if line]


def blocks_of(page: str, text: str | None = None) -> list[Block]:
    """Return the blocks of a page, a path of the checkout; `text` stands for what it holds."""
    text = (ROOT / page).read_text(encoding="utf-8") if text is None else text
    results = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        mark = MARK.fullmatch(match["mark"] or "")
        kind, value = (mark["kind"], mark["value"] or "") if mark else ("", "")
        inner = re.sub(rf"^{match['indent']}", "", match["text"], flags=re.MULTILINE)
        results.append(Block(page, line, match["language"], inner, kind, value))
    return results


def without_blocks(page: str) -> str:
    """Return the prose of a page."""
    return BLOCK.sub("", (ROOT / page).read_text(encoding="utf-8"))


def furnish(folder: Path) -> None:
    """Give a folder what the pages speak of as the reader's own, and the files of the checkout that they name."""
    iris = data.load("iris")
    rows = [f"{','.join(map(str, x))},{iris.classes[code]}" for x, code in zip(iris.X.tolist(), iris.y, strict=True)]
    (folder / "my.csv").write_text("\n".join(["a,b,c,d,class", *rows, ""]), encoding="utf-8")
    shutil.copy(ROOT / "docs" / "examples" / "iris_petals.csv", folder)
    for name in ("plain.csv", "wild.csv"):
        shutil.copy(ROOT / "tests" / "files" / name, folder)
    for place in ("docs/examples", "tests/files", "configs"):
        if (ROOT / place).is_dir():
            shutil.copytree(ROOT / place, folder / place)


class Reader:
    """Somebody who types the blocks of a page, one after the other, in one folder."""

    def __init__(self, folder: Path, call: Callable[..., Ended]) -> None:
        """call : runs the command in this process, with `folder` as its working directory"""
        self._folder, self._call = folder, call
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._printed = ""
        furnish(folder)

    def type(self, block: Block) -> None:
        """Do what a block says; AssertionError, with its place, if it fails or prints something else than is shown."""
        if block.kind == "not run":
            for command in block.commands if block.language == "sh" else []:
                parse(command, block)
        elif block.kind == "file":
            self._write(block)
        elif block.kind == "output":
            assert matches(block.text, self._printed), (
                f"{block} shows\n{block.text}\nand this is printed:\n{self._printed}"
            )
        elif block.language == "sh":
            self._printed = "".join(self._run(command, block) for command in block.commands)
        elif block.language == "python":
            self._printed = self._execute(block)
        else:
            raise AssertionError(
                f"{block} is in {block.language or 'no language'}: a comment has to say why it is not run"
            )

    def _write(self, block: Block) -> None:
        path = self._folder / block.value
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        if block.language == "yaml":
            ended = self._call("validate", block.value)
            assert ended.code == 0, f"{block}: {ended.err}"

    def _run(self, command: str, block: Block) -> str:
        words = [] if SHELL.search(command) else shlex.split(command)
        if words[:1] == ["oblique"]:
            ended = self._call(*words[1:])
        elif words[:1] == ["make"]:
            makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
            assert re.search(rf"^{re.escape(words[1])}:", makefile, re.MULTILINE), f"{block}: {command} is no target"
            return ""
        else:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", command],
                cwd=self._folder,
                env=self._environment(),
                capture_output=True,
                text=True,
                check=False,
            )
            ended = Ended(done.returncode, done.stdout, done.stderr)
        assert ended.code == 0, f"{block}: {command} ends with {ended.code}:\n{ended.err}"
        return ended.out

    def _execute(self, block: Block) -> str:
        code = compile("\n" * block.line + block.text, block.page, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, self._names)
        return printed.getvalue()

    def _environment(self) -> dict[str, str]:
        """That of this process, in which `oblique` and `python` are those under test."""
        programs = self._folder / ".programs"
        if not programs.exists():
            programs.mkdir()
            for name, module in (("oblique", " -m oblique_cli"), ("python", "")):
                (programs / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)}{module} "$@"\n')
                (programs / name).chmod(0o755)
        paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        return {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": paths}


def parse(command: str, block: Block) -> None:
    """Let click read an `oblique` command without running it; AssertionError for an option that there is not."""
    words = shlex.split(command)
    if words[:1] != ["oblique"] or SHELL.search(command):
        return
    try:
        context = cli.make_context("oblique", words[1:], resilient_parsing=False)
        group: click.Command = cli
        while isinstance(group, click.Group):
            # What click keeps for the subcommand differs between its versions.
            protected = vars(context).get("_protected_args", vars(context).get("protected_args", []))
            rest = [*protected, *context.args]
            name, result, rest = group.resolve_command(context, rest)
            assert result is not None
            context, group = result.make_context(name, rest, parent=context), result
    except click.ClickException as error:
        raise AssertionError(f"{block}: {command}: {error.format_message()}") from None
    except click.exceptions.Exit:
        pass


def matches(shown: str, printed: str) -> bool:
    """Whether a page shows what is printed. "..." alone in a line stands for any lines, a duration for any other."""

    def lines(text: str) -> list[str]:
        return [DURATION.sub(r"0 \1", " ".join(line.split())) for line in text.strip().splitlines()]

    return _fits(lines(shown), lines(printed))


def _fits(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether the lines printed are those shown, with any lines in place of "..."."""
    *parts, last = _divided(shown)
    if not parts:
        return list(printed) == list(last)
    at = len(parts[0])
    if list(printed[:at]) != list(parts[0]):
        return False
    for part in parts[1:]:
        place = next(
            (i for i in range(at, len(printed) - len(part) + 1) if list(printed[i : i + len(part)]) == part), None
        )
        if place is None:
            return False
        at = place + len(part)
    return len(printed) - len(last) >= at and list(printed[len(printed) - len(last) :]) == list(last)


def _divided(shown: Sequence[str]) -> list[list[str]]:
    """Return the runs of lines before, between and behind lines of three dots."""
    parts: list[list[str]] = [[]]
    for line in shown:
        if line == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    return parts
