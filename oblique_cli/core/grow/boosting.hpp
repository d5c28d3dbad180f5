// Gradient boosting with the trees of a forest, one per round.
// The loss of classes is the multinomial log loss of scores F(x), (n, K), by softmax; with two classes it is the
// logistic loss of one score. A family of heuristics grows the tree of a round on the class labels, with row weights w
// |g|, where |g| = 1 - p(class of the row) is the gradient of the score of that class. For two classes the Gini
// criterion on these weights equals that of a regression tree on gradients: with labels +1 and -1 a side of weight W =
// sum w |g| and gradient sum G has W (q^2 + (1 - q)^2) = W / 2 + G^2 / (2 W), so the cut maximises the sum of G^2 / W,
// like a Newton tree with |g| in place of the curvature |g| (1 - |g|) (Friedman, Hastie & Tibshirani 2000; Chen &
// Guestrin 2016). So every heuristic for classes can be used, with its exact search. Leaves then take a Newton step in
// each score. With bins, cuts of the same value are searched among stored directions (grow/histogram_grower.hpp).
#pragma once

#include "grow/forest.hpp"

namespace oblique {

struct BoostingOptions {
  size_t n_trees = 0;
  double learning_rate = 0.1;
  double l2 = 1.0;          // added to the curvature of a leaf
  double min_weight = 0.0;  // least sum of w |g| of a child
  size_t patience = 0;      // rounds without a fall of the validation loss by `tolerance` before a stop; 0: none
  double tolerance = 0.0;
  size_t max_bins = 0;    // of a direction (grow/binned_directions.hpp), at most 256; 0: exact search at nodes
  size_t most_terms = 0;  // of a plane, with bins
};

struct BoostedRows {
  const double* x;
  const double* weights;  // or nullptr
  size_t n;

  double weight(size_t i) const { return weights ? weights[i] : 1.0; }
};
struct LabeledRows : BoostedRows {
  const int32_t* y;
  const double* start = nullptr;  // initial scores, (n, n_scores); nullptr for the logarithms of the class shares
};
struct NumberedRows : BoostedRows {
  const double* y;
};

// A loss for numeric targets. quantile : share of rows below the prediction; absolute loss: twice the loss of 0.5.
struct NumberLossOptions {
  bool squared = true;
  double quantile = 0.5;
  bool linear = false;  // whether leaves have ridge regressions (grow/leaf_ridge.hpp), for the squared loss
};

struct Boosted {
  size_t n_scores = 0;
  size_t width = 0;                     // numbers per leaf: n_scores, or p + 3 for a linear leaf
  std::vector<double> baseline;         // n_scores
  std::vector<double> leaf_values;      // of all leaves of all trees, `width` each
  std::vector<double> training_loss;    // mean loss after every round
  std::vector<double> validation_loss;  // the same for the validation rows, if there are any
};

inline size_t scores_of(size_t n_classes) { return n_classes == 2 ? 1 : n_classes; }

// Adds trees to an empty forest, from `first_number` on. Validation removes those after the least validation loss.
Boosted boost(Forest& forest, const LabeledRows& rows, const LabeledRows& validation, const ForestOptions& options,
              const BoostingOptions& how);

// The same for numeric targets, with bins. A tree is grown on the gradients of the rows; its cuts are those of least
// squares (grow/histogram_grower.hpp), which for the squared loss is Newton's gain, since the curvatures are the
// weights. The step of a leaf is the mean of its residuals for the squared loss and their quantile for the other losses
// (Friedman 2001, algorithms 2 and 3), times W / (W + l2) for its weight W. The forest has one class.
Boosted boost(Forest& forest, const NumberedRows& rows, const NumberedRows& validation, const ForestOptions& options,
              const BoostingOptions& how, const NumberLossOptions& loss);

}  // namespace oblique
