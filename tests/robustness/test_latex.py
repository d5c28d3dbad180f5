"""pdflatex compiles the tables and the trees of files whose names, columns and levels hold its special signs."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from robustness_support import counted, many, seeded

SIGNS = [*r"""#$%&_{}~^\<>|"'`*=+-()[]:;!?@ ä É ß ñ ± × ≤ ≥ ≠ ∞ → ° µ""".replace(" ", ""), " ", "--", "a", "B", "7"]
ARTICLE = "\\documentclass{article}\n\\usepackage{booktabs}\n\\usepackage[T1]{fontenc}\n\\begin{document}\n"
STANDALONE = r"\documentclass[tikz,border=6pt]{standalone}"


def missing_packages() -> list[str]:
    """Return what the test needs of LaTeX and this machine does not have."""
    if shutil.which("pdflatex") is None:
        return ["pdflatex"]
    names = ("booktabs.sty", "tikz.sty", "textcomp.sty", "iftex.sty")
    return [name for name in names if not subprocess.run(["kpsewhich", name], capture_output=True).stdout]


def compiled(folder: Path, document: str) -> None:
    """Compile a document; fail with the end of the log where pdflatex finds an error."""
    (folder / "document.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "document.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, document + done.stdout.decode("utf-8", "replace")[-2000:]


@pytest.mark.long
def test_tables_and_trees_of_odd_names_compile(forking, tmp_path):
    if missing := missing_packages():
        pytest.skip(f"{', '.join(missing)} is not on this machine (Debian: texlive-latex-recommended texlive-pictures)")
    rng = seeded("latex")
    values = np.random.default_rng(0).random((60, 2))
    for number in range(many(3, 150)):
        names = [f"{''.join(rng.choices(SIGNS, k=rng.randint(1, 6)))} {i}".strip() for i in range(6)]
        first, second, target, low, high, file = (name.replace('"', "”") for name in names)
        lines = [f'"{first}","{second}","{target}"']
        lines += [f'{a:.3f},{b:.3f},"{low if a + b < 1 else high}"' for a, b in values]
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / (file.replace("/", "") + ".csv")
        path.write_text("\n".join(lines), encoding="utf-8")
        with counted("LaTeX compiled") as counts:
            arguments = (f"./{path.name}", "--target", target, "--quiet")
            table = forking.oblique(folder, "run", *arguments, "--set", "cv.repeats=2", "--format", "latex")
            assert table.code == 0, table
            compiled(folder, f"{ARTICLE}{table.out}\\end{{document}}\n")
            tree = forking.oblique(folder, "tree", *arguments[:3], "--format", "tikz")
            assert tree.code == 0 and STANDALONE in tree.out, tree
            compiled(folder, tree.out.replace(STANDALONE, "\\documentclass{article}\n\\usepackage{tikz}"))
            counts["cases"] += 2
