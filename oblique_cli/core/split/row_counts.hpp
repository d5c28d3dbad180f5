// Rows of each class by bin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/kernels.hpp"
#include "split/bin_table.hpp"
#include "split/node_rows.hpp"

namespace oblique {

inline constexpr int kMaxBins = 256;

// Whether single precision represents the counts exactly.
inline bool counts_exactly(const NodeRows& rows) { return !rows.weights && rows.n < (std::size_t{1} << 24); }

class RowCounts {
 public:
  // Computes the weights left of the edges of a table. bin : of each row
  void fill(const NodeRows& rows, const std::uint8_t* bin, BinTable<float>& table) {
    for (int k = 0; k < rows.n_classes; ++k) {
      count(bin, rows.first_row[k], rows.first_row[k + 1]);
      cumulate(even_, odd_, table.n_bins, table.of_class(k));  // and clears both
    }
  }

 private:
  // Two tables in turn, so that a run of equal bins does not wait for its previous store.
  void count(const std::uint8_t* bin, std::size_t i, std::size_t last) {
    std::uint32_t *even = even_, *odd = odd_;
    for (; i + 8 <= last; i += 8) {
      std::uint64_t eight;
      std::memcpy(&eight, bin + i, sizeof eight);
      ++even[eight & 255];
      ++odd[eight >> 8 & 255];
      ++even[eight >> 16 & 255];
      ++odd[eight >> 24 & 255];
      ++even[eight >> 32 & 255];
      ++odd[eight >> 40 & 255];
      ++even[eight >> 48 & 255];
      ++odd[eight >> 56];
    }
    for (; i < last; ++i) ++even[bin[i]];
  }

  std::uint32_t even_[kMaxBins] = {}, odd_[kMaxBins] = {};
};

}  // namespace oblique
