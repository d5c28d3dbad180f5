// The drawn rows of a tree during its growth.
#pragma once

#include "common/kernels.hpp"
#include "common/team.hpp"
#include "rows/held.hpp"
#include "rows/training_rows.hpp"
#include "split/bag.hpp"
#include "split/monotone.hpp"

namespace oblique {

// The rows of every node by every feature, for trees that search all features: sorted at the root, then divided.
class SortedRows {
 public:
  // A key holds the rank of a row in the upper half and its number in the lower.
  void sort(Columns& x, const std::vector<uint32_t>& rows) {
    n_ = rows.size();
    p_ = x.p;
    keys_.resize(n_ * p_);
    spare_.resize(n_);
    goes_right_.resize(x.n);
    for (size_t j = 0; j < p_; ++j) {
      const uint32_t* rank = x.rank(j);
      start_.assign(x.n + 1, 0);
      for (const uint32_t row : rows) ++start_[rank[row] + 1];
      for (size_t r = 1; r < x.n; ++r) start_[r] += start_[r - 1];
      for (const uint32_t row : rows)
        keys_[j * n_ + start_[rank[row]]++] = static_cast<uint64_t>(rank[row]) << 32 | row;
    }
  }

  // The keys of a node whose rows begin at position `first`.
  const uint64_t* of(size_t feature, size_t first) const { return keys_.data() + feature * n_ + first; }

  // Moves the rows of a node that go left before the others. row, side : of the n rows at the node, in any order
  void divide(size_t first, size_t n, const uint32_t* row, const unsigned char* side) {
    for (size_t i = 0; i < n; ++i) goes_right_[row[i]] = side[i];
    const unsigned char* goes_right = goes_right_.data();
    for (size_t j = 0; j < p_; ++j)
      divide_in_order(keys_.data() + j * n_ + first, n, spare_.data(), [goes_right](size_t, uint64_t key) {
        return static_cast<size_t>(goes_right[static_cast<uint32_t>(key)]);
      });
  }

 private:
  size_t n_ = 0, p_ = 0;
  std::vector<uint64_t> keys_, spare_;  // keys of feature j from j * n
  std::vector<uint32_t> start_;
  std::vector<unsigned char> goes_right_;  // by number of row
};

// One array of row numbers, grouped by class within every node; a split partitions it in place. The class runs of the
// open nodes are stacked in an arena, in the order of the open nodes.
class BaggedRows {
 public:
  struct Place {
    size_t first = 0, last = 0, first_run = 0;  // range of rows, and start of the runs in the arena
    Bounds bounds = {};                         // of the predictions there
  };

  // Draws the rows of a tree. x : its features, rotated or not; in_order : whether to sort rows where possible
  void draw(const TrainingRows& data, Columns& x, const RowDraw& how, bool in_order, uint64_t tree_seed) {
    how.draw(tree_seed, x.n, draws_of_row_);
    row_.clear();
    weight_.clear();
    draws_.clear();
    arena_.clear();
    const bool weighted = !data.weights.empty();
    counts_ = !weighted && data.n_classes <= 0xffff;
    for (const uint32_t row : data.by_class) {
      const uint32_t draws = draws_of_row_[row];
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
      for (size_t i = 0; i < row_.size(); ++i)
        facts_[row_[i]] = static_cast<uint32_t>(data.y[row_[i]]) << 16 | static_cast<uint32_t>(weight_[i]);
    }
    spare_.resize(row_.size() * sizeof(double));
  }

  size_t size() const { return row_.size(); }
  Place root() const { return {0, size(), 0, {}}; }

  // The functions of GrowingRows (grow/grower.hpp).
  size_t size(const Place& place) const { return place.last - place.first; }
  Held begin(const Place& place) {
    checkpoint(size(place));
    // The runs of the open node on top of the stack.
    runs_.assign(arena_.begin() + place.first_run, arena_.end());
    arena_.resize(place.first_run);
    // Only whether the rate is above 0 is used.
    return {samples(place.first, place.last), runs_.size() == 1 ? 0.0 : 1.0};
  }
  void take(const Place&, Team*) const {}
  bool is_passing(const Place&) const { return false; }
  void leave(const Place&) const {}

  // The share of the second of two classes on either side, both of which have rows; side : as in `divide`.
  void second_shares(const Place& place, const unsigned char* side, double& left, double& right) const {
    double sums[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
    size_t i = place.first;
    for (const ClassRun& run : runs_)
      for (const size_t end = i + run.n; i < end; ++i) sums[side[i - place.first]][run.code] += weight_[i];
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
  const uint64_t* sorted_keys(size_t feature, size_t first) const { return sorted_.of(feature, first); }
  const uint32_t* facts() const { return facts_.data(); }

  // Divides the current node; side : 1 for rows that go right. The runs of the left child are pushed last, on top.
  void divide(const Place& place, const unsigned char* side, Place& left, Place& right) {
    const size_t first = place.first;
    left_runs_.clear();
    right_runs_.clear();
    size_t i = first, n_left = 0;
    for (const ClassRun& run : runs_) {
      ClassRun l{run.code, 0, 0.0}, r{run.code, 0, 0.0};
      for (const size_t end = i + run.n; i < end; ++i) {
        ClassRun& to = side[i - first] ? r : l;
        ++to.n;
        to.weight += weight_[i];
      }
      if (l.n) left_runs_.push_back(l);
      if (r.n) right_runs_.push_back(r);
      n_left += l.n;
    }
    const size_t n = size(place);
    // Children that are leaves need no search.
    if (presorted_ && (left_runs_.size() > 1 || right_runs_.size() > 1))
      sorted_.divide(first, n, row_.data() + first, side);
    divide(row_.data() + first, n, side);
    divide(weight_.data() + first, n, side);
    if (!draws_.empty()) divide(draws_.data() + first, n, side);
    const size_t right_run = arena_.size();
    arena_.insert(arena_.end(), right_runs_.begin(), right_runs_.end());
    const size_t left_run = arena_.size();
    arena_.insert(arena_.end(), left_runs_.begin(), left_runs_.end());
    left = {first, first + n_left, left_run, {}};
    right = {first + n_left, place.last, right_run, {}};
  }

 private:
  // Number of rows drawn into the current node, repeats counted.
  double samples(size_t first, size_t last) const {
    double sum = 0.0;
    if (draws_.empty()) {
      for (const ClassRun& run : runs_) sum += run.weight;
      return sum;
    }
    for (size_t i = first; i < last; ++i) sum += draws_[i];
    return sum;
  }
  template <class T>
  void divide(T* values, size_t n, const unsigned char* side) {
    divide_in_order(values, n, reinterpret_cast<T*>(spare_.data()),
                    [side](size_t i, const T&) -> size_t { return side[i]; });
  }

  bool counts_ = true;                                // see Bag
  std::vector<uint32_t> row_, draws_, draws_of_row_;  // draws_ only if rows have weights
  std::vector<double> weight_;
  std::vector<ClassRun> arena_, runs_, left_runs_, right_runs_;
  bool presorted_ = false;
  SortedRows sorted_;
  std::vector<uint32_t> facts_;  // of every row: class and draws, in the form of sorted_feature
  std::vector<std::byte> spare_;
};

}  // namespace oblique
