"""Run the tests with several Pythons, each with the newest and with the lowest versions of all packages.

python -m tools.versions                         every Python from 3.11 on that is on the machine
python -m tools.versions --python 3.13           one Python, by version or path; `newest` is the newest here
python -m tools.versions --quick                 the tests that versions of packages decide, and the README's commands
python -m tools.versions --store                 put the counts into oblique_cli/ground/tested_versions.csv and the page

Environments and logs are in build/versions. The lowest versions are those that pyproject.toml declares or, where a
Python has no wheel of them, the lowest ones with a wheel.
"""

from __future__ import annotations

import argparse
import csv
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "versions"
TABLE = ROOT / "oblique_cli" / "ground" / "tested_versions.csv"
PAGE = ROOT / "docs" / "versions.md"
MARKS = ("<!-- begin tested versions -->\n", "<!-- end tested versions -->\n")

NEWEST_MINOR = 20  # of the Pythons that are looked for
RESOLUTIONS = {"newest": "highest", "lowest": "lowest-direct"}
PACKAGES = (
    "click", "joblib", "numpy", "pandas", "pyyaml", "scikit-learn", "scipy", "tabulate", "threadpoolctl",
)  # fmt: skip
COLUMNS = ("python", "versions", *PACKAGES, "passed", "failed", "skipped")

# What a version of a package can break: option types, the estimator checks, sums and linear algebra, stored results.
QUICK = (
    "tests/cli/test_main.py",
    "tests/cli/test_messages.py",
    "tests/cli/test_starting.py",
    "tests/cli/test_tree.py",
    "tests/core/test_eigen.py",
    "tests/core/test_linear_solver.py",
    "tests/data/own",
    "tests/estimators/test_framed.py",
    "tests/estimators/test_machines.py",
    "tests/estimators/forest/test_forests.py",
    "tests/estimators/oblique/test_logistic.py",
    "tests/experiments/test_store.py",
    "tests/ground",
    "tests/models/explaining/test_shapley.py",
    "tests/models/exporting/test_sql.py",
    "tests/tree/test_finish.py",
    "tests/tree/test_leaf_models.py",
)
COMMANDS = (
    "run {root}/configs/bupa_hhgdt.yaml --quiet",
    "compare --cv nested --dataset bupa --repeats 2 --folds 2 --quiet",
    "tree {root}/docs/examples/iris_petals.csv --target species --output tree.html",
    "fit {root}/docs/examples/iris_petals.csv --target species --algorithm hhgdt --output model.json",
    "predict model.json {root}/docs/examples/iris_petals.csv --proba",
    "explain model.json {root}/docs/examples/iris_petals.csv --row 3",
    "export model.json --output tree.c",
    "doctor",
)


def main() -> int:
    """Run the matrix; return 1 if a test or a command failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", default=[], help="version or path; may be repeated")
    parser.add_argument("--versions", action="append", choices=RESOLUTIONS, default=[], help="without it, both")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--store", action="store_true")
    request = parser.parse_args()
    rows = []
    for python in request.python or pythons():
        python = pythons()[-1] if python == "newest" else python
        for versions in request.versions or RESOLUTIONS:
            rows.append(row := measured(python, versions, request.quick))
            print(", ".join(f"{name} {row[name]}" for name in ("python", "versions", "passed", "failed", "skipped")))
    if request.store:
        store(rows)
    return int(any(row["failed"] != "0" for row in rows))


def pythons() -> list[str]:
    """Return the newest release of every Python from 3.11 on that is on the machine."""
    finds = (uv("python", "find", "--no-project", f"3.{minor}", check=False) for minor in range(11, NEWEST_MINOR))
    return [done.stdout.strip() for done in finds if done.returncode == 0]


def uv(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run uv, without downloads of Python."""
    command = [sys.executable, "-m", "uv", *arguments]
    settings = {**os.environ, "UV_PYTHON_DOWNLOADS": "never", **every_pyenv()}
    done = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done


@functools.cache
def every_pyenv() -> dict[str, str]:
    """Return the setting that lets pyenv start each of its Pythons, not only those of the current folder."""
    if not shutil.which("pyenv"):
        return {}
    done = subprocess.run(["pyenv", "versions", "--bare"], capture_output=True, text=True)
    return {"PYENV_VERSION": ":".join(done.stdout.split()[::-1])}


