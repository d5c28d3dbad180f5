// Qualitative features as numbers. At every node scores on the largest discriminant coordinate, CRIMCOORD, replace the
// levels of a feature (Loh & Shih 1997; thesis 3.7, and 4.1.1.1 for blocks of rows).
#pragma once

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
  // table : (n_levels, n_classes); scores : n_levels numbers, 0 for levels without weight or for a single one with it.
  void solve(const double* table, size_t n_levels, size_t n_classes, double* scores) {
    std::fill_n(scores, n_levels, 0.0);
    level_.clear();
    of_level_.clear();
    of_class_.assign(n_classes, 0.0);
    double total = 0.0;
    for (size_t l = 0; l < n_levels; ++l) {
      double sum = 0.0;
      for (size_t c = 0; c < n_classes; ++c) {
        sum += table[l * n_classes + c];
        of_class_[c] += table[l * n_classes + c];
      }
      if (!(sum > 0.0)) continue;
      level_.push_back(l);
      of_level_.push_back(sum);
      total += sum;
    }
    const size_t m = level_.size();
    if (m < 2) return;
    class_.clear();
    for (size_t c = 0; c < n_classes; ++c)
      if (of_class_[c] > 0.0) class_.push_back(c);

    solutions_.clear();
    double quotient = 0.0;
    if (class_.size() == 2) {
      const double first = of_class_[class_[0]], second = of_class_[class_[1]];
      const double v[2] = {std::sqrt(second / total), -std::sqrt(first / total)};
      quotient = add_solution(table, n_classes, v);
    } else if (class_.size() > 2) {
      const size_t k = class_.size();
      fill_class_matrix(table, n_classes, total);
      eigen_.solve(matrix_.data(), static_cast<int>(k));
      quotient = eigen_.values[k - 1];
      for (size_t i = k; i-- > 0 && quotient - eigen_.values[i] <= kSameQuotient;)
        add_solution(table, n_classes, eigen_.vector(static_cast<int>(i)));
    }
    if (quotient <= kSameQuotient) {
      // The levels have equal class shares, so every direction is a solution: the canonical basis of the range of T
      // begins with the first level against the others.
      solutions_.assign(m, -1.0 / static_cast<double>(m));
      solutions_[0] += 1.0;
    }
    const size_t count = solutions_.size() / m;
    if (count > 1) {
      orthonormalize(solutions_, m);
      canonical_basis(solutions_.data(), static_cast<int>(count), m);
    }
    const double length = norm(solutions_.data(), m);
    for (size_t i = 0; i < m; ++i) solutions_[i] /= length;
    orient(solutions_.data(), m, 1.0);
    for (size_t i = 0; i < m; ++i) scores[level_[i]] = solutions_[i];
  }

 private:
  // Quotients a'Ba / a'Ta lie between 0 and 1; closer quotients are equal, and a quotient this close to 0 is 0.
  static constexpr double kSameQuotient = 1e-10;

  // Appends the levels' a for an eigenvector v over the classes present; returns its quotient.
  double add_solution(const double* table, size_t n_classes, const double* v) {
    const size_t m = level_.size();
    double quotient = 0.0, sum = 0.0;
    for (size_t i = 0; i < m; ++i) {
      double a = 0.0;
      for (size_t k = 0; k < class_.size(); ++k)
        a += table[level_[i] * n_classes + class_[k]] / of_level_[i] * (v[k] / std::sqrt(of_class_[class_[k]]));
      solutions_.push_back(a);
      quotient += of_level_[i] * a * a;
      sum += a;
    }
    const double mean = sum / static_cast<double>(m);
    for (size_t i = solutions_.size() - m; i < solutions_.size(); ++i) solutions_[i] -= mean;
    return quotient;
  }

  // matrix_ = S'S - ss' over the classes present.
  void fill_class_matrix(const double* table, size_t n_classes, double total) {
    const size_t k = class_.size();
    matrix_.assign(k * k, 0.0);
    for (size_t a = 0; a < k; ++a)
      for (size_t b = 0; b <= a; ++b) {
        double sum = 0.0;
        for (size_t i = 0; i < level_.size(); ++i) {
          const double* row = table + level_[i] * n_classes;
          sum += row[class_[a]] * (row[class_[b]] / of_level_[i]);
        }
        const double scale = std::sqrt(of_class_[class_[a]] * of_class_[class_[b]]);
        matrix_[a * k + b] = matrix_[b * k + a] = sum / scale - scale / total;
      }
  }

  std::vector<size_t> level_, class_;  // levels and classes with weight
  Vector of_level_, of_class_, matrix_, solutions_;
  SymmetricEigen eigen_;
};

}  // namespace oblique
