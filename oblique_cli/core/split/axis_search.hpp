// Exact search for the best axis-parallel cut of a node of a forest's tree by Gini. Each row costs O(1): the sums of
// squared class weights on both sides change by one term.
#pragma once

#include "common/key_sort.hpp"
#include "split/bag.hpp"
#include "split/monotone.hpp"

namespace oblique {

// A feature under search. rank : nullptr unless ranks are used; keys : the node's rows in order, as in SortedRows, or
// nullptr; facts : class (upper 16 bits) and weight (lower 16 bits) of every training row
struct AxisFeature {
  const double* x;
  const uint32_t* rank;
  const uint64_t* keys;
  const uint32_t* facts;
};

// Rows of this rank and lower go left, or rows of values up to `last` if the search used no ranks.
struct AxisCut {
  int feature = -1;  // -1: no feature varies
  double value = 0.0;
  bool by_rank = false;
  uint32_t rank = 0;
  double last = 0.0;

  void set(uint32_t of_rank) {
    by_rank = true;
    rank = of_rank;
  }
  void set(double value_of_last) {
    by_rank = false;
    last = value_of_last;
  }
  bool goes_right(const AxisFeature& of, uint32_t row) const {
    return by_rank ? of.rank[row] > rank : of.x[row] > last;
  }
};

class AxisCuts {
 public:
  void begin(const Bag& bag) {
    counts_ = bag.counts;
    best = AxisCut{};
    total_ = squares_ = 0.0;
    totals_.clear();
    for (const ClassRun& run : *bag.runs) {
      totals_.push_back(run.weight);
      total_ += run.weight;
      squares_ += run.weight * run.weight;
    }
    left_.resize(totals_.size());
  }
  // Starts with all rows on the right of the cut; classes are indices into the runs of the bag, or codes.
  void start() { std::fill(left_.begin(), left_.end(), 0.0); }
  void start_by_code(const std::vector<ClassRun>& runs) {
    const auto most = static_cast<size_t>(runs.back().code) + 1;  // runs are sorted by class
    if (left_.size() < most) {
      left_.resize(most);
      totals_.resize(most);
    }
    for (const ClassRun& run : runs) {
      left_[run.code] = 0.0;
      totals_[run.code] = run.weight;
    }
  }

  // Both sides of a cut that moves to the right. A local object, so that its sums stay in registers.
  class Sweep {
   public:
    explicit Sweep(AxisCuts& cuts)
        : cuts_(cuts), left_of_(cuts.left_.data()), totals_(cuts.totals_.data()), right_squares_(cuts.squares_),
          right_(cuts.total_), beats_(cuts.beats()) {}
    void move(size_t k, double w) {
      const double l = left_of_[k];
      left_squares_ += w * (2.0 * l + w);
      right_squares_ -= w * (2.0 * (totals_[k] - l) - w);
      left_of_[k] = l + w;
      left_ += w;
      right_ -= w;
    }
    // Divides only if products show that the cut may be better: they are exact to about 1e-15, and beats_ allows for
    // more. last : rank or value of the last row on the left
    template <class Last>
    void consider(Last last) {
      if (left_squares_ * right_ + right_squares_ * left_ < beats_ * (left_ * right_)) return;
      if (!(left_ > 0.0 && right_ > 0.0)) return;  // weights that vanish in the sum with the others
      const double value = gini_value(left_squares_, left_, right_squares_, right_);
      if (cuts_.best.feature >= 0 && !(value > cuts_.best.value * kBeats)) return;
      if (cuts_.allowed && !is_allowed()) return;
      cuts_.best.feature = cuts_.feature;
      cuts_.best.value = value;
      cuts_.best.set(last);
      beats_ = cuts_.beats();
    }

   private:
    // For a node of two classes, whose indices are their codes.
    bool is_allowed() const {
      return cuts_.allowed->allow(second_share(left_of_[0], left_of_[1]),
                                  second_share(totals_[0] - left_of_[0], totals_[1] - left_of_[1]));
    }

