// Growth of whole trees in compiled code, for every registered family.
#pragma once

#include "grow/finish.hpp"
#include "grow/grower.hpp"
#include "rows/exact_moments.hpp"
#include "rows/memory_rows.hpp"
#include "split/candidates.hpp"
#include "tree/plane_tree.hpp"

namespace oblique {

// Size in bytes up to which the whole table is copied. Tests lower it to cover the reading of single rows.
inline std::atomic<size_t> copied_whole_up_to{size_t{1} << 25};

// The caller's training rows, see WorkingRows.
struct Training {
  InputRows x;
  const int32_t* y;
  const double* weights;
  size_t n, n_classes;
  const Levels& levels;
  const Signs* signs = nullptr;  // monotone signs of the features, for two classes
};

// Counts the work of all searches of a tree.
class SearchTally {
 public:
  void add(const SearchCounts& counts) {
    const std::lock_guard lock(guard_);
    all_ += counts;
  }
  const SearchCounts& all() const { return all_; }

 private:
  std::mutex guard_;
  SearchCounts all_;
};

// A sampler that selects all rows and all features of every node.
class WholeNodes {
 public:
  using Place = MemoryRows::Place;
  using Found = Split;

  WholeNodes(MemoryRows& rows, const Options& options, const Signs* signs, Team& team, SearchTally& tally)
      : all_(rows), view_(rows), team_(team), tally_(tally), signs_(signs), options_(search_of(options)),
        seed_(static_cast<uint64_t>(options.integer("seed"))), search_(make_search(options_)) {}

  ~WholeNodes() { tally_.add(counts_); }
  WholeNodes(const WholeNodes&) = delete;
  WholeNodes& operator=(const WholeNodes&) = delete;

  bool take(const Place& place, uint64_t path) {
    if (place.last - place.first < 2) return false;
    rows_ = &view_.node(place.first, place.last, place.block.get());
    if (rows_->n_classes < 2) return false;
    path_ = path;
    bounds_ = place.bounds;
    spread_.measure(*rows_);
    search_->begin(*rows_);
    return true;
  }

  // The selected node, for which the search has begun.
  Node node() {
    return {*rows_, spread_, view_.predicted(), *search_, options_, seed_, path_, &team_, signs_, bounds_};
  }

  void end_search(bool for_good) {
    counts_ += search_->counts;
    if (for_good) search_.reset();
  }

  // Sends the rows of the node to their sides by the arithmetic of prediction, in which a threshold that is not final
  // first moves to the middle of its gap. False if a side is empty or a monotone constraint would be violated.
  bool divide(const Place& place, Split& split, Place& left, Place& right) {
    const size_t n = rows_->n;
    projection_.resize(n);
    constexpr size_t stretch = 4096;
    if (shares_work(team_, n * split.normal.size())) {
      // The rows of a node lie anywhere in memory, so reading them takes most of the time.
      team_.share_with((n + stretch - 1) / stretch, Team::Meanwhile::kWait,
                       [&] { return std::make_unique<PredictedRows>(view_.predicted()); },
                       [&](size_t i, const std::unique_ptr<PredictedRows>& rows) {
                         rows->project(split.normal.data(), i * stretch, std::min((i + 1) * stretch, n),
                                       projection_.data());
                       });
    } else {
      view_.predicted().project(split.normal.data(), projection_.data());
    }
    if (!split.is_final && !settle(projection_.data(), n, split.threshold)) return false;
    goes_left_.resize(n);
    size_t n_left = 0;
    for (size_t i = 0; i < n; ++i) {
      goes_left_[i] = projection_[i] <= split.threshold;
      n_left += goes_left_[i];
    }
    if (n_left == 0 || n_left == n) return false;
    all_.divide(place, goes_left_.data(), team_, room_, left, right);
    if (!signs_) return true;
    const AllowedCuts allowed{bounds_, way_across(*signs_, split.normal.data())};
    const double of_left = second_share(left.counts[0], left.counts[1]);
    const double of_right = second_share(right.counts[0], right.counts[1]);
    allowed.hand_down(of_left, of_right, left.bounds, right.bounds);
    return allowed.allow(of_left, of_right);
  }

  bool keeps_order() const { return signs_ != nullptr; }
  const Vector& level_scores() const { return view_.level_scores(); }

 private:
  MemoryRows& all_;
  NodeView view_;
  Team& team_;
  SearchTally& tally_;
  const Signs* const signs_;
  const SearchOptions options_;
  const uint64_t seed_;
  std::unique_ptr<NodeSearch> search_;
  const NodeRows* rows_ = nullptr;
  uint64_t path_ = kRootPath;
  Bounds bounds_;
  Spread spread_;
  Vector projection_;
  std::vector<unsigned char> goes_left_;
  std::vector<std::byte> room_;
  SearchCounts counts_;
};

class FinishedSplits {
 public:
  FinishedSplits(const Family& family, const Options& options, const Finishing& finishing)
      : heuristic_(family.make(options)), finish_(search_of(options), finishing) {}

