#include "shapley/cubes.hpp"

#include "common/team.hpp"

namespace oblique {
namespace {

constexpr size_t kMostFixed = 1024;  // features that a cube may fix
constexpr double kRounding = 1e-12;  // relative to the summands: largest effect of another order of summation

// a! b! / (a + b + 1)! for all a and b below a size.
class Weights {
 public:
  explicit Weights(size_t size) : size_(size), values_(size * size) {
    for (size_t b = 0; b < size; ++b) {
      values_[b] = 1.0 / static_cast<double>(b + 1);
      for (size_t a = 1; a < size; ++a)
        values_[a * size + b] = values_[(a - 1) * size + b] * (static_cast<double>(a) / static_cast<double>(a + b + 1));
    }
  }
  double operator()(size_t a, size_t b) const { return values_[a * size_ + b]; }

 private:
  size_t size_;
  std::vector<double> values_;
};

double size_of(double summand) { return std::isinf(summand) ? 0.0 : std::abs(summand); }

// A sum in the order of growth: each lane from its first term, then (0 + 1) + (2 + 3). slot : number of a slot -> value
template <class Slot>
double sum_of(const SumTree& tree, size_t s, const Slot& slot) {
  std::array<double, 4> lanes{};
  for (int64_t t = tree.sum_start[s]; t < tree.sum_start[s + 1]; ++t) {
    const int32_t source = tree.term_source[t];
    const double value = source >= 0 ? slot(static_cast<size_t>(source))
                                     : sum_of(tree, tree.n_nodes + static_cast<size_t>(~source), slot);
    lanes[tree.term_lane[t]] += tree.term_coef[t] * value;
  }
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

// Whether a row goes left at a split, by its sum in any order and the magnitude of its summands; if the row lies so
// near to the plane that rounding decides, by the sum in the order of growth.
template <class Slot>
bool goes_left(const SumTree& tree, size_t node, double sum, double size, const Slot& slot) {
  const double threshold = tree.thresholds[node], room = kRounding * size;
  if (sum <= threshold - room) return true;
  if (sum > threshold + room) return false;
  const double exact = sum_of(tree, node, slot);
  return tree.missing_left[node] ? !(exact > threshold) : exact <= threshold;
}

// Processes the cubes of one pair of row x and background row z after another. K : outputs at once
template <size_t K>
class Cubes {
 public:
  Cubes(const SumTree& tree, const Weights& weights, size_t first, size_t limit)
      : tree_(tree), weights_(weights), first_(first), count_(std::min(K, tree.n_outputs - first)), limit_(limit),
        state_(tree.n_features, kFree), ordered_(tree.n_nodes, 0),
        order_(static_cast<size_t>(tree.split_start[tree.n_nodes])) {}

  void begin_row(bool interactions) {
    steps_ = 0;
    interactions_ = interactions;
  }

  // Adds the values of one pair to out.
  void add(const SumRows& rows, size_t i, const SumRows& background, size_t j, double* out) {
    const auto splits = static_cast<size_t>(tree_.split_start[tree_.n_nodes]);
    const size_t leaves = static_cast<size_t>(tree_.leaf_start[tree_.n_nodes]) * tree_.n_outputs;
    x_ = rows.splits + i * splits, z_ = background.splits + j * splits;
    x_leaves_ = rows.leaves + i * leaves, z_leaves_ = background.leaves + j * leaves;
    x_slots_ = rows.slots + i * tree_.n_slots, z_slots_ = background.slots + j * tree_.n_slots;
    const size_t factors = 2 * static_cast<size_t>(tree_.product_start[tree_.n_nodes]);
    x_factors_ = rows.factors + i * factors, z_factors_ = background.factors + j * factors;
    out_ = out;
    ++pair_;
    down(0);
  }

  size_t steps() const { return steps_; }

 private:
  enum : char { kFree, kIn, kOut };
  // What the cubes below a branch add to each feature that is in, and subtract from each feature that is out.
  struct Both {
    std::array<double, K> in{}, out{};
  };
  struct Open {
    int64_t entry;
    double low, high, size;  // sums of the bounds and magnitudes from here on
  };

  Both down(size_t node) {
    while (tree_.left[node] >= 0) {
      const int64_t begin = tree_.split_start[node], end = tree_.split_start[node + 1];
      if (end - begin == 1) {
        const bool x_left =
            goes_left(tree_, node, x_[begin], size_of(x_[begin]), [&](size_t k) { return x_slots_[k]; });
        const bool z_left =
            goes_left(tree_, node, z_[begin], size_of(z_[begin]), [&](size_t k) { return z_slots_[k]; });
        const char state = state_[tree_.split_feature[begin]];
        if (x_left != z_left && state == kFree) {
          count_step();
          return branch(begin, [&](bool in) { return down(child(node, in ? x_left : z_left)); });
        }
        node = child(node, state == kOut ? z_left : x_left);
        continue;
      }
      const size_t bottom = open_.size();
      const auto [sum, size] = open(node);
      const size_t n = open_.size() - bottom;
      if (n > 0) {
        const Both both = decide(node, bottom, n, sum, size);
        open_.resize(bottom);
        return both;
      }
      node = child(node, decided(node, sum, size));
    }
    return leaf(node);
  }

  // Pushes the undecided entries of a split, the widest first; returns the sum of the others and its magnitude.
  std::pair<double, double> open(size_t node) {
    const size_t bottom = open_.size();
    double sum = 0.0, size = 0.0;
    const auto begin = tree_.split_start[node], end = tree_.split_start[node + 1];
    if (ordered_[node] != pair_) order(node);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t e = order_[i];
      const double x = x_[e], z = z_[e];
      const char state = state_[tree_.split_feature[e]];
      if (state == kFree && x != z) {
        open_.push_back({e, std::min(x, z), std::max(x, z), std::max(size_of(x), size_of(z))});
        continue;
      }
      const double fixed = state == kOut ? z : x;
      sum += fixed;
      size += size_of(fixed);
    }
    for (size_t k = open_.size(); k-- > bottom + 1;) {
      open_[k - 1].low += open_[k].low;
      open_[k - 1].high += open_[k].high;
      open_[k - 1].size += open_[k].size;
    }
    return {sum, size};
  }

  double gap(int64_t e) const { return x_[e] == z_[e] ? 0.0 : std::abs(x_[e] - z_[e]); }

  // Sorts the entries of a split by the gaps of this pair, once per pair: large gaps decide coalitions soonest.
  void order(size_t node) {
    ordered_[node] = pair_;
    const auto from = order_.begin() + tree_.split_start[node], to = order_.begin() + tree_.split_start[node + 1];
    std::iota(from, to, tree_.split_start[node]);
    std::sort(from, to, [this](int64_t a, int64_t b) {
      const double gap_a = gap(a), gap_b = gap(b);
      return gap_a != gap_b ? gap_a > gap_b : a < b;
    });
  }

  // n entries from `at` on are undecided; sum and size are those of all others.
  Both decide(size_t node, size_t at, size_t n, double sum, double size) {
    if (n == 0) return down(child(node, decided(node, sum, size)));
    const Open here = open_[at];
    const double threshold = tree_.thresholds[node], room = kRounding * (size + here.size);
    if (sum + here.high <= threshold - room) return down(tree_.left[node]);
    if (sum + here.low > threshold + room) return down(tree_.right[node]);
    count_step();
    return branch(here.entry, [&](bool in) {
      const double value = in ? x_[here.entry] : z_[here.entry];
      return decide(node, at + 1, n - 1, sum + value, size + size_of(value));
    });
  }

  // Both branches for a feature: coalitions with it, and coalitions without.
  template <class Below>
  Both branch(int64_t entry, const Below& below) {
    const auto feature = static_cast<size_t>(tree_.split_feature[entry]);
    if (n_in_ + n_out_ >= kMostFixed) throw TooManyCubes();
    state_[feature] = kIn;
    ++n_in_;
    if (interactions_) ins_.push_back(feature);
    Both with = below(true);
    if (interactions_) ins_.pop_back();
    --n_in_;
    state_[feature] = kOut;
    ++n_out_;
    if (interactions_) outs_.push_back(feature);
    const Both without = below(false);
    if (interactions_) outs_.pop_back();
    --n_out_;
    state_[feature] = kFree;
    for (size_t k = 0; k < K; ++k) {
      if (k < count_) to(feature, k) += with.in[k] - without.out[k];
      with.in[k] += without.in[k];
      with.out[k] += without.out[k];
    }
    return with;
  }

  // The values of one cube: the cube game of the constant, and for each free feature of a linear leaf the cube game in
  // which this feature is in, too.
  Both leaf(size_t node) {
    Both sums;
    const size_t a = n_in_, b = n_out_;
    std::array<double, K> constant{}, gaps{}, joint{};  // joint: of products whose features are both free
    const double* intercept = tree_.intercepts + node * tree_.n_outputs + first_;
    for (size_t k = 0; k < count_; ++k) constant[k] = intercept[k];
    for (int64_t e = tree_.leaf_start[node]; e < tree_.leaf_start[node + 1]; ++e) {
      const auto feature = static_cast<size_t>(tree_.leaf_feature[e]);
      const char state = state_[feature];
      const double* x = x_leaves_ + static_cast<size_t>(e) * tree_.n_outputs + first_;
      const double* z = z_leaves_ + static_cast<size_t>(e) * tree_.n_outputs + first_;
      for (size_t k = 0; k < count_; ++k) {
        constant[k] += state == kIn ? x[k] : z[k];
        if (state == kFree) add_gap(feature, k, x[k] - z[k], gaps);
      }
    }
    for (int64_t q = tree_.product_start[node]; q < tree_.product_start[node + 1]; ++q) {
      const int32_t* pair = tree_.product_feature + 2 * q;
      const auto f = static_cast<size_t>(pair[0]), g = static_cast<size_t>(pair[1]);
      const double *x = x_factors_ + 2 * q, *z = z_factors_ + 2 * q;
      const double* coef = tree_.product_coef + static_cast<size_t>(q) * tree_.n_outputs + first_;
      const double at_f = state_[f] == kIn ? x[0] : z[0], at_g = state_[g] == kIn ? x[1] : z[1];
      for (size_t k = 0; k < count_; ++k) {
        constant[k] += coef[k] * at_f * at_g;
        if (state_[f] == kFree) add_gap(f, k, coef[k] * (x[0] - z[0]) * at_g, gaps);
        if (state_[g] == kFree) add_gap(g, k, coef[k] * (x[1] - z[1]) * at_f, gaps);
        if (state_[f] != kFree || state_[g] != kFree) continue;
        const double both = coef[k] * (x[0] - z[0]) * (x[1] - z[1]);
        add_gap(f, k, both, joint, 1);
        to(g, k) += both * weights_(a + 1, b);
        if (!interactions_) continue;
        add_pairs_of(g, k, both, 1);
        add_pair(f, g, k, both * weights_(a, b));
      }
    }
    if (a) add(sums.in, constant, weights_(a - 1, b));
    if (b) add(sums.out, constant, weights_(a, b - 1));
    add(sums.in, gaps, weights_(a, b));
    if (b) add(sums.out, gaps, weights_(a + 1, b - 1));
    add(sums.in, joint, weights_(a + 1, b));
    if (b) add(sums.out, joint, weights_(a + 2, b - 1));
    if (interactions_) add_pairs(constant, gaps, joint);
    return sums;
  }

  // Adds the cube game of the fixed features, one free feature, and `more` other free features.
  void add_gap(size_t feature, size_t k, double gap, std::array<double, K>& sum, size_t more = 0) {
    sum[k] += gap;
    to(feature, k) += gap * weights_(n_in_ + more, n_out_);
    if (interactions_) add_pairs_of(feature, k, gap, more);
  }

  static void add(std::array<double, K>& sums, const std::array<double, K>& values, double weight) {
    for (size_t k = 0; k < K; ++k) sums[k] += values[k] * weight;
  }

  // Adds the pairs of a free feature of a linear leaf with the fixed features.
  void add_pairs_of(size_t feature, size_t k, double gap, size_t more) {
    const size_t a = n_in_ + more, b = n_out_;
    for (const size_t other : ins_) add_pair(feature, other, k, gap * weights_(a - 1, b));
    for (const size_t other : outs_) add_pair(feature, other, k, -gap * weights_(a, b - 1));
  }

  // Pairs of fixed features.
  void add_pairs(const std::array<double, K>& constant, const std::array<double, K>& gaps,
                 const std::array<double, K>& joint) {
    const size_t a = n_in_, b = n_out_;
    for (size_t k = 0; k < count_; ++k) {
      for (size_t i = 0; i < a; ++i) {
        for (size_t j = 0; j < i; ++j)
          add_pair(ins_[i], ins_[j], k,
                   constant[k] * weights_(a - 2, b) + gaps[k] * weights_(a - 1, b) + joint[k] * weights_(a, b));
        for (size_t j = 0; j < b; ++j)
          add_pair(
              ins_[i], outs_[j], k,
              -constant[k] * weights_(a - 1, b - 1) - gaps[k] * weights_(a, b - 1) - joint[k] * weights_(a + 1, b - 1));
      }
      for (size_t i = 0; i < b; ++i)
        for (size_t j = 0; j < i; ++j)
          add_pair(
              outs_[i], outs_[j], k,
              constant[k] * weights_(a, b - 2) + gaps[k] * weights_(a + 1, b - 2) + joint[k] * weights_(a + 2, b - 2));
    }
  }

  void add_pair(size_t i, size_t j, size_t k, double value) {
    const size_t p = tree_.n_features, K_all = tree_.n_outputs;
    out_[(i * p + j) * K_all + first_ + k] += value;
    out_[(j * p + i) * K_all + first_ + k] += value;
  }

  double& to(size_t feature, size_t k) {
    const size_t place = interactions_ ? feature * tree_.n_features + feature : feature;
    return out_[place * tree_.n_outputs + first_ + k];
  }

  // The side of a coalition after all entries of a split are decided.
  bool decided(size_t node, double sum, double size) const {
    return goes_left(tree_, node, sum, size,
                     [&](size_t k) { return state_[tree_.slot_feature[k]] == kOut ? z_slots_[k] : x_slots_[k]; });
  }

  size_t child(size_t node, bool left) const {
    return static_cast<size_t>(left ? tree_.left[node] : tree_.right[node]);
  }

  void count_step() {
    if (++steps_ > limit_) throw TooManyCubes();
    if ((steps_ & 1023) == 0) checkpoint(16384);
  }

  const SumTree& tree_;
  const Weights& weights_;
  const size_t first_, count_, limit_;
  std::vector<char> state_;
  std::vector<Open> open_;
  size_t pair_ = 0;              // number of pairs so far
  std::vector<size_t> ordered_;  // pair for which each split was sorted
  std::vector<int64_t> order_;   // entries of each split
  std::vector<size_t> ins_, outs_;
  size_t n_in_ = 0, n_out_ = 0, steps_ = 0;
  bool interactions_ = false;
  const double *x_ = nullptr, *z_ = nullptr, *x_leaves_ = nullptr, *z_leaves_ = nullptr;
  const double *x_slots_ = nullptr, *z_slots_ = nullptr, *x_factors_ = nullptr, *z_factors_ = nullptr;
  double* out_ = nullptr;
};

template <size_t K>
void some_outputs(const SumTree& tree, const Weights& weights, const SumRows& rows, const SumRows& background,
                  bool interactions, size_t first, size_t limit, int n_threads, double* out) {
  const size_t width = tree.n_features * (interactions ? tree.n_features : 1) * tree.n_outputs;
  on_threads(rows.n, n_threads, [&]() {
    return [&, cubes = Cubes<K>(tree, weights, first, limit)](size_t i) mutable {
      cubes.begin_row(interactions);
      for (size_t j = 0; j < background.n; ++j) cubes.add(rows, i, background, j, out + i * width);
      checkpoint(background.n * tree.n_nodes);
    };
  });
}

}  // namespace

void shapley_values(const SumTree& tree, const SumRows& rows, const SumRows& background, bool interactions,
                    size_t limit, int n_threads, double* out) {
  const Weights weights(std::min(tree.n_features, kMostFixed) + 2);
  for (size_t first = 0; first < tree.n_outputs; first += 4) {
    const size_t count = tree.n_outputs - first;
    const auto use = count == 1 ? some_outputs<1> : count == 2 ? some_outputs<2> : some_outputs<4>;
    use(tree, weights, rows, background, interactions, first, limit, n_threads, out);
  }
}

void sum_values(const SumTree& tree, const SumRows& rows, double* out) {
  const auto splits = static_cast<size_t>(tree.split_start[tree.n_nodes]);
  const auto entries = static_cast<size_t>(tree.leaf_start[tree.n_nodes]);
  const auto n_products = static_cast<size_t>(tree.product_start[tree.n_nodes]);
  for (size_t i = 0; i < rows.n; ++i) {
    const double* x = rows.splits + i * splits;
    size_t node = 0;
    while (tree.left[node] >= 0) {
      double sum = 0.0, size = 0.0;
      for (int64_t e = tree.split_start[node]; e < tree.split_start[node + 1]; ++e) sum += x[e], size += size_of(x[e]);
      const bool left = goes_left(tree, node, sum, size, [&](size_t k) { return rows.slots[i * tree.n_slots + k]; });
      node = static_cast<size_t>(left ? tree.left[node] : tree.right[node]);
    }
    for (size_t k = 0; k < tree.n_outputs; ++k) {
      double sum = tree.intercepts[node * tree.n_outputs + k];
      for (int64_t e = tree.leaf_start[node]; e < tree.leaf_start[node + 1]; ++e)
        sum += rows.leaves[(i * entries + static_cast<size_t>(e)) * tree.n_outputs + k];
      for (auto q = static_cast<size_t>(tree.product_start[node]);
           q < static_cast<size_t>(tree.product_start[node + 1]); ++q) {
        const double* factors = rows.factors + 2 * (i * n_products + q);
        sum += tree.product_coef[q * tree.n_outputs + k] * factors[0] * factors[1];
      }
      out[i * tree.n_outputs + k] += sum;
    }
  }
}

}  // namespace oblique
