// Four numbers at once.
#pragma once

#include <cstring>

#include "common/clones.hpp"

namespace oblique {

typedef double Four __attribute__((vector_size(32)));  // where registers have 16 bytes the compiler splits it

OBLIQUE_INLINE Four load_four(const double* x) {
  Four v;
  std::memcpy(&v, x, sizeof v);
  return v;
}

}  // namespace oblique
