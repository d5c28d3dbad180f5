// The rows of a tree during its growth.
#pragma once

#include "common/kernels.hpp"
#include "common/team.hpp"
#include "rows/crimcoord.hpp"
#include "split/table_rows.hpp"

namespace oblique {

// A working copy of some rows, by columns. Columns of qualitative features hold level codes.
class RowBlock {
 public:
  // Rows [first, last) of p features, to be filled in.
  RowBlock(size_t first, size_t last, size_t p)
      : first_(first), n_(last - first), values_(std::make_unique_for_overwrite<double[]>(n_ * p)) {}

  size_t n() const { return n_; }
  // Feature j from row i on, for i in [first, last).
  double* at(size_t i, size_t j) { return values_.get() + j * n_ + (i - first_); }
  const double* at(size_t i, size_t j) const { return values_.get() + j * n_ + (i - first_); }

 private:
  size_t first_, n_;
  std::unique_ptr<double[]> values_;
};

// The order of the rows of X, grouped by class. The rows of a node are a contiguous range of it. A split partitions the
// range in place and keeps the order of rows within each class, so the position of a row determines its class. The
// values of a small subtree's rows are copied to a block, which is partitioned with them; the values of larger nodes
// are read from X. Threads may work on disjoint ranges.
class WorkingRows {
 public:
  // x : (n, p) row-major, n < 2^32, finite except for cells of qualitative features, which hold level codes, or any
  // other number for no level; y : codes; weights : n positive numbers, smallest 1, or nullptr. x, y and weights must
  // outlive this object. canonical : whether copied rows of a class are sorted by their values, so that sums do not
  // depend on the order of the input. The sums of larger nodes must be exact. Their rows keep the order of the input,
  // so that the table is read from front to back.
  WorkingRows(const InputRows& x, const int32_t* y, const double* weights, size_t n, const Levels& levels,
              bool canonical)
      : n_(n), p_(levels.count.size()), x_(x), y_(y), given_weights_(weights), levels_(levels), canonical_(canonical) {
    group();
    if (weights) weight_.resize(n);
    take_weights(0, n);
  }

  const InputRows& input() const { return x_; }
  const Levels& levels() const { return levels_; }
  size_t n_features() const { return p_; }
  int32_t code(size_t i) const { return y_[row_[i]]; }
  const double* weights() const { return weight_.empty() ? nullptr : weight_.data(); }
  const uint32_t* row_numbers() const { return row_.data(); }

  // Calls use(code, begin, end) for each class with rows in [first, last), ascending; its rows are [begin, end).
  template <class Use>
  void for_each_class(size_t first, size_t last, const Use& use) const {
    for (size_t begin = first, end; begin < last; begin = end) {
      const int32_t label = code(begin);
      const auto has_label = [&](uint32_t row) { return y_[row] == label; };
      const auto at = [&](size_t i) { return row_.begin() + i; };
      end = static_cast<size_t>(std::partition_point(at(begin) + 1, at(last), has_label) - row_.begin());
      use(label, begin, end);
    }
  }

  // A copy of rows [first, last), after sorting them.
  std::shared_ptr<RowBlock> copy(size_t first, size_t last, Team& team) {
    if (canonical_) sort(first, last, team);
    auto block = std::make_shared<RowBlock>(first, last, p_);
    TableRows rows(x_, levels_);
    rows.begin(row_.data(), nullptr);
    constexpr size_t stretch = 4096;
    team.share((last - first + stretch - 1) / stretch, Team::Meanwhile::kWait, [&](size_t i) {
      const size_t from = first + i * stretch;
      rows.gather(from, std::min(from + stretch, last), 0, p_, block->at(from, 0), block->n());
    });
    return block;
  }

  // Moves the rows of [first, last) with goes_left 1 before the others, in their block as well. room : a buffer
  void partition(size_t first, size_t last, const unsigned char* goes_left, RowBlock* block, Team& team,
                 std::vector<std::byte>& room) {
    const size_t n = last - first;
    const auto divide = [n, goes_left](auto* values, std::vector<std::byte>& buffer) {
      buffer.resize(n * sizeof *values);
      divide_in_order(values, n, reinterpret_cast<decltype(values)>(buffer.data()),
                      [goes_left](size_t i, const auto&) -> size_t { return 1u - goes_left[i]; });
    };
    const auto divide_part = [&](size_t part, std::vector<std::byte>& buffer) {
      if (part < p_ && block) divide(block->at(first, part), buffer);
      if (part == p_) divide(row_.data() + first, buffer);
      if (part == p_ + 1 && !weight_.empty()) divide(weight_.data() + first, buffer);
    };
    if (n < kWorthSharing || team.size() < 2) {
      for (size_t part = 0; part < p_ + 2; ++part) divide_part(part, room);
      return;
    }
    team.share_with(
        p_ + 2, Team::Meanwhile::kWait, [] { return std::vector<std::byte>(); }, divide_part);
  }

 private:
  static constexpr size_t kWorthSharing = 16384;  // rows

  double cell(size_t i, size_t j) const {
    const double value = x_.at(i, j, p_);
    return levels_.count[j] > 0 ? static_cast<double>(level_of(value, levels_.count[j])) : value;
  }

  // row_ = the rows by class, in the order of the input within a class.
  void group() {
    row_.resize(n_);
    std::vector<size_t> next(1, 0);  // position of the next row of each class
    for (size_t i = 0; i < n_; ++i) {
      const size_t after = static_cast<size_t>(y_[i]) + 1;
      if (next.size() <= after) next.resize(after + 1, 0);
      ++next[after];
    }
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (size_t i = 0; i < n_; ++i) row_[next[y_[i]]++] = static_cast<uint32_t>(i);
  }

