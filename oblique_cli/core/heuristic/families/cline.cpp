// Cline: planes through the middle of two means, or of the two nearest rows of different classes (thesis 2.4), for
// every pair of classes or for the largest class and the rest. The
// class in oblique_cli/proposers/cline.py documents the decisions where the thesis is silent.
#include "common/eigen.hpp"
#include "common/interrupt.hpp"
#include "heuristic/bisectors.hpp"
#include "heuristic/discriminant.hpp"
#include "heuristic/heuristic.hpp"

namespace oblique {

inline double squared_distance(const double* x, const double* y, size_t p) {
  double sum = 0.0;
  for (size_t j = 0; j < p; ++j) sum += (x[j] - y[j]) * (x[j] - y[j]);
  return sum;
}

inline bool comes_before(const double* x, const double* y, size_t p) {
  for (size_t j = 0; j < p; ++j) {
    const double left = std::nearbyint(x[j] * 0x1p40), right = std::nearbyint(y[j] * 0x1p40);
    if (left != right) return left < right;
  }
  return false;
}

// The two nearest different rows of two groups, by a k-d tree of the second group.
class NearestPair {
 public:
  // Distances closer than kTie, relative to the least, are equal; the first of equally near pairs in lexicographic
  // order wins. Rows that both groups contain form no pair, nor do rows within kSame, the rounding of a level's score:
  // the widest range of a feature must be near 1.
  static constexpr double kTie = 1e-9, kSame = 1e-12;

  // a, b : rows of p numbers each; b is reordered. False if no two rows differ. The pair is first(), second().
  bool find(const Vector& a, Vector& b, size_t p) {
    p_ = p;
    boxes_.clear();
    const int root = build(b, 0, b.size() / p);
    b_ = b.data();
    const size_t n = a.size() / p;
    // Only the nearest pair counts, so the search for each row stops at the distance of the nearest pair so far.
    double least = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < n; ++i) {
      visit(root, a.data() + i * p, least, [&](size_t, double squared) { least = squared; });
      checkpoint(p * kLeaf);
    }
    if (!std::isfinite(least)) return false;
    const double reach = std::sqrt(least) * (1.0 + kTie);
    // Larger than the limit by a rounding error, for boxes; the distance itself decides.
    const double limit = reach * reach * (1.0 + kTie);
    const double *first = nullptr, *second = nullptr;
    for (size_t i = 0; i < n; ++i) {
      const double* row = a.data() + i * p;
      if (first && !comes_before(row, first, p)) continue;
      const double* nearest = nullptr;
      visit(root, row, limit, [&](size_t k, double squared) {
        const double* other = b_ + k * p;
        if (std::sqrt(squared) <= reach && (!nearest || comes_before(other, nearest, p))) nearest = other;
      });
      if (!nearest) continue;
      first = row;
      second = nearest;
    }
    if (!first) return false;
    first_.assign(first, first + p);
    second_.assign(second, second + p);
    return true;
  }

  const Vector& first() const { return first_; }
  const Vector& second() const { return second_; }

 private:
  // Rows [first, last) of b; split at `middle` by `axis` unless it is a leaf.
  struct Box {
    size_t first, last, axis, middle;
    double low, high;  // greatest value on the lower side, least on the upper one
    int lower = -1, upper = -1;
  };
  static constexpr size_t kLeaf = 12;

