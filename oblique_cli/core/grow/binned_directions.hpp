// Directions with binned rows: the axes of the features, and the planes of earlier trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rows/columns.hpp"
#include "rows/training_rows.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

// Axis j is direction j; planes follow. A direction is binned once, when it is added: with at most `max_bins` (at most
// 256) distinct values each value has its own bin, else bins have about equal mass. Values of a plane that differ by
// rounding alone count as equal.
class BinnedDirections {
 public:
  static constexpr std::size_t kMostPlanes = 32;

  // mass : of each row, or nullptr if all rows have the same
  BinnedDirections(TrainingRows& data, const double* mass, std::size_t max_bins);

  std::size_t size() const { return all_.size(); }
  std::size_t n_axes() const { return data_.x.p; }
  std::size_t n_bins(std::size_t direction) const { return all_[direction].low.size(); }
  // Bin of each training row.
  const std::uint8_t* bins(std::size_t direction) const { return all_[direction].bin.data(); }
  // Terms of a plane; growth and prediction project rows by them.
  const SparsePlanes::Term* terms(std::size_t plane) const { return all_[plane].terms.data(); }
  // The middle of the gap between two bins; no row lies in the gap.
  double threshold(std::size_t direction, std::size_t below, std::size_t above) const;

  // Adds the planes with more than one term of a tree. If there are too many planes, those whose last use (or addition)
  // is oldest are removed, the first of equals.
  void add(const ForestTree& tree, std::size_t round);
  // Removes all planes; the axes remain.
  void forget_planes() { all_.resize(n_axes()); }
  void use(std::size_t direction, std::size_t round) { all_[direction].used = round; }

 private:
  struct Direction {
    std::vector<SparsePlanes::Term> terms;
    std::vector<std::uint8_t> bin;
    std::vector<double> low, high;  // least and largest value of every bin
    std::size_t used = 0;           // round of the last use
  };

  bool project(const std::vector<SparsePlanes::Term>& terms);
  double rounding(const std::vector<SparsePlanes::Term>& terms) const;
  void put_into_bins(const double* z, const std::uint32_t* rank, double distinct, Direction& out);
  Direction& room();

  TrainingRows& data_;
  const double* mass_;
  const std::size_t max_bins_;
  std::vector<Direction> all_;
  std::vector<double> magnitude_;  // largest magnitude of each feature
  Columns projected_;              // one column
  // Buffers for the ranks of a direction.
  std::vector<double> value_, weight_;
  std::vector<std::uint8_t> bin_of_;
};

}  // namespace oblique
