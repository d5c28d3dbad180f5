#include "common/eigen.hpp"

#include "common/interrupt.hpp"

namespace oblique {

void orient(double* v, size_t p, double sign, size_t more) {
  for (size_t j = 0; j < p; ++j) {
    if (std::fabs(v[j]) <= kZeroComponent) continue;
    if (v[j] * sign < 0.0)
      for (size_t i = 0; i < p + more; ++i) v[i] = -v[i];
    return;
  }
}

namespace {

// Makes one more column orthogonal to `count` orthonormal ones, with length 1; false if nothing is left of it.
bool orthonormalize_next(const double* columns, size_t count, double* column, size_t size) {
  checkpoint(4 * count * size);
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t e = 0; e < count; ++e) {
      const double* earlier = columns + e * size;
      add_scaled(-dot_columns(earlier, column, size), earlier, column, size);
    }
    const double length = norm(column, size);
    if (!(length > 0.0)) return false;
    for (size_t j = 0; j < size; ++j) column[j] /= length;
  }
  return true;
}

}  // namespace

void orthonormalize(Vector& columns, size_t size) {
  for (size_t c = 0; c * size < columns.size(); ++c) {
    double* column = columns.data() + c * size;
    // The length itself is not needed; its square must be a normal number.
    int power = 0;
    std::frexp(largest_magnitude(column, size), &power);
    if (std::abs(power) > 300)
      for (size_t j = 0; j < size; ++j) column[j] = std::ldexp(column[j], -power);
    bool is_found = orthonormalize_next(columns.data(), c, column, size);
    // The columns are independent, but not in floating point: any direction orthogonal to the previous ones will do.
    for (size_t axis = 0; !is_found && axis < size; ++axis) {
      std::fill_n(column, size, 0.0);
      column[axis] = 1.0;
      is_found = orthonormalize_next(columns.data(), c, column, size);
    }
  }
}

void canonical_basis(double* columns, int count, size_t p) {
  Vector basis;
  basis.reserve(static_cast<size_t>(count) * p);
  Vector r(p);
  int n_found = 0;
  for (size_t axis = 0; axis < p && n_found < count; ++axis) {
    checkpoint(static_cast<size_t>(count) * p);
    std::fill(r.begin(), r.end(), 0.0);
    for (int c = 0; c < count; ++c) {
      const double* column = columns + static_cast<size_t>(c) * p;
      add_scaled(column[axis], column, r.data(), p);
    }
    // Two passes are enough (Kahan): the second removes the rounding errors of the first.
    for (int pass = 0; pass < 2; ++pass)
      for (int b = 0; b < n_found; ++b) {
        const double* column = basis.data() + static_cast<size_t>(b) * p;
        add_scaled(-dot_columns(column, r.data(), p), column, r.data(), p);
      }
    const double length = norm(r.data(), p);
    if (length < 1e-6) continue;
    for (double& x : r) x /= length;
    basis.insert(basis.end(), r.begin(), r.end());
    ++n_found;
  }
  if (n_found == count) std::copy(basis.begin(), basis.end(), columns);
}

int principal_axes(SymmetricEigen& eigen, const double* covariance, int p, double tolerance, double sign,
                   bool dominant_only, Vector& out) {
  dominant_only ? eigen.solve_dominant(covariance, p) : eigen.solve(covariance, p);
  return axes_of(eigen, p, tolerance, sign, dominant_only, out);
}

int axes_of(SymmetricEigen& eigen, int p, double tolerance, double sign, bool dominant_only, Vector& out) {
  const size_t size = p;
  const double largest = eigen.values.back();
  if (!(largest > 0.0)) return 0;
  const auto vector = [&](int i) { return eigen.vectors.data() + static_cast<size_t>(i) * size; };
  const auto is_axis = [&](int i) { return i >= 0 && eigen.values[i] > tolerance * largest; };
  int n_axes = 0, last = static_cast<int>(eigen.values.size()) - 1;
  while (is_axis(last)) {
    int first = last;
    while (is_axis(first - 1) && eigen.values[first] - eigen.values[first - 1] <= 1e-10 * largest) --first;
    if (first < last) canonical_basis(vector(first), last - first + 1, size);
    for (int c = first; c <= last; ++c) {
      out.insert(out.end(), vector(c), vector(c) + p);
      orient(out.data() + out.size() - size, size, sign);
      ++n_axes;
      if (dominant_only) return n_axes;
    }
    last = first - 1;
  }
  return n_axes;
}

}  // namespace oblique
