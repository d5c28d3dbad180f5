#include "tree/block_walk.hpp"

#include <algorithm>
#include <cstring>

#include "common/clones.hpp"
#include "common/interrupt.hpp"
#include "common/threads.hpp"

namespace oblique {

namespace {

using Step = BlockWalk::Step;

// The four lanes of dot_row: every product below has its bits.
typedef double Four __attribute__((vector_size(32)));

OBLIQUE_INLINE Four four(const double* p) {
  Four v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// A block of rows as the kernels read it, `stride` apart.
struct Rows {
  const double* x;
  std::size_t stride;
  OBLIQUE_INLINE const double* operator[](std::size_t row) const { return x + row * stride; }
};

// The product that decides the side of a row, for one row and for four.
struct OneFeature {
  OBLIQUE_INLINE double of(const Step& step, const double* row) const { return row[step.first]; }
  OBLIQUE_INLINE void of_four(const Step& step, const double* const row[4], double z[4]) const {
    for (int r = 0; r < 4; ++r) z[r] = row[r][step.first];
  }
};

// features : the first feature of each four of coefficients; nullptr if a split has them all
template <bool all>
struct Fours {
  const double* coefs;
  const std::int32_t* features;

  OBLIQUE_INLINE std::size_t feature(const Step& step, std::int32_t g) const {
    return all ? 4 * static_cast<std::size_t>(g) : static_cast<std::size_t>(features[step.first + g]);
  }
  OBLIQUE_INLINE double of(const Step& step, const double* row) const {
    const double* w = coefs + 4 * static_cast<std::size_t>(step.first);
    Four sum = {};
    for (std::int32_t g = 0; g < step.count; ++g)
      sum += four(w + 4 * static_cast<std::size_t>(g)) * four(row + feature(step, g));
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
  OBLIQUE_INLINE void of_four(const Step& step, const double* const row[4], double z[4]) const {
    const double* w = coefs + 4 * static_cast<std::size_t>(step.first);
    Four a = {}, b = {}, c = {}, d = {};
    for (std::int32_t g = 0; g < step.count; ++g) {
      const Four coef = four(w + 4 * static_cast<std::size_t>(g));
      const std::size_t j = feature(step, g);
      a += coef * four(row[0] + j);
      b += coef * four(row[1] + j);
      c += coef * four(row[2] + j);
      d += coef * four(row[3] + j);
    }
    // Lanes of the four rows side by side, then two additions for all of them.
    const Four even = Four{a[0], b[0], a[2], b[2]} + Four{a[1], b[1], a[3], b[3]};
    const Four odd = Four{c[0], d[0], c[2], d[2]} + Four{c[1], d[1], c[3], d[3]};
    const Four sums = Four{even[0], even[1], odd[0], odd[1]} + Four{even[2], even[3], odd[2], odd[3]};
    std::memcpy(z, &sums, sizeof sums);
  }
};

// Divides the rows of a node: those that go left stay in front of ids[0..n), the others follow. Both keep their order.
// right : room for n. Returns how many go left.
template <class Product>
OBLIQUE_INLINE std::size_t divide_rows(const Product& product, const Step& step, Rows rows,
                                       std::uint32_t* __restrict ids, std::size_t n, std::uint32_t* __restrict right) {
  std::size_t l = 0, r = 0, i = 0;
  const auto place = [&](std::uint32_t id, double z) {
    const std::size_t goes_right = z <= step.threshold ? 0 : 1;
    ids[l] = id;
    right[r] = id;
    l += 1 - goes_right;
    r += goes_right;
  };
  for (; i + 4 <= n; i += 4) {
    const std::uint32_t id[4] = {ids[i], ids[i + 1], ids[i + 2], ids[i + 3]};
    const double* const row[4] = {rows[id[0]], rows[id[1]], rows[id[2]], rows[id[3]]};
    double z[4];
    product.of_four(step, row, z);
    for (int k = 0; k < 4; ++k) place(id[k], z[k]);
  }
  for (; i < n; ++i) place(ids[i], product.of(step, rows[ids[i]]));
  std::memcpy(ids + l, right, r * sizeof *ids);
  return l;
}

// Steps as `step_down` takes them.
template <class Product>
struct Splits {
  const Product& product;
  const Step* steps;
  OBLIQUE_INLINE std::int32_t next(std::int32_t at, const double* row) const {
    const Step& step = steps[at];
    return step.next[product.of(step, row) <= step.threshold ? 0 : 1];
  }
  OBLIQUE_INLINE bool goes_on(std::int32_t number) const { return number >= 0; }
  OBLIQUE_INLINE std::int32_t leaf(std::int32_t number) const { return ~number; }
};

// Both for every layout; a template cannot be compiled for several instruction sets.
#define OBLIQUE_KERNELS(Product)                                                                                      \
  OBLIQUE_CLONES std::size_t divide_by(const Product& product, const Step& step, Rows rows, std::uint32_t* ids,       \
                                       std::size_t n, std::uint32_t* right) {                                         \
    return divide_rows(product, step, rows, ids, n, right);                                                           \
  }                                                                                                                   \
  OBLIQUE_CLONES void descend_by(const Product& product, const Step* steps, Rows rows, OnTheWay* open, std::size_t n, \
                                 std::int32_t* leaf) {                                                                \
    step_down(Splits<Product>{product, steps}, rows, open, n, leaf);                                                  \
  }
OBLIQUE_KERNELS(OneFeature)
OBLIQUE_KERNELS(Fours<true>)
OBLIQUE_KERNELS(Fours<false>)
#undef OBLIQUE_KERNELS

// Copies rows, padded with zeros, and says of each whether a value is missing or infinite.
template <class T>
OBLIQUE_INLINE void copy_rows(const T* __restrict x, std::size_t n, std::size_t p, std::size_t padded,
                              double* __restrict out, unsigned char* __restrict odd) {
  for (std::size_t i = 0; i < n; ++i, x += p, out += padded) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < p; ++j) {
      const double value = static_cast<double>(x[j]);
      std::uint64_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      // An exponent of all ones carries into the place of the sign.
      carry |= (bits & 0x7ff0000000000000u) + 0x0010000000000000u;
      out[j] = value;
    }
    for (std::size_t j = p; j < padded; ++j) out[j] = 0.0;
    odd[i] = static_cast<unsigned char>(carry >> 63);
  }
}

OBLIQUE_CLONES void copy_of(const double* x, std::size_t n, std::size_t p, std::size_t padded, double* out,
                            unsigned char* odd) {
  copy_rows(x, n, p, padded, out, odd);
}
OBLIQUE_CLONES void copy_of(const float* x, std::size_t n, std::size_t p, std::size_t padded, double* out,
                            unsigned char* odd) {
  copy_rows(x, n, p, padded, out, odd);
}

}  // namespace

struct BlockWalk::Buffers {
  struct Group {
    std::int32_t at;
    std::uint32_t first, last;
  };
  std::vector<double> rows;
  std::vector<unsigned char> odd;
  std::vector<std::uint32_t> ids, right;
  std::vector<Group> groups;
  std::vector<OnTheWay> open;
};

BlockWalk::BlockWalk(const FlatTree& tree) : tree_(tree), padded_((tree.n_features + 3) / 4 * 4) {
  const std::size_t p = tree.n_features;
  std::vector<std::int32_t> number(tree.n_nodes);  // of each node, as in Step::next
  std::int32_t n_splits = 0;
  std::size_t n_fours = 0;
  bool axes = true;
  const auto is_zero = [&](std::size_t node, std::size_t j) {
    const double* w = tree.weights + node * p;
    return std::all_of(w + j, w + std::min(j + 4, p), [](double c) { return c == 0.0; });
  };
  for (std::size_t node = 0; node < tree.n_nodes; ++node) {
    number[node] = tree.is_leaf(node) ? ~static_cast<std::int32_t>(node) : n_splits++;
    if (tree.is_leaf(node)) continue;
    axes = axes && tree.axis[node] >= 0;
    for (std::size_t j = 0; j < p; j += 4) n_fours += is_zero(node, j) ? 0 : 1;
  }
  const std::size_t all_fours = static_cast<std::size_t>(n_splits) * (padded_ / 4);
  layout_ = axes ? Layout::kAxes : (2 * n_fours <= all_fours ? Layout::kSparse : Layout::kDense);
  steps_.reserve(static_cast<std::size_t>(n_splits));
  if (layout_ != Layout::kAxes) coefs_.reserve(4 * (layout_ == Layout::kSparse ? n_fours : all_fours));
  for (std::size_t node = 0; node < tree.n_nodes; ++node) {
    if (tree.is_leaf(node)) continue;
    Step step{tree.thresholds[node], {number[tree.left[node]], number[tree.right[node]]}, tree.axis[node], 0};
    if (layout_ != Layout::kAxes) {
      step.first = static_cast<std::int32_t>(coefs_.size() / 4);
      const double* w = tree.weights + node * p;
      for (std::size_t j = 0; j < p; j += 4) {
        if (layout_ == Layout::kSparse && is_zero(node, j)) continue;
        if (layout_ == Layout::kSparse) features_.push_back(static_cast<std::int32_t>(j));
        for (std::size_t k = j; k < j + 4; ++k) coefs_.push_back(k < p ? w[k] : 0.0);
        ++step.count;
      }
    }
    steps_.push_back(step);
  }
}

template <class T>
void BlockWalk::leaves_of(const T* x, std::size_t n, int n_threads, std::size_t block_rows, std::int32_t* leaf) const {
  if (steps_.empty()) {
    std::fill_n(leaf, n, 0);
    return;
  }
  constexpr std::size_t kBytes = 1048576, kFewest = 64, kMost = 4096;  // of a block, and its rows
  constexpr std::size_t kWorthAThread = 4096;                          // rows
  const std::size_t size =
      block_rows > 0 ? block_rows : std::clamp(kBytes / (sizeof(double) * padded_), kFewest, kMost);
  const std::size_t threads = std::min(static_cast<std::size_t>(std::max(n_threads, 1)), 1 + n / kWorthAThread);
  on_threads((n + size - 1) / size, static_cast<int>(threads), [&]() {
    return [&, buffers = Buffers()](std::size_t block) mutable {
      const std::size_t from = block * size, count = std::min(size, n - from);
      walk(x + from * tree_.n_features, count, buffers, leaf + from);
      checkpoint(4 * count * padded_);
    };
  });
}

// The rows of one block.
template <class T>
void BlockWalk::walk(const T* x, std::size_t n, Buffers& buffers, std::int32_t* leaf) const {
  const std::size_t p = tree_.n_features;
  buffers.rows.resize(n * padded_);
  buffers.odd.resize(n);
  buffers.right.resize(n);
  buffers.ids.clear();
  copy_of(x, n, p, padded_, buffers.rows.data(), buffers.odd.data());
  for (std::size_t i = 0; i < n; ++i) {
    if (!buffers.odd[i]) {
      buffers.ids.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    // A node has its own way with such a row.
    const double* row = buffers.rows.data() + i * padded_;
    leaf[i] = static_cast<std::int32_t>(leaf_below(tree_, 0, [&](std::size_t node) { return tree_.next(node, row); }));
  }
  switch (layout_) {
    case Layout::kAxes: return divide(OneFeature{}, buffers, leaf);
    case Layout::kDense: return divide(Fours<true>{coefs_.data(), nullptr}, buffers, leaf);
    case Layout::kSparse: return divide(Fours<false>{coefs_.data(), features_.data()}, buffers, leaf);
  }
}

template <class Product>
void BlockWalk::divide(const Product& product, Buffers& buffers, std::int32_t* leaf) const {
  constexpr std::uint32_t kGroup = 8;  // rows that are divided together
  const Rows rows{buffers.rows.data(), padded_};
  buffers.open.clear();
  buffers.groups.clear();
  const auto go_on = [&](std::int32_t at, std::uint32_t first, std::uint32_t last) {
    if (at < 0)
      for (std::uint32_t i = first; i < last; ++i) leaf[buffers.ids[i]] = ~at;
    else if (last - first < kGroup)
      for (std::uint32_t i = first; i < last; ++i) buffers.open.push_back({buffers.ids[i], at});
    else
      buffers.groups.push_back({at, first, last});
  };
  go_on(0, 0, static_cast<std::uint32_t>(buffers.ids.size()));
  while (!buffers.groups.empty()) {
    const Buffers::Group group = buffers.groups.back();
    buffers.groups.pop_back();
    const Step& step = steps_[group.at];
    std::uint32_t* ids = buffers.ids.data() + group.first;
    const std::size_t left = divide_by(product, step, rows, ids, group.last - group.first, buffers.right.data());
    const std::uint32_t middle = group.first + static_cast<std::uint32_t>(left);
    go_on(step.next[1], middle, group.last);
    go_on(step.next[0], group.first, middle);
  }
  descend_by(product, steps_.data(), rows, buffers.open.data(), buffers.open.size(), leaf);
}

template void BlockWalk::leaves_of(const double*, std::size_t, int, std::size_t, std::int32_t*) const;
template void BlockWalk::leaves_of(const float*, std::size_t, int, std::size_t, std::int32_t*) const;

}  // namespace oblique
