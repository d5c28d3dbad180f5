// Training rows of a forest by columns, and the ranks of their values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace oblique {

struct Columns {
  std::size_t n = 0, p = 0;
  std::vector<double> values;          // column j from j * n
  std::vector<std::uint32_t> ranks;    // place of the value among the distinct values of its column, from 0; made when asked for
  std::vector<unsigned char> ranked;   // whether the ranks of a column are there

  void resize(std::size_t rows, std::size_t columns) {
    n = rows;
    p = columns;
    values.resize(n * p);
    ranked.assign(p, 0);
  }
  double* column(std::size_t j) { return values.data() + j * n; }
  const double* column(std::size_t j) const { return values.data() + j * n; }

  // Columns that several threads share must all be ranked before.
  const std::uint32_t* rank(std::size_t j) {
    if (!ranked[j]) rank_column(j);
    return ranks.data() + j * n;
  }

 private:
  struct Entry {
    double value;
    std::uint32_t row;
  };
  std::vector<Entry> entries_;

  void rank_column(std::size_t j) {
    ranks.resize(n * p);
    entries_.resize(n);
    const double* x = column(j);
    for (std::size_t i = 0; i < n; ++i) entries_[i] = {x[i], static_cast<std::uint32_t>(i)};
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.value < b.value; });
    std::uint32_t* out = ranks.data() + j * n;
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (i > 0 && entries_[i].value != entries_[i - 1].value) ++rank;
      out[entries_[i].row] = rank;
    }
    ranked[j] = 1;
  }
};

}  // namespace oblique
