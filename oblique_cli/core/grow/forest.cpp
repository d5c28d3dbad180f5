#include "grow/forest.hpp"

#include "grow/histogram_grower.hpp"
#include "grow/leaf_ridge.hpp"
#include "tree/tree_walk.hpp"

namespace oblique {

namespace {

// Rows of a block, which share a pass over a tree: many, since a tree may exceed the near caches; fewer if copied.
constexpr size_t kFewest = 256, kMost = 32768, kMostRotated = 4096;

}  // namespace

uint64_t seed_of_tree(uint64_t seed, size_t tree) { return Stream(seed, 0, tree).next(); }

// make() returns the grower of a thread: (seed, number) -> tree
template <class Make>
void Forest::add_trees(size_t more, int n_threads, Make make) {
  const size_t first = trees.size();
  trees.resize(first + more);
  finished = first;
  try {
    on_threads(more, n_threads, [&]() {
      return [&, grown = make()](size_t i) {
        const size_t number = first_number + first + i;
        trees[first + i] = grown(seed_of_tree(seed, number), number);
        ++finished;
      };
    });
  } catch (...) {
    trees.resize(first);
    throw;
  }
}

void Forest::grow(TrainingRows& data, const ForestOptions& options, size_t more, int n_threads) {
  add_trees(more, n_threads, [&] {
    return [grower = std::make_unique<ForestTreeGrower>(data, options)](uint64_t of_tree, size_t number) {
      return grower->grow(of_tree, number);
    };
  });
}

void Forest::grow_numbers(TrainingRows& data, const ForestOptions& options, size_t max_bins, double min_leaf,
                          size_t more, int n_threads) {
  const double* mass = data.weights.empty() ? nullptr : data.weights.data();
  add_trees(more, n_threads, [&] {
    auto made = std::make_unique<HistogramGrower>(data, mass, options, max_bins, data.x.p);
    made->require(min_leaf);
    return [grower = std::move(made)](uint64_t of_tree, size_t number) { return grower->grow_alone(of_tree, number); };
  });
}

void Forest::vote(const double* x, size_t n, bool shares, int n_threads, double* votes) const {
  blocks(x, n, n_threads,
         [&](size_t t, size_t i, int32_t node) { add_vote(trees[t], node, shares, votes + i * n_classes); });
}

std::vector<uint32_t> Forest::draws(size_t n, size_t more, const RowDraw& rows) const {
  std::vector<uint32_t> out, of_tree;
  for (size_t t = trees.size(); t < trees.size() + more; ++t) {
    rows.draw(seed_of_tree(seed, first_number + t), n, of_tree);
    out.insert(out.end(), of_tree.begin(), of_tree.end());
  }
  return out;
}

void Forest::sum(const double* x, size_t n, const double* values, size_t width, int n_threads, double* sums) const {
  const std::vector<size_t> first = first_leaves();
  blocks(x, n, n_threads, [&](size_t t, size_t i, int32_t node) {
    const size_t leaf = first[t] + trees[t].leaf_number(static_cast<size_t>(node));
    for (size_t k = 0; k < width; ++k) sums[i * width + k] += values[leaf * width + k];
  });
}

void Forest::sum_models(const double* x, size_t n, const double* models, int n_threads, double* sums) const {
  const std::vector<size_t> first = first_leaves();
  blocks(x, n, n_threads, [&](size_t t, size_t i, int32_t node) {
    const size_t leaf = first[t] + trees[t].leaf_number(static_cast<size_t>(node));
    sums[i] += said_by(models + leaf * (n_features + 3), x + i * n_features, n_features);
  });
}

// Index of the first leaf of each tree among all leaves.
std::vector<size_t> Forest::first_leaves() const {
  std::vector<size_t> first(1, 0);
  for (const ForestTree& tree : trees) first.push_back(first.back() + tree.n_leaves());
  return first;
}

void Forest::apply(const double* x, size_t n, int n_threads, int32_t* leaves) const {
  blocks(x, n, n_threads, [&](size_t t, size_t i, int32_t node) { leaves[i * trees.size() + t] = node; });
}

void Forest::vote_out_of_bag(const double* x, size_t n, const RowDraw& rows, bool shares, int n_threads,
                             double* votes) const {
  std::vector<std::vector<bool>> drawn(trees.size());
  on_threads(trees.size(), n_threads, [&]() {
    return [&, draws = std::vector<uint32_t>()](size_t t) mutable {
      rows.draw(seed_of_tree(seed, t), n, draws);
      drawn[t].resize(n);
      for (size_t i = 0; i < n; ++i) drawn[t][i] = draws[i] > 0;
    };
  });
  blocks(x, n, n_threads, [&](size_t t, size_t i, int32_t node) {
    if (!drawn[t][i]) add_vote(trees[t], node, shares, votes + i * n_classes);
  });
}

// use(tree number, row number, leaf) for every row and tree, the trees of a row in order.
template <class Use>
void Forest::blocks(const double* x, size_t n, int n_threads, Use use) const {
  const bool rotates = !trees.empty() && trees[0].rotation.rotates();
  const size_t most = rotates ? kMostRotated : kMost;
  // About two blocks per thread, so that no thread works long while the others wait.
  const size_t n_blocks = n_threads > 1 ? 2 * static_cast<size_t>(n_threads) : 1;
  const size_t size = std::clamp(n / n_blocks, kFewest, most);
  on_threads((n + size - 1) / size, n_threads, [&]() {
    return [&, rotated = std::vector<double>(), walk = TreeWalk(),
            leaves = std::vector<int32_t>(size)](size_t block) mutable {
      const size_t from = block * size, count = std::min(n - from, size);
      for (size_t t = 0; t < trees.size(); ++t) {
        const ForestTree& tree = trees[t];
        const double* rows = x + from * n_features;
        size_t stride = n_features;
        if (tree.rotation.rotates()) {
          stride = tree.rotation.size();
          rotated.resize(count * stride);
          for (size_t i = 0; i < count; ++i)
            for (size_t q = 0; q < stride; ++q)
              rotated[i * stride + q] = tree.rotation.of_row(q, rows + i * n_features);
          rows = rotated.data();
        }
        checkpoint(count * 16);
        walk.leaves_of(tree, rows, count, stride, leaves.data());
        for (size_t i = 0; i < count; ++i) use(t, from + i, leaves[i]);
      }
    };
  });
}

void Forest::add_vote(const ForestTree& tree, int32_t node, bool shares, double* votes) const {
  const size_t leaf = tree.leaf_number(static_cast<size_t>(node));
  if (!shares) {
    votes[tree.label[leaf]] += 1.0;
    return;
  }
  const uint32_t first = tree.leaf_start[leaf], last = tree.leaf_start[leaf + 1];
  if (last - first == 1) {
    votes[tree.leaf_class[first]] += 1.0;
    return;
  }
  double total = 0.0;
  for (uint32_t i = first; i < last; ++i) total += tree.leaf_weight[i];
  for (uint32_t i = first; i < last; ++i) votes[tree.leaf_class[i]] += tree.leaf_weight[i] / total;
}

}  // namespace oblique
