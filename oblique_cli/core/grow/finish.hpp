// Steps after the split of a heuristic: local search, a limit on the number of features, a preference for axes.
#pragma once

#include "heuristic/climbing/oc1_climb.hpp"
#include "split/criteria.hpp"

namespace oblique {

inline constexpr uint64_t kPolishStream = uint64_t{1} << 40;  // follows the streams of OC1's restarts

// polish      perturb the hyperplane as OC1 does, and accept improvements
// max_terms   most non-zero coefficients, -1 for no limit
// split_cost  c: a split with k of p coefficients non-zero must beat the best axis-parallel split by more than c (k -
// 1) / p of the node's impurity
struct Finishing {
  bool polish = false;
  int64_t max_terms = -1;
  double split_cost = 0.0;

  // Whether finishing reads the columns of a node, which then have to be copied.
  bool reads_columns() const { return polish || max_terms > 0; }
};

inline constexpr double kSameGain = 1e-9;  // relative; closer gains are equal, as in every search (front.hpp)

class Finish {
 public:
  Finish(const SearchOptions& options, const Finishing& finishing) : finishing_(finishing) {
    if (finishing.polish) climb_.emplace(options, OC1Settings{});
    axes_.add_axes();
  }

  // Changes the split or leaves it as it is; false if no split remains. Uses the search of the node.
  // heuristic : the heuristic that found the split
  bool apply(const Node& node, Heuristic& heuristic, Split& split) {
    if (finishing_.polish) polish(node, split);
    if (finishing_.max_terms > 0 && !limit(node, heuristic, split)) return false;
    if (finishing_.split_cost > 0.0) prefer_axis(node, split);
    return true;
  }

  void polish(const Node& node, Split& split) {
    // With fewer rows a hyperplane has too many ways to fit them; OC1 has the same rule.
    if (!(node.search.totals().n > climb_->rows_per_feature() * static_cast<double>(node.n_features()))) return;
    climb_->plane.begin(node);
    if (climb_->plane.features().empty()) return;
    climb_->climb_from(split, node.stream(kPolishStream));
    double value = 0.0;
    if (!climb_->plane.has_kept() || !climb_->plane.settle(node, other_, value)) return;
    const double gain = node.search.gain(value), same = node.options.strict_ties ? 0.0 : kSameGain * split.gain;
    if (!(gain > split.gain + same)) return;
    split.normal.swap(other_.normal);
    split.threshold = other_.threshold;
    split.gain = gain;
    split.is_final = true;
  }

 private:
  // Backward elimination by dispersion (Brodley & Utgoff 1995): leaves out the half of the features whose terms have
  // the least spread over the rows, and the heuristic searches among the others, until few enough remain. Other
  // candidates are the previous plane without these terms in each round, and the best axis-parallel cut at the end.
  bool limit(const Node& node, Heuristic& heuristic, Split& split) {
    const size_t most = finishing_.max_terms;
    const auto used = [&] {
      return split.normal.size() - static_cast<size_t>(std::count(split.normal.begin(), split.normal.end(), 0.0));
    };
    const size_t before = used();
    if (before <= most) return true;
    const double slack = this->slack(node);
    bool is_found = true;
    for (size_t count = before; is_found && count > most; count = used()) {
      choose_terms(node, split.normal, std::max(most, (count + 1) / 2));
      is_found = find_on_chosen(node, heuristic, split);
    }
    node.search.restart();
    if (!search_.find(node, axes_, other_)) return is_found;
    if (!is_found || !(split.gain > other_.gain + slack)) std::swap(split, other_);
    return true;
  }

