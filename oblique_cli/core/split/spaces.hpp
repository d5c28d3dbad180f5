// The spaces whose axes are searched: the original space, and Householder reflections of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/eigen.hpp"
#include "common/kernels.hpp"
#include "split/node_rows.hpp"
#include "split/node_search.hpp"
#include "split/spread.hpp"

namespace oblique {

// Whether d is within tau of an axis, in either direction (thesis 3.5).
bool parallel_to_an_axis(const double* d, std::size_t p, double tau);

// u of H = I - 2 u u' with H d = e_1 (thesis eq. 3.3.1). d must not be e_1.
void householder_vector(const double* d, std::size_t p, double* u);

// One searched space, in enumeration order: the original axes, or the axes of a reflection.
struct Space {
  bool original = true;
  Vector u;  // empty for the original axes
};

// Searches a list of spaces at one node. Directions are numbered space * p + axis.
void search_spaces(NodeSearch& search, const NodeRows& rows, const Spread& spread, const std::vector<Space>& spaces,
                   std::int64_t first_order, Vector& xu);

// The steps of search_spaces, for searches that share the spaces. Axes that several spaces have in common are searched
// in the first of them.
class SpaceParts {
 public:
  SpaceParts(const NodeRows& rows, const Spread& spread, const std::vector<Space>& spaces);

  // X u of a space over rows [first, last); a reflection needs all rows.
  void add_up(const Space& space, std::size_t first, std::size_t last, double* xu) const;
  // The same for up to four spaces [first, last) over all rows, one after the other.
  void add_up(std::size_t first, std::size_t last, double* xu) const;
  // The axes of space number s, or axis j of it, whose values are in `column`.
  void search_space(NodeSearch& search, std::size_t s, std::int64_t first_order, const double* xu) const;
  void search_axis(NodeSearch& search, std::size_t s, std::size_t j, const double* column,
                   const Spread::Reflected& reflected, std::int64_t first_order, const double* xu) const;

 private:
  const NodeRows& rows_;
  const Spread& spread_;
  const std::vector<Space>& spaces_;
  std::vector<std::size_t> owner_;  // for each axis that a space leaves unchanged: the first such space
};

// Unit normal of direction `order` of `spaces`.
Vector normal_of(const std::vector<Space>& spaces, std::size_t p, std::int64_t order);

// For each class: the vectors that a heuristic reflects, turned into spaces. tau decides which vectors count as
// parallel to an axis; the original space is added once, at its first occurrence. With `both` the opposite of each
// vector follows it.
void add_reflections(const Vector& vectors, std::size_t p, double tau, bool both, std::vector<Space>& spaces);

}  // namespace oblique
