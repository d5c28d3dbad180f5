#include "heuristic/discriminant.hpp"

#include "heuristic/class_moments.hpp"

namespace oblique {

namespace {

double weighted_sum(const NodeRows& rows, const double* values, size_t first, size_t last) {
  double sum = 0.0;
  for (size_t i = first; i < last; ++i) sum += rows.weight(i) * values[i];
  return sum;
}

}  // namespace

void StandardScores::find(const NodeRows& rows, const Spread& spread, double total) {
  const size_t p = rows.columns.size(), n = rows.n;
  weight = total;
  // Coordinates with a range of about 1 come first: squares of features then neither overflow nor vanish.
  const Standard units = Standard::of(spread.center, spread.range);
  center = units.center;
  scale.assign(p, 1.0);
  z.resize(p * n);
  for (size_t j = 0; j < p; ++j) {
    double* out = z.data() + j * n;
    const double* x = rows.columns[j];
    for (size_t i = 0; i < n; ++i) out[i] = (x[i] - units.center[j]) / units.scale[j];
    const double mean = weighted_sum(rows, out, 0, n) / weight;
    double squares = 0.0;
    for (size_t i = 0; i < n; ++i) squares += rows.weight(i) * (out[i] - mean) * (out[i] - mean);
    if (spread.range[j] > 0.0)
      scale[j] = std::max(units.scale[j] * std::sqrt(squares / weight), std::numeric_limits<double>::denorm_min());
    center[j] += units.scale[j] * mean;
    for (size_t i = 0; i < n; ++i) out[i] = (x[i] - center[j]) / scale[j];
  }
  checkpoint(p * n);
}

Vector StandardScores::unit_normal(const Vector& normal) const {
  const size_t p = normal.size();
  double least = std::numeric_limits<double>::infinity();
  for (size_t j = 0; j < p; ++j)
    if (normal[j] != 0.0) least = std::min(least, scale[j]);
  Vector w(p, 0.0);
  for (size_t j = 0; j < p; ++j)
    if (normal[j] != 0.0) w[j] = normal[j] * (least / scale[j]);
  const double largest = largest_magnitude(w.data(), p);
  for (double& each : w) each /= largest;
  const double length = norm(w.data(), p);
  for (double& each : w) each /= length;
  orient(w.data(), p, -1.0);
  return w;
}

void StandardScores::add_plane(const Node& node, const Vector& normal, double offset, Candidates& candidates) const {
  Vector w = unit_normal(normal);
  const double length = norm(normal.data(), normal.size());
  double threshold = 0.0;
  for (size_t j = 0; j < normal.size(); ++j)
    threshold += w[j] * (center[j] + scale[j] * (normal[j] / length) * (offset / length));
  if (!node.options.strict_ties) threshold += node.spread.of_direction(w.data());
  candidates.add_hyperplane(std::move(w), threshold);
}

void Discriminant::begin(const NodeRows& rows, const Spread& spread, const Totals& totals, double tolerance) {
  standard_.find(rows, spread, totals.n);
  find_class_sums(rows, totals);
  find_basis(rows, tolerance);
}

void Discriminant::begin_with_feature(const Node& node, double tie) {
  standard_.find(node);
  find_class_sums(node.rows, node.search.totals());
  const size_t p = node.n_features();
  Vector between(p, 0.0);  // F increases with this share, because scores have variance 1
  for (size_t c = 0; c < class_weights_.size(); ++c)
    for (size_t j = 0; j < p; ++j)
      between[j] += class_sums_[c * p + j] * class_sums_[c * p + j] / (class_weights_[c] * standard_.weight);
  const double least = *std::max_element(between.begin(), between.end()) - tie;
  basis_.assign(p, 0.0);
  basis_[std::find_if(between.begin(), between.end(), [least](double x) { return x >= least; }) - between.begin()] =
      1.0;
  n_components_ = 1;
}

void Discriminant::find_class_sums(const NodeRows& rows, const Totals& totals) {
  const size_t p = rows.columns.size(), n_classes = rows.n_classes;
  class_weights_.assign(totals.of_class, totals.of_class + n_classes);
  class_sums_.resize(n_classes * p);
  for (size_t k = 0; k < n_classes; ++k)
    for (size_t j = 0; j < p; ++j)
      class_sums_[k * p + j] = weighted_sum(rows, standard_.column(j), rows.first_row[k], rows.first_row[k + 1]);
}

// Eigenvectors of the covariance, each divided by the square root of its eigenvalue. With far more features than rows,
// only those in the span of the rows: the other eigenvalues are 0.
void Discriminant::find_basis(const NodeRows& rows, double tolerance) {
  const size_t p = rows.columns.size(), n = rows.n;
  const bool wide = is_wide(n, p);
  const size_t size = wide ? n : p;
  matrix_.assign(size * size, 0.0);
  if (wide) {
    weighted_.resize(p * n);
    for (size_t j = 0; j < p; ++j) {
      double* c = weighted_.data() + j * n;
      for (size_t i = 0; i < n; ++i) c[i] = standard_.column(j)[i] * std::sqrt(rows.weight(i) / standard_.weight);
      for (size_t i = 0; i < n; ++i) add_scaled(c[i], c, matrix_.data() + i * n, n);
      checkpoint(n * n);
    }
  } else {
    weighted_.resize(n);
    for (size_t j = 0; j < p; ++j) {
      for (size_t i = 0; i < n; ++i) weighted_[i] = rows.weight(i) * standard_.column(j)[i];
      for (size_t i = 0; i <= j; ++i)
        matrix_[j * p + i] = matrix_[i * p + j] =
            dot_columns(standard_.column(i), weighted_.data(), n) / standard_.weight;
      checkpoint(j * n);
    }
  }
  eigen_.solve(matrix_.data(), static_cast<int>(size));
  const double least = std::max(tolerance * eigen_.values[size - 1], 0.0);
  basis_.clear();
  n_components_ = 0;
  for (size_t k = 0; k < size; ++k) {
    const double value = eigen_.values[k];
    if (!(value > least)) continue;
    const double* vector = eigen_.vector(static_cast<int>(k));
    ++n_components_;
    // With the rows as columns of C, v = C'a / sqrt(value) has length 1 where C C'a = value a.
    for (size_t j = 0; j < p; ++j) {
      const double component = wide ? dot_columns(weighted_.data() + j * n, vector, n) / std::sqrt(value) : vector[j];
      basis_.push_back(component / std::sqrt(value));
    }
    checkpoint(p * n);
  }
  // A constant feature has coefficient 0, without rounding errors.
  for (size_t j = 0; j < p; ++j)
    if (largest_magnitude(standard_.column(j), n) == 0.0)
      for (size_t k = 0; k < n_components_; ++k) basis_[k * p + j] = 0.0;
}

Vector Discriminant::class_means() const {
  const size_t p = standard_.center.size(), n_classes = class_weights_.size();
  Vector out(n_classes * n_components_);
  for (size_t c = 0; c < n_classes; ++c)
    for (size_t k = 0; k < n_components_; ++k)
      out[c * n_components_ + k] =
          dot_columns(basis_.data() + k * p, class_sums_.data() + c * p, p) / class_weights_[c];
  return out;
}

bool Discriminant::direction(const Group& first, Vector& normal) const {
  const size_t p = standard_.center.size();
  Vector sums[2] = {Vector(p, 0.0), Vector(p, 0.0)};
  double weights[2] = {0.0, 0.0};
  for (size_t c = 0; c < first.size(); ++c) {
    const int side = first[c] ? 0 : 1;
    weights[side] += class_weights_[c];
    for (size_t j = 0; j < p; ++j) sums[side][j] += class_sums_[c * p + j];
  }
  Vector apart(p);
  for (size_t j = 0; j < p; ++j) apart[j] = sums[1][j] / weights[1] - sums[0][j] / weights[0];
  Vector along(n_components_);
  for (size_t k = 0; k < n_components_; ++k) along[k] = dot_columns(basis_.data() + k * p, apart.data(), p);
  if (!(norm(along.data(), n_components_) > kSameMean)) return false;
  normal.assign(p, 0.0);
  for (size_t k = 0; k < n_components_; ++k) add_scaled(along[k], basis_.data() + k * p, normal.data(), p);
  return true;
}

}  // namespace oblique
