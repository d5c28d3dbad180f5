// How the fast search settles a direction without sorting all of its rows.
#pragma once

#include <cstddef>

#include "split/cut_search.hpp"

namespace oblique {

// Tactics are asked in turn, each with its own scratch. One that is left out changes how long a search takes and
// nothing that it finds.
class Tactic {
 public:
  virtual ~Tactic() = default;
  // Turns to the node on which the search has begun.
  virtual void begin() = 0;
  // Whether the direction is settled: no cut of it can win but those that were offered. What a tactic learns of a
  // direction that it does not settle it hands on in OpenBins.
  virtual bool settles(Direction& d) = 0;
};

// Keys of projections have so many bits for what a row is: its class, or its place at the node where rows have weights.
inline constexpr int kPayloadBits = 24;

// Whether steps of 2^-39 of a range are normal numbers.
inline bool is_keyable(Range range) {
  const double width = range.high - range.low;
  return width > 1e-290 && width < 1e290;
}

}  // namespace oblique
