"""What a release is made of agrees with itself, and what describes it is as its form demands."""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile

import pytest
import yaml
from document_support import ROOT

import oblique_cli
from tools import compilers, release, same_bytes

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
    document = json.loads(output.read_text())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    (local,) = (each for each in document["components"] if each["type"] == "file")
    assert local["hashes"][0]["content"] == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    needed = {each["name"] for each in document["components"] if each.get("scope") == "required"}
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


def test_actions_are_named_by_their_commit():
    used = [
        line
        for path in sorted((ROOT / ".github/workflows").glob("*.yml"))
        for line in re.findall(r"uses: (.+)$", path.read_text(), re.MULTILINE)
    ]
    assert len(used) > 10
    pinned = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+|\./\.github/workflows/\w+\.yml")
    assert [line for line in used if not pinned.fullmatch(line)] == []


@pytest.mark.parametrize("ending", ["whl", "tar.gz"])
def test_archives_of_the_same_bytes_are_told_from_others(tmp_path, ending):
    def made(name, text, date=(2024, 1, 1, 0, 0, 0)):
        path = tmp_path / f"{name}.{ending}"
        if ending == "whl":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr(zipfile.ZipInfo("a.py", date), text)
        else:
            (tmp_path / "a.py").write_text(text)
            os.utime(tmp_path / "a.py", (date[0], date[0]))
            with tarfile.open(path, "w") as archive:
                archive.add(tmp_path / "a.py", "a.py")
        return path

    first, same, other, later = made("1", "x"), made("2", "x"), made("3", "y"), made("4", "x", (2025, 1, 1, 0, 0, 0))
    assert same_bytes.differences(first, same) == []
    for changed in (other, later):
        (result, *_) = same_bytes.differences(first, changed)
        assert result.startswith("a.py ")


def test_workflows_and_the_tool_build_at_the_same_time():
    texts = "".join(path.read_text() for path in (ROOT / ".github/workflows").glob("*.yml"))
    assert set(re.findall(r'SOURCE_DATE_EPOCH: "(\d+)"', texts)) == {same_bytes.EPOCH}


def test_every_room_of_the_core_is_read_by_other_compilers():
    rooms = compilers.rooms("musl")
    read = re.findall(r'#include "(.+)"', "".join(rooms.values()))
    assert sorted(read) == sorted(path.relative_to(compilers.CORE).as_posix() for path in compilers.CORE.rglob("*.cpp"))
    assert set(rooms) - set(compilers.rooms("windows")) == {"bindings"}


def test_no_workflow_has_more_rights_than_it_says():
    for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
        workflow = yaml.safe_load(path.read_text())
        assert workflow["permissions"] == {"contents": "read"}, path.name
