// The cuts of a search that may still be the best, and the tie rule between them.
// The winner is the first cut by direction, then threshold, within 1e-9 of the best gain; "strict" drops the tolerance.
#pragma once

#include "common/standard.hpp"

namespace oblique {

struct Cut {
  int64_t order = -1;      // index of the direction in the enumeration; -1: no cut
  double threshold = 0.0;  // a point well inside the gap, in the direction's projection
  double value = 0.0;      // criterion's V
};

// The candidates that may still win: ascending order, ascending value, all within the tie slack of the best.
class Front {
 public:
  void reset(double base, double noise, bool strict) {
    cuts_.clear();
    base_ = base;
    noise_ = strict ? 0.0 : noise;
    relative_ = strict ? 0.0 : 1e-9;
    best_ = base_;
    // A cut counts only if its gain is positive beyond the noise.
    bar_ = base_ + noise_;
  }

  // The least value with which a cut of direction `order` can still win, if directions are searched in order: within
  // the slack of the best, and above the best if an earlier direction holds the best cut.
  double needed(int64_t order) const {
    const bool earlier = !cuts_.empty() && cuts_.back().order < order;
    return earlier ? std::max(above_best_, bar_) : bar_;
  }

  void offer(int64_t order, double threshold, double value) {
    if (!(value > base_ + noise_) || value < bar_) return;
    if (value > best_) {
      best_ = value;
      above_best_ = std::nextafter(best_, std::numeric_limits<double>::infinity());
      bar_ = bar_after(value);
    }
    size_t place = 0;
    while (place < cuts_.size() && before(cuts_[place], order, threshold)) {
      if (cuts_[place].value >= value) return;
      ++place;
    }
    size_t end = place;
    while (end < cuts_.size() && cuts_[end].value <= value) ++end;
    cuts_.erase(cuts_.begin() + place, cuts_.begin() + end);
    cuts_.insert(cuts_.begin() + place, Cut{order, threshold, value});
    std::erase_if(cuts_, [this](const Cut& c) { return c.value < bar_; });
  }

  // The least value that can win after an offer of a cut of this value.
  double bar_after(double value) const {
    const double slack = relative_ * (value - base_) + (relative_ > 0.0 ? noise_ : 0.0);
    return std::max({bar_, value - slack, base_ + noise_});
  }

  // Cuts below `bar` cannot win, because another front holds a better cut.
  void raise(double bar) {
    if (bar > bar_) bar_ = bar;
  }
  double bar() const { return bar_; }
  // The cuts that may still win, in enumeration order.
  const std::vector<Cut>& cuts() const { return cuts_; }

  double best() const { return best_; }
  Cut winner() const { return cuts_.empty() ? Cut{} : cuts_.front(); }

 private:
  static bool before(const Cut& c, int64_t order, double threshold) {
    return c.order < order || (c.order == order && c.threshold < threshold);
  }
  std::vector<Cut> cuts_;
  double base_ = 0.0, noise_ = 0.0, relative_ = 0.0, best_ = 0.0, above_best_ = 0.0, bar_ = 0.0;
};

}  // namespace oblique
