// Directions with binned rows: the axes of the features, and the planes of earlier trees.
#pragma once

#include "grow/drawn_nodes.hpp"
#include "rows/training_rows.hpp"
#include "split/spread.hpp"

namespace oblique {

// Axis j is direction j; planes follow. A direction is binned once, when it is added: with at most `max_bins` (at most
// 256) distinct values each value has its own bin, else bins have about equal mass. Values of a plane that differ by
// rounding alone count as equal.
class BinnedDirections {
 public:
  static constexpr size_t kMostPlanes = 32;

  // mass : of each row, or nullptr if all rows have the same
  BinnedDirections(TrainingRows& data, const double* mass, size_t max_bins)
      : data_(data), mass_(mass), max_bins_(max_bins), all_(data.x.p) {
    projected_.resize(data.x.n, 1);
    for (size_t j = 0; j < data.x.p; ++j) {
      checkpoint(16 * data.x.n);
      magnitude_.push_back(largest_magnitude(data.x.column(j), data.x.n));
      // An axis needs no arithmetic, so its tolerance for rounding is 0.
      put_into_bins(data.x.column(j), data.x.rank(j), 0.0, all_[j]);
    }
  }

  size_t size() const { return all_.size(); }
  size_t n_axes() const { return data_.x.p; }
  size_t n_bins(size_t direction) const { return all_[direction].low.size(); }
  const uint8_t* bins(size_t direction) const { return all_[direction].bin.data(); }
  // Terms of a plane; growth and prediction project rows by them.
  const SparsePlanes::Term* terms(size_t plane) const { return all_[plane].terms.data(); }
  // The middle of the gap between two bins; no row lies in the gap.
  double threshold(size_t direction, size_t below, size_t above) const {
    return middle_of_gap(all_[direction].high[below], all_[direction].low[above]);
  }

  // Adds the planes with more than one term of a tree. If there are too many planes, those whose last use (or addition)
  // is oldest are removed, the first of equals.
  void add(const ForestTree& tree, size_t round) {
    for (size_t plane = 0; plane < tree.n_oblique(); ++plane) {
      const auto first = tree.terms.begin() + plane * tree.width;
      std::vector<SparsePlanes::Term> terms(first, first + tree.width);
      checkpoint((tree.width + 16) * data_.x.n);
      const auto counts = [](const SparsePlanes::Term& term) { return term.coef != 0.0; };
      if (std::count_if(terms.begin(), terms.end(), counts) < 2 || !project(terms)) continue;
      Direction& direction = room();
      put_into_bins(projected_.column(0), projected_.rank(0), rounding(terms), direction);
      direction.terms = std::move(terms);
      direction.used = round;
    }
  }

  void forget_planes() { all_.resize(n_axes()); }
  void use(size_t direction, size_t round) { all_[direction].used = round; }

 private:
  struct Direction {
    std::vector<SparsePlanes::Term> terms;
    std::vector<uint8_t> bin;
    std::vector<double> low, high;  // least and largest value of every bin
    size_t used = 0;                // round of the last use
  };

  // Projects all rows by the arithmetic of prediction; false if a sum overflows.
  bool project(const std::vector<SparsePlanes::Term>& terms) {
    const size_t n = data_.x.n;
    double* z = projected_.column(0);
    const double* x = data_.x.column(static_cast<size_t>(terms[0].feature));
    for (size_t i = 0; i < n; ++i) z[i] = terms[0].coef * x[i];
    for (size_t t = 1; t < terms.size(); ++t)
      add_scaled(terms[t].coef, data_.x.column(static_cast<size_t>(terms[t].feature)), z, n);
    projected_.ranked[0] = 0;
    return std::isfinite(largest_magnitude(z, n));
  }

  // Two projections differ if they lie further apart than this.
  double rounding(const std::vector<SparsePlanes::Term>& terms) const {
    double range = 0.0, magnitude = 0.0;
    for (const SparsePlanes::Term& term : terms) {
      const size_t j = term.feature;
      range += 2.0 * std::fabs(term.coef) * data_.half_range[j];
      magnitude += std::fabs(term.coef) * magnitude_[j];
    }
    return Spread::gap(range, magnitude);
  }

