"""LaTeX commands for characters that LaTeX reads as commands, or that pdflatex does not know."""

from __future__ import annotations

CHARACTERS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "…": r"\dots{}",
    "−": r"\ensuremath{-}",
    "±": r"\ensuremath{\pm}",
    "×": r"\ensuremath{\times}",
    "≤": r"\ensuremath{\le}",
    "≥": r"\ensuremath{\ge}",
    "≠": r"\ensuremath{\ne}",
    "≈": r"\ensuremath{\approx}",
    "∞": r"\ensuremath{\infty}",
    "√": r"\ensuremath{\surd}",
    "→": r"\ensuremath{\to}",
}


def escaped(text: str, others: dict[str, str]) -> str:
    """Return a text in LaTeX, character by character; `others` take precedence over CHARACTERS."""
    return "".join(others.get(character) or CHARACTERS.get(character, character) for character in text)
