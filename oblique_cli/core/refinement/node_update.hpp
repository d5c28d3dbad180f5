// The reduced problem of one node: a plane that sends the rows that count to their preferred sides.
#pragma once

#include "common/interrupt.hpp"
#include "common/key_sort.hpp"
#include "linear/row_blocks.hpp"
#include "refinement/alternation.hpp"
#include "refinement/reduced_problems.hpp"

namespace oblique {

// A row whose cost depends on its side: its number, its preferred side, and the difference of both costs.
struct CareRow {
  uint32_t row;
  bool right;
  double weight;
};

// A plane of unit length (or 0), and the weight of the rows that it sends to the wrong side.
struct PlaneCandidate {
  std::vector<double> w;
  double b = 0.0;
  bool missing_left = false;
  double wrong = 0.0;
  double length = 0.0;  // |w|_1
};

inline constexpr double kSlack = 1e-9;  // relative to the weight: rounding changes bounds of costs by far less

// Sorts values of rows by value, then by row number.
class ValueSort {
 public:
  using Value = std::pair<double, uint32_t>;
  // Distributes the values by their position in their range first, which leaves short pieces to sort.
  void sort(std::vector<Value>& values) {
    const size_t n = values.size();
    if (n < 2) return;
    double low = values[0].first, high = low;
    for (const Value& each : values) {
      low = std::min(low, each.first);
      high = std::max(high, each.first);
    }
    constexpr double kPlaces = 4294967295.0;
    const double scale = kPlaces / (high - low);
    if (!(scale > 0.0) || !std::isfinite(scale)) {  // all values are equal, or the range is not finite
      std::sort(values.begin(), values.end());
      return;
    }
    keys_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      const double place = std::min((values[i].first - low) * scale, kPlaces);
      keys_[i] = static_cast<uint64_t>(static_cast<int64_t>(place)) << 32 | i;
    }
    sorter_.sort(keys_.data(), n);
    sorted_.resize(n);
    for (size_t i = 0; i < n; ++i) sorted_[i] = values[static_cast<uint32_t>(keys_[i])];
    values.swap(sorted_);
    size_t moves = 0;
    for (size_t i = 1; i < n && moves <= 4 * n; ++i) {
      const Value value = values[i];
      size_t j = i;
      for (; j > 0 && value < values[j - 1]; --j, ++moves) values[j] = values[j - 1];
      values[j] = value;
    }
    if (moves > 4 * n) std::sort(values.begin(), values.end());
    checkpoint(8 * n);
  }

 private:
  std::vector<uint64_t> keys_;
  std::vector<Value> sorted_;
  KeySort sorter_;
};

inline constexpr uint8_t kNoBin = 255;  // of a row without the value
inline constexpr size_t kParts = 252;   // bins of a feature

inline FeatureOrders orders_of(const RefinementRows& rows) {
  FeatureOrders out;
  out.ranks.assign(rows.n * rows.p, 0);
  out.bins.assign(rows.n * rows.p, kNoBin);
  out.n_bins.assign(rows.p, 0);
  ValueSort sorter;
  std::vector<ValueSort::Value> values;
  for (size_t j = 0; j < rows.p; ++j) {
    values.clear();
    for (uint32_t i = 0; i < rows.n; ++i)
      if (!rows.absent || !rows.absent[i * rows.p + j]) values.emplace_back(rows.x[i * rows.p + j], i);
    sorter.sort(values);
    size_t different = values.empty() ? 0 : 1;
    for (size_t place = 1; place < values.size(); ++place) different += values[place].first != values[place - 1].first;
    size_t bin = 0;
    for (uint32_t place = 0; place < values.size(); ++place) {
      if (different > kParts)
        bin = place * kParts / values.size();
      else if (place > 0)
        bin += values[place].first != values[place - 1].first;
      out.ranks[j * rows.n + values[place].second] = place;
      out.bins[values[place].second * rows.p + j] = static_cast<uint8_t>(bin);
    }
    out.n_bins[j] = std::min(different, kParts);
  }
  return out;
}

