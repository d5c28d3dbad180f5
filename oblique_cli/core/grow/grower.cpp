#include "grow/grower.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "common/random.hpp"
#include "rows/exact_moments.hpp"

namespace oblique {

namespace {

std::atomic<std::size_t> copied_whole{std::size_t{1} << 25};

// Gives freed memory back to the system. The allocator of glibc keeps some that was as large as blocks are now.
void trim_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace

std::size_t copied_whole_up_to() { return copied_whole; }
void set_copied_whole_up_to(std::size_t bytes) { copied_whole = bytes; }

StoppingRule stopping_of(const Options& options) {
  return {options.number("min_parent"), options.number("max_misrate"), options.integer("max_depth")};
}

// ---- one node
// --------------------------------------------------------------------------------------------------------

Splitter::Splitter(const WorkingRows& rows, const Family& family, const Options& options, const Finishing& finishing,
                   Team& team)
    : view_(rows), team_(team), options_(search_of(options)),
      seed_(static_cast<std::uint64_t>(options.integer("seed"))), heuristic_(family.make(options)),
      finish_(options_, finishing), search_(make_search(options_)) {}

bool Splitter::split(std::size_t first, std::size_t last, const RowBlock* block, std::uint64_t path, Split& out) {
  if (last - first < 2) return false;
  const NodeRows& rows = view_.node(first, last, block);
  if (rows.n_classes < 2) return false;
  spread_.measure(rows);
  search_->begin(rows);
  const Node node{rows, spread_, view_.predicted(), *search_, options_, seed_, path, &team_};
  const bool found = heuristic_->split(node, out);
  if (found) finish_.apply(node, out);
  counts_ += search_->counts;
  if (rows.table) {
    heuristic_.reset();
    search_.reset();
  }
  return found && divides(node, out);
}

// Sends the rows of the node to their sides, by the arithmetic of prediction; false if a side stays empty. A threshold
// that is not given is first moved to the middle of its gap, measured in that arithmetic.
bool Splitter::divides(const Node& node, Split& split) {
  const std::size_t n = node.rows.n;
  projection_.resize(n);
  constexpr std::size_t stretch = 4096;
  if (node.is_shared(node.n_features())) {
    // The rows of a node are found by chance anywhere in memory, which is what takes the time.
    team_.share_with((n + stretch - 1) / stretch, Team::Meanwhile::kWait,
                     [&] { return std::make_unique<PredictedRows>(node.predicted); },
                     [&](std::size_t i, const std::unique_ptr<PredictedRows>& rows) {
                       rows->project(split.normal.data(), i * stretch, std::min((i + 1) * stretch, n),
                                     projection_.data());
                     });
  } else {
    node.predicted.project(split.normal.data(), projection_.data());
  }
  if (!split.given && !settle(projection_.data(), n, split.threshold)) return false;
  goes_left_.resize(n);
  std::size_t n_left = 0;
  for (std::size_t i = 0; i < n; ++i) {
    goes_left_[i] = projection_[i] <= split.threshold;
    n_left += goes_left_[i];
  }
  return n_left > 0 && n_left < n;
}

// ---- a tree
// ----------------------------------------------------------------------------------------------------------

namespace {

// The same tree with its nodes numbered in the order in which one thread finds them: pairs of children as their parents
// are visited, left first.
GrownTree in_order(const GrownTree& found) {
  GrownTree out;
  out.n_features = found.n_features;
  out.n_classes = found.n_classes;
  out.n_scores = found.n_scores;
  const auto copy = [&](std::size_t node) {
    const std::int32_t id = out.add_node();
    out.add_facts(found.counts.data() + node * found.n_classes, found.n_rows[node]);
    const std::size_t to = static_cast<std::size_t>(id);
    out.set_plane(to, found.plane(node), found.thresholds[node]);
    out.set_split_facts(to, found.gains[node], found.level_scores.data() + node * found.n_scores);
    return id;
  };
  struct Pair {
    std::size_t old;
    std::int32_t id;
  };
  std::vector<Pair> stack{{0, copy(0)}};
  while (!stack.empty()) {
    const Pair here = stack.back();
    stack.pop_back();
    if (found.is_leaf(here.old)) continue;
    const std::size_t left = found.left_of(here.old), right = found.right_of(here.old);
    const std::int32_t left_id = copy(left), right_id = copy(right);
    out.set_children(static_cast<std::size_t>(here.id), left_id, right_id);
    stack.push_back({right, right_id});
    stack.push_back({left, left_id});
  }
  return out;
}

}  // namespace

Grower::Grower(const Training& data, const Family& family, const Options& options, Team& team)
    : data_(data), family_(family), options_(options), stopping_(stopping_of(options)),
      finishing_(finishing_of(options)), team_(team),
      rows_(data.x, data.y, data.weights, data.n, data.levels, family.adds_up || data.weights || finishing_.polish),
      most_copied_(most_copied()) {
  tree_.n_features = data.levels.count.size();
  tree_.n_classes = data.n_classes;
  tree_.n_scores = data.levels.width;
  if (most_copied_ < data.n) trim_memory();
}

GrownTree Grower::grow() {
  // First of all, since weights are added up in the order that rows are copied in.
  std::shared_ptr<RowBlock> block = data_.n <= most_copied_ ? rows_.copy(0, data_.n, team_) : nullptr;
  std::vector<double> counts = counts_of(0, data_.n);
  grow_below({add_node(counts, data_.n), 0, data_.n, 0, kRootPath, std::move(counts), std::move(block)});
  for (const std::unique_ptr<Splitter>& splitter : splitters_) searched_ += splitter->counts();
  return team_.size() > 1 ? in_order(tree_) : std::move(tree_);
}

void Grower::grow_below(Open root) {
  constexpr std::size_t kApart = 512;  // rows that are worth a thread of their own
  std::unique_ptr<Splitter> splitter = take_splitter();
  const auto size = [](const Open& node) { return node.last - node.first; };
  grow_down(
      std::move(root),
      [&](Open& open, Open& left, Open& right) {
        const bool is_split = visit(open, *splitter, left, right);
        if (size(open) > most_copied_) trim_memory();
        return is_split;
      },
      [&](Open& left, Open& right) {
        if (team_.size() < 2 || std::min(size(left), size(right)) < kApart) return false;
        give_back(std::move(splitter));
        team_.share(2, Team::Meanwhile::kHelp,
                    [&](std::size_t side) { grow_below(std::move(side == 0 ? left : right)); });
        splitter = take_splitter();
        return true;
      });
  give_back(std::move(splitter));
}

bool Grower::is_leaf(const Open& open) const {
  double total = 0.0, largest = 0.0;
  for (const double count : open.counts) {
    total += count;
    largest = std::max(largest, count);
  }
  return stopping_.is_leaf(total, (total - largest) / total, open.depth);
}

// Splits a node and its rows; false if the node is a leaf.
bool Grower::visit(Open& open, Splitter& kept, Open& left, Open& right) {
  if (is_leaf(open)) return false;
  if (!open.block && open.last - open.first <= most_copied_) open.block = rows_.copy(open.first, open.last, team_);
  // The buffers of a node whose rows are too many to be copied must not outlast it.
  std::unique_ptr<Splitter> once;
  if (!open.block) once = std::make_unique<Splitter>(rows_, family_, options_, finishing_, team_);
  Splitter& splitter = once ? *once : kept;
  Split split;
  const bool found = splitter.split(open.first, open.last, open.block.get(), open.path, split);
  if (once) {
    const std::lock_guard lock(guard_);
    searched_ += once->counts();
  }
  if (!found) return false;
  const std::vector<unsigned char>& goes_left = splitter.goes_left();
  const std::size_t size = open.last - open.first;
  const std::size_t middle =
      open.first +
      static_cast<std::size_t>(std::count(goes_left.begin(), goes_left.begin() + static_cast<std::ptrdiff_t>(size), 1));
  rows_.partition(open.first, open.last, goes_left.data(), open.block.get(), team_, splitter.room());
  std::vector<double> left_counts = counts_of(open.first, middle), right_counts = counts_of(middle, open.last);
  const std::lock_guard lock(guard_);
  const std::size_t node = static_cast<std::size_t>(open.node);
  const Vector& scores = splitter.level_scores();
  tree_.set_plane(node, split.normal.data(), split.threshold);
  tree_.set_split_facts(node, split.gain, scores.data());
  left = {add_node(left_counts, middle - open.first),
          open.first,
          middle,
          open.depth + 1,
          child_path(open.path, false),
          std::move(left_counts),
          open.block};
  right = {add_node(right_counts, open.last - middle),
           middle,
           open.last,
           open.depth + 1,
           child_path(open.path, true),
           std::move(right_counts),
           open.block};
  tree_.set_children(node, left.node, right.node);
  return true;
}

// Rows of the largest node whose values are copied. Larger ones are the root and few more, so that reading their rows
// from anywhere in the table takes little of the time; and the copies that exist at once, one a thread, take a fifth
// of the table in double precision. Moments of these nodes are exact sums, which are added up by stretches.
std::size_t Grower::most_copied() const {
  const std::size_t p = data_.levels.count.size();
  if (data_.n * p * sizeof(double) <= copied_whole_up_to() || finishing_.polish) return data_.n;
  if (!family_.make(options_)->reads_stretches()) return data_.n;
  return std::max({data_.n / (5 * static_cast<std::size_t>(team_.size())), exact_sums_above(), p});
}

std::vector<double> Grower::counts_of(std::size_t first, std::size_t last) const {
  std::vector<double> counts(data_.n_classes, 0.0);
  rows_.for_each_class(first, last, [&](std::int32_t code, std::size_t begin, std::size_t end) {
    const double* weights = rows_.weights();
    counts[static_cast<std::size_t>(code)] =
        weights ? std::accumulate(weights + begin, weights + end, 0.0) : static_cast<double>(end - begin);
  });
  return counts;
}

std::int32_t Grower::add_node(const std::vector<double>& counts, std::size_t n_rows) {
  tree_.add_facts(counts.data(), static_cast<std::int64_t>(n_rows));
  return tree_.add_node();
}

std::unique_ptr<Splitter> Grower::take_splitter() {
  {
    const std::lock_guard lock(guard_);
    if (!splitters_.empty()) {
      std::unique_ptr<Splitter> splitter = std::move(splitters_.back());
      splitters_.pop_back();
      return splitter;
    }
  }
  return std::make_unique<Splitter>(rows_, family_, options_, finishing_, team_);
}

void Grower::give_back(std::unique_ptr<Splitter> splitter) {
  const std::lock_guard lock(guard_);
  splitters_.push_back(std::move(splitter));
}

}  // namespace oblique
