// The reference search: it sorts every direction and computes the value of every cut from scratch.
#pragma once

#include "split/cut_search.hpp"

namespace oblique {

template <class Criterion>
class PlainSearch : public CutSearch<Criterion> {
 public:
  using CutSearch<Criterion>::CutSearch;

  bool is_over(int64_t) const override { return false; }

 protected:
  void search(Direction& d) override {
    if (this->project(d)) search_plainly(d);
  }

  void search_plainly(const Direction& d) {
    for_each_cut(d, [&](double threshold) { this->offer(d.order, threshold); });
  }

  // Calls take(threshold) for every cut with enough weight on both sides, with its left weights in `left`.
  template <class Take>
  void for_each_cut(const Direction& d, const Take& take) {
    ++this->counts.refined;
    rows_.clear();
    for (int k = 0; k < this->rows->n_classes; ++k)
      for (size_t i = this->rows->first_row[k]; i < this->rows->first_row[k + 1]; ++i)
        rows_.push_back({d.z[i], this->weight(i), k});
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.z < b.z; });
    std::fill(this->left.begin(), this->left.end(), 0.0);
    const double gap = this->strict ? 0.0 : d.distinct;
    double s = 0.0;
    for (size_t i = 0; i + 1 < rows_.size(); ++i) {
      this->left[rows_[i].code] += rows_[i].weight;
      s += rows_[i].weight;
      if (rows_[i + 1].z - rows_[i].z > gap && this->is_enough(s, this->min_leaf_) &&
          this->is_allowed(this->left.data()))
        take(middle_of_gap(rows_[i].z, rows_[i + 1].z));
    }
  }

 private:
  struct Row {
    double z, weight;
    int code;
  };
  std::vector<Row> rows_;
};

// The plain search for a criterion that is a function: one call computes the values of all cuts of a direction.
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
      for (size_t k = 0; k < this->left.size(); ++k) right_.push_back(this->totals_.of_class[k] - this->left[k]);
      if (left_.size() >= kAtOnce) offer_all(d.order);
    });
    offer_all(d.order);
  }

 private:
  static constexpr size_t kAtOnce = size_t{1} << 16;  // weights on one side: half a megabyte

  void offer_all(int64_t order) {
    values_.resize(thresholds_.size());
    if (!values_.empty()) this->totals_.runtime_criterion->values(left_, right_, values_.size(), values_.data());
    for (size_t i = 0; i < values_.size(); ++i) this->front_.offer(order, thresholds_[i], values_[i]);
    thresholds_.clear();
    left_.clear();
    right_.clear();
  }

  std::vector<double> thresholds_, left_, right_, values_;
};

}  // namespace oblique
