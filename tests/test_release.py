"""What a release is made of agrees with itself, and what describes it is as its form demands."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib

import pytest
import yaml
from document_support import ROOT

import oblique_cli
from tools import release

VERSION = oblique_cli.__version__


def test_the_version_is_the_same_wherever_it_stands():
    assert set(release.versions().values()) == {VERSION}
    assert release.check(f"v{VERSION}") == []


@pytest.mark.parametrize("tag", ["v9.9.9", "1.0", "v1.0", "release"])
def test_another_tag_is_refused(tag):
    done = subprocess.run([sys.executable, ROOT / "tools/release.py", "check", tag], capture_output=True, text=True)
    assert done.returncode == 1 and tag in done.stderr and "Traceback" not in done.stderr


def test_notes_are_the_part_of_the_changelog(tmp_path):
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changes\n\n## Unreleased\n\n- later\n\n## 0.2.0 - 2027-01-02\n\n- new\n\n## 0.1.0 - 2026-11-24\n\n- first\n"
    )
    assert release.notes("v0.2.0", tmp_path) == "- new\n"
    assert release.notes("v0.1.0", tmp_path) == "- first\n"
    assert release.notes("v0.3.0", tmp_path) == ""
    assert release.notes(f"v{VERSION}")


def test_the_bill_of_materials_names_what_the_package_asks_for(tmp_path):
    (tmp_path / "a.whl").write_bytes(b"a")
    output = tmp_path / "sbom.json"
    command = [sys.executable, ROOT / "tools/release.py", "sbom", "--dist", tmp_path, "--output", output]
    subprocess.run(command, check=True)
    found = json.loads(output.read_text())
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    (own,) = (each for each in found["components"] if each["type"] == "file")
    assert own["hashes"][0]["content"] == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    needed = {each["name"] for each in found["components"] if each.get("scope") == "required"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert needed == {re.split(r"[>=<\[]", each)[0] for each in project["dependencies"]} | {"nanobind"}


def test_the_conda_recipe_asks_for_what_the_package_asks_for():
    recipe = yaml.safe_load((ROOT / "packaging/conda/recipe.yaml").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    run = {each.replace(" ", "") for each in recipe["requirements"]["run"]} - {"python"}
    assert run == set(project["dependencies"])
    (entry,) = recipe["build"]["python"]["entry_points"]
    assert entry == f"oblique = {project['scripts']['oblique']}"


def test_references_of_the_paper_are_all_there():
    cited = set(re.findall(r"@([a-z]+\d{4}[a-z0-9]+)", (ROOT / "paper.md").read_text()))
    assert cited == set(re.findall(r"^@\w+\{(.*),$", (ROOT / "paper.bib").read_text(), re.MULTILINE))


def test_no_workflow_has_more_rights_than_it_says():
    for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
        workflow = yaml.safe_load(path.read_text())
        assert workflow["permissions"] == {"contents": "read"}, path.name
