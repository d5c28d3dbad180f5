"""`oblique taxonomy` from end to end, and the study of chapters 4 to 6."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cli_support import call
from contracts import real_set

from oblique_cli.papers.hierarchy import hierarchies, measures
from oblique_cli.papers.hierarchy import taxonomy_command as command
from oblique_cli.papers.hierarchy import taxonomy_report as report
from oblique_cli.papers.hierarchy.dissimilarities import METRICS, SCALINGS, pairwise
from oblique_cli.papers.hierarchy.hierarchies import Taxonomy
from oblique_cli.papers.reproduction.framework import study_report
from oblique_cli.papers.reproduction.framework.studies import StudyRequest
from oblique_cli.papers.reproduction.studies import editing
from oblique_cli.papers.reproduction.studies import taxonomy as study

__all__ = ["call"]

ROWS = """\
x,color,class
0.0,red,a
0.1,red,a
0.2,blue,a
9.0,blue,b
9.1,blue,b
9.3,red,b
"""
MATRIX = ",p,q,r\np,0,1,4\nq,1,0,5\nr,4,5,0\n"


def test_the_help_knows_the_names_that_the_code_has():
    assert command.GRAPHS == hierarchies.GRAPHS
    assert command.METRICS == METRICS and command.SCALINGS == SCALINGS


@pytest.mark.parametrize("method", command.TITLES)
def test_a_data_set_gives_a_report_with_all_its_parts(call, method):
    ended = call("taxonomy", "iris", "--method", method, "--purity", "0.9", "--min-size", "10")
    assert ended.code == 0, ended.err
    assert f"{command.TITLES[method]} on iris: 150 objects, Iris-setosa 50, Iris-versicolor 50" in ended.out
    for part in ("classification complexity", "purity thresholds", "tree, edited at purity 0.9", "purity per depth"):
        assert part in ended.out
    assert re.search(r"\nIris-\w+ +\d+  (1\.000|0\.9\d\d)  #{40}\n", ended.out) and "unimodal" in ended.out
    assert "    0  0.333       1 nodes  100.0% of 2^0" in ended.out
    assert "\x1b" not in ended.out


def test_json_holds_the_tree_with_purities_and_measures_to_the_bit(call):
    ended = call("taxonomy", "iris", "--format", "json", "--min-size", "10")
    document = json.loads(ended.out)
    data = real_set("iris")
    taxonomy = Taxonomy.of(hierarchies.staxac(pairwise(data.X), data.y)[0], data.y)
    assert document["children"] == taxonomy.tree.children.tolist() and document["purity"] == taxonomy.purity.tolist()
    assert document["classification_complexity"] == measures.classification_complexity(taxonomy)
    assert document["purity_thresholds"] == measures.purity_thresholds(taxonomy).tolist()
    assert list(document["modality"].values()) == measures.modality(taxonomy, 1.0, 10).tolist()


def test_the_svg_has_a_branch_for_every_node_in_the_color_of_its_class(call):
    ended = call("taxonomy", "iris", "--format", "svg", "--output", "tree.svg")
    assert ended.code == 0 and ended.out == ""
    root = ET.fromstring((call.folder / "tree.svg").read_text())
    paths = [e for e in root.iter() if e.tag.endswith("path")]
    assert len(paths) == 298
    # Setosa's 50 leaves and the 49 joins above them are pure.
    assert sum(e.get("stroke") == report.COLORS[0] for e in paths) == 99
    assert any(e.get("stroke") == report.MIXED for e in paths)


def test_rows_of_a_csv_file_need_their_class_column_and_words_are_columns_of_their_own(call):
    (call.folder / "my.csv").write_text(ROWS)
    ended = call("taxonomy", "my.csv", "--labels", "class", "--min-size", "2", "--scaling", "none")
    assert ended.code == 0, ended.err
    assert "6 objects, a 3, b 3" in ended.out and re.search(r"a +3  1\.000", ended.out)
    for words, code, message in (
        (("my.csv",), 2, "--labels is needed"),
        (("my.csv", "--labels", "klass"), 4, "there is no column 'klass' to use as target. Did you mean 'class'?"),
        (("iris", "--labels", "class"), 2, "is a data set that knows its classes"),
        (("irys",), 2, "Did you mean 'irs' or 'iris'?"),
        (("abalone",), 4, "is for regression, and a taxonomy needs classes"),
        (("iris", "--metric", "cosinus"), 2, "--metric"),
        (("nothere.csv", "--labels", "class"), 4, "does not exist"),
    ):
        ended = call("taxonomy", *words)
        assert ended.code == code and message in ended.err, ended
        assert len(ended.err.strip().splitlines()) == 1 and "Traceback" not in ended.err


def test_a_matrix_with_labels_by_name_becomes_newick(call):
    (call.folder / "d.csv").write_text(MATRIX)
    (call.folder / "labels.csv").write_text("r,y\nq,x\np,x\n")
    ended = call("taxonomy", "d.csv", "--matrix", "--labels", "labels.csv", "--method", "upgma", "--format", "newick")
    assert ended.code == 0, ended.err
    assert ended.out in ("((p:0.5,q:0.5):1.75,r:2.25);\n", "(r:2.25,(p:0.5,q:0.5):1.75);\n")
    text = call("taxonomy", "d.csv", "--matrix", "--labels", "labels.csv", "--min-size", "1")
    assert "3 objects, x 2, y 1" in text.out
    for content, labels, message in (
        (MATRIX.replace("5,0", "6,0"), "r,y\nq,x\np,x\n", "d.csv: a dissimilarity matrix must be symmetric: 'q'"),
        (MATRIX, "x\ny\n", "labels.csv: 3 objects need 3 labels. Got 2."),
    ):
        (call.folder / "d.csv").write_text(content)
        (call.folder / "labels.csv").write_text(labels)
        ended = call("taxonomy", "d.csv", "--matrix", "--labels", "labels.csv")
        assert ended.code == 4 and message in ended.err, ended
        assert len(ended.err.strip().splitlines()) == 1


def test_one_object_and_one_class_have_a_report_too(call):
    (call.folder / "d.csv").write_text("0\n")
    (call.folder / "labels.csv").write_text("x\n")
    for form in ("text", "svg", "newick", "json"):
        ended = call("taxonomy", "d.csv", "--matrix", "--labels", "labels.csv", "--format", form)
        assert ended.code == 0, ended.err


def test_names_are_escaped_in_svg():
    tree = hierarchies.staxac(np.ones(1), [0, 1])[0]
    made = report.TaxonomyReport("<&>", Taxonomy.of(tree, [0, 1]), ("a<b", "c\x01"), ("<x>", "y\x1b"), 1.0, 1)
    assert all(line.isprintable() for line in made.text().split("\n"))
    ET.fromstring(made.svg())
    assert "\x1b[" not in made.text() and "\x1b[" in made.text(lambda text, code: f"\x1b[3{code}m{text}")


# ---- the study -------------------------------------------------------------------------------------------------------


def request(folder: Path, **only: tuple[str, ...]) -> StudyRequest:
    return StudyRequest("quick", 20260101, 1, str(folder / "results"), None, only, lambda line: None, offline=True)


def test_the_study_prints_sequences_with_the_direction_of_every_finding(call):
    words = ("reproduce", "taxonomy", "--profile", "quick", "--only", "dataset=iris")
    ended = call(*words)
    assert ended.code == 0, ended.err
    assert "purity_threshold" in ended.out and "STAXAC+EUREKA" in ended.out
    cells = study_report.read_cells(call.folder / "results" / "reproduction" / "taxonomy_quick_only.csv")
    assert {cell.dataset for cell in cells} == {"iris"}
    first = next(cell for cell in cells if cell.metric == "purity_threshold")
    assert (first.ours, first.published) == (0.333, 0.333)


def test_cells_of_sequences_are_means_over_draws_and_trees_have_2n_minus_1_nodes(tmp_path):
    result = study.STUDIES["taxonomy"].run(request(tmp_path, dataset=("art_sequences_20", "art1_sequences")))
    cells = {(cell.dataset, cell.method, cell.metric, cell.qualifier): cell for cell in result.cells}
    nodes = cells["Art 20", "AVALANCHE and UPGMA", "n_clusters", "n=20"]
    assert (nodes.ours, nodes.ours_sd, nodes.verdict) == (39.0, 0.0, "agrees")
    changes = [cell for cell in result.cells if (cell.dataset, cell.metric) == ("Art#1", "family_changes")]
    assert [cell.method for cell in changes] == ["STAXAC", "NJ"] and all(cell.ours_sd > 0 for cell in changes)
    findings = {row[0]: row for table in result.tables if table.name == "findings" for row in table.rows}
    row = findings["nodes of the tree edited at 100%, art1_sequences, STAXAC and NJ"]
    assert row[3] == "the same"
    again = study.STUDIES["taxonomy"].run(request(tmp_path, dataset=("art_sequences_20", "art1_sequences")))
    assert again.cells == result.cells and again.tables == result.tables


@pytest.mark.long
def test_a_study_that_goes_on_takes_no_step_twice_and_fresh_takes_all_again(tmp_path, monkeypatch):
    monkeypatch.setattr(editing, "BETAS", (0.9, 0.5))
    monkeypatch.setattr(editing, "NEIGHBORS", (1,))
    study_request = request(tmp_path, dataset=("house_votes_complete",))
    taken: list[str] = []

    def counting(function):
        def call(job, *arguments):
            taken.append(f"{job.dataset} {job.algorithm} {job.repeat}")
            if not stopped or len(taken) < 2:
                return function(job, *arguments)
            raise KeyboardInterrupt

        return call

    for module, name in ((study, "accuracy_step"), (editing, "editing_step")):
        monkeypatch.setattr(module, name, counting(getattr(module, name)))
    stopped = True
    with pytest.raises(KeyboardInterrupt):
        study.STUDIES["taxonomy"].run(study_request)
    stopped = False
    assert taken == ["house_votes_complete classifiers 0", "house_votes_complete HC-edit 0"]
    result = study.STUDIES["taxonomy"].run(study_request)
    assert taken[2:] == ["house_votes_complete HC-edit 0", "house_votes_complete HC-edit 1"]
    again = study.STUDIES["taxonomy"].run(study_request)
    assert len(taken) == 4 and (again.cells, again.tables) == (result.cells, result.tables)
    assert study.STUDIES["taxonomy"].run(replace(study_request, fresh=True)).cells == result.cells and len(taken) == 7


@pytest.mark.parametrize(
    ("constant", "value", "calls"),
    [
        ("CLASSIFIERS", ("axis_parallel",), study._accuracy_calls),
        ("NEIGHBORS", (1,), editing.calls),
        ("BETAS", (0.9, 0.5), editing.calls),
        ("EDITORS", {"HC-edit-UPGMA": "hc_edit_upgma"}, editing.calls),
        ("OTHERS", {"k-NN": "knn"}, editing.calls),
    ],
)
def test_what_a_step_does_is_in_its_key(tmp_path, monkeypatch, constant, value, calls):
    study_request = request(tmp_path, dataset=("bupa",))
    before = [job.key for job, _, _ in calls(study_request)]
    assert before == [job.key for job, _, _ in calls(study_request)]
    monkeypatch.setattr(study if constant == "CLASSIFIERS" else editing, constant, value)
    after = [job.key for job, _, _ in calls(study_request)]
    assert len(after) == len(before) > 0 and not set(after) & set(before)


def test_an_algorithm_has_no_meaning_for_the_study_and_is_refused(call):
    ended = call("reproduce", "taxonomy", "--profile", "quick", "--only", "algorithm=wilson")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "reproduce taxonomy: its methods are compared all together, so --only takes dataset=NAME" in ended.err


def test_pimas_finding_is_of_class_0_and_of_no_other():
    for modes, direction in (([3, 0], True), ([0, 3], False), ([1, 1], False), ([0, 0], False)):
        results = editing.Results()
        study._of_set("pima", results, {1.0: np.array(modes)}, 0.5, 3.0)
        assert results.findings[0][0].startswith("pima: subclasses") and results.findings[0][3] is direction


def test_boston_has_three_classes_at_the_log_prices_of_earlier_comparisons_and_twelve_columns(tmp_path):
    data, scaling = editing.dataset_of("boston_housing_3class", None, False)
    assert (data.n, data.p, data.classes, scaling) == (506, 12, ("low", "middle", "high"), "zscore")
    assert np.bincount(data.y).min() > 150
    votes, scaling = editing.dataset_of("house_votes_complete", None, False)
    assert (votes.n, scaling) == (232, "none") and set(np.unique(votes.X)) == {0.0, 1.0}
