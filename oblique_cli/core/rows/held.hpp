// Weight and misclassification rate of a node, which the stopping rule reads.
#pragma once

#include "common/standard.hpp"

namespace oblique {

struct Held {
  double amount;   // in weight or in rows
  double misrate;  // share outside the largest class
};

// counts : weight of each class
inline Held held_of(const double* counts, size_t n_classes) {
  const double total = std::accumulate(counts, counts + n_classes, 0.0);
  return {total, (total - *std::max_element(counts, counts + n_classes)) / total};
}

}  // namespace oblique
