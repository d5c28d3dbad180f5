// Heuristics in two steps: `sums` names the required sums over the rows of a node, and `propose` reads only these
// moments. The same code serves rows in memory and rows in blocks on a disk.
#pragma once

#include "heuristic/heuristic.hpp"
#include "heuristic/moments.hpp"

namespace oblique {

class SumsProposer : public Proposer {
 public:
  virtual Sums sums() const { return Sums::classes; }
  // moments : contains the sums that `sums` names, and the class weights.
  virtual void propose(RowMoments& moments, Candidates& candidates) = 0;

  void propose(const Node& node, Candidates& candidates) final {
    moments_.begin(node);
    propose(moments_, candidates);
  }
  bool reads_stretches() const final { return true; }

 private:
  NodeMoments moments_;
};

// Reflects the principal axes of the classes to the first axis and searches all axes of every space (thesis 3.5);
// without principal axes it searches the original axes (3.6). Its options are tau, the tolerance for a vector parallel
// to an axis, and both_signs, for the reflections of the opposite vectors as well.
class Reflecting : public SumsProposer {
 public:
  Reflecting(const Options& options, const ClassAxes& axes)
      : axes_(axes), tau_(options.number("tau")), both_signs_(options.flag("both_signs")) {}

  using SumsProposer::propose;
  Sums sums() const final { return axes_.unit_rows ? Sums::unit_rows : Sums::covariances; }
  void propose(RowMoments& moments, Candidates& candidates) final {
    vectors_.clear();
    moments.add_axes(axes_, vectors_);
    add_reflections(vectors_, moments.n_features(), tau_, both_signs_, candidates.spaces());
    if (candidates.spaces().empty()) candidates.add_axes();
  }

 private:
  const ClassAxes axes_;
  const double tau_;
  const bool both_signs_;
  Vector vectors_;
};

}  // namespace oblique