inline constexpr uint64_t kDigest = 0x9e3779b97f4a7c15u;

inline uint64_t digested(uint64_t digest, double weight) {
  digest = (digest ^ std::bit_cast<uint64_t>(weight)) * 0xff51afd7ed558ccdu;
  return digest ^ (digest >> 32);
}

inline uint64_t digested(uint64_t digest, uint32_t row, bool right) {
  digest = (digest ^ (2 * uint64_t{row} + right)) * 0xff51afd7ed558ccdu;
  return digest ^ (digest >> 32);
}

inline double length_of(const std::vector<double>& w) {
  double sum = 0.0;
  for (const double value : w) sum += std::abs(value);
  return sum;
}

inline size_t n_used(const std::vector<double>& w) {
  return static_cast<size_t>(std::count_if(w.begin(), w.end(), [](double value) { return value != 0.0; }));
}

// Lower bound of the weight that any cut of binned rows sends to the wrong side. sums : weight of the rows that prefer
// left and of those that prefer right, bin by bin.
struct LeastWrong {
  double up, down;  // larger values go right, larger values go left
};
inline LeastWrong least_wrong(const double* sums, size_t n_bins) {
  double left = 0.0, right = 0.0, ahead = 0.0;  // ahead : weight of right minus weight of left in the previous bins
  double up = 0.0, down = 0.0;
  for (size_t b = 0; b < n_bins; ++b) {
    const double l = sums[2 * b], r = sums[2 * b + 1];
    up = std::min(up, ahead - l);  // in this bin all rows that prefer left go left, and no others
    down = std::min(down, -ahead - r);
    ahead += r - l;
    left += l;
    right += r;
  }
  return {left + up, right + down};
}

// Proposes planes for one node after another and reuses its buffers; one object for each thread.
class NodeUpdate {
 public:
  // problems : with the orders of the features of `rows`
  NodeUpdate(const RefinementRows& rows, ReducedProblems& problems, const RefinementOptions& options)
      : rows_(rows), problems_(problems), orders_(*problems.orders), options_(options) {}

  // The plane of least `wrong` + penalty * |w|_1 among: the best cut of each feature, the best cut along the present
  // plane, and the best cuts along the surrogate's solutions at a series of l1 penalties. The first of equals. False if
  // there is none, because all rows prefer one side or have the same values, or none that costs less than `enough`.
  bool propose(const std::vector<CareRow>& care, const double* present, double present_b, double enough,
               PlaneCandidate& best) {
    best.w.clear();
    bool left = false, right = false;
    for (const CareRow& each : care) (each.right ? right : left) = true;
    if (!left || !right) return false;
    weight_ = 0.0;
    uint64_t digest =
        digested(kDigest, static_cast<uint32_t>(options_.max_terms), options_.surrogate == MarginLoss::logistic);
    for (const CareRow& each : care) {
      weight_ += each.weight;
      digest = digested(digested(digest, each.row, each.right), each.weight);
    }
    enough_ = enough;
    columns_.clear();
    centered_.clear();
    ReducedProblem& problem = problems_.at(digest);
    cut_axes(care, problem, best);
    direction_.assign(present, present + rows_.p);
    if (length_of(direction_) > 0.0) {
      if (problem.present.w != direction_ || problem.present.b != present_b)
        problem.present = {direction_, present_b, {}};
      cut_along(care, problem.present, best);
    }
    if (too_dear(options_.penalty, best)) return !best.w.empty();  // a plane of several features is longer than 1
    for (size_t k = 0; k < kSurrogates; ++k) {
      if (k == problem.solutions.size() && !surrogate(care, problem)) break;
      Direction& solution = problem.solutions[k];
      if (solution.w.empty()) continue;
      cut_along(care, solution, best);
    }
    return !best.w.empty();
  }

 private:
  using Cut = ReducedProblem::Cut;
  using Direction = ReducedProblem::Direction;

