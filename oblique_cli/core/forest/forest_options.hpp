// How the trees of a forest are grown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "common/options.hpp"
#include "forest/mpsvm.hpp"
#include "forest/rotation.hpp"

namespace oblique {

enum class ForestSplit { axis, mpsvm, hhcart };

struct ForestOptions {
  ForestSplit split = ForestSplit::axis;
  std::size_t mtry = 0;         // features drawn at a node, 0: all (of the rotated ones)
  double minleaf = 1.0;         // an impure node of this many rows or fewer is a leaf, repeats counted
  std::int64_t max_depth = -1;  // -1: no limit
  bool bootstrap = true;
  std::size_t group_size = 0;        // of a rotation, 0: none
  Scaling scaling = Scaling::range;  // before a rotation
  // MPSVM
  Regularization regularization = Regularization::tikhonov;
  double delta = 0.01;
  // HHCART
  std::size_t reflections = 1;  // eigenvectors drawn at a node
  bool dominant_only = true;    // of every class its first eigenvector only
  double tau = 0.05;
};

// Reads the options of a forest: those that all forests have, and those of its kind of split. Throws
// std::invalid_argument for what is missing, unknown or out of place.
ForestOptions forest_options(std::map<std::string, OptionValue> given);

}  // namespace oblique
