"""Added to a copy of the core: a heuristic and its proposer, the split of a forest and its class, a criterion."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from core_support import CORE, built, missing_tool, run

pytestmark = pytest.mark.long

TESTS = Path(__file__).parent.parent

PROPOSER = '''
import numpy as np

from oblique_cli.ground.constraints import Real
from oblique_cli.ground.geometry import class_covariance, principal_axes
from oblique_cli.proposers._reflection import scaled
from oblique_cli.tree.splitting import PROPOSERS, Candidates, Proposer


@PROPOSERS.register("principal_axes")
class PrincipalAxes(Proposer):
    """The directions along which all rows of a node spread."""

    title = "principal axes"
    source = "an example"
    constraints = {"tolerance": Real(0.0)}
    native = "principal_axes"

    def __init__(self, tolerance=1e-10):
        self.tolerance = tolerance

    def propose(self, node):
        covariance = class_covariance(scaled(node.X), node.weights)
        if covariance is not None:
            yield Candidates.directions(principal_axes(covariance, self.tolerance))

    def native_options(self):
        return {"tolerance": float(self.tolerance)}
'''

# A criterion is its value and its gain. This one: how far apart the shares of one class on both sides are at most.
CRITERION = """struct Distance : CriterionOf<Distance> {
  static constexpr const char* name = "distance";
  static double value(const double* l, double s, const Totals& t) {
    double largest = 0.0;
    for (int k = 0; k < t.n_classes; ++k)
      largest = std::max(largest, std::fabs(l[k] / s - (t.of_class[k] - l[k]) / (t.n - s)));
    return largest * s * (t.n - s) / (t.n * t.n);
  }
  static double gain(double v, const Totals&) { return v; }
};

"""

# The split of a forest: across the means of two classes of the node.
FOREST = """// The direction from the mean of the first class of a node to that of the last.
#include <cstddef>

#include "heuristic/forest_split.hpp"

namespace oblique {
namespace {

class MeansForest final : public ForestHeuristic {
 public:
  explicit MeansForest(const ForestTraits& traits) : share_(traits.options.number("share")) {}

  void propose(const BagNode& node, Proposal& proposal) override {
    Plane plane;
    plane.w.assign(node.x.m, 0.0);
    const ClassRun &first = node.bag.runs->front(), &last = node.bag.runs->back();
    for (std::size_t j = 0; j < node.x.m; ++j) {
      double low = 0.0, high = 0.0;
      for (std::size_t i = 0; i < first.n; ++i) low += node.bag.weight[i] * node.x.column(j)[i] / first.weight;
      for (std::size_t i = node.bag.n - last.n; i < node.bag.n; ++i)
        high += node.bag.weight[i] * node.x.column(j)[i] / last.weight;
      plane.w[j] = high - low;
      plane.t += plane.w[j] * (low + share_ * (high - low));
    }
    proposal.is_final = false;
    proposal.planes.push_back(plane);
  }

 private:
  const double share_;
};

const RegisteredSplit means("means", {number("share")}, make_forest<MeansForest>);

}  // namespace
}  // namespace oblique
"""

ITS_CLASS = """
from oblique_cli.estimators.forest.base import ForestClassifier
from oblique_cli.ground.constraints import Real
from oblique_cli.parameters import parameter


class MeansForestClassifier(ForestClassifier, kw_only=True):
    \"\"\"A forest that splits nodes across the means of two classes.\"\"\"

    share: float = parameter(default=0.5, allowed=Real(0.0, 1.0), help="Where between the means a node is cut.")

    def _options(self, p):
        return {"split": "means", "share": float(self.share)}
"""

# Runs with the core that was built in place of the package's own.
COMPARISON = """
import importlib.util, sys

spec = importlib.util.spec_from_file_location("oblique_cli._core", sys.argv[1])
core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)
import oblique_cli
sys.modules["oblique_cli._core"] = oblique_cli._core = core

import numpy as np
import principal_axes
from contracts import assert_same_tree, grow, real_set

assert core.families()["principal_axes"]["tolerance"] == "a number"
assert "hhcart_a" in core.families()
oblique_splits = 0
for name in ("iris", "bupa", "glass"):
    data = real_set(name)
    for weights in (None, np.random.default_rng(1).uniform(1.0, 2.0, data.n)):
        native, reference = (
            grow("principal_axes", data.X, data.y, weights=weights, engine=engine) for engine in ("native", "reference")
        )
        assert_same_tree(native, reference, coef=1e-7, threshold=1e-5)
        oblique_splits += np.count_nonzero(np.count_nonzero(native.coef_, axis=1) > 1)
assert oblique_splits > 50, oblique_splits

from oblique_cli.estimators.oblique.classifiers import OC1Classifier
from oblique_cli.tree.splitting import Candidates, Node, impurity, search

