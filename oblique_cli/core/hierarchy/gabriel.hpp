// The Gabriel graph of a condensed matrix.
#pragma once

#include "common/interrupt.hpp"
#include "hierarchy/joins.hpp"

namespace oblique {

// Edges of the Gabriel graph: i and j are neighbors unless some k lies in the ball with diameter i-j, that is d(i,k)^2
// + d(j,k)^2 < d(i,j)^2. Cubic if few pairs are rejected early.
template <class T>
std::vector<int32_t> gabriel_edges(const T* d, size_t n) {
  const Pairs at(n);
  std::vector<int32_t> edges;
  for (size_t i = 0; i < n; ++i) {
    size_t blocker = 0;  // of the last pair, often of the next one too
    for (size_t j = i + 1; j < n; ++j) {
      checkpoint(1);
      const double dij = static_cast<double>(d[at(i, j)]), square = dij * dij;
      const auto blocks = [&](size_t k) {
        if (k == i || k == j) return false;
        const double a = static_cast<double>(d[at(i, k)]), b = static_cast<double>(d[at(j, k)]);
        return a * a + b * b < square;
      };
      bool free = !blocks(blocker);
      for (size_t k = 0; free && k < n; ++k)
        if (blocks(k)) {
          free = false;
          blocker = k;
        }
      if (free) checkpoint(n);
      if (free) {
        edges.push_back(static_cast<int32_t>(i));
        edges.push_back(static_cast<int32_t>(j));
      }
    }
  }
  return edges;
}

}  // namespace oblique
