"""Writes docs/examples/populations.fasta: made-up sequences of three populations, evolved by the model of Jukes-Cantor.

`python -m tools.example_sequences` writes the file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from oblique_cli.ground import seeds
from oblique_cli.papers.hierarchy.sequences import LETTERS, descendants, random_sequences

FILE = Path(__file__).resolve().parent.parent / "docs" / "examples" / "populations.fasta"
SEED, SITES, MEMBERS = 20260101, 120, 5
FROM_THE_ROOT, WITHIN = 0.12, 0.04  # substitutions per site
NO_LETTERS = 12  # gaps and N, over all sequences


def text() -> str:
    """Return the FASTA text: the populations are two branches of one root, and a third that split off the second."""
    rng = seeds.generator(SEED, "populations")
    north, south = descendants(random_sequences(1, rng, SITES)[0], FROM_THE_ROOT, 2, rng)
    ancestors = {"north": north, "south": south, "island": descendants(south, FROM_THE_ROOT, 1, rng)[0]}
    rows = [
        (f"{name}_{i + 1} {name}", np.array(list(LETTERS["nucleotide"][0]))[codes])
        for name, ancestor in ancestors.items()
        for i, codes in enumerate(descendants(ancestor, WITHIN, MEMBERS, rng))
    ]
    for _ in range(NO_LETTERS):
        rows[rng.integers(len(rows))][1][rng.integers(SITES)] = rng.choice(["-", "N"])
    lines = ([f">{header}", "".join(letters[:60]), "".join(letters[60:])] for header, letters in rows)
    return "\n".join(line for record in lines for line in record) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
