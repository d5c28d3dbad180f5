// Directions with binned rows: the axes of the features, and the planes of earlier trees.
#pragma once

#include "common/clones.hpp"
#include "grow/drawn_nodes.hpp"
#include "rows/training_rows.hpp"
#include "split/spread.hpp"

namespace oblique {

// Axis j is direction j; planes follow. A direction is binned when it is added: up to `max_bins` (at most 256) distinct
// values have a bin each, more values bins of about equal mass. Values of a plane that differ by rounding are equal.
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

  // Adds the planes of a tree with more than one term. If there are too many, those of the oldest last use are removed.
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

// Values of the cuts behind n places, 0 where a side has no weight; returns the largest.
OBLIQUE_CLONES static double cut_values(const double* __restrict left, const double* __restrict left_squares,
                                        const double* __restrict right_squares, double total, size_t n,
                                        double* __restrict value) {
  double largest = 0.0;
  for (size_t b = 0; b < n; ++b) {
    const double l = left[b], r = total - left[b];
    const double of_cut = left_squares[b] / l + right_squares[b] / r;
    value[b] = l > 0.0 && r > 0.0 ? of_cut : 0.0;
  }
  for (size_t b = 0; b < n; ++b) largest = std::max(largest, value[b]);
  return largest;
}

// Adds a class of weight `total` to the sums of the cuts behind n places.
OBLIQUE_CLONES static void add_squares(const double* __restrict left, double total, size_t n, double* __restrict sum,
                                       double* __restrict left_squares, double* __restrict right_squares) {
  for (size_t b = 0; b < n; ++b) {
    const double l = left[b], r = total - left[b];
    sum[b] += l;
    left_squares[b] += l * l;
    right_squares[b] += r * r;
  }
}

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
  bool find(DrawnNodes& node, DrawnSplit& split, bool&) {
    const Bag& bag = node.bag();
    begin_node(bag);
    FeatureDraw& drawn = node.drawn();
    for (size_t at = 0; at < drawn.size(); ++at) look(bag, static_cast<size_t>(drawn[at]));
    const double share = static_cast<double>(drawn.size()) / static_cast<double>(drawn.total());
    for (size_t plane = directions_.n_axes(); plane < directions_.size(); ++plane)
      if (node.stream().uniform() < share) look(bag, plane);
    while (!best_.is_found && drawn.size() < drawn.total()) {
      drawn.draw(node.stream());
      look(bag, static_cast<size_t>(drawn[drawn.size() - 1]));
    }
    if (best_.is_found) take(bag, node, split);
    return best_.is_found;
  }

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

  // Sums over the current node, and its value without a cut.
  void begin_node(const Bag& bag) {
    of_class_.clear();
    total_ = 0.0;
    double squares = 0.0;
    for (const ClassRun& run : *bag.runs) {
      of_class_.push_back(run.weight);
      total_ += run.weight;
      squares += run.weight * run.weight;
    }
    if (!data_.targets.empty()) {
      const size_t n_outputs = data_.n_outputs();
      pull_.resize(std::max(pull_.size(), n_outputs * bag.n));
      of_class_.clear();
      squares = 0.0;
      for (size_t k = 0; k < n_outputs; ++k) {
        const double* target = data_.output(k);
        double* pull = pull_.data() + k * bag.n;
        double sum = 0.0;
        for (size_t i = 0; i < bag.n; ++i) sum += pull[i] = bag.weight[i] * target[bag.row[i]];
        of_class_.push_back(sum);
        squares += sum * sum;
      }
    }
    uncut_ = squares / total_;
    best_ = {};
    best_.value = uncut_;
  }

  void look(const Bag& bag, size_t direction) {
    if (directions_.n_bins(direction) < 2) return;
    checkpoint(4 * bag.n);
    const Bins bins = place_rows(bag, direction);
    if (bins.n < 2) return;
    for (std::vector<double>* sums : {&left_, &squares_[0], &squares_[1]}) sums->assign(bins.n, 0.0);
    value_.resize(bins.n);
    if (data_.targets.empty())
      add_classes(bag, bins.n);
    else
      add_targets(bag, bins.n);
    const double largest =
        cut_values(left_.data(), squares_[0].data(), squares_[1].data(), total_, bins.n, value_.data());
    if (!(largest > best_.value * kBeats)) return;
    // Every row has positive weight, so the sum on the left increases at every bin that holds rows.
    size_t last = bins.n - 1;
    while (last > 0 && left_[last] == left_[last - 1]) --last;
    const double least = min_leaf_ - 1e-12 * total_;
    for (size_t b = 0, next; b < last; b = next) {
      for (next = b + 1; left_[next] == left_[b];) ++next;
      if (!(value_[b] > best_.value * kBeats) || std::min(left_[b], total_ - left_[b]) < least) continue;
      best_ = {true, direction, bins.number(b, of_place_), bins.number(next, of_place_), value_[b]};
    }
  }

