// The moments of a node whose rows are in memory.
#pragma once

#include <cstddef>

#include "heuristic/bisectors.hpp"
#include "heuristic/class_moments.hpp"
#include "heuristic/moments.hpp"
#include "split/node.hpp"

namespace oblique {

// Serves one node after another and reuses its buffers.
class NodeMoments final : public RowMoments {
 public:
  void begin(const Node& node) {
    node_ = &node;
    moments_.begin(node.spread.widest());
  }

  std::size_t n_features() const override { return node_->n_features(); }
  int n_classes() const override { return node_->rows.n_classes; }
  double weight(int k) const override { return node_->search.totals().of_class[k]; }
  bool covariance(int k, Vector& out) override { return moments_.covariance(node_->rows, first(k), first(k + 1), out); }
  bool unit_scatter(int k, Vector& out) override {
    return moments_.unit_scatter(node_->rows, first(k), first(k + 1), out);
  }
  void pooled_variances(Vector& out) override { moments_.pooled_variances(node_->rows, out); }
  void add_axes(const ClassAxes& axes, Vector& out) override;
  // Restores the search of the node afterwards.
  const Plane* better_bisector(bool super_classes) override { return bisector_.find(*node_, super_classes); }

 private:
  std::size_t first(int k) const { return node_->rows.first_row[k]; }
  void add_axes_of(int k, const ClassAxes& axes, ClassMoments& moments, Vector& out) const;

  const Node* node_ = nullptr;
  ClassMoments moments_;
  BetterBisector bisector_;
};

}  // namespace oblique
