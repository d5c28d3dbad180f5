#include "grow/forest_grower.hpp"

#include <memory>
#include <utility>

#include "grow/grower.hpp"
#include "grow/tree_of_forest.hpp"

namespace oblique {

namespace {

constexpr std::uint64_t kHeuristic = std::uint64_t{1} << 32;  // stream number of the heuristic of a tree

}  // namespace

ForestTreeGrower::ForestTreeGrower(TrainingRows& data, const ForestOptions& options)
    : data_(data), options_(options),
      heuristic_(
          options_.heuristic(data.weights.empty() && !options.node_bootstrap && options.rows.takes_all(data.x.n)),
          options.without),
      sampler_(data_, rows_, options_,
               {!heuristic_.heuristic(), heuristic_.is_orderly(), heuristic_.axis_search().ranked(),
                heuristic_.axis_search().presorted()}) {}

ForestTree ForestTreeGrower::grow(std::uint64_t tree_seed, std::size_t number) {
  TreeOfForest growth(data_);
  if (heuristic_.heuristic()) heuristic_.heuristic()->begin_tree(Stream(tree_seed, 0, kHeuristic).next(), number);
  sampler_.begin_tree(tree_seed, growth.tree);
  using Splitter = SplitterOf<DrawnNodes&, BestProposal&>;
  const auto make = [&] { return std::unique_ptr<Splitter>(new Splitter{sampler_, heuristic_}); };
  Grower grower(rows_, {options_.minleaf, 0.0, options_.max_depth}, growth, make, nullptr);
  grower.grow({.place = rows_.root(), .given_up = !heuristic_.heuristic()});
  return std::move(growth.tree);
}

}  // namespace oblique
