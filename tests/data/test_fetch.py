"""Fetching from a local server: whole, checked, atomic; and the recipes on files in UCI's own form."""

import io
import os
import re
import signal
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest
from data_support import (
    DATASETS,
    N_PEBBLES,
    PEBBLES_CSV,
    PEBBLES_RAW,
    no_user_folders,
    sha,
    site,
    toy_facts,
    toys,
    use_catalogue,
    zipped,
)
from waiting import wait_until

from oblique_cli.data import catalogue
from oblique_cli.data import fetch as fetching
from oblique_cli.data.catalogue import load
from oblique_cli.data.entries import Recipe
from oblique_cli.data.fetch import fetch
from oblique_cli.errors import ConfigError, DataError, StoreError

__all__ = ["no_user_folders", "site", "toys"]


def visible(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir() if not path.name.startswith("."))


def test_a_set_is_fetched_converted_verified_and_then_found(toys, no_user_folders, site):
    d = load("pebbles")
    assert (d.n, d.p, d.classes) == (N_PEBBLES, 2, ("flat", "round"))
    assert (no_user_folders / "pebbles.csv").read_text() == PEBBLES_CSV
    assert visible(no_user_folders) == ["pebbles.csv"], "nothing is left over"
    assert load("pebbles").digest == d.digest
    assert site.log == ["/static/pebbles.zip"], "the second load asks nobody"


def test_the_next_place_is_tried_when_the_first_has_nothing_or_a_page_of_words(toys, site, tmp_path):
    good = PEBBLES_RAW.encode()
    for first in (
        None,
        b"<html>we have moved</html>",
        zipped(other__txt="x"),
        zipped(pebbles__dat="Id a b c\n1 2 3 x\n"),
    ):
        site.content = {"/old/pebbles.dat": good} | ({"/static/pebbles.zip": first} if first else {})
        place = tmp_path / f"place{len(first or b'')}"
        assert fetch(catalogue.entry("pebbles"), place).path.read_text() == PEBBLES_CSV
    site.content = {}
    with pytest.raises(DataError) as caught:
        fetch(catalogue.entry("pebbles"), tmp_path / "other")
    assert str(caught.value) == (
        f"data set 'pebbles' cannot be fetched ({site.url}/static/pebbles.zip does not exist; "
        f"{site.url}/old/pebbles.dat does not exist)"
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<html>", "it is not a whole zip file: File is not a zip file"),
        (zipped(other__dat="x"), "the zip file has 0 members named pebbles.dat"),
        (zipped(pebbles__dat=b"\xff\xfe"), "it is not text"),
        (zipped(pebbles__dat="head\n"), "it has no rows"),
        (zipped(pebbles__dat="Id a b\n1 2\n"), "row 1 has 2 fields instead of 4"),
        (
            zipped(pebbles__dat=PEBBLES_RAW.replace("flat", "flap", 1)),
            f"sha256 after conversion is {sha(PEBBLES_CSV.replace('flat', 'flap', 1))[:8]}... "
            f"instead of {sha(PEBBLES_CSV)[:8]}...",
        ),
    ],
)
def test_a_download_that_is_not_the_catalogues_file_is_refused(toys, site, no_user_folders, body, reason):
    site.content = {"/static/pebbles.zip": body}
    with pytest.raises(DataError, match=re.escape(f"zip is not the file that the catalogue knows: {reason}")):
        load("pebbles")
    assert visible(no_user_folders) == []


def test_a_flipped_bit_in_the_archives_file_never_passes(toys, site, tmp_path):
    body = site.content.pop("/static/pebbles.zip")
    start = body.index(b"weight")
    for at in range(start, len(body), len(body) // 12):
        site.content["/static/pebbles.zip"] = body[:at] + bytes([body[at] ^ 4]) + body[at + 1 :]
        try:
            content = fetch(catalogue.entry("pebbles"), tmp_path / str(at)).path.read_text()
        except DataError:
            continue
        assert content == PEBBLES_CSV  # the bit was in a part of the archive that says nothing


def test_a_cut_connection_is_reported_and_leaves_no_file(toys, site, no_user_folders):
    site.stop_after = 100_000
    with pytest.raises(DataError) as caught:
        load("pebbles")
    total = len(site.content["/static/pebbles.zip"])
    assert str(caught.value) == (
        f"data set 'pebbles': {site.url}/static/pebbles.zip could not be fetched (the connection ended after 100000 of "
        f"{total} bytes); run `oblique data fetch pebbles` again"
    )
    assert visible(no_user_folders) == []
    site.stop_after = None
    assert load("pebbles").n == N_PEBBLES


SCRIPT = """
import sys
from pathlib import Path
from oblique_cli.data import catalogue_file
from oblique_cli.data.fetch import fetch
entry = catalogue_file.load(Path(sys.argv[1]) / "catalogue.yaml")["pebbles"]
fetch(entry, Path(sys.argv[2]))
"""


def test_a_killed_fetch_leaves_no_file(toys, site, tmp_path):
    place = tmp_path / "place"
    site.stop_after, site.hold = 70_000, threading.Event()
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(toys), str(place)], cwd=DATASETS.parent)
    wait_until(lambda: site.log)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert visible(place) == []
    site.hold.set()
    site.stop_after = site.hold = None
    assert fetch(catalogue.entry("pebbles"), place).path.read_text() == PEBBLES_CSV


