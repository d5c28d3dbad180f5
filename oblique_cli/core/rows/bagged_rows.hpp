// The drawn rows of a tree during its growth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/divide.hpp"
#include "common/interrupt.hpp"
#include "common/random.hpp"
#include "common/team.hpp"
#include "rows/columns.hpp"
#include "rows/held.hpp"
#include "rows/row_draw.hpp"
#include "rows/sorted_rows.hpp"
#include "rows/training_rows.hpp"
#include "split/bag.hpp"
#include "split/monotone.hpp"

namespace oblique {

// One array of row numbers, grouped by class within every node; a split partitions it in place. The class runs of the
// open nodes are stacked in an arena, in the order of the open nodes.
class BaggedRows {
 public:
  struct Place {
    std::size_t first = 0, last = 0, first_run = 0;  // range of rows, and start of the runs in the arena
    Bounds bounds = {};                              // of the predictions there
  };

  // Draws the rows of a tree. x : its features, rotated or not; in_order : whether to sort the rows by every feature
  // where possible
  void draw(const TrainingRows& data, Columns& x, const RowDraw& how, bool in_order, std::uint64_t tree_seed) {
    how.draw(tree_seed, x.n, draws_of_row_);
    row_.clear();
    weight_.clear();
    draws_.clear();
    arena_.clear();
    const bool weighted = !data.weights.empty();
    counts_ = !weighted && data.n_classes <= 0xffff;
    for (const std::uint32_t row : data.by_class) {
      const std::uint32_t draws = draws_of_row_[row];
      if (draws == 0) continue;
      const double w = weighted ? draws * data.weights[row] : draws;
      counts_ = counts_ && draws <= 0xffff;
      if (arena_.empty() || arena_.back().code != data.y[row]) arena_.push_back({data.y[row], 0, 0.0});
      ++arena_.back().n;
      arena_.back().weight += w;
      row_.push_back(row);
      weight_.push_back(w);
      if (weighted) draws_.push_back(draws);
    }
    presorted_ = counts_ && in_order;
    if (presorted_) {
      sorted_.sort(x, row_);
      facts_.resize(x.n);
      for (std::size_t i = 0; i < row_.size(); ++i)
        facts_[row_[i]] = static_cast<std::uint32_t>(data.y[row_[i]]) << 16 | static_cast<std::uint32_t>(weight_[i]);
    }
    spare_.resize(row_.size() * sizeof(double));
  }

  std::size_t size() const { return row_.size(); }
  Place root() const { return {0, size(), 0, {}}; }

  // The functions of GrowingRows (grow/grower.hpp).
  std::size_t size(const Place& place) const { return place.last - place.first; }
  Held begin(const Place& place) {
    checkpoint(size(place));
    // The runs of the open node on top of the stack.
    runs_.assign(arena_.begin() + static_cast<std::ptrdiff_t>(place.first_run), arena_.end());
    arena_.resize(place.first_run);
    // Only whether the rate is above 0 is used.
    return {samples(place.first, place.last), runs_.size() == 1 ? 0.0 : 1.0};
  }
  void take(const Place&, Team*) const {}
  bool is_passing(const Place&) const { return false; }
  void leave(const Place&) const {}

  // The share of the second of two classes on either side of the current node before its division; side as in `divide`.
  // Both sides have rows.
  void second_shares(const Place& place, const unsigned char* side, double& left, double& right) const {
    double sums[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
    std::size_t i = place.first;
    for (const ClassRun& run : runs_)
      for (const std::size_t end = i + run.n; i < end; ++i) sums[side[i - place.first]][run.code] += weight_[i];
    left = second_share(sums[0][0], sums[0][1]);
    right = second_share(sums[1][0], sums[1][1]);
  }

  // The classes of the current node.
  const std::vector<ClassRun>& runs() const { return runs_; }
  Bag bag(const Place& place) const {
    return {row_.data() + place.first, weight_.data() + place.first, size(place), &runs_, counts_};
  }

  // Whether the rows of every node are sorted by every feature, in the form of AxisFeature.
  bool presorted() const { return presorted_; }
  const std::uint64_t* sorted_keys(std::size_t feature, std::size_t first) const { return sorted_.of(feature, first); }
  const std::uint32_t* facts() const { return facts_.data(); }

  // Divides the current node; side is 1 for the rows that go right. The runs of the left child are pushed last, so they
  // are on top of the stack.
  void divide(const Place& place, const unsigned char* side, Place& left, Place& right) {
    const std::size_t first = place.first;
    left_runs_.clear();
    right_runs_.clear();
    std::size_t i = first, n_left = 0;
    for (const ClassRun& run : runs_) {
      ClassRun l{run.code, 0, 0.0}, r{run.code, 0, 0.0};
      for (const std::size_t end = i + run.n; i < end; ++i) {
        ClassRun& to = side[i - first] ? r : l;
        ++to.n;
        to.weight += weight_[i];
      }
      if (l.n) left_runs_.push_back(l);
      if (r.n) right_runs_.push_back(r);
      n_left += l.n;
    }
    const std::size_t n = size(place);
    // Children that are leaves need no search.
    if (presorted_ && (left_runs_.size() > 1 || right_runs_.size() > 1))
      sorted_.divide(first, n, row_.data() + first, side);
    divide(row_.data() + first, n, side);
    divide(weight_.data() + first, n, side);
    if (!draws_.empty()) divide(draws_.data() + first, n, side);
    const std::size_t right_run = arena_.size();
    arena_.insert(arena_.end(), right_runs_.begin(), right_runs_.end());
    const std::size_t left_run = arena_.size();
    arena_.insert(arena_.end(), left_runs_.begin(), left_runs_.end());
    left = {first, first + n_left, left_run, {}};
    right = {first + n_left, place.last, right_run, {}};
  }

 private:
  // Number of rows drawn into the current node, repeats counted.
  double samples(std::size_t first, std::size_t last) const {
    double sum = 0.0;
    if (draws_.empty()) {
      for (const ClassRun& run : runs_) sum += run.weight;
      return sum;
    }
    for (std::size_t i = first; i < last; ++i) sum += draws_[i];
    return sum;
  }
  template <class T>
  void divide(T* values, std::size_t n, const unsigned char* side) {
    divide_in_order(values, n, reinterpret_cast<T*>(spare_.data()),
                    [side](std::size_t i, const T&) -> std::size_t { return side[i]; });
  }

  bool counts_ = true;                                     // see Bag
  std::vector<std::uint32_t> row_, draws_, draws_of_row_;  // draws_ only if rows have weights
  std::vector<double> weight_;
  std::vector<ClassRun> arena_, runs_, left_runs_, right_runs_;
  bool presorted_ = false;
  SortedRows sorted_;
  std::vector<std::uint32_t> facts_;  // of every row: class and draws, in the form of sorted_feature
  std::vector<std::byte> spare_;
};

}  // namespace oblique
