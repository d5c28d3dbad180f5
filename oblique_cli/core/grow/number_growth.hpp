// Growth of regression trees by the heuristics of classification: a node's classes are the rows above its mean and the
// others (Chaudhuri, Huang, Loh & Yao 1994; Loh 2002).
#pragma once

#include "grow/tree_growth.hpp"
#include "split/number_search.hpp"

namespace oblique {

struct NumberOptions {
  size_t min_leaf = 1;     // least rows of a leaf
  int64_t max_depth = -1;  // -1: no limit
  double perfect = 0.0;    // a node with this share of the root's sum of squares is a leaf
  uint64_t seed = 0;
};

// A regression tree; the counts of its nodes are numbers of rows.
struct NumberTree {
  GrownTree tree;
  std::vector<double> means, squares;  // of each node: mean of its targets, and sum of squares about it
};

// Grows one tree, a node at a time; the left child of a node is visited before the right one.
class NumberGrower {
 public:
  // x : (n, p) row-major, finite, n < 2^24; y : n targets; in an order that depends on their content only
  NumberGrower(const double* x, const double* y, size_t n, size_t p, std::unique_ptr<Heuristic> heuristic,
               const SearchOptions& of_classes, const NumberOptions& options)
      : x_(x), y_(y), p_(p), options_(options), levels_(std::vector<int32_t>(p, 0)), predicted_(x, levels_),
        heuristic_(std::move(heuristic)), class_options_(of_classes), classes_(make_search(of_classes)),
        numbers_(std::max<size_t>(options.min_leaf, 1)), row_(numbers_to(n)) {
    number_options_.min_leaf = static_cast<double>(options.min_leaf);
  }

  NumberTree grow() {
    NumberTree out{GrownTree(p_, 1, 0), {}, {}};
    struct Open {
      size_t first, last;
      int32_t node;
      int64_t depth;
      uint64_t path;
    };
    std::vector<Open> waiting{{0, row_.size(), add(out, 0, row_.size()), 0, kRootPath}};
    while (!waiting.empty()) {
      const Open open = waiting.back();
      waiting.pop_back();
      if (open.depth == options_.max_depth || !find(out, open.node, open.first, open.last, open.path)) continue;
      const size_t middle = divide(open.first, open.last);
      if (middle == open.first || middle == open.last) continue;
      const auto node = static_cast<size_t>(open.node);
      const int32_t left = add(out, open.first, middle), right = add(out, middle, open.last);
      out.tree.set_plane(node, split_.normal.data(), split_.threshold);
      out.tree.gains[node] = split_.gain;
      out.tree.set_children(node, left, right);
      waiting.push_back({middle, open.last, right, open.depth + 1, child_path(open.path, true)});
      waiting.push_back({open.first, middle, left, open.depth + 1, child_path(open.path, false)});
    }
    return out;
  }

 private:
  // Appends a leaf with rows [first, last).
  int32_t add(NumberTree& out, size_t first, size_t last) const {
    const double origin = y_[row_[first]], n = static_cast<double>(last - first);
    double sum = 0.0, squares = 0.0;
    for (size_t i = first; i < last; ++i) sum += y_[row_[i]] - origin;
    const double mean = origin + sum / n;
    for (size_t i = first; i < last; ++i) squares += (y_[row_[i]] - mean) * (y_[row_[i]] - mean);
    out.means.push_back(mean);
    out.squares.push_back(squares);
    out.tree.add_facts(&n, static_cast<int64_t>(last - first));
    return out.tree.add_node();
  }

  // split_ = the split of a node with rows [first, last); false for a leaf.
  bool find(const NumberTree& out, int32_t node, size_t first, size_t last, uint64_t path) {
    const size_t n = last - first;
    if (n < 2 * options_.min_leaf || n < 2 || out.squares[node] <= options_.perfect * out.squares[0]) return false;
    // Rows above the mean follow the others.
    const double mean = out.means[node];
    members_.clear();
    for (const bool above : {false, true}) {
      first_row_[above] = members_.size();
      for (size_t i = first; i < last; ++i)
        if ((y_[row_[i]] - mean > 0.0) == above) members_.push_back(row_[i]);
    }
    first_row_[2] = n;
    if (first_row_[1] == 0 || first_row_[1] == n) return false;
    target_.resize(n);
    for (size_t i = 0; i < n; ++i) target_[i] = y_[members_[i]] - mean;
    values_.resize(n * p_);
    gather_of(x_, p_, members_.data(), n, 0, p_, values_.data(), n);
    rows_.columns.resize(p_);
    for (size_t j = 0; j < p_; ++j) rows_.columns[j] = values_.data() + j * n;
    rows_.n = n;
    rows_.n_classes = 2;
    rows_.first_row = first_row_;
    spread_.measure(rows_);
    predicted_.begin(members_.data(), n, nullptr);
    classes_->begin(rows_);
    candidates_.clear();
    heuristic_->propose({rows_, spread_, predicted_, *classes_, class_options_, options_.seed, path}, candidates_);
    numbers_.begin(rows_, target_.data());
    split_ = Split{};
    return search_.find({rows_, spread_, predicted_, numbers_, number_options_, options_.seed, path}, candidates_,
                        split_);
  }

  // Moves the rows of [first, last) that go left before the others and returns their end; the threshold moves to the
  // middle of its gap, by the arithmetic of prediction.
  size_t divide(size_t first, size_t last) {
    const size_t n = last - first;
    predicted_.begin(row_.data() + first, n, nullptr);
    projection_.resize(n);
    predicted_.project(split_.normal.data(), projection_.data());
    if (!split_.is_final && !settle(projection_.data(), n, split_.threshold)) return first;
    members_.clear();
    size_t middle = first;
    for (size_t i = 0; i < n; ++i) {
      if (projection_[i] <= split_.threshold)
        row_[middle++] = row_[first + i];
      else
        members_.push_back(row_[first + i]);
    }
    std::copy(members_.begin(), members_.end(), row_.begin() + static_cast<ptrdiff_t>(middle));
    return middle;
  }

  const double *x_, *y_;
  const size_t p_;
  const NumberOptions options_;
  const Levels levels_;
  PredictedRows predicted_;
  std::unique_ptr<Heuristic> heuristic_;
  const SearchOptions class_options_;  // of the heuristic
  SearchOptions number_options_;
  std::unique_ptr<NodeSearch> classes_;
  NumberSearch numbers_;
  CandidateSearch search_;
  Candidates candidates_;
  Split split_;
  std::vector<uint32_t> row_, members_;  // rows of the tree, by node; rows of a node, by class
  size_t first_row_[3] = {};
  NodeRows rows_;
  Spread spread_;
  Vector target_, values_, projection_;
};

}  // namespace oblique
