"""Print what an optional-dependency group of pyproject.toml asks for, one requirement a line, for pip."""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(extra: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    print(*project["optional-dependencies"][extra], sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
