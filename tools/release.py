"""What a release is checked and described by; only what Python brings along is needed.

python tools/release.py check v0.1.0             # the version is the same wherever it stands
python tools/release.py notes v0.1.0             # its part of CHANGELOG.md
python tools/release.py sbom --dist dist --output oblique.cdx.json   # what the files are made of (CycloneDX 1.6)
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HEADING = re.compile(r"^## (\d+\.\d+\.\d+) - (\d{4}-\d{2}-\d{2})$", re.MULTILINE)


def versions(root: Path = ROOT) -> dict[str, str]:
    """Return the version by the file that says it."""

    def read(name: str) -> str:
        return (root / name).read_text(encoding="utf-8")

    project = tomllib.loads(read("pyproject.toml"))["project"]
    heading = HEADING.search(read("CHANGELOG.md"))
    return {
        "pyproject.toml": project["version"],
        "oblique_cli/__init__.py": _found(r'^__version__ = "(.*)"$', read("oblique_cli/__init__.py")),
        "CITATION.cff": _found(r"^version: (.*)$", read("CITATION.cff")),
        "CHANGELOG.md": heading[1] if heading else "",
        "packaging/conda/recipe.yaml": _found(r'^  version: "(.*)"$', read("packaging/conda/recipe.yaml")),
    }


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    return match[1] if match else ""


def check(tag: str, root: Path = ROOT) -> list[str]:
    """Return what keeps a tag from being released."""
    if not re.fullmatch(r"v\d+\.\d+\.\d+", tag):
        return [f"a tag is v and three numbers, as v0.1.0. Got {tag}."]
    return [f"{name} says {result or 'no version'}, and the tag {tag}" for name, result in versions(root).items()
            if result != tag[1:]]  # fmt: skip


def notes(tag: str, root: Path = ROOT) -> str:
    """Return what CHANGELOG.md says of a version, "" if nothing."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    selected = [part for part in parts if (heading := HEADING.match(part)) and f"v{heading[1]}" == tag]
    return selected[0].partition("\n")[2].strip() + "\n" if selected else ""


def sbom(files: list[Path], root: Path = ROOT) -> dict[str, Any]:
    """Return the bill of materials of files of a release: their digests, and what the package asks for."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, version = project["name"], project["version"]

    def component(requirement: str, scope: str) -> dict[str, Any]:
        package, wanted = re.fullmatch(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?(.*)", requirement).groups()  # type: ignore[union-attr]
        results = {"type": "library", "name": package, "purl": f"pkg:pypi/{package.lower()}", "scope": scope}
        return results | ({"description": f"versions {wanted}"} if wanted else {})

    extras = {each for some in project["optional-dependencies"].values() for each in some if not each.startswith(name)}
    needed = [component(each, "required") for each in project["dependencies"]]
    optional = [component(each, "optional") for each in sorted(extras) if each not in project["dependencies"]]
    selected = [
        {
            "type": "file",
            "name": path.name,
            "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}],
        }
        for path in files
    ]
    # Code that is compiled into the wheels.
    built = [{"type": "library", "name": "nanobind", "purl": "pkg:pypi/nanobind", "scope": "required"}]
    root_component = {
        "type": "application",
        "bom-ref": name,
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name}@{version}",
        "licenses": [{"license": {"id": project["license"]}}],
    }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": root_component},
        "components": [*selected, *built, *needed, *optional],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("check", "notes"):
        commands.add_parser(name).add_argument("tag")
    of = commands.add_parser("sbom")
    of.add_argument("--dist", type=Path, default=Path("dist"))
    of.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    if arguments.command == "sbom":
        files = sorted(path for path in arguments.dist.rglob("*") if path.suffix in (".whl", ".gz"))
        if not files:
            sys.exit(f"no wheel and no source archive in {arguments.dist}.")
        arguments.output.write_text(json.dumps(sbom(files), indent=2) + "\n", encoding="utf-8")
        return
    if arguments.command == "notes":
        text = notes(arguments.tag)
        if not text:
            sys.exit(f"CHANGELOG.md has no part for {arguments.tag}.")
        print(text, end="")
        return
    if faults := check(arguments.tag):
        sys.exit("\n".join(faults))
    print(f"{arguments.tag} is the version everywhere")


if __name__ == "__main__":
    main()
