"""How long a user waits: the help text, one experiment and one comparison, as commands of the shell (wall time)."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.measuring import Report, Sample, alternate, main


@dataclass(frozen=True)
class Command:
    """A line of the shell and how long it may take.

    quick : arguments that shrink the work
    """

    line: str
    target: str
    quick: tuple[str, ...] = ()

    @property
    def takes_results(self) -> bool:
        return not self.line.endswith("--help")


COMMANDS = (
    Command("oblique --help", "< 0.4"),
    Command(
        "oblique run bupa_hhgdt", "< 4", ("--set", "cv.folds=2", "--set", "cv.repeats=2", "--set", "cv.tune.folds=2")
    ),
    Command("oblique compare --cv nested --dataset bupa", "< 10", ("--folds", "2", "--repeats", "1")),
)
# What no Python command can be faster than, and what a command pays that needs numbers.
FLOORS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "python -c 'import sklearn.tree'": [sys.executable, "-c", "import sklearn.tree"],
}


def program() -> list[str] | None:
    """Return the `oblique` that is installed beside this Python, or None."""
    for name in ("oblique", "oblique.exe"):
        path = Path(sys.executable).with_name(name)
        if path.is_file():
            return [str(path)]
    return None


def cpu_seconds(arguments: list[str], folder: Path) -> float:
    """Return what a command takes, user and system time. AssertionError, with what it says, if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        arguments, cwd=folder, capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr.strip().splitlines()[-1:]
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def complaint(arguments: list[str], takes_results: bool) -> str | None:
    """Run a command in an empty folder, so that nothing comes from earlier results.

    Returns None if it ends well, else the last line it complains with.
    """
    with tempfile.TemporaryDirectory() as folder:
        results = ["--results", str(Path(folder, "results"))] if takes_results else []
        done = subprocess.run([*arguments, *results], cwd=folder, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"


def run(report: Report, repeat: int) -> None:
    """Alternate the commands; say of those that do not work that, and why, they are not measured."""
    contestants = {name: partial(complaint, arguments, False) for name, arguments in FLOORS.items()}
    installed = program()
    if installed:
        for command in COMMANDS:
            arguments = [*installed, *command.line.split()[1:], *(command.quick if report.quick else ())]
            contestants[command.line] = partial(complaint, arguments, command.takes_results)
    times, complaints = alternate(contestants, repeat, clock=time.perf_counter)
    report.table(
        "Wall time of commands",
        [
            {"command": name, "min s": sample.least, "median s": sample.median}
            for name, sample in times.items()
            if complaints[name] is None
        ],
    )
    for command in COMMANDS:
        measured: Sample | str
        if not installed:
            measured = "there is no oblique beside this Python; install the package first"
        elif complaints[command.line]:
            measured = f"the command does not work here ({complaints[command.line]})"
        else:
            measured = times[command.line]
        report.claim(command.line, command.target, measured, "s")


if __name__ == "__main__":
    sys.exit(main({"startup": run}, __doc__ or ""))
