#include "common/kernels.hpp"

#include "common/clones.hpp"

// GCC 12 and Clang have one of these builtins.
#if defined(__clang__) || __GNUC__ >= 12
#define OBLIQUE_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define OBLIQUE_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, decltype(a){__VA_ARGS__})
#endif

namespace oblique {

namespace {
constexpr size_t kLanes = 8;
}

const std::vector<std::string>& kernel_sets() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names{"baseline"};
#if defined(OBLIQUE_WIDE)
    if (kernels_of_processor().avx2) names.push_back("avx2");
    if (kernels_of_processor().avx512) names.push_back("avx512");
#endif
    return names;
  }();
  return all;
}

std::string used_kernels() {
#if defined(OBLIQUE_WIDE)
  if (kernels.avx2) return kernels.avx512 ? "avx512" : "avx2";
#endif
  return "baseline";
}

void use_kernels(const std::string& name) {
  const std::vector<std::string>& names = kernel_sets();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::string list;
    for (const std::string& each : names) list += (list.empty() ? "" : " or ") + each;
    throw std::invalid_argument("OBLIQUE_KERNELS must be a set of instructions that this processor has: " + list +
                                ". Got '" + name.substr(0, 40) + "'.");
  }
#if defined(OBLIQUE_WIDE)
  kernels = kernels_of_processor();
  kernels.avx512 = kernels.avx512 && name == "avx512";
  kernels.bytes = kernels.bytes && name == "avx512";
  kernels.avx2 = kernels.avx2 && name != "baseline";
#endif
}