  static constexpr double kSamePlace = 1e-9;  // relative to the largest value: closer values are equal
  static constexpr double kLess = 1e-12;      // relative to the weight: smaller differences of cost do not count
  static constexpr double kEdge = 0.25;       // share of a gap between a threshold and the ends of the gap
  static constexpr double kFirstL1 = 0.5;     // relative to the l1 at which all coefficients are 0
  static constexpr double kNextL1 = 0.2;      // relative to the previous l1
  static constexpr size_t kSurrogates = 5;
  static constexpr size_t kBins = 256;         // of the rows along a direction
  static constexpr size_t kFeatures = 64;      // whose sums stay in the cache
  static constexpr size_t kRowsToBound = 128;  // along a direction: sorting fewer rows is as fast

  // The columns of the rows that count, in columns_.
  void gather(const std::vector<CareRow>& care) {
    if (!columns_.empty()) return;
    numbers_.resize(care.size());
    for (size_t i = 0; i < care.size(); ++i) numbers_[i] = care[i].row;
    columns_.resize(care.size() * rows_.p);
    gather_columns(rows_.x, rows_.p, numbers_.data(), care.size(), columns_.data());
  }

  // The best cut over all features; the direction has one coefficient of 1 or -1. Features are searched in the order of
  // their bounds until no remaining bound can reach the best cut; among equal cuts the first feature wins nevertheless.
  void cut_axes(const std::vector<CareRow>& care, ReducedProblem& problem, PlaneCandidate& best) {
    const size_t p = rows_.p;
    std::vector<std::optional<Cut>>& cuts = problem.axes;
    const std::vector<double>& least = problem.least;
    cuts.resize(p);
    size_t n_bins = 0;
    for (const size_t each : orders_.n_bins) n_bins += each;
    const auto search = [&](size_t j) {
      if (!cuts[j]) cuts[j] = cut_axis(care, j);
    };
    if (n_bins <= 2 * care.size() * p) {
      if (least.empty()) bound_axes(care, problem.least);
      in_order_.resize(p);
      for (size_t j = 0; j < p; ++j) in_order_[j] = j;
      std::sort(in_order_.begin(), in_order_.end(),
                [&](size_t i, size_t j) { return least[i] != least[j] ? least[i] < least[j] : i < j; });
      double reach = enough_ - options_.penalty;
      for (const size_t j : in_order_) {
        if (least[j] > reach + kSlack * (weight_ + options_.penalty)) break;
        search(j);
        if (cuts[j]->is_found) reach = std::min(reach, cuts[j]->wrong);
      }
    } else {
      for (size_t j = 0; j < p; ++j) search(j);
    }
    for (size_t j = 0; j < p; ++j) {
      if (!cuts[j]) continue;
      const Cut& cut = *cuts[j];
      if (!cut.is_found || too_dear(cut.wrong + options_.penalty, best)) continue;
      best.w.assign(p, 0.0);
      best.w[j] = cut.right_above ? 1.0 : -1.0;
      best.b = cut.right_above ? -cut.threshold : cut.threshold;
      best.missing_left = cut.missing_left;
      best.wrong = cut.wrong;
      best.length = 1.0;
    }
  }

  // Computes lower bounds, by bins, of the weight that the best cut of each feature sends to the wrong side.
  void bound_axes(const std::vector<CareRow>& care, std::vector<double>& least) {
    const size_t p = rows_.p;
    least.resize(p);
    for (size_t first = 0; first < p; first += kFeatures) {
      const size_t count = std::min(kFeatures, p - first);
      sums_.resize(2 * kBins * count);
      for (size_t j = 0; j < count; ++j) {
        double* sums = sums_.data() + 2 * kBins * j;
        std::fill_n(sums, 2 * orders_.n_bins[first + j], 0.0);
        sums[2 * kNoBin] = sums[2 * kNoBin + 1] = 0.0;
      }
      for (const CareRow& each : care) {
        const uint8_t* bins = orders_.bins.data() + each.row * p + first;
        double* of_side = sums_.data() + each.right;
        for (size_t j = 0; j < count; ++j) of_side[2 * (kBins * j + bins[j])] += each.weight;
      }
      for (size_t j = 0; j < count; ++j) {
        const double* sums = sums_.data() + 2 * kBins * j;
        const LeastWrong wrong = least_wrong(sums, orders_.n_bins[first + j]);
        least[first + j] = std::min(wrong.up, wrong.down) + std::min(sums[2 * kNoBin], sums[2 * kNoBin + 1]);
      }
      checkpoint(2 * care.size() * count);
    }
  }

