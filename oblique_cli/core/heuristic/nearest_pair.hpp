// The two nearest different rows of two groups, by a k-d tree of the second group.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "common/eigen.hpp"

namespace oblique {

class NearestPair {
 public:
  // Distances closer than kTie, relative to the least, are equal; the first of equally near pairs in lexicographic
  // order wins. Rows that both groups contain form no pair, nor do rows within kSame, the rounding of a level's score:
  // the widest range of a feature must be near 1.
  static constexpr double kTie = 1e-9, kSame = 1e-12;

  // a, b : rows of p numbers each; b is reordered. False if no two rows differ. The pair is first(), second().
  bool find(const Vector& a, Vector& b, std::size_t p);

  const Vector& first() const { return first_; }
  const Vector& second() const { return second_; }

 private:
  // Rows [first, last) of b; split at `middle` by `axis` unless it is a leaf.
  struct Box {
    std::size_t first, last, axis, middle;
    double low, high;  // greatest value on the lower side, least on the upper one
    int lower = -1, upper = -1;
  };
  static constexpr std::size_t kLeaf = 12;

  int build(Vector& b, std::size_t first, std::size_t last);
  // Visits rows of b that are nearer to `row` than `limit`; `use(place in b, squared distance)` may lower the limit.
  template <class Use>
  void visit(int box, const double* row, const double& limit, const Use& use) const;

  std::size_t p_ = 0;
  const double* b_ = nullptr;
  std::vector<Box> boxes_;
  std::vector<std::size_t> order_;
  Vector moved_, first_, second_;
};

}  // namespace oblique
