"""Path of sizes of a tree: its nested pruned subtrees, with the number of terms and the accuracy of each.

The weakest-link sequence of a full tree, with the cross-validation error of each member (Breiman et al. 1984, section
3.4.2). Pruning "cv" chooses from these members; they are stored for users who choose by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from oblique_cli.errors import ConfigError
from oblique_cli.tree.pruning import LabeledRows, PruningPath, cost_complexity_path, sequence_errors
from oblique_cli.tree.structure import Tree


class Member(NamedTuple):
    """Tree of the sequence.

    alpha : complexity from which on it is the tree of pruning "ccp_alpha"; -inf for the full tree
    n_leaves, n_terms : its size, terms as `Tree.n_terms` counts them
    accuracy : share of the weight that is right in cross-validation, NaN without folds
    standard_error : of the accuracy, for the number of training rows"""

    alpha: float
    n_leaves: int
    n_terms: int
    accuracy: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class SizePath:
    """Members of a sequence, from the full tree to the root alone.
    chosen : number of the pruning rule's member, None if the rule's tree is no member"""

    grown: Tree
    sequence: PruningPath
    members: tuple[Member, ...]
    chosen: int | None

    @classmethod
    def of(cls, grown: Tree, pruned: Tree, folds: Iterable[tuple[Tree, LabeledRows]]) -> SizePath:
        """Return the path of a tree.
        pruned : the tree after the pruning rule; folds : trees, which are cut at the path's `between`, and test rows"""
        sequence = cost_complexity_path(grown)
        wrong, total = np.zeros(len(sequence.alphas)), 0.0
        for tree, left_out in folds:
            wrong += sequence_errors(tree, cost_complexity_path(tree), sequence.between, *left_out)
            total += left_out.total
        rates = wrong / total if total > 0.0 else np.full(len(wrong), np.nan)
        trees = [sequence.member(grown, k) for k in range(len(wrong))]
        # Rows that several repetitions test count once: repetitions add no information on the rate.
        errors = np.sqrt(rates * (1.0 - rates) / (grown.counts[0].sum() or 1.0))
        members = tuple(
            Member(float(alpha), tree.n_leaves, tree.n_terms, float(1.0 - rate), float(error))
            for alpha, tree, rate, error in zip(sequence.alphas, trees, rates, errors, strict=True)
        )
        # Trees that are cut from one tree are equal if their children and rows are.
        same = (np.array_equal(t.left, pruned.left) and np.array_equal(t.n_rows, pruned.n_rows) for t in trees)
        return cls(grown, sequence, members, next((k for k, is_same in enumerate(same) if is_same), None))

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, number: int) -> Member:
        return self.members[number]

    def __iter__(self) -> Iterator[Member]:
        return iter(self.members)

    def tree(self, number: int) -> Tree:
        """Return the tree of a member, counted from 0, or from the end below 0; ConfigError if it does not exist."""
        n = len(self.members)
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or not -n <= number < n:
            raise ConfigError(f"the number of a member of the path must be from 0 to {n - 1}. Got {number!r}.")
        return self.sequence.member(self.grown, int(number) % n)

    def taking(self, number: int) -> SizePath:
        """Return the path with another member chosen."""
        return replace(self, chosen=int(number) % len(self.members))

    def front(self) -> list[int]:
        """Return the members of higher accuracy than every smaller one, from the smallest."""
        indices: list[int] = []
        for k in reversed(range(len(self.members))):
            if not indices or self.members[k].accuracy > self.members[indices[-1]].accuracy:
                indices.append(k)
        return indices

    def to_plain(self) -> dict[str, Any]:
        """Return the table as plain data for JSON; the complexity of the full tree is None."""
        rows = [each._asdict() | {"alpha": each.alpha if np.isfinite(each.alpha) else None} for each in self.members]
        return {"members": rows, "chosen": self.chosen}

    def __str__(self) -> str:
        lines = [f"{'':>4}  {'alpha':>10}  {'leaves':>6}  {'terms':>6}  {'% right':>7}  {'std. error':>10}"]
        for k, member in enumerate(self.members):
            alpha = f"{member.alpha:.4g}" if np.isfinite(member.alpha) else "as grown"
            figures = f"{100 * member.accuracy:>7.1f}  {100 * member.standard_error:>10.1f}"
            mark = "  chosen" if k == self.chosen else ""
            lines.append(f"{k:>4}  {alpha:>10}  {member.n_leaves:>6}  {member.n_terms:>6}  {figures}{mark}")
        return "\n".join(lines)
