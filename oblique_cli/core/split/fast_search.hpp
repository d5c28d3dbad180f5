// Exact search over many directions without sorting every one of them: the split that PlainSearch finds, same score and
// same tie rule (front.hpp), by a chain of tactics.
//
//   looks      a few quick looks at a reflected direction, before it is projected
//   rare rows  bounds from the rows of all classes but the most frequent, where these are few
//   weights    bounds by rounded weights, where rows have weights
//   bins       classes counted in equal-width bins; an upper bound says how good a cut inside a bin can be
//   parts      bins that can still win divided, where they hold many rows
//   sort       the rows of what can still win
//
// What none of them settles is searched plainly.
//
// Under the tolerant tie rule two projected values are distinct if they differ by more than 1e-9 of the projection's
// scale (spread.hpp); the strict rule takes any difference, for which no tactic is made.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "split/bin_tactic.hpp"
#include "split/look_tactic.hpp"
#include "split/open_bins.hpp"
#include "split/part_tactic.hpp"
#include "split/plain_search.hpp"
#include "split/rare_tactic.hpp"
#include "split/sort_tactic.hpp"
#include "split/tactic.hpp"
#include "split/weight_tactic.hpp"

namespace oblique {

template <class Criterion>
class FastSearch final : public PlainSearch<Criterion> {
 public:
  explicit FastSearch(const SearchOptions& options) : PlainSearch<Criterion>(options), bins_(*this) {
    const auto takes_part = [&](const char* tactic) {
      return std::find(options.without.begin(), options.without.end(), tactic) == options.without.end();
    };
    auto rare = std::make_unique<RareTactic<Criterion>>(*this);
    if (takes_part("looks"))
      looks_ = std::make_unique<LookTactic<Criterion>>(*this, takes_part("rare rows") ? rare.get() : nullptr);
    if (takes_part("rare rows")) chain_.push_back(std::move(rare));
    if (takes_part("weights")) chain_.push_back(std::make_unique<WeightTactic<Criterion>>(*this));
    if (takes_part("bins")) chain_.push_back(std::make_unique<BinTactic<Criterion>>(*this, bins_));
    if (takes_part("parts")) chain_.push_back(std::make_unique<PartTactic<Criterion>>(*this, bins_));
    if (takes_part("sort")) chain_.push_back(std::make_unique<SortTactic<Criterion>>(*this, bins_));
  }

  void begin(const NodeRows& of_node) override {
    PlainSearch<Criterion>::begin(of_node);
    for (const auto& tactic : chain_) tactic->begin();
    if (looks_) looks_->begin();
  }

  bool is_over(std::int64_t order) const override { return CutSearch<Criterion>::is_over(order); }

 protected:
  void search(Direction& d) override {
    if ((looks_ && looks_->settles(d)) || !this->project(d)) return;
    bins_.assume(d.w != nullptr);
    do {
      bins_.clear();
      if (!is_settled(d)) this->search_plainly(d);
    } while (bins_.assumed_wrongly());
  }

 private:
  bool is_settled(Direction& d) {
    for (const auto& tactic : chain_)
      if (tactic->settles(d)) return true;
    return false;
  }

  OpenBins<Criterion> bins_;
  std::unique_ptr<Tactic> looks_;
  std::vector<std::unique_ptr<Tactic>> chain_;
};

}  // namespace oblique
