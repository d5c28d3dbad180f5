// The moments of a node whose rows lie in blocks, computed by passes over the blocks.
#pragma once

#include "heuristic/moments.hpp"
#include "rows/crimcoord.hpp"
#include "split/slot_search.hpp"
#include "split/spaces.hpp"

namespace oblique {

// The moments of one node. The sums that its heuristic uses decide which passes it requests; after the sums over all
// blocks have been received, all moments are available. Arrays by class have a row for every class of the table.
class BlockMoments final : public RowMoments {
 public:
  // The output of `Block::add_boxes`. low and high are copied; for features with levels the scores replace them.
  struct Facts {
    const int64_t* rows;
    const double *weight, *heaviest, *low, *high, *tables;
  };
  // weighted : whether rows have weights
  BlockMoments(const Facts& facts, size_t n_classes, const Levels& levels, bool weighted, const SearchOptions& options,
               Sums sums)
      : p_(levels.count.size()), n_codes_(n_classes), options_(options), kind_(sums),
        rows_(facts.rows, facts.rows + n_classes), low_(facts.low, facts.low + n_classes * p_),
        high_(facts.high, facts.high + n_classes * p_), unit_(n_classes, 1.0) {
    for (size_t k = 0; k < n_classes; ++k) {
      if (weighted && facts.weight[k] > 0.0) unit_[k] = weight_unit(facts.heaviest[k]);
      if (rows_[k] == 0) continue;
      present_.push_back(static_cast<int32_t>(k));
      of_class_.push_back(facts.weight[k]);
      n_rows_ += static_cast<size_t>(rows_[k]);
    }
    scores_.resize(levels.width);
    if (levels.any()) score_levels(facts.tables, levels);
    box_.assign(2 * p_, std::numeric_limits<double>::infinity());
    std::fill_n(box_.begin() + p_, p_, -std::numeric_limits<double>::infinity());
    for (int k = 0; k < this->n_classes(); ++k)
      for (size_t j = 0; j < p_; ++j) {
        box_[j] = std::min(box_[j], of(low_, code(k))[j]);
        box_[p_ + j] = std::max(box_[p_ + j], of(high_, code(k))[j]);
      }
    spread_.measure(box_.data(), 2, p_);
    factor_ = ClassMoments::factor_of(spread_.widest());
    if (kind_ != Sums::classes) find_frames();
  }

  // The next pass, by its name in `Block`: "moments", "squares", "unit_moments" or "left"; "" if no pass is needed.
  const char* wants() const {
    if (kind_ == Sums::classes) return "";
    if (passes_ == 0) return "moments";
    if (kind_ == Sums::unit_rows) return passes_ == 1 ? "squares" : passes_ == 2 ? "unit_moments" : "";
    return kind_ == Sums::origin && passes_ == 1 && !planes_.empty() ? "left" : "";
  }

  // Calls visit(name, values, shape) for the arguments of that pass, n_classes rows each: frames in `center` and
  // `inverse`, or `mean`; for `left` two planes, with threshold NaN for a missing plane.
  template <class Visit>
  void each_argument(const Visit& visit) const {
    using Shape = std::vector<size_t>;
    const std::string pass = wants();
    if (pass != "moments" && pass != "squares" && pass != "unit_moments") {
      visit("normals", normals_, Shape{2, p_});
      visit("thresholds", thresholds_, Shape{2});
      return;
    }
    const bool first = pass == "moments";
    visit(first ? "center" : "mean", first ? center_ : mean_, Shape{n_codes_, p_});
    visit("inverse", inverse_, Shape{n_codes_, p_});
    if (pass == "unit_moments") visit("least", least_, Shape{n_codes_});
    if (pass != "squares") visit("unit", unit_, Shape{n_codes_});
  }
  double factor() const { return factor_; }
  // Receives the sums over all blocks. The arrays must outlive this object.
  void take_sums(const int64_t* high, const int64_t* low) {
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
      for (size_t j = 0; j < p_; ++j) mean_[code(k) * p_ + j] = mean_of(k, j);
  }

  void take_squares(const double* squares) {
    ++passes_;
    least_.resize(n_codes_);
    for (size_t k = 0; k < n_codes_; ++k) least_[k] = ClassMoments::kOnTheMean * std::sqrt(squares[k]);
  }

  void take_left(const double* left) {
    ++passes_;
    for (size_t i = 0; i < planes_.size(); ++i)
      for (int k = 0; k < n_classes(); ++k) left_.push_back(left[i * n_codes_ + code(k)]);
  }