  void take_weights(size_t first, size_t last) {
    if (given_weights_)
      for (size_t i = first; i < last; ++i) weight_[i] = given_weights_[row_[i]];
  }

  // Sorts rows [first, last) into canonical order: within a class by values, then by weight, then by the order of the
  // input. No two rows are equal, so the result does not depend on the division of the work.
  void sort(size_t first, size_t last, Team& team) {
    struct Place {
      double value;  // in the first column
      uint32_t row;
      int32_t code;
    };
    const size_t n = last - first;
    std::vector<Place> places(n);
    for (size_t i = 0; i < n; ++i) {
      const uint32_t row = row_[first + i];
      places[i] = {cell(row, 0), row, y_[row]};
    }
    const double* weights = given_weights_;
    const auto before = [&](const Place& a, const Place& b) {
      if (a.code != b.code) return a.code < b.code;
      if (a.value != b.value) return a.value < b.value;
      for (size_t j = 1; j < p_; ++j) {
        const double left = cell(a.row, j), right = cell(b.row, j);
        if (left != right) return left < right;
      }
      if (weights && weights[a.row] != weights[b.row]) return weights[a.row] < weights[b.row];
      return a.row < b.row;
    };
    // Sorts stretches separately, then merges neighbors until one is left.
    size_t stretches = 1;
    while (stretches < static_cast<size_t>(team.size()) && n / stretches >= kWorthSharing) stretches *= 2;
    const auto at = [&](size_t i, size_t of) { return places.begin() + (n * i / of); };
    team.share(stretches, Team::Meanwhile::kWait,
               [&](size_t i) { std::sort(at(i, stretches), at(i + 1, stretches), before); });
    for (; stretches > 1; stretches /= 2)
      team.share(stretches / 2, Team::Meanwhile::kWait, [&](size_t i) {
        std::inplace_merge(at(2 * i, stretches), at(2 * i + 1, stretches), at(2 * i + 2, stretches), before);
      });
    for (size_t i = 0; i < n; ++i) row_[first + i] = places[i].row;
    take_weights(first, last);
  }

  size_t n_, p_;
  InputRows x_;
  const int32_t* y_;
  const double* given_weights_;
  const Levels& levels_;
  const bool canonical_;
  std::vector<uint32_t> row_;  // working position -> row of x
  Vector weight_;
};

// The view of one thread on one node after another, with levels replaced by their scores at the node.
class NodeView {
 public:
  explicit NodeView(const WorkingRows& all)
      : all_(all), levels_(all.levels()), table_(all.input(), all.levels()), predicted_(all.input(), all.levels()) {}

  // Selects the node of rows [first, last), until the next call. block : copy of the rows, or nullptr
  const NodeRows& node(size_t first, size_t last, const RowBlock* block) {
    NodeRows& rows = rows_;
    rows.n = last - first;
    rows.columns.resize(all_.n_features());
    for (size_t j = 0; j < rows.columns.size(); ++j) rows.columns[j] = block ? block->at(first, j) : nullptr;
    rows.table = block ? nullptr : &table_;
    rows.weights = all_.weights() ? all_.weights() + first : nullptr;
    offsets_.assign(1, 0);
    all_.for_each_class(first, last, [&](int32_t, size_t, size_t end) { offsets_.push_back(end - first); });
    rows.n_classes = static_cast<int>(offsets_.size()) - 1;
    rows.first_row = offsets_.data();
    table_.begin(all_.row_numbers() + first, nullptr);
    if (levels_.any() && rows.n_classes > 1) score_levels();
    table_.begin(all_.row_numbers() + first, scores_.data());
    predicted_.begin(all_.row_numbers() + first, rows.n, scores_.data());
    return rows;
  }

  // The rows of the node in the form of prediction, and the scores of its levels, in the order of Levels::offset.
  PredictedRows& predicted() { return predicted_; }
  const Vector& level_scores() const { return scores_; }

 private:
  // Computes the scores of the node's levels, and points the columns of qualitative features to them.
  void score_levels() {
    scores_.resize(levels_.width);
    if (!rows_.table) scored_columns_.resize(levels_.features.size() * rows_.n);
    for (size_t q = 0; q < levels_.features.size(); ++q) {
      const size_t j = levels_.features[q];
      const double* codes = rows_.columns[j];
      const auto code = [&](size_t i) { return codes ? codes[i] : table_.at(i, j); };
      const size_t n_levels = levels_.count[j];
      const size_t n_present = rows_.n_classes;
      weights_.assign(n_levels * n_present, 0.0);
      for (size_t k = 0; k < n_present; ++k)
        for (size_t i = rows_.first_row[k]; i < rows_.first_row[k + 1]; ++i) {
          const double level = code(i);
          if (level < 0.0) continue;
          weights_[static_cast<size_t>(level) * n_present + k] += rows_.weight(i);
        }
      double* scores = scores_.data() + levels_.offset[q];
      crimcoord_.solve(weights_.data(), n_levels, n_present, scores);
      if (!codes) continue;
      double* scored = scored_columns_.data() + q * rows_.n;
      for (size_t i = 0; i < rows_.n; ++i) scored[i] = codes[i] < 0.0 ? 0.0 : scores[static_cast<size_t>(codes[i])];
      rows_.columns[j] = scored;
    }
  }

  const WorkingRows& all_;
  const Levels& levels_;
  NodeRows rows_;  // of the current node
  std::vector<size_t> offsets_;
  TableRows table_;
  PredictedRows predicted_;
  Vector scores_, scored_columns_, weights_;  // of the levels at the current node
  Crimcoord crimcoord_;
};

}  // namespace oblique
