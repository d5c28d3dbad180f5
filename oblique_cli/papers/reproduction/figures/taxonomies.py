"""Supervised taxonomies: purity by depth, subclasses, and classification complexity (Amalaman 2015, section 5.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from oblique_cli import data
from oblique_cli.drawing import partition
from oblique_cli.drawing.canvas import blank, color, marker
from oblique_cli.drawing.polygons import surroundings
from oblique_cli.ground import seeds
from oblique_cli.ground.arrays import Array
from oblique_cli.papers.hierarchy import measures
from oblique_cli.papers.hierarchy.hierarchies import Taxonomy, avalanche
from oblique_cli.papers.hierarchy.sequences import descendants, jukes_cantor, random_sequences
from oblique_cli.papers.reproduction.figures.illustrations import FigureSetting, Picture, illustration
from oblique_cli.papers.reproduction.studies import taxonomy as study
from oblique_cli.papers.reproduction.studies.editing import dataset_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from oblique_cli.data.dataset import Dataset

SEED = 20260101
GROUPS = (43, 19, 8)  # clusters of the first two splits of the set AV, in section 4.4.3
MOST_NAMED = 12  # bars with readable classes below them
# Sets of two classes and two features, and whether their classes are permuted.
ARTIFICIAL = (
    ("two_bands", False),
    ("overlapping_clusters", True),
    ("two_bands", True),
    ("bent_class", False),
    ("sine_2d", False),
    ("checkerboard_2x2", False),
)


@illustration
def avalanche_splits(setting: FigureSetting) -> Picture:
    """Draw the distance between the sides of each split, the tree, and the number of clusters of each size."""
    tree = avalanche(jukes_cantor(grouped_sequences()))
    joins = tree.sizes[tree.n :]
    figure, axes = blank(1, 3, width=2.6, height=2.6)
    axes[0].plot(joins, tree.heights, color=color(0), marker="o", ms=3, linestyle="none")
    axes[0].set_xlabel("objects of the divided cluster")
    axes[0].set_ylabel("mean distance between its sides")
    places = np.zeros(tree.n_nodes)
    places[tree.order] = np.arange(tree.n)
    heights = np.concatenate([np.zeros(tree.n), tree.raised])
    for join, (a, b) in enumerate(tree.children.tolist(), tree.n):
        places[join] = (places[a] + places[b]) / 2
        top = heights[join]
        axes[1].plot(places[[a, a, b, b]], [heights[a], top, top, heights[b]], color="black", linewidth=0.6)
    axes[1].set_ylabel("distance")
    axes[1].set_xticks([])
    sizes, counts = np.unique(tree.sizes, return_counts=True)
    axes[2].bar(range(len(sizes)), counts, color=color(0))
    axes[2].set_xticks(range(len(sizes)), sizes, rotation=90, fontsize=5)
    axes[2].set_xlabel("objects")
    axes[2].set_ylabel("clusters")
    largest = np.argsort(-joins, kind="stable")[:3]
    splits = (f"{joins[k]} into {' and '.join(map(str, sorted(tree.sizes[tree.children[k]])))}" for k in largest)
    listed = ", ".join(f"{split} at {tree.heights[k]:.2f}" for split, k in zip(splits, largest, strict=True))
    small = tree.heights[joins <= min(GROUPS)].max()
    return Picture(
        figure,
        f"{listed}; clusters of {min(GROUPS)} or fewer are divided at {small:.2f} or less. {tree.n_nodes} clusters.",
    )


def grouped_sequences(seed: int = SEED) -> NDArray[np.int8]:
    """Return 70 sequences of 1000 sites in groups of 43, 19 and 8; the last two have an ancestor in common."""
    rng = seeds.generator(seed, "avalanche_splits")
    root = random_sequences(1, rng, 1000)[0]
    large, ancestor = descendants(root, 0.15, 2, rng)
    parents = (large, *descendants(ancestor, 0.1, 2, rng))
    return np.vstack([descendants(parent, 0.05, n, rng) for parent, n in zip(parents, GROUPS, strict=True)])


@illustration
def purity_by_depth(setting: FigureSetting) -> Picture:
    """Draw mean purity above, the share of 2^d nodes below, at all depths; one column per draw of sequences."""
    figure, axes = blank(2, len(study.LABELLED_SETS), width=3.4, height=2.0)
    seen = []
    for column, name in enumerate(study.LABELLED_SETS):
        purities, below = depths_of(name), column + len(study.LABELLED_SETS)
        for code, (method, purity) in enumerate(purities.items()):
            at = np.arange(len(purity.purity))
            for place, values in ((column, purity.purity), (below, purity.share)):
                axes[place].plot(at, 100.0 * values, color=color(code), marker=marker(code), ms=3, label=method)
        axes[column].set_title(name)
        axes[column].set_ylabel("mean purity, %")
        axes[below].set_ylabel("nodes, % of 2^depth")
        axes[below].set_xlabel("depth")
        pure = ", ".join(f"{method} {first_depth(purity.purity, 0.95)}" for method, purity in purities.items())
        deepest = ", ".join(f"{method} {len(purity.purity) - 1}" for method, purity in purities.items())
        seen.append(f"{name}: from which depth on the mean purity is at least 95 %: {pure}; deepest: {deepest}")
    axes[0].legend(frameon=False)
    return Picture(figure, ". ".join(seen) + ".")


def depths_of(name: str, draw: int = 0) -> dict[str, measures.PurityPerDepth]:
    """Return purity by depth of both trees of a draw of labeled sequences, as drawn in the study of the chapter."""
    (sequences,) = study.drawn(SEED, name, [draw])
    return {method: measures.purity_per_depth(tree) for method, tree in study.both_taxonomies(*sequences).items()}


def first_depth(purity: Array, least: float) -> int:
    """Return the depth from which on the mean purity is never below `least`."""
    below = np.flatnonzero(purity < least)
    return int(below[-1]) + 1 if len(below) else 0


@illustration
def subclass_modality(setting: FigureSetting) -> Picture:
    """Draw a bar per subclass of at least 15 rows, in the color of its class; purity 1 above, 0.9 below."""
    figure, axes = blank(2, len(study.EIGHT), width=1.35, height=1.6)
    seen = []
    for column, (name, dataset, taxonomy) in enumerate(_taxonomies(study.EIGHT, setting)):
        counts = []
        for row, threshold in enumerate((1.0, 0.9)):
            panel = axes[column + row * len(study.EIGHT)]
            subclasses = measures.subclasses(taxonomy, threshold, study.SIGMA)
            panel.bar(range(len(subclasses)), [s.size for s in subclasses], color=[color(s.label) for s in subclasses])
            named = [dataset.classes[s.label][:6] for s in subclasses] if len(subclasses) <= MOST_NAMED else []
            panel.set_xticks(range(len(named)), named, rotation=90, fontsize=5)
            panel.set_title(f"{short(name)}, {threshold:g}", fontsize=6)
            panel.tick_params(labelsize=5)
            counts.append(str(len(subclasses)))
        seen.append(f"{short(name)} {' and '.join(counts)}")
    return Picture(figure, f"subclasses at purity 1 and at 0.9: {', '.join(seen)}.")


def _taxonomies(names: Sequence[str], setting: FigureSetting) -> list[tuple[str, Dataset, Taxonomy]]:
    taxonomies = []
    for name in names:
        dataset, scaling = dataset_of(name, setting.data_dir, setting.offline)
        taxonomies.append((name, dataset, study.taxonomy_of(dataset, scaling)))
    return taxonomies


def short(name: str) -> str:
    """Return the dissertation's code of one of its sets."""
    return CODES.get(name, name)