  Cut cut_axis(const std::vector<CareRow>& care, size_t feature) {
    const uint32_t* ranks = orders_.ranks.data() + feature * rows_.n;
    keys_.clear();
    lacking_.clear();
    for (uint32_t i = 0; i < care.size(); ++i) {
      const size_t row = care[i].row;
      if (rows_.absent && rows_.absent[row * rows_.p + feature])
        lacking_.push_back(i);
      else
        keys_.push_back(uint64_t{ranks[row]} << 32 | i);
    }
    sorter_.sort(keys_.data(), keys_.size());
    checkpoint(8 * keys_.size());
    values_.resize(keys_.size());
    for (size_t i = 0; i < keys_.size(); ++i) {
      const uint32_t place = static_cast<uint32_t>(keys_[i]);
      values_[i] = {rows_.x[care[place].row * rows_.p + feature], place};
    }
    return best_cut(care, true, false, 0.0);
  }

  // The best cut along a direction of unit length; among equal cuts the one nearest to the plane's present threshold.
  // The features have been searched before.
  void cut_along(const std::vector<CareRow>& care, Direction& direction, PlaneCandidate& best) {
    const std::vector<double>& w = direction.w;
    const double length = length_of(w);
    if (too_dear(options_.penalty * length, best) || (length == 1.0 && n_used(w) == 1)) return;
    if (!direction.cut && !search_along(care, direction, length, best)) return;
    const Cut& cut = *direction.cut;
    if (!cut.is_found || too_dear(cut.wrong + options_.penalty * length, best)) return;
    best.w = w;
    best.b = -cut.threshold;
    best.missing_left = cut.missing_left;
    best.wrong = cut.wrong;
    best.length = length;
  }

  // Searches the best cut along a direction, unless a bound rules it out.
  bool search_along(const std::vector<CareRow>& care, Direction& direction, double length, const PlaneCandidate& best) {
    gather(care);
    const std::vector<double>& w = direction.w;
    const size_t n = care.size();
    along_.resize(n);
    project_columns(columns_.data(), n, w.data(), rows_.p, along_.data());
    values_.clear();
    lacking_.clear();
    for (uint32_t i = 0; i < n; ++i) {
      if (lacks(care[i].row, w.data()))
        lacking_.push_back(i);
      else
        values_.emplace_back(along_[i], i);
    }
    checkpoint(n * rows_.p);
    const double least = bound_along(care) - kSlack * weight_;
    if (too_dear(least + options_.penalty * length, best)) return false;
    value_sorter_.sort(values_);
    direction.cut = best_cut(care, false, true, -direction.b);
    return true;
  }

  // Lower bound, by bins, of the weight that the best cut along a direction sends to the wrong side. Rows with a value
  // are in values_, the others in lacking_.
  double bound_along(const std::vector<CareRow>& care) {
    const size_t n = values_.size();
    if (n < kRowsToBound) return 0.0;
    along_.resize(n);
    for (size_t i = 0; i < n; ++i) along_[i] = values_[i].first;
    const Range range = range_of(along_.data(), n);
    const double scale = static_cast<double>(kBins) / (range.high - range.low);
    if (!(scale > 0.0) || !std::isfinite(scale)) return 0.0;
    bins_.resize(n);
    bin_rows(along_.data(), range.low, scale, static_cast<int>(kBins), bins_.data(), n);
    sums_.assign(2 * kBins, 0.0);
    for (size_t i = 0; i < n; ++i) {
      const CareRow& row = care[values_[i].second];
      sums_[2 * size_t{bins_[i]} + row.right] += row.weight;
    }
    double left = 0.0, right = 0.0;
    for (const uint32_t place : lacking_) (care[place].right ? right : left) += care[place].weight;
    return least_wrong(sums_.data(), kBins).up + std::min(left, right);
  }