  int build(Vector& b, size_t first, size_t last) {
    const int box = static_cast<int>(boxes_.size());
    boxes_.push_back({first, last, 0, 0, 0.0, 0.0});
    if (last - first <= kLeaf) return box;
    size_t axis = 0;
    double widest = 0.0;
    for (size_t j = 0; j < p_; ++j) {
      double low = b[first * p_ + j], high = low;
      for (size_t i = first; i < last; ++i) {
        low = std::min(low, b[i * p_ + j]);
        high = std::max(high, b[i * p_ + j]);
      }
      if (high - low > widest) {
        widest = high - low;
        axis = j;
      }
    }
    checkpoint((last - first) * p_);
    if (!(widest > 0.0)) return box;  // all rows are equal
    order_.resize(last - first);
    std::iota(order_.begin(), order_.end(), first);
    const size_t half = (last - first) / 2;
    std::nth_element(order_.begin(), order_.begin() + half, order_.end(),
                     [&](size_t x, size_t y) { return b[x * p_ + axis] < b[y * p_ + axis]; });
    moved_.resize((last - first) * p_);
    for (size_t i = 0; i < order_.size(); ++i) std::copy_n(b.begin() + order_[i] * p_, p_, moved_.begin() + i * p_);
    std::copy(moved_.begin(), moved_.end(), b.begin() + first * p_);
    const size_t middle = first + half;
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
    for (size_t i = first; i < middle; ++i) low = std::max(low, b[i * p_ + axis]);
    for (size_t i = middle; i < last; ++i) high = std::min(high, b[i * p_ + axis]);
    const int lower = build(b, first, middle), upper = build(b, middle, last);
    boxes_[box] = {first, last, axis, middle, low, high, lower, upper};
    return box;
  }

  // Visits rows of b that are nearer to `row` than `limit`; `use(place in b, squared distance)` may lower the limit.
  template <class Use>
  void visit(int box, const double* row, const double& limit, const Use& use) const {
    const Box& node_box = boxes_[box];
    if (node_box.lower < 0) {
      for (size_t k = node_box.first; k < node_box.last; ++k) {
        const double squared = squared_distance(row, b_ + k * p_, p_);
        if (squared > kSame * kSame && squared < limit) use(k, squared);
      }
      return;
    }
    const double below = std::max(row[node_box.axis] - node_box.low, 0.0),
                 above = std::max(node_box.high - row[node_box.axis], 0.0);
    const bool lower_first = below < above;
    for (const bool lower : {lower_first, !lower_first}) {
      const double away = lower ? below : above;
      if (away * away < limit) visit(lower ? node_box.lower : node_box.upper, row, limit, use);
    }
  }

  size_t p_ = 0;
  const double* b_ = nullptr;
  std::vector<Box> boxes_;
  std::vector<size_t> order_;
  Vector moved_, first_, second_;
};

namespace {

constexpr double kSame = 1e-12;  // relative to the largest range of a feature; closer means are equal

class Cline final : public Proposer {
 public:
  explicit Cline(const Options& options)
      : rule_(options.choice("rule")), normal_of_pair_(options.flag("normal_of_pair")), pairs_(options.flag("pairs")) {}

  void propose(const Node& node, Candidates& candidates) override {
    const double widest = node.spread.widest();
    if (!(widest > 0.0)) return;
    // The same unit for all features preserves right angles and distances.
    const double unit = std::exp2(std::ceil(std::log2(widest)));
    units_.center = node.spread.center;
    units_.scale.assign(node.n_features(), unit);
    const Totals& totals = node.search.totals();
    if (!pairs_ || totals.n_classes == 2)
      return add_planes(node, unit, node.rows, majority(totals), totals, candidates);
    for (int a = 0; a < totals.n_classes; ++a)
      for (int b = a + 1; b < totals.n_classes; ++b) {
        const double weights[2] = {totals.of_class[a], totals.of_class[b]};
        const Totals of_pair{2, weights, weights[0] + weights[1]};
        add_planes(node, unit, rows_of_pair(node.rows, a, b), majority(of_pair), of_pair, candidates);
      }
  }

 private:
  // The rows of two classes, copied.
  const NodeRows& rows_of_pair(const NodeRows& rows, int a, int b) {
    const size_t p = rows.columns.size(), n_a = rows.first_row[a + 1] - rows.first_row[a],
                 n = n_a + rows.first_row[b + 1] - rows.first_row[b];
    const auto copy = [&](const double* from, double* to) {
      std::copy(from + rows.first_row[b], from + rows.first_row[b + 1],
                std::copy(from + rows.first_row[a], from + rows.first_row[a + 1], to));
    };
    pair_values_.resize((p + 1) * n);
    pair_rows_.columns.resize(p);
    for (size_t j = 0; j < p; ++j) {
      copy(rows.columns[j], pair_values_.data() + j * n);
      pair_rows_.columns[j] = pair_values_.data() + j * n;
    }
    if (rows.weights) copy(rows.weights, pair_values_.data() + p * n);
    pair_rows_.weights = rows.weights ? pair_values_.data() + p * n : nullptr;
    pair_rows_.n = n;
    pair_rows_.n_classes = 2;
    pair_offsets_ = {0, n_a, n};
    pair_rows_.first_row = pair_offsets_.data();
    checkpoint(n * p);
    return pair_rows_;
  }

