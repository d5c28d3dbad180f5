#include "heuristic/block_moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "heuristic/class_moments.hpp"
#include "rows/crimcoord.hpp"
#include "split/slot_search.hpp"

namespace oblique {

BlockMoments::BlockMoments(const Facts& facts, std::size_t n_classes, const Levels& levels, bool weighted,
                           const SearchOptions& options, Sums sums)
    : p_(levels.count.size()), n_codes_(n_classes), options_(options), kind_(sums),
      rows_(facts.rows, facts.rows + n_classes), low_(facts.low, facts.low + n_classes * p_),
      high_(facts.high, facts.high + n_classes * p_), unit_(n_classes, 1.0) {
  for (std::size_t k = 0; k < n_classes; ++k) {
    if (weighted && facts.weight[k] > 0.0) unit_[k] = weight_unit(facts.heaviest[k]);
    if (rows_[k] == 0) continue;
    present_.push_back(static_cast<std::int32_t>(k));
    of_class_.push_back(facts.weight[k]);
    n_rows_ += static_cast<std::size_t>(rows_[k]);
  }
  scores_.resize(levels.width);
  if (levels.any()) score_levels(facts.tables, levels);
  box_.assign(2 * p_, std::numeric_limits<double>::infinity());
  std::fill_n(box_.begin() + static_cast<std::ptrdiff_t>(p_), p_, -std::numeric_limits<double>::infinity());
  for (int k = 0; k < this->n_classes(); ++k)
    for (std::size_t j = 0; j < p_; ++j) {
      box_[j] = std::min(box_[j], of(low_, code(k))[j]);
      box_[p_ + j] = std::max(box_[p_ + j], of(high_, code(k))[j]);
    }
  spread_.measure(box_.data(), 2, p_);
  factor_ = ClassMoments::factor_of(spread_.widest());
  if (kind_ != Sums::classes) find_frames();
}

// Computes the scores of the levels, and the ranges of the scores.
void BlockMoments::score_levels(const double* tables, const Levels& levels) {
  const std::size_t width = levels.width + levels.features.size();
  Crimcoord crimcoord;
  Vector of_levels;
  for (std::size_t q = 0; q < levels.features.size(); ++q) {
    const std::size_t j = levels.features[q], count = static_cast<std::size_t>(levels.count[j]);
    const std::size_t start = levels.offset[q] + q;  // each feature has a further place for cells without a level
    of_levels.clear();
    for (std::size_t level = 0; level < count; ++level)
      for (int k = 0; k < n_classes(); ++k) of_levels.push_back(tables[code(k) * width + start + level]);
    double* scores = scores_.data() + levels.offset[q];
    crimcoord.solve(of_levels.data(), count, present_.size(), scores);
    for (int k = 0; k < n_classes(); ++k) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (std::size_t level = 0; level <= count; ++level) {
        if (!(tables[code(k) * width + start + level] > 0.0)) continue;
        const double score = level < count ? scores[level] : 0.0;
        low = std::min(low, score);
        high = std::max(high, score);
      }
      low_[code(k) * p_ + j] = low;
      high_[code(k) * p_ + j] = high;
    }
  }
}

// The coordinates in which moments are summed: of each class, or for bisectors of the node.
void BlockMoments::find_frames() {
  center_.assign(n_codes_ * p_, 0.0);
  inverse_.assign(n_codes_ * p_, -1.0);
  const bool of_node = kind_ == Sums::origin;
  const Standard standard = of_node ? Standard::of(spread_.center, spread_.range) : Standard{};
  for (std::size_t k = 0; k < n_codes_; ++k) {
    double *center = center_.data() + k * p_, *inverse = inverse_.data() + k * p_;
    if (of_node) std::copy(standard.center.begin(), standard.center.end(), center);
    if (rows_[k] == 0) continue;
    if (!of_node) class_frame(of(low_, k), of(high_, k), p_, center, inverse);
    for (std::size_t j = 0; of_node && j < p_; ++j) inverse[j] = 1.0 / standard.scale[j];
  }
}

// ---- passes
// ----------------------------------------------------------------------------------------------------------

const char* BlockMoments::wants() const {
  if (kind_ == Sums::classes) return "";
  if (passes_ == 0) return "moments";
  if (kind_ == Sums::unit_rows) return passes_ == 1 ? "squares" : passes_ == 2 ? "unit_moments" : "";
  return kind_ == Sums::origin && passes_ == 1 && !planes_.empty() ? "left" : "";
}

