// Exact search for the best axis-parallel cut of a node of a forest's tree by Gini. Each row costs O(1): the sums of
// squared class weights on both sides change by one term.
#pragma once

#include "split/rank_tactic.hpp"

namespace oblique {

// The plain search sorts the rows by every feature. Ranks are a tactic (rank_tactic.hpp) that finds the same cut
// faster.
class AxisSearch {
 public:
  static constexpr std::array kTactics{"ranks", "sorted rows"};

  // without : tactics to leave out, for tests
  explicit AxisSearch(const std::vector<std::string>& without = {}) {
    const auto takes_part = [&](const char* name) {
      return std::find(without.begin(), without.end(), name) == without.end();
    };
    for (const std::string& name : without)
      if (std::find(kTactics.begin(), kTactics.end(), name) == kTactics.end())
        throw std::invalid_argument("the search along axes has no tactic '" + name + "'");
    ranked_ = takes_part(kTactics[0]);
    presorted_ = ranked_ && takes_part(kTactics[1]);
  }

  // Whether the search uses ranks, and rows sorted by every feature.
  bool ranked() const { return ranked_; }
  bool presorted() const { return presorted_; }

  void begin(const Bag& bag) {
    bag_ = &bag;
    cuts_.begin(bag);
    if (ranked_) ranks_.begin(bag);
  }
  // allowed : the permitted cuts of the feature, or nullptr
  void feature(int j, const AxisFeature& of, const AllowedCuts* allowed = nullptr) {
    cuts_.feature = j;
    cuts_.allowed = allowed;
    if (ranked_ && ranks_.settles(of, cuts_)) return;
    search_plainly(of.x);
  }
  const AxisCut& best() const { return cuts_.best; }

 private:
  struct Row {
    double x;
    uint32_t place, k;
  };

  void search_plainly(const double* x) {
    sorted_.clear();
    uint32_t i = 0;
    for (uint32_t k = 0; k < bag_->runs->size(); ++k)
      for (const uint32_t end = i + (*bag_->runs)[k].n; i < end; ++i) sorted_.push_back({x[bag_->row[i]], i, k});
    std::sort(sorted_.begin(), sorted_.end(),
              [](const Row& a, const Row& b) { return a.x != b.x ? a.x < b.x : a.place < b.place; });
    cuts_.start();
    AxisCuts::Sweep sweep(cuts_);
    for (i = 0; i + 1 < sorted_.size(); ++i) {
      sweep.move(sorted_[i].k, bag_->weight[sorted_[i].place]);
      if (sorted_[i].x != sorted_[i + 1].x) sweep.consider(sorted_[i].x);
    }
  }

  bool ranked_, presorted_;
  const Bag* bag_ = nullptr;
  AxisCuts cuts_;
  RankTactic ranks_;
  std::vector<Row> sorted_;
};

}  // namespace oblique
