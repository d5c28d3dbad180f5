#include "heuristic/bisectors.hpp"

namespace oblique {

namespace {

// The power of 2 of the unit of features whose squares are not normal, else 0 (oblique_cli/ground/magnitudes.py).
int unit_of(const Spread& spread) {
  int power = 0;
  std::frexp(*std::max_element(spread.magnitude.begin(), spread.magnitude.end()), &power);
  return std::abs(power) > 300 ? power : 0;
}

}  // namespace

bool Bisectors::find(const NodeRows& node_rows, const Spread& spread, const Totals& totals, int largest,
                     ClassMoments& moments, std::vector<Plane>& out) {
  const size_t p = node_rows.columns.size();
  const int power = unit_of(spread);
  standard_ = Standard::of(spread.center, spread.range);
  // With fewer rows than features: the same problem in an orthonormal basis of the span of the rows, a rotation of the
  // features without the dimensions in which all rows are 0.
  const RowSpan* span = nullptr;
  if (is_wide(node_rows.n, p)) {
    span_.find(node_rows, standard_, power);
    if (span_.rows().columns.empty()) return false;  // all rows are 0
    standard_ = Standard::of(span_.spread().center, span_.spread().range);
    span = &span_;
  }
  const NodeRows& rows = span ? span_.rows() : node_rows;
  const size_t m = rows.columns.size() + 1;
  a_.assign(m * m, 0.0);
  b_.assign(m * m, 0.0);
  double rest = 0.0;
  for (int k = 0; k < rows.n_classes; ++k) {
    moments.add_augmented(rows, rows.first_row[k], rows.first_row[k + 1], standard_, k == largest ? a_ : b_);
    if (k != largest) rest += totals.of_class[k];
  }
  return finish(span, spread, totals.of_class[largest], rest, out);
}

bool Bisectors::from_moments(const Vector& largest, const Vector& others, double weight, double rest,
                             const Spread& spread, std::vector<Plane>& out) {
  standard_ = Standard::of(spread.center, spread.range);
  a_ = largest;
  b_ = others;
  return finish(nullptr, spread, weight, rest, out);
}

bool Bisectors::finish(const RowSpan* span, const Spread& spread, double weight, double rest, std::vector<Plane>& out) {
  const size_t p = spread.range.size(), m = static_cast<size_t>(std::lround(std::sqrt(a_.size())));
  const int power = unit_of(spread);
  for (double& x : a_) x /= weight;
  for (double& x : b_) x /= rest;
  if (power != 0 && !span) standard_ = standard_.over_units_of(power);
  first_.resize(p + 1);
  second_.resize(p + 1);
  out.clear();
  const Hyperplane first_case = plane_.solve(a_.data(), b_.data(), static_cast<int>(m), standard_, first_.data(), span);
  const Hyperplane second_case =
      plane_.solve(b_.data(), a_.data(), static_cast<int>(m), standard_, second_.data(), span);
  if (first_case == Hyperplane::none || second_case == Hyperplane::none) return false;
  if (span) {
    standard_ = Standard::of(spread.center, spread.range);
    if (power != 0) standard_ = standard_.over_units_of(power);
  }
  if (!has_normal(first_.data(), p, standard_) || !has_normal(second_.data(), p, standard_)) return false;
  if (!normalize_plane(first_.data(), p) || !normalize_plane(second_.data(), p)) return false;
  angle_bisectors(first_.data(), second_.data(), p, out);
  for (Plane& plane : out) plane.t = std::ldexp(plane.t, power);
  return !out.empty();
}

int majority(const Totals& t) {
  int best = 0;
  for (int k = 1; k < t.n_classes; ++k)
    if (t.of_class[k] > t.of_class[best]) best = k;
  return best;
}

const Plane* BetterBisector::find(const Node& node, bool super_classes) {
  const Totals& totals = node.search.totals();
  if (!bisectors_.find(node.rows, node.spread, totals, majority(totals), moments_, planes_)) return nullptr;
  // Rows on the plane belong to the left side; rounding must not decide their side.
  if (!node.options.strict_ties)
    for (Plane& plane : planes_) plane.t += node.spread.of_direction(plane.w.data());
  const bool super = super_classes && node.rows.n_classes > 2;
  if (super) begin_super_search(node);
  NodeSearch& search = super ? *super_search_ : node.search;
  projection_.resize(node.rows.n);
  for (size_t i = 0; i < planes_.size(); ++i) {
    node.predicted.project(planes_[i].w.data(), projection_.data());
    if (super) reorder_projection();
    search.fixed_cut(static_cast<int64_t>(i), projection_.data(), planes_[i].t, 0.0);
  }
  const int64_t best = std::max<int64_t>(search.front().winner().order, 0);
  node.search.restart();
  return &planes_[best];
}

void BetterBisector::begin_super_search(const Node& node) {
  const NodeRows& rows = node.rows;
  const int largest = majority(node.search.totals());
  const size_t a = rows.first_row[largest], b = rows.first_row[largest + 1];
  super_order_.clear();
  for (size_t i = a; i < b; ++i) super_order_.push_back(i);
  for (size_t i = 0; i < rows.n; ++i)
    if (i < a || i >= b) super_order_.push_back(i);
  super_offsets_ = {0, b - a, rows.n};
  super_rows_ = rows;
  super_rows_.n_classes = 2;
  super_rows_.first_row = super_offsets_.data();
  if (rows.weights) {
    super_weights_.resize(rows.n);
    for (size_t i = 0; i < rows.n; ++i) super_weights_[i] = rows.weights[super_order_[i]];
    super_rows_.weights = super_weights_.data();
  }
  if (!super_search_) super_search_ = make_search(node.options);
  super_search_->begin(super_rows_);
}

void BetterBisector::reorder_projection() {
  super_projection_.resize(projection_.size());
  for (size_t i = 0; i < projection_.size(); ++i) super_projection_[i] = projection_[super_order_[i]];
  projection_.swap(super_projection_);
}

}  // namespace oblique
