"""Aligned sequences: distances worked out by hand, files read by this package and by Biopython, and the command."""

import gzip
import io
import math
from itertools import combinations

import numpy as np
import pytest
from cli_support import call

from oblique_cli.errors import ConfigError, DataError
from oblique_cli.ground.resources import PACKAGE
from oblique_cli.papers.hierarchy import sequences, taxonomy_command
from oblique_cli.papers.hierarchy.dissimilarities import pair_at, to_square
from oblique_cli.papers.hierarchy.formats import newick, phylip, read_matrix
from oblique_cli.papers.hierarchy.hierarchies import neighbor_joining
from oblique_cli.papers.hierarchy.sequences import LETTERS, descendants, p_distances, random_sequences, read_fasta

__all__ = ["call"]

POPULATIONS = PACKAGE.parent / "docs" / "examples" / "populations.fasta"
# a and b differ at 1 of 8 sites, a and c at 2 of 6, b and c at 3 of 6: c has a gap and an R.
FASTA = ">a first kind\nACGT\nACGT\n>b first kind\nacguAC GA\n\n>c\tother\nA-GTRCCC\n"


def test_distances_are_those_worked_out_by_hand():
    alignment = read_fasta(FASTA, "f")
    assert (alignment.names, alignment.descriptions) == (["a", "b", "c"], ["first kind", "first kind", "other"])
    assert alignment.distances().tolist() == [1 / 8, 2 / 6, 2 / 6]
    by_hand = [-0.75 * math.log(1 - 4 / 3 * p) for p in (1 / 8, 2 / 6, 2 / 6)]
    np.testing.assert_allclose(alignment.distances("jukes_cantor"), by_hand, rtol=1e-14)
    assert read_fasta(FASTA.replace("\n", "\r\n"), "f").distances().tolist() == alignment.distances().tolist()
    protein = read_fasta(">a\nMKV*X\n>b\nMRVEE\n", "f", "protein")
    assert protein.distances().tolist() == [1 / 3]
    assert read_fasta(">alone\nACGT", "f").distances("jukes_cantor").shape == (0,)


@pytest.mark.parametrize("cells", [2**24, 40])
def test_pairs_leave_out_their_own_gaps_in_blocks_of_any_size(monkeypatch, cells):
    monkeypatch.setattr(sequences, "BLOCK_CELLS", cells)
    codes = np.random.default_rng(0).integers(-1, 4, (9, 50)).astype(np.int8)
    for distance, (first, second) in zip(p_distances(codes), combinations(codes, 2), strict=True):
        pairs = [(a, b) for a, b in zip(first, second, strict=True) if a >= 0 and b >= 0]
        assert distance == sum(a != b for a, b in pairs) / len(pairs)
    assert [pair_at(k, 9) for k in range(36)] == list(combinations(range(9), 2))


def test_jukes_cantor_finds_the_distance_by_which_sequences_evolved():
    rng = np.random.default_rng(3)
    estimated = sequences.jukes_cantor(descendants(random_sequences(1, rng, 200_000)[0], 0.2, 3, rng))
    np.testing.assert_allclose(estimated, 0.4, rtol=0.02)


def test_pairs_without_a_distance_are_named():
    with pytest.raises(DataError, match="'a' and 'c' have no site where both have a letter"):
        read_fasta(">a\nAC--\n>b\nACGT\n>c\nNNGT\n", "f").distances()
    saturated = read_fasta(">a\nACGT\n>b\nACGT\n>c\nAAAA\n", "f")
    with pytest.raises(ConfigError, match="distance"):
        saturated.distances("kimura")
    with pytest.raises(DataError, match=r"in 2 of 3 pairs: 'a' and 'c' differ at 75 % of them; choose the p-dist"):
        saturated.distances("jukes_cantor")


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize(
    ("names", "strict"),
    [(["a_name_of_length_20_", "b", "c"], False), (["Homo sap.", "Pan troglo", "1"], True), (None, 0)],
)
def test_a_phylip_matrix_is_read_back_to_the_bit(names, strict, lower):
    condensed = np.array([1 / 3, 1e-5, 123.0])
    read, again = read_matrix(phylip(condensed, names, lower, bool(strict)), "m")
    assert read == (names or ["1", "2", "3"]) and again.tolist() == condensed.tolist()
    with pytest.raises(DataError, match="a strict PHYLIP matrix has names of 1 to 10 characters"):
        phylip(np.ones(1), ["a", "b" * 11], strict=True)
    with pytest.raises(DataError, match=r"a relaxed PHYLIP matrix has names of characters without blanks\. Got 'a b'"):
        phylip(np.ones(1), ["a b", "b"])


