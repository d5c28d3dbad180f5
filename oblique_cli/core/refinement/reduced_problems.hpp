// Results of the reduced problems of nodes that do not depend on the penalty, shared by runs on the same rows.
#pragma once

#include "linear/linear_solver.hpp"

namespace oblique {

// The rows in the order of each feature, so that a node sorts integers or does not sort at all.
struct FeatureOrders {
  std::vector<uint32_t> ranks;  // (n, p) rank of every row; rows without a value are at 0
  std::vector<uint8_t> bins;    // (n, p) bin of every row by its rank; one value per bin if there are few values
  std::vector<size_t> n_bins;   // of each feature
};
// What is known of one reduced problem: the solutions of the surrogate at falling l1 penalties and the best cuts of
// features, as far as they were computed; a lower bound of each feature's cut; the last plane of the node.
struct ReducedProblem {
  struct Cut {
    double threshold = 0.0, wrong = 0.0;
    bool right_above = true;  // whether larger values go right
    bool missing_left = false;
    bool is_found = false;
  };

  // Unit length, with a threshold -b; and the best cut along it, once it was searched.
  struct Direction {
    std::vector<double> w;
    double b = 0.0;
    std::optional<Cut> cut;
  };

  std::vector<Direction> solutions;  // without w where all coefficients are 0
  LinearFit last;                    // the last solution of the surrogate
  double next_l1 = 0.0;              // the next penalty
  std::vector<std::optional<Cut>> axes;
  std::vector<double> least;
  Direction present;
  uint64_t last_run = 0;
};

// Reduced problems by their digests. Runs at several penalties on the same rows share them: a penalty changes the
// choice among planes, not the planes.
class ReducedProblems {
 public:
  std::optional<FeatureOrders> orders;  // of the rows

  // Begins a run, and forgets the problems that did not occur in the run before.
  void begin_run() {
    std::erase_if(problems_, [&](const auto& each) { return each.second.last_run < run_; });
    ++run_;
  }

  ReducedProblem& at(uint64_t digest) {
    const std::lock_guard lock(mutex_);
    ReducedProblem& out = problems_[digest];
    out.last_run = run_;
    return out;
  }

 private:
  std::map<uint64_t, ReducedProblem> problems_;
  uint64_t run_ = 0;
  std::mutex mutex_;
};

}  // namespace oblique
