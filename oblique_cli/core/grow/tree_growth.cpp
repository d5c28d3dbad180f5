#include "grow/tree_growth.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <utility>

#include "rows/exact_moments.hpp"
#include "tree/in_order.hpp"

namespace oblique {

namespace {

std::atomic<std::size_t> copied_whole{std::size_t{1} << 25};

}  // namespace

std::size_t copied_whole_up_to() { return copied_whole; }
void set_copied_whole_up_to(std::size_t bytes) { copied_whole = bytes; }

StoppingRule stopping_of(const Options& options) {
  return {options.number("min_parent"), options.number("max_misrate"), options.integer("max_depth")};
}

// ---- one node
// --------------------------------------------------------------------------------------------------------

WholeNodes::WholeNodes(MemoryRows& rows, const Options& options, const Signs* signs, Team& team, SearchTally& tally)
    : all_(rows), view_(rows), team_(team), tally_(tally), signs_(signs), options_(search_of(options)),
      seed_(static_cast<std::uint64_t>(options.integer("seed"))), search_(make_search(options_)) {}

bool WholeNodes::take(const Place& place, std::uint64_t path) {
  if (place.last - place.first < 2) return false;
  rows_ = &view_.node(place.first, place.last, place.block.get());
  if (rows_->n_classes < 2) return false;
  path_ = path;
  bounds_ = place.bounds;
  spread_.measure(*rows_);
  search_->begin(*rows_);
  return true;
}

void WholeNodes::end_search(bool for_good) {
  counts_ += search_->counts;
  if (for_good) search_.reset();
}

bool WholeNodes::divide(const Place& place, Split& split, Place& left, Place& right) {
  const std::size_t n = rows_->n;
  projection_.resize(n);
  constexpr std::size_t stretch = 4096;
  if (shares_work(team_, n * split.normal.size())) {
    // The rows of a node lie anywhere in memory, so reading them takes most of the time.
    team_.share_with((n + stretch - 1) / stretch, Team::Meanwhile::kWait,
                     [&] { return std::make_unique<PredictedRows>(view_.predicted()); },
                     [&](std::size_t i, const std::unique_ptr<PredictedRows>& rows) {
                       rows->project(split.normal.data(), i * stretch, std::min((i + 1) * stretch, n),
                                     projection_.data());
                     });
  } else {
    view_.predicted().project(split.normal.data(), projection_.data());
  }
  if (!split.is_final && !settle(projection_.data(), n, split.threshold)) return false;
  goes_left_.resize(n);
  std::size_t n_left = 0;
  for (std::size_t i = 0; i < n; ++i) {
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

std::unique_ptr<TreeSplitter> tree_splitter(MemoryRows& rows, const Family& family, const Options& options,
                                            const Finishing& finishing, const Signs* signs, Team& team,
                                            SearchTally& tally) {
  return std::unique_ptr<TreeSplitter>(
      new TreeSplitter{WholeNodes(rows, options, signs, team, tally), FinishedSplits(family, options, finishing)});
}

// ---- a tree
// ----------------------------------------------------------------------------------------------------------

namespace {

// A tree under construction.
struct TreeAlone {
  GrownTree tree;

  // The decrease in impurity by the split of a node, weighted over all rows.
  double worth(std::int32_t node) const {
    const auto counts = tree.counts.begin() + node * static_cast<std::ptrdiff_t>(tree.n_classes);
    const double weight = std::accumulate(counts, counts + static_cast<std::ptrdiff_t>(tree.n_classes), 0.0);
    return weight * tree.gains[static_cast<std::size_t>(node)];
  }

  std::int32_t add(const MemoryRows& rows, const MemoryRows::Place& place) {
    tree.add_facts(place.counts.data(), static_cast<std::int64_t>(rows.size(place)));
    return tree.add_node();
  }
  template <class Open>
  void leaf(const Open&, const MemoryRows&) {}
  template <class Open>
  void split(const Open& open, const MemoryRows&, const WholeNodes& sampler, const Split& division, const Open& left,
             const Open& right) {
    const std::size_t node = static_cast<std::size_t>(open.node);
    tree.set_plane(node, division.normal.data(), division.threshold);
    tree.set_split_facts(node, division.gain, sampler.level_scores().data());
    tree.set_children(node, left.node, right.node);
  }
};

// Rows of the largest node whose values are copied. Larger nodes are the root and a few more, so reading their rows
// from anywhere in the table takes little of the time. The copies that exist at once, one per thread, take a fifth of
// the table in double precision. The moments of the larger nodes are exact sums over stretches of rows.
std::size_t most_copied(const Training& data, const Family& family, const Options& options, const Finishing& finishing,
                        const Team& team) {
  const std::size_t p = data.levels.count.size();
  if (data.n * p * sizeof(double) <= copied_whole_up_to() || finishing.reads_columns() || data.signs) return data.n;
  if (!family.make(options)->reads_stretches()) return data.n;
  return std::max({data.n / (5 * static_cast<std::size_t>(team.size())), exact_sums_above(), p});
}

}  // namespace

GrownTree grow_tree(const Training& data, const Family& family, const Options& options, Team& team,
                    SearchTally& tally) {
  const Finishing finishing = finishing_of(options);
  MemoryRows rows(data.x, data.y, data.weights, data.n, data.n_classes, data.levels,
                  family.adds_up || data.weights || finishing.reads_columns(),
                  most_copied(data, family, options, finishing, team));
  TreeAlone growth;
  growth.tree.n_features = data.levels.count.size();
  growth.tree.n_classes = data.n_classes;
  growth.tree.n_scores = data.levels.width;
  const auto make = [&] { return tree_splitter(rows, family, options, finishing, data.signs, team, tally); };
  Grower grower(rows, stopping_of(options), growth, make, &team);
  if (const std::int64_t most = options.integer("max_leaf_nodes"); most > 0) {
    const double slack = options.flag("strict_ties") ? 0.0 : kSameGain;
    std::vector<unsigned char> is_split(static_cast<std::size_t>(2 * data.n), 0);
    for (const std::int32_t node : grower.grow_best_first({rows.root(team)}, static_cast<std::size_t>(most), slack))
      is_split[static_cast<std::size_t>(node)] = 1;
    return in_order(growth.tree, [&](std::size_t node) { return is_split[node] != 0; });
  }
  grower.grow({rows.root(team)});
  return team.size() > 1 ? in_order(growth.tree) : std::move(growth.tree);
}

}  // namespace oblique
