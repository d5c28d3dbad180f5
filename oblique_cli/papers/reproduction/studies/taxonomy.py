"""Chapters 4 to 6 of the dissertation (Amalaman 2015): AVALANCHE, STAXAC with EUREKA, and HC-edit.

The sequence sets of the dissertation (E.coli, AV, BE, BV, BH) are not public. Random sequences are redrawn; public
UCI sets follow chapter 6: z-scores and Euclidean distances, votes as raw 0 and 1.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from oblique_cli.data.dataset import Dataset
from oblique_cli.estimators.algorithms import make
from oblique_cli.evaluation import published
from oblique_cli.evaluation.published import Published
from oblique_cli.experiments.dispatching import Call
from oblique_cli.ground import seeds
from oblique_cli.ground.nouns import Job
from oblique_cli.papers.hierarchy import measures
from oblique_cli.papers.hierarchy.dissimilarities import Condensed, pairwise
from oblique_cli.papers.hierarchy.hierarchies import Taxonomy, avalanche, neighbor_joining, staxac, upgma
from oblique_cli.papers.hierarchy.sequences import labels_by_poles, p_distances, random_sequences
from oblique_cli.papers.reproduction.framework.choice_of_reading import met, of_claims
from oblique_cli.papers.reproduction.framework.printed_cells import Cell
from oblique_cli.papers.reproduction.framework.runs import Number, cells, mean_sd, measuring, step, take
from oblique_cli.papers.reproduction.framework.studies import STUDIES, ExtraTable, StudyRequest, StudyResult, study
from oblique_cli.papers.reproduction.studies import editing
from oblique_cli.papers.reproduction.studies.editing import SOURCE, Key, Results, Scores

TABLES = tuple(f"{SOURCE}:{table}" for table in ("4.3", "5.3", "5.4", "5", "6.4"))
SEQUENCE_DRAWS = {"quick": 5, "full": 30}
UNSUPERVISED_SETS = {"art_sequences_20": 20, "art_sequences_50": 50, "art_sequences_100": 100}
LABELLED_SETS = {"art1_sequences": 0.0, "art2_sequences": 0.1}  # name -> share of random labels
LABELLED_SIZE = 100
THETAS = (1.0, 0.95, 0.85)

IRIS = "iris"
EIGHT = (
    "house_votes_complete",
    "bupa",
    "statlog_heart",
    "boston_housing_3class",
    "breast_cancer_wisconsin",
    "pima",
    "vehicle",
    "image_segmentation",
)
QUICK_SETS = EIGHT[:5]
SIGMA = 15
# Our classifiers among the dissertation's 24, whose accuracies only a figure shows.
CLASSIFIED = "classifiers"  # the name of their mean
CLASSIFIERS = ("axis_parallel", "quest", "cline", "oc1_ap", "fdt")

# By the dissertation's codes of sets that our catalogue does not have.
NOT_PUBLIC = {code: "the data are not public" for code in ("E.coli", "AV", "BE", "BV", "BH")}
MADE_HERE = (*UNSUPERVISED_SETS, *LABELLED_SETS, "boston_housing_3class", "eight_uci_sets")


@STUDIES.register("taxonomy")
@study("AVALANCHE, supervised taxonomies and HC-edit (Amalaman 2015, chapters 4 to 6)", *TABLES, selects=("dataset",))
def taxonomy(request: StudyRequest) -> StudyResult:
    """Build the trees and return every cell that public data can reproduce, with the direction of every finding. The
    slow parts, accuracies of classifiers and repetitions of HC-edit, are stored as steps."""
    started = time.perf_counter()
    steps = take(request, "taxonomy", [*_accuracy_calls(request), *editing.calls(request)])
    results = Results()
    for row in steps.rows:
        for text, value in row.measures.items():
            results.scores.setdefault(editing.key_of(text), []).append(value)
    notes = editing.notes(results.scores)
    tables: list[ExtraTable] = []
    _sequences(request, results)
    for section in SECTIONS:
        tables += _by_claims(request, section, results, notes)
    tables.append(editing.accuracies(results))
    # Open: the dissertation has no statement, or two random draws differ within chance.
    direction = {True: "the same", False: "not the same", None: "open"}
    rows = tuple((*texts, direction[holds]) for *texts, holds in results.findings)
    summary = ExtraTable("findings", "Published findings", ("finding", "published", "ours", "direction"), rows)
    all_cells = [cell for table in TABLES for cell in _cells(request, table, results.scores, notes)]
    seconds = time.perf_counter() - started
    work = seconds - steps.seconds + sum(row.fit_seconds for row in steps.rows)
    shown = (summary, *(table for table in tables if table.rows))
    cost = steps.cost._replace(trees=0, seconds=seconds, stored_trees=0, stored_seconds=work)
    return StudyResult(tuple(all_cells), shown, cost, steps.exit_code)


def _cells(request: StudyRequest, reference: str, scores: Scores, notes: Mapping[Key, str]) -> tuple[Cell, ...]:
    names = {published.dataset_code(SOURCE, name): name for name in MADE_HERE}

    def ours(number: Published, dataset: str) -> Number | None:
        identifying = {k: v for k, v in number.qualifiers.items() if k in editing.IDENTIFYING}
        key = editing.score_key(names.get(dataset, dataset), number.method, number.metric, **identifying)
        return (*mean_sd(scores[key]), notes.get(key, "")) if key in scores else None

    return cells(request, reference, ours, NOT_PUBLIC)


# ---- sequences (Tables 4.3, 5.3, 5.4; figure 5.6) --------------------------------------------------------------------


def _sequences(request: StudyRequest, results: Results) -> None:
    """Compare AVALANCHE with UPGMA on random sequences of length 200 with p-distances."""
    for name, n in UNSUPERVISED_SETS.items():
        if not request.wants("dataset", name):
            continue
        for draw in range(SEQUENCE_DRAWS[request.profile]):
            condensed = p_distances(random_sequences(n, seeds.generator(request.seed, "taxonomy", name, draw)))
            for method, tree in (("UPGMA", upgma(condensed)), ("AVALANCHE", avalanche(condensed))):
                within, between = measures.mean_distances(tree, condensed)
                results.add(within, name, method, "intra_cluster_distance")
                results.add(between, name, method, "inter_cluster_distance")
                if method == "AVALANCHE":
                    results.add(tree.n_nodes, name, "AVALANCHE and UPGMA", "n_clusters")
        for side, metric in (("within", "intra_cluster_distance"), ("between", "inter_cluster_distance")):
            a, b = (results.values(name, method, metric) for method in ("AVALANCHE", "UPGMA"))
            finding = f"mean distance {side} clusters, {name}, AVALANCHE and UPGMA"
            results.compare(finding, "AVALANCHE smaller or equal", a, b)


def drawn(seed: int, name: str, draws: Iterable[int]) -> Iterator[tuple[Condensed, NDArray[np.int64]]]:
    """Yield distances of labeled random sequences, and their classes. draws : their numbers"""
    for draw in draws:
        rng = seeds.generator(seed, "taxonomy", name, draw)
        condensed = p_distances(random_sequences(LABELLED_SIZE, rng))
        yield condensed, labels_by_poles(condensed, rng, LABELLED_SETS[name])


def both_taxonomies(condensed: Condensed, codes: NDArray[np.int64], graph: str = "renewed") -> dict[str, Taxonomy]:
    """Return the trees that section 5.5.1 compares."""
    trees = {"STAXAC": staxac(condensed, codes, graph)[0], "NJ": neighbor_joining(condensed)}
    return {method: Taxonomy.of(tree, codes) for method, tree in trees.items()}


def _labeled(request: StudyRequest, results: Results, graph: str) -> list[ExtraTable]:
    """Compare STAXAC with neighbor joining on labeled sequences (section 5.5.1)."""
    for name in filter(lambda name: request.wants("dataset", name), LABELLED_SETS):
        depth: dict[str, list[float]] = {"STAXAC": [], "NJ": []}
        for condensed, codes in drawn(request.seed, name, range(SEQUENCE_DRAWS[request.profile])):
            for method, tree in both_taxonomies(condensed, codes, graph).items():
                for theta in THETAS:
                    size = measures.edited_size(tree, theta)
                    results.add(size, name, method, "n_nodes", theta_percent=round(100 * theta))
                results.add(measures.family_changes(tree), name, method, "family_changes")
                depth[method].append(float(np.argmax(measures.purity_per_depth(tree).purity >= 0.9)))
        for metric, qualifiers, finding in (
            *(("n_nodes", {"theta_percent": round(100 * t)}, f"nodes of the tree edited at {t:.0%}") for t in THETAS),
            ("family_changes", {}, "sub-family changes"),
        ):
            a, b = (results.values(name, method, metric, **qualifiers) for method in depth)
            results.compare(f"{finding}, {name}, STAXAC and NJ", "STAXAC fewer", a, b)
        finding = f"depth of 90% mean purity, {name}, STAXAC and NJ"
        results.compare(finding, "STAXAC earlier", depth["STAXAC"], depth["NJ"])
    return []


# ---- EUREKA (sections 5.4.2 and 5.5.2) -------------------------------------------------------------------------------


def taxonomy_of(data: Dataset, scaling: str, graph: str = "nearest") -> Taxonomy:
    """Return the supervised taxonomy of a data set."""
    tree, _ = staxac(pairwise(data.X, scaling=scaling), data.y, graph)
    return Taxonomy.of(tree, data.y, len(data.classes))


def _eureka(request: StudyRequest, results: Results, graph: str) -> list[ExtraTable]:
    """Reproduce sections 5.4.2 and 5.5.2: thresholds, modality, complexity, and its correlation with accuracy."""
    if request.wants("dataset", IRIS):
        data, scaling = editing.dataset_of(IRIS, request.data_dir, request.offline)
        _iris(taxonomy_of(data, scaling, graph), results)
    rows, numbers = [], []
    for name in _eureka_sets(request):
        if (key := editing.score_key(name, CLASSIFIED, "accuracy_percent")) not in results.scores:
            continue  # its step failed
        data, scaling = editing.dataset_of(name, request.data_dir, request.offline)
        tree = taxonomy_of(data, scaling, graph)
        complexity, size = measures.classification_complexity(tree), measures.mean_cluster_size(tree)
        accuracy = fmean(results.scores[key])
        numbers.append((complexity, size, accuracy))
        share = sum(s.size for s in measures.subclasses(tree, 1.0, SIGMA)) / tree.n
        modes = {theta: measures.modality(tree, theta, SIGMA) for theta in (1.0, 0.9)}
        shown = [" ".join(f"{c}:{m}" for c, m in zip(data.classes, modes[t], strict=True)) for t in (1.0, 0.9)]
        rows.append((name, f"{complexity:.3f}", f"{size:.2f}", f"{accuracy:.2f}", f"{100 * share:.1f}", *shown))
        _of_set(name, results, modes, share, size)
        request.say(f"taxonomy: {name}, graph {graph}, complexity {complexity:.3f}, mean accuracy {accuracy:.1f}")
    if len(numbers) > 2:
        _correlations(results, np.array(numbers))
    header = ("data set", "complexity", "rows a pure cluster", "mean accuracy", "% in subclasses")
    caption = (
        f"EUREKA on UCI sets, subclasses of {SIGMA} rows or more; accuracy is the mean of {', '.join(CLASSIFIERS)}"
    )
    return [ExtraTable("complexity", caption, (*header, "modes at purity 1", "modes at 0.9"), tuple(rows))]


def _correlations(results: Results, numbers: NDArray[np.float64]) -> None:
    """Add correlations with accuracy. numbers : complexity, rows per pure cluster and mean accuracy of each set"""
    complexity, size, accuracy = numbers.T
    by_complexity, by_size = (float(np.corrcoef(of, accuracy)[0, 1]) for of in (complexity, size))
    if len(numbers) == len(EIGHT):
        for value, x in ((by_complexity, "classification complexity"), (by_size, "mean size of pure clusters")):
            results.add(round(value, 2), "eight_uci_sets", "EUREKA", "correlation", x=x)
    finding = f"correlation of complexity and mean accuracy, {len(numbers)} sets"
    results.finds(finding, "-0.94", f"{by_complexity:.2f}", by_complexity < -0.5)
    finding = f"correlation of pure cluster size and mean accuracy, {len(numbers)} sets"
    results.finds(finding, "-0.97 printed, positive by the argument", f"{by_size:.2f}", by_size > 0.5)


def _iris(tree: Taxonomy, results: Results) -> None:
    """Add the results of section 5.4.2 and figure 5.4."""
    method = "STAXAC+EUREKA"
    thresholds = measures.purity_thresholds(tree)
    for i, threshold in enumerate(thresholds):
        results.add(round(threshold, 3), IRIS, method, "purity_threshold", clustering=i)
    results.add(len(thresholds), IRIS, method, "n_clusterings")
    for theta in (1, 0.333):
        results.add(len(measures.extract_clusters(tree, theta)), IRIS, method, "n_clusters", theta=theta)
    for rank, subclass in enumerate(measures.subclasses(tree, 1.0, 10), 1):
        results.add(subclass.size, IRIS, method, "subclass_size", theta=1, rank=rank)


def _of_set(name: str, results: Results, modes: Mapping[float, NDArray[np.int64]], share: float, size: float) -> None:
    """Add the claims of section 5.5.2 on single sets."""
    if name == "breast_cancer_wisconsin":
        at_90, at_1 = modes[0.9].sum(), modes[1.0].sum()
        results.add(at_90, name, "EUREKA", "n_subclasses", theta="0.90")
        results.add(modes[1.0][1], name, "EUREKA", "n_subclasses_class_M", theta=1)  # benign, malignant
        finding = f"{name}: more subclasses at purity 1 than at 0.9"
        results.finds(finding, "2 at 0.9, more at 1", f"{at_90} at 0.9, {at_1} at 1", bool(at_1 > at_90))
    if name in ("house_votes_complete", "bupa"):
        results.add(100 * share, name, "EUREKA", "examples_in_subclasses_percent", theta=1)
    if name == "pima":
        holds = (modes[1.0] > 0).tolist() == [True, False]
        finding = "pima: subclasses of one class only at purity 1"
        results.finds(finding, "class 0 only", " and ".join(map(str, modes[1.0])), holds)
    published_size, holds = {
        "breast_cancer_wisconsin": ("above 15", size > 15),
        "house_votes_complete": ("above 15", size > 15),
        "image_segmentation": ("about 10", 8 <= size <= 12),
    }.get(name, ("below 5", size < 5))
    results.finds(f"{name}: rows a pure cluster", published_size, f"{size:.1f}", holds)


def _eureka_sets(request: StudyRequest) -> list[str]:
    return [name for name in (QUICK_SETS if request.profile == "quick" else EIGHT) if editing.wants(request, name)]


def _accuracy_calls(request: StudyRequest) -> Iterator[Call]:
    for name in _eureka_sets(request):
        data, _ = editing.dataset_of(name, request.data_dir, request.offline)
        job = step("taxonomy", name, CLASSIFIED, 0, request.seed, data.digest, CLASSIFIERS)
        yield job, accuracy_step, (data,)


@measuring
def accuracy_step(job: Job, data: Dataset) -> dict[str, float]:
    """Return mean accuracy in percent of CLASSIFIERS over one stratified 10-fold cross-validation."""
    mean = fmean(value for values in accuracies(data, job.seed).values() for value in values)
    return editing.as_measures({editing.score_key(data.name, CLASSIFIED, "accuracy_percent"): [mean]})


def accuracies(data: Dataset, seed: int) -> dict[str, list[float]]:
    """Return the accuracy in percent of each of CLASSIFIERS in each fold of a stratified 10-fold cross-validation."""
    folds = StratifiedKFold(10, shuffle=True, random_state=seeds.integer(seed, "taxonomy", data.name, "folds"))
    accuracies: dict[str, list[float]] = {name: [] for name in CLASSIFIERS}
    for i, (train, test) in enumerate(folds.split(data.X, data.y)):
        for name, values in accuracies.items():
            model = make(name, random_state=seeds.integer(seed, data.name, name, i))
            values.append(100.0 * model.fit(data.X[train], data.y[train]).score(data.X[test], data.y[test]))
    return accuracies


# ---- readings of algorithm 1 -----------------------------------------------------------------------------------------

# Algorithm 1 by its words, where a cluster inherits the neighbors of both its parts, and by its step 2, literally.
TRIED = ("nearest", "renewed")

# Parts of chapter 5 whose tables depend on the reading of algorithm 1: name, tables, function that adds results.
Section = tuple[str, tuple[str, ...], Callable[[StudyRequest, Results, str], list[ExtraTable]]]
SECTIONS: tuple[Section, ...] = (("sequences", ("5.3", "5.4"), _labeled), ("eureka", ("5",), _eureka))


def _by_claims(request: StudyRequest, section: Section, results: Results, notes: dict[Key, str]) -> list[ExtraTable]:
    """Run a section under both readings, retain the results of the one that meets more claims, and show both."""
    name, references, run = section
    accuracies = {key: values for key, values in results.scores.items() if key[1] == CLASSIFIED}
    results_by = {graph: Results(dict(accuracies)) for graph in TRIED}
    tables = {graph: run(request, mine, graph) for graph, mine in results_by.items()}
    claims = {graph: [holds for *_, holds in mine.findings] for graph, mine in results_by.items()}
    chosen = of_claims(claims)
    results.scores |= results_by[chosen].scores
    results.findings += results_by[chosen].findings
    if not any(claims.values()):
        return tables[chosen]
    counts = (f"{graph} meets {met(answers)} of {len(answers)} claims" for graph, answers in claims.items())
    note = f"graph {chosen}: {', '.join(counts)}"
    notes |= dict.fromkeys((key for key in results_by[chosen].scores if "NJ" not in key[1]), note)
    by_key: dict[tuple[str, ...], list[Cell]] = {}
    for mine in results_by.values():
        for table in references:
            for cell in _cells(request, f"{SOURCE}:{table}", mine.scores, {}):
                by_key.setdefault(cell.key, []).append(cell)
    rows = tuple(
        (*key, f"{both[0].published:g}", *(f"{_plain(cell)} ({cell.verdict})" for cell in both))
        for key, both in by_key.items()
        if any(cell.ours is not None for cell in both)
    )
    last = ("claims met", "", "", "", "", f"{len(claims[chosen])}", *(str(met(claims[graph])) for graph in TRIED))
    header = ("table", "data set", "method", "metric", "which", "published", *TRIED)
    caption = f"Section on {name} by both readings of algorithm 1; {chosen} is taken"
    return [*tables[chosen], ExtraTable(f"by_graph_{name}", caption, header, (*rows, last), left=5)]


def _plain(cell: Cell) -> str:
    return "-" if cell.ours is None else f"{cell.ours:.3g}" + (f" ± {cell.ours_sd:.2g}" if cell.ours_sd else "")
