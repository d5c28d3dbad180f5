"""A study is one module, which says whose tables it answers and how."""

import re

import pytest

STUDY = '''
from oblique_cli.papers.reproduction.framework.runs import cells, lines_of, of_lines, outcome, total
from oblique_cli.papers.reproduction.framework.studies import STUDIES, Study, StudyRequest, StudyResult


@STUDIES.register("one_line")
class OneLine(Study):
    """The line of BUPA in Table 5.2, from the configuration that `make run` runs."""

    name = "one_line"
    title = "HHGDT on BUPA"
    tables = ("wickramarachchi2015:5.2",)

    def run(self, request: StudyRequest) -> StudyResult:
        outcomes = [outcome(request, "bupa_hhgdt", datasets=["bupa"])]
        cost, code = total(outcomes)
        not_run = {"GDT": "another algorithm"}
        found = cells(request, self.tables[0], of_lines(lines_of(outcomes)), not_run)
        return StudyResult(found, cost=cost, exit_code=code)
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
