// Supervised clustering by representatives. Amalaman (2015), chapter 6.
#pragma once

#include "common/interrupt.hpp"

namespace oblique {

// One climb of SRIDHCR (Eick, Zeidat and Zhao 2004): each step adds or removes the representative that decreases q =
// impurity + weight * sqrt(max(0, k - c) / n) most, until no step decreases q. A step that leaves q unchanged counts as
// better if it adds a representative. Ties: the lowest number, adding before removing.
class Representatives {
 public:
  Representatives(const double* d, const int32_t* codes, size_t n, size_t n_classes, double weight)
      : d_(d), codes_(codes), n_(n), n_classes_(n_classes), weight_(weight), owner_(n) {
    std::vector<char> seen(n_classes, 0);
    for (size_t i = 0; i < n; ++i) present_ += !std::exchange(seen[codes[i]], 1);
  }

  // Climbs from `chosen` (ascending, not empty), which receives the result; returns its q.
  double climb(std::vector<size_t>& chosen) {
    double q = assign(chosen);
    for (;;) {
      double best = std::numeric_limits<double>::infinity();
      size_t change = n_;
      bool adding = true;
      const auto consider = [&](double value, size_t r, bool adds) {
        if (value < best - tie) best = value, change = r, adding = adds;
      };
      for (size_t r = 0; r < n_; ++r)
        if (!std::binary_search(chosen.begin(), chosen.end(), r)) consider(with(r, chosen.size()), r, true);
      std::vector<size_t> fewer;
      for (size_t k = 0; chosen.size() > 1 && k < chosen.size(); ++k) {
        fewer = chosen;
        fewer.erase(fewer.begin() + k);
        consider(score(fewer), chosen[k], false);
      }
      const bool better = change < n_ && (best < q - tie || (best <= q + tie && adding));
      if (!better) return q;
      if (adding)
        chosen.insert(std::lower_bound(chosen.begin(), chosen.end(), change), change);
      else
        chosen.erase(std::lower_bound(chosen.begin(), chosen.end(), change));
      q = assign(chosen);
    }
  }

 private:
  static constexpr double tie = 1e-12;

  // The representative nearest to a row, the first of equals.
  size_t nearest(size_t row, const std::vector<size_t>& chosen) const {
    size_t best = 0;
    for (size_t k = 1; k < chosen.size(); ++k)
      if (d_[row * n_ + chosen[k]] < d_[row * n_ + chosen[best]]) best = k;
    return best;
  }

  double score(const std::vector<size_t>& chosen) {
    counts_.assign(chosen.size() * n_classes_, 0);
    checkpoint(n_ * chosen.size());
    for (size_t i = 0; i < n_; ++i) ++counts_[nearest(i, chosen) * n_classes_ + static_cast<size_t>(codes_[i])];
    return q_of(counts_, chosen.size());
  }

  // Also stores the clusters of `chosen`.
  double assign(const std::vector<size_t>& chosen) {
    chosen_ = chosen;
    for (size_t i = 0; i < n_; ++i) owner_[i] = nearest(i, chosen);
    const double q = score(chosen);
    assigned_ = counts_;
    return q;
  }

  // q of the stored clusters with one more representative: rows nearer to it change their cluster.
  double with(size_t added, size_t k) {
    checkpoint(n_);
    counts_ = assigned_;
    counts_.resize((k + 1) * n_classes_, 0);
    for (size_t i = 0; i < n_; ++i) {
      const double now = d_[i * n_ + chosen_[owner_[i]]], then = d_[i * n_ + added];
      if (then < now || (then == now && added < chosen_[owner_[i]])) {
        --counts_[owner_[i] * n_classes_ + static_cast<size_t>(codes_[i])];
        ++counts_[k * n_classes_ + static_cast<size_t>(codes_[i])];
      }
    }
    return q_of(counts_, k + 1);
  }

  double q_of(const std::vector<int32_t>& counts, size_t k) const {
    int64_t right = 0;
    for (size_t p = 0; p < k; ++p)
      right += *std::max_element(counts.begin() + p * n_classes_, counts.begin() + ((p + 1) * n_classes_));
    const double rows = static_cast<double>(n_);
    const double excess = k > present_ ? static_cast<double>(k - present_) : 0.0;
    return (rows - static_cast<double>(right)) / rows + weight_ * std::sqrt(excess / rows);
  }

  const double* d_;
  const int32_t* codes_;
  size_t n_, n_classes_;
  double weight_;
  size_t present_ = 0;
  std::vector<size_t> owner_, chosen_;
  std::vector<int32_t> counts_, assigned_;
};

}  // namespace oblique
