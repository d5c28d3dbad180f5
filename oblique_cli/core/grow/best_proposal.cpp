#include "grow/best_proposal.hpp"

#include <algorithm>
#include <limits>

#include "common/interrupt.hpp"
#include "split/node_rows.hpp"

namespace oblique {

namespace {

// Whether a normal is that of an axis; if so, sets the drawn feature of that axis.
bool along_axis(const Vector& normal, std::size_t& feature) {
  std::size_t terms = 0;
  for (std::size_t j = 0; j < normal.size(); ++j)
    if (normal[j] != 0.0) {
      ++terms;
      feature = j;
    }
  return terms == 1 && normal[feature] == 1.0;
}

}  // namespace

bool BestProposal::find(DrawnNodes& node, DrawnSplit& split, bool& given_up) {
  if (!given_up && node.n_features() > 0) {
    const Gathered& columns = node.gather_drawn();
    proposal_.clear();
    const Signs signs = node.drawn_signs(columns.m);
    heuristic_->propose({node.bag(), columns, node.stream(), node.path(), signs, node.bounds()}, proposal_);
    if (take_best(node, columns, split)) return true;
    given_up = proposal_.axes_below;
  }
  if (!is_orderly()) return find_axis(node, split);
  node.drawn().take_all();
  const Gathered& columns = node.gather(node.drawn().size());
  const Signs signs = node.drawn_signs(columns.m);
  proposal_.clear();
  if (heuristic_->propose_axis({node.bag(), columns, node.stream(), node.path(), signs, node.bounds()}, proposal_))
    return take_best(node, columns, split);
  if (!find_axis(node, split)) return false;
  double left = 0.0, right = 0.0;
  for (std::size_t i = 0; i < node.bag().n; ++i) (node.sides().best()[i] ? right : left) += node.bag().weight[i];
  return std::min(left, right) >= heuristic_->min_leaf();
}

// The best cut of the drawn features; if none of them varies, of the next feature that does.
bool BestProposal::find_axis(DrawnNodes& node, DrawnSplit& split) {
  const Bag& bag = node.bag();
  FeatureDraw& drawn = node.drawn();
  axis_.begin(bag);
  AllowedCuts allowed{node.bounds(), 0};
  for (std::size_t at = 0; at < drawn.total(); ++at) {
    if (at >= drawn.size()) {
      if (axis_.best().feature >= 0) break;
      drawn.draw(node.stream());
    }
    checkpoint(4 * bag.n);
    if (!node.signs().empty()) allowed.way = node.signs()[static_cast<std::size_t>(drawn[at])];
    axis_.feature(drawn[at], node.axis(drawn[at]), node.signs().empty() ? nullptr : &allowed);
  }
  const AxisCut& best = axis_.best();
  if (best.feature < 0) return false;
  split.feature = best.feature;
  split.value = best.value;
  const AxisFeature of = node.axis(best.feature);
  unsigned char* side = node.sides().best();
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < bag.n; ++i) {
    const std::uint32_t row = bag.row[i];
    side[i] = best.goes_right(of, row);
    if (side[i])
      high = std::min(high, of.x[row]);
    else
      low = std::max(low, of.x[row]);
  }
  split.threshold = middle_of_gap(low, high);
  return true;
}

// The plane of greatest value among the proposals, the first of equals. False if none has rows on both sides.
bool BestProposal::take_best(DrawnNodes& node, const Gathered& columns, DrawnSplit& split) const {
  const Bag& bag = node.bag();
  bool is_found = false;
  for (const Plane& plane : proposal_.planes) {
    std::size_t axis = 0;
    const bool is_axis = proposal_.keeps_axes && along_axis(plane.w, axis);
    const double* z = is_axis ? columns.column(axis) : node.projections();
    if (!is_axis) columns.project(plane.w.data(), node.projections());
    double value = 0.0, threshold = plane.t;
    if (!proposal_.is_final && !settle(z, bag.n, threshold)) continue;
    if (!node.sides().try_cut(bag, z, threshold, value) || (is_found && !(value > split.value * kBeats))) continue;
    node.sides().keep(bag.n);
    split.value = value;
    split.threshold = threshold;
    split.feature = is_axis ? node.drawn()[axis] : -1;
    if (!is_axis) split.normal = plane.w;
    is_found = true;
  }
  return is_found;
}

}  // namespace oblique