def test_strict_names_may_touch_their_numbers_and_rows_may_span_lines():
    text = "3\nHomo sapie0.0 0.1\n   0.2\nPan       0.1 0.0 0.3\nGorilla   0.2 0.3 0.0\n"
    assert read_matrix(text, "m")[0] == ["Homo sapie", "Pan", "Gorilla"]
    with pytest.raises(DataError, match="names have no blanks or 10 characters"):
        read_matrix(text.replace("sapie0", "sapiens 0"), "m")


def test_biopython_reads_the_same_sequences_distances_and_trees():
    pytest.importorskip("Bio")
    from Bio import AlignIO, Phylo, SeqIO
    from Bio.Phylo.TreeConstruction import DistanceCalculator

    text = POPULATIONS.read_text()
    alignment = read_fasta(text, "f")
    for record, name, codes in zip(
        SeqIO.parse(io.StringIO(text), "fasta"), alignment.names, alignment.codes, strict=True
    ):
        letters = [LETTERS["nucleotide"][0].find(letter) for letter in record.seq]
        assert record.id == name and letters == codes.tolist()
    full = text.replace("-", "A").replace("N", "C")
    theirs = DistanceCalculator("identity").get_distance(AlignIO.read(io.StringIO(full), "fasta"))
    condensed = read_fasta(full, "f").distances()
    np.testing.assert_allclose(to_square(condensed), np.array(theirs), rtol=1e-12)
    written = io.StringIO()
    theirs.format_phylip(written)
    names, again = read_matrix(written.getvalue(), "theirs")
    assert names == alignment.names
    np.testing.assert_allclose(again, condensed, rtol=1e-3)  # Biopython writes four digits
    odd = ["it's", "a b", "(c)", *names[3:]]
    tree = Phylo.read(io.StringIO(newick(neighbor_joining(condensed), odd)), "newick")
    assert {leaf.name.replace("\\'", "'") for leaf in tree.get_terminals()} == set(odd)


def test_the_command_takes_sequences_with_classes_from_descriptions_or_a_file(call):
    assert tuple(sequences.DISTANCES) == taxonomy_command.DISTANCES
    assert tuple(LETTERS) == taxonomy_command.ALPHABETS
    (call.folder / "s.fasta").write_text(FASTA)
    (call.folder / "packed.FA.gz").write_bytes(gzip.compress(FASTA.encode()))
    packed = call("taxonomy", "packed.FA.gz", "--format", "newick")
    assert packed.code == 0 and packed.out == call("taxonomy", "s.fasta", "--format", "newick").out
    (call.folder / "bare.txt").write_text(">a\nACGT\n>b\nACGA\n>c\nAAGA\n")
    (call.folder / "kinds.csv").write_text("b,x\na,x\nc,y\n")
    ended = call("taxonomy", "s.fasta", "--min-size", "1")
    assert ended.code == 0 and "s.fasta: 3 objects, first kind 2, other 1\np distances of 8 sites\n" in ended.out
    words = ("taxonomy", "bare.txt", "--distance", "jukes_cantor")
    assert "bare.txt: 3 objects, x 2, y 1" in call(*words, "--labels", "kinds.csv").out
    for method in ("avalanche", "upgma", "nj"):
        assert call(*words, "--method", method, "--format", "newick").out.endswith(");\n")
    assert call("taxonomy", "bare.txt", "--distance", "p", "--output", "d.phy").code == 0
    names, condensed = read_matrix((call.folder / "d.phy").read_text(), "d.phy")
    assert names == ["a", "b", "c"] and condensed.tolist() == [0.25, 0.5, 0.25]
    lower = call("taxonomy", "d.phy", "--matrix", "--format", "phylip-strict-lower").out
    assert lower == "3\na         \nb          0.25\nc          0.5 0.25\n"
