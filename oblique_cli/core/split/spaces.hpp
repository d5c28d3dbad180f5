// The spaces whose axes are searched: the original space, and Householder reflections of it.
#pragma once

#include "split/node_search.hpp"
#include "split/spread.hpp"

namespace oblique {

// Whether d is within tau of an axis, in either direction (thesis 3.5).
inline bool parallel_to_an_axis(const double* d, size_t p, double tau) {
  // |e_j - d|^2 = 2 - 2 d_j for unit d, smallest for the largest component.
  double largest = 0.0;
  size_t at = 0;
  for (size_t j = 0; j < p; ++j)
    if (std::fabs(d[j]) > largest) {
      largest = std::fabs(d[j]);
      at = j;
    }
  double sum = (1.0 - largest) * (1.0 - largest);
  for (size_t j = 0; j < p; ++j)
    if (j != at) sum += d[j] * d[j];
  return std::sqrt(sum) <= tau;
}

// u of H = I - 2 u u' with H d = e_1 (thesis eq. 3.3.1). d must not be e_1.
inline void householder_vector(const double* d, size_t p, double* u) {
  for (size_t j = 0; j < p; ++j) u[j] = -d[j];
  u[0] += 1.0;
  // A component of rounding noise would turn an unchanged axis into a direction of noise.
  for (size_t j = 0; j < p; ++j)
    if (std::fabs(u[j]) <= kZeroComponent) u[j] = 0.0;
  const double length = norm(u, p);
  for (size_t j = 0; j < p; ++j) u[j] /= length;
}

// One searched space, in enumeration order: the original axes, or the axes of a reflection.
struct Space {
  bool original = true;
  Vector u;  // empty for the original axes
};

// The steps of search_spaces. Axes that several spaces have in common are searched in the first of them.
class SpaceParts {
 public:
  SpaceParts(const NodeRows& rows, const Spread& spread, const std::vector<Space>& spaces)
      : rows_(rows), spread_(spread), spaces_(spaces), owner_(rows.columns.size(), spaces.size()) {
    for (size_t j = 0; j < owner_.size(); ++j)
      for (size_t s = 0; s < spaces.size() && owner_[j] == spaces.size(); ++s)
        if (spaces[s].original || spaces[s].u[j] == 0.0) owner_[j] = s;
  }

  // X u of a space over rows [first, last); a reflection needs all rows.
  void add_up(const Space& space, size_t first, size_t last, double* xu) const {
    if (space.original) return;
    std::vector<const double*> columns = rows_.columns;
    for (const double*& column : columns) column += first;
    combine_columns(columns.data(), space.u.data(), columns.size(), xu + first, last - first);
    checkpoint(columns.size() * (last - first));
  }

  // The same for up to four spaces [first, last) over all rows, one after the other.
  void add_up(size_t first, size_t last, double* xu) const {
    const double* u[4];
    double* out[4];
    for (size_t s = first; s < last; ++s) {
      u[s - first] = spaces_[s].u.data();
      out[s - first] = xu + (s - first) * rows_.n;
    }
    const auto is_original = [&](size_t s) { return spaces_[s].original; };
    if (last - first < 4 || is_original(first) || is_original(first + 1) || is_original(first + 2) ||
        is_original(first + 3)) {
      for (size_t s = first; s < last; ++s) add_up(spaces_[s], 0, rows_.n, out[s - first]);
      return;
    }
    combine_four(rows_.columns.data(), u, rows_.columns.size(), out, rows_.n);
    checkpoint(4 * rows_.columns.size() * rows_.n);
  }

  // The axes of space number s, or axis j of it, whose values are in `column`.
  void search_space(NodeSearch& search, size_t s, int64_t first_order, const double* xu) const {
    const Spread::Reflected reflected(spread_, spaces_[s].u);
    for (size_t j = 0; j < rows_.columns.size(); ++j)
      search_axis(search, s, j, rows_.columns[j], reflected, first_order, xu);
  }

  void search_axis(NodeSearch& search, size_t s, size_t j, const double* column, const Spread::Reflected& reflected,
                   int64_t first_order, const double* xu) const {
    const Space& space = spaces_[s];
    const int64_t order = first_order + static_cast<int64_t>(s * rows_.columns.size() + j);
    if (!space.original && space.u[j] != 0.0)  // every reflected axis is x_j - 2 u_j X u
      search.reflected_direction(order, column, xu, 2.0 * space.u[j], reflected.of_axis(j));
    else if (owner_[j] == s)
      search.direction(order, column, spread_.of_axis(j));
  }

 private:
  const NodeRows& rows_;
  const Spread& spread_;
  const std::vector<Space>& spaces_;
  std::vector<size_t> owner_;  // for each axis that a space leaves unchanged: the first such space
};

// Searches a list of spaces at one node. Directions are numbered space * p + axis.
inline void search_spaces(NodeSearch& search, const NodeRows& rows, const Spread& spread,
                          const std::vector<Space>& spaces, int64_t first_order, Vector& xu) {
  const size_t n = rows.n, p = rows.columns.size();
  const SpaceParts parts(rows, spread, spaces);
  // Four spaces at a time share a pass over the rows; fewer do not. The axes need no X u.
  const size_t together = spaces.size() < 4 ? 1 : 4;
  const bool reflects = std::any_of(spaces.begin(), spaces.end(), [](const Space& space) { return !space.original; });
  const size_t room = reflects ? n * together : 0;
  if (xu.size() < room) xu.resize(room);
  for (size_t first = 0; first < spaces.size(); first += together) {
    const size_t last = std::min(first + together, spaces.size());
    if (!search.is_over(first_order + static_cast<int64_t>(first * p))) parts.add_up(first, last, xu.data());
    for (size_t s = first; s < last; ++s) parts.search_space(search, s, first_order, xu.data() + (s - first) * n);
  }
}

// Unit normal of direction `order` of `spaces`.
inline Vector normal_of(const std::vector<Space>& spaces, size_t p, int64_t order) {
  const Space& space = spaces[static_cast<size_t>(order) / p];
  const size_t j = static_cast<size_t>(order) % p;
  Vector h(p, 0.0);
  h[j] = 1.0;
  if (!space.original && space.u[j] != 0.0)
    for (size_t i = 0; i < p; ++i) h[i] -= 2.0 * space.u[i] * space.u[j];
  return h;
}

// For each class: the vectors that a heuristic reflects, turned into spaces. tau decides which vectors count as
// parallel to an axis; the original space is added once, at its first occurrence. With `both` the opposite of each
// vector follows it.
inline void add_reflections(const Vector& vectors, size_t p, double tau, bool both, std::vector<Space>& spaces) {
  bool original = false;
  for (const Space& s : spaces) original = original || s.original;
  Vector d(p);
  for (size_t at = 0; at < vectors.size(); at += p) {
    d.assign(vectors.begin() + at, vectors.begin() + (at + p));
    // A vector exactly on an axis cannot be reflected for any tau: a component of e_1 - d must be nonzero.
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