  size_t n_features() const override { return p_; }
  int n_classes() const override { return static_cast<int>(present_.size()); }
  double weight(int k) const override { return of_class_[k]; }

  bool covariance(int k, Vector& out) override {
    if (!differs(k)) return false;
    sums_of(k).scatter(factor_, 1.0 / std::max(weight(k) - 1.0, 1.0), out);
    return true;
  }

  bool unit_scatter(int k, Vector& out) override {
    if (!differs(k)) return false;
    ClassSums sums = sums_of(k);
    sums.high = high_units_ + code(k) * packed_size(p_);
    sums.low = low_units_ + code(k) * packed_size(p_);
    sums.products(out);
    return true;
  }

  void pooled_variances(Vector& out) override {
    out.assign(p_, 0.0);
    Vector scatter;
    double total = 0.0;
    for (int k = 0; k < n_classes(); ++k) {
      total += weight(k);
      if (!differs(k)) continue;
      sums_of(k).scatter(factor_, 1.0, scatter);
      for (size_t j = 0; j < p_; ++j) out[j] += scatter[j * p_ + j];
    }
    for (double& each : out) each /= std::max(total - n_classes(), 1.0);
  }

  const Plane* better_bisector(bool super_classes) override {
    if (planes_.empty()) return nullptr;
    const size_t largest = static_cast<size_t>(majority({n_classes(), of_class_.data()}));
    const auto joined = [&](const double* of_class) {
      const Vector all(of_class, of_class + present_.size());
      if (!super_classes || all.size() < 3) return all;
      double sum = 0.0;
      for (const double each : all) sum += each;
      return Vector{all[largest], sum - all[largest]};
    };
    const std::unique_ptr<SlotSearch> search = make_slot_search(options_, joined(of_class_.data()));
    for (size_t i = 0; i < planes_.size(); ++i)
      search->offer_cut(static_cast<int64_t>(i), planes_[i].t, joined(left_.data() + i * present_.size()).data(), 0.0);
    better_ = static_cast<size_t>(std::max<int64_t>(search->winner().order, 0));
    return &planes_[better_];
  }

  // The gain of the better bisector; false if a side has less weight than a leaf needs.
  bool gain_of_bisector(double& gain) const {
    const std::unique_ptr<SlotSearch> search = make_slot_search(options_, of_class_);
    search->offer_cut(0, planes_[better_].t, left_.data() + better_ * present_.size(), options_.min_leaf);
    const Cut cut = search->winner();
    if (cut.order >= 0) gain = search->gain(cut.value);
    return cut.order >= 0;
  }

  size_t n_rows() const { return n_rows_; }
  const std::vector<int32_t>& present() const { return present_; }
  const Vector& of_class() const { return of_class_; }
  const Vector& level_scores() const { return scores_; }
  const Spread& spread() const { return spread_; }
  double mean_of(int k, size_t j) const { return sums_of(k).mean(j); }
  // The directions of some spaces; an axis that several spaces share occurs once. low and high bound the projections of
  // the rows approximately: they decide how many rows fall into a bin and nothing else. The range is that of the box
  // and, where covariances are known, at most four standard deviations about the mean.
  struct Directions {
    Vector u;                    // of every space, 0 for the original one
    std::vector<int64_t> order;  // space * p + axis
    Vector low, high, distinct;  // distinct : the gap above which two projections differ
  };

