#include "heuristic/nearest_pair.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "common/interrupt.hpp"

namespace oblique {

namespace {

double squared_distance(const double* x, const double* y, std::size_t p) {
  double sum = 0.0;
  for (std::size_t j = 0; j < p; ++j) sum += (x[j] - y[j]) * (x[j] - y[j]);
  return sum;
}

bool comes_before(const double* x, const double* y, std::size_t p) {
  for (std::size_t j = 0; j < p; ++j) {
    const double left = std::nearbyint(x[j] * 0x1p40), right = std::nearbyint(y[j] * 0x1p40);
    if (left != right) return left < right;
  }
  return false;
}

}  // namespace

bool NearestPair::find(const Vector& a, Vector& b, std::size_t p) {
  p_ = p;
  boxes_.clear();
  const int root = build(b, 0, b.size() / p);
  b_ = b.data();
  const std::size_t n = a.size() / p;
  // Only the nearest pair counts, so the search for each row stops at the distance of the nearest pair so far.
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i) {
    visit(root, a.data() + i * p, least, [&](std::size_t, double squared) { least = squared; });
    checkpoint(p * kLeaf);
  }
  if (!std::isfinite(least)) return false;
  const double reach = std::sqrt(least) * (1.0 + kTie);
  // Larger than the limit by a rounding error, for boxes; the distance itself decides.
  const double limit = reach * reach * (1.0 + kTie);
  const double *first = nullptr, *second = nullptr;
  for (std::size_t i = 0; i < n; ++i) {
    const double* row = a.data() + i * p;
    if (first && !comes_before(row, first, p)) continue;
    const double* nearest = nullptr;
    visit(root, row, limit, [&](std::size_t k, double squared) {
      const double* other = b_ + k * p;
      if (std::sqrt(squared) <= reach && (!nearest || comes_before(other, nearest, p))) nearest = other;
    });
    if (!nearest) continue;
    first = row;
    second = nearest;
  }
  if (!first) return false;
  first_.assign(first, first + p);
  second_.assign(second, second + p);
  return true;
}

int NearestPair::build(Vector& b, std::size_t first, std::size_t last) {
  const int box = static_cast<int>(boxes_.size());
  boxes_.push_back({first, last, 0, 0, 0.0, 0.0});
  if (last - first <= kLeaf) return box;
  std::size_t axis = 0;
  double widest = 0.0;
  for (std::size_t j = 0; j < p_; ++j) {
    double low = b[first * p_ + j], high = low;
    for (std::size_t i = first; i < last; ++i) {
      low = std::min(low, b[i * p_ + j]);
      high = std::max(high, b[i * p_ + j]);
    }
    if (high - low > widest) {
      widest = high - low;
      axis = j;
    }
  }
  checkpoint((last - first) * p_);
  if (!(widest > 0.0)) return box;  // all rows are equal
  order_.resize(last - first);
  std::iota(order_.begin(), order_.end(), first);
  const std::size_t half = (last - first) / 2;
  std::nth_element(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(half), order_.end(),
                   [&](std::size_t x, std::size_t y) { return b[x * p_ + axis] < b[y * p_ + axis]; });
  moved_.resize((last - first) * p_);
  for (std::size_t i = 0; i < order_.size(); ++i)
    std::copy_n(b.begin() + static_cast<std::ptrdiff_t>(order_[i] * p_), p_,
                moved_.begin() + static_cast<std::ptrdiff_t>(i * p_));
  std::copy(moved_.begin(), moved_.end(), b.begin() + static_cast<std::ptrdiff_t>(first * p_));
  const std::size_t middle = first + half;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  for (std::size_t i = first; i < middle; ++i) low = std::max(low, b[i * p_ + axis]);
  for (std::size_t i = middle; i < last; ++i) high = std::min(high, b[i * p_ + axis]);
  const int lower = build(b, first, middle), upper = build(b, middle, last);
  Box& node_box = boxes_[static_cast<std::size_t>(box)];
  node_box.axis = axis;
  node_box.middle = middle;
  node_box.low = low;
  node_box.high = high;
  node_box.lower = lower;
  node_box.upper = upper;
  return box;
}

template <class Use>
void NearestPair::visit(int box, const double* row, const double& limit, const Use& use) const {
  const Box& node_box = boxes_[static_cast<std::size_t>(box)];
  if (node_box.lower < 0) {
    for (std::size_t k = node_box.first; k < node_box.last; ++k) {
      const double squared = squared_distance(row, b_ + k * p_, p_);
      if (squared > kSame * kSame && squared < limit) use(k, squared);
    }
    return;
  }
  const double below = std::max(row[node_box.axis] - node_box.low, 0.0),
               above = std::max(node_box.high - row[node_box.axis], 0.0);
  const bool lower_first = below < above;
  for (const bool lower : {lower_first, !lower_first}) {
    const double away = lower ? below : above;
    if (away * away < limit) visit(lower ? node_box.lower : node_box.upper, row, limit, use);
  }
}

}  // namespace oblique
