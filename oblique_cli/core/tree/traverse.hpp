// Rows through a grown tree: to their leaf, and to the leaves of its truncations and of a pruning sequence.
#pragma once

#include "common/kernels.hpp"
#include "tree/levels.hpp"
#include "tree/step_down.hpp"

namespace oblique {

// A view of a tree of hyperplanes whose planes are dense (plane_tree.hpp). `axis` holds the feature of a node that
// tests one feature only, or -1. `scores` are those of the levels, levels->width per node; nullptr in a tree without
// qualitative features. `missing_left` is the side of rows without a value that a node needs, for each node; nullptr in
// a tree without missing values.
struct FlatTree {
  size_t n_nodes = 0, n_features = 0;
  const int32_t* left = nullptr;
  const int32_t* right = nullptr;
  const double* weights = nullptr;
  const double* thresholds = nullptr;
  const int32_t* axis = nullptr;
  const Levels* levels = nullptr;
  const double* scores = nullptr;
  const bool* missing_left = nullptr;

  bool is_leaf(size_t node) const { return left[node] < 0; }
  // A weight vector with a single 1 gives x_j itself, so this shortcut has the bits of the product.
  size_t next(size_t node, const double* x) const {
    const double z = axis[node] >= 0 ? x[axis[node]] : dot_row(weights + node * n_features, x, n_features);
    // A product with NaN is NaN, which is not <= any threshold: only rows that would go right need the test.
    const bool goes_left = z <= thresholds[node] || (missing_left && z != z && incomplete_goes_left(node, x));
    return static_cast<size_t>(goes_left ? left[node] : right[node]);
  }

 private:
  // The side of a row with missing values: the stored one if the plane uses a missing feature, else by the others.
  bool incomplete_goes_left(size_t node, const double* x) const {
    const double* w = weights + node * n_features;
    std::vector<double> present(x, x + n_features);
    for (size_t j = 0; j < n_features; ++j) {
      if (x[j] == x[j]) continue;
      if (w[j] != 0.0) return missing_left[node];
      present[j] = 0.0;
    }
    return dot_row(w, present.data(), n_features) <= thresholds[node];
  }
};

// The path of one row after another down a tree.
class Descent {
 public:
  explicit Descent(const FlatTree& tree) : tree_(tree) {
    if (tree.scores) scored_.emplace(*tree.levels);
  }
  void start(const double* x) {
    x_ = x;
    if (scored_) scored_->start(x);
  }
  size_t next(size_t node) {
    return tree_.next(node, scored_ ? scored_->at(tree_.scores + node * tree_.levels->width) : x_);
  }

