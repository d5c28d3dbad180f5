// A linear model of the classes at every node of a tree; the model of a node starts from its parent's.
// The increment of a node to the scores of its parent either has a ridge penalty (SoftmaxSolver), so that a node of few
// rows stays close to its parent, or is a number of steps of LogitBoost, as in logistic model trees (Landwehr, Hall &
// Frank 2005, section 4). The model of the root starts from the class shares with a ridge and from 0 with LogitBoost.
#pragma once

#include "linear/softmax.hpp"

namespace oblique {

// Rows and their leaves. x : (n, p) standardized, finite; parent : parent of every node, with a
// number below its children's; -1 at the root, which is node 0.
struct RoutedRows {
  const double* x = nullptr;
  const int32_t* y = nullptr;
  const double* weight = nullptr;
  const int32_t* leaf = nullptr;
  size_t n = 0, p = 0, n_classes = 0;
  const int32_t* parent = nullptr;
  size_t n_nodes = 0;
};

struct NodeModelOptions {
  bool boosted = false;
  double l2 = 1.0;          // of the ridge, in the unit of the weights
  double tolerance = 1e-5;  // as of SoftmaxSolver
  int steps = 0;            // of LogitBoost, at every node
  size_t least_rows = 5;    // with LogitBoost, a node of fewer rows uses the model of its parent
};

// Scores of every node, (n_nodes, C, p + 1), including those of its parent. start : initial scores, for example of
// another ridge; nullptr for none. The start changes the minimum by the tolerance at most.
std::vector<double> node_models(const RoutedRows& rows, const NodeModelOptions& options, const double* start = nullptr);

// Misclassified weight and log loss of the model of every node on the rows that pass through it.
struct NodeLosses {
  std::vector<double> wrong, log_loss;
};
NodeLosses node_losses(const RoutedRows& rows, const double* models);

// Misclassified weight of test rows after 0, 1, ... steps of LogitBoost; stops `patience` steps after the best.
std::vector<double> boosting_errors(const RoutedRows& training, const RoutedRows& test, int most, int patience);

}  // namespace oblique
