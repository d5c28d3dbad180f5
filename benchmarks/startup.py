"""How long a user waits: the help text, one experiment and one comparison, as commands of the shell (wall time)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
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
    Command("oblique compare --cv nested --datasets bupa", "< 10", ("--folds", "2", "--repeats", "2")),
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


def complaint(arguments: list[str], takes_results: bool) -> str | None:
    """Run a command in an empty folder; return None if it ends well, else the last line it complains with."""
    with tempfile.TemporaryDirectory() as folder:
        results = ["--results", str(Path(folder, "results"))] if takes_results else []
        done = subprocess.run([*arguments, *results], cwd=folder, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"


def timed(arguments: list[str], takes_results: bool) -> Callable[[], None]:
    """A contestant: the command, in a folder of its own so that nothing is taken from earlier results."""

    def once() -> None:
        message = complaint(arguments, takes_results)
        if message is not None:
            raise RuntimeError(f"{' '.join(arguments)}: {message}")

    return once


def run(report: Report, repeat: int) -> None:
    """Alternate the commands that work; say of the others that, and why, they are not measured."""
    installed = program()
    contestants = {name: timed(arguments, False) for name, arguments in FLOORS.items()}
    missing: dict[str, str] = {}
    for command in COMMANDS:
        if installed is None:
            missing[command.line] = "there is no oblique beside this Python; install the package first"
            continue
        arguments = [*installed, *command.line.split()[1:], *(command.quick if report.quick else ())]
        # Once untimed: does the command exist, and are its modules compiled?
        message = complaint(arguments, command.takes_results)
        if message is None:
            contestants[command.line] = timed(arguments, command.takes_results)
        else:
            missing[command.line] = f"the command does not work here ({message})"
    times: dict[str, Sample]
    times, _ = alternate(contestants, min(repeat, 5), clock=time.perf_counter)
    report.table(
        "Wall time of commands",
        [{"command": name, "min s": sample.least, "median s": sample.median} for name, sample in times.items()],
    )
    for command in COMMANDS:
        if command.line in missing:
            report.claim(command.line, command.target, missing[command.line], "s")
        else:
            report.claim(command.line, command.target, times[command.line], "s")


if __name__ == "__main__":
    sys.exit(main({"startup": run}, __doc__ or ""))
