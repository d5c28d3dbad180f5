// Neighbor joining.
#pragma once

#include "common/interrupt.hpp"
#include "hierarchy/joins.hpp"

namespace oblique {

// Saitou and Nei (1987). `d` is the caller's square matrix, which is overwritten. Joins continue to the last two
// clusters, whose join is the root (Amalaman 2015, section 5.5.1.1); `lengths[node]` is the length of the branch above
// a node, half the last distance for both children of the root. Among pairs whose criterion differs by at most 1e-10 of
// the largest distance sum, the first is joined.
struct NeighborJoining {
  Joins joins;
  std::vector<double> lengths;

  NeighborJoining(double* d, size_t n) : joins(n), lengths(2 * n - 1, 0.0) {
    std::vector<size_t> slot(n);
    std::vector<int64_t> node(n);
    std::vector<double> sums(n, 0.0);
    std::iota(slot.begin(), slot.end(), size_t{0});
    std::iota(node.begin(), node.end(), int64_t{0});
    for (size_t join = 0; slot.size() > 1; ++join) {
      const size_t m = slot.size();
      checkpoint(2 * m * m);
      double largest = 0.0;
      for (const size_t i : slot) {
        sums[i] = 0.0;
        for (const size_t j : slot) sums[i] += d[i * n + j];
        largest = std::max(largest, std::abs(sums[i]));
      }
      double least = std::numeric_limits<double>::infinity();
      size_t a = slot[0], b = slot[1];
      const double weight = static_cast<double>(m) - 2.0;
      for (size_t s = 0; s < m; ++s)
        for (size_t t = s + 1; t < m; ++t) {
          const double q = weight * d[slot[s] * n + slot[t]] - sums[slot[s]] - sums[slot[t]];
          if (q < least - 1e-10 * largest) {
            least = q;
            a = slot[s];
            b = slot[t];
          }
        }
      const double dab = d[a * n + b];
      const double to_a = m > 2 ? 0.5 * dab + 0.5 * (sums[a] - sums[b]) / weight : 0.5 * dab;
      lengths[node[a]] = to_a;
      lengths[node[b]] = dab - to_a;
      joins.left[join] = node[a];
      joins.right[join] = node[b];
      joins.heights[join] = dab;
      for (const size_t k : slot) {
        if (k == a || k == b) continue;
        d[a * n + k] = d[k * n + a] = 0.5 * (d[a * n + k] + d[b * n + k] - dab);
      }
      node[a] = static_cast<int64_t>(n + join);
      slot.erase(std::find(slot.begin(), slot.end(), b));
    }
  }
};

}  // namespace oblique
