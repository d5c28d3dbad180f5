#include "heuristic/class_moments.hpp"

namespace oblique {
namespace {

void scale_to_length_1(double* v, size_t p) {
  const double length = norm(v, p);
  if (length > 0.0)
    for (size_t j = 0; j < p; ++j) v[j] /= length;
}

}  // namespace

double ClassMoments::factor_of(double widest) {
  return widest > 0x1p200 || (widest > 0.0 && widest < 0x1p-200)
             ? std::ldexp(1.0, std::clamp(-std::ilogb(widest), -1000, 1000))
             : 1.0;
}

bool ClassMoments::covariance(const NodeRows& rows, size_t first, size_t last, Vector& out) {
  if (is_large(rows)) {
    if (!add_exactly(rows, first, last)) return false;
    const ClassSums class_sums = sums(rows, first, last);
    class_sums.scatter(factor_, 1.0 / std::max(class_sums.total - 1.0, 1.0), out);
    return true;
  }
  double total = 0.0;
  if (!find_means(rows, first, last, total)) return false;
  const double scale = 1.0 / std::max(total - 1.0, 1.0);
  scatter(rows, first, last, scale, out, [&](size_t from, size_t to) { center(rows, from, to); });
  return true;
}

bool ClassMoments::unit_scatter(const NodeRows& rows, size_t first, size_t last, Vector& out) {
  if (is_large(rows)) {
    const size_t p = rows.columns.size();
    if (!add_exactly(rows, first, last)) return false;
    Vector mean(p);
    const ClassSums class_sums = sums(rows, first, last);
    for (size_t j = 0; j < p; ++j) mean[j] = class_sums.mean(j);
    double largest = 0.0;
    for_each_framed(rows, first, last, [&](const FramedRows& part) {
      largest = std::max(largest, exact_.largest_square(part, mean.data(), frame_inverse_.data(), factor_));
    });
    high_.assign(high_.size(), 0);
    low_.assign(low_.size(), 0);
    for_each_framed(rows, first, last, [&](const FramedRows& part) {
      exact_.add_unit_rows(part, mean.data(), frame_inverse_.data(), factor_, kOnTheMean * std::sqrt(largest),
                           high_.data(), low_.data());
    });
    class_sums.products(out);
    return true;
  }
  double total = 0.0;
  if (!find_means(rows, first, last, total)) return false;
  double largest = 0.0;
  for_each_stretch(rows, first, last, [&](size_t from, size_t to) {
    center(rows, from, to);
    largest = std::max(largest, largest_square(rows.columns.size(), to - from));
  });
  scatter(rows, first, last, 1.0, out, [&](size_t from, size_t to) {
    center(rows, from, to);
    scale_to_unit_length(rows.columns.size(), to - from, largest);
  });
  return true;
}

double ClassMoments::largest_square(size_t p, size_t n) {
  length_.assign(n, 0.0);
  for (size_t j = 0; j < p; ++j) {
    const double* c = centered_.data() + j * n;
    for (size_t i = 0; i < n; ++i) length_[i] += c[i] * c[i];
  }
  return range_of(length_.data(), n).high;
}

void ClassMoments::scale_to_unit_length(size_t p, size_t n, double largest) {
  largest_square(p, n);  // computes all squares, in length_
  // The mean has rounding errors, so a row equal to the mean may have a small length.
  const double least = kOnTheMean * std::sqrt(largest);
  for (double& x : length_) x = std::sqrt(x) > least ? 1.0 / std::sqrt(x) : 0.0;
  for (size_t j = 0; j < p; ++j)
    for (size_t i = 0; i < n; ++i) centered_[j * n + i] *= length_[i];
}

void ClassMoments::add_axes(const NodeRows& rows, size_t first, size_t last, bool unit_rows, double tolerance,
                            double sign, bool dominant_only, Vector& out) {
  const size_t p = rows.columns.size();
  // The sums of a large node are exact, for every class; a tree grown from a disk uses the same sums.
  if (last - first < p && !is_large(rows)) {
    if (!center_few(rows, first, last, unit_rows)) return;
    solve_in_span(last - first, p, tolerance, dominant_only);
    axes_of(eigen_, static_cast<int>(p), tolerance, sign, dominant_only, out);
    return;
  }
  if (unit_rows ? unit_scatter(rows, first, last, matrix_) : covariance(rows, first, last, matrix_))
    principal_axes(eigen_, matrix_.data(), static_cast<int>(p), tolerance, sign, dominant_only, out);
}

bool ClassMoments::center_few(const NodeRows& rows, size_t first, size_t last, bool unit_rows) {
  const size_t p = rows.columns.size(), n = last - first;
  stride_ = (p + 7) / 8 * 8;
  centered_.assign(n * stride_, 0.0);
  if (n < 2) return false;
  const double total = rows.weight(first, last);
  const double* weights = rows.weights ? rows.weights + first : nullptr;
  bool distinct = false;
  for (size_t j = 0; j < p; ++j) {
    const double* x = column(rows, j, first, last);
    double low = x[0], high = x[0], sum = 0.0;
    for (size_t i = 0; i < n; ++i) {
      low = std::min(low, x[i]);
      high = std::max(high, x[i]);
      sum += weights ? weights[i] * x[i] : x[i];
    }
    if (!varies(low, high)) continue;
    distinct = true;
    const double mean = sum / total;
    for (size_t i = 0; i < n; ++i) centered_[i * stride_ + j] = (x[i] - mean) * factor_;
  }
  if (!distinct) return false;
  if (unit_rows) {
    length_.resize(n);
    for (size_t i = 0; i < n; ++i) length_[i] = norm(row(i), p);
    const double least = kOnTheMean * range_of(length_.data(), n).high;
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < p; ++j) row(i)[j] *= length_[i] > least ? 1.0 / length_[i] : 0.0;
  }
  if (weights)
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < p; ++j) row(i)[j] *= std::sqrt(weights[i]);
  return true;
}