CODES = dict(
    zip((*study.EIGHT, study.IRIS), ("Vot", "Bld", "Hea", "Bos", "Bcw", "Pid", "Veh", "Seg", "Irs"), strict=True)
)


@illustration
def complexity_and_accuracy(setting: FigureSetting) -> Picture:
    """Draw accuracies and complexity by set; complexity against mean accuracy; complexity and rows per pure cluster."""
    figure, axes = blank(1, 3)
    results: list[tuple[float, str, list[float], float]] = []
    for name, dataset, taxonomy in _taxonomies(study.EIGHT, setting):
        right = study.accuracies(dataset, SEED)
        of_each = [float(np.mean(right[method])) for method in study.CLASSIFIERS]
        results.append(
            (measures.classification_complexity(taxonomy), name, of_each, measures.mean_cluster_size(taxonomy))
        )
    results.sort()
    complexity = np.array([each[0] for each in results])
    means = np.array([each[2] for each in results])
    sizes = np.array([each[3] for each in results])
    at = np.arange(len(results))
    for code, method in enumerate(study.CLASSIFIERS):
        axes[0].plot(at, means[:, code], color=color(code), marker=marker(code), ms=3, linestyle="none", label=method)
    for place, value in zip(at, complexity, strict=True):
        axes[0].annotate(f"{value:.2f}", (place, means.max() + 3), ha="center", fontsize=5,
                         bbox={"boxstyle": "circle", "facecolor": "white", "linewidth": 0.5})  # fmt: skip
    axes[0].set_ylim(means.min() - 4, means.max() + 8)
    axes[0].set_ylabel("accuracy, %; complexity in circles")
    axes[0].legend(frameon=False, fontsize=5)
    axes[1].plot(complexity, means.mean(axis=1), color=color(0), marker="o", ms=4, linestyle="none")
    axes[1].set_xlabel("complexity")
    axes[1].set_ylabel("mean accuracy, %")
    axes[2].plot(at, 100.0 * complexity, color=color(0), marker=marker(0), ms=3, label="100 x complexity")
    axes[2].plot(at, sizes, color=color(1), marker=marker(1), ms=3, label="rows a pure cluster")
    axes[2].legend(frameon=False, fontsize=6)
    for panel in (axes[0], axes[2]):
        panel.set_xticks(at, [short(each[1]) for each in results])
    for value, mean, each in zip(complexity, means.mean(axis=1), results, strict=True):
        axes[1].annotate(short(each[1]), (value, mean), textcoords="offset points", xytext=(3, 3), fontsize=6)
    listed = ", ".join(f"{short(each[1])} {each[0]:.3f} and {each[3]:.1f}" for each in results)
    r = np.corrcoef(complexity, means.mean(axis=1))[0, 1]
    of_size = np.corrcoef(sizes, means.mean(axis=1))[0, 1]
    return Picture(
        figure,
        f"the correlation of complexity and mean accuracy is {r:.2f}, that of rows a pure cluster and mean accuracy "
        f"{of_size:.2f}. Complexity and rows a pure cluster: {listed}.",
    )


