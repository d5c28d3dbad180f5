// The bisectors of the two clustering hyperplanes at a node, and which of them splits it better.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "heuristic/class_moments.hpp"
#include "heuristic/clustering_planes.hpp"
#include "heuristic/row_span.hpp"
#include "split/node.hpp"
#include "split/node_rows.hpp"
#include "split/node_search.hpp"
#include "split/spread.hpp"
#include "split/totals.hpp"

namespace oblique {

// The two clustering hyperplanes of the largest class against the rest, and their bisectors (thesis 5.1.1 to 5.1.2).
class Bisectors {
 public:
  // largest: place of the majority class among the classes present. Returns false if a plane has no direction.
  bool find(const NodeRows& rows, const Spread& spread, const Totals& totals, int largest, ClassMoments& moments,
            std::vector<Plane>& out);

  // The same from sums of w [z 1]'[z 1], z in the coordinates `Standard::of(spread.center, spread.range)`: those of the
  // largest class, which weighs `weight`, and of all others, which weigh `rest`.
  bool from_moments(const Vector& largest, const Vector& others, double weight, double rest, const Spread& spread,
                    std::vector<Plane>& out);

 private:
  // The bisectors from the sums in a_ and b_.
  bool finish(const RowSpan* span, const Spread& spread, double weight, double rest, std::vector<Plane>& out);

  ClusteringHyperplane plane_;
  Standard standard_;
  RowSpan span_;
  Vector a_, b_, first_, second_;
};

int majority(const Totals& t);

// Finds the bisector of greater gain at a node.
class BetterBisector {
 public:
  // The first on a tie, or if neither has any gain; nullptr if there is no bisector. super_classes: score the bisectors
  // by the largest class against all others joined, not by all classes. Leaves node.search as begun.
  const Plane* find(const Node& node, bool super_classes);

 private:
  // The same rows with all classes but the largest joined: that one first, then the others.
  void begin_super_search(const Node& node);

  void reorder_projection();

  Bisectors bisectors_;
  ClassMoments moments_;
  std::vector<Plane> planes_;
  Vector projection_, super_projection_, super_weights_;
  std::vector<std::size_t> super_order_, super_offsets_;
  NodeRows super_rows_;
  std::unique_ptr<NodeSearch> super_search_;
};

}  // namespace oblique