    AxisCuts& cuts_;
    double* left_of_;
    const double* totals_;
    double left_squares_ = 0.0, left_ = 0.0, right_squares_, right_, beats_;
  };

  AxisCut best;
  int feature = 0;                       // under search
  const AllowedCuts* allowed = nullptr;  // of the feature under search, with monotone constraints

 private:
  // A value that is not sufficient; 0 unless weights are counts, because other products may overflow or vanish.
  double beats() const { return best.feature >= 0 && counts_ ? best.value : 0.0; }

  bool counts_ = false;
  double total_ = 0.0, squares_ = 0.0;
  std::vector<double> totals_, left_;
};

class RankTactic {
 public:
  void begin(const Bag& bag) {
    bag_ = &bag;
    if (rank_.size() < bag.n) {
      rank_.resize(bag.n);
      keys_.resize(bag.n);
    }
    if (bag.counts) return;
    class_.clear();
    for (size_t k = 0; k < bag.runs->size(); ++k)
      class_.insert(class_.end(), (*bag.runs)[k].n, static_cast<uint32_t>(k));
  }

  // Offers the cuts of a feature, which then needs no further search; false if it has no ranks.
  bool settles(const AxisFeature& of, AxisCuts& cuts) {
    if (of.keys)
      along_keys(of.keys, of.facts, cuts);
    else if (of.rank)
      along_ranks(of.rank, cuts);
    else
      return false;
    return true;
  }

 private:
  void along_ranks(const uint32_t* rank, AxisCuts& cuts) {
    const size_t n = bag_->n;
    uint32_t low = UINT32_MAX, high = 0;
    for (size_t i = 0; i < n; ++i) {
      const uint32_t r = rank[bag_->row[i]];
      rank_[i] = r;
      low = std::min(low, r);
      high = std::max(high, r);
    }
    if (low == high) return;
    const size_t cells = (static_cast<size_t>(high - low) + 1) * bag_->runs->size();
    if (cells <= 4 * n)
      by_counting(low, high, cuts);
    else
      by_sorting(cuts);
  }

  // For a node with `counts`.
  void along_keys(const uint64_t* keys, const uint32_t* facts, AxisCuts& cuts) {
    const size_t n = bag_->n;
    if (keys[0] >> 32 == keys[n - 1] >> 32) return;
    cuts.start_by_code(*bag_->runs);
    AxisCuts::Sweep sweep(cuts);
    for (size_t i = 0; i + 1 < n; ++i) {
      const uint64_t key = keys[i];
      const uint32_t fact = facts[static_cast<uint32_t>(key)];
      sweep.move(fact >> 16, static_cast<double>(fact & 0xffff));
      if (key >> 32 != keys[i + 1] >> 32) sweep.consider(static_cast<uint32_t>(key >> 32));
    }
  }

  void by_counting(uint32_t low, uint32_t high, AxisCuts& cuts) {
    const size_t n_classes = bag_->runs->size(), n_ranks = static_cast<size_t>(high - low) + 1;
    cells_.assign(n_ranks * n_classes, 0.0);
    present_.assign(n_ranks, 0);
    size_t i = 0;
    for (size_t k = 0; k < n_classes; ++k)
      for (const size_t end = i + (*bag_->runs)[k].n; i < end; ++i) {
        const size_t r = rank_[i] - low;
        cells_[r * n_classes + k] += bag_->weight[i];
        present_[r] = 1;
      }
    cuts.start();
    AxisCuts::Sweep sweep(cuts);
    for (size_t r = 0; r + 1 < n_ranks; ++r) {
      if (!present_[r]) continue;
      for (size_t k = 0; k < n_classes; ++k)
        if (const double w = cells_[r * n_classes + k]; w > 0.0) sweep.move(k, w);
      sweep.consider(low + static_cast<uint32_t>(r));
    }
  }

