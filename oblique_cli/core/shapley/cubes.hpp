// Shapley values of one tree against background rows, exactly.
//
// A coalition S of features takes the values of the row x that is explained, and the rest those of a background row z.
// What the tree says of that mixed row is a game over the features, and its Shapley value is the interventional one
// (Lundberg et al. 2020; for splits on sums Zern, Broelemann and Kasneci 2023). A sum of a split is what each feature
// adds, so whether a coalition goes left is a linear inequality. Coalitions that reach a leaf together and agree on the
// features that decided it form a cube: some features are in, some are out, the others are free. The walk down takes
// the set of all coalitions apart into disjoint cubes, and the value of a cube game is a closed form.
#pragma once

#include <cstddef>
#include <cstdint>

namespace oblique {

// A tree whose splits are sums over entries, each of one feature. Node 0 is the root.
struct SumTree {
  std::size_t n_nodes, n_features, n_outputs;
  const std::int32_t *left, *right;   // -1 at leaves
  const double* thresholds;           // a row goes left if its sum is at most the threshold
  const std::int64_t* split_start;    // n_nodes + 1 offsets into the next
  const std::int32_t* split_feature;  // each feature once a node
  const std::int64_t* leaf_start;     // n_nodes + 1 offsets into the next
  const std::int32_t* leaf_feature;
  const double* intercepts;  // n_nodes * n_outputs
  // The same splits as growth adds them up, which decide where rounding could. Sum s < n_nodes is that of a node, and
  // the sums behind those are rotated features, which terms name by ~(s - n_nodes); any other source is a slot of a
  // row.
  const std::int64_t* sum_start;  // offsets into the next three
  const double* term_coef;
  const std::int32_t *term_source, *term_lane;  // lanes 0 to 3
  const std::int32_t* slot_feature;
  const std::int32_t* missing_left;  // whether a row without a number of the sum goes left
  std::size_t n_slots;
};

// What the entries of a tree add for each row. An infinite summand sends the row to a side whatever the others are.
struct SumRows {
  std::size_t n;
  const double* splits;  // n * number of entries of splits
  const double* leaves;  // n * number of entries of leaves * n_outputs
  const double* slots;   // n * n_slots: numbers, NaN if missing, and 1 or 0 for a level
};

// Thrown where the cubes of one row are more than the limit.
struct TooManyCubes {};

// Shapley values, or interaction indices (Grabisch and Roubens 1999), added up over the background rows.
//
// limit : steps that a row may take
// out   : rows.n * n_features * n_outputs, or rows.n * n_features^2 * n_outputs for interactions (both halves, and
//         Shapley values on the diagonal); what is found is added
void shapley_values(const SumTree& tree, const SumRows& rows, const SumRows& background, bool interactions,
                    std::size_t limit, int n_threads, double* out);

// What the tree says of each row: out is rows.n * n_outputs, and what is found is added.
void sum_values(const SumTree& tree, const SumRows& rows, double* out);

}  // namespace oblique
