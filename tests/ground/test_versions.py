"""Versions of packages: the check before a command starts, what `doctor` lists, and the stored table."""

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from oblique_cli.ground import versions
from tools import versions as matrix

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def packages(monkeypatch):
    """Declared requirements and installed versions of the test's choice."""
    known = {"click": "8.2.0", "numpy": "2.4.6"}

    def version(name: str) -> str:
        if name not in known:
            raise metadata.PackageNotFoundError(name)
        return known[name]

    lines = [
        "click>=8.1.7",
        "numpy>=1.26",
        "pytest>=8; extra == 'test'",
        "oblique-trees[figures,onnx]; extra == 'test'",
    ]
    monkeypatch.setattr(versions.metadata, "requires", lambda name: lines)
    monkeypatch.setattr(versions.metadata, "version", version)
    return known


def test_requirements_are_read_with_their_extras_and_a_missing_package_is_named(packages):
    assert versions.requirements() == (
        ("click", ("",), ">=8.1.7", ""),
        ("numpy", ("",), ">=1.26", ""),
        ("pytest", ("",), ">=8", "test"),
        ("oblique-trees", ("figures", "onnx"), "", "test"),
    )
    del packages["numpy"]
    assert versions.fault() == (
        "oblique needs numpy 1.26 or newer, and it is not installed: pip install 'numpy>=1.26'."
    )


@pytest.mark.parametrize(
    ("name", "version", "message"),
    [
        ("click", "8.1.6", "oblique needs click 8.1.7 or newer, and 8.1.6 is installed: pip install 'click>=8.1.7'."),
        ("click", "8.1", "oblique needs click 8.1.7 or newer, and 8.1 is installed: pip install 'click>=8.1.7'."),
        ("numpy", "1.26.0rc1", ""),
        ("click", "8.10", ""),
        ("click", "8.1.7", ""),
    ],
)
def test_a_version_below_its_bound_is_named(packages, name, version, message):
    packages[name] = version
    assert versions.fault() == message


def test_a_command_refuses_an_old_package_before_it_imports_it(tmp_path):
    old = tmp_path / "click-8.0.0.dist-info"
    old.mkdir()
    (old / "METADATA").write_text("Metadata-Version: 2.1\nName: click\nVersion: 8.0.0\n")
    (tmp_path / "click.py").write_text("raise TypeError('this click is too old')\n")
    settings = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from oblique_cli._start import main; sys.exit(main())"],
        env=settings, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("error: oblique needs click 8.") and "8.0.0 is installed" in done.stderr


def test_versions_outside_the_tested_range_are_listed(monkeypatch):
    rows = ({"python": "3.11.7", "versions": "lowest", "numpy": "1.26.0"}, {"python": "3.13.0", "numpy": "2.5.5"})
    monkeypatch.setattr(versions, "tested", lambda: rows)
    monkeypatch.setattr(versions, "installed", lambda name: "2.6.0")
    monkeypatch.setattr(versions.platform, "python_version", lambda: "3.13.9")
    assert versions.untested() == ["numpy 2.6.0 is outside the tested versions, 1.26.0 to 2.5.5"]
    monkeypatch.setattr(versions.platform, "python_version", lambda: "3.14.0")
    assert versions.untested()[0] == "python 3.14.0 is outside the tested versions, 3.11.7 to 3.13.0"


def test_the_quick_tests_are_there_and_the_table_of_the_page_is_the_stored_one_without_failures():
    assert [path for path in matrix.QUICK if not (ROOT / path).exists()] == []
    rows = matrix.stored()
    page = (ROOT / "docs/versions.md").read_text(encoding="utf-8")
    assert matrix.parts(page)[1] == matrix.text(rows) and len(rows) > 1
    assert all(row["failed"] == "0" and int(row["passed"]) > 10_000 for row in rows)
    bounds = {name: bound for name, extras, bound, _ in versions.requirements() if bound and "" in extras}
    lowest = next(row for row in matrix.stored() if row["versions"] == "lowest")
    tested = {name: matrix.numbers(lowest[name]) for name in matrix.PACKAGES}
    declared = {name: matrix.numbers(bounds[name]) for name in matrix.PACKAGES}
    assert {name: tested[name][: len(declared[name])] for name in tested} == declared