  // A key holds the rank, then class and weight if they fit, or the index of the row at the node.
  void by_sorting(AxisCuts& cuts) {
    const size_t n = bag_->n;
    if (bag_->counts) {
      size_t i = 0;
      for (size_t k = 0; k < bag_->runs->size(); ++k)
        for (const size_t end = i + (*bag_->runs)[k].n; i < end; ++i)
          keys_[i] = static_cast<uint64_t>(rank_[i]) << 32 | k << 16 | static_cast<uint64_t>(bag_->weight[i]);
    } else {
      for (size_t i = 0; i < n; ++i) keys_[i] = static_cast<uint64_t>(rank_[i]) << 32 | i;
    }
    sort_.sort(keys_.data(), n);
    cuts.start();
    AxisCuts::Sweep sweep(cuts);
    const bool counts = bag_->counts;
    const uint64_t* keys = keys_.data();
    for (size_t i = 0; i + 1 < n; ++i) {
      const uint64_t key = keys[i];
      if (counts)
        sweep.move(key >> 16 & 0xffff, static_cast<double>(key & 0xffff));
      else
        sweep.move(class_[key & 0xffffffff], bag_->weight[key & 0xffffffff]);
      if (key >> 32 != keys[i + 1] >> 32) sweep.consider(static_cast<uint32_t>(key >> 32));
    }
  }

  const Bag* bag_ = nullptr;
  std::vector<double> cells_;
  std::vector<unsigned char> present_;
  std::vector<uint32_t> rank_, class_;
  std::vector<uint64_t> keys_;
  KeySort sort_;
};

// The plain search sorts the rows by every feature. RankTactic finds the same cut faster.
class AxisSearch {
 public:
  static constexpr std::array kTactics{"ranks", "sorted rows"};

  // without : tactics to leave out, for tests
  explicit AxisSearch(const std::vector<std::string>& without = {}) {
    const auto takes_part = [&](const char* name) {
      return std::find(without.begin(), without.end(), name) == without.end();
    };
    for (const std::string& name : without)
      if (std::find(kTactics.begin(), kTactics.end(), name) == kTactics.end())
        throw std::invalid_argument("the search along axes has no tactic '" + name + "'");
    ranked_ = takes_part(kTactics[0]);
    presorted_ = ranked_ && takes_part(kTactics[1]);
  }

  // Whether the search uses ranks, and rows sorted by every feature.
  bool ranked() const { return ranked_; }
  bool presorted() const { return presorted_; }

  void begin(const Bag& bag) {
    bag_ = &bag;
    cuts_.begin(bag);
    if (ranked_) ranks_.begin(bag);
  }
  // allowed : the permitted cuts of the feature, or nullptr
  void feature(int j, const AxisFeature& of, const AllowedCuts* allowed = nullptr) {
    cuts_.feature = j;
    cuts_.allowed = allowed;
    if (ranked_ && ranks_.settles(of, cuts_)) return;
    search_plainly(of.x);
  }
  const AxisCut& best() const { return cuts_.best; }

 private:
  struct Row {
    double x;
    uint32_t place, k;
  };

  void search_plainly(const double* x) {
    sorted_.clear();
    uint32_t i = 0;
    for (uint32_t k = 0; k < bag_->runs->size(); ++k)
      for (const uint32_t end = i + (*bag_->runs)[k].n; i < end; ++i) sorted_.push_back({x[bag_->row[i]], i, k});
    std::sort(sorted_.begin(), sorted_.end(),
              [](const Row& a, const Row& b) { return a.x != b.x ? a.x < b.x : a.place < b.place; });
    cuts_.start();
    AxisCuts::Sweep sweep(cuts_);
    for (i = 0; i + 1 < sorted_.size(); ++i) {
      sweep.move(sorted_[i].k, bag_->weight[sorted_[i].place]);
      if (sorted_[i].x != sorted_[i + 1].x) sweep.consider(sorted_[i].x);
    }
  }

  bool ranked_, presorted_;
  const Bag* bag_ = nullptr;
  AxisCuts cuts_;
  RankTactic ranks_;
  std::vector<Row> sorted_;
};

}  // namespace oblique
