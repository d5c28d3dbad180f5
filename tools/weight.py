"""How large the project is: lines, words, names and the path of one command, beside the limits.

python -m tools.weight    print every number with its limit

Lines are those of tracked files. A name counts where it is bound: a variable, an argument, a function, an attribute.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OTHERS = ("tests", "tools", "benchmarks", "studies")
CODE = (".py", ".cpp", ".hpp")
# Names that do not tell what they hold.
VAGUE = {"found", "one", "own", "said", "told", "kept", "given", "asked", "handed", "blamed"}
MOST_LINES, MOST_ARGUMENTS = 80, 10  # of a function outside the bindings
# What `oblique run configs/bupa_hhgdt.yaml` imports of the package, and how many calls of its functions it makes.
WALK = """
import sys, tempfile
calls = 0
def count(frame, event, argument):
    global calls
    calls += event == "call" and "/oblique_cli/" in frame.f_code.co_filename
from oblique_cli import cli
with tempfile.TemporaryDirectory() as folder:
    sys.setprofile(count)
    try:
        cli.call(["run", "configs/bupa_hhgdt.yaml", "--quiet", "-j", "1", "--results", folder, "-o", folder + "/t"])
    finally:
        sys.setprofile(None)
modules = [name for name in sys.modules if name.startswith("oblique_cli")]
print(len(modules), sum(name.startswith("oblique_cli.papers.") for name in modules), calls)
"""


def tracked(*folders: str) -> list[Path]:
    """Return the files of the repository below folders."""
    done = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def lines(*folders: str) -> int:
    """Return how many lines of Python and C++ folders have."""
    return sum(path.read_bytes().count(b"\n") for path in tracked(*folders) if path.suffix in CODE)


def words(*folders: str) -> int:
    """Return how many words of Markdown folders have."""
    return sum(len(path.read_text(encoding="utf-8").split()) for path in tracked(*folders) if path.suffix == ".md")


def trees(*folders: str) -> Iterator[tuple[Path, ast.Module]]:
    """Yield the Python files of folders as syntax trees."""
    for path in tracked(*folders):
        if path.suffix == ".py":
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def vague_names(*folders: str) -> list[str]:
    """Return where a name of VAGUE is bound, as file:line: name."""
    places = []
    for path, tree in trees(*folders):
        for node in ast.walk(tree):
            name = ""
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                name = node.id if isinstance(node, ast.Name) else node.attr
            elif isinstance(node, ast.arg):
                name = node.arg
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                name = node.name
            if name.strip("_") in VAGUE:
                places.append(f"{path.relative_to(ROOT)}:{node.lineno}: {name}")  # type: ignore[attr-defined]
    return places


def large_functions(*folders: str) -> list[str]:
    """Return the functions that are longer than MOST_LINES, or take more than MOST_ARGUMENTS, keywords among them."""
    places = []
    for path, tree in trees(*folders):
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef) or node.name == "__init__":
                continue
            length = node.end_lineno - node.lineno + 1 if node.end_lineno else 0
            arguments = len(node.args.args) + len(node.args.posonlyargs) + len(node.args.kwonlyargs)
            if length > MOST_LINES or arguments > MOST_ARGUMENTS:
                places.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}")
    return places


def walk() -> list[int]:
    """Return modules of the package, those of papers, and calls, of one `oblique run`."""
    done = subprocess.run([sys.executable, "-c", WALK], cwd=ROOT, capture_output=True, text=True, check=True)
    return [int(number) for number in done.stdout.split()[-3:]]


def main() -> int:
    """Print the numbers."""
    modules, papers, calls = walk()
    numbers = [
        ("lines of Python and C++ in oblique_cli", lines("oblique_cli"), 94_000),
        ("lines in tests", lines("tests"), 54_000),
        ("lines in tools, benchmarks and studies", lines(*OTHERS[1:]), 8_500),
        ("words in docs", words("docs"), 55_000),
        ("lines of README.md", (ROOT / "README.md").read_bytes().count(b"\n"), 120),
        ("bindings of names that do not tell what they hold", len(vague_names("oblique_cli", *OTHERS)), 60),
        ("functions that are too large", len(large_functions("oblique_cli")), 0),
        ("modules imported by one run", modules, 120),
        ("of which in papers", papers, 0),
        ("calls of functions of the package in one run", calls, 60_000),
    ]
    for name, number, limit in numbers:
        print(f"{name:<52}{number:>9,}  at most {limit:>7,}{'' if number <= limit else '  over'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
