// Growth of the trees of a forest in compiled code, for any sampler and heuristic of forests.
#pragma once

#include "grow/drawn_nodes.hpp"
#include "grow/grower.hpp"

namespace oblique {

// A tree of a forest under construction, as Grower fills it.
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

  // Divides the decrease in impurity or squares among the original features by their coefficients times their range.
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

// Whether a normal is that of an axis; if so, sets the drawn feature of that axis.
inline bool along_axis(const Vector& normal, size_t& feature) {
  size_t terms = 0;
  for (size_t j = 0; j < normal.size(); ++j)
    if (normal[j] != 0.0) {
      ++terms;
      feature = j;
    }
  return terms == 1 && normal[feature] == 1.0;
}

inline constexpr uint64_t kHeuristic = uint64_t{1} << 32;  // stream number of the heuristic of a tree

// The split of a node of a forest's tree: the best proposal of its heuristic, or the best axis-parallel cut. Heuristics
// may request that all nodes below a node without a proposal are cut along axes.
class BestProposal {
 public:
  // heuristic : nullptr for axis-parallel cuts only; without : tactics that the search leaves out
  BestProposal(std::unique_ptr<ForestHeuristic> heuristic, const std::vector<std::string>& without)
      : heuristic_(std::move(heuristic)), axis_(without) {}

  ForestHeuristic* heuristic() { return heuristic_.get(); }
  bool is_orderly() const { return heuristic_ && heuristic_->is_orderly(); }
  const AxisSearch& axis_search() const { return axis_; }

  bool find(DrawnNodes& node, DrawnSplit& split, bool& given_up) {
    if (!given_up && node.n_features() > 0) {
      const Gathered& columns = node.gather_drawn();
      proposal_.clear();
      const Signs signs = node.drawn_signs(columns.m);
      heuristic_->propose({node.bag(), columns, node.stream(), node.path(), signs, node.bounds()}, proposal_);
      if (take_best(node, columns, split)) return true;
      given_up = proposal_.axes_below;
    }
    if (!is_orderly()) return find_axis(node, split);
    node.drawn().take_all();
    const Gathered& columns = node.gather(node.drawn().size());
    const Signs signs = node.drawn_signs(columns.m);
    proposal_.clear();
    if (heuristic_->propose_axis({node.bag(), columns, node.stream(), node.path(), signs, node.bounds()}, proposal_))
      return take_best(node, columns, split);
    if (!find_axis(node, split)) return false;
    double left = 0.0, right = 0.0;
    for (size_t i = 0; i < node.bag().n; ++i) (node.sides().best()[i] ? right : left) += node.bag().weight[i];
    return std::min(left, right) >= heuristic_->min_leaf();
  }

  void end_search(bool) {}

 private:
  // The best cut of the drawn features; if none of them varies, of the next feature that does.
  bool find_axis(DrawnNodes& node, DrawnSplit& split) {
    const Bag& bag = node.bag();
    FeatureDraw& drawn = node.drawn();
    axis_.begin(bag);
    AllowedCuts allowed{node.bounds(), 0};
    for (size_t at = 0; at < drawn.total(); ++at) {
      if (at >= drawn.size()) {
        if (axis_.best().feature >= 0) break;
        drawn.draw(node.stream());
      }
      checkpoint(4 * bag.n);
      if (!node.signs().empty()) allowed.way = node.signs()[drawn[at]];
      axis_.feature(drawn[at], node.axis(drawn[at]), node.signs().empty() ? nullptr : &allowed);
    }
    const AxisCut& best = axis_.best();
    if (best.feature < 0) return false;
    split.feature = best.feature;
    split.value = best.value;
    const AxisFeature of = node.axis(best.feature);
    unsigned char* side = node.sides().best();
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < bag.n; ++i) {
      const uint32_t row = bag.row[i];
      side[i] = best.goes_right(of, row);
      if (side[i])
        high = std::min(high, of.x[row]);
      else
        low = std::max(low, of.x[row]);
    }
    split.threshold = middle_of_gap(low, high);
    return true;
  }

  // The plane of greatest value among the proposals, the first of equals. False if none has rows on both sides.
  bool take_best(DrawnNodes& node, const Gathered& columns, DrawnSplit& split) const {
    const Bag& bag = node.bag();
    bool is_found = false;
    for (const Plane& plane : proposal_.planes) {
      size_t axis = 0;
      const bool is_axis = proposal_.keeps_axes && along_axis(plane.w, axis);
      const double* z = is_axis ? columns.column(axis) : node.projections();
      if (!is_axis) columns.project(plane.w.data(), node.projections());
      double value = 0.0, threshold = plane.t;
      if (!proposal_.is_final && !settle(z, bag.n, threshold)) continue;
      if (!node.sides().try_cut(bag, z, threshold, value) || (is_found && !(value > split.value * kBeats))) continue;
      node.sides().keep(bag.n);
      split.value = value;
      split.threshold = threshold;
      split.feature = is_axis ? node.drawn()[axis] : -1;
      if (!is_axis) split.normal = plane.w;
      is_found = true;
    }
    return is_found;
  }

  std::unique_ptr<ForestHeuristic> heuristic_;
  Proposal proposal_;
  AxisSearch axis_;
};

// Grows one tree after another and reuses its buffers.
class ForestTreeGrower {
 public:
  ForestTreeGrower(TrainingRows& data, const ForestOptions& options)
      : data_(data), options_(options),
        heuristic_(
            options_.heuristic(data.weights.empty() && !options.node_bootstrap && options.rows.takes_all(data.x.n)),
            options.without),
        sampler_(data_, rows_, options_,
                 {!heuristic_.heuristic(), heuristic_.is_orderly(), heuristic_.axis_search().ranked(),
                  heuristic_.axis_search().presorted()}) {}

  ForestTreeGrower(const ForestTreeGrower&) = delete;
  ForestTreeGrower& operator=(const ForestTreeGrower&) = delete;

  // number : of the tree in its forest
  ForestTree grow(uint64_t tree_seed, size_t number) {
    TreeOfForest growth(data_);
    if (heuristic_.heuristic()) heuristic_.heuristic()->begin_tree(Stream(tree_seed, 0, kHeuristic).next(), number);
    sampler_.begin_tree(tree_seed, growth.tree);
    using Splitter = SplitterOf<DrawnNodes&, BestProposal&>;
    const auto make = [&] { return std::unique_ptr<Splitter>(new Splitter{sampler_, heuristic_}); };
    Grower grower(rows_, {options_.minleaf, 0.0, options_.max_depth}, growth, make, nullptr);
    grower.grow({.place = rows_.root(), .given_up = !heuristic_.heuristic()});
    return std::move(growth.tree);
  }

  // Least weight of a child in the next trees, for all families.
  void require(double min_leaf) { heuristic_.heuristic()->require(min_leaf); }

 private:
  TrainingRows& data_;
  const ForestOptions options_;
  BaggedRows rows_;
  BestProposal heuristic_;
  DrawnNodes sampler_;
};

}  // namespace oblique
