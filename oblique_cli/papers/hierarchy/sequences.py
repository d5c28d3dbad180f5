"""Aligned sequences: FASTA files, p-distances, Jukes-Cantor distances, and random sequences (Amalaman 2015)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oblique_cli.errors import DataError
from oblique_cli.ground.constraints import Choice, check
from oblique_cli.papers.hierarchy.dissimilarities import Condensed, condensed_of, object_name, pair_at, to_square

# Alphabet -> its letters, U of RNA equal to T, and its ambiguity codes
LETTERS = {"nucleotide": ("ACGT", "RYSWKMBDHVN"), "protein": ("ACDEFGHIKLMNOPQRSTUVWY", "BJXZ*")}
GAPS = "-.?"
NO_LETTER, FOREIGN = -1, -2  # codes of gaps and ambiguity codes, and of everything else
BLOCK_CELLS = 2**24  # of a block of sites: 64 MB in float32, whose sums of ones are exact up to this number


@dataclass(frozen=True, eq=False)
class Alignment:
    """Aligned sequences: `names` and `descriptions` of the n records, and `codes` (n, sites), their letters' places in
    the alphabet, -1 for a gap or an ambiguity code."""

    names: list[str]
    descriptions: list[str]
    codes: NDArray[np.int8]

    def distances(self, distance: str = "p") -> Condensed:
        """Return the condensed distances by a function of `DISTANCES`. DataError names a pair without a distance."""
        check({"distance": distance}, {"distance": Choice(tuple(DISTANCES))}, "Alignment.distances")
        return DISTANCES[distance](self.codes, self.names)


def read_fasta(text: str, where: str, alphabet: str = "nucleotide") -> Alignment:
    """Return the aligned sequences of a FASTA text. alphabet : of LETTERS; where : prefix of messages

    A header is ">", a name without blanks, and a description. Upper and lower case are equal. DataError for a foreign
    letter, unequal lengths, a name that two records have, and records without a name or without letters.
    """
    check({"alphabet": alphabet}, {"alphabet": Choice(tuple(LETTERS))}, "read_fasta")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    before, *records = re.split(r"^>", text, flags=re.MULTILINE)
    if not records or before.strip():
        first = next((line for line in before.splitlines() if line.strip()), None)
        got = "the file is empty" if first is None else f"got {first[:40]!r}"
        raise DataError(f"{where}: a FASTA file begins with a header, '>' and a name; {got}.")
    names: list[str] = []
    descriptions, rows = [], []
    for number, record in enumerate(records, 1):
        header, _, body = record.partition("\n")
        name, *rest = header.split(maxsplit=1) or [""]
        if not name:
            raise DataError(f"{where}: record {number} has no name; write one after its '>'.")
        names.append(name)
        descriptions.append(rest[0].strip() if rest else "")
        rows.append(_codes("".join(body.split()), alphabet, f"{where}: record {number}, {name!r},"))
        if len(rows[-1]) != len(rows[0]):
            raise DataError(
                f"{where}: record {number}, {name!r}, has {len(rows[-1])} sites and {names[0]!r} has {len(rows[0])}; "
                "sequences must be aligned to the same length."
            )
    first_of: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if first_of.setdefault(name, number) != number:
            raise DataError(
                f"{where}: every sequence needs a name of its own; records {first_of[name]} and {number} have {name!r}."
            )
    return Alignment(names, descriptions, np.array(rows))


def _codes(sequence: str, alphabet: str, record: str) -> NDArray[np.int8]:
    """Return the codes of the letters of a sequence. record : begins messages"""
    letters, ambiguous = LETTERS[alphabet]
    code_of = {letter: code for code, letter in enumerate(letters)} | dict.fromkeys(ambiguous + GAPS, NO_LETTER)
    if alphabet == "nucleotide":
        code_of["U"] = code_of["T"]
    table = np.full(256, FOREIGN, dtype=np.int8)
    for letter, code in code_of.items():
        table[[ord(letter), ord(letter.lower())]] = code
    codes: NDArray[np.int8] = table[np.minimum(np.frombuffer(sequence.encode("utf-32-le"), dtype="<u4"), 255)]
    if not len(codes):
        raise DataError(f"{record} has no letters.")
    foreign = np.flatnonzero(codes == FOREIGN)
    if len(foreign):
        other = "" if alphabet == "protein" else "; for amino acids choose the alphabet 'protein'"
        raise DataError(
            f"{record} has {sequence[foreign[0]]!r} at position {foreign[0] + 1}; expected are {letters}"
            f"{'U' if alphabet == 'nucleotide' else ''}, ambiguity codes {ambiguous} and gaps {GAPS}{other}."
        )
    return codes


def p_distances(codes: NDArray[np.int8], names: list[str] | None = None) -> Condensed:
    """Return the condensed p-distances of sequences (n, sites): the share of sites at which two sequences differ, of
    the sites where both have a letter (pairwise deletion). DataError for a pair without such a site. O(n^2) memory."""
    n, sites = codes.shape
    same, shared = np.zeros((n, n)), np.zeros((n, n))
    step = max(1, BLOCK_CELLS // n)
    for start in range(0, sites, step):
        block = codes[:, start : start + step]
        shared += _products(block >= 0)
        for letter in range(int(block.max()) + 1):
            same += _products(block == letter)
    with np.errstate(invalid="ignore"):
        distances = condensed_of((shared - same) / shared)
    if np.isnan(distances).any():
        i, j = pair_at(int(np.isnan(distances).argmax()), n)
        raise DataError(
            f"{object_name(i, names)} and {object_name(j, names)} have no site where both have a letter, so they "
            "have no distance; leave out one of them."
        )
    return distances


def _products(mask: NDArray[np.bool_]) -> NDArray[np.float32]:
    ones = mask.astype(np.float32)
    product: NDArray[np.float32] = ones @ ones.T
    return product


def jukes_cantor(codes: NDArray[np.int8], names: list[str] | None = None) -> Condensed:
    """Return the condensed distances of nucleotide sequences by Jukes and Cantor (1969), substitutions per site:
    -3/4 ln(1 - 4/3 p) of the p-distance. DataError for p of 3/4 or more, where the estimate is infinite."""
    p = p_distances(codes, names)
    saturated = p >= 0.75
    if saturated.any():
        k = int(saturated.argmax())
        i, j = pair_at(k, len(codes))
        raise DataError(
            f"the Jukes-Cantor distance is infinite where 3/4 or more of the sites differ, as in {saturated.sum()} of "
            f"{len(p)} pairs: {object_name(i, names)} and {object_name(j, names)} differ at {100 * p[k]:.3g} % of "
            "them; choose the p-distance, or leave out unrelated sequences."
        )
    return np.asarray(-0.75 * np.log1p(-p / 0.75) + 0.0)  # + 0.0: no negative zero


DISTANCES = {"p": p_distances, "jukes_cantor": jukes_cantor}


# ---- artificial sequences (sections 4.4.1 and 5.5.1.1) ---------------------------------------------------------------


def random_sequences(n: int, rng: np.random.Generator, length: int = 200) -> NDArray[np.int8]:
    """Return n sequences of independent, equally likely nucleotides, (n, length) codes 0 to 3."""
    return rng.integers(0, 4, size=(n, length), dtype=np.int8)


def descendants(parent: NDArray[np.int8], distance: float, n: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """Return n sequences (n, sites) at a Jukes-Cantor distance from a parent, each evolved independently of others."""
    # A substitution draws one of four letters, so that distances, which count changes, are 3/4 of it.
    redrawn = rng.random((n, len(parent))) < -math.expm1(-distance / 0.75)
    return np.where(redrawn, random_sequences(n, rng, len(parent)), parent)


def labels_by_poles(condensed: Condensed, rng: np.random.Generator, noise: float = 0.0) -> NDArray[np.int64]:
    """Return two classes, one around each of the two most distant sequences; equally near ones are of the first.
    noise : share of the sequences whose class is drawn at random afterwards (0 for Art#1, 0.1 for Art#2)"""
    square = to_square(condensed)
    first, second = np.unravel_index(int(square.argmax()), square.shape)
    codes: NDArray[np.int64] = (square[second] < square[first]).astype(np.int64)
    chosen = rng.choice(len(codes), size=round(noise * len(codes)), replace=False)
    codes[chosen] = rng.integers(0, 2, size=len(chosen))
    return codes