def measured(python: str, versions: str, quick: bool) -> dict[str, str]:
    """Return a row of the table: one environment, and what its tests counted."""
    number = ask(python, "import platform; print(platform.python_version())")
    place = BUILD / f"{number}-{versions}"
    interpreter = installed(python, number, versions, place)
    row = {"python": number, "versions": versions}
    listed = uv("pip", "freeze", "--python", str(interpreter)).stdout.lower()
    for name in PACKAGES:
        row[name] = re.search(rf"^{name}==(.*)$", listed, re.M)[1]  # type: ignore[index]
    home = place / "home"  # empty: no cache, no settings
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    settings = {name: value for name, value in os.environ.items() if name != "OBLIQUE_DATA"} | {"HOME": str(home)}
    log = place / "tests.log"
    options = ["-n", "auto", "--dist", "loadfile", "-m", "not long", "-p", "no:cacheprovider"]
    with open(log, "w", encoding="utf-8") as stream:
        command = [str(interpreter), "-m", "pytest", *options, *(QUICK if quick else ())]
        code = subprocess.run(command, cwd=ROOT, env=settings, stdout=stream, stderr=subprocess.STDOUT).returncode
    counts = dict.fromkeys(("passed", "failed", "skipped"), 0)
    closing = log.read_text(encoding="utf-8").splitlines()[-1:]
    for count, word in re.findall(r"(\d+) (passed|failed|skipped|error)", " ".join(closing)):
        counts["failed" if word == "error" else word] += int(count)
    refused = refusals(interpreter, settings)
    counts["failed"] += len(refused) + (code != 0 and not counts["failed"])
    if counts["failed"]:
        print(log.read_text(encoding="utf-8")[-20_000:], *refused, sep="\n")
    return row | {name: str(count) for name, count in counts.items()}


def installed(python: str, number: str, versions: str, place: Path) -> Path:
    """Make the environment of a row, with this checkout in it, and return its Python."""
    uv("venv", "--clear", "--seed", "--python", python, str(place))
    interpreter = place / "bin" / "python"
    listing = place / "requirements.txt"
    uv(
        "pip", "compile", "pyproject.toml", "--extra", "test", "--no-build", "--resolution", RESOLUTIONS[versions],
        "--python-version", number, "--output-file", str(listing),
    )  # fmt: skip
    uv("pip", "install", "--python", str(interpreter), "--requirement", str(listing))
    uv("pip", "install", "--python", str(interpreter), "--no-deps", "--editable", ".")
    return interpreter


def ask(python: str, code: str) -> str:
    """Return what a Python prints."""
    path = python if Path(python).exists() else uv("python", "find", "--no-project", python).stdout.strip()
    return subprocess.run([path, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def refusals(interpreter: Path, settings: dict[str, str]) -> list[str]:
    """Run the README's commands in an empty folder; return what those that fail print."""
    messages = []
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS:
            words = [str(interpreter.with_name("oblique")), *command.format(root=ROOT).split()]
            done = subprocess.run(words, cwd=folder, env=settings, capture_output=True, text=True)
            if done.returncode:
                messages.append(f"oblique {command}: exit code {done.returncode}\n{done.stderr}")
    return messages


# ---- the stored table ------------------------------------------------------------------------------------------------


def store(rows: list[dict[str, str]]) -> None:
    """Put rows into the table in place of those of the same Python and versions, and write the page."""
    known = {(row["python"], row["versions"]): row for row in [*stored(), *rows]}
    with open(TABLE, "w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(known[key] for key in sorted(known, key=lambda key: (numbers(key[0]), key[1])))
    before, _, after = parts(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(before + text(stored()) + after, encoding="utf-8")


def stored() -> list[dict[str, str]]:
    """Return the rows of the table."""
    with open(TABLE, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def numbers(version: str) -> list[int]:
    """Return a version as numbers, to sort by."""
    return [int(part) for part in re.findall(r"\d+", version)]


def parts(page: str) -> tuple[str, str, str]:
    """Cut the page at the marks of its table."""
    before, begin, rest = page.partition(MARKS[0])
    table, end, after = rest.partition(MARKS[1])
    return before + begin, table, end + after


def text(rows: list[dict[str, str]]) -> str:
    """Return the table of the page."""
    lines = [COLUMNS, ("---",) * len(COLUMNS), *(tuple(row[name] for name in COLUMNS) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
