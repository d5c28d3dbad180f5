// The reference search: it sorts every direction and computes the value of every cut from scratch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "split/cut_search.hpp"

namespace oblique {

template <class Criterion>
class PlainSearch : public CutSearch<Criterion> {
 public:
  using CutSearch<Criterion>::CutSearch;

  bool is_over(std::int64_t) const override { return false; }

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
      for (std::size_t i = this->rows->first_row[k]; i < this->rows->first_row[k + 1]; ++i)
        rows_.push_back({d.z[i], this->weight(i), k});
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.z < b.z; });
    std::fill(this->left.begin(), this->left.end(), 0.0);
    const double gap = this->strict ? 0.0 : d.distinct;
    double s = 0.0;
    for (std::size_t i = 0; i + 1 < rows_.size(); ++i) {
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

}  // namespace oblique
