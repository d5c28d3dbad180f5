"""`oblique reproduce`: the published tables, cell by cell, with a verdict on each; `oblique figures`: the figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import Runner, columns, write
from oblique_cli.errors import EXIT_OK, EXIT_OUTSIDE_TOLERANCE, ConfigError, cannot_write

if TYPE_CHECKING:
    from oblique_cli.papers.reproduction.framework.studies import Study

PROFILES = ("quick", "full")
SEED = 20260101
# Former studies of this command, and the commands that replace them
SCRIPTS = {
    name: f"python -m studies.{name}, in a checkout of the sources"
    for name in ("sensitivity", "faults", "causes", "planes", "draws", "weka", "prints")
} | {name: f"oblique run {name}" for name in ("field", "field_tuned", "field_regression")}
SCRIPTS["field_10x5"] = "oblique run field --set cv.repeats=10 --set cv.folds=5"


def _only(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Convert "dataset=bupa,wine" to names by kind."""
    names_of: dict[str, tuple[str, ...]] = {}
    for text in texts:
        kind, _, names = text.partition("=")
        named = tuple(name.strip() for name in names.split(",") if name.strip())
        if kind not in ("dataset", "algorithm") or not named:
            raise click.BadParameter(f"must be dataset=NAME or algorithm=NAME. Got {text!r}.")
        names_of[kind] = (*names_of.get(kind, ()), *named)
    return names_of


@click.command()
@declare.parameters
def reproduce(
    name: str | None = declare.argument(metavar="[NAME]", required=False),
    profile: str = declare.option("--profile", type=click.Choice(PROFILES), default="full", help="Amount of work."),
    only: dict[str, tuple[str, ...]] = declare.option(
        "--only", metavar="KIND=NAME", multiple=True, callback=_only, help="Only this dataset=NAME or algorithm=NAME."
    ),
    strict: bool = declare.flag("--strict", "End with exit code 6 while a cell deviates without a reason."),
    seed: int = declare.seed(SEED),
    runner: Runner = declare.group(Runner),
) -> None:
    """Reproduce the published tables of the study NAME; without NAME, list the studies.

    The name all stands for every study. The name report runs nothing: it writes the results of the full profiles into
    docs/reproduction.md, other pages and README.md of the current folder and the cells that deviate into deviations.csv
    of --results, and draws all cells, ours against the published, as docs/reproduction.svg. It prints each cell whose
    verdict has changed since the last report.

    Every cell has our value, the published value, the difference and a verdict. Stored folds are not run again, so the
    same command resumes after an interruption. The quick profile runs the small bundled data sets with two repetitions,
    and ends with exit code 6 if a cell agrees in the stored baseline but not now.

    Example: oblique reproduce chapter3 --profile quick
    """
    from oblique_cli.papers.reproduction.framework import study_report
    from oblique_cli.papers.reproduction.framework.studies import STUDIES, StudyRequest

    if name is None:
        rows = [(key, study.title, ", ".join(study.tables)) for key, study in STUDIES.items()]
        click.echo(columns([("study", "what", "tables"), *rows]))
        return
    if name == "report":
        for line in _documented(Path(runner.results)):
            click.echo(line)
        return
    studies = _selected(name, only)
    request = StudyRequest(
        profile=profile,
        seed=seed,
        n_jobs=runner.jobs,
        results=runner.results,
        data_dir=runner.data_dir,
        only=_resolved(only, [name for study in studies for name in study.ids()]),
        say=lambda line: None if runner.quiet else click.echo(line, err=True),
        fresh=runner.fresh,
        offline=runner.offline,
    )
    code = EXIT_OK
    texts: list[str] = []
    for study in studies:
        result = study.run(request)
        if result.is_empty:
            continue
        report = study_report.of(study, result, request)
        texts.append(report.render(runner.format_))
        write("\n".join(texts) if runner.output else "\n" * (len(texts) > 1) + texts[-1], runner.output)
        report.save()
        for sentence in report.regressions:
            click.echo(sentence, err=True)
        if report.regressions or (strict and report.unexplained):
            code = max(code, EXIT_OUTSIDE_TOLERANCE)
        code = max(code, result.exit_code)
    if not texts:
        raise ConfigError(
            f"reproduce {name}: --only leaves nothing of the {profile} profile; name data sets and algorithms of its "
            "tables."
        )
    raise SystemExit(code)


def _selected(name: str, only: dict[str, tuple[str, ...]]) -> list[Study]:
    """Return the studies of a NAME; ConfigError if `only` has a kind that a study does not select by."""
    from oblique_cli.papers.reproduction.framework.studies import STUDIES

    if name == "all":
        return [study for study in STUDIES.values() if only.keys() <= set(study.selects)]
    if name in SCRIPTS and name not in STUDIES:
        raise ConfigError(f"reproduce {name} is now {SCRIPTS[name]}.")
    names_of = {
        key: {*known.tables, *(table.partition(":")[2] for table in known.tables)} for key, known in STUDIES.items()
    }
    if name not in STUDIES and (keys := [key for key, names in names_of.items() if name in names]):
        raise ConfigError(f"{name} is a published table. Reproduce it by: oblique reproduce {' or '.join(keys)}.")
    study = STUDIES[name]
    for kind in only.keys() - set(study.selects):
        known = " or ".join(f"{kind}=NAME" for kind in study.selects)
        raise ConfigError(
            f"reproduce {name}: its methods are compared all together, so --only takes {known}. Got {kind}."
        )
    return [study]


def _documented(results: Path) -> list[str]:
    """Fill the documents of the current folder from the results; return the changed verdicts and files, a line each."""
    from oblique_cli.data import files
    from oblique_cli.drawing.canvas import rendered
    from oblique_cli.papers.reproduction.framework import document
    from oblique_cli.papers.reproduction.framework.study_report import moved, verdicts, write_cells

    for name in document.DOCUMENTS:
        if not Path(name).is_file():
            raise ConfigError(f"there is no {name} here: go to the folder of the sources first.")
    blocks = document.blocks(results)
    studies = document.studied(results)
    texts = {Path(name): document.filled(Path(name).read_text("utf-8"), blocks) for name in document.DOCUMENTS}
    # Reasons may have changed since the cells were written.
    texts |= {results / "reproduction" / f"{study}.csv": write_cells(cells) for study, cells in studies.items()}
    cells = [cell for each in studies.values() for cell in each]
    deviations = results / "reproduction" / "deviations.csv"
    lines = moved(deviations, cells)
    texts[deviations] = verdicts(cells)
    contents = {path: text.encode() for path, text in texts.items()}
    contents[Path("docs/reproduction.svg")] = rendered(document.agreement_picture(studies), "svg")
    changed = [path for path, content in contents.items() if not path.is_file() or path.read_bytes() != content]
    for path in changed:
        files.write(path, contents[path])
    return [*lines, *(f"{path} written" for path in changed)]


def _resolved(only: dict[str, tuple[str, ...]], ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return `only` with our names of data sets; UnknownName suggests close names. ids : algorithms of the studies"""
    from oblique_cli.data import catalogue
    from oblique_cli.estimators.algorithms import ALGORITHMS

    for name in only.get("algorithm", ()):
        if name not in ids:
            ALGORITHMS[name]
    return {
        kind: tuple(catalogue.resolve(name) for name in names) if kind == "dataset" else names
        for kind, names in only.items()
    }


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
