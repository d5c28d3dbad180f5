#include "grow/histogram_grower.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "common/random.hpp"
#include "grow/grower.hpp"
#include "grow/tree_of_forest.hpp"

namespace oblique {

namespace {

// Rounds from one small tree to the next, and how large these are.
constexpr std::size_t kEvery = 2, kRows = 256;
constexpr std::int64_t kDepth = 4;
constexpr std::uint64_t kSmallTree = (std::uint64_t{1} << 32) + 16;  // number of the stream of its seed

std::size_t drawn_of(const RowDraw& rows, std::size_t n) { return rows.count == 0 ? n : std::min(rows.count, n); }

ForestOptions small(ForestOptions options, std::size_t n) {
  options.rows.count = std::min(drawn_of(options.rows, n), kRows);
  options.max_depth = kDepth;
  return options;
}

}  // namespace

HistogramGrower::HistogramGrower(TrainingRows& data, const double* mass, const ForestOptions& options,
                                 std::size_t max_bins)
    : data_(data), options_(options), directions_(data, mass, max_bins), small_(data, small(options, data.x.n)),
      best_(directions_), sampler_(data, rows_, options_, {false, true, false, false}) {}

ForestTree HistogramGrower::grow(std::uint64_t tree_seed, std::size_t round) {
  if (round % kEvery == 0) find_planes(tree_seed, round);
  TreeOfForest growth(data_);
  sampler_.begin_tree(tree_seed, growth.tree);
  best_.begin_tree(round, min_leaf_);
  using Splitter = SplitterOf<DrawnNodes&, BestBin&>;
  const auto make = [&] { return std::unique_ptr<Splitter>(new Splitter{sampler_, best_}); };
  Grower grower(rows_, {options_.minleaf, 0.0, options_.max_depth}, growth, make, nullptr);
  grower.grow({.place = rows_.root()});
  return std::move(growth.tree);
}

// A child of the small tree weighs as large a share of its rows as it would have to weigh of all that are drawn.
void HistogramGrower::find_planes(std::uint64_t tree_seed, std::size_t round) {
  const std::size_t drawn = drawn_of(options_.rows, data_.x.n);
  const double share = static_cast<double>(std::min(drawn, kRows)) / static_cast<double>(drawn);
  small_.require(std::max(1.0, share * min_leaf_));
  directions_.add(small_.grow(Stream(tree_seed, 0, kSmallTree).next(), round / kEvery), round);
}

}  // namespace oblique
