#include "tree/traverse.hpp"

#include "common/team.hpp"

namespace oblique {

namespace {

using Step = BlockWalk::Step;

constexpr size_t kLanes = BlockWalk::kLanes;

// Sixteen floats in registers of 64 bytes, or of 32.
typedef float Quad __attribute__((vector_size(16)));
typedef float Eight __attribute__((vector_size(32)));
typedef float Sixteen __attribute__((vector_size(64)));

template <class V>
OBLIQUE_INLINE V load(const float* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
OBLIQUE_INLINE Quad folded(Eight v) { return Quad{v[0], v[1], v[2], v[3]} + Quad{v[4], v[5], v[6], v[7]}; }

struct Narrow {
  Eight low = {}, high = {};
  OBLIQUE_INLINE static Narrow of(const float* p) { return {load<Eight>(p), load<Eight>(p + 8)}; }
  OBLIQUE_INLINE void add_product(const Narrow& a, const Narrow& b) {
    low += a.low * b.low;
    high += a.high * b.high;
  }
  OBLIQUE_INLINE Quad quarter() const { return folded(low + high); }
};

struct Wide {
  Sixteen all = {};
  OBLIQUE_INLINE static Wide of(const float* p) { return {load<Sixteen>(p)}; }
  OBLIQUE_INLINE void add_product(const Wide& a, const Wide& b) { all += a.all * b.all; }
  OBLIQUE_INLINE Quad quarter() const {
    return folded(Eight{all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7]} +
                  Eight{all[8], all[9], all[10], all[11], all[12], all[13], all[14], all[15]});
  }
};

// The rows of a block in the table. T : double or float
template <class T>
struct Rows {
  const T* x;
  size_t stride;
  OBLIQUE_INLINE const T* operator[](size_t row) const { return x + row * stride; }
};

// A split along one feature. It reads values in place, without a copy; a missing value compares as false.
template <class T>
struct OneFeature {
  Rows<T> rows;
  const Step* steps;

  OBLIQUE_INLINE bool goes_right(int32_t at, uint32_t row) const {
    const Step& step = steps[at];
    const double z = static_cast<double>(rows[row][step.first]);
    return step.missing_left ? z > step.threshold : !(z <= step.threshold);
  }
  OBLIQUE_INLINE void sides_of(int32_t at, const uint32_t* ids, size_t n, int32_t* right) const {
    for (size_t i = 0; i < n; ++i) right[i] = goes_right(at, ids[i]) ? -1 : 0;
  }
};

// The side of a row by the arithmetic of the tree, which decides.
struct Exact {
  const FlatTree& tree;
  InputRows rows;
  double* buffer;  // for one row

  const double* of(size_t i) const { return rows.row(i, tree.n_features, buffer); }
  __attribute__((noinline)) bool goes_right(const Step& step, size_t i) const {
    const size_t node = step.node;
    return tree.next(node, of(i)) != static_cast<size_t>(tree.left[node]);
  }
};

// A product below `low` sends a row left at a split, a product above `high` right.
struct Margin {
  float low, high;
};

// A split by a hyperplane in single precision, with a bound of all its errors: sixteen products at once, in any order.
// If a row is nearer to the threshold than the bound, the exact product decides.
// V        : Narrow or Wide
// features : the first feature of each sixteen coefficients; nullptr if a split has them all
// margins  : of every split, for this block
template <class V, bool all>
struct Screened {
  Rows<float> rows;
  const Step* steps;
  const float* coefs;
  const int32_t* features;
  const Margin* margins;
  const Exact& exact;