@illustration
def pure_clusters(setting: FigureSetting) -> Picture:
    """Draw a row per set: sizes in the colors of classes; the share of rows outside the k largest, with its mean."""
    names = (*study.EIGHT, study.IRIS)
    figure, axes = blank(len(names), 2, width=2.8, height=0.8)
    shares = []
    for row, (name, dataset, taxonomy) in enumerate(_taxonomies(names, setting)):
        outside = shares_outside(taxonomy)
        _clusters(axes[2 * row], taxonomy, short(name))
        ranks = np.arange(len(dataset.classes), len(dataset.classes) + len(outside))
        axes[2 * row + 1].fill_between(ranks, outside, 1.0, step="mid", color="0.6", linewidth=0.0, rasterized=True)
        axes[2 * row + 1].set_ylim(0.0, 1.0)
        shares.append((float(outside.mean()), short(name)))
    axes[0].set_title("rows of each pure cluster")
    axes[1].set_title("white: share of rows outside the k largest")
    listed = ", ".join(f"{name} {value:.3f}" for value, name in sorted(shares))
    return Picture(figure, f"white share of the rectangle, which is the complexity: {listed}.")


def shares_outside(taxonomy: Taxonomy) -> Array:
    """Return the share of objects outside the k largest pure clusters, for k from the number of classes up."""
    sizes = taxonomy.tree.sizes[measures.extract_clusters(taxonomy, 1.0)]
    return np.asarray(1.0 - np.cumsum(sizes)[taxonomy.n_classes - 1 :] / taxonomy.n)


def _clusters(axes: Axes, taxonomy: Taxonomy, name: str) -> None:
    """Draw the sizes of the pure clusters from the c-th largest on, by class."""
    nodes = measures.extract_clusters(taxonomy, 1.0)[taxonomy.n_classes - 1 :]
    sizes, labels = taxonomy.tree.sizes[nodes], taxonomy.majority[nodes]
    at = np.arange(taxonomy.n_classes, taxonomy.n_classes + len(nodes))
    for code in np.unique(labels):
        mine = labels == code
        axes.vlines(at[mine], 0.0, sizes[mine], color=color(int(code)), linewidth=0.8, rasterized=True)
    axes.set_ylabel(name)
    axes.set_ylim(0.0)


@illustration
def complexity_of_artificial_sets(setting: FigureSetting) -> Picture:
    """Draw six sets with their complexity; in b and c the classes are permuted at random."""
    figure, axes = blank(2, 3, width=2.3, height=2.3)
    seen = []
    for panel, letter, (name, dealt) in zip(axes, "abcdef", ARTIFICIAL, strict=True):
        dataset = artificial(name, dealt, setting)
        taxonomy = study.taxonomy_of(dataset, "zscore")
        complexity = measures.classification_complexity(taxonomy)
        partition.frame(panel, surroundings(dataset.X), f"{letter}: {complexity:.2f}")
        partition.points(panel, dataset.X, dataset.y, size=4.0 if dataset.n < 500 else 1.0)
        clusters = measures.extract_clusters(taxonomy, 1.0)
        share = taxonomy.tree.sizes[clusters[:4]].sum() / taxonomy.n
        seen.append(
            f"{letter} ({name}{', classes dealt out anew' if dealt else ''}): {complexity:.2f}, {len(clusters)} pure "
            f"clusters, the four largest with {100 * share:.0f} % of the rows"
        )
    return Picture(figure, "; ".join(seen) + ".")


def artificial(name: str, dealt: bool, setting: FigureSetting) -> Dataset:
    """Return a set of `ARTIFICIAL`; its classes are permuted among the rows if `dealt`."""
    dataset = data.load(name, setting.data_dir, setting.offline)
    if not dealt:
        return dataset
    return replace(dataset, y=seeds.generator(SEED, "dealt", name).permutation(dataset.y))
