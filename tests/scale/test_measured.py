"""The page of what large tables cost says what the stored runs say."""

from __future__ import annotations

import json

from checkout_support import ROOT

STORED = ROOT / "results" / "scale_depth_6.json"
PAGE = ROOT / "docs" / "scale_measured.md"
MOST_MEMORY = 1.5e9  # what a hundred million rows were to keep to


def test_the_table_of_a_hundred_million_rows_is_that_of_the_stored_runs():
    runs, page = json.loads(STORED.read_text(encoding="utf-8")), PAGE.read_text(encoding="utf-8")
    speed = {}
    for rows, run in runs.items():
        speed[rows] = int(rows) / run["seconds"]
        cells = [
            f"10^{len(rows) - 1}",
            *(f"{run[name]:.1f}" for name in ("cpu", "seconds", "grow")),
            f"{1e-3 * speed[rows]:.0f}",
            str(run["passes"]),
            f"{1e-9 * run['bytes_read']:,.1f}",
            f"{1e-6 * run['peak']:.0f}",
            f"{100 * run['right']:.2f}",
        ]
        assert f"| {' | '.join(cells)} |" in page
        assert run["peak"] < MOST_MEMORY
    slower = 100 - 100 * speed["100000000"] / speed["1000000"]
    assert f"({slower:.0f} % below 10^6; a quarter was allowed)" in page and slower < 25
    assert runs["100000000"]["cpu"] < 105 * runs["1000000"]["cpu"]  # "as fast as 10^6"


def test_the_forests_of_a_million_rows_are_those_of_the_stored_run():
    stored = json.loads((STORED.parent / "forests_million.json").read_text(encoding="utf-8"))
    runs, page = stored["runs"], PAGE.read_text(encoding="utf-8")
    for name, run in runs.items():
        assert f"| {name} | {run['cpu']:.1f} | {1e-6 * run['peak']:.0f} | {100 * run['right']:.1f} |" in page
    ours, ydf = runs["HHGDT forest"], runs["YDF, oblique forest"]
    assert f"YDF takes {ydf['cpu'] / ours['cpu']:.0f} times the time of the HHGDT forest" in page
    assert ours["right"] > ydf["right"] and abs(runs["MPRaF-P forest"]["right"] - runs["random forest"]["right"]) < 0.02


def test_boosting_of_ten_million_rows_is_that_of_the_stored_run():
    run = json.loads((STORED.parent / "scale_boosting.json").read_text(encoding="utf-8"))["10000000"]
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    took = f"{run['cpu']:.0f} CPU seconds, {run['seconds']:.0f} s from the file to the model"
    assert f"{took}, {1e-9 * run['bytes_read']:.1f} GB read, peak {1e-6 * run['peak']:,.0f} MB" in page
    assert f"{100 * run['right']:.1f} % right. It saw {run['rows_at_a_time']:,} rows at a time." in page
    assert run["peak"] < 2e9


def test_a_forest_of_ten_million_rows_is_that_of_the_stored_run():
    run = json.loads((STORED.parent / "scale_forest.json").read_text(encoding="utf-8"))["10000000"]
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"{run['cpu']:.0f} CPU seconds, {run['seconds']:.0f} s from the file to the model while" in page
    peak = (
        f"{1e-9 * run['bytes_read']:.1f} GB read, peak {1e-6 * run['peak']:,.0f} MB, {100 * run['right']:.1f} % right"
    )
    assert f"`hhgdt_forest`, {run['trees']} trees" in page and peak in page
    assert run["peak"] < 2e9
