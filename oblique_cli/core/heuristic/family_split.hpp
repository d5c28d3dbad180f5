// The split of a forest's node by a family of heuristics, any that core/heuristic knows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "heuristic/heuristic.hpp"
#include "rows/bag_rows.hpp"
#include "rows/gathered.hpp"
#include "split/node.hpp"
#include "split/predicted_rows.hpp"
#include "split/spread.hpp"
#include "tree/levels.hpp"

namespace oblique {

// A family of heuristics with its options.
struct FamilyChoice {
  const Family* family;
  Options options;
};

// Splits the nodes of one tree after another.
class FamilySplit {
 public:
  // unweighted : whether no row of any node counts more than once
  FamilySplit(const std::vector<FamilyChoice>& families, bool unweighted)
      : families_(families), unweighted_(unweighted), none_({}),
        predicted_(static_cast<const double*>(nullptr), none_) {
    if (families.empty()) return;
    options_ = search_of(families[0].options);
    search_ = make_search(options_);
    axes_.add_axes();
  }

  // Trees take the families in turn.
  void begin_tree(std::uint64_t seed, std::size_t number) {
    const FamilyChoice& choice = families_[number % families_.size()];
    heuristic_ = choice.family->make(choice.options);
    seed_ = seed;
  }

  // Turns to a node. False if its features are so large, or all so small, that moments of them are no numbers; then
  // nothing may be asked.
  bool begin(const Bag& bag, const Gathered& x) {
    const NodeRows& rows = rows_.take(bag, x, unweighted_);
    spread_.measure(rows);
    const double largest = *std::max_element(spread_.magnitude.begin(), spread_.magnitude.end());
    if (!(largest < kLargest && (largest == 0.0 || largest > 1.0 / kLargest))) return false;
    predicted_.begin(rows.columns, rows.n);
    search_->begin(rows);
    node_rows_ = &rows;
    return true;
  }

  // The split that the family finds; nullptr if there is none. Its normal refers to the columns of the node.
  const Split* find(std::uint64_t path) { return heuristic_->split(node(path), split_) ? &split_ : nullptr; }
  // The best cut along the axes.
  const Split* find_axis(std::uint64_t path) {
    return axes_search_.find(node(path), axes_, split_) ? &split_ : nullptr;
  }
  double min_leaf() const { return options_.min_leaf; }
  void require(double min_leaf) {
    options_.min_leaf = min_leaf;
    search_ = make_search(options_);
  }

 private:
  static constexpr double kLargest = 0x1p500;

  Node node(std::uint64_t path) { return {*node_rows_, spread_, predicted_, *search_, options_, seed_, path}; }

  const std::vector<FamilyChoice>& families_;
  const bool unweighted_;
  const Levels none_;
  PredictedRows predicted_;
  SearchOptions options_;
  std::unique_ptr<NodeSearch> search_;
  std::unique_ptr<Heuristic> heuristic_;
  Candidates axes_;
  CandidateSearch axes_search_;
  std::uint64_t seed_ = 0;
  BagRows rows_;
  const NodeRows* node_rows_ = nullptr;
  Spread spread_;
  Split split_;
};

}  // namespace oblique
