"""A data set is a file and an entry of the catalogue."""

import hashlib
import os

import pytest

pytestmark = pytest.mark.long

CSV = "weight,size,class\n" + "".join(
    f"{i / 7:.3f},{i % 9},{'heavy' if i % 9 + i / 7 > 11 else 'light'}\n" for i in range(100)
)
HEAVY = sum(line.endswith("heavy") for line in CSV.splitlines())
ENTRY = f"""
pebbles:
  title: Pebbles
  task: classification
  numeric: 2
  classes: {{heavy: {HEAVY}, light: {100 - HEAVY}}}
  availability: bundled
  files:
    all: {{name: pebbles.csv, rows: 100, sha256: {hashlib.sha256(CSV.encode()).hexdigest()}}}
  source: measured by hand
  licence: CC0
"""


def add(checkout, entry):
    """Put the file and the entry into a folder of data sets of the copy's own."""
    bundled = checkout.folder / "datasets"
    originals = os.readlink(bundled)
    bundled.unlink()
    bundled.mkdir()
    for name in os.listdir(originals):
        if name != "catalogue.yaml":
            (bundled / name).symlink_to(os.path.join(originals, name))
    with open(os.path.join(originals, "catalogue.yaml"), encoding="utf-8") as file:
        (bundled / "catalogue.yaml").write_text(file.read() + entry, encoding="utf-8")
    (bundled / "pebbles.csv").write_text(CSV)


def test_a_data_set_is_a_file_and_an_entry(checkout):
    add(checkout, ENTRY)
    assert "pebbles" in checkout.oblique("data", "list").out
    ended = checkout.oblique("data", "verify", "pebbles")
    assert (ended.code, ended.err) == (0, "")
    ended = checkout.oblique("tree", "pebbles")
    assert ended.code == 0 and "heavy" in ended.out and "weight" in ended.out
    tested = checkout.contracts("tests/data/test_catalogue.py", named="pebbles")
    assert tested.code == 0 and " passed" in tested.out, tested.out
