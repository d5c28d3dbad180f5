// Sorting of 64-bit keys whose leading digits vary, such as projections or ranks of a feature.
#pragma once

#include "common/kernels.hpp"

namespace oblique {

// Keeps the order of equal values.
template <class T, class Less>
void insertion_sort(T* values, size_t n, const Less& less) {
  for (size_t i = 1; i < n; ++i) {
    const T value = values[i];
    size_t j = i;
    for (; j > 0 && less(value, values[j - 1]); --j) values[j] = values[j - 1];
    values[j] = value;
  }
}

class KeySort {
 public:
  // The leading digits spread the keys over about n / 4 short buckets. A crowded bucket goes to the general sort.
  void sort(uint64_t* keys, size_t n) {
    constexpr size_t few = 24;
    if (n <= 8) return insertion_sort(keys, n, std::less<>());
    if (n <= 64) return sort_few(keys, n);
    uint64_t low = keys[0], high = keys[0];
    for (size_t i = 1; i < n; ++i) {
      low = std::min(low, keys[i]);
      high = std::max(high, keys[i]);
    }
    int bits = 3;
    while (bits < 12 && (size_t{4} << bits) < n) ++bits;
    const int shift = std::max(0, static_cast<int>(std::bit_width(high - low)) - bits);
    const size_t n_buckets = static_cast<size_t>((high - low) >> shift) + 1;
    bucket_.assign(n_buckets + 1, 0);
    for (size_t i = 0; i < n; ++i) ++bucket_[((keys[i] - low) >> shift) + 1];
    for (size_t b = 1; b <= n_buckets; ++b) bucket_[b] += bucket_[b - 1];
    if (spare_.size() < n) spare_.resize(n);
    std::copy(keys, keys + n, spare_.begin());
    for (size_t i = 0; i < n; ++i) keys[bucket_[(spare_[i] - low) >> shift]++] = spare_[i];
    // bucket_[b] is now the end of bucket b.
    size_t first = 0;
    for (size_t b = 0; b < n_buckets; ++b) {
      const size_t size = bucket_[b] - first;
      if (size > few)
        std::sort(keys + first, keys + bucket_[b]);
      else
        insertion_sort(keys + first, size, std::less<>());
      first = bucket_[b];
    }
  }

 private:
  std::vector<size_t> bucket_;
  std::vector<uint64_t> spare_;
};

}  // namespace oblique
