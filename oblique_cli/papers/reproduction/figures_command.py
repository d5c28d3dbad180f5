"""`oblique figures`: the redrawn figures of the papers."""

from __future__ import annotations

from pathlib import Path

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import columns
from oblique_cli.errors import cannot_write


@click.command()
@declare.parameters
def figures(
    names: tuple[str, ...] = declare.argument(nargs=-1, metavar="[NAME]..."),
    output: str = declare.option("--output", metavar="DIR", default="docs/figures", help="Folder to write to."),
    format_: str = declare.option("--format", type=click.Choice(("svg", "png")), default="svg", help="Form."),
    listing: bool = declare.flag("--list", "List the figures and draw nothing."),
    data_dir: str | None = declare.DATA_DIR,
    offline: bool = declare.OFFLINE,
) -> None:
    """Draw the figures NAME, or all figures, each into a file of that name.

    Without NAME, README.md shows all figures, and seen.csv has the source of each figure, the claims of the paper's
    text, and the observations. Drawing needs matplotlib, the extra `figures` of the package.

    Example: oblique figures hhcart_growth --output .
    """
    from oblique_cli.data import files
    from oblique_cli.drawing.canvas import rendered
    from oblique_cli.papers.reproduction.figures.illustrations import FIGURES, FigureSetting, pages

    if listing:
        click.echo(columns([(about.name, about.remakes) for about in FIGURES.values()]))
        return
    wanted = [FIGURES[name] for name in names or FIGURES]
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error, "--output must be a folder") from None
    pictures = {}
    for about in wanted:
        pictures[about.name] = picture = about.draw(FigureSetting(data_dir, offline))
        path = folder / f"{about.name}.{format_}"
        files.write(path, rendered(picture.figure, format_))
        click.echo(f"{path}: {picture.seen}")
    for name, text in pages(pictures, format_).items() if not names else ():
        files.write(folder / name, text.encode())
