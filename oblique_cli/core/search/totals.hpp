// The classes present at a node, by weight.
#pragma once

namespace oblique {

// The classes present at a node. Weights are in units of the smallest positive one, so every row weighs at least 1.
struct Totals {
  int n_classes = 0;
  const double* of_class = nullptr;
  double n = 0.0;
  bool counts = true;               // all weights are 1, so every sum is an exact integer
  const double* inverse = nullptr;  // 1 / i for integers i up to n, when counts is true
  const double* x_log_x = nullptr;  // i log i likewise, when the criterion wants it
};

}  // namespace oblique
