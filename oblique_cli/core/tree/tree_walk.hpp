// The path of rows down the trees of a forest.
#pragma once

#include "common/kernels.hpp"
#include "tree/plane_tree.hpp"
#include "tree/step_down.hpp"

namespace oblique {

// Takes rows down one tree after another and reuses its buffers.
class TreeWalk {
 public:
  // leaf[i] = node number of the leaf of row i of n; rows are `stride` apart.
  void leaves_of(const ForestTree& tree, const double* x, size_t n, size_t stride, int32_t* leaf) {
    if (tree.nodes[0].left < 0) {
      std::fill_n(leaf, n, 0);
      return;
    }
    // With fewer rows, building the layout takes longer than it saves. Rotated features may overflow.
    const bool lays_out = tree.width >= 1 && tree.width <= kMostTerms && n >= tree.size() && !tree.rotation.rotates();
    if (lays_out) lay_out(tree);
    with_size<6>(tree.width, [&](auto width) {
      constexpr size_t W = width();
      if constexpr (W >= 1 && W <= kMostTerms)
        if (lays_out) return descend(Laid<W>{steps_.data()}, x, n, stride, leaf);
      descend(AsGrown<W>{tree.nodes.data(), tree.terms.data(), tree.width}, x, n, stride, leaf);
    });
  }

 private:
  static constexpr size_t kMostTerms = 4;

  // A split in one cache line. The other coefficients of an axis-parallel one are 0: the same bits for finite features.
  struct alignas(64) Step {
    double threshold;
    double coef[kMostTerms];
    int32_t feature[kMostTerms];
    int32_t next[2];  // number of the step to the left and to the right; ~(node number) of a leaf
  };

  // Splits in the form of `step_down`, with the root as number 0. W : terms of an oblique split, so that the loop
  // unrolls; 0 if only `width` is known. Sums start from the first term, as in growth.
  template <size_t W>
  struct Laid {
    const Step* steps;

    int32_t next(int32_t at, const double* row) const {
      const Step& step = steps[at];
      double sum = step.coef[0] * row[step.feature[0]];
      for (size_t j = 1; j < W; ++j) sum += step.coef[j] * row[step.feature[j]];
      return step.next[sum > step.threshold];
    }
    bool goes_on(int32_t at) const { return at >= 0; }
    int32_t leaf(int32_t at) const { return ~at; }
  };
  template <size_t W>
  struct AsGrown {
    const SparsePlanes::Node* nodes;
    const SparsePlanes::Term* terms;
    size_t width;

    int32_t next(int32_t at, const double* row) const {
      const SparsePlanes::Node node = nodes[at];
      return node.left + (value(node, row) > node.threshold);
    }
    bool goes_on(int32_t at) const { return nodes[at].left >= 0; }
    int32_t leaf(int32_t at) const { return at; }
    double value(const SparsePlanes::Node& node, const double* row) const {
      if (node.term < 0) return row[~node.term];
      const size_t count = W ? W : width;
      const SparsePlanes::Term* term = terms + static_cast<size_t>(node.term) * count;
      double sum = term[0].coef * row[term[0].feature];
      for (size_t j = 1; j < count; ++j) sum += term[j].coef * row[term[j].feature];
      return sum;
    }
  };

  struct Rows {
    const double* x;
    size_t stride;
    const double* operator[](size_t row) const { return x + row * stride; }
  };

  template <class Splits>
  void descend(const Splits splits, const double* x, size_t n, size_t stride, int32_t* leaf) {
    if (open_.size() < n) open_.resize(n);
    for (size_t i = 0; i < n; ++i) open_[i] = {static_cast<uint32_t>(i), 0};
    step_down(splits, Rows{x, stride}, open_.data(), n, leaf);
  }

  // The splits as steps, in the order of their nodes.
  void lay_out(const ForestTree& tree) {
    number_.resize(tree.size());
    int32_t count = 0;
    for (size_t i = 0; i < tree.size(); ++i) number_[i] = tree.nodes[i].left >= 0 ? count++ : ~static_cast<int32_t>(i);
    steps_.resize(static_cast<size_t>(count));
    for (size_t i = 0; i < tree.size(); ++i) {
      const SparsePlanes::Node& node = tree.nodes[i];
      if (node.left < 0) continue;
      Step& step = steps_[number_[i]];
      step.threshold = node.threshold;
      step.next[0] = number_[node.left];
      step.next[1] = number_[node.left + 1];
      for (size_t j = 0; j < tree.width; ++j) {
        const SparsePlanes::Term term = node.term < 0 ? SparsePlanes::Term{j == 0 ? 1.0 : 0.0, ~node.term}
                                                      : tree.terms[static_cast<size_t>(node.term) * tree.width + j];
        step.coef[j] = term.coef;
        step.feature[j] = term.feature;
      }
    }
  }

  std::vector<OnTheWay> open_;
  std::vector<Step> steps_;
  std::vector<int32_t> number_;  // of each node, in the form of `next`
};

}  // namespace oblique
