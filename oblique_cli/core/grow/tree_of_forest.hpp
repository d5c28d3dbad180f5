// A tree of a forest under construction, as Grower fills it.
#pragma once

#include "grow/drawn_nodes.hpp"
#include "grow/grower.hpp"

namespace oblique {

class TreeOfForest {
 public:
  using Open = OpenNode<BaggedRows::Place>;

  explicit TreeOfForest(const TrainingRows& data) : data_(data) {
    tree.importance.assign(data.x.p, 0.0);
    tree.leaf_start.push_back(0);
  }

  int32_t add(const BaggedRows&, const BaggedRows::Place&) { return tree.add_node(); }

  void leaf(const Open& open, const BaggedRows& rows) {
    tree.depth = std::max(tree.depth, static_cast<int32_t>(open.depth));
    tree.nodes[open.node].left = ~static_cast<int32_t>(tree.n_leaves());
    const ClassRun* heaviest = &rows.runs()[0];
    for (const ClassRun& run : rows.runs()) {
      if (run.weight > heaviest->weight) heaviest = &run;
      tree.leaf_class.push_back(run.code);
      tree.leaf_weight.push_back(run.weight);
    }
    tree.label.push_back(heaviest->code);
    tree.leaf_start.push_back(static_cast<uint32_t>(tree.leaf_class.size()));
  }

  void split(const Open& open, const BaggedRows& rows, const DrawnNodes& sampler, const DrawnSplit& division,
             const Open& left, const Open&) {
    shares_.clear();
    const int32_t number = division.feature >= 0 ? ~division.feature : static_cast<int32_t>(tree.n_oblique());
    tree.nodes[open.node] = {division.threshold, left.node, number};
    if (division.feature >= 0)
      add_share(division.feature, 1.0);
    else
      for (size_t j = 0; j < tree.width; ++j) {
        tree.terms.push_back(division.terms ? division.terms[j]
                                            : SparsePlanes::Term{division.normal[j], sampler.drawn()[j]});
        add_share(tree.terms.back().feature, tree.terms.back().coef);
      }
    credit(rows, division);
  }

  ForestTree tree;

 private:
  // Adds the coefficient of a feature of the tree, expressed in the original features.
  void add_share(int32_t feature, double w) {
    const Rotation& rotation = tree.rotation;
    if (!rotation.rotates()) {
      shares_.push_back({feature, w});
      return;
    }
    for (int32_t t = rotation.start[feature]; t < rotation.start[feature + 1]; ++t)
      shares_.push_back({rotation.feature[t], w * rotation.coef[t]});
  }

  // Divides the decrease in impurity, or in the sum of squares, among the original features in proportion to the
  // magnitude of their coefficients times their range.
  void credit(const BaggedRows& rows, const DrawnSplit& division) {
    double squares = 0.0, total = 0.0;
    for (const ClassRun& run : rows.runs()) {
      squares += run.weight * run.weight;
      total += run.weight;
    }
    const double gain = std::max(division.value - (division.uncut < 0.0 ? squares / total : division.uncut), 0.0);
    double sum = 0.0;
    for (auto& [feature, w] : shares_) {
      w = std::fabs(w) * data_.half_range[feature];
      sum += w;
    }
    if (!std::isfinite(sum)) {
      sum = 0.0;
      for (auto& [feature, w] : shares_) sum += w *= 0x1p-64;
    }
    if (sum > 0.0)
      for (const auto& [feature, w] : shares_) tree.importance[feature] += gain * (w / sum);
  }

  const TrainingRows& data_;
  std::vector<std::pair<int32_t, double>> shares_;
};

}  // namespace oblique
