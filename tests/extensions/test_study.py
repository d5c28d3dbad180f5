"""A study is one module, which says whose tables it answers and how."""

import re

import pytest

STUDY = '''
from oblique_cli.papers.reproduction.framework.runs import cells, of_outcomes, outcome, result_of
from oblique_cli.papers.reproduction.framework.studies import STUDIES, StudyRequest, StudyResult, study

TABLE = "wickramarachchi2015:5.2"


@STUDIES.register("one_line")
@study("HHGDT on BUPA", TABLE)
def one_line(request: StudyRequest) -> StudyResult:
    """The line of BUPA in Table 5.2, from the configuration that `make run` runs."""
    run = outcome(request, "bupa_hhgdt", datasets=["bupa"])
    return result_of([run], cells(request, TABLE, of_outcomes(run), {"GDT": "another algorithm"}))
'''


@pytest.mark.long
def test_a_study_is_one_module(checkout):
    checkout.write("oblique_cli/papers/reproduction/studies/one_line.py", STUDY)
    listed = checkout.oblique("reproduce")
    assert listed.code == 0 and re.search(r"one_line +HHGDT on BUPA", listed.out)
    ended = checkout.oblique("reproduce", "one_line", "--profile", "quick", "--only", "dataset=bupa", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    assert "wickramarachchi2015:5.2" in ended.out and "agrees" in ended.out
    assert (checkout.folder / "results/reproduction/one_line_quick_only.csv").is_file()
