// A node to be split, and the split of a node.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/eigen.hpp"
#include "common/random.hpp"
#include "common/team.hpp"
#include "split/monotone.hpp"
#include "split/node_rows.hpp"
#include "split/node_search.hpp"
#include "split/predicted_rows.hpp"
#include "split/spread.hpp"

namespace oblique {

// Whether the threads of a team are to share work: if one is free and it is worth a call, or is so much that one will
// be.
inline bool shares_work(const Team& team, std::size_t work) {
  constexpr std::size_t kWorthACall = std::size_t{1} << 18, kMuchWork = std::size_t{1} << 24;
  return team.size() > 1 && (work >= kMuchWork || (work >= kWorthACall && team.has_idle()));
}

// All that a heuristic may see of a node.
struct Node {
  const NodeRows& rows;          // by columns, grouped by class, levels replaced by scores
  const Spread& spread;          // where the features lie among these rows
  PredictedRows& predicted;      // the same rows by the arithmetic of prediction
  NodeSearch& search;            // begun at this node
  const SearchOptions& options;  // of the search
  std::uint64_t seed, path;      // of the tree, and of the node in it
  Team* team = nullptr;          // whose threads may take part, where the node is large enough to be worth it
  const Signs* signs = nullptr;  // of the features, where answers keep an order,
  Bounds bounds = {};            // within these

  std::size_t n_features() const { return rows.columns.size(); }
  // Whether to share work of `steps` over all rows.
  bool is_shared(std::size_t steps) const { return team && shares_work(*team, rows.n * steps); }
  // Random numbers of this node alone; a heuristic numbers the streams it takes.
  Stream stream(std::uint64_t number) const { return Stream(seed, path, number); }
};

// A row goes left if normal'x <= threshold.
struct Split {
  Vector normal;
  double threshold = 0.0;
  double gain = 0.0;
  // Whether the threshold is the heuristic's own and final. Otherwise it lies somewhere in a gap between projections,
  // and the middle of that gap is taken, by the arithmetic of prediction.
  bool is_final = false;
  std::int64_t order = -1;  // place in the enumeration
};

}  // namespace oblique
