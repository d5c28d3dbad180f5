// The interface of the steps by which the fast search completes a direction without sorting all of its rows.
#pragma once

#include <cstddef>

#include "split/cut_search.hpp"

namespace oblique {

// Tactics run in turn, each with its own buffers. Leaving a tactic out changes the time of a search, not its result.
class Tactic {
 public:
  virtual ~Tactic() = default;
  // Begins the node of the search.
  virtual void begin() = 0;
  // Whether the direction is complete: none of its cuts can win except those already offered. A tactic that does not
  // complete a direction passes its open bins on in OpenBins.
  virtual bool settles(Direction& d) = 0;
};

// Keys of projections use this many bits for a row: for its class, or for its index at the node if rows have weights.
inline constexpr int kPayloadBits = 24;

// Whether steps of 2^-39 of a range are normal numbers.
inline bool is_keyable(Range range) {
  const double width = range.high - range.low;
  return width > 1e-290 && width < 1e290;
}

}  // namespace oblique
