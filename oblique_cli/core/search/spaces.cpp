#include "search/spaces.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/eigen.hpp"
#include "common/interrupt.hpp"
#include "common/kernels.hpp"
#include "search/node_rows.hpp"
#include "search/node_search.hpp"
#include "search/spread.hpp"

namespace oblique {

bool parallel_to_an_axis(const double* d, std::size_t p, double tau) {
  // |e_j - d|^2 = 2 - 2 d_j for unit d, smallest for the largest component.
  double largest = 0.0;
  std::size_t at = 0;
  for (std::size_t j = 0; j < p; ++j)
    if (std::fabs(d[j]) > largest) {
      largest = std::fabs(d[j]);
      at = j;
    }
  double sum = (1.0 - largest) * (1.0 - largest);
  for (std::size_t j = 0; j < p; ++j)
    if (j != at) sum += d[j] * d[j];
  return std::sqrt(sum) <= tau;
}

void householder_vector(const double* d, std::size_t p, double* u) {
  for (std::size_t j = 0; j < p; ++j) u[j] = -d[j];
  u[0] += 1.0;
  // A component of rounding noise would turn an axis that stays where it is into a direction of noise.
  for (std::size_t j = 0; j < p; ++j)
    if (std::fabs(u[j]) <= kZeroComponent) u[j] = 0.0;
  const double length = norm(u, p);
  for (std::size_t j = 0; j < p; ++j) u[j] /= length;
}

void search_spaces(NodeSearch& search, const NodeRows& rows, const Spread& spread, const std::vector<Space>& spaces,
                   std::int64_t first_order, Vector& xu) {
  const std::size_t p = rows.columns.size();
  std::vector<char> axis_done(p, 0);
  if (xu.size() < rows.n) xu.resize(rows.n);
  std::int64_t order = first_order;
  for (const Space& space : spaces) {
    if (space.original) {
      for (std::size_t j = 0; j < p; ++j, ++order) {
        if (axis_done[j]) continue;
        axis_done[j] = 1;
        search.direction(order, rows.columns[j], spread.of_axis(j));
      }
      continue;
    }
    // X u once, then every reflected axis is x_j - 2 u_j X u.
    combine_columns(rows.columns.data(), space.u.data(), p, xu.data(), rows.n);
    checkpoint(p * rows.n);
    const Spread::Reflected reflected(spread, space.u);
    for (std::size_t j = 0; j < p; ++j, ++order) {
      if (space.u[j] == 0.0) {  // the reflection leaves this axis where it was
        if (axis_done[j]) continue;
        axis_done[j] = 1;
        search.direction(order, rows.columns[j], spread.of_axis(j));
      } else {
        search.reflected_direction(order, rows.columns[j], xu.data(), 2.0 * space.u[j], reflected.of_axis(j));
      }
    }
  }
}

Vector normal_of(const std::vector<Space>& spaces, std::size_t p, std::int64_t order) {
  const Space& space = spaces[static_cast<std::size_t>(order) / p];
  const std::size_t j = static_cast<std::size_t>(order) % p;
  Vector h(p, 0.0);
  h[j] = 1.0;
  if (!space.original && space.u[j] != 0.0)
    for (std::size_t i = 0; i < p; ++i) h[i] -= 2.0 * space.u[i] * space.u[j];
  return h;
}

void add_reflections(const Vector& vectors, std::size_t p, double tau, bool both, std::vector<Space>& spaces) {
  bool original = false;
  for (const Space& s : spaces) original = original || s.original;
  Vector d(p);
  for (std::size_t at = 0; at < vectors.size(); at += p) {
    d.assign(vectors.begin() + static_cast<std::ptrdiff_t>(at), vectors.begin() + static_cast<std::ptrdiff_t>(at + p));
    // A vector exactly on an axis cannot be reflected, whatever tau is: a component of e_1 - d must count as not zero.
    if (parallel_to_an_axis(d.data(), p, std::max(tau, kZeroComponent * std::sqrt(static_cast<double>(p))))) {
      if (!original) spaces.push_back(Space{});
      original = true;
      continue;
    }
    for (int sign = 0; sign < (both ? 2 : 1); ++sign) {
      Space space;
      space.original = false;
      space.u.resize(p);
      householder_vector(d.data(), p, space.u.data());
      spaces.push_back(std::move(space));
      for (double& x : d) x = -x;
    }
  }
}

}  // namespace oblique
