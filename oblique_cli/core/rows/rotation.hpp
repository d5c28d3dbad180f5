// Rotations of a rotation forest (Rodriguez, Kuncheva & Alonso 2006; Zhang & Suganthan 2014, section II-B): disjoint
// groups of features, with principal components of each group from its own bootstrap sample.
#pragma once

#include "common/eigen.hpp"
#include "rows/columns.hpp"
#include "rows/row_draw.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

// The unit of features before components are computed: their range, their standard deviation, or 1.
enum class Scaling { range, deviation, none };

// The inverse of each feature's unit, or 0 for a constant feature, which is left out of every component. weights : of
// the rows, or nullptr. Ranges may overflow, and so may their inverses: half a range does not overflow, and an inverse
// is limited. The inverse of a standard deviation below 1e-10 ranges is limited too: only weights that leave one value
// of the feature make it so small, and its square may vanish. Unscaled features are still multiplied by a power of 2 if
// their squares would overflow or vanish.
Vector inverse_scales(const Columns& x, const double* weights, Scaling scaling);

// Groups of `size` features in random order; features of other groups complete the last group.
std::vector<std::vector<int32_t>> draw_groups(Stream stream, size_t p, size_t size);

// Components without variance are left out (Zhang & Suganthan 2014, step 2). weights : of the rows, or nullptr; inverse
// : of `inverse_scales`, which the coefficients include. Uses streams 2 and 3, 4, ... of the tree: groups, then one
// sample per group.
Rotation draw_rotation(uint64_t tree_seed, const Columns& x, const double* weights, const Vector& inverse,
                       size_t group_size);

// The rotated training rows, by the arithmetic of Rotation::of_row.
void rotate(const Rotation& rotation, const Columns& x, Columns& out);

}  // namespace oblique
