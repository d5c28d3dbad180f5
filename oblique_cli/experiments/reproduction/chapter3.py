"""Chapter 3 of the thesis: HHCART against OC1 and QUEST, Tables 3.1 to 3.4."""

from __future__ import annotations

from oblique_cli.experiments.reproduction.runs import cells, of_lines, outcome, total
from oblique_cli.experiments.reproduction.studies import STUDIES, Request, Study, StudyResult

THESIS = "wickramarachchi2015"


@STUDIES.register("chapter3")
class Chapter3(Study):
    """Tables 3.1 to 3.4."""

    name = "chapter3"
    title = "HHCART against OC1 and QUEST, random and stratified folds (thesis, chapter 3)"
    tables = (f"{THESIS}:3.1",)

    def run(self, request: Request) -> StudyResult:
        """Run Table 3.1."""
        ran = [outcome(request, "reproduce/chapter3"), outcome(request, "reproduce/chapter3_shuttle")]
        lines = {key: line for each in ran if each is not None for key, line in each.lines().items()}
        cost, code = total(ran)
        return StudyResult(cells(request, f"{THESIS}:3.1", of_lines(lines), {}), cost=cost, exit_code=code)