assert core.criteria()[-1] == "distance"
for name in ("iris", "glass"):
    data = real_set(name)
    native, reference = (
        grow("hhcart_a", data.X, data.y, engine=engine, criterion="distance") for engine in ("native", "reference")
    )
    assert_same_tree(native, reference, coef=1e-7, threshold=1e-5)
    assert native.n_leaves > 2 and native.gains[0] > 0.05
    node = Node(data.X, data.y, None, len(data.classes), 0, "distance")
    groups = [Candidates.reflection(np.full(data.p, data.p**-0.5)), Candidates.axes()]
    fast, plain = (search(node, groups, exhaustive=exhaustive) for exhaustive in (False, True))
    assert (fast.order, fast.threshold, fast.gain) == (plain.order, plain.threshold, plain.gain)
    model = OC1Classifier(criterion="distance", random_state=0).fit(data.X, data.y)
    assert model.score(data.X, data.y) > 0.6
    # Vectors of another size than the registers go astray in code that is not optimized, and not always.
    alone = np.concatenate([model.tree_.walker.apply(row[None]) for row in data.X])
    assert all((model.tree_.walker.apply(data.X, 1, data.n) == alone).all() for _ in range(100))
assert impurity(np.array([30.0, 10.0]), "distance") == 0.1875
try:
    core.grow(data.X, data.y, None, 6, "principal_axes", {})
except ValueError as error:
    assert str(error).startswith("family 'principal_axes' needs the option 'criterion'"), error
else:
    raise AssertionError("options are not asked for")

import means_forest
from oblique_cli.estimators.algorithms import _forest

algorithm = _forest("means_forest", "means forest", "an example", means_forest.MeansForestClassifier)
for name in ("iris", "glass"):
    data = real_set(name)
    forest, other, again = (
        algorithm.make(n_estimators=20, random_state=0, share=share).fit(data.X, data.y) for share in (0.5, 0.9, 0.5)
    )
    assert forest.score(data.X, data.y) > 0.95 and forest.forest_.n_oblique().sum() > 50
    assert all((a["coef"] == b["coef"]).all() for a, b in zip(forest.forest_.state(), again.forest_.state()))
    assert any((a["coef"][:9] != b["coef"][:9]).any() for a, b in zip(forest.forest_.state(), other.forest_.state()))
print("equal trees")
"""


def documented_family() -> str:
    """The whole file that heuristic/heuristic.hpp shows to whoever writes a heuristic."""
    prose = (CORE / "heuristic" / "heuristic.hpp").read_text(encoding="utf-8").split("#pragma once")[0]
    lines = [line[5:] for line in prose.splitlines() if re.match(r"^//(   |$)", line)]
    text = "\n".join(lines).strip() + "\n"
    assert text.startswith("#include") and text.endswith("}  // namespace oblique\n")
    return text


@pytest.mark.skipif(missing_tool() is not None, reason=f"the core cannot be built here: {missing_tool()} is missing")
def test_a_heuristic_and_the_split_of_a_forest_are_one_cpp_file_and_a_criterion_its_value_and_gain(tmp_path: Path):
    shutil.copytree(CORE, tmp_path / "core")
    family = tmp_path / "core" / "heuristic" / "families" / "principal_axes.cpp"
    assert not family.exists()
    family.write_text("// The principal axes of all rows of a node.\n" + documented_family(), encoding="utf-8")
    (tmp_path / "core" / "heuristic" / "forests" / "means.cpp").write_text(FOREST, encoding="utf-8")
    (tmp_path / "means_forest.py").write_text(ITS_CLASS, encoding="utf-8")
    criteria = tmp_path / "core" / "split" / "criteria.hpp"
    listed = "template <class... Each>\nstruct CriterionList"
    text = criteria.read_text(encoding="utf-8").replace(listed, CRITERION + listed)
    text, n_lists = re.subn(r"(using Criteria = CriterionList<[^>]*)>", r"\1, Distance>", text)
    assert n_lists == 1
    criteria.write_text(text, encoding="utf-8")
    module = built(tmp_path / "core", tmp_path / "build", OBLIQUE_OPTIMIZATION="-O0")
    (tmp_path / "principal_axes.py").write_text(PROPOSER, encoding="utf-8")
    path = os.pathsep.join([str(CORE.parent.parent), str(tmp_path), str(TESTS)])
    done = run(sys.executable, "-W", "error", "-c", COMPARISON, str(module), PYTHONPATH=path)
    assert done.stdout == "equal trees\n"

    (family.parent / "second.cpp").write_text(documented_family(), encoding="utf-8")
    module = built(tmp_path / "core", tmp_path / "build", OBLIQUE_OPTIMIZATION="-O0")
    load = COMPARISON.split("import oblique_cli\n")[0]
    refused = subprocess.run([sys.executable, "-c", load, str(module)], capture_output=True, text=True, check=False)
    sentence = r"ImportError: heuristic/families/\w+\.cpp: native family 'principal_axes' has the name of the one in "
    assert refused.returncode == 1 and re.match(sentence, refused.stderr.splitlines()[-1]), refused.stderr