  Directions directions(const std::vector<Space>& spaces) {
    if (high_sums_ && kind_ != Sums::origin && middle_.empty()) find_scatter_of_rows();
    Directions out;
    std::vector<bool> stays(p_, false);  // axes that an earlier space leaves unchanged
    Vector scattered(p_);
    for (size_t s = 0; s < spaces.size(); ++s) {
      const Vector u = spaces[s].original ? Vector(p_, 0.0) : spaces[s].u;
      out.u.insert(out.u.end(), u.begin(), u.end());
      const Spread::Reflected reflected(spread_, u);
      double center = 0.0, half = 0.0, mean = 0.0, square = 0.0;  // of the rows along u
      for (size_t j = 0; j < p_; ++j) {
        center += u[j] * spread_.center[j];
        half += std::fabs(u[j]) * 0.5 * spread_.range[j];
      }
      for (size_t i = 0; i < p_ && !middle_.empty(); ++i) {
        scattered[i] = 0.0;
        for (size_t j = 0; j < p_; ++j) scattered[i] += scatter_[i * p_ + j] * u[j];
        mean += u[i] * middle_[i];
        square += u[i] * scattered[i];
      }
      for (size_t j = 0; j < p_; ++j) {
        if (u[j] == 0.0 && stays[j]) continue;
        if (u[j] == 0.0) stays[j] = true;
        out.order.push_back(static_cast<int64_t>(s * p_ + j));
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

 private:
  size_t code(int k) const { return static_cast<size_t>(present_[k]); }
  const double* of(const Vector& values, size_t code) const { return values.data() + code * p_; }

  bool differs(int k) const {
    const double* inverse = of(inverse_, code(k));
    return rows_[code(k)] >= 2 && std::any_of(inverse, inverse + p_, [](double each) { return each > 0.0; });
  }

  ClassSums sums_of(int k) const {
    const size_t at = code(k) * packed_size(p_);
    return {p_,        of(center_, code(k)), of(inverse_, code(k)), high_sums_ + at, low_sums_ + at,
            weight(k), unit_[code(k)]};
  }

  // Computes the scores of the levels, and the ranges of the scores.
  void score_levels(const double* tables, const Levels& levels) {
    const size_t width = levels.width + levels.features.size();
    Crimcoord crimcoord;
    Vector of_levels;
    for (size_t q = 0; q < levels.features.size(); ++q) {
      const size_t j = levels.features[q], count = levels.count[j];
      const size_t start = levels.offset[q] + q;  // each feature has a further place for cells without a level
      of_levels.clear();
      for (size_t level = 0; level < count; ++level)
        for (int k = 0; k < n_classes(); ++k) of_levels.push_back(tables[code(k) * width + start + level]);
      double* scores = scores_.data() + levels.offset[q];
      crimcoord.solve(of_levels.data(), count, present_.size(), scores);
      for (int k = 0; k < n_classes(); ++k) {
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (size_t level = 0; level <= count; ++level) {
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
  void find_frames() {
    center_.assign(n_codes_ * p_, 0.0);
    inverse_.assign(n_codes_ * p_, -1.0);
    const bool of_node = kind_ == Sums::origin;
    const Standard standard = of_node ? Standard::of(spread_.center, spread_.range) : Standard{};
    for (size_t k = 0; k < n_codes_; ++k) {
      double *center = center_.data() + k * p_, *inverse = inverse_.data() + k * p_;
      if (of_node) std::copy(standard.center.begin(), standard.center.end(), center);
      if (rows_[k] == 0) continue;
      if (!of_node) class_frame(of(low_, k), of(high_, k), p_, center, inverse);
      for (size_t j = 0; of_node && j < p_; ++j) inverse[j] = 1.0 / standard.scale[j];
    }
  }

  void find_bisectors() {
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
    for (size_t i = 0; i < planes_.size(); ++i) {
      std::copy(planes_[i].w.begin(), planes_[i].w.end(), normals_.begin() + i * p_);
      thresholds_[i] = planes_[i].t;
    }
  }

  // The mean and the covariance of all rows, from those of the classes.
  void find_scatter_of_rows() {
    double total = 0.0;
    for (const double each : of_class_) total += each;
    middle_.assign(p_, 0.0);
    scatter_.assign(p_ * p_, 0.0);
    for (int k = 0; k < n_classes(); ++k)
      for (size_t j = 0; j < p_; ++j) middle_[j] += weight(k) / total * mean_of(k, j);
    Vector class_scatter, off(p_);
    for (int k = 0; k < n_classes(); ++k) {
      class_scatter.assign(p_ * p_, 0.0);
      if (differs(k)) sums_of(k).scatter(factor_, 1.0 / total, class_scatter);
      for (size_t j = 0; j < p_; ++j) off[j] = mean_of(k, j) - middle_[j];
      for (size_t i = 0; i < p_; ++i)
        for (size_t j = 0; j < p_; ++j)
          scatter_[i * p_ + j] += class_scatter[i * p_ + j] / factor_ / factor_ + weight(k) / total * off[i] * off[j];
    }
  }

  const size_t p_, n_codes_;
  const SearchOptions options_;
  const Sums kind_;
  int passes_ = 0;  // number of completed passes
  size_t n_rows_ = 0;
  std::vector<int64_t> rows_;
  std::vector<int32_t> present_;
  Vector of_class_, low_, high_, scores_, box_;  // box_ : the least values over all rows, then the greatest
  Spread spread_;
  double factor_ = 1.0;
  Vector center_, inverse_, mean_, unit_, least_, normals_, thresholds_, left_;
  const int64_t *high_sums_ = nullptr, *low_sums_ = nullptr, *high_units_ = nullptr, *low_units_ = nullptr;
  std::vector<Plane> planes_;
  size_t better_ = 0;
  Vector middle_, scatter_;  // mean and covariance of all rows, if known
};

}  // namespace oblique