def test_fetches_at_once_by_processes_and_threads_take_turns(toys, site, tmp_path):
    place = tmp_path / "place"
    processes = [
        subprocess.Popen([sys.executable, "-c", SCRIPT, str(toys), str(place)], cwd=DATASETS.parent) for _ in range(3)
    ]
    entry = catalogue.entry("pebbles")
    threads = [threading.Thread(target=fetch, args=(entry, place)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert (place / "pebbles.csv").read_text() == PEBBLES_CSV and visible(place) == ["pebbles.csv"]
    assert len(site.log) == 1


def test_a_damaged_file_in_the_cache_is_moved_aside_and_one_of_the_user_stops_the_fetch(
    toys, site, no_user_folders, tmp_path
):
    for place in (no_user_folders, tmp_path / "own"):
        place.mkdir(parents=True)
        (place / "pebbles.csv").write_text("damaged")
    assert fetch(catalogue.entry("pebbles"), no_user_folders).path.read_text() == PEBBLES_CSV
    (no_user_folders / "pebbles.csv").write_text("damaged again")
    assert load("pebbles").n == N_PEBBLES
    assert visible(no_user_folders) == ["pebbles.csv", "pebbles.csv.bad", "pebbles.csv.bad2"]
    for call in (
        lambda: fetch(catalogue.entry("pebbles"), tmp_path / "own"),
        lambda: load("pebbles", data_dir=tmp_path / "own"),
    ):
        with pytest.raises(DataError, match=r"Put a good copy in its place, or remove it to have it fetched$"):
            call()
    assert visible(tmp_path / "own") == ["pebbles.csv"]
    (no_user_folders / "quartz.csv").write_text("damaged")
    with pytest.raises(DataError, match=r"was never in the UCI archive; put quartz\.csv into a folder"):
        load("quartz")
    assert "quartz.csv.bad" in visible(no_user_folders)


def test_a_set_that_cannot_be_fetched_says_what_to_do_and_asks_nobody(toys, site, no_user_folders, tmp_path):
    with pytest.raises(DataError) as caught:
        load("pebbles", data_dir=str(tmp_path), offline=True)
    assert str(caught.value) == (
        f"data set 'pebbles' is not in {tmp_path}, {no_user_folders}, and offline nothing is fetched; put pebbles.csv "
        "into a folder and name that by --data-dir or OBLIQUE_DATA"
    )
    assert site.log == [] and not no_user_folders.exists()


def test_servers_that_fail_stall_or_are_not_there(toys, site, tmp_path, monkeypatch):
    entry = catalogue.entry("pebbles")
    site.status = 503
    with pytest.raises(DataError, match=r"\(HTTP 503 Service Unavailable\); run `oblique data fetch pebbles`"):
        fetch(entry, tmp_path)
    site.status = 200
    site.stop_after, site.hold = 1000, threading.Event()
    with pytest.raises(DataError, match=r"could not be fetched \(timed out\)"):
        fetch(entry, tmp_path, timeout=0.2)
    site.hold.set()
    with pytest.raises(DataError, match=r"could not be fetched \(Connection refused\)"):
        fetch(entry, tmp_path, base_url="http://127.0.0.1:9")
    for address in ("file:///etc", "ftp://example.org", "example.org", "http:"):
        with pytest.raises(ConfigError, match=f"OBLIQUE_UCI_URL must be a http or https address. Got {address!r}"):
            fetch(entry, tmp_path, base_url=address)
    for address in ("http://[x", "http://a b", "http://é"):
        with pytest.raises(DataError, match="could not be fetched"):
            fetch(entry, tmp_path, base_url=address)


def test_a_folder_that_cannot_be_written_is_named(toys, site, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match=r"file: cannot be written \(.*\); name another folder by --data-dir"):
        fetch(catalogue.entry("pebbles"), tmp_path / "file")
    with pytest.raises(DataError, match=r"cannot be written \(Not a directory\)"):
        fetch(catalogue.entry("pebbles"), tmp_path / "file" / "deeper")


def test_members_are_found_by_name_nothing_is_unpacked_and_what_is_far_too_large_is_not_swallowed(
    toys, site, tmp_path, monkeypatch
):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("../../outside.dat", "x")
        archive.writestr("folder/pebbles.dat", PEBBLES_RAW)
    site.content["/static/pebbles.zip"] = out.getvalue()
    fetch(catalogue.entry("pebbles"), tmp_path / "a" / "b")
    assert [path.name for path in tmp_path.rglob("*.dat")] == []
    monkeypatch.setattr(fetching, "LARGEST", 1 << 20)
    site.content["/static/pebbles.zip"] = bytes(3 << 20)
    with pytest.raises(DataError, match="it is larger than 1 MB"):
        fetch(catalogue.entry("pebbles"), tmp_path)
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pebbles.dat", bytes(3 << 20))
    site.content["/static/pebbles.zip"] = bomb.getvalue()
    with pytest.raises(DataError, match=r"pebbles\.dat is larger than 1 MB"):
        fetch(catalogue.entry("pebbles"), tmp_path)


# Recipes


def compressed(data: bytes) -> bytes:
    """A .Z file of codes of 9 bits, in groups of eight: the table is cleared (code 256) before codes become wider."""
    codes: list[int] = []
    for at in range(0, len(data), 240):
        codes += [256, *[0] * 7] if at else []
        codes += data[at : at + 240]
    groups = [codes[i : i + 8] for i in range(0, len(codes), 8)]
    numbers = [sum(code << 9 * k for k, code in enumerate(group)) for group in groups]
    return b"\x1f\x9d\x90" + b"".join(
        number.to_bytes(-(-9 * len(group) // 8), "little") for number, group in zip(numbers, groups, strict=True)
    )


RAW = PEBBLES_RAW.encode()


@pytest.mark.parametrize(
    ("path", "members", "body"),
    [
        ("a.zip", ["b.zip", "pebbles.dat"], zipped(b__zip=zipped(pebbles__dat=RAW), c__zip=b"not this one")),
        ("a.zip", ["pebbles.dat.Z"], zipped(**{"pebbles.dat.Z": compressed(RAW)})),
        ("old/pebbles.dat.Z", [], compressed(RAW)),
    ],
)
def test_a_recipe_names_members_in_members_and_unpacks_z_files(path, members, body, monkeypatch, site, tmp_path):
    facts = toy_facts()
    facts["pebbles"]["recipe"]["sources"] = [{"path": path, "members": members} if members else {"path": path}]
    use_catalogue(monkeypatch, tmp_path / "datasets", facts)
    site.content = {f"/{path}": body}
    assert fetch(catalogue.entry("pebbles"), tmp_path).path.read_text() == PEBBLES_CSV


def test_z_files_are_unpacked_and_damaged_ones_refused(monkeypatch):
    data = PEBBLES_RAW.encode()[:10_000]
    assert fetching.uncompress(compressed(data)) == data
    for damaged in (b"", b"\x1f\x9d", b"text", b"\x1f\x9d\x90" + bytes([255] * 40)):
        with pytest.raises(fetching._Unusable, match=r"the \.Z file is damaged"):
            fetching.uncompress(damaged)
    monkeypatch.setattr(fetching, "LARGEST", 5000)
    with pytest.raises(fetching._Unusable, match="it holds more than"):
        fetching.uncompress(compressed(data))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(fetching._Unusable, match="there is no gzip"):
        fetching.uncompress(compressed(data))


def test_conversion_keeps_whole_numbers_and_writes_others_in_shortest_form():
    recipe = Recipe((), ",", False, ("a", "-", "b", "word", "class"), missing="?")
    text = '007,x,.50,"p, q",1\r\n?,x,5,?,0\n\n'
    assert fetching.convert(text, recipe) == 'a,b,word,class\n7,0.5,"p, q",1\n,5.0,,0\n'
    assert fetching.convert("1 2\t3\n 4 5 6", Recipe((), "whitespace", False, ("a", "b", "class"))) == (
        "a,b,class\n1,2,3\n4,5,6\n"
    )


def test_files_appear_whole_or_not_at_all(monkeypatch, toys, site, tmp_path):
    def fail(*paths: object) -> None:
        raise OSError(28, "No space left on device")

    place = tmp_path / "place"
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(StoreError, match=r"pebbles\.csv cannot be written, the disk is full: free some space"):
            fetch(catalogue.entry("pebbles"), place)
    assert not [p for p in place.iterdir() if p.suffix in (".csv", ".tmp")]
    assert fetch(catalogue.entry("pebbles"), place).path.read_text() == PEBBLES_CSV
