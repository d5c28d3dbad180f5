// Random numbers keyed by their purpose.
// The key of a stream is the seed of the tree, the path of the node and the number of the restart, so a node draws the
// same numbers with every engine, in every order of growth and on any number of threads. The generator is SplitMix64
// (Steele, Lea, Flood 2014): a counter whose values are mixed.
#pragma once

#include "common/standard.hpp"

namespace oblique {

inline constexpr uint64_t kRootPath = 1;

// Path of a child: a leading 1, then a bit for each turn from the root, modulo 2^64.
inline uint64_t child_path(uint64_t path, bool right) { return 2 * path + (right ? 1 : 0); }

class Stream {
 public:
  Stream(uint64_t seed, uint64_t path, uint64_t number)
      : state_(mix(mix(mix(seed + kStep) + path * kStep) + number * kStep)) {}

  uint64_t next() { return mix(state_ += kStep); }
  // In [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  size_t below(size_t n) { return static_cast<size_t>(uniform() * static_cast<double>(n)); }

 private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15u;
  static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

}  // namespace oblique
