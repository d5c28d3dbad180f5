#include "refinement/node_update.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/interrupt.hpp"
#include "common/kernels.hpp"

namespace oblique {
namespace {

constexpr double kSamePlace = 1e-9;  // of the largest value: values closer than this are not told apart
constexpr double kLess = 1e-12;      // of the weight: a cost that is lower by less is the same
constexpr double kEdge = 0.25;       // of a gap that a threshold keeps from its ends
constexpr double kFirstL1 = 0.5;     // of the l1 at which the surrogate leaves 0
constexpr double kNextL1 = 0.2;      // of the l1 before
constexpr int kSurrogates = 5;

double length_of(const std::vector<double>& w) {
  double sum = 0.0;
  for (const double value : w) sum += std::abs(value);
  return sum;
}

double weight_of(const std::vector<CareRow>& care) {
  double sum = 0.0;
  for (const CareRow& each : care) sum += each.weight;
  return sum;
}

}  // namespace

bool NodeUpdate::lacks(std::size_t row, const double* w) const {
  if (!rows_.absent) return false;
  const bool* absent = rows_.absent + row * rows_.p;
  for (std::size_t j = 0; j < rows_.p; ++j)
    if (absent[j] && w[j] != 0.0) return true;
  return false;
}

NodeUpdate::Cut NodeUpdate::best_cut(const std::vector<CareRow>& care, bool either_way, bool near, double wanted) {
  Cut best{0.0, 0.0, true, false, false};
  if (values_.size() < 2) return best;
  double total_left = 0.0, total_right = 0.0;  // weight of the rows with a value, by the side they want
  for (const auto& [value, place] : values_) (care[place].right ? total_right : total_left) += care[place].weight;
  double block_left = 0.0, block_right = 0.0;
  for (const std::uint32_t place : lacking_) (care[place].right ? block_right : block_left) += care[place].weight;
  best.missing_left = block_left >= block_right;
  const double block = std::min(block_left, block_right);
  const double same = kSamePlace * std::max(std::abs(values_.front().first), std::abs(values_.back().first));
  const double less = kLess * (total_left + total_right);
  double below_left = 0.0, below_right = 0.0, distance = 0.0;
  for (std::size_t i = 0; i + 1 < values_.size(); ++i) {
    const CareRow& row = care[values_[i].second];
    (row.right ? below_right : below_left) += row.weight;
    const double low = values_[i].first, high = values_[i + 1].first, gap = high - low;
    if (!(gap > same)) continue;
    const double up = below_right + (total_left - below_left);  // smaller values left
    const double down = below_left + (total_right - below_right);
    for (const bool right_above : {true, false}) {
      if (!right_above && !either_way) continue;
      const double wrong = block + (right_above ? up : down);
      const double threshold = near ? std::clamp(wanted, low + kEdge * gap, high - kEdge * gap) : low + 0.5 * gap;
      const double away = near ? std::abs(threshold - wanted) : 0.0;
      const bool better = wrong < best.wrong - less || (wrong <= best.wrong + less && away < distance);
      if (best.found && !better) continue;
      best.found = true;
      best.threshold = threshold;
      best.wrong = wrong;
      best.right_above = right_above;
      distance = away;
    }
  }
  return best;
}

// Sorts by value, then by place: by the leading half of the numbers first, which leaves little to do.
void NodeUpdate::sort_values() {
  const std::size_t n = values_.size();
  keys_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(values_[i].first + 0.0);  // -0 is 0
    const std::uint64_t ordered = bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
    keys_[i] = (ordered >> 32 << 32) | i;
  }
  sorter_.sort(keys_.data(), n);
  sorted_.resize(n);
  for (std::size_t i = 0; i < n; ++i) sorted_[i] = values_[static_cast<std::uint32_t>(keys_[i])];
  values_.swap(sorted_);
  std::size_t moves = 0;
  for (std::size_t i = 1; i < n && moves <= 4 * n; ++i) {
    const auto value = values_[i];
    std::size_t j = i;
    for (; j > 0 && value < values_[j - 1]; --j, ++moves) values_[j] = values_[j - 1];
    values_[j] = value;
  }
  if (moves > 4 * n) std::sort(values_.begin(), values_.end());
  checkpoint(8 * n);
}

