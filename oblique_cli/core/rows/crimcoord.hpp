// Qualitative features as numbers. At every node the levels of a feature are replaced by their scores on its largest
// discriminant coordinate, CRIMCOORD (Loh & Shih 1997; thesis 3.7, and 4.1.1.1 for the computation from blocks of
// rows).
#pragma once

#include <cstddef>
#include <vector>

#include "common/eigen.hpp"

namespace oblique {

// The unit vector a that maximizes a'Ba / a'Ta over the dummy vectors of one feature (thesis eq. 3.7.2 to 3.7.3): the
// leading eigenvector of T^- B.
//
// From the table of weights M of levels by classes, with row sums n_l, column sums N_c and total N, T = diag(n) - nn'/N
// and B = M diag(1/N_c) M' - nn'/N. If M diag(1/N_c) M' a = q diag(n) a with n'a = 0, then Ba = qTa. Adding a
// constant to a changes neither side; the a in the range of T has components that sum to 0. The equation is solved in
// the space of classes, as in correspondence analysis: v is an eigenvector of S'S - ss', S_lc = M_lc / sqrt(n_l N_c),
// s_c = sqrt(N_c / N), and a_l = sum_c M_lc v_c / (n_l sqrt(N_c)). With two classes a_l is the share of one class among
// the rows of the level, shifted and scaled.
class Crimcoord {
 public:
  // table : (n_levels, n_classes); scores : n_levels numbers, 0 for levels of weight 0, all 0 if only one level has
  // weight.
  void solve(const double* table, std::size_t n_levels, std::size_t n_classes, double* scores);

 private:
  // Quotients a'Ba / a'Ta lie between 0 and 1; closer quotients are equal, and a quotient this close to 0 is 0.
  static constexpr double kSameQuotient = 1e-10;

  // Appends the levels' a for an eigenvector v over the classes present; returns its quotient.
  double add_solution(const double* table, std::size_t n_classes, const double* v);

  // matrix_ = S'S - ss' over the classes present.
  void fill_class_matrix(const double* table, std::size_t n_classes, double total);

  std::vector<std::size_t> level_, class_;  // levels and classes with weight
  Vector of_level_, of_class_, matrix_, solutions_;
  SymmetricEigen eigen_;
};

}  // namespace oblique