  // Adds the planes between one class of these rows and the others.
  void add_planes(const Node& node, double unit, const NodeRows& rows, int first, const Totals& totals,
                  Candidates& candidates) {
    gather(rows, static_cast<size_t>(first), unit);
    if (rule_ != "nearest_pair") add_plane_of_means(node, candidates);
    if (rule_ != "mean") add_plane_of_pair(node, rows, first, totals, candidates);
  }

  // The rows of class k and the others, in units of the node.
  void gather(const NodeRows& rows, size_t k, double unit) {
    const size_t p = rows.columns.size();
    const size_t begin = rows.first_row[k], end = rows.first_row[k + 1];
    first_.resize((end - begin) * p);
    rest_.resize((rows.n - (end - begin)) * p);
    for (int side = 0; side < 2; ++side) {
      mean_[side].assign(p, 0.0);
      weight_[side] = 0.0;
    }
    double *first = first_.data(), *rest = rest_.data();
    for (size_t i = 0; i < rows.n; ++i) {
      const bool is_first = i >= begin && i < end;
      double*& out = is_first ? first : rest;
      const int side = is_first ? 0 : 1;
      const double w = rows.weight(i);
      weight_[side] += w;
      for (size_t j = 0; j < p; ++j) {
        out[j] = (rows.columns[j][i] - units_.center[j]) / unit;
        mean_[side][j] += w * out[j];
      }
      out += p;
    }
    for (int side = 0; side < 2; ++side)
      for (double& each : mean_[side]) each /= weight_[side];
  }

  // The plane with this normal through the middle of a and b.
  void add_between(const Node& node, const Vector& normal, const Vector& a, const Vector& b, Candidates& candidates) {
    double offset = 0.0;
    for (size_t j = 0; j < normal.size(); ++j) offset += normal[j] * (0.5 * a[j] + 0.5 * b[j]);
    units_.add_plane(node, normal, offset, candidates);
  }

  static Vector difference(const Vector& b, const Vector& a) {
    Vector out(b);
    for (size_t j = 0; j < out.size(); ++j) out[j] -= a[j];
    return out;
  }

  void add_plane_of_means(const Node& node, Candidates& candidates) {
    const Vector apart = difference(mean_[1], mean_[0]);
    if (norm(apart.data(), apart.size()) > kSame) add_between(node, apart, mean_[0], mean_[1], candidates);
  }

  void add_plane_of_pair(const Node& node, const NodeRows& rows, int first, const Totals& totals,
                         Candidates& candidates) {
    if (!pair_.find(first_, rest_, node.n_features())) return;
    Vector normal = difference(pair_.second(), pair_.first());
    if (!normal_of_pair_) {
      spread_.measure(rows);
      discriminant_.begin(rows, spread_, totals, Discriminant::kZeroEigenvalue);
      Group group(static_cast<size_t>(rows.n_classes), 0);
      group[first] = 1;
      Vector direction;
      if (discriminant_.direction(group, direction)) normal = discriminant_.standard().unit_normal(direction);
    }
    add_between(node, normal, pair_.first(), pair_.second(), candidates);
  }

  const std::string rule_;
  const bool normal_of_pair_, pairs_;
  NodeRows pair_rows_;
  Vector pair_values_;
  std::vector<size_t> pair_offsets_;
  Spread spread_;
  StandardScores units_;
  Discriminant discriminant_;
  NearestPair pair_;
  Vector first_, rest_, mean_[2];
  double weight_[2] = {0.0, 0.0};
};

const Registered cline("cline",
                       {choice("rule", {"mean", "nearest_pair", "best"}), flag("normal_of_pair"), flag("pairs")},
                       make<Cline>);

}  // namespace

}  // namespace oblique
