// The moments of a node whose rows lie in blocks, computed by passes over the blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/eigen.hpp"
#include "heuristic/bisectors.hpp"
#include "heuristic/moments.hpp"
#include "rows/exact_moments.hpp"
#include "split/node_search.hpp"
#include "split/spaces.hpp"
#include "split/spread.hpp"
#include "tree/levels.hpp"

namespace oblique {

// The moments of one node. The sums that its heuristic uses decide which passes it requests; after the sums over all
// blocks have been received, all moments are available. Arrays by class have a row for every class of the table.
class BlockMoments final : public RowMoments {
 public:
  // The output of `Block::add_boxes`. low and high are copied; for features with levels the scores replace them.
  struct Facts {
    const std::int64_t* rows;
    const double *weight, *heaviest, *low, *high, *tables;
  };
  // weighted : whether rows have weights
  BlockMoments(const Facts& facts, std::size_t n_classes, const Levels& levels, bool weighted,
               const SearchOptions& options, Sums sums);

  // The next pass, by its name in `Block`: "moments", "squares", "unit_moments" or "left"; "" if no pass is needed.
  const char* wants() const;
  // The arguments of that pass, n_classes rows each: frames in `center` and `inverse`, or `mean`; for `left` two
  // planes, with threshold NaN for a missing plane.
  const Vector& center() const { return center_; }
  const Vector& inverse() const { return inverse_; }
  const Vector& mean() const { return mean_; }
  const Vector& unit() const { return unit_; }
  const Vector& least() const { return least_; }
  double factor() const { return factor_; }
  const Vector& normals() const { return normals_; }
  const Vector& thresholds() const { return thresholds_; }
  // Receives the sums over all blocks. The arrays must outlive this object.
  void take_sums(const std::int64_t* high, const std::int64_t* low);
  void take_squares(const double* squares);
  void take_left(const double* left);

  std::size_t n_features() const override { return p_; }
  int n_classes() const override { return static_cast<int>(present_.size()); }
  double weight(int k) const override { return of_class_[static_cast<std::size_t>(k)]; }
  bool covariance(int k, Vector& out) override;
  bool unit_scatter(int k, Vector& out) override;
  void pooled_variances(Vector& out) override;
  const Plane* better_bisector(bool super_classes) override;

  // The gain of the better bisector; false if a side has less weight than a leaf needs.
  bool gain_of_bisector(double& gain) const;

  std::size_t n_rows() const { return n_rows_; }
  const std::vector<std::int32_t>& present() const { return present_; }
  const Vector& of_class() const { return of_class_; }
  const Vector& level_scores() const { return scores_; }
  const Spread& spread() const { return spread_; }
  double mean_of(int k, std::size_t j) const { return sums_of(k).mean(j); }
  // The directions of some spaces; an axis that several spaces share occurs once. low and high bound the projections of
  // the rows approximately: they decide how many rows fall into a bin and nothing else. The range is that of the box
  // and, where covariances are known, at most four standard deviations about the mean.
  struct Directions {
    Vector u;                         // of every space, 0 for the original one
    std::vector<std::int64_t> order;  // space * p + axis
    Vector low, high, distinct;       // distinct : the gap above which two projections differ
  };
  Directions directions(const std::vector<Space>& spaces);

 private:
  std::size_t code(int k) const { return static_cast<std::size_t>(present_[static_cast<std::size_t>(k)]); }
  const double* of(const Vector& values, std::size_t code) const { return values.data() + code * p_; }
  bool differs(int k) const;
  ClassSums sums_of(int k) const;
  void score_levels(const double* tables, const Levels& levels);
  void find_frames();
  void find_bisectors();
  void find_scatter_of_rows();

  const std::size_t p_, n_codes_;
  const SearchOptions options_;
  const Sums kind_;
  int passes_ = 0;  // number of completed passes
  std::size_t n_rows_ = 0;
  std::vector<std::int64_t> rows_;
  std::vector<std::int32_t> present_;
  Vector of_class_, low_, high_, scores_, box_;  // box_ : the least values over all rows, then the greatest
  Spread spread_;
  double factor_ = 1.0;
  Vector center_, inverse_, mean_, unit_, least_, normals_, thresholds_, left_;
  const std::int64_t *high_sums_ = nullptr, *low_sums_ = nullptr, *high_units_ = nullptr, *low_units_ = nullptr;
  std::vector<Plane> planes_;
  std::size_t better_ = 0;
  Vector middle_, scatter_;  // mean and covariance of all rows, if known
};

}  // namespace oblique
