// Forests: trees grown and asked on several threads. Tree number t depends on the data, the seed and t alone, so a forest
// does not depend on how many threads grow it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "forest/forest_grower.hpp"
#include "forest/forest_tree.hpp"
#include "common/random.hpp"
#include "forest/rotation.hpp"

namespace oblique {

inline std::uint64_t seed_of_tree(std::uint64_t seed, std::size_t tree) { return Stream(seed, 0, tree).next(); }

// Calls work(i) for i from 0 to n - 1 on several threads, in no particular order; make() gives each thread its worker.
// The first exception is thrown once all have stopped.
template <class Make>
void on_threads(std::size_t n, int n_threads, Make make) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex guard;
  const auto run = [&]() {
    try {
      auto work = make();
      for (std::size_t i; (i = next.fetch_add(1)) < n;) work(i);
    } catch (...) {
      const std::lock_guard lock(guard);
      if (!failure) failure = std::current_exception();
      next = n;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < n_threads && static_cast<std::size_t>(t) < n; ++t) threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

class Forest {
 public:
  std::size_t n_features = 0, n_classes = 0;
  std::uint64_t seed = 0;
  std::vector<ForestTree> trees;

  // Adds trees. Tree number t depends on the seed and on t alone.
  void grow(TrainingRows& data, const ForestOptions& options, std::size_t more, int n_threads) {
    const std::size_t first = trees.size();
    trees.resize(first + more);
    try {
      on_threads(more, n_threads, [&]() {
        return [&, grower = ForestTreeGrower(data, options)](std::size_t i) mutable {
          trees[first + i] = grower.grow(seed_of_tree(seed, first + i));
        };
      });
    } catch (...) {
      trees.resize(first);
      throw;
    }
  }

  // Adds every tree's vote to votes (n, n_classes): 1 for the label of a row's leaf, or the class shares there.
  void vote(const double* x, std::size_t n, bool shares, int n_threads, double* votes) const {
    blocks(x, n, n_threads, [&](std::size_t t, std::size_t i, std::int32_t node) {
      add_vote(trees[t], node, shares, votes + i * n_classes);
    });
  }

  // Node number of each row's leaf in every tree, (n, n_trees).
  void apply(const double* x, std::size_t n, int n_threads, std::int32_t* leaves) const {
    blocks(x, n, n_threads, [&](std::size_t t, std::size_t i, std::int32_t node) { leaves[i * trees.size() + t] = node; });
  }

  // Votes on the training rows by the trees that did not draw them.
  void vote_out_of_bag(const double* x, std::size_t n, bool shares, int n_threads, double* votes) const {
    std::vector<std::vector<bool>> drawn(trees.size());
    on_threads(trees.size(), n_threads, [&]() {
      return [&, draws = std::vector<std::uint32_t>()](std::size_t t) mutable {
        draw_bootstrap(Stream(seed_of_tree(seed, t), 0, 1), n, draws);
        drawn[t].resize(n);
        for (std::size_t i = 0; i < n; ++i) drawn[t][i] = draws[i] > 0;
      };
    });
    blocks(x, n, n_threads, [&](std::size_t t, std::size_t i, std::int32_t node) {
      if (!drawn[t][i]) add_vote(trees[t], node, shares, votes + i * n_classes);
    });
  }

 private:
  // Rows that share one reading of a tree's nodes: many, as a tree may be larger than the caches that are near. Of rotated
  // rows a copy is made, so there they are fewer.
  static constexpr std::size_t kFewest = 256, kMost = 32768, kMostRotated = 4096;

  // use(tree number, row number, leaf) for every row and tree, the trees of a row in order.
  template <class Use>
  void blocks(const double* x, std::size_t n, int n_threads, Use use) const {
    const bool rotates = !trees.empty() && trees[0].rotation.given();
    const std::size_t most = rotates ? kMostRotated : kMost;
    // About two blocks a thread, so that none is left with the work while the others wait.
    const std::size_t n_blocks = n_threads > 1 ? 2 * static_cast<std::size_t>(n_threads) : 1;
    const std::size_t size = std::clamp(n / n_blocks, kFewest, most);
    on_threads((n + size - 1) / size, n_threads, [&]() {
      return [&, rotated = std::vector<double>(), walk = TreeWalk(),
              leaves = std::vector<std::int32_t>(size)](std::size_t block) mutable {
        const std::size_t from = block * size, count = std::min(n - from, size);
        for (std::size_t t = 0; t < trees.size(); ++t) {
          const ForestTree& tree = trees[t];
          const double* rows = x + from * n_features;
          std::size_t stride = n_features;
          if (tree.rotation.given()) {
            stride = tree.rotation.size();
            rotated.resize(count * stride);
            for (std::size_t i = 0; i < count; ++i)
              for (std::size_t q = 0; q < stride; ++q)
                rotated[i * stride + q] = tree.rotation.of_row(q, rows + i * n_features);
            rows = rotated.data();
          }
          walk.leaves_of(tree, rows, count, stride, leaves.data());
          for (std::size_t i = 0; i < count; ++i) use(t, from + i, leaves[i]);
        }
      };
    });
  }

  void add_vote(const ForestTree& tree, std::int32_t node, bool shares, double* votes) const {
    const std::size_t leaf = static_cast<std::size_t>(~tree.nodes[node].left);
    if (!shares) {
      votes[tree.label[leaf]] += 1.0;
      return;
    }
    const std::uint32_t first = tree.leaf_start[leaf], last = tree.leaf_start[leaf + 1];
    if (last - first == 1) {
      votes[tree.leaf_class[first]] += 1.0;
      return;
    }
    double total = 0.0;
    for (std::uint32_t i = first; i < last; ++i) total += tree.leaf_weight[i];
    for (std::uint32_t i = first; i < last; ++i) votes[tree.leaf_class[i]] += tree.leaf_weight[i] / total;
  }
};

}  // namespace oblique
