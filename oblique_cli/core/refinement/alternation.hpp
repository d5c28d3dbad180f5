// Tree alternating optimization (Carreira-Perpinan & Tavallali 2018): improves the hyperplanes of a tree of given shape
// one node after another, with the others fixed, until no node improves.
//
//   E(T) = sum of the weight of misclassified rows + penalty * sum over decision nodes of |w|_1, with |w|_2 = 1
//
// Features are standardized. The length of w changes no decision, so the penalty applies to the direction: a node on
// one feature costs 1, a dense one up to sqrt(p). Without unit length, a plane could be scaled down until it has no
// penalty.
//
// At a node, rows with equal cost in both branches do not count. Each other row prefers the branch of lower cost, and a
// good plane sends little weight to the other side. This problem is NP-hard, so `NodeUpdate` proposes planes and E
// decides: the node takes a plane that lowers E and stays unchanged on a tie. A leaf may also be divided between its
// two heaviest classes, so the initial shape is no limit.
//
// If leaves have logistic models, the cost of a row is its log loss, and E includes the ridges of the models; if they
// have means of numbers, the cost is the squared error. The weight of a row at a node is the difference of its costs in
// both branches.
#pragma once

#include "linear/linear_solver.hpp"
#include "linear/softmax.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

// Rows to fit. x : (n, p) standardized, finite; absent : (n, p) whether a value is missing, nullptr without missing
// values (x is 0 there); y : class codes; weight : positive.
struct RefinementRows {
  const double* x = nullptr;
  const bool* absent = nullptr;
  const int32_t* y = nullptr;
  const double* weight = nullptr;
  size_t n = 0, p = 0, n_classes = 0;
};

// Logistic models in the leaves. x : (n, p) their features, finite; prior : scores of the model that all leaf models
// start from; l2 : ridge of the increment of a leaf, in the unit of the weights.
struct LeafLogistic {
  const double* x = nullptr;
  size_t p = 0;
  Scores prior;
  double l2 = 1.0;
};

// Means of numbers in the leaves. y : (n, k) finite, of variances near 1, because costs have fixed limits.
struct LeafNumbers {
  const double* y = nullptr;
  size_t k = 0;
};

struct RefinementOptions {
  double penalty = 0.0;  // in the unit of the weights
  MarginLoss surrogate = MarginLoss::logistic;
  int max_sweeps = 40;
  double tolerance = 1e-6;    // stops when a sweep lowers E by less than this share
  bool split_leaves = false;  // whether to divide a leaf in two if that lowers E
  int n_threads = 1;
  // At most one of the two is set; without either, leaves have labels.
  const LeafLogistic* leaves = nullptr;
  const LeafNumbers* numbers = nullptr;
  size_t max_terms = 0;                 // most features of a new plane, 0 for no limit
  const int32_t* feature_of = nullptr;  // feature of each column
};

class LeafFits;
class ReducedProblems;

// The predictions of the leaves of a tree under refinement, and the side of rows without the value of a plane.
struct LeafAnswers {
  std::vector<uint8_t> missing_left;  // of decision nodes
  std::vector<int32_t> label;         // of leaves
  const LeafFits* fits = nullptr;     // if leaves have models
  std::vector<Scores> models;         // of leaves, relative to the scores of all rows; empty without logistic models
};

// A tree under refinement. Its planes have unit length, or w = 0 sends every row to one side. Nodes have no order.
struct RefinedTree : PlaneTree<DensePlanes, LeafAnswers> {
  bool goes_left(const RefinementRows& rows, size_t row, size_t node) const;
  // to_left[i] : whether row which[i] goes left.
  void sides(const RefinementRows& rows, const uint32_t* which, size_t n, size_t node, uint8_t* to_left) const;
  // The cost of rows in a leaf: the loss of its model, or whether its label is wrong.
  void at_leaf(const RefinementRows& rows, size_t leaf, const uint32_t* which, size_t n, double* losses) const;
  // The cost of a row in the leaf below `node` that it reaches.
  double loss(const RefinementRows& rows, uint32_t row, size_t node) const;
};

// E after each update of a node, in order; node -1 for the update of leaves and branches at the end of a sweep.
struct RefinementStep {
  int32_t sweep, node;
  double objective;
};

struct Refinement {
  std::vector<RefinementStep> steps;
  double before = 0.0, after = 0.0;  // E
  int sweeps = 0;
  bool converged = false;
};

// Improves a tree in place. Threads share the nodes of one depth; any number of threads gives the same bits. problems :
// of earlier runs on the same rows, or empty; the result has the same bits.
Refinement refine(const RefinementRows& rows, const RefinementOptions& options, RefinedTree& tree,
                  ReducedProblems& problems);

}  // namespace oblique