  OBLIQUE_INLINE size_t feature(const Step& step, int32_t g) const {
    return all ? kLanes * static_cast<size_t>(g) : static_cast<size_t>(features[step.first + g]);
  }
  OBLIQUE_INLINE V coefs_of(const Step& step, int32_t g) const {
    return V::of(coefs + kLanes * static_cast<size_t>(step.first + g));
  }
  OBLIQUE_INLINE bool goes_right(int32_t at, uint32_t row) const {
    const Step& step = steps[at];
    const float* x = rows[row];
    V sum;
    for (int32_t g = 0; g < step.count; ++g) sum.add_product(coefs_of(step, g), V::of(x + feature(step, g)));
    const Quad quarter = sum.quarter();
    const float z = (quarter[0] + quarter[1]) + (quarter[2] + quarter[3]);
    // No branch depends on the side, because the processor could not predict it.
    const unsigned above = z > margins[at].high, below = z < margins[at].low;
    if ((above | below) == 0) [[unlikely]]
      return exact.goes_right(step, row);
    return above != 0;
  }
  // right[i] : -1 if row ids[i] goes right, else 0; both arrays are padded to a multiple of four valid elements
  OBLIQUE_INLINE void sides_of(int32_t at, const uint32_t* ids, size_t n, int32_t* right) const {
    const Step& step = steps[at];
    const float high = margins[at].high, low = margins[at].low;
    decltype(Quad{} > 0.0f) doubtful = {};
    for (size_t i = 0; i < n; i += 4) {
      const float* x[4] = {rows[ids[i]], rows[ids[i + 1]], rows[ids[i + 2]], rows[ids[i + 3]]};
      V a, b, c, d;
      for (int32_t g = 0; g < step.count; ++g) {
        const V coef = coefs_of(step, g);
        const size_t j = feature(step, g);
        a.add_product(coef, V::of(x[0] + j));
        b.add_product(coef, V::of(x[1] + j));
        c.add_product(coef, V::of(x[2] + j));
        d.add_product(coef, V::of(x[3] + j));
      }
      // The lanes of the four rows side by side, then two additions for all of them.
      const Quad e = a.quarter(), f = b.quarter(), g = c.quarter(), h = d.quarter();
      const Quad ef = Quad{e[0], f[0], e[1], f[1]} + Quad{e[2], f[2], e[3], f[3]};
      const Quad gh = Quad{g[0], h[0], g[1], h[1]} + Quad{g[2], h[2], g[3], h[3]};
      const Quad z = Quad{ef[0], ef[1], gh[0], gh[1]} + Quad{ef[2], ef[3], gh[2], gh[3]};
      const auto above = z > high, known = above | (z < low);
      std::memcpy(right + i, &above, sizeof above);
      doubtful |= ~known;
    }
    uint64_t halves[2];
    std::memcpy(halves, &doubtful, sizeof halves);
    if ((halves[0] | halves[1]) == 0) [[likely]]
      return;
    for (size_t i = 0; i < n; ++i) right[i] = goes_right(at, ids[i]) ? -1 : 0;
  }
};

// Divides the rows of a node: those that go left stay in front of ids[0..n), the others follow. Both keep their order.
// right : buffer of n. Returns the number of rows that go left.
template <class Sides>
OBLIQUE_INLINE size_t divide_rows(const Sides& sides, int32_t at, uint32_t* __restrict ids, size_t n,
                                  uint32_t* __restrict right) {
  constexpr size_t kTogether = 64;  // rows whose sides are computed before they move
  uint32_t some[kTogether];
  alignas(16) int32_t goes_right[kTogether];
  size_t l = 0, r = 0;
  for (size_t i = 0; i < n; i += kTogether) {
    const size_t count = std::min(kTogether, n - i);
    std::copy_n(ids + i, count, some);
    for (size_t k = count; k % 4 != 0; ++k) some[k] = some[0];
    sides.sides_of(at, some, count, goes_right);
    for (size_t k = 0; k < count; ++k) {
      ids[l] = some[k];
      right[r] = some[k];
      l += static_cast<size_t>(1 + goes_right[k]);
      r -= static_cast<size_t>(static_cast<int64_t>(goes_right[k]));
    }
  }
  std::memcpy(ids + l, right, r * sizeof *ids);
  return l;
}

// Steps in the form of `step_down`.
template <class Sides>
struct Splits {
  const Sides& sides;
  OBLIQUE_INLINE int32_t next(int32_t at, uint32_t row) const {
    return sides.steps[at].next[sides.goes_right(at, row) ? 1 : 0];
  }
  OBLIQUE_INLINE bool goes_on(int32_t number) const { return number >= 0; }
  OBLIQUE_INLINE int32_t leaf(int32_t number) const { return ~number; }
};

struct Numbers {
  OBLIQUE_INLINE uint32_t operator[](uint32_t row) const { return row; }
};

// Both functions for every kind of splits; a template cannot be compiled for several instruction sets.
#define OBLIQUE_KERNELS(clones, ...)                                                                        \
  clones size_t divide_by(const __VA_ARGS__& sides, int32_t at, uint32_t* ids, size_t n, uint32_t* right) { \
    return divide_rows(sides, at, ids, n, right);                                                           \
  }                                                                                                         \
  clones void descend_by(const __VA_ARGS__& sides, OnTheWay* open, size_t n, int32_t* leaf) {               \
    step_down(Splits<__VA_ARGS__>{sides}, Numbers{}, open, n, leaf);                                        \
  }
OBLIQUE_KERNELS(OBLIQUE_CLONES, OneFeature<double>)
OBLIQUE_KERNELS(OBLIQUE_CLONES, OneFeature<float>)
OBLIQUE_KERNELS(OBLIQUE_NARROW, Screened<Narrow, true>)
OBLIQUE_KERNELS(OBLIQUE_NARROW, Screened<Narrow, false>)
#if defined(OBLIQUE_WIDE)
OBLIQUE_KERNELS(OBLIQUE_WIDE, Screened<Wide, true>)
OBLIQUE_KERNELS(OBLIQUE_WIDE, Screened<Wide, false>)
#endif
#undef OBLIQUE_KERNELS

// Whether numbers are neither missing nor infinite.
template <class T>
OBLIQUE_INLINE bool all_finite(const T* x, size_t n) {
  uint64_t carry = 0;
  for (size_t i = 0; i < n; ++i) {
    const double value = static_cast<double>(x[i]);
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    // An exponent of all ones carries into the sign bit.
    carry |= (bits & 0x7ff0000000000000u) + 0x0010000000000000u;
  }
  return carry >> 63 == 0;
}

// Copies rows to single precision, with padding by zeros, and records for each whether a value is missing or infinite.
// Updates the largest magnitudes of the features by the other rows.
template <class T>
OBLIQUE_INLINE void copy_rows(const T* __restrict x, size_t n, size_t p, size_t padded, float* __restrict out,
                              unsigned char* __restrict odd, double* __restrict largest) {
  for (size_t i = 0; i < n; ++i, x += p, out += padded) {
    odd[i] = all_finite(x, p) ? 0 : 1;
    if (odd[i]) continue;
    for (size_t j = 0; j < p; ++j) {
      const double value = static_cast<double>(x[j]), size = std::abs(value);
      out[j] = static_cast<float>(value);
      largest[j] = largest[j] < size ? size : largest[j];
    }
    for (size_t j = p; j < padded; ++j) out[j] = 0.0f;
  }
}

OBLIQUE_CLONES bool are_finite(const double* x, size_t n) { return all_finite(x, n); }
OBLIQUE_CLONES bool are_finite(const float* x, size_t n) { return all_finite(x, n); }
OBLIQUE_CLONES void copy_of(const double* x, size_t n, size_t p, size_t padded, float* out, unsigned char* odd,
                            double* largest) {
  copy_rows(x, n, p, padded, out, odd, largest);
}
OBLIQUE_CLONES void copy_of(const float* x, size_t n, size_t p, size_t padded, float* out, unsigned char* odd,
                            double* largest) {
  copy_rows(x, n, p, padded, out, odd, largest);
}

// Not a lambda: a lambda has no instruction set, and without inlining takes vectors from its caller in another form.
OBLIQUE_INLINE Eight sizes_of(Eight v) { return v < 0.0f ? -v : v; }

// The sum of |w_j| s_j over the coefficients of a split. features : as in Screened
OBLIQUE_CLONES float reach_of(const float* w, const int32_t* features, int32_t count, const float* s) {
  Narrow sum;
  for (int32_t g = 0; g < count; ++g) {
    const Narrow coef = Narrow::of(w + kLanes * static_cast<size_t>(g));
    const size_t j = features ? static_cast<size_t>(features[g]) : kLanes * static_cast<size_t>(g);
    sum.add_product({sizes_of(coef.low), sizes_of(coef.high)}, Narrow::of(s + j));
  }
  const Quad quarter = sum.quarter();
  return (quarter[0] + quarter[1]) + (quarter[2] + quarter[3]);
}

}  // namespace

struct BlockWalk::Buffers {
  struct Group {
    int32_t at;
    uint32_t first, last;
  };
  std::vector<Line> rows, scales;  // scales: largest magnitude of each feature, padded
  std::vector<double> largest, row;
  std::vector<Margin> margins;
  std::vector<unsigned char> odd;
  std::vector<uint32_t> ids, right;
  std::vector<Group> groups;
  std::vector<OnTheWay> open;
};

BlockWalk::BlockWalk(const FlatTree& tree) : tree_(tree), padded_((tree.n_features + kLanes - 1) / kLanes * kLanes) {
  const size_t p = tree.n_features;
  std::vector<int32_t> number(tree.n_nodes);  // of each node, in the form of Step::next
  int32_t n_splits = 0;
  size_t n_parts = 0;
  bool axes = true;
  const auto is_zero = [&](size_t node, size_t j) {
    const double* w = tree.weights + node * p;
    return std::all_of(w + j, w + std::min(j + kLanes, p), [](double c) { return c == 0.0; });
  };
  for (size_t node = 0; node < tree.n_nodes; ++node) {
    number[node] = tree.is_leaf(node) ? ~static_cast<int32_t>(node) : n_splits++;
    if (tree.is_leaf(node)) continue;
    axes = axes && tree.axis[node] >= 0;
    for (size_t j = 0; j < p; j += kLanes) n_parts += is_zero(node, j) ? 0 : 1;
  }
  const size_t all_parts = static_cast<size_t>(n_splits) * (padded_ / kLanes);
  layout_ = axes ? Layout::kAxes : (2 * n_parts <= all_parts ? Layout::kSparse : Layout::kDense);
  steps_.reserve(static_cast<size_t>(n_splits));
  if (layout_ != Layout::kAxes) coefs_.reserve(layout_ == Layout::kSparse ? n_parts : all_parts);
  for (size_t node = 0; node < tree.n_nodes; ++node) {
    if (tree.is_leaf(node)) continue;
    Step step{tree.thresholds[node],
              0.0,
              {number[tree.left[node]], number[tree.right[node]]},
              tree.axis[node],
              0,
              static_cast<int32_t>(node),
              tree.missing_left && tree.missing_left[node]};
    if (layout_ != Layout::kAxes) {
      step.first = static_cast<int32_t>(coefs_.size());
      const double* w = tree.weights + node * p;
      for (size_t j = 0; j < p; ++j) step.size += std::abs(w[j]);
      for (size_t j = 0; j < p; j += kLanes) {
        if (layout_ == Layout::kSparse && is_zero(node, j)) continue;
        if (layout_ == Layout::kSparse) features_.push_back(static_cast<int32_t>(j));
        Line& line = coefs_.emplace_back();
        for (size_t k = j; k < std::min(j + kLanes, p); ++k) line.values[k - j] = static_cast<float>(w[k]);
        ++step.count;
      }
    }
    steps_.push_back(step);
  }
}

template <class T>
bool BlockWalk::leaves_of(const T* x, size_t n, int n_threads, size_t block_rows, int32_t* leaf) const {
  constexpr size_t kBytes = 1048576, kFewest = 64, kMost = 4096;  // bytes of a block; limits of its rows
  constexpr size_t kWorthAThread = 4096;                          // rows
  const size_t row_bytes = layout_ == Layout::kAxes ? sizeof(T) * tree_.n_features : sizeof(float) * padded_;
  const size_t size = block_rows > 0 ? block_rows : std::clamp(kBytes / row_bytes, kFewest, kMost);
  const size_t threads = std::min(static_cast<size_t>(std::max(n_threads, 1)), 1 + n / kWorthAThread);
  std::atomic<bool> finite = true;
  on_threads((n + size - 1) / size, static_cast<int>(threads), [&]() {
    return [&, buffers = Buffers()](size_t block) mutable {
      const size_t from = block * size, count = std::min(size, n - from);
      if (!walk(x + from * tree_.n_features, count, buffers, leaf + from)) finite = false;
      checkpoint(4 * count * padded_);
    };
  });
  return finite;
}

// Finds the leaves of the rows of one block; returns whether all rows are finite.
template <class T>
bool BlockWalk::walk(const T* x, size_t n, Buffers& buffers, int32_t* leaf) const {
  buffers.right.resize(n);
  buffers.ids.resize(n);
  std::iota(buffers.ids.begin(), buffers.ids.end(), 0u);
  if (layout_ == Layout::kAxes) {
    const bool finite = are_finite(x, n * tree_.n_features);  // the rows are in the cache afterwards
    divide(OneFeature<T>{{x, tree_.n_features}, steps_.data()}, buffers, leaf);
    return finite;
  }
  buffers.row.resize(tree_.n_features);
  const Exact exact{tree_, x, buffers.row.data()};
  screen(x, n, buffers);
  // Rows with missing or infinite values go down separately.
  std::erase_if(buffers.ids, [&](uint32_t i) { return buffers.odd[i] != 0; });
  for (size_t i = 0; i < n && buffers.ids.size() < n; ++i) {
    if (!buffers.odd[i]) continue;
    const double* row = exact.of(i);
    leaf[i] = static_cast<int32_t>(leaf_below(tree_, 0, [&](size_t node) { return tree_.next(node, row); }));
  }
  const bool finite = buffers.ids.size() == n;
  const auto divide_screened = [&]<class V>(std::type_identity<V>) {
    const Rows<float> rows{buffers.rows.data()->values, padded_};
    const Margin* margins = buffers.margins.data();
    const float* coefs = coefs_.data()->values;
    if (layout_ == Layout::kDense)
      divide(Screened<V, true>{rows, steps_.data(), coefs, nullptr, margins, exact}, buffers, leaf);
    else
      divide(Screened<V, false>{rows, steps_.data(), coefs, features_.data(), margins, exact}, buffers, leaf);
  };
#if defined(OBLIQUE_WIDE)
  if (kernels.avx512) {
    divide_screened(std::type_identity<Wide>());
    return finite;
  }
#endif
  divide_screened(std::type_identity<Narrow>());
  return finite;
}

// Rows in single precision, and for every split the margin that errors cannot cross. For a sum of p terms in any order
// the error is at most (p + 2) u sum |w_j x_j|, u the unit of single precision (Higham, Accuracy and Stability of
// Numerical Algorithms, 3.1), and underflow costs less than 2^-148 a term.
template <class T>
void BlockWalk::screen(const T* x, size_t n, Buffers& buffers) const {
  constexpr float kOverflow = 1e37f;       // of a sum, which has an infinite part where a number is too large
  constexpr size_t kFeatures = 1u << 20u;  // with more features the bound is too wide
  const size_t p = tree_.n_features;
  buffers.rows.resize(n * padded_ / kLanes);
  buffers.odd.resize(n);
  buffers.largest.assign(p, 0.0);
  copy_of(x, n, p, padded_, buffers.rows.data()->values, buffers.odd.data(), buffers.largest.data());
  buffers.scales.assign(padded_ / kLanes, Line{});
  float* scales = buffers.scales.data()->values;
  double sum = 0.0;
  for (size_t j = 0; j < p; ++j) {
    scales[j] = static_cast<float>(buffers.largest[j]);
    sum += buffers.largest[j];
  }
  const double terms = static_cast<double>(p), unit = 1.5 * (terms + 8.0) * 0x1p-24;
  buffers.margins.resize(steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const size_t first = step.first;
    const int32_t* features = layout_ == Layout::kSparse ? features_.data() + first : nullptr;
    const float reach = reach_of(coefs_.data()->values + kLanes * first, features, step.count, scales);
    double error = std::numeric_limits<double>::infinity();
    if (p <= kFeatures && reach < kOverflow)
      error = unit * static_cast<double>(reach) + 0x1p-140 * (step.size + sum + terms);
    // The ends are rounded too: the bound is wider than their rounding, or the threshold is far beyond all products.
    buffers.margins[i] = {static_cast<float>(step.threshold - error), static_cast<float>(step.threshold + error)};
  }
}

template <class Sides>
void BlockWalk::divide(const Sides& sides, Buffers& buffers, int32_t* leaf) const {
  constexpr uint32_t kGroup = 4;  // rows that are divided together
  buffers.open.clear();
  buffers.groups.clear();
  const auto go_on = [&](int32_t at, uint32_t first, uint32_t last) {
    if (at < 0)
      for (uint32_t i = first; i < last; ++i) leaf[buffers.ids[i]] = ~at;
    else if (last - first < kGroup)
      for (uint32_t i = first; i < last; ++i) buffers.open.push_back({buffers.ids[i], at});
    else
      buffers.groups.push_back({at, first, last});
  };
  go_on(0, 0, static_cast<uint32_t>(buffers.ids.size()));
  while (!buffers.groups.empty()) {
    const Buffers::Group group = buffers.groups.back();
    buffers.groups.pop_back();
    const Step& step = steps_[group.at];
    uint32_t* ids = buffers.ids.data() + group.first;
    const size_t left = divide_by(sides, group.at, ids, group.last - group.first, buffers.right.data());
    const uint32_t middle = group.first + static_cast<uint32_t>(left);
    go_on(step.next[1], middle, group.last);
    go_on(step.next[0], group.first, middle);
  }
  descend_by(sides, buffers.open.data(), buffers.open.size(), leaf);
}

template bool BlockWalk::leaves_of(const double*, size_t, int, size_t, int32_t*) const;
template bool BlockWalk::leaves_of(const float*, size_t, int, size_t, int32_t*) const;

}  // namespace oblique
