"""Accuracy against the misclassification limit epsilon (thesis figures 5.11 to 5.13)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from oblique_cli import config
from oblique_cli.drawing.canvas import blank, color
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.experiments.tuning_curves import Curve, tuning_curves
from oblique_cli.papers.reproduction.figures.illustrations import FigureSetting, Picture, illustration

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Seed of `oblique compare`, whose runs of chapter 5 are in results/: the choices here equal those.
SEED = 20260101
EPSILON = {"from": 0.05, "to": 0.40, "step": 0.01}


def curves(scheme: str, datasets: Sequence[str], setting: FigureSetting, folds: int = 10) -> list[Curve]:
    """Return the curves of GDT and HHGDT by the protocol of section 5.2; `folds`, inner and outer, is ten there."""
    experiment = config.from_mapping(
        {
            "version": 1,
            "seed": SEED,
            "datasets": list(datasets),
            "algorithms": [{"name": name, "epsilon": {"grid": EPSILON}} for name in ("gdt", "hhgdt")],
            "cv": {"scheme": scheme, "repeats": 1, "folds": folds, "tune": {"folds": folds}},
        },
        where="oblique figures",
    )
    return list(tuning_curves(experiment, "epsilon", setting.data_dir, setting.offline))


def panel(axes: Axes, mine: Sequence[Curve], title: str) -> None:
    """Draw curves of one fold; a dot at the highest accuracy, a dashed line down to the chosen value."""
    floor = min(min(curve.accuracy) for curve in mine) - 1.0
    for k, curve in enumerate(mine):
        best = curve.accuracy[curve.values.index(curve.chosen)]
        axes.plot(curve.values, curve.accuracy, color=color(k), linewidth=1.0, label=ALGORITHMS[curve.algorithm].title)
        axes.plot([curve.chosen] * 2, [floor, best], color=color(k), linestyle="--", linewidth=0.8)
        axes.plot([curve.chosen], [best], marker="o", markersize=4.0, color="red", linestyle="none", zorder=3)
    axes.set_ylim(floor, max(max(curve.accuracy) for curve in mine) + 1.0)
    axes.set_title(title)


@illustration
def epsilon_two_stage(setting: FigureSetting) -> Picture:
    """Draw one panel per data set."""
    all_curves = curves("two_stage", ("balance_scale", "bupa"), setting)
    figure, axes = blank(1, 2, width=4.0)
    seen = []
    for place, (name, low, high) in zip(axes, (("balance_scale", 0.05, 0.20), ("bupa", 0.20, 0.30)), strict=True):
        mine = [curve for curve in all_curves if curve.dataset == name]
        panel(place, mine, name)
        place.set_xlabel("epsilon")
        place.set_ylabel("accuracy, %")
        place.legend(frameon=False, loc="lower left")
        for curve in mine:
            inside = [a for e, a in zip(curve.values, curve.accuracy, strict=True) if low <= e <= high]
            seen.append(
                f"{ALGORITHMS[curve.algorithm].title} on {name} from {low:g} to {high:g}: {min(inside):.1f} to "
                f"{max(inside):.1f} %, {curve.chosen:g} chosen ({max(curve.accuracy):.1f} %)"
            )
    return Picture(figure, "; ".join(seen) + ".")


def _by_fold(setting: FigureSetting, name: str) -> Picture:
    """Draw one panel per fold of repetition 1."""
    all_curves = curves("nested", (name,), setting)
    figure, axes = blank(2, 5, width=2.1, height=2.0)
    for fold, place in enumerate(axes):
        panel(place, [curve for curve in all_curves if curve.fold == fold], f"fold {fold + 1}")
    figure.supxlabel("epsilon")
    figure.supylabel("accuracy, %")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=2, frameon=False)
    seen = []
    for curve in all_curves[::10]:
        mine = [c for c in all_curves if c.algorithm == curve.algorithm]
        chosen, best = [c.chosen for c in mine], [max(c.accuracy) for c in mine]
        seen.append(
            f"{ALGORITHMS[curve.algorithm].title} chooses {min(chosen):g} to {max(chosen):g} (mean "
            f"{sum(chosen) / len(chosen):.3f}), with {min(best):.1f} to {max(best):.1f} % right in the inner "
            "cross-validation"
        )
    return Picture(figure, "; ".join(seen) + ".")


NESTED = "Accuracy against epsilon in each fold of nested cross-validation"
illustration(partial(_by_fold, name="balance_scale"), "epsilon_folds_balance_scale")
illustration(partial(_by_fold, name="bupa"), "epsilon_folds_bupa")