 private:
  const FlatTree& tree_;
  const double* x_ = nullptr;
  std::optional<ScoredRow> scored_;
};

// The leaf of each row, one row after another. T: double, or float, whose values are exact in double.
template <class T>
void apply(const FlatTree& tree, const T* x, size_t n, int32_t* leaf) {
  Descent descent(tree);
  const InputRows rows(x);
  std::vector<double> buffer(tree.n_features);
  for (size_t i = 0; i < n; ++i) {
    descent.start(rows.row(i, tree.n_features, buffer.data()));
    leaf[i] = static_cast<int32_t>(leaf_below(tree, 0, [&](size_t node) { return descent.next(node); }));
  }
}

// Calls use(i, e, node) with the node at which row i stops in T(limits[e]), where every node of rate <= limits[e] is a
// leaf, for m limits in ascending order. A node inside T(limit) is internal there if and only if the smallest rate from
// the root to it, itself included, is above the limit; so one walk gives the result for all limits, the largest first.
template <class Use>
void for_each_stop(const FlatTree& tree, const double* rate, const double* limits, size_t m, const double* x, size_t n,
                   const Use& use) {
  Descent descent(tree);
  for (size_t i = 0; i < n; ++i) {
    size_t node = 0, open = m;  // the nodes of limits[open..m) are known
    descent.start(x + i * tree.n_features);
    while (open > 0) {
      const bool leaf = tree.is_leaf(node);
      while (open > 0 && (leaf || rate[node] <= limits[open - 1])) use(i, --open, node);
      if (open > 0) node = descent.next(node);
    }
  }
}

// Number of leaves of T(limit) for m limits: one more than the number of internal nodes there.
inline void count_truncated(const FlatTree& tree, const double* rate, const double* limits, size_t m, int64_t* leaves) {
  std::vector<double> smallest(tree.n_nodes, std::numeric_limits<double>::infinity());
  std::fill_n(leaves, m, 1);
  for (size_t node = 0; node < tree.n_nodes; ++node) {
    if (tree.is_leaf(node)) continue;
    const double key = std::min(smallest[node], rate[node]);
    smallest[tree.left[node]] = key;
    smallest[tree.right[node]] = key;
    for (size_t e = 0; e < m && limits[e] < key; ++e) ++leaves[e];
  }
}

// Computes for every internal node the complexity at which weakest-link pruning turns it into a leaf (thesis 1.7.1), in
// O(nodes log^2 nodes). errors[t] : misclassified weight at t as a leaf. At leaves alpha is -infinity.
// Nodes are visited bottom-up. The branch below a node starts fully pruned, its collapses in a max-heap by alpha. The
// node undoes the collapses above its own alpha, the largest first, and computes this alpha from the branch.
inline void weakest_links(const FlatTree& tree, const double* errors, double tie, double* alpha) {
  struct Collapse {
    double alpha, error;  // error added by the collapse
    int64_t leaves;       // leaves removed by it
    bool operator<(const Collapse& other) const { return alpha < other.alpha; }
  };
  struct Branch {
    double error = 0.0;  // of the branch after the collapses in its heap
    int64_t leaves = 1;
    std::vector<Collapse> heap;
  };
  std::vector<Branch> branches(tree.n_nodes);
  for (size_t node = tree.n_nodes; node-- > 0;) {
    Branch& here = branches[node];
    if (tree.is_leaf(node)) {
      here.error = errors[node];
      alpha[node] = -std::numeric_limits<double>::infinity();
      continue;
    }
    Branch& a = branches[tree.left[node]];
    Branch& b = branches[tree.right[node]];
    here.error = a.error + b.error;
    here.leaves = a.leaves + b.leaves;
    Branch &large = a.heap.size() >= b.heap.size() ? a : b, &small = a.heap.size() >= b.heap.size() ? b : a;
    here.heap = std::move(large.heap);
    for (const Collapse& c : small.heap) {
      here.heap.push_back(c);
      std::push_heap(here.heap.begin(), here.heap.end());
    }
    small.heap = {};
    double link = (errors[node] - here.error) / static_cast<double>(here.leaves - 1);
    while (!here.heap.empty() && here.heap.front().alpha >= link - tie) {
      const Collapse c = here.heap.front();
      std::pop_heap(here.heap.begin(), here.heap.end());
      here.heap.pop_back();
      here.error -= c.error;
      here.leaves += c.leaves;
      link = (errors[node] - here.error) / static_cast<double>(here.leaves - 1);
    }
    alpha[node] = link;
    here.heap.push_back({link, errors[node] - here.error, here.leaves - 1});
    std::push_heap(here.heap.begin(), here.heap.end());
    here.error = errors[node];
    here.leaves = 1;
  }
}

// A copy of a tree in a layout for many rows. Rows go down in blocks that fit in a near cache. At the upper nodes the
// rows of a block are divided together, four rows per pass over the coefficients; with few rows left at a node, all
// rows in progress take one step each in turn, so that the processor waits neither for a sum nor for an unpredictable
// branch. Products are in single precision with a bound of their error; a row within the bound of a hyperplane goes to
// the side of the exact product. The leaves are those of `apply`, for any number of rows, blocks and threads.
class BlockWalk {
 public:
  // For a tree over quantitative features. The view's arrays must outlive the walk.
  explicit BlockWalk(const FlatTree& tree);

  // leaf[i] = node number of the leaf of row i. x : (n, p) row-major; T : double or float, whose values are exact in
  // double; block_rows : rows of a block, 0 to choose by the caches. Returns whether all rows are finite.
  template <class T>
  bool leaves_of(const T* x, size_t n, int n_threads, size_t block_rows, int32_t* leaf) const;

  // Numbers in single precision of one vector: a cache line.
  static constexpr size_t kLanes = 16;
  struct alignas(64) Line {
    float values[kLanes] = {};
  };

  // A split. Splits are numbered in the order of their nodes; a child that is a leaf is ~(its node number).
  struct Step {
    double threshold;
    double size;      // sum of the magnitudes of the coefficients
    int32_t next[2];  // left, right
    int32_t first;    // the feature if every split has one; else the first group of sixteen coefficients
    int32_t count;    // number of groups of sixteen coefficients
    int32_t node;
    bool missing_left;
  };

 private:
  // The stored coefficients: one feature per split, all, or the groups of sixteen that are not zero.
  enum class Layout { kAxes, kDense, kSparse };
  struct Buffers;

  template <class T>
  bool walk(const T* x, size_t n, Buffers& buffers, int32_t* leaf) const;
  template <class T>
  void screen(const T* x, size_t n, Buffers& buffers) const;
  template <class Sides>
  void divide(const Sides& sides, Buffers& buffers, int32_t* leaf) const;

  FlatTree tree_;
  Layout layout_ = Layout::kDense;
  size_t padded_ = 0;  // features, rounded up to a multiple of 16
  std::vector<Step> steps_;
  std::vector<Line> coefs_;        // the last group of a split is padded by 0
  std::vector<int32_t> features_;  // sparse: the first feature of each group of sixteen
};

}  // namespace oblique
