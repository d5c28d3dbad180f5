#include "grow/finish.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "split/criteria.hpp"
#include "split/node_search.hpp"

namespace oblique {

namespace {

constexpr std::uint64_t kPolishStream = std::uint64_t{1} << 40;  // beyond the restarts of OC1
constexpr double kTie = 1e-9;                                    // of a gain, as in every search (front.hpp)

}  // namespace

Finishing finishing_of(const Options& options) { return {options.flag("polish"), options.number("split_cost")}; }

Finish::Finish(const SearchOptions& options, const Finishing& finishing) : finishing_(finishing) {
  if (finishing.polish) climb_.emplace(options, OC1Settings{});
  axes_.add_axes();
}

void Finish::apply(const Node& node, Split& split) {
  if (finishing_.polish) polish(node, split);
  if (finishing_.split_cost > 0.0) prefer_axis(node, split);
}

void Finish::polish(const Node& node, Split& split) {
  // With fewer rows a hyperplane has too many ways to fit them, as OC1 has it.
  if (!(node.search.totals().n > climb_->rows_per_feature() * static_cast<double>(node.n_features()))) return;
  climb_->plane.begin(node);
  if (climb_->plane.features().empty()) return;
  climb_->climb_from(split, node.stream(kPolishStream));
  double value = 0.0;
  if (!climb_->plane.has_kept() || !climb_->plane.settle(node, other_, value)) return;
  const double gain = node.search.gain(value), slack = node.options.strict_ties ? 0.0 : kTie * split.gain;
  if (!(gain > split.gain + slack)) return;
  split.normal.swap(other_.normal);
  split.threshold = other_.threshold;
  split.gain = gain;
  split.given = true;
}

void Finish::prefer_axis(const Node& node, Split& split) {
  const auto zeros = std::count(split.normal.begin(), split.normal.end(), 0.0);
  const double p = static_cast<double>(node.n_features()), more = p - static_cast<double>(zeros) - 1.0;
  if (!(more > 0.0)) return;
  node.search.restart();
  if (!search_.find(node, axes_, other_)) return;
  const double impurity = with_criterion(node.options.criterion,
                                         [&]<class Criterion>() { return Criterion::impurity(node.search.totals()); });
  const double slack = node.options.strict_ties ? 0.0 : kTie * impurity;
  if (!(split.gain - other_.gain > finishing_.split_cost * (more / p) * impurity + slack)) std::swap(split, other_);
}

}  // namespace oblique