  // Adds the solution of the surrogate at the next l1 penalty; returns whether there is one. A missing value counts as
  // the mean, 0.
  bool surrogate(const std::vector<CareRow>& care, ReducedProblem& problem) {
    const size_t n = care.size(), p = rows_.p;
    center(care);
    const TwoSides sides{centered_.data(), n, p, side_.data(), row_weight_.data()};
    LinearOptions options;
    options.loss = options_.surrogate;
    options.tolerance = 1e-4;  // E makes the final decision, so planes need few digits
    options.max_steps = 30;
    if (problem.solutions.empty()) problem.next_l1 = kFirstL1 * solver_.largest_l1(sides, options);
    LinearPenalty penalty;
    penalty.l1 = problem.next_l1;
    problem.next_l1 *= kNextL1;
    if (!(penalty.l1 > 0.0)) return false;
    solver_.solve(sides, penalty, options, problem.last);
    LinearFit fit = problem.last;
    if (options_.max_terms > 0) {
      choose_columns(fit.w);
      if (chosen_.size() < n_used(fit.w)) solve_on_chosen(sides, penalty, options, fit);
    }
    double squares = 0.0, offset = fit.b;
    for (size_t j = 0; j < p; ++j) {
      squares += fit.w[j] * fit.w[j];
      offset -= fit.w[j] * centers_[j];
    }
    problem.solutions.emplace_back();
    if (!(squares > 0.0)) return true;
    const double size = std::sqrt(squares);
    for (double& value : fit.w) value /= size;
    problem.solutions.back() = {fit.w, offset / size, {}};
    return true;
  }

