// Loops over small sizes, compiled for each size so that they unroll.
#pragma once

#include "common/standard.hpp"

namespace oblique {

// Returns use(size), with the size as a constant from 1 to Most, or 0 for any larger one.
template <size_t Most, class Use>
decltype(auto) with_size(size_t size, const Use& use) {
  if constexpr (Most > 1)
    if (size < Most) return with_size<Most - 1>(size, use);
  if (size == Most) return use(std::integral_constant<size_t, Most>{});
  return use(std::integral_constant<size_t, 0>{});
}

}  // namespace oblique