void ClassMoments::solve_in_span(size_t n, size_t p, double tolerance, bool dominant_only) {
  matrix_.resize(n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k <= i; ++k) matrix_[i * n + k] = matrix_[k * n + i] = dot_columns(row(i), row(k), stride_);
    checkpoint(i * p);
  }
  if (n == 2) {
    // Two rows have one direction. Either row gives it; the longer one, farther from the mean, is more precise.
    const double* longer = matrix_[3] > matrix_[0] ? row(1) : row(0);
    eigen_.values.assign(1, matrix_[0] + matrix_[3]);
    eigen_.vectors.assign(longer, longer + p);
    scale_to_length_1(eigen_.vectors.data(), p);
    return;
  }
  dominant_only ? eigen_.solve_dominant(matrix_.data(), static_cast<int>(n))
                : eigen_.solve(matrix_.data(), static_cast<int>(n));
  // A vector that is 0 up to rounding has no direction; eigenvalues that may be repeated go with the dominant one.
  const size_t n_values = eigen_.values.size();
  const double largest = eigen_.values[n_values - 1];
  const double share =
      dominant_only ? 1.0 - 1e-9 : std::max(tolerance, static_cast<double>(p) * std::numeric_limits<double>::epsilon());
  size_t zeros = 0;
  while (zeros + 1 < n_values && !(eigen_.values[zeros] > share * largest)) ++zeros;
  const bool graded = eigen_.values[zeros] < 1e-4 * largest;
  Vector vectors((n_values - zeros) * p);
  for (size_t k = n_values; k-- > zeros;) {
    double* v = vectors.data() + (n_values - 1 - k) * p;
    const double* a = eigen_.vector(static_cast<int>(k));
    for (size_t i = 0; i < n; ++i) add_scaled(a[i], row(i), v, p);
    scale_to_length_1(v, p);
    checkpoint(n * p);
  }
  // The shorter a vector was, the more rounding errors of the longer ones it contains.
  if (graded) orthonormalize(vectors, p);
  for (size_t left = 0, right = n_values - zeros; left + 1 < right; ++left)
    std::swap_ranges(vectors.begin() + left * p, vectors.begin() + ((left + 1) * p), vectors.begin() + --right * p);
  eigen_.vectors.swap(vectors);
  eigen_.values.erase(eigen_.values.begin(), eigen_.values.begin() + zeros);
}

