// The bisectors of the two clustering hyperplanes at a node, and the choice between them.
#pragma once

#include "heuristic/class_moments.hpp"
#include "heuristic/row_span.hpp"
#include "split/node.hpp"

namespace oblique {

// The two clustering hyperplanes of the largest class against the rest, and their bisectors (thesis 5.1.1 to 5.1.2).
class Bisectors {
 public:
  // largest : index of the majority class among the classes present. False if a plane has no direction.
  bool find(const NodeRows& rows, const Spread& spread, const Totals& totals, int largest, ClassMoments& moments,
            std::vector<Plane>& out);

  // As find, from sums of w [z 1]'[z 1] with z in the coordinates `Standard::of(spread.center, spread.range)`: the sums
  // of the largest class, of total weight `weight`, and of all others, of total weight `rest`.
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

// Selects the bisector of greater gain at a node.
class BetterBisector {
 public:
  // The better bisector; the first on a tie or if neither has any gain; nullptr if there is none.
  // super_classes : score the bisectors by two groups, the largest class and all others, instead of all classes.
  // Restores node.search afterwards.
  const Plane* find(const Node& node, bool super_classes);

 private:
  // Begins a search on the same rows with two groups: the largest class, then all others.
  void begin_super_search(const Node& node);

  void reorder_projection();

  Bisectors bisectors_;
  ClassMoments moments_;
  std::vector<Plane> planes_;
  Vector projection_, super_projection_, super_weights_;
  std::vector<size_t> super_order_, super_offsets_;
  NodeRows super_rows_;
  std::unique_ptr<NodeSearch> super_search_;
};

}  // namespace oblique