  // The sides and weights of the rows that count, and their columns minus the means: far from the origin, the intercept
  // and the coefficients would be strongly correlated.
  void center(const std::vector<CareRow>& care) {
    if (!centered_.empty()) return;
    gather(care);
    const size_t n = care.size(), p = rows_.p;
    side_.resize(n);
    row_weight_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      side_[i] = care[i].right ? 1.0 : -1.0;
      row_weight_[i] = care[i].weight;
    }
    centered_ = columns_;
    centers_.assign(p, 0.0);
    for (size_t j = 0; j < p; ++j) {
      double* column = centered_.data() + j * n;
      double sum = 0.0;
      for (size_t i = 0; i < n; ++i) sum += column[i];
      centers_[j] = sum / static_cast<double>(n);
      for (size_t i = 0; i < n; ++i) column[i] -= centers_[j];
    }
  }

  // chosen_ = the columns with nonzero coefficients, if they belong to at most `max_terms` features; otherwise those of
  // the features with the largest sums of squared coefficients.
  void choose_columns(const std::vector<double>& w) {
    const auto feature = [&](size_t j) { return static_cast<size_t>(options_.feature_of[j]); };
    std::vector<std::pair<double, size_t>> sizes;  // features with the negative of their sum of squares
    for (size_t j = 0; j < w.size(); ++j) {
      if (j == 0 || feature(j) != feature(j - 1)) sizes.emplace_back(0.0, feature(j));
      sizes.back().first -= w[j] * w[j];
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.resize(std::min(sizes.size(), options_.max_terms));
    chosen_.clear();
    for (size_t j = 0; j < w.size(); ++j)
      if (w[j] != 0.0 &&
          std::any_of(sizes.begin(), sizes.end(), [&](const auto& each) { return each.second == feature(j); }))
        chosen_.push_back(j);
  }

  // The surrogate's solution over the chosen columns.
  void solve_on_chosen(const TwoSides& sides, const LinearPenalty& penalty, const LinearOptions& options,
                       LinearFit& fit) {
    some_.resize(chosen_.size() * sides.n);
    for (size_t k = 0; k < chosen_.size(); ++k)
      std::copy_n(centered_.data() + chosen_[k] * sides.n, sides.n, some_.data() + k * sides.n);
    LinearFit solution;
    solver_.solve({some_.data(), sides.n, chosen_.size(), sides.side, sides.weight}, penalty, options, solution);
    fit.w.assign(fit.w.size(), 0.0);
    for (size_t k = 0; k < chosen_.size(); ++k) fit.w[chosen_[k]] = solution.w[k];
    fit.b = solution.b;
  }

  // Whether the penalty of a plane alone makes it worse than `best`, or than the present cost.
  bool too_dear(double cost, const PlaneCandidate& best) const {
    if (cost >= enough_ + kSlack * (weight_ + options_.penalty)) return true;
    return !best.w.empty() && cost >= best.wrong + options_.penalty * best.length - kLess * weight_;
  }

  bool lacks(size_t row, const double* w) const {
    if (!rows_.absent) return false;
    const bool* absent = rows_.absent + row * rows_.p;
    for (size_t j = 0; j < rows_.p; ++j)
      if (absent[j] && w[j] != 0.0) return true;
    return false;
  }

  // Best cut of the sorted values_, in both orientations or one; rows without a value stay together.
  Cut best_cut(const std::vector<CareRow>& care, bool either_way, bool near, double wanted) {
    Cut best;
    if (values_.size() < 2) return best;
    double total_left = 0.0, total_right = 0.0;  // weight of the rows with a value, by preferred side
    for (const auto& [value, place] : values_) (care[place].right ? total_right : total_left) += care[place].weight;
    double block_left = 0.0, block_right = 0.0;
    for (const uint32_t place : lacking_) (care[place].right ? block_right : block_left) += care[place].weight;
    best.missing_left = block_left >= block_right;
    const double block = std::min(block_left, block_right);
    const double same = kSamePlace * std::max(std::abs(values_.front().first), std::abs(values_.back().first));
    const double less = kLess * (total_left + total_right);
    double below_left = 0.0, below_right = 0.0, distance = 0.0;
    for (size_t i = 0; i + 1 < values_.size(); ++i) {
      const CareRow& row = care[values_[i].second];
      (row.right ? below_right : below_left) += row.weight;
      const double low = values_[i].first, high = values_[i + 1].first, gap = high - low;
      if (!(gap > same)) continue;
      const double up = below_right + (total_left - below_left);  // smaller values go left
      const double down = below_left + (total_right - below_right);
      for (const bool right_above : {true, false}) {
        if (!right_above && !either_way) continue;
        const double wrong = block + (right_above ? up : down);
        const double threshold = near ? std::clamp(wanted, low + kEdge * gap, high - kEdge * gap) : low + 0.5 * gap;
        const double away = near ? std::abs(threshold - wanted) : 0.0;
        const bool better = wrong < best.wrong - less || (wrong <= best.wrong + less && away < distance);
        if (best.is_found && !better) continue;
        best = {threshold, wrong, right_above, best.missing_left, true};
        distance = away;
      }
    }
    return best;
  }

  const RefinementRows& rows_;
  ReducedProblems& problems_;
  const FeatureOrders& orders_;
  const RefinementOptions& options_;
  double weight_ = 0.0, enough_ = 0.0;  // of the rows that count; upper limit of the cost of a plane
  std::vector<uint64_t> keys_;
  KeySort sorter_;
  ValueSort value_sorter_;
  std::vector<ValueSort::Value> values_;  // value and index in `care`, of rows with a value
  std::vector<uint32_t> lacking_;         // indices in `care` of rows without a value
  std::vector<uint32_t> numbers_;
  std::vector<double> columns_, centered_, side_, row_weight_, direction_, centers_, along_;
  std::vector<double> sums_;      // weight of either side in each bin
  std::vector<uint8_t> bins_;     // of along_
  std::vector<size_t> in_order_;  // features by their bounds
  std::vector<size_t> chosen_;    // columns of the features that a plane is limited to
  std::vector<double> some_;      // these columns of the rows that count
  LinearSolver solver_;
};

}  // namespace oblique
