#include "common/eigen.hpp"

#include "common/clones.hpp"
#include "common/interrupt.hpp"
#include "common/key_sort.hpp"

namespace oblique {
namespace {

constexpr size_t kLanes = 8;  // columns are padded to a multiple of it by zeros
constexpr double kEps = std::numeric_limits<double>::epsilon() / 2;
constexpr double kLeastSquare = 0x1p-900;  // a sum of squares below it may have lost digits

OBLIQUE_INLINE size_t lanes_from(size_t i) { return i / kLanes * kLanes; }

OBLIQUE_INLINE double dot(const double* x, const double* y, size_t first, size_t last) {
  double sum[kLanes] = {0, 0, 0, 0, 0, 0, 0, 0};
  for (size_t i = first; i < last; i += kLanes)
    for (size_t k = 0; k < kLanes; ++k) sum[k] += x[i + k] * y[i + k];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

// Works on several blocks of rows at a time, since each block waits for its sums.
template <size_t blocks>
OBLIQUE_INLINE void combine_rows(const double* a, size_t stride, const double* v, size_t count, double* y) {
  constexpr size_t rows = blocks * kLanes;
  double sum[rows] = {};
  for (size_t j = 0; j < count; ++j)
    for (size_t k = 0; k < rows; ++k) sum[k] += v[j] * a[j * stride + k];
  for (size_t k = 0; k < rows; ++k) y[k] = sum[k];
}

// y[i] = sum of v[j] a_j[i] over columns j in [from, to)
OBLIQUE_INLINE void combine(const double* a, size_t stride, const double* v, size_t from, size_t to, size_t first,
                            double* y) {
  const double* column = a + from * stride;
  size_t i = first;
  for (; i + 4 * kLanes <= stride; i += 4 * kLanes) combine_rows<4>(column + i, stride, v + from, to - from, y + i);
  for (; i + 2 * kLanes <= stride; i += 2 * kLanes) combine_rows<2>(column + i, stride, v + from, to - from, y + i);
  for (; i < stride; i += kLanes) combine_rows<1>(column + i, stride, v + from, to - from, y + i);
}

// Reduces the p x p matrix a to tridiagonal form: H a H with H = I - v v' / h for each column in turn. The column then
// holds v, and h holds h; h = 0 where no reflection is needed.
// y : buffer for a column
OBLIQUE_CLONES
void tridiagonalize(double* a, size_t stride, size_t p, double* d, double* e, double* h, double* y) {
  for (size_t c = 0; c + 1 < p; ++c) {
    double* v = a + c * stride;
    const size_t first = lanes_from(c + 1);
    d[c] = v[c];
    for (size_t i = first; i <= c; ++i) v[i] = 0.0;
    double head = v[c + 1], scale = 1.0;
    v[c + 1] = 0.0;
    double tail = dot(v, v, first, stride);
    if (head * head + tail < kLeastSquare) {
      double largest = std::fabs(head);
      for (size_t i = c + 2; i < p; ++i) largest = std::max(largest, std::fabs(v[i]));
      e[c] = h[c] = 0.0;
      if (largest < 0x1p-1000) continue;  // of 1
      scale = std::ldexp(1.0, std::ilogb(largest));
      head /= scale;
      for (size_t i = c + 2; i < p; ++i) v[i] /= scale;
      tail = dot(v, v, first, stride);
    }
    if (tail == 0.0) {
      e[c] = head * scale;
      h[c] = 0.0;
      continue;
    }
    const double square = head * head + tail;
    const double length = std::copysign(std::sqrt(square), head);
    e[c] = -length * scale;
    h[c] = square + length * head;
    v[c + 1] = head + length;
    const double inverse = 1.0 / h[c];
    checkpoint(2 * (p - c) * (stride - first));
    combine(a, stride, v, c + 1, p, first, y);
    for (size_t i = first; i <= c; ++i) y[i] = 0.0;
    const double half = 0.5 * inverse * dot(v, y, first, stride);
    for (size_t i = first; i < stride; i += kLanes)
      for (size_t k = 0; k < kLanes; ++k) y[i + k] = inverse * (y[i + k] - half * v[i + k]);
    for (size_t j = c + 1; j < p; ++j) {
      double* __restrict column = a + j * stride;
      const double vj = v[j], yj = y[j];
      for (size_t i = first; i < stride; i += kLanes)
        for (size_t k = 0; k < kLanes; ++k) column[i + k] -= v[i + k] * yj + y[i + k] * vj;
    }
  }
  d[p - 1] = a[(p - 1) * stride + p - 1];
}

// q = the product of the reflections; y : buffer for a column
OBLIQUE_CLONES
void multiply_reflections(const double* a, size_t stride, size_t p, const double* h, double* __restrict q,
                          double* __restrict y) {
  std::fill_n(q, p * stride, 0.0);
  for (size_t j = 0; j < p; ++j) q[j * stride + j] = 1.0;
  for (size_t c = 0; c + 2 < p; ++c) {
    if (h[c] == 0.0) continue;
    const double* v = a + c * stride;
    const double inverse = 1.0 / h[c];
    checkpoint(2 * (p - c) * stride);
    combine(q, stride, v, c + 1, p, 0, y);
    for (size_t j = c + 1; j < p; ++j) {
      double* __restrict column = q + j * stride;
      const double share = inverse * v[j];
      for (size_t i = 0; i < stride; i += kLanes)
        for (size_t k = 0; k < kLanes; ++k) column[i + k] -= share * y[i + k];
    }
  }
}

// Applies the reflections to a column x in reverse order.
OBLIQUE_CLONES
void reflect_back(const double* a, size_t stride, size_t p, const double* h, double* __restrict x) {
  for (size_t c = p - 1; c-- > 0;) {
    if (h[c] == 0.0) continue;
    const double* v = a + c * stride;
    const size_t first = lanes_from(c + 1);
    const double share = dot(v, x, first, stride) / h[c];
    for (size_t i = first; i < stride; i += kLanes)
      for (size_t k = 0; k < kLanes; ++k) x[i + k] -= share * v[i + k];
  }
}

template <size_t blocks>
OBLIQUE_INLINE void rotate_rows(double* column, size_t stride, size_t count, const double* cosine, const double* sine) {
  constexpr size_t rows = blocks * kLanes;
  double left[rows], right[rows];
  for (size_t k = 0; k < rows; ++k) left[k] = column[k];
  for (size_t j = 0; j < count; ++j, column += stride) {
    const double c = cosine[j], s = sine[j];
    for (size_t k = 0; k < rows; ++k) right[k] = column[stride + k];
    for (size_t k = 0; k < rows; ++k) column[k] = c * left[k] + s * right[k];
    for (size_t k = 0; k < rows; ++k) left[k] = c * right[k] - s * left[k];
  }
  for (size_t k = 0; k < rows; ++k) column[k] = left[k];
}

// Rotates columns j and j + 1 of q by cosine[j] and sine[j], for j from `from` to `to` - 1.
OBLIQUE_CLONES
void rotate(double* q, size_t stride, size_t from, size_t to, const double* cosine, const double* sine) {
  double* column = q + from * stride;
  size_t i = 0;
  for (; i + 4 * kLanes <= stride; i += 4 * kLanes)
    rotate_rows<4>(column + i, stride, to - from, cosine + from, sine + from);
  for (; i + 2 * kLanes <= stride; i += 2 * kLanes)
    rotate_rows<2>(column + i, stride, to - from, cosine + from, sine + from);
  for (; i < stride; i += kLanes) rotate_rows<1>(column + i, stride, to - from, cosine + from, sine + from);
}

// One QR step on rows [low, high] of the tridiagonal matrix, with the shift of its last two rows.
void qr_step(double* d, double* e, size_t low, size_t high, double* cosine, double* sine) {
  const double beside = e[high - 1];
  const double ratio = (d[high - 1] - d[high]) / (2.0 * beside);
  const double root = std::fabs(ratio) > 0x1p500 ? std::fabs(ratio) : std::sqrt(ratio * ratio + 1.0);
  double g = d[low] - d[high] + beside / (ratio + std::copysign(root, ratio));
  double s = 1.0, c = 1.0, moved = 0.0;
  for (size_t i = low; i < high; ++i) {
    const double f = s * e[i], b = c * e[i];
    const double square = f * f + g * g;
    const double r = square < kLeastSquare ? std::hypot(f, g) : std::sqrt(square);
    if (i > low) e[i - 1] = r;
    s = r > 0.0 ? f / r : 0.0;
    c = r > 0.0 ? g / r : 1.0;
    g = d[i] - moved;
    const double t = (d[i + 1] - g) * s + 2.0 * c * b;
    moved = s * t;
    d[i] = g + moved;
    g = c * t - b;
    cosine[i] = c;
    sine[i] = s;
  }
  d[high] -= moved;
  e[high - 1] = g;
}

// As qr_step, for a block of two rows: one rotation makes it diagonal.
void solve_pair(double* d, double* e, size_t low, double* cosine, double* sine) {
  const double ratio = (d[low + 1] - d[low]) / (2.0 * e[low]);
  const double root = std::fabs(ratio) > 0x1p500 ? std::fabs(ratio) : std::sqrt(ratio * ratio + 1.0);
  const double t = 1.0 / (ratio + std::copysign(root, ratio));
  const double c = 1.0 / std::sqrt(t * t + 1.0);
  cosine[low] = c;
  sine[low] = -t * c;
  d[low] -= t * e[low];
  d[low + 1] += t * e[low];
  e[low] = 0.0;
}

// The number of eigenvalues above x, which is the number of q in Sturm's sequence that are not positive.
size_t count_above(const double* d, const double* e, size_t p, double x) {
  size_t count = 0;
  double q = 1.0, square = 0.0;
  for (size_t i = 0; i < p; ++i) {
    q = x - d[i] - square / q;
    if (q == 0.0) q = 0x1p-1000;
    count += q < 0.0;
    if (i + 1 < p) square = e[i] * e[i];
  }
  return count;
}

}  // namespace

bool SymmetricEigen::reduce(const double* a, int p) {
  p_ = static_cast<size_t>(p);
  double largest = 0.0;
  bool finite = true;
  for (size_t i = 0; i < static_cast<size_t>(p) * static_cast<size_t>(p); ++i) {
    const double size = std::fabs(a[i]);
    finite = finite && size <= std::numeric_limits<double>::max();
    largest = std::max(largest, size);
  }
  if (!finite) return false;
  stride_ = lanes_from(p_ + kLanes - 1);
  order_.resize(p_);
  std::iota(order_.begin(), order_.end(), size_t{0});
  const auto of_diagonal = [&](size_t i) { return std::fabs(a[i * p_ + i]); };
  // Largest diagonal first: a matrix of features in very different units then keeps the digits of the small ones.
  insertion_sort(order_.data(), p_, [&](size_t i, size_t j) { return of_diagonal(i) > of_diagonal(j); });
  power_ = largest > 0.0 ? std::ilogb(largest) + 1 : 0;
  const double once = std::ldexp(1.0, -power_ / 2), twice = std::ldexp(1.0, -power_ - -power_ / 2);
  matrix_.resize(stride_ * p_);
  for (size_t j = 0; j < p_; ++j) {
    const double* from = a + order_[j] * p_;
    double* to = matrix_.data() + j * stride_;
    for (size_t i = 0; i < p_; ++i) to[i] = from[order_[i]] * once * twice;
    std::fill(to + p_, to + stride_, 0.0);
  }
  diagonal_.resize(p_);
  beside_.resize(p_);
  half_squares_.assign(p_, 0.0);
  vector_.resize(stride_);
  tridiagonalize(matrix_.data(), stride_, p_, diagonal_.data(), beside_.data(), half_squares_.data(), vector_.data());
  return true;
}

void SymmetricEigen::solve(const double* a, int p) {
  const bool finite = reduce(a, p);
  values.assign(p_, std::numeric_limits<double>::quiet_NaN());
  vectors.assign(p_ * p_, std::numeric_limits<double>::quiet_NaN());
  if (!finite) return;
  room_.resize(stride_ * p_);
  cosines_.resize(p_);
  sines_.resize(p_);
  multiply_reflections(matrix_.data(), stride_, p_, half_squares_.data(), room_.data(), vector_.data());
  double *d = diagonal_.data(), *e = beside_.data();
  size_t high = p_ - 1, steps = 0;
  while (high > 0) {
    const auto is_zero = [&](size_t i) { return e[i] * e[i] <= kEps * kEps * std::fabs(d[i] * d[i + 1]); };
    size_t low = high;
    while (low > 0 && !is_zero(low - 1)) --low;
    if (low > 0) e[low - 1] = 0.0;
    if (low == high) {
      --high;
      continue;
    }
    if (++steps > 30 * p_) throw std::runtime_error("the eigenvalue solver did not converge");
    checkpoint((high - low) * stride_);
    if (low + 1 == high)
      solve_pair(d, e, low, cosines_.data(), sines_.data());
    else
      qr_step(d, e, low, high, cosines_.data(), sines_.data());
    rotate(room_.data(), stride_, low, high, cosines_.data(), sines_.data());
  }
  std::vector<size_t> rising(p_);
  std::iota(rising.begin(), rising.end(), size_t{0});
  std::stable_sort(rising.begin(), rising.end(), [&](size_t i, size_t j) { return d[i] < d[j]; });
  for (size_t k = 0; k < p_; ++k) {
    values[k] = std::ldexp(d[rising[k]], power_);
    const double* from = room_.data() + rising[k] * stride_;
    for (size_t i = 0; i < p_; ++i) vectors[k * p_ + order_[i]] = from[i];
  }
}

// Laguerre's iteration from above converges to the largest eigenvalue without passing it.
bool SymmetricEigen::largest_root(double& root) const {
  const double *d = diagonal_.data(), *e = beside_.data();
  const double n = static_cast<double>(p_);
  double high = -std::numeric_limits<double>::infinity(), width = 0.0, before = 0.0;
  for (size_t i = 0; i < p_; ++i) {
    const double after = i + 1 < p_ ? std::fabs(e[i]) : 0.0;
    high = std::max(high, d[i] + before + after);
    width = std::max(width, std::fabs(d[i]) + before + after);
    before = after;
  }
  // Covariances have no negative eigenvalues except by rounding.
  if (!(high > 0.25 * width)) return false;
  double x = high * (1.0 + 8.0 * kEps) + 8.0 * kEps * width;
  for (int step = 0; step < 50; ++step) {
    // q: the ratio of two successive terms of Sturm's sequence; first, second: its derivatives divided by q.
    double inverse = 0.0, first = 0.0, second = 0.0, square = 0.0, sum = 0.0, sum_of_squares = 0.0;
    bool is_above = true;
    for (size_t i = 0; i < p_; ++i) {
      const double t = square * inverse;
      const double q = x - d[i] - t;
      is_above = is_above && q > 0.0;
      inverse = 1.0 / q;
      second = t * (second - 2.0 * first * first) * inverse;
      first = (1.0 + t * first) * inverse;
      sum += first;
      sum_of_squares += first * first - second;
      if (i + 1 < p_) square = e[i] * e[i];
    }
    if (!is_above) break;  // by rounding: x is the root
    const double spread = (n - 1.0) * (n * sum_of_squares - sum * sum);
    const double down = n / (sum + std::sqrt(std::max(spread, 0.0)));
    if (!(down > 2.0 * kEps * width)) break;
    x -= down;
  }
  root = x;
  return root > 1e-3 * width;
}

bool SymmetricEigen::invert(double root) {
  const double *d = diagonal_.data(), *e = beside_.data();
  double width = 0.0;
  for (size_t i = 0; i < p_; ++i) width = std::max({width, std::fabs(d[i]), std::fabs(e[i])});
  room_.resize(4 * p_);
  double *down = room_.data(), *up = down + p_, *ahead = up + p_, *back = ahead + p_;
  // The shift lies slightly above the eigenvalue, so the pivots of x - T are positive and need no search.
  double x = root, away = 4.0 * kEps * width;
  bool is_above = false;
  for (int tries = 0; tries < 8 && !is_above; ++tries, away *= 4.0) {
    x = root + away;
    double above = 0.0, below = 0.0;  // reductions by the previous and by the next pivots
    is_above = true;
    for (size_t i = 0; i < p_; ++i) {
      const size_t j = p_ - 1 - i;
      const double q = x - d[i] - above, r = x - d[j] - below;
      is_above = is_above && q > 0.0 && r > 0.0;
      down[i] = 1.0 / q;
      up[j] = 1.0 / r;
      ahead[i] = e[i] * down[i];
      back[j] = j > 0 ? e[j - 1] * up[j] : 0.0;
      above = e[i] * ahead[i];
      below = j > 0 ? e[j - 1] * back[j] : 0.0;
    }
  }
  if (!is_above) return false;
  // The row k with the largest entry of the inverse, and its column: both factorizations meet there.
  size_t k = 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < p_; ++i) {
    const double gamma = 1.0 / down[i] + 1.0 / up[i] - (x - d[i]);
    if (gamma < least) least = gamma, k = i;
  }
  double* v = vector_.data();
  std::fill(vector_.begin(), vector_.end(), 0.0);
  v[k] = 1.0;
  for (size_t i = k; i > 0; --i) v[i - 1] = ahead[i - 1] * v[i];
  for (size_t i = k; i + 1 < p_; ++i) v[i + 1] = back[i + 1] * v[i];
  // One more step of inverse iteration.
  for (size_t i = 0; i + 1 < p_; ++i) v[i + 1] += ahead[i] * v[i];
  for (size_t i = 0; i < p_; ++i) v[i] *= down[i];
  for (size_t i = p_ - 1; i > 0; --i) v[i - 1] += ahead[i - 1] * v[i];
  double largest = 0.0;
  for (size_t i = 0; i < p_; ++i) largest = std::max(largest, std::fabs(v[i]));
  if (!(largest > 0.0 && largest < std::numeric_limits<double>::infinity())) return false;
  const double inverse = 1.0 / largest;
  for (size_t i = 0; i < p_; ++i) v[i] *= inverse;
  const double length = 1.0 / std::sqrt(dot(v, v, 0, stride_));
  for (size_t i = 0; i < p_; ++i) v[i] *= length;
  return true;
}

void SymmetricEigen::solve_dominant(const double* a, int p) {
  if (!find_dominant(a, p)) solve(a, p);
}

bool SymmetricEigen::find_dominant(const double* a, int p) {
  if (!reduce(a, p)) return false;
  beside_[p_ - 1] = 0.0;
  double root = 0.0;
  if (!largest_root(root)) return false;
  if (count_above(diagonal_.data(), beside_.data(), p_, root - kRepeated * root) != 1) return false;
  if (!invert(root)) return false;
  reflect_back(matrix_.data(), stride_, p_, half_squares_.data(), vector_.data());
  values.assign(1, std::ldexp(root, power_));
  vectors.resize(p_);
  for (size_t i = 0; i < p_; ++i) vectors[order_[i]] = vector_[i];
  return true;
}

}  // namespace oblique
