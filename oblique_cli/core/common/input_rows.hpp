// The caller's table of rows, in double or single precision.
#pragma once

#include <cstddef>
#include <vector>

namespace oblique {

// Rows of p numbers. Double represents single precision exactly, so the table is not copied.
class InputRows {
 public:
  InputRows(const double* x) : doubles_(x) {}
  InputRows(const float* x) : singles_(x) {}

  double at(std::size_t i, std::size_t j, std::size_t p) const {
    return doubles_ ? doubles_[i * p + j] : static_cast<double>(singles_[i * p + j]);
  }
  // The whole table; exactly one of both pointers is not nullptr.
  const double* doubles() const { return doubles_; }
  const float* singles() const { return singles_; }
  // Row i; `buffer` holds p numbers.
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
