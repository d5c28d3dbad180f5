// Division of the values of a node between its children.
#pragma once

#include "common/standard.hpp"

namespace oblique {

// Moves the n values that go left before the others, keeping the order of both. No branch depends on a side, because no
// processor can predict it.
// right : buffer for n values; goes_right : 0 or 1 for a place and its value
template <class T, class GoesRight>
void divide_in_order(T* values, size_t n, T* right, const GoesRight& goes_right) {
  size_t l = 0, r = 0;
  for (size_t i = 0; i < n; ++i) {
    const T value = values[i];
    const size_t side = goes_right(i, value);
    values[l] = value;
    right[r] = value;
    l += 1u - side;
    r += side;
  }
  std::copy(right, right + r, values + l);
}

}  // namespace oblique
