// The plain search for a criterion that is a function: one call computes the values of all cuts of a direction.
#pragma once

#include <cstddef>
#include <vector>

#include "split/plain_search.hpp"

namespace oblique {

template <class Criterion>
class BatchSearch final : public PlainSearch<Criterion> {
 public:
  using PlainSearch<Criterion>::PlainSearch;

 protected:
  // The batches depend on the direction alone, so the number of threads changes no value.
  void search(Direction& d) override {
    if (!this->project(d)) return;
    this->for_each_cut(d, [&](double threshold) {
      thresholds_.push_back(threshold);
      left_.insert(left_.end(), this->left.begin(), this->left.end());
      for (std::size_t k = 0; k < this->left.size(); ++k) right_.push_back(this->totals_.of_class[k] - this->left[k]);
      if (left_.size() >= kAtOnce) offer_all(d.order);
    });
    offer_all(d.order);
  }

 private:
  static constexpr std::size_t kAtOnce = std::size_t{1} << 16;  // weights on one side: half a megabyte

  void offer_all(std::int64_t order) {
    values_.resize(thresholds_.size());
    if (!values_.empty()) this->totals_.runtime_criterion->values(left_, right_, values_.size(), values_.data());
    for (std::size_t i = 0; i < values_.size(); ++i) this->front_.offer(order, thresholds_[i], values_[i]);
    thresholds_.clear();
    left_.clear();
    right_.clear();
  }

  std::vector<double> thresholds_, left_, right_, values_;
};

}  // namespace oblique
