#include "growth/grower.hpp"

#include <algorithm>
#include <utility>

#include "common/random.hpp"

namespace oblique {

bool StoppingRule::holds(const double* counts, std::size_t n_classes, std::int64_t depth) const {
  if (max_depth >= 0 && depth >= max_depth) return true;
  double total = 0.0, largest = 0.0;
  for (std::size_t k = 0; k < n_classes; ++k) {
    total += counts[k];
    largest = std::max(largest, counts[k]);
  }
  return !(total > min_parent && (total - largest) / total > max_misrate);
}

StoppingRule stopping_of(const Options& options) {
  return {options.number("min_parent"), options.number("max_misrate"), options.integer("max_depth")};
}

// ---- one node
// --------------------------------------------------------------------------------------------------------

Splitter::Splitter(const Training& data, const Family& family, const Options& options, const Finishing& finishing)
    : rows_(data.x, data.y, data.weights, data.n, data.levels, family.adds_up || data.weights || finishing.polish),
      options_(search_of(options)), seed_(static_cast<std::uint64_t>(options.integer("seed"))),
      heuristic_(family.make(options)), finish_(options_, finishing), search_(make_search(options_)) {}

bool Splitter::split(std::size_t first, std::size_t last, std::uint64_t path, Split& out) {
  if (last - first < 2) return false;
  const NodeRows& rows = rows_.node(first, last);
  if (rows.n_classes < 2) return false;
  spread_.measure(rows);
  search_->begin(rows);
  const Node node{rows, spread_, rows_.predicted(), *search_, options_, seed_, path};
  const bool found = heuristic_->split(node, out);
  if (found) finish_.apply(node, out);
  counts_ += search_->counts;
  return found && divides(rows.n, out);
}

// Sends the rows of the node to their sides, by the arithmetic of prediction; false if a side stays empty. A threshold
// that is not given is first moved to the middle of its gap, measured in that arithmetic.
bool Splitter::divides(std::size_t n, Split& split) {
  projection_.resize(n);
  rows_.predicted().project(split.normal.data(), projection_.data());
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

Grower::Grower(const Training& data, const Family& family, const Options& options)
    : data_(data), stopping_(stopping_of(options)), splitter_(data, family, options, finishing_of(options)) {
  tree_.n_features = data.levels.count.size();
  tree_.n_classes = data.n_classes;
  tree_.n_scores = data.levels.width;
}

TreeArrays Grower::grow() {
  std::vector<Open> stack{{add_node(0, data_.n), 0, data_.n, 0, kRootPath}};
  while (!stack.empty()) {
    const Open open = stack.back();
    stack.pop_back();
    std::size_t middle = 0;
    if (!visit(open, middle)) continue;
    const std::int32_t left = add_node(open.first, middle), right = add_node(middle, open.last);
    tree_.left[open.node] = left;
    tree_.right[open.node] = right;
    stack.push_back({right, middle, open.last, open.depth + 1, child_path(open.path, true)});
    stack.push_back({left, open.first, middle, open.depth + 1, child_path(open.path, false)});
  }
  tree_.search = splitter_.counts();
  return std::move(tree_);
}

std::int32_t Grower::add_node(std::size_t first, std::size_t last) {
  const std::int32_t node = tree_.add();
  double* counts = tree_.counts.data() + static_cast<std::size_t>(node) * data_.n_classes;
  for (std::size_t i = first; i < last; ++i) counts[splitter_.rows().code(i)] += splitter_.rows().weight(i);
  tree_.n_rows[static_cast<std::size_t>(node)] = static_cast<std::int64_t>(last - first);
  return node;
}

// Splits a node and its rows, of which those before `middle` go left; false if the node is a leaf.
bool Grower::visit(const Open& open, std::size_t& middle) {
  const std::size_t node = static_cast<std::size_t>(open.node);
  if (stopping_.holds(tree_.counts.data() + node * data_.n_classes, data_.n_classes, open.depth)) return false;
  if (!splitter_.split(open.first, open.last, open.path, split_)) return false;
  const std::vector<unsigned char>& goes_left = splitter_.goes_left();
  middle = open.first + static_cast<std::size_t>(std::count(goes_left.begin(), goes_left.end(), 1));
  const Vector& scores = splitter_.rows().level_scores();
  const auto place = [&](std::size_t width) { return static_cast<std::ptrdiff_t>(node * width); };
  std::copy(split_.normal.begin(), split_.normal.end(), tree_.weights.begin() + place(tree_.n_features));
  std::copy(scores.begin(), scores.end(), tree_.level_scores.begin() + place(tree_.n_scores));
  tree_.thresholds[node] = split_.threshold;
  tree_.gains[node] = split_.gain;
  splitter_.rows().partition(open.first, open.last, goes_left.data());
  return true;
}

}  // namespace oblique
