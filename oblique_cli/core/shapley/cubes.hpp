// Exact Shapley values of one tree against background rows.
// A coalition S of features takes the values of the explained row x, and the other features those of a background row
// z. The prediction of the tree for this mixed row is a game over the features, whose Shapley value is the
// interventional one (Lundberg et al. 2020; for splits on sums Zern, Broelemann and Kasneci 2023). The sum of a split
// is a sum of contributions of features, so whether a coalition goes left is a linear inequality. Coalitions that reach
// a leaf together and agree on the features that decided it form a cube: some features are in, some are out, the others
// are free. The walk down divides the set of all coalitions into disjoint cubes, and the value of a cube game has a
// closed form.
#pragma once

#include "common/standard.hpp"

namespace oblique {

// A tree whose splits are sums over entries, each of one feature. Node 0 is the root.
struct SumTree {
  size_t n_nodes, n_features, n_outputs;
  const int32_t *left, *right;   // -1 at leaves
  const double* thresholds;      // a row goes left if its sum is at most the threshold
  const int64_t* split_start;    // n_nodes + 1 offsets into the next
  const int32_t* split_feature;  // each feature once per node
  const int64_t* leaf_start;     // n_nodes + 1 offsets into the next
  const int32_t* leaf_feature;
  const double* intercepts;  // n_nodes * n_outputs
  // Products of two features in leaves: their values are the factors of a row, times a coefficient for each output.
  const int64_t* product_start;    // n_nodes + 1 offsets into the next two
  const int32_t* product_feature;  // two different features each
  const double* product_coef;      // number of products * n_outputs
  // The same splits in the order of summation of growth, which decides where rounding could matter. Sum s < n_nodes
  // belongs to a node; the sums behind are rotated features, which terms name by ~(s - n_nodes); any other source is a
  // slot of a row.
  const int64_t* sum_start;  // offsets into the next three
  const double* term_coef;
  const int32_t *term_source, *term_lane;  // lanes 0 to 3
  const int32_t* slot_feature;
  const int32_t* missing_left;  // whether a row goes left if its sum is not a number
  size_t n_slots;
};

// The contributions of the entries of a tree for each row. An infinite summand decides the side of the row.
struct SumRows {
  size_t n;
  const double* splits;   // n * number of entries of splits
  const double* leaves;   // n * number of entries of leaves * n_outputs
  const double* slots;    // n * n_slots: numbers, NaN if missing, and 1 or 0 for a level
  const double* factors;  // n * number of products * 2
};

// Thrown if the cubes of one row exceed the limit.
struct TooManyCubes {};

// Shapley values, or interaction indices (Grabisch and Roubens 1999), summed over the background rows.
// limit : most steps of a row
// out   : rows.n * n_features * n_outputs, or rows.n * n_features^2 * n_outputs for interactions (both halves, and
// Shapley values on the diagonal); results are added to it
void shapley_values(const SumTree& tree, const SumRows& rows, const SumRows& background, bool interactions,
                    size_t limit, int n_threads, double* out);

// Predictions of the tree: results are added to out, rows.n * n_outputs.
void sum_values(const SumTree& tree, const SumRows& rows, double* out);

}  // namespace oblique
