// A table of rows as the caller has it, in double or single precision.
#pragma once

#include <cstddef>
#include <vector>

namespace oblique {

// Rows of p numbers. Single precision is exact in double, so it needs no copy of the table.
class InputRows {
 public:
  InputRows(const double* x) : doubles_(x) {}
  InputRows(const float* x) : singles_(x) {}

  double at(std::size_t i, std::size_t j, std::size_t p) const {
    return doubles_ ? doubles_[i * p + j] : static_cast<double>(singles_[i * p + j]);
  }
  // The whole table: one of these is nullptr.
  const double* doubles() const { return doubles_; }
  const float* singles() const { return singles_; }
  // Row i; `buffer` has room for p numbers.
  const double* row(std::size_t i, std::size_t p, double* buffer) const {
    if (doubles_) return doubles_ + i * p;
    for (std::size_t j = 0; j < p; ++j) buffer[j] = static_cast<double>(singles_[i * p + j]);
    return buffer;
  }

 private:
  const double* doubles_ = nullptr;
  const float* singles_ = nullptr;
};

}  // namespace oblique
