// The rows of every node sorted by every feature, for trees that search all features at each node: sorted once at the
// root, then only divided.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/divide.hpp"
#include "rows/columns.hpp"

namespace oblique {

class SortedRows {
 public:
  // A key holds the rank of a row in the upper half and its number in the lower.
  void sort(Columns& x, const std::vector<std::uint32_t>& rows) {
    n_ = rows.size();
    p_ = x.p;
    keys_.resize(n_ * p_);
    spare_.resize(n_);
    goes_right_.resize(x.n);
    for (std::size_t j = 0; j < p_; ++j) {
      const std::uint32_t* rank = x.rank(j);
      start_.assign(x.n + 1, 0);
      for (const std::uint32_t row : rows) ++start_[rank[row] + 1];
      for (std::size_t r = 1; r < x.n; ++r) start_[r] += start_[r - 1];
      for (const std::uint32_t row : rows)
        keys_[j * n_ + start_[rank[row]]++] = static_cast<std::uint64_t>(rank[row]) << 32 | row;
    }
  }

  // The keys of a node whose rows begin at position `first`.
  const std::uint64_t* of(std::size_t feature, std::size_t first) const { return keys_.data() + feature * n_ + first; }

  // Moves the rows of a node that go left before the others. row, side : of the n rows at the node, in any order
  void divide(std::size_t first, std::size_t n, const std::uint32_t* row, const unsigned char* side) {
    for (std::size_t i = 0; i < n; ++i) goes_right_[row[i]] = side[i];
    const unsigned char* goes_right = goes_right_.data();
    for (std::size_t j = 0; j < p_; ++j)
      divide_in_order(keys_.data() + j * n_ + first, n, spare_.data(), [goes_right](std::size_t, std::uint64_t key) {
        return static_cast<std::size_t>(goes_right[static_cast<std::uint32_t>(key)]);
      });
  }

 private:
  std::size_t n_ = 0, p_ = 0;
  std::vector<std::uint64_t> keys_, spare_;  // keys of feature j from j * n
  std::vector<std::uint32_t> start_;
  std::vector<unsigned char> goes_right_;  // by number of row
};

}  // namespace oblique