  // chosen_ = the given number of features, in order, whose terms spread most over the rows; the first of equals.
  void choose_terms(const Node& node, const Vector& normal, size_t count) {
    const size_t p = node.n_features(), n = node.rows.n;
    sizes_.assign(p, 0.0);
    for (size_t j = 0; j < p; ++j) {
      const double* x = node.rows.columns[j];
      const double range = node.spread.range[j];
      if (normal[j] == 0.0 || !(range > 0.0)) continue;
      double total = 0.0, sum = 0.0, squares = 0.0;
      for (size_t i = 0; i < n; ++i) {
        const double w = node.rows.weight(i), away = (x[i] - node.spread.center[j]) / range;
        total += w;
        sum += w * away;
        squares += w * away * away;
      }
      const double mean = sum / total;
      sizes_[j] = std::fabs(normal[j]) * range * std::sqrt(std::max(squares / total - mean * mean, 0.0));
    }
    sorted_ = sizes_;
    const auto place = sorted_.begin() + (count - 1);
    std::nth_element(sorted_.begin(), place, sorted_.end(), std::greater<>());
    const double edge = *place, above = edge + kSameGain * edge, below = edge - kSameGain * edge;
    size_t sure =
        static_cast<size_t>(std::count_if(sizes_.begin(), sizes_.end(), [&](double size) { return size > above; }));
    chosen_.clear();
    for (size_t j = 0; j < p; ++j) {
      const bool is_sure = sizes_[j] > above;
      if (!is_sure && !(sizes_[j] >= below && normal[j] != 0.0 && sure < count)) continue;
      chosen_.push_back(j);
      sure += !is_sure;
    }
  }

  // The better of the heuristic's split on the chosen features and the best cut along the plane over them; false if
  // none.
  bool find_on_chosen(const Node& node, Heuristic& heuristic, Split& split) {
    const size_t p = node.n_features(), k = chosen_.size();
    NodeRows rows = node.rows;
    Spread spread;
    rows.columns.clear();
    Vector rest;
    for (const size_t j : chosen_) {
      rows.columns.push_back(node.rows.columns[j]);
      spread.range.push_back(node.spread.range[j]);
      spread.center.push_back(node.spread.center[j]);
      spread.magnitude.push_back(node.spread.magnitude[j]);
      rest.push_back(split.normal[j]);
    }
    const double length = norm(rest.data(), k);
    for (double& each : rest) each /= length;
    Candidates candidates;
    candidates.add_direction(std::move(rest));
    const Levels quantitative(std::vector<int32_t>(k, 0));
    PredictedRows predicted(static_cast<const double*>(nullptr), quantitative);
    predicted.begin(rows.columns, rows.n);
    const Node some{rows, spread, predicted, node.search, node.options, node.seed, node.path, node.team};
    node.search.restart();
    Split along;
    const bool is_along = search_.find(some, candidates, along);
    node.search.restart();
    some_ = Split{};
    bool is_found = heuristic.split(some, some_);
    if (is_found && finishing_.polish) {
      node.search.restart();
      polish(some, some_);
    }
    if (is_along && !(is_found && some_.gain >= along.gain - slack(node))) {
      some_ = std::move(along);
      is_found = true;
    }
    if (!is_found) return false;
    Vector normal(p, 0.0);
    for (size_t i = 0; i < k; ++i) normal[chosen_[i]] = some_.normal[i];
    split = some_;
    split.normal = std::move(normal);
    return true;
  }

  void prefer_axis(const Node& node, Split& split) {
    const auto zeros = std::count(split.normal.begin(), split.normal.end(), 0.0);
    const double p = static_cast<double>(node.n_features()), more = p - static_cast<double>(zeros) - 1.0;
    if (!(more > 0.0)) return;
    node.search.restart();
    if (!search_.find(node, axes_, other_)) return;
    const double impurity = with_criterion(
        node.options.criterion, [&]<class Criterion>() { return Criterion::impurity(node.search.totals()); });
    if (!(split.gain - other_.gain > finishing_.split_cost * (more / p) * impurity + slack(node)))
      std::swap(split, other_);
  }

  // Two gains within this distance are equal up to rounding.
  double slack(const Node& node) const {
    if (node.options.strict_ties) return 0.0;
    return kSameGain * with_criterion(node.options.criterion,
                                      [&]<class Criterion>() { return Criterion::impurity(node.search.totals()); });
  }

  const Finishing finishing_;
  std::optional<OC1Climb> climb_;
  Candidates axes_;
  CandidateSearch search_;
  Split other_, some_;
  std::vector<size_t> chosen_;  // features
  Vector sizes_, sorted_;       // spreads of terms
};

}  // namespace oblique