  void put_into_bins(const double* z, const uint32_t* rank, double distinct, Direction& out) {
    const size_t n = data_.x.n;
    const size_t n_ranks = 1 + *std::max_element(rank, rank + n);
    value_.resize(n_ranks);
    weight_.assign(n_ranks, 0.0);
    for (size_t i = 0; i < n; ++i) {
      value_[rank[i]] = z[i];
      weight_[rank[i]] += mass_ ? mass_[i] : 1.0;
    }
    size_t n_values = 1;
    double left = weight_[0];  // weight of the bins that are not yet closed
    for (size_t r = 1; r < n_ranks; ++r) {
      left += weight_[r];
      n_values += value_[r] - value_[r - 1] > distinct;
    }
    bin_of_.resize(n_ranks);
    out.low.assign(1, value_[0]);
    out.high.clear();
    double in_bin = 0.0;
    for (size_t r = 0; r < n_ranks; ++r) {
      const size_t bins_left = max_bins_ - out.high.size();
      const bool is_enough =
          r > 0 && (n_values <= max_bins_ || (bins_left > 1 && in_bin * static_cast<double>(bins_left) >= left));
      if (is_enough && value_[r] - value_[r - 1] > distinct) {
        out.high.push_back(value_[r - 1]);
        out.low.push_back(value_[r]);
        left -= in_bin;
        in_bin = 0.0;
      }
      in_bin += weight_[r];
      bin_of_[r] = static_cast<uint8_t>(out.high.size());
    }
    out.high.push_back(value_[n_ranks - 1]);
    out.bin.resize(n);
    for (size_t i = 0; i < n; ++i) out.bin[i] = bin_of_[rank[i]];
  }

  Direction& room() {
    if (all_.size() < n_axes() + kMostPlanes) return all_.emplace_back();
    return *std::min_element(all_.begin() + n_axes(), all_.end(),
                             [](const Direction& a, const Direction& b) { return a.used < b.used; });
  }

  TrainingRows& data_;
  const double* mass_;
  const size_t max_bins_;
  std::vector<Direction> all_;
  std::vector<double> magnitude_;  // largest magnitude of each feature
  Columns projected_;              // one column
  // Buffers for the ranks of a direction.
  std::vector<double> value_, weight_;
  std::vector<uint8_t> bin_of_;
};

// Candidates are the cuts between two bins of the drawn features, and of the planes, each of which is drawn with the
// same probability as a feature. If no candidate improves on the uncut node, the next feature with a better cut is
// used. The value of a cut is its Gini gain on the class weights or, if there are targets, the decrease of their sum of
// squares over all outputs; the first of equal cuts wins. Both are sums over the two sides of squares divided by
// weights: of each class, or of the weighted sum of the targets of each output.
class BestBin {
 public:
  // data : the training rows that the directions bin
  BestBin(const TrainingRows& data, BinnedDirections& directions) : data_(data), directions_(directions) {}

  // round : number of the next tree; min_leaf : least weight of a child
  void begin_tree(size_t round, double min_leaf) {
    round_ = round;
    min_leaf_ = min_leaf;
  }
  bool find(DrawnNodes& node, DrawnSplit& split, bool& given_up);
  void end_search(bool) {}

 private:
  // The bins of a direction that may hold rows of the node, in order.
  struct Bins {
    size_t n = 0;
    bool all = true;  // true: all bins of the direction; false: those in of_place_
    size_t number(size_t place, const std::vector<uint8_t>& of_place) const { return all ? place : of_place[place]; }
  };
  struct Best {
    bool is_found = false;
    size_t direction = 0, below = 0, above = 0;  // bins next to the cut on either side
    double value = 0.0;
  };

  void begin_node(const Bag& bag);
  void look(const Bag& bag, size_t direction);
  void add_classes(const Bag& bag, size_t n_bins);
  void add_targets(const Bag& bag, size_t n_bins);
  Bins place_rows(const Bag& bag, size_t direction);
  Bins leave_out_empty(size_t n);
  void take(const Bag& bag, DrawnNodes& node, DrawnSplit& split);

  const TrainingRows& data_;
  BinnedDirections& directions_;
  size_t round_ = 0;
  double min_leaf_ = 0.0;
  Best best_;
  double total_ = 0.0, uncut_ = 0.0;
  std::vector<double> of_class_;                   // weight of each class of the node, or sum of each output's targets
  std::vector<double> pull_;                       // weighted targets of the rows of the node, output by output
  std::vector<uint8_t> place_, of_place_;          // place of each row among the bins; bin of each place
  std::vector<double> weight_;                     // class weights by place
  std::vector<double> left_, squares_[2], value_;  // of the cut behind each place
};

}  // namespace oblique
