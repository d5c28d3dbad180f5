// The path of rows down the trees of a forest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "tree/plane_tree.hpp"
#include "tree/step_down.hpp"

namespace oblique {

// Takes rows down one tree after another and reuses its buffers.
class TreeWalk {
 public:
  // leaf[i] = node number of the leaf of row i of n; rows are `stride` apart.
  void leaves_of(const ForestTree& tree, const double* x, std::size_t n, std::size_t stride, std::int32_t* leaf) {
    if (tree.nodes[0].left < 0) {
      std::fill_n(leaf, n, 0);
      return;
    }
    // With fewer rows, building the layout takes longer than it saves. Rotated features may overflow.
    const bool lays_out = tree.width >= 1 && tree.width <= kMostTerms && n >= tree.size() && !tree.rotation.rotates();
    if (lays_out) lay_out(tree);
    with_width(tree.width, [&](auto width) {
      constexpr std::size_t W = decltype(width)::value;
      if constexpr (W >= 1 && W <= kMostTerms)
        if (lays_out) return descend(Laid<W>{steps_.data()}, x, n, stride, leaf);
      descend(AsGrown<W>{tree.nodes.data(), tree.terms.data(), tree.width}, x, n, stride, leaf);
    });
  }

 private:
  static constexpr std::size_t kMostTerms = 4;

  // A split with all its data in one cache line. For an axis-parallel split the other coefficients are 0: the sum has
  // the same bits as long as features are finite.
  struct alignas(64) Step {
    double threshold;
    double coef[kMostTerms];
    std::int32_t feature[kMostTerms];
    std::int32_t next[2];  // number of the step to the left and to the right; ~(node number) of a leaf
  };

  // Splits in the form of `step_down`, with the root as number 0. W : terms of an oblique split, so that the loop
  // unrolls; 0 if only `width` is known. Sums start from the first term, as in growth.
  template <std::size_t W>
  struct Laid {
    const Step* steps;

    std::int32_t next(std::int32_t at, const double* row) const {
      const Step& step = steps[at];
      double sum = step.coef[0] * row[step.feature[0]];
      for (std::size_t j = 1; j < W; ++j) sum += step.coef[j] * row[step.feature[j]];
      return step.next[sum > step.threshold];
    }
    bool goes_on(std::int32_t at) const { return at >= 0; }
    std::int32_t leaf(std::int32_t at) const { return ~at; }
  };
  template <std::size_t W>
  struct AsGrown {
    const SparsePlanes::Node* nodes;
    const SparsePlanes::Term* terms;
    std::size_t width;

    std::int32_t next(std::int32_t at, const double* row) const {
      const SparsePlanes::Node node = nodes[at];
      return node.left + (value(node, row) > node.threshold);
    }
    bool goes_on(std::int32_t at) const { return nodes[at].left >= 0; }
    std::int32_t leaf(std::int32_t at) const { return at; }
    double value(const SparsePlanes::Node& node, const double* row) const {
      if (node.term < 0) return row[~node.term];
      const std::size_t count = W ? W : width;
      const SparsePlanes::Term* term = terms + static_cast<std::size_t>(node.term) * count;
      double sum = term[0].coef * row[term[0].feature];
      for (std::size_t j = 1; j < count; ++j) sum += term[j].coef * row[term[j].feature];
      return sum;
    }
  };

  template <class Use>
  static void with_width(std::size_t width, Use use) {
    switch (width) {
      case 1: return use(std::integral_constant<std::size_t, 1>{});
      case 2: return use(std::integral_constant<std::size_t, 2>{});
      case 3: return use(std::integral_constant<std::size_t, 3>{});
      case 4: return use(std::integral_constant<std::size_t, 4>{});
      case 5: return use(std::integral_constant<std::size_t, 5>{});
      case 6: return use(std::integral_constant<std::size_t, 6>{});
      default: return use(std::integral_constant<std::size_t, 0>{});
    }
  }

  struct Rows {
    const double* x;
    std::size_t stride;
    const double* operator[](std::size_t row) const { return x + row * stride; }
  };

  template <class Splits>
  void descend(const Splits splits, const double* x, std::size_t n, std::size_t stride, std::int32_t* leaf) {
    if (open_.size() < n) open_.resize(n);
    for (std::size_t i = 0; i < n; ++i) open_[i] = {static_cast<std::uint32_t>(i), 0};
    step_down(splits, Rows{x, stride}, open_.data(), n, leaf);
  }

  // The splits as steps, in the order of their nodes.
  void lay_out(const ForestTree& tree) {
    number_.resize(tree.size());
    std::int32_t count = 0;
    for (std::size_t i = 0; i < tree.size(); ++i)
      number_[i] = tree.nodes[i].left >= 0 ? count++ : ~static_cast<std::int32_t>(i);
    steps_.resize(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < tree.size(); ++i) {
      const SparsePlanes::Node& node = tree.nodes[i];
      if (node.left < 0) continue;
      Step& step = steps_[static_cast<std::size_t>(number_[i])];
      step.threshold = node.threshold;
      step.next[0] = number_[node.left];
      step.next[1] = number_[node.left + 1];
      for (std::size_t j = 0; j < tree.width; ++j) {
        const SparsePlanes::Term term = node.term < 0
                                            ? SparsePlanes::Term{j == 0 ? 1.0 : 0.0, ~node.term}
                                            : tree.terms[static_cast<std::size_t>(node.term) * tree.width + j];
        step.coef[j] = term.coef;
        step.feature[j] = term.feature;
      }
    }
  }

  std::vector<OnTheWay> open_;
  std::vector<Step> steps_;
  std::vector<std::int32_t> number_;  // of each node, in the form of `next`
};

}  // namespace oblique
