// QUEST: a discriminant of two super-classes, and a split point without a search (thesis 2.3 and 3.9.3). The class in
// oblique_cli/proposers/quest.py documents the decisions where the thesis is silent.

#include "heuristic/discriminant.hpp"
#include "heuristic/heuristic.hpp"

namespace oblique {
namespace {

constexpr double kTie = 1e-9;  // relative to the largest; closer squared distances are equal

class QUEST final : public Proposer {
 public:
  explicit QUEST(const Options& options)
      : tolerance_(options.number("eigenvalue_tolerance")), searches_(options.flag("searches_threshold")),
        pools_(options.flag("pools_variances")), univariate_(options.flag("univariate")) {}

  void propose(const Node& node, Candidates& candidates) override {
    if (univariate_)
      discriminant_.begin_with_feature(node, kTie);
    else
      discriminant_.begin(node, tolerance_);
    if (!two_means(static_cast<size_t>(node.rows.n_classes)) || !discriminant_.direction(first_, normal_)) return;
    const StandardScores& standard = discriminant_.standard();
    if (searches_)
      candidates.add_direction(standard.unit_normal(normal_));
    else
      standard.add_plane(node, normal_, discriminant_cut(node), candidates);
  }

 private:
  double squared_distance(const double* a, const double* b) const {
    double sum = 0.0;
    for (size_t k = 0; k < discriminant_.n_components(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
  }

  // Clusters the class means into two groups, starting from the two most distant means; false if all means are equal.
  bool two_means(size_t n_classes) {
    const size_t size = discriminant_.n_components();
    const Vector means = discriminant_.class_means();
    const auto mean = [&](size_t c) { return means.data() + c * size; };
    double largest = 0.0;
    for (size_t a = 0; a < n_classes; ++a)
      for (size_t b = a + 1; b < n_classes; ++b) largest = std::max(largest, squared_distance(mean(a), mean(b)));
    if (!(largest > Discriminant::kSameMean * Discriminant::kSameMean)) return false;
    const double tie = kTie * largest;
    Vector centers;
    for (size_t a = 0; a < n_classes && centers.empty(); ++a)
      for (size_t b = a + 1; b < n_classes && centers.empty(); ++b)
        if (squared_distance(mean(a), mean(b)) >= largest - tie) {
          centers.assign(mean(a), mean(a) + size);
          centers.insert(centers.end(), mean(b), mean(b) + size);
        }
    first_.assign(n_classes, 2);
    for (int pass = 0; pass < 100; ++pass) {
      Group moved(n_classes);
      for (size_t c = 0; c < n_classes; ++c)
        moved[c] =
            !(squared_distance(mean(c), centers.data()) - squared_distance(mean(c), centers.data() + size) > tie);
      if (moved == first_) break;
      first_ = moved;
      centers.assign(2 * size, 0.0);
      double members[2] = {0.0, 0.0};
      for (size_t c = 0; c < n_classes; ++c) {
        const size_t side = first_[c] ? 0 : 1;
        members[side] += 1.0;
        for (size_t k = 0; k < size; ++k) centers[side * size + k] += mean(c)[k];
      }
      for (size_t side = 0; side < 2; ++side)
        for (size_t k = 0; k < size; ++k) centers[side * size + k] /= members[side];
    }
    return true;
  }

  // The point of equal weighted normal densities of the two groups along the direction, or the middle of their means.
  double discriminant_cut(const Node& node) {
    const NodeRows& rows = node.rows;
    const StandardScores& standard = discriminant_.standard();
    z_.assign(rows.n, 0.0);
    for (size_t j = 0; j < normal_.size(); ++j) add_scaled(normal_[j], standard.column(j), z_.data(), rows.n);
    double share[2] = {0.0, 0.0}, mean[2] = {0.0, 0.0}, variance[2] = {0.0, 0.0};
    for_each_row(rows, [&](int side, size_t i, double w) {
      share[side] += w;
      mean[side] += w * z_[i];
    });
    for (int side = 0; side < 2; ++side) mean[side] /= share[side];
    for_each_row(
        rows, [&](int side, size_t i, double w) { variance[side] += w * (z_[i] - mean[side]) * (z_[i] - mean[side]); });
    const double pooled = (variance[0] + variance[1]) / std::max(share[0] + share[1] - 2.0, 1.0);
    for (int side = 0; side < 2; ++side)
      variance[side] = pools_ ? pooled : variance[side] / std::max(share[side] - 1.0, 1.0);
    const double v = variance[0], u = variance[1], g = mean[1] - mean[0];
    const double middle = 0.5 * (mean[0] + mean[1]);
    if (std::min(u, v) <= (kTie * g) * (kTie * g)) return middle;
    const double odds = share[1] / share[0];
    const double c = v * (u * std::log(v / u * odds * odds) - g * g);
    const double discriminant = (g * v) * (g * v) - (u - v) * c;
    if (discriminant < 0.0) return middle;
    // The smaller root in magnitude, in a form that is valid for equal variances too.
    const double cut = mean[0] - c / (g * v + std::copysign(std::sqrt(discriminant), g));
    const auto on_left = [cut](double z) { return z <= cut; };
    const auto left = std::count_if(z_.begin(), z_.end(), on_left);
    return left > 0 && static_cast<size_t>(left) < rows.n ? cut : middle;
  }

  template <class Use>
  void for_each_row(const NodeRows& rows, Use use) const {
    for (size_t c = 0; c < first_.size(); ++c)
      for (size_t i = rows.first_row[c]; i < rows.first_row[c + 1]; ++i) use(first_[c] ? 0 : 1, i, rows.weight(i));
  }

  const double tolerance_;
  const bool searches_, pools_, univariate_;
  Discriminant discriminant_;
  Group first_;
  Vector normal_, z_;
};

const Registered quest("quest",
                       {number("eigenvalue_tolerance"), flag("searches_threshold"), flag("pools_variances"),
                        flag("univariate")},
                       make<QUEST>);

}  // namespace
}  // namespace oblique
