"""`oblique export`: a fitted model as source code or in an exchange format."""

from __future__ import annotations

from pathlib import Path

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import working, write
from oblique_cli.cli._own import spare

# Suffix of a file -> format: the names in models.exporting.FORMATS, repeated here so that the help need not import it.
SUFFIXES = {
    ".py": "python", ".c": "c", ".h": "c", ".cpp": "c", ".mjs": "javascript", ".js": "javascript", ".sql": "sql",
    ".onnx": "onnx", ".pmml": "pmml", ".dot": "dot", ".gv": "dot", ".txt": "rules", ".tex": "latex", ".json": "json",
}  # fmt: skip
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))
BINARY = ("onnx",)


@declare.command()
def export(
    model: str = declare.argument(metavar="MODEL"),
    format_: str | None = declare.option(
        "--format",
        "Language.  [default: by the ending of --output]",
        type=declare.KnownName(FORMATS, "models.exporting:FORMATS"),
    ),
    name: str = declare.option(
        "--name", "Table in sql, prefix of functions in c, model in pmml and onnx.", metavar="NAME", default=""
    ),
    precision: int | None = declare.precision("Digits in rules, dot and latex; the others are exact.", None),
    output: str | None = declare.OUTPUT,
) -> None:
    """Write the fitted model in the file MODEL in another language.

    The result does not need oblique and, in most cases, no other package. python, c, javascript, sql, onnx, pmml and
    json predict the same as `oblique predict`, to the bit, for numbers within the range that the file states.
    Probabilities of logistic leaves and of boosting (to 1e-12), and numbers of model trees, may differ in the last
    digits. rules, dot and latex have rounded numbers. docs/models.md lists the limits of each format and the supported
    models.

    \b
    python      a module without packages         rules  a rule for each leaf, in words
    c           C99 and C++, without allocation   dot    a drawing for Graphviz
    javascript  a module for Node and browsers    latex  a drawing for LaTeX (TikZ)
    sql         a SELECT of standard SQL          json   the steps, to write an exporter of one's own
    onnx        for onnxruntime and others        pmml   for scoring engines

    Plugins may add formats (docs/extending.md).

    \b
    Example: oblique export model.json --output model.c
             oblique export model.json --format sql --name patients
    """
    suffix = Path(output).suffix.lower() if output else ""
    chosen = format_ or SUFFIXES.get(suffix) or _of_plugin(suffix)
    if chosen is None:
        known = f"--output with an ending of these: {', '.join(SUFFIXES)}"
        if suffix:
            raise click.UsageError(f"the ending {suffix} of --output names no format: give --format, or {known}")
        raise click.UsageError(f"give --format, one of {', '.join(FORMATS)}, or {known}")
    if chosen in BINARY and output is None:
        raise click.UsageError(f"--format {chosen} needs --output, the file to write")

    from oblique_cli.models import load
    from oblique_cli.models.exporting import export as exported

    spare(model)
    with working(f"writing {model} as {chosen}"):
        written = exported(load(model), chosen, name=name, precision=precision)
    if isinstance(written, bytes) and output is None:  # the format is from a plugin
        raise click.UsageError(f"--format {chosen} needs --output, the file to write")
    write(written, output)


def _of_plugin(suffix: str) -> str | None:
    """Return the format of a plugin whose files have this suffix."""
    from oblique_cli import plugins

    if not (suffix and plugins.load()):
        return None
    from oblique_cli.models.exporting import FORMATS as registered

    return next((name for name, form in registered.items() if form.suffix == suffix), None)
