"""The study of the MPSVM forests: ranks by hand, the paper's own statistics, and a small run from end to end."""

from dataclasses import replace

import numpy as np
import pytest

from oblique_cli.evaluation import published, significance_tests
from oblique_cli.papers.reproduction.framework.declarations import Part, Runs
from oblique_cli.papers.reproduction.framework.runs import outcome
from oblique_cli.papers.reproduction.framework.studies import STUDIES, StudyRequest, StudyResult
from oblique_cli.papers.reproduction.framework.study_report import StudyReport
from oblique_cli.papers.reproduction.studies import mpsvm


def test_scores_keep_the_data_sets_that_all_methods_have_and_rank_the_best_first():
    results = {("a", "x"): 90.0, ("a", "y"): 80.0, ("b", "x"): 70.0, ("b", "y"): 70.0, ("c", "x"): 99.0}
    scores = mpsvm.MethodScores.of(results, ["x", "y"])
    assert scores.datasets == ("a", "b")
    np.testing.assert_allclose(scores.ranks(), [1.25, 1.75])
    np.testing.assert_allclose(scores.rank_errors(), [0.25, 0.25])


def test_better_by_sign_and_by_nemenyi():
    wins = {(str(i), "x"): 1.0 for i in range(20)} | {(str(i), "y"): 0.0 for i in range(20)}
    scores = mpsvm.MethodScores.of(wins, ["x", "y"])
    assert scores.better("x", "y", "sign") and not scores.better("y", "x", "sign")
    assert scores.better("x", "y", "Nemenyi") and not scores.better("y", "x", "Nemenyi")
    even = mpsvm.MethodScores.of(wins | {(str(i), "x"): -1.0 for i in range(10)}, ["x", "y"])
    assert not even.better("x", "y", "sign") and not even.better("x", "y", "Nemenyi")


@pytest.mark.parametrize("section", ["IV-B", "IV-C"])
def test_the_printed_ranks_give_the_printed_statistics(section: str):
    numbers = published.numbers("zhang2014", section)
    for text in dict.fromkeys(n.qualifiers["family"] for n in numbers if n.metric == "friedman_chi2"):
        methods = text.split("/")
        assert tuple(methods) in mpsvm.FAMILIES.values()
        mean = {(n.method, n.metric): n.mean for n in numbers}
        test = significance_tests.friedman([mean[m, "average_rank"] for m in methods], 44)
        assert test.chi2 == pytest.approx(mean[text, "friedman_chi2"], abs=0.01)
        assert test.f == pytest.approx(mean[text, "friedman_F"], abs=0.015)
        critical = significance_tests.critical_difference(len(methods), 44)
        assert critical == pytest.approx(mean.get((text, "nemenyi_critical_difference"), critical), abs=0.006)


def test_a_small_run_has_a_cell_for_every_printed_number_and_the_tables(tmp_path):
    algorithms = ("raf", "mpraf_t", "mpraf_p", "mpraf_n")
    only = {"dataset": ("iris", "wine"), "algorithm": algorithms}
    study = STUDIES["mpsvm"]
    result = study.run(StudyRequest("quick", 1, 1, str(tmp_path), None, only, lambda line: None, offline=True))
    assert result.exit_code == 0
    assert len(result.cells) == sum(len(published.numbers(*t.split(":"))) for t in study.tables)
    cells = {(cell.method, cell.metric): cell for cell in result.cells if cell.table == "zhang2014:IV-C"}
    ranks = [cells[title, "average_rank"].ours for title in mpsvm.FAMILIES["IV-C, RaF"]]
    assert sum(ranks) == pytest.approx(10.0)
    assert cells["MPRaF-T over RaF", "significantly_better"].ours in (0.0, 1.0)
    assert cells["RRoF", "average_rank"].ours is None and "fewer than two" in cells["RRoF", "average_rank"].note
    tables = {table.name: table for table in result.tables}
    assert [row[0] for row in tables["accuracies"].rows] == ["iris", "wine"]
    assert [row[:2] for row in tables["costs"].rows] == [(f"MPRaF-{rule}", "RaF") for rule in "TPN"]
    assert [row[:2] for row in tables["ranks"].rows] == [("IV-C, RaF", m) for m in mpsvm.FAMILIES["IV-C, RaF"]]
    assert [row[3] for row in tables["ranks"].rows] == ["2.95", "1.97", "2.11", "2.97"]
    assert sum(float(row[2]) for row in tables["ranks"].rows) == pytest.approx(10.0)
    [test] = tables["tests"].rows
    assert test[:2] == ("IV-C, RaF", "2") and test[-3:] == ("22.61", "8.89", "0.71")
    assert tables.get("signs") is None  # MPRRoF was not run
    verdicts = {row[0]: row[1:] for row in tables["verdicts"].rows}
    assert verdicts["MPRaF-T over RaF"][0::2] == ("Nemenyi", "yes")
    assert verdicts["RRoF over RaF"] == ("Nemenyi", "-", "yes")


def test_a_study_leaves_its_ranks_and_tests_as_files(tmp_path):
    only = {"dataset": ("iris", "wine"), "algorithm": ("raf", "rof", "rrof")}
    study = STUDIES["mpsvm"]
    request = StudyRequest("full", 1, 1, str(tmp_path), None, only, lambda line: None, offline=True)
    run = outcome(request, "reproduce/mpsvm", "cv.repeats=1")
    cells = mpsvm.STUDY.cells(Runs(request, {"main": {Part("mpsvm"): run}}))
    tables = tuple(mpsvm._rank_tables(mpsvm._accuracies(run.lines())))
    StudyReport(study, StudyResult(tuple(cells), tables), replace(request, only={})).save()
    ranks, tests = ((tmp_path / "reproduction" / f"mpsvm_{name}.csv").read_text() for name in ("ranks", "tests"))
    rank = next(cell.ours for cell in cells if cell.metric == "average_rank" and cell.method == "RoF")
    assert f"IV-B,RoF,{rank:.2f},2.07\n" in ranks
    assert "\nIV-B,2," in tests