void ClassMoments::pooled_variances(const NodeRows& rows, Vector& out) {
  const size_t p = rows.columns.size();
  out.assign(p, 0.0);
  double all = 0.0;
  for (int k = 0; k < rows.n_classes; ++k) {
    const size_t first = rows.first_row[k], n = rows.first_row[k + 1] - first;
    if (is_large(rows)) {
      const bool differ = add_exactly(rows, first, first + n);
      const ClassSums class_sums = sums(rows, first, first + n);
      all += class_sums.total;
      if (!differ) continue;
      class_sums.scatter(factor_, 1.0, matrix_);
      for (size_t j = 0; j < p; ++j) out[j] += matrix_[j * p + j];
      continue;
    }
    double total = 0.0;
    const bool varies = find_means(rows, first, first + n, total);
    all += total;
    if (!varies) continue;
    for_each_stretch(rows, first, first + n, [&](size_t from, size_t to) {
      center(rows, from, to);
      for (size_t j = 0; j < p; ++j)
        for (size_t i = from; i < to; ++i) {
          const double c = centered_[j * (to - from) + i - from];
          out[j] += rows.weight(i) * c * c;
        }
    });
  }
  for (double& x : out) x /= std::max(all - rows.n_classes, 1.0);
}

void ClassMoments::add_augmented(const NodeRows& rows, size_t first, size_t last, const Standard& standard,
                                 Vector& out) {
  const size_t p = rows.columns.size(), m = p + 1;
  if (is_large(rows)) {
    measure_weights(rows, first, last);
    frame_center_ = standard.center;
    frame_inverse_.resize(p);
    for (size_t j = 0; j < p; ++j) frame_inverse_[j] = 1.0 / standard.scale[j];
    high_.assign(packed_size(p), 0);
    low_.assign(packed_size(p), 0);
    for_each_framed(rows, first, last, [&](const FramedRows& part) {
      exact_.add(part, frame_center_.data(), frame_inverse_.data(), high_.data(), low_.data());
    });
    add_symmetric(sums(rows, first, last), out);
    return;
  }
  const auto to_standard = [&](size_t from, size_t to) {
    const size_t n = to - from;
    if (centered_.size() < m * n) centered_.resize(m * n);
    for (size_t j = 0; j < p; ++j) {
      const double* x = column(rows, j, from, to);
      for (size_t i = 0; i < n; ++i) centered_[j * n + i] = (x[i] - standard.center[j]) / standard.scale[j];
    }
    std::fill_n(centered_.begin() + p * n, n, 1.0);
  };
  add_products(rows, first, last, m, to_standard, [&](size_t j, size_t k, double value) {
    out[j * m + k] += value;
    if (k != j) out[k * m + j] += value;
  });
}

bool ClassMoments::find_means(const NodeRows& rows, size_t first, size_t last, double& total) {
  const size_t p = rows.columns.size(), n = last - first;
  total = rows.weight(first, last);
  if (n < 2) return false;
  mean_.resize(p);
  varies_.assign(p, 0);
  bool distinct = false;
  for (size_t j = 0; j < p; ++j) {
    const double* x = column(rows, j, first, last);
    const Range range = range_of(x, n);
    if (!varies(range.low, range.high)) continue;
    varies_[j] = distinct = true;
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) sum += rows.weight(first + i) * x[i];
    mean_[j] = sum / total;
  }
  return distinct;
}

void ClassMoments::center(const NodeRows& rows, size_t from, size_t to) {
  const size_t p = rows.columns.size(), n = to - from;
  if (centered_.size() < p * n) centered_.resize(p * n);
  for (size_t j = 0; j < p; ++j) {
    double* c = centered_.data() + j * n;
    if (!varies_[j]) {
      std::fill_n(c, n, 0.0);
      continue;
    }
    const double* x = column(rows, j, from, to);
    for (size_t i = 0; i < n; ++i) c[i] = (x[i] - mean_[j]) * factor_;
  }
}

template <class Use>
void ClassMoments::for_each_stretch(const NodeRows& rows, size_t first, size_t last, const Use& use) const {
  const size_t length = stretch_of(rows.columns.size());
  for (size_t from = first; from < last; from += length) use(from, std::min(from + length, last));
}

