"""`oblique doctor`: versions of the installation, and a check that it works."""

from __future__ import annotations

from collections.abc import Sequence

import click

from oblique_cli import __version__
from oblique_cli.cli import _declarations as declare
from oblique_cli.cli._common import database, facts, open_results, write_json
from oblique_cli.errors import EXIT_CONFIG, EXIT_OK, ObliqueError, not_installed
from oblique_cli.ground import versions


@declare.command()
def doctor(
    results: str = declare.RESULTS, data_dir: str | None = declare.DATA_DIR, as_json: bool = declare.AS_JSON
) -> None:
    """Show versions, extras, linear algebra, processors, and folders of data and results, with their problems.

    An extra needs optional packages, such as figures or export to ONNX; a missing extra is no problem.

    The exit code is that of the last problem, or 0.

    Example: oblique doctor
    """
    state = {"oblique": __version__}
    code = EXIT_OK
    for part in (_core, _environment, _extras, _plugins, lambda: _data(data_dir), lambda: _results(results)):
        try:
            state |= part()
        except (ObliqueError, ModuleNotFoundError) as error:
            if not (sentence := not_installed(error) or (str(error) if isinstance(error, ObliqueError) else "")):
                raise
            state[f"problem {1 + sum(key.startswith('problem') for key in state)}"] = sentence
            code = error.exit_code if isinstance(error, ObliqueError) else EXIT_CONFIG
    write_json(state) if as_json else click.echo(facts(state))
    raise SystemExit(code)


def _core() -> dict[str, str]:
    try:
        import oblique_cli._core as _core
    except ImportError as error:
        raise ObliqueError(f"the compiled core cannot be loaded ({error}): install oblique-trees again.") from None
    return {"compiled core": str(_core.__file__)}


def _environment() -> dict[str, str]:
    import sklearn  # noqa: F401  (brings the linear algebra in, so that it can be named)

    from oblique_cli.experiments.environment import environment
    from oblique_cli.experiments.running import count_workers

    facts = environment()
    libraries = [" ".join(str(value) for value in library.values() if value) for library in facts["blas"]]
    return {
        "python": facts["python"],
        **{name: version for name, version in facts["packages"].items() if name != "oblique-trees"},
        "linear algebra": ", ".join(dict.fromkeys(libraries)),
        "processors": f"{facts['processors']}, of which {count_workers('auto')} may be used",
        "platform": facts["platform"],
        **{f"untested {i}": sentence for i, sentence in enumerate(versions.untested(), 1)},
    }


def _extras() -> dict[str, str]:
    """Return for every extra whether its packages are installed, and the command to install them if not."""
    listed = versions.requirements()
    if not listed:
        return {"extras": f"unknown: {versions.PACKAGE} is not installed, its files alone are there"}
    extras = dict.fromkeys(requirement.extra for requirement in listed if requirement.extra)
    return {f"extra {name}": _missing(name, listed) for name in extras}


def _missing(extra: str, listed: Sequence[versions.Requirement]) -> str:
    """Return the missing packages of an extra with the install command, or "there"; extras may contain other extras."""
    extras, lacking = [extra], dict[str, None]()
    for name in extras:  # grows during iteration
        for requirement in listed:
            if requirement.extra != name:
                continue
            if requirement.name == versions.PACKAGE:
                extras += requirement.extras
            elif not versions.fits(requirement):
                lacking[f"{requirement.name}{requirement.bound}"] = None
    return f"lacks {', '.join(lacking)}: pip install '{versions.PACKAGE}[{extra}]'" if lacking else "there"


def _plugins() -> dict[str, str]:
    from oblique_cli import plugins

    return {"plugins": ", ".join(plugins.load()) or "none"}


def _data(data_dir: str | None) -> dict[str, str]:
    from oblique_cli.data import catalogue, files
    from oblique_cli.ground import resources

    places = [catalogue.whereabouts(entry, data_dir) for entry in catalogue.entries().values()]
    counts = ", ".join(f"{places.count(place)} {place}" for place in dict.fromkeys(places))
    return {
        "configurations": str(resources.folder("configs")),
        "bundled data": str(resources.folder("datasets")),
        "other data": ", ".join(map(str, files.data_folders(data_dir))),
        "data sets": f"{counts} (oblique data verify checks them)",
    }


def _results(results: str) -> dict[str, str]:
    path = database(results)
    if not path.is_file():
        return {"results": f"none at {path} yet"}
    with open_results(results) as store:
        runs = len(store.runs())
    return {"results": f"{path}, {runs} run{'' if runs == 1 else 's'}"}