OBLIQUE_CLONES
Range project_reflected(const double* __restrict x, const double* __restrict w, double c, double* __restrict z,
                        size_t n) {
  double low = x[0] - c * w[0], high = low;
  for (size_t i = 0; i < n; ++i) {
    const double value = x[i] - c * w[i];
    z[i] = value;
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  return {low, high};
}

OBLIQUE_CLONES
Range range_of_reflected(const double* __restrict x, const double* __restrict w, double c, size_t n) {
  double low = x[0] - c * w[0], high = low;
  for (size_t i = 0; i < n; ++i) {
    const double value = x[i] - c * w[i];
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  return {low, high};
}

OBLIQUE_CLONES
Range range_of(const double* __restrict z, size_t n) {
  double low = z[0], high = z[0];
  for (size_t i = 0; i < n; ++i) {
    low = z[i] < low ? z[i] : low;
    high = z[i] > high ? z[i] : high;
  }
  return {low, high};
}

OBLIQUE_CLONES
void count_below(const double* __restrict z, size_t n, const double* __restrict values, size_t m,
                 uint32_t* __restrict below) {
  for (size_t first = 0; first < m; first += kLanes) {
    double value[kLanes];
    int64_t count[kLanes] = {};
    for (size_t k = 0; k < kLanes; ++k) value[k] = values[first + k < m ? first + k : m - 1];
    for (size_t i = 0; i < n; ++i)
      for (size_t k = 0; k < kLanes; ++k) count[k] += z[i] < value[k] ? 1 : 0;
    for (size_t k = 0; k < kLanes && first + k < m; ++k) below[first + k] = static_cast<uint32_t>(count[k]);
  }
}

OBLIQUE_CLONES
float largest_of(const float* __restrict x, size_t n) {
  float largest = x[0];
  for (size_t i = 0; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

OBLIQUE_CLONES
double largest_of(const double* __restrict x, size_t n) {
  double largest = x[0];
  for (size_t i = 0; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

OBLIQUE_CLONES
void combine_columns(const double* const* columns, const double* u, size_t p, double* __restrict out, size_t n) {
  // One stretch of rows at a time, so that the sums stay in the nearest cache.
  constexpr size_t stretch = 1024;
  for (size_t first = 0; first < n; first += stretch) {
    const size_t count = n - first < stretch ? n - first : stretch;
    double* __restrict sum = out + first;
    size_t j = 1;
    for (size_t i = 0; i < count; ++i) sum[i] = u[0] * columns[0][first + i];
    for (; j + 4 <= p; j += 4) {
      const double* __restrict a = columns[j] + first;
      const double* __restrict b = columns[j + 1] + first;
      const double* __restrict c = columns[j + 2] + first;
      const double* __restrict d = columns[j + 3] + first;
      for (size_t i = 0; i < count; ++i)
        sum[i] = (((sum[i] + u[j] * a[i]) + u[j + 1] * b[i]) + u[j + 2] * c[i]) + u[j + 3] * d[i];
    }
    for (; j < p; ++j) {
      const double* __restrict x = columns[j] + first;
      for (size_t i = 0; i < count; ++i) sum[i] += u[j] * x[i];
    }
  }
}

OBLIQUE_CLONES
void add_scaled(double a, const double* __restrict x, double* __restrict y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

OBLIQUE_CLONES
void add_dot(const double* __restrict x, const double* __restrict y, size_t n, double* __restrict lanes) {
  double sum[kLanes];
  for (size_t k = 0; k < kLanes; ++k) sum[k] = lanes[k];
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k) sum[k] += x[i + k] * y[i + k];
  }
  for (; i < n; ++i) sum[0] += x[i] * y[i];
  for (size_t k = 0; k < kLanes; ++k) lanes[k] = sum[k];
}

double sum_of_lanes(const double* lanes) {
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

double dot_columns(const double* x, const double* y, size_t n) {
  double lanes[kLanes] = {};
  add_dot(x, y, n, lanes);
  return sum_of_lanes(lanes);
}

OBLIQUE_INLINE double add_up_row(const double* __restrict w, const double* __restrict x, size_t p) {
  double sum[4] = {0, 0, 0, 0};
  size_t j = 0;
  for (; j + 4 <= p; j += 4) {
    for (size_t k = 0; k < 4; ++k) sum[k] += w[j + k] * x[j + k];
  }
  for (size_t k = 0; j < p; ++j, ++k) sum[k] += w[j] * x[j];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

OBLIQUE_CLONES
double dot_row(const double* w, const double* x, size_t p) { return add_up_row(w, x, p); }

OBLIQUE_CLONES
void dot_rows(const double* w, const double* x, const uint32_t* rows, size_t n, size_t p, double* z) {
  for (size_t i = 0; i < n; ++i) z[i] = add_up_row(w, x + rows[i] * p, p);
}

OBLIQUE_CLONES
void bin_rows(const double* __restrict z, double low, double scale, int n_bins, uint8_t* __restrict bins, size_t n) {
  const int last = n_bins - 1;
  for (size_t i = 0; i < n; ++i) {
    const int bin = static_cast<int>((z[i] - low) * scale);
    bins[i] = static_cast<uint8_t>(bin < last ? bin : last);
  }
}

OBLIQUE_CLONES
void part_rows(const double* __restrict z, double low, double scale, const int* __restrict first,
               const double* __restrict parts, uint8_t* __restrict bins, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const int bin = bins[i];
    const double along = ((z[i] - low) * scale - bin) * parts[bin], last = parts[bin] - 1.0;
    bins[i] = static_cast<uint8_t>(first[bin] + static_cast<int>(along < last ? along : last));
  }
}

OBLIQUE_CLONES
Range step_keys(const double* __restrict v, const double* __restrict c, double scale, double* __restrict keys,
                size_t n) {
  constexpr double tiny = 1e-300;  // 0 / 0 is 0
  double low = 2.0, high = -2.0;
  for (size_t i = 0; i < n; ++i) {
    const double size = c[i] < 0.0 ? -c[i] : c[i], value = v[i] < 0.0 ? -v[i] : v[i];
    const double key = (c[i] < 0.0 ? -v[i] : v[i]) / (scale * size + value + tiny);
    keys[i] = key;
    low = key < low ? key : low;
    high = key > high ? key : high;
  }
  return {low, high};
}

OBLIQUE_CLONES
double largest_magnitude(const double* __restrict v, size_t n) {
  double largest = 0.0;
  for (size_t i = 0; i < n; ++i) {
    const double value = v[i] < 0.0 ? -v[i] : v[i];
    largest = value > largest ? value : largest;
  }
  return largest;
}

OBLIQUE_CLONES
size_t count_left(const double* __restrict v, const double* __restrict c, double t, size_t n) {
  int64_t left = 0;
  for (size_t i = 0; i < n; ++i) left += v[i] - t * c[i] <= 0.0 ? 1 : 0;
  return static_cast<size_t>(left);
}

OBLIQUE_CLONES
double weigh_left(const double* __restrict v, const double* __restrict c, double t, const double* __restrict weights,
                  size_t n) {
  double left = 0.0;
  for (size_t i = 0; i < n; ++i) left += v[i] - t * c[i] <= 0.0 ? weights[i] : 0.0;
  return left;
}

OBLIQUE_CLONES
void sort_few(uint64_t* __restrict keys, size_t n) {
  int64_t sorted[64], all[64];
  const size_t padded = (n + 7) / 8 * 8;
  constexpr uint64_t sign = uint64_t{1} << 63;  // vector instructions compare signed numbers
  for (size_t i = 0; i < n; ++i) all[i] = static_cast<int64_t>(keys[i] ^ sign);
  for (size_t i = n; i < padded; ++i) all[i] = INT64_MAX;
  uint64_t used = 0;
  for (size_t i = 0; i < n; ++i) {
    const int64_t key = all[i];
    int64_t smaller = 0;
    for (size_t j = 0; j < padded; ++j) smaller += all[j] < key ? 1 : 0;
    // Equal keys take successive places.
    const int place = static_cast<int>(smaller) + __builtin_ctzll(~(used >> smaller));
    used |= uint64_t{1} << place;
    sorted[place] = key;
  }
  for (size_t i = 0; i < n; ++i) keys[i] = static_cast<uint64_t>(sorted[i]) ^ sign;
}

void cumulate(const double* __restrict weights, int n_bins, double* __restrict cum) {
  double sum = 0.0;
  cum[0] = 0.0;
  for (int b = 0; b < n_bins; ++b) {
    sum += weights[b];
    cum[b + 1] = sum;
  }
}

namespace {

template <class T, int W>
inline constexpr int kWidth = W / static_cast<int>(sizeof(T));

template <class T, int W>
OBLIQUE_INLINE Pack<T, W> load(const T* p) {
  Pack<T, W> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T, int W>
OBLIQUE_INLINE void store(T* p, Pack<T, W> v) {
  std::memcpy(p, &v, sizeof v);
}
template <class T, int W>
OBLIQUE_INLINE Pack<T, W> larger(Pack<T, W> a, Pack<T, W> b) {
  return a > b ? a : b;
}

template <class T, int W>
OBLIQUE_INLINE void edge_sums_of(const ClassEdges<T>& edges, const EdgeSums<T>& out) {
  for (int e = 0; e < edges.n_edges; e += kWidth<T, W>) {
    Pack<T, W> s = {}, q = {}, r = {}, left = {}, right = {};
    for (int k = 0; k < edges.n_classes; ++k) {
      const Pack<T, W> l = load<T, W>(edges.cum + static_cast<size_t>(k) * edges.stride + e);
      const Pack<T, W> rest = edges.totals[k] - l;
      s += l;
      q += l * l;
      r += rest * rest;
      left = larger<T, W>(left, l);
      right = larger<T, W>(right, rest);
    }
    store<T, W>(out.s + e, s);
    store<T, W>(out.left_square + e, q);
    store<T, W>(out.right_square + e, r);
    store<T, W>(out.left_max + e, left);
    store<T, W>(out.right_max + e, right);
  }
}

template <int W>
OBLIQUE_INLINE void combine_four_of(const double* const* columns, const double* const* u, size_t p, double* const* out,
                                    size_t n) {
  constexpr size_t width = kWidth<double, W>;
  size_t i = 0;
  for (; i + 2 * width <= n; i += 2 * width) {
    Pack<double, W> sum[4][2];
    const Pack<double, W> x0 = load<double, W>(columns[0] + i), x1 = load<double, W>(columns[0] + i + width);
    for (int q = 0; q < 4; ++q) {
      sum[q][0] = u[q][0] * x0;
      sum[q][1] = u[q][0] * x1;
    }
    for (size_t j = 1; j < p; ++j) {
      const Pack<double, W> a = load<double, W>(columns[j] + i), b = load<double, W>(columns[j] + i + width);
      for (int q = 0; q < 4; ++q) {
        sum[q][0] += u[q][j] * a;
        sum[q][1] += u[q][j] * b;
      }
    }
    for (int q = 0; q < 4; ++q) {
      store<double, W>(out[q] + i, sum[q][0]);
      store<double, W>(out[q] + i + width, sum[q][1]);
    }
  }
  for (; i < n; ++i)
    for (int q = 0; q < 4; ++q) {
      double sum = u[q][0] * columns[0][i];
      for (size_t j = 1; j < p; ++j) sum += u[q][j] * columns[j][i];
      out[q][i] = sum;
    }
}

// Least and greatest left weight of a cut within each bin, above that of its left edge; each side has at least one row.
template <class T, int W>
struct Limits {
  Pack<T, W> lo, hi;
};
template <class T, int W>
OBLIQUE_INLINE Limits<T, W> limits(const T* s, int b, T n) {
  const Pack<T, W> zero = {}, unit = zero + 1, most = zero + (n - 1);
  const Pack<T, W> left = load<T, W>(s + b) + unit, right = load<T, W>(s + b + 1);
  const Pack<T, W> lo = left < most ? left : most;
  return {lo, larger<T, W>(right < most ? right : most, lo)};
}

template <class T, int W>
OBLIQUE_INLINE void gini_bounds_of(const ClassEdges<T>& edges, const EdgeSums<T>& sums, T n, T* bound) {
  const Pack<T, W> zero = {}, unit = zero + 1;
  for (int b = 0; b + 1 < edges.n_edges; b += kWidth<T, W>) {
    const Limits<T, W> at = limits<T, W>(sums.s, b, n);
    const Pack<T, W> inv_lo = 1 / at.lo, inv_nlo = 1 / (n - at.lo), inv_hi = 1 / at.hi, inv_nhi = 1 / (n - at.hi);
    const Pack<T, W> s = load<T, W>(sums.s + b), q = load<T, W>(sums.left_square + b),
                     r = load<T, W>(sums.right_square + b);
    const Pack<T, W> q1 = load<T, W>(sums.left_square + b + 1), r1 = load<T, W>(sums.right_square + b + 1);
    // Best multiplier: |p_L|^2 - |p_R|^2, here with the squares averaged over the two edges of the bin.
    const Pack<T, W> twice = s + load<T, W>(sums.s + b + 1);
    const Pack<T, W> is = 2 / larger<T, W>(twice, unit), ir = 2 / larger<T, W>(2 * n - twice, unit);
    const Pack<T, W> multiplier = ((q + q1) * is * is - (r + r1) * ir * ir) / 2;
    Pack<T, W> at_lo = {}, at_hi = {};
    for (int k = 0; k < edges.n_classes; ++k) {
      const T* row = edges.cum + static_cast<size_t>(k) * edges.stride + b;
      const Pack<T, W> left = load<T, W>(row), right = load<T, W>(row + 1);
      const Pack<T, W> d = right - left, sum = left + right, rest = 2 * edges.totals[k] - sum;
      at_lo += d * larger<T, W>(sum * inv_lo - rest * inv_nlo - multiplier, zero);
      at_hi += d * larger<T, W>(sum * inv_hi - rest * inv_nhi - multiplier, zero);
    }
    at_lo += multiplier * (at.lo - s) + q * inv_lo + r * inv_nlo;
    at_hi += multiplier * (at.hi - s) + q * inv_hi + r * inv_nhi;
    // Where s is small, sum l^2 / s is better bounded by the largest class on that side; likewise on the right.
    const Pack<T, W> left_cap = load<T, W>(sums.left_max + b + 1) + r * inv_nhi;
    const Pack<T, W> right_cap = load<T, W>(sums.right_max + b) + q1 * inv_lo;
    const Pack<T, W> cap = left_cap < right_cap ? left_cap : right_cap, best = larger<T, W>(at_lo, at_hi);
    store<T, W>(bound + b, best < cap ? best : cap);
  }
}

template <class T, int W>
OBLIQUE_INLINE void twoing_bounds_of(const ClassEdges<T>& edges, const EdgeSums<T>& sums, T n, T* bound) {
  const Pack<T, W> zero = {}, unit = zero + 1;
  for (int b = 0; b + 1 < edges.n_edges; b += kWidth<T, W>) {
    const Limits<T, W> at = limits<T, W>(sums.s, b, n);
    // With y = l - N s / n at the middle of the bin, F = sum |y| and M = sum N sign(y), the best multiplier is
    // -(M / n + F (n - 2s) / (2 s (n - s))), and any between -1 and 1 is valid.
    const Pack<T, W> middle = (load<T, W>(sums.s + b) + load<T, W>(sums.s + b + 1)) / 2;
    const Pack<T, W> share = middle / n;
    Pack<T, W> size = {}, signs = {};
    for (int k = 0; k < edges.n_classes; ++k) {
      const T* row = edges.cum + static_cast<size_t>(k) * edges.stride + b;
      const T total = edges.totals[k];
      const Pack<T, W> y = (load<T, W>(row) + load<T, W>(row + 1)) / 2 - total * share;
      size += larger<T, W>(y, -y);
      signs += y > zero ? zero + total : (y < zero ? zero - total : zero);
    }
    const Pack<T, W> spread = larger<T, W>(2 * middle * (n - middle), unit);
    const Pack<T, W> wanted = -(signs / n + size * (n - 2 * middle) / spread);
    const Pack<T, W> capped = wanted < unit ? wanted : unit, multiplier = larger<T, W>(capped, -unit);
    const Pack<T, W> share_lo = at.lo / n, share_hi = at.hi / n;
    Pack<T, W> at_lo = {}, at_hi = {};
    for (int k = 0; k < edges.n_classes; ++k) {
      const T* row = edges.cum + static_cast<size_t>(k) * edges.stride + b;
      const T total = edges.totals[k];
      const Pack<T, W> left = load<T, W>(row), right = load<T, W>(row + 1);
      const Pack<T, W> a = left - total * share_lo, c = right - total * share_lo;
      const Pack<T, W> e = left - total * share_hi, f = right - total * share_hi;
      at_lo += larger<T, W>(larger<T, W>(a, -a) + multiplier * a, larger<T, W>(c, -c) + multiplier * c);
      at_hi += larger<T, W>(larger<T, W>(e, -e) + multiplier * e, larger<T, W>(f, -f) + multiplier * f);
    }
    const Pack<T, W> value_lo = at_lo * at_lo / (4 * at.lo * (n - at.lo));
    const Pack<T, W> value_hi = at_hi * at_hi / (4 * at.hi * (n - at.hi));
    // sum |y| is at most 2 s and at most 2 (n - s): tight where s or n - s is tiny.
    const Pack<T, W> left_cap = at.hi / (n - at.hi), right_cap = (n - at.lo) / at.lo;
    const Pack<T, W> cap = left_cap < right_cap ? left_cap : right_cap, best = larger<T, W>(value_lo, value_hi);
    store<T, W>(bound + b, best < cap ? best : cap);
  }
}

// Running sums of counts, in a logarithmic number of steps; an index beyond them reads from `zero`.
template <int W>
OBLIQUE_INLINE void cumulate_of(uint32_t* __restrict counts, uint32_t* __restrict more, int n_bins,
                                float* __restrict cum) {
  using Ints = Pack<int32_t, W>;
  const Ints zero = {};
  Ints before = {};
  cum[0] = 0.0f;
  for (int b = 0; b < n_bins; b += kWidth<float, W>) {
    Ints x, y;
    std::memcpy(&x, counts + b, sizeof x);
    std::memcpy(&y, more + b, sizeof y);
    std::memcpy(counts + b, &zero, sizeof zero);
    std::memcpy(more + b, &zero, sizeof zero);
    x += y;
    if constexpr (W == 32) {
      x += OBLIQUE_SHUFFLE(x, zero, 8, 0, 1, 2, 3, 4, 5, 6);
      x += OBLIQUE_SHUFFLE(x, zero, 8, 8, 0, 1, 2, 3, 4, 5);
      x += OBLIQUE_SHUFFLE(x, zero, 8, 8, 8, 8, 0, 1, 2, 3);
    } else {
      x += OBLIQUE_SHUFFLE(x, zero, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
      x += OBLIQUE_SHUFFLE(x, zero, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
      x += OBLIQUE_SHUFFLE(x, zero, 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
      x += OBLIQUE_SHUFFLE(x, zero, 16, 16, 16, 16, 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7);
    }
    x += before;
    if constexpr (W == 32)
      before = OBLIQUE_SHUFFLE(x, x, 7, 7, 7, 7, 7, 7, 7, 7);
    else
      before = OBLIQUE_SHUFFLE(x, x, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15);
    const Pack<float, W> sums = __builtin_convertvector(x, Pack<float, W>);
    std::memcpy(cum + b + 1, &sums, sizeof sums);
  }
}

}  // namespace

// Kernels for registers of W bytes. The lanes compute the same, so all widths give the same bits.
OBLIQUE_BY_WIDTH(cumulate, (uint32_t * counts, uint32_t* more, int n_bins, float* cum), (counts, more, n_bins, cum),
                 cumulate_of<W>(counts, more, n_bins, cum))
OBLIQUE_BY_WIDTH(combine_four,
                 (const double* const* columns, const double* const* u, size_t p, double* const* out, size_t n),
                 (columns, u, p, out, n), combine_four_of<W>(columns, u, p, out, n))
#define OBLIQUE_OF_EDGES(T)                                                                             \
  OBLIQUE_BY_WIDTH(edge_sums, (const ClassEdges<T>& edges, const EdgeSums<T>& out), (edges, out),       \
                   edge_sums_of<T, W>(edges, out))                                                      \
  OBLIQUE_BY_WIDTH(gini_bounds, (const ClassEdges<T>& edges, const EdgeSums<T>& sums, T n, T* bound),   \
                   (edges, sums, n, bound), gini_bounds_of<T, W>(edges, sums, n, bound))                \
  OBLIQUE_BY_WIDTH(twoing_bounds, (const ClassEdges<T>& edges, const EdgeSums<T>& sums, T n, T* bound), \
                   (edges, sums, n, bound), twoing_bounds_of<T, W>(edges, sums, n, bound))
OBLIQUE_OF_EDGES(float)
OBLIQUE_OF_EDGES(double)

}  // namespace oblique
