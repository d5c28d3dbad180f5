// The common part of heuristics that reflect vectors of the classes: HHCART and HHCRV.
#pragma once

#include "common/eigen.hpp"
#include "heuristic/heuristic.hpp"
#include "split/spaces.hpp"

namespace oblique {

// Reflects each of its vectors to the first axis and searches all axes of every space (thesis 3.5); the original axes
// where there is no vector (3.6). Takes the options tau, within which a vector counts as parallel to an axis, and
// both_signs, for the reflections of the opposite vectors as well.
class Reflecting : public Proposer {
 public:
  explicit Reflecting(const Options& options) : tau_(options.number("tau")), both_signs_(options.flag("both_signs")) {}

  void propose(const Node& node, Candidates& candidates) final {
    vectors_.clear();
    add_vectors(node, vectors_);
    add_reflections(vectors_, node.n_features(), tau_, both_signs_, candidates.spaces());
    if (candidates.spaces().empty()) candidates.add_axes();
  }
  bool reads_stretches() const override { return true; }

 protected:
  // Appends unit vectors, class by class.
  virtual void add_vectors(const Node& node, Vector& vectors) = 0;

 private:
  const double tau_;
  const bool both_signs_;
  Vector vectors_;
};

}  // namespace oblique
