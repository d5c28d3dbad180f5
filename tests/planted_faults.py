"""Faults that the quick tests must notice: each is a line of the package that is changed in a copy.

    python tests/planted_faults.py              plant each, run the quick tests that it names, and print who noticed it
    python tests/planted_faults.py 3 17         these only
    python tests/planted_faults.py --whole 3    with all quick tests in place of the named ones

A fault is found by its text, wherever that lies, so that moved code stays planted. Those of the core are built into one
module, which is told by the environment which of them it has.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

from checkout_support import Checkout
from cli_support import environment
from core_support import CORE, built

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "oblique_cli"
NOTICED = 1  # how pytest ends where a test fails
NATIVE = (".cpp", ".hpp")


class Fault(NamedTuple):
    """text: what stands once in the package; wrong: what takes its place; breaks: in words; tests: files or folders.

    In C++ both are expressions, or both are statements with their semicolons.
    """

    text: str
    wrong: str
    breaks: str
    tests: str


FAULTS = [
    # growing and stopping
    Fault(
        "total <= self.min_parent or",
        "total < self.min_parent or",
        "a node of min_parent rows is split",
        "test_stopping.py",
    ),
    Fault(
        ") / total <= self.epsilon",
        ") / total < self.epsilon",
        "a node at the limit is split",
        "test_stopping.py",
    ),
    Fault(
        "depth >= self.max_depth:\n            return True",
        "depth > self.max_depth:\n            return True",
        "trees are one level deeper",
        "test_stopping.py",
    ),
    Fault(
        "np.argmax(self.counts, axis=1)",
        "np.argmin(self.counts, axis=1)",
        "the rarest class is the label",
        "test_structure.py",
    ),
    Fault(
        "weights[self.left] >= weights[self.right]",
        "weights[self.left] < weights[self.right]",
        "gaps go to the lighter side",
        "test_missing_values.py",
    ),
    # pruning
    Fault(
        "self.node_alpha <= self.alphas[k]",
        "self.node_alpha < self.alphas[k]",
        "a member of the path is the one before",
        "test_pruning.py",
    ),
    Fault(
        "means <= means[best] + standard_errors * error_of_mean",
        "means <= means[best]",
        "no rule of standard errors",
        "test_pruning_numbers.py regression",
    ),
    Fault(
        "errors + 0.5 <= corrected + deviation + 1e-12",
        "errors <= corrected - deviation",
        "pessimistic pruning cuts too little",
        "test_pruning.py test_pruning_rules.py",
    ),
    Fault(
        "as_leaf[node] <= below + tie",
        "as_leaf[node] < below - tie",
        "ties are not pruned",
        "test_pruning.py test_pruning_rules.py",
    ),
    Fault(
        "np.flatnonzero(means <= means.min())[-1]",
        "np.flatnonzero(means <= means.min())[0]",
        "of equal trees the larger one",
        "test_pruning_numbers.py regression",
    ),
    # splitting and proposers
    Fault(
        "further = np.count_nonzero(split.coef) - 1",
        "further = np.count_nonzero(split.coef)",
        "a term too many costs",
        "test_finish.py",
    ),
    Fault("<= (TIE * g) ** 2", "<= 1.0", "QUEST cuts in the middle", "test_quest.py"),
    Fault("if discriminant < 0.0:", "if discriminant < 1e9:", "QUEST takes no root", "test_quest.py"),
    Fault(
        "for _ in range(100):\n        distances =",
        "for _ in range(1):\n        distances =",
        "2-means stops after a step",
        "test_quest.py",
    ),
    Fault(
        "-v if component * sign < 0 else v",
        "v if component * sign < 0 else -v",
        "signs of eigenvectors",
        "test_geometry.py",
    ),
    Fault(
        "float(np.linalg.norm(e - d)) <= tau",
        "float(np.linalg.norm(e - d)) > tau",
        "reflections where none are needed",
        "test_geometry.py",
    ),
    Fault(
        "return p > 100 and n + 1 < p",
        "return p > 100 and n - 1 < p",
        "rows that fill their span count as few",
        "test_geometry.py",
    ),
    # merging
    Fault(
        "if other < node and classes[other] != classes[node]",
        "if other < node",
        "clusters of one class are merged",
        "test_merging.py",
    ),
    # estimators
    Fault(
        "votes.argmax(axis=1) == codes)[seen]",
        "votes.argmax(axis=1) == codes)",
        "rows that no tree left out are scored",
        "test_forests.py test_bagged.py",
    ),
    Fault(
        "above = number > self.low if self.open_low",
        "above = number >= self.low if self.open_low",
        "an open end is closed",
        "test_constraints.py",
    ),
    # schemes and seeds
    Fault("generate_state(1)[0] & 0x7FFFFFFF", "generate_state(1)[0] & 0x3FFFFFFF", "other seeds", "test_seeds.py"),
    Fault(
        "times[fold.test].max() > 1",
        "times[fold.test].max() > 2",
        "a row is tested twice",
        "test_folds.py test_scheme.py",
    ),
    Fault("return 1 / (cv.folds - 1)", "return 1 / cv.folds", "test over train is wrong", "test_folds.py"),
    Fault(
        "np.flatnonzero(part_of[member] == part)",
        "np.flatnonzero(part_of[member] != part)",
        "groups in all parts",
        "test_group.py",
    ),
    Fault("rows[index : index + 1]", "rows[index : index + 2]", "two rows are left out", "test_folds.py"),
    Fault(
        "OUT_OF_BAG = Fraction(632, 1000)",
        "OUT_OF_BAG = Fraction(368, 1000)",
        "the weights of .632",
        "test_bootstrap.py",
    ),
    # evaluation
    Fault(
        "sqrt((1 / len(d) + test_over_train) * variance)",
        "sqrt((1 / len(d)) * variance)",
        "no correction of the resampled t",
        "evaluation",
    ),
    Fault("ceil(n / 2 + 1.96 * sqrt(n) / 2)", "ceil(n / 2)", "the sign test", "evaluation"),
    Fault("round(2 * min(plus, minus)) + 1", "round(2 * min(plus, minus))", "Wilcoxon's tail", "evaluation"),
    Fault(
        "np.ceil(confidence * ECE_BINS).astype(np.intp) - 1",
        "np.floor(confidence * ECE_BINS).astype(np.intp) - 1",
        "bins of calibration",
        "test_metrics.py",
    ),
    Fault(
        "return FIRST if gap > 0 else SECOND",
        "return SECOND if gap > 0 else FIRST",
        "the worse one wins",
        "test_comparing.py",
    ),
    Fault(
        "return 1.0 - error / variance if variance > 0",
        "return error / variance if variance > 0",
        "R2",
        "test_metrics.py",
    ),
    # data
    Fault(
        "if header.index(name) < i - 1",
        "if header.index(name) < i - 2",
        "a name that is there twice",
        "test_text_table.py",
    ),
    Fault("np.flatnonzero(ids < n_train)", "np.flatnonzero(ids <= n_train)", "a test row is learned from", "data"),
    # models and exporting
    Fault(
        "goes_left = not total > threshold if missing_left",
        "goes_left = total > threshold if missing_left",
        "gaps in exported Python",
        "exporting",
    ),
    Fault("return len(self._nodes) - 1", "return len(self._nodes)", "numbers of nodes", "test_structure.py"),
    Fault("newer = type(version) is int and version > VERSION", "newer = False", "a file of a later version", "models"),
    # experiments and commands
    Fault(
        "rate = (len(self._recent) - 1) / span",
        "rate = len(self._recent) / span",
        "the time that is left",
        "test_progress.py",
    ),
    Fault(
        "if not str(value).isdecimal() or int(value) < 1",
        "if not str(value).isdecimal()",
        "no processor is asked for",
        "cli/test_messages.py",
    ),
    # trees of the other papers
    Fault(
        "possible = allowed & (big >= 2)",
        "possible = allowed & (big >= 1)",
        "C4.5 splits off small branches",
        "discrete",
    ),
    Fault("if errors + 0.5 >= total:", "if errors >= total:", "C4.5's added errors", "test_orthogonal.py"),
    Fault("useful = taxonomy.purity[joins] >=", "useful = taxonomy.purity[joins] <", "joins that purify", "hierarchy"),
    # the core
    Fault(
        "(v - base(t)) / (t.n * 0.6931471805599453)",
        "(base(t) - v) / (t.n * 0.6931471805599453)",
        "the sign of the entropy's gain",
        "test_split_search.py",
    ),
    Fault(
        "bins.stand_at(table, b);",
        "bins.stand_at(table, b + 1);",
        "the scan of a bin starts at its other edge",
        "test_split_search.py",
    ),
    Fault(
        "if (z[i] <= threshold) l += weight(i);",
        "if (z[i] <= threshold) l += 1.0;",
        "a fixed cut drops the weights",
        "test_split_search.py proposers/test_quest.py",
    ),
    Fault("c.threshold < threshold", "c.threshold > threshold", "of tied cuts the last", "test_split_search.py"),
    Fault(
        "!(std::min(s, totals_.n - s) < least - 1e-12 * totals_.n)",
        "!(s < least - 1e-12 * totals_.n)",
        "min_leaf looks at the left side only",
        "test_split_search.py test_stopping.py",
    ),
    Fault(
        "middle >= low && middle < high ? middle : low",
        "middle >= low && middle < high ? low : low",
        "a threshold at the edge of its gap",
        "test_split_search.py",
    ),
    Fault(
        "std::fill(search_.left.begin(), search_.left.end(), 0.0);",
        "(void)search_;",
        "counts of the direction before",
        "test_split_search.py",
    ),
    Fault(
        "right_squares_ -= w * (2.0 * (totals_[k] - l) - w);",
        "right_squares_ -= w * (2.0 * (totals_[k] - l) + w);",
        "squares on the right of a forest's cut",
        "test_forests.py",
    ),
    Fault(
        "held.amount > min_parent", "held.amount >= min_parent", "compiled nodes of min_parent rows", "test_stopping.py"
    ),
    Fault(
        "return missing_left[node];",
        "return !missing_left[node];",
        "rows with gaps go to the other side",
        "test_missing_values.py",
    ),
    Fault(
        "here.leaves = a.leaves + b.leaves;",
        "here.leaves = a.leaves + b.leaves + 1;",
        "a branch has a leaf too many",
        "test_pruning.py",
    ),
    Fault(
        "out.counts[code]",
        "out.counts[out.counts.size() - 1 - code]",
        "classes in the other order",
        "test_growing.py test_engines.py",
    ),
]


# Comes before everything that the compiler reads.
SWITCH = """#pragma once
#include <cstdlib>
inline bool planted(int fault) {
  static const int chosen = std::getenv("OBLIQUE_FAULT") ? std::atoi(std::getenv("OBLIQUE_FAULT")) : -1;
  return chosen == fault;
}
"""


@cache
def sources() -> dict[Path, str]:
    """The files of the package that a fault may be in, and their text."""
    suffixes = (".py", ".txt", ".mjs", ".c", *NATIVE)
    files = (path for path in sorted(PACKAGE.rglob("*.*")) if path.suffix in suffixes)
    return {path: path.read_text(encoding="utf-8") for path in files}


def places(text: str) -> list[Path]:
    """The files of the package that hold a text, one for each time."""
    return [path for path, whole in sources().items() for _ in range(whole.count(text))]


def guards_of(fault: Fault) -> list[str]:
    """The files and folders that a fault names, wherever below tests/ they lie."""
    return [str(path) for name in fault.tests.split() for path in sorted(TESTS.rglob(name))]


def is_native(fault: Fault) -> bool:
    """Whether a fault is one of the core."""
    return places(fault.text)[0].suffix in NATIVE


def switched(number: int, fault: Fault) -> str:
    """C++ that is wrong where the fault of this number is chosen."""
    if fault.text.endswith(";"):
        return f"{{ if (planted({number})) {{ {fault.wrong} }} else {{ {fault.text} }} }}"
    return f"(planted({number}) ? ({fault.wrong}) : ({fault.text}))"


def core_with(faults: dict[int, Fault], folder: Path) -> Path:
    """Build the core with these faults, by their numbers, none of which is chosen."""
    shutil.copytree(CORE, folder / "core")
    (folder / "planted.hpp").write_text(SWITCH, encoding="utf-8")
    for number, fault in faults.items():
        file = folder / "core" / places(fault.text)[0].relative_to(CORE)
        text = file.read_text(encoding="utf-8").replace(fault.text, switched(number, fault))
        file.write_text(text, encoding="utf-8")
    return built(folder / "core", folder / "build", CMAKE_CXX_FLAGS=f"-include {folder / 'planted.hpp'}")


def noticed_by(
    tests: list[str], folder: Path, fault: Fault | None = None, core: Path | None = None, chosen: int = -1
) -> str | None:
    """The first quick test of these that fails in a copy of the project with a fault, if one does.

    tests : below the project, none for all; core : takes the place of the package's own; chosen : its fault
    """
    copy = Checkout(folder)
    if core:
        shutil.copy(core, next((copy.folder / "oblique_cli").glob("_core*.so")))
    elif fault:
        file = copy.folder / "oblique_cli" / places(fault.text)[0].relative_to(PACKAGE)
        file.write_text(file.read_text(encoding="utf-8").replace(fault.text, fault.wrong), encoding="utf-8")
    for name in ("tests", "docs", "README.md", "tools", "results"):
        (copy.folder / name).symlink_to(TESTS.parent / name)
    options = ["-x", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-m", "not long"]
    env = {
        **environment(copy.folder),
        "PYTHONPATH": str(copy.folder),
        "OBLIQUE_FAULT": str(chosen),
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "pytest", *options, *tests]
    done = subprocess.run(command, cwd=copy.folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode in (0, NOTICED), done.stdout[-2000:] + done.stderr[-2000:]
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", done.stdout, re.MULTILINE)
    assert (failed is None) == (done.returncode == 0), done.stdout[-2000:]
    return failed.group(1) if failed else None


def main() -> int:
    """Plant the faults that are asked for; the exit code is the number of those that nothing noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("numbers", type=int, nargs="*")
    parser.add_argument("--whole", action="store_true")
    asked = parser.parse_args()
    chosen = {number: FAULTS[number] for number in asked.numbers or range(len(FAULTS))}
    native = {number: fault for number, fault in chosen.items() if is_native(fault)}
    noticing = {}
    with tempfile.TemporaryDirectory() as place:
        core = core_with(native, Path(place)) if native else None
        for number, fault in chosen.items():
            guards = [] if asked.whole else [str(Path(test).relative_to(TESTS.parent)) for test in guards_of(fault)]
            own = core if number in native else None
            with tempfile.TemporaryDirectory() as folder:
                test = noticed_by(guards, Path(folder), fault, own, number)
            if test:
                noticing[number] = test
            print(f"{number:3d}  {fault.breaks:48s}  {test or 'SURVIVED'}", flush=True)
        # What fails without a fault has noticed none.
        if noticing:
            with tempfile.TemporaryDirectory() as folder:
                wrong = noticed_by(sorted(set(noticing.values())), Path(folder), core=core)
            assert wrong is None, f"{wrong} fails in a copy without a fault"
    print(f"{len(noticing)} of {len(chosen)} faults were noticed, by tests that pass without them")
    return len(chosen) - len(noticing)


if __name__ == "__main__":
    sys.exit(main())
