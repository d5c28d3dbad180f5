// Rows drawn for a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "common/random.hpp"

namespace oblique {

// How often each of n rows is drawn in `count` draws with replacement.
inline void draw_bootstrap(Stream stream, std::size_t n, std::size_t count, std::vector<std::uint32_t>& draws) {
  draws.assign(n, 0);
  for (std::size_t i = 0; i < count; ++i) ++draws[stream.below(n)];
}

// The draw of the rows of a tree.
struct RowDraw {
  bool bootstrap = true;  // with replacement
  std::size_t count = 0;  // draws, 0: the number of rows

  // Whether a tree sees all rows once.
  bool takes_all(std::size_t n) const { return !bootstrap && (count == 0 || count >= n); }

  // How often each of n rows is drawn for a tree.
  void draw(std::uint64_t tree_seed, std::size_t n, std::vector<std::uint32_t>& draws) const {
    Stream stream(tree_seed, 0, 1);
    const std::size_t wanted = count == 0 ? n : count;
    if (bootstrap) return draw_bootstrap(stream, n, wanted, draws);
    if (takes_all(n)) return draws.assign(n, 1);
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    draws.assign(n, 0);
    for (std::size_t i = 0; i < wanted; ++i) {
      std::swap(order[i], order[i + stream.below(n - i)]);
      draws[order[i]] = 1;
    }
  }
};

}  // namespace oblique