// The best cut of every feature; the direction has one coefficient of 1 or -1.
void NodeUpdate::cut_axes(const std::vector<CareRow>& care, PlaneCandidate& best) {
  const double less = kLess * weight_of(care);
  for (std::size_t j = 0; j < rows_.p; ++j) {
    keys_.clear();
    lacking_.clear();
    for (std::uint32_t i = 0; i < care.size(); ++i) {
      const std::size_t row = care[i].row;
      if (rows_.absent && rows_.absent[row * rows_.p + j])
        lacking_.push_back(i);
      else
        keys_.push_back(std::uint64_t{ranks_[j * rows_.n + row]} << 32 | i);
    }
    sorter_.sort(keys_.data(), keys_.size());
    checkpoint(8 * keys_.size());
    values_.resize(keys_.size());
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const std::uint32_t place = static_cast<std::uint32_t>(keys_[i]);
      values_[i] = {rows_.x[care[place].row * rows_.p + j], place};
    }
    const Cut cut = best_cut(care, true, false, 0.0);
    if (!cut.found ||
        (!best.w.empty() && cut.wrong + options_.penalty >= best.wrong + options_.penalty * best.length - less))
      continue;
    best.w.assign(rows_.p, 0.0);
    best.w[j] = cut.right_above ? 1.0 : -1.0;
    best.b = cut.right_above ? -cut.threshold : cut.threshold;
    best.missing_left = cut.missing_left;
    best.wrong = cut.wrong;
    best.length = 1.0;
  }
}

// The best cut along a direction of unit length; of equally good ones that nearest to the plane's own place.
void NodeUpdate::cut_along(const std::vector<CareRow>& care, const std::vector<double>& w, double b,
                           PlaneCandidate& best) {
  values_.clear();
  lacking_.clear();
  for (std::uint32_t i = 0; i < care.size(); ++i) {
    if (lacks(care[i].row, w.data()))
      lacking_.push_back(i);
    else
      values_.emplace_back(dot_row(w.data(), rows_.x + care[i].row * rows_.p, rows_.p), i);
  }
  checkpoint(care.size() * rows_.p);
  sort_values();
  const Cut cut = best_cut(care, false, true, -b);
  const double length = length_of(w), less = kLess * weight_of(care);
  if (!cut.found ||
      (!best.w.empty() && cut.wrong + options_.penalty * length >= best.wrong + options_.penalty * best.length - less))
    return;
  best.w = w;
  best.b = -cut.threshold;
  best.missing_left = cut.missing_left;
  best.wrong = cut.wrong;
  best.length = length;
}

// Along the answers of the surrogate, from the sparsest. A missing value counts as the mean, 0.
void NodeUpdate::surrogates(const std::vector<CareRow>& care, PlaneCandidate& best) {
  const std::size_t n = care.size(), p = rows_.p;
  numbers_.resize(n);
  side_.resize(n);
  weight_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    numbers_[i] = care[i].row;
    side_[i] = care[i].right ? 1.0 : -1.0;
    weight_[i] = care[i].weight;
  }
  columns_.resize(n * p);
  gather_columns(rows_.x, p, numbers_.data(), n, columns_.data());
  // Planes far from the origin would make the intercept and the coefficients fight each other.
  centers_.assign(p, 0.0);
  for (std::size_t j = 0; j < p; ++j) {
    double* column = columns_.data() + j * n;
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) sum += column[i];
    centers_[j] = sum / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) column[i] -= centers_[j];
  }
  const TwoSides sides{columns_.data(), n, p, side_.data(), weight_.data()};
  LinearOptions options;
  options.loss = options_.surrogate;
  options.tolerance = 1e-4;  // E decides in the end, so planes need no more digits
  options.max_steps = 30;
  LinearPenalty penalty;
  penalty.l1 = kFirstL1 * solver_.largest_l1(sides, options);
  if (!(penalty.l1 > 0.0)) return;
  LinearFit fit;
  for (int k = 0; k < kSurrogates; ++k, penalty.l1 *= kNextL1) {
    solver_.solve(sides, penalty, options, fit);
    double squares = 0.0, offset = fit.b;
    for (std::size_t j = 0; j < p; ++j) {
      squares += fit.w[j] * fit.w[j];
      offset -= fit.w[j] * centers_[j];
    }
    if (!(squares > 0.0)) continue;
    const double size = std::sqrt(squares);
    direction_.resize(p);
    for (std::size_t j = 0; j < p; ++j) direction_[j] = fit.w[j] / size;
    cut_along(care, direction_, offset / size, best);
  }
}

bool NodeUpdate::propose(const std::vector<CareRow>& care, const double* present, double present_b,
                         PlaneCandidate& best) {
  best.w.clear();
  bool left = false, right = false;
  for (const CareRow& each : care) (each.right ? right : left) = true;
  if (!left || !right) return false;
  cut_axes(care, best);
  direction_.assign(present, present + rows_.p);
  if (length_of(direction_) > 0.0) cut_along(care, std::vector<double>(direction_), present_b, best);
  surrogates(care, best);
  return !best.w.empty();
}

}  // namespace oblique