void BlockMoments::take_sums(const std::int64_t* high, const std::int64_t* low) {
  if (passes_++ > 0) {
    high_units_ = high;
    low_units_ = low;
    return;
  }
  high_sums_ = high;
  low_sums_ = low;
  if (kind_ == Sums::origin) find_bisectors();
  if (kind_ != Sums::unit_rows) return;
  mean_.assign(n_codes_ * p_, 0.0);
  for (int k = 0; k < n_classes(); ++k)
    for (std::size_t j = 0; j < p_; ++j) mean_[code(k) * p_ + j] = mean_of(k, j);
}

void BlockMoments::take_squares(const double* squares) {
  ++passes_;
  least_.resize(n_codes_);
  for (std::size_t k = 0; k < n_codes_; ++k) least_[k] = ClassMoments::kOnTheMean * std::sqrt(squares[k]);
}

void BlockMoments::take_left(const double* left) {
  ++passes_;
  for (std::size_t i = 0; i < planes_.size(); ++i)
    for (int k = 0; k < n_classes(); ++k) left_.push_back(left[i * n_codes_ + code(k)]);
}

// ---- moments
// ---------------------------------------------------------------------------------------------------------

bool BlockMoments::differs(int k) const {
  const double* inverse = of(inverse_, code(k));
  return rows_[code(k)] >= 2 && std::any_of(inverse, inverse + p_, [](double each) { return each > 0.0; });
}

ClassSums BlockMoments::sums_of(int k) const {
  const std::size_t at = code(k) * packed_size(p_);
  return {p_, of(center_, code(k)), of(inverse_, code(k)), high_sums_ + at, low_sums_ + at, weight(k), unit_[code(k)]};
}

bool BlockMoments::covariance(int k, Vector& out) {
  if (!differs(k)) return false;
  sums_of(k).scatter(factor_, 1.0 / std::max(weight(k) - 1.0, 1.0), out);
  return true;
}

bool BlockMoments::unit_scatter(int k, Vector& out) {
  if (!differs(k)) return false;
  ClassSums sums = sums_of(k);
  sums.high = high_units_ + code(k) * packed_size(p_);
  sums.low = low_units_ + code(k) * packed_size(p_);
  sums.products(out);
  return true;
}

void BlockMoments::pooled_variances(Vector& out) {
  out.assign(p_, 0.0);
  Vector scatter;
  double total = 0.0;
  for (int k = 0; k < n_classes(); ++k) {
    total += weight(k);
    if (!differs(k)) continue;
    sums_of(k).scatter(factor_, 1.0, scatter);
    for (std::size_t j = 0; j < p_; ++j) out[j] += scatter[j * p_ + j];
  }
  for (double& each : out) each /= std::max(total - n_classes(), 1.0);
}

// ---- bisectors
// -------------------------------------------------------------------------------------------------------

void BlockMoments::find_bisectors() {
  Vector largest((p_ + 1) * (p_ + 1), 0.0), others(largest);
  const Totals totals{n_classes(), of_class_.data()};
  const int first = majority(totals);
  double rest = 0.0;
  for (int k = 0; k < n_classes(); ++k) {
    add_symmetric(sums_of(k), k == first ? largest : others);
    if (k != first) rest += weight(k);
  }
  if (!Bisectors().from_moments(largest, others, weight(first), rest, spread_, planes_)) planes_.clear();
  if (!options_.strict_ties)
    for (Plane& plane : planes_) plane.t += spread_.of_direction(plane.w.data());
  normals_.assign(2 * p_, 0.0);
  thresholds_.assign(2, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < planes_.size(); ++i) {
    std::copy(planes_[i].w.begin(), planes_[i].w.end(), normals_.begin() + static_cast<std::ptrdiff_t>(i * p_));
    thresholds_[i] = planes_[i].t;
  }
}

const Plane* BlockMoments::better_bisector(bool super_classes) {
  if (planes_.empty()) return nullptr;
  const std::size_t largest = static_cast<std::size_t>(majority({n_classes(), of_class_.data()}));
  const auto joined = [&](const double* of_class) {
    const Vector all(of_class, of_class + present_.size());
    if (!super_classes || all.size() < 3) return all;
    double sum = 0.0;
    for (const double each : all) sum += each;
    return Vector{all[largest], sum - all[largest]};
  };
  const std::unique_ptr<SlotSearch> search = make_slot_search(options_, joined(of_class_.data()));
  for (std::size_t i = 0; i < planes_.size(); ++i)
    search->offer_cut(static_cast<std::int64_t>(i), planes_[i].t, joined(left_.data() + i * present_.size()).data(),
                      0.0);
  better_ = static_cast<std::size_t>(std::max<std::int64_t>(search->winner().order, 0));
  return &planes_[better_];
}

