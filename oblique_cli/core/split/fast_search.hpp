// Exact search over many directions without sorting the rows along each: the result of PlainSearch, with the same score
// and tie rule (front.hpp), by a chain of tactics.
//
//   looks      coarse counts along a reflected direction, before its rows are projected
//   rare rows  bounds from the rows of all classes except the most frequent, if these rows are few
//   bins       class counts in equal-width bins, with an upper bound of the value of the cuts in each bin
//   parts      division of open bins that hold many rows
//   sort       sorting of the rows of open bins
//
// The plain search handles the directions that no tactic completes.
//
// Under the tolerant tie rule two projections are distinct if they differ by more than 1e-9 of the projection's scale
// (spread.hpp). The strict rule accepts any difference and uses no tactic.
#pragma once

#include "split/bin_tactic.hpp"
#include "split/look_tactic.hpp"
#include "split/plain_search.hpp"

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
    if (takes_part("bins")) chain_.push_back(std::make_unique<BinTactic<Criterion>>(*this, bins_));
    if (takes_part("parts")) chain_.push_back(std::make_unique<PartTactic<Criterion>>(*this, bins_));
    if (takes_part("sort")) chain_.push_back(std::make_unique<SortTactic<Criterion>>(*this, bins_));
  }

  void begin(const NodeRows& of_node) override {
    PlainSearch<Criterion>::begin(of_node);
    for (const auto& tactic : chain_) tactic->begin();
    if (looks_) looks_->begin();
  }

  bool is_over(int64_t order) const override { return CutSearch<Criterion>::is_over(order); }

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