  void add_classes(const Bag& bag, size_t n_bins) {
    const size_t n_classes = of_class_.size();
    weight_.assign(n_classes * n_bins, 0.0);
    size_t i = 0;
    for (size_t k = 0; k < n_classes; ++k) {
      double* weight = weight_.data() + k * n_bins;
      for (const size_t end = i + (*bag.runs)[k].n; i < end; ++i) weight[place_[i]] += bag.weight[i];
      for (size_t b = 1; b < n_bins; ++b) weight[b] += weight[b - 1];
      add_squares(weight, of_class_[k], n_bins, left_.data(), squares_[0].data(), squares_[1].data());
    }
  }

  void add_targets(const Bag& bag, size_t n_bins) {
    const size_t n_outputs = of_class_.size();
    weight_.assign((n_outputs + 1) * n_bins, 0.0);  // sums of targets, and a buffer for unused outputs
    double* sum = weight_.data();
    for (size_t i = 0; i < bag.n; ++i) {
      left_[place_[i]] += bag.weight[i];
      sum[place_[i]] += pull_[i];
    }
    for (size_t b = 1; b < n_bins; ++b) left_[b] += left_[b - 1];
    double* unused = sum + n_outputs * n_bins;
    for (size_t k = 0; k < n_outputs; ++k, sum += n_bins) {
      const double* pull = pull_.data() + k * bag.n;
      if (k > 0)
        for (size_t i = 0; i < bag.n; ++i) sum[place_[i]] += pull[i];
      for (size_t b = 1; b < n_bins; ++b) sum[b] += sum[b - 1];
      add_squares(sum, of_class_[k], n_bins, unused, squares_[0].data(), squares_[1].data());
    }
  }

  // Puts the rows of a node into the bins of a direction. With fewer rows than bins, empty bins are left out.
  Bins place_rows(const Bag& bag, size_t direction) {
    const uint8_t* bins = directions_.bins(direction);
    if (place_.size() < bag.n) place_.resize(bag.n);
    for (size_t i = 0; i < bag.n; ++i) place_[i] = bins[bag.row[i]];
    const size_t n_bins = directions_.n_bins(direction);
    return bag.n < n_bins ? leave_out_empty(bag.n) : Bins{n_bins, true};
  }

  Bins leave_out_empty(size_t n) {
    std::array<uint64_t, 4> used{};
    for (size_t i = 0; i < n; ++i) used[place_[i] >> 6] |= uint64_t{1} << (place_[i] & 63);
    std::array<uint8_t, 256> place_of;
    of_place_.clear();
    for (size_t word = 0; word < used.size(); ++word)
      for (uint64_t left = used[word]; left != 0; left &= left - 1) {
        const auto bin = static_cast<uint8_t>(64 * word + static_cast<size_t>(std::countr_zero(left)));
        place_of[bin] = static_cast<uint8_t>(of_place_.size());
        of_place_.push_back(bin);
      }
    for (size_t i = 0; i < n; ++i) place_[i] = place_of[place_[i]];
    return {of_place_.size(), false};
  }

  // Returns the best cut and the sides of the rows.
  void take(const Bag& bag, DrawnNodes& node, DrawnSplit& split) {
    directions_.use(best_.direction, round_);
    const uint8_t* bins = directions_.bins(best_.direction);
    for (size_t i = 0; i < bag.n; ++i) node.sides().best()[i] = bins[bag.row[i]] > best_.below;
    const bool is_axis = best_.direction < directions_.n_axes();
    split.feature = is_axis ? static_cast<int32_t>(best_.direction) : -1;
    split.terms = is_axis ? nullptr : directions_.terms(best_.direction);
    split.threshold = directions_.threshold(best_.direction, best_.below, best_.above);
    split.value = best_.value;
    if (!data_.targets.empty()) split.uncut = uncut_;
  }

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
