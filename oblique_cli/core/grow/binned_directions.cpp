#include "grow/binned_directions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/interrupt.hpp"
#include "common/kernels.hpp"
#include "split/node_rows.hpp"
#include "split/spread.hpp"

namespace oblique {

BinnedDirections::BinnedDirections(TrainingRows& data, const double* mass, std::size_t max_bins)
    : data_(data), mass_(mass), max_bins_(max_bins), all_(data.x.p) {
  projected_.resize(data.x.n, 1);
  for (std::size_t j = 0; j < data.x.p; ++j) {
    checkpoint(16 * data.x.n);
    magnitude_.push_back(largest_magnitude(data.x.column(j), data.x.n));
    // An axis needs no arithmetic, so its tolerance for rounding is 0.
    put_into_bins(data.x.column(j), data.x.rank(j), 0.0, all_[j]);
  }
}

double BinnedDirections::threshold(std::size_t direction, std::size_t below, std::size_t above) const {
  return middle_of_gap(all_[direction].high[below], all_[direction].low[above]);
}

void BinnedDirections::add(const ForestTree& tree, std::size_t round) {
  for (std::size_t plane = 0; plane < tree.n_oblique(); ++plane) {
    const auto first = tree.terms.begin() + static_cast<std::ptrdiff_t>(plane * tree.width);
    std::vector<SparsePlanes::Term> terms(first, first + static_cast<std::ptrdiff_t>(tree.width));
    checkpoint((tree.width + 16) * data_.x.n);
    const auto counts = [](const SparsePlanes::Term& term) { return term.coef != 0.0; };
    if (std::count_if(terms.begin(), terms.end(), counts) < 2 || !project(terms)) continue;
    Direction& direction = room();
    put_into_bins(projected_.column(0), projected_.rank(0), rounding(terms), direction);
    direction.terms = std::move(terms);
    direction.used = round;
  }
}

// Projects all rows by the arithmetic of prediction; false if a sum overflows.
bool BinnedDirections::project(const std::vector<SparsePlanes::Term>& terms) {
  const std::size_t n = data_.x.n;
  double* z = projected_.column(0);
  const double* x = data_.x.column(static_cast<std::size_t>(terms[0].feature));
  for (std::size_t i = 0; i < n; ++i) z[i] = terms[0].coef * x[i];
  for (std::size_t t = 1; t < terms.size(); ++t)
    add_scaled(terms[t].coef, data_.x.column(static_cast<std::size_t>(terms[t].feature)), z, n);
  projected_.ranked[0] = 0;
  return std::isfinite(largest_magnitude(z, n));
}

// Two projections differ if they lie further apart than this.
double BinnedDirections::rounding(const std::vector<SparsePlanes::Term>& terms) const {
  double range = 0.0, magnitude = 0.0;
  for (const SparsePlanes::Term& term : terms) {
    const std::size_t j = static_cast<std::size_t>(term.feature);
    range += 2.0 * std::fabs(term.coef) * data_.half_range[j];
    magnitude += std::fabs(term.coef) * magnitude_[j];
  }
  return Spread::gap(range, magnitude);
}

void BinnedDirections::put_into_bins(const double* z, const std::uint32_t* rank, double distinct, Direction& out) {
  const std::size_t n = data_.x.n;
  const std::size_t n_ranks = 1 + *std::max_element(rank, rank + n);
  value_.resize(n_ranks);
  weight_.assign(n_ranks, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    value_[rank[i]] = z[i];
    weight_[rank[i]] += mass_ ? mass_[i] : 1.0;
  }
  std::size_t n_values = 1;
  double left = weight_[0];  // weight of the bins that are not yet closed
  for (std::size_t r = 1; r < n_ranks; ++r) {
    left += weight_[r];
    n_values += value_[r] - value_[r - 1] > distinct;
  }
  bin_of_.resize(n_ranks);
  out.low.assign(1, value_[0]);
  out.high.clear();
  double in_bin = 0.0;
  for (std::size_t r = 0; r < n_ranks; ++r) {
    const std::size_t bins_left = max_bins_ - out.high.size();
    const bool is_enough =
        r > 0 && (n_values <= max_bins_ || (bins_left > 1 && in_bin * static_cast<double>(bins_left) >= left));
    if (is_enough && value_[r] - value_[r - 1] > distinct) {
      out.high.push_back(value_[r - 1]);
      out.low.push_back(value_[r]);
      left -= in_bin;
      in_bin = 0.0;
    }
    in_bin += weight_[r];
    bin_of_[r] = static_cast<std::uint8_t>(out.high.size());
  }
  out.high.push_back(value_[n_ranks - 1]);
  out.bin.resize(n);
  for (std::size_t i = 0; i < n; ++i) out.bin[i] = bin_of_[rank[i]];
}

// Memory for one more plane.
BinnedDirections::Direction& BinnedDirections::room() {
  if (all_.size() < n_axes() + kMostPlanes) return all_.emplace_back();
  return *std::min_element(all_.begin() + static_cast<std::ptrdiff_t>(n_axes()), all_.end(),
                           [](const Direction& a, const Direction& b) { return a.used < b.used; });
}

}  // namespace oblique