template <class Fill, class Use>
void ClassMoments::add_products(const NodeRows& rows, size_t first, size_t last, size_t m, const Fill& fill,
                                const Use& use) {
  const bool is_short = last - first <= stretch_of(rows.columns.size());
  if (!is_short) lanes_.assign(8 * packed(m, 0), 0.0);
  for_each_stretch(rows, first, last, [&](size_t from, size_t to) {
    const size_t n = to - from;
    fill(from, to);
    weighted_.resize(rows.weights ? n : 0);
    for (size_t j = 0; j < m; ++j) {
      const double* cj = centered_.data() + j * n;
      if (rows.weights) {
        for (size_t i = 0; i < n; ++i) weighted_[i] = rows.weights[from + i] * cj[i];
        cj = weighted_.data();
      }
      for (size_t k = 0; k <= j; ++k) {
        const double* ck = centered_.data() + k * n;
        if (is_short)
          use(j, k, dot_columns(ck, cj, n));
        else
          add_dot(ck, cj, n, lanes_.data() + 8 * packed(j, k));
      }
      checkpoint(j * n);
    }
  });
  for (size_t j = 0; j < (is_short ? 0 : m); ++j)
    for (size_t k = 0; k <= j; ++k) use(j, k, sum_of_lanes(lanes_.data() + 8 * packed(j, k)));
}

template <class Fill>
void ClassMoments::scatter(const NodeRows& rows, size_t first, size_t last, double scale, Vector& out,
                           const Fill& fill) {
  const size_t p = rows.columns.size();
  out.assign(p * p, 0.0);
  add_products(rows, first, last, p, fill,
               [&](size_t j, size_t k, double value) { out[j * p + k] = out[k * p + j] = scale * value; });
}

const double* ClassMoments::column(const NodeRows& rows, size_t j, size_t first, size_t last) {
  if (!rows.table) return rows.columns[j] + first;
  column_.resize(last - first);
  rows.table->gather(first, last, j, j + 1, column_.data(), column_.size());
  return column_.data();
}

void ClassMoments::measure_weights(const NodeRows& rows, size_t first, size_t last) {
  unit_ = rows.weights ? weight_unit(range_of(rows.weights + first, last - first).high) : 1.0;
}

template <class Use>
void ClassMoments::for_each_framed(const NodeRows& rows, size_t first, size_t last, const Use& use) {
  stretches_.for_each(rows, first, last, [&](const double* const* columns, size_t from, size_t to) {
    use(FramedRows{columns, to - from, rows.columns.size(), rows.weights ? rows.weights + from : nullptr, unit_});
  });
}

bool ClassMoments::add_exactly(const NodeRows& rows, size_t first, size_t last) {
  const size_t p = rows.columns.size(), n = last - first;
  measure_weights(rows, first, last);
  frame_center_.resize(p);
  frame_inverse_.resize(p);
  Vector low(p, std::numeric_limits<double>::infinity()), high(p, -std::numeric_limits<double>::infinity());
  for_each_framed(rows, first, last, [&](const FramedRows& part) {
    for (size_t j = 0; j < p; ++j) {
      const Range range = range_of(part.columns[j], part.n);
      low[j] = std::min(low[j], range.low);
      high[j] = std::max(high[j], range.high);
    }
  });
  if (!class_frame(low.data(), high.data(), p, frame_center_.data(), frame_inverse_.data()) || n < 2) return false;
  high_.assign(packed_size(p), 0);
  low_.assign(packed_size(p), 0);
  for_each_framed(rows, first, last, [&](const FramedRows& part) {
    exact_.add(part, frame_center_.data(), frame_inverse_.data(), high_.data(), low_.data());
  });
  return true;
}

ClassSums ClassMoments::sums(const NodeRows& rows, size_t first, size_t last) const {
  return {rows.columns.size(),
          frame_center_.data(),
          frame_inverse_.data(),
          high_.data(),
          low_.data(),
          rows.weight(first, last),
          unit_};
}

void add_symmetric(const ClassSums& sums, Vector& out) {
  const size_t m = sums.p + 1;
  for (size_t j = 0; j < m; ++j)
    for (size_t k = 0; k <= j; ++k) {
      const double value = sums.moment(j, k);
      out[j * m + k] += value;
      if (k != j) out[k * m + j] += value;
    }
}

void shrink(Vector& covariance, const Vector& pooled, double n) {
  const size_t p = pooled.size();
  const double l = 1.0 - n / (5.0 * static_cast<double>(p));
  if (!(l > 0.0)) return;
  for (double& s : covariance) s *= 1.0 - l;
  for (size_t j = 0; j < p; ++j) covariance[j * p + j] += l * pooled[j];
}

}  // namespace oblique