bool BlockMoments::gain_of_bisector(double& gain) const {
  const std::unique_ptr<SlotSearch> search = make_slot_search(options_, of_class_);
  search->offer_cut(0, planes_[better_].t, left_.data() + better_ * present_.size(), options_.min_leaf);
  const Cut cut = search->winner();
  if (cut.order >= 0) gain = search->gain(cut.value);
  return cut.order >= 0;
}

// ---- directions
// ------------------------------------------------------------------------------------------------------

// The mean and the covariance of all rows, from those of the classes.
void BlockMoments::find_scatter_of_rows() {
  double total = 0.0;
  for (const double each : of_class_) total += each;
  middle_.assign(p_, 0.0);
  scatter_.assign(p_ * p_, 0.0);
  for (int k = 0; k < n_classes(); ++k)
    for (std::size_t j = 0; j < p_; ++j) middle_[j] += weight(k) / total * mean_of(k, j);
  Vector class_scatter, off(p_);
  for (int k = 0; k < n_classes(); ++k) {
    class_scatter.assign(p_ * p_, 0.0);
    if (differs(k)) sums_of(k).scatter(factor_, 1.0 / total, class_scatter);
    for (std::size_t j = 0; j < p_; ++j) off[j] = mean_of(k, j) - middle_[j];
    for (std::size_t i = 0; i < p_; ++i)
      for (std::size_t j = 0; j < p_; ++j)
        scatter_[i * p_ + j] += class_scatter[i * p_ + j] / factor_ / factor_ + weight(k) / total * off[i] * off[j];
  }
}

BlockMoments::Directions BlockMoments::directions(const std::vector<Space>& spaces) {
  if (high_sums_ && kind_ != Sums::origin && middle_.empty()) find_scatter_of_rows();
  Directions out;
  std::vector<bool> stays(p_, false);  // axes that an earlier space leaves unchanged
  Vector scattered(p_);
  for (std::size_t s = 0; s < spaces.size(); ++s) {
    const Vector u = spaces[s].original ? Vector(p_, 0.0) : spaces[s].u;
    out.u.insert(out.u.end(), u.begin(), u.end());
    const Spread::Reflected reflected(spread_, u);
    double center = 0.0, half = 0.0, mean = 0.0, square = 0.0;  // of the rows along u
    for (std::size_t j = 0; j < p_; ++j) {
      center += u[j] * spread_.center[j];
      half += std::fabs(u[j]) * 0.5 * spread_.range[j];
    }
    for (std::size_t i = 0; i < p_ && !middle_.empty(); ++i) {
      scattered[i] = 0.0;
      for (std::size_t j = 0; j < p_; ++j) scattered[i] += scatter_[i * p_ + j] * u[j];
      mean += u[i] * middle_[i];
      square += u[i] * scattered[i];
    }
    for (std::size_t j = 0; j < p_; ++j) {
      if (u[j] == 0.0 && stays[j]) continue;
      if (u[j] == 0.0) stays[j] = true;
      out.order.push_back(static_cast<std::int64_t>(s * p_ + j));
      out.distinct.push_back(u[j] == 0.0 ? spread_.of_axis(j) : reflected.of_axis(j));
      const double middle = spread_.center[j] - 2.0 * u[j] * center, half_range = 0.5 * spread_.range[j];
      const double reach = std::fabs(1.0 - 2.0 * u[j] * u[j]) * half_range +
                           2.0 * std::fabs(u[j]) * std::max(half - std::fabs(u[j]) * half_range, 0.0);
      double low = middle - reach, high = middle + reach;
      if (u[j] != 0.0 && !middle_.empty()) {
        const double at = middle_[j] - 2.0 * u[j] * mean;
        const double deviation =
            std::sqrt(std::max(scatter_[j * p_ + j] - 4.0 * u[j] * scattered[j] + 4.0 * u[j] * u[j] * square, 0.0));
        if (deviation > 0.0 && std::isfinite(at - 4.0 * deviation) && std::isfinite(at + 4.0 * deviation)) {
          low = std::max(low, at - 4.0 * deviation);
          high = std::min(high, at + 4.0 * deviation);
        }
      }
      out.low.push_back(low);
      out.high.push_back(high);
    }
  }
  return out;
}

}  // namespace oblique
