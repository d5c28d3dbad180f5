// A node to be split, and the split of a node.
#pragma once

#include "common/random.hpp"
#include "common/team.hpp"
#include "split/node_search.hpp"
#include "split/spread.hpp"
#include "split/table_rows.hpp"

namespace oblique {

// Whether threads should share work: one is idle and the work is worth a call, or one will become idle meanwhile.
inline bool shares_work(const Team& team, size_t work) {
  constexpr size_t kWorthACall = size_t{1} << 18, kMuchWork = size_t{1} << 24;
  return team.size() > 1 && (work >= kMuchWork || (work >= kWorthACall && team.has_idle()));
}

// The part of a node that a heuristic sees.
struct Node {
  const NodeRows& rows;          // by columns, grouped by class, levels replaced by scores
  const Spread& spread;          // ranges of the features among these rows
  PredictedRows& predicted;      // the same rows by the arithmetic of prediction
  NodeSearch& search;            // begun at this node
  const SearchOptions& options;  // of the search
  uint64_t seed, path;           // of the tree, and path of the node in it
  Team* team = nullptr;          // threads that may help, if the node is large enough
  const Signs* signs = nullptr;  // monotone signs of the features, if there are constraints,
  Bounds bounds = {};            // and the bounds of predictions

  size_t n_features() const { return rows.columns.size(); }
  // Whether to share work of `steps` over all rows.
  bool is_shared(size_t steps) const { return team && shares_work(*team, rows.n * steps); }
  // Random numbers of this node alone; a heuristic numbers its streams.
  Stream stream(uint64_t number) const { return Stream(seed, path, number); }
};

// A row goes left if normal'x <= threshold.
struct Split {
  Vector normal;
  double threshold = 0.0;
  double gain = 0.0;
  // Whether the heuristic fixed the threshold. Otherwise it lies somewhere in a gap between projections and moves to
  // the middle of that gap, by the arithmetic of prediction.
  bool is_final = false;
  int64_t order = -1;  // index in the enumeration
};

}  // namespace oblique