  bool find(WholeNodes& nodes, Split& split, bool& /* given_up */) {
    const Node node = nodes.node();
    split = Split{};
    if (nodes.keeps_order()) {
      candidates_.clear();
      heuristic_->propose(node, candidates_);
      return ordered_.find(node, candidates_, split);
    }
    return heuristic_->split(node, split) && finish_.apply(node, *heuristic_, split);
  }
  void end_search(bool for_good) {
    if (for_good) heuristic_.reset();
  }

 private:
  std::unique_ptr<Heuristic> heuristic_;
  Finish finish_;
  Candidates candidates_;
  MonotoneSearch ordered_;
};

using TreeSplitter = SplitterOf<WholeNodes, FinishedSplits>;
inline std::unique_ptr<TreeSplitter> tree_splitter(MemoryRows& rows, const Family& family, const Options& options,
                                                   const Finishing& finishing, const Signs* signs, Team& team,
                                                   SearchTally& tally) {
  return std::unique_ptr<TreeSplitter>(
      new TreeSplitter{WholeNodes(rows, options, signs, team, tally), FinishedSplits(family, options, finishing)});
}

struct TreeAlone {
  GrownTree tree;

  // The decrease in impurity by the split of a node, weighted over all rows.
  double worth(int32_t node) const {
    const auto counts = tree.counts.begin() + node * static_cast<ptrdiff_t>(tree.n_classes);
    const double weight = std::accumulate(counts, counts + static_cast<ptrdiff_t>(tree.n_classes), 0.0);
    return weight * tree.gains[node];
  }

  int32_t add(const MemoryRows& rows, const MemoryRows::Place& place) {
    tree.add_facts(place.counts.data(), static_cast<int64_t>(rows.size(place)));
    return tree.add_node();
  }
  template <class Open>
  void leaf(const Open&, const MemoryRows&) {}
  template <class Open>
  void split(const Open& open, const MemoryRows&, const WholeNodes& sampler, const Split& division, const Open& left,
             const Open& right) {
    const size_t node = open.node;
    tree.set_plane(node, division.normal.data(), division.threshold);
    tree.set_split_facts(node, division.gain, sampler.level_scores().data());
    tree.set_children(node, left.node, right.node);
  }
};

// Rows of the largest node whose values are copied. Larger nodes are the root and a few more, so reading their rows
// from anywhere in the table takes little of the time. The copies that exist at once, one per thread, take a fifth of
// the table in double precision. The moments of the larger nodes are exact sums over stretches of rows.
inline size_t most_copied(const Training& data, const Family& family, const Options& options,
                          const Finishing& finishing, const Team& team) {
  const size_t p = data.levels.count.size();
  if (data.n * p * sizeof(double) <= copied_whole_up_to || finishing.reads_columns() || data.signs) return data.n;
  if (!family.make(options)->reads_stretches()) return data.n;
  return std::max({data.n / (5 * static_cast<size_t>(team.size())), exact_sums_above.load(), p});
}

// Grows one tree on the threads of a team: separate subtrees, and the directions of a large node. Every array of the
// tree is the same for any number of threads.
// searched : incremented by the work of all searches
inline GrownTree grow_tree(const Training& data, const Family& family, const Options& options, Team& team,
                           SearchTally& tally) {
  const Finishing finishing{options.flag("polish"), options.integer("max_terms"), options.number("split_cost")};
  MemoryRows rows(data.x, data.y, data.weights, data.n, data.n_classes, data.levels,
                  family.adds_up || data.weights || finishing.reads_columns(),
                  most_copied(data, family, options, finishing, team));
  TreeAlone growth{GrownTree(data.levels.count.size(), data.n_classes, data.levels.width)};
  const auto make = [&] { return tree_splitter(rows, family, options, finishing, data.signs, team, tally); };
  const StoppingRule stopping{options.number("min_parent"), options.number("epsilon"), options.integer("max_depth")};
  Grower grower(rows, stopping, growth, make, &team);
  if (const int64_t most = options.integer("max_leaf_nodes"); most > 0) {
    const double slack = options.flag("strict_ties") ? 0.0 : kSameGain;
    std::vector<unsigned char> is_split(static_cast<size_t>(2 * data.n), 0);
    for (const int32_t node : grower.grow_best_first({rows.root(team)}, static_cast<size_t>(most), slack))
      is_split[node] = 1;
    return in_order(growth.tree, [&](size_t node) { return is_split[node] != 0; });
  }
  grower.grow({rows.root(team)});
  return team.size() > 1 ? in_order(growth.tree) : std::move(growth.tree);
}

}  // namespace oblique
